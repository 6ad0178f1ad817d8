"""Results: what came of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gnomon.content import Content, text_content
from gnomon.errors import Code, ToolError
from gnomon.values import JSON


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error: `message` for the model and for people, `code` and `name` for programs (ERR)."""

    message: str
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Success:
    """A call that succeeded: its canonical value, and the content that the model is shown (OUT-4)."""

    value: JSON
    content: Content
    concludes_turn: bool = False
    ok: Literal[True] = field(default=True, init=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that did not: its error, and the content that the model is shown (OUT-4, OUT-5)."""

    error: ErrorInfo
    content: Content
    ok: Literal[False] = field(default=False, init=False)


Result: TypeAlias = Success | Failure


def failure(code: str, message: str, name: str, content: Content | None = None) -> Failure:
    """A failure whose content says `Error: <message>`, unless it has content of its own (OUT-5)."""
    shown = text_content(f"Error: {message}") if content is None else content
    return Failure(ErrorInfo(message, code, name), shown)


def failure_of(error: BaseException) -> Failure:
    """The result of a body that raised; total, whatever the exception is (DSP-7)."""
    kind = type(error).__name__
    message = _text_of(error) or kind
    if isinstance(error, ToolError):
        content = (
            text_content(f"Error: {message}") if error.content is None else list(map(dict, error.content))
        )
        return failure(error.code or Code.TOOL_ERROR, message, error.name or kind, content)
    return failure(Code.TOOL_ERROR, message, kind)


def _text_of(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # an exception whose text cannot be produced still has a type (DSP-7)
        return ""
    return text if type(text) is str else ""


def aborted() -> Failure:
    """The body ran, and its effects may have happened (CAN-2, CAN-6)."""
    return failure(
        Code.ABORTED,
        "the call was aborted after it had started; its effects may have happened",
        "AbortError",
    )


def aborted_before_dispatch() -> Failure:
    """The body did not run (CAN-2, CAN-5)."""
    return failure(
        Code.ABORTED_BEFORE_DISPATCH,
        "the call was aborted before it started; it had no effect",
        "AbortError",
    )


def cancelled(result: Result, body_invoked: bool) -> Result:
    """What a result becomes once the caller has aborted: only a success is replaced (CAN-5..7)."""
    match result:
        case Failure():
            return result
        case Success():
            return aborted() if body_invoked else aborted_before_dispatch()
