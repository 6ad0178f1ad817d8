"""Values of scenarios that JSON cannot hold: known by name, bounded, and only where bodies return them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.hostile import KINDS
from gnomon_check.scenario import Scenario, ScenarioError
from gnomon_check.scenario_files import load
from gnomon_check.targets.builtin import Builtin

VALUES = {"none", "deep:N", "wide:N", "lone_surrogate", "big_int:N", "negative_zero"}
"""The kinds that JSON can hold, if not in short."""


def scenario(value: Any, **more: Any) -> str:
    """A scenario whose one body returns this."""
    return json.dumps(
        {
            "scenario": "gnomon/1",
            "id": "hostile",
            "title": "A body returns something odd",
            "clauses": ["OUT-1"],
            "tools": [{"name": "odd", "body": [{"return": {"value": value}}]}],
            "batches": [{"calls": [{"id": "c1", "name": "odd"}]}],
            "schedule": [{"open": {}}],
            **more,
        }
    )


def reporting(value: Any, code: str) -> Scenario:
    report = {"id": "x", "symptom": "x", "results": [{"pos": 0, "code": code}]}
    return load(scenario(value, report=report), "here")


@pytest.mark.clause("VAL-1", "OUT-1")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside"])
def test_every_kind_is_judged_alike(kind: str, inside: bool, backend: str) -> None:
    form = {"$hostile": kind.replace(":N", ":100")}
    one = reporting({"a": [1, form]} if inside else form, "OK" if kind in VALUES else "INVALID_TOOL_OUTPUT")
    assert conform(one, Builtin(), backend).problems == ()


def test_a_wrong_verdict_is_seen() -> None:
    problems = conform(reporting({"$hostile": "nan"}, "OK"), Builtin(), "asyncio").problems
    assert [one.judge for one in problems] == ["report"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("no_such", "there is no hostile value of kind 'no_such'; there are nan, inf"),
        ("nan:3", "there is no hostile value of kind 'nan:3'"),
        ("deep", "'deep' needs a number from 1 to 2000000, as in `deep:100`"),
        ("deep:-1", "needs a number"),
        ("wide:9999999", "'wide:9999999' is too large: at most 2000000"),
        ("wide:99999999999999999999", "needs a number from 1"),
    ],
)
def test_a_kind_that_there_is_not_is_refused(kind: str, words: str) -> None:
    with pytest.raises(ScenarioError, match="not a scenario") as refused:
        load(scenario({"a": {"$hostile": kind}}), "here")
    assert words in str(refused.value)


def test_elsewhere_they_are_refused() -> None:
    hook = {"id": "h", "on": "execute", "script": [{"author": {"result": {"$hostile": "nan"}}}]}
    with pytest.raises(ScenarioError, match="stands in what the body of a tool returns, and nowhere else"):
        load(scenario(1, hooks=[hook]), "here")
