"""Plays the scripts of listeners, guards and approvers inside a running implementation.

What a decision is made of is the target's: it builds the object that its implementation knows, or hands
over nonsense as it is. When a script calls `next()` and what it does with the answer is the script's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Protocol

from gnomon_check.changes import Change
from gnomon_check.script_steps import Raise, Step
from gnomon_check.scripts import (
    ANSWERS_NOTHING,
    PASSES,
    AbortSignalOf,
    CallNext,
    ChangeLayers,
    Effect,
    End,
    EndAnswered,
    EndAuthored,
    EndDecided,
    EndPassed,
    EndRaised,
    Frame,
    PutBackSignal,
    PutSignal,
    Tell,
    WaitForAbort,
    WaitForGate,
    WaitForTime,
    effect_at,
    passed,
    sync_effects,
)


class Surroundings(Protocol):
    """What every playing script needs."""

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event."""

    async def pass_gate(self, name: str) -> None:
        """Wait at a gate."""

    async def await_abort(self, *, interruptible: bool) -> BaseException | None:
        """Wait for the abort."""

    async def sleep(self, ms: int, *, interruptible: bool) -> BaseException | None:
        """Wait for virtual time."""

    def abort(self, signal: str, reason: str | None) -> None:
        """Abort a signal."""

    def change(self, change: Change) -> None:
        """Change what stands in the layers."""

    def exception(self, what: Raise) -> Awaitable[BaseException]:
        """The exception that `raise` of this kind raises."""


class ListenerStage(Surroundings, Protocol):
    """What a playing listener needs of its implementation."""

    async def next(self) -> object:
        """Delegate; raises what the rest of the row raises."""

    def word(self, answer: object) -> str:
        """The word of the event vocabulary for an answer of `next()`, or for one of its own."""

    def decision(self, decision: Any, contexts: tuple[str, ...]) -> object:
        """The decision as the implementation knows it; nonsense as it is."""

    def result(self, result: Any, contexts: tuple[str, ...]) -> object:
        """A result of the listener's own."""

    def default(self) -> object:
        """What a listener passes on that has not delegated."""

    def put_signal(self, name: str, aborted: bool) -> None:
        """Put a signal of its own in place."""

    def put_back_signal(self) -> None:
        """Put the first signal back."""


async def play_listener(
    script: Sequence[Step], pos: int, waterfall: str, listener: str, stage: ListenerStage
) -> object:
    """Play the script of a listener to its end, and answer what it decides."""
    frame = Frame()
    nth = 0
    heard: object = None
    raised: BaseException | None = None
    about = {"pos": pos, "waterfall": waterfall, "listener": listener}
    stage.emit("policy.entered", **about)
    while True:
        effect = effect_at(script, frame, pos, PASSES)
        match effect:
            case CallNext():
                nth += 1
                stage.emit("policy.delegated", **about, nth=nth)
                try:
                    heard, raised = await stage.next(), None
                except Exception as error:  # the answer of the rest of the row is that it failed
                    heard, raised = None, error
                told = "raised" if raised is not None else stage.word(heard)
                stage.emit("policy.resumed", **about, nth=nth, answer=told)
                frame = passed(frame)
            case PutSignal(name, is_aborted):
                stage.put_signal(name, is_aborted)
                frame = passed(frame)
            case PutBackSignal():
                stage.put_back_signal()
                frame = passed(frame)
            case EndPassed():
                if raised is not None:
                    stage.emit("policy.decided", **about, decision="raised")
                    raise raised
                answer = stage.default() if nth == 0 else heard
                word = "passed" if waterfall == "execute" and nth else stage.word(answer)
                stage.emit("policy.decided", **about, decision=word)
                return answer
            case EndDecided(decision, contexts):
                made = stage.decision(decision, contexts)
                stage.emit("policy.decided", **about, decision=stage.word(made))
                return made
            case EndAuthored(result, contexts):
                made = stage.result(result, contexts)
                word = "malformed" if stage.word(made) == "malformed" else "authored"
                stage.emit("policy.decided", **about, decision=word)
                return made
            case EndRaised(what):
                stage.emit("policy.decided", **about, decision="raised")
                raise await stage.exception(what)
            case _:
                frame = await _common(effect, frame, pos, stage)


class AnswererStage(Surroundings, Protocol):
    """What a playing approver needs of its implementation."""

    async def next(self) -> object:
        """Ask the next one; raises what the rest of the row raises."""


OUTCOMES = ("allowed-once", "rejected", "cancelled", "unavailable")


async def play_answerer(script: Sequence[Step], pos: int, answerer: str, stage: AnswererStage) -> object:
    """Play the script of an approver to its end, and answer what it says."""
    frame = Frame()
    nth = 0
    heard: object = None
    raised: BaseException | None = None
    about = {"pos": pos, "waterfall": "approval", "listener": answerer}
    stage.emit("policy.entered", **about)

    def tell(answer: object) -> None:
        stage.emit("policy.decided", **about, decision=answer if answer in OUTCOMES else "malformed")

    while True:
        effect = effect_at(script, frame, pos, PASSES)
        match effect:
            case CallNext():
                nth += 1
                stage.emit("policy.delegated", **about, nth=nth)
                try:
                    heard, raised = await stage.next(), None
                except Exception as error:  # the answer of the rest of the row is that it failed
                    heard, raised = None, error
                told = "raised" if raised is not None else heard
                stage.emit("policy.resumed", **about, nth=nth, answer=told)
                frame = passed(frame)
            case EndPassed() if raised is not None:
                stage.emit("policy.decided", **about, decision="raised")
                raise raised
            case EndPassed():
                answer = "unavailable" if nth == 0 else heard
                tell(answer)
                return answer
            case EndAnswered(outcome):
                tell(outcome)
                return outcome
            case EndRaised(what):
                stage.emit("policy.decided", **about, decision="raised")
                raise await stage.exception(what)
            case WaitForAbort():
                # What an approver waits for is that its request is withdrawn: then it is cancelled (PY-13).
                interruption = await stage.await_abort(interruptible=True)
                assert interruption is not None
                raise interruption
            case _:
                frame = await _common(effect, frame, pos, stage)


async def _common(effect: Effect, frame: Frame, pos: int, stage: Surroundings) -> Frame:
    match effect:
        case WaitForGate(name):
            await stage.pass_gate(name)
        case WaitForAbort():
            await stage.await_abort(interruptible=False)
        case WaitForTime(ms):
            await stage.sleep(ms, interruptible=False)
        case ChangeLayers(change):
            stage.change(change)
        case Tell(text):
            stage.emit("noted", pos=pos, text=text)
        case AbortSignalOf(signal, reason):
            stage.abort(signal, reason)
        case _:
            raise AssertionError(f"this script does not hold the step {effect}")
    return passed(frame)


class SyncStage(Protocol):
    """What a script needs that cannot wait."""

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event."""

    def abort_signal(self, signal: str, reason: str | None) -> None:
        """Abort a signal."""

    def change(self, change: Change) -> None:
        """Change what stands in the layers."""


def play_sync(script: Sequence[Step], pos: int, stage: SyncStage, at_end: End = ANSWERS_NOTHING) -> End:
    """Play a script that cannot wait, and answer how it ends."""
    effects, end = sync_effects(script, pos, at_end)
    for effect in effects:
        match effect:
            case Tell(text):
                stage.emit("noted", pos=pos, text=text)
            case AbortSignalOf(signal, reason):
                stage.abort_signal(signal, reason)
            case ChangeLayers(change):
                stage.change(change)
            case _:
                raise AssertionError(f"this script does not hold the step {effect}")
    return end
