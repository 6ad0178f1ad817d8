"""The report of a conformance run: the one source that every form of it is made from.

It says nothing of the machine, the day or the time that it took: the same implementation gives the same
report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic import NonNegativeInt, ValidationError, computed_field, model_validator

from gnomon_check.baseline import NOT_TESTABLE, Deviation, Place
from gnomon_check.changes import Strict, faults
from gnomon_check.problem import Judge, Printable
from gnomon_check.subject import About
from gnomon_spec.register import Level

Verdict: TypeAlias = Literal["not claimed", "not testable", "violation", "known deviation", "conforms"]
VERDICTS: tuple[Verdict, ...] = ("not claimed", "not testable", "violation", "known deviation", "conforms")
"""Every verdict, in the order in which reports tell them: first what was not checked."""


class ReportError(ValueError):
    """A file that is no report; the message says which, and why."""


class Implementation(About):
    """Who was held to the specification."""

    profiles: list[str]
    """What it claims."""


class Known(Strict):
    """What a baseline says of a thing that was found."""

    reason: str
    link: str


Weight: TypeAlias = Literal["violation", "known", "should"]


class Found(Strict):
    """One thing that is wrong."""

    judge: Judge
    clause: str
    """Empty where no single clause is broken."""
    level: Level
    seen: Printable
    text: Printable
    known: Known | None = None

    @property
    def weight(self) -> Weight:
        """What follows from it: only what must be otherwise, and is not known, is red."""
        if self.known is not None:
            return "known"
        return "violation" if self.level is Level.MUST else "should"


class NotTestable(Strict):
    """What the implementation has no way to do."""

    feature: Printable
    reason: Printable
    link: Printable | None = None
    known: Known | None = None


class ScenarioRun(Strict):
    """One scenario on one backend."""

    scenario: str
    title: Printable
    clauses: list[str]
    backend: str
    verdict: Verdict
    not_claimed: list[str]
    """The profiles that it needs and that are not claimed."""
    not_testable: NotTestable | None
    problems: list[Found]
    story: list[Printable]
    """What was done and seen, line by line, where something was found."""

    @property
    def known(self) -> Known | None:
        """What the baseline says of why it is not testable, where it does."""
        return None if self.not_testable is None else self.not_testable.known


Met: TypeAlias = Literal["met", "not met", "not checked"]


class ClauseVerdict(Strict):
    """One clause that scenarios of this run are about, or that one was found to break."""

    id: str
    level: Level
    scenarios: NonNegativeInt
    """How many are about it that were judged, on all backends together."""
    verdict: Met


class BaselineUse(Strict):
    """The baseline that was used."""

    file: Printable
    entries: NonNegativeInt
    stale: list[Deviation]
    """Entries that nothing fits any more."""


class Report(Strict):
    """What came of holding an implementation to the specification."""

    report: Literal["gnomon/1"]
    specification: str
    protocol: str
    target: Printable
    """As it was named on the command line."""
    implementation: Implementation
    backends: list[str]
    clauses_in_all: NonNegativeInt
    """How many clauses the specification has; those that no scenario is about are not in `clauses`."""
    clauses: list[ClauseVerdict]
    baseline: BaselineUse | None = None
    runs: list[ScenarioRun]

    @model_validator(mode="before")
    @classmethod
    def _computed_again(cls, given: Any) -> Any:
        """What follows from the rest is written for its readers, and never believed."""
        if not isinstance(given, dict):
            return given
        return {name: value for name, value in given.items() if name not in cls.model_computed_fields}

    @property
    def scenarios(self) -> dict[str, list[ScenarioRun]]:
        """The runs of each scenario, in order."""
        by_id: dict[str, list[ScenarioRun]] = {}
        for run in self.runs:
            by_id.setdefault(run.scenario, []).append(run)
        return by_id

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """What is to be said of each scenario: where its backends differ, what is worst."""
        return {
            scenario: min((one.verdict for one in runs), key=_WORST_FIRST.index)
            for scenario, runs in self.scenarios.items()
        }

    def counted(self) -> Counter[Verdict]:
        """How many scenarios have each verdict."""
        return Counter(self.verdicts.values())

    @computed_field  # type: ignore[prop-decorator]  # mypy knows properties without decorators only
    @property
    def conforms(self) -> bool:
        """Whether nothing was found that must be otherwise, known or not."""
        return all(one.weight == "should" for run in self.runs for one in run.problems)

    @computed_field  # type: ignore[prop-decorator]  # mypy knows properties without decorators only
    @property
    def passes(self) -> bool:
        """Whether nothing was found that must be otherwise, but for what is known."""
        return all(run.verdict != "violation" for run in self.runs)

    @computed_field  # type: ignore[prop-decorator]  # mypy knows properties without decorators only
    @property
    def complete(self) -> bool:
        """Whether all that is claimed was tested, or is known not to be testable, and the baseline fits."""
        tested = all(run.verdict != "not testable" or run.known is not None for run in self.runs)
        return tested and not (self.baseline and self.baseline.stale)

    def found(self, weight: Weight) -> Iterator[tuple[ScenarioRun, list[Found]]]:
        """The runs in which something of this weight was found, each with all of it."""
        for run in self.runs:
            found = [one for one in run.problems if one.weight == weight]
            if found:
                yield run, found

    def unknown(self) -> Iterator[Place]:
        """Everything that is red and that no baseline knows, on each backend."""
        for run in self.runs:
            for one in run.problems:
                if one.weight == "violation":
                    yield run.scenario, one.judge, one.clause, one.seen
            if run.not_testable is not None and run.known is None:
                yield run.scenario, NOT_TESTABLE, "", run.not_testable.feature

    def met(self, level: Level) -> tuple[int, int]:
        """How many clauses of a level are met, and how many scenarios are about."""
        of_level = [one for one in self.clauses if one.level is level]
        return sum(one.verdict == "met" for one in of_level), len(of_level)

    @computed_field  # type: ignore[prop-decorator]  # mypy knows properties without decorators only
    @property
    def scope(self) -> str:
        """What is met, in one line: `specification 1.0: 118/121 must, 0/1 should`."""
        parts = [f"{met}/{of} {level}" for level in Level for met, of in [self.met(level)] if of]
        return f"specification {self.specification}: {', '.join(parts) or 'nothing is checked'}"


_WORST_FIRST: tuple[Verdict, ...] = (
    "violation",
    "not testable",
    "known deviation",
    "not claimed",
    "conforms",
)


def load(path: Path) -> Report:
    """Read a report. Raises `ReportError`."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        raise ReportError(f"{path}: this is no report of `gnomon conform`: {faults(error)}") from None
