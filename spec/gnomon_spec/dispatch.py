"""DSP: the body stage of a call, and what its end means.

At the body stage, and not earlier, the runtime looks three times: has the
signal aborted, is there such a tool now, do the arguments fit what it
publishes? Only then the body runs. Whatever the body does after that is an
answer: a value, an error of its own, or the end of an interruption.
"""

from __future__ import annotations

from dataclasses import dataclass

from gnomon_spec.cancellation import cancellation_code
from gnomon_spec.kernel import clause
from gnomon_spec.schemas import violations
from gnomon_spec.values import Json
from gnomon_spec.vocabulary import Code, Fault, Outcome, PostResult, ResultAnswer


@clause("DSP-3", "DSP-4", "DSP-8", "ARG-3", "SCH-8")
def before_the_body(
    aborted: bool, parameters: Json | None, arguments: Json, body_invoked: bool = False
) -> PostResult | None:
    """Say what a call ends with instead of its body, or nothing where the body runs.

    `parameters` is what the visible definition publishes; None where none is visible.

    DSP-3  With an aborted signal the body MUST NOT run; this comes before the
           look-up.
    DSP-4  A name that is not visible MUST give UNKNOWN_TOOL.
    DSP-8  Arguments that do not fit MUST give INVALID_ARGS, and the body does
           not run.
    ARG-3  So MUST text that is not JSON: it arrives here as a string.
    """
    if aborted:
        return PostResult(Outcome(cancellation_code(body_invoked)))  # DSP-3
    if parameters is None:
        return PostResult(Outcome(Code.UNKNOWN_TOOL))  # DSP-4
    if violations(parameters, arguments):
        return PostResult(Outcome(Code.INVALID_ARGS))  # DSP-8, ARG-3
    return None


@dataclass(frozen=True, slots=True)
class Returned:
    """A body returned a value that fits its output schema; `nonce` marks it as its own."""

    nonce: str | None = None


@dataclass(frozen=True, slots=True)
class Raised:
    """A body raised an error, with a code of its own or without."""

    code: str | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A body ended by a cancellation; `asked` says whether it had been interrupted."""

    asked: bool


@dataclass(frozen=True, slots=True)
class Struck:
    """A body raised what is meant for the whole process (KeyboardInterrupt)."""


BodyEnd = Returned | Raised | Cancelled | Struck


@clause("DSP-7", "DSP-9", "PY-2", "PY-4")
def after_the_body(end: BodyEnd, aborted: bool) -> ResultAnswer:
    """Say what the end of a body means.

    DSP-7  A body that raises MUST give an error result: its own code, else
           TOOL_ERROR.
    DSP-9  A body that returns while its signal is aborted MUST give ABORTED;
           one that raises keeps its own error.
    PY-2   A body that ended because it was interrupted MUST give ABORTED.
    PY-4   A cancellation that nobody asked for MUST be a failed tool; a
           KeyboardInterrupt MUST be a fault of the batch, and MUST abort its
           signal as well.
    """
    match end:
        case Struck():
            return Fault()  # PY-4
        case Cancelled(asked):
            return PostResult(Outcome(Code.ABORTED if asked else Code.TOOL_ERROR))  # PY-2, PY-4
        case Raised(code):
            return PostResult(Outcome(code or Code.TOOL_ERROR))  # DSP-7, PY-4
        case Returned(nonce):
            return PostResult(Outcome(Code.ABORTED) if aborted else Outcome(nonce=nonce))  # DSP-9
