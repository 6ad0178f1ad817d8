"""Scenarios of several batches: one runtime and one session, and each batch with inputs of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from patched import runtime_with

from gnomon_check.conform import BACKENDS, Run, conform
from gnomon_check.expectation import NotDetermined, expected
from gnomon_check.replay import told
from gnomon_check.scenario import ScenarioError
from gnomon_check.scenario_files import scenario_of
from gnomon_check.targets.builtin import Builtin
from gnomon_check.witnesses import witnesses

GATED = [{"gate": {"name": "body:$call"}}, {"return": {"value": {"$nonce": True}}}]
SECOND = {"open": {"batch": "b2"}}
RELEASE = {"release": {"gate": "body:0"}}


def plain(*schedule: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Two batches of a call each, of a tool whose body waits."""
    return {
        "scenario": "gnomon/1",
        "id": "two",
        "title": "two batches",
        "clauses": [],
        "tools": [{"name": "act", "body": GATED}],
        "batches": [{"id": one, "calls": [{"id": "c", "name": "act"}]} for one in ("b1", "b2")],
        "schedule": list(schedule),
        **more,
    }


def run(backend: str, *schedule: dict[str, Any], **more: Any) -> Run:
    """Run it on the runtime, and let it be judged."""
    found = conform(scenario_of(plain(*schedule, **more), "here"), Builtin(), backend)
    assert found.problems == ()
    return found


def codes(found: Run) -> list[str]:
    """The codes of all results, in order."""
    events = [event for window in found.windows for event in window.events]
    return [one["outcome"]["code"] or "OK" for one in events if one["event"] == "result.logged"]


both = pytest.mark.parametrize("backend", BACKENDS)


@both
def test_gates_and_the_callers_signal_are_each_batchs_own(backend: str) -> None:
    found = run(backend, {"open": {}}, {"abort": {}}, RELEASE, {"abort": {}}, SECOND, RELEASE)
    assert codes(found) == ["ABORTED", "OK"]
    assert [one.gate for one in found.windows[4].blocked] == ["body:0"], "it was released for the first only"
    assert "a batch after another" in witnesses(found)


@both
def test_a_native_cancellation_is_over_with_its_batch(backend: str) -> None:
    found = run(backend, {"open": {}}, {"cancel": {}}, RELEASE, SECOND, {"cancel": {}}, RELEASE)
    assert codes(found) == ["ABORTED", "ABORTED"]


@both
@pytest.mark.clause("REG-4", "APP-9")
def test_what_has_changed_stays_changed(backend: str) -> None:
    """A restriction, and the policy of the session; the answers of the first batch are not for the second."""
    asks = {"decide": {"decision": {"kind": "ask", "reason": "sure?"}}}
    found = run(
        backend,
        {"open": {}},
        {"approve": {"pos": 0, "outcome": "allowed-once"}},
        {"set_policy": {"policy": "never"}},
        SECOND,
        tools=[{"name": "act", "body": [{"return": {"value": 1}}]}],
        hooks=[{"id": "asks", "on": "pre_execute", "script": [asks]}],
        approval={"policy": "ask"},
    )
    assert codes(found) == ["OK", "APPROVAL_REJECTED"]
    found = run(backend, {"open": {}}, RELEASE, {"restrict": {"scope": "agent", "deny": ["act"]}}, SECOND)
    assert codes(found) == ["OK", "UNKNOWN_TOOL"]


@both
@pytest.mark.clause("REP-1")
def test_a_crash_of_the_second_leaves_the_first_as_it_was(backend: str) -> None:
    found = run(backend, {"open": {}}, RELEASE, SECOND, {"crash": {}}, {"repair": {}})
    assert codes(found) == ["OK", "TOOL_OUTCOME_UNKNOWN"]


@both
@pytest.mark.parametrize(
    ("first", "more"),
    [
        ([], {}),
        ([RELEASE], {"tools": [{"name": "act", "body": [GATED[0], {"raise": {"kind": "keyboard"}}]}]}),
    ],
    ids=["is not over", "has failed"],
)
def test_it_ends_where_another_batch_is_in_the_way(
    backend: str, first: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    found = run(backend, {"open": {}}, *first, SECOND, RELEASE, **more)
    assert [window.step for window in found.windows[1 + len(first) :]] == [None]
    with pytest.raises(NotDetermined, match="two: it ends where a batch is to be opened"):
        expected(found.scenario)


def test_what_is_expected_goes_on_where_the_first_batch_has_ended() -> None:
    windows = expected(scenario_of(plain({"open": {}}, RELEASE, SECOND, RELEASE), "here"))
    assert windows[:2] == windows[2:]
    assert [one.idle for one in windows] == [False, True] * 2


@pytest.mark.parametrize(
    ("schedule", "more", "words"),
    [
        ([SECOND, {"open": {}}], {}, "in their order: 'b1', 'b2', and not 'b2', 'b1'"),
        ([{"open": {}}], {}, "'b1', 'b2', and not 'b1'"),
        ([RELEASE], {"batches": []}, "has no batch"),
        ([{"open": {}}, {"together": [SECOND, RELEASE]}], {}, "opened by a step of its own"),
        ([{"open": {}}, {"open": {}}], {"batches": [{"calls": []}, {"calls": []}]}, "the same name"),
        (
            [{"open": {}}, SECOND],
            {"report": {"id": "FR", "symptom": "", "results": []}},
            "a report is about one batch",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(
    schedule: list[dict[str, Any]], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ScenarioError, match=words):
        scenario_of(plain(*schedule, **more), "here")


OPENS = "\n        with fuse(own.signal, signal) as fused:\n            caller = "
KEEPS_ITS_SIGNAL = (
    ('__slots__ = ("_max_parallel"', '__slots__ = ("__dict__", "_max_parallel"'),
    ("own = AbortController()" + OPENS, 'own = vars(self).setdefault("own", AbortController())' + OPENS),
)


@both
def test_a_cancellation_that_is_kept_is_seen(backend: str) -> None:
    """Seen to fail: a runtime that keeps a signal from one batch to the next."""
    one = scenario_of(plain({"open": {}}, {"cancel": {}}, RELEASE, SECOND, RELEASE), "here")
    with runtime_with("runtime", *KEEPS_ITS_SIGNAL) as kept:
        found = conform(one, Builtin(kept), backend)
    assert "In window 4 (the batch is opened)" in found.problems[0].text


def test_it_is_told_batch_by_batch() -> None:
    found = run("asyncio", {"open": {}}, RELEASE, SECOND)
    text = told(found, "builtin", Path("file.json"))
    assert "and the calls of b1\n    1. c: act with {}\n" in text
    assert "and the calls of b2\n    1. c: act with {}\n" in text
