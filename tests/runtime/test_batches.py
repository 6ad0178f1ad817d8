"""Batches as users run them: order, failures, cancellation from outside, the log that is left."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from calls import both, on

from gnomon import (
    AbortController,
    BatchResult,
    ConfigError,
    MemorySession,
    Record,
    RegistrationError,
    Runtime,
    ToolCall,
    ToolContext,
    ToolError,
    tool,
)


@tool(parallel=True)
async def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@tool(parallel=True)
async def forever(context: ToolContext) -> str:
    """Wait for the end, and clean up."""
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.lowlevel.checkpoint()
    return "never"


@tool
async def fail(text: str = "it broke") -> None:
    """Fail."""
    raise ValueError(text)


@tool
async def refuse() -> None:
    """Fail with a code."""
    raise ToolError("no room", code="NO_ROOM", name="RoomError")


def runtime(**settings: Any) -> Runtime:
    made = Runtime(**settings)
    for one in (add, forever, fail, refuse):
        made.register(one)
    return made


def call(name: str, arguments: str = "", call_id: str = "c") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def codes(result: BatchResult) -> list[str]:
    return ["OK" if one.ok else one.error.code for one in result.results]


def logged(session: MemorySession) -> list[str]:
    """The types of the records, and the code of each result."""
    return [
        f"{one.type} {one.data.get('error', {}).get('code', 'OK')}" if one.type == "tool/result" else one.type
        for one in session.records()
    ]


@pytest.mark.clause("DSP-4", "DSP-7", "DSP-8", "OUT-5", "SCD-10", "ERR-1", "ERR-3")
@both
def test_results_stand_in_the_order_of_the_calls(backend: str) -> None:
    calls = [
        call("add", '{"a": 1}'),
        call("fail"),
        call("nowhere"),
        call("add", '{"a": "x"}'),
        call("refuse"),
    ]
    result = on(backend, lambda: runtime().run_batch(calls))
    assert codes(result) == ["OK", "TOOL_ERROR", "UNKNOWN_TOOL", "INVALID_ARGS", "NO_ROOM"]
    assert result.results[0].value == 3
    assert result.results[1].error.message == "it broke"
    assert result.results[1].error.name == "ValueError"
    assert result.results[4].error.name == "RoomError"
    assert result.results[1].content == [{"type": "text", "text": "Error: it broke"}]


@pytest.mark.clause("DSP-7")
@both
def test_an_error_without_a_text_says_its_type(backend: str) -> None:
    result = on(backend, lambda: runtime().run_batch([call("fail", '{"text": ""}')]))
    assert result.results[0].error.message == "ValueError"


@pytest.mark.clause("DSP-8")
@both
@pytest.mark.parametrize("text", ['{"a": 1', "[1]", "null", '"a"', '{"a": 1, "c": 2}', '{"a": 1e400}', " "])
def test_arguments_that_do_not_fit_never_run_the_tool(backend: str, text: str) -> None:
    result = on(backend, lambda: runtime().run_batch([call("add", text)]))
    assert codes(result) == ["INVALID_ARGS"]


@pytest.mark.clause("SCD-14")
@both
def test_an_empty_batch_does_nothing(backend: str) -> None:
    session = MemorySession()
    result = on(backend, lambda: runtime().run_batch([], session=session))
    assert result == BatchResult((), False)
    assert logged(session) == []


@pytest.mark.clause("SCD-8", "SCD-10", "PY-2")
@both
def test_an_abort_answers_every_call(backend: str) -> None:
    controller = AbortController()
    session = MemorySession()

    @tool(parallel=True)
    async def stop() -> str:
        """Abort the batch from inside, once its sibling runs."""
        await anyio.wait_all_tasks_blocked()
        controller.abort("enough")
        return "stopped"

    async def main() -> BatchResult:
        made = runtime(max_parallel=2)
        made.register(stop)
        calls = [call("forever"), call("stop"), call("add", '{"a": 1}')]
        return await made.run_batch(calls, session=session, signal=controller.signal)

    assert codes(on(backend, main)) == ["ABORTED", "ABORTED", "ABORTED_BEFORE_DISPATCH"]
    assert logged(session) == EXPECTED_AFTER_CANCELLATION


EXPECTED_AFTER_CANCELLATION = [
    "turn/start",
    "step/start",
    "assistant/calls",
    "tool/call",
    "tool/call",
    "tool/result ABORTED",
    "tool/result ABORTED",
    "tool/call",
    "tool/result ABORTED_BEFORE_DISPATCH",
    "step/end",
    "turn/end",
]

THREE = [call("forever"), call("forever"), call("add", '{"a": 1}')]


@pytest.mark.clause("PY-3")
@both
def test_a_cancelled_scope_gets_its_cancellation_after_the_log_is_complete(backend: str) -> None:
    session = MemorySession()

    async def main() -> bool:
        async with anyio.create_task_group() as group:

            async def run() -> None:
                with anyio.CancelScope() as scope:
                    scopes.append(scope)
                    await runtime(max_parallel=2).run_batch(THREE, session=session)

            scopes: list[anyio.CancelScope] = []
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            scopes[0].cancel()
        return scopes[0].cancelled_caught

    assert on(backend, main)
    assert logged(session) == EXPECTED_AFTER_CANCELLATION


@pytest.mark.clause("SCD-8", "PY-3")
@both
def test_a_scope_that_is_cancelled_before_answers_every_call_as_not_started(backend: str) -> None:
    session = MemorySession()

    async def main() -> bool:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await runtime().run_batch(THREE, session=session)
        return scope.cancelled_caught

    assert on(backend, main)
    assert [one for one in logged(session) if "result" in one] == ["tool/result ABORTED_BEFORE_DISPATCH"] * 3


@pytest.mark.clause("PY-3")
@both
def test_a_failing_sibling_cancels_the_batch_and_its_log_is_complete(backend: str) -> None:
    session = MemorySession()

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: runtime(max_parallel=2).run_batch(THREE, session=session))
            await anyio.wait_all_tasks_blocked()
            raise ValueError("sibling")

    with pytest.raises(ExceptionGroup) as caught:
        on(backend, main)
    assert caught.group_contains(ValueError, match="sibling")
    assert logged(session) == EXPECTED_AFTER_CANCELLATION


async def _settled() -> None:
    await anyio.wait_all_tasks_blocked()


@pytest.mark.clause("PY-3")
def test_task_cancel_several_times_goes_on_as_one_cancellation() -> None:
    session = MemorySession()

    async def main() -> bool:
        task = asyncio.create_task(runtime(max_parallel=2).run_batch(THREE, session=session))
        await _settled()
        for _ in range(5):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        return task.cancelled()

    assert asyncio.run(main())
    assert logged(session) == EXPECTED_AFTER_CANCELLATION


@pytest.mark.clause("PY-3")
def test_asyncio_timeout_still_raises_timeout_error() -> None:
    session = MemorySession()

    async def main() -> int:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await runtime(max_parallel=2).run_batch(THREE, session=session)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling()

    assert asyncio.run(main()) == 0
    assert len([one for one in logged(session) if "result" in one]) == 3


@pytest.mark.clause("SCD-11")
def test_no_task_is_left_behind() -> None:
    async def main() -> set[str]:
        before = asyncio.all_tasks()
        task = asyncio.create_task(runtime(max_parallel=2).run_batch(THREE))
        await _settled()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return {one.get_name() for one in asyncio.all_tasks() - before}

    assert asyncio.run(main()) == set()


@pytest.mark.clause("SCD-9", "PY-4")
@both
def test_keyboard_interrupt_in_a_body_leaves_the_batch_and_invents_nothing(backend: str) -> None:
    session = MemorySession()

    @tool
    async def strike() -> None:
        """Raise what is meant for the process."""
        raise KeyboardInterrupt

    async def main() -> None:
        made = runtime()
        made.register(strike)
        await made.run_batch([call("add", '{"a": 1}'), call("strike"), call("add")], session=session)

    with pytest.raises(KeyboardInterrupt):
        on(backend, main)
    assert logged(session) == [
        "turn/start",
        "step/start",
        "assistant/calls",
        "tool/call",
        "tool/result OK",
        "tool/call",
    ]


@pytest.mark.clause("OUT-1")
@both
def test_an_output_that_does_not_fit_is_an_error_that_says_that_the_tool_ran(backend: str) -> None:
    @tool
    async def lie() -> int:
        """Return what was not declared."""
        return "seven"

    @tool
    async def nothing_like_json() -> object:
        """Return what is no JSON."""
        return float("nan")

    async def main() -> BatchResult:
        made = runtime()
        made.register(lie)
        made.register(nothing_like_json)
        return await made.run_batch([call("lie"), call("nothing_like_json")])

    result = on(backend, main)
    assert codes(result) == ["INVALID_TOOL_OUTPUT"] * 2
    assert all("the tool ran" in one.error.message for one in result.results)


@pytest.mark.clause("SCD-4", "PY-12")
@pytest.mark.parametrize("bound", [0, -1, True, 1.5, "3"])
def test_a_pool_of_no_slots_is_refused_when_it_is_configured(bound: Any) -> None:
    with pytest.raises(ConfigError, match="max_parallel"):
        Runtime(max_parallel=bound)


@pytest.mark.clause("REG-2", "PY-9")
def test_registration_is_refused_without_changing_anything() -> None:
    made = runtime()
    with pytest.raises(RegistrationError, match="REG-2"):
        made.register(add)
    with pytest.raises(RegistrationError, match="generator"):

        @tool
        async def several() -> Any:
            yield 1

    assert [one["name"] for one in made.schemas()] == ["add", "forever", "fail", "refuse"]


@pytest.mark.clause("REG-6")
def test_the_schemas_that_the_model_is_sent() -> None:
    made = Runtime()
    removal = made.register(add)
    assert made.schemas() == [
        {
            "name": "add",
            "description": "Add two numbers.",
            "parameters": {
                "additionalProperties": False,
                "properties": {
                    "a": {"title": "A", "type": "integer"},
                    "b": {"default": 2, "title": "B", "type": "integer"},
                },
                "required": ["a"],
                "title": "add arguments",
                "type": "object",
            },
        }
    ]
    removal()
    removal()
    assert made.schemas() == []


ONE = [call("add", '{"a": 1}')]
ANNOUNCED = {"callId": "c", "name": "add", "arguments": '{"a": 1}'}


@pytest.mark.clause("LOG-2")
@both
def test_an_open_step_of_the_owner_is_used_and_left_open(backend: str) -> None:
    session = MemorySession()
    session.append(Record("turn/start", {"turn": 4}))
    session.append(Record("step/start", {"turn": 4, "step": 2}))
    session.append(Record("assistant/calls", {"turn": 4, "step": 2, "calls": [ANNOUNCED]}))
    on(backend, lambda: runtime().run_batch(ONE, session=session))
    records = list(session.records())
    assert [one.type for one in records[3:]] == ["tool/call", "tool/result"]
    assert (records[3].data["turn"], records[3].data["step"]) == (4, 2)


@pytest.mark.clause("LOG-2")
@both
def test_each_batch_of_a_session_gets_a_turn_of_its_own(backend: str) -> None:
    session = MemorySession()
    for _ in range(2):
        on(backend, lambda: runtime().run_batch(ONE, session=session))
    assert [one.data["turn"] for one in session.records() if one.type == "turn/start"] == [0, 1]


@pytest.mark.clause("PY-10")
@both
def test_a_session_whose_batch_is_open_takes_no_other(backend: str) -> None:
    session = MemorySession()
    session.append(Record("turn/start", {"turn": 0}))
    session.append(Record("step/start", {"turn": 0, "step": 0}))
    session.append(Record("assistant/calls", {"turn": 0, "step": 0, "calls": [ANNOUNCED]}))
    session.append(Record("tool/call", {"turn": 0, "step": 0, **ANNOUNCED}))
    with pytest.raises(ConfigError, match="PY-10"):
        on(backend, lambda: runtime().run_batch(ONE, session=session))
    assert len(list(session.records())) == 4
