"""What the tests of the runtime share: both backends, one call, and what it says."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from gnomon import (
    ABSENT,
    AbortController,
    Failure,
    Output,
    Result,
    Runtime,
    Scope,
    Session,
    Success,
    Tool,
    ToolCall,
    ToolContext,
)

BACKENDS = ("asyncio", "trio")
both = pytest.mark.parametrize("backend", BACKENDS)


def on(backend: str, main: Callable[[], Awaitable[Any]]) -> Any:
    """Run a program on a backend."""
    return anyio.run(main, backend=backend)


def text(words: str) -> list[dict[str, Any]]:
    """Content of one text block."""
    return [{"type": "text", "text": words}]


def shown(result: Result) -> str:
    """The content of a result, as text."""
    return "".join(str(block.get("text", block["type"])) for block in result.content)


def code(result: Result) -> str:
    """The code of a failure, or OK."""
    assert_well_formed(result)
    return "OK" if result.ok else result.error.code


def contexts(result: Result) -> list[str]:
    """The contexts of a result, as texts."""
    return [one[0]["text"] for one in result.contexts]


def assert_well_formed(result: Any) -> None:
    """A result is one of two frozen classes, and holds only frozen JSON (OUT-4, FIN-1)."""
    assert type(result) in (Success, Failure)
    assert isinstance(result.content, list)
    assert all(isinstance(block["type"], str) for block in result.content)
    assert type(result.contexts) is tuple
    if isinstance(result, Failure):
        assert result.error.code
        assert result.error.name
        assert type(result.error.message) is str
        assert result.meta is ABSENT or result.meta is not None


class World:
    """A runtime with one tool, `act`, whose body is given; and what happened to it, in order."""

    def __init__(
        self, body: Callable[..., Any] | None = None, *, in_scope: bool = False, **options: Any
    ) -> None:
        settings = {
            key: options.pop(key) for key in ("approver", "approval_policy", "clock") if key in options
        }
        self.runtime = Runtime(**settings)
        self.scope: Scope | None = self.runtime.scope("agent") if in_scope else None
        self.seen: list[str] = []
        self.caller = AbortController()
        self.observed: list[Result] = []
        self.body = body

        async def run(arguments: Any, context: ToolContext) -> object:
            self.seen.append("body")
            if self.body is None:
                return "done"
            answer = self.body(context)
            return await answer if inspect.isawaitable(answer) else answer

        schema = options.pop("schema", {})
        output = Output(schema=schema, **({"render": options.pop("render")} if "render" in options else {}))
        if "meta" in options:
            output = Output(schema=schema, render=output.render, meta=options.pop("meta"))
        self.tool = Tool(
            **{
                "name": "act",
                "description": "Act.",
                "parameters": {"type": "object"},
                "output": output,
                "run": run,
                "interrupt": "signal",
                **options,
            }
        )
        self.registration = self.runtime.register(self.tool)
        self.runtime.on("result", lambda execution, result: self._observe(result))

    def _observe(self, result: Result) -> None:
        self.seen.append("observer")
        self.observed.append(result)

    def call(
        self, backend: str, *, name: str = "act", arguments: str = "", session: Session | None = None
    ) -> Result:
        """Run one call to its result; an observer saw that very result (FIN-3)."""

        async def main() -> Result:
            return await self.runtime.execute(
                ToolCall("c1", name, arguments), scope=self.scope, signal=self.caller.signal, session=session
            )

        result: Result = on(backend, main)
        assert_well_formed(result)
        assert self.observed[-1] is result
        return result


def see(world: World, what: str, answer: Any) -> Any:
    """Note that something happened, and answer."""
    world.seen.append(what)
    return answer
