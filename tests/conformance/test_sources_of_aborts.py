"""What a body hears of that a body has called: its caller has aborted, whatever had aborted the caller."""

from __future__ import annotations

from typing import Any

import pytest
from python_template import loaded

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin


def called_by_a_body(outer: dict[str, Any], *schedule: dict[str, Any], **more: Any) -> Scenario:
    """A body that calls another, which awaits its abort."""
    inner = {"name": "inner", "body": [{"await_abort": {}}, {"return": {"value": 1}}]}
    calls = {"name": "outer", "body": [{"execute": {"name": "inner"}}, {"return": {"value": 1}}], **outer}
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "called-by-a-body",
            "title": "what aborts a call that a body has made",
            "clauses": ["DSP-2"],
            "tools": [calls, inner],
            "batches": [{"calls": [{"id": "c1", "name": "outer"}]}],
            "schedule": [{"open": {}}, *schedule],
            **more,
        }
    )


OWN = {
    "id": "signals",
    "on": "execute",
    "script": [{"set_signal": {"name": "own"}}, {"next": {}}, {"pass": {}}],
}
CASES = {
    "its deadline": called_by_a_body({"timeout_ms": 5}, {"advance": {"ms": 5}}),
    "a wrapper's signal": called_by_a_body(
        {}, {"abort": {"signal": "own"}}, hooks=[{**OWN, "match": {"tool": "outer"}}]
    ),
    "its caller": called_by_a_body({}, {"abort": {}}),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("aborts", CASES)
def test_it_is_its_caller(aborts: str, backend: str) -> None:
    found = conform(CASES[aborts], Builtin(), backend)
    assert [one.text for one in found.problems] == []
    events = [event for window in found.windows for event in window.events]
    assert [one["source"] for one in events if one["event"] == "body.signalled"] == ["caller"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_deadline_of_a_body_is_not_that_of_what_it_has_called(backend: str) -> None:
    with loaded() as adapter:
        found = conform(CASES["its deadline"], adapter, backend)
    assert found.judged
    assert [one.text for one in found.problems] == []
