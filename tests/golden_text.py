"""Texts that are kept, and reviewed like an interface."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def is_golden(name: str, text: str) -> None:
    """Compare with the kept file; `GNOMON_UPDATE_GOLDEN=1` keeps this text, but not where CI runs."""
    path = GOLDEN / name
    if os.environ.get("GNOMON_UPDATE_GOLDEN") == "1":
        assert not os.environ.get("CI"), "golden texts are not updated where CI runs"
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
