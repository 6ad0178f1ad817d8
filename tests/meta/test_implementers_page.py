"""The page for implementers is gone through as a reader would: from top to bottom, in an empty folder.

A block that names a file writes it (```python mine.py), or changes it (```diff mine.py); a console block is
typed, with what is printed on both outputs compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from documented import ENVIRONMENT, ROOT, commands, matches

PAGE = ROOT / "docs" / "conform" / "implementers.md"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STEPS = [
    (kind, file, text) for kind, file, text in BLOCK.findall(PAGE.read_text()) if file or kind == "console"
]


class Otherwise(Exception):
    """What the page says is not so."""


@dataclass
class Reader:
    """Somebody who types what stands there, in a folder."""

    folder: Path
    read: int = 0
    complaints: dict[int, str] = field(default_factory=dict)

    def read_to(self, number: int) -> None:
        """Read on to a step, and do what it says, and all before it."""
        while self.read <= number:
            kind, file, text = STEPS[self.read]
            try:
                self._do(kind, file, text)
            except Otherwise as error:
                self.complaints[self.read] = str(error)
            self.read += 1

    def _do(self, kind: str, file: str, text: str) -> None:
        match kind:
            case "console":
                for command, expected in commands(text):
                    seen = self._type(command)
                    if not matches(expected, seen):
                        raise Otherwise(f"$ {command}\n{seen}")
            case "diff":
                self._write(file, changed((self.folder / file).read_text(), text))
            case _:
                self._write(file, text)

    def _write(self, file: str, text: str) -> None:
        (self.folder / file).write_text(text)

    def _type(self, command: str) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{ENVIRONMENT['PATH']}"
        # What Python keeps of a module is told by the second, and a test writes faster than a reader.
        environment = {**ENVIRONMENT, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("PYTHONUNBUFFERED", None)  # the page shows what a program does that does not flush
        return subprocess.run(
            command,
            shell=True,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
        ).stdout


def changed(source: str, diff: str) -> str:
    """A file with a change made: the lines that stay or go stand there once, one below the other."""
    lines = diff.splitlines(keepends=True)
    assert all(line[0] in " +-" for line in lines)
    old = "".join(line[1:] for line in lines if line[0] != "+")
    new = "".join(line[1:] for line in lines if line[0] != "-")
    if source.count(old) != 1:
        raise Otherwise(f"this stands {source.count(old)} times in the file:\n{old}")
    return source.replace(old, new)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return Reader(tmp_path_factory.mktemp("reader"))


@pytest.mark.process
@pytest.mark.parametrize("number", range(len(STEPS)))
def test_a_step_does_what_the_page_says(reader: Reader, number: int) -> None:
    reader.read_to(number)
    assert number not in reader.complaints, reader.complaints[number]


@pytest.mark.process
def test_what_comes_of_it_is_short_and_needs_nothing_else(reader: Reader) -> None:
    reader.read_to(len(STEPS) - 1)
    sources = [(reader.folder / name).read_text() for name in ("mine.py", "runtime.py")]
    assert sum(len(source.splitlines()) for source in sources) <= 220
    imported = {
        name for source in sources for name in re.findall(r"^(?:from|import) (\w+)", source, re.MULTILINE)
    }
    assert imported - {"runtime"} <= sys.stdlib_module_names


def test_its_workflow_asks_the_action_for_what_it_has() -> None:
    (text,) = [text for kind, _, text in BLOCK.findall(PAGE.read_text()) if kind == "yaml"]
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = yaml.safe_load(text)["jobs"]["specification"]["steps"]
    (step,) = [one for one in steps if one["uses"].startswith("gnomon/gnomon@")]
    assert set(step["with"]) <= set(action["inputs"])
    assert action["inputs"]["report"]["default"] == steps[-1]["with"]["path"]


def test_a_step_can_fail(tmp_path: Path) -> None:
    assert changed("a\nb\nc\n", " a\n-b\n+d\n") == "a\nd\nc\n"
    for source, diff in (("a\na\n", "-a\n"), ("a\n", "-b\n"), ("a\n", " a\n b\n")):
        with pytest.raises(Otherwise):
            changed(source, diff)
    with pytest.raises(Otherwise, match="one\ntwo"):
        Reader(tmp_path)._do("console", "", "$ echo one; echo two >&2; exit 3\none\n")


def test_every_stage_has_something_to_do() -> None:
    stages = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    assert [stage.split(".")[0] for stage in stages] == [str(number) for number in range(1, 11)]
    assert [stage.split("\n")[0] for stage in stages[:-1] if not BLOCK.search(stage)] == []
