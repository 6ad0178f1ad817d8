"""The benchmark runs, and has all its rows. What it measures is not looked at: that is the machine's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PEERS = ("pydantic-ai-slim", "langgraph", "openai-agents", "haystack-ai", "agent-framework-core")
ROWS = {
    "goals": [
        "one call, no hooks, no log",
        "one call in a batch, log in memory",
        "the same, a listener, guard or observer at every stage",
        "ten calls in a batch, log in memory",
        "the same, a listener, guard or observer at every stage",
        "ten calls in a batch, log in a new file",
        "ten calls in a batch, log in memory, on trio",
        "snapshot of a value of 50 nodes",
        "a record on the disk, 16 producers",
    ],
    "growth": [
        "a call of a batch: of 3",
        "a call of a batch: of 10",
        "a call of a batch: of 100",
        "a listener of each waterfall: of 16",
        "a node of a call's arguments: of 10",
        "a node of a call's arguments: of 100",
        "a record appended, in memory: of 10",
        "a record appended, in memory: of 100",
        "a record appended, in a file: of 10",
        "a record appended, in a file: of 100",
        "one call, in a session of 1 turns in memory",
        "one call, in a session of 10 turns in memory",
        "one call, in a session of 1 turns in a file",
        "one call, in a session of 10 turns in a file",
    ],
    "memory": [f"peak of a batch of 50 calls, pool of {pool}" for pool in (1, 10, 100)],
    "conform": [
        "a scenario is run",
        "a scenario is judged",
        "scenarios run",
        "scenarios judged",
        "scenarios run and judged",
    ],
}


def quickly(*options: str) -> str:
    command = [sys.executable, "-W", "error", "-m", "benchmarks", "--quick", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.process
def test_every_row_is_measured() -> None:
    parts = [option for part in ROWS for option in ("--part", part)]
    rows: list[dict[str, Any]] = json.loads(quickly("--json", *parts))
    assert [(row["part"], row["what"]) for row in rows] == [
        (part, what) for part, whats in ROWS.items() for what in whats
    ]
    assert all(row["found"] is not None for row in rows)


@pytest.mark.process
def test_a_peer_is_measured_or_said_to_be_missing() -> None:
    rows = json.loads(quickly("--json", "--part", "peers"))
    for row, name in zip(rows, ("gnomon", *PEERS), strict=True):
        assert row["what"].startswith(f"ten more calls, {name}")
        assert row["found"] is not None or row["why"] == "not installed"


@pytest.mark.process
def test_a_checkout_is_measured_against_another() -> None:
    rows = json.loads(quickly("--json", "--against", str(ROOT)))
    assert {row["unit"] for row in rows} == {"the other checkout"}
    assert all(row["found"] is not None for row in rows)
