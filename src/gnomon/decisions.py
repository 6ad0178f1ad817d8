"""What policies may decide: two closed unions of frozen dataclasses. Anything else is malformed.

The checks here answer the decision in a form that holds nothing of its author's any more, or raise
`PolicyError`: a decision that is none never lets a call through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from gnomon.content import Content, check_content
from gnomon.errors import Code, PolicyError
from gnomon.results import ABSENT, Absent
from gnomon.values import JSON, NotJson


@dataclass(frozen=True, slots=True)
class Allow:
    """Pre-execute: no objection."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Pre-execute: the call is refused, for a reason that the model is told (PRE-4)."""

    reason: str
    code: str = Code.DENIED


@dataclass(frozen=True, slots=True)
class Cancel:
    """Pre-execute: the call is treated as cancelled: ABORTED_BEFORE_DISPATCH (PRE-4)."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Pre-execute: somebody has to approve this one call (APP-1)."""

    reason: str | None = None


PreDecision: TypeAlias = Allow | Deny | Cancel | Ask


@dataclass(frozen=True, slots=True)
class Accept:
    """Post-execute: the result stands, with new content or a new value, and more contexts (PST-2).

    Content and value exclude each other; a value is for a success only (PST-3).
    """

    content: Content | Absent = ABSENT
    value: JSON | Absent = ABSENT
    contexts: Sequence[Content] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Post-execute: the result is withheld, and the model is given this feedback instead (PST-5)."""

    feedback: Content
    contexts: Sequence[Content] = ()


PostDecision: TypeAlias = Accept | Block


def _malformed(step: str, answer: object) -> PolicyError:
    return PolicyError(f"a {step} listener answered {_called(answer)}, which is no decision of this step")


def _called(answer: object) -> str:
    return "nothing" if answer is None else f"an object of type {type(answer).__name__}"


def proper_pre_decision(answer: object) -> PreDecision:
    """The decision of a pre-execute listener; raises `PolicyError` for anything else (PRE-2)."""
    decision = answer if isinstance(answer, Allow | Deny | Cancel | Ask) else None
    if decision is None or type(decision) not in (Allow, Deny, Cancel, Ask):
        raise _malformed("pre-execute", answer)
    match decision:
        case Allow() | Cancel() | Ask(None):
            return decision
        case Ask(reason) | Deny(reason) if type(reason) is not str:
            raise PolicyError(f"the reason of a decision is {_called(reason)}, not text")
        case Ask():
            return decision
        case Deny(_, code):
            if not is_code(code):
                raise PolicyError(f"the code of a denial is {_called(code)}, not a code")
            return decision
        case _:
            assert_never(decision)


def proper_post_decision(answer: object) -> PostDecision:
    """The decision of a post-execute listener, frozen; raises `PolicyError` for anything else (PST-3)."""
    decision = answer if isinstance(answer, Accept | Block) else None
    if decision is None or type(decision) not in (Accept, Block):
        raise _malformed("post-execute", answer)
    try:
        contexts = proper_contexts(decision.contexts)
        match decision:
            case Block(feedback):
                return Block(check_content(feedback), contexts)
            case Accept(content, value):
                return Accept(content if content is ABSENT else check_content(content), value, contexts)
            case _:
                assert_never(decision)
    except NotJson as error:
        raise PolicyError(f"a post-execute decision holds what is not content: {error}") from error


def is_code(code: object) -> bool:
    """Whether something is the code of an error: text that is not empty."""
    return isinstance(code, str) and code != ""


def proper_contexts(contexts: Any) -> tuple[Content, ...]:
    """Contexts, frozen; raises `NotJson` where they are not a list or a tuple of contents."""
    if type(contexts) not in (list, tuple):
        raise NotJson((), "contexts are a list or a tuple of contents")
    return tuple(check_content(one) for one in contexts)
