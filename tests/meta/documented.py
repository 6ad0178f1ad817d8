"""What stands in documents: commands with their output, and how the two are compared."""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

# The variables of a make that runs the tests would change what a make within them prints.
_OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if name not in _OF_MAKE},
    "COLUMNS": "300",
    "NO_COLOR": "1",
}


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output that is shown."""
    parts = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert parts[0] == "", "a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def matches(expected: str, seen: str) -> bool:
    """Whether an output is what is shown; `...` stands for anything."""
    lines = [line.rstrip() for line in expected.strip().splitlines()]
    pattern = "\n".join(re.escape(line).replace(r"\.\.\.", r"[\s\S]*?") for line in lines)
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in seen.strip().splitlines())) is not None
