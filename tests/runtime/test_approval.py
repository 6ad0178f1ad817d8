"""Approvals: who is asked, what is a grant, what is logged, and how a request is withdrawn (APP)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import World, both, code, on, shown
from typer.testing import CliRunner

from gnomon import (
    ApprovalOutcome,
    ApprovalRequest,
    Ask,
    BatchResult,
    CallbackApprover,
    ConfigError,
    JsonlSession,
    LogError,
    MemorySession,
    Record,
    Runtime,
    TerminalApprover,
    ToolCall,
    set_approval_policy,
)
from gnomon_check.cli import app


def asking(world: World, reason: str | None = "because") -> World:
    world.runtime.on("pre_execute", lambda execution, following: Ask(reason))
    return world


def answering(answer: object, **options: Any) -> World:
    return asking(World(in_scope=True, approver=CallbackApprover(lambda request: answer), **options))


@pytest.mark.clause("APP-1", "APP-2", "APP-4", "ERR-1")
@both
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("allowed-once", "OK"),
        (True, "OK"),
        (False, "APPROVAL_REJECTED"),
        ("rejected", "APPROVAL_REJECTED"),
        ("cancelled", "APPROVAL_CANCELLED"),
        ("unavailable", "APPROVAL_UNAVAILABLE"),
        ("allowed", "APPROVAL_UNAVAILABLE"),
        ("always", "APPROVAL_UNAVAILABLE"),
        (None, "APPROVAL_UNAVAILABLE"),
        (1, "APPROVAL_UNAVAILABLE"),
    ],
)
def test_only_allowed_once_is_a_grant(backend: str, answer: object, expected: str) -> None:
    assert code(answering(answer).call(backend)) == expected


@pytest.mark.clause("APP-4")
@both
@pytest.mark.parametrize("error", [ValueError(), SystemExit(), asyncio.CancelledError()])
def test_an_approver_that_raises_is_unavailable(backend: str, error: BaseException) -> None:
    def fail(request: ApprovalRequest) -> object:
        raise error

    world = asking(World(in_scope=True, approver=CallbackApprover(fail)))
    assert code(world.call(backend)) == "APPROVAL_UNAVAILABLE"


@pytest.mark.clause("PY-4")
@both
def test_keyboard_interrupt_in_an_approver_leaves(backend: str) -> None:
    def strike(request: ApprovalRequest) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asking(World(in_scope=True, approver=CallbackApprover(strike))).call(backend)


@pytest.mark.clause("PY-4")
@both
def test_a_keyboard_interrupt_after_the_request_was_withdrawn_leaves_as_well(backend: str) -> None:
    async def strike(request: ApprovalRequest) -> object:
        world.caller.abort()
        try:
            await anyio.sleep_forever()
        finally:
            raise KeyboardInterrupt

    world = asking(World(in_scope=True, approver=CallbackApprover(strike)))
    with pytest.raises(KeyboardInterrupt):
        world.call(backend)


@pytest.mark.clause("APP-2")
@both
def test_the_five_default_texts_differ_and_an_ask_without_a_service_says_its_reason(backend: str) -> None:
    texts = [shown(answering(one).call(backend)) for one in ("rejected", "cancelled", "unavailable")]
    no_service = asking(World(in_scope=True), None)
    no_scope = asking(World(approval_policy="ask"))
    texts += [shown(no_service.call(backend)), shown(no_scope.call(backend))]
    assert len(set(texts)) == 5
    assert code(no_service.call(backend)) == code(no_scope.call(backend)) == "APPROVAL_UNAVAILABLE"
    assert shown(asking(World(in_scope=True), "my reason").call(backend)) == "Error: my reason"


@pytest.mark.clause("PRE-1", "APP-8")
@both
def test_answerers_form_a_waterfall_in_the_asking_scope(backend: str) -> None:
    world = asking(World(in_scope=True, approval_policy="ask"))
    scope = world.scope
    assert scope is not None
    scope.scope("below").on("approval", lambda request, following: "allowed-once")
    assert code(world.call(backend)) == "APPROVAL_UNAVAILABLE", "the default"
    world.runtime.on("approval", lambda request, following: world.seen.append(request.name) or following())
    scope.on("approval", lambda request, following: "allowed-once")
    scope.on("approval", lambda request, following: world.seen.append("hidden") or "rejected")
    assert code(world.call(backend)) == "OK"
    assert world.seen == ["observer", "act", "body", "observer"]


@pytest.mark.clause("PRE-1", "APP-8")
@both
def test_the_approver_stands_outermost_and_prepended_answerers_outside_of_it(backend: str) -> None:
    world = answering("rejected")
    world.runtime.on("approval", lambda request, following: "allowed-once")
    assert code(world.call(backend)) == "APPROVAL_REJECTED"
    world.runtime.on("approval", lambda request, following: "allowed-once", prepend=True)
    assert code(world.call(backend)) == "OK"


@both
def test_what_is_asked(backend: str) -> None:
    requests: list[ApprovalRequest] = []
    world = asking(World(in_scope=True, approver=CallbackApprover(lambda one: bool(requests.append(one)))))
    world.call(backend, arguments='{"path": "x"}')
    assert requests == [ApprovalRequest("c1", "act", {"path": "x"}, "because", world.scope)]


# -- policies and the log ---------------------------------------------------------------------------


def batch(world: World, backend: str, session: Any, count: int = 1) -> BatchResult:
    calls = [ToolCall(f"c{number}", "act") for number in range(count)]
    result: BatchResult = on(
        backend,
        lambda: world.runtime.run_batch(
            calls, scope=world.scope, session=session, signal=world.caller.signal
        ),
    )
    return result


def approvals(session: Any) -> list[tuple[str, Any]]:
    return [
        (one.type.removeprefix("approval/"), one.data.get("outcome", one.data.get("reason")))
        for one in session.records()
        if one.type in ("approval/asked", "approval/decided")
    ]


@pytest.mark.clause("APP-6")
@both
def test_requests_are_logged_as_asked_and_decided_and_the_log_holds(backend: str, tmp_path: Path) -> None:
    world = answering("rejected")
    with JsonlSession(tmp_path / "log") as session:
        batch(world, backend, session, 2)
        assert approvals(session) == [("asked", "because"), ("decided", "rejected")] * 2
        asked = [one for one in session.records() if one.type == "approval/asked"]
        decided = [one for one in session.records() if one.type == "approval/decided"]
        assert [one.data["request"] for one in decided] == [one.seq for one in asked]
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "log")])
    assert result.exit_code == 0, result.output


@pytest.mark.clause("APP-7", "APP-9")
@both
def test_the_last_policy_of_a_session_counts_and_is_looked_up_at_each_ask(backend: str) -> None:
    world = answering("allowed-once")
    session = MemorySession()
    assert [code(one) for one in batch(world, backend, session).results] == ["OK"]
    set_approval_policy(session, "never")
    assert [code(one) for one in batch(world, backend, session).results] == ["APPROVAL_REJECTED"]
    set_approval_policy(session, "ask")
    assert [code(one) for one in batch(world, backend, session).results] == ["OK"]
    decided = [outcome for kind, outcome in approvals(session) if kind == "decided"]
    assert decided == ["allowed-once", "rejected", "allowed-once"]
    before = len(list(session.records()))
    with pytest.raises(ConfigError, match="APP-9"):
        set_approval_policy(session, "sometimes")
    assert len(list(session.records())) == before


@pytest.mark.clause("APP-7")
@both
def test_never_rejects_before_any_answerer_but_looks_at_an_aborted_signal_first(backend: str) -> None:
    world = answering("allowed-once", approval_policy="never")
    world.runtime.on("approval", lambda request, following: "allowed-once", prepend=True)
    assert code(world.call(backend)) == "APPROVAL_REJECTED"
    aborting = World(in_scope=True, approval_policy="never")
    aborting.runtime.on("pre_execute", lambda execution, following: aborting.caller.abort() or Ask())
    session = MemorySession()
    assert [code(one) for one in batch(aborting, backend, session).results] == ["ABORTED_BEFORE_DISPATCH"]
    assert approvals(session) == [("asked", None), ("decided", "cancelled")]


@pytest.mark.clause("APP-10")
@both
def test_without_an_open_turn_asking_fails_and_logs_nothing(backend: str) -> None:
    world = answering("allowed-once")
    session = MemorySession()
    assert code(world.call(backend, session=session)) == "POLICY_ERROR"
    assert list(session.records()) == []
    session.append(Record("turn/start", {"turn": 0}))
    assert code(world.call(backend, session=session)) == "OK"
    assert code(world.call(backend)) == "OK", "without a session nothing is logged, and it may ask"


@pytest.mark.clause("LOG-3")
@both
@pytest.mark.parametrize("kind", ["approval/asked", "approval/decided"])
def test_an_approval_record_that_cannot_be_written_fails_the_call_and_not_the_batch(
    backend: str, kind: str
) -> None:
    class Failing(MemorySession):
        def append(self, record: Record) -> int:
            if record.type == kind:
                raise LogError("the disk is full")
            return super().append(record)

    world = answering("allowed-once")
    assert [code(one) for one in batch(world, backend, Failing(), 2).results] == ["POLICY_ERROR"] * 2
    assert "body" not in world.seen


# -- waiting ----------------------------------------------------------------------------------------


@pytest.mark.clause("APP-5", "SCD-1")
@both
def test_approvals_of_a_batch_never_overlap_and_go_in_model_order(backend: str) -> None:
    seen: list[str] = []

    async def ask(request: ApprovalRequest) -> ApprovalOutcome:
        seen.append(f"{request.call_id}?")
        await anyio.wait_all_tasks_blocked()
        seen.append(f"{request.call_id}!")
        return "allowed-once"

    world = asking(World(in_scope=True, approver=CallbackApprover(ask), parallel=True))
    batch(world, backend, None, 3)
    assert seen == ["c0?", "c0!", "c1?", "c1!", "c2?", "c2!"]


@pytest.mark.clause("APP-11", "PY-13")
@both
def test_the_batch_waits_for_the_approver_of_a_withdrawn_request(backend: str) -> None:
    seen: list[str] = []

    async def ask(request: ApprovalRequest) -> ApprovalOutcome:
        world.caller.abort()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
            seen.append("approver ended")
        return "allowed-once"

    world = asking(World(in_scope=True, approver=CallbackApprover(ask)))
    world.runtime.on("post_execute", lambda execution, result, following: seen.append("post") or following())
    result = batch(world, backend, None, 2)
    assert [code(one) for one in result.results] == ["ABORTED_BEFORE_DISPATCH"] * 2
    assert seen == ["post", "approver ended"]


@pytest.mark.clause("APP-3", "APP-11")
@both
def test_an_approver_that_aborts_and_raises_is_withdrawn(backend: str) -> None:
    """Seen to fail: an error in a withdrawn request once left the batch."""

    def fail(request: ApprovalRequest) -> object:
        world.caller.abort()
        raise ValueError("late")

    world = asking(World(in_scope=True, approver=CallbackApprover(fail)))
    assert code(world.call(backend)) == "ABORTED_BEFORE_DISPATCH"


@both
def test_the_terminal_approver_asks_in_words(backend: str) -> None:
    asked: list[str] = []

    def run(line: str) -> str:
        def type_line(question: str) -> str:
            asked.append(question)
            return line

        return code(asking(World(in_scope=True, approver=TerminalApprover(type_line))).call(backend))

    assert [run(line) for line in ("y\n", "YES", "n", "", "yes please")] == [
        "OK",
        "OK",
        *["APPROVAL_REJECTED"] * 3,
    ]
    assert asked[0] == "Allow act with {}?\n  because\n  [y/N] "


@pytest.mark.clause("APP-9")
def test_unknown_policies_are_refused() -> None:
    with pytest.raises(ConfigError, match="APP-9"):
        Runtime(approval_policy="always")
