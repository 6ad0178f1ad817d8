"""What people read when specification and runtime disagree: all of it, small, and once more on demand."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest
from golden_text import is_golden
from hypothesis import find
from patched import runtime_with
from seeded_faults import FAULTS, SEARCH
from typer.testing import CliRunner

from gnomon_check import replay
from gnomon_check.cli import app
from gnomon_check.conform import Run, conform
from gnomon_check.generate import scenarios
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin

TOLD = (
    "commits on settlement",
    "lets a call overlap an exclusive one",
    "replaces an error by a cancellation",
)


@cache
def shrunk(fault: str) -> Scenario:
    """The smallest scenario in which a fault shows, by the clause that it breaks."""
    module, edits, clause = FAULTS[fault]
    with runtime_with(module, *edits) as runtime:
        return find(scenarios(), lambda one: clause in clauses(run(one, runtime)), settings=SEARCH)


def run(scenario: Scenario, runtime: type) -> Run:
    return conform(scenario, Builtin(runtime), "asyncio")


def clauses(found: Run) -> set[str]:
    return {one.clause for one in found.problems}


@pytest.mark.parametrize("fault", TOLD)
def test_a_disagreement_is_told_as_it_was(fault: str) -> None:
    module, edits, _ = FAULTS[fault]
    with runtime_with(module, *edits) as runtime:
        found = run(shrunk(fault), runtime)
    text = replay.told(found, "builtin", Path("build/disagreements/FILE.json"))
    is_golden(f"{fault.replace(' ', '-')}.txt", text + "\n")


@pytest.mark.parametrize("fault", TOLD)
def test_no_step_of_what_is_left_can_be_left_out(fault: str) -> None:
    module, edits, clause = FAULTS[fault]
    smallest = shrunk(fault)
    with runtime_with(module, *edits) as runtime:
        assert clause in clauses(run(smallest, runtime))
        for number in range(1, len(smallest.schedule)):
            fewer = [one for at, one in enumerate(smallest.schedule) if at != number]
            assert clause not in clauses(run(smallest.model_copy(update={"schedule": fewer}), runtime)), (
                number
            )


def test_what_is_kept_disagrees_again_and_once_mended_agrees(tmp_path: Path) -> None:
    fault = TOLD[0]
    module, edits, _ = FAULTS[fault]
    with runtime_with(module, *edits) as runtime:
        found = conform(shrunk(fault), Builtin(runtime), "trio", b"\x01\x02")
        path = replay.keep(found, tmp_path / "kept")
        kept = replay.load(path)
        again = conform(kept.scenario, Builtin(runtime), kept.backend, kept.order)
    assert replay.told(again, "builtin", path) == replay.told(found, "builtin", path)
    done = CliRunner().invoke(app, ["replay", str(path)])
    assert done.exit_code == 0, done.output
    assert "builtin on trio and the specification agree" in done.output


def test_a_file_that_disagrees_is_told_by_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, edits, _ = FAULTS[TOLD[0]]
    with runtime_with(module, *edits) as runtime:
        found = run(shrunk(TOLD[0]), runtime)
        path = replay.keep(found, tmp_path)
        monkeypatch.setattr(sys.modules["gnomon_check.targets.named"], "Builtin", lambda: Builtin(runtime))
        done = CliRunner().invoke(app, ["replay", str(path)])
    assert done.exit_code == 1
    assert done.output == replay.told(found, "builtin", path) + "\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "no file of a disagreement"),
        ('{"replay": "gnomon-replay/1", "backend": "curio"}', "no backend 'curio'"),
        ('{"replay": "gnomon-replay/1", "backend": "trio", "scenario": {}}', "not a scenario"),
        ('{"replay": "gnomon-replay/1", "backend": "trio", "order": "zz", "scenario": {}}', "not a scenario"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text)
    done = CliRunner().invoke(app, ["replay", str(path)])
    assert done.exit_code == 2
    assert why in done.stderr
    missing = CliRunner().invoke(app, ["replay", str(tmp_path / "nowhere.json")])
    assert missing.exit_code == 2
    assert "cannot be read" in missing.stderr


def test_golden_texts_are_not_updated_where_ci_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GNOMON_UPDATE_GOLDEN", "1")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(AssertionError, match="where CI runs"):
        is_golden("nothing", "nothing")
