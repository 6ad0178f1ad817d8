"""What calls do at the same time that bodies have made comes in any order; what each does, in its own.

Found by the 98,725th scenario of a campaign: after both approvals the guards of the first were to come last.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.oracle import Oracle
from gnomon_check.refinement import Key
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin


def two_nested(**more: Any) -> Scenario:
    """Two calls at once, and each of their bodies makes one that is asked for, and guarded."""
    asks = {"decide": {"decision": {"kind": "ask", "reason": "sure?"}}}
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "two-nested",
            "title": "two calls that bodies have made, at the same time",
            "clauses": [],
            "limits": {"max_parallel": 2},
            "tools": [
                {"name": "red", "parallel": True, "body": [{"execute": {"name": "green"}}]},
                {"name": "green", "body": [{"gate": {"name": "body:$call"}}]},
            ],
            "hooks": [{"id": "asks", "on": "pre_execute", "match": {"tool": "green"}, "script": [asks]}],
            "guards": [{"id": "guard0", "match": {"tool": "green"}, "script": [{"nothing": {}}]}],
            "approval": {
                "answerers": [{"id": "answers", "script": [{"answer": {"outcome": "allowed-once"}}]}]
            },
            "batches": [{"calls": [{"id": "a", "name": "red"}, {"id": "b", "name": "red"}]}],
            "schedule": [{"open": {}}],
            **more,
        }
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_runtime_agrees(backend: str) -> None:
    found = conform(two_nested(), Builtin(), backend)
    assert found.ok, complaint(found, "builtin")


def both_decided() -> Oracle:
    """An oracle that has seen both approvals, and none of the guards yet."""
    scenario = two_nested()
    oracle = Oracle(scenario)
    oracle.take(scenario.schedule[0])
    first: list[Key] = [("call.logged", 0, ()), ("body.started", 0, (1,)), ("batch.opened", 2, (0, 1))]
    second: list[Key] = [("call.logged", 1, ()), ("body.started", 1, (1,)), ("batch.opened", 3, (1, 1))]
    asked: list[Key] = []
    for slot in (2, 3):
        asked += [
            ("policy.entered", slot, ("pre_execute", "asks")),
            ("policy.decided", slot, ("pre_execute", "asks", "ask")),
        ]
    for slot in (2, 3):
        asked += [
            ("policy.entered", slot, ("approval", "answers")),
            ("policy.decided", slot, ("approval", "answers", "allowed-once")),
        ]
    for key in (*first, *second, *asked):
        assert oracle.see(key), (key, oracle.allowed())
    return oracle


GUARDS: tuple[Key, Key] = ("guard.answered", 2, ("guard0", "pass")), ("guard.answered", 3, ("guard0", "pass"))


@pytest.mark.parametrize("order", [*permutations(GUARDS)])
def test_the_guards_of_two_come_in_any_order(order: tuple[Key, ...]) -> None:
    oracle = both_decided()
    assert all(oracle.see(key) for key in order)


def test_the_guards_of_one_come_before_its_body() -> None:
    oracle = both_decided()
    assert not oracle.see(("body.started", 2, (1,)))
    assert oracle.see(GUARDS[0])
    assert not oracle.see(("body.started", 3, (1,)))
    assert oracle.see(("body.started", 2, (1,)))
    assert not oracle.see(("body.started", 3, (1,)))


def test_nobody_is_asked_twice() -> None:
    oracle = both_decided()
    assert oracle.see(GUARDS[0])
    assert not oracle.see(GUARDS[0])
