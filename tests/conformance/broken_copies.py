"""Copies of an adapter that get one thing wrong: in what table they stand, and how each is to be found."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gnomon_check.conform import Run
from gnomon_check.profiles import needs


class Broken(NamedTuple):
    """A copy that does this: the clause that it breaks, and the profile that every failing scenario needs."""

    name: str
    clause: str
    profile: str
    file: str
    old: str
    new: str

    def breaks(self, folder: Path) -> None:
        """Change the one place in a copy."""
        source = (folder / self.file).read_text()
        assert source.count(self.old) == 1
        (folder / self.file).write_text(source.replace(self.old, self.new))


def broken_copies(table: str) -> list[Broken]:
    """The copies of a table beside this."""
    return [Broken(**one) for one in tomllib.loads(Path(__file__).with_name(table).read_text())["broken"]]


def is_found_by_its_clause_alone(broken: Broken, runs: Sequence[Run]) -> None:
    """Its clause is named, and no scenario fails that has nothing to do with it."""
    found = [run for run in runs if run.problems]
    assert broken.clause in {problem.clause for run in found for problem in run.problems}
    assert [run.scenario.id for run in found if broken.profile not in needs(run.scenario)] == []
