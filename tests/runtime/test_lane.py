"""The lane of a batch: one policy step at a time, calls by position, failures as themselves (SCD, PY)."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from calls import World, both, code, on

from gnomon import (
    AbortController,
    Ask,
    BatchResult,
    CallbackApprover,
    DispatchExecution,
    Execution,
    Limits,
    LogError,
    MemorySession,
    Next,
    Output,
    Record,
    Result,
    Runtime,
    Tool,
    ToolCall,
    ToolContext,
    set_approval_policy,
    tool,
)
from gnomon.execution import Call, Caller


def kinds(session: MemorySession) -> list[str]:
    return [one.type for one in session.records()]


@both
@pytest.mark.clause("SCD-1", "SCD-7")
def test_policy_is_one_lane_and_a_prepare_that_waits_holds_back_commits(backend: str) -> None:
    """Bodies overlap; what is before and after them does not."""
    lane: list[str] = []
    session = MemorySession()

    async def body(context: ToolContext) -> str:
        lane.append(f"{context.call_id} body ended")
        return "x"

    async def pre(execution: Execution, following: Next[Any]) -> Any:
        called = [one.data["callId"] for one in session.records() if one.type == "tool/call"]
        assert called[-1] == execution.call_id, "it is logged first, and the next one is not"
        lane.append(f"pre {execution.call_id}")
        await anyio.wait_all_tasks_blocked()
        lane.append(f"pre {execution.call_id} ended")
        return await following()

    async def post(execution: Execution, result: Result, following: Next[Any]) -> Any:
        lane.append(f"post {execution.call_id}")
        await anyio.wait_all_tasks_blocked()
        lane.append(f"post {execution.call_id} ended")
        return await following()

    world = World(body, parallel=True)
    world.runtime.on("pre_execute", pre)
    world.runtime.on("post_execute", post)
    calls = [ToolCall(f"c{number}", "act") for number in range(3)]
    on(backend, lambda: world.runtime.run_batch(calls, session=session))
    assert lane.index("c0 body ended") < lane.index("pre c1 ended") < lane.index("post c0")
    assert lane.index("post c0 ended") < lane.index("pre c2")
    steps = [one for one in lane if "body" not in one]
    assert steps[1::2] == [f"{one} ended" for one in steps[::2]], "no step begins within another"


@both
@pytest.mark.clause("SCD-6", "SCD-13")
def test_repeated_ids_are_told_apart_by_position(backend: str) -> None:
    """All have one id; the last settles first."""
    session = MemorySession()
    turns: list[anyio.Event] = []

    async def run(arguments: Any, context: ToolContext) -> int:
        if not turns:
            turns.extend(anyio.Event() for _ in range(4))
            turns[3].set()
        await turns[arguments["n"] + 1].wait()
        turns[arguments["n"]].set()
        return int(arguments["n"])

    runtime = Runtime()
    output = Output(schema={"type": "integer"})
    runtime.register(Tool(name="act", description="", parameters={}, output=output, run=run, parallel=True))
    calls = [ToolCall("c", "act", f'{{"n": {number}}}') for number in range(3)]
    result: BatchResult = on(backend, lambda: runtime.run_batch(calls, session=session))
    assert [one.value for one in result.results] == [0, 1, 2]
    records = list(session.records())
    results = [one for one in records if one.type == "tool/result"]
    assert [one.data["message"]["content"][0]["text"] for one in results] == ["0", "1", "2"]
    assert [records[one.data["cites"]].data["arguments"] for one in results] == [
        one.arguments for one in calls
    ]


# -- arguments ----------------------------------------------------------------------------------------


@both
@pytest.mark.clause("ARG-4")
@pytest.mark.parametrize("raw", ['\n{ "a" :1.0e0,"a":\t"\\u00e9" }', '{"a": ', "", '{"a": "\u00e9\ud800"}'])
def test_what_is_logged_is_the_text_of_the_model(backend: str, raw: str) -> None:
    session = MemorySession()
    world = World()
    on(backend, lambda: world.runtime.run_batch([ToolCall("c", "act", raw)], session=session))
    records = {one.type: one.data for one in session.records()}
    assert records["tool/call"]["arguments"] == raw
    assert records["assistant/calls"]["calls"][0]["arguments"] == raw


@both
@pytest.mark.clause("ARG-5")
def test_everybody_gets_the_frozen_snapshot_and_nobody_can_change_it(backend: str) -> None:
    given: list[Any] = []

    def look(arguments: Any) -> None:
        given.append(arguments)
        with pytest.raises(TypeError, match="frozen"):
            arguments["a"].append(2)

    def parallel(arguments: Any) -> bool:
        look(arguments)
        return True

    world = World(lambda context: look(context.arguments), parallel=parallel)
    world.runtime.on("pre_execute", lambda execution, following: look(execution.arguments) or following())
    world.runtime.guard(lambda execution: look(execution.arguments))
    on(backend, lambda: world.runtime.run_batch([ToolCall("c", "act", '{"a": [1]}')]))
    assert len(given) >= 4
    assert all(one is given[0] for one in given)


@pytest.mark.clause("ARG-5", "SCD-2")
def test_arguments_that_are_no_value_make_a_call_exclusive_whatever_the_tool_says() -> None:
    world = World(parallel=True, checks_own_arguments=True)

    def asked(arguments: str) -> bool:
        caller = Caller(world.runtime._layer, AbortController().signal)
        return world.runtime._pipeline.is_parallel(Call(ToolCall("c", "act", arguments), caller, Limits()))

    assert asked('{"a": 1}')
    assert asked('{"a": ')
    assert not asked('{"a": 1e400}')


# -- approvals ----------------------------------------------------------------------------------------


@both
@pytest.mark.clause("APP-9")
def test_a_policy_that_is_logged_between_two_asks_holds_for_the_second(backend: str) -> None:
    session = MemorySession()

    def answer(request: object) -> bool:
        world.seen.append("asked")
        set_approval_policy(session, "never")
        return True

    world = World(in_scope=True, approver=CallbackApprover(answer))
    world.runtime.on("pre_execute", lambda execution, following: Ask())
    calls = [ToolCall(f"c{number}", "act") for number in range(2)]
    result: BatchResult = on(
        backend, lambda: world.runtime.run_batch(calls, scope=world.scope, session=session)
    )
    assert [code(one) for one in result.results] == ["OK", "APPROVAL_REJECTED"]
    assert world.seen.count("asked") == 1


@both
@pytest.mark.clause("APP-9")
@pytest.mark.parametrize(
    ("logged", "configured", "expected"),
    [
        ("ask", "never", "OK"),
        ("never", "ask", "APPROVAL_REJECTED"),
        (None, "never", "APPROVAL_REJECTED"),
        (None, "ask", "OK"),
        (None, None, "OK"),
    ],
)
def test_the_logged_policy_counts_before_the_configured_one_and_that_before_asking(
    backend: str, logged: Any, configured: Any, expected: str
) -> None:
    approver = CallbackApprover(lambda request: True)
    world = World(in_scope=True, approver=approver, approval_policy=configured)
    world.runtime.on("pre_execute", lambda execution, following: Ask())
    session = MemorySession()
    if logged is not None:
        set_approval_policy(session, logged)
    session.append(Record("turn/start", {"turn": 0}))
    assert code(world.call(backend, session=session)) == expected


# -- whose signal it was ------------------------------------------------------------------------------


@both
@pytest.mark.clause("CAN-4")
def test_the_abort_of_a_wrappers_signal_does_not_stop_the_batch(backend: str) -> None:
    own: dict[str, AbortController] = {}

    def body(context: ToolContext) -> str:
        if context.call_id == "c0":
            own["c0"].abort()
        return "x"

    world = World(body)

    async def wrapper(execution: DispatchExecution, following: Next[Result]) -> Result:
        own[execution.call_id] = AbortController()
        execution.signal = own[execution.call_id].signal
        return await following()

    world.runtime.on("execute", wrapper)
    calls = [ToolCall(f"c{number}", "act") for number in range(3)]
    result: BatchResult = on(backend, lambda: world.runtime.run_batch(calls, signal=world.caller.signal))
    assert [code(one) for one in result.results] == ["ABORTED", "OK", "OK"]
    assert not world.caller.signal.aborted


# -- failures -----------------------------------------------------------------------------------------


@both
@pytest.mark.clause("SCD-9", "PY-6")
def test_the_first_failure_leaves_as_itself_and_later_ones_are_noted_on_it(backend: str) -> None:
    session = MemorySession()
    first, second = KeyboardInterrupt("first"), KeyboardInterrupt("second")

    @tool(parallel=True, interrupt="signal")
    async def strike(context: ToolContext) -> None:
        """Strike, the first call once the second waits, the second once the first has struck."""
        if context.call_id == "c0":
            await anyio.wait_all_tasks_blocked()
            raise first
        await context.signal.wait()
        raise second

    runtime = Runtime()
    runtime.register(strike)
    calls = [ToolCall("c0", "strike"), ToolCall("c1", "strike")]
    with pytest.raises(KeyboardInterrupt) as caught:
        on(backend, lambda: runtime.run_batch(calls, session=session))
    assert caught.value is first
    assert first.__notes__ == ["later in the same batch: KeyboardInterrupt: second"]
    assert "tool/result" not in kinds(session)


class Full(MemorySession):
    """No result fits into it any more."""

    def append(self, record: Record) -> int:
        if record.type == "tool/result":
            raise LogError("the disk is full")
        return super().append(record)


@both
@pytest.mark.clause("PY-3", "PY-6")
def test_a_failure_leaves_before_a_cancellation_which_is_noted_on_it(backend: str) -> None:
    world = World(lambda context: context.signal.wait())
    session = Full()

    async def main() -> None:
        scope = anyio.CancelScope()

        async def run() -> None:
            with scope, pytest.raises(LogError, match="full") as caught:
                await world.runtime.run_batch([ToolCall("c", "act")], session=session)
            left.append(caught.value)

        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()

    left: list[LogError] = []
    on(backend, main)
    assert [one.startswith("this was also left by Cancelled") for one in left[0].__notes__] == [True]
    assert kinds(session)[-1] == "tool/call"


@pytest.mark.clause("PY-3")
def test_a_batch_whose_task_is_cancelled_before_it_ran_logs_nothing() -> None:
    """On asyncio: trio has no task that can be cancelled before it begins without a scope around it."""
    session = MemorySession()

    async def main() -> None:
        task = asyncio.create_task(World().runtime.run_batch([ToolCall("c", "act")], session=session))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert kinds(session) == []
