"""The end of a call: what a result has, the finalizer, observers, and names of errors (OUT, FIN, ERR)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from calls import World, both, code, contexts, on, see, text

from gnomon import (
    ABSENT,
    Ask,
    BatchResult,
    Block,
    Cancel,
    Deny,
    DispatchExecution,
    Execution,
    Failure,
    MemorySession,
    Next,
    Result,
    SchemaError,
    Success,
    ToolCall,
    ToolContext,
)
from gnomon.results import materialized

BAD = '{"a": 1e400}'
SUCCEEDED_PARTS = {"value", "content", "meta", "contexts", "concludes_turn", "ok"}
FAILED_PARTS = {"error", "content", "meta", "contexts", "ok"}


def fail(*given: Any) -> Any:
    raise ValueError("mine")


def concluding(context: ToolContext) -> str:
    context.defer("d")
    context.conclude_turn()
    return "x"


def deny(world: World) -> None:
    world.runtime.on("pre_execute", lambda execution, following: Deny("no"))


def cancel(world: World) -> None:
    world.runtime.on("pre_execute", lambda execution, following: Cancel())


def decide_nothing(world: World) -> None:
    world.runtime.on("pre_execute", lambda execution, following: None)


def break_a_guard(world: World) -> None:
    world.runtime.guard(fail)


def break_a_wrapper(world: World) -> None:
    world.runtime.on("execute", fail)


def break_post_execute(world: World) -> None:
    world.runtime.on("post_execute", fail)


def block(world: World) -> None:
    world.runtime.on("post_execute", lambda execution, result, following: Block(text("no")))


def abort(world: World) -> None:
    world.caller.abort()


def abort_late(world: World) -> None:
    def post(execution: Execution, result: Result, following: Next[Any]) -> Any:
        world.caller.abort()
        return following()

    world.runtime.on("post_execute", post)


def nothing(world: World) -> None: ...


WAYS: dict[str, tuple[Callable[[World], None], str, str]] = {
    "success": (nothing, "", "OK"),
    "arguments that are no JSON value": (nothing, BAD, "INVALID_ARGS"),
    "arguments that do not fit": (nothing, "[]", "INVALID_ARGS"),
    "aborted before": (abort, "", "ABORTED_BEFORE_DISPATCH"),
    "aborted late": (abort_late, "", "ABORTED"),
    "denied": (deny, "", "DENIED"),
    "cancelled": (cancel, "", "ABORTED_BEFORE_DISPATCH"),
    "no decision": (decide_nothing, "", "POLICY_ERROR"),
    "a broken guard": (break_a_guard, "", "POLICY_ERROR"),
    "a broken wrapper": (break_a_wrapper, "", "POLICY_ERROR"),
    "a broken listener": (break_post_execute, "", "POLICY_ERROR"),
    "blocked": (block, "", "BLOCKED"),
}
"""Way of a call -> how it is brought about, the arguments, the code that comes of it."""


@both
@pytest.mark.clause("FIN-2")
@pytest.mark.parametrize("way", WAYS)
def test_the_finalizer_runs_once_whatever_way_a_call_went(backend: str, way: str) -> None:
    prepare, arguments, expected = WAYS[way]
    world = World(concluding, finalize_content=lambda execution, result: see(world, code(result), text("f")))
    prepare(world)
    result = world.call(backend, arguments=arguments)
    assert result.content == text("f")
    assert [one for one in world.seen if one not in ("body", "observer")] == [expected]


@both
@pytest.mark.clause("FIN-2", "SCD-8")
def test_a_call_that_never_started_has_no_finalizer_and_no_observer(backend: str) -> None:
    world = World(lambda context: world.caller.abort(), finalize_content=lambda e, r: see(world, "f", None))
    result: BatchResult = on(
        backend,
        lambda: world.runtime.run_batch(
            [ToolCall("c0", "act"), ToolCall("c1", "act")], signal=world.caller.signal
        ),
    )
    assert [code(one) for one in result.results] == ["ABORTED", "ABORTED_BEFORE_DISPATCH"]
    assert world.seen == ["body", "f", "observer"]


@both
@pytest.mark.clause("CRE-6")
@pytest.mark.parametrize("aborted", [False, True])
def test_a_collapsed_call_with_bad_arguments_is_finalized_only_where_it_is_aborted(
    backend: str, aborted: bool
) -> None:
    world = World(in_scope=True, finalize_content=lambda execution, result: see(world, "finalizer", None))
    assert world.scope is not None
    world.scope.present_as("ptc")
    if aborted:
        world.caller.abort()
    assert code(world.call(backend, arguments=BAD)) == "INVALID_ARGS"
    assert world.seen == (["finalizer", "observer"] if aborted else ["observer"])


@both
@pytest.mark.clause("OUT-4")
@pytest.mark.parametrize("way", WAYS)
def test_a_failure_never_has_a_value_and_concludes_nothing(backend: str, way: str) -> None:
    prepare, arguments, expected = WAYS[way]
    world = World(concluding, meta=lambda arguments, value: 1)
    prepare(world)
    result = world.call(backend, arguments=arguments)
    if expected == "OK":
        assert result == Success("x", text("x"), 1, (text("d"),), True)
    parts = {one.name for one in fields(result)}
    assert parts == (SUCCEEDED_PARTS if expected == "OK" else FAILED_PARTS)


@both
@pytest.mark.clause("FIN-4", "SCD-12")
@pytest.mark.parametrize("way", WAYS)
def test_only_a_final_success_ends_the_turn(backend: str, way: str) -> None:
    prepare, arguments, expected = WAYS[way]
    world = World(concluding)
    prepare(world)
    calls = [ToolCall("c0", "act", arguments)]
    result: BatchResult = on(
        backend, lambda: world.runtime.run_batch(calls, signal=world.caller.signal, session=MemorySession())
    )
    assert [code(one) for one in result.results] == [expected]
    assert result.concluded is (expected == "OK")


@pytest.mark.clause("FIN-1")
def test_a_result_that_cannot_be_materialized_is_the_error_of_that() -> None:
    kept = text("kept")
    result = materialized(Success("v", kept, 5, (kept,), True))
    kept[0]["text"] = "changed"
    assert result == Success("v", text("kept"), 5, (text("kept"),), True)
    with pytest.raises(TypeError, match="frozen"):
        result.content[0]["text"] = "changed"
    for broken in (
        Success("v", [{"no": "type"}], 5, (text("c"),), True),
        Success("v", text("c"), 5, ([{"type": float("nan")}],), True),
    ):
        failed = materialized(broken)
        assert code(failed) == "INVALID_TOOL_OUTPUT"
        assert (contexts(failed), failed.meta) == ([], ABSENT)


@both
@pytest.mark.clause("FIN-3")
def test_observers_are_told_of_the_very_result_before_it_is_logged(backend: str) -> None:
    world = World()
    session = MemorySession()
    logged: list[str] = []

    def observe(execution: Execution, result: Result) -> None:
        logged.append([one.type for one in session.records()][-1])
        with pytest.raises(AttributeError):
            execution.signal = world.caller.signal

    world.runtime.on("result", observe)
    result: BatchResult = on(
        backend, lambda: world.runtime.run_batch([ToolCall("c0", "act")], session=session)
    )
    assert logged == ["tool/call"]
    assert result.results[0] is world.observed[0]
    assert "tool/result" in [one.type for one in session.records()]


async def later(*given: Any) -> Any:
    raise AssertionError("nobody awaits this")


@both
@pytest.mark.clause("OUT-3", "PY-8")
@pytest.mark.parametrize("meta", [fail, lambda arguments, value: {1}, later])
def test_meta_that_fails_is_invalid_output(backend: str, meta: Callable[..., Any]) -> None:
    assert code(World(meta=meta).call(backend)) == "INVALID_TOOL_OUTPUT"


@both
@pytest.mark.clause("OUT-2", "PY-8")
def test_an_async_renderer_is_invalid_output(backend: str) -> None:
    assert code(World(render=later).call(backend)) == "INVALID_TOOL_OUTPUT"


# -- names ------------------------------------------------------------------------------------------


def ask_nobody(world: World) -> None:
    world.runtime.on("pre_execute", lambda execution, following: Ask())


def deny_by_guard(world: World) -> None:
    world.runtime.guard(lambda execution: "no")


def borrow_nothing(world: World) -> None:
    async def wrapper(execution: DispatchExecution, following: Next[Result]) -> Result:
        await following()
        return Success(5, text("5"))

    world.runtime.on("execute", wrapper)


def unregister(world: World) -> None:
    world.registration()


NAMES: dict[str, tuple[Callable[[World], None], str]] = {
    "aborted before": (abort, "AbortError"),
    "aborted late": (abort_late, "AbortError"),
    "no tool": (unregister, "ToolNotFoundError"),
    "denied": (deny, "DeniedError"),
    "denied by a guard": (deny_by_guard, "DeniedError"),
    "blocked": (block, "BlockedError"),
    "asked": (ask_nobody, "ApprovalError"),
    "no decision": (decide_nothing, "PolicyError"),
    "a value that does not fit": (borrow_nothing, "ToolOutputError"),
    "an exception of a guard": (break_a_guard, "ValueError"),
}


@both
@pytest.mark.clause("ERR-3")
@pytest.mark.parametrize("way", NAMES)
def test_each_code_goes_with_its_name(backend: str, way: str) -> None:
    prepare, name = NAMES[way]
    world = World(schema={"type": "string"})
    prepare(world)
    result = world.call(backend)
    assert isinstance(result, Failure)
    assert result.error.name == name


@both
@pytest.mark.clause("ERR-3")
def test_names_of_errors_that_need_no_policy(backend: str) -> None:
    def name(world: World, called: str = "act", arguments: str = "") -> str:
        result = world.call(backend, name=called, arguments=arguments)
        assert isinstance(result, Failure)
        return result.error.name

    assert name(World(), arguments=BAD) == name(World(), arguments="[]") == "ToolArgsError"
    assert name(World(lambda context: 5, schema={"type": "string"})) == "ToolOutputError"
    world = World(in_scope=True)
    assert world.scope is not None
    world.scope.present_as("both")
    assert name(world, "run_code", '{"description": "d", "code": "c"}') == "CodeRunFailedError"
    with pytest.raises(SchemaError) as caught:
        World(schema={"pattern": "x"})
    assert caught.value.name == "JsonSchemaError"
