"""Layers, restrictions, modes, views: who sees which tool (REG, MOD)."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest
from calls import World, both, code, on, shown, text
from hypothesis import given
from hypothesis import strategies as st

from gnomon import (
    Change,
    ConfigError,
    Output,
    RegistrationError,
    RestrictionError,
    Runtime,
    Scope,
    Tool,
    ToolCall,
)
from gnomon_spec import registry as specified
from gnomon_spec import visibility
from gnomon_spec.kernel import NotEnabled


async def run(arguments: Any, context: Any) -> str:
    return "ran"


def tool(name: str, description: str = "", **fields: Any) -> Tool:
    made: dict[str, Any] = {"parameters": {}, "output": Output(schema={}), "run": run, **fields}
    return Tool(name=name, description=description, **made)


def names(layer: Runtime | Scope) -> list[str]:
    return [one.name for one in layer.tools()]


@pytest.mark.clause("REG-2", "REG-7", "REG-11")
def test_a_view_shows_what_is_inherited_the_farthest_first_then_what_is_own() -> None:
    runtime = Runtime()
    parent = runtime.scope("parent")
    child = parent.scope("child")
    for layer, name in (
        (child, "own"),
        (parent, "b"),
        (runtime, "a"),
        (runtime, "b"),
        (runtime, "c"),
        (child, "a"),
    ):
        layer.register(tool(name, layer.name if isinstance(layer, Scope) else "global"))
    assert [(one.name, one.description) for one in child.tools()] == [
        ("a", "child"),
        ("b", "parent"),
        ("c", "global"),
        ("own", "child"),
    ]
    assert [(one.name, one.description) for one in parent.tools()] == [
        ("a", "global"),
        ("b", "parent"),
        ("c", "global"),
    ], "in the place of what it shadows"
    assert names(runtime) == ["a", "b", "c"]
    assert child.parent is parent
    assert parent.parent is None


@pytest.mark.clause("REG-4")
def test_an_ancestors_own_tool_is_hidden_by_its_own_restriction_and_only_below() -> None:
    runtime = Runtime()
    runtime.register(tool("g"))
    runtime.register(tool("h"))
    ancestor = runtime.scope("ancestor")
    ancestor.restrict(allow=["g"])
    ancestor.register(tool("own"))
    below = ancestor.scope("below")
    assert names(ancestor) == ["g", "own"]
    assert names(below) == ["g"]
    below.register(tool("h", "its own shadows a denied one"))
    assert names(below) == ["g", "h"]


@pytest.mark.clause("REG-4", "REG-8")
def test_restrictions_intersect_and_a_deny_lets_later_tools_through() -> None:
    runtime = Runtime()
    for name in "abc":
        runtime.register(tool(name))
    scope = runtime.scope("scope")
    first = scope.restrict(allow=["a", "b"])
    second = scope.restrict(deny=["a"])
    assert names(scope) == ["b"]
    for name in ("a", "c"):
        call = ToolCall("c", name)
        assert code(anyio.run(partial(runtime.execute, call, scope=scope))) == "UNKNOWN_TOOL"
    runtime.register(tool("later"))
    assert names(scope) == ["b"]
    first()
    first()
    assert names(scope) == ["b", "c", "later"]
    second()
    with scope.restrict(allow=[]):
        assert names(scope) == []
    assert names(scope) == ["a", "b", "c", "later"]


@pytest.mark.clause("REG-8")
def test_two_equal_restrictions_are_two() -> None:
    runtime = Runtime()
    runtime.register(tool("a"))
    scope = runtime.scope("scope")
    one, other = scope.restrict(deny=["a"]), scope.restrict(deny=["a"])
    one()
    assert names(scope) == []
    other()
    assert names(scope) == ["a"]


@pytest.mark.clause("REG-3", "REG-4")
@pytest.mark.parametrize(
    ("options", "clause"),
    [
        ({}, "REG-4"),
        ({"allow": ["unknown"]}, "REG-4"),
        ({"deny": ["own"]}, "REG-4"),
        ({"allow": "a"}, "REG-4"),
        ({"deny": ["run_code"]}, "REG-3"),
    ],
)
def test_restrictions_that_make_no_sense_are_refused(options: Any, clause: str) -> None:
    runtime = Runtime()
    runtime.register(tool("a"))
    scope = runtime.scope("scope")
    scope.register(tool("own"))
    with pytest.raises(RestrictionError, match=clause):
        scope.restrict(**options)
    assert names(scope) == ["a", "own"]


@pytest.mark.clause("REG-4")
def test_names_are_copied_and_known_before_any_restriction() -> None:
    runtime = Runtime()
    runtime.register(tool("a"))
    scope = runtime.scope("scope")
    scope.restrict(deny=["a"])
    allowed = ["a"]
    scope.restrict(allow=allowed)
    allowed.clear()
    assert names(scope) == []


@pytest.mark.clause("REG-2", "REG-3")
def test_names_are_taken_once_in_a_layer_and_run_code_never() -> None:
    runtime = Runtime()
    scope = runtime.scope("scope")
    for layer in (runtime, scope):
        layer.register(tool("a"))
        with pytest.raises(RegistrationError, match="REG-2"):
            layer.register(tool("a"))
        with pytest.raises(RegistrationError, match="REG-3"):
            layer.register(tool("run_code"))


@pytest.mark.clause("REG-8")
def test_a_disposer_takes_back_exactly_its_own() -> None:
    runtime = Runtime()
    first = runtime.register(tool("a", "first"))
    first()
    with runtime.register(tool("a", "second")):
        first()
        assert [one.description for one in runtime.tools()] == ["second"]
    assert names(runtime) == []


@pytest.mark.clause("SCH-2", "SCH-8", "REG-1")
@pytest.mark.parametrize(
    "fields",
    [
        {"output": None},
        {"output": {"schema": {}}},
        {"output": Output(schema={}, render=None)},
        {"output": Output(schema={"type": "string", "minLength": 1})},
        {"output": Output(schema=True)},
        {"parameters": True},
        {"parameters": {"$ref": "http://example.com/schema"}},
        {"parameters": {"type": 5}},
        {"name": ""},
        {"name": None},
        {"run": None},
        {"interrupt": "never"},
    ],
)
def test_what_cannot_be_registered_changes_nothing(fields: Any) -> None:
    runtime = Runtime()
    with pytest.raises(RegistrationError):
        runtime.register(tool(**{"name": "a", **fields}))
    assert names(runtime) == []
    with pytest.raises(RegistrationError, match="a tool is a Tool"):
        runtime.register({"name": "a"})


@pytest.mark.clause("REG-10")
@both
def test_a_definition_is_captured_when_it_is_registered(backend: str) -> None:
    parameters: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema: dict[str, Any] = {"type": "string"}
    made = tool("a", parameters=parameters, output=Output(schema=schema))
    runtime = Runtime()
    runtime.register(made)
    parameters["required"] = ["a"]
    schema["type"] = "integer"
    object.__setattr__(made, "run", None)
    object.__setattr__(made, "defer_loading", True)
    assert shown(on(backend, lambda: runtime.execute(ToolCall("c", "a")))) == "ran"
    assert runtime.schemas() == [
        {
            "name": "a",
            "description": "",
            "parameters": {"type": "object", "properties": {"a": {"type": "string"}}},
        }
    ]


@pytest.mark.clause("REG-6")
def test_the_model_is_sent_detached_copies_and_nothing_else() -> None:
    runtime = Runtime()
    runtime.register(tool("a", defer_loading=True, timeout=5, parameters={"properties": {"x": {}}}))
    sent: Any = runtime.schemas()
    assert sent == [
        {"name": "a", "description": "", "parameters": {"properties": {"x": {}}}, "deferLoading": True}
    ]
    sent[0]["parameters"]["properties"]["x"]["type"] = "string"
    assert runtime.schemas()[0]["parameters"] == {"properties": {"x": {}}}


def test_scopes_that_are_called_alike_are_two() -> None:
    runtime = Runtime()
    runtime.register(tool("g"))
    one, other = runtime.scope("agent"), runtime.scope("agent")
    below = one.scope("agent")
    one.register(tool("own"))
    one.restrict(deny=["g"])
    other.present_as("both")
    assert (names(one), names(below)) == (["own"], ["own"])
    assert names(other) == ["g", "run_code"]


# -- changes --------------------------------------------------------------------------------------


@pytest.mark.clause("REG-9")
def test_tools_and_restrictions_are_announced_and_guards_are_not() -> None:
    runtime = Runtime()
    scope = runtime.scope("scope")
    heard: list[Change] = []
    runtime.on("change", heard.append)
    scope.on("change", heard.append)
    a = runtime.register(tool("a"))
    own = scope.register(tool("own"))
    restriction = scope.restrict(deny=["a"])
    scope.guard(lambda execution: None)
    for disposer in (restriction, own, a, a):
        disposer()
    assert [(one.what, one.scope, one.tool) for one in heard] == [
        ("registered", None, "a"),
        *[("registered", "scope", "own")] * 2,
        *[("restricted", "scope", None)] * 2,
        *[("unrestricted", "scope", None)] * 2,
        *[("removed", "scope", "own")] * 2,
        ("removed", None, "a"),
    ]


@pytest.mark.clause("REG-9")
def test_a_change_listener_that_raises_undoes_the_registration() -> None:
    runtime = Runtime()
    runtime.register(tool("a"))
    scope = runtime.scope("scope")

    def refuse(change: Change) -> None:
        raise PermissionError("not now")

    removal = runtime.register(tool("b"))
    with runtime.on("change", refuse):
        with pytest.raises(PermissionError):
            runtime.register(tool("c"))
        with pytest.raises(PermissionError):
            scope.restrict(deny=["a"])
        with pytest.warns(RuntimeWarning, match="PermissionError"):
            removal()
    assert names(scope) == ["a"]


# -- modes ----------------------------------------------------------------------------------------


@pytest.mark.clause("REG-7", "MOD-3", "MOD-5", "MOD-6")
def test_a_scope_declares_its_mode_once_and_the_nearest_wins() -> None:
    runtime = Runtime(mode="both")
    runtime.register(tool("a"))
    parent = runtime.scope("parent", mode="native")
    child = parent.scope("child")
    assert names(runtime) == ["a", "run_code"]
    assert names(child) == ["a"]
    undo = child.present_as("ptc")
    with pytest.raises(RegistrationError, match="MOD-6"):
        child.present_as("native")
    assert names(child) == ["a", "run_code"]
    with pytest.raises(ConfigError, match="MOD-3"):
        child.schemas()
    undo()
    assert names(child) == ["a"]
    child.present_as("both")
    with pytest.raises(ConfigError, match="no mode"):
        Runtime(mode="code")


@pytest.mark.clause("REG-2", "REG-7", "DSP-4")
@both
def test_a_call_runs_what_its_scope_sees(backend: str) -> None:
    world = World(in_scope=True)
    assert world.scope is not None
    world.scope.register(
        tool("act", output=Output(schema={}, render=lambda arguments, value: text("shadow")))
    )
    assert shown(world.call(backend)) == "shadow"
    world.scope = below = world.scope.scope("below")
    assert shown(world.call(backend)) == "shadow", "of two inherited definitions the nearer one (REG-7)"
    below.restrict(deny=["act"])
    assert code(world.call(backend)) == "UNKNOWN_TOOL"
    world.scope = None
    assert shown(world.call(backend)) == "done"
    stranger = Runtime().scope("stranger")
    with pytest.raises(ConfigError, match="another runtime"):
        on(backend, lambda: world.runtime.execute(ToolCall("c", "act"), scope=stranger))


# -- the same as the specification ------------------------------------------------------------------

LAYERS = (None, "p", "c")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("register"), st.sampled_from(LAYERS), st.sampled_from("abc")),
        st.tuples(st.just("allow"), st.sampled_from(("p", "c")), st.sets(st.sampled_from("abc"))),
        st.tuples(st.just("deny"), st.sampled_from(("p", "c")), st.sets(st.sampled_from("abc"))),
        st.tuples(st.just("mode"), st.sampled_from(("p", "c")), st.sampled_from(("native", "ptc", "both"))),
        st.tuples(st.just("dispose"), st.integers(0, 8), st.none()),
    ),
    max_size=12,
)


@pytest.mark.clause("REG-2", "REG-4", "REG-7", "REG-11", "MOD-2", "MOD-5")
@given(STEPS)
def test_every_layer_sees_what_the_specification_says(steps: list[Any]) -> None:
    runtime = Runtime()
    layers: dict[str | None, Any] = {None: runtime, "p": runtime.scope("p")}
    layers["c"] = layers["p"].scope("c")
    world = specified.open_scope(specified.open_scope(specified.Registry(), "p"), "c", "p")
    disposers: list[Any] = []
    for op, where, what in steps:
        before = world
        try:
            match op:
                case "register":
                    definition = specified.Definition(what, str(where), output={})
                    world = specified.register(world, definition, where).state
                case "allow" | "deny":
                    world = specified.restrict(world, where, **{op: what}).state
                case "mode":
                    world = specified.set_mode(world, where, specified.Presentation(what)).state
                case _:
                    if where < len(disposers):
                        disposers[where][0]()
                        world = specified.dispose(world, disposers[where][1]).state
        except NotEnabled:
            with pytest.raises(RegistrationError):
                _change(layers, op, where, what)
            continue
        if op != "dispose":
            new = [one.id for one in world.contributions if one not in before.contributions]
            disposers.append((_change(layers, op, where, what), new[0]))
    for where, layer in layers.items():
        expected = [(one.what.name, one.layer) for one in visibility.view(world, where)]
        seen = [(one.name, _where(one.description)) for one in layer.tools()]
        assert [one for one in seen if one[0] != "run_code"] == [
            one for one in expected if one[0] != "run_code"
        ]
        assert [name for name, _ in seen] == [name for name, _ in expected]
        for name in "abc":
            assert runtime._registry.collapsed(name, layer._layer, False) is visibility.collapsed(
                world, where, name, nested=False
            )
            found = runtime._registry.visible(name, layer._layer)
            assert (found is None) is (visibility.visible(world, where, name) is None)


def _where(description: str) -> str | None:
    return None if description == "None" else description


def _change(layers: dict[str | None, Any], op: str, where: Any, what: Any) -> Any:
    if op == "register":
        return layers[where].register(tool(what, str(where)))
    return layers[where].present_as(what) if op == "mode" else layers[where].restrict(**{op: what})
