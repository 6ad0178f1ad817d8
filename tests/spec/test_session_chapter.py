"""The session log as the specification has it, and its repair."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_spec.session import AnnouncedCall, Kind, Record, gap, miscited, repair, torn
from gnomon_spec.vocabulary import Code

A, B, C = AnnouncedCall("a"), AnnouncedCall("b"), AnnouncedCall("a", "another")
OPEN = (
    Record(Kind.TURN_START, 1),
    Record(Kind.STEP_START, 1, 2),
    Record(Kind.ASSISTANT_CALLS, 1, 2, calls=(A, B, C)),
)


def called(call: AnnouncedCall) -> Record:
    return Record(Kind.TOOL_CALL, 1, 2, call=call)


def answered(call: AnnouncedCall, cites: int) -> Record:
    return Record(Kind.TOOL_RESULT, 1, 2, call=call, cites=cites)


@pytest.mark.clause("REP-1")
def test_a_call_that_was_logged_may_have_run_and_one_that_was_not_never_started() -> None:
    log = (*OPEN, called(A), called(B), answered(A, 3))
    assert repair(log) == (
        Record(Kind.TOOL_RESULT, 1, 2, call=B, cites=4, code=Code.TOOL_OUTCOME_UNKNOWN, repair=True),
        Record(Kind.TOOL_CALL, 1, 2, call=C, repair=True),
        Record(Kind.TOOL_RESULT, 1, 2, call=C, cites=7, code=Code.TOOL_NOT_STARTED, repair=True),
        Record(Kind.STEP_END, 1, 2),
        Record(Kind.TURN_END, 1, reason="interrupted"),
    )


@pytest.mark.clause("REP-1")
def test_repeated_ids_are_told_apart_by_position() -> None:
    log = (*OPEN, called(A), called(B), called(C), answered(A, 5))
    codes = [(one.call, one.code) for one in repair(log) if one.kind == Kind.TOOL_RESULT]
    assert codes == [(A, Code.TOOL_OUTCOME_UNKNOWN), (B, Code.TOOL_OUTCOME_UNKNOWN)]


@pytest.mark.clause("REP-1")
@pytest.mark.parametrize(
    "log",
    [
        (),
        (*OPEN, Record(Kind.STEP_END, 1, 2), Record(Kind.TURN_END, 1, reason="completed")),
        (called(A),),
    ],
)
def test_a_balanced_log_and_calls_that_nothing_announced_are_left_alone(log: tuple[Record, ...]) -> None:
    assert repair(log) == ()


@pytest.mark.clause("REP-1")
def test_calls_of_a_closed_step_get_nothing() -> None:
    log = (*OPEN, Record(Kind.STEP_END, 1, 2))
    assert repair(log) == (Record(Kind.TURN_END, 1, reason="interrupted"),)


LOG = (
    *OPEN,
    called(A),
    called(B),
    answered(A, 3),
    Record("of a later version"),
    answered(B, 4),
    called(C),
    answered(C, 8),
    Record(Kind.STEP_END, 1, 2),
    Record(Kind.STEP_START, 1, 3),
    Record(Kind.ASSISTANT_CALLS, 1, 3, calls=(B,)),
    called(B),
    answered(B, 13),
    Record(Kind.STEP_END, 1, 3),
    Record(Kind.TURN_END, 1, reason="completed"),
)


@pytest.mark.clause("REP-1")
@given(st.integers(0, len(LOG)))
def test_every_prefix_is_repaired_to_one_result_for_each_call_and_repair_is_idempotent(cut: int) -> None:
    log = LOG[:cut]
    whole = (*log, *repair(log))
    assert repair(whole) == ()
    assert miscited(whole) is None
    announced = sum(len(one.calls) for one in whole)
    assert sum(one.kind == Kind.TOOL_RESULT for one in whole) == announced
    assert all(one.repair for one in repair(log) if one.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT))


@pytest.mark.clause("REP-1")
@given(st.integers(0, len(LOG)), st.data())
def test_a_repair_that_was_cut_short_is_completed_as_it_was_begun(cut: int, data: st.DataObject) -> None:
    added = repair(LOG[:cut])
    done = data.draw(st.integers(0, len(added)))
    assert repair((*LOG[:cut], *added[:done])) == added[done:]


@pytest.mark.clause("LOG-2")
def test_a_result_cites_an_earlier_record_of_its_own_call() -> None:
    assert miscited((*OPEN, called(A), answered(A, 3))) is None
    assert miscited((*OPEN, called(A), answered(B, 3))) == 4
    assert miscited((*OPEN, answered(A, 4), called(A))) == 3
    assert miscited((*OPEN, answered(A, 0))) == 3


@pytest.mark.clause("LOG-1")
def test_numbers_have_no_gaps() -> None:
    assert gap([0, 1, 2]) is None
    assert gap([0, 2]) == 1
    assert gap([1]) == 0


@pytest.mark.clause("LOG-3")
def test_only_the_last_record_can_be_torn() -> None:
    assert torn([]) is None
    assert torn([True, True]) is None
    assert torn([True, False]) == 1
    assert torn([False, True]) is None
    assert torn([False, False]) is None
