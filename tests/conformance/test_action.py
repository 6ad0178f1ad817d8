"""The action for continuous integration: its own script, run as a runner runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


@dataclass(frozen=True)
class Done:
    code: int
    told: str
    summary: str
    outputs: dict[str, str]


def run_step(tmp_path: Path, **inputs: str) -> Done:
    """Run the step that conforms, with the `gnomon` of these tests in place of an installed one."""
    step = next(one for one in STEPS if one.get("id") == "conform")
    binaries = tmp_path / "runner" / "gnomon" / "bin"
    binaries.mkdir(parents=True)
    for name in ("gnomon", "python"):
        program = binaries / name
        program.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).with_name(name)}" "$@"\n')
        program.chmod(0o755)
    given = {name: str(field.get("default", "")) for name, field in ACTION["inputs"].items()} | inputs
    environment = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    summary, outputs = tmp_path / "summary", tmp_path / "outputs"
    outputs.touch()
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **os.environ,
            **environment,
            "RUNNER_TEMP": str(tmp_path / "runner"),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(outputs),
            "PYTHONPATH": str(Path(__file__).parent),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    lines = outputs.read_text().splitlines()
    return Done(
        done.returncode,
        done.stdout + done.stderr,
        summary.read_text() if summary.exists() else "",
        dict(line.split("=", 1) for line in lines),
    )


@pytest.mark.process
def test_what_came_of_it_stands_in_the_summary(tmp_path: Path) -> None:
    done = run_step(tmp_path, target="builtin")
    assert done.code == 0, done.told
    assert done.summary.startswith("## builtin ")
    assert done.outputs["report"] == "gnomon-report"
    assert done.outputs["scope"].startswith("specification 1.0: ")
    assert (tmp_path / "gnomon-report" / "report.html").exists()


@pytest.mark.process
def test_a_violation_fails_the_step_and_is_told_all_the_same(tmp_path: Path) -> None:
    done = run_step(tmp_path, target="python:bent_subject:Bent", report="out; touch oops")
    assert done.code == 1
    assert "### Violations" in done.summary
    assert (tmp_path / "out; touch oops" / "junit.xml").exists()
    assert not (tmp_path / "oops").exists()


@pytest.mark.process
def test_wrong_usage_fails_the_step_and_writes_nothing(tmp_path: Path) -> None:
    done = run_step(tmp_path, target="$(touch oops)", baseline="not there.toml")
    assert done.code == 2
    assert "not there.toml: cannot be read" in done.told
    assert (done.summary, done.outputs) == ("", {})
    assert not (tmp_path / "oops").exists()


def test_no_input_is_read_as_a_command() -> None:
    assert all("${{" not in step.get("run", "") for step in STEPS)
    used = {value for step in STEPS for value in {**step.get("env", {}), **step.get("with", {})}.values()}
    assert used == {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]}, "each is used, and no other"
