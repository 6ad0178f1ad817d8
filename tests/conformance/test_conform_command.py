"""`gnomon conform`, `gnomon explore` and `gnomon demo`, as commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon_check.cli import app
from gnomon_check.scenario_files import dump, shipped
from gnomon_check.vectors import FOLDER

ROOT = Path(__file__).parents[2]
SHIPPED = len(list(shipped()))


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, arguments)
    assert not isinstance(result.exception, Exception), result.exception
    return result.exit_code, result.output


def test_builtin_conforms() -> None:
    code, output = run("conform", "builtin")
    assert code == 0
    assert f"builtin: {SHIPPED} scenarios on asyncio and trio: conforms" in output
    assert "fr-ord-1                         SCD-6 SCD-10              conforms" in output


def test_json_is_for_machines() -> None:
    code, output = run("conform", "builtin", "--backend", "trio", "--json")
    report = json.loads(output)
    assert code == 0
    assert report["conforms"] is True
    assert {one["backend"] for one in report["runs"]} == {"trio"}
    assert len(report["runs"]) == SHIPPED


def test_a_violation_is_shown_and_exits_with_1(tmp_path: Path) -> None:
    scenario = next(one for one in shipped() if one.id == "fr-ord-1")
    text = dump(scenario).replace('"code": "OK"', '"code": "DENIED"')
    (tmp_path / "one.json").write_text(text)
    code, output = run("conform", "builtin", "--scenario", str(tmp_path / "one.json"))
    assert code == 1
    assert "FR-ORD-1: call 1 must be DENIED, and it is OK" in output
    assert "does not conform: 1 with violations" in output


def test_a_shipped_scenario_is_run_by_its_id() -> None:
    code, output = run("conform", "builtin", "-s", "fr-ord-1", "-s", "edge-borrowed-failure")
    assert code == 0
    assert "2 scenarios on asyncio and trio: conforms" in output


def test_a_scenario_that_is_nowhere_is_refused() -> None:
    code, output = run("conform", "builtin", "-s", "fr-ord-0")
    assert code == 2
    assert output.strip() == "fr-ord-0: there is no such file, and no scenario of that id is shipped"


def test_the_scenarios_of_vectors_are_run() -> None:
    code, output = run("conform", "builtin", "--scenario", str(FOLDER / "scenarios.json"))
    assert code == 0
    assert "22 scenarios on asyncio and trio: conforms" in output


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not JSON"),
        ("[]", "not a scenario"),
        ('{"scenario": "gnomon/2"}', "Input should be 'gnomon/1'"),
        ('{"scenario": "gnomon/1", "surprise": 1}', "surprise: Extra inputs are not permitted"),
        (
            '{"vectors": "gnomon/1", "function": "equal", "cases": []}',
            "the vectors of 'equal' are no scenarios",
        ),
        ('{"vectors": "gnomon/1", "function": "run", "cases": 1}', "the vectors of 'run' are no scenarios"),
        ('{"vectors": "gnomon/1", "function": "run", "cases": [1]}', "case 0: its input has no scenario"),
        (
            '{"vectors": "gnomon/1", "function": "run", "cases": [{"input": {"scenario": {}}}]}',
            "case 0: not a scenario",
        ),
    ],
)
def test_a_scenario_that_cannot_be_used_is_one_line(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(content)
    code, output = run("conform", "builtin", "-s", str(tmp_path / "bad.json"))
    assert code == 2
    assert words in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "arguments",
    [
        ("conform", "nothing-like-it"),
        ("conform", "builtin", "--backend", "curio"),
        ("conform", "builtin", "-s", "nowhere.json"),
        ("explore", "--calls", "-1"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments)[0] == 2


def test_explore_tells_what_was_seen() -> None:
    code, output = run("explore", "--calls", "2", "--parallel", "2", "--abort", "--failure")
    assert code == 0
    assert "3,177 states" in output
    assert "every property holds" in output
    report = json.loads(run("explore", "--calls", "2", "--json")[1])
    assert report["broken"] is None
    assert report["states"] == 637


def test_the_demo_judges_as_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code, output = run("demo")
    assert code == 0
    assert output.count(": broken (") == 3
    assert output.count(": holds (") == 2


def test_explore_call_tells_how_often_each_code_came_out() -> None:
    code, output = run("explore-call", "--wrappers", "0", "--post", "1")
    assert code == 0
    assert "every property holds" in output
    assert "ways to APPROVAL_REJECTED" in output
    report = json.loads(run("explore-call", "--pre", "0", "--guards", "1", "--wrappers", "0", "--json")[1])
    assert report["broken"] is None
    assert report["codes"]["DENIED"] > 0
