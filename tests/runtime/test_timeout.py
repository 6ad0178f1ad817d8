"""Timeouts, on a clock that only moves when it is told (TMO). Nothing here waits for real time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from calls import World, both, code, contexts, on

from gnomon import (
    AbortController,
    Code,
    DispatchExecution,
    Failure,
    GnomonWarning,
    Next,
    RegistrationError,
    Result,
    Runtime,
    Token,
    ToolCall,
    ToolContext,
)


class FakeClock:
    """Virtual time, in seconds."""

    def __init__(self) -> None:
        self.time = 100.0
        self.waiting: list[tuple[float, anyio.Event]] = []

    def now(self) -> float:
        return self.time

    async def sleep_until(self, moment: float) -> None:
        event = anyio.Event()
        entry = (moment, event)
        self.waiting.append(entry)
        try:
            if self.time < moment:
                await event.wait()
        finally:
            self.waiting.remove(entry)

    async def advance(self, seconds: float) -> None:
        """Move time, and wait until everybody has noticed."""
        await anyio.wait_all_tasks_blocked()
        self.time += seconds
        for moment, event in list(self.waiting):
            if moment <= self.time:
                event.set()
        await anyio.wait_all_tasks_blocked()


def timed(body: Callable[[ToolContext], Any], **options: Any) -> tuple[World, FakeClock]:
    clock = FakeClock()
    return World(body, **{"clock": clock, "timeout": 5, **options}), clock


def play(backend: str, world: World, script: Callable[[], Any]) -> Result:
    """Run one call, and beside it a script."""
    results: list[Result] = []

    async def call() -> None:
        results.append(await world.runtime.execute(ToolCall("c", "act"), signal=world.caller.signal))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await script()

    on(backend, main)
    return results[0]


async def until_aborted(context: ToolContext) -> str:
    context.defer("d")
    await context.signal.wait()
    return "too late"


async def fail_when_aborted(context: ToolContext) -> str:
    context.defer("d")
    await context.signal.wait()
    raise ValueError("mine")


@pytest.mark.clause("TMO-2", "ERR-3")
@both
@pytest.mark.parametrize("body", [until_aborted, fail_when_aborted])
@pytest.mark.parametrize("interrupt", ["signal", "cancel"])
def test_the_deadline_replaces_what_came_back_and_keeps_deferred_contexts(
    backend: str, body: Any, interrupt: str
) -> None:
    world, clock = timed(body, interrupt=interrupt)

    async def script() -> None:
        await clock.advance(4.9)
        assert world.seen == ["body"]
        await clock.advance(0.1)
        world.caller.abort("a later abort changes nothing")

    result = play(backend, world, script)
    assert (code(result), contexts(result)) == (Code.TOOL_TIMEOUT, ["d"])
    assert isinstance(result, Failure)
    assert result.error.name == "ToolTimeoutError"
    assert clock.waiting == []
    assert not world.caller.signal._callbacks


@pytest.mark.clause("TMO-1")
@both
def test_the_body_is_waited_for_and_never_raced(backend: str) -> None:
    gate: list[anyio.Event] = []

    async def stubborn(context: ToolContext) -> str:
        gate.append(anyio.Event())
        await gate[0].wait()
        return "at last"

    world, clock = timed(stubborn)

    async def script() -> None:
        await clock.advance(6)
        assert world.seen == ["body"], "it still runs"
        gate[0].set()

    assert code(play(backend, world, script)) == Code.TOOL_TIMEOUT


@pytest.mark.clause("TMO-2")
@both
@pytest.mark.parametrize(
    ("body", "expected"), [(until_aborted, "ABORTED"), (fail_when_aborted, "TOOL_ERROR")]
)
def test_an_abort_that_came_first_is_left_alone(backend: str, body: Any, expected: str) -> None:
    late: list[anyio.Event] = []

    async def slow(context: ToolContext) -> str:
        late.append(anyio.Event())
        await late[0].wait()
        answer: str = await body(context)
        return answer

    world, clock = timed(slow)

    async def script() -> None:
        await clock.advance(1)
        world.caller.abort()
        await clock.advance(10)
        late[0].set()

    assert code(play(backend, world, script)) == expected


@pytest.mark.clause("TMO-2", "TMO-3")
@both
def test_the_signal_of_an_outer_wrapper_that_came_first_is_left_alone(backend: str) -> None:
    mine = AbortController()
    late: list[anyio.Event] = []

    async def slow(context: ToolContext) -> str:
        late.append(anyio.Event())
        await late[0].wait()
        return "x"

    world, clock = timed(slow)

    async def outer(execution: DispatchExecution, following: Next[Result]) -> Result:
        execution.signal = mine.signal
        answer = await following()
        assert execution.signal is mine.signal, "the timeout put back what it found"
        return answer

    world.runtime.on("execute", outer, prepend=True)

    async def script() -> None:
        await clock.advance(1)
        mine.abort()
        await clock.advance(10)
        late[0].set()

    assert code(play(backend, world, script)) == Code.ABORTED


@both
def test_a_body_in_time_is_no_timeout_and_leaves_no_timer(backend: str) -> None:
    world, clock = timed(lambda context: "quick")

    async def script() -> None:
        await clock.advance(10)

    assert code(play(backend, world, script)) == "OK"
    assert clock.waiting == []


@pytest.mark.clause("TMO-1", "TMO-4")
@both
@pytest.mark.parametrize("outside", [True, False])
def test_a_retry_outside_gets_a_new_deadline_and_one_inside_shares_it(backend: str, outside: bool) -> None:
    world, clock = timed(until_aborted)
    codes: list[str] = []

    async def retry(execution: DispatchExecution, following: Next[Result]) -> Result:
        codes.append(code(await following()))
        result = await following()
        codes.append(code(result))
        return result

    world.runtime.on("execute", retry, prepend=outside)

    async def script() -> None:
        await clock.advance(5)
        assert world.seen.count("body") == (2 if outside else 1)
        await clock.advance(5)

    assert code(play(backend, world, script)) == Code.TOOL_TIMEOUT
    assert codes == (["TOOL_TIMEOUT"] * 2 if outside else ["ABORTED", "ABORTED"])


@pytest.mark.clause("TMO-4")
@both
def test_the_clock_runs_from_entering_the_wrapper_inner_wrappers_included(backend: str) -> None:
    world, clock = timed(until_aborted)

    async def slow(execution: DispatchExecution, following: Next[Result]) -> Result:
        await clock.sleep_until(clock.now() + 4)
        return await following()

    world.runtime.on("execute", slow)

    async def script() -> None:
        await clock.advance(4)
        assert world.seen == ["body"]
        await clock.advance(1)

    assert code(play(backend, world, script)) == Code.TOOL_TIMEOUT


@both
def test_a_pipeline_failure_stays_a_failure_after_the_deadline(backend: str) -> None:
    world, clock = timed(until_aborted)

    async def broken(execution: DispatchExecution, following: Next[Result]) -> Result:
        await following()
        raise ValueError("broken")

    world.runtime.on("execute", broken)

    async def script() -> None:
        await clock.advance(5)

    assert code(play(backend, world, script)) == Code.POLICY_ERROR


@both
def test_a_clock_that_fails_is_a_warning(backend: str) -> None:
    class Broken(FakeClock):
        async def sleep_until(self, moment: float) -> None:
            raise OSError("no clock")

    async def body(context: ToolContext) -> str:
        await anyio.wait_all_tasks_blocked()
        return "x"

    world, _ = timed(body, clock=Broken())
    with pytest.warns(GnomonWarning, match="the clock failed"):
        assert code(world.call(backend)) == "OK"


@both
@pytest.mark.clause("PY-4")
@pytest.mark.parametrize("raised", [SystemExit, GeneratorExit, KeyboardInterrupt])
def test_whatever_a_clock_raises_stays_in_the_batch(backend: str, raised: type[BaseException]) -> None:
    """Seen to fail: the event loop ended at once, with the body in it."""

    class Broken(FakeClock):
        async def sleep_until(self, moment: float) -> None:
            while "body" not in world.seen:
                await anyio.lowlevel.checkpoint()
            raise raised

    async def body(context: ToolContext) -> str:
        if raised is KeyboardInterrupt:
            await context.signal.wait()
        await anyio.wait_all_tasks_blocked()
        world.seen.append("body ended")
        return "x"

    world, _ = timed(body, clock=Broken())
    if raised is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            world.call(backend)
    else:
        with pytest.warns(GnomonWarning, match="the clock failed"):
            assert code(world.call(backend)) == "OK"
    assert "body ended" in world.seen


@pytest.mark.clause("REG-1", "PY-12")
@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), True, "5"])
def test_a_timeout_is_a_positive_finite_number(timeout: Any) -> None:
    with pytest.raises(RegistrationError, match="REG-1"):
        World(timeout=timeout)


def test_a_timeout_on_the_real_clock_is_not_waited_for() -> None:
    assert code(World(timeout=3600).call("trio")) == "OK"
    assert Token() != Token()
    assert Runtime().tools() == []
