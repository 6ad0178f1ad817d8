"""The vectors of decisions and single calls: determined, and wrong traces wrong for the named reason."""

from __future__ import annotations

import pytest

from gnomon_check.expectation import NotDetermined, expected
from gnomon_check.scenario_files import shipped
from gnomon_check.vectors.calls import CALL, JUDGE, judged, scenario_of
from gnomon_check.vectors.case import Case
from gnomon_check.vectors.decisions import DECIDE


@pytest.mark.parametrize("case", CALL.cases, ids=lambda case: case.id)
def test_the_windows_of_a_call_are_determined(case: Case) -> None:
    windows = CALL.compute(case.input)["windows"]
    assert windows[-1]["idle"], "the schedule of a vector takes its call to its end"
    events = [one["event"] for window in windows for one in window["events"]]
    assert events[-1] == "batch.closed"


@pytest.mark.parametrize("case", CALL.cases, ids=lambda case: case.id)
def test_a_right_trace_is_not_judged_wrong(case: Case) -> None:
    windows = [{"events": one["events"]} for one in CALL.compute(case.input)["windows"]]
    assert judged({"scenario": case.input, "windows": windows}) == {"ok": True}


@pytest.mark.parametrize("case", JUDGE.cases, ids=lambda case: case.id)
def test_a_wrong_trace_is_wrong_for_the_named_clause(case: Case) -> None:
    verdict = JUDGE.compute(case.input)
    assert verdict["fails"]["clause"] in case.clauses.split(), verdict


def test_there_are_enough_of_them() -> None:
    assert len(DECIDE.cases) == 97
    assert len(CALL.cases) == 57
    assert len(JUDGE.cases) == 26


def test_what_is_left_free_is_not_told_as_determined() -> None:
    scenario = next(one for one in shipped() if one.id == "fr-ord-1")
    with pytest.raises(NotDetermined):
        expected(scenario)


def test_the_short_form_is_a_scenario() -> None:
    assert all(scenario_of(case.input).batch.calls[0].id == "c1" for case in CALL.cases)
