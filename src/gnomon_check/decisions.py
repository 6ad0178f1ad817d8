"""What the decisions of scripts mean, in the words of the specification: well-formed, or malformed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from gnomon_check.script_steps import Raise
from gnomon_spec.schemas import violations
from gnomon_spec.values import Json, NotAValue, snapshot
from gnomon_spec.vocabulary import (
    Accept,
    Allow,
    Approval,
    Ask,
    AuthoredFailure,
    AuthoredSuccess,
    Block,
    Cancel,
    Code,
    Deny,
    Failed,
    Malformed,
    PostDecision,
    PreDecision,
)

Fits = Callable[[Any], bool]


def pre_decision(decision: Any) -> PreDecision:
    """What a decision of pre-execute means (PRE-2)."""
    match decision:
        case {"kind": "allow"}:
            return Allow()
        case {"kind": "deny", "reason": str(), "code": str(code)}:
            return Deny(code)
        case {"kind": "deny", "reason": str()}:
            return Deny()
        case {"kind": "cancel"}:
            return Cancel()
        case {"kind": "ask"} if isinstance(decision.get("reason", ""), str):
            return Ask()
        case _:
            return Malformed()


def post_decision(
    decision: Any, contexts: tuple[str, ...], fits: Fits, *, gone: bool = False
) -> PostDecision:
    """What a decision of post-execute means; `gone` says that there is no such tool (PST-2, PST-3)."""
    match decision:
        case {"kind": "accept"} if "content" in decision and not is_content(decision["content"]):
            return Malformed()
        case {"kind": "accept"}:
            return Accept(
                content="replaced" if "content" in decision else None,
                value=json.dumps(decision["value"]) if "value" in decision else None,
                contexts=contexts,
                fits="value" not in decision or fits(decision["value"]),
                gone=gone,
            )
        case {"kind": "block", "feedback": feedback} if is_content(feedback):
            return Block(contexts)
        case _:
            return Malformed()


def authored(
    result: Any, contexts: tuple[str, ...], fits: Fits, *, gone: bool = False
) -> AuthoredSuccess | AuthoredFailure | Malformed:
    """What a result that a wrapper wrote means; `gone` says that there is no such tool (DSP-10, DSP-13)."""
    match result:
        case {"ok": True, "value": value}:
            return AuthoredSuccess(contexts, fits=fits(value), gone=gone)
        case {"ok": False, "code": str(code)}:
            return AuthoredFailure(code, contexts)
        case {"ok": False}:
            return AuthoredFailure(Code.POLICY_ERROR, contexts)
        case _:
            return Malformed()


def failed(what: Raise) -> Failed:
    """What it means that a policy step raises (PRE-5, ERR-1, PY-4)."""
    return Failed(what.code or Code.POLICY_ERROR)


def is_content(candidate: Any) -> bool:
    """Whether something is content: a list of objects, each with a `type` (OUT-2)."""
    return isinstance(candidate, list) and all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in candidate
    )


def approval(outcome: str) -> Approval:
    """What the answer of an approver means (APP-4)."""
    known = {one.value: one for one in Approval if one not in (Approval.OTHER, Approval.BROKEN)}
    return known.get(outcome, Approval.OTHER)


def fits_schema(schema: Json, value: object) -> bool:
    """Whether what a body returned passes the output check (OUT-1): it is a value, and it fits."""
    taken = snapshot(value)
    return not isinstance(taken, NotAValue) and not violations(schema, taken)


def word(decision: object) -> str:
    """The word for a decision in the event vocabulary."""
    names = {
        Allow: "allow",
        Deny: "deny",
        Cancel: "cancel",
        Ask: "ask",
        Accept: "accept",
        Block: "block",
        Malformed: "malformed",
        Failed: "raised",
        AuthoredSuccess: "authored",
        AuthoredFailure: "authored",
    }
    return names.get(type(decision), "passed")
