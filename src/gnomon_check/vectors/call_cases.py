"""The cases of single calls: scenarios in their short form."""

from __future__ import annotations

from typing import Any

GATED: list[dict[str, Any]] = [{"gate": {"name": "body"}}, {"return": {"value": {"$nonce": True}}}]
_TEXT = [{"type": "text", "text": "x"}]


def _hook(on: str, *script: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"{on.split('_')[0]}-1", "on": on, "script": list(script)}


def _decides(on: str, decision: Any, *contexts: str) -> dict[str, Any]:
    return _hook(on, {"decide": {"decision": decision, "contexts": list(contexts)}})


OPEN: dict[str, Any] = {"open": {}}
GO: dict[str, Any] = {"release": {"gate": "body"}}
ABORT: dict[str, Any] = {"abort": {}}
_LATER: dict[str, Any] = {"advance": {"ms": 5}}
_RUN = [OPEN, GO]
_ASK = _decides("pre_execute", {"kind": "ask", "reason": "sure?"})
_GUARD_DENIES = {"id": "guard-1", "script": [{"deny": {"reason": "no"}}]}
_GUARD_PASSES = {"id": "guard-1", "script": [{"nothing": {}}]}

SCENARIOS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "plain": ("SCD-1 SCD-6 DSP-5", "nothing stands in the way", {"schedule": _RUN}),
    "abort-before": ("CRE-4 SCD-8", "the caller has aborted before", {"schedule": [ABORT, OPEN]}),
    "abort-during": ("CAN-6 DSP-9", "the caller aborts while the body runs", {"schedule": [OPEN, ABORT, GO]}),
    "own-error-survives": (
        "CAN-7 DSP-7",
        "the body fails after the caller has aborted",
        {"body": [GATED[0], {"raise": {"kind": "coded", "code": "OWN"}}], "schedule": [OPEN, ABORT, GO]},
    ),
    "unknown-tool": ("DSP-4", "there is no such tool", {"name": "nowhere", "schedule": [OPEN]}),
    "not-json": (
        "ARG-3 DSP-8",
        "the arguments are no JSON",
        {"arguments": '{"mode": "dry', "schedule": [OPEN]},
    ),
    "unfit-arguments": (
        "DSP-8",
        "the arguments do not fit",
        {
            "tool": {
                "parameters": {
                    "type": "object",
                    "required": ["path"],
                    "properties": {"path": {"type": "string"}},
                }
            },
            "schedule": [OPEN],
        },
    ),
    "beyond-doubles": (
        "VAL-4 CRE-2",
        "a number is beyond the doubles",
        {"arguments": "[1e400]", "schedule": [OPEN]},
    ),
    "unfit-output": (
        "OUT-1",
        "the value does not fit the output schema",
        {
            "tool": {"output": {"schema": {"type": "string"}}},
            "body": [{"return": {"value": 1}}],
            "schedule": [OPEN],
        },
    ),
    "denied": (
        "PRE-4",
        "a listener denies",
        {"hooks": [_decides("pre_execute", {"kind": "deny", "reason": "no"})], "schedule": [OPEN]},
    ),
    "denied-without-reason": (
        "PRE-2",
        "a denial without a reason",
        {"hooks": [_decides("pre_execute", {"kind": "deny"})], "schedule": [OPEN]},
    ),
    "unknown-decision": (
        "PRE-2",
        "a decision of an unknown kind",
        {"hooks": [_decides("pre_execute", {"kind": "fine"})], "schedule": [OPEN]},
    ),
    "cancelled-by-policy": (
        "PRE-4",
        "a listener cancels",
        {"hooks": [_decides("pre_execute", {"kind": "cancel"})], "schedule": [OPEN]},
    ),
    "listener-raises": (
        "PRE-5",
        "a listener raises",
        {"hooks": [_hook("pre_execute", {"raise": {"kind": "coded", "code": "QUOTA"}})], "schedule": [OPEN]},
    ),
    "delegates": (
        "PRE-1 PRE-3",
        "a listener delegates to the one inside it",
        {
            "hooks": [
                {**_hook("pre_execute", {"next": {}}, {"pass": {}}), "id": "outer"},
                {**_decides("pre_execute", {"kind": "deny", "reason": "no"}), "id": "inner"},
            ],
            "schedule": [OPEN],
        },
    ),
    "guard-denies": (
        "GRD-2 PRE-3",
        "a guard denies what a listener allowed",
        {
            "hooks": [_decides("pre_execute", {"kind": "allow"})],
            "guards": [_GUARD_DENIES],
            "schedule": [OPEN],
        },
    ),
    "guard-passes": ("GRD-1", "a guard has no objection", {"guards": [_GUARD_PASSES], "schedule": _RUN}),
    "guard-malformed": (
        "GRD-4",
        "a guard answers what is no answer",
        {"guards": [{"id": "guard-1", "script": [{"return": {"value": True}}]}], "schedule": [OPEN]},
    ),
    "guard-raises": (
        "GRD-4",
        "a guard raises",
        {"guards": [{"id": "guard-1", "script": [{"raise": {}}]}], "schedule": [OPEN]},
    ),
    "asked-and-allowed": (
        "APP-1 APP-6",
        "an approval is granted",
        {
            "hooks": [_ASK],
            "approval": {},
            "schedule": [OPEN, {"approve": {"pos": 0, "outcome": "allowed-once"}}, GO],
        },
    ),
    "asked-and-rejected": (
        "APP-2 APP-6",
        "an approval is rejected",
        {"hooks": [_ASK], "approval": {}, "schedule": [OPEN, {"approve": {"pos": 0, "outcome": "rejected"}}]},
    ),
    "asked-and-odd": (
        "APP-4",
        "an approver answers something else",
        {"hooks": [_ASK], "approval": {}, "schedule": [OPEN, {"approve": {"pos": 0, "outcome": "yes"}}]},
    ),
    "asked-nobody": ("APP-2", "there is no approval service", {"hooks": [_ASK], "schedule": [OPEN]}),
    "asked-no-scope": (
        "APP-2",
        "there is no caller scope",
        {"hooks": [_ASK], "approval": {}, "caller": None, "schedule": [OPEN]},
    ),
    "asked-never": (
        "APP-7",
        "the policy is never to ask",
        {"hooks": [_ASK], "approval": {"policy": "never"}, "schedule": [OPEN]},
    ),
    "asked-broken": (
        "APP-4",
        "the approval service fails",
        {"hooks": [_ASK], "approval": {"service": "raises"}, "schedule": [OPEN]},
    ),
    "abort-while-asking": (
        "APP-3 APP-11",
        "the caller aborts while an approval is open",
        {
            "hooks": [_ASK],
            "approval": {},
            "guards": [_GUARD_DENIES],
            "schedule": [OPEN, ABORT, {"approve": {"pos": 0, "outcome": "allowed-once"}}],
        },
    ),
    "wrapper-passes": (
        "DSP-1",
        "a wrapper stands around the body",
        {"hooks": [_hook("execute", {"next": {}}, {"pass": {}})], "schedule": _RUN},
    ),
    "wrapper-retries": (
        "DSP-1 DSP-11 DSP-14",
        "a wrapper runs the body twice",
        {
            "body": [{"defer": {"context": "d"}}, {"conclude": {}}, {"return": {"value": {"$nonce": True}}}],
            "hooks": [_hook("execute", {"next": {}}, {"next": {}}, {"pass": {}})],
            "schedule": [OPEN],
        },
    ),
    "wrapper-authors": (
        "DSP-10",
        "a wrapper writes the result",
        {
            "hooks": [_hook("execute", {"author": {"result": {"ok": True, "value": 1}, "contexts": ["w"]}})],
            "schedule": [OPEN],
        },
    ),
    "wrapper-answers-nothing": (
        "DSP-13",
        "a wrapper answers no result",
        {"hooks": [_hook("execute", {"author": {"result": None}})], "schedule": [OPEN]},
    ),
    "wrapper-raises": (
        "DSP-13",
        "a wrapper raises after its next",
        {"hooks": [_hook("execute", {"next": {}}, {"raise": {}})], "schedule": _RUN},
    ),
    "wrapper-signal": (
        "DSP-2 CAN-4 CRE-5",
        "a wrapper's own signal aborts",
        {
            "body": [{"abort": {"signal": "own"}}, {"await_abort": {}}, {"return": {"value": 1}}],
            "hooks": [_hook("execute", {"set_signal": {"name": "own"}}, {"next": {}}, {"pass": {}})],
            "schedule": [OPEN],
        },
    ),
    "accepted-with-contexts": (
        "PST-6 SCD-15",
        "post-execute hands over a context",
        {
            "body": [{"defer": {"context": "d"}}, {"return": {"value": 1}}],
            "hooks": [_decides("post_execute", {"kind": "accept"}, "p")],
            "schedule": [OPEN],
        },
    ),
    "blocked": (
        "PST-5 FIN-4",
        "post-execute blocks the result",
        {
            "body": [{"defer": {"context": "d"}}, {"conclude": {}}, {"return": {"value": 1}}],
            "hooks": [_decides("post_execute", {"kind": "block", "feedback": _TEXT}, "b")],
            "schedule": [OPEN],
        },
    ),
    "post-unknown-kind": (
        "PST-3",
        "post-execute decides something else",
        {"hooks": [_decides("post_execute", {"kind": "fine"})], "schedule": _RUN},
    ),
    "post-raises": (
        "PST-7",
        "post-execute raises",
        {"hooks": [_hook("post_execute", {"raise": {}})], "schedule": _RUN},
    ),
    "value-for-a-failure": (
        "PST-3",
        "post-execute gives a failed result a value",
        {
            "body": [{"raise": {}}],
            "hooks": [_decides("post_execute", {"kind": "accept", "value": 1})],
            "schedule": [OPEN],
        },
    ),
    "projected": (
        "PST-1",
        "the tool projects its content",
        {"tool": {"project": [{"return": {"value": _TEXT}}]}, "schedule": _RUN},
    ),
    "projection-fails": (
        "PST-1",
        "the projection raises",
        {
            "tool": {"project": [{"raise": {}}]},
            "hooks": [_decides("post_execute", {"kind": "accept"})],
            "schedule": _RUN,
        },
    ),
    "finalized": (
        "FIN-2",
        "the tool has the last word on content",
        {"tool": {"finalize": [{"return": {"value": _TEXT}}]}, "schedule": _RUN},
    ),
    "finalizer-fails": (
        "FIN-2",
        "the finalizer raises",
        {"tool": {"finalize": [{"raise": {}}]}, "schedule": _RUN},
    ),
    "abort-from-the-finalizer": (
        "CAN-1",
        "the finalizer aborts the caller",
        {"tool": {"finalize": [{"abort": {}}]}, "schedule": _RUN},
    ),
    "observed": (
        "FIN-3",
        "an observer gets the result that is returned",
        {"hooks": [_hook("result")], "schedule": _RUN},
    ),
    "concludes": (
        "DSP-14 SCD-12",
        "a success concludes the turn",
        {"body": [{"conclude": {}}, {"return": {"value": 1}}], "schedule": [OPEN]},
    ),
    "body-cancels-itself": (
        "PY-4",
        "the body raises a cancellation that nobody asked for",
        {"body": [{"raise": {"kind": "cancelled"}}], "schedule": [OPEN]},
    ),
    "timed-out": (
        "TMO-1 TMO-2 DSP-11",
        "the deadline passes, and the body returns later",
        {
            "tool": {"timeout_ms": 5},
            "body": [{"defer": {"context": "d"}}, *GATED],
            "schedule": [OPEN, _LATER, GO],
        },
    ),
    "timed-out-and-raised": (
        "TMO-2",
        "the deadline passes, and the body raises later",
        {"tool": {"timeout_ms": 5}, "body": [GATED[0], {"raise": {}}], "schedule": [OPEN, _LATER, GO]},
    ),
    "in-time": (
        "TMO-2 TMO-4",
        "the body returns before the deadline",
        {"tool": {"timeout_ms": 6}, "schedule": [OPEN, _LATER, GO, _LATER]},
    ),
    "timed-out-then-aborted": (
        "TMO-2 CAN-7",
        "the deadline passes, and the caller aborts later",
        {"tool": {"timeout_ms": 5}, "schedule": [OPEN, _LATER, ABORT, GO]},
    ),
    "aborted-then-late": (
        "TMO-2 CAN-6",
        "the caller aborts, and the deadline passes later",
        {"tool": {"timeout_ms": 5}, "schedule": [OPEN, ABORT, _LATER, GO]},
    ),
    "retried-outside-the-timeout": (
        "TMO-1 TMO-4",
        "a prepended wrapper runs the rest again: the second attempt has a deadline of its own",
        {
            "tool": {"timeout_ms": 5},
            "hooks": [{**_hook("execute", {"next": {}}, {"next": {}}, {"pass": {}}), "prepend": True}],
            "body": [{"gate": {"name": "body"}}, {"sleep": {"ms": 4}}, {"return": {"value": 1}}],
            "schedule": [OPEN, _LATER, GO, {"advance": {"ms": 8}}],
        },
    ),
    "retried-inside-the-timeout": (
        "TMO-4",
        "a wrapper runs the rest again: both attempts share the deadline",
        {
            "tool": {"timeout_ms": 5},
            "hooks": [_hook("execute", {"next": {}}, {"next": {}}, {"pass": {}})],
            "body": [{"sleep": {"ms": 4}}, {"return": {"value": 1}}],
            "schedule": [OPEN, {"advance": {"ms": 8}}],
        },
    ),
    "deadline-left-out": (
        "CRE-5 DSP-2 TMO-2",
        "a wrapper inside the timeout leaves the deadline out: it does not reach the body",
        {
            "tool": {"timeout_ms": 5, "interrupt": "cancel"},
            "hooks": [_hook("execute", {"set_signal": {"name": "own"}}, {"next": {}}, {"pass": {}})],
            "body": [{"await_abort": {}}, {"return": {"value": 1}}],
            "schedule": [OPEN, _LATER, {"abort": {"signal": "own"}}],
        },
    ),
    "own-signal": (
        "DSP-2 DSP-9 CAN-4",
        "a signal that a wrapper made aborts",
        {
            "hooks": [_hook("execute", {"set_signal": {"name": "own"}}, {"next": {}}, {"pass": {}})],
            "body": [{"await_abort": {}}, {"return": {"value": 1}}],
            "schedule": [OPEN, {"abort": {"signal": "own"}}],
        },
    ),
    "rendered": (
        "OUT-2 OUT-3",
        "the value is rendered, and then presented",
        {
            "tool": {
                "render": [{"return": {"value": _TEXT}}],
                "presentation_meta": [{"return": {"value": 1}}],
            },
            "schedule": _RUN,
        },
    ),
    "rendered-badly": (
        "OUT-2",
        "what the renderer gives is no content",
        {"tool": {"render": [{"return": {"value": "x"}}]}, "schedule": _RUN},
    ),
}


# -- wrong traces -------------------------------------------------------------------------------
