"""What a script does: the one interpreter of scripts.

A script is a list of steps, a *frame* says where it stands, and `effect_at` says what its next step
wants: to wait, to tell something, to end. The rules of a script are here and nowhere else: the
oracle follows them over frozen frames, and `play` follows them inside a running implementation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, assert_never

from gnomon_check.scenario import (
    AbortStep,
    AwaitAbortStep,
    BodyStep,
    GateStep,
    NoteStep,
    OnCancelStep,
    Raise,
    RaiseStep,
    ReturnStep,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a script stands."""

    step: int = 0
    on_cancel: Literal["propagate", "swallow", "unwind"] = "propagate"
    unwind_gate: str | None = None
    interrupted: bool = False
    """The interruption has taken effect; it does so once."""
    unwinding: bool = False


# -- what the next step wants -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WaitForGate:
    name: str


@dataclass(frozen=True, slots=True)
class WaitForAbort:
    pass


@dataclass(frozen=True, slots=True)
class Tell:
    text: str


@dataclass(frozen=True, slots=True)
class AbortCaller:
    reason: str | None


@dataclass(frozen=True, slots=True)
class SetOnCancel:
    """Nothing that can be seen: the frame changes."""

    frame: Frame


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


Effect: TypeAlias = (
    WaitForGate | WaitForAbort | Tell | AbortCaller | SetOnCancel | EndReturned | EndRaised | EndCancelled
)


def effect_at(script: Sequence[BodyStep], frame: Frame, pos: int) -> Effect:
    """What the step at which `frame` stands wants. A script that runs off its end returns null."""
    if frame.unwinding and frame.unwind_gate is not None:
        return WaitForGate(gate_name(frame.unwind_gate, pos))
    if frame.interrupted and frame.on_cancel != "swallow":
        return EndCancelled()
    if frame.step >= len(script):
        return EndReturned(None, False)
    step = script[frame.step]
    match step:
        case GateStep(gate=gate):
            return WaitForGate(gate_name(gate.name, pos))
        case AwaitAbortStep():
            return WaitForAbort()
        case OnCancelStep(on_cancel=what):
            return SetOnCancel(replace(frame, step=frame.step + 1, on_cancel=what.do, unwind_gate=what.gate))
        case NoteStep(note=note):
            return Tell(note.text)
        case AbortStep(abort=abort):
            return AbortCaller(abort.reason)
        case ReturnStep(return_=end):
            return EndReturned(end.value, end.value == {"$nonce": True})
        case RaiseStep(raise_=what):
            return EndRaised(what)
        case _:
            assert_never(step)


def passed(frame: Frame) -> Frame:
    """The frame after its step has been carried out."""
    if frame.unwinding:
        return replace(frame, unwinding=False)
    return replace(frame, step=frame.step + 1)


def interruption(frame: Frame) -> Frame:
    """The frame after an interruption has taken effect at `await_abort`, as `on_cancel` said."""
    if frame.on_cancel == "swallow":
        return replace(frame, interrupted=True, step=frame.step + 1)
    return replace(frame, interrupted=True, unwinding=frame.on_cancel == "unwind")


def gate_name(name: str, pos: int) -> str:
    """The name of a gate for the call at `pos`."""
    return name.replace("$call", str(pos))


# -- playing a script inside an implementation --------------------------------------------------


class Stage(Protocol):
    """What a playing script needs of its surroundings."""

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event."""

    async def pass_gate(self, name: str) -> None:
        """Wait at a gate; an interruption that arrives is kept."""

    async def await_abort(self, *, interruptible: bool) -> BaseException | None:
        """Wait for the abort; answer the native cancellation that interrupted it, if one did."""

    def abort_caller(self, reason: str | None) -> None:
        """Abort the caller's signal."""

    def exception(self, what: Raise) -> Awaitable[BaseException]:
        """The exception that `raise` of this kind raises."""

    def nonce(self) -> str:
        """A fresh value that nobody else can know."""


async def play(script: Sequence[BodyStep], pos: int, cancels: bool, stage: Stage) -> Any:
    """Play the script of a body to its end. `cancels` says whether an abort interrupts it natively."""
    frame = Frame()
    nonce = stage.nonce()
    stage.emit("body.started", pos=pos, attempt=1, nonce=nonce)
    caught: BaseException | None = None

    def settle(how: str, code: str | None = None) -> None:
        stage.emit("body.settled", pos=pos, attempt=1, how=how, **({} if code is None else {"code": code}))

    while True:
        effect = effect_at(script, frame, pos)
        match effect:
            case WaitForGate(name):
                await stage.pass_gate(name)
                frame = passed(frame)
            case WaitForAbort():
                caught = await stage.await_abort(interruptible=cancels and not frame.interrupted)
                if caught is None:
                    stage.emit("body.signalled", pos=pos, attempt=1, source="caller")
                    frame = passed(frame)
                else:
                    stage.emit("body.interrupted", pos=pos, attempt=1)
                    frame = interruption(frame)
            case Tell(text):
                stage.emit("noted", pos=pos, text=text)
                frame = passed(frame)
            case AbortCaller(reason):
                stage.abort_caller(reason)
                frame = passed(frame)
            case SetOnCancel(changed):
                frame = changed
            case EndReturned(value, is_nonce):
                settle("returned")
                return nonce if is_nonce else value
            case EndRaised(what):
                error = await stage.exception(what)
                settle("cancelled" if what.kind == "cancelled" else "raised", what.code)
                raise error
            case EndCancelled():
                settle("cancelled")
                assert caught is not None, "a script ends as cancelled only by a cancellation"
                raise caught
            case _:
                assert_never(effect)
