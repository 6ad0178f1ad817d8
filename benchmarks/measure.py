"""Measuring: all cases take turns in every round, and only ratios within a round are compared.

A machine that others use as well is now slow, now fast, for everything alike; a ratio of two times that
were taken one after the other stays. Times are CPU time of the process, unless the disk is waited for.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TypeAlias

Case: TypeAlias = Callable[[int], Awaitable[None]]
"""Does its work so many times."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: in so many rounds, each case for about so many seconds a round."""

    rounds: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was measured: the median of the rounds, and the middle half of them."""

    middle: float
    low: float
    high: float


Clock: TypeAlias = Callable[[], float]
Times: TypeAlias = dict[str, list[float]]
"""For each case the seconds that it took once, round by round."""


async def take_turns(cases: Mapping[str, Case], effort: Effort, clock: Clock = time.process_time) -> Times:
    """Measure cases against each other, in an order that is drawn anew each round."""
    draw = random.Random(1)
    names = list(cases)
    often = {name: await _how_often(cases[name], effort.seconds, clock) for name in names}
    times: Times = {name: [] for name in names}
    gc.collect()
    gc.freeze()  # what is loaded is not looked through again, however much that is
    for _ in range(effort.rounds):
        draw.shuffle(names)
        for name in names:
            gc.collect()
            times[name].append(await _seconds(cases[name], often[name], clock) / often[name])
    gc.unfreeze()
    return times


async def _seconds(case: Case, often: int, clock: Clock) -> float:
    begun = clock()
    await case(often)
    return clock() - begun


async def _how_often(case: Case, seconds: float, clock: Clock) -> int:
    """How often a case is run to take so many seconds; it is warm afterwards."""
    often = 1
    while True:
        taken = await _seconds(case, often, clock)
        if taken >= seconds / 2 or seconds == 0:
            return max(1, round(often * seconds / taken)) if taken else often
        often *= 2


def ratio(of: Sequence[float], to: Sequence[float]) -> Ratio:
    """What one case takes in units of another, from their rounds."""
    each = [a / b if b else 0.0 for a, b in zip(of, to, strict=True)]
    if len(each) < 2:
        return Ratio(each[0], each[0], each[0])
    low, _, high = quantiles(each, n=4)
    return Ratio(median(each), low, high)


def less(of: Sequence[float], what: Sequence[float], share: float = 1.0) -> list[float]:
    """What one case takes beyond another, as a share of it."""
    return [(a - b) * share for a, b in zip(of, what, strict=True)]
