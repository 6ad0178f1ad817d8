"""The vectors of whole scenarios, run: the built-in runtime keeps to what they expect, whatever the order."""

from __future__ import annotations

from typing import Any

import pytest
from window_reader import Reader

from gnomon_check import vectors
from gnomon_check.conform import BACKENDS, conform
from gnomon_check.driver import run
from gnomon_check.orders import Order, drawn
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin
from gnomon_check.vectors.case import Vector
from gnomon_check.window import Window

READER = Reader.of(vectors.FOLDER)
RUNS = [case for one in vectors.shipped() if one.function == "run" for case in one.cases]
OWN = [case for case in RUNS if "report" not in case.input["scenario"]]
"""Those that stand in no file of scenarios; the others are held to the runtime as such."""
FREE = [case for case in RUNS if any(one["order"] != "total" for one in case.expect["windows"])]


def seen(windows: list[Window]) -> list[dict[str, Any]]:
    """What was seen of a run, as a trace has it."""
    return [
        {
            "events": list(window.judged()),
            "blocked": [
                {name: held for name, held in vars_of(one).items() if held is not None}
                for one in window.blocked
            ],
            "idle": window.idle,
        }
        for window in windows
        if window.step is not None
    ]


def vars_of(one: Any) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def shows(case: Vector, backend: str, order: Order | None = None) -> tuple[int, int] | None:
    """Where a run of the built-in runtime leaves what the vector expects, if it does."""
    scenario = Scenario.model_validate(case.input["scenario"])
    return READER.first_wrong(case.expect["windows"], seen(run(scenario, Builtin(), backend, order)))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", RUNS, ids=lambda case: case.id)
def test_the_runtime_shows_what_the_vector_expects(case: Vector, backend: str) -> None:
    assert shows(case, backend) is None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", FREE, ids=lambda case: case.id)
def test_so_it_does_in_other_orders(case: Vector, backend: str) -> None:
    assert [shows(case, backend, drawn(seed)) for seed in range(4)] == [None] * 4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", OWN, ids=lambda case: case.id)
def test_the_runtime_conforms(case: Vector, backend: str) -> None:
    found = conform(Scenario.model_validate(case.input["scenario"]), Builtin(), backend)
    assert found.problems == ()
    assert found.judged
