"""Vectors of single calls: scenarios of one call, the windows that are expected, and wrong traces."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gnomon_check.conform import JUDGED, known_of, listeners_of
from gnomon_check.disagreement import why_not
from gnomon_check.expectation import as_object, echoes, expected
from gnomon_check.oracle import Oracle
from gnomon_check.refinement import Listeners, as_spec, key_of
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import AbortInputStep, OpenStep, inputs_of
from gnomon_check.vectors.call_cases import GATED, SCENARIOS
from gnomon_check.vectors.call_wrong import WRONG
from gnomon_check.vectors.case import Case, Suite, fails
from gnomon_spec import properties
from gnomon_spec.vocabulary import Event


def scenario_of(given: dict[str, Any]) -> Scenario:
    """The scenario that a vector's short form stands for: one tool `act`, one call of it."""
    tool: dict[str, Any] = {"name": "act", "body": given.get("body", GATED), **given.get("tool", {})}
    call = {"id": "c1", "name": given.get("name", "act"), "arguments": given.get("arguments", "{}")}
    more = {key: given[key] for key in ("hooks", "guards", "approval", "caller") if key in given}
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "vector",
            "title": "one call",
            "clauses": [],
            "tools": [tool],
            "batches": [{"id": "b1", "calls": [call]}],
            "schedule": given["schedule"],
            **more,
        }
    )


def computed(given: dict[str, Any]) -> dict[str, Any]:
    """The windows that the specification expects of a scenario."""
    scenario = scenario_of(given)
    windows = []
    for echo, window in zip(echoes(scenario), expected(scenario), strict=True):
        blocked = [
            {name: value for name, value in asdict(one).items() if value is not None}
            for one in sorted(window.blocked, key=str)
        ]
        windows.append(
            {
                **({"harness": echo} if echo else {}),
                "events": [as_object(key) for key in window.events],
                "blocked": blocked,
                "idle": window.idle,
            }
        )
    return {"windows": windows}


def judged(given: dict[str, Any]) -> dict[str, Any]:
    """What the specification says of a trace of a scenario: the first event that it does not allow.

    Where a named property is broken by that event, its clause is the better reason; else the condition is
    named that forbids the event.
    """
    scenario = scenario_of(given["scenario"])
    oracle = Oracle(scenario)
    listeners = listeners_of(oracle)
    judges = properties.judged(JUDGED)
    calls = [
        {"call_id": one.id, **known}
        for one, known in zip(scenario.batch.calls, known_of(oracle), strict=True)
    ]
    ledger = properties.NOTHING
    for number, (step, window) in enumerate(zip(scenario.schedule, given["windows"], strict=True)):
        for one in inputs_of(step):
            oracle.input(one)
            if isinstance(one, OpenStep):
                ledger = properties.enter(ledger, _spec({"event": "batch.opened", "calls": calls}, listeners))
            if isinstance(one, AbortInputStep):
                ledger = properties.enter(
                    ledger, _spec({"event": "signal.aborted", "signal": "caller"}, listeners)
                )
        for index, event in enumerate(window["events"]):
            seen = as_spec(event, listeners)
            broken = None if seen is None else next(properties.broken_by(ledger, seen, judges), None)
            key = key_of(event)
            if key is not None and not oracle.see(key):
                refused = why_not(oracle, key)
                clause, reason = (
                    (refused.clause, refused.reason) if broken is None else (broken.clause, broken.reason)
                )
                return fails(clause, reason, window=number, event=index)
            if seen is not None:
                ledger = properties.enter(ledger, seen)
        oracle.rest()
    return {"ok": True}


def _spec(event: dict[str, Any], listeners: Listeners) -> Event:
    seen = as_spec(event, listeners)
    assert seen is not None
    return seen


CALL = Suite(
    "call",
    "Run a scenario of one call, in the short form that the README tells, and compare the windows: `events` "
    "in order, what has to be `blocked`, and whether the batch is over (`idle`). `harness` says what the "
    "harness did.",
    computed,
    tuple(Case(f"call-{name}", clauses, title, given) for name, (clauses, title, given) in SCENARIOS.items()),
)


# -- wrong traces -------------------------------------------------------------------------------


def _edited(name: str, old: dict[str, Any], new: list[dict[str, Any]]) -> dict[str, Any]:
    """The windows of a scenario, with one event replaced."""
    scenario = SCENARIOS[name][2]
    windows = computed(scenario)["windows"]
    for window in windows:
        events = window["events"]
        for index, event in enumerate(events):
            if old.items() <= event.items():
                window["events"] = [*events[:index], *new, *events[index + 1 :]]
                return {"scenario": scenario, "windows": [{"events": one["events"]} for one in windows]}
    raise AssertionError(f"no window of {name} holds {old}")


JUDGE = Suite(
    "judge",
    "Say what is wrong with a trace of a scenario: the `clause`, the number of the window, and the number of "
    "the first event in it that is not allowed there. The twin is the scenario; the trace that is right "
    "differs in one place.",
    judged,
    tuple(
        Case(f"judge-{name}", clauses, title, _edited(scenario, old, new), f"call-{scenario}")
        for name, (scenario, clauses, title, old, new) in WRONG.items()
    ),
)
