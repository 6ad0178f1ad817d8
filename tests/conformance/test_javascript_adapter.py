"""The adapter in JavaScript, and the little runtime in it: held to the specification like anybody else's."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gnomon_check import adapters
from gnomon_check.cli import app
from gnomon_check.conform import conform
from gnomon_check.drawing import KINDS
from gnomon_check.profiles import PROFILES
from gnomon_check.reduction import reduced
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.remote import Remote
from gnomon_check.vectors.scenarios import RUN

NODE = shutil.which("node")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(NODE is None, reason="there is no Node here to run it"),
]
CANNOT = {
    "edge-whole-numbers-kept": "large whole numbers: no number holds 9007199254740993 exactly",
    "fr-jsn-3": "large whole numbers: no number holds 2512292042121000001 exactly",
    "fr-jsn-15": "$hostile enum: JavaScript has no such value, or does not hold it",
}


@pytest.fixture(scope="module")
def javascript() -> Iterator[Remote]:
    with Remote(adapters.command("javascript"), seconds=60) as remote:
        yield remote


def test_it_conforms_in_all_that_it_claims(javascript: Remote) -> None:
    assert javascript.claims == PROFILES.keys() - {"NATIVE", "RESUME"}
    runs = [conform(one, javascript, "stdio") for one in shipped()]
    assert [problem.text for run in runs for problem in run.problems] == []
    assert {run.scenario.id: str(run.cannot) for run in runs if run.cannot is not None} == CANNOT
    assert sum(run.judged for run in runs) == 148


def test_it_conforms_in_the_scenarios_of_the_vectors(javascript: Remote) -> None:
    given = [Scenario.model_validate(case.input["scenario"]) for suite in RUN[2:] for case in suite.cases]
    runs = [conform(one, javascript, "stdio") for one in given]
    assert [problem.text for run in runs for problem in run.problems] == []
    assert [run.scenario.id for run in runs if not run.judged] == ["listener-is-waited-for"]
    assert len(runs) == 174


@given(scenario=st.one_of(KINDS))
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_it_agrees_in_scenarios_that_are_drawn(javascript: Remote, scenario: Scenario) -> None:
    found = conform(reduced(scenario, javascript.claims), javascript, "stdio")
    assert found.judged
    assert found.ok, complaint(found, "javascript")


@pytest.mark.clause("VAL-5")
def test_what_is_not_true_stands_for_no_fresh_value(javascript: Remote) -> None:
    plain = next(one for one in shipped() if one.id == "fr-ord-1").model_dump(
        by_alias=True, exclude_unset=True
    )
    for tool in plain["tools"]:
        tool["body"] = [{"return": {"value": {"$nonce": 1}}}]
    for result in plain["report"]["results"]:
        result["value"] = {"$nonce": 1}
    assert conform(Scenario.model_validate(plain), javascript, "stdio").problems == ()


def test_it_is_copied_to_begin_with(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    done = CliRunner().invoke(app, ["new-adapter", str(folder)])
    assert done.exit_code == 0, done.output
    told = [line for line in done.output.splitlines() if "gnomon smoke" in line]
    assert told == [f"  gnomon smoke 'exec:node {folder}/adapter.mjs'"]
    assert CliRunner().invoke(app, ["smoke", f"exec:{adapters.command('javascript', folder)}"]).exit_code == 0
    assert CliRunner().invoke(app, ["new-adapter", str(folder)]).exit_code == 2
    assert CliRunner().invoke(app, ["new-adapter", str(tmp_path / "x"), "--language", "cobol"]).exit_code == 2
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["new-adapter", str(tmp_path / "file" / "below")])
    assert done.exit_code == 2
    assert "cannot be made: Not a directory" in done.output
