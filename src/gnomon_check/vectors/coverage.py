"""Which clauses the vectors show, from both sides, and in how many ways something is wrong in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gnomon_check.vectors.case import Suite, Vector
from gnomon_spec.register import Status, clauses

Plain: TypeAlias = dict[str, Any]
Triple: TypeAlias = tuple[str, str, str]
"""A clause, by what route it is reached, and the reason: what is wrong."""

NOT_SHOWN: dict[str, str] = {
    "ARG-4": "the text of the arguments in a log is not compared, only what it means",
    "REG-10": "a scenario is data, and cannot change a definition after it was handed over",
    "MOD-4": "`run_code` is the implementation's own: `view` shows what it takes, and nothing that is wrong "
    "in it can be handed over",
    "OUT-5": "content is not compared",
    "LOG-4": "no scenario asks for a card yet",
    "LOG-5": "the records of calls that programs make come with PTC",
    "LOG-6": "the records of calls that programs make come with PTC",
    "PY-1": "a trace does not say on which event loop it was made",
    "PY-5": "threads are of the language",
    "PY-6": "how an exception reaches its caller is of the language",
    "PY-7": "context variables are of the language",
    "PY-8": "what is an awaitable is of the language",
    "PY-9": "what is an awaitable or a generator is of the language",
    "PY-11": "threads are of the language",
}
"""The clauses that no vector shows from both sides, and why not."""


@dataclass(frozen=True, slots=True)
class Sides:
    """How many cases a clause has: those that show it kept, and those that show it broken or refused."""

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


def coverage_of(files: Mapping[Suite, Sequence[Vector]]) -> Coverage:
    """What the cases of all files show."""
    return Coverage(sides(files), len(triples(files)))


def sides(files: Mapping[Suite, Sequence[Vector]]) -> dict[str, Sides]:
    """Every clause of the register that is not planned and not excluded, and its cases.

    A case is negative where something in it is refused or found wrong; and where it is the other side of a
    pair: what its twin is, it is not, and the clause is why.
    """
    positive: Counter[str] = Counter()
    negative: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for suite, cases in files.items():
        others = {case.id for case in suite.cases if case.twin is not None}
        for case in cases:
            verdicts = {key for one in wrongs(case.expect) for key in _clauses_of(one)}
            if verdicts or case.id in others:
                negative.update(verdicts | set(case.clauses))
                named.update(verdicts)
            else:
                positive.update(case.clauses)
    return {key: Sides(positive[key], negative[key], named[key]) for key in observable()}


def observable() -> list[str]:
    """The clauses of which a breach can be seen from outside, and that are written as code."""
    return [
        key for key, one in clauses().items() if one.status is not Status.PLANNED and one.excluded is None
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


def triples(files: Mapping[Suite, Sequence[Vector]]) -> set[Triple]:
    """The distinct triples of clause, route and reason."""
    return {
        (wrong["clause"], f"{suite.function}/{phase}" if phase else suite.function, plain(reason))
        for suite, cases in files.items()
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
