"""Worked-out cases of a batch: what happens, step by step, and what may not."""

from __future__ import annotations

import pytest

from gnomon_spec import batch as chapter
from gnomon_spec import machine
from gnomon_spec.batch import Batch
from gnomon_spec.kernel import NotEnabled, Refused
from gnomon_spec.machine import (
    Abort,
    Action,
    BeginCommit,
    BodyStarts,
    CallUnlogged,
    Close,
    Commits,
    DispatchSettles,
    Drain,
    Notice,
    PairUnfinished,
    Prepared,
    Raise,
    Reclassify,
    Skip,
    Start,
    Stop,
)
from gnomon_spec.vocabulary import (
    SUCCESS,
    Code,
    Event,
    EventName,
    Fault,
    FinalResult,
    How,
    Mode,
    Outcome,
    Phase,
    PostResult,
    ToDispatch,
)

P, X = Mode.PARALLEL, Mode.EXCLUSIVE
BEFORE = Outcome(Code.ABORTED_BEFORE_DISPATCH)


class Course:
    """A batch on its way."""

    def __init__(self, *modes: Mode, parallel: int = 10) -> None:
        self.state: Batch = chapter.open_batch(modes, parallel).state
        self.seen: list[Event] = []

    def does(self, *actions: Action) -> None:
        for action in actions:
            taken = machine.step(self.state, action)
            self.state = taken.state
            self.seen += taken.events

    def starts(self, *positions: int) -> None:
        """Each is started, prepared, and its body runs."""
        for position in positions:
            self.does(Start(position), Prepared(position, ToDispatch()), BodyStarts(position))

    def returns(self, position: int) -> None:
        self.does(DispatchSettles(position, PostResult(SUCCESS), How.RETURNED))

    def refuses(self, action: Action) -> Refused:
        refused = machine.refused(self.state, action)
        assert refused is not None, f"{action} is allowed"
        return refused

    def lane_moves(self) -> list[Action]:
        return list(machine.lane_moves(self.state, live=True))

    def results(self) -> list[tuple[int | None, str | None]]:
        return [
            (one.pos, one.outcome.code if one.outcome else "?")
            for one in self.seen
            if one.name is EventName.RESULT_LOGGED
        ]


# -- reclassification -----------------------------------------------------------------------------


@pytest.mark.clause("SCD-3", "SCD-5", "SCD-7")
def test_a_stopped_call_that_a_commit_makes_parallel_joins_at_the_next_filling() -> None:
    """c0 and c1 run, c2 is exclusive when it is asked; committing c0 makes it parallel: it joins c1."""
    batch = Course(P, P, X)
    batch.starts(0, 1)
    assert batch.refuses(Start(2)).clause == "SCD-5"
    batch.does(Stop(2))
    batch.returns(0)
    batch.does(Notice(0), BeginCommit(0), Reclassify(2, P))
    assert batch.refuses(Start(2)).clause == "SCD-7", "the lane is committing"
    batch.does(Commits(0, SUCCESS))
    batch.starts(2)
    assert [one.phase for one in batch.state.calls] == [Phase.COMMITTED, Phase.RUNNING, Phase.RUNNING]


@pytest.mark.clause("SCD-3")
def test_a_call_that_stopped_the_filling_is_not_asked_before_the_next_one() -> None:
    """A body makes it parallel; nothing settles, so nothing is asked, and nothing starts."""
    batch = Course(P, P, X)
    batch.starts(0, 1)
    batch.does(Stop(2), Reclassify(2, P))
    assert batch.lane_moves() == []
    assert batch.refuses(Start(2)) == Refused(
        "SCD-3", "call 2 stopped the filling, and is asked again at the next"
    )
    batch.returns(1)
    assert batch.refuses(Start(2)).clause == "SCD-3", "the lane has not noticed it yet"
    batch.does(Notice(1))
    assert batch.lane_moves() == [Start(2)]


@pytest.mark.clause("SCD-3", "SCD-5")
def test_a_call_that_stays_exclusive_is_the_head_once_all_before_it_are_committed() -> None:
    batch = Course(P, P, X, P)
    batch.starts(0, 1)
    batch.does(Stop(2))
    for position in (0, 1):
        assert batch.refuses(Start(2)).clause == "SCD-5"
        batch.returns(position)
        batch.does(Notice(position))
        batch.does(BeginCommit(position), Commits(position, SUCCESS))
    batch.starts(2)
    assert batch.refuses(Start(3)) == Refused("SCD-5", "call 2 is exclusive, and it is not committed")
    assert batch.lane_moves() == [], "a parallel call behind an exclusive one is not asked: nothing may join"


@pytest.mark.clause("SCD-3", "SCD-4", "SCD-5")
def test_an_observer_that_makes_the_next_call_exclusive_makes_it_wait() -> None:
    """While c0 is committed, c2 becomes exclusive: it waits as a barrier until c1 is committed too."""
    batch = Course(P, P, P, parallel=2)
    batch.starts(0, 1)
    assert batch.refuses(Start(2)).clause == "SCD-4"
    batch.returns(0)
    batch.does(Notice(0), BeginCommit(0), Reclassify(2, X), Commits(0, SUCCESS))
    assert batch.refuses(Start(2)).clause == "SCD-5"
    assert batch.lane_moves() == [Stop(2)]
    batch.does(Stop(2))
    batch.returns(1)
    batch.does(Notice(1), BeginCommit(1), Commits(1, SUCCESS))
    batch.starts(2)


@pytest.mark.clause("SCD-3")
def test_the_head_is_classified_when_it_starts() -> None:
    """c0 was exclusive when the batch opened and is parallel when it starts, so c1 may join it."""
    batch = Course(X, P)
    batch.does(Reclassify(0, P))
    batch.starts(0, 1)
    assert [one.phase for one in batch.state.calls] == [Phase.RUNNING, Phase.RUNNING]


@pytest.mark.clause("SCD-3", "SCD-5")
def test_a_call_that_has_started_stays_as_it_is() -> None:
    """Its tool is re-registered while it runs: it counts as what it was started as."""
    batch = Course(X, P)
    batch.does(Start(0))
    assert batch.refuses(Reclassify(0, P)) == Refused("SCD-3", "call 0 has started, and stays as it is")
    batch.does(Prepared(0, ToDispatch()))
    assert batch.refuses(Reclassify(0, P)).clause == "SCD-3"
    assert batch.refuses(Start(1)).clause == "SCD-5"


@pytest.mark.clause("SCD-4")
def test_where_the_pool_is_full_the_next_call_is_not_asked() -> None:
    batch = Course(P, X, parallel=1)
    batch.starts(0)
    assert batch.refuses(Stop(1)).clause == "SCD-4"
    batch.does(Reclassify(1, P), Reclassify(1, X))
    assert batch.lane_moves() == []


@pytest.mark.clause("SCD-13")
@pytest.mark.parametrize("position", [-1, 2])
def test_what_is_no_call_of_the_batch_has_no_mode(position: int) -> None:
    assert Course(P, P).refuses(Reclassify(position, X)).clause == "SCD-13"
    assert Course(P, P).refuses(Stop(position)).clause == "SCD-13"


@pytest.mark.clause("SCD-8", "SCD-11")
def test_a_call_that_was_answered_unstarted_has_no_mode_any_more() -> None:
    batch = Course(P, P)
    batch.does(Abort(), Skip(0))
    assert batch.refuses(Reclassify(0, X)).clause == "SCD-8"
    batch.does(Reclassify(1, X), Skip(1), Close())
    assert batch.refuses(Reclassify(1, P)).clause == "SCD-11"


# -- faults and aborts ----------------------------------------------------------------------------


@pytest.mark.clause("SCD-7", "SCD-9", "SCD-11")
def test_a_dispatch_fails_while_a_later_call_is_being_prepared() -> None:
    """c3 ends its preparation and is not dispatched, c2 is awaited, nothing is invented, it is raised."""
    batch = Course(P, P, P, P)
    batch.starts(0, 1, 2)
    batch.returns(0)
    batch.does(Start(3), DispatchSettles(1, Fault(), How.RAISED))
    assert batch.refuses(BeginCommit(0)).clause == "SCD-7", "the lane still prepares c3"
    batch.does(Prepared(3, ToDispatch()))
    assert batch.state.calls[3].phase is Phase.DROPPED
    assert batch.refuses(Start(3)).clause == "SCD-9"
    assert batch.refuses(Raise()).clause == "SCD-11", "c2 is still running"
    batch.returns(2)
    batch.does(Raise())
    assert batch.results() == []
    assert batch.seen[-1].name is EventName.BATCH_FAILED
    assert batch.refuses(Skip(3)).clause == "SCD-11"


@pytest.mark.clause("SCD-9")
def test_a_result_that_was_due_when_the_runtime_failed_may_still_be_committed() -> None:
    batch = Course(P, P)
    batch.starts(0, 1)
    batch.returns(0)
    batch.does(DispatchSettles(1, Fault(), How.RAISED))
    assert set(batch.lane_moves()) >= {BeginCommit(0), Drain()}
    batch.does(BeginCommit(0), Commits(0, SUCCESS), Drain(), Raise())
    assert batch.results() == [(0, None)]


@pytest.mark.clause("SCD-9", "LOG-3")
def test_a_call_that_cannot_be_logged_does_not_start_and_nothing_is_appended_after_it() -> None:
    batch = Course(P, P, P)
    batch.starts(0)
    assert batch.refuses(CallUnlogged(2)).clause == "SCD-1", "it is not the turn of that call"
    batch.does(CallUnlogged(1))
    assert batch.refuses(Start(1)).clause == "SCD-9"
    batch.returns(0)
    assert batch.refuses(BeginCommit(0)).clause == "SCD-9", "nothing further is appended"
    batch.does(Raise())
    assert batch.state.next_start == 1
    assert batch.results() == []


@pytest.mark.clause("SCD-9", "LOG-3")
def test_a_pair_that_cannot_be_finished_leaves_its_call_logged_and_is_the_last() -> None:
    batch = Course(X, X)
    assert batch.refuses(PairUnfinished(0)).clause == "SCD-8", "nobody has aborted"
    batch.does(Abort(), PairUnfinished(0))
    assert batch.refuses(Skip(1)).clause == "SCD-9"
    batch.does(Raise())
    assert [one.name for one in batch.seen if one.pos == 0] == [EventName.CALL_LOGGED]
    assert batch.state.next_start == 1


@pytest.mark.clause("GRD-5", "SCD-6", "SCD-8")
def test_an_abort_while_a_call_is_being_prepared() -> None:
    """c2 finishes its preparation as cancelled and visits post-execute, c1 drains, c3 gets a pair."""
    batch = Course(P, P, P, P)
    batch.starts(0, 1)
    batch.returns(0)
    batch.does(Notice(0), BeginCommit(0), Commits(0, SUCCESS), Start(2), Abort())
    assert batch.refuses(Prepared(2, ToDispatch())).clause == "GRD-5"
    batch.does(Prepared(2, PostResult(BEFORE)))
    assert batch.refuses(Start(3)).clause == "SCD-8"
    assert batch.refuses(Skip(3)).clause == "SCD-8", "c1 and c2 have started, and are committed first"
    assert batch.lane_moves() == [], "c1 is running"
    batch.does(DispatchSettles(1, PostResult(Outcome(Code.ABORTED)), How.RETURNED), Notice(1))
    batch.does(BeginCommit(1), Commits(1, Outcome(Code.ABORTED)))
    assert batch.refuses(Commits(2, BEFORE)).clause == "SCD-6", "it visits post-execute"
    batch.does(BeginCommit(2), Commits(2, BEFORE), Skip(3), Close())
    cancelled = (Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH, Code.ABORTED_BEFORE_DISPATCH)
    assert batch.results() == [(0, None), *enumerate(cancelled, start=1)]


# -- what a commit may make of a result -----------------------------------------------------------


def _committing(outcome: Outcome) -> Course:
    batch = Course(P)
    batch.starts(0)
    batch.does(DispatchSettles(0, PostResult(outcome), How.RETURNED), Notice(0), BeginCommit(0))
    return batch


def test_a_cancellation_by_a_wrapper_keeps_its_code_whatever_post_execute_adds() -> None:
    """The caller did not abort; a listener may add contexts to what is an error already."""
    batch = _committing(Outcome(Code.ABORTED))
    batch.does(Commits(0, Outcome(Code.ABORTED, contexts=("more",))))


@pytest.mark.clause("PST-3", "CAN-7")
def test_an_error_is_not_replaced_by_a_cancellation() -> None:
    batch = _committing(Outcome(Code.TOOL_ERROR))
    batch.does(Abort())
    assert batch.refuses(Commits(0, Outcome(Code.ABORTED))).clause == "CAN-7"
    assert batch.refuses(Commits(0, SUCCESS)).clause == "PST-3"


@pytest.mark.clause("PST-8", "CAN-2", "CAN-6")
def test_a_success_is_cancelled_with_the_code_that_is_true() -> None:
    batch = _committing(SUCCESS)
    assert batch.refuses(Commits(0, Outcome(Code.ABORTED))).clause == "CAN-2"
    batch.does(Abort())
    assert batch.refuses(Commits(0, SUCCESS)).clause == "PST-8"
    assert batch.refuses(Commits(0, BEFORE)).clause == "CAN-2"
    batch.does(Commits(0, Outcome(Code.ABORTED, contexts=("kept",))))


@pytest.mark.clause("FIN-1")
def test_finishing_keeps_the_code_or_fails_by_itself() -> None:
    batch = Course(P)
    batch.does(Start(0), Prepared(0, FinalResult(Outcome(Code.INVALID_ARGS))))
    assert batch.refuses(Commits(0, Outcome(Code.TOOL_ERROR))).clause == "FIN-1"
    batch.does(Commits(0, Outcome(Code.INVALID_TOOL_OUTPUT)))


# -- the end --------------------------------------------------------------------------------------


@pytest.mark.clause("SCD-4")
@pytest.mark.parametrize("size", [0, -1, True, 1.0, "2", None])
def test_a_pool_of_no_size_is_refused(size: object) -> None:
    refused = chapter.refuse_pool(size)
    assert refused is not None
    assert refused.clause == "SCD-4"


@pytest.mark.clause("SCD-4")
def test_a_pool_holds_ten_unless_it_is_said() -> None:
    assert chapter.open_batch((P,)).state.max_parallel == 10
    with pytest.raises(NotEnabled):
        chapter.open_batch((P,), 0)


@pytest.mark.clause("SCD-14")
def test_an_empty_batch_does_nothing() -> None:
    batch = Course()
    assert batch.lane_moves() == [Close()]
    with pytest.raises(NotEnabled):
        batch.does(Start(0))


@pytest.mark.clause("FIN-4", "SCD-12")
def test_the_batch_concludes_the_turn_if_a_committed_success_does() -> None:
    """Its siblings go on; a call that is blocked or cancelled concludes nothing."""
    concluding = Outcome(concludes=True)
    batch = Course(P, P)
    batch.starts(0, 1)
    batch.does(DispatchSettles(0, PostResult(concluding), How.RETURNED), Notice(0), BeginCommit(0))
    assert not chapter.concludes(batch.state)
    batch.does(Commits(0, concluding))
    assert chapter.concludes(batch.state)
    batch.returns(1)
    batch.does(Notice(1), BeginCommit(1), Commits(1, SUCCESS), Close())
    assert chapter.concludes(batch.state)
    blocked = _committing(concluding)
    blocked.does(Commits(0, Outcome(Code.BLOCKED, concludes=True)), Close())
    assert not chapter.concludes(blocked.state)


@pytest.mark.clause("SCD-15")
def test_contexts_reach_the_model_after_all_results_in_the_order_of_commit() -> None:
    """Those accepted before an abort and after it alike, and those of a call that was never started: none."""
    batch = Course(P, P, P, parallel=2)
    batch.starts(0, 1)
    late = PostResult(Outcome(contexts=("b",)))
    batch.does(DispatchSettles(1, late, How.RETURNED), Notice(1))
    batch.does(DispatchSettles(0, PostResult(Outcome(contexts=("a1", "a2"))), How.RETURNED), Notice(0))
    batch.does(BeginCommit(0), Commits(0, Outcome(contexts=("a1", "a2"))))
    assert chapter.accepted(batch.state) == ("a1", "a2")
    assert chapter.handed_over(batch.state) == ()
    batch.does(Abort(), BeginCommit(1), Commits(1, Outcome(Code.ABORTED, contexts=("b",))))
    batch.does(Skip(2))
    assert chapter.handed_over(batch.state) == (), "the batch has not returned"
    batch.does(Close())
    assert chapter.handed_over(batch.state) == ("a1", "a2", "b")


@pytest.mark.clause("SCD-15")
def test_a_batch_that_raises_hands_nothing_over() -> None:
    batch = Course(P, P)
    batch.starts(0)
    batch.does(DispatchSettles(0, PostResult(Outcome(contexts=("a",))), How.RETURNED), Notice(0))
    batch.does(BeginCommit(0), Commits(0, Outcome(contexts=("a",))), Start(1), Prepared(1, Fault()), Raise())
    assert chapter.accepted(batch.state) == ("a",)
    assert chapter.handed_over(batch.state) == ()
