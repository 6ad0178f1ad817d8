"""The adapter in JavaScript, broken in one place: what each copy gets wrong, and the clause that says so."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from gnomon_check import adapters
from gnomon_check.conform import conform
from gnomon_check.profiles import needs
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.remote import Remote

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here to run it"),
]


class Broken(NamedTuple):
    """A copy that does this: the clause that it breaks, and the profile that every failing scenario needs."""

    name: str
    clause: str
    profile: str
    file: str
    old: str
    new: str


BROKEN = [
    Broken(**one)
    for one in tomllib.loads(Path(__file__).with_name("broken_adapters.toml").read_text())["broken"]
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.name)
def test_it_is_found_by_its_clause_and_by_nothing_that_has_to_do_with_other_profiles(
    broken: Broken, tmp_path: Path
) -> None:
    folder = shutil.copytree(adapters.FOLDER / "javascript", tmp_path / "broken")
    source = (folder / broken.file).read_text()
    assert source.count(broken.old) == 1
    (folder / broken.file).write_text(source.replace(broken.old, broken.new))
    with Remote(adapters.command("javascript", folder), seconds=60) as remote:
        runs = [conform(one, remote, "stdio") for one in shipped()]
    found = [run for run in runs if run.problems]
    assert broken.clause in {problem.clause for run in found for problem in run.problems}
    assert [run.scenario.id for run in found if broken.profile not in needs(run.scenario)] == []
