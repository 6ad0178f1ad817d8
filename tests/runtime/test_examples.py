"""The examples run, and say what they are said to say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

SAID = {
    "permission_prompt.py --yes": ["buy milk", "9", "DENIED"],
    "permission_prompt.py --no": ["buy milk", "APPROVAL_REJECTED", "APPROVAL_REJECTED"],
    "retry_with_timeout.py": ["the page", *(f"attempt {n} on http://example.com" for n in (1, 2, 3))],
    "composite_tool.py": [
        "4 submitted",
        "the turn ends",
        "the index of 'sun' is a day old",
        "the index of 'moon' is a day old",
    ],
    "agent_loop.py": [
        "Ghent: rain; Error: there is no such city",
        "0 turn/start",
        "1 step/start",
        "2 assistant/calls",
        "3 tool/call",
        "4 tool/call",
        "5 tool/result",
        "6 context/accepted",
        "7 tool/result",
        "8 step/end",
        "9 step/start",
        "10 step/end",
        "11 turn/end",
    ],
    "sqlite_session.py": [
        "6 records outlived the crash, repair added 5",
        "c1: the moon: fine",
        "c2: TOOL_OUTCOME_UNKNOWN",
        "c3: TOOL_NOT_STARTED",
        "repaired again: 0 more",
    ],
}


@pytest.mark.process
@pytest.mark.parametrize("command", SAID)
def test_an_example_runs(command: str) -> None:
    name, *arguments = command.split()
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == SAID[command]


def test_every_example_is_run() -> None:
    with_a_real_client = {"provider_loop.py"}  # in test_provider_loop.py
    run = {command.split()[0] for command in SAID} | with_a_real_client
    assert {path.name for path in EXAMPLES.glob("*.py")} == run


@pytest.mark.process
def test_the_permission_prompt_asks_at_the_terminal() -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "permission_prompt.py")],
        input="y\nn\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["buy milk", "9"]
    assert "notes.txt will be overwritten" in done.stderr
