"""Hold the runtime that is found first on the path to one check, and print what the check says, as JSON.

`python tests/mutants/judge_runtime.py CHECK WORDS`: a program of its own, because the runtime is a mutant.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.covering import cover
from gnomon_check.edge_cover import Bounds, plan
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.generate_situations import situations
from gnomon_check.orders import Order
from gnomon_check.problem import Problem
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin

COVERS = {"cover": Bounds(2, 2), "cover: classified anew": Bounds(2, 2, reclassify=True)}
SCENARIO = "scenario: "
NO_ORDER = st.none()
ORDERS = st.binary(max_size=80)
DRAWN: dict[str, tuple[st.SearchStrategy[Scenario], st.SearchStrategy[Order | None], int]] = {
    "drawn: batches": (scenarios(), NO_ORDER, 1_000),
    "drawn: policies": (policed(), NO_ORDER, 1_200),
    "drawn: lives": (living(), NO_ORDER, 1_200),
    "drawn: situations": (situations(), NO_ORDER, 1_000),
    "drawn: orders": (scenarios() | policed() | living(), ORDERS, 1_000),
}
"""What is drawn: scenarios, the orders that they run in, and how many at most."""


class Found(Exception):
    """A problem in the words that were looked for."""


def _covering(name: str) -> Iterator[list[Problem]]:
    for way in plan(COVERS[name]):
        disagreed = cover([way], Builtin, ["asyncio"], processes=1).disagreed
        yield [problem for one in disagreed for problem in one.problems]


def _drawing(name: str, words: str) -> tuple[int, list[str]]:
    drawn, orders, most = DRAWN[name]
    examples = 0
    texts: list[str] = []

    @given(drawn, orders)
    @settings(
        max_examples=most,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    def look(scenario: Scenario, order: Order | None) -> None:
        nonlocal examples
        examples += 1
        found = [one.text for one in conform(scenario, Builtin(), "asyncio", order).problems]
        if any(words in text for text in found):
            texts[:] = found
            raise Found
        texts.extend(found[: 3 - len(texts)])

    try:
        look()
    except Found:
        return examples, texts
    return examples, [f"in other words: {text}" for text in texts]


def _testing(path: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no", path],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    return [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]


def main(check: str, words: str) -> dict[str, object]:
    """What a check says: the texts of what it found, after how many examples, in how many seconds."""
    begun = time.perf_counter()
    examples: int | None = None
    texts: list[str] = []
    if check in COVERS:
        for number, problems in enumerate(_covering(check), 1):
            examples = number
            texts.extend(one.text for one in problems[: 3 - len(texts)])
            fitting = [one.text for one in problems if words in one.text]
            if fitting:
                texts = fitting
                break
    elif check.startswith(SCENARIO):
        name = check.removeprefix(SCENARIO)
        (scenario,) = [one for one in shipped() if one.id == name]
        runs = [conform(scenario, Builtin(), backend) for backend in BACKENDS]
        texts = [one.text for run in runs for one in run.problems]
    elif check in DRAWN:
        examples, texts = _drawing(check, words)
    else:
        texts = _testing(check)
    seconds = time.perf_counter() - begun
    return {"texts": texts, "examples": examples, "seconds": seconds}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:3])))
