"""The three kinds of property, and how a history is judged by them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gnomon_spec.kernel import clause
from gnomon_spec.ledger import NOTHING, Ledger, enter
from gnomon_spec.vocabulary import Event


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that an event broke: property, clause, reason by name, and the positions it is about."""

    prop: str
    clause: str
    reason: str
    about: tuple[int, ...] = ()


Finding: TypeAlias = tuple[str, str, tuple[int, ...]] | None
"""Nothing, or (clause, reason by name, positions)."""


@dataclass(frozen=True, slots=True)
class Always:
    """A rule, and the events that a producer must be able to show for it to be judged."""

    name: str
    clauses: tuple[str, ...]
    judge: Callable[[Ledger, Event], Finding]
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sometimes:
    """A witness: a situation that a good exploration must reach."""

    name: str
    holds: Callable[[Ledger, Event], bool]


ALWAYS: dict[str, Always] = {}
SOMETIMES: dict[str, Sometimes] = {}

BODY = "body"
POLICY = "policy"
CONTENT = "content"
OBSERVER = "observer"
CONTEXTS = "the contexts of a result"
DEADLINE = "deadlines"
VERDICTS = "whether a value fits"
LOGGED_CALLS = "call.logged"
MODES = "modes"
CALLER = "signal"


def always(
    name: str, *clauses: str, needs: Collection[str] = ()
) -> Callable[[Callable[[Ledger, Event], Finding]], Callable[[Ledger, Event], Finding]]:
    """Declare an *always* property under its permanent name."""

    def declare(judge: Callable[[Ledger, Event], Finding]) -> Callable[[Ledger, Event], Finding]:
        ALWAYS[name] = Always(name, clauses, judge, frozenset(needs))
        return clause(*clauses)(judge)

    return declare


def sometimes(
    name: str,
) -> Callable[[Callable[[Ledger, Event], bool]], Callable[[Ledger, Event], bool]]:
    """Declare a witness under its permanent name."""

    def declare(holds: Callable[[Ledger, Event], bool]) -> Callable[[Ledger, Event], bool]:
        SOMETIMES[name] = Sometimes(name, holds)
        return holds

    return declare


BATCH = frozenset({BODY, LOGGED_CALLS, MODES, CALLER})
"""What the machine of a batch shows."""

CALL = frozenset({BODY, CALLER, POLICY, CONTENT, OBSERVER, CONTEXTS, DEADLINE, VERDICTS})
"""What the machine of a call shows."""


def judged(shows: Collection[str] = BATCH) -> tuple[Always, ...]:
    """The *always* properties that a producer showing `shows` can be judged by."""
    return tuple(one for one in ALWAYS.values() if one.needs <= set(shows))


def broken_by(ledger: Ledger, one: Event, properties: Iterable[Always]) -> Iterator[Broken]:
    """Every rule among `properties` that the event `one`, coming after `ledger`, breaks."""
    for prop in properties:
        finding = prop.judge(ledger, one)
        if finding is not None:
            identifier, reason, about = finding
            yield Broken(prop.name, identifier, reason, about)


def judge(history: Iterable[Event], shows: Collection[str] = BATCH) -> Broken | None:
    """Read a history of one batch; answer the first rule that is broken, or nothing."""
    properties = judged(shows)
    ledger = NOTHING
    for one in history:
        for broken in broken_by(ledger, one, properties):
            return broken
        ledger = enter(ledger, one)
    return None
