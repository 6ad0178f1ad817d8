"""The shipped scenarios, made after failures that people reported, on both backends."""

from __future__ import annotations

import pytest

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.refinement import key_of
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin

SCENARIOS = list(shipped("field-reports"))


def test_every_report_that_was_collected_is_a_scenario() -> None:
    assert len(SCENARIOS) == 63
    assert len({one.id for one in SCENARIOS}) == 63
    assert all(one.report is not None and one.report.results for one in SCENARIOS)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
def test_the_built_in_runtime_conforms(scenario: Scenario, backend: str) -> None:
    assert conform(scenario, Builtin(), backend).problems == ()


@pytest.mark.clause("PY-1")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
def test_both_backends_show_the_same_events(scenario: Scenario) -> None:
    """Trio starts tasks that are ready together in any order, so a window is compared as a set."""
    windows = [conform(scenario, Builtin(), backend).windows for backend in BACKENDS]
    for one, other in zip(*windows, strict=True):
        assert (one.blocked, one.idle) == (other.blocked, other.idle)
        keys = [sorted(repr(key_of(event)) for event in window.events) for window in (one, other)]
        assert keys[0] == keys[1]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.id)
def test_the_report_is_an_assertion_of_its_own(scenario: Scenario) -> None:
    """Seen to fail: another expectation of the report, and only the report complains."""
    assert scenario.report is not None
    wrong = [one.model_copy(update={"code": "SOMETHING_ELSE"}) for one in scenario.report.results]
    changed = scenario.model_copy(update={"report": scenario.report.model_copy(update={"results": wrong})})
    problems = conform(changed, Builtin(), "asyncio").problems
    assert {one.judge for one in problems} == {"report"}
    assert len(problems) == len(wrong)
