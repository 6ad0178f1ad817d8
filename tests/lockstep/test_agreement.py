"""Specification and runtime agree: on every event of every window, and on what is enabled next."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.generate import policed, scenarios
from gnomon_check.scenario import Scenario, dump
from gnomon_check.targets.builtin import Builtin


def agree(scenario: Scenario, backend: str) -> None:
    found = conform(scenario, Builtin(), backend)
    assert found.ok, "\n".join([*(one.text for one in found.problems), dump(scenario)])


@pytest.mark.clause("DSP-8", "CAN-2", "CAN-6", "CAN-7", "SCD-4", "SCD-5", "SCD-6", "SCD-8", "SCD-10", "PY-1")
@pytest.mark.parametrize("backend", BACKENDS)
@given(scenario=scenarios())
@settings(max_examples=400)
def test_batches_agree(scenario: Scenario, backend: str) -> None:
    agree(scenario, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@given(scenario=policed())
@settings(max_examples=400)
def test_calls_with_policies_around_them_agree(scenario: Scenario, backend: str) -> None:
    agree(scenario, backend)
