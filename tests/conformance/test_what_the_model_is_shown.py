"""`request_model`: the tools that the next request of the model shows, at any moment of a scenario."""

from __future__ import annotations

from typing import Any

import pytest
from patched import runtime_with

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import scenario_of
from gnomon_check.targets.builtin import Builtin

ASKED = {"request_model": {}}
both = pytest.mark.parametrize("backend", BACKENDS)


def scenario(*schedule: dict[str, Any]) -> Scenario:
    """Tools of two layers, one of them named like an inherited one, and one that comes later."""
    tools = [
        {"name": "b"},
        {"name": "a"},
        {"name": "a", "id": "own-a", "scope": "agent"},
        {"name": "own", "scope": "agent"},
        {"name": "late", "later": True},
    ]
    plain = {
        "scenario": "gnomon/1",
        "id": "shown",
        "title": "what the model is shown",
        "clauses": ["REG-5", "REG-11"],
        "tools": [{**one, "body": [{"return": {"value": 1}}]} for one in tools],
        "batches": [{"calls": [{"id": "c", "name": "a"}]}],
        "schedule": list(schedule),
    }
    return scenario_of(plain, "here")


def shown(backend: str, *schedule: dict[str, Any]) -> list[Any]:
    """What was shown each time, or that it was refused."""
    found = conform(scenario(*schedule), Builtin(), backend)
    assert found.problems == ()
    asked = [one for window in found.windows for one in window.echoes if one["event"] == "model.requested"]
    return ["refused" if "refused" in one else one["tools"] for one in asked]


@pytest.mark.clause("REG-4", "REG-5", "REG-11", "MOD-3")
@both
def test_the_live_view_is_shown_in_its_order(backend: str) -> None:
    assert shown(
        backend,
        ASKED,
        {"restrict": {"scope": "agent", "deny": ["b"]}},
        ASKED,
        {"open": {}},
        {"register": {"tool": "late"}},
        ASKED,
        {"lift": {"restriction": "agent@1"}},
        {"set_mode": {"scope": "agent", "mode": "both"}},
        ASKED,
        {"set_mode": {"scope": "agent", "mode": None}},
        ASKED,
    ) == [
        ["b", "a", "own"],
        ["a", "own"],
        ["a", "late", "own"],
        "refused",
        ["b", "a", "late", "own"],
    ]


@pytest.mark.clause("REG-5")
@both
def test_a_runtime_that_shows_what_is_restricted_is_seen(backend: str) -> None:
    edit = ("if restriction.lets_through(name)}", "if restriction is not None}")
    asked = scenario({"restrict": {"scope": "agent", "deny": ["b"]}}, ASKED, {"open": {}})
    with runtime_with("registry", edit) as broken:
        (first, *_) = conform(asked, Builtin(broken), backend).problems
    assert first.clause == "REG-5"
    assert (
        "(the model is to be asked) the implementation did: model.requested with the tools b, a" in first.text
    )
    assert "it is the tools a, own here" in first.text
