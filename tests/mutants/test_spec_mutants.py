"""Every mutant of the specification is caught by the property named for it, in the words named for it."""

from __future__ import annotations

import pytest
from mutants import NOBODY_SAYS, SPECIFICATION, Mutant

from gnomon_spec import properties

MUTANTS = SPECIFICATION.mutants()


def test_there_are_enough_of_them_and_they_are_well_formed() -> None:
    assert len(MUTANTS) >= 30
    assert len({one.id for one in MUTANTS}) == len(MUTANTS)
    assert {one.check for one in MUTANTS} <= set(properties.ALWAYS)


@pytest.mark.parametrize("check", sorted({one.check for one in MUTANTS}))
def test_the_specification_as_it_is_breaks_nothing(check: str) -> None:
    assert SPECIFICATION.judge(SPECIFICATION.package.parent, check, NOBODY_SAYS).texts == ()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.id)
def test_a_mutant_is_caught_as_it_should_be(mutant: Mutant) -> None:
    assert SPECIFICATION.run(mutant).problem is None


def test_every_property_catches_something() -> None:
    spared = {
        "Citation": "no transition of the machine writes citations; logs do, and gnomon verify judges them"
    }
    assert set(properties.ALWAYS) - {one.check for one in MUTANTS} == set(spared)
