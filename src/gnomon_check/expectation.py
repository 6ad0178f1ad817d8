"""What the specification expects of a scenario: the windows, computed from the specification alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gnomon_check.oracle import Blocked, Oracle
from gnomon_check.refinement import COMPARED, Key
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import AbortInputStep, inputs_of


class NotDetermined(ValueError):
    """A scenario leaves a choice to the implementation, so that its windows are not one list of events."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One window: what is seen, in order, and what blocks at its end."""

    events: tuple[Key, ...]
    blocked: frozenset[Blocked]
    idle: bool


def expected(scenario: Scenario) -> list[Expected]:
    """The windows of a scenario. Raises `NotDetermined` where the specification leaves a choice."""
    windows: list[Expected] = []
    layers = None
    for part in scenario.by_batch():
        failed = any(key[0] == "batch.failed" for one in windows for key in one.events)
        if windows and (failed or not windows[-1].idle):
            raise NotDetermined(
                f"{scenario.id}: it ends where a batch is to be opened, for another is in the way"
            )
        oracle = Oracle(part, layers)
        windows += _expected(oracle)
        layers = oracle.layers
    return windows


def _expected(oracle: Oracle) -> Iterator[Expected]:
    scenario = oracle.scenario
    for step in scenario.schedule:
        oracle.take(step)
        events: list[Key] = []
        while True:
            allowed = oracle.allowed()
            if len(allowed) > 1:
                raise NotDetermined(f"{scenario.id}: any of {sorted(map(str, allowed))} may come next")
            if not allowed:
                break
            (key,) = allowed
            oracle.see(key)
            events.append(key)
        seen = {(oracle.blocked(one), oracle.idle(one)) for one in oracle.rest()}
        if len(seen) != 1:
            raise NotDetermined(f"{scenario.id}: more than one way to be quiet")
        ((blocked, idle),) = seen
        yield Expected(tuple(events), blocked, idle)


def echoes(scenario: Scenario) -> list[list[str]]:
    """What the harness itself does in each window before the implementation runs, by name."""
    return [
        ["signal.aborted" for one in inputs_of(step) if isinstance(one, AbortInputStep)]
        for step in scenario.schedule
    ]


def as_object(key: Key) -> dict[str, Any]:
    """A key as the JSON object of an event: only what is compared."""
    name, pos, detail = key
    fields: dict[str, Any] = {"event": name} if pos is None else {"event": name, "pos": pos}
    for path, value in zip(COMPARED[name], detail, strict=True):
        if value is None or (path == "refused" and value is False):
            continue  # what was not refused says nothing of it
        holder = fields
        *above, last = path.split(".")
        for part in above:
            holder = holder.setdefault(part, {})
        holder[last] = str(value) if isinstance(value, str) else value
    return fields
