"""What a script does: the one interpreter of scripts.

A script is a list of steps, a *frame* says where it stands, and `effect_at` says what its next step
wants: to wait, to tell something, to end. The rules of a script are here and nowhere else: the
oracle follows them over frozen frames, and `playing` inside a running implementation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, assert_never

from gnomon_check.changes import Change, ChangeStep, change_of
from gnomon_check.script_steps import (
    AbortStep,
    AnswerStep,
    AuthorStep,
    AwaitAbortStep,
    BorrowStep,
    ConcludeStep,
    DecideStep,
    DeferStep,
    DenyStep,
    Execute,
    ExecuteStep,
    GateStep,
    KeepNextStep,
    MutateStep,
    NextConcurrentlyStep,
    NextStep,
    NextUnawaitedStep,
    NoteStep,
    NothingStep,
    OnCancelStep,
    PassStep,
    Raise,
    RaiseStep,
    RestoreSignalStep,
    ReturnStep,
    SetSignalStep,
    SetSignalValueStep,
    SleepStep,
    Step,
    is_nonce,
)


class Frame(NamedTuple):
    """Where a script stands."""

    step: int = 0
    on_cancel: Literal["propagate", "swallow", "unwind"] = "propagate"
    unwind_gate: str | None = None
    interrupted: bool = False
    """The interruption has taken effect; it does so once."""
    unwinding: bool = False
    delegating: bool = False
    """It has called `next()`, and waits for the answer."""
    given: tuple[str, ...] = ()
    """The signals of wrappers that were fused in the one that a wrapper was given."""
    found: tuple[str, ...] | None = None
    """The signal that a wrapper found, once it has put another in place."""
    wakes: int | None = None
    """When its `sleep` is over, in milliseconds of virtual time."""
    calling: bool = False
    """It has made another call, and waits for the result."""
    heard: object = None
    """What the last `next()` that it waited for has answered."""
    called: int = 0
    """How often it has called `next()` by the step at which it stands, without waiting."""


# -- what the next step wants -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WaitForGate:
    name: str


@dataclass(frozen=True, slots=True)
class WaitForAbort:
    pass


@dataclass(frozen=True, slots=True)
class WaitForTime:
    ms: int


@dataclass(frozen=True, slots=True)
class MakeCall:
    """Make another call, and wait for its result."""

    call: Execute


@dataclass(frozen=True, slots=True)
class ChangeLayers:
    """Change what stands in the layers."""

    change: Change


@dataclass(frozen=True, slots=True)
class Tell:
    text: str


@dataclass(frozen=True, slots=True)
class AbortSignalOf:
    """Abort a signal: the caller's, or one that a wrapper made."""

    signal: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class SetOnCancel:
    """Nothing that can be seen: the frame changes."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class HandOver:
    context: str


@dataclass(frozen=True, slots=True)
class AskToConclude:
    pass


@dataclass(frozen=True, slots=True)
class CallNext:
    pass


@dataclass(frozen=True, slots=True)
class StartNext:
    """Delegate, and go on; `following` is the frame once that is done, or refused."""

    following: Frame


@dataclass(frozen=True, slots=True)
class HearNext:
    """Wait for the `next()` that was started."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep `next` for later."""

    name: str


@dataclass(frozen=True, slots=True)
class Tamper:
    """Try to change what nobody may."""

    path: tuple[str | int, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class PutNonsense:
    """Put what is no signal in place of the call's."""

    value: Any


@dataclass(frozen=True, slots=True)
class PutSignal:
    name: str
    aborted: bool


@dataclass(frozen=True, slots=True)
class PutBackSignal:
    pass


@dataclass(frozen=True, slots=True)
class EndReturned:
    value: Any
    nonce: bool


@dataclass(frozen=True, slots=True)
class EndRaised:
    what: Raise


@dataclass(frozen=True, slots=True)
class EndCancelled:
    pass


@dataclass(frozen=True, slots=True)
class EndPassed:
    """A listener ends with what its last `next()` answered."""


@dataclass(frozen=True, slots=True)
class EndDecided:
    decision: Any
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndAuthored:
    result: Any
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndBorrowed:
    """A wrapper ends with a result of another call."""

    pos: int


@dataclass(frozen=True, slots=True)
class EndDenied:
    reason: str


@dataclass(frozen=True, slots=True)
class EndNothing:
    pass


@dataclass(frozen=True, slots=True)
class EndAnswered:
    outcome: str


End: TypeAlias = (
    EndReturned
    | EndRaised
    | EndCancelled
    | EndPassed
    | EndDecided
    | EndAuthored
    | EndBorrowed
    | EndDenied
    | EndNothing
    | EndAnswered
)
Effect: TypeAlias = (
    WaitForGate
    | WaitForAbort
    | WaitForTime
    | MakeCall
    | ChangeLayers
    | Tell
    | AbortSignalOf
    | SetOnCancel
    | HandOver
    | AskToConclude
    | CallNext
    | StartNext
    | HearNext
    | Keep
    | Tamper
    | PutNonsense
    | PutSignal
    | PutBackSignal
    | End
)

RETURNS_NULL = EndReturned(None, False)
PASSES = EndPassed()
ANSWERS_NOTHING = EndNothing()


def effect_at(script: Sequence[Step], frame: Frame, pos: int, at_end: End = RETURNS_NULL) -> Effect:
    """What the step at which `frame` stands wants; `at_end` is what a script does that runs off its end."""
    if frame.unwinding and frame.unwind_gate is not None:
        return WaitForGate(gate_name(frame.unwind_gate, pos))
    if frame.interrupted and frame.on_cancel != "swallow":
        return EndCancelled()
    if frame.step >= len(script):
        return at_end
    step = script[frame.step]
    match step:
        case GateStep(gate=gate):
            return WaitForGate(gate_name(gate.name, pos))
        case AwaitAbortStep():
            return WaitForAbort()
        case SleepStep(sleep=sleep):
            return WaitForTime(sleep.ms)
        case ExecuteStep(execute=call):
            return MakeCall(call)
        case OnCancelStep(on_cancel=what):
            return SetOnCancel(frame._replace(step=frame.step + 1, on_cancel=what.do, unwind_gate=what.gate))
        case NoteStep(note=note):
            return Tell(note.text)
        case AbortStep(abort=abort):
            return AbortSignalOf(gate_name(abort.signal, pos), abort.reason)
        case DeferStep(defer=defer):
            return HandOver(defer.context)
        case ConcludeStep():
            return AskToConclude()
        case NextStep():
            return CallNext()
        case NextUnawaitedStep():
            return StartNext(passed(frame))
        case NextConcurrentlyStep(next_concurrently=how):
            if frame.called == how.times:
                return HearNext()
            return StartNext(frame._replace(called=frame.called + 1))
        case KeepNextStep(keep_next=keep):
            return Keep(gate_name(keep.name, pos))
        case MutateStep(mutate=mutate):
            return Tamper(tuple(mutate.path), mutate.value)
        case SetSignalValueStep(set_signal_value=nonsense):
            return PutNonsense(nonsense.value)
        case SetSignalStep(set_signal=signal):
            return PutSignal(gate_name(signal.name, pos), signal.aborted)
        case RestoreSignalStep():
            return PutBackSignal()
        case _ if isinstance(step, ChangeStep):
            return ChangeLayers(change_of(step))
        case _:
            return _end_of(step)


def _end_of(
    step: ReturnStep
    | RaiseStep
    | PassStep
    | DecideStep
    | AuthorStep
    | BorrowStep
    | DenyStep
    | NothingStep
    | AnswerStep,
) -> End:
    match step:
        case ReturnStep(return_=end):
            return EndReturned(end.value, is_nonce(end.value))
        case RaiseStep(raise_=what):
            return EndRaised(what)
        case PassStep():
            return PASSES
        case DecideStep(decide=decide):
            return EndDecided(decide.decision, tuple(decide.contexts))
        case AuthorStep(author=author):
            return EndAuthored(author.result, tuple(author.contexts))
        case BorrowStep(borrow=borrow):
            return EndBorrowed(borrow.from_)
        case DenyStep(deny=deny):
            return EndDenied(deny.reason)
        case NothingStep():
            return ANSWERS_NOTHING
        case AnswerStep(answer=answer):
            return EndAnswered(answer.outcome)
        case _:
            assert_never(step)


def passed(frame: Frame) -> Frame:
    """The frame after its step has been carried out."""
    if frame.unwinding:
        return frame._replace(unwinding=False)
    return frame._replace(step=frame.step + 1, delegating=False, wakes=None, calling=False, called=0)


def interruption(frame: Frame) -> Frame:
    """The frame after an interruption has taken effect at `await_abort` or `sleep`, as `on_cancel` said."""
    if frame.on_cancel == "swallow":
        return frame._replace(interrupted=True, step=frame.step + 1, wakes=None)
    return frame._replace(interrupted=True, wakes=None, unwinding=frame.on_cancel == "unwind")


def gate_name(name: str, pos: int) -> str:
    """The name of a gate for the call at `pos`."""
    return name.replace("$call", str(pos))


def sync_effects(script: Sequence[Step], pos: int, at_end: End) -> tuple[list[Effect], End]:
    """What a script does that cannot wait: everything it wants, and how it ends."""
    effects: list[Effect] = []
    frame = Frame()
    while True:
        effect = effect_at(script, frame, pos, at_end)
        if isinstance(effect, End):
            return effects, effect
        effects.append(effect)
        frame = passed(frame)
