"""The worked-out edge outcomes of a single call, each a walk through the machine."""

from __future__ import annotations

import pytest

from gnomon_spec import admission, dispatch, journey
from gnomon_spec.journey import (
    Approves,
    BodyEnds,
    CallerAborts,
    Concludes,
    DeadlinePasses,
    Defers,
    Delegates,
    Dispatches,
    Finalizes,
    FinalizesContent,
    GuardAdds,
    GuardAnswers,
    Move,
    Observes,
    OwnSignalAborts,
    PostDecides,
    PreDecides,
    Projects,
    ReachesBody,
    RestoresSignal,
    SetsSignal,
    WrapperDecides,
)
from gnomon_spec.vocabulary import (
    Accept,
    Allow,
    Approval,
    Ask,
    AuthoredFailure,
    AuthoredSuccess,
    Block,
    Change,
    Code,
    Event,
    EventName,
    Execution,
    Failed,
    How,
    Malformed,
    Outcome,
    Setup,
    Stage,
    Verdict,
)

RETURNS = BodyEnds(dispatch.Returned(), How.RETURNED)
RETURNS_NONSENSE = BodyEnds(dispatch.Returned(fits=False), How.RETURNED)
RAISES = BodyEnds(dispatch.Raised(), How.RAISED)
BODY = (Dispatches(), ReachesBody())
END = (Finalizes(), Observes())
WRAPPED = (Dispatches(), Delegates(0), ReachesBody())


class Walk:
    """A call, and what was seen of it so far."""

    def __init__(self, setup: Setup, *moves: Move, aborted: bool = False) -> None:
        born = admission.create(setup, aborted)
        self.state: Execution = born.state
        self.events: list[Event] = list(born.events)
        self.go(*moves)

    def go(self, *moves: Move) -> Walk:
        for move in moves:
            taken = journey.step(self.state, move)
            self.state = taken.state
            self.events.extend(taken.events)
        return self

    def refuses(self, move: Move) -> str:
        refused = journey.refused(self.state, move)
        assert refused is not None
        return refused.clause

    def given(self, number: int = 0) -> Outcome:
        return self.state.given[number]

    @property
    def outcome(self) -> Outcome:
        assert self.state.stage is Stage.DONE, self.state.stage
        assert self.state.outcome is not None
        return self.state.outcome

    def seen(self, name: EventName) -> int:
        return sum(event.name is name for event in self.events)


def code(walk: Walk) -> str | None:
    return walk.outcome.code


# -- approval and guards --------------------------------------------------------------------------

ASKING = Setup(pre=1, guards=1, post=1)
ASK = PreDecides(0, Ask())
ACCEPT = PostDecides(0, Accept())


@pytest.mark.clause("APP-3", "APP-6", "APP-11")
def test_abort_during_a_pending_ask_withdraws_it_and_guards_do_not_run() -> None:
    walk = Walk(ASKING, ASK, CallerAborts())
    assert walk.refuses(Approves(Approval.ALLOWED_ONCE)) == "APP-11"
    walk.go(Approves(Approval.CANCELLED))
    assert walk.refuses(Approves(Approval.ALLOWED_ONCE)) == "APP-6", "a late answer changes nothing"
    walk.go(Finalizes(), ACCEPT, Observes())
    assert code(walk) == Code.ABORTED_BEFORE_DISPATCH
    assert walk.seen(EventName.GUARD_ANSWERED) == 0


@pytest.mark.clause("GRD-5", "GRD-7")
def test_allowed_then_aborted_the_guard_denies_or_is_silent() -> None:
    allowed = (ASK, Approves(Approval.ALLOWED_ONCE), CallerAborts())
    denied = Walk(ASKING, *allowed, GuardAnswers(Verdict.DENY), Finalizes(), ACCEPT, Observes())
    assert code(denied) == Code.DENIED
    silent = Walk(ASKING, *allowed, GuardAnswers(Verdict.PASS), Finalizes(), ACCEPT, Observes())
    assert code(silent) == Code.ABORTED_BEFORE_DISPATCH


@pytest.mark.clause("CAN-7")
def test_a_rejection_stays_when_the_caller_aborts() -> None:
    walk = Walk(ASKING, ASK, Approves(Approval.REJECTED), CallerAborts(), Finalizes(), ACCEPT, Observes())
    assert code(walk) == Code.APPROVAL_REJECTED


@pytest.mark.clause("APP-2", "APP-6", "APP-7", "APP-10")
@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        (Setup(pre=1, service=False), Code.APPROVAL_UNAVAILABLE),
        (Setup(pre=1, scope=False), Code.APPROVAL_UNAVAILABLE),
        (Setup(pre=1, turn=False), Code.POLICY_ERROR),
        (Setup(pre=1, never=True), Code.APPROVAL_REJECTED),
    ],
)
def test_asking_where_nobody_answers_is_no_grant(setup: Setup, expected: Code) -> None:
    walk = Walk(setup, ASK, *END)
    assert code(walk) == expected
    logged = 1 if setup.never else 0
    assert walk.seen(EventName.APPROVAL_ASKED) == walk.seen(EventName.APPROVAL_DECIDED) == logged


@pytest.mark.clause("APP-1", "APP-2", "APP-4")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Approval.REJECTED, Code.APPROVAL_REJECTED),
        (Approval.CANCELLED, Code.APPROVAL_CANCELLED),
        (Approval.UNAVAILABLE, Code.APPROVAL_UNAVAILABLE),
        (Approval.OTHER, Code.APPROVAL_UNAVAILABLE),
        (Approval.BROKEN, Code.POLICY_ERROR),
    ],
)
def test_only_allowed_once_is_a_grant(answer: Approval, expected: Code) -> None:
    assert code(Walk(Setup(pre=1), ASK, Approves(answer), *END)) == expected


@pytest.mark.clause("APP-7")
def test_never_looks_at_an_aborted_signal_first() -> None:
    walk = Walk(Setup(pre=1, never=True), CallerAborts(), ASK, *END)
    assert code(walk) == Code.ABORTED_BEFORE_DISPATCH
    assert walk.seen(EventName.APPROVAL_DECIDED) == 1


@pytest.mark.clause("PRE-3", "GRD-2", "GRD-6")
def test_a_listener_cannot_hide_guards_and_a_guard_can_add_one() -> None:
    setup = Setup(pre=2, guards=1)
    walk = Walk(setup, PreDecides(0, Allow()), GuardAdds(), GuardAnswers(Verdict.PASS))
    assert walk.state.stage is Stage.GUARDS, "the guard that was added takes part"
    walk.go(GuardAnswers(Verdict.DENY), *END)
    assert code(walk) == Code.DENIED


@pytest.mark.clause("PRE-2", "PRE-5")
@pytest.mark.parametrize("decision", [Malformed(), Failed("OWN")])
def test_a_malformed_or_failing_listener_fails_the_call(decision: Malformed | Failed) -> None:
    walk = Walk(Setup(pre=1, guards=1, post=1), PreDecides(0, decision), *END)
    assert code(walk) == (Code.POLICY_ERROR if isinstance(decision, Malformed) else "OWN")
    assert walk.seen(EventName.POLICY_ENTERED) == 1, "post-execute does not run"


# -- dispatch -------------------------------------------------------------------------------------


@pytest.mark.clause("DSP-3", "CAN-5")
def test_abort_between_the_last_check_and_the_body_still_runs_the_wrappers() -> None:
    walk = Walk(Setup(wrappers=1), Dispatches(), CallerAborts(), Delegates(0), ReachesBody())
    walk.go(WrapperDecides(0, walk.given()), *END)
    assert code(walk) == Code.ABORTED_BEFORE_DISPATCH
    assert walk.seen(EventName.BODY_STARTED) == 0
    assert walk.seen(EventName.POLICY_ENTERED) == 1


@pytest.mark.clause("DSP-1", "DSP-11", "DSP-14")
def test_a_retry_keeps_the_contexts_and_the_conclusion_of_both_attempts() -> None:
    walk = Walk(Setup(wrappers=1), *WRAPPED, Defers("d1"), Concludes(), RAISES)
    walk.go(Delegates(0), ReachesBody(), Defers("d2"), RETURNS, WrapperDecides(0, walk.given(0)))
    again = Walk(Setup(wrappers=1), *WRAPPED, Defers("d1"), Concludes(), RAISES)
    again.go(Delegates(0), ReachesBody(), Defers("d2"), RETURNS)
    again.go(WrapperDecides(0, again.given(1)), *END)
    assert again.outcome.contexts == ("d1", "d2")
    assert again.outcome.concludes
    assert walk.go(*END).outcome.code == Code.TOOL_ERROR, "the first result may be kept as well"


@pytest.mark.clause("DSP-3", "DSP-5")
def test_a_retry_after_an_abort_does_not_run_the_body_again() -> None:
    walk = Walk(Setup(wrappers=1), *WRAPPED, RAISES, CallerAborts(), Delegates(0), ReachesBody())
    walk.go(WrapperDecides(0, walk.given(1)), *END)
    assert code(walk) == Code.ABORTED
    assert walk.seen(EventName.BODY_STARTED) == 1


@pytest.mark.clause("DSP-12", "CAN-5")
def test_a_wrappers_own_success_while_the_caller_has_aborted() -> None:
    walk = Walk(Setup(wrappers=1), Dispatches(), CallerAborts(), WrapperDecides(0, AuthoredSuccess(("w",))))
    assert walk.go(*END).outcome == Outcome(Code.ABORTED_BEFORE_DISPATCH, contexts=("w",))


@pytest.mark.clause("DSP-10", "DSP-13", "FIN-2")
@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (AuthoredSuccess(("w",), fits=False), Code.INVALID_TOOL_OUTPUT),
        (AuthoredSuccess(("w",), gone=True), Code.UNKNOWN_TOOL),
        (Malformed(), Code.POLICY_ERROR),
        (Failed(), Code.POLICY_ERROR),
    ],
)
def test_a_wrapper_that_fails_loses_contexts_and_skips_post_execute(
    decision: AuthoredSuccess | Malformed | Failed, expected: Code
) -> None:
    walk = Walk(Setup(wrappers=1, post=1, finalizer=True), *WRAPPED, Defers("d"), RETURNS)
    walk.go(WrapperDecides(0, decision), Finalizes(), FinalizesContent(Change.NOTHING), Observes())
    assert walk.outcome == Outcome(expected)
    assert walk.seen(EventName.CONTENT_FINALIZED) == walk.seen(EventName.RESULT_OBSERVED) == 1
    assert walk.seen(EventName.POLICY_ENTERED) == 1


@pytest.mark.clause("DSP-10", "DSP-11")
def test_a_wrappers_own_failure_visits_post_execute_with_the_contexts_of_the_body_first() -> None:
    walk = Walk(Setup(wrappers=1, post=1), *WRAPPED, Defers("d"), RETURNS)
    walk.go(WrapperDecides(0, AuthoredFailure("OWN", ("w",))), Finalizes(), ACCEPT, Observes())
    assert walk.outcome == Outcome("OWN", contexts=("d", "w"))


@pytest.mark.clause("DSP-10")
def test_a_result_that_another_execution_made_is_not_trusted() -> None:
    walk = Walk(Setup(wrappers=1), *WRAPPED, RAISES)
    assert walk.refuses(WrapperDecides(0, Outcome(nonce="borrowed"))) == "DSP-10"


@pytest.mark.clause("DSP-9", "CAN-4")
def test_a_wrappers_signal_aborts_the_body_and_not_the_caller() -> None:
    setup = Setup(wrappers=1, post=1)
    start = (Dispatches(), SetsSignal(0), Delegates(0), ReachesBody(), Defers("d"), OwnSignalAborts())
    walk = Walk(setup, *start, RETURNS)
    walk.go(WrapperDecides(0, walk.given()), Finalizes(), ACCEPT, Observes())
    assert walk.outcome == Outcome(Code.ABORTED, contexts=("d",))
    assert not walk.state.aborted
    nonsense = Walk(setup, *start, RETURNS_NONSENSE)
    nonsense.go(WrapperDecides(0, nonsense.given()), Finalizes(), ACCEPT, Observes())
    assert code(nonsense) == Code.INVALID_TOOL_OUTPUT


@pytest.mark.clause("DSP-3")
def test_a_wrappers_signal_that_has_aborted_keeps_the_body_from_running() -> None:
    walk = Walk(Setup(wrappers=1), Dispatches(), SetsSignal(0, aborted=True), Delegates(0), ReachesBody())
    assert walk.given().code == Code.ABORTED_BEFORE_DISPATCH
    assert walk.seen(EventName.BODY_STARTED) == 0


@pytest.mark.clause("CAN-3")
def test_a_wrapper_cannot_detach_the_callers_abort() -> None:
    walk = Walk(Setup(wrappers=1), Dispatches(), SetsSignal(0), Delegates(0), ReachesBody(), CallerAborts())
    walk.go(RETURNS)
    assert walk.given().code == Code.ABORTED


@pytest.mark.clause("PRE-7")
def test_a_second_next_waits_for_the_first() -> None:
    walk = Walk(Setup(wrappers=1), *WRAPPED)
    assert walk.refuses(Delegates(0)) == "PRE-7"


@pytest.mark.clause("DSP-6", "DSP-11")
def test_a_wrapper_that_does_not_wait_leaves_no_body_behind() -> None:
    walk = Walk(Setup(wrappers=1), *WRAPPED, WrapperDecides(0, AuthoredSuccess(("w",))))
    assert walk.state.stage is Stage.BODY, "the body is awaited"
    walk.go(Defers("d"), RAISES, *END)
    assert walk.outcome.contexts == ("d", "w")
    assert not walk.outcome.is_error


@pytest.mark.clause("TMO-2")
def test_the_timeout_replaces_what_came_back_and_keeps_deferred_contexts() -> None:
    setup = Setup(wrappers=1, timeout=0)
    for end in (RETURNS, RAISES):
        walk = Walk(setup, *BODY, Defers("d"), DeadlinePasses(), end)
        walk.go(CallerAborts(), *END)
        assert walk.outcome == Outcome(Code.TOOL_TIMEOUT, contexts=("d",)), "a later abort changes nothing"


@pytest.mark.clause("TMO-2")
def test_an_abort_that_came_before_the_deadline_wins() -> None:
    setup = Setup(wrappers=1, timeout=0)
    walk = Walk(setup, *BODY, CallerAborts())
    assert walk.refuses(DeadlinePasses()) == "TMO-2"
    assert code(walk.go(RETURNS, *END)) == Code.ABORTED
    assert code(Walk(setup, *BODY, CallerAborts(), RAISES, *END)) == Code.TOOL_ERROR


AGAIN = (Dispatches(), Delegates(0), ReachesBody())


@pytest.mark.clause("TMO-1", "TMO-4")
def test_a_wrapper_outside_of_the_timeout_gets_a_new_deadline_and_one_inside_shares_it() -> None:
    outside = Walk(Setup(wrappers=2, timeout=1), *AGAIN, DeadlinePasses(), RAISES)
    assert outside.state.frames[-1].heard == Outcome(Code.TOOL_TIMEOUT), "the wrapper hears of it"
    outside.go(Delegates(0), ReachesBody(), RETURNS)
    outside.go(WrapperDecides(0, outside.state.given[-1]), *END)
    assert not outside.outcome.is_error
    inside = Walk(Setup(wrappers=2, timeout=0), Dispatches(), Delegates(1), ReachesBody(), DeadlinePasses())
    inside.go(RAISES, Delegates(1), ReachesBody())
    heard = inside.state.frames[-1].heard
    assert heard == Outcome(Code.ABORTED), "the deadline has passed for this attempt as well"
    inside.go(WrapperDecides(1, heard), *END)
    assert inside.outcome.code == Code.TOOL_TIMEOUT


@pytest.mark.clause("TMO-2")
def test_a_signal_that_the_timeout_found_aborted_is_an_outer_abort() -> None:
    start = (Dispatches(), SetsSignal(0), Delegates(0), ReachesBody(), OwnSignalAborts())
    walk = Walk(Setup(wrappers=2, timeout=1), *start)
    assert walk.refuses(DeadlinePasses()) == "TMO-2"
    other = Walk(Setup(wrappers=2, timeout=0), Dispatches(), SetsSignal(1), Delegates(1), ReachesBody())
    other.go(OwnSignalAborts(), DeadlinePasses(), RETURNS)
    other.go(WrapperDecides(1, other.given()), *END)
    assert other.outcome.code == Code.TOOL_TIMEOUT, "a signal inside of it is none"


@pytest.mark.clause("CRE-5", "DSP-2", "TMO-3")
def test_the_timeout_puts_back_what_it_found_and_reaches_only_a_body_that_it_stands_before() -> None:
    start = (Dispatches(), SetsSignal(1), Delegates(1), ReachesBody(), DeadlinePasses())
    walk = Walk(Setup(wrappers=2, timeout=0), *start)
    assert walk.state.cause is None, "a wrapper inside has left the deadline out"
    outer = Walk(Setup(wrappers=2, timeout=1), Dispatches(), SetsSignal(0), Delegates(0), ReachesBody())
    assert outer.state.beneath == ("own", "deadline")
    outer.go(DeadlinePasses(), OwnSignalAborts(), RETURNS)
    assert outer.state.signal == ("own",)


@pytest.mark.clause("CRE-5", "DSP-2")
def test_the_first_abort_is_the_reason_and_a_signal_that_was_put_back_is_none() -> None:
    walk = Walk(Setup(wrappers=1), Dispatches(), SetsSignal(0), Delegates(0), ReachesBody())
    walk.go(OwnSignalAborts(), CallerAborts())
    assert walk.state.cause == "own"
    back = Walk(
        Setup(wrappers=1), Dispatches(), SetsSignal(0), RestoresSignal(0), Delegates(0), ReachesBody()
    )
    back.go(OwnSignalAborts())
    assert back.state.cause is None
    assert not back.go(RETURNS).given().is_error
    assert back.refuses(OwnSignalAborts("another")) == "CAN-4"
    assert back.refuses(OwnSignalAborts()) == "CAN-4", "it aborts once"
    assert Walk(Setup(wrappers=1), *WRAPPED).refuses(SetsSignal(0)) == "CRE-5", "it is not running"


# -- settlement -----------------------------------------------------------------------------------


@pytest.mark.clause("PST-5", "PST-7", "PST-8", "CAN-6")
def test_a_success_that_is_aborted_before_its_commit_is_shown_to_post_execute_as_a_success() -> None:
    setup = Setup(post=1)
    before = (*BODY, Defers("d"), RETURNS, CallerAborts(), Finalizes())
    walk = Walk(setup, *before)
    assert walk.state.outcome is not None
    assert not walk.state.outcome.is_error
    walk.go(PostDecides(0, Accept(contexts=("p",))), Observes())
    assert walk.outcome == Outcome(Code.ABORTED, contexts=("d", "p"))
    blocked = Walk(setup, *before, PostDecides(0, Block(("b",))), Observes())
    assert (blocked.outcome.code, blocked.outcome.contexts) == (Code.BLOCKED, ("b",))
    failed = Walk(setup, *before, PostDecides(0, Failed()), Observes())
    assert failed.outcome == Outcome(Code.POLICY_ERROR)


@pytest.mark.clause("PST-3", "PST-4")
def test_a_cancelled_call_still_visits_post_execute() -> None:
    setup = Setup(post=1)
    before = (Dispatches(), CallerAborts(), ReachesBody(), Finalizes())
    more = Walk(setup, *before, PostDecides(0, Accept(content="new", contexts=("p",))), Observes())
    assert more.outcome == Outcome(Code.ABORTED_BEFORE_DISPATCH, contexts=("p",), content="new")
    value = Walk(setup, *before, PostDecides(0, Accept(value="v")), Observes())
    assert code(value) == Code.POLICY_ERROR, "a failed result gets no value"
    assert code(Walk(setup, *before, PostDecides(0, Block()), Observes())) == Code.BLOCKED


@pytest.mark.clause("PST-3", "PST-4")
def test_a_replaced_value_is_checked_by_the_definition_that_is_there_now() -> None:
    setup = Setup(post=1)
    before = (*BODY, Defers("d"), Concludes(), RETURNS, Finalizes())
    gone = Walk(setup, *before, PostDecides(0, Accept(value="v", gone=True)), Observes())
    assert gone.outcome == Outcome(Code.UNKNOWN_TOOL), "and the contexts are lost"
    unfit = Walk(setup, *before, PostDecides(0, Accept(value="v", fits=False)), Observes())
    assert code(unfit) == Code.INVALID_TOOL_OUTPUT
    kept = Walk(setup, *before, PostDecides(0, Accept(value="v")), Observes())
    assert kept.outcome.concludes
    assert (kept.outcome.nonce, kept.outcome.contexts) == ("v", ("d",))
    both = Walk(setup, *before, PostDecides(0, Accept(value="v", content="c")), Observes())
    assert code(both) == Code.POLICY_ERROR


@pytest.mark.clause("FIN-4")
def test_a_block_concludes_nothing() -> None:
    walk = Walk(Setup(post=1), *BODY, Concludes(), RETURNS, Finalizes(), PostDecides(0, Block()), Observes())
    assert not walk.outcome.concludes


@pytest.mark.clause("PST-1")
@pytest.mark.parametrize("change", [Change.MALFORMED, Change.RAISED])
def test_a_failing_projection_skips_post_execute(change: Change) -> None:
    setup = Setup(post=1, projector=True)
    walk = Walk(setup, *BODY, Defers("d"), RETURNS, Finalizes(), Projects(change), Observes())
    assert walk.outcome == Outcome(Code.INVALID_TOOL_OUTPUT)
    assert walk.seen(EventName.POLICY_ENTERED) == 0


@pytest.mark.clause("CAN-1")
def test_an_abort_from_the_finalizer_changes_nothing() -> None:
    walk = Walk(Setup(finalizer=True), *BODY, RETURNS, Finalizes(), CallerAborts())
    walk.go(FinalizesContent(Change.CONTENT), Observes())
    assert not walk.outcome.is_error
    assert walk.outcome.content == "finalized"


@pytest.mark.clause("FIN-2")
@pytest.mark.parametrize("change", [Change.MALFORMED, Change.RAISED])
def test_a_failing_finalizer_makes_an_error_and_is_not_called_again(change: Change) -> None:
    walk = Walk(Setup(finalizer=True), *BODY, Defers("d"), Concludes(), RETURNS, Finalizes())
    walk.go(FinalizesContent(change))
    assert walk.refuses(FinalizesContent(Change.NOTHING)) == "FIN-2"
    assert walk.go(Observes()).outcome == Outcome(Code.INVALID_TOOL_OUTPUT)


# -- creation -------------------------------------------------------------------------------------


@pytest.mark.clause("CRE-2")
def test_bad_arguments_win_over_an_aborted_signal_and_are_finalized() -> None:
    walk = Walk(Setup(arguments=False, finalizer=True, pre=1), Finalizes(), aborted=True)
    walk.go(FinalizesContent(Change.NOTHING), Observes())
    assert code(walk) == Code.INVALID_ARGS
    assert walk.seen(EventName.POLICY_ENTERED) == 0


@pytest.mark.clause("MOD-2", "CRE-6")
def test_a_collapsed_call_is_refused_before_any_policy() -> None:
    setup = Setup(collapsed=True, finalizer=True, pre=1, post=1)
    assert code(Walk(setup, *END)) == Code.UNKNOWN_TOOL
    aborted = Walk(setup, Finalizes(), FinalizesContent(Change.NOTHING), Observes(), aborted=True)
    assert code(aborted) == Code.ABORTED_BEFORE_DISPATCH, "with its finalizer"
    bad = Walk(Setup(collapsed=True, arguments=False, finalizer=True), *END)
    assert code(bad) == Code.INVALID_ARGS


@pytest.mark.clause("DSP-4")
def test_a_mode_that_flips_under_way_is_an_unknown_tool_at_the_body_stage() -> None:
    walk = Walk(Setup(post=1), Dispatches(), ReachesBody(found=False), Finalizes(), ACCEPT, Observes())
    assert code(walk) == Code.UNKNOWN_TOOL


@pytest.mark.clause("CRE-3", "DSP-4")
def test_an_unknown_name_is_seen_by_every_policy_and_has_no_finalizer() -> None:
    setup = Setup(visible=False, finalizer=True, pre=1, guards=1, wrappers=1, post=1)
    prepared = (PreDecides(0, Ask()), Approves(Approval.ALLOWED_ONCE), GuardAnswers(Verdict.PASS))
    walk = Walk(setup, *prepared, Dispatches(), Delegates(0), ReachesBody(found=False))
    walk.go(WrapperDecides(0, walk.given()), Finalizes(), ACCEPT, Observes())
    assert code(walk) == Code.UNKNOWN_TOOL
    assert walk.seen(EventName.POLICY_ENTERED) == 3
    assert walk.seen(EventName.CONTENT_FINALIZED) == 0
    registered = Walk(setup, *prepared, Dispatches(), Delegates(0), ReachesBody(found=True), RETURNS)
    assert registered.seen(EventName.BODY_STARTED) == 1, "registered in between, its body runs"
