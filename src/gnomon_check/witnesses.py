"""What a run has come across: the situations that lockstep is worth something for, by name.

A witness is told from what was seen and done, window by window, and says nothing about right or wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gnomon_check.conform import Run
from gnomon_check.events import Event
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import AbortInputStep, CancelStep, inputs_of
from gnomon_check.window import Window, by_batch

_CHANGES = {
    "registered": "a tool is registered",
    "removed": "a tool is removed",
    "restricted": "a scope is restricted",
    "unrestricted": "a restriction is lifted",
    "mode": "a mode is declared",
    "guarded": "a guard is added",
    "hooked": "a listener is added",
    "policy": "a policy is logged",
}


@dataclass(slots=True)
class _Seen:
    """What has happened so far in a batch."""

    scenario: Scenario
    running: set[int] = field(default_factory=set)
    started: set[int] = field(default_factory=set)
    aborted: bool = False
    settled_last: bool = False
    waiting: frozenset[str] = frozenset()


def witnesses(run: Run) -> set[str]:
    """The names of all that a run has come across."""
    parts = by_batch(run.windows)
    several = {"a batch after another"} if len(parts) > 1 else set()
    return several.union(*map(_of, run.scenario.by_batch(), parts))


def _of(scenario: Scenario, windows: Iterable[Window]) -> Iterator[str]:
    seen = _Seen(scenario)
    ids = [one.id for one in scenario.batch.calls]
    if len(set(ids)) < len(ids):
        yield "two calls have one id"
    for window in windows:
        if window.step is not None:
            yield from _of_inputs(seen, window)
        for event in window.echoes:
            yield from _of_event(seen, event)
        if any(event["event"] == "registry.changed" for event in window.events):
            yield "a script changes something"
        for event in window.events:
            yield from _of_event(seen, event)
        if len(seen.running) == scenario.limits.max_parallel:
            yield "the pool is full"
        seen.waiting = frozenset(one.gate for one in window.blocked if one.gate is not None)
        if any(one.sleep is not None for one in window.blocked):
            yield "a body sleeps"


def _of_inputs(seen: _Seen, window: Window) -> Iterator[str]:
    assert window.step is not None
    given = inputs_of(window.step)
    if len(given) > 1:
        yield "several inputs at once"
    for one in given:
        if isinstance(one, AbortInputStep | CancelStep):
            if any(gate.startswith("approval:") for gate in seen.waiting):
                yield "an abort while an approval is open"
            if any(gate.startswith("hook") for gate in seen.waiting):
                yield "an abort while a listener waits"
            if seen.running:
                yield "an abort while a body runs"
        if isinstance(one, CancelStep):
            yield "a native cancellation"
            if seen.aborted and seen.running:
                yield "a native cancellation while the batch drains"


def _of_event(seen: _Seen, event: Event) -> Iterator[str]:
    name = event["event"]
    pos = int(event.get("slot", event.get("pos", -1)) or 0)
    match event:
        case {"event": "registry.changed", "refused": _, "op": "registered"}:
            yield "a registration is refused"
        case {"event": "registry.changed", "op": op} if "refused" not in event:
            yield _CHANGES.get(op, str(op))
            if len(seen.running) == seen.scenario.limits.max_parallel:
                yield "something changes while the pool is full"
        case {"event": "model.requested"}:
            yield "the model is asked"
        case {"event": "signal.aborted", "signal": "caller"}:
            seen.aborted = True
        case {"event": "signal.aborted"}:
            yield "a signal of a wrapper aborts"
        case {"event": "body.started"}:
            if pos in seen.started:
                yield "a retry"
            seen.started.add(pos)
            seen.running.add(pos)
            if len(seen.running) > 1:
                yield "two bodies run at once"
        case {"event": "body.settled", "how": how}:
            seen.running.discard(pos)
            if seen.settled_last:
                yield "two settle before anything else happens"
            if how == "raised" and seen.running:
                yield "a body raises while another runs"
        case {"event": "body.interrupted"}:
            yield "a body is interrupted"
        case {"event": "body.signalled", "source": "deadline"}:
            yield "a body hears of a deadline"
        case {"event": "body.signalled", "source": source} if source != "caller":
            yield "a body hears of a wrapper's signal"
        case {"event": "result.logged" | "result.returned", "outcome": {"code": str(code)}}:
            yield code
        case {"event": "policy.delegated", "waterfall": "execute", "nth": int(nth)} if nth > 1:
            yield "a wrapper calls next() again"
            if seen.aborted:
                yield "a wrapper calls next() again after an abort"
        case {"event": "policy.decided", "waterfall": "approval"}:
            yield "somebody answers an approval"
        case {"event": "policy.delegated", "waterfall": "approval"}:
            yield "an answerer asks the next"
        case {"event": "batch.failed"}:
            yield "the runtime fails"
            if seen.aborted:
                yield "the runtime fails after an abort"
        case {"event": "context.accepted"}:
            yield "a context is accepted"
        case {"event": "batch.closed", "concluded": True}:
            yield "a batch concludes the turn"
    if name == "result.returned":
        yield "a single call is answered"
    seen.settled_last = name == "body.settled"
