"""Ctrl-C in a real process leaves a log that holds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from struck_batch import CALLS, LINES
from typer.testing import CliRunner

from gnomon.session import read_log
from gnomon_check.cli import app

PROGRAM = Path(__file__).with_name("interrupted_batch.py")


STRUCK = Path(__file__).with_name("struck_batch.py")
STRIKES = int(os.environ.get("GNOMON_STRIKES", "6"))
"""How often the other program is interrupted on each backend; `make fuzz-cancel` asks for more."""


@contextmanager
def started(program: Path, backend: str, log: Path) -> Iterator[subprocess.Popen[str]]:
    """A program; it is killed on every way out, if it has not ended by then."""
    with subprocess.Popen(
        [sys.executable, str(program), backend, str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@contextmanager
def running(backend: str, log: Path) -> Iterator[subprocess.Popen[str]]:
    """The program, once its batch runs."""
    with started(PROGRAM, backend, log) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        yield process


@pytest.mark.clause("SCD-8", "SCD-10", "PY-3")
@pytest.mark.process
@pytest.mark.parametrize("attempt", range(STRIKES))
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_ctrl_c_at_any_moment_of_a_batch_leaves_a_complete_log(
    backend: str, attempt: int, tmp_path: Path
) -> None:
    """The moment is that of a line that the program writes, or soon after: which one is drawn."""
    log = tmp_path / "session.jsonl"
    line = random.Random(f"{backend} {attempt}").randrange(LINES)
    with started(STRUCK, backend, log) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = [process.stdout.readline() for _ in range(line + 1)]
        assert all(said), "the batch has come so far"
        process.send_signal(signal.SIGINT)
        process.stdout.read()  # to the end, so that no write of it has to wait
        errors = process.stderr.read()
        assert process.wait(timeout=30) == -signal.SIGINT, errors
    assert errors.endswith("KeyboardInterrupt\n"), errors
    records = read_log(log).records
    assert [one.type for one in records[-2:]] == ["step/end", "turn/end"]
    assert len([one for one in records if one.type == "tool/result"]) == len(CALLS)
    result = CliRunner().invoke(app, ["verify", str(log)])
    assert result.exit_code == 0, result.output


@pytest.mark.clause("PY-3")
@pytest.mark.process
@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_ctrl_c_during_a_batch_leaves_a_complete_log(backend: str, attempt: int, tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    with running(backend, log) as process:
        process.send_signal(signal.SIGINT)
        # Not `communicate`, which closes the input: the program would take that for our end.
        process.wait(timeout=30)
        assert process.stderr is not None
        errors = process.stderr.read()
    assert "KeyboardInterrupt" in errors
    codes = [one.data["error"]["code"] for one in read_log(log).records if one.type == "tool/result"]
    assert codes == ["ABORTED"] * 3 + ["ABORTED_BEFORE_DISPATCH"] * 3
    result = CliRunner().invoke(app, ["verify", str(log)])
    assert result.exit_code == 0, result.output


@pytest.mark.process
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_program_is_not_left_behind(backend: str, tmp_path: Path) -> None:
    """Neither where the test fails, nor where the process of the test is ended from outside."""
    with pytest.raises(ZeroDivisionError), running(backend, tmp_path / "one") as process:
        raise ZeroDivisionError
    assert process.returncode == -signal.SIGKILL
    with running(backend, tmp_path / "two") as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=30) == 1
