"""How many scenarios a second are run on the built-in runtime, and judged, in one process.

All that are shipped, and each round reads them anew, so that nothing is known of one beforehand; reading
them is not counted. A number a second is that of the machine; what stays is what one takes in units of
another.
"""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio

from benchmarks.cases import Package, one_task
from benchmarks.measure import Ratio, ratio
from benchmarks.table import F1, Row
from gnomon_check.conform import judge
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin

TASKS = 2_000


def rows(gnomon: Package, quick: bool) -> list[Row]:
    """What it takes to run a scenario, to judge it, and both; and how many a second that is."""
    target = Builtin(gnomon.Runtime)
    each: dict[str, list[float]] = {"run": [], "judge": [], F1: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gnomon.GnomonWarning)  # observers raise there, by their script
        for _ in range(1 if quick else 15):
            scenarios = [one for one in shipped() if target.cannot(one) is None][: 3 if quick else None]
            for name, seconds in _round(target, scenarios).items():
                each[name].append(seconds)
    both = [a + b for a, b in zip(each["run"], each["judge"], strict=True)]
    return [
        Row("conform", "a scenario is run", F1, ratio(each["run"], each[F1])),
        Row("conform", "a scenario is judged", "running it", ratio(each["judge"], each["run"])),
        Row("conform", "scenarios run", "a second", _a_second(each["run"])),
        Row("conform", "scenarios judged", "a second", _a_second(each["judge"])),
        Row("conform", "scenarios run and judged", "a second", _a_second(both)),
    ]


def _round(target: Builtin, scenarios: list[Scenario]) -> dict[str, float]:
    """The seconds that each takes once."""
    gc.collect()
    gc.freeze()
    ran, running = _timed(lambda: [(one, list(target.windows(one, "asyncio"))) for one in scenarios])
    _, judging = _timed(lambda: [judge(one, windows) for one, windows in ran])
    _, tasks = _timed(partial(anyio.run, one_task, TASKS))
    gc.unfreeze()
    return {"run": running / len(scenarios), "judge": judging / len(scenarios), F1: tasks / TASKS}


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    done = work()
    return done, time.process_time() - begun


def _a_second(seconds: list[float]) -> Ratio:
    return ratio([1.0] * len(seconds), seconds)
