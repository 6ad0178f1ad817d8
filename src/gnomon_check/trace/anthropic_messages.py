"""Message lists of the Anthropic messages API: blocks `tool_use` and `tool_result`.

All results of an assistant message stand in the next user message, before every other block of it. Blocks of
tools that run on the provider's side (`server_tool_use`, `mcp_tool_use` and what answers them) are not calls
of ours. Nor are `tool_use` blocks whose `caller` is a program on the provider's side: whether the list shows
their results is up to the provider, so they are counted and not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon_check.explain import CameFirst, InputEnds, WrongRole, shown
from gnomon_check.trace import shapes
from gnomon_check.trace.model import Assembler, Format, Reading, Unjudgeable
from gnomon_spec.vocabulary import SUCCESS, Announced, Outcome

ROLES = ("system", "user", "assistant")

FAILED = Outcome(code="")
"""An error whose code the list does not show."""


def read_anthropic(messages: Sequence[object]) -> Reading:
    """Read a message list. Raises `Unjudgeable` where a message has not the form that is needed."""
    reader = _Reader()
    for number, value in enumerate(messages, 1):
        place = f"message {number}"
        message = shapes.an_object(value, place)
        role = shapes.role_of(message, ROLES, place)
        blocks = _blocks(message, place)
        if role == "assistant":
            reader.assistant(blocks, place)
        else:
            reader.other(role, blocks, place)
    reader.assembler.close("the end", InputEnds())
    return Reading(Format.ANTHROPIC, reader.assembler.batches, skipped=reader.skipped)


def _blocks(message: dict[str, Any], place: str) -> list[tuple[str, str, dict[str, Any]]]:
    """The blocks of a message: place, type, block. Plain text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        return [(place, "text", {"text": content})]
    found: list[tuple[str, str, dict[str, Any]]] = []
    for index, value in enumerate(shapes.items(message, "content", place), 1):
        here = f"{place}, block {index}"
        block = shapes.an_object(value, here)
        found.append((here, shapes.text(block, "type", here), block))
    return found


class _Reader:
    def __init__(self) -> None:
        self.assembler = Assembler()
        self.skipped = 0
        self._programs: set[str] = set()
        """Ids of the open message's calls that a program on the provider's side made."""

    def assistant(self, blocks: list[tuple[str, str, dict[str, Any]]], place: str) -> None:
        self.assembler.close(place, CameFirst("an assistant message"))
        self._programs.clear()
        calls: list[Announced] = []
        for here, kind, block in blocks:
            if kind == "tool_use":
                call = Announced(shapes.text(block, "id", here), shapes.text(block, "name", here))
                if _by_program(block):
                    self._programs.add(call.call_id)
                    self.skipped += 1
                else:
                    calls.append(call)
        if calls:
            self.assembler.open(place, calls, place)
        for here, kind, block in blocks:
            if kind == "tool_result":
                self._result(block, here, WrongRole("assistant"))

    def other(self, role: str, blocks: list[tuple[str, str, dict[str, Any]]], place: str) -> None:
        for here, kind, block in blocks:
            match kind:
                case "tool_result" if role == "user":
                    self._result(block, here)
                case "tool_result":
                    self._result(block, here, WrongRole(role))
                case "tool_use":
                    raise Unjudgeable(f"{here}: `tool_use` in a message of role {role}")
                case _:
                    self.assembler.close(here, CameFirst(f"{_article(kind)} {shown(kind)} block"))
        # Results may not be spread over several messages.
        self.assembler.close(place, CameFirst("the end of the message"))

    def _result(self, block: dict[str, Any], here: str, wrong: WrongRole | None = None) -> None:
        call_id = shapes.text(block, "tool_use_id", here)
        if call_id in self._programs:
            return
        failed = block.get("is_error") is not None and shapes.flag(block, "is_error", here)
        self.assembler.result(call_id, FAILED if failed else SUCCESS, here, wrong=wrong)


def _article(kind: str) -> str:
    return "an" if kind[:1] in ("a", "e", "i", "o", "u") else "a"


def _by_program(block: dict[str, Any]) -> bool:
    caller = block.get("caller")
    return isinstance(caller, dict) and caller.get("type") != "direct"
