"""What `Runtime(trace=sink)` tells: the kit's vocabulary, judged by the properties, and what really happened.

In a scenario the harness owns tools, listeners and guards, and knows of itself what they did. The runtime
tells the same of them from where it stands, so the two have to agree.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings

import gnomon_spec
from gnomon import Runtime
from gnomon import trace as runtime_trace
from gnomon_check.conform import BACKENDS
from gnomon_check.driver import run
from gnomon_check.events import EVENT, NAMES, TraceHeader
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.refinement import as_spec
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import dump, shipped
from gnomon_check.schedule import CrashStep
from gnomon_check.script_steps import NextUnawaitedStep
from gnomon_check.targets.builtin import Builtin
from gnomon_spec import properties

Event = dict[str, Any]

SCHEMAS = Path(gnomon_spec.__file__).parent / "schema"
EVENT_SCHEMA = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "event.v1.json").read_text()))
HEADER_SCHEMA = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "trace.v1.json").read_text()))
JUDGES = properties.judged({properties.BODY, properties.LOGGED_CALLS})
"""Without modes, which nobody announces, and without the aborts of a caller, which only the caller knows."""
JUDGES_OF_ONE = properties.judged({properties.BODY})
"""Of a call outside of any batch, which nobody logs."""

each = pytest.mark.parametrize("scenario", list(shipped()), ids=lambda one: one.id)
both = pytest.mark.parametrize("backend", BACKENDS)


def told(scenario: Scenario, backend: str) -> tuple[list[Event], list[Event]]:
    """What the runtime tells of a scenario, with the header; and what the harness knows of it."""
    sink: list[Event] = []
    target = Builtin(lambda **settings: Runtime(trace=sink.append, **settings))
    windows = run(scenario, target, backend)
    return sink, [event for window in windows for event in (*window.echoes, *window.events)]


def test_the_names_are_those_of_the_vocabulary_and_the_version_that_of_the_specification() -> None:
    assert {str(one) for one in runtime_trace.EventName} <= NAMES
    assert gnomon_spec.__version__ == runtime_trace.SPEC
    shown = {one.partition(".")[0] for one in runtime_trace.EventName} | set(runtime_trace.EventName)
    assert not shown & set(runtime_trace.CANNOT_SHOW)


@both
@each
def test_each_event_is_of_the_vocabulary_and_numbered(scenario: Scenario, backend: str) -> None:
    (header, *events), _ = told(scenario, backend)
    TraceHeader.model_validate(header)
    assert HEADER_SCHEMA.is_valid(header)
    assert [one["seq"] for one in events] == list(range(len(events)))
    for event in events:
        assert EVENT.validate_python(event).event == event["event"]
        assert EVENT_SCHEMA.is_valid(event), event
        assert event["origin"] == "implementation"
        json.dumps(event, allow_nan=False)


@both
@each
def test_each_trace_is_judged_as_valid(scenario: Scenario, backend: str) -> None:
    (_, *events), _ = told(scenario, backend)
    assert broken(events, scenario.mode == "single") == []


def broken(events: Iterable[Event], single: bool = False) -> list[properties.Broken]:
    """What is wrong with a trace of one batch, or of a single call."""
    if single and any(one.get("ended") == "cancelled" for one in events):
        return []  # it answers nobody, so that nothing can be asked of its result (PY-3)
    judges = JUDGES_OF_ONE if single else JUDGES
    ledger = properties.NOTHING
    found: list[properties.Broken] = []
    for event in of_the_batch(events):
        one = as_spec(event)
        if one is not None:
            found += properties.broken_by(ledger, one, judges)
            ledger = properties.enter(ledger, one)
    end = properties.settled(ledger)
    return found if end is None else [*found, end]


def of_the_batch(events: Iterable[Event]) -> list[Event]:
    """Without the calls that bodies make: each of them is a batch of its own, or says where it stands."""
    there = list(events)
    first = next((one.get("batch") for one in there), None)
    return [one for one in there if one.get("batch") == first and "slot" not in one]


@both
def test_a_trace_that_lies_is_judged_as_broken(backend: str) -> None:
    scenario = next(one for one in shipped() if one.id == "fr-ord-1")
    (_, *events), _ = told(scenario, backend)
    for event in [one for one in events if one["event"] in ("call.logged", "result.logged", "batch.closed")]:
        assert broken([one for one in events if one is not event]), event
        assert event["event"] == "batch.closed" or broken([*events, event]), event


# -- agreement with what the harness knows --------------------------------------------------------


# Whether a body that ends as cancelled was interrupted, or raised a cancellation of its own after the
# abort, only the body knows; and it knows of its signal only if it looks at it. The harness tells of the
# contexts that bodies defer, the runtime also of those that decisions give.
FIELDS = {
    "call.logged": ("call_id", "name", "arguments", "log_seq"),
    "result.logged": ("call_id", "log_seq", "cites"),
    "context.accepted": (),
    "body.started": ("attempt",),
    "body.settled": ("attempt", "how"),
    "policy.entered": ("waterfall", "listener"),
    "policy.delegated": ("waterfall", "listener", "nth"),
    "policy.resumed": ("waterfall", "listener", "nth", "answer"),
    "policy.decided": ("waterfall", "listener", "decision"),
    "guard.answered": ("guard", "answer"),
    "approval.asked": (),
    "approval.decided": ("outcome",),
    "content.projected": (),
    "content.finalized": (),
    "result.observed": ("observer",),
    "result.returned": (),
}


def said(events: Iterable[Event], family: str) -> Iterator[tuple[object, ...]]:
    """What events of one family say, call by call."""
    chosen = [one for one in events if one["event"] in FIELDS and one["event"].startswith(f"{family}.")]
    for event in sorted(chosen, key=lambda one: int(one["pos"])):
        outcome = event["outcome"] if isinstance(event.get("outcome"), dict) else {}
        fields = tuple(event.get(key) for key in FIELDS[event["event"]])
        # To the runtime, a cancellation that nobody asked for is an error like any other (PY-4).
        fields = tuple("raised" if one == "cancelled" else one for one in fields)
        yield event["pos"], event["event"], *fields, outcome.get("ok"), outcome.get("code")


def of_the_scenario(events: Iterable[Event], scenario: Scenario) -> Iterator[Event]:
    """The events of what the scenario has registered, under the names that it gives them."""
    fits = {one.id: one.match.fits for one in (*scenario.hooks, *scenario.guards)}
    answerers = [] if scenario.approval is None else scenario.approval.answerers
    fits |= {one.id: lambda name, pos: True for one in answerers}
    for event in events:
        key = next((one for one in ("listener", "guard", "observer") if one in event), None)
        if key is None:
            yield event
            continue
        name = event[key].rpartition("@")[0]
        call = scenario.batch.calls[event["pos"]]
        if name in fits and fits[name](call.name, event["pos"]):
            yield {**event, key: name}


def does_not_wait(scenario: Scenario) -> bool:
    """Whether a listener ends while its `next()` still runs."""
    return any(isinstance(step, NextUnawaitedStep) for one in scenario.hooks for step in one.script)


FAMILIES = sorted({one.partition(".")[0] for one in FIELDS})


def compare(scenario: Scenario, backend: str) -> Counter[str]:
    """Compare what is told with what happened; answers how many events of each family were compared."""
    (_, *events), facts = told(scenario, backend)
    compared: Counter[str] = Counter()
    failed = any(one["event"] == "batch.failed" for one in facts)
    for family in FAMILIES:
        if family == "policy" and (failed or does_not_wait(scenario)):
            # Scripts say nothing when what is meant for the process leaves through them. Of one that does
            # not wait for its `next()` the runtime tells later, and hears the answer that nobody else does.
            continue
        mine = list(said(of_the_scenario(of_the_batch(events), scenario), family))
        assert mine == list(said([one for one in facts if "slot" not in one], family)), dump(scenario)
        compared[family] = len(mine)
    return compared


@both
def test_the_runtime_tells_what_really_happened(backend: str) -> None:
    # After a crash the harness looks away, so that there is nothing to compare with.
    going_on = [one for one in shipped() if not any(isinstance(step, CrashStep) for step in one.schedule)]
    assert len(going_on) == 165
    compared = sum((compare(scenario, backend) for scenario in going_on), Counter[str]())
    assert all(compared[one] for one in FAMILIES), compared


@pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")  # of observers that raise
@both
@given(drawn=scenarios() | policed() | living())
@settings(max_examples=150)
def test_the_same_in_scenarios_that_are_drawn(drawn: Scenario, backend: str) -> None:
    scenario = drawn.by_batch()[0]  # positions are told apart within one batch
    compare(scenario, backend)
    (_, *events), _ = told(scenario, backend)
    assert broken(events, scenario.mode == "single") == []
