"""The long fuzz of cancellations: `make fuzz-cancel`, or `python cancel_fuzz.py [PLANS]`.

Each drawn batch runs with a cancellation on every sixth early step, alone and followed by others. The seed is
fixed. It prints what was reached, and ends with 1 where anything did not hold or was never reached.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count

import trio
from cancel_plans import APPROVERS, BODIES, SET_PIECES, WAYS, Landing, Plan, plans
from cancel_runs import BACKENDS, MOMENTS, run
from hypothesis import HealthCheck, Phase, given, register_random, seed, settings

SEED = 38
EARLY = 96
"""Steps of the event loop that a cancellation comes before; a batch of one quick call makes about twenty."""
STRIDE = 6
PLANS = 40


def landings(chance: random.Random, offset: int) -> Iterator[list[Landing]]:
    """A cancellation on every so manieth early step, alone and with others soon after."""
    for after in range(offset, EARLY, STRIDE):
        way = chance.choice(WAYS)
        yield [Landing(after, way)]
        more = chance.randrange(1, 5)
        yield [Landing(after, way), *(Landing(chance.randrange(5), chance.choice(WAYS)) for _ in range(more))]


class Figures:
    """What a campaign has reached."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self.moments: Counter[str] = Counter()
        self.bodies: Counter[str] = Counter()
        self.approvers: Counter[str] = Counter()
        self.steps = 0

    def add(self, backend: str, plan: Plan, cancellations: list[Landing]) -> None:
        """Run once. Raises `AssertionError`, with what was run, where something does not hold."""
        try:
            done = run(backend, plan, cancellations)
        except AssertionError as error:
            error.add_note(f"on {backend}: run({backend!r}, {plan!r}, {cancellations!r})")
            raise
        self.runs[backend] += 1
        self.moments.update(done.moments)
        self.steps += done.steps
        self.bodies.update(plan.calls[position].body for position in done.world.begun)
        self.approvers.update(done.world.asked)

    def missing(self) -> list[str]:
        """What was never reached."""
        return [
            *(one for one in BACKENDS if not self.runs[one]),
            *(one for one in MOMENTS if not self.moments[one]),
            *(f"a body of kind {one!r}" for one in BODIES if not self.bodies[one]),
            *(f"an approver of kind {one!r}" for one in APPROVERS if not self.approvers[one]),
        ]


def campaign(number: int) -> Figures:
    """Run so many drawn batches under cancellations."""
    figures = Figures()
    chance = random.Random(SEED)
    offsets = count()

    @seed(SEED)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(plans)
    def each(plan: Plan) -> None:
        sweep(plan)

    def sweep(plan: Plan) -> None:
        offset = next(offsets) % STRIDE
        for cancellations in landings(chance, offset):
            for backend in BACKENDS:
                figures.add(backend, plan, cancellations)

    for plan in SET_PIECES:
        sweep(plan)
    each()
    return figures


def main(number: int) -> int:
    # As in the tests: trio shuffles tasks, and this makes the shuffling repeatable.
    trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING = True
    register_random(trio._core._run._r)
    began = time.perf_counter()
    figures = campaign(number)
    seconds = time.perf_counter() - began
    on = ", ".join(f"{one} {number}" for one, number in figures.runs.items())
    print(f"{figures.runs.total()} runs ({on}), {figures.steps} steps, {seconds:.0f} seconds; all hold")
    for what, reached in (
        ("a cancellation came", figures.moments),
        ("bodies that began", figures.bodies),
        ("approvers that were asked", figures.approvers),
    ):
        print(f"{what}:", ", ".join(f"{one} {number}" for one, number in reached.most_common()))
    for one in figures.missing():
        print(f"never reached: {one}")
    return 1 if figures.missing() else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else PLANS))
