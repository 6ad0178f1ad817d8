"""DSH, the DeepSeek Harness, as a target: its published packages, which npm installs into a cache.

Nothing of it comes with this package, and nothing is installed before it is asked for.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from gnomon_check import adapters
from gnomon_check.targets.remote import Remote

ADAPTER = adapters.FOLDER / "dsh" / "adapter.mjs"
WANTED = ADAPTER.with_name("package.json")
"""The packages that are installed, each in one version."""

OLDEST_NODE = 20
PATIENCE = 600.0
"""How long npm may take, in seconds; it tries for about a minute to reach a network that is not there."""
INSTALL = ("install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")


class CannotInstall(Exception):
    """The packages cannot be had here, or not be run; the message says why, and what to do, in one line."""


def dsh(*, seconds: float, environment: Mapping[str, str] | None = None) -> Remote:
    """DSH behind its adapter, installed where it was not yet; `seconds` is how long an answer may take.

    Raises `CannotInstall`.
    """
    given = os.environ if environment is None else environment
    node = _node(given)
    folder = _installed(_cache(given), given)
    return Remote(shlex.join([node, str(ADAPTER), str(folder)]), seconds=seconds)


# -- what has to be there -------------------------------------------------------------------------


def _node(environment: Mapping[str, str]) -> str:
    """The program that runs the adapter."""
    node = _program("node", environment)
    try:
        told = subprocess.run(
            [node, "--version"], capture_output=True, text=True, check=True, timeout=PATIENCE
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotInstall(f"{node} does not say its version: {error}") from None
    version = re.match(r"v(\d+)\.", told.stdout)
    if version is None or int(version[1]) < OLDEST_NODE:
        seen = told.stdout.strip() or "a version that it does not say"
        raise CannotInstall(f"Node is {seen} here; install Node {OLDEST_NODE} or newer")
    return node


def _program(name: str, environment: Mapping[str, str]) -> str:
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        raise CannotInstall(f"there is no `{name}` here; install Node {OLDEST_NODE} or newer, with npm")
    return found


def _cache(environment: Mapping[str, str]) -> Path:
    """The folder for what is installed."""
    if own := environment.get("GNOMON_CACHE"):
        return Path(own).absolute()
    shared = environment.get("XDG_CACHE_HOME", "")
    if Path(shared).is_absolute():
        return Path(shared) / "gnomon"
    try:
        return Path("~/.cache/gnomon").expanduser()
    except RuntimeError:
        raise CannotInstall("there is no home folder; name a folder in GNOMON_CACHE") from None


# -- installing -----------------------------------------------------------------------------------


def _installed(cache: Path, environment: Mapping[str, str]) -> Path:
    """The folder that holds the packages. Its name tells what is in it: once whole, it never changes."""
    folder = cache / f"dsh-{sha256(WANTED.read_bytes()).hexdigest()[:16]}"
    if _is_whole(folder):
        return folder
    npm = _program("npm", environment)
    made: Path | None = None
    try:
        cache.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=cache))
        shutil.copyfile(WANTED, made / WANTED.name)
        _run_npm(npm, made, environment)
        _put(made, folder)
    except OSError as error:
        place = error.filename or cache
        raise CannotInstall(
            f"{place}: {error.strerror or error}; name another folder in GNOMON_CACHE"
        ) from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def _is_whole(folder: Path) -> bool:
    """Whether all packages are there, each in its version."""
    wanted: dict[str, str] = json.loads(WANTED.read_bytes())["dependencies"]
    return all(_version(folder / "node_modules" / name) == version for name, version in wanted.items())


def _version(package: Path) -> str | None:
    try:
        told = json.loads((package / "package.json").read_bytes())
    except (OSError, ValueError):
        return None
    return told.get("version") if isinstance(told, dict) else None


def _run_npm(npm: str, folder: Path, environment: Mapping[str, str]) -> None:
    """Install with the user's own settings of npm."""
    try:
        done = subprocess.run(
            [npm, *INSTALL],
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"npm did not end within {PATIENCE:g} seconds; is there a network?") from None
    if done.returncode != 0:
        said = f": {why}" if (why := _complaint(done.stderr)) else ""
        raise CannotInstall(
            f"npm failed with exit code {done.returncode}{said}; it needs a network, or a registry that it "
            "is set up for"
        )
    if not _is_whole(folder):
        raise CannotInstall(f"npm ended well, and not all that {WANTED.name} names is installed")


def _complaint(said: str) -> str:
    """What npm says of its failure, cut short: the first lines that are marked so."""
    marked = (re.match(r"npm (?:error|ERR!)\s+(.*\S)", line) for line in said.splitlines())
    return ", ".join([one[1] for one in marked if one is not None][:3])[:240]


def _put(made: Path, folder: Path) -> None:
    """Move the folder that was made to its place. Whoever else made one at the same time made the same."""
    with suppress(OSError):
        made.rename(folder)
        return
    if _is_whole(folder):
        return
    spoilt = made.with_name(f"{made.name}.spoilt")
    with suppress(OSError):  # somebody has removed a part of it, and somebody else may be here as well
        folder.rename(spoilt)
    shutil.rmtree(spoilt, ignore_errors=True)
    try:
        made.rename(folder)
    except OSError:
        if not _is_whole(folder):
            raise
