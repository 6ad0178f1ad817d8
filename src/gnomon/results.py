"""Results: what came of a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

from gnomon.content import Content, check_content, text_content
from gnomon.errors import Code, PolicyError, SchemaError, ToolError
from gnomon.values import JSON, NotJson


class Absent(Enum):
    """The type of `ABSENT`, which stands for what is not there: None is JSON's null (PY-12)."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error: `message` for the model and for people, `code` and `name` for programs (ERR)."""

    message: str
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Success:
    """A call that succeeded: its canonical value, and the content that the model is shown (OUT-4).

    `meta` is for whoever presents the result to people (OUT-3); `contexts` go to the model beside the
    result, after all results of the batch (SCD-15); `concludes_turn` says that the tool asked to end
    the turn (FIN-4).
    """

    value: JSON
    content: Content
    meta: JSON | Absent = ABSENT
    contexts: tuple[Content, ...] = ()
    concludes_turn: bool = False
    ok: Literal[True] = field(default=True, init=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that did not: its error, and the content that the model is shown (OUT-4, OUT-5)."""

    error: ErrorInfo
    content: Content
    meta: JSON | Absent = ABSENT
    contexts: tuple[Content, ...] = ()
    ok: Literal[False] = field(default=False, init=False)


Result: TypeAlias = Success | Failure


def failure(code: str, message: str, name: str, content: Content | None = None) -> Failure:
    """A failure whose content says `Error: <message>`, unless it has content of its own (OUT-5)."""
    shown = text_content(f"Error: {message}") if content is None else content
    return Failure(ErrorInfo(message, str(code), name), check_content(shown))


def failure_of(error: BaseException, otherwise: str = Code.TOOL_ERROR) -> Failure:
    """The result of a step that raised; total, whatever the exception is (DSP-7, PRE-5, PST-7).

    A structured error keeps its name and code; any other has `otherwise` for its code, and the name of
    its type.
    """
    kind = type(error).__name__
    message = text_of(error) or kind
    if not isinstance(error, ToolError | PolicyError | SchemaError):
        return failure(otherwise, message, kind)
    own, code, name = getattr(error, "content", None), error.code, error.name
    try:
        content = None if own is None else check_content([dict(block) for block in own])
    except Exception:
        return failure(Code.INVALID_TOOL_OUTPUT, f"{message} (with content that is none)", "ToolOutputError")
    return failure(
        code if isinstance(code, str) and code else otherwise,
        message,
        name if isinstance(name, str) and name else kind,
        content,
    )


def text_of(error: BaseException) -> str:
    """The text of an exception, empty where it has none or cannot produce it; no notes, no cause (PY-6)."""
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
            made = aborted() if body_invoked else aborted_before_dispatch()
            return Failure(made.error, made.content, contexts=result.contexts)  # CAN-6


def invalid_arguments(violations: list[str]) -> Failure:
    """The arguments do not fit, with every violation; the body did not run (CRE-2, DSP-8)."""
    return failure(Code.INVALID_ARGS, "the arguments do not fit: " + "; ".join(violations), "ToolArgsError")


def invalid_output(violations: list[str]) -> Failure:
    """What the tool returned does not fit (OUT-1..3)."""
    message = (
        "the tool ran, and its effects may have happened, but what it returned does not fit: "
        + "; ".join(violations)
    )
    return failure(Code.INVALID_TOOL_OUTPUT, message, "ToolOutputError")


def unknown_tool(name: str, hint: str = "") -> Failure:
    """There is no such tool for the caller (DSP-4, MOD-2)."""
    return failure(Code.UNKNOWN_TOOL, f"there is no tool named {name!r}{hint}", "ToolNotFoundError")


def materialized(result: Result) -> Result:
    """The result as it is told: its parts are content and JSON, frozen; always a result (FIN-1)."""
    try:
        content = check_content(result.content)
        contexts = tuple(check_content(one) for one in result.contexts)
    except NotJson as error:
        return invalid_output([str(error)])
    match result:
        case Success(value, _, meta, _, concludes):
            return Success(value, content, meta, contexts, concludes)
        case Failure(info, _, _):
            return Failure(info, content, result.meta, contexts)
