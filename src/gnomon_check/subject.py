"""What is held to the specification: anything that can run a scenario and say what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from gnomon_check.changes import Strict
from gnomon_check.orders import Order
from gnomon_check.problem import Printable
from gnomon_check.scenario import Scenario
from gnomon_check.window import Window

Fault: TypeAlias = Literal["watchdog", "process", "protocol", "adapter"]
"""How one can fail to say what happened: it hangs, dies, speaks no protocol, or its adapter raises."""


class About(Strict):
    """Who an implementation is."""

    name: Printable
    version: Printable
    language: Printable
    homepage: Printable | None = None
    issues: Printable | None = None
    """Where its faults are told."""


@dataclass(frozen=True, slots=True)
class Cannot:
    """What an implementation has no way to do, why, and where that can be read."""

    feature: str
    reason: str
    link: str | None = None

    def __str__(self) -> str:
        return f"{self.feature}: {self.reason}"


class NotTestable(Exception):
    """A scenario cannot be run on an implementation at all."""

    def __init__(self, why: Cannot) -> None:
        super().__init__(str(why))
        self.why = why


class Stopped(Exception):
    """An implementation stopped saying what happens, in the middle of a scenario or before it."""

    def __init__(self, fault: Fault, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault
        self.reason = reason


class Subject(Protocol):
    """An implementation that is held to the specification."""

    @property
    def name(self) -> str:
        """What it is called. Raises `Stopped`."""

    @property
    def about(self) -> About:
        """Who it is. Raises `Stopped`."""

    @property
    def backends(self) -> Sequence[str]:
        """On what it can be run: each is a run of its own."""

    @property
    def claims(self) -> frozenset[str]:
        """The profiles that it claims. Raises `Stopped`."""

    def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
        """Run a scenario, and answer its windows as they come.

        Raises `NotTestable` and `Stopped`.
        """

    def end(self) -> None:
        """Nothing more is run on it."""
