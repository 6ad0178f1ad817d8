"""The worked-out edge outcomes of a call's dispatch: wrappers, signals, the body and its output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest
from calls import World, both, code, contexts, on, see, shown, text

from gnomon import (
    ABSENT,
    AbortController,
    Code,
    DispatchExecution,
    ErrorInfo,
    Failure,
    Next,
    Result,
    Success,
    Token,
    ToolCall,
    ToolContext,
    ToolError,
)

Around = Next[Result]


# -- dispatch -------------------------------------------------------------------------------------


@pytest.mark.clause("DSP-3", "CAN-2", "CAN-5")
@both
def test_abort_between_the_last_check_and_the_body_still_runs_the_wrappers(backend: str) -> None:
    world = World()

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        world.seen.append("wrapper")
        world.caller.abort()
        return await following()

    world.runtime.on("execute", wrapper)
    assert code(world.call(backend)) == Code.ABORTED_BEFORE_DISPATCH
    assert world.seen == ["wrapper", "observer"]


@pytest.mark.clause("DSP-1", "DSP-11", "DSP-14")
@both
def test_a_retry_keeps_the_contexts_and_the_conclusion_of_both_attempts(backend: str) -> None:
    attempts: list[int] = []

    def body(context: ToolContext) -> str:
        attempts.append(1)
        context.defer(f"d{len(attempts)}")
        if len(attempts) == 1:
            context.conclude_turn()
            raise ValueError("first")
        return "second"

    world = World(body)

    async def retry(execution: DispatchExecution, following: Around) -> Result:
        result = await following()
        return result if result.ok else await following()

    world.runtime.on("execute", retry)
    result = world.call(backend)
    assert code(result) == "OK"
    assert contexts(result) == ["d1", "d2"]
    assert isinstance(result, Success)
    assert result.concludes_turn
    assert result.value == "second"


@pytest.mark.clause("DSP-3", "CAN-2")
@both
def test_a_retry_after_an_abort_does_not_run_the_body_again(backend: str) -> None:
    def body(context: ToolContext) -> str:
        raise ValueError

    world = World(body)

    async def retry(execution: DispatchExecution, following: Around) -> Result:
        await following()
        world.caller.abort()
        return await following()

    world.runtime.on("execute", retry)
    assert code(world.call(backend)) == Code.ABORTED
    assert world.seen.count("body") == 1


OWN = Success("own", text("own"), contexts=(text("w"),))


@pytest.mark.clause("DSP-12", "CAN-5")
@both
def test_a_wrappers_own_success_while_the_caller_has_aborted(backend: str) -> None:
    world = World()

    def wrapper(execution: DispatchExecution, following: Around) -> Result:
        world.caller.abort()
        return OWN

    world.runtime.on("execute", wrapper)
    world.runtime.on("post_execute", lambda e, r, following: see(world, f"post sees {code(r)}", following()))
    result = world.call(backend)
    assert (code(result), contexts(result)) == (Code.ABORTED_BEFORE_DISPATCH, ["w"])
    assert world.seen == ["post sees ABORTED_BEFORE_DISPATCH", "observer"]


@pytest.mark.clause("DSP-10", "DSP-14")
@both
def test_of_a_wrappers_own_success_only_value_and_contexts_count(backend: str) -> None:
    world = World(schema={"type": "string"})

    def wrapper(execution: DispatchExecution, following: Around) -> Result:
        return Success("value", text("edited"), meta={"a": 1}, contexts=(text("w"),), concludes_turn=True)

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert result == Success("value", text("value"), contexts=(text("w"),))
    assert world.seen == ["observer"]


@pytest.mark.clause("DSP-10")
@both
@pytest.mark.parametrize("gone", [False, True])
def test_a_wrappers_own_success_that_does_not_pass_is_final_and_without_contexts(
    backend: str, gone: bool
) -> None:
    def body(context: ToolContext) -> str:
        context.defer("d")
        return "fits"

    world = World(
        body, schema={"type": "string"}, finalize_content=lambda e, r: see(world, "finalizer", None)
    )
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        await following()
        if gone:
            world.registration()
        return Success(5, text("5"), contexts=(text("w"),))

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert code(result) == ("UNKNOWN_TOOL" if gone else "INVALID_TOOL_OUTPUT")
    assert contexts(result) == []
    assert world.seen == ["body", "finalizer", "observer"]


@pytest.mark.clause("DSP-13")
@both
@pytest.mark.parametrize("ending", ["raises", None, "nothing proper", {"ok": True}])
def test_a_wrapper_that_fails_loses_contexts_and_skips_post_execute(backend: str, ending: Any) -> None:
    def body(context: ToolContext) -> str:
        context.defer("d")
        return "fits"

    world = World(body, finalize_content=lambda e, r: see(world, "finalizer", None))
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))

    async def wrapper(execution: DispatchExecution, following: Around) -> Any:
        await following()
        if ending == "raises":
            raise ValueError("broken")
        return ending

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert code(result) == Code.POLICY_ERROR
    assert contexts(result) == []
    assert world.seen == ["body", "finalizer", "observer"]


@pytest.mark.clause("DSP-10", "DSP-11")
@both
def test_a_wrappers_own_failure_visits_post_execute_with_the_contexts_of_the_body_first(backend: str) -> None:
    def body(context: ToolContext) -> str:
        context.defer("d")
        return "x"

    world = World(body)
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        await following()
        return Failure(ErrorInfo("mine", "OWN", "OwnError"), text("mine"), meta=[1], contexts=(text("w"),))

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert (code(result), contexts(result), shown(result), result.meta) == ("OWN", ["d", "w"], "mine", [1])
    assert "post" in world.seen


@pytest.mark.clause("DSP-10")
@both
def test_a_result_of_another_execution_is_not_trusted(backend: str) -> None:
    """Seen to fail: with results trusted by their type, the borrowed content came through."""
    borrowed: list[Result] = []
    world = World(schema={"type": "string"}, render=lambda arguments, value: text(f"rendered {value}"))
    other = World(lambda context: 5)

    async def borrow(execution: DispatchExecution, following: Around) -> Result:
        borrowed.append(await following())
        return borrowed[0]

    other.runtime.on("execute", borrow)
    other.call(backend)
    world.runtime.on("execute", lambda execution, following: borrowed[0])
    assert code(world.call(backend)) == Code.INVALID_TOOL_OUTPUT
    assert world.seen == ["observer"]


@pytest.mark.clause("DSP-2", "DSP-9")
@both
@pytest.mark.parametrize("fits", [True, False])
def test_a_wrappers_signal_aborts_the_body_and_not_the_caller(backend: str, fits: bool) -> None:
    mine = AbortController()

    def body(context: ToolContext) -> object:
        context.defer("d")
        mine.abort("mine")
        assert context.signal.aborted
        assert context.signal.reason == "mine"
        return "x" if fits else 5

    world = World(body, schema={"type": "string"})
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        execution.signal = mine.signal
        return await following()

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert code(result) == ("ABORTED" if fits else "INVALID_TOOL_OUTPUT")
    assert contexts(result) == ["d"]
    assert world.seen == ["body", "post", "observer"]
    assert not world.caller.signal.aborted
    assert not mine.signal._callbacks


@pytest.mark.clause("DSP-3")
@both
def test_a_wrappers_signal_that_has_aborted_keeps_the_body_from_running(backend: str) -> None:
    mine = AbortController()
    mine.abort()
    world = World()

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        execution.signal = mine.signal
        return await following()

    world.runtime.on("execute", wrapper)
    assert code(world.call(backend)) == Code.ABORTED_BEFORE_DISPATCH
    assert world.seen == ["observer"]


@pytest.mark.clause("DSP-2", "CAN-3")
@both
def test_a_wrapper_cannot_detach_the_callers_abort_from_a_body(backend: str) -> None:
    def body(context: ToolContext) -> str:
        world.caller.abort("caller")
        assert context.signal.reason == "caller"
        return "x"

    world = World(body)

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        execution.signal = AbortController().signal
        return await following()

    world.runtime.on("execute", wrapper)
    assert code(world.call(backend)) == Code.ABORTED


@pytest.mark.clause("DSP-6", "DSP-11")
@both
def test_a_wrapper_that_does_not_wait_leaves_no_body_behind(backend: str) -> None:
    def body(context: ToolContext) -> str:
        context.defer("d")
        raise ValueError

    world = World(body)

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        following()
        return OWN

    world.runtime.on("execute", wrapper)
    result = world.call(backend)
    assert (code(result), contexts(result)) == ("OK", ["d", "w"])
    assert world.seen == ["body", "observer"]


@pytest.mark.clause("DSP-6")
@both
def test_a_body_that_a_wrapper_started_in_a_task_of_its_own_is_awaited(backend: str) -> None:
    async def body(context: ToolContext) -> str:
        await anyio.wait_all_tasks_blocked()
        world.seen.append("body ended")
        return "x"

    world = World(body)

    async def main() -> Result:
        async with anyio.create_task_group() as group:

            async def wrapper(execution: DispatchExecution, following: Around) -> Result:
                started = anyio.Event()

                async def begin() -> None:
                    started.set()
                    await following()

                group.start_soon(begin)
                await started.wait()
                return OWN

            world.runtime.on("execute", wrapper)
            result = await world.runtime.execute(ToolCall("c", "act"))
            assert world.seen == ["body", "body ended", "observer"]
        return result

    assert code(on(backend, main)) == "OK"


@pytest.mark.clause("CAN-6")
@both
def test_an_abort_from_render_is_an_abort_of_the_body(backend: str) -> None:
    world = World(render=lambda arguments, value: see(world, "render", world.caller.abort() or text("x")))
    assert code(world.call(backend)) == Code.ABORTED


@pytest.mark.clause("SCH-8", "DSP-8")
@both
def test_body_and_invalid_arguments(backend: str) -> None:
    world = World(parameters={"type": "object", "required": ["a"]})
    assert code(world.call(backend)) == Code.INVALID_ARGS
    assert code(world.call(backend, arguments="not JSON")) == Code.INVALID_ARGS
    assert "body" not in world.seen
    own = World(lambda context: context.arguments, checks_own_arguments=True)
    result = own.call(backend, arguments="not JSON")
    assert isinstance(result, Success)
    assert result.value == "not JSON"


@pytest.mark.clause("DSP-7", "OUT-5", "ERR-1", "ERR-3", "PY-4", "PY-6")
@both
@pytest.mark.parametrize(
    ("raised", "expected", "name", "message"),
    [
        (ValueError("v"), "TOOL_ERROR", "ValueError", "v"),
        (ValueError(), "TOOL_ERROR", "ValueError", "ValueError"),
        (ToolError("t", code="OWN", name="OwnError"), "OWN", "OwnError", "t"),
        (ToolError("t"), "TOOL_ERROR", "ToolError", "t"),
        (SystemExit(3), "TOOL_ERROR", "SystemExit", "3"),
        (GeneratorExit("g"), "TOOL_ERROR", "GeneratorExit", "g"),
        (
            ExceptionGroup("several", [ValueError()]),
            "TOOL_ERROR",
            "ExceptionGroup",
            "several (1 sub-exception)",
        ),
    ],
)
def test_a_body_that_raises(
    backend: str, raised: BaseException, expected: str, name: str, message: str
) -> None:
    raised.add_note("a note never reaches the model")

    def body(context: ToolContext) -> str:
        raise raised

    result = World(body).call(backend)
    assert code(result) == expected
    assert isinstance(result, Failure)
    assert (result.error.name, result.error.message) == (name, message)
    assert shown(result) == f"Error: {message}"


@pytest.mark.clause("PY-2")
@both
def test_a_group_of_cancellations_is_a_cancellation_and_a_mixed_one_is_the_bodys_own(backend: str) -> None:
    """Seen to fail: a group was the body's own error, whatever it held."""

    async def body(context: ToolContext) -> str:
        try:
            world.caller.abort()
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class() as error:
            others = [ValueError("mine")] if expected == "TOOL_ERROR" else []
            raise BaseExceptionGroup("several", [error, *others]) from None
        return "x"

    for expected in ("ABORTED", "TOOL_ERROR"):
        world = World(body, interrupt="cancel")
        assert code(world.call(backend)) == expected


@pytest.mark.clause("PY-3")
@both
def test_a_cancellation_of_the_task_of_a_single_call_is_an_abort_and_goes_on(backend: str) -> None:
    async def body(context: ToolContext) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            world.seen.append("cleaned up")
        return "x"

    world = World(body, interrupt="cancel")
    world.runtime.on("post_execute", lambda e, r, following: see(world, code(r), following()))

    async def main() -> bool:
        async with anyio.create_task_group() as group:

            async def run() -> None:
                with scope:
                    await world.runtime.execute(ToolCall("c", "act"))

            scope = anyio.CancelScope()
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
        return scope.cancelled_caught

    assert on(backend, main)
    assert world.seen == ["body", "cleaned up", "ABORTED", "observer"]


@pytest.mark.clause("OUT-5")
@both
def test_an_error_brings_its_own_content_and_nonsense_is_none(backend: str) -> None:
    def body(context: ToolContext) -> str:
        raise ToolError("t", code="OWN", content=given)

    given: Any = text("shown")
    assert shown(World(body).call(backend)) == "shown"
    given = [{"no": "type"}]
    assert code(World(body).call(backend)) == Code.INVALID_TOOL_OUTPUT


@pytest.mark.clause("OUT-3")
@both
def test_meta_is_for_calls_without_a_parent(backend: str) -> None:
    world = World(meta=lambda arguments, value: {"for": "people"})
    assert world.call(backend).meta == {"for": "people"}

    async def nested() -> Result:
        return await world.runtime.execute(ToolCall("c2", "act"), parent=Token())

    assert on(backend, nested).meta is ABSENT


@pytest.mark.clause("OUT-2")
@both
@pytest.mark.parametrize("render", [lambda a, v: 5, lambda a, v: [{}], lambda a, v: 1 / 0, lambda a, v: None])
def test_what_does_not_render_is_invalid_output(backend: str, render: Callable[..., Any]) -> None:
    assert code(World(render=render).call(backend)) == Code.INVALID_TOOL_OUTPUT
