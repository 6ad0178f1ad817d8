"""What happened between two inputs, whoever has seen it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gnomon_check.events import Event
from gnomon_check.schedule import ScheduleStep, opening
from gnomon_check.world import Blocked

SEEN_AT_ONCE = ("registry.changed", "model.requested", "op.refused", "policy.delegated", "noted")
"""What an input itself brings about, and is judged: before anything else of its window."""


@dataclass(frozen=True, slots=True)
class Window:
    """What happened between two inputs."""

    step: ScheduleStep | None
    """The input; None for the run-out at the end, where every gate is opened."""
    echoes: tuple[Event, ...]
    """What the harness itself did, before the implementation could run."""
    events: tuple[Event, ...]
    blocked: frozenset[Blocked]
    idle: bool

    def judged(self) -> Iterator[Event]:
        """Its events that are judged, in the order in which they are."""
        yield from (one for one in self.echoes if one["event"] in SEEN_AT_ONCE)
        yield from self.events


def by_batch(windows: Iterable[Window]) -> list[tuple[Window, ...]]:
    """The windows of each batch, from its opening to the next one."""
    parts: list[list[Window]] = [[]]
    opened = False
    for window in windows:
        if window.step is not None and opening(window.step):
            if opened:
                parts.append([])
            opened = True
        parts[-1].append(window)
    return [tuple(one) for one in parts]
