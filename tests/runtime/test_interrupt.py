"""Ctrl-C in a real process leaves a log that holds."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon.session import read_log
from gnomon_check.cli import app

PROGRAM = Path(__file__).with_name("interrupted_batch.py")


@contextmanager
def running(backend: str, log: Path) -> Iterator[subprocess.Popen[str]]:
    """The program, once its batch runs; it is killed on every way out, if it has not ended by then."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), backend, str(log)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "running\n"
            yield process
        finally:
            process.kill()
            process.wait()


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
