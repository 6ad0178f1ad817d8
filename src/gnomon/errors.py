"""What gnomon raises, and what tools and policies raise at it.

`execute` and `run_batch` never raise because of a tool: a tool's failure is a
result. They raise what is wrong with the runtime's own surroundings: a log that
cannot be written, a setting that makes no sense, an internal failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum


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


class ConfigError(GnomonError):
    """A setting makes no sense, such as a pool of no slots (SCD-4)."""


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


class Aborted(Exception):
    """Raised by `AbortSignal.raise_if_aborted`; `reason` is what the aborter gave."""

    def __init__(self, reason: object = None) -> None:
        super().__init__("the call was aborted" if reason is None else f"the call was aborted: {reason}")
        self.reason = reason


class ToolError(Exception):
    """Raised by a tool that chooses its own code (DSP-7, ERR-1).

    `message` is for the model and for people; `code` and `name` are for programs.
    Without a code the result says TOOL_ERROR; without a name it says the name of
    the exception's type. `content` replaces the text that the model is shown.
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
