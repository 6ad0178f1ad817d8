"""What it means that a body runs in a task of its own: context, interruptions, nested calls (PY)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
import trio
from calls import World, both, code, on, text

from gnomon import (
    Ask,
    CallbackApprover,
    Code,
    DispatchExecution,
    Execution,
    Next,
    Result,
    Success,
    ToolCall,
    ToolContext,
)

Around = Next[Result]
Cuts = list[Callable[[], object]]
"""What the body calls to have its wrapper cancelled, natively."""

OWN = Success("own", text("own"), contexts=(text("w"),))


@both
@pytest.mark.parametrize("single", [True, False])
def test_no_two_of_caller_wrapper_and_bodies_share_a_task(backend: str, single: bool) -> None:
    tasks: list[object] = []

    def note(answer: Any = None) -> Any:
        tasks.append(asyncio.current_task() if backend == "asyncio" else trio.lowlevel.current_task())
        return answer

    world = World(lambda context: note("x"))

    async def twice(execution: DispatchExecution, following: Around) -> Result:
        note()
        await following()
        return await following()

    world.runtime.on("execute", twice)

    async def main() -> None:
        note()
        if single:
            await world.runtime.execute(ToolCall("c", "act"))
        else:
            await world.runtime.run_batch([ToolCall("c", "act")])

    on(backend, main)
    assert len(tasks) == len(set(tasks)) == 4


@pytest.mark.clause("PY-2")
def test_what_a_body_does_to_its_task_reaches_no_listener_that_it_added() -> None:
    """Seen to fail: the listener was cut, in the task in which the body had cancelled itself."""

    async def body(context: ToolContext) -> str:
        world.runtime.on("post_execute", after)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "x"

    async def after(execution: Execution, result: Result, following: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        world.seen.append("after")
        return await following()

    world = World(body)
    result = on("asyncio", lambda: world.runtime.execute(ToolCall("c", "act")))
    assert (code(result), world.seen) == ("OK", ["body", "after", "observer"])


@both
def test_an_abort_interrupts_once_and_only_the_body(backend: str) -> None:
    """An awaited clean-up runs to its end on asyncio; on trio the scope stays cancelled."""

    async def body(context: ToolContext) -> str:
        try:
            world.caller.abort()
            await anyio.sleep_forever()
        finally:
            world.seen.append("interrupted")
            await anyio.lowlevel.checkpoint()
            world.seen.append("cleaned up")
        return "x"

    world = World(body, interrupt="cancel")

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        result = await following()
        await anyio.lowlevel.checkpoint()
        world.seen.append("wrapper goes on")
        return result

    world.runtime.on("execute", wrapper)
    assert code(world.call(backend)) == Code.ABORTED
    cleaned = ["cleaned up"] if backend == "asyncio" else []
    assert world.seen == ["body", "interrupted", *cleaned, "wrapper goes on", "observer"]


@both
@pytest.mark.parametrize("own_task", [True, False])
def test_hooks_body_and_finalizer_share_one_copy_of_the_context(backend: str, own_task: bool) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="unset")

    def note(what: str, answer: Any = None) -> Any:
        world.seen.append(f"{what} after {variable.get()}")
        variable.set(what)
        return answer

    world = World(
        lambda context: note("body", "x"), finalize_content=lambda execution, result: note("finalizer")
    )

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        note("wrapper")
        answers: list[Result] = []

        async def delegate() -> None:
            answers.append(await following())

        if own_task:
            async with anyio.create_task_group() as group:
                group.start_soon(delegate)
        else:
            await delegate()
        return note("wrapper", answers[0])  # type: ignore[no-any-return]  # what was given comes back

    world.runtime.on("pre_execute", lambda execution, following: note("pre", following()))
    world.runtime.on("execute", wrapper)

    async def main() -> None:
        variable.set("caller")
        await world.runtime.execute(ToolCall("c", "act"))
        note("end")

    on(backend, main)
    assert [one for one in world.seen if " after " in one] == [
        "pre after caller",
        "wrapper after pre",
        "body after wrapper",
        "wrapper after body",
        "finalizer after wrapper",
        "end after caller",
    ]


@both
@pytest.mark.parametrize("ending", ["raises", "catches", "retries"])
def test_keyboard_interrupt_of_a_body_leaves_whatever_its_wrapper_does(backend: str, ending: str) -> None:
    """Seen to fail: a wrapper that caught it kept it from leaving."""

    def body(context: ToolContext) -> str:
        if world.seen.count("body") == 1:
            raise KeyboardInterrupt
        return "x"

    world = World(body)

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        try:
            return await following()
        except KeyboardInterrupt:
            if ending == "raises":
                raise
            return await following() if ending == "retries" else OWN

    world.runtime.on("execute", wrapper)
    for run in (
        lambda: world.runtime.execute(ToolCall("c", "act")),
        lambda: world.runtime.run_batch([ToolCall("c", "act")]),
    ):
        world.seen.clear()
        with pytest.raises(KeyboardInterrupt):
            on(backend, run)
        assert world.seen == ["body"], "and it is not run again"


@both
@pytest.mark.parametrize("interrupt", ["cancel", "signal"])
def test_calls_nested_in_a_body_go_on_when_its_wrapper_is_cancelled(backend: str, interrupt: str) -> None:
    cuts: Cuts = []
    world = World(interrupt=interrupt)

    async def body(context: ToolContext) -> str:
        if context.parent is not None:
            cuts[0]()
            await anyio.lowlevel.checkpoint()
            world.seen.append("inner body ended")
            return "inner"
        nested: dict[str, Any] = {"parent": context.token, "root_call_id": context.root_call_id}
        signal = context.signal
        single = await world.runtime.execute(ToolCall("n", "act"), signal=signal, **nested)
        batch = await world.runtime.run_batch([ToolCall("m", "act")], signal=signal, **nested)
        world.seen.append(f"{code(single)} {code(batch.results[0])}")
        return "outer"

    world.body = body

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        if execution.parent is not None:
            return await following()
        with anyio.CancelScope() as scope:
            cuts.append(scope.cancel)
            return await following()
        return OWN

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert code(result) == "OK"
    assert [one for one in world.seen if one not in ("body", "observer")] == [
        "inner body ended",
        "inner body ended",
        "OK OK",
    ]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="asyncio has had eager tasks since Python 3.12")
@pytest.mark.parametrize("kind", ["async", "thread"])
def test_eager_tasks_of_asyncio_change_nothing(kind: str) -> None:
    """Seen to fail with tasks from the loop's own factory: a context was entered while it was entered."""
    world = World(in_scope=True, approver=CallbackApprover(lambda request: True))

    def in_a_thread(arguments: Any, context: ToolContext) -> str:
        world.seen.append("body")
        return "x"

    if kind == "thread":
        world.registration()
        world.runtime.register(replace(world.tool, run=in_a_thread))

    async def ask(execution: Execution, following: Next[Any]) -> Any:
        return Ask("why")

    world.runtime.on("pre_execute", ask)

    async def main() -> list[str]:
        factory: Any = getattr(asyncio, "eager_task_factory")  # noqa: B009  # mypy checks for Python 3.11
        asyncio.get_running_loop().set_task_factory(factory)
        single = await world.runtime.execute(ToolCall("c", "act"), scope=world.scope)
        batch = await world.runtime.run_batch([ToolCall("c", "act")] * 3, scope=world.scope)
        return [code(single), *map(code, batch.results)]

    assert on("asyncio", main) == ["OK"] * 4
