"""A deliberately broken executor is caught, by the agreement test and by a scenario, in words."""

from __future__ import annotations

import json

import pytest
from hypothesis import Phase, find, settings
from patched import runtime_with
from seeded_faults import COMMIT_ON_SETTLEMENT, FAULTS, SEARCH

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.generate import scenarios
from gnomon_check.generate_situations import situations
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import load, shipped
from gnomon_check.targets.builtin import Builtin


def _caught(scenario: Scenario, target: Builtin) -> list[str]:
    return [one.text for one in conform(scenario, target, "asyncio").problems]


@pytest.mark.parametrize("fault", FAULTS)
def test_the_agreement_test_catches_it(fault: str) -> None:
    module, edits, clause = FAULTS[fault]
    with runtime_with(module, *edits) as runtime:
        target = Builtin(runtime)

        def caught(scenario: Scenario) -> bool:
            return any(clause in text for text in _caught(scenario, target))

        find(scenarios() | situations(), caught, settings=settings(SEARCH, phases=[Phase.generate]))


def test_a_failing_scenario_shrinks_with_its_schedule() -> None:
    with runtime_with("scheduler", *COMMIT_ON_SETTLEMENT) as runtime:
        target = Builtin(runtime)
        smallest = find(scenarios(), lambda one: bool(_caught(one, target)), settings=SEARCH)
    assert len(smallest.batch.calls) == 2
    assert len(smallest.schedule) == 2, "the batch is opened, and one gate is released"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_shipped_scenario_catches_commits_on_settlement(backend: str) -> None:
    scenario = next(one for one in shipped() if one.id == "fr-ord-1")
    with runtime_with("scheduler", *COMMIT_ON_SETTLEMENT) as runtime:
        problems = conform(scenario, Builtin(runtime), backend).problems
    assert problems[0].text == (
        "In window 2 (gate body:2 is released) the implementation did: "
        "result.logged of call 3 (c3) with a success.\n"
        "  The specification allows there: nothing, until another input.\n"
        "  Not what was seen, because call 1 (c1) is not answered yet, and results go in model order: SCD-6."
    )
    assert problems[1].text == "ModelOrder: call 3 (c3) is answered before call 1 (c1): SCD-6"


@pytest.mark.parametrize("fault", FAULTS)
def test_shipped_scenarios_catch_most_of_them(fault: str) -> None:
    module, edits, clause = FAULTS[fault]
    with runtime_with(module, *edits) as runtime:
        texts = [text for one in shipped() for text in _caught(one, Builtin(runtime))]
    assert any(clause in text for text in texts), texts


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_executor_that_never_ends_is_a_verdict(backend: str) -> None:
    edits = (("        self._mailbox.put(position)\n", "        pass\n"),)
    scenario = load(
        json.dumps(
            {
                "scenario": "gnomon/1",
                "id": "one-call",
                "title": "one call",
                "clauses": ["SCD-10"],
                "tools": [{"name": "act", "body": [{"return": {"value": 1}}]}],
                "batches": [{"id": "b1", "calls": [{"id": "c1", "name": "act"}]}],
                "schedule": [{"open": {}}],
            }
        ),
        "here",
    )
    with runtime_with("scheduler", *edits) as runtime:
        texts = [one.text for one in conform(scenario, Builtin(runtime), backend).problems]
    assert any("more has to happen first: result.logged of call 1 (c1)" in text for text in texts), texts
    assert any("the batch never ends" in text for text in texts), texts
