"""Vectors of whole scenarios: the windows that are expected, and what is true of every run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias

from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.vectors import pairwise
from gnomon_check.vectors.case import Case, Suite
from gnomon_check.vectors.scenario_cases import SCENARIOS
from gnomon_check.vectors.windows import told

Plain: TypeAlias = dict[str, Any]

_ABOUT = (
    "Run a scenario, and compare the windows: what is seen of each, in an order that is allowed, what has to "
    "be `blocked`, and whether no batch is under way (`idle`)."
)


@cache
def _told(text: str) -> str:
    return json.dumps(told(Scenario.model_validate_json(text)))


def computed(given: Plain) -> Plain:
    """What the specification expects of a scenario."""
    expected: Plain = json.loads(_told(json.dumps(given["scenario"])))
    return expected


def one_run(scenario: Plain) -> list[Plain]:
    """A run that is right, window by window: of what is free, the first."""
    windows = computed({"scenario": scenario})["windows"]
    return [{key: window[key] for key in ("events", "blocked", "idle")} for window in windows]


@cache
def scenario_by_id() -> dict[str, Plain]:
    """The scenario of each case, by its id."""
    return {case.id: case.input["scenario"] for suite in RUN for case in suite.cases}


def _of_scenarios(scenarios: Iterable[Scenario]) -> tuple[Case, ...]:
    return tuple(
        Case(
            f"run-{one.id}",
            " ".join(one.clauses),
            one.title,
            {"scenario": one.model_dump(mode="json", by_alias=True, exclude_unset=True)},
        )
        for one in scenarios
    )


def _pairwise() -> tuple[Case, ...]:
    return tuple(
        Case(
            f"run-{pairwise.name_of(row)}",
            " ".join(pairwise.clauses_of(row)),
            pairwise.title_of(row),
            {"scenario": pairwise.plain_of(row)},
        )
        for row in pairwise.rows()
    )


RUN = (
    Suite(
        "run",
        f"{_ABOUT} These are failures that people reported; `report` is what must come out.",
        computed,
        lambda: _of_scenarios(shipped("field-reports")),
        "field-reports",
    ),
    Suite(
        "run",
        f"{_ABOUT} These were worked out by hand; `report` is what must come out.",
        computed,
        lambda: _of_scenarios(shipped("edge-outcomes")),
        "edge-outcomes",
    ),
    Suite(
        "run",
        f"{_ABOUT} These are for what no report and no edge outcome is about.",
        computed,
        lambda: _of_scenarios(map(Scenario.model_validate, SCENARIOS)),
        "scenarios",
    ),
    Suite(
        "run",
        f"{_ABOUT} These are made of choices, so that every two choices meet in one of them.",
        computed,
        _pairwise,
        "pairwise",
    ),
)
