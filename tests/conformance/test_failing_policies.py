"""A result that should say POLICY_ERROR is told by the clause of the policy that failed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gnomon_check.conform import judge
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin
from gnomon_check.window import Window

RAISES: dict[str, Any] = {"raise": {}}
NOTHING: dict[str, Any] = {"decide": {"decision": 7}}


def hook(on: str, step: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": [{"id": "fails", "on": on, "script": [step]}]}


FAILING: dict[str, tuple[dict[str, Any], str]] = {
    "a listener before raises": (hook("pre_execute", RAISES), "PRE-5"),
    "a listener before decides nothing": (hook("pre_execute", NOTHING), "PRE-2"),
    "a guard raises": ({"guards": [{"id": "fails", "script": [RAISES]}]}, "GRD-4"),
    "a wrapper raises": (hook("execute", RAISES), "DSP-13"),
    "a wrapper answers no result": (hook("execute", {"author": {"result": 7}}), "DSP-13"),
    "a listener after raises": (hook("post_execute", RAISES), "PST-7"),
    "a listener after decides nothing": (hook("post_execute", NOTHING), "PST-3"),
}


def succeeding(window: Window) -> Window:
    """The window, with a success where it has a result."""
    events = tuple(
        {**one, "outcome": {"ok": True, "code": None, "nonce": None}}
        if one["event"] == "result.logged"
        else one
        for one in window.events
    )
    return replace(window, events=events)


@pytest.mark.clause("PRE-2", "PRE-5", "GRD-4", "DSP-13", "PST-3", "PST-7")
@pytest.mark.parametrize("which", FAILING)
def test_it_is_told_by_the_clause_of_the_policy_that_failed(which: str) -> None:
    more, clause = FAILING[which]
    scenario = Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "failing",
            "title": which,
            "clauses": [],
            "tools": [{"name": "act", "body": [{"return": {"value": 1}}]}],
            "batches": [{"calls": [{"id": "a", "name": "act"}]}],
            "schedule": [{"open": {}}],
            **more,
        }
    )
    windows = list(Builtin().windows(scenario, "asyncio"))
    assert judge(scenario, windows) == ()
    told = [one for one in judge(scenario, map(succeeding, windows)) if one.judge == "specification"]
    assert [one.clause for one in told] == [clause], told
    assert "POLICY_ERROR" in told[0].text
