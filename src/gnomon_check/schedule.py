"""The steps of a schedule: the inputs of a scenario, one after the other."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Discriminator, NonNegativeInt, PositiveInt, Tag

from gnomon_check.changes import Name, Strict, TaggedChangeStep, single_key


class Open(Strict):
    """Hand a batch to the executor.

    Where the one before it is not over by then, or has failed, the scenario ends there.
    """

    batch: Name = "b1"


class Release(Strict):
    """Release a gate; one that nobody waits at is open from then on."""

    gate: Name


class AbortInput(Strict):
    """Abort the caller's signal, or one that a wrapper has made."""

    signal: Name = "caller"
    reason: str | None = None


class Cancel(Strict):
    """Cancel the task that runs the batch, natively (profile NATIVE)."""


class Crash(Strict):
    """The process ends here: nothing of the runtime goes on, and what was logged is all that is left."""


class Repair(Strict):
    """Repair the log that a crash has left (REP-1)."""


class CrashStep(Strict):
    crash: Crash


class RepairStep(Strict):
    repair: Repair


class OpenStep(Strict):
    open: Open


class ReleaseStep(Strict):
    release: Release


class Advance(Strict):
    """Let virtual time go on by so many milliseconds."""

    ms: PositiveInt


class AdvanceStep(Strict):
    advance: Advance


class AbortInputStep(Strict):
    abort: AbortInput


class CancelStep(Strict):
    cancel: Cancel


class RequestModel(Strict):
    """Say which tools the next request of the model would show, in order."""


class RequestModelStep(Strict):
    request_model: RequestModel


class CallKept(Strict):
    """Call a `next` that was kept, once its listener has ended; before that, nothing is done."""

    name: Name


class CallKeptStep(Strict):
    call_kept: CallKept


class Approve(Strict):
    """Answer the approval of a call: one of the four, or any other text."""

    pos: NonNegativeInt
    outcome: str


class ApproveStep(Strict):
    approve: Approve


_Single = (
    Annotated[OpenStep, Tag("open")]
    | Annotated[ReleaseStep, Tag("release")]
    | Annotated[AbortInputStep, Tag("abort")]
    | Annotated[CancelStep, Tag("cancel")]
    | Annotated[ApproveStep, Tag("approve")]
    | Annotated[AdvanceStep, Tag("advance")]
    | Annotated[RequestModelStep, Tag("request_model")]
    | Annotated[CallKeptStep, Tag("call_kept")]
    | TaggedChangeStep
)

SingleStep: TypeAlias = Annotated[_Single, Discriminator(single_key)]
"""One input."""


class TogetherStep(Strict):
    """Several inputs at once, with no chance to run in between."""

    together: list[SingleStep]


ScheduleStep: TypeAlias = Annotated[
    _Single
    | Annotated[TogetherStep, Tag("together")]
    | Annotated[CrashStep, Tag("crash")]
    | Annotated[RepairStep, Tag("repair")],
    Discriminator(single_key),
]
"""A step of a schedule: each begins a window."""


def inputs_of(step: ScheduleStep) -> list[SingleStep]:
    """The inputs of a schedule step, in order; a crash and its repair are none: they come from without."""
    if isinstance(step, CrashStep | RepairStep):
        return []
    return list(step.together) if isinstance(step, TogetherStep) else [step]


def opening(step: ScheduleStep) -> bool:
    """Whether a step of the schedule opens a batch."""
    return any(isinstance(one, OpenStep) for one in inputs_of(step))
