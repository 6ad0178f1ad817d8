"""Goes the ways of an edge cover on a target, several processes side by side, and judges each of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing import get_context

from gnomon_check.conform import Run, judge
from gnomon_check.driver import run
from gnomon_check.edge_cover import Way
from gnomon_check.harness import Target
from gnomon_check.scenario import Scenario
from gnomon_check.window import Window

_AT_ONCE = 25
"""How many ways a process is given at a time."""


@dataclass(slots=True)
class Covered:
    """What came of a cover."""

    ways: int = 0
    edges: Counter[str] = field(default_factory=Counter)
    """How many edges were gone along on each backend.

    Not along all of them, where the specification leaves it to the implementation what comes next, and it
    takes another turn than planned.
    """
    disagreed: list[Run] = field(default_factory=list)
    """The ways on which the implementation and the specification disagree."""

    def add(self, other: Covered) -> None:
        """Take in what came of other ways."""
        self.ways += other.ways
        self.edges += other.edges
        self.disagreed += other.disagreed


def cover(
    ways: Iterable[Way],
    target: Callable[[], Target],
    backends: Sequence[str],
    *,
    processes: int = 0,
    progress: Callable[[Covered], None] = lambda _: None,
    enough: int | None = None,
) -> Covered:
    """Go all ways on all backends, or until there are so many disagreements that it is `enough`.

    `processes`: 0 for one a core.

    `target` is a function of a module, so that another process finds it.
    """
    found = Covered()
    several = processes or os.cpu_count() or 1
    for one in _each(list(_in_parts(ways)), partial(_go, target, tuple(backends)), several):
        found.add(one)
        progress(found)
        if enough is not None and len(found.disagreed) >= enough:
            break
    return found


def _in_parts(ways: Iterable[Way]) -> Iterator[list[Way]]:
    left = iter(ways)
    while part := list(islice(left, _AT_ONCE)):
        yield part


def _each(parts: list[list[Way]], go: Callable[[list[Way]], Covered], processes: int) -> Iterator[Covered]:
    if processes == 1:
        yield from map(go, parts)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(go, parts)


def _go(target: Callable[[], Target], backends: tuple[str, ...], ways: list[Way]) -> Covered:
    found = Covered()
    for way in ways:
        found.add(_go_one(target(), backends, way))
    return found


def _go_one(target: Target, backends: tuple[str, ...], way: Way) -> Covered:
    scenario = Scenario.model_validate(way.scenario)
    found = Covered(ways=1)
    judged: tuple[Window, ...] | None = None
    for backend in backends:
        windows = tuple(run(scenario, target, backend))
        gone = _gone(way, windows)
        found.edges[backend] = sum(turn + 1 < gone for turn in way.fresh)
        if windows == judged:
            continue  # the same was seen before, and judged
        judged = windows
        problems = tuple(judge(scenario, windows))
        if problems:
            found.disagreed.append(Run(scenario, backend, windows, problems))
    return found


def _gone(way: Way, windows: tuple[Window, ...]) -> int:
    """How many windows of a way are as they were planned."""
    for number, (gates, window) in enumerate(zip(way.gates, windows, strict=False)):
        if {one.gate for one in window.blocked} != gates:
            return number
    return len(way.gates)
