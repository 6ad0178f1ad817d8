"""Every command block and every Python block of README and docs is executed, and its output compared.

In a ```console block, a line after `$ ` is a command and what follows is its output; `...` stands for
anything. Width is given to the commands, so that no line is folded.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from documented import ENVIRONMENT, ROOT, commands, matches

PAGES = [ROOT / "README.md", ROOT / "spec" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
STORIES = {ROOT / "docs" / "conform" / "implementers.md"}
"""Pages that are gone through from top to bottom in a folder of their own, by a test of their own."""
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)

# `make test` would run this test again: it gets one short test to run instead of all.
SHORT = {**ENVIRONMENT, "ARGS": "tests/spec/test_kernel.py"}


def blocks(kind: str) -> list[tuple[str, str]]:
    found = []
    for page in (one for one in PAGES if one not in STORIES):
        for number, (language, text) in enumerate(BLOCK.findall(page.read_text()), start=1):
            if language == kind:
                found.append((f"{page.relative_to(ROOT)}:{number}", text))
    return found


def outputs(page: Path, program: str) -> list[str]:
    """The text block that stands right after a Python block says what that prints."""
    _, _, after = page.read_text().partition(f"```python\n{program}```\n")
    return re.findall(r"\A\n```text\n(.*?)^```", after, re.MULTILINE | re.DOTALL)


@pytest.mark.process
@pytest.mark.parametrize(
    ("where", "text"), blocks("console"), ids=lambda value: value if ":" in value[:40] else ""
)
def test_a_command_block_does_what_it_says(where: str, text: str) -> None:
    for command, expected in commands(text):
        done = subprocess.run(
            command, shell=True, cwd=ROOT, env=SHORT, capture_output=True, text=True, timeout=300
        )
        assert matches(expected, done.stdout), f"{where}: {command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.process
@pytest.mark.parametrize(
    ("where", "text"), blocks("python"), ids=lambda value: value if ":" in value[:40] else ""
)
def test_a_python_block_runs(where: str, text: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, f"{where}\n{done.stderr}"
    for expected in outputs(ROOT / where.split(":")[0], text):
        assert done.stdout == expected


def test_there_is_something_to_execute() -> None:
    assert len(blocks("console")) >= 5
    assert len(blocks("python")) >= 2
    assert sum(len(outputs(ROOT / where.split(":")[0], text)) for where, text in blocks("python")) >= 2


def test_the_comparison_can_fail() -> None:
    assert matches("a\n...\nz", "a\nb\nc\nz")
    assert matches("1 ... 3", "1 2 3")
    assert not matches("a\nz", "a\nb\nz")
    assert not matches("a", "b")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
