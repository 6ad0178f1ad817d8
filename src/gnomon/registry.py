"""The registry: which tools there are, as of now."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.errors import RegistrationError
from gnomon.schemas import Schema
from gnomon.signals import Registration
from gnomon.tools import Tool
from gnomon.values import JSON

RESERVED = "run_code"


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool that is registered, with its schemas compiled."""

    tool: Tool
    parameters: Schema
    output: Schema


class Registry:
    """The global layer of tools."""

    __slots__ = ("_tools",)

    def __init__(self) -> None:
        self._tools: dict[str, RegisteredTool] = {}

    def register(self, tool: Tool) -> Registration:
        """Add a tool; what is answered removes it again.

        Raises `RegistrationError`, and changes nothing, where the name is taken or reserved (REG-2,
        REG-3) or a schema is not usable (REG-1).
        """
        name = tool.name
        if not name:
            raise RegistrationError("a tool needs a name")
        if name == RESERVED:
            raise RegistrationError(f"the name {RESERVED!r} is reserved, whatever the mode (REG-3)")
        if name in self._tools:
            raise RegistrationError(f"there is a tool named {name!r} already (REG-2)")
        registered = RegisteredTool(
            tool,
            Schema(tool.parameters, f"the parameters of tool {name!r}"),
            Schema(tool.output.schema, f"the output schema of tool {name!r}"),
        )
        self._tools[name] = registered

        def remove() -> None:
            if self._tools.get(name) is registered:
                del self._tools[name]

        return Registration(remove)

    def visible(self, name: str) -> RegisteredTool | None:
        """The definition that a call of `name` would run now (DSP-4, REG-5)."""
        return self._tools.get(name)

    def schemas(self) -> list[dict[str, JSON]]:
        """What the model is sent of each tool: name, description and parameters, nothing else (REG-6)."""
        return [
            {
                "name": one.tool.name,
                "description": one.tool.description,
                "parameters": one.tool.parameters,
            }
            for one in self._tools.values()
        ]
