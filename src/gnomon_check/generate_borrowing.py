"""Hypothesis strategies for scenarios in which a wrapper ends with the result of another call (DSP-10).

What may stand in them is narrow, so that it is known what was borrowed; nothing that is drawn otherwise is.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gnomon_check.generate import Plain, release, to_the_end
from gnomon_check.scenario import Scenario

_INTEGER: Plain = {"type": "integer"}
_TEXT: Plain = {"type": "string"}
_OUTPUTS: tuple[tuple[Plain, Any], ...] = (
    (_INTEGER, 1),
    (_TEXT, "x"),
    ({}, 1),
    ({}, None),
    (_INTEGER, 2),
    (_TEXT, "y"),
    (_TEXT, 1),
)
"""What a tool declares, and what it returns: mostly that fits."""
_GATE: Plain = {"gate": {"name": "body:$call"}}
_RAISES: tuple[Plain, ...] = ({"raise": {}}, {"raise": {"kind": "coded", "code": "OWN_CODE"}})
_CONTENT = [{"type": "text", "text": "its own"}]
_RENDERS: tuple[list[Plain] | None, ...] = (
    None,
    [{"note": {"text": "rendered"}}, {"return": {"value": _CONTENT}}],
    [{"return": {"value": "no content"}}],
)
_BLOCK: Plain = {"decide": {"decision": {"kind": "block", "feedback": _CONTENT}}}
_LENDS: tuple[list[Plain], ...] = (
    [{"next": {}}, {"pass": {}}],
    [{"next": {}}, {"next": {}}, {"pass": {}}],
    [{"next": {}}, {"gate": {"name": "hook:$call"}}, {"pass": {}}],
    [{"gate": {"name": "hook:$call"}}, {"next": {}}, {"pass": {}}],
)


def _tool(draw: st.DrawFn, name: str) -> Plain:
    """A tool that returns what is written out, or raises; now and then it asks to end the turn."""
    waits: list[Plain] = draw(st.sampled_from(([], [_GATE])))
    concludes: list[Plain] = draw(st.sampled_from(([], [], [{"conclude": {}}])))
    schema, value = draw(st.sampled_from(_OUTPUTS))
    returns: Plain = {"return": {"value": value}}
    ends = draw(st.sampled_from((returns, returns, returns, *_RAISES)))
    render = draw(st.sampled_from(_RENDERS))
    return {
        "name": name,
        "parallel": draw(st.booleans()),
        "output": {"schema": schema},
        "body": [*waits, *concludes, ends],
        **({} if render is None else {"render": render}),
    }


@st.composite
def borrowing(draw: st.DrawFn) -> Scenario:
    """Two calls or three, of which one borrows what another was answered, before or after it is there."""
    count = draw(st.integers(2, 3))
    tools = [_tool(draw, name) for name in ("red", "green")]
    lender, borrower = draw(st.sampled_from([(0, 1), (0, 1), (0, count - 1), (count - 2, count - 1), (1, 0)]))
    asks_first: list[Plain] = draw(st.sampled_from(([], [], [{"next": {}}])))
    waits: list[Plain] = draw(st.sampled_from(([], [{"gate": {"name": "hook:$call"}}])))
    hooks: list[Plain] = [
        {
            "id": "borrows",
            "on": "execute",
            "match": {"pos": borrower},
            "script": [*waits, *asks_first, {"borrow": {"from": lender}}],
        }
    ]
    for number in range(draw(st.sampled_from((1, 1, 1, 0, 2)))):
        match = draw(st.sampled_from(({"pos": lender}, {"pos": lender}, {}, {"tool": "red"})))
        script = draw(st.sampled_from(_LENDS))
        prepend = draw(st.booleans())
        hooks.append(
            {"id": f"lends{number}", "on": "execute", "match": match, "script": script, "prepend": prepend}
        )
    if draw(st.booleans()):
        passes: list[Plain] = [{"note": {"text": "post"}}, {"next": {}}, {"pass": {}}]
        script = draw(st.sampled_from((passes, [_BLOCK])))
        hooks.append({"id": "post", "on": "post_execute", "script": script})
    gates = [f"{kind}:{pos}" for kind in ("body", "hook") for pos in range(count)]
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "borrowing",
            "title": "drawn by Hypothesis",
            "clauses": [],
            "limits": {"max_parallel": draw(st.integers(1, 3))},
            "tools": tools,
            "hooks": hooks,
            "batches": [
                {
                    "calls": [
                        {"id": f"c{pos}", "name": draw(st.sampled_from(("red", "green")))}
                        for pos in range(count)
                    ]
                }
            ],
            "schedule": [
                {"open": {}},
                *map(release, draw(st.lists(st.sampled_from(gates), max_size=3))),
                *(to_the_end(draw, gates) if draw(st.booleans()) else ()),
            ],
        }
    )
