"""The vectors of single calls, run on the built-in runtime: it does what they expect, on both backends."""

from __future__ import annotations

import pytest

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.driver import run
from gnomon_check.expectation import as_object
from gnomon_check.refinement import key_of
from gnomon_check.targets.builtin import Builtin
from gnomon_check.vectors.calls import CALL, scenario_of
from gnomon_check.vectors.case import Case

CANNOT = {"call-asked-broken": "nobody can break the approval service of the built-in runtime from outside"}
CASES = [case for case in CALL.cases if case.id not in CANNOT]


def test_what_cannot_be_run_is_named() -> None:
    assert set(CANNOT) <= {case.id for case in CALL.cases}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_runtime_shows_the_windows_of_the_vector(case: Case, backend: str) -> None:
    scenario = scenario_of(case.input)
    expected = CALL.compute(case.input)["windows"]
    windows = [one for one in run(scenario, Builtin(), backend) if one.step is not None]
    for window, wanted in zip(windows, expected, strict=True):
        keys = [key for key in map(key_of, window.events) if key is not None]
        assert [as_object(key) for key in keys] == wanted["events"]
        assert window.idle == wanted["idle"]
    assert conform(scenario, Builtin(), backend).problems == ()
