"""A covering array: rows of choices in which every two choices of different questions stand together in one.

Rows that are there stay as they are; what is added is chosen greedily, and always the same way.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

Questions: TypeAlias = Mapping[str, Sequence[str]]
"""Each question, and the choices that it has."""

Row: TypeAlias = dict[str, str]
Pair: TypeAlias = tuple[tuple[str, str], tuple[str, str]]


def pairs_of(row: Mapping[str, str]) -> set[Pair]:
    """The pairs of choices that stand together in a row; of each, the question that comes first is first."""
    return set(itertools.combinations(row.items(), 2))


def uncovered(questions: Questions, rows: Iterable[Row], possible: Callable[[Row], bool]) -> list[Pair]:
    """The pairs that stand together in no row, in order; those that are not possible are left out."""
    covered = {pair for row in rows for pair in pairs_of(row)}
    return [
        ((one, left), (other, right))
        for one, other in itertools.combinations(questions, 2)
        for left, right in itertools.product(questions[one], questions[other])
        if ((one, left), (other, right)) not in covered and possible({one: left, other: right})
    ]


def added(questions: Questions, rows: Iterable[Row], possible: Callable[[Row], bool]) -> list[Row]:
    """The rows to add, so that every possible pair stands together in one."""
    held = list(rows)
    left = dict.fromkeys(uncovered(questions, held, possible))
    used = Counter(choice for row in held for choice in row.items())
    more: list[Row] = []
    while left:
        row = _row(questions, left, used, possible)
        for pair in pairs_of(row):
            left.pop(pair, None)
        used.update(row.items())
        more.append(row)
    return more


def _row(
    questions: Questions,
    left: Mapping[Pair, None],
    used: Mapping[tuple[str, str], int],
    possible: Callable[[Row], bool],
) -> Row:
    """A row with the first pair that is left, and beside it, question by question, what is in most of those
    that are left; of several, what was used least.
    """
    chosen: Row = dict(next(iter(left)))
    for question, choices in questions.items():
        if question not in chosen:
            fitting = [one for one in choices if possible({**chosen, question: one})]
            gains = {one: _gain(questions, left, chosen, (question, one)) for one in fitting}
            chosen[question] = max(fitting, key=lambda one: (gains[one], -used.get((question, one), 0)))
    return {question: chosen[question] for question in questions}


def _gain(questions: Questions, left: Mapping[Pair, None], chosen: Row, one: tuple[str, str]) -> int:
    """How many pairs that are left a choice makes with those of a row."""
    order = list(questions)
    made = [
        (one, held) if order.index(one[0]) < order.index(held[0]) else (held, one) for held in chosen.items()
    ]
    return sum(pair in left for pair in made)
