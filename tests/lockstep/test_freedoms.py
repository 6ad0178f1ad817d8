"""What may come in another order within a window: the table, row by row, and that nothing else may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from gnomon_check.oracle import Oracle, World
from gnomon_check.refinement import FREEDOMS, Key
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import load
from gnomon_check.schedule import inputs_of
from gnomon_spec import register

Order = tuple[str, ...]


def scenario(tools: list[Any], calls: str, schedule: list[Any], **more: Any) -> Scenario:
    plain = {
        "scenario": "gnomon/1",
        "id": "freedom",
        "title": "freedom",
        "clauses": [],
        "tools": tools,
        "batches": [{"calls": [{"id": f"c{pos}", "name": name} for pos, name in enumerate(calls)]}],
        "schedule": schedule,
        **more,
    }
    return load(json.dumps(plain), "here")


def gate(pos: int) -> dict[str, Any]:
    return {"release": {"gate": f"g:{pos}"}}


def tool(name: str, *script: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "parallel": True, "body": [*script]}


GATE = {"gate": {"name": "g:$call"}}
VALUE = {"return": {"value": 1}}
WAITS = tool("a", GATE, VALUE)
STRIKES = tool("k", GATE, {"raise": {"kind": "keyboard"}})
SLEEPS = tool("s", {"sleep": {"ms": 5}}, VALUE)
BOTH = {"together": [gate(0), gate(1)]}
LATE = {"release": {"gate": "late"}}
HELD = {"id": "held", "on": "pre_execute", "match": {"pos": 2}, "script": [{"gate": {"name": "held"}}]}
ASK = {"id": "ask", "on": "pre_execute", "script": [{"decide": {"decision": {"kind": "ask"}}}]}
WHO = {"id": "who", "script": [{"gate": {"name": "late"}}, {"answer": {"outcome": "rejected"}}]}
ASKED = {"hooks": [ASK], "approval": {"answerers": [WHO]}}
STARTS = {"next_unawaited": {}}
DENIES = {"decide": {"decision": {"kind": "deny", "reason": "no"}}}
HASTY = {"id": "hasty", "on": "pre_execute", "script": [STARTS, {"gate": {"name": "g:0"}}, STARTS, DENIES]}
SLOW = {"id": "slow", "on": "pre_execute", "script": [{"gate": {"name": "g:1"}}]}

# What the last window of a scenario may be: events by name and position, in every order that is permitted.
CASES: dict[str, tuple[Scenario, set[str]]] = {
    "bodies": (
        scenario([WAITS], "aa", [{"open": {}}, BOTH]),
        {
            "settled:0 settled:1 result:0 result:1 closed",
            "settled:1 settled:0 result:0 result:1 closed",
            "settled:0 result:0 settled:1 result:1 closed",
        },
    ),
    "lane and bodies": (
        scenario([WAITS], "aa", [{"open": {}}]),
        {
            "call:0 started:0 call:1 started:1",
            "call:0 call:1 started:0 started:1",
            "call:0 call:1 started:1 started:0",
        },
    ),
    "notice": (
        scenario([WAITS], "aaa", [{"open": {}}, BOTH], limits={"max_parallel": 2}, hooks=[HELD]),
        {
            "settled:0 result:0 call:2 entered:2 settled:1",
            "settled:0 result:0 call:2 settled:1 entered:2",
            "settled:0 result:0 settled:1 call:2 entered:2",
            "settled:0 result:0 settled:1 result:1 call:2 entered:2",
            "settled:0 settled:1 call:2 entered:2",
            "settled:0 settled:1 result:0 call:2 entered:2",
            "settled:0 settled:1 result:0 result:1 call:2 entered:2",
            "settled:1 call:2 entered:2 settled:0",
            "settled:1 call:2 settled:0 entered:2",
            "settled:1 settled:0 call:2 entered:2",
            "settled:1 settled:0 result:0 call:2 entered:2",
            "settled:1 settled:0 result:0 result:1 call:2 entered:2",
        },
    ),
    "due": (
        scenario([WAITS, STRIKES], "ak", [{"open": {}}, BOTH]),
        {
            "settled:0 settled:1 failed",
            "settled:1 settled:0 failed",
            "settled:0 settled:1 result:0 failed",
            "settled:1 settled:0 result:0 failed",
            "settled:0 result:0 settled:1 failed",
        },
    ),
    "landing": (
        scenario(
            [WAITS], "aa", [{"open": {}}, {"together": [{"cancel": {}}, gate(0)]}], limits={"max_parallel": 1}
        ),
        {
            "settled:0 result:0 call:1 started:1",
            "settled:0 result:0 call:1 result:1 closed",
        },
    ),
    "withdrawn": (
        scenario([WAITS], "a", [{"open": {}}, {"together": [{"abort": {}}, LATE]}], **ASKED),
        {
            "decided:0 answered:0 result:0 closed",
            "decided:0 result:0 answered:0 closed",
            "answered:0 decided:0 result:0 closed",
        },
    ),
    "moment": (
        scenario([SLEEPS], "ss", [{"open": {}}, {"advance": {"ms": 5}}]),
        {
            "settled:0 settled:1 result:0 result:1 closed",
            "settled:1 settled:0 result:0 result:1 closed",
            "settled:0 result:0 settled:1 result:1 closed",
        },
    ),
    "answer": (
        scenario([tool("a", VALUE)], "a", [{"open": {}}, BOTH], hooks=[HASTY, SLOW]),
        {
            "answered:0 op.refused:0 answered:0 result:0 closed",
            "op.refused:0 answered:0 answered:0 result:0 closed",
            "answered:0 delegated:0 entered:0 answered:0 answered:0 result:0 closed",
        },
    ),
}

SHORT = {
    "call.logged": "call",
    "result.logged": "result",
    "body.started": "started",
    "body.settled": "settled",
    "batch.closed": "closed",
    "batch.failed": "failed",
    "policy.entered": "entered",
    "policy.delegated": "delegated",
    "policy.decided": "answered",
    "approval.decided": "decided",
}


def word(key: Key) -> str:
    name, pos, _ = key
    return SHORT.get(name, name) + ("" if pos is None else f":{pos}")


def at_the_last_window(one: Scenario) -> Oracle:
    """The oracle, right after the last input."""
    oracle = Oracle(one)
    *before, last = one.schedule
    for step in before:
        for given in inputs_of(step):
            oracle.input(given)
        while oracle.allowed():
            oracle.see(min(oracle.allowed(), key=str))
        oracle.rest()
    for given in inputs_of(last):
        oracle.input(given)
    return oracle


def permitted(oracle: Oracle) -> Iterator[Order]:
    """Every order of events that leads to a rest."""
    seen: set[tuple[frozenset[World], Order]] = set()
    left: list[tuple[tuple[World, ...], Order]] = [(oracle.worlds, ())]
    while left:
        here = left.pop()
        oracle.worlds, so_far = here
        if (frozenset(oracle.worlds), so_far) in seen:
            continue
        seen.add((frozenset(oracle.worlds), so_far))
        if oracle.quiet_worlds():
            yield so_far
        for key in oracle.allowed():
            oracle.worlds = here[0]
            assert oracle.see(key)
            left.append((oracle.worlds, (*so_far, word(key))))


def follows(one: Scenario, order: Order) -> bool:
    """Whether the oracle follows events in that order to a rest, whatever their other fields."""
    oracle = at_the_last_window(one)
    states = [oracle.worlds]
    for wanted in order:
        following = []
        for worlds in states:
            oracle.worlds = worlds
            for key in [key for key in oracle.allowed() if word(key) == wanted]:
                oracle.worlds = worlds
                assert oracle.see(key)
                following.append(oracle.worlds)
        states = following
    for worlds in states:
        oracle.worlds = worlds
        if oracle.quiet_worlds():
            return True
    return False


def test_every_freedom_has_its_clause_and_its_case() -> None:
    assert set(CASES) == set(FREEDOMS)
    assert {one.clause for one in FREEDOMS.values()} <= set(register.clauses())


@pytest.mark.parametrize("name", FREEDOMS)
def test_what_is_free_is_permitted_and_any_other_swap_is_refused(name: str) -> None:
    one, expected = CASES[name]
    found = set(permitted(at_the_last_window(one)))
    assert {" ".join(order) for order in found} == expected
    for events in {tuple(sorted(order)) for order in found}:
        for swapped in set(permutations(events)):
            assert follows(one, swapped) == (swapped in found), " ".join(swapped)
