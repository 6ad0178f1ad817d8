"""What is urgent may come first: an oracle that looks no further follows and refuses the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from gnomon_check.oracle import Blocked, Oracle, World
from gnomon_check.refinement import Key
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import load
from gnomon_check.schedule import inputs_of

GATE = {"gate": {"name": "g:$call"}}
VALUE = {"return": {"value": 1}}
BODIES: dict[str, tuple[Any, ...]] = {
    "waits": (GATE, VALUE),
    "aborts": (GATE, {"abort": {}}, VALUE),
    "strikes": (GATE, {"raise": {"kind": "keyboard"}}),
    "unwinds": ({"on_cancel": {"do": "unwind", "gate": "g:$call"}}, {"await_abort": {}}),
    "sleeps": ({"sleep": {"ms": 5}}, VALUE),
    "wakes": ({"sleep": {"ms": 5}}, {"abort": {}}, VALUE),
    "watches": (GATE, {"add_hook": {"hook": "watching"}}, VALUE),
    "wraps": ({"add_hook": {"hook": "wrapping"}}, VALUE),
}
LATER = {
    "watches": {"id": "watching", "on": "result", "later": True, "script": []},
    "wraps": {"id": "wrapping", "on": "execute", "later": True, "script": [{"next": {}}]},
}
"""What a body adds."""
HOOKS: dict[str, list[dict[str, Any]]] = {
    "nobody": [],
    "a wrapper": [{"id": "around", "on": "execute", "script": [{"await_abort": {}}, {"next": {}}]}],
    "an observer": [{"id": "sees", "on": "result", "script": [{"note": {"text": "seen"}}]}],
    "a listener": [{"id": "before", "on": "pre_execute", "match": {"pos": 1}, "script": [GATE]}],
}
GATES = [{"release": {"gate": f"g:{pos}"}} for pos in range(3)]
LAST: dict[str, list[Any]] = {
    "gates": [{"together": GATES}],
    "gates and an abort": [{"together": [*GATES, {"abort": {}}]}],
    "gates and a cancellation": [{"together": [*GATES, {"cancel": {}}]}],
    "gates and time": [{"together": GATES}, {"advance": {"ms": 5}}],
}
Case = tuple[tuple[str, ...], str, int]
"""The tools of the calls, who stands around them, and the size of the pool."""


def cases() -> Iterator[Case]:
    """Every pair of tools, alone or overlapping; some under listeners; and three calls in a pool of two."""
    pairs = [*combinations_with_replacement(BODIES, 2)]
    yield from product(pairs, ["nobody"], (1, 2))
    yield from product([("waits", other) for other in BODIES], [*HOOKS][1:], (2,))
    yield from product([("waits", other, "waits") for other in ("waits", "aborts")], ["nobody"], (2,))


def scenario(names: tuple[str, ...], hooks: str, pool: int, last: str) -> Scenario:
    plain = {
        "scenario": "gnomon/1",
        "id": "urgent",
        "title": f"{names} in a pool of {pool}, around them {hooks}, then {last}",
        "clauses": [],
        "limits": {"max_parallel": pool},
        "tools": [
            {
                "name": name,
                "parallel": True,
                "interrupt": "cancel",
                "body": list(BODIES[name]),
                # So that it is seen when a call has been finished, and is not told yet.
                **({"finalize": [{"nothing": {}}]} if "watches" in names else {}),
            }
            for name in dict.fromkeys(names)
        ],
        "hooks": [*HOOKS[hooks], *(hook for name, hook in LATER.items() if name in names)],
        "batches": [{"calls": [{"id": f"c{pos}", "name": name} for pos, name in enumerate(names)]}],
        "schedule": [{"open": {}}, *LAST[last]],
    }
    return load(json.dumps(plain), "here")


Rest = tuple[frozenset[Blocked], bool]
Both = tuple[tuple[World, ...], tuple[World, ...]]


def next_of(oracle: Oracle) -> tuple[set[Key], set[Rest]]:
    """Which events may come next, and how it may be quiet."""
    reached = oracle.closure()
    keys = {move.keys[0] for moves in reached.values() for move in moves if move.keys}
    quiet = [world for world, moves in reached.items() if not moves]
    return keys, {(oracle.blocked(one), oracle.idle(one)) for one in quiet}


def follow_all(one: Scenario) -> int:
    """Let both follow everything that either allows, to every rest; answers how many events that were."""
    oracles = thorough, quick = Oracle(one), Oracle(one, thorough=False)

    def stand(here: Both) -> None:
        thorough.worlds, quick.worlds = here

    followed = 0
    rested: list[Both] = [(thorough.worlds, quick.worlds)]
    for step in one.schedule:
        left: list[Both] = []
        for here in rested:
            stand(here)
            for given in inputs_of(step):
                thorough.input(given)
                quick.input(given)
            left.append((thorough.worlds, quick.worlds))
        seen = set()
        resting = {}
        while left:
            here = left.pop()
            same = frozenset(here[0]), frozenset(here[1])
            if same in seen:
                continue
            seen.add(same)
            stand(here)
            keys, rests = next_of(thorough)
            assert next_of(quick) == (keys, rests), one.title
            for rest in rests:
                stand(here)
                assert all(oracle.quiet(*rest) for oracle in oracles)
                resting[frozenset(thorough.worlds), frozenset(quick.worlds)] = (
                    thorough.worlds,
                    quick.worlds,
                )
            for key in keys:
                stand(here)
                assert all(oracle.see(key) for oracle in oracles)
                followed += 1
                left.append((thorough.worlds, quick.worlds))
        rested = [*resting.values()]
    return followed


@pytest.mark.parametrize("last", LAST)
def test_the_same_is_followed_whether_or_not_what_is_urgent_comes_first(last: str) -> None:
    assert sum(follow_all(scenario(*case, last)) for case in cases()) > 1_500


def test_few_states_are_kept_of_calls_that_end_together() -> None:
    """Ten calls that are interrupted at once: without a way to tell what is urgent these are thousands."""
    unwinds = [{"on_cancel": {"do": "unwind", "gate": "g:$call"}}, {"await_abort": {}}]
    plain = {
        "scenario": "gnomon/1",
        "id": "wide",
        "title": "wide",
        "clauses": [],
        "tools": [{"name": "read", "parallel": True, "interrupt": "cancel", "body": unwinds}],
        "batches": [{"calls": [{"id": f"c{pos}", "name": "read"} for pos in range(10)]}],
        "schedule": [{"open": {}}],
    }
    oracle = Oracle(load(json.dumps(plain), "here"), thorough=False)
    most = 0
    for step in oracle.scenario.schedule:
        for given in inputs_of(step):
            oracle.input(given)
    keys: list[Key] = [("call.logged", pos, ()) for pos in range(10)]
    keys += [("body.started", pos, (1,)) for pos in range(10)]
    for key in keys:
        assert oracle.see(key)
        most = max(most, len(oracle.closure()))
    assert most < 20
