"""Hypothesis strategies for scenarios and schedules.

Everything is drawn before anything runs, the schedule with the rest, so that a failing schedule
shrinks: a step can be left out, a `together` split, a call or a script step dropped, and what is
left is a valid scenario.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

from gnomon_check.scenario import Scenario

T = TypeVar("T")
Plain: TypeAlias = dict[str, Any]
"""A scenario, or a part of one, before it is a model."""

_GATE = {"gate": {"name": "body:$call"}}
_SECOND_GATE = {"gate": {"name": "more:$call"}}

ENDINGS: tuple[dict[str, Any], ...] = (
    {"return": {"value": {"$nonce": True}}},
    {"return": {"value": 1}},
    {"raise": {}},
    {"raise": {"kind": "coded", "code": "OWN_CODE"}},
    {"raise": {"kind": "cancelled"}},
    {"raise": {"kind": "exit"}},
    {"raise": {"kind": "keyboard"}},
    {"raise": {"kind": "generator_exit"}},
    {"raise": {"kind": "unprintable"}},
)

_MIDDLES: tuple[dict[str, Any], ...] = (
    _GATE,
    _SECOND_GATE,
    {"await_abort": {}},
    {"note": {"text": "here"}},
    {"abort": {}},
    {"on_cancel": {"do": "swallow"}},
    {"on_cancel": {"do": "unwind", "gate": "unwind:$call"}},
)

_PARALLEL: tuple[Any, ...] = (
    True,
    True,
    True,
    True,
    True,
    False,
    None,
    {"value": 1},
    {"raise": {}},
    {"raise": {"kind": "exit"}},
)

_ARGUMENTS = ("{}", "", '{"path": "x"}', '{"path": ', '{"path": 7}', "[1]")

_SCHEMAS: tuple[Any, ...] = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "null"},
    {"enum": ["x", "xx"], "type": "string"},
    {"type": "array", "items": {"type": "integer"}},
    {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
    {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    {},
)

_PARAMETERS: tuple[Any, ...] = (
    {"type": "object"},
    {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False},
)

_KEYS = st.sampled_from(("x", "path"))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from((0.5, -0.0, 1.0, "", "x", "\ud800")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_KEYS, inner, max_size=2),
    max_leaves=4,
)
"""JSON values, small ones, of every kind."""


def arguments() -> st.SearchStrategy[str]:
    """The raw text of arguments: mostly JSON, mostly an object, and now and then cut off."""
    told = VALUES.map(json.dumps)
    within = VALUES.map(lambda value: json.dumps({"path": value}))
    unusual = st.sampled_from(_ARGUMENTS) | within | told | within.map(lambda text: text[:-1])
    return _seldom(unusual, st.just("{}"))


def parameters() -> st.SearchStrategy[Plain]:
    """What a tool publishes: that it takes anything, or a path of some kind."""
    of_some_kind = st.builds(
        lambda path, required, open_: {
            "type": "object",
            "properties": {"path": path},
            "required": ["path"] if required else [],
            "additionalProperties": open_,
        },
        st.sampled_from(_SCHEMAS),
        st.booleans(),
        st.booleans(),
    )
    return _seldom(st.sampled_from(_PARAMETERS) | of_some_kind, st.just({"type": "object"}))


def _seldom(unusual: st.SearchStrategy[T], usual: st.SearchStrategy[T]) -> st.SearchStrategy[T]:
    """Mostly what is usual: what keeps a body from running is not to be drawn more often than bodies.

    What is unusual comes first, for its smallest is smaller.
    """
    return st.one_of(unusual, usual, usual, usual, usual)


@st.composite
def scripts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The script of a body: mostly one gate, then an ending."""
    middles = draw(_seldom(st.lists(st.sampled_from(_MIDDLES), max_size=3), st.just([]))) or [_GATE]
    returned = VALUES.map(lambda value: {"return": {"value": value}})
    usual = st.just(ENDINGS[0]) | returned
    return [*middles, draw(st.sampled_from(ENDINGS) | usual | usual)]


@st.composite
def tools(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A tool whose body is a script."""
    one: dict[str, Any] = {"name": name, "body": draw(scripts())}
    parallel = draw(st.sampled_from(_PARALLEL))
    if parallel is not None:
        one["parallel"] = parallel
    if draw(st.booleans()):
        one["interrupt"] = "cancel"
    one["parameters"] = draw(parameters())
    return one


def release(gate: str) -> Plain:
    """The step that releases a gate."""
    return {"release": {"gate": gate}}


def _gates(names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([release(name) for name in names])


@st.composite
def schedules(draw: st.DrawFn, calls: int) -> list[dict[str, Any]]:
    """A schedule for a batch of `calls` calls: releases in any order, an abort or a cancellation."""
    names = [f"{kind}:{pos}" for pos in range(calls) for kind in ("body", "more", "unwind")] or ["none"]
    steps: list[dict[str, Any]] = [{"open": {}}]
    for _ in range(draw(st.integers(0, 8))):
        if draw(st.integers(0, 3)) == 3:
            steps.append({"together": draw(st.lists(_gates(names), min_size=2, max_size=3))})
        else:
            steps.append(draw(_gates(names)))
    if draw(st.booleans()):
        steps += to_the_end(draw, names)
    for word in ("abort", "cancel"):
        if draw(st.integers(0, 2)) == 2:
            _put_in(draw, steps, {word: {}})
    if draw(st.integers(0, 7)) == 7:
        steps.insert(0, draw(st.one_of(_gates(names), st.just({"abort": {}}))))
    return steps


def _put_in(draw: st.DrawFn, steps: list[Plain], step: Plain) -> None:
    """Put a step after the opening: between two others, or together with one of them."""
    place = draw(st.integers(1, len(steps)))
    if place < len(steps) and draw(st.booleans()):
        one = steps[place]
        steps[place] = {"together": [step, *one.get("together", [one])]}
    else:
        steps.insert(place, step)


def to_the_end(draw: st.DrawFn, names: Sequence[str]) -> list[Plain]:
    """Release every gate, in some order: what comes of the calls is seen, and not cut short by the end."""
    return [release(name) for name in draw(st.permutations(names))]


def scenarios(max_calls: int = 5, min_calls: int = 0) -> st.SearchStrategy[Scenario]:
    """A scenario of one batch of tools that are only run."""
    return plain_scenarios(max_calls, min_calls).map(Scenario.model_validate)


def policed(max_calls: int = 3, min_calls: int = 0) -> st.SearchStrategy[Scenario]:
    """A scenario of one batch with listeners, guards, an approval, and projections of content."""
    return plain_policed(max_calls, min_calls).map(Scenario.model_validate)


@st.composite
def calls_of(draw: st.DrawFn, tools: Sequence[str], max_calls: int, min_calls: int = 0) -> list[Plain]:
    """The calls of a batch: mostly of tools that there are, with ids that now and then repeat."""
    names = [*tools] * 6 + ["nowhere"]
    return [
        {
            "id": draw(st.sampled_from(("a", "b", f"c{pos}"))),
            "name": draw(st.sampled_from(names)),
            "arguments": draw(arguments()),
        }
        for pos in range(draw(st.integers(min_calls, max_calls)))
    ]


@st.composite
def plain_scenarios(draw: st.DrawFn, max_calls: int, min_calls: int) -> Plain:
    """What `scenarios` draws, as plain data."""
    kinds = [draw(tools(name)) for name in ("red", "green", "blue")[: draw(st.integers(1, 3))]]
    calls = draw(calls_of([one["name"] for one in kinds], max_calls, min_calls))
    return {
        "scenario": "gnomon/1",
        "id": "generated",
        "title": "drawn by Hypothesis",
        "clauses": [],
        "limits": {"max_parallel": draw(st.integers(1, 3))},
        "tools": kinds,
        "batches": [{"id": "b1", "calls": calls}],
        "schedule": draw(schedules(len(calls))),
    }


# -- policies -----------------------------------------------------------------------------------

_TEXT = [{"type": "text", "text": "x"}]

_PRE_DECISIONS: tuple[Any, ...] = (
    {"kind": "allow"},
    {"kind": "deny", "reason": "no"},
    {"kind": "deny", "reason": ""},
    {"kind": "deny", "reason": "no", "code": "QUOTA"},
    {"kind": "deny"},
    {"kind": "cancel"},
    {"kind": "ask", "reason": "sure?"},
    {"kind": "ask"},
    {"kind": "ask", "reason": "really?"},
    {"kind": "ask", "reason": "really?"},
    {"kind": "ask", "reason": "really?"},
    {"kind": "fine"},
    None,
)
_POST_DECISIONS: tuple[Any, ...] = (
    {"kind": "accept"},
    {"kind": "accept", "content": _TEXT},
    {"kind": "accept", "value": 7},
    {"kind": "accept", "value": "text"},
    {"kind": "accept", "value": None, "content": _TEXT},
    {"kind": "block", "feedback": _TEXT},
    {"kind": "block", "feedback": _TEXT},
    {"kind": "block", "feedback": _TEXT},
    {"kind": "block", "feedback": []},
    {"kind": "block"},
    {"kind": "allow"},
    True,
)
_RESULTS: tuple[Any, ...] = (
    {"ok": True, "value": 7},
    {"ok": True, "value": "text"},
    {"ok": False, "code": "OWN_CODE"},
    {"ok": False},
    {"ok": True},
    None,
)
_RAISES: tuple[dict[str, Any], ...] = (
    {"raise": {}},
    {"raise": {"kind": "coded", "code": "OWN_CODE"}},
    {"raise": {"kind": "unprintable"}},
    {"raise": {"kind": "keyboard"}},
    {"raise": {"kind": "exit"}},
)


@st.composite
def listeners(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """A listener: it may wait, delegate once or twice, and decide well or badly."""
    on = draw(st.sampled_from(("pre_execute", "execute", "post_execute")))
    waits: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
        ({"gate": {"name": f"hook{number}:$call"}}, {"note": {"text": "here"}}, {"abort": {}})
    )
    script: list[dict[str, Any]] = draw(st.lists(waits, max_size=1))
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2)))):
        script.append({"next": {}})
    contexts = draw(st.sampled_from(([], ["given"])))
    raised = st.sampled_from(_RAISES)
    match on:
        case "pre_execute":
            decided = st.sampled_from(_PRE_DECISIONS).map(lambda one: {"decide": {"decision": one}})
        case "post_execute":
            decided = st.sampled_from(_POST_DECISIONS).map(
                lambda one: {"decide": {"decision": one, "contexts": contexts}}
            )
        case _:
            decided = st.sampled_from(_RESULTS).map(
                lambda one: {"author": {"result": one, "contexts": contexts}}
            )
            if draw(st.booleans()):
                script.insert(0, {"set_signal": {"name": f"own{number}", "aborted": draw(st.booleans())}})
    script.append(
        draw(st.booleans().flatmap(lambda one: st.just({"pass": {}}) if one else decided | decided | raised))
    )
    match = draw(st.sampled_from(({}, {}, {"pos": 0}, {"tool": "red"})))
    return {"id": f"hook{number}", "on": on, "prepend": draw(st.booleans()), "match": match, "script": script}


GUARD_ENDS: tuple[dict[str, Any], ...] = (
    {"nothing": {}},
    {"nothing": {}},
    {"nothing": {}},
    {"nothing": {}},
    {"deny": {"reason": "no"}},
    {"deny": {"reason": ""}},
    {"return": {"value": True}},
    {"return": {"value": None}},
    {"raise": {}},
    {"raise": {"kind": "keyboard"}},
)
_CHANGES: tuple[dict[str, Any], ...] = (
    {"nothing": {}},
    {"return": {"value": _TEXT}},
    {"return": {"value": "no content"}},
    {"raise": {}},
    {"raise": {"kind": "keyboard"}},
)


_OBSERVES: tuple[list[dict[str, Any]], ...] = (
    [],
    [],
    [{"note": {"text": "seen"}}],
    [{"abort": {}}],
    [{"raise": {}}],
    [{"raise": {"kind": "keyboard"}}],
)


@st.composite
def plain_policed(draw: st.DrawFn, max_calls: int, min_calls: int) -> Plain:
    """What `policed` draws, as plain data."""
    plain = draw(plain_scenarios(max_calls, min_calls))
    count = len(plain["batches"][0]["calls"])
    for one in plain["tools"]:
        body = one["body"]
        if draw(st.booleans()):
            body.insert(0, {"defer": {"context": "d"}})
        if draw(st.booleans()):
            body.insert(0, {"conclude": {}})
        if draw(st.integers(0, 3)) == 0:
            one["output"] = {"schema": draw(st.sampled_from(_SCHEMAS))}
        for field in ("project", "finalize", "presentation_meta"):
            if draw(st.integers(0, 5)) == 0:
                one[field] = [draw(st.sampled_from(_CHANGES))]
        if draw(st.integers(0, 5)) == 0:
            one["render"] = [{"note": {"text": "rendered"}}, draw(st.sampled_from(_CHANGES))]
    hooks = [draw(listeners(number)) for number in range(draw(st.integers(0, 3)))]
    if draw(st.booleans()):
        hooks.append({"id": "seen", "on": "result", "script": draw(st.sampled_from(_OBSERVES))})
    if draw(st.integers(0, 5)) == 5:
        blocks = {"decide": {"decision": {"kind": "block", "feedback": _TEXT}, "contexts": ["blocked"]}}
        hooks.append({"id": "blocks", "on": "post_execute", "script": [blocks]})
    ends = _seldom(st.sampled_from(GUARD_ENDS), st.just({"nothing": {}}))
    guards = [{"id": f"guard{number}", "script": [draw(ends)]} for number in range(draw(st.integers(0, 2)))]
    answers = ("allowed-once", "allowed-once", "rejected", "cancelled", "cancelled", "unavailable", "yes")
    steps = [
        *({"approve": {"pos": pos, "outcome": draw(st.sampled_from(answers))}} for pos in range(count)),
        *(release(f"hook{number}:{pos}") for number in range(3) for pos in range(count)),
    ]
    for _ in range(draw(st.integers(0, 6)) if steps else 0):
        place = draw(st.integers(0, len(plain["schedule"])))
        plain["schedule"].insert(place, draw(st.sampled_from(steps)))
    finishes: bool = draw(st.booleans())
    if steps and finishes:
        names = [f"hook{number}:{pos}" for number in range(len(hooks)) for pos in range(count)]
        plain["schedule"] += steps[:count]
        plain["schedule"] += to_the_end(draw, names)
    if draw(st.booleans()):
        plain["approval"] = {"policy": draw(st.sampled_from(("ask", "ask", "never")))}
    if draw(st.integers(0, 4)) == 0:
        plain["caller"] = None
    plain.update(hooks=hooks, guards=guards)
    if draw(st.integers(0, 5)) == 5:
        _all_goes_well(plain)
    return plain


def _all_goes_well(plain: Plain) -> None:
    """Let a batch come to its end with nothing in its way, and a tool that ends the turn."""
    plain["hooks"] = [one for one in plain["hooks"] if one["on"] == "result"]
    plain["guards"] = []
    plain["tools"][0].update(body=[{"conclude": {}}, {"return": {"value": {"$nonce": True}}}], output={})
    for one in plain["batches"][0]["calls"][:1]:
        one.update(name=plain["tools"][0]["name"], arguments="{}")
    ended = [one for one in plain["schedule"] if not {"abort", "cancel", "together"} & set(one)]
    plain["schedule"] = [one for one in ended if one != {"open": {}}] + [{"open": {}}]
