"""Every mutant of the specification is caught by the property named for it, in the words named for it."""

from __future__ import annotations

import pytest
from mutants import SPECIFICATION, Mutant, Outcome

from gnomon_spec import properties

MUTANTS = SPECIFICATION.mutants()


@pytest.fixture(scope="session")
def outcomes() -> dict[str, Outcome]:
    return {one.mutant.id: one for one in SPECIFICATION.run_all(MUTANTS)}


def test_there_are_enough_of_them_and_they_are_well_formed() -> None:
    assert len(MUTANTS) >= 30
    assert len({one.id for one in MUTANTS}) == len(MUTANTS)
    assert {one.check for one in MUTANTS} <= set(properties.ALWAYS)


def test_the_specification_as_it_is_breaks_nothing() -> None:
    said = {check: verdict.texts for check, verdict in SPECIFICATION.unmutated(MUTANTS)}
    assert said == dict.fromkeys({one.check for one in MUTANTS}, ())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.id)
def test_a_mutant_is_caught_as_it_should_be(mutant: Mutant, outcomes: dict[str, Outcome]) -> None:
    assert outcomes[mutant.id].problem is None


def test_every_property_catches_something() -> None:
    spared = {
        "Citation": "no transition of the machine writes citations; logs do, and gnomon verify judges them"
    }
    assert set(properties.ALWAYS) - {one.check for one in MUTANTS} == set(spared)
