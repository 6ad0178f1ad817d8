"""The machinery: steps, refusals, the clause marker."""

from __future__ import annotations

import pytest

from gnomon_spec import batch, machine
from gnomon_spec.kernel import REALISED, NotEnabled, Refused
from gnomon_spec.vocabulary import Mode, call


def test_a_forbidden_action_is_refused_with_its_clause() -> None:
    opened = batch.open_batch((Mode.PARALLEL, Mode.PARALLEL), 1).state
    with pytest.raises(NotEnabled) as caught:
        machine.step(opened, machine.Start(1))
    assert caught.value.refused.clause == "SCD-1"
    assert machine.refused(opened, machine.Start(0)) is None
    assert machine.refused(opened, machine.Close()) == Refused("SCD-10", "call 0 has no result yet")


def test_equal_calls_are_one_object() -> None:
    assert call(Mode.PARALLEL) is call(Mode.PARALLEL)


def test_functions_are_found_by_their_clauses() -> None:
    assert batch.skip in REALISED["SCD-8"]
