"""Which clauses the vectors show, from both sides, and in how many ways something is wrong in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from gnomon_check.vectors.case import Vector
from gnomon_spec.register import Status, clauses

Plain: TypeAlias = dict[str, Any]
Triple: TypeAlias = tuple[str, str, str]
"""A clause, by what route it is reached, and the reason: what is wrong."""

NOT_SHOWN: dict[str, str] = {}
"""The clauses that no vector shows from both sides, and why not."""


@dataclass(frozen=True, slots=True)
class Sides:
    """How many cases a clause has: such as a right implementation passes by doing so, and such as name a wrong."""

    positive: int
    negative: int
    named: int
    """Of the negative ones, those whose verdict is that clause; of the others it is what they are about."""

    @property
    def both(self) -> bool:
        """Whether the clause is shown from both sides."""
        return self.positive > 0 and self.negative > 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the vectors show: of each clause its sides; how many distinct triples of clause, route, reason."""

    clauses: dict[str, Sides]
    triples: int


def coverage_of(files: Iterable[tuple[str, list[Vector]]]) -> Coverage:
    """What the cases of all files show; each file is given with its function."""
    held = list(files)
    return Coverage(sides(held), len(triples(held)))


def sides(files: Iterable[tuple[str, list[Vector]]]) -> dict[str, Sides]:
    """Every clause of the register that is not planned and not excluded, and its cases."""
    positive: Counter[str] = Counter()
    negative: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for _, cases in files:
        for case in cases:
            verdicts = {key for one in wrongs(case.expect) for key in _clauses_of(one)}
            if verdicts:
                negative.update(verdicts | set(case.clauses))
                named.update(verdicts)
            else:
                positive.update(case.clauses)
    return {key: Sides(positive[key], negative[key], named[key]) for key in observable()}


def observable() -> list[str]:
    """The clauses of which a breach can be seen from outside, and that are written as code."""
    return [
        key
        for key, one in clauses().items()
        if one.status is not Status.PLANNED and one.excluded is None
    ]


def wrongs(expect: Any) -> Iterator[Plain]:
    """Everything that is expected to be refused, or found wrong, in a case."""
    if isinstance(expect, list):
        for one in expect:
            yield from wrongs(one)
    elif isinstance(expect, dict):
        for key, one in expect.items():
            if key == "fails" and "clause" in one:
                yield one
            yield from wrongs(one)


def _clauses_of(wrong: Plain) -> Iterator[str]:
    yield wrong["clause"]
    yield from (one["clause"] for one in wrong.get("faults", ()))


def triples(files: Iterable[tuple[str, list[Vector]]]) -> set[Triple]:
    """The distinct triples of clause, route and reason."""
    return {
        (wrong["clause"], f"{function}/{phase}" if phase else function, plain(reason))
        for function, cases in files
        for case in cases
        for wrong in wrongs(case.expect)
        for phase, reason in _reached(case, wrong)
    }


def _reached(case: Vector, wrong: Plain) -> Iterator[tuple[str, str]]:
    """Where in its function something is found wrong, and what: in a trace, at what kind of event."""
    if "violations" in wrong:
        for one in wrong["violations"]:
            yield str(one.get("keyword", "")), str(one.get("keyword", ""))
    elif "faults" in wrong:
        yield str(case.input["form"]), wrong["reason"]
    elif "window" in wrong:
        events = case.input["windows"][wrong["window"]]["events"]
        yield _kind(events[wrong["event"]]) if wrong["event"] < len(events) else "quiet", wrong["reason"]
    else:
        yield "", wrong["reason"]


def _kind(event: Plain) -> str:
    return "/".join(event[key] for key in ("event", "waterfall") if key in event)


_NAMES = (
    (re.compile(r"\bcall \d+"), "a call"),
    (re.compile(r"nonce-\d+"), "a nonce"),
    (re.compile(r" \([^()]*\)"), ""),
    (re.compile(r"'[^']*'"), "a name"),
    (re.compile(r"\d+"), "N"),
)


def plain(reason: str) -> str:
    """A reason without what it names: positions, numbers, listeners, and names in quotes."""
    for pattern, word in _NAMES:
        reason = pattern.sub(word, reason)
    return reason
