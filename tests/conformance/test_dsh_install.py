"""How DSH is installed, with an npm that is none: no network is asked for here."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon_check.cli import app
from gnomon_check.targets import dsh as target
from gnomon_check.targets.dsh import ADAPTER, WANTED, CannotInstall, dsh

pytestmark = pytest.mark.process

INSTALLS = """
import json, os, pathlib, sys
with open(os.environ["CALLS"], "a") as calls:
    print(*sys.argv[1:], file=calls)
for name, version in json.loads(pathlib.Path("package.json").read_text())["dependencies"].items():
    package = pathlib.Path("node_modules", name, "package.json")
    package.parent.mkdir(parents=True)
    package.write_text(json.dumps({"version": version}))
"""
"""What an npm does that has a network."""

IS_OVERTAKEN = """
import os, subprocess, sys
if "OVERTAKES" not in os.environ:
    says = "from gnomon_check.targets.dsh import dsh; dsh(seconds=1)"
    subprocess.run([sys.executable, "-c", says], env={**os.environ, "OVERTAKES": "1"}, check=True)
"""
"""What an npm does meanwhile that another install comes before."""

HAS_NO_NETWORK = """
import sys
print("npm warn old lockfile", file=sys.stderr)
print("npm error code ENOTFOUND", file=sys.stderr)
print("npm error network This is a problem related to network connectivity.", file=sys.stderr)
sys.exit(1)
"""

INSTALLS_HALF = INSTALLS.replace(".items():", ".items() - {('@deepseek-ai/dsh-tools', '0.1.0-rc.8')}:")


class Machine:
    """A machine with these programs and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.cache = folder / "cache"
        self.calls = folder / "calls"
        self.calls.write_text("")

    def has(self, name: str, program: str) -> None:
        """Put a program there, in Python."""
        file = self.bin / name
        file.write_text(f"#!{sys.executable}\n{textwrap.dedent(program)}")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.bin), "GNOMON_CACHE": str(self.cache), "CALLS": str(self.calls)}

    def install(self) -> Path:
        """Where it is installed, as the command says that starts the adapter."""
        node, adapter, folder = shlex.split(dsh(seconds=1, environment=self.environment).command)
        assert (node, adapter) == (str(self.bin / "node"), str(ADAPTER))
        return Path(folder)

    def refuses(self) -> str:
        """Why it cannot be installed, in one line."""
        with pytest.raises(CannotInstall) as refused:
            self.install()
        assert "\n" not in str(refused.value)
        return str(refused.value)

    @property
    def left(self) -> list[str]:
        """What stands in the cache."""
        return sorted(one.name for one in self.cache.iterdir())


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.has("node", "print('v22.19.0')")
    made.has("npm", INSTALLS)
    return made


def versions(folder: Path) -> dict[str, str]:
    wanted = json.loads(WANTED.read_bytes())["dependencies"]
    packages = {name: folder / "node_modules" / name / "package.json" for name in wanted}
    return {name: json.loads(package.read_bytes())["version"] for name, package in packages.items()}


def test_it_is_installed_once(machine: Machine) -> None:
    folder = machine.install()
    assert machine.install() == folder
    assert folder.parent == machine.cache
    assert versions(folder) == json.loads(WANTED.read_bytes())["dependencies"]
    assert machine.left == [folder.name]
    options = "install --no-audit --no-fund --no-package-lock --ignore-scripts"
    assert machine.calls.read_text().splitlines() == [options]
    (machine.bin / "npm").unlink()
    assert machine.install() == folder  # and npm is not needed any more


def test_where_it_is_installed_is_for_the_user_to_say(machine: Machine, tmp_path: Path) -> None:
    given = machine.environment
    del given["GNOMON_CACHE"]
    for more, cache in (
        ({"XDG_CACHE_HOME": str(tmp_path / "xdg")}, tmp_path / "xdg" / "gnomon"),
        ({"XDG_CACHE_HOME": "relative"}, Path("~/.cache/gnomon").expanduser()),
        ({}, Path("~/.cache/gnomon").expanduser()),
    ):
        assert target._cache({**given, **more}) == cache


def test_without_node_or_with_an_old_one_it_says_what_to_install(machine: Machine) -> None:
    machine.has("node", "print('v18.20.4')")
    assert machine.refuses() == "Node is v18.20.4 here; install Node 20 or newer"
    machine.has("node", "print('no number')")
    assert machine.refuses() == "Node is no number here; install Node 20 or newer"
    machine.has("node", "raise SystemExit(1)")
    assert "node does not say its version" in machine.refuses()
    (machine.bin / "node").unlink()
    assert machine.refuses() == "there is no `node` here; install Node 20 or newer, with npm"
    machine.has("node", "print('v20.0.0')")
    (machine.bin / "npm").unlink()
    assert machine.refuses() == "there is no `npm` here; install Node 20 or newer, with npm"


def test_without_a_network_it_says_what_npm_says_and_leaves_nothing(machine: Machine) -> None:
    machine.has("npm", HAS_NO_NETWORK)
    assert machine.refuses() == (
        "npm failed with exit code 1: code ENOTFOUND, network This is a problem related to network "
        "connectivity.; it needs a network, or a registry that it is set up for"
    )
    assert machine.left == []
    machine.has("npm", "raise SystemExit(7)")
    assert machine.refuses().startswith("npm failed with exit code 7; it needs")


def test_what_npm_has_left_out_is_noticed(machine: Machine) -> None:
    machine.has("npm", INSTALLS_HALF)
    assert machine.refuses() == "npm ended well, and not all that package.json names is installed"
    assert machine.left == []


def test_what_was_never_whole_or_is_not_any_more_is_not_used(machine: Machine) -> None:
    folder = machine.install()
    cut_short = folder.with_name(f"{folder.name}.cut-short")
    (cut_short / "node_modules").mkdir(parents=True)
    (folder / "node_modules" / "@deepseek-ai" / "cordis" / "package.json").unlink()
    assert machine.install() == folder
    assert versions(folder) == json.loads(WANTED.read_bytes())["dependencies"]
    assert machine.left == [folder.name, cut_short.name]
    assert len(machine.calls.read_text().splitlines()) == 2


def test_another_that_comes_first_is_used(machine: Machine) -> None:
    machine.has("npm", IS_OVERTAKEN + INSTALLS)
    folder = machine.install()
    assert versions(folder) == json.loads(WANTED.read_bytes())["dependencies"]
    assert machine.left == [folder.name]
    assert len(machine.calls.read_text().splitlines()) == 2


def test_many_at_once_are_served_by_one_folder(machine: Machine) -> None:
    with ThreadPoolExecutor(4) as several:
        folders = {one.result() for one in [several.submit(machine.install) for _ in range(4)]}
    assert [one.name for one in folders] == machine.left


def test_a_cache_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.cache.write_text("a file")
    assert machine.refuses() == f"{machine.cache}: File exists; name another folder in GNOMON_CACHE"


def test_the_command_says_it_in_one_line(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.has("npm", HAS_NO_NETWORK)
    for name, value in machine.environment.items():
        monkeypatch.setitem(os.environ, name, value)
    for verb in ("smoke", "conform"):
        done = CliRunner().invoke(app, [verb, "dsh"])
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr.startswith("dsh cannot be used: npm failed with exit code 1: code ENOTFOUND")
        assert len(done.stderr.splitlines()) == 1
