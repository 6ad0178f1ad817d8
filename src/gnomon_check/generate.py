"""Hypothesis strategies for scenarios and schedules.

Everything is drawn before anything runs, the schedule with the rest, so that a failing schedule
shrinks: a step can be left out, a `together` split, a call or a script step dropped, and what is
left is a valid scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from gnomon_check.scenario import Scenario

_GATE = {"gate": {"name": "body:$call"}}
_SECOND_GATE = {"gate": {"name": "more:$call"}}

_ENDINGS: tuple[dict[str, Any], ...] = (
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

_PARALLEL: tuple[Any, ...] = (True, True, False, None, {"value": 1}, {"raise": {}})

_ARGUMENTS = ("{}", "", '{"path": "x"}', '{"path": ', '{"path": 7}', "[1]")

_PARAMETERS: tuple[Any, ...] = (
    {"type": "object"},
    {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False},
)


@st.composite
def scripts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The script of a body: mostly one gate, then an ending."""
    middles = draw(st.lists(st.sampled_from(_MIDDLES), max_size=3)) or [_GATE]
    return [*middles, draw(st.sampled_from(_ENDINGS))]


@st.composite
def tools(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """A tool whose body is a script."""
    one: dict[str, Any] = {"name": name, "body": draw(scripts())}
    parallel = draw(st.sampled_from(_PARALLEL))
    if parallel is not None:
        one["parallel"] = parallel
    if draw(st.booleans()):
        one["interrupt"] = "cancel"
    one["parameters"] = draw(st.sampled_from(_PARAMETERS))
    return one


def _gates(names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.sampled_from([{"release": {"gate": name}} for name in names])


@st.composite
def schedules(draw: st.DrawFn, calls: int) -> list[dict[str, Any]]:
    """A schedule for a batch of `calls` calls: releases in any order, an abort or a cancellation."""
    names = [f"{kind}:{pos}" for pos in range(calls) for kind in ("body", "more", "unwind")] or ["none"]
    single = st.one_of(
        _gates(names), _gates(names), _gates(names), st.just({"abort": {}}), st.just({"cancel": {}})
    )
    steps: list[dict[str, Any]] = [{"open": {}}]
    if draw(st.booleans()) and draw(st.booleans()):
        steps.insert(0, draw(st.one_of(_gates(names), st.just({"abort": {}}))))
    for _ in range(draw(st.integers(0, 10))):
        if draw(st.integers(0, 3)) == 3:
            steps.append({"together": draw(st.lists(single, min_size=2, max_size=3))})
        else:
            steps.append(draw(single))
    return steps


@st.composite
def scenarios(draw: st.DrawFn, max_calls: int = 5) -> Scenario:
    """A scenario of one batch, with everything that this version can say."""
    kinds = [draw(tools(name)) for name in ("red", "green", "blue")[: draw(st.integers(1, 3))]]
    names = [one["name"] for one in kinds] * 3 + ["nowhere"]
    calls = [
        {
            "id": draw(st.sampled_from(("a", "b", f"c{pos}"))),
            "name": draw(st.sampled_from(names)),
            "arguments": draw(st.sampled_from(_ARGUMENTS)),
        }
        for pos in range(draw(st.integers(0, max_calls)))
    ]
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "generated",
            "title": "drawn by Hypothesis",
            "clauses": [],
            "limits": {"max_parallel": draw(st.integers(1, 3))},
            "tools": kinds,
            "batches": [{"id": "b1", "calls": calls}],
            "schedule": draw(schedules(len(calls))),
        }
    )
