"""The inputs that the cases of the vectors were given: each id, and a digest of its input.

`python tests/spec/vector_inputs.py` adds the cases that have come to `vector_inputs.txt`. It changes no line:
an id stays with its input.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from gnomon_check import vectors

LIST = Path(__file__).with_suffix(".txt")


def listed() -> dict[str, str]:
    """What stands in the list."""
    return dict(line.split() for line in LIST.read_text().splitlines())


def now() -> dict[str, str]:
    """What the files hold."""
    return {
        case.id: hashlib.sha256(json.dumps(case.input).encode()).hexdigest()[:16]
        for one in vectors.shipped()
        for case in one.cases
    }


def add() -> None:
    """Add the cases that have come."""
    there = listed() if LIST.exists() else {}
    more = {name: digest for name, digest in now().items() if name not in there}
    with LIST.open("a") as file:
        file.writelines(f"{name} {digest}\n" for name, digest in more.items())


if __name__ == "__main__":
    add()
