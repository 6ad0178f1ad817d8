"""REG, MOD: layers, views, restrictions, and how tools are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_spec import registry as chapter
from gnomon_spec.kernel import NotEnabled, Refused
from gnomon_spec.registry import (
    Announced,
    Changed,
    CodeRuntime,
    Definition,
    Presentation,
    Registry,
    add_guard,
    after_announcement,
    dispose,
    open_scope,
    refuse_dispose,
    refuse_register,
    refuse_restrict,
    refuse_set_mode,
    register,
    restrict,
    set_mode,
)
from gnomon_spec.visibility import (
    collapsed,
    guards_of,
    mode_of,
    model_tools,
    program_tools,
    run_code_definition,
    shows_no_more,
    view,
    visible,
    without_a_code_runtime,
)
from gnomon_spec.vocabulary import Code


def tool(name: str, **fields: Any) -> Definition:
    return Definition(name, output={}, **fields)


def family() -> Registry:
    """preset <- agent <- helper, and other beside them."""
    registry = Registry(code=CodeRuntime("python"))
    for name, parent in (("preset", None), ("agent", "preset"), ("helper", "agent"), ("other", None)):
        registry = open_scope(registry, name, parent)
    return registry


def after(registry: Registry, *changes: Callable[[Registry], Changed]) -> Registry:
    for change in changes:
        registry = change(registry).state
    return registry


def adds(name: str, scope: str | None = None) -> Callable[[Registry], Changed]:
    return lambda registry: register(registry, tool(name), scope)


def restricts(scope: str, allow: Any = None, deny: Any = None) -> Callable[[Registry], Changed]:
    return lambda registry: restrict(registry, scope, allow, deny)


def seen(registry: Registry, scope: str | None) -> list[str]:
    return [one.id for one in view(registry, scope)]


# -- REG: registration ----------------------------------------------------------------------------


@pytest.mark.clause("SCH-2", "SCH-8", "REG-1", "REG-2", "REG-3")
@pytest.mark.parametrize(
    ("definition", "clause"),
    [
        (Definition("t"), "REG-1"),
        (Definition("t", output={"type": "string", "minLength": 1}), "REG-1"),
        (Definition("t", output=True), "REG-1"),
        (tool("t", render=False), "REG-1"),
        (tool("t", timeout=0), "REG-1"),
        (tool("t", timeout=-1), "REG-1"),
        (tool("t", timeout=float("inf")), "REG-1"),
        (tool("t", timeout=float("nan")), "REG-1"),
        (tool("t", timeout=True), "REG-1"),
        (tool("t", timeout="1"), "REG-1"),
        (tool("taken"), "REG-2"),
        (tool("run_code"), "REG-3"),
        (tool("t", authored=True, parameters={"a": {"type": "string", "required": False}}), "SCH-2"),
        (tool("t", parameters=[]), "SCH-8"),
        (tool("t", parameters={"default": object()}), "SCH-8"),
        (tool("t"), None),
        (tool("t", timeout=0.5), None),
        (tool("t", parameters={"type": "object", "minProperties": 1}), None),
    ],
)
def test_registration(definition: Definition, clause: str | None) -> None:
    registry = after(family(), adds("taken"))
    refused = refuse_register(registry, definition)
    assert (refused and refused.clause) == clause
    if clause is not None:
        with pytest.raises(NotEnabled):
            register(registry, definition)


@pytest.mark.clause("REG-1")
def test_a_definition_without_an_output_is_told_apart_from_one_with_a_faulty_output() -> None:
    assert refuse_register(Registry(), Definition("t")) == Refused("REG-1", "it declares no output")


@pytest.mark.clause("REG-2", "REG-3")
def test_a_name_is_repeated_in_another_layer_only() -> None:
    registry = after(family(), adds("a"), adds("a", "agent"))
    assert [one.id for one in registry.contributions] == ["a@1", "a@2"]
    assert refuse_register(registry, tool("a"), "agent") is not None
    assert refuse_register(registry, tool("a"), "nowhere") == Refused("REG-2", "there is no scope 'nowhere'")
    for mode in Presentation:
        assert refuse_register(replace(registry, mode=mode), tool("run_code"), "agent") is not None


@pytest.mark.clause("REG-8")
def test_a_disposer_takes_back_exactly_its_own() -> None:
    registry = after(family(), adds("a"), adds("b"))
    registry = after(registry, lambda one: dispose(one, "a@1"), adds("a"))
    assert seen(registry, None) == ["b@1", "a@2"]
    assert dispose(registry, "a@1") == (registry, ())
    assert visible(registry, None, "a") is not None
    registry = dispose(registry, "a@2").state
    assert visible(registry, None, "a") is None
    assert refuse_dispose(registry, "a@2") is None
    for never in ("a@3", "a@0", "a@x", "c@1", "a", ""):
        assert refuse_dispose(registry, never) is not None
        with pytest.raises(NotEnabled):
            dispose(registry, never)


@pytest.mark.clause("REG-9")
def test_changes_of_tools_and_restrictions_are_announced_and_those_of_guards_not() -> None:
    registry = after(family(), adds("a"))
    assert register(registry, tool("b"), "agent").events == (Announced("registered", "agent", "b@1"),)
    assert dispose(registry, "a@1").events == (Announced("removed", None, "a@1"),)
    restricted = restrict(registry, "agent", deny=["a"])
    assert restricted.events == (Announced("restricted", "agent", "restriction:agent@1"),)
    assert dispose(restricted.state, "restriction:agent@1").events == (
        Announced("unrestricted", "agent", "restriction:agent@1"),
    )
    guarded = add_guard(registry, "g")
    assert guarded.events == ()
    assert dispose(guarded.state, "guard:g@1").events == ()


@pytest.mark.clause("REG-9")
def test_a_registration_is_undone_where_a_listener_raises() -> None:
    registry = after(family(), adds("a"))
    for change in (adds("b"), restricts("agent", deny=["a"])):
        changed = change(registry)
        assert after_announcement(changed, listener_raised=False) == changed.state
        undone = after_announcement(changed, listener_raised=True)
        assert undone.contributions == registry.contributions
        assert undone.made != registry.made, "an id is not given out again"
    guarded = add_guard(registry, "g")
    assert after_announcement(guarded, listener_raised=True) == guarded.state


@pytest.mark.clause("REG-10")
def test_what_changes_in_the_source_later_has_no_effect() -> None:
    parameters: Any = {"type": "object", "properties": {"a": {}}}
    output: Any = {"type": "string"}
    names = ["a"]
    registry = register(family(), Definition("a", parameters=parameters, output=output)).state
    registry = restrict(registry, "agent", allow=names).state
    parameters["properties"]["b"] = {}
    output["type"] = "null"
    names.clear()
    one = visible(registry, "agent", "a")
    assert one is not None
    assert isinstance(one.what, Definition)
    assert one.what.parameters == {"type": "object", "properties": {"a": {}}}
    assert one.what.output == {"type": "string"}


# -- REG: views -----------------------------------------------------------------------------------


@pytest.mark.clause("REG-2", "REG-11")
def test_the_order_of_a_view() -> None:
    registry = after(
        family(),
        adds("own", "agent"),
        adds("p1", "preset"),
        adds("g1"),
        adds("g2"),
        adds("p2", "preset"),
        adds("g1", "preset"),
        adds("p1", "agent"),
        adds("g3"),
    )
    assert seen(registry, None) == ["g1@1", "g2@1", "g3@1"]
    assert seen(registry, "preset") == ["g1@2", "g2@1", "g3@1", "p1@1", "p2@1"]
    assert seen(registry, "agent") == ["g1@2", "g2@1", "g3@1", "p1@2", "p2@1", "own@1"]
    assert seen(registry, "helper") == ["g1@2", "g2@1", "g3@1", "p1@2", "p2@1", "own@1"]
    assert seen(registry, "other") == seen(registry, None)
    both = replace(registry, mode=Presentation.BOTH)
    assert seen(both, "agent") == [*seen(registry, "agent"), "run_code"]
    denied = after(registry, restricts("agent", deny=["p1"]))
    assert seen(denied, "agent") == ["g1@2", "g2@1", "g3@1", "p2@1", "own@1", "p1@2"]
    assert seen(denied, "helper") == ["g1@2", "g2@1", "g3@1", "p2@1", "own@1"]


@pytest.mark.clause("REG-4")
def test_an_ancestors_restriction_hides_its_own_tools_from_its_descendants() -> None:
    registry = after(family(), adds("g"), adds("h"), adds("own", "agent"), restricts("agent", allow=["g"]))
    assert seen(registry, "agent") == ["g@1", "own@1"]
    assert seen(registry, "helper") == ["g@1"]
    assert seen(registry, "preset") == ["g@1", "h@1"]


@pytest.mark.clause("REG-4")
def test_an_own_tool_that_shadows_a_denied_one_is_visible() -> None:
    registry = after(family(), adds("a"), restricts("agent", deny=["a"]), adds("a", "agent"))
    assert seen(registry, "agent") == ["a@2"]
    assert seen(registry, "helper") == []


@pytest.mark.clause("REG-4", "REG-7")
def test_restrictions_of_the_whole_chain_intersect() -> None:
    registry = after(family(), adds("a"), adds("b"), adds("c"), adds("d"))
    registry = after(registry, restricts("preset", allow=["a", "b", "c"]), restricts("agent", deny=["a"]))
    registry = after(registry, restricts("helper", allow=["a", "b"]))
    assert seen(registry, "preset") == ["a@1", "b@1", "c@1"]
    assert seen(registry, "agent") == ["b@1", "c@1"]
    assert seen(registry, "helper") == ["b@1"]
    lifted = after(registry, lambda one: dispose(one, "restriction:agent@1"))
    assert seen(lifted, "helper") == ["a@1", "b@1"]


@pytest.mark.clause("REG-4")
def test_a_deny_only_restriction_lets_later_tools_through_and_an_allow_list_does_not() -> None:
    denies = after(family(), adds("a"), restricts("agent", deny=["a"]), adds("b"))
    allows = after(family(), adds("a"), restricts("agent", allow=["a"]), adds("b"))
    nothing = after(family(), adds("a"), restricts("agent", allow=[]), adds("b"), adds("c", "agent"))
    assert seen(denies, "agent") == ["b@1"]
    assert seen(allows, "agent") == ["a@1"]
    assert seen(nothing, "agent") == ["c@1"]


@pytest.mark.clause("REG-3", "REG-4")
@pytest.mark.parametrize(
    ("scope", "allow", "deny", "clause"),
    [
        (None, ["g"], None, "REG-4"),
        ("nowhere", ["g"], None, "REG-2"),
        ("agent", None, None, "REG-4"),
        ("agent", ["own"], None, "REG-4"),
        ("agent", None, ["unknown"], "REG-4"),
        ("agent", ["g", "unknown"], None, "REG-4"),
        ("agent", ["run_code"], None, "REG-3"),
        ("agent", None, ["run_code"], "REG-3"),
        ("agent", [], None, None),
        ("agent", None, [], None),
        ("agent", ["g"], ["g"], None),
        ("agent", ["p"], None, None),
        ("agent", ["denied"], None, None),
        ("helper", ["own"], None, None),
    ],
)
def test_restrictions(scope: str | None, allow: Any, deny: Any, clause: str | None) -> None:
    registry = after(family(), adds("g"), adds("denied"), adds("p", "preset"), adds("own", "agent"))
    registry = after(registry, restricts("agent", deny=["denied"]))
    refused = refuse_restrict(registry, scope, allow, deny)
    assert (refused and refused.clause) == clause
    if refused is not None:
        with pytest.raises(NotEnabled):
            restrict(registry, str(scope) if scope else None, allow, deny)


NAMES = st.sampled_from(["a", "b", "c"])
SCOPES = st.sampled_from([None, "preset", "agent", "helper", "other"])
CHANGES = st.one_of(
    st.tuples(st.just("register"), NAMES, SCOPES),
    st.tuples(st.just("restrict"), SCOPES, st.none() | st.lists(NAMES), st.none() | st.lists(NAMES)),
    st.tuples(st.just("mode"), SCOPES, st.sampled_from(Presentation)),
    st.tuples(st.just("dispose"), st.integers(0, 8)),
)


def changed(registry: Registry, change: Any) -> Registry:
    try:
        match change:
            case ("register", name, scope):
                return register(registry, tool(name), scope).state
            case ("restrict", scope, allow, deny):
                return restrict(registry, scope, allow, deny).state
            case ("mode", scope, mode):
                return set_mode(registry, scope, mode).state
            case ("dispose", index) if index < len(registry.contributions):
                return dispose(registry, registry.contributions[index].id).state
    except NotEnabled:
        pass
    return registry


REGISTRIES = st.lists(CHANGES, max_size=12).map(lambda some: _all_of(family(), some))


def _all_of(registry: Registry, changes: list[Any]) -> Registry:
    for one in changes:
        registry = changed(registry, one)
    return registry


@pytest.mark.clause("REG-4", "REG-8")
@given(REGISTRIES, SCOPES, st.none() | st.lists(NAMES), st.none() | st.lists(NAMES))
def test_one_restriction_more_shows_nothing_more(
    registry: Registry, scope: Any, allow: Any, deny: Any
) -> None:
    if refuse_restrict(registry, scope, allow, deny) is not None:
        return
    restricted = restrict(registry, scope, allow, deny)
    for viewer in (None, "preset", "agent", "helper", "other"):
        assert shows_no_more(registry, restricted.state, viewer)
        if scope not in chapter.layers(registry, viewer):
            assert seen(registry, viewer) == seen(restricted.state, viewer)
    again = dispose(restricted.state, restricted.events[0].contribution)
    assert again.state.contributions == registry.contributions


@pytest.mark.clause("MOD-5")
@given(REGISTRIES, SCOPES)
def test_a_view_has_each_name_once_and_what_is_visible_is_in_it(registry: Registry, scope: Any) -> None:
    shown = [one.what.name for one in view(registry, scope) if isinstance(one.what, Definition)]
    assert len(set(shown)) == len(shown)
    for name in ("a", "b", "c", "run_code"):
        assert (visible(registry, scope, name) is not None) is (name in shown)
    native = mode_of(registry, scope) is Presentation.NATIVE
    assert shown[-1:] != ["run_code"] if native else shown[-1] == "run_code"


def test_showing_more_is_told_apart() -> None:
    registry = after(family(), adds("a"), restricts("agent", deny=["a"]))
    lifted = dispose(registry, "restriction:agent@1").state
    assert not shows_no_more(registry, lifted, "agent")
    assert shows_no_more(lifted, registry, "agent")


@pytest.mark.clause("REG-7", "GRD-1")
def test_guards_of_every_layer_have_their_say_the_farthest_first() -> None:
    registry = family()
    for name, scope in (("a", "agent"), ("g", None), ("p", "preset"), ("g2", None), ("o", "other")):
        registry = add_guard(registry, name, scope).state
    assert guards_of(registry, "helper") == ("g", "g2", "p", "a")
    assert guards_of(registry, None) == ("g", "g2")
    with pytest.raises(NotEnabled):
        add_guard(registry, "x", "nowhere")


# -- MOD ------------------------------------------------------------------------------------------


def names(registry: Registry, scope: str | None) -> list[str]:
    shown = model_tools(registry, scope)
    assert not isinstance(shown, Refused)
    return [str(one["name"]) for one in shown]


@pytest.mark.clause("MOD-1", "MOD-5")
def test_the_modes() -> None:
    registry = after(family(), adds("a"), adds("b", "agent"))
    for mode, expected in (
        (Presentation.NATIVE, ["a", "b"]),
        (Presentation.PTC, ["run_code"]),
        (Presentation.BOTH, ["a", "b", "run_code"]),
    ):
        shown = replace(registry, mode=mode)
        assert names(shown, "agent") == expected
        assert [one.id for one in program_tools(shown, "agent")] == ["a@1", "b@1"]


@pytest.mark.clause("REG-7", "MOD-6")
def test_the_nearest_mode_wins_and_taking_it_back_restores_what_it_hid() -> None:
    registry = set_mode(family(), "preset", Presentation.PTC).state
    assert mode_of(registry, "helper") is Presentation.PTC
    assert mode_of(registry, "other") is Presentation.NATIVE
    nearer = set_mode(registry, "agent", Presentation.NATIVE).state
    assert mode_of(nearer, "helper") is Presentation.NATIVE
    assert mode_of(nearer, "preset") is Presentation.PTC
    assert mode_of(dispose(nearer, "mode:agent@1").state, "helper") is Presentation.PTC


@pytest.mark.clause("MOD-6")
def test_a_scope_declares_a_mode_once() -> None:
    registry = set_mode(family(), "agent", Presentation.PTC).state
    for scope in ("agent", None):
        refused = refuse_set_mode(registry, scope)
        assert refused is not None
        assert refused.clause == "MOD-6"
        with pytest.raises(NotEnabled):
            set_mode(registry, scope, Presentation.BOTH)
    assert refuse_set_mode(registry, "nowhere") is not None
    assert refuse_set_mode(dispose(registry, "mode:agent@1").state, "agent") is None


@pytest.mark.clause("MOD-3")
def test_a_code_mode_without_a_code_runtime_fails_and_does_not_fall_back() -> None:
    for mode in (Presentation.PTC, Presentation.BOTH):
        for code in (None, CodeRuntime("lua", renders=False)):
            shown = model_tools(replace(family(), mode=mode, code=code), "agent")
            assert isinstance(shown, Refused)
            assert shown.clause == "MOD-3"
    assert model_tools(replace(family(), code=None), "agent") == ()
    ended = without_a_code_runtime(replace(family(), code=None))
    assert ended is not None
    assert ended.outcome.code == Code.CODE_RUN_FAILED
    assert without_a_code_runtime(family()) is None


@pytest.mark.clause("MOD-2")
def test_only_a_model_direct_call_of_a_visible_tool_collapses() -> None:
    registry = replace(after(family(), adds("a"), adds("b", "agent")), mode=Presentation.PTC)
    assert collapsed(registry, None, "a", nested=False)
    assert collapsed(registry, "agent", "b", nested=False)
    assert not collapsed(registry, "agent", "b", nested=True)
    assert not collapsed(registry, None, "b", nested=False)
    assert not collapsed(registry, "agent", "run_code", nested=False)
    for mode in (Presentation.NATIVE, Presentation.BOTH):
        assert not collapsed(replace(registry, mode=mode), None, "a", nested=False)
    registry = after(registry, restricts("helper", deny=["b"]))
    assert not collapsed(registry, "helper", "b", nested=False)


@pytest.mark.clause("MOD-4", "MOD-5")
def test_run_code() -> None:
    one = run_code_definition().what
    assert isinstance(one, Definition)
    assert isinstance(one.parameters, dict)
    assert list(one.parameters["properties"]) == one.parameters["required"] == ["description", "code"]
    assert (one.parallel, one.handles_signal) == (False, True)


@pytest.mark.clause("REG-6")
def test_the_model_is_sent_four_fields_as_detached_copies() -> None:
    registry = register(
        family(),
        tool("a", description="d", timeout=1, defer_loading=True, parallel=True, parameters={"x": {}}),
    ).state
    registry = after(registry, adds("b"))
    shown = model_tools(registry, None)
    expected = (
        {"name": "a", "description": "d", "parameters": {"x": {}}, "deferLoading": True},
        {"name": "b", "description": "", "parameters": {"type": "object"}},
    )
    assert shown == expected
    assert isinstance(shown, tuple)
    shown[0]["parameters"]["y"] = 1
    assert model_tools(registry, None) == expected


def test_scopes_have_keys_of_their_own_and_parents_that_exist() -> None:
    for parent in ("nowhere", "new"):
        with pytest.raises(NotEnabled):
            open_scope(family(), "new", parent)
    for parent in (None, "preset", "other"):
        with pytest.raises(ValueError, match="'agent' stands for a scope already"):
            open_scope(family(), "agent", parent)
