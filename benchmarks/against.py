"""Two checkouts in one process, taking turns: what a change of the runtime does to its speed."""

from __future__ import annotations

import importlib
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import anyio

from benchmarks import cases
from benchmarks.cases import Package
from benchmarks.measure import Case, Effort, ratio, take_turns
from benchmarks.table import Row


def rows(gnomon: Package, checkout: str, quick: bool) -> list[Row]:
    """What each case takes here, in units of what it takes in the other checkout."""
    other = package_of(Path(checkout))
    found = []
    for backend in ("asyncio", "trio"):
        pairs = {"here": _cases(gnomon, backend), "there": _cases(other, backend)}
        names = {f"{what}, {where}": case for where, made in pairs.items() for what, case in made.items()}
        effort = Effort(1, 0) if quick else Effort(75, 0.005)
        times = anyio.run(partial(take_turns, names, effort), backend=backend)
        for what in pairs["here"]:
            taken = ratio(times[f"{what}, here"], times[f"{what}, there"])
            found.append(Row("against", f"{what}, {backend}", "the other checkout", taken))
    return found


def _cases(gnomon: Package, backend: str) -> dict[str, Case]:
    made = {
        "one call": cases.single(gnomon),
        "ten calls in a batch": cases.batch(gnomon, 10),
        "ten calls, a listener everywhere": cases.batch(gnomon, 10, 1),
    }
    if backend == "asyncio":
        made |= {
            "one call in a batch": cases.batch(gnomon, 1),
            "a hundred calls in a batch": cases.batch(gnomon, 100),
            "one call with 1,000 nodes": cases.single(gnomon, {"s": list(range(1_000))}),
            "snapshot of 50 nodes": cases.snapshots(gnomon, cases.NESTED),
        }
    return made


def package_of(checkout: Path) -> ModuleType:
    """The package of another checkout, beside the one that is imported already."""
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "gnomon"}
    for name in kept:
        del sys.modules[name]
    sys.path.insert(0, str(checkout / "src"))
    try:
        return importlib.import_module("gnomon")
    finally:
        sys.path.pop(0)
        for name in [name for name in sys.modules if name.split(".")[0] == "gnomon"]:
            del sys.modules[name]
        sys.modules.update(kept)
