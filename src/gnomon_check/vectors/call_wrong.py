"""What makes a right trace of a single call wrong: one edit each, and the clause that it breaks."""

from __future__ import annotations

from typing import Any

_SUCCESS = {"event": "result.logged", "pos": 0, "outcome": {"ok": True}}
_RESULT = {"event": "result.logged", "pos": 0}
_STARTED = {"event": "body.started", "pos": 0, "attempt": 1}


def _result(code: str) -> dict[str, Any]:
    return {"event": "result.logged", "pos": 0, "outcome": {"ok": False, "code": code}}


WRONG: dict[str, tuple[str, str, str, dict[str, Any], list[dict[str, Any]]]] = {
    "body-after-a-denial": ("denied", "PRE-4", "the body runs after a denial", _RESULT, [_STARTED]),
    "body-after-a-malformed-denial": (
        "denied-without-reason",
        "PRE-2",
        "a denial without a reason lets the body run",
        _RESULT,
        [_STARTED],
    ),
    "body-after-an-unknown-decision": (
        "unknown-decision",
        "PRE-2",
        "an unknown decision lets the body run",
        _RESULT,
        [_STARTED],
    ),
    "body-after-a-guards-denial": (
        "guard-denies",
        "GRD-2",
        "the body runs although a guard denied",
        _RESULT,
        [_STARTED],
    ),
    "body-after-a-malformed-guard": (
        "guard-malformed",
        "GRD-4",
        "a malformed answer of a guard lets the body run",
        _RESULT,
        [_STARTED],
    ),
    "guard-not-asked": ("guard-passes", "GRD-1", "the guard is not asked", {"event": "guard.answered"}, []),
    "body-after-a-rejection": (
        "asked-and-rejected",
        "APP-1",
        "a rejection lets the body run",
        _RESULT,
        [_STARTED],
    ),
    "body-without-a-channel": (
        "asked-nobody",
        "APP-2",
        "asking nobody lets the body run",
        _RESULT,
        [_STARTED],
    ),
    "approval-not-decided": (
        "asked-and-rejected",
        "APP-6",
        "the decision is not logged",
        {"event": "approval.decided"},
        [],
    ),
    "success-after-the-abort": ("abort-during", "CAN-6", "a success after the abort", _RESULT, [_SUCCESS]),
    "not-started-though-it-ran": (
        "abort-during",
        "CAN-2",
        "a body that ran is said not to have",
        _RESULT,
        [_result("ABORTED_BEFORE_DISPATCH")],
    ),
    "aborted-though-it-never-ran": (
        "abort-before",
        "CAN-2",
        "a body that never ran is said to have",
        _RESULT,
        [_result("ABORTED")],
    ),
    "error-replaced-by-the-abort": (
        "own-error-survives",
        "CAN-7",
        "an error is replaced by the abort",
        _RESULT,
        [_result("ABORTED")],
    ),
    "defaults-for-broken-arguments": (
        "not-json",
        "DSP-8 ARG-3",
        "text that is no JSON runs the tool",
        _RESULT,
        [_STARTED],
    ),
    "unfit-output-is-a-success": (
        "unfit-output",
        "OUT-1",
        "a value that does not fit is a success",
        _RESULT,
        [_SUCCESS],
    ),
    "block-lets-through": ("blocked", "PST-5", "a blocked result goes through", _RESULT, [_SUCCESS]),
    "block-keeps-the-bodys-contexts": (
        "blocked",
        "DSP-11 PST-5",
        "a context of the body survives the block",
        {"event": "context.accepted"},
        [{"event": "context.accepted", "pos": 0, "context": "d"}],
    ),
    "malformed-post-accepts": (
        "post-unknown-kind",
        "PST-3",
        "a malformed decision lets a success through",
        _RESULT,
        [_SUCCESS],
    ),
    "contexts-reordered": (
        "accepted-with-contexts",
        "DSP-11",
        "the decision's context comes first",
        {"event": "context.accepted", "context": "d"},
        [{"event": "context.accepted", "pos": 0, "context": "p"}],
    ),
    "finalized-twice": (
        "finalized",
        "FIN-2",
        "the finalizer runs twice",
        {"event": "content.finalized"},
        [{"event": "content.finalized", "pos": 0}] * 2,
    ),
    "not-finalized": ("finalized", "FIN-2", "the finalizer does not run", {"event": "content.finalized"}, []),
    "observer-sees-another-result": (
        "observed",
        "FIN-3",
        "an observer is told another result",
        {"event": "result.observed"},
        [
            {
                "event": "result.observed",
                "pos": 0,
                "observer": "result-1",
                "outcome": {"ok": False, "code": "TOOL_ERROR"},
            }
        ],
    ),
    "made-up-cancellation-aborts": (
        "body-cancels-itself",
        "CAN-7 PY-4",
        "a made-up cancellation counts as the caller's",
        _RESULT,
        [_result("ABORTED")],
    ),
    "timeout-forgotten": ("timed-out", "TMO-2", "a success after the deadline", _RESULT, [_SUCCESS]),
    "timeout-after-the-abort": (
        "aborted-then-late",
        "TMO-2",
        "the deadline counts although the caller aborted before",
        _RESULT,
        [_result("TOOL_TIMEOUT")],
    ),
    "two-results": ("plain", "SCD-10", "the call is answered twice", {"event": "batch.closed"}, [_SUCCESS]),
}
