"""What happened between two inputs, whoever has seen it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gnomon_check.events import Event
from gnomon_check.schedule import ScheduleStep, opening
from gnomon_check.world import Blocked


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
