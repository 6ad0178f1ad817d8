"""Cancellations on any step of drawn batches: none loses a result, hangs, or leaves anything behind."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from cancel_plans import BODIES, SET_PIECES, WAYS, Landing, Plan, bursts, plans
from cancel_runs import BACKENDS, MOMENTS, run
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLES = 150


@pytest.mark.clause("CAN-2", "SCD-10", "SCD-11", "PY-1", "PY-2", "PY-3", "PY-4", "PY-13")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_cancellation_on_any_step_leaves_a_complete_log_and_nothing_else(backend: str) -> None:
    moments: Counter[str] = Counter()
    bodies: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES)
    @given(plans, bursts(st.integers(0, 90)))
    def each(plan: Plan, landings: list[Landing]) -> None:
        done = run(backend, plan, landings)
        moments.update(done.moments)
        bodies.update(plan.calls[position].body for position in done.world.begun)

    for number, plan in enumerate(SET_PIECES):
        for after in range(number % 12, 72, 12):
            way = WAYS[(number + after) % 3]
            each.hypothesis.inner_test(plan, [Landing(after, way), Landing(number % 4, "task")])
    each()
    assert {one for one in MOMENTS if not moments[one]} == set()
    assert {one for one in BODIES if not bodies[one]} == set()


# -- that the runs catch what they are there for -----------------------------------------------------

DEAF = """
import anyio, sys, os
from cancel_plans import CallPlan, Landing, Plan, World
from cancel_runs import Hung, run

async def deaf(self, kind, context):
    while True:
        with anyio.CancelScope(shield=True):
            try:
                await anyio.sleep_forever()
            except self.cancelled:
                pass

World._act = deaf
try:
    run(sys.argv[1], Plan((CallPlan("forever"),)), [Landing(12, "scope")])
except Hung as hung:
    print(hung, flush=True)
    os._exit(0)  # what hangs cannot be cleared away
"""


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_batch_that_never_ends_is_caught_by_counting(backend: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DEAF, backend], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    assert done.stdout.startswith("nothing happens any more"), done.stderr
