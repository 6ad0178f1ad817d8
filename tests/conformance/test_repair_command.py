"""`gnomon repair` through the real command line: sentences, exit codes, and logs that are left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gnomon import JsonlSession
from gnomon.session import read_log
from gnomon_check.cli import app

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
TORN = (SAMPLES / "session-torn-and-unanswered.jsonl").read_bytes()
GOOD = (SAMPLES / "session-good.jsonl").read_bytes()


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log whose process was killed in the middle of a record."""
    path = tmp_path / "log"
    path.write_bytes(TORN)
    return path


@pytest.mark.clause("LOG-3", "REP-1")
def test_a_torn_log_with_open_calls_is_repaired_to_one_that_verify_accepts(log: Path) -> None:
    assert run("verify", log).exit_code == 1
    done = run("repair", log)
    assert done.exit_code == 0
    assert done.stdout == (
        f"{log}: repaired\n"
        f"  a torn last record: 86 bytes dropped, kept in {log}.torn-1 (LOG-3)\n"
        "  call_version: may have run, TOOL_OUTCOME_UNKNOWN (REP-1)\n"
        "  call_search: may have run, TOOL_OUTCOME_UNKNOWN (REP-1)\n"
        "  turn 0: closed as interrupted (REP-1)\n"
    )
    assert run("verify", log).exit_code == 0
    repaired = log.read_bytes()
    again = run("repair", log)
    assert (again.exit_code, again.stdout) == (0, f"{log}: nothing to repair\n")
    assert log.read_bytes() == repaired


@pytest.mark.clause("REP-1")
def test_calls_that_were_never_started_are_told_apart(log: Path) -> None:
    lines = TORN.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:4]))
    done = run("repair", log)
    assert done.stdout.splitlines()[1:] == [
        "  call_notes: may have run, TOOL_OUTCOME_UNKNOWN (REP-1)",
        "  call_version: never started, TOOL_NOT_STARTED (REP-1)",
        "  call_search: never started, TOOL_NOT_STARTED (REP-1)",
        "  turn 0: closed as interrupted (REP-1)",
    ]
    assert run("verify", log).exit_code == 0


def test_a_dry_run_says_what_is_to_do_and_does_nothing(log: Path) -> None:
    done = run("repair", "--dry-run", log)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:2] == [
        f"{log}: to repair",
        "  a torn last record: 86 bytes dropped (LOG-3)",
    ]
    assert log.read_bytes() == TORN
    assert list(log.parent.iterdir()) == [log]
    log.write_bytes(GOOD)
    assert run("repair", "--dry-run", log).exit_code == 0


@pytest.mark.clause("REP-1")
def test_a_balanced_log_is_left_alone(log: Path) -> None:
    log.write_bytes(GOOD)
    assert run("repair", log).exit_code == 0
    assert log.read_bytes() == GOOD


def test_a_log_that_is_being_written_is_not_touched(log: Path) -> None:
    log.write_bytes(b"".join(TORN.splitlines(keepends=True)[:4]))
    before = log.read_bytes()
    with JsonlSession(log):
        done = run("repair", log)
        assert log.read_bytes() == before
    assert done.exit_code == 2
    assert "cannot be repaired" in done.stdout
    assert "another writer has this log open" in done.stdout
    assert run("repair", log).exit_code == 0


@pytest.mark.clause("LOG-3")
def test_what_cannot_be_repaired_is_said_and_the_other_logs_are_repaired(log: Path, tmp_path: Path) -> None:
    damaged, list_of_messages = tmp_path / "damaged", tmp_path / "messages"
    damaged.write_bytes(GOOD.replace(b"call_tests", b"call_texts", 1))
    list_of_messages.write_bytes((SAMPLES / "openai-good.json").read_bytes())
    before = {path: path.read_bytes() for path in (damaged, list_of_messages)}
    done = run("repair", damaged, list_of_messages, tmp_path, tmp_path / "nowhere", log)
    assert done.exit_code == 2
    said = [line for line in done.stdout.splitlines() if "cannot be repaired" in line]
    assert [any(word in line for line in said) for word in ("record is damaged", "no session log")] == [
        True
    ] * 2
    assert [any(word in line for line in said) for word in ("a directory", "no such file")] == [True] * 2
    assert {path: path.read_bytes() for path in before} == before
    assert not (tmp_path / "nowhere").exists()
    assert run("verify", log).exit_code == 0


def test_json_for_machines(log: Path) -> None:
    told = json.loads(run("repair", "--json", log, log).stdout)
    assert (told["exit_code"], told["dry_run"]) == (0, False)
    first, second = told["logs"]
    assert first == {
        "file": str(log),
        "dropped_bytes": 86,
        "kept": f"{log}.torn-1",
        "unknown": ["call_version", "call_search"],
        "not_started": [],
        "closed_turn": 0,
        "why_not": None,
        "changes": True,
    }
    assert Path(first["kept"]).read_bytes() == TORN[-86:]
    assert second["changes"] is False
    assert read_log(log).records[-1].data == {"turn": 0, "reason": "interrupted"}
    missing = run("repair", "--json", log.parent / "nowhere")
    assert missing.exit_code == json.loads(missing.stdout)["exit_code"] == 2
