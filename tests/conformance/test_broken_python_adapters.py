"""The adapter in Python, broken in one place: what each copy gets wrong, and the clause that says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from broken_copies import Broken, broken_copies, is_found_by_its_clause_alone
from python_template import FOLDER, loaded

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.scenario_files import shipped

BROKEN = broken_copies("broken_python_adapters.toml")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: one.name)
def test_it_is_found_by_its_clause_and_by_nothing_that_has_to_do_with_other_profiles(
    broken: Broken, backend: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "broken", ignore=shutil.ignore_patterns("__pycache__"))
    broken.breaks(folder)
    with loaded(folder) as adapter:
        runs = [conform(one, adapter, backend) for one in shipped()]
    is_found_by_its_clause_alone(broken, runs)


def test_there_are_enough_of_them_and_each_is_another() -> None:
    assert len(BROKEN) >= 8
    assert len({(one.old, one.new) for one in BROKEN}) == len({one.name for one in BROKEN}) == len(BROKEN)
