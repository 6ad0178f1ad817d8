"""Somebody else's adapter in this process: what it raises is told as its own, and in one line."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from gnomon_check.driver import InProcess
from gnomon_check.orders import Order
from gnomon_check.scenario import Scenario, ScenarioError
from gnomon_check.subject import About, NotTestable, Stopped
from gnomon_check.window import Window


class Foreign:
    """An implementation that is driven by an adapter which is not of this package."""

    def __init__(self, made: InProcess) -> None:
        self._made = made

    @property
    def name(self) -> str:
        """Its name."""
        return self._made.name

    @property
    def about(self) -> About:
        """Who it is. Raises `Stopped`."""
        try:
            return self._made.about
        except Exception as error:  # whatever its own code raises
            raise _raised(error) from error

    @property
    def backends(self) -> Sequence[str]:
        """What it runs on."""
        return self._made.backends

    @property
    def claims(self) -> frozenset[str]:
        """The profiles that it claims."""
        return self._made.claims

    def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
        """Run a scenario, and answer its windows. Raises `NotTestable`, `Stopped`, and `ScenarioError`."""
        try:
            yield from self._made.windows(scenario, backend, order)
        except (NotTestable, ScenarioError):
            raise
        except Exception as error:  # whatever its own code raises
            raise _raised(error) from error

    def end(self) -> None:
        """Nothing more is run on it."""
        self._made.end()


def _raised(error: Exception) -> Stopped:
    return Stopped("adapter", f"its adapter raised {in_a_line(error)}")


def in_a_line(error: BaseException) -> str:
    """An exception in one line, with the place below the current folder where it was raised, if one is."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    words = " ".join(f"{type(error).__name__}: {error}".split())
    here = Path.cwd()
    own = Path(__file__).parents[1]
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if file.is_relative_to(here) and "site-packages" not in file.parts and not file.is_relative_to(own):
            return f"{words} ({file.relative_to(here)}, line {frame.lineno})"
    return words
