"""A share of a campaign: scenarios that are drawn from a seed, run, and judged; the first failure shrinks.

The same seed and number always draw the same scenarios, whoever else draws others meanwhile, and whatever
has been drawn before: nothing is kept between two runs, and no clock is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from hypothesis.strategies import SearchStrategy

from gnomon_check.conform import Run, conform
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_borrowing import borrowing
from gnomon_check.generate_living import living
from gnomon_check.generate_situations import situations
from gnomon_check.problem import Problem
from gnomon_check.profiles import PROFILES
from gnomon_check.reduction import reduced
from gnomon_check.scenario import Scenario, ScenarioError
from gnomon_check.subject import Stopped, Subject
from gnomon_spec.register import Level

KINDS: tuple[SearchStrategy[Scenario], ...] = (
    scenarios(),
    policed(),
    living(),
    situations(),
    borrowing(),
)
"""What is drawn: each share is of one kind, in turn, for a failure shrinks best among its own."""

_ATTEMPTS = 20
"""So often a share is drawn on where fewer scenarios came than there were to be."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many scenarios, drawn from a seed and the number of the share."""

    seed: int
    number: int
    size: int


@dataclass(slots=True)
class Tally:
    """What became of scenarios that were drawn."""

    drawn: int = 0
    """How many there were; what asks at its start for what is refused is not one of them."""
    not_claimed: int = 0
    needed: set[str] = field(default_factory=set)
    """The profiles that those need which are not claimed."""
    not_testable: Counter[str] = field(default_factory=Counter)
    """How many could not be run, by what the implementation cannot do."""
    lesser: Counter[str] = field(default_factory=Counter)
    """In how many a clause was broken that only says what should be."""
    failed: Run | None = None
    """The first run in which something is wrong."""
    wavers: bool = False
    """What is wrong was not wrong each time that it was run."""

    @property
    def ran(self) -> int:
        """How many were run, and judged."""
        return self.drawn - self.not_claimed - self.not_testable.total()

    def add(self, other: Tally) -> None:
        """Add what came after."""
        self.drawn += other.drawn
        self.not_claimed += other.not_claimed
        self.needed |= other.needed
        self.not_testable += other.not_testable
        self.lesser += other.lesser
        self.failed = self.failed or other.failed
        self.wavers = self.wavers or other.wavers

    def count(self, runs: Sequence[Run]) -> None:
        """Count a scenario by its runs, one on each backend."""
        self.drawn += 1
        left = [run for run in runs if not run.judged]
        if len(left) == len(runs):
            first = left[0]
            self.not_claimed += bool(first.not_claimed)
            self.needed.update(first.not_claimed)
            if first.cannot is not None:
                self.not_testable[str(first.cannot)] += 1
        self.lesser.update(
            {one.clause for run in runs for one in run.problems if one.level is not Level.MUST}
        )


class _Failed(Exception):
    """A scenario failed; to Hypothesis this is what is to be made small."""


def look_through(share: Share, subject: Subject, backends: Sequence[str], *, shrinks: bool = False) -> Tally:
    """Draw the scenarios of a share, run each on every backend, and judge it, up to the first failure.

    `shrinks` says to make that failure small: of what fails by the same clause, the smallest that is found.
    """
    search = _Search(subject, backends)
    for attempt in range(_ATTEMPTS):
        left = share.size - search.tally.drawn
        if left <= 0 or search.tally.failed is not None:
            break
        search.draw(KINDS[share.number % len(KINDS)], _number_of(share, attempt), left, shrinks=shrinks)
    return search.tally


def _number_of(share: Share, attempt: int) -> int:
    text = f"{share.seed}/{share.number}/{attempt}"
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


class _Search:
    """The search for a failure, and then for a smaller one."""

    def __init__(self, subject: Subject, backends: Sequence[str]) -> None:
        self.tally = Tally()
        self._subject = subject
        self._backends = backends

    def draw(self, kind: SearchStrategy[Scenario], number: int, most: int, *, shrinks: bool) -> None:
        """Draw at most so many more scenarios, from a number."""

        @seeded(number)
        @settings(
            max_examples=most,
            phases=[Phase.generate, *([Phase.shrink] if shrinks else [])],
            database=None,
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(kind)
        def look(scenario: Scenario) -> None:
            self._look(scenario)

        try:
            look()
        except _Failed:
            pass
        except Flaky:
            self.tally.wavers = True

    def _look(self, scenario: Scenario) -> None:
        first = self.tally.failed
        try:
            runs = self._runs(scenario)
        except ScenarioError:
            reject()
        if first is None:
            self.tally.count(runs)
        for run in runs:
            if _worst(run) is not None and (first is None or _about(run) == _about(first)):
                self.tally.failed = _alone(run)
                raise _Failed

    def _runs(self, scenario: Scenario) -> list[Run]:
        runs = []
        scenario = reduced(scenario, self._claims())
        for backend in self._backends:
            runs.append(conform(scenario, self._subject, backend))
            if _worst(runs[-1]) is not None:
                break
        return runs

    def _claims(self) -> Collection[str]:
        try:
            return self._subject.claims
        except Stopped:  # whoever runs a scenario on it will tell
            return PROFILES


def _worst(run: Run) -> Problem | None:
    """The first thing that must not be."""
    return next((one for one in run.problems if one.level is Level.MUST), None)


def _about(run: Run) -> tuple[str, ...]:
    """What a failure is about: whatever else changes as it shrinks, this stays."""
    worst = _worst(run)
    return () if worst is None else (worst.judge, worst.clause)


def _alone(run: Run) -> Run:
    """The run without what was worked out on the way."""
    plain: dict[str, Any] = run.scenario.model_dump(by_alias=True, exclude_unset=True)
    return replace(run, scenario=Scenario.model_validate(plain))
