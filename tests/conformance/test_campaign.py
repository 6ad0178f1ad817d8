"""Scenarios that are drawn: a fault is found and made small, the same each time; what was not run is told."""

from __future__ import annotations

import json
import multiprocessing
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patched import runtime_with
from seeded_faults import FAULTS
from typer.testing import CliRunner

from gnomon_check import adapters, campaign
from gnomon_check.campaign import Outcome, Plan, carry_out
from gnomon_check.cli import app
from gnomon_check.drawing import KINDS, Share, look_through
from gnomon_check.orders import Order
from gnomon_check.profiles import PROFILES
from gnomon_check.scenario import Scenario, ScenarioError
from gnomon_check.subject import Stopped
from gnomon_check.targets.builtin import Builtin
from gnomon_check.window import Window

# Observers raise there; that is a warning, and the end of nothing (FIN-3).
pytestmark = pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")

ASYNCIO = ("asyncio",)
FAULT = "commits on settlement"

BENT = """
from contextlib import ExitStack
from patched import runtime_with
from seeded_faults import FAULTS
from gnomon_check.subject import Stopped
from gnomon_check.targets.builtin import Builtin

kept = ExitStack()

def made():
    module, edits, _ = FAULTS["commits on settlement"]
    return Builtin(kept.enter_context(runtime_with(module, *edits)))

class Dies(Builtin):
    def windows(self, scenario, backend, order=None):
        if scenario.id == "generated":
            import os
            os._exit(7)
        return super().windows(scenario, backend, order)
"""


# -- one share ----------------------------------------------------------------------------------


def test_a_fault_is_found_and_made_small() -> None:
    module, edits, clause = FAULTS[FAULT]
    with runtime_with(module, *edits) as runtime:
        first = look_through(Share(1, 0, 200), Builtin(runtime), ASYNCIO)
        found = look_through(Share(1, 0, 200), Builtin(runtime), ASYNCIO, shrinks=True)
    assert first.drawn == found.drawn < 200
    smallest = found.failed
    assert smallest is not None
    assert smallest.problems[0].clause == clause
    assert len(smallest.scenario.batch.calls) == 2
    assert len(smallest.scenario.schedule) == 2, "the batch is opened, and one gate is released"


def test_a_seed_and_a_number_each_draw_others() -> None:
    drawn: dict[tuple[int, int], list[str]] = {}

    class Notes(Builtin):
        def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
            seen.append(json.dumps(scenario.model_dump(by_alias=True, exclude_unset=True)))
            return super().windows(scenario, backend, order)

    for seed, number in [(1, 0), (1, len(KINDS)), (2, 0)]:
        seen = drawn.setdefault((seed, number), [])
        look_through(Share(seed, number, 20), Notes(), ASYNCIO)
    assert len({tuple(one) for one in drawn.values()}) == 3


def test_what_is_drawn_is_within_the_claims() -> None:
    class Modest(Builtin):
        claims = frozenset(PROFILES) - {"HOOKS"}
        observers = 0

        def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
            assert all(one.on == "result" for one in scenario.hooks)  # observers are CONTENT
            self.observers += len(scenario.hooks)
            return super().windows(scenario, backend, order)

    modest = Modest()
    tally = look_through(Share(1, 1, 50), modest, ASYNCIO)
    assert (tally.drawn, tally.ran, tally.not_claimed) == (50, 50, 0)
    assert modest.observers > 0


def test_what_cannot_be_had_within_the_claims_is_not_run_and_counted() -> None:
    class Modest(Builtin):
        claims = frozenset(["HOOKS"])

        def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
            raise AssertionError("nothing can be run on it")

    tally = look_through(Share(1, 1, 50), Modest(), ASYNCIO)
    assert (tally.drawn, tally.ran, tally.not_claimed) == (50, 0, 50)
    assert tally.needed == {"PAIRING"}


def test_who_stops_before_it_is_known_what_he_claims_has_failed() -> None:
    class Gone(Builtin):
        @property
        def claims(self) -> frozenset[str]:  # type: ignore[override]  # here nobody knows
            raise Stopped("process", "it has ended")

    tally = look_through(Share(1, 0, 50), Gone(), ASYNCIO)
    assert tally.failed is not None
    assert "it has ended" in tally.failed.problems[0].text


def test_what_cannot_be_run_is_counted_apart() -> None:
    class Plain(Builtin):
        def cannot(self, scenario: Scenario) -> str | None:
            return "it has no guards" if scenario.guards else None

    tally = look_through(Share(1, 1, 50), Plain(), ASYNCIO)
    assert [*tally.not_testable] == ["this scenario: it has no guards"]
    assert tally.ran == 50 - tally.not_testable.total() > 0


def test_what_is_refused_at_its_start_is_none_of_them() -> None:
    class Picky(Builtin):
        asked = judged = 0

        def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
            self.asked += 1
            if self.asked % 2:
                raise ScenarioError("it asks for what is refused")
            self.judged += 1
            return super().windows(scenario, backend, order)

    picky = Picky()
    assert look_through(Share(1, 0, 30), picky, ASYNCIO).drawn == picky.judged == 30


def test_what_does_not_fail_each_time_is_told_all_the_same() -> None:
    module, edits, _ = FAULTS[FAULT]

    class Wavering(Builtin):
        def __init__(self, broken: type) -> None:
            super().__init__(broken)
            self.mended = False

        def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
            return (Builtin() if self.mended else super()).windows(scenario, backend, order)

    with runtime_with(module, *edits) as runtime:
        wavering = Wavering(runtime)
        search = look_through(Share(1, 0, 200), wavering, ASYNCIO)
        assert search.failed is not None
        assert not search.wavers
        seen = iter(range(10_000))
        most = search.drawn

        class Once(Wavering):
            def windows(
                self, scenario: Scenario, backend: str, order: Order | None = None
            ) -> Iterator[Window]:
                self.mended = next(seen) >= most
                return super().windows(scenario, backend, order)

        once = look_through(Share(1, 0, 200), Once(runtime), ASYNCIO, shrinks=True)
    assert once.failed is not None
    assert once.wavers


# -- a campaign ---------------------------------------------------------------------------------


def invoke(*words: str) -> Any:
    return CliRunner().invoke(app, ["conform", *words])


@pytest.fixture
def bent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "bent_for_campaign.py").write_text(BENT)
    monkeypatch.chdir(tmp_path)
    return "python:bent_for_campaign"


@pytest.mark.process
def test_the_same_failure_is_told_however_many_processes_look_for_it(bent: str) -> None:
    words = (f"{bent}:made", "--generate", "300", "--seed", "5", "--backend", "asyncio")
    alone, together = invoke(*words), invoke(*words, "--jobs", "2")
    assert alone.exit_code == together.exit_code == 1, alone.output
    assert alone.output == together.output
    assert "results go in model order: SCD-6" in alone.output
    assert (
        "scenarios drawn from seed 5, all of them run on asyncio: the last one does not conform"
        in alone.output
    )
    (path,) = Path("build/disagreements").glob("generated-*.json")
    command = f"gnomon replay {path} --target {bent}:made"
    assert command in alone.output
    again = CliRunner().invoke(app, command.split()[1:])
    assert again.exit_code == 1
    assert alone.output.startswith(again.output)
    mended = CliRunner().invoke(app, ["replay", str(path)])
    assert mended.exit_code == 0, mended.output


@pytest.mark.process
def test_nothing_is_found_where_there_is_nothing(tmp_path: Path) -> None:
    done = invoke("builtin", "--generate", "40", "--seed", "3", "--jobs", "2", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert (told["drawn"], told["ran"], told["conforms"], told["kept"]) == (40, 40, True, None)


@pytest.mark.process
def test_a_process_goes_before_it_remembers_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Counted(campaign._Worker):
        def __init__(self, plan: Plan) -> None:
            started.append(plan)
            super().__init__(plan)

    monkeypatch.setattr(campaign, "_Worker", Counted)
    plan = Plan("builtin", 12, 3, ASYNCIO, 60.0)
    kept = carry_out(plan, jobs=1, progress=lambda _: None)
    assert (plan.shares, len(started)) == (4, 1)
    monkeypatch.setattr(campaign, "_WORN_OUT", 1)
    assert carry_out(plan, jobs=1, progress=lambda _: None) == kept, "what is drawn does not depend on it"
    assert len(started) == 1 + 4


@pytest.mark.process
def test_a_process_that_dies_is_a_fault_of_the_kit(bent: str) -> None:
    done = invoke(f"{bent}:Dies", "--generate", "4", "--backend", "asyncio")
    assert done.exit_code == 4
    assert "a process that runs scenarios ended by itself (exit code 7)" in done.stderr


@pytest.mark.process
def test_ctrl_c_ends_it_with_what_was_found_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    def strike(now: Outcome) -> None:
        raise KeyboardInterrupt

    plan = Plan("builtin", 1_000, 1, ASYNCIO, 20)
    outcome = carry_out(plan, jobs=2, progress=strike)
    assert outcome.interrupted
    assert outcome.tally.drawn == 50
    assert multiprocessing.active_children() == []
    monkeypatch.setattr("gnomon_check.campaign.carry_out", lambda *_, **__: outcome)
    done = invoke("builtin", "--generate", "1000", "--backend", "asyncio")
    assert done.exit_code == 3
    assert (
        "50 scenarios drawn from seed 0, all of them run on asyncio: interrupted; until then" in done.output
    )


@pytest.mark.process
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here to run it")
def test_a_broken_adapter_is_found_and_its_failure_made_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tomllib.loads(Path(__file__).with_name("broken_adapters.toml").read_text())["broken"]
    broken = next(one for one in table if one["clause"] == "SCD-6")
    folder = shutil.copytree(adapters.FOLDER / "javascript", tmp_path / "broken")
    source = (folder / broken["file"]).read_text()
    (folder / broken["file"]).write_text(source.replace(broken["old"], broken["new"]))
    monkeypatch.chdir(tmp_path)
    target = f"exec:{adapters.command('javascript', folder)}"
    done = invoke(target, "--generate", "200", "--seed", "2", "--json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1, told
    assert told["problems"][0]["clause"] == "SCD-6"
    kept = json.loads(Path(told["kept"]).read_text())["scenario"]
    assert len(kept["batches"][0]["calls"]) <= 3
    assert len(kept["schedule"]) <= 5
    again = CliRunner().invoke(app, ["replay", told["kept"], "--target", target])
    assert again.exit_code == 1, again.output
    elsewhere = CliRunner().invoke(app, ["replay", told["kept"]])
    assert elsewhere.exit_code == 2
    assert "builtin runs on asyncio or trio: name another --target" in elsewhere.stderr


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--seed", "1"], "--seed goes with --generate"),
        (["--jobs", "2"], "--jobs goes with --generate"),
        (["--generate", "0"], "greater than or equal to 1"),
        (["--generate", "1", "--report", "here"], "--report does not go with --generate"),
        (["--generate", "1", "--backend", "curio"], "there is no backend 'curio'"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], why: str) -> None:
    done = invoke("builtin", *words)
    assert done.exit_code == 2
    assert why in done.stderr


def test_without_hypothesis_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = invoke("builtin", "--generate", "1")
    assert done.exit_code == 2
    assert "pip install 'gnomon[generate]'" in done.stderr
