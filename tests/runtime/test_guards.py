"""Guards: they cannot be hidden, overruled or skipped, and only deny (GRD)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from calls import World, both, code, shown
from hypothesis import given
from hypothesis import strategies as st

from gnomon import Allow, Code, Execution, Registration, RegistrationError, Runtime, ToolError


@pytest.mark.clause("REG-7", "GRD-1")
@both
def test_guards_run_by_layer_the_farthest_first_and_in_order(backend: str) -> None:
    world = World(in_scope=True)
    parent = world.scope
    assert parent is not None
    world.scope = parent.scope("child")
    for layer, name in ((world.scope, "child"), (parent, "parent"), (world.runtime, "global")):
        for number in (1, 2):
            layer.guard(lambda execution, name=f"{name}{number}": world.seen.append(name))
    parent.scope("sibling").guard(lambda execution: "a sibling has no say")
    world.runtime.on("pre_execute", lambda execution, following: Allow())
    assert code(world.call(backend)) == "OK"
    guards = ["global1", "global2", "parent1", "parent2", "child1", "child2"]
    assert world.seen == [*guards, "body", "observer"]


@pytest.mark.clause("GRD-2", "GRD-4")
@both
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, "OK"),
        ("no", "DENIED"),
        ("", "DENIED"),
        (False, "POLICY_ERROR"),
        (True, "POLICY_ERROR"),
        (0, "POLICY_ERROR"),
        (["no"], "POLICY_ERROR"),
        (Allow(), "POLICY_ERROR"),
    ],
)
def test_a_guard_answers_a_reason_or_nothing(backend: str, answer: Any, expected: str) -> None:
    world = World()
    world.runtime.guard(lambda execution: answer)
    world.runtime.guard(lambda execution: world.seen.append("second"))
    world.runtime.on("post_execute", lambda e, r, following: world.seen.append("post") or following())
    assert code(world.call(backend)) == expected
    denied = {"OK": ["second", "body", "post"], "DENIED": ["post"], "POLICY_ERROR": []}
    assert world.seen == [*denied[expected], "observer"]


@pytest.mark.clause("GRD-4", "PY-8")
@both
def test_an_async_guard_is_malformed_and_its_coroutine_is_closed(backend: str) -> None:
    world = World()

    async def guard(execution: Execution) -> str:
        raise AssertionError("nobody awaits this")

    world.runtime.guard(guard)
    assert code(world.call(backend)) == Code.POLICY_ERROR


@pytest.mark.clause("GRD-4", "PY-4")
@both
@pytest.mark.parametrize("error", [ValueError("v"), SystemExit(), asyncio.CancelledError(), GeneratorExit()])
def test_a_guard_that_raises_fails_the_call(backend: str, error: BaseException) -> None:
    world = World()

    def guard(execution: Execution) -> None:
        raise error

    world.runtime.guard(guard)
    assert code(world.call(backend)) == Code.POLICY_ERROR


@pytest.mark.clause("ERR-1")
@both
def test_a_guard_that_raises_keeps_a_structured_code(backend: str) -> None:
    world = World()

    def guard(execution: Execution) -> None:
        raise ToolError("quota", code="QUOTA")

    world.runtime.guard(guard)
    assert code(world.call(backend)) == "QUOTA"


@pytest.mark.clause("GRD-6")
@both
def test_a_guard_that_a_guard_adds_to_a_later_layer_takes_part_and_a_removed_one_hides_no_other(
    backend: str,
) -> None:
    world = World(in_scope=True)
    scope = world.scope
    assert scope is not None
    added: list[Registration] = []
    gone: list[Registration] = []

    def first(execution: Execution) -> None:
        gone[0]()  # itself
        gone[1]()  # the next
        added.append(scope.guard(lambda execution: "the added one denies"))

    gone.append(world.runtime.guard(first))
    gone.append(world.runtime.guard(lambda execution: "never asked"))
    world.runtime.guard(lambda execution: world.seen.append("third"))
    result = world.call(backend)
    assert (code(result), shown(result)) == ("DENIED", "Error: the added one denies")
    assert world.seen == ["third", "observer"]


def test_what_is_no_function_is_no_guard() -> None:
    with pytest.raises(RegistrationError, match="a guard is a function"):
        Runtime().guard("deny")


ANSWERS = st.sampled_from([None, "no", "", False, 5, "raises"])


@pytest.mark.clause("GRD-2", "GRD-3")
@given(st.lists(ANSWERS, max_size=4), ANSWERS, st.integers(0, 4))
def test_one_guard_more_never_lets_a_call_through(answers: list[Any], more: Any, place: int) -> None:
    def runs(several: list[Any]) -> bool:
        world = World()
        for one in several:
            world.runtime.guard(lambda execution, one=one: _answer(one))
        return code(world.call("asyncio")) == "OK"

    before, after = runs(answers), runs([*answers[:place], more, *answers[place:]])
    assert before or not after
    assert after is all(one is None for one in [*answers, more])


def _answer(one: Any) -> Any:
    if one == "raises":
        raise ValueError
    return one
