"""The rows of the table: what is put in relation to what, and which ratio is the goal."""

from __future__ import annotations

import gc
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from benchmarks import cases
from benchmarks.cases import Package
from benchmarks.measure import Case, Effort, Ratio, Times, less, ratio, take_turns

F1, F10 = "F1", "F10"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `found` is missing where there was nothing to measure, and `why` says so."""

    part: str
    what: str
    unit: str
    found: Ratio | None
    goal: float | None = None
    why: str = ""


def _measured(names: Mapping[str, Case], effort: Effort, backend: str = "asyncio") -> Times:
    return anyio.run(partial(take_turns, names, effort), backend=backend)


# -- a call, a batch, a value -------------------------------------------------------------------


def goals(gnomon: Package, quick: bool) -> list[Row]:
    """What was aimed at, on asyncio, on trio, and for a value."""
    effort = Effort(1, 0) if quick else Effort(75, 0.005)
    with tempfile.TemporaryDirectory() as folder:
        times = _measured(
            {
                F1: cases.one_task,
                F10: cases.ten_tasks,
                "one": cases.single(gnomon),
                "one, logged": cases.batch(gnomon, 1),
                "one, listened to": cases.batch(gnomon, 1, 1),
                "ten": cases.batch(gnomon, 10),
                "ten, listened to": cases.batch(gnomon, 10, 1),
                "ten, in a file": cases.into_a_file(gnomon, 10, Path(folder)),
                "copy": cases.deep_copies(cases.NESTED),
                "snapshot": cases.snapshots(gnomon, cases.NESTED),
            },
            effort,
        )
    row = partial(_row, "goals", times)
    return [
        row("one call, no hooks, no log", "one", F1, 0.75),
        row("one call in a batch, log in memory", "one, logged", F1),
        row("the same, a listener, guard or observer at every stage", "one, listened to", F1, 2),
        row("ten calls in a batch, log in memory", "ten", F10, 4),
        row("the same, a listener, guard or observer at every stage", "ten, listened to", F10),
        row("ten calls in a batch, log in a new file", "ten, in a file", F10),
        *_on_trio(gnomon, effort),
        _row("goals", times, "snapshot of a value of 50 nodes", "snapshot", "copy", 0.6, "copy.deepcopy"),
        _group_commit(gnomon, quick),
    ]


def _group_commit(gnomon: Package, quick: bool) -> Row:
    """What a record on the disk takes where many wait for it together; by the clock on the wall."""
    many = 16
    with tempfile.TemporaryDirectory() as folder, gnomon.JsonlSession(Path(folder) / "log.jsonl") as session:
        turns = partial(
            take_turns,
            {"one": cases.on_the_disk(gnomon, session, 1), "many": cases.on_the_disk(gnomon, session, many)},
            Effort(1, 0) if quick else Effort(31, 0.03),
            time.perf_counter,
        )
        times = anyio.run(turns)
    found = ratio(less(times["many"], [0.0] * len(times["many"]), 1 / many), times["one"])
    return Row("goals", f"a record on the disk, {many} producers", "one producer", found, 0.1)


def _row(
    part: str,
    times: Times,
    what: str,
    of: str,
    to: str,
    goal: float | None = None,
    unit: str | None = None,
) -> Row:
    return Row(part, what, unit or to, ratio(times[of], times[to]), goal)


def _on_trio(gnomon: Package, effort: Effort) -> list[Row]:
    what = "ten calls in a batch, log in memory, on trio"
    try:
        import trio  # noqa: F401 - whether it is there
    except ImportError:
        return [Row("goals", what, "nursery of ten", None, why="not installed")]
    times = _measured(
        {"nursery of ten": cases.ten_on_trio, "ten": cases.batch(gnomon, 10)}, effort, backend="trio"
    )
    return [_row("goals", times, what, "ten", "nursery of ten")]


# -- growth: what one more costs, at several sizes ----------------------------------------------

LINEAR = 1.5
"""What grows with its size alone costs as much a piece in the large as in the small, or nearly."""


def growth(gnomon: Package, quick: bool) -> list[Row]:
    """What a call, a listener, a node or a record costs among many, against one among few."""

    def scaled(*sizes: int) -> list[int]:
        # Where only the way is to be gone, a few of each do: 2, 3, 10 and 100.
        return [max(size // 100, len(str(size))) for size in sizes] if quick else list(sizes)

    def effort(rounds: int, seconds: float) -> Effort:
        return Effort(1, 0) if quick else Effort(rounds, seconds)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        return [
            *_pieces(
                "a call of a batch",
                lambda n: cases.batch(gnomon, n),
                scaled(10, 100, 1_000, 10_000),
                effort(9, 0.05),
            ),
            *_pieces(
                "a listener of each waterfall",
                lambda n: cases.batch(gnomon, 1, n, everywhere=False),
                [4, 16],
                effort(75, 0.005),
                beyond=True,
            ),
            *_pieces(
                "a node of a call's arguments",
                lambda n: cases.single(gnomon, {"s": list(range(n))}),
                scaled(100, 1_000, 10_000),
                effort(15, 0.02),
                beyond=True,
            ),
            *_pieces(
                "a record appended, in memory",
                lambda n: cases.appends(gnomon, n),
                scaled(100, 1_000, 10_000),
                effort(15, 0.01),
            ),
            *_pieces(
                "a record appended, in a file",
                lambda n: cases.appends(gnomon, n, path),
                scaled(100, 1_000, 10_000),
                effort(15, 0.02),
            ),
            *_sessions(gnomon, path, quick),
        ]


def _pieces(
    what: str, make: Callable[[int], Case], sizes: Sequence[int], effort: Effort, *, beyond: bool = False
) -> list[Row]:
    """One piece of many, against one of few; where `beyond`, what nothing costs is taken away first."""
    times = _measured({str(size): make(size) for size in ([0] if beyond else []) + list(sizes)}, effort)
    nothing = times["0"] if beyond else [0.0] * len(times[str(sizes[0])])
    shares = {size: less(times[str(size)], nothing, 1 / size) for size in sizes}
    few, *more = sizes
    return [
        Row("growth", f"{what}: of {size:,}", f"of {few:,}", ratio(shares[size], shares[few]), LINEAR)
        for size in more
    ]


def _sessions(gnomon: Package, path: Path, quick: bool) -> list[Row]:
    """What it costs to begin a batch in a session that holds much already."""
    sizes = (7, 70) if quick else (1_001, 10_003)
    made = {f"memory {size}": cases.in_a_session(gnomon, gnomon.MemorySession(), size) for size in sizes}
    files = [gnomon.JsonlSession(path.with_suffix(f".{size}")) for size in sizes]
    made |= {f"file {n}": cases.in_a_session(gnomon, one, n) for n, one in zip(sizes, files, strict=True)}
    # Once a round, because each batch makes its session longer.
    times = _measured({"new": cases.batch(gnomon, 1), **made}, Effort(1 if quick else 11, 0))
    for one in files:
        one.close()
    rows = []
    for store in ("memory", "file"):
        for size in sizes:
            what = (
                f"one call, in a session of {size // 7:,} turns in {'a file' if store == 'file' else store}"
            )
            rows.append(_row("growth", times, what, f"{store} {size}", "new", unit="in a new session"))
    return rows


# -- memory -------------------------------------------------------------------------------------


def memory(gnomon: Package, quick: bool) -> list[Row]:
    """The peak of memory in a batch, in units of what its results take when it is over."""
    size = 50 if quick else 10_000
    return [
        Row(
            "memory",
            f"peak of a batch of {size:,} calls, pool of {pool}",
            "its results",
            _peak(gnomon, size, pool),
        )
        for pool in (1, 10, 100)
    ]


def _peak(gnomon: Package, size: int, pool: int) -> Ratio:
    made = cases.runtime(gnomon, pool=pool)
    announced = cases.calls(gnomon, size, "a" * 1_000)

    async def run() -> Any:
        return await made.run_batch(announced)

    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        done = anyio.run(run)
        gc.collect()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(done.results) == size
    found = (peak - before) / (after - before)
    return Ratio(found, found, found)
