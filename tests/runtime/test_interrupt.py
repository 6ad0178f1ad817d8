"""Ctrl-C in a real process leaves a log that holds."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon.session import read_log
from gnomon_check.cli import app

PROGRAM = Path(__file__).with_name("interrupted_batch.py")


@pytest.mark.clause("PY-3")
@pytest.mark.process
@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_ctrl_c_during_a_batch_leaves_a_complete_log(backend: str, attempt: int, tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    with subprocess.Popen(
        [sys.executable, str(PROGRAM), backend, str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    codes = [one.data["error"]["code"] for one in read_log(log).records if one.type == "tool/result"]
    assert codes == ["ABORTED"] * 3 + ["ABORTED_BEFORE_DISPATCH"] * 3
    result = CliRunner().invoke(app, ["verify", str(log)])
    assert result.exit_code == 0, result.output
