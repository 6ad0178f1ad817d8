"""The edge outcomes, each worked out by hand: the runtime conforms, and each catches what it is there for."""

from __future__ import annotations

from collections import Counter

import edge_faults
import edge_faults_of_misuse
import pytest
from patched import runtime_with

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin

SCENARIOS = {one.id.removeprefix("edge-"): one for one in shipped("edge-outcomes")}

FAULTS = {**edge_faults.FAULTS, **edge_faults_of_misuse.FAULTS}


def test_there_are_as_many_as_were_worked_out() -> None:
    assert len(SCENARIOS) == 108
    assert all(one.report is not None for one in SCENARIOS.values())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=lambda one: one.id)
def test_the_built_in_runtime_conforms(scenario: Scenario, backend: str) -> None:
    assert conform(scenario, Builtin(), backend).problems == ()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_runtime_is_caught_by_the_scenario_for_it(name: str, backend: str) -> None:
    module, edits, clause = FAULTS[name]
    with runtime_with(module, *edits) as runtime:
        problems = conform(SCENARIOS[name], Builtin(runtime), backend).problems
    assert clause in [one.clause for one in problems], [one.text for one in problems]
    judges = Counter(one.judge for one in problems)
    assert judges["specification"] == 1
