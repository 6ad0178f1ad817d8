"""The vectors of whole scenarios and of wrong traces, read by a reader that knows but their README."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from window_reader import Reader

from gnomon_check import vectors
from gnomon_check.expectation import as_object
from gnomon_check.refinement import COMPARED, Key
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.vectors import ways
from gnomon_check.vectors.case import Vector
from gnomon_check.vectors.edits import Edit, edited, named
from gnomon_check.vectors.scenarios import RUN, one_run
from gnomon_check.vectors.traces import TRACE, wrong_traces
from gnomon_check.vectors.verdicts import verdict
from gnomon_check.vectors.windows import Allowed, allowed, told

FILES = {one.function: one for one in vectors.shipped()}
RUNS = {case.id: case for one in vectors.shipped() if one.function == "run" for case in one.cases}
TRACES = FILES["trace"].cases
READER = Reader.of(vectors.FOLDER)
COUNTS = {"field-reports": 63, "edge-outcomes": 108, "scenarios": 22, "pairwise": 152, "traces": 328}
ORDERS = {"total": 986, "partial": 95, "graph": 11}
"""How many windows are of each kind, counted by hand."""
EXAMPLES: set[str] = set()
"""None by now: everything that is free is told exactly."""


def test_there_are_as_many_as_were_counted() -> None:
    assert {suite.name: len(suite.cases) for suite in (*RUN, TRACE)} == COUNTS
    assert Counter(one["order"] for case in RUNS.values() for one in case.expect["windows"]) == ORDERS
    assert {
        case.id for case in RUNS.values() if any(one["order"] == "example" for one in case.expect["windows"])
    } == EXAMPLES


def test_every_field_report_and_every_edge_outcome_is_there() -> None:
    assert {f"run-{one.id}" for one in shipped()} <= RUNS.keys()
    for one in shipped():
        assert Scenario.model_validate(RUNS[f"run-{one.id}"].input["scenario"]) == one


def test_the_readme_says_what_is_compared_and_names_the_examples() -> None:
    assert READER.fields == {name: list(fields) for name, fields in COMPARED.items()}
    readme = (vectors.FOLDER / "README.md").read_text()
    assert all(f"`{one}`" in readme for one in EXAMPLES)


@pytest.mark.parametrize("case", RUNS.values(), ids=lambda case: case.id)
def test_a_right_run_is_read_as_right_and_judged_right(case: Vector) -> None:
    run = one_run(case.input["scenario"])
    assert READER.first_wrong(case.expect["windows"], run) is None
    assert verdict(Scenario.model_validate(case.input["scenario"]), run) == {"ok": True}


@pytest.mark.parametrize("case", TRACES, ids=lambda case: case.id)
def test_a_wrong_trace_is_read_as_wrong_at_the_very_event(case: Vector) -> None:
    fails = case.expect["fails"]
    assert fails["clause"] in case.clauses
    where = READER.first_wrong(RUNS[case.input["run"]].expect["windows"], case.input["windows"])
    assert case.twin == case.input["run"]
    if fails["reason"] == "cites another record":
        assert where is None  # what a result cites is no part of the windows
    else:
        assert where == (fails["window"], fails["event"])


def test_the_wrong_traces_are_each_one_edit_of_a_run() -> None:
    for row, case in zip(wrong_traces(), TRACE.cases, strict=True):
        right = one_run(RUNS[row.run].input["scenario"])
        assert case.input["windows"] != right
        assert edited(right, row.edit) == case.input["windows"]


# -- what may come in several orders --------------------------------------------------------------


def free() -> list[tuple[str, int]]:
    return [
        (case.id, number)
        for case in RUNS.values()
        for number, window in enumerate(case.expect["windows"])
        if window["order"] in ("partial", "graph")
    ]


MANY = 500
"""No more sequences of one window are tried."""


def allows(window: Allowed, run: Sequence[Key]) -> bool:
    """Whether the graph of the specification leads along a sequence, to where it may end."""
    node = window.nodes[window.begin]
    for key in run:
        then = dict(node.events).get(key)
        if then is None:
            return False
        node = window.nodes[then]
    return bool(node.rests)


@pytest.mark.parametrize(("name", "number"), free(), ids=lambda one: str(one))
def test_the_reader_takes_every_run_that_is_allowed_and_no_other(name: str, number: int) -> None:
    window = RUNS[name].expect["windows"][number]
    one = allowed(Scenario.model_validate(RUNS[name].input["scenario"]))[number]
    assert one.count(one.begin, {}) > 1
    runs = list(itertools.islice(one.runs(one.begin), MANY))

    def takes(run: Sequence[Key]) -> bool:
        return READER.wrong_event(window, [READER.key(as_object(key)) for key in run]) is None

    assert all(map(takes, runs))
    turned = {(*run[:at], run[at + 1], run[at], *run[at + 2 :]) for run in runs for at in range(len(run) - 1)}
    shorter = {(*run[:at], *run[at + 1 :]) for run in runs for at in range(len(run))}
    others = itertools.islice(sorted(turned | shorter, key=repr), 4 * MANY)
    assert all(takes(run) is allows(one, run) for run in others)


def test_a_window_of_few_events_is_tried_in_every_order() -> None:
    tried = 0
    for name, number in free():
        window = RUNS[name].expect["windows"][number]
        if window["order"] == "partial" and len(window["events"]) <= 6:
            one = allowed(Scenario.model_validate(RUNS[name].input["scenario"]))[number]
            runs = {tuple(READER.key(as_object(key)) for key in run) for run in one.runs(one.begin)}
            orders = set(itertools.permutations(READER.key(event) for event in window["events"]))
            assert {run for run in orders if READER.wrong_event(window, list(run)) is None} == runs
            tried += 1
    assert tried > 10


def test_where_too_much_is_free_a_window_is_an_example(monkeypatch: pytest.MonkeyPatch) -> None:
    case = RUNS["run-fr-ord-1"]
    monkeypatch.setattr(ways, "MOST", 20)
    made = told(Scenario.model_validate(case.input["scenario"]))
    assert made.keys() == {"windows"}
    assert [one["order"] for one in made["windows"]] == ["example", "total", "total", "total"]
    assert READER.first_wrong(case.expect["windows"], made["windows"]) is None
    other = [{**made["windows"][0], "events": []}, *made["windows"][1:]]
    assert READER.first_wrong(made["windows"], other) is None
    assert READER.first_wrong(case.expect["windows"], other) == (0, 0)


# -- facts ----------------------------------------------------------------------------------------


def test_what_people_reported_is_among_the_facts() -> None:
    checked = 0
    for case in RUNS.values():
        report = case.input["scenario"].get("report")
        if report is None or case.id in EXAMPLES:
            continue
        (facts,) = case.expect["facts"]
        outcomes = {one["pos"]: one["outcomes"] for one in facts["results"]}
        for one in report["results"]:
            codes = [outcome and outcome.get("code", "OK") for outcome in outcomes[one["pos"]]]
            assert codes == [one["code"]], case.id
            checked += 1
        assert set(report.get("bodies_started", [])) <= set(facts["bodies_started"])
        assert not set(report.get("bodies_never_started", [])) & {
            *facts["bodies_started"],
            *facts["bodies_perhaps"],
        }
        assert ("failed" in facts["ends"]) is report.get("fails", False)
    assert checked > 150


# -- wrong traces ---------------------------------------------------------------------------------


@pytest.fixture
def run() -> list[dict[str, Any]]:
    return one_run(RUNS["run-logged-before-anything"].input["scenario"])


@pytest.mark.parametrize(
    ("edit", "events"),
    [
        (
            {"do": "drop", "at": "body.started:0:0"},
            "call:0 call:1 started:1 / settled:1 / settled:0 result:0",
        ),
        ({"do": "twice", "at": "call.logged:1:0"}, "call:0 started:0 call:1 call:1 started:1 / settled:1"),
        (
            {"do": "earlier", "at": "body.settled:1:0"},
            "call:0 started:0 call:1 started:1 settled:1 / / settled",
        ),
        (
            {"do": "later", "at": "body.settled:1:0"},
            "call:0 started:0 call:1 started:1 / / settled:1 settled:0",
        ),
        (
            {"do": "swap", "at": "result.logged:0:0", "other": "result.logged:1:0"},
            "call:0 started:0 call:1 started:1 / settled:1 / settled:0 result:1 result:0",
        ),
        (
            {"do": "before", "at": "body.settled:1:0", "to": {"event": "batch.failed"}},
            "call:0 started:0 call:1 started:1 / failed settled:1 / settled:0",
        ),
    ],
    ids=lambda one: one["do"] if isinstance(one, dict) else "",
)
def test_an_edit_does_what_it_says(run: list[dict[str, Any]], edit: dict[str, Any], events: str) -> None:
    before = json.dumps(run)
    made = edited(run, Edit.model_validate(edit))
    short = {"call.logged": "call", "result.logged": "result"}
    shown = " / ".join(
        " ".join(
            f"{short.get(one['event'], one['event'].split('.')[1])}"
            + (f":{one['pos']}" if "pos" in one else "")
            for one in window["events"]
        )
        for window in made
    )
    assert " ".join(shown.split()).startswith(events)
    assert json.dumps(run) == before


def test_a_cited_record_is_numbered_as_in_a_log(run: list[dict[str, Any]]) -> None:
    made = edited(run, Edit(do="cite", at="result.logged:0:0", other="call.logged:1:0"))
    logged = [one for window in made for one in window["events"] if "log_seq" in one]
    assert [(one["event"], one["log_seq"], one.get("cites")) for one in logged] == [
        ("call.logged", 3, None),
        ("call.logged", 4, None),
        ("result.logged", 5, 4),
        ("result.logged", 6, 4),
    ]
    assert len({name for name, _, _ in named(run)}) == sum(len(one["events"]) for one in run)


def test_an_edit_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="an edit names an event, or else a window"):
        Edit(do="drop")
