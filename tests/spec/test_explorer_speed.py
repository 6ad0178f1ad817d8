"""The explorer is fast enough, measured against a loop of the same interpreter in the same run."""

from __future__ import annotations

import time

from gnomon_check.explore import explore

ALLOWED = 75.0
"""So many calibration loops for a hundred thousand states with their ledgers; 25 to 40 are usual."""


def _calibration() -> float:
    """A fixed amount of the work that exploring is made of: small tuples, hashed and looked up."""
    begun = time.process_time()
    counts: dict[tuple[int, int], int] = {}
    for number in range(300_000):
        key = (number % 5_000, number % 7)
        counts[key] = counts.get(key, 0) + 1
    return time.process_time() - begun


def _ratio() -> float:
    before = _calibration()
    begun = time.process_time()
    nodes = explore(3, 2, aborts=True).nodes
    taken = time.process_time() - begun
    return taken / min(before, _calibration()) / nodes * 100_000


def test_exploring_is_fast_enough() -> None:
    best = min(_ratio() for _ in range(3))
    assert best < ALLOWED, f"{best:.1f} calibration loops for a hundred thousand states"
