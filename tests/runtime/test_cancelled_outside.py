"""Whoever cancels the task of a batch, in whatever way, at whatever moment: PY-3, on three event loops.

What is under way at that moment cancels by itself, three times, so that the later ones come during the drain.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
import trio
from calls import World
from cancel_runs import BACKENDS, bytes_of, problems_of

from gnomon import Ask, CallbackApprover, MemorySession, Next, ToolCall, ToolContext

Run = Callable[[], Awaitable[object]]
Cuts = list[Callable[[], object]]


# -- how a caller is cancelled ------------------------------------------------------------------------


async def by_a_scope(run: Run, cuts: Cuts) -> None:
    with anyio.CancelScope() as scope:
        cuts.append(scope.cancel)
        await run()
    assert scope.cancelled_caught


async def by_a_deadline(run: Run, cuts: Cuts) -> None:
    def pass_it() -> None:
        scope.deadline = anyio.current_time()

    with pytest.raises(TimeoutError), anyio.fail_after(1_000_000) as scope:
        cuts.append(pass_it)
        await run()


async def by_a_failing_sibling(run: Run, cuts: Cuts) -> None:
    fails = anyio.Event()

    async def sibling() -> None:
        await fails.wait()
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        async with anyio.create_task_group() as group:
            cuts.append(fails.set)
            group.start_soon(sibling)
            await run()
    assert [type(one) for one in caught.value.exceptions] == [ZeroDivisionError]


async def by_task_cancel(run: Run, cuts: Cuts) -> None:
    task = asyncio.ensure_future(run())
    calls: list[bool] = []
    cuts.append(lambda: calls.append(task.cancel("enough")))
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task
    assert task.cancelled()
    assert task.cancelling() == calls.count(True) >= 3, "nobody has taken one back"  # type: ignore[attr-defined]


async def by_asyncio_timeout(run: Run, cuts: Cuts) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(None) as timeout:
            cuts.append(expiry(timeout))
            await run()


async def by_two_timeouts(run: Run, cuts: Cuts) -> None:
    """Both pass: the inner one first, the outer one during the drain. The outer one is what is raised."""
    after: list[str] = []
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(None) as outer:
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as inner:
                    cuts.append(lambda: (expiry(outer) if inner.expired() else expiry(inner))())
                    await run()
            after.append("the code behind the inner one")
    assert after == []


async def by_a_scope_in_a_timeout(run: Run, cuts: Cuts) -> None:
    """The scope first, the timeout around it during the drain: neither is lost."""
    after: list[str] = []
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(None) as outer:
            with anyio.CancelScope() as scope:
                cuts.append(lambda: expiry(outer)() if scope.cancel_called else scope.cancel())
                await run()
            after.append("the code behind the scope")
    assert after == []


async def by_an_asyncio_group(run: Run, cuts: Cuts) -> None:
    fails = asyncio.Event()

    async def sibling() -> None:
        await fails.wait()
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            cuts.append(fails.set)
            group.create_task(sibling())
            await run()
    assert [type(one) for one in caught.value.exceptions] == [ZeroDivisionError]


async def by_wait_for(run: Run, cuts: Cuts) -> None:
    """In virtual time, so that the batch has begun before its time is over."""
    loop: Any = asyncio.get_running_loop()
    moments = [0.0]
    loop.time = lambda: moments[0]
    try:
        cuts.append(lambda: moments.__setitem__(0, 2_000_000.0))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run(), 1_000_000)  # type: ignore[arg-type]  # a coroutine
    finally:
        del loop.time


def expiry(timeout: asyncio.Timeout) -> Callable[[], None]:
    """Lets the time of an `asyncio.timeout` be over, once."""

    def expire() -> None:
        if not timeout.expired():
            timeout.reschedule(0)

    return expire


WAYS: dict[str, Callable[[Run, Cuts], Awaitable[None]]] = {
    "a scope": by_a_scope,
    "a deadline": by_a_deadline,
    "a failing sibling": by_a_failing_sibling,
    "task.cancel": by_task_cancel,
    "asyncio.timeout": by_asyncio_timeout,
    "two timeouts": by_two_timeouts,
    "a scope in a timeout": by_a_scope_in_a_timeout,
    "asyncio.TaskGroup": by_an_asyncio_group,
    "asyncio.wait_for": by_wait_for,
}
ANYWHERE = ("a scope", "a deadline", "a failing sibling")
eager = pytest.mark.skipif(sys.version_info < (3, 12), reason="asyncio has had eager tasks since Python 3.12")
ways = pytest.mark.parametrize(
    ("loop", "way"),
    [
        pytest.param(loop, way, marks=[eager] if loop == "eager" else [])
        for loop in (*BACKENDS, "eager")
        for way in WAYS
        # Trio has no tasks to cancel; the clock of uvloop's loop cannot be replaced.
        if (loop != "trio" or way in ANYWHERE) and (loop != "uvloop" or way != "asyncio.wait_for")
    ],
)


# -- what is under way at that moment -----------------------------------------------------------------


@dataclass
class Moment:
    """A batch of two calls; the first cancels its caller at one moment. What it is, a subclass says."""

    code: str
    """What the first call comes to."""
    cuts: Cuts = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    cut_already: bool = False

    def world(self) -> World:
        raise NotImplementedError

    async def cut(self) -> None:
        """Cancel three times, and go on."""
        self.cut_already = True
        for _ in range(3):
            self.cuts[0]()
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
        self.ended.append("cut")

    async def cut_shielded(self) -> None:
        with anyio.CancelScope(shield=True):
            await self.cut()


class Policy(Moment):
    """A listener, a wrapper, or an approver."""

    def __init__(self, event: str, code: str) -> None:
        super().__init__(code)
        self.event = event

    def world(self) -> World:
        async def approve(request: Any) -> bool:
            try:
                self.cuts[0]()
                await anyio.sleep_forever()
            finally:
                await self.cut_shielded()
            return True

        world = World(in_scope=True, approver=CallbackApprover(approve))
        if self.event == "approval":
            world.runtime.on("pre_execute", lambda execution, following: Ask("why"))
            return world

        async def around(execution: Any, *given: Any) -> Any:
            following: Next[Any] = given[-1]
            answer = await following() if "after" in self.event else None
            await self.cut()
            return await following() if answer is None else answer

        name: Any = self.event.removesuffix(" after")
        world.runtime.on(name, around)
        return world


class Body(Moment):
    """A body of some kind."""

    def __init__(self, kind: str, code: str = "ABORTED") -> None:
        super().__init__(code)
        self.kind = kind

    def world(self) -> World:
        options: dict[str, Any] = {"interrupt": "signal" if self.kind == "heeds its signal" else "cancel"}
        if self.kind == "timed":
            options |= {"timeout": 5_000_000.0}
        world = World(self.body, **options)
        if self.kind == "thread":
            world.registration()
            world.runtime.register(replace(world.tool, run=self.in_a_thread))
        world.runtime.register(replace(world.tool, name="inner", interrupt="signal"))
        self.runtime = world.runtime
        return world

    async def body(self, context: ToolContext) -> str:
        if context.parent is not None or self.kind == "heeds its signal":
            await self.cut()
            return "x"
        nested: dict[str, Any] = {
            "parent": context.token,
            "root_call_id": context.root_call_id,
            "signal": context.signal,
        }
        match self.kind:
            case "unwinds slowly" | "timed":
                try:
                    self.cuts[0]()
                    await anyio.sleep_forever()
                finally:
                    await self.cut_shielded()
            case "swallows":
                self.cuts[0]()
                with suppress(anyio.get_cancelled_exc_class()):
                    await anyio.sleep_forever()
                await self.cut_shielded()
            case "nested call":
                await self.runtime.execute(ToolCall("n", "inner"), **nested)
            case "nested batch":
                await self.runtime.run_batch([ToolCall("n", "inner")], **nested)
            case "own error" | "group" | "mixed group":
                await self.fail()
        return "x"

    async def fail(self) -> None:
        """Turn the interruption into something else."""
        try:
            self.cuts[0]()
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class() as cancellation:
            await self.cut_shielded()
            if self.kind == "own error":
                raise ValueError("its own") from None
            others = [] if self.kind == "group" else [ValueError("one")]
            raise BaseExceptionGroup("several", [cancellation, *others]) from None

    def in_a_thread(self, arguments: Any, context: ToolContext) -> str:
        for _ in range(3):
            anyio.from_thread.run_sync(self.cuts[0])
        anyio.from_thread.run(context.signal.wait)
        self.ended.append("cut")
        return "x"


MOMENTS: dict[str, Callable[[], Moment]] = {
    "prepare": lambda: Policy("pre_execute", "ABORTED_BEFORE_DISPATCH"),
    "approval": lambda: Policy("approval", "ABORTED_BEFORE_DISPATCH"),
    "wrapper, before the body": lambda: Policy("execute", "ABORTED_BEFORE_DISPATCH"),
    "wrapper, after the body": lambda: Policy("execute after", "ABORTED"),
    "post-execute": lambda: Policy("post_execute", "ABORTED"),
    **{
        kind: lambda kind=kind: Body(kind)  # type: ignore[misc]  # the default binds the kind
        for kind in (
            "unwinds slowly",
            "swallows",
            "heeds its signal",
            "timed",
            "thread",
            "nested call",
            "nested batch",
            "group",
        )
    },
    "own error": lambda: Body("own error", "TOOL_ERROR"),
    "mixed group": lambda: Body("mixed group", "TOOL_ERROR"),
}


def tasks() -> object:
    """The tasks of the loop that runs."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return trio.lowlevel.current_statistics().tasks_living


def threads() -> set[str]:
    """The threads that run, but for the workers that anyio and trio keep for whoever needs one next."""
    names = {one.name for one in threading.enumerate()}
    return {one for one in names if not one.startswith(("AnyIO worker", "Trio thread"))}


def files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


@ways
@pytest.mark.clause("APP-11", "CAN-2", "SCD-8", "SCD-10", "SCD-11", "PY-1", "PY-2", "PY-3", "PY-13")
@pytest.mark.parametrize("at", MOMENTS)
def test_a_caller_that_is_cancelled_hears_of_it_once_everything_is_logged(
    loop: str, way: str, at: str
) -> None:
    moment = MOMENTS[at]()
    world = moment.world()
    session = MemorySession()

    async def run() -> None:
        try:
            await world.runtime.run_batch(
                [ToolCall("c", "act"), ToolCall("c", "act")],
                scope=world.scope,
                session=session,
                signal=world.caller.signal,
            )
        finally:
            moment.ended.append("batch")

    async def main() -> None:
        if loop == "eager":
            factory: Any = getattr(asyncio, "eager_task_factory")  # noqa: B009  # not there before 3.12
            asyncio.get_running_loop().set_task_factory(factory)
        before = tasks(), threads(), files()
        await WAYS[way](run, moment.cuts)
        assert (tasks(), threads(), files()) == before
        if loop != "trio":
            task = asyncio.current_task()
            assert task is not None
            assert task.cancelling() == 0, "who cancelled has taken it back, and nobody else"
        await anyio.lowlevel.checkpoint()

    backend, uv = ("asyncio", loop == "uvloop") if loop != "trio" else ("trio", False)
    anyio.run(main, backend=backend, backend_options={"use_uvloop": True} if uv else {})
    assert moment.ended == ["cut", "batch"], "what was under way ended first"
    records = session.records()
    results = [one.data for one in records if one.type == "tool/result"]
    assert [one["error"]["code"] for one in results] == [moment.code, "ABORTED_BEFORE_DISPATCH"]
    seen = 2 if at.startswith("nested") else 1
    assert len(world.observed) == seen, "no observer is told of a call that never started (SCD-8)"
    assert list(records)[-1].type == "turn/end"
    assert problems_of(bytes_of(tuple(records))) == []
    assert not world.caller.signal._callbacks
