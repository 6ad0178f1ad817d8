"""What the vectors show: enough of them, in enough ways, and every clause from both sides."""

from __future__ import annotations

import json

import pytest

from gnomon_check import vectors
from gnomon_check.vectors.case import Case, Suite
from gnomon_check.vectors.coverage import NOT_SHOWN, coverage_of, observable, plain, sides, triples, wrongs
from gnomon_spec.register import Status, clauses

FILES = {suite: one.cases for suite, one in zip(vectors.SUITES, vectors.shipped(), strict=True)}
SIDES = sides(FILES)
TABLE = json.loads((vectors.FOLDER / "COVERAGE.json").read_text())


def test_there_are_enough_cases_and_enough_ways_to_be_wrong() -> None:
    assert sum(map(len, FILES.values())) >= 300
    assert len(triples(FILES)) >= 180


def test_every_clause_that_can_be_seen_has_two_sides_or_a_reason() -> None:
    assert list(SIDES) == observable()
    assert set(observable()) == {
        key for key, one in clauses().items() if one.status is not Status.PLANNED and one.observed
    }
    lacking = {key for key, one in SIDES.items() if not one.both}
    assert lacking <= NOT_SHOWN.keys(), "a clause lacks a side: write a case for it"
    assert lacking >= NOT_SHOWN.keys(), "a clause has both sides by now: take it off the list"


def test_no_clause_is_left_out_that_a_vector_is_said_to_show() -> None:
    for key in NOT_SHOWN.keys() - {"MOD-4"}:
        assert "vectors" not in clauses()[key].observed, key


def test_the_table_is_what_was_counted() -> None:
    assert TABLE["clauses"] == {
        key: {"positive": one.positive, "negative": one.negative, "named": one.named}
        for key, one in SIDES.items()
    }
    assert TABLE["triples"] == len(triples(FILES))
    assert TABLE["not_shown"] == NOT_SHOWN
    assert list(TABLE["not_shown"]) == [key for key in clauses() if key in NOT_SHOWN]


def test_both_sides_are_told_apart() -> None:
    suite = Suite(
        "equal",
        "",
        lambda given: given["expect"],
        (
            Case("equal-right", "VAL-5", "", {"expect": {"equal": True}}),
            Case("equal-other", "VAL-5 VAL-6", "", {"expect": {"equal": False}}, twin="equal-right"),
            Case("equal-wrong", "VAL-1", "", {"expect": {"fails": {"clause": "VAL-2", "reason": "no"}}}),
            Case(
                "equal-within",
                "VAL-1",
                "",
                {"expect": {"steps": [{"fails": {"clause": "VAL-2", "reason": "no 2"}}]}},
            ),
        ),
    )
    found = coverage_of({suite: suite.vectors()})
    counted = {
        key: (one.positive, one.negative, one.named) for key, one in found.clauses.items() if one != NONE
    }
    assert counted == {"VAL-1": (0, 2, 0), "VAL-2": (0, 2, 2), "VAL-5": (1, 1, 0), "VAL-6": (0, 1, 0)}
    assert found.triples == 2
    assert [one.both for one in found.clauses.values()].count(True) == 1


NONE = sides({})["VAL-1"]


@pytest.mark.parametrize(
    ("reason", "without"),
    [
        ("call 3 is elsewhere, and call 12 is not", "a call is elsewhere, and a call is not"),
        ("it is allow (pre_execute, rule) here", "it is allow here"),
        ("it is a success carrying nonce-4 here", "it is a success carrying a nonce here"),
        ("'title' is text", "a name is text"),
        ("2 dispatches are in flight", "N dispatches are in flight"),
    ],
)
def test_names_are_no_part_of_a_reason(reason: str, without: str) -> None:
    assert plain(reason) == without


def test_what_is_wrong_is_found_wherever_it_stands() -> None:
    one = {"clause": "VAL-1", "reason": "x"}
    assert list(wrongs({"a": [{"fails": one}], "fails": {"no": "clause"}})) == [one]
