"""What a body or a policy gives becomes a result: snapshot, check, render, in this order (OUT, DSP-10).

And what the tool makes of a result's content: before post-execute (PST-1), and at the very end (FIN-2).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gnomon.backend import discard
from gnomon.content import check_content
from gnomon.contexts import synchronous
from gnomon.errors import Code, PolicyError
from gnomon.execution import Call
from gnomon.registry import RegisteredTool
from gnomon.results import ABSENT, Absent, ErrorInfo, Failure, Result, Success, failure_of, text_of
from gnomon.trace import EventName
from gnomon.values import JSON, Limits, NotJson, snapshot


class Unfit(Exception):
    """A value that does not fit what the tool publishes of its output, with every violation."""

    def __init__(self, violations: list[str]) -> None:
        super().__init__("; ".join(violations))
        self.violations = violations


def success_of(
    registered: RegisteredTool,
    call: Call,
    value: object,
    limits: Limits,
    *,
    dump: Callable[[Any], object] | None = None,
) -> Success:
    """The success that a value makes; `dump` turns a body's own value into JSON. Raises `Unfit`.

    Content and meta come from the definition's `render` and `meta`; meta only for a call without a
    parent (OUT-3).
    """
    dumped = value
    try:
        if dump is not None:
            dumped = dump(value)
        frozen = snapshot(dumped, limits)
        violations = registered.output.violations(frozen)
        if dump is None and not violations:
            violations = registered.tool.check(frozen)  # what the subset cannot say
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # NotJson, or whatever the value's own code raises while it is read
        discard(value)  # PY-9
        discard(dumped)
        raise Unfit([text_of(error) or type(error).__name__]) from error
    if violations:
        raise Unfit(violations)
    output = registered.tool.output
    answer: object = None
    meta: JSON | Absent = ABSENT
    try:
        with synchronous("renderer"):
            _tell(call, EventName.CONTENT_RENDERED)
            answer = output.render(call.arguments, frozen)
            content = check_content(answer)  # OUT-2
            if output.meta is not None and call.caller.parent is None:
                _tell(call, EventName.CONTENT_META)
                answer = output.meta(call.arguments, frozen)
                meta = snapshot(answer, limits)  # OUT-3
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        discard(answer)
        raise Unfit([f"its renderer failed: {failure_of(error).error.message}"]) from error
    return Success(frozen, content, meta)


def _tell(call: Call, what: EventName) -> None:
    if call.trace is not None:
        call.trace.emit(what)


def authored_failure(answer: Failure, limits: Limits) -> Failure:
    """A failure that a wrapper wrote; raises `PolicyError` or `NotJson` where it is none (DSP-10)."""
    info: Any = answer.error
    if type(info) is not ErrorInfo or not _is_text(info.message, info.name):
        raise PolicyError("a wrapper answered a failure without a proper error")
    code = info.code if _is_text(info.code) and info.code else Code.POLICY_ERROR  # ERR-1
    meta = answer.meta if answer.meta is ABSENT else snapshot(answer.meta, limits)
    return Failure(ErrorInfo(info.message, str(code), info.name), check_content(answer.content), meta)


def _is_text(*several: object) -> bool:
    return all(isinstance(one, str) for one in several)


def with_content(result: Result, answer: object, what: str) -> Result:
    """The result with new content, or as it is for None; raises `PolicyError` otherwise (PST-1, FIN-2)."""
    if answer is None:
        return result
    try:
        return replace(result, content=check_content(answer))
    except NotJson as error:
        message = f"{what} answered what is not content: {error}"
        raise PolicyError(message, code=Code.INVALID_TOOL_OUTPUT, name="ToolOutputError") from error


async def projected(call: Call, result: Result) -> Result:
    """The result, with the content that the tool projects; raises where that fails (PST-1)."""
    if call.project_content is None:
        return result
    if call.trace is not None:
        call.trace.emit(EventName.CONTENT_PROJECTED)
    answer: Any = call.project_content(call.view, result)
    if inspect.isawaitable(answer):
        answer = await answer
    return with_content(result, answer, "projectContent")


def finalized(call: Call, result: Result) -> Result:
    """The result, with the content that the tool gives it at the very end (FIN-2)."""
    if call.finalize_content is None:
        return result
    if call.trace is not None:
        call.trace.emit(EventName.CONTENT_FINALIZED, nth=1)
    answer: object = None
    try:
        with synchronous("finalizer"):
            answer = call.finalize_content(call.view, result)
        return with_content(result, answer, "finalizeContent")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        discard(answer)
        return failure_of(error, Code.INVALID_TOOL_OUTPUT)
