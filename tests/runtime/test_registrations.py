"""What is added to a layer and taken back, and what is shown of it (REG, MOD)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from calls import World, both, code

from gnomon import (
    AbortController,
    Allow,
    Ask,
    ConfigError,
    Limits,
    Next,
    Registration,
    Runtime,
    ToolCall,
)
from gnomon.execution import Call, Caller

PROGRAM = '{"description": "d", "code": "c"}'


def names(schemas: list[dict[str, Any]]) -> list[str]:
    return [one["name"] for one in schemas]


# -- what takes back what ---------------------------------------------------------------------------


def counted(world: World, answer: Any) -> Callable[..., Any]:
    def count(*given: Any) -> Any:
        world.seen.append("counted")
        return given[-1]() if answer is Next else answer

    return count


HOOKS = {"pre_execute": Next, "execute": Next, "post_execute": Next, "approval": Next, "result": None}


@both
@pytest.mark.clause("REG-8")
@pytest.mark.parametrize("kind", [*HOOKS, "guard"])
def test_a_hook_that_was_added_twice_is_taken_back_once_at_a_time(backend: str, kind: Any) -> None:
    world = World(in_scope=True, approval_policy="ask")
    assert world.scope is not None
    hook = counted(world, HOOKS.get(kind))

    def add() -> Registration:
        return world.runtime.guard(hook) if kind == "guard" else world.runtime.on(kind, hook)

    def heard() -> int:
        world.seen.clear()
        world.call(backend)
        return world.seen.count("counted")

    first, second = add(), add()
    world.runtime.on("pre_execute", lambda execution, following: Ask() if kind == "approval" else following())
    world.scope.on("approval", lambda request, following: "allowed-once")
    assert heard() == 2
    first()
    first()
    assert heard() == 1
    second()
    assert heard() == 0


@pytest.mark.clause("REG-8", "REG-9")
def test_a_listener_for_changes_is_taken_back_once_at_a_time() -> None:
    world = World()
    listen = counted(world, None)
    first, second = world.runtime.on("change", listen), world.runtime.on("change", listen)
    for left, disposer in ((2, first), (1, first), (1, second), (0, second)):
        world.seen.clear()
        world.runtime.register(replace(world.tool, name=f"tool{left}"))()
        assert world.seen.count("counted") == 2 * left, "one for the tool that comes, one as it goes"
        disposer()


@pytest.mark.clause("REG-8", "MOD-6")
def test_a_mode_that_was_taken_back_takes_back_no_later_one() -> None:
    scope = Runtime().scope("scope")
    first = scope.present_as("both")
    first()
    assert scope.schemas() == []
    scope.present_as("both")
    first()
    with pytest.raises(ConfigError, match="MOD-3"):
        scope.schemas()


# -- what is live -------------------------------------------------------------------------------------


@both
@pytest.mark.clause("REG-5", "DSP-4")
def test_nothing_is_kept_from_when_the_schemas_were_sent(backend: str) -> None:
    world = World(in_scope=True)
    scope = world.scope
    assert scope is not None
    assert names(scope.schemas()) == ["act"]
    world.registration()
    assert code(world.call(backend)) == "UNKNOWN_TOOL"
    world.registration = world.runtime.register(world.tool)
    assert code(world.call(backend)) == "OK"
    with scope.restrict(deny=["act"]):
        assert code(world.call(backend)) == "UNKNOWN_TOOL"
        assert scope.schemas() == []
    assert code(world.call(backend)) == "OK"
    own = replace(world.tool, output=replace(world.tool.output, schema={"type": "integer"}))
    with scope.register(own):
        assert code(world.call(backend)) == "INVALID_TOOL_OUTPUT", "the nearest one, as it is now"


# -- modes --------------------------------------------------------------------------------------------


@pytest.mark.clause("MOD-1", "MOD-3")
def test_native_shows_every_visible_tool_and_a_code_mode_never_falls_back_to_that() -> None:
    world = World(in_scope=True)
    scope = world.scope
    assert scope is not None
    scope.register(replace(world.tool, name="own"))
    assert names(scope.schemas()) == ["act", "own"]
    for mode in ("ptc", "both"):
        with scope.present_as(mode), pytest.raises(ConfigError, match="MOD-3"):
            scope.schemas()
    assert names(scope.schemas()) == ["act", "own"]


@both
@pytest.mark.clause("MOD-4")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (PROGRAM, "CODE_RUN_FAILED"),
        ('{"code": "c"}', "INVALID_ARGS"),
        ('{"description": "d"}', "INVALID_ARGS"),
        ('{"description": 1, "code": "c"}', "INVALID_ARGS"),
        ('{"description": "d", "code": null}', "INVALID_ARGS"),
    ],
)
def test_run_code_takes_a_description_and_code(backend: str, arguments: str, expected: str) -> None:
    world = World(in_scope=True)
    assert world.scope is not None
    world.scope.present_as("both")
    parameters: Any = world.scope.tools()[-1].parameters
    assert list(parameters["properties"]) == ["description", "code"]
    assert code(world.call(backend, name="run_code", arguments=arguments)) == expected


@pytest.mark.clause("MOD-5")
def test_run_code_is_exclusive_and_handles_its_signal_itself() -> None:
    runtime = Runtime(mode="both")
    [run_code] = runtime.tools()
    assert run_code.interrupt == "signal"
    caller = Caller(runtime._layer, AbortController().signal)
    call = Call(ToolCall("c", "run_code", PROGRAM), caller, Limits())
    assert not runtime._pipeline.is_parallel(call)


@both
@pytest.mark.clause("MOD-2")
@pytest.mark.parametrize("mode", ["native", "ptc", "both"])
def test_a_name_that_the_scope_does_not_see_is_for_policies_to_judge(backend: str, mode: Any) -> None:
    world = World(in_scope=True)
    assert world.scope is not None
    world.scope.present_as(mode)
    world.scope.restrict(deny=["act"])
    world.runtime.on("pre_execute", lambda execution, following: world.seen.append("pre") or Allow())
    assert code(world.call(backend)) == "UNKNOWN_TOOL"
    assert world.seen == ["pre", "observer"]
