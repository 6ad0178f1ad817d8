"""The adapter in Python, and the little runtime in it: held to the specification like anybody else's."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from python_template import FOLDER, loaded
from typer.testing import CliRunner

from gnomon_check.cli import app
from gnomon_check.conform import BACKENDS, conform
from gnomon_check.drawing import KINDS
from gnomon_check.driver import InProcess
from gnomon_check.orders import Order
from gnomon_check.profiles import PROFILES, needs
from gnomon_check.reduction import reduced
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped


@pytest.fixture(scope="module")
def python() -> Iterator[InProcess]:
    with loaded() as adapter:
        yield adapter


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_conforms_in_all_that_it_claims(python: InProcess, backend: str) -> None:
    missing = {"HOOKS", "GUARD", "ASK", "CONTENT", "REGISTRY", "ANNOUNCE", "MISUSE", "RESUME", "NATIVE"}
    assert python.claims == PROFILES.keys() - missing
    runs = [conform(one, python, backend) for one in shipped()]
    assert [problem.text for run in runs for problem in run.problems] == []
    assert [run.scenario.id for run in runs if run.cannot is not None] == []
    assert [run.scenario.id for run in runs if run.judged] == [
        one.id for one in shipped() if needs(one) <= python.claims
    ]
    assert sum(run.judged for run in runs) >= 40


ORDERS = st.none() | st.binary(max_size=80)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_agrees_in_scenarios_that_are_drawn_in_any_order(python: InProcess, backend: str) -> None:
    @given(scenario=st.one_of(KINDS), order=ORDERS)
    @settings(max_examples=300)
    def agree(scenario: Scenario, order: Order | None) -> None:
        found = conform(reduced(scenario, python.claims), python, backend, order)
        assert found.judged, f"it needs {', '.join(found.not_claimed)}"
        assert found.ok, complaint(found, "python")

    agree()


def test_nothing_of_it_is_the_runtime_of_this_package() -> None:
    for name in ("runtime", "values"):
        source = (FOLDER / f"{name}.py").read_text()
        assert "import gnomon" not in source
        assert "from gnomon" not in source


def typed(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What comes of a command, with the `gnomon` of this environment, typed in a folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.process
def test_what_is_printed_can_be_typed(tmp_path: Path) -> None:
    folder = tmp_path / "my runtime"
    done = CliRunner().invoke(app, ["new-adapter", str(folder), "--language", "python"])
    assert done.exit_code == 0, done.output
    told, *steps = done.output.splitlines()
    assert told == f"An adapter in python is in {folder}. It conforms in all that it claims:"
    there, smoke, whole = (step.strip() for step in steps)
    assert (smoke, whole) == ("gnomon smoke python:adapter:Adapter", "gnomon conform python:adapter:Adapter")
    shown = typed(f"{there} && {smoke} && {whole}", tmp_path)
    assert "one call on trio:" in shown.stdout, shown.stderr
    assert "conforms" in shown.stdout.splitlines()[-1]
    assert (shown.returncode, shown.stderr) == (0, "")


BAD: dict[str, tuple[str, str]] = {
    "no module": ("nowhere:Adapter", "ModuleNotFoundError: No module named 'nowhere'"),
    "no name": (":Adapter", "ValueError: Empty module name"),
    "no factory": ("empty:Adapter", "AttributeError: module 'empty' has no attribute 'Adapter'"),
    "no Python": ("broken:Adapter", "SyntaxError: invalid syntax (broken.py, line 1)"),
    "raises at its import": ("raises:Adapter", "KeyError: 'HOME' (raises.py, line 2)"),
    "ends at its import": ("ends:Adapter", "SystemExit: 2 (ends.py, line 1)"),
    "raises when it is made": ("makes:Adapter", "RuntimeError: no runtime (makes.py, line 2)"),
    "is something else": ("makes:Other", "Other answers a dict"),
}
FILES = {
    "empty.py": "",
    "broken.py": "import +",
    "raises.py": "import os\n{}['HOME']\n",
    "ends.py": "raise SystemExit(2)\n",
    "makes.py": "def Adapter():\n    raise RuntimeError('no\\nruntime')\ndef Other():\n    return {}\n",
}


@pytest.mark.process
@pytest.mark.parametrize("how", BAD)
def test_one_that_cannot_be_used_is_told_in_a_line(how: str, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    place, words = BAD[how]
    done = typed(f"gnomon smoke {shlex.quote(f'python:{place}')}", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"python:{place} cannot be used: {words}")
    assert len(done.stderr.splitlines()) == 1


RAISING = """
from gnomon_check.driven import Controls
from gnomon_check.driver import InProcess
from gnomon_check.subject import About

class Raises(InProcess):
    name = "mine"

    def prepare(self, harness):
        raise LookupError("no\\nruntime")

    async def run_batch(self, harness):
        return False

class Unknown(Raises):
    @property
    def about(self):
        return {}["version"]

class Hands(Raises):
    def prepare(self, harness):
        return self

    def finish(self):
        raise OSError("it is gone")

    def abort(self, cause):
        pass
"""
TOLD = {
    "Raises": (
        "In window 1 (the batch is opened) its adapter raised LookupError: no runtime (raising.py, line 10)"
    ),
    "Unknown": "its adapter raised KeyError: 'version' (raising.py, line 18)",
    "Hands": "its adapter raised OSError: it is gone (raising.py, line 25)",
}


@pytest.mark.process
@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("command", ["smoke {}", "conform {} -s fr-ord-1"])
def test_what_an_adapter_raises_is_told_in_a_line(command: str, name: str, tmp_path: Path) -> None:
    if command.startswith("smoke") and name == "Unknown":
        name = "Raises"  # there nobody asks for its version
    (tmp_path / "raising.py").write_text(RAISING)
    done = typed("gnomon " + command.format(f"python:raising:{name}"), tmp_path)
    assert done.returncode == 1
    assert TOLD[name] in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
