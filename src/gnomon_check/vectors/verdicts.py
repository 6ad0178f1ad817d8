"""What is wrong with a trace of a scenario: the first thing that the specification does not allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from gnomon_check import disagreement
from gnomon_check.conform import known_of, listeners_of, shown
from gnomon_check.disagreement import why_not
from gnomon_check.oracle import Blocked, Oracle
from gnomon_check.refinement import as_spec, key_of
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import AbortInputStep, CrashStep, OpenStep, inputs_of
from gnomon_check.vectors.case import fails
from gnomon_check.window import Window
from gnomon_spec import properties
from gnomon_spec.vocabulary import Event

Plain: TypeAlias = dict[str, Any]


def verdict(scenario: Scenario, windows: list[Plain]) -> Plain:
    """What is wrong with a trace, window by window: the clause, the window, the number of the event in it.

    Where what is wrong is that everything rests, or how it does, the number is that of the events before.
    Where an event breaks a named property, its clause is the better reason; else the condition is named that
    forbids the event.
    """
    judge: _Judge | None = None
    layers = None
    places = [(part, step) for part in scenario.by_batch() for step in range(len(part.schedule))]
    for number, ((part, step), window) in enumerate(zip(places, windows, strict=False)):
        if step == 0:
            layers = None if judge is None else judge.oracle.layers
            judge = _Judge(Oracle(part, layers))
        assert judge is not None, "the first place is a first step"
        found = judge.wrong(step, window)
        if found is not None:
            at, clause, reason = found
            return fails(clause, reason, window=number, event=at)
    return {"ok": True}


class _Judge:
    """Follows the trace of one batch."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self._listeners = listeners_of(oracle)
        self._judges = properties.judged(shown(oracle.scenario))
        self._ledger = properties.NOTHING
        self._crashed = False

    def wrong(self, number: int, window: Plain) -> tuple[int, str, str] | None:
        """What is wrong with a window: at which event, by which clause, for which reason; or nothing."""
        self._enter(number)
        self.oracle.take(self.oracle.scenario.schedule[number])
        for at, event in enumerate(window["events"]):
            found = self._wrong_event(event)
            if found is not None:
                return at, *found
        blocked = frozenset(Blocked(**one) for one in window["blocked"])
        if not self.oracle.quiet(blocked, window["idle"]):
            seen = Window(None, (), (), blocked, window["idle"])
            clause = disagreement.not_quiet(self.oracle, number, seen).clause
            return len(window["events"]), clause, self._why_not_quiet()
        return None

    def _enter(self, number: int) -> None:
        """Have the properties read what the harness does in a step."""
        step = self.oracle.scenario.schedule[number]
        self._crashed = self._crashed or isinstance(step, CrashStep)
        for one in inputs_of(step):
            for event in self._done(one):
                self._ledger = properties.enter(self._ledger, event)

    def _done(self, one: object) -> Iterator[Event]:
        scenario = self.oracle.scenario
        match one:
            case OpenStep():
                known = zip(scenario.batch.calls, known_of(self.oracle), strict=True)
                calls = [{"call_id": call.id, "name": call.name, **more} for call, more in known]
                pool = scenario.limits.max_parallel
                yield self._spec({"event": "batch.opened", "calls": calls, "max_parallel": pool})
            case AbortInputStep(abort=abort):
                yield self._spec({"event": "signal.aborted", "signal": abort.signal})

    def _spec(self, event: Plain) -> Event:
        seen = as_spec(event, self._listeners)
        assert seen is not None, "the properties read what the harness does"
        return seen

    def _wrong_event(self, event: Plain) -> tuple[str, str] | None:
        seen = None if self._crashed or self._of_a_body(event) else as_spec(event, self._listeners)
        broken = None if seen is None else next(properties.broken_by(self._ledger, seen, self._judges), None)
        if broken is not None:
            return broken.clause, broken.reason
        key = key_of(event)
        if key is not None and not self.oracle.see(key):
            refused = why_not(self.oracle, key)
            return refused.clause, refused.reason
        if seen is not None:
            self._ledger = properties.enter(self._ledger, seen)
        return None

    def _of_a_body(self, event: Plain) -> bool:
        """Whether an event is of a call that a body makes: the properties are about the batch."""
        pos = event.get("pos")
        calls = len(self.oracle.scenario.batch.calls)
        return pos is not None and (pos >= calls or event["event"].startswith("batch."))

    def _why_not_quiet(self) -> str:
        if self.oracle.quiet_worlds():
            return "something else holds it up by then"
        names = sorted({name for name, _, _ in self.oracle.allowed()})
        return f"it rests, and first has to come: {' or '.join(names)}"
