"""Public suites that may stand in a folder beside the checkout; where they do not, tests are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "data"


def files(suite: str, pattern: str = "*.json") -> list[Path]:
    """The files of a suite, by name; none where it is not there."""
    return sorted((FOLDER / suite).glob(pattern))


def needs(suite: str) -> pytest.MarkDecorator:
    """Skip a test, visibly, where a suite is not there."""
    there = bool(files(suite))
    return pytest.mark.skipif(not there, reason=f"the public suite {suite} is not at ../shared/data/{suite}")
