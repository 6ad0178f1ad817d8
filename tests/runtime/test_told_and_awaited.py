"""Policies and bodies are told of an abort, and waited for; what a call sets stays with it (PRE, PY)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import anyio
import pytest
from calls import World, both, code, contexts, on, text
from test_timeout import play, timed, until_aborted

from gnomon import (
    AbortController,
    Allow,
    Deny,
    DispatchExecution,
    Execution,
    GnomonError,
    Next,
    Result,
    Success,
    ToolCall,
    ToolContext,
)

# -- native cancellation ------------------------------------------------------------------------------


def cancelled_while_it_waits(backend: str, world: World, gate: list[anyio.Event]) -> None:
    """Cancel the task of a call, look whether what waits at the gate goes on waiting, and open the gate."""

    async def main() -> bool:
        scope = anyio.CancelScope()

        async def run() -> None:
            with scope:
                await world.runtime.execute(ToolCall("c", "act"))

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
            await anyio.wait_all_tasks_blocked()
            assert world.seen[-1] == "waits", "it is neither cut short nor left behind"
            gate[0].set()
        return scope.cancelled_caught

    assert on(backend, main), "and then the cancellation goes on"


@both
@pytest.mark.clause("PY-3", "PY-13")
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
def test_a_policy_step_sees_a_cancellation_as_an_abort_and_is_waited_for(backend: str, event: Any) -> None:
    world = World()
    gate: list[anyio.Event] = []

    async def wait(execution: Execution, *given: Any) -> Any:
        gate.append(anyio.Event())
        answer = await given[-1]()
        world.seen.append("waits")
        await gate[0].wait()
        world.seen.append(f"ended, aborted: {execution.signal.aborted}")
        return answer

    world.runtime.on(event, wait)
    cancelled_while_it_waits(backend, world, gate)
    assert "ended, aborted: True" in world.seen
    assert world.seen[-1] == "observer"


@both
@pytest.mark.clause("PY-2", "PY-3")
def test_a_body_that_handles_its_signal_itself_is_waited_for_and_never_cancelled(backend: str) -> None:
    gate: list[anyio.Event] = []

    async def body(context: ToolContext) -> str:
        gate.append(anyio.Event())
        world.seen.append("waits")
        await gate[0].wait()
        world.seen.append(f"ended, aborted: {context.signal.aborted}")
        return "x"

    world = World(body, interrupt="signal")
    cancelled_while_it_waits(backend, world, gate)
    assert world.seen == ["body", "waits", "ended, aborted: True", "observer"]
    assert code(world.observed[0]) == "ABORTED"


@both
@pytest.mark.clause("PY-2", "PY-9")
def test_what_a_plain_function_hands_out_is_interrupted_like_any_body(backend: str) -> None:
    async def forever() -> str:
        world.caller.abort()
        try:
            await anyio.sleep_forever()
        finally:
            world.seen.append("cleaned up")
        return "never"

    def run(arguments: Any, context: ToolContext) -> Any:
        return forever()

    world = World()
    world.registration()
    world.runtime.register(replace(world.tool, run=run, interrupt="cancel"))
    assert code(world.call(backend)) == "ABORTED"
    assert world.seen == ["cleaned up", "observer"]


# -- denials, and attempts ----------------------------------------------------------------------------


def deny() -> Any:
    return Deny("no")


def fail() -> Any:
    raise ValueError("broken")


@both
@pytest.mark.clause("PRE-6")
@pytest.mark.parametrize(("end", "expected"), [(deny, "DENIED"), (fail, "POLICY_ERROR")])
def test_a_denial_or_failure_after_the_abort_is_kept(
    backend: str, end: Callable[[], Any], expected: str
) -> None:
    world = World()

    def listen(execution: Execution, following: Next[Any]) -> Any:
        world.caller.abort()
        return end()

    world.runtime.on("pre_execute", listen)
    assert code(world.call(backend)) == expected


@both
@pytest.mark.clause("GRD-5", "GRD-7")
@pytest.mark.parametrize(("reason", "expected"), [("no", "DENIED"), (None, "ABORTED_BEFORE_DISPATCH")])
def test_guards_run_after_an_allow_although_the_caller_has_aborted(
    backend: str, reason: str | None, expected: str
) -> None:
    world = World()

    def listen(execution: Execution, following: Next[Any]) -> Any:
        world.caller.abort()
        return Allow()

    world.runtime.on("pre_execute", listen)
    world.runtime.guard(lambda execution: world.seen.append("guard") or reason)
    assert code(world.call(backend)) == expected
    assert world.seen == ["guard", "observer"]


@both
@pytest.mark.clause("DSP-5")
@pytest.mark.parametrize(
    ("arguments", "attempts", "expected"),
    [("[]", 1, "ABORTED_BEFORE_DISPATCH"), ("", 1, "ABORTED"), ("", 2, "ABORTED")],
)
def test_a_body_counts_as_invoked_once_it_is_called_and_from_then_on(
    backend: str, arguments: str, attempts: int, expected: str
) -> None:
    world = World(parameters={"type": "object"})

    async def wrapper(execution: DispatchExecution, following: Next[Result]) -> Result:
        for _ in range(attempts):
            await following()
        world.caller.abort()
        return Success("own", text("own"))

    world.runtime.on("execute", wrapper)
    assert code(world.call(backend, arguments=arguments)) == expected


@both
@pytest.mark.clause("DSP-9")
def test_a_wrappers_signal_that_render_aborts_aborts_the_body(backend: str) -> None:
    mine = AbortController()
    world = World(render=lambda arguments, value: mine.abort() or text("x"))

    async def wrapper(execution: DispatchExecution, following: Next[Result]) -> Result:
        execution.signal = mine.signal
        return await following()

    world.runtime.on("execute", wrapper)
    assert code(world.call(backend)) == "ABORTED"


@both
@pytest.mark.clause("DSP-15")
def test_the_context_of_an_earlier_attempt_takes_nothing_in_a_later_one(backend: str) -> None:
    kept: list[ToolContext] = []

    def body(context: ToolContext) -> str:
        kept.append(context)
        context.defer(f"attempt {len(kept)}")
        if len(kept) == 2:
            with pytest.raises(GnomonError, match="DSP-15"):
                kept[0].defer("late")
        return "x"

    world = World(body)

    async def twice(execution: DispatchExecution, following: Next[Result]) -> Result:
        await following()
        return await following()

    world.runtime.on("execute", twice)
    assert contexts(world.call(backend)) == ["attempt 1", "attempt 2"]


# -- timeouts -----------------------------------------------------------------------------------------


@both
@pytest.mark.clause("TMO-1")
def test_the_timeout_is_read_at_dispatch(backend: str) -> None:
    world, clock = timed(until_aborted, timeout=50)

    def shorten(execution: Execution) -> None:
        world.registration()
        world.runtime.register(replace(world.tool, timeout=2))

    world.runtime.guard(shorten)

    async def script() -> None:
        await clock.advance(1)
        assert world.seen == ["body"]
        await clock.advance(1)
        assert world.seen == ["body", "observer"]

    assert code(play(backend, world, script)) == "TOOL_TIMEOUT"


@both
@pytest.mark.clause("TMO-2")
def test_contexts_of_a_result_that_came_too_late_go_and_deferred_ones_stay(backend: str) -> None:
    world, clock = timed(until_aborted)

    async def inner(execution: DispatchExecution, following: Next[Result]) -> Result:
        await following()
        return Success("own", text("own"), contexts=(text("w"),))

    world.runtime.on("execute", inner)

    async def script() -> None:
        await clock.advance(5)

    result = play(backend, world, script)
    assert (code(result), contexts(result)) == ("TOOL_TIMEOUT", ["d"])


@both
@pytest.mark.clause("TMO-3")
@pytest.mark.parametrize("fails", [True, False])
def test_the_timeout_puts_back_the_signal_that_it_found_also_when_it_fails(backend: str, fails: bool) -> None:
    world, _ = timed(lambda context: "x")

    async def outer(execution: DispatchExecution, following: Next[Result]) -> Result:
        found = execution.signal
        try:
            return await following()
        except ValueError:
            world.seen.append("failed")
            return Success("own", text("own"))
        finally:
            assert execution.signal is found

    async def inner(execution: DispatchExecution, following: Next[Result]) -> Result:
        await following()
        if fails:
            raise ValueError("broken")
        return Success("own", text("own"))

    world.runtime.on("execute", outer, prepend=True)
    world.runtime.on("execute", inner)
    assert code(world.call(backend)) == "OK"
    assert ("failed" in world.seen) is fails


# -- where things run, and what they see ----------------------------------------------------------------


@both
@pytest.mark.clause("PY-5")
def test_plain_policy_steps_run_on_the_loop_and_plain_bodies_beside_it(backend: str) -> None:
    threads: dict[str, int] = {}

    def here(what: str, answer: Any = None) -> Any:
        threads[what] = threading.get_ident()
        return answer

    def run(arguments: Any, context: ToolContext) -> Any:
        return here("body")

    world = World()
    world.registration()
    world.runtime.register(replace(world.tool, run=run))
    world.runtime.on("pre_execute", lambda execution, following: here("pre", following()))
    world.runtime.guard(lambda execution: here("guard"))
    world.runtime.on("execute", lambda execution, following: here("wrapper", following()))
    world.runtime.on("post_execute", lambda execution, result, following: here("post", following()))
    world.runtime.on("result", lambda execution, result: here("observer"))
    assert code(world.call(backend)) == "OK"
    assert threads.pop("body") != threading.get_ident()
    assert threads == dict.fromkeys(("pre", "guard", "wrapper", "post", "observer"), threading.get_ident())


@both
@pytest.mark.clause("PY-7")
def test_calls_that_overlap_share_no_context_variables_and_a_finalizer_shares_those_of_its_call(
    backend: str,
) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    seen: dict[str, list[str]] = {"c0": [], "c1": []}

    def note(call_id: str, what: str, answer: Any = None) -> Any:
        seen[call_id].append(variable.get())
        variable.set(f"{call_id} {what}")
        return answer

    async def body(context: ToolContext) -> str:
        await anyio.wait_all_tasks_blocked()
        note(context.call_id, "body")
        return "x"

    world = World(body, parallel=True, finalize_content=lambda e, r: note(e.call_id, "finalizer"))
    world.runtime.on("pre_execute", lambda e, following: note(e.call_id, "pre", following()))
    world.runtime.on("post_execute", lambda e, r, following: note(e.call_id, "post", following()))
    world.runtime.on("result", lambda e, r: note(e.call_id, "observer"))
    on(backend, lambda: world.runtime.run_batch([ToolCall("c0", "act"), ToolCall("c1", "act")]))
    for call_id, found in seen.items():
        assert found == ["unset", *(f"{call_id} {one}" for one in ("pre", "body", "post", "finalizer"))]
