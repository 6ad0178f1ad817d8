"""Vectors of wrong traces of whole scenarios: each one edit away from a run that is right.

What is edited, and of which run, stands in `wrong_traces.toml`, one row a case; what is wrong is computed.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from gnomon_check.scenario import Scenario
from gnomon_check.vectors.case import Case, CaseId, Suite
from gnomon_check.vectors.edits import Edit, edited
from gnomon_check.vectors.scenarios import one_run, scenario_by_id
from gnomon_check.vectors.verdicts import verdict

Plain: TypeAlias = dict[str, Any]


class WrongTrace(BaseModel):
    """A row: the run that is right, what it is about, and what makes it wrong."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: CaseId
    run: CaseId
    clauses: str
    title: str
    edit: Edit


@cache
def wrong_traces() -> tuple[WrongTrace, ...]:
    """The rows."""
    text = Path(__file__).with_name("wrong_traces.toml").read_text(encoding="utf-8")
    return tuple(WrongTrace.model_validate(row) for row in tomllib.loads(text)["wrong"])


@cache
def _run(name: str) -> str:
    return json.dumps(one_run(scenario_by_id()[name]))


def computed(given: Plain) -> Plain:
    """What is wrong with a trace of the scenario that `run` names."""
    scenario = Scenario.model_validate(scenario_by_id()[given["run"]])
    return verdict(scenario, given["windows"])


def _cases() -> tuple[Case, ...]:
    return tuple(
        Case(
            one.id,
            one.clauses,
            one.title,
            {"run": one.run, "windows": edited(json.loads(_run(one.run)), one.edit)},
            twin=one.run,
        )
        for one in wrong_traces()
    )


TRACE = Suite(
    "trace",
    "Say what is wrong with a trace of the scenario of the case `run`: the `clause`, the number of the "
    "window, and the number of the first event in it that is not allowed there, or how many events it has "
    "where what is wrong is how it rests. The twin is the run; a trace that is right differs in one place.",
    computed,
    _cases,
    "traces",
)
