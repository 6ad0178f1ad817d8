"""The pairwise scenarios: every two choices meet, ids are made of the choices, and rows stay as they are."""

from __future__ import annotations

import itertools
import re

import pytest

from gnomon_check.vectors import pairwise
from gnomon_check.vectors.pairs import Row, added, pairs_of, uncovered
from gnomon_check.vectors.pairwise import MASKS, QUESTIONS, clauses_of, name_of, plain_of, possible, rows

ROWS = list(rows())


def test_every_two_choices_that_can_meet_do() -> None:
    assert uncovered(QUESTIONS, ROWS, possible) == []
    assert added(QUESTIONS, ROWS, possible) == []
    met = {pair for row in ROWS for pair in pairs_of(row)}
    choices = [(question, choice) for question, held in QUESTIONS.items() for choice in held]
    pairs = [
        (one, other)
        for one, other in itertools.combinations(choices, 2)
        if one[0] != other[0] and possible(dict((one, other)))
    ]
    assert len(pairs) == 1711
    assert set(pairs) <= met


def test_a_row_that_is_missing_is_noticed() -> None:
    lone = [
        row for row in ROWS if not pairs_of(row) <= {one for o in ROWS if o is not row for one in pairs_of(o)}
    ]
    assert len(lone) > 100
    assert uncovered(QUESTIONS, [row for row in ROWS if row is not lone[0]], possible)


def test_what_was_made_without_rows_covers_all_as_well() -> None:
    made = added(QUESTIONS, [], possible)
    assert uncovered(QUESTIONS, made, possible) == []
    assert all(possible(row) for row in made)
    assert made == added(QUESTIONS, [], possible)


def test_every_row_is_possible_and_every_choice_of_it_is_seen() -> None:
    for row in ROWS:
        assert possible(row)
        for (question, choice), hidden in MASKS.items():
            if row[question] == choice:
                assert all(row[one] == QUESTIONS[one][0] for one in hidden)


def test_an_id_is_made_of_the_choices_alone() -> None:
    names = [name_of(row) for row in ROWS]
    assert len(set(names)) == len(names) == 152
    assert all(re.fullmatch(r"pair-[0-9a-f]{10}", one) for one in names)
    row = ROWS[5]
    assert name_of(row) == name_of(dict(sorted(row.items())))
    other = {**row, "pool": "of a later question"}
    with pytest.raises(KeyError):
        name_of(other)


def test_a_question_that_comes_later_leaves_the_ids_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [name_of(row) for row in ROWS]
    monkeypatch.setattr(pairwise, "QUESTIONS", {**QUESTIONS, "weather": ("fair", "foul")})
    grown = list(pairwise.rows())
    assert [row["weather"] for row in grown] == ["fair"] * len(ROWS)
    assert [pairwise.name_of(row) for row in grown] == before
    more: list[Row] = added(pairwise.QUESTIONS, grown, possible)
    assert {row["weather"] for row in more} == {"foul"}


def test_a_scenario_says_what_it_is_about() -> None:
    for row in ROWS:
        plain = plain_of(row)
        assert plain["clauses"] == clauses_of(row) != []
        assert pairwise.scenario_of(name_of(row)).id == plain["id"]
