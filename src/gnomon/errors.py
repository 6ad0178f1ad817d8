"""What gnomon raises, and what tools and policies raise at it.

`execute` and `run_batch` never raise because of a tool: a tool's failure is a
result. They raise what is wrong with the runtime's own surroundings: a log that
cannot be written, a setting that makes no sense, an internal failure.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import SimpleNamespace
from typing import Any


class Code(StrEnum):
    """The codes that tell the outcomes of a call apart (ERR-1)."""

    ABORTED = "ABORTED"
    ABORTED_BEFORE_DISPATCH = "ABORTED_BEFORE_DISPATCH"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_ARGS = "INVALID_ARGS"
    INVALID_TOOL_OUTPUT = "INVALID_TOOL_OUTPUT"
    UNSUPPORTED_SCHEMA = "UNSUPPORTED_SCHEMA"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_OUTCOME_UNKNOWN = "TOOL_OUTCOME_UNKNOWN"
    TOOL_NOT_STARTED = "TOOL_NOT_STARTED"
    CODE_RUN_FAILED = "CODE_RUN_FAILED"
    DENIED = "DENIED"
    APPROVAL_REJECTED = "APPROVAL_REJECTED"
    APPROVAL_CANCELLED = "APPROVAL_CANCELLED"
    APPROVAL_UNAVAILABLE = "APPROVAL_UNAVAILABLE"
    BLOCKED = "BLOCKED"
    TOOL_ERROR = "TOOL_ERROR"
    POLICY_ERROR = "POLICY_ERROR"


class GnomonError(Exception):
    """The base of everything that the runtime raises by itself."""


class RegistrationError(GnomonError):
    """A tool cannot be registered as it is; nothing was changed (REG-1)."""


class SchemaError(RegistrationError):
    """A schema cannot be supported; nothing was changed (SCH-2).

    `violations` lists everything that is wrong with it, each with its path.
    """

    code: str = Code.UNSUPPORTED_SCHEMA
    name: str = "JsonSchemaError"

    def __init__(self, what: str, violations: Sequence[str]) -> None:
        self.violations = tuple(violations)
        super().__init__(f"{what} is not supported: {'; '.join(self.violations)}")


class RestrictionError(RegistrationError):
    """A restriction makes no sense where it is declared; nothing was changed (REG-3, REG-4)."""


class ConfigError(GnomonError):
    """A setting makes no sense, such as a pool of no slots (SCD-4), or a call comes from where none may."""


class PolicyError(GnomonError):
    """A policy step failed; the call fails with it, and is never let through (PRE-2, PST-3, DSP-13).

    `next()` raises it in an outer listener when an inner one gave no proper decision. `code` and `name`
    are those that the call's result will have.
    """

    def __init__(self, message: str, *, code: str = Code.POLICY_ERROR, name: str = "PolicyError") -> None:
        super().__init__(message)
        self.code = code
        self.name = name


class GnomonWarning(RuntimeWarning):
    """Something went wrong beside a call, and changed nothing: an observer or a callback that raised."""


def warn(message: str, category: type[GnomonWarning] = GnomonWarning) -> None:
    """Warn; where warnings are errors, report one that nobody can catch, and go on (FIN-3, PY-11)."""
    try:
        warnings.warn(message, category, stacklevel=3)
    except GnomonWarning as error:
        unraisable: Any = SimpleNamespace(
            exc_type=type(error), exc_value=error, exc_traceback=None, err_msg=None, object=None
        )
        sys.unraisablehook(unraisable)


def note_other(leaves: BaseException, other: BaseException) -> None:
    """Say in what leaves a batch that something else would have left it too (PY-6)."""
    leaves.add_note(f"this was also left by {type(other).__name__}: {other}")


class LogError(GnomonError):
    """The session log cannot be read or written (LOG-3)."""


class LogCorrupt(LogError):
    """A record before the last one is damaged; what the file holds was left as it is.

    `line` is the number of the damaged line, from 1; `whole` is the number of bytes before it, all of
    them whole records.
    """

    def __init__(self, message: str, *, line: int, whole: int) -> None:
        super().__init__(message)
        self.line = line
        self.whole = whole


class LogLocked(LogError):
    """Another writer has the session log open; a log has one writer at a time."""


class Aborted(Exception):
    """Raised by `AbortSignal.raise_if_aborted`; `reason` is what the aborter gave."""

    def __init__(self, reason: object = None) -> None:
        super().__init__("the call was aborted" if reason is None else f"the call was aborted: {reason}")
        self.reason = reason


class ToolError(Exception):
    """Raised by a tool or a policy that chooses its own code (DSP-7, PRE-5, ERR-1).

    `message` is for the model and for people; `code` and `name` are for programs.
    Without a code the result says TOOL_ERROR for a body and POLICY_ERROR for a policy;
    without a name it says the name of the exception's type. `content` replaces the text
    that the model is shown.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        name: str | None = None,
        content: Sequence[Mapping[str, object]] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.name = name
        self.content = content
