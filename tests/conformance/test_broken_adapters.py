"""The adapter in JavaScript, broken in one place: what each copy gets wrong, and the clause that says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from broken_copies import Broken, broken_copies, is_found_by_its_clause_alone

from gnomon_check import adapters
from gnomon_check.conform import conform
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.remote import Remote

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here to run it"),
]


@pytest.mark.parametrize("broken", broken_copies("broken_adapters.toml"), ids=lambda one: one.name)
def test_it_is_found_by_its_clause_and_by_nothing_that_has_to_do_with_other_profiles(
    broken: Broken, tmp_path: Path
) -> None:
    folder = shutil.copytree(adapters.FOLDER / "javascript", tmp_path / "broken")
    broken.breaks(folder)
    with Remote(adapters.command("javascript", folder), seconds=60) as remote:
        runs = [conform(one, remote, "stdio") for one in shipped()]
    is_found_by_its_clause_alone(broken, runs)
