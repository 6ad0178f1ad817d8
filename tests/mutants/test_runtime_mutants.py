"""Mutants of the runtime: every edit applies, and a dozen of them, another with each commit, is caught here.

`make mutants` runs all of them.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from mutants import ROOT, RUNTIME, Mutant

from gnomon_spec import register

MUTANTS = RUNTIME.mutants()
DOZEN = 12


def turn() -> int:
    """How often the project was committed to; 0 where nobody knows."""
    done = subprocess.run(
        ["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(done.stdout) if done.returncode == 0 else 0


def rotating() -> list[Mutant]:
    """A dozen that stand apart from each other, so that they are of several chapters."""
    # What drawn scenarios reach changes with every change of their strategies: `make mutants` runs those.
    steady = [one for one in MUTANTS if not one.check.startswith("drawn")]
    step = len(steady) // DOZEN
    first = turn() % step
    return steady[first::step][:DOZEN]


def test_there_are_enough_of_them_of_every_chapter_and_they_are_well_formed() -> None:
    assert len(MUTANTS) >= 80
    assert len({one.id for one in MUTANTS}) == len(MUTANTS)
    assert {one.clause for one in MUTANTS} <= set(register.clauses())
    assert all(one.words for one in MUTANTS)
    chapters = Counter(one.clause.split("-")[0] for one in MUTANTS)
    spared = {
        "ERR": "codes and texts are in the mutants of the chapters that give them",
        "PTC": "there is no code runtime yet",
    }
    assert {one.id for one in register.chapters()} - set(chapters) == set(spared)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.id)
def test_an_edit_applies(mutant: Mutant, tmp_path: Path) -> None:
    RUNTIME.apply(mutant, tmp_path)
    for module, _, _ in mutant.edits:
        path = tmp_path / "gnomon" / f"{module}.py"
        compile(path.read_text(), str(path), "exec")


@pytest.mark.parametrize("mutant", rotating(), ids=lambda one: one.id)
def test_a_mutant_is_caught_as_it_should_be(mutant: Mutant) -> None:
    assert RUNTIME.run(mutant).problem is None
