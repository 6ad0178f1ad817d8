"""Failures that say no code: which code each would have had to say.

That every failure has a code is what an implementation should do (ERR-1), and not what it must. So where a
code is missing that no other clause asks for, the rest of the scenario is judged all the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from gnomon_check.refinement import COMPARED, NO_CODE, Key
from gnomon_spec.vocabulary import Code

ASKED_FOR_ELSEWHERE = frozenset(
    (
        Code.ABORTED,
        Code.ABORTED_BEFORE_DISPATCH,
        Code.UNKNOWN_TOOL,
        Code.INVALID_ARGS,
        Code.INVALID_TOOL_OUTPUT,
        Code.UNSUPPORTED_SCHEMA,
        Code.TOOL_TIMEOUT,
        Code.TOOL_OUTCOME_UNKNOWN,
        Code.TOOL_NOT_STARTED,
        Code.CODE_RUN_FAILED,
    )
)
"""The codes that other clauses ask for: where one of them is missing, that clause is broken."""

RAISED = "raised"
"""The answer of a `next()` that has none: that is no failure, with or without a code."""


def named(key: Key, allowed: Iterable[Key]) -> tuple[Key, ...]:
    """What a failure without a code may have been: allowed events that differ from it in the code alone."""
    return tuple(
        sorted(
            (one for one in allowed if one[:2] == key[:2] and _differs_in_a_missing_code(key, one)), key=repr
        )
    )


def may_be(seen: str | None, expected: str) -> bool:
    """Whether what has no code may be what is expected."""
    return seen == NO_CODE and expected != "OK" and expected not in ASKED_FOR_ELSEWHERE


def _differs_in_a_missing_code(seen: Key, allowed: Key) -> bool:
    fields = zip(COMPARED[seen[0]], seen[2], allowed[2], strict=True)
    other = [(field, here, there) for field, here, there in fields if here != there]
    match other:
        case [("outcome.code", None, str(code))]:
            return may_be(NO_CODE, code)  # what was seen is a failure, like what is allowed
        case [("answer", str(seen_code), str(code))] if code != RAISED:
            return may_be(seen_code, code)
        case _:
            return False
