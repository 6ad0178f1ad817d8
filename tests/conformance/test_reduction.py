"""What is left of a scenario needs nothing that is not claimed, and leaves out no more than that."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon_check.drawing import KINDS
from gnomon_check.profiles import PROFILES, needs
from gnomon_check.reduction import reduced
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.vectors.scenarios import RUN

ALL = frozenset(PROFILES)
WRITTEN = [
    *shipped(),
    *(Scenario.model_validate(case.input["scenario"]) for one in RUN[2:] for case in one.cases),
]
DRAWN = st.one_of(KINDS)


@pytest.mark.parametrize("enough", ["PAIRING", "SINGLE"])
@given(scenario=DRAWN | st.sampled_from(WRITTEN), claims=st.sets(st.sampled_from(sorted(ALL))))
@settings(max_examples=500)
def test_what_is_left_needs_nothing_that_is_not_claimed(
    enough: str, scenario: Scenario, claims: set[str]
) -> None:
    claims |= {enough}
    left = reduced(scenario, claims)
    if "PAIRING" in claims or all(one.calls for one in scenario.batches):
        assert needs(left) <= claims
    assert reduced(left, claims) is left or needs(left) - claims == {"PAIRING"}


@pytest.mark.parametrize("profile", sorted(ALL - {"PAIRING", "SINGLE"}))
def test_each_profile_can_be_left_out_of_what_is_written_and_nothing_else_goes(profile: str) -> None:
    went: Counter[str] = Counter()
    changed = 0
    for one in [*WRITTEN, two_batches()]:
        left = reduced(one, ALL - {profile})
        assert (left is one) == (profile not in needs(one))
        changed += left is not one
        went.update(needs(one) - needs(left))
    assert changed == went[profile] > 0
    # What goes with it in most of them is nothing that could stay without it.
    others = {other for other, many in went.items() if other != profile and many > changed / 2}
    assert others <= {
        "ORDER": {"BOUND"},
        "ASK": {"HOOKS"},
        "ANNOUNCE": {"REGISTRY", "CONTAIN"},
        "REGISTRY": {"ANNOUNCE"},
    }.get(profile, set())


def written(**more: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "one",
            "title": "one",
            "clauses": [],
            "tools": [
                {
                    "name": "red",
                    "parallel": {"raise": {"kind": "exit"}},
                    "interrupt": "cancel",
                    "body": [
                        {"defer": {"context": "d"}},
                        {"await_abort": {}},
                        {"raise": {"kind": "exit"}},
                    ],
                }
            ],
            "hooks": [
                {
                    "id": "around",
                    "on": "execute",
                    "script": [
                        {"next_unawaited": {}},
                        {"author": {"result": {"ok": True, "value": 1}, "contexts": ["given"]}},
                    ],
                },
                {"id": "seen", "on": "result", "script": [{"note": {"text": "seen"}}]},
            ],
            "guards": [{"id": "guard0", "script": [{"deny": {"reason": "no"}}]}],
            "batches": [{"id": "b1", "calls": [{"id": "a", "name": "red"}, {"id": "b", "name": "red"}]}],
            "schedule": [
                {"open": {}},
                {"together": [{"abort": {}}, {"release": {"gate": "g"}}]},
                {"cancel": {}},
            ],
            **more,
        }
    )


def two_batches() -> Scenario:
    calls = [{"id": "a", "name": "red"}]
    return written(
        batches=[{"id": "b1", "calls": calls}, {"id": "b2", "calls": calls}],
        schedule=[{"open": {"batch": "b1"}}, {"abort": {}}, {"open": {"batch": "b2"}}, {"cancel": {}}],
    )


def plain(scenario: Scenario) -> dict[str, Any]:
    return scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)


def without(scenario: Scenario, *profiles: str) -> dict[str, Any]:
    return plain(reduced(scenario, ALL - {*profiles}))


def test_only_the_steps_go_that_need_it() -> None:
    one = written()
    without_aborts = without(one, "CANCEL")
    assert without_aborts["schedule"] == [{"open": {}}, {"release": {"gate": "g"}}, {"cancel": {}}]
    assert [*map(list, without_aborts["tools"][0]["body"])] == [["defer"], ["raise"]]
    assert without_aborts["hooks"] == plain(one)["hooks"]
    assert without_aborts["guards"] == plain(one)["guards"]


def test_what_is_only_part_of_a_step_goes_without_the_rest_of_it() -> None:
    left = without(written(), "CONTEXT")
    (_, authored) = left["hooks"][0]["script"]
    assert authored == {"author": {"result": {"ok": True, "value": 1}, "contexts": []}}
    assert [*map(list, left["tools"][0]["body"])] == [["await_abort"], ["raise"]]


def test_who_does_not_wait_for_the_others_waits_for_them() -> None:
    assert without(written(), "MISUSE")["hooks"][0]["script"][0] == {"next": {}}


def test_native_cancellation_goes_wherever_it_stands() -> None:
    left = without(written(), "NATIVE")
    (tool,) = left["tools"]
    assert "parallel" not in tool
    assert "interrupt" not in tool
    assert [*map(list, tool["body"])] == [["defer"], ["await_abort"]]
    assert left["schedule"][-1] == {"together": [{"abort": {}}, {"release": {"gate": "g"}}]}


def test_observers_are_no_listeners() -> None:
    assert [one["id"] for one in without(written(), "HOOKS")["hooks"]] == ["seen"]
    assert [one["id"] for one in without(written(), "CONTENT")["hooks"]] == ["around"]


def test_calls_become_single_ones_where_there_are_no_batches() -> None:
    left = without(written(log={"fail_append": {"record": "tool/call", "nth": 1}}), "PAIRING")
    assert left["mode"] == "single"
    assert [one["id"] for one in left["batches"][0]["calls"]] == ["a"]
    assert "log" not in left


def test_what_has_no_call_can_be_no_single_one() -> None:
    empty = written(batches=[{"id": "b1", "calls": []}])
    assert needs(reduced(empty, {"SINGLE"})) == {"PAIRING"}


def test_of_several_batches_the_first_is_left() -> None:
    left = without(two_batches(), "SEVERAL")
    assert [one["id"] for one in left["batches"]] == ["b1"]
    assert left["schedule"] == [{"open": {"batch": "b1"}}, {"abort": {}}]


def test_in_one_layer_a_name_stands_once() -> None:
    tools = [
        {"name": "red", "id": "red-0", "scope": "agent", "body": [{"note": {"text": "first"}}]},
        {"name": "red", "id": "red-1", "body": [{"note": {"text": "second"}}]},
        {"name": "red", "id": "red-2", "later": True, "body": []},
    ]
    left = without(written(tools=tools, scopes=[{"name": "agent"}]), "REGISTRY")
    assert [one["id"] for one in left["tools"]] == ["red-0"]
    assert "scope" not in left["tools"][0]
    assert "scopes" not in left
