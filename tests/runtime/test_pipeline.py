"""The worked-out edge outcomes of a call's creation, its approval and its guards, on both backends."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from calls import World, both, code, contexts, on, see, shown, text

from gnomon import (
    ABSENT,
    AbortController,
    Ask,
    Code,
    DispatchExecution,
    Execution,
    MemorySession,
    Next,
    Output,
    Record,
    Result,
    Runtime,
    Success,
    Token,
    Tool,
    ToolCall,
    ToolContext,
)

Around = Next[Result]


def session_with_a_turn() -> MemorySession:
    session = MemorySession()
    session.append(Record("turn/start", {"turn": 0}))
    session.append(Record("step/start", {"turn": 0, "step": 0}))
    return session


def kinds(session: MemorySession) -> list[str]:
    return [record.type for record in session.records()][2:]


def asking(world: World) -> World:
    world.runtime.on("pre_execute", lambda execution, following: Ask("because"))
    world.runtime.guard(lambda execution: world.seen.append("guard"))
    world.runtime.on("post_execute", lambda execution, result, following: see(world, "post", following()))
    return world


# -- approval and guards --------------------------------------------------------------------------


@pytest.mark.clause("APP-3", "APP-6", "APP-11")
@both
def test_abort_during_a_pending_ask_withdraws_it_at_once_and_guards_do_not_run(backend: str) -> None:
    world = asking(World(in_scope=True, approval_policy="ask"))

    async def answer(request: object, following: object) -> str:
        world.caller.abort("enough")
        try:
            await anyio.sleep_forever()
        finally:
            world.seen.append("approver ended")
        return "allowed-once"

    world.runtime.on("approval", answer)
    session = session_with_a_turn()
    assert code(world.call(backend, session=session)) == Code.ABORTED_BEFORE_DISPATCH
    assert set(world.seen) == {"post", "observer", "approver ended"}
    assert kinds(session) == ["approval/asked", "approval/decided"]
    assert list(session.records())[-1].data["outcome"] == "cancelled"


@pytest.mark.clause("GRD-5")
@both
@pytest.mark.parametrize(("reason", "expected"), [("no", "DENIED"), (None, "ABORTED_BEFORE_DISPATCH")])
def test_allowed_then_aborted_the_guard_has_the_say(backend: str, reason: str | None, expected: str) -> None:
    world = asking(World(in_scope=True, approval_policy="ask"))

    def guard(execution: Execution) -> str | None:
        world.caller.abort()
        return reason

    world.runtime.guard(guard)
    world.runtime.on("execute", lambda execution, following: see(world, "wrapper", following()))
    world.runtime.on("approval", lambda request, following: "allowed-once")
    assert code(world.call(backend)) == expected
    assert world.seen == ["guard", "post", "observer"]


@pytest.mark.clause("CAN-7")
@both
def test_a_rejection_stays_when_the_caller_aborts(backend: str) -> None:
    world = asking(World(in_scope=True, approval_policy="ask"))

    def reject_and_abort(execution: Execution, result: Result, following: Next[Any]) -> Any:
        world.caller.abort()
        return following()

    world.runtime.on("post_execute", reject_and_abort)
    world.runtime.on("approval", lambda request, following: "rejected")
    assert code(world.call(backend)) == Code.APPROVAL_REJECTED


# -- creation -------------------------------------------------------------------------------------


@pytest.mark.clause("ARG-3", "CRE-2", "CRE-4")
@both
def test_bad_arguments_win_over_an_aborted_signal_and_are_finalized_without_arguments(backend: str) -> None:
    arguments: list[Any] = []
    world = World(finalize_content=lambda execution, result: arguments.append(execution.arguments))
    world.runtime.on("pre_execute", lambda execution, following: see(world, "pre", following()))
    world.runtime.on("result", lambda execution, result: arguments.append(execution.arguments))
    world.caller.abort()
    assert code(world.call(backend, arguments='{"a": 1e400}')) == Code.INVALID_ARGS
    assert code(world.call(backend, arguments='{"a":' * 300 + "1" + "}" * 300)) == Code.INVALID_ARGS
    assert arguments == [ABSENT] * 4
    assert code(world.call(backend)) == Code.ABORTED_BEFORE_DISPATCH
    assert "pre" not in world.seen


@pytest.mark.clause("MOD-2", "CRE-6")
@both
@pytest.mark.parametrize("aborted", [False, True])
def test_a_collapsed_call_is_refused_before_any_policy(backend: str, aborted: bool) -> None:
    world = World(in_scope=True, finalize_content=lambda execution, result: see(world, "finalizer", None))
    assert world.scope is not None
    world.scope.present_as("ptc")
    world.runtime.on("pre_execute", lambda execution, following: see(world, "pre", following()))
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))
    if aborted:
        world.caller.abort()
    assert code(world.call(backend)) == ("ABORTED_BEFORE_DISPATCH" if aborted else "UNKNOWN_TOOL")
    assert world.seen == (["finalizer", "observer"] if aborted else ["observer"])
    assert code(world.call(backend, arguments="1e400")) == Code.INVALID_ARGS


@pytest.mark.clause("DSP-4")
@both
def test_the_mode_flips_while_a_call_is_under_way(backend: str) -> None:
    world = World(in_scope=True)
    scope = world.scope
    assert scope is not None
    world.runtime.guard(lambda execution: scope.present_as("ptc") and None)
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))
    assert code(world.call(backend)) == Code.UNKNOWN_TOOL
    assert world.seen == ["post", "observer"]


@pytest.mark.clause("MOD-2", "MOD-3", "MOD-5")
@both
def test_a_nested_call_is_not_collapsed_and_run_code_has_nothing_to_run_it(backend: str) -> None:
    world = World(in_scope=True)
    assert world.scope is not None
    assert code(world.call(backend, name="run_code")) == Code.UNKNOWN_TOOL
    world.scope.present_as("ptc")
    program = '{"description": "d", "code": "c"}'
    assert code(world.call(backend, name="run_code", arguments=program)) == Code.CODE_RUN_FAILED

    async def nested() -> Result:
        return await world.runtime.execute(ToolCall("c2", "act"), scope=world.scope, parent=Token())

    assert code(on(backend, nested)) == "OK"


@pytest.mark.clause("CRE-3", "DSP-4")
@both
def test_an_unknown_name_is_seen_by_every_policy_and_has_no_finalizer(backend: str) -> None:
    world = asking(World(in_scope=True, approval_policy="ask", name="other"))
    world.runtime.on("approval", lambda request, following: see(world, "approval", "allowed-once"))
    world.runtime.on("execute", lambda execution, following: see(world, "wrapper", following()))
    everybody = ["approval", "guard", "wrapper", "post", "observer"]
    assert code(world.call(backend)) == Code.UNKNOWN_TOOL
    assert world.seen == everybody

    def register(execution: Execution) -> None:
        tool = World(
            lambda context: see(world, "body", "ran"), finalize_content=lambda e, r: text("late")
        ).tool
        world.runtime.register(tool)

    world.seen.clear()
    world.runtime.guard(register)
    result = world.call(backend)
    assert (code(result), shown(result)) == ("OK", "ran"), "and no finalizer: it was not visible at creation"
    assert world.seen == ["approval", "guard", "wrapper", "body", "post", "observer"]


@pytest.mark.clause("CRE-5")
@both
def test_identity_cannot_be_changed_and_nonsense_is_no_signal(backend: str) -> None:
    world = World()
    kept: list[DispatchExecution] = []

    async def wrapper(execution: DispatchExecution, following: Around) -> Result:
        kept.append(execution)
        for name in ("call_id", "name", "arguments", "token", "scope", "parent"):
            with pytest.raises(AttributeError):
                setattr(execution, name, "other")
            with pytest.raises(AttributeError):
                delattr(execution, name)
        for nonsense in (None, 5, AbortController()):
            with pytest.raises(TypeError):
                execution.signal = nonsense
        execution.signal = AbortController().signal  # and is not put back
        return await following()

    def post(execution: Execution, result: Result, following: Next[Any]) -> Any:
        with pytest.raises(AttributeError):
            execution.signal = AbortController().signal
        with pytest.raises(AttributeError):
            kept[0].signal = AbortController().signal
        assert kept[0].signal is execution.signal, "what was not put back is undone"
        return following()

    world.runtime.on("execute", wrapper)
    world.runtime.on("post_execute", post)
    assert code(world.call(backend)) == "OK"


@pytest.mark.clause("DSP-15")
@both
def test_what_is_handed_over_after_the_body_is_refused(backend: str) -> None:
    kept: list[ToolContext] = []
    world = World(lambda context: kept.append(context))

    def post(execution: Execution, result: Result, following: Next[Any]) -> Any:
        with pytest.raises(Exception, match="DSP-15"):
            kept[0].defer("late")
        with pytest.raises(Exception, match="DSP-15"):
            kept[0].conclude_turn()
        return following()

    world.runtime.on("post_execute", post)
    result = world.call(backend)
    assert (code(result), contexts(result)) == ("OK", [])


@pytest.mark.clause("CRE-1", "PTC-8")
@both
def test_a_call_from_inside_gets_the_token_and_its_result_carries_nothing_outward(backend: str) -> None:
    runtime = Runtime()
    seen: list[Any] = []

    async def run(arguments: Any, context: ToolContext) -> object:
        seen.append((context.root_call_id, context.parent))
        if context.name == "outer":
            call = ToolCall("inner-1", "inner")
            inner = await runtime.execute(call, parent=context.token, root_call_id=context.root_call_id)
            batch = await runtime.run_batch([call], parent=context.token, root_call_id=context.root_call_id)
            assert contexts(inner) == contexts(batch.results[0]) == ["from inner"]
            assert batch.concluded
            seen.append(context.token)
        else:
            context.defer("from inner")
            context.conclude_turn()
        return context.name

    for name in ("outer", "inner"):
        runtime.register(Tool(name=name, description="", parameters={}, output=Output(schema={}), run=run))
    result = on(backend, lambda: runtime.execute(ToolCall("outer-1", "outer")))
    assert result == Success("outer", text("outer"))
    assert seen == [("outer-1", None), ("outer-1", seen[3]), ("outer-1", seen[3]), seen[3]]
