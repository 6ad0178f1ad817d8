"""Each body runs in a task of its own: wrappers can abort it, and cannot cut it short (PY-2, DSP-6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import pytest
from calls import World, both, code, contexts, on, text

from gnomon import (
    BatchResult,
    Code,
    DispatchExecution,
    Failure,
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


# -- how a wrapper may cancel around its `next()` -------------------------------------------------


async def by_a_scope(following: Around, cuts: Cuts) -> Result:
    with anyio.CancelScope() as scope:
        cuts.append(scope.cancel)
        return await following()
    raise TimeoutError


async def by_a_deadline_that_has_passed(following: Around, cuts: Cuts) -> Result:
    with anyio.fail_after(0):
        return await following()


async def by_a_group(following: Around, cuts: Cuts) -> Result:
    answers: list[Result] = []

    async def delegate() -> None:
        answers.append(await following())

    async with anyio.create_task_group() as group:
        cuts.append(group.cancel_scope.cancel)
        group.start_soon(delegate)
    if not answers:
        raise TimeoutError
    return answers[0]


async def by_asyncio_timeout(following: Around, cuts: Cuts) -> Result:
    async with asyncio.timeout(None) as timeout:
        cuts.append(lambda: timeout.expired() or timeout.reschedule(0))
        return await following()


async def by_a_task_of_asyncio(following: Around, cuts: Cuts) -> Result:
    task = asyncio.ensure_future(following())
    cuts.append(task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        raise TimeoutError from None


WAYS = {
    "a scope": by_a_scope,
    "a deadline": by_a_deadline_that_has_passed,
    "a group": by_a_group,
    "asyncio.timeout": by_asyncio_timeout,
    "a task": by_a_task_of_asyncio,
}
ways = pytest.mark.parametrize(
    ("backend", "way"),
    [
        (backend, way)
        for way in WAYS
        for backend in ("asyncio", "trio")
        if backend == "asyncio" or way not in ("asyncio.timeout", "a task")
    ],
)


class Cut:
    """A world whose wrapper is cancelled natively by its body, three times, while the body goes on."""

    def __init__(self, way: str, kind: str, *, catches: bool = False) -> None:
        self.cuts: Cuts = []
        self.world = World(self.body, interrupt="cancel" if kind == "cancel" else "signal")
        if kind == "thread":
            self.world.registration()
            self.world.runtime.register(replace(self.world.tool, run=self.in_a_thread))

        async def wrapper(execution: DispatchExecution, following: Around) -> Result:
            try:
                return await WAYS[way](following, self.cuts)
            except TimeoutError:
                self.world.seen.append("timed out")
                if catches:
                    return OWN
                raise

        self.world.runtime.on("execute", wrapper)

    async def body(self, context: ToolContext) -> str:
        context.defer("d")
        for _ in range(3):
            for cut in self.cuts:
                cut()
            await anyio.lowlevel.checkpoint()
        self.world.seen.append("body ended")
        return "whole"

    def in_a_thread(self, arguments: Any, context: ToolContext) -> str:
        self.world.seen.append("body")
        context.defer("d")
        for _ in range(3):
            for cut in self.cuts:
                anyio.from_thread.run_sync(cut)
            anyio.from_thread.run(anyio.lowlevel.checkpoint)
        self.world.seen.append("body ended")
        return "whole"


@ways
@pytest.mark.parametrize("kind", ["cancel", "signal", "thread"])
def test_a_wrapper_that_cancels_natively_waits_and_its_timeout_goes_on(
    backend: str, way: str, kind: str
) -> None:
    """Seen to fail, with the body in the task of its wrappers: it was cut, or answered as ABORTED."""
    cut = Cut(way, kind)
    result = cut.world.call(backend)
    assert cut.world.seen == ["body", "body ended", "timed out", "observer"]
    assert isinstance(result, Failure)
    assert (result.error.code, result.error.name) == (Code.POLICY_ERROR, "TimeoutError")
    assert contexts(result) == [], "a wrapper that fails loses contexts of every kind (DSP-13)"


@ways
@pytest.mark.parametrize("kind", ["cancel", "signal", "thread"])
def test_a_wrapper_that_catches_its_own_timeout_answers_for_itself(backend: str, way: str, kind: str) -> None:
    cut = Cut(way, kind, catches=True)
    result = cut.world.call(backend)
    assert cut.world.seen == ["body", "body ended", "timed out", "observer"]
    assert (code(result), contexts(result)) == ("OK", ["d", "w"])


@both
def test_the_same_in_a_batch_and_its_siblings_notice_nothing(backend: str) -> None:
    cut = Cut("a scope", "cancel")

    async def main() -> BatchResult:
        return await cut.world.runtime.run_batch([ToolCall("c1", "act"), ToolCall("c2", "nowhere")])

    batch = on(backend, main)
    assert [code(one) for one in batch.results] == ["POLICY_ERROR", "UNKNOWN_TOOL"]
    assert cut.world.seen[:3] == ["body", "body ended", "timed out"]


@both
@pytest.mark.parametrize("interrupt", ["cancel", "signal"])
def test_an_abort_still_reaches_a_body_whose_wrapper_was_cancelled(backend: str, interrupt: str) -> None:
    async def body(context: ToolContext) -> str:
        cuts[0]()
        await anyio.lowlevel.checkpoint()
        world.caller.abort("enough")
        try:
            if interrupt == "signal":
                await context.signal.wait()
            else:
                await anyio.sleep_forever()
        finally:
            world.seen.append(f"told: {context.signal.reason}")
        return "x"

    cuts: Cuts = []
    world = World(body, interrupt=interrupt)
    answers: list[str] = []

    async def outer(execution: DispatchExecution, following: Around) -> Result:
        with anyio.CancelScope() as scope:
            cuts.append(scope.cancel)
            await following()
        answers.append(code(await following()))
        return OWN

    world.runtime.on("execute", outer)
    assert code(world.call(backend)) == Code.ABORTED
    assert world.seen == ["body", "told: enough", "observer"]
    assert answers == ["ABORTED"], "a second attempt does not run it again (DSP-3)"


@both
def test_a_retry_after_a_timeout_starts_when_the_first_body_has_ended(backend: str) -> None:
    cuts: Cuts = []

    async def body(context: ToolContext) -> int:
        attempt = world.seen.count("body")
        context.defer(f"d{attempt}")
        if attempt == 1:
            cuts[0]()
        await anyio.lowlevel.checkpoint()
        world.seen.append("body ended")
        return attempt

    world = World(body, interrupt="cancel")

    async def retry(execution: DispatchExecution, following: Around) -> Result:
        with anyio.CancelScope() as scope:
            cuts.append(scope.cancel)
            await following()
        assert scope.cancelled_caught
        return await following()

    world.runtime.on("execute", retry)
    result = world.call(backend)
    assert isinstance(result, Success)
    assert (result.value, contexts(result)) == (2, ["d1", "d2"])
    assert world.seen == ["body", "body ended", "body", "body ended", "observer"]


# -- a `next()` that its wrapper does not wait for ------------------------------------------------


@both
@pytest.mark.parametrize("cancels", [True, False])
def test_a_next_in_a_task_that_is_left_or_cancelled_is_waited_for(backend: str, cancels: bool) -> None:
    """Seen to fail: the cancelled task interrupted the body, and the wait for it could be cut."""
    cuts: Cuts = []

    async def body(context: ToolContext) -> str:
        context.defer("d")
        for cut in cuts:
            cut()
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        world.seen.append("body ended")
        return "x"

    world = World(body, interrupt="cancel")

    async def main() -> Result:
        async with anyio.create_task_group() as group:

            async def outer(execution: DispatchExecution, following: Around) -> Result:
                with anyio.CancelScope() as scope:
                    cuts.append(scope.cancel)
                    await following()
                world.seen.append("outer cut")
                return OWN

            async def inner(execution: DispatchExecution, following: Around) -> Result:
                started = anyio.Event()

                async def begin() -> None:
                    with anyio.CancelScope() as scope:
                        if cancels:
                            cuts.append(scope.cancel)
                        started.set()
                        await following()

                group.start_soon(begin)
                await started.wait()
                return OWN

            world.runtime.on("execute", outer)
            world.runtime.on("execute", inner)
            return await world.runtime.execute(ToolCall("c", "act"))

    result = on(backend, main)
    assert world.seen == ["body", "body ended", "outer cut", "observer"]
    assert (code(result), contexts(result)) == ("OK", ["d", "w"])


def test_a_next_that_is_closed_by_hand_is_waited_for() -> None:
    """On asyncio only: trio does not survive that one of its waits is closed.

    Seen to fail: the result was there while the body still ran, and then with the body closed as well.
    """

    async def body(context: ToolContext) -> str:
        context.defer("d")
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        world.seen.append("body ended")
        return "x"

    world = World(body)

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        for _ in range(2):
            going = following()
            going.send(None)
            await anyio.lowlevel.checkpoint()
            going.close()
        return OWN

    world.runtime.on("execute", wrapper)
    result = world.call("asyncio")
    assert world.seen[:3] == ["body", "body ended", "observer"]
    assert (code(result), contexts(result)) == ("OK", ["d", "w"])


def test_a_body_whose_task_is_cancelled_before_it_began_holds_up_nothing() -> None:
    """On asyncio only: a task that was spawned always begins on trio."""
    world = World()

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        before = asyncio.all_tasks()
        task = asyncio.ensure_future(following())
        await asyncio.sleep(0)
        (apart,) = asyncio.all_tasks() - before - {task}
        apart.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await following()

    world.runtime.on("execute", wrapper)
    assert code(world.call("asyncio")) == "OK"
    assert world.seen == ["body", "observer"]
