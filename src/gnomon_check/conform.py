"""Hold an implementation to the specification: run scenarios on it, and judge what was seen.

Three judges look at each run, and each by itself: the oracle (every event, every quiet), the
named properties (over the whole history), and, where a scenario was made after a field report,
that report's own expectation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from gnomon.content import render_json
from gnomon_check import disagreement, missing_codes, path
from gnomon_check.events import Event
from gnomon_check.field_report import FieldReport, ReportedResult
from gnomon_check.harness import digest
from gnomon_check.oracle import Oracle
from gnomon_check.orders import Order
from gnomon_check.problem import Problem
from gnomon_check.profiles import PROFILES, needs
from gnomon_check.refinement import NO_CODE, Key, Listeners, as_spec, key_of
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import CrashStep
from gnomon_check.subject import Cannot, NotTestable, Stopped, Subject
from gnomon_check.window import Window, by_batch
from gnomon_spec import properties
from gnomon_spec.register import Level

Backend: TypeAlias = Literal["asyncio", "trio"]
BACKENDS: tuple[Backend, ...] = ("asyncio", "trio")

JUDGED = properties.BATCH | {properties.POLICY, properties.CONTENT}
"""What the harness shows of a scenario."""


@dataclass(frozen=True, slots=True)
class Run:
    """One scenario run on one target."""

    scenario: Scenario
    backend: str
    windows: tuple[Window, ...]
    problems: tuple[Problem, ...]
    cannot: Cannot | None = None
    """Why the scenario cannot be run on that target at all; then nothing of it was judged."""
    order: Order | None = None
    """The order that was chosen for what is ready at the same time, if one was."""
    not_claimed: tuple[str, ...] = ()
    """The profiles that the scenario needs and the implementation does not claim; then it was not run."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found; of what was not judged, nothing can be."""
        return not self.problems

    @property
    def judged(self) -> bool:
        """Whether it was run, and judged."""
        return self.cannot is None and not self.not_claimed


def conform(scenario: Scenario, subject: Subject, backend: str, order: Order | None = None) -> Run:
    """Run a scenario on an implementation, and judge it; `order` as for `driver.run`.

    Raises `ScenarioError` where the scenario asks at its start for what is refused.
    """
    windows: list[Window] = []
    try:
        claims = subject.claims
        missing = frozenset() if claims >= PROFILES.keys() else needs(scenario) - claims
        if missing:
            return Run(scenario, backend, (), (), None, order, tuple(sorted(missing)))
        windows.extend(subject.windows(scenario, backend, order))
    except NotTestable as why:
        return Run(scenario, backend, (), (), why.why, order)
    except Stopped as why:
        problem = disagreement.stopped(scenario, len(windows), why)
        return Run(scenario, backend, tuple(windows), (problem,), None, order)
    return Run(scenario, backend, tuple(windows), judge(scenario, windows), None, order)


def judge(scenario: Scenario, windows: Iterable[Window]) -> tuple[Problem, ...]:
    """Everything that is wrong with what was seen of a scenario.

    Mostly nothing is, and for that it is enough that some path of states fits what was seen. Only where none
    does is every state kept that fits, to say what was allowed.
    """
    seen = tuple(windows)
    before: tuple[tuple[Window, ...], tuple[Problem, ...]] | None = scenario.worked_out.get("judged")
    if before is not None and before[0] == seen:
        return before[1]  # on another backend it has come out alike
    parts = list(zip(scenario.by_batch(), by_batch(seen), strict=False))
    oracles = _on_a_path(parts)
    if oracles is None:
        found = _with_every_state(parts)
    else:
        led = zip(oracles, (its_windows for _, its_windows in parts), strict=True)
        found = (one for oracle, its_windows in led for one in _by_properties(oracle, its_windows))
    problems = (*found, *_by_report(scenario, seen))
    scenario.worked_out["judged"] = seen, problems
    return problems


_Part: TypeAlias = tuple[Scenario, tuple[Window, ...]]
"""The scenario of a batch, and its windows."""


def _on_a_path(parts: Iterable[_Part]) -> list[Oracle] | None:
    """The oracle of each batch, led through its windows by some path; nothing where one is not."""
    oracles: list[Oracle] = []
    for part, its_windows in parts:
        oracle = Oracle(part, oracles[-1].layers if oracles else None, thorough=False)
        if not path.leads_through(oracle, its_windows):
            return None
        oracles.append(oracle)
    return oracles


def _with_every_state(parts: Iterable[_Part]) -> Iterator[Problem]:
    first, layers = 0, None
    for part, its_windows in parts:
        oracle = Oracle(part, layers)
        problems = list(follow(oracle, its_windows, first))
        yield from problems
        yield from _by_properties(oracle, its_windows)
        if any(one.level is Level.MUST for one in problems):
            break
        first, layers = first + len(its_windows), oracle.layers


def follow(oracle: Oracle, windows: Iterable[Window], first: int = 0) -> Iterator[Problem]:
    """Follow the windows with the oracle, up to the first disagreement.

    `first` is the number of the first window, from 0. A failure without a code is no disagreement where the
    code is one that only ERR-1 asks for: it is told, once for each event, and followed as if it had that.
    """
    told: set[Key] = set()
    for number, window in enumerate(windows, first):
        if window.step is None:
            if not window.idle:
                yield disagreement.never_ends(oracle, number)
            return
        oracle.take(window.step)
        for event in window.judged():
            key = key_of(event)
            if key is None or oracle.see(key):
                continue
            named = missing_codes.named(key, oracle.allowed())
            if not oracle.see(*named):
                yield disagreement.not_allowed(oracle, number, window, event)
                return
            if key not in told:
                told.add(key)
                yield disagreement.without_a_code(oracle, number, window, key, named)
        if not oracle.quiet(window.blocked, window.idle):
            yield disagreement.not_quiet(oracle, number, window)
            return


def shown(scenario: Scenario) -> frozenset[str]:
    """What the harness shows of a scenario, and so what it can be judged by.

    A call outside of any batch is not logged, nor is its approval, and which calls may overlap is nothing
    to ask of it. Where anything may change, it is not known beforehand what policies a call will meet.
    """
    kinds = JUDGED
    if scenario.mode == "single":
        kinds -= {properties.LOGGED_CALLS, properties.MODES, properties.POLICY}
    if scenario.changes:
        kinds -= {properties.MODES, properties.POLICY, properties.CONTENT}
    return kinds


def history_of(oracle: Oracle, windows: Iterable[Window]) -> Iterator[Event]:
    """Everything that was seen, in order, with what the harness knows of the calls in their announcement."""
    for window in windows:
        if _is_past(oracle.scenario, window):
            return
        for event in (*window.echoes, *window.events):
            if event["event"] == "batch.opened" and "slot" not in event:
                pairs = zip(event["calls"], known_of(oracle), strict=True)
                yield {**event, "calls": [{**call, **known} for call, known in pairs]}
            else:
                yield event


def known_of(oracle: Oracle) -> list[Event]:
    """What the harness knows of each call beforehand: its mode, its listeners, its guards.

    Nothing, where the scenario may change them before the call starts.
    """
    if oracle.scenario.changes:
        return [{} for _ in oracle.facts]
    layers = next(iter(oracle.starts))  # without changes there is but one
    setups = [one.setup(layers) for one in oracle.facts]
    modes = [one.mode(layers) for one in oracle.facts]
    return [
        {"mode": mode.value, "listeners": setup.pre, "guards": setup.guards}
        for mode, setup in zip(modes, setups, strict=True)
    ]


def listeners_of(oracle: Oracle) -> Listeners:
    """Which listener of each waterfall is which, outermost first, for each call."""
    layers = next(iter(oracle.starts))
    return [
        {on: layers.row(on, one.name, one.pos) for on in ("pre_execute", "execute", "post_execute", "result")}
        for one in oracle.facts
    ]


def _by_properties(oracle: Oracle, windows: tuple[Window, ...]) -> Iterator[Problem]:
    judges = _judges(shown(oracle.scenario))
    ledger = properties.NOTHING
    listeners = listeners_of(oracle)
    for event in history_of(oracle, windows):
        one = as_spec(event, listeners)
        if one is None or _answers_nobody(oracle.scenario, event):
            continue
        for broken in properties.broken_by(ledger, one, judges):
            yield disagreement.property_broken(oracle, broken, event)
            return
        ledger = properties.enter(ledger, one)
    if any(_cut_short(oracle.scenario, window) for window in windows):
        return
    broken_end = properties.settled(ledger)
    if broken_end is not None:
        yield disagreement.property_broken(oracle, broken_end)


@cache
def _judges(kinds: frozenset[str]) -> tuple[properties.Always, ...]:
    return properties.judged(kinds)


def _cut_short(scenario: Scenario, window: Window) -> bool:
    """Whether what would end the batch never comes, or is not looked at."""
    return _is_past(scenario, window) or any(_answers_nobody(scenario, one) for one in window.events)


def _is_past(scenario: Scenario, window: Window) -> bool:
    """Whether what is seen from a window on is not for the properties.

    After a crash REP-1 says what stands. What is aborted at the end may be borrowed, and then it tells of
    another call (CAN-2).
    """
    borrowed_at_the_end = window.step is None and bool(window.events) and scenario.borrows
    return isinstance(window.step, CrashStep) or borrowed_at_the_end


def _answers_nobody(scenario: Scenario, event: Event) -> bool:
    """Whether a single call was cancelled: nothing can be asked of its result, for there is none (PY-3)."""
    return scenario.mode == "single" and event.get("ended") == "cancelled"


def _by_report(scenario: Scenario, windows: tuple[Window, ...]) -> Iterator[Problem]:
    report = scenario.report
    if report is None:
        return
    events = [event for window in windows if window.step is not None for event in window.events]
    told = [one for one in events if one["event"] in ("result.logged", "result.returned")]
    results = {one.get("slot", one["pos"]): one for one in told}
    accepted = [(one["pos"], one["context"]) for one in events if one["event"] == "context.accepted"]
    for expected in report.results:
        result = results.get(expected.pos)
        code = None if result is None else _code_of(result)
        if code != expected.code and not missing_codes.may_be(code, expected.code):
            yield disagreement.report_differs(report.id, f"call {expected.pos + 1}", expected.code, code)
        elif result is not None and not _carries(result, expected):
            yield disagreement.report_value(report.id, expected.pos)
        if expected.contexts is not None:
            there = (result or {}).get("contexts", [one for pos, one in accepted if pos == expected.pos])
            if there != expected.contexts:
                about = f"what call {expected.pos + 1} hands to the model"
                yield disagreement.report_differs(report.id, about, expected.contexts, there)
    started = {one.get("slot", one["pos"]) for one in events if one["event"] == "body.started"}
    for pos in report.bodies_started or []:
        if pos not in started:
            yield disagreement.report_body(report.id, pos, ran=False)
    for pos in report.bodies_never_started or []:
        if pos in started:
            yield disagreement.report_body(report.id, pos, ran=True)
    yield from _by_report_of_the_whole(report, events)


def _code_of(result: Event) -> str:
    outcome = result["outcome"]
    return "OK" if outcome["ok"] else outcome["code"] or NO_CODE


def _carries(result: Event, expected: ReportedResult) -> bool:
    """Whether a result shows the value that is expected of it, if one is."""
    if not result["outcome"]["ok"] or "value" not in expected.model_fields_set:
        return True
    return result["content_digest"] in _shown(expected.value)


def _shown(value: Any) -> set[str]:
    """How a value may show, where its tool renders it as it is.

    Spaces in JSON are nobody's business, and whether a whole number is written with a fraction.
    """
    texts = [render_json({}, value)[0]["text"]]
    if not isinstance(value, str):
        texts.append(json.dumps(_in_whole(value), ensure_ascii=False, separators=(",", ":")))
    return {digest(one) for one in texts}


def _in_whole(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_in_whole(one) for one in value]
        case dict():
            return {key: _in_whole(one) for key, one in value.items()}
        case _:
            return value


def _by_report_of_the_whole(report: FieldReport, events: list[Event]) -> Iterator[Problem]:
    noted = [one["text"] for one in events if one["event"] == "noted"]
    if report.noted is not None and noted != report.noted:
        yield disagreement.report_differs(report.id, "what the scripts note", report.noted, noted)
    ends = [one for one in events if one["event"] in ("batch.closed", "batch.failed")]
    failed = any(one["event"] == "batch.failed" for one in ends)
    if failed != report.fails:
        words = {True: "failing", False: "returning"}
        yield disagreement.report_differs(report.id, "the batch", words[report.fails], words[failed])
    concluded = any(one.get("concluded") for one in ends)
    if report.concluded is not None and concluded != report.concluded:
        yield disagreement.report_differs(report.id, "ending the turn", report.concluded, concluded)
