"""An implementation that gives no codes: what should be is told, and the rest is judged all the same."""

from __future__ import annotations

from typing import Any

import pytest

from gnomon_check.conform import judge
from gnomon_check.missing_codes import ASKED_FOR_ELSEWHERE, RAISED
from gnomon_check.refinement import NO_CODE
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin
from gnomon_check.window import Window
from gnomon_spec.register import Level

SCENARIOS = {one.id: one for one in shipped()}


def stripped(event: dict[str, Any], codes: frozenset[str] | None) -> dict[str, Any]:
    """The event without its code, where that is one of `codes`, or one that ERR-1 alone asks for."""
    outcome = event.get("outcome")
    if isinstance(outcome, dict) and not outcome["ok"] and goes(outcome["code"], codes):
        return {**event, "outcome": {**outcome, "code": None}}
    if event["event"] == "policy.resumed" and event["waterfall"] == "execute":
        answer = event["answer"]
        return {**event, "answer": NO_CODE} if answer not in ("OK", RAISED) and goes(answer, codes) else event
    return event


def goes(code: str, codes: frozenset[str] | None) -> bool:
    return code not in ASKED_FOR_ELSEWHERE if codes is None else code in codes


def seen(scenario: Scenario, codes: frozenset[str] | None = None) -> tuple[list[Window], bool]:
    """What the runtime does, without the codes; and whether any was taken away."""
    windows, changed = [], False
    for window in Builtin().windows(scenario, "asyncio"):
        events = tuple(stripped(one, codes) for one in window.events)
        changed = changed or events != window.events
        windows.append(Window(window.step, window.echoes, events, window.blocked, window.idle))
    return windows, changed


@pytest.mark.clause("ERR-1")
def test_codes_that_only_err_1_asks_for_are_no_violation_and_hide_none() -> None:
    told = 0
    for scenario in SCENARIOS.values():
        windows, changed = seen(scenario)
        problems = list(judge(scenario, windows))
        assert bool(problems) == changed, scenario.id
        assert {one.clause for one in problems} <= {"ERR-1"}, (scenario.id, problems)
        assert all(one.level is Level.SHOULD for one in problems)
        assert len(problems) == len(set(problems)), "each is told once"
        told += changed
    assert told == TOLD


TOLD = 52
"""How many of the shipped scenarios have a failure with such a code."""


def test_what_is_told_of_a_missing_code() -> None:
    scenario = SCENARIOS["edge-allowed-aborted-denied"]
    windows, _ = seen(scenario)
    [problem] = judge(scenario, windows)
    assert problem.seen == "result.logged of call 1 (c1) with a failure without a code"
    assert problem.text.splitlines()[-1] == "  It should say the code: DENIED: ERR-1."


@pytest.mark.clause("CAN-5")
def test_a_missing_code_that_another_clause_asks_for_is_a_violation() -> None:
    scenario = SCENARIOS["edge-abort-before-body"]
    windows, changed = seen(scenario, frozenset(("ABORTED_BEFORE_DISPATCH",)))
    assert changed
    first, *_ = judge(scenario, windows)
    assert first.level is Level.MUST
    assert first.judge == "specification"
    assert (first.clause, first.seen) == ("CAN-5", "policy.resumed of call 1 (c1) with ERROR (execute, w)")


@pytest.mark.clause("DSP-13")
def test_a_failure_that_should_have_been_raised_is_a_violation() -> None:
    scenario = SCENARIOS["edge-unfit-authored-inside"]
    windows = [
        Window(one.step, one.echoes, tuple(map(answered, one.events)), one.blocked, one.idle)
        for one in Builtin().windows(scenario, "asyncio")
    ]
    first, *_ = judge(scenario, windows)
    assert first.level is Level.MUST
    assert first.seen == "policy.resumed of call 1 (c1) with ERROR (execute, outer)"


def answered(event: dict[str, Any]) -> dict[str, Any]:
    """The event, with a failure without a code in the place of what was raised."""
    return {**event, "answer": NO_CODE} if event.get("answer") == RAISED else event
