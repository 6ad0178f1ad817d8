"""Plays the scripts of bodies, listeners, guards and approvers inside a running implementation.

What a decision is made of is the target's: it builds the object that its implementation knows, or hands
over nonsense as it is. When a script calls `next()` and what it does with the answer is the script's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import anyio

from gnomon_check.changes import Change
from gnomon_check.hostile import realised
from gnomon_check.script_steps import Execute, Raise, Step
from gnomon_check.scripts import (
    ANSWERS_NOTHING,
    PASSES,
    AbortSignalOf,
    AskToConclude,
    CallNext,
    ChangeLayers,
    Effect,
    End,
    EndAnswered,
    EndAuthored,
    EndBorrowed,
    EndCancelled,
    EndDecided,
    EndPassed,
    EndRaised,
    EndReturned,
    Frame,
    HandOver,
    HearNext,
    Keep,
    MakeCall,
    PutBackSignal,
    PutNonsense,
    PutSignal,
    SetOnCancel,
    StartNext,
    Tamper,
    Tell,
    WaitForAbort,
    WaitForGate,
    WaitForTime,
    effect_at,
    interruption,
    passed,
    sync_effects,
)
from gnomon_check.tampering import tampered


class Surroundings(Protocol):
    """What every playing script needs."""

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event."""

    async def pass_gate(self, name: str) -> None:
        """Wait at a gate; an interruption that arrives is kept."""

    async def await_abort(self, *, interruptible: bool) -> BaseException | None:
        """Wait for the abort; answer the native cancellation that interrupted it, if one did."""

    async def sleep(self, ms: int, *, interruptible: bool) -> BaseException | None:
        """Wait for virtual time; answer the native cancellation that interrupted it, if one did."""

    def abort(self, signal: str, reason: str | None) -> None:
        """Abort a signal."""

    def change(self, change: Change) -> None:
        """Change what stands in the layers."""

    def tamper(self, path: tuple[str | int, ...], value: object) -> str | None:
        """Try to change what nobody may; answer why that is refused, or nothing where it is not."""

    def exception(self, what: Raise) -> Awaitable[BaseException]:
        """The exception that `raise` of this kind raises."""


class BodyStage(Surroundings, Protocol):
    """What a playing body needs of its implementation."""

    async def make_call(self, call: Execute) -> None:
        """Make another call, and wait for its result."""

    def nonce(self) -> str:
        """A fresh value that nobody else can know."""

    def hand_over(self, context: str) -> None:
        """Hand over a context."""

    def conclude(self) -> None:
        """Ask to end the turn."""

    def source(self) -> str:
        """What has aborted the signal of the body."""


class RowStage(Surroundings, Protocol):
    """What a script needs of its implementation that stands in a row of others."""

    async def next(self) -> object:
        """Delegate; raises what the rest of the row raises."""

    def hears(self, answer: object) -> None:
        """The rest of the row has answered this."""


class ListenerStage(RowStage, Protocol):
    """What a playing listener needs of its implementation."""

    async def start_next(self) -> Started:
        """Delegate, and go on once the rest of the row has begun."""

    def keep_next(self, name: str, row: Row) -> None:
        """Keep `next` under a name, for after the listener has ended."""

    def word(self, answer: object) -> str:
        """The word of the event vocabulary for an answer of `next()`, or for one of its own."""

    def decision(self, decision: Any, contexts: tuple[str, ...]) -> object:
        """The decision as the implementation knows it; nonsense as it is."""

    def result(self, result: Any, contexts: tuple[str, ...]) -> object:
        """A result of the listener's own."""

    def borrowed(self, pos: int) -> object:
        """The result that a wrapper of another call has heard last; nothing where none has."""

    def default(self) -> object:
        """What a listener passes on that has not delegated."""

    def put_signal(self, name: str, aborted: bool) -> None:
        """Put a signal of its own in place."""

    def put_back_signal(self) -> None:
        """Put the first signal back."""

    def put_nonsense(self, value: object) -> None:
        """Put what is no signal in place; raises where that is refused."""

    def defer(self, context: str) -> bool:
        """Hand over a context, which is no business of a listener; raises where that is refused.

        False where it can have no effect any more.
        """


@dataclass(slots=True)
class Started:
    """A `next()` that was called, and that nobody has waited for yet."""

    over: anyio.Event
    answer: object = None
    raised: BaseException | None = None


async def play(script: Sequence[Step], pos: int, attempt: int, cancels: bool, stage: BodyStage) -> Any:
    """Play the script of a body to its end. `cancels` says whether an abort interrupts it natively."""
    frame = Frame()
    stage.emit("body.started", pos=pos, attempt=attempt)
    caught: BaseException | None = None

    def settle(how: str, code: str | None = None) -> None:
        fields = {} if code is None else {"code": code}
        stage.emit("body.settled", pos=pos, attempt=attempt, how=how, **fields)

    while True:
        effect = effect_at(script, frame, pos)
        match effect:
            case WaitForAbort():
                caught = await stage.await_abort(interruptible=cancels and not frame.interrupted)
                if caught is None:
                    stage.emit("body.signalled", pos=pos, attempt=attempt, source=stage.source())
                    frame = passed(frame)
                else:
                    stage.emit("body.interrupted", pos=pos, attempt=attempt)
                    frame = interruption(frame)
            case WaitForTime(ms):
                caught = await stage.sleep(ms, interruptible=cancels and not frame.interrupted)
                if caught is None:
                    frame = passed(frame)
                else:
                    stage.emit("body.interrupted", pos=pos, attempt=attempt)
                    frame = interruption(frame)
            case MakeCall(call):
                try:
                    await stage.make_call(call)
                except BaseException:
                    settle("raised")
                    raise
                frame = passed(frame)
            case SetOnCancel(changed):
                frame = changed
            case HandOver(context):
                stage.emit("context.deferred", pos=pos, attempt=attempt, context=context)
                stage.hand_over(context)
                frame = passed(frame)
            case AskToConclude():
                stage.conclude()
                frame = passed(frame)
            case EndReturned(value, is_nonce):
                settle("returned")
                return stage.nonce() if is_nonce else realised(value)
            case EndRaised(what):
                error = await stage.exception(what)
                settle("cancelled" if what.kind == "cancelled" else "raised", what.code)
                raise error
            case EndCancelled():
                settle("cancelled")
                assert caught is not None, "a script ends as cancelled only by a cancellation"
                raise caught
            case _:
                frame = await _common(effect, frame, pos, stage)


class Row:
    """One who stands in a row: what its script does to the others, and hears of them."""

    def __init__(self, stage: RowStage, about: dict[str, Any]) -> None:
        self._stage = stage
        self._about = about
        self.delegated = 0
        self.heard: object = None
        self.has_heard = False
        """It has waited for an answer of the rest of the row."""
        self.ended = False
        self._raised: BaseException | None = None
        self._started: Started | None = None
        stage.emit("policy.entered", **about)

    async def start(self, start_next: Callable[[], Awaitable[Started]]) -> None:
        """Delegate without waiting; while an earlier one is pending, that is to be refused (PRE-7)."""
        if self._is_pending():
            await self.late("an earlier next() is pending")
            return
        self.delegates()
        self._started = await start_next()

    async def late(self, why: str) -> None:
        """Delegate when that is to be refused, and tell that it was."""
        try:
            await self._stage.next()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | anyio.get_cancelled_exc_class()):
                raise
            self.refused("next", f"{why}: {type(error).__name__}: {error}")
        else:
            self.delegates()

    async def hear(self, word: Callable[[object], object]) -> None:
        """Wait for the `next()` that was started, and tell of its answer."""
        started = self._started
        assert started is not None, "it was started by the same step"
        await started.over.wait()
        self._started = None
        self.heard, self._raised, self.has_heard = started.answer, started.raised, True
        self._resumes(word)

    def refused(self, op: str, reason: str) -> None:
        """Tell that something was refused, as it has to be."""
        about = {"pos": self._about["pos"], "role": self._about["waterfall"]}
        self._stage.emit("op.refused", **about, op=op, reason=reason)

    def _is_pending(self) -> bool:
        return self._started is not None and not self._started.over.is_set()

    def delegates(self) -> None:
        """Tell that it delegates, or that a `next()` was let go on that was to be refused."""
        self.delegated += 1
        self._stage.emit("policy.delegated", **self._about, nth=self.delegated)

    def _resumes(self, word: Callable[[object], object]) -> None:
        told: object = "raised"
        if self._raised is None:
            told = word(self.heard)
            self._stage.hears(self.heard)
        self._stage.emit("policy.resumed", **self._about, nth=self.delegated, answer=told)

    async def next(self, word: Callable[[object], object]) -> None:
        """Delegate, and tell of the answer, as `word` has it."""
        if self._is_pending():
            await self.late("an earlier next() is pending")
            return
        self.delegates()
        self.has_heard = True
        try:
            self.heard, self._raised = await self._stage.next(), None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | anyio.get_cancelled_exc_class()):
                raise  # it is meant for the process, or for this one
            self.heard, self._raised = None, error  # the answer of the rest of the row is that it failed
        self._resumes(word)

    def decides(self, decision: str) -> None:
        """Tell how it ends."""
        self._stage.emit("policy.decided", **self._about, decision=decision)

    def passes(self) -> None:
        """Raise what the rest of the row has raised, where it is passed on."""
        if self._raised is not None:
            self.decides("raised")
            raise self._raised

    async def raises(self, what: Raise) -> NoReturn:
        """End by raising."""
        self.decides("raised")
        raise await self._stage.exception(what)


async def play_listener(
    script: Sequence[Step], pos: int, waterfall: str, listener: str, stage: ListenerStage
) -> object:
    """Play the script of a listener to its end, and answer what it decides."""
    row = Row(stage, {"pos": pos, "waterfall": waterfall, "listener": listener})
    try:
        return await _play_listener(script, pos, waterfall, row, stage)
    finally:
        row.ended = True


async def _play_listener(
    script: Sequence[Step], pos: int, waterfall: str, row: Row, stage: ListenerStage
) -> object:
    frame = Frame()
    while True:
        effect = effect_at(script, frame, pos, PASSES)
        match effect:
            case CallNext():
                await row.next(stage.word)
                frame = passed(frame)
            case StartNext(following):
                await row.start(stage.start_next)
                frame = following
            case HearNext():
                await row.hear(stage.word)
                frame = passed(frame)
            case Keep(name):
                stage.keep_next(name, row)
                frame = passed(frame)
            case HandOver() | PutSignal() | PutNonsense():
                _oversteps(effect, row, stage)
                frame = passed(frame)
            case PutBackSignal():
                stage.put_back_signal()
                frame = passed(frame)
            case EndPassed():
                row.passes()
                answer = row.heard if row.has_heard else stage.default()
                row.decides("passed" if waterfall == "execute" and row.has_heard else stage.word(answer))
                return answer
            case EndDecided(decision, contexts):
                made = stage.decision(decision, contexts)
                row.decides(stage.word(made))
                return made
            case EndAuthored(result, contexts):
                made = stage.result(result, contexts)
                row.decides("malformed" if stage.word(made) == "malformed" else "authored")
                return made
            case EndBorrowed(other):
                made = stage.borrowed(other)
                row.decides("malformed" if stage.word(made) == "malformed" else "authored")
                return made
            case EndRaised(what):
                await row.raises(what)
            case _:
                frame = await _common(effect, frame, pos, stage)


def _oversteps(effect: HandOver | PutSignal | PutNonsense, row: Row, stage: ListenerStage) -> None:
    """Do what not every listener may; that it is refused is told, and the script goes on."""
    op = _OPERATIONS[type(effect)]
    try:
        match effect:
            case HandOver(context):
                if not stage.defer(context):
                    row.refused(op, "it has no effect any more")
            case PutSignal(name, is_aborted):
                stage.put_signal(name, is_aborted)
            case PutNonsense(value):
                stage.put_nonsense(realised(value))
    except Exception as error:  # in which way it is refused is the implementation's
        row.refused(op, f"{type(error).__name__}: {error}")


_OPERATIONS = {HandOver: "defer", PutSignal: "set_signal", PutNonsense: "set_signal_value"}

OUTCOMES = ("allowed-once", "rejected", "cancelled", "unavailable")


async def play_answerer(script: Sequence[Step], pos: int, answerer: str, stage: RowStage) -> object:
    """Play the script of an approver to its end, and answer what it says."""
    frame = Frame()
    row = Row(stage, {"pos": pos, "waterfall": "approval", "listener": answerer})
    while True:
        effect = effect_at(script, frame, pos, PASSES)
        match effect:
            case CallNext():
                await row.next(lambda answer: answer)
                frame = passed(frame)
            case EndPassed() | EndAnswered():
                if isinstance(effect, EndAnswered):
                    answer: object = effect.outcome
                else:
                    row.passes()
                    answer = row.heard if row.delegated else "unavailable"
                row.decides(str(answer) if answer in OUTCOMES else "malformed")
                return answer
            case EndRaised(what):
                await row.raises(what)
            case WaitForAbort():
                # What an approver waits for is that its request is withdrawn: then it is cancelled (PY-13).
                withdrawn = await stage.await_abort(interruptible=True)
                assert withdrawn is not None
                raise withdrawn
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
        case Tamper(path, value):
            _tells_of_refusal(stage, pos, stage.tamper(path, value))
        case _:
            raise AssertionError(f"this script does not hold the step {effect}")
    return passed(frame)


def _tells_of_refusal(stage: Surroundings | SyncStage, pos: int, refused: str | None) -> None:
    if refused is not None:
        stage.emit("op.refused", pos=pos, op="mutate", reason=refused)


class SyncStage(Protocol):
    """What a script needs that cannot wait."""

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event."""

    def abort_signal(self, signal: str, reason: str | None) -> None:
        """Abort a signal."""

    def change(self, change: Change) -> None:
        """Change what stands in the layers."""


def play_sync(
    script: Sequence[Step],
    pos: int,
    stage: SyncStage,
    things: Mapping[str, object] | None = None,
) -> End:
    """Play a script that cannot wait, and answer how it ends. `things` are what it is given, by name."""
    effects, end = sync_effects(script, pos, ANSWERS_NOTHING)
    for effect in effects:
        match effect:
            case Tell(text):
                stage.emit("noted", pos=pos, text=text)
            case AbortSignalOf(signal, reason):
                stage.abort_signal(signal, reason)
            case ChangeLayers(change):
                stage.change(change)
            case Tamper(path, value):
                _tells_of_refusal(stage, pos, tampered(things or {}, path, value))
            case _:
                raise AssertionError(f"this script does not hold the step {effect}")
    return end
