"""The machine of one call: which actions are enabled, and what each leads to.

Like the machine of a batch it has no rules of its own. A call runs from its
creation to its result, alone; in a batch the lane takes it from stage to stage.
What listeners, guards, approvers, bodies and tools do comes from around it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from gnomon_spec import admission, dispatch, settlement, signals, strikes, waterfall
from gnomon_spec.kernel import NotEnabled, Refused, Step
from gnomon_spec.vocabulary import (
    Approval,
    Change,
    Event,
    EventName,
    ExecuteDecision,
    Execution,
    How,
    PostDecision,
    PreDecision,
    Stage,
    Verdict,
    event,
)


@dataclass(frozen=True, slots=True)
class Delegates:
    """The listener that is running calls `next()`."""

    listener: int


@dataclass(frozen=True, slots=True)
class PreDecides:
    """A listener of pre-execute ends."""

    listener: int
    decision: PreDecision


@dataclass(frozen=True, slots=True)
class Approves:
    """The approval is answered."""

    answer: Approval


@dataclass(frozen=True, slots=True)
class GuardAnswers:
    """The next guard answers."""

    answer: Verdict


@dataclass(frozen=True, slots=True)
class GuardAdds:
    """A guard adds another."""


@dataclass(frozen=True, slots=True)
class Dispatches:
    """A prepared call is dispatched."""


@dataclass(frozen=True, slots=True)
class SetsSignal:
    """The wrapper that is running puts a new signal of its own in place."""

    listener: int
    name: str = signals.OWN
    aborted: bool = False


@dataclass(frozen=True, slots=True)
class RestoresSignal:
    """The wrapper that is running puts back what it found."""

    listener: int
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnSignalAborts:
    """A signal that a wrapper has made aborts."""

    name: str = signals.OWN


@dataclass(frozen=True, slots=True)
class DeadlinePasses:
    """The deadline of the call's timeout passes."""


@dataclass(frozen=True, slots=True)
class ReachesBody:
    """The body stage is reached."""

    found: bool = True
    fit: bool = True


@dataclass(frozen=True, slots=True)
class Defers:
    """The body hands over a context."""

    context: str


@dataclass(frozen=True, slots=True)
class Concludes:
    """The body asks to end the turn."""


@dataclass(frozen=True, slots=True)
class BodyEnds:
    """The body ends."""

    end: dispatch.BodyEnd
    how: How


@dataclass(frozen=True, slots=True)
class WrapperDecides:
    """A wrapper ends."""

    listener: int
    decision: ExecuteDecision


@dataclass(frozen=True, slots=True)
class Finalizes:
    """The turn of a settled call has come: it is taken to post-execute, or to its finish."""


@dataclass(frozen=True, slots=True)
class Projects:
    """`projectContent` answers."""

    answer: Change


@dataclass(frozen=True, slots=True)
class PostDecides:
    """A listener of post-execute ends."""

    listener: int
    decision: PostDecision


@dataclass(frozen=True, slots=True)
class FinalizesContent:
    """`finalizeContent` answers."""

    answer: Change


@dataclass(frozen=True, slots=True)
class Observes:
    """The observers are told."""


@dataclass(frozen=True, slots=True)
class Strikes:
    """What runs of the call raises what is meant for the whole process."""


@dataclass(frozen=True, slots=True)
class CallerAborts:
    """The caller aborts."""


Move: TypeAlias = (
    Delegates
    | PreDecides
    | Approves
    | GuardAnswers
    | GuardAdds
    | Dispatches
    | SetsSignal
    | RestoresSignal
    | OwnSignalAborts
    | DeadlinePasses
    | ReachesBody
    | Defers
    | Concludes
    | BodyEnds
    | WrapperDecides
    | Finalizes
    | Projects
    | PostDecides
    | FinalizesContent
    | Observes
    | Strikes
    | CallerAborts
)

Stepped = Step[Execution, Event]

_DELEGATES: dict[Stage, Callable[[Execution, int], Stepped]] = {
    Stage.PRE: admission.pre_delegates,
    Stage.EXECUTE: dispatch.wrapper_delegates,
    Stage.POST: settlement.post_delegates,
}


def step(state: Execution, move: Move) -> Stepped:
    """Take one move; raise `NotEnabled`, with the clause, where it is forbidden."""
    match move:
        case Delegates(listener):
            delegate = _DELEGATES.get(state.stage)
            if delegate is None:
                raise NotEnabled(Refused("PRE-7", "no listener of the call is running"))
            return delegate(state, listener)
        case PreDecides(listener, decision):
            return admission.pre_decides(state, listener, decision)
        case Approves(answer):
            return admission.approval_answered(state, answer)
        case GuardAnswers(verdict):
            return admission.guard_answers(state, verdict)
        case GuardAdds():
            return admission.guard_added(state)
        case Dispatches():
            return dispatch.begin(state)
        case SetsSignal(listener, name, aborted):
            return signals.sets_signal(state, listener, name, aborted)
        case RestoresSignal(listener, found):
            return signals.restores_signal(state, listener, found)
        case OwnSignalAborts(name):
            return signals.own_signal_aborts(state, name)
        case DeadlinePasses():
            return signals.deadline_passes(state)
        case ReachesBody(found, fit):
            return dispatch.reach_body_stage(state, found, fit)
        case Defers(context):
            return dispatch.defers(state, context)
        case Concludes():
            return dispatch.concludes(state)
        case BodyEnds(end, how):
            return dispatch.body_ends(state, end, how)
        case WrapperDecides(listener, result):
            return dispatch.wrapper_decides(state, listener, result)
        case Finalizes():
            return settlement.begin(state)
        case Projects(change):
            return settlement.projected(state, change)
        case PostDecides(listener, verdict):
            return settlement.post_decides(state, listener, verdict)
        case FinalizesContent(change):
            return settlement.finalized(state, change)
        case Observes():
            return settlement.observed(state)
        case Strikes():
            return strikes.strikes(state)
        case CallerAborts():
            return caller_aborts(state)
        case _:
            assert_never(move)


def caller_aborts(state: Execution) -> Stepped:
    """Abort the caller's signal; after the call is done that changes nothing."""
    if state.aborted or state.stage in (Stage.DONE, Stage.LOST):
        raise NotEnabled(Refused("CAN-1", "the caller has aborted already, or the call is over"))
    aborted = signals.caused(state._replace(aborted=True), signals.CALLER)
    return Step(aborted, (event(Event(EventName.SIGNAL_ABORTED)),))


def refused(state: Execution, move: Move) -> Refused | None:
    """Say why `move` is not enabled in `state`, or nothing where it is."""
    try:
        step(state, move)
    except NotEnabled as error:
        return error.refused
    return None


def listener_running(state: Execution) -> int | None:
    """The listener that may do something now, or nothing."""
    if state.stage in (Stage.PRE, Stage.EXECUTE, Stage.POST):
        return waterfall.running(state.frames)
    return None
