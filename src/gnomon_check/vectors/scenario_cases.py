"""Scenarios for what no report and no edge outcome is about: small ones, each about few clauses."""

from __future__ import annotations

from typing import Any, TypeAlias

Plain: TypeAlias = dict[str, Any]

_OPEN: Plain = {"open": {}}
_ASKED: Plain = {"request_model": {}}
_NONCE: Plain = {"return": {"value": {"$nonce": True}}}
_GATE: Plain = {"gate": {"name": "body:$call"}}
_NEXT: Plain = {"next": {}}
_ALLOW: Plain = {"decide": {"decision": {"kind": "allow"}}}
_ASK: Plain = {"decide": {"decision": {"kind": "ask", "reason": "sure?"}}}
_TEXT = [{"type": "text", "text": "x"}]


def _go(pos: int) -> Plain:
    return {"release": {"gate": f"body:{pos}"}}


def _tool(name: str = "act", **fields: Any) -> Plain:
    return {"name": name, "body": [_GATE, _NONCE], **fields}


def _hook(name: str, on: str, *script: Plain, **fields: Any) -> Plain:
    return {"id": name, "on": on, "script": list(script), **fields}


def _guard(name: str, *script: Plain, **fields: Any) -> Plain:
    return {"id": name, "script": list(script), **fields}


def _calls(*calls: Plain) -> list[Plain]:
    """A batch; a call is of `act` unless it says otherwise."""
    return [{"calls": [{"id": f"c{pos}", "name": "act", **one} for pos, one in enumerate(calls)]}]


def _scenario(name: str, clauses: str, title: str, *schedule: Plain, **fields: Any) -> Plain:
    return {
        "scenario": "gnomon/1",
        "id": name,
        "title": title,
        "clauses": clauses.split(),
        "tools": [_tool()],
        "batches": _calls({}),
        "schedule": list(schedule),
        **fields,
    }


_VIEWED = [
    _tool("b"),
    _tool("a"),
    _tool("a", id="own-a", scope="agent"),
    _tool("own", scope="agent"),
    _tool("late", later=True),
]
_SCOPES = [{"name": "preset"}, {"name": "agent", "parent": "preset"}]

SCENARIOS: tuple[Plain, ...] = (
    # -- values, schemas, what the model is shown
    _scenario(
        "unusable-arguments-stand-alone",
        "ARG-5 SCD-2",
        "Arguments that are no value make a call exclusive, whatever its tool declares",
        _OPEN,
        _go(0),
        tools=[_tool(parallel=True)],
        batches=_calls({}, {"arguments": '{"path":1e400}'}),
    ),
    _scenario(
        "published-is-enforced",
        "SCH-8 DSP-8",
        "An argument that the published parameters do not name is refused",
        _OPEN,
        tools=[
            _tool(
                parameters={
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "additionalProperties": False,
                }
            )
        ],
        batches=_calls({"arguments": '{"path":"x","more":1}'}),
    ),
    _scenario(
        "shown-in-order",
        "REG-5 REG-11 REG-2",
        "What is shown: the inherited first, a tool that hides one in its place, and the live layers",
        _ASKED,
        {"register": {"tool": "late"}},
        _ASKED,
        {"remove": {"registration": "b@1"}},
        _ASKED,
        _OPEN,
        _go(0),
        tools=_VIEWED,
        batches=_calls({"name": "a"}),
    ),
    _scenario(
        "restricted-by-every-scope",
        "REG-7 REG-4 REG-5",
        "Two scopes restrict, and what either takes away is gone",
        {"restrict": {"scope": "preset", "deny": ["a"]}},
        {"restrict": {"scope": "agent", "allow": ["a", "b"]}},
        _ASKED,
        _OPEN,
        scopes=_SCOPES,
        tools=[_tool("a"), _tool("b"), _tool("c")],
        batches=_calls({"name": "c"}),
    ),
    _scenario(
        "native-shows-no-runner",
        "MOD-1 MOD-5",
        "In the native mode every tool is shown, and nothing that runs programs",
        _ASKED,
        _OPEN,
        _go(0),
    ),
    # -- before a call
    _scenario(
        "deciding-hides-the-rest",
        "PRE-3 PRE-1 GRD-1",
        "A listener that decides without delegating hides the one after it, and no guard",
        _OPEN,
        _go(0),
        hooks=[_hook("first", "pre_execute", _ALLOW), _hook("second", "pre_execute", _NEXT)],
        guards=[_guard("asked", {"nothing": {}})],
    ),
    _scenario(
        "listener-that-raises",
        "PRE-5 ERR-1",
        "A listener that raises fails its call, with the code of policies",
        _OPEN,
        hooks=[_hook("breaks", "pre_execute", {"raise": {}})],
    ),
    _scenario(
        "policy-is-looked-up-at-each-ask",
        "APP-9 APP-7",
        "The approval policy changes between two asks, and an unknown one is refused",
        _OPEN,
        {"approve": {"pos": 0, "outcome": "rejected"}},
        {"set_policy": {"policy": "always"}},
        {"set_policy": {"policy": "never"}},
        _go(1),
        hooks=[
            _hook("asks", "pre_execute", _ASK, match={"pos": 0}),
            _hook("asks-again", "pre_execute", _ASK, match={"pos": 2}),
        ],
        approval={"policy": "ask"},
        batches=_calls({}, {}, {}),
    ),
    _scenario(
        "asked-outside-of-a-session",
        "APP-10 APP-1",
        "A call outside of any session asks, and logs nothing of it",
        _OPEN,
        {"approve": {"pos": 0, "outcome": "allowed-once"}},
        _go(0),
        mode="single",
        hooks=[_hook("asks", "pre_execute", _ASK)],
        approval={"policy": "ask"},
    ),
    _scenario(
        "another-guard-allows",
        "GRD-3 GRD-2",
        "A guard that has no objection comes before one that denies, and changes nothing of that",
        _OPEN,
        guards=[_guard("easy", {"nothing": {}}), _guard("strict", {"deny": {"reason": "no"}})],
    ),
    _scenario(
        "guard-adds-a-guard",
        "GRD-6",
        "A guard adds another to its own layer, and that one is asked of this call",
        _OPEN,
        guards=[
            _guard("adds", {"add_guard": {"guard": "added"}}, {"nothing": {}}),
            _guard("added", {"deny": {"reason": "no"}}, later=True),
        ],
    ),
    # -- around and after it
    _scenario(
        "wrappers-nest",
        "DSP-1",
        "Two wrappers, one inside of the other; the outer tries again, and so does all within",
        _OPEN,
        hooks=[
            _hook("outer", "execute", _NEXT, _NEXT, {"pass": {}}),
            _hook("inner", "execute", _NEXT, {"pass": {}}),
        ],
        tools=[_tool(body=[_NONCE])],
    ),
    _scenario(
        "accepts-and-adds",
        "PST-2 PST-6 DSP-11",
        "Post-execute accepts, and its contexts come after those of the body",
        _OPEN,
        tools=[_tool(body=[{"defer": {"context": "of-the-body"}}, _NONCE])],
        hooks=[
            _hook(
                "adds",
                "post_execute",
                {"decide": {"decision": {"kind": "accept"}, "contexts": ["of-the-decision"]}},
            )
        ],
    ),
    _scenario(
        "raising-afterwards-drops-contexts",
        "PST-7 DSP-11",
        "A listener of post-execute raises: an error, and the contexts of the body are gone",
        _OPEN,
        tools=[_tool(body=[{"defer": {"context": "of-the-body"}}, _NONCE])],
        hooks=[_hook("breaks", "post_execute", {"raise": {}})],
    ),
    _scenario(
        "null-is-a-value",
        "PY-12 PST-3",
        "Content and a value that is null stand together: null is a value, and both at once are a failure",
        _OPEN,
        _go(0),
        hooks=[
            _hook(
                "both",
                "post_execute",
                {"decide": {"decision": {"kind": "accept", "value": None, "content": _TEXT}}},
            )
        ],
    ),
    _scenario(
        "failure-concludes-nothing",
        "FIN-4 OUT-4 SCD-12",
        "A body asks to end the turn and then fails",
        _OPEN,
        tools=[_tool(body=[{"conclude": {}}, {"raise": {}}])],
    ),
    _scenario(
        "finalizer-answers-no-content",
        "FIN-1 FIN-2",
        "What the finalizer answers is no content: the result is that error, and there is one all the same",
        _OPEN,
        _go(0),
        tools=[_tool(finalize=[{"return": {"value": 7}}])],
    ),
    _scenario(
        "timeout-puts-the-signal-back",
        "TMO-3 TMO-4",
        "A body runs out of time and raises; tried again from outside, it finds a fresh signal",
        _OPEN,
        {"advance": {"ms": 5}},
        _go(0),
        tools=[_tool(timeout_ms=5, body=[_GATE, {"raise": {}}])],
        hooks=[_hook("again", "execute", _NEXT, _NEXT, {"pass": {}}, prepend=True)],
    ),
    # -- the batch
    _scenario("empty-batch", "SCD-14", "An empty batch does nothing", _OPEN, batches=[{"calls": []}]),
    _scenario(
        "logged-before-anything",
        "LOG-2 SCD-1 SCD-6",
        "Each call is logged before its body starts, and its result cites it",
        _OPEN,
        _go(1),
        _go(0),
        tools=[_tool(parallel=True)],
        batches=_calls({}, {}),
    ),
    _scenario(
        "truthy-is-not-true",
        "SCD-2 PY-12",
        "A classifier answers 1, which is not true: the call runs alone",
        _OPEN,
        _go(0),
        _go(1),
        tools=[_tool(parallel={"value": 1})],
        batches=_calls({}, {}),
    ),
    _scenario(
        "listener-is-waited-for",
        "PY-13 PY-3",
        "The task is cancelled while a listener waits: the listener is not, and the batch waits for it",
        _OPEN,
        {"cancel": {}},
        {"release": {"gate": "before"}},
        hooks=[_hook("waits", "pre_execute", {"gate": {"name": "before"}}, _NEXT, {"pass": {}})],
    ),
)
