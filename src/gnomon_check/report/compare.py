"""Two reports side by side: what has become worse, what better, and what is otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from gnomon_check.report.model import Met, Report, ScenarioRun, Verdict

Direction: TypeAlias = Literal["worse", "otherwise", "better"]

_RANKS: dict[Verdict, int] = {
    "conforms": 0,
    "known deviation": 1,
    "not claimed": 2,
    "not testable": 3,
    "violation": 4,
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two reports say otherwise."""

    direction: Direction
    subject: str
    """A scenario and its backend, or a clause."""
    before: str
    after: str


def differences(before: Report, after: Report) -> list[Difference]:
    """Everything that differs; what is worse comes first."""
    found = [*_of_runs(before, after), *_of_clauses(before, after)]
    order = ("worse", "otherwise", "better")
    return sorted(found, key=lambda one: order.index(one.direction))


def _of_runs(before: Report, after: Report) -> Iterator[Difference]:
    first, second = _runs(before), _runs(after)
    for subject in [*first, *(one for one in second if one not in first)]:
        old, new = first.get(subject), second.get(subject)
        if old is None or new is None:
            yield _come_or_gone(subject, old, new)
        elif old.verdict != new.verdict:
            worse = _RANKS[new.verdict] > _RANKS[old.verdict]
            yield Difference("worse" if worse else "better", subject, _told(old), _told(new))
        elif _told(old) != _told(new):
            yield Difference("otherwise", subject, _told(old), _told(new))


def _come_or_gone(subject: str, old: ScenarioRun | None, new: ScenarioRun | None) -> Difference:
    if old is not None:
        return Difference("worse", subject, _told(old), "not run")
    assert new is not None, "one of the two is there"
    direction: Direction = "worse" if new.verdict == "violation" else "otherwise"
    return Difference(direction, subject, "not run", _told(new))


def _of_clauses(before: Report, after: Report) -> Iterator[Difference]:
    first: dict[str, Met] = {one.id: one.verdict for one in before.clauses}
    second: dict[str, Met] = {one.id: one.verdict for one in after.clauses}
    for clause in [*first, *(one for one in second if one not in first)]:
        old, new = first.get(clause, "not checked"), second.get(clause, "not checked")
        if old != new:
            yield Difference(_direction(old, new), clause, old, new)


def _direction(old: Met, new: Met) -> Direction:
    if new == "met":
        return "better"
    return "worse" if old == "met" or new == "not met" else "otherwise"


def _runs(report: Report) -> dict[str, ScenarioRun]:
    return {f"{run.scenario} on {run.backend}": run for run in report.runs}


def _told(run: ScenarioRun) -> str:
    """The verdict, and what it is about."""
    about = [f"{one.clause} {one.seen}".strip() for one in run.problems]
    if run.not_testable is not None:
        about.append(run.not_testable.feature)
    about += run.not_claimed
    return f"{run.verdict} ({'; '.join(about)})" if about else run.verdict
