"""Vectors of CAN: what an abort of the caller does to an outcome. Every case of the table is there."""

from __future__ import annotations

import itertools
from typing import Any

from gnomon_check.vectors.case import Case, Suite
from gnomon_spec.cancellation import outcome_under
from gnomon_spec.vocabulary import Code, Outcome


def computed(given: dict[str, Any]) -> dict[str, Any]:
    """What an outcome becomes at the last look at the caller's signal."""
    outcome = given["outcome"]
    before = Outcome(code=outcome.get("code"), contexts=tuple(outcome["contexts"]))
    after = outcome_under(given["aborted"], before, given["body_invoked"])
    return {"outcome": _shown(after)}


def _shown(outcome: Outcome) -> dict[str, Any]:
    code = {} if outcome.code is None else {"code": str(outcome.code)}
    return {"ok": not outcome.is_error, **code, "contexts": list(outcome.contexts)}


def _case(code: str | None, aborted: bool, body_invoked: bool) -> Case:
    name = "success" if code is None else code.lower().replace("_", "-")
    outcome = {"ok": code is None, **({} if code is None else {"code": code}), "contexts": ["c1", "c2"]}
    clauses = (
        "CAN-1" if not aborted else "CAN-7" if code is not None else "CAN-6" if body_invoked else "CAN-5"
    )
    told = [
        "a success" if code is None else code,
        "the body was invoked" if body_invoked else "the body was not invoked",
        "the caller has aborted" if aborted else "nobody has aborted",
    ]
    how = f"{'invoked' if body_invoked else 'not-invoked'}-{'aborted' if aborted else 'not-aborted'}"
    return Case(
        f"cancelled-{name}-{how}",
        clauses,
        ", ".join(told),
        {"outcome": outcome, "aborted": aborted, "body_invoked": body_invoked},
    )


_CODES = (None, Code.DENIED, Code.TOOL_ERROR, Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH, "OWN_CODE")

CANCELLED = Suite(
    "cancelled",
    "Say what `outcome` becomes where the caller's signal is looked at for the last time: `aborted` "
    "says whether it has aborted, `body_invoked` whether the body was invoked.",
    computed,
    tuple(
        _case(None if code is None else str(code), aborted, invoked)
        for code, aborted, invoked in itertools.product(_CODES, (True, False), (True, False))
    ),
)
