"""`gnomon explain`, as a command."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from gnomon_check import tested
from gnomon_check.clauses import Check, Evidence, evidence
from gnomon_check.cli import app
from gnomon_check.cli.explain_clause import show
from gnomon_spec import register
from gnomon_spec.cancellation import cancelled_outcome


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["explain", *arguments])
    assert not isinstance(result.exception, Exception), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_a_clause_is_told_with_reason_code_and_checks() -> None:
    code, output, errors = run("CAN-7")
    assert (code, errors) == (0, "")
    for part in (
        "CAN-7 (must, since 1.0, specified)\nWhere the caller aborts, an error MUST be kept as it is",
        "\nWhy: Only one of the two is safe to retry without looking.\n",
        "\nSeen in: results, vectors.\n",
        f"\ngnomon_spec/cancellation.py:{cancelled_outcome.__code__.co_firstlineno + 1}\n@clause(",
        "\n        return outcome  # CAN-7\n",
        "\nChecked by\n",
        "\n  property CancellationReplacesSuccessOnly: A body's own error is not replaced",
        "\n  scenario fr-can-4: A body's own error survives the abort\n",
        "\n  test tests/spec/test_call_edges.py::test_a_rejection_stays_when_the_caller_aborts\n",
    ):
        assert part in output, part
    assert "\x1b" not in output


def test_an_id_may_be_written_small() -> None:
    assert run("can-7") == run("CAN-7")


def test_a_chapter_is_told_clause_by_clause() -> None:
    code, output, _ = run("ERR")
    assert code == 0
    assert output.startswith("ERR Codes and names of errors\nERR-1")
    assert "\nERR-2 (excluded): Messages are for the model" in output
    assert [line.partition("-")[0] for line in output.splitlines()[1:]] == ["ERR"] * 3
    assert "\nPTC-9 (planned): " in run("PTC")[1]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("SCD-99", "there is no clause SCD-99; nearest: SCD-9, "),
        ("CNA-7", "there is no clause CNA-7; nearest: CAN-7"),
        ("nonsense", "there is no clause nonsense; the chapters are VAL, ARG, SCH, REG, "),
        ("", 'there is no clause ""; the chapters are VAL, '),
        ("SCD-6\n[red]", r"there is no clause SCD-6\n[red]; nearest: SCD-6"),
        ("x" * 500, f"there is no clause {'x' * 37}...; the chapters are "),
    ],
)
def test_an_unknown_id_is_one_line_and_exits_with_2(asked: str, expected: str) -> None:
    code, output, errors = run(asked)
    assert (code, output) == (2, "")
    assert errors.startswith(expected)
    assert errors.count("\n") == 1


def test_json_is_for_machines() -> None:
    told = json.loads(run("SCD-6", "--json")[1])
    assert told["clause"] == "SCD-6"
    assert told["status"] == "specified"
    assert told["observed"] == ["events", "log"]
    assert "ModelOrder" in {row["name"] for row in told["properties"]}
    assert {"fr-ord-1", "fr-ord-4"} <= {row["name"] for row in told["scenarios"]}
    assert "tests/lockstep/test_agreement.py" in {row["file"] for row in told["tests"]}
    assert all(row["file"].startswith("gnomon_spec/") for row in told["code"])
    assert any("SCD-6" in row["source"] for row in told["code"])
    told = json.loads(run("SCD", "--json")[1])
    assert told["chapter"] == "SCD"
    assert len(told["clauses"]) == 16


@pytest.mark.parametrize("one", evidence().values(), ids=lambda one: one.clause.id)
def test_every_clause_can_be_told(one: Evidence) -> None:
    page = io.StringIO()
    show(one, Console(file=page, width=100))
    told = page.getvalue()
    assert one.clause.text in told
    assert "Checked by" in told
    for place in one.marks:
        assert f"{place.file}:{place.line}\n@" in told


def test_what_cannot_be_seen_or_is_planned_says_why() -> None:
    assert "\nCannot be seen from outside. It obliges the authors" in run("SCD-16")[1]
    assert "Not all of it: How a walk keeps its place" in run("VAL-3")[1]
    assert "\n  none: The machine of nested calls is not written yet.\n" in run("PTC-1")[1]


def test_a_clause_of_python_alone_shows_the_lines_of_the_runtime() -> None:
    output = run("PY-2")[1]
    assert "gnomon/pipeline.py:" in output
    assert ": return aborted()  # PY-2\n" in output


def test_many_vectors_are_counted_and_nothing_at_all_is_said() -> None:
    clause = register.clauses()["VAL-1"]
    page = io.StringIO()
    many = Evidence(clause, vectors=tuple(Check(f"snapshot:{n}") for n in range(40)))
    show(many, Console(file=page, width=100))
    assert "vector snapshot:11\n  28 more vectors\n" in page.getvalue()
    page = io.StringIO()
    show(Evidence(clause), Console(file=page, width=100))
    assert page.getvalue().endswith("Code\n  none: not written yet\n\nChecked by\n  nothing of the kit yet\n")


def test_an_installed_wheel_has_no_tests_to_show(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert tested.marked_tests.__wrapped__() == tested.marked_tests() != ()
    monkeypatch.setattr(tested, "_CHECKOUT", tmp_path)
    assert tested.marked_tests.__wrapped__() == ()


def test_a_terminal_gets_colours_and_folded_lines() -> None:
    page = io.StringIO()
    show(evidence()["CAN-7"], Console(file=page, width=60, force_terminal=True, color_system="standard"))
    assert "\x1b[" in page.getvalue()
    assert "Where the caller aborts, an error MUST be kept as it is, \n" in page.getvalue()
