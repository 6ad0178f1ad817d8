"""The steps of scripts: what a tool, a listener, a guard or an approver of a scenario can do.

Each step is an object with a single key. Which steps a script may hold depends on whose it is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    NonNegativeInt,
    Tag,
    field_validator,
    model_validator,
)

from gnomon_check.changes import ChangeStep, Name, Strict, TaggedChangeStep, single_key
from gnomon_check.hostile import check_kind, kinds_in


class Gate(Strict):
    """Wait until the gate is released; an interruption that arrives here is kept for later."""

    name: Name


class AwaitAbort(Strict):
    """Wait until the signal that the script was given aborts."""


class Sleep(Strict):
    """Wait until virtual time has gone on by so many milliseconds."""

    ms: NonNegativeInt


class OnCancel(Strict):
    """What a native cancellation does from here on, at `await_abort` and `sleep`."""

    do: Literal["propagate", "swallow", "unwind"] = "propagate"
    gate: Name | None = None

    @model_validator(mode="after")
    def _gate_for_unwind(self) -> OnCancel:
        if (self.do == "unwind") != (self.gate is not None):
            raise ValueError("`gate` goes with `unwind`, and only with it")
        return self


class Note(Strict):
    """Leave an informative event."""

    text: str


class AbortFromInside(Strict):
    """Abort a signal from inside a script: the caller's, or one that a wrapper made."""

    signal: Name = "caller"
    reason: str | None = None


def _known_kinds(value: Any) -> Any:
    for kind in kinds_in(value):
        check_kind(kind)
    return value


MayBeHostile: TypeAlias = Annotated[Any, AfterValidator(_known_kinds)]
"""A value in which `{"$hostile": KIND}` may stand, of a kind that there is."""


class Return(Strict):
    """End with a value; `{"$nonce": true}` stands for a fresh value made by the harness.

    In a body, `{"$hostile": KIND}` stands in it for what JSON cannot hold, or not in short.
    """

    value: MayBeHostile = None


def is_nonce(value: object) -> bool:
    """Whether a value stands for a fresh one, made by the harness; `{"$nonce": 1}` is one as any other."""
    return isinstance(value, dict) and value.keys() == {"$nonce"} and value["$nonce"] is True


class Raise(Strict):
    """End by raising."""

    kind: Literal["error", "coded", "cancelled", "exit", "keyboard", "generator_exit", "unprintable"] = (
        "error"
    )
    message: str = "it failed"
    code: str | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _code_for_coded(self) -> Raise:
        if (self.kind == "coded") != (self.code is not None):
            raise ValueError("`code` goes with kind `coded`, and only with it")
        return self


class RaiseAtOnce(Raise):
    """End by raising, in a script that cannot wait."""

    @model_validator(mode="after")
    def _neither_cancelled_nor_coded(self) -> RaiseAtOnce:
        if self.kind in ("cancelled", "coded"):
            raise ValueError(f"a script that cannot wait raises nothing of kind `{self.kind}`")
        return self


class Defer(Strict):
    """Hand over a context."""

    context: str


class Conclude(Strict):
    """Ask to end the turn."""


class Next(Strict):
    """Delegate to the rest of the waterfall, and wait; the answer is kept."""


class NextUnawaited(Strict):
    """Delegate and go on at once: the rest of the waterfall runs meanwhile, and nobody hears its answer."""


class NextConcurrently(Strict):
    """Delegate so many times, without waiting in between; then wait for the first."""

    times: int = Field(default=2, ge=2, le=5)


class KeepNext(Strict):
    """Keep `next` under a name: a step `call_kept` calls it once the listener has ended."""

    name: Name


class Mutate(Strict):
    """Try to change what nobody may, say `["arguments", "path"]` or `["result", "content", 0]`.

    The first part says of what, arguments, result or execution; the rest where in it. That it is refused,
    or changes nothing, is an event.
    """

    path: list[str | NonNegativeInt] = Field(min_length=2)
    value: Any = None

    @field_validator("path")
    @classmethod
    def _known_thing(cls, path: list[str | int]) -> list[str | int]:
        if path[0] not in ("arguments", "result", "execution"):
            raise ValueError("a path begins with `arguments`, `result` or `execution`")
        return path


class SetSignalValue(Strict):
    """Put what is no signal in place of the call's; that it is refused is an event."""

    value: MayBeHostile = None


class Pass(Strict):
    """End with what the last `next` answered; with the default where there was none."""


class Decide(Strict):
    """End with a decision, well-formed or not: an object with a `kind`, or anything else."""

    decision: Any = None
    contexts: list[str] = Field(default_factory=list)


class Author(Strict):
    """End with a result of one's own: `{"ok": true, "value": ...}` or `{"ok": false, "code": ...}`."""

    result: Any = None
    contexts: list[str] = Field(default_factory=list)


class Borrow(Strict):
    """End with the very result that a wrapper of another call has heard last; with nothing where none has.

    It was made for that call, so of a success only value and contexts count here, and they are checked and
    rendered like the call's own (DSP-10).
    """

    from_: NonNegativeInt = Field(alias="from")


class SetSignal(Strict):
    """Put a signal of one's own in place of the call's."""

    name: Name
    aborted: bool = False


class RestoreSignal(Strict):
    """Put the first signal back."""


class DenyReason(Strict):
    """A guard denies."""

    reason: str = "denied"


class Nothing(Strict):
    """Answer nothing: a guard has no objection, a projection changes nothing."""


class AnswerOf(Strict):
    """An approver answers: one of the four, or any other text."""

    outcome: str


class GateStep(Strict):
    gate: Gate


class AwaitAbortStep(Strict):
    await_abort: AwaitAbort


class Execute(Strict):
    """Make another call, from inside a body, and wait for its result.

    With `token` it is nested in the call that makes it (CRE-1); `signal` says whether it ends with that
    call's own signal.
    """

    name: Name
    arguments: str = "{}"
    token: bool = True
    signal: Literal["own", "none"] = "own"


class ExecuteStep(Strict):
    execute: Execute


class SleepStep(Strict):
    sleep: Sleep


class OnCancelStep(Strict):
    on_cancel: OnCancel


class NoteStep(Strict):
    note: Note


class AbortStep(Strict):
    abort: AbortFromInside


class ReturnStep(Strict):
    return_: Return = Field(alias="return")


class RaiseStep(Strict):
    raise_: Raise = Field(alias="raise")


class RaiseAtOnceStep(RaiseStep):
    raise_: RaiseAtOnce = Field(alias="raise")


class DeferStep(Strict):
    defer: Defer


class ConcludeStep(Strict):
    conclude: Conclude


class NextStep(Strict):
    next: Next


class NextUnawaitedStep(Strict):
    next_unawaited: NextUnawaited


class NextConcurrentlyStep(Strict):
    next_concurrently: NextConcurrently


class KeepNextStep(Strict):
    keep_next: KeepNext


class MutateStep(Strict):
    mutate: Mutate


class SetSignalValueStep(Strict):
    set_signal_value: SetSignalValue


class PassStep(Strict):
    pass_: Pass = Field(alias="pass")


class DecideStep(Strict):
    decide: Decide


class AuthorStep(Strict):
    author: Author


class BorrowStep(Strict):
    borrow: Borrow


class SetSignalStep(Strict):
    set_signal: SetSignal


class RestoreSignalStep(Strict):
    restore_signal: RestoreSignal


class DenyStep(Strict):
    deny: DenyReason


class NothingStep(Strict):
    nothing: Nothing


class AnswerStep(Strict):
    answer: AnswerOf


_Anywhere = (
    Annotated[NoteStep, Tag("note")]
    | Annotated[AbortStep, Tag("abort")]
    | Annotated[MutateStep, Tag("mutate")]
    | TaggedChangeStep
)
_Common = _Anywhere | Annotated[RaiseStep, Tag("raise")]
_Waits = Annotated[GateStep, Tag("gate")] | Annotated[AwaitAbortStep, Tag("await_abort")]
_Row = Annotated[NextStep, Tag("next")] | Annotated[PassStep, Tag("pass")]

BodyStep: TypeAlias = Annotated[
    _Common
    | _Waits
    | Annotated[SleepStep, Tag("sleep")]
    | Annotated[ExecuteStep, Tag("execute")]
    | Annotated[OnCancelStep, Tag("on_cancel")]
    | Annotated[DeferStep, Tag("defer")]
    | Annotated[ConcludeStep, Tag("conclude")]
    | Annotated[ReturnStep, Tag("return")],
    Discriminator(single_key),
]
"""A step of a body."""

HookStep: TypeAlias = Annotated[
    _Common
    | _Waits
    | Annotated[SleepStep, Tag("sleep")]
    | _Row
    | Annotated[NextUnawaitedStep, Tag("next_unawaited")]
    | Annotated[NextConcurrentlyStep, Tag("next_concurrently")]
    | Annotated[KeepNextStep, Tag("keep_next")]
    | Annotated[DeferStep, Tag("defer")]
    | Annotated[DecideStep, Tag("decide")]
    | Annotated[AuthorStep, Tag("author")]
    | Annotated[BorrowStep, Tag("borrow")]
    | Annotated[SetSignalStep, Tag("set_signal")]
    | Annotated[SetSignalValueStep, Tag("set_signal_value")]
    | Annotated[RestoreSignalStep, Tag("restore_signal")],
    Discriminator(single_key),
]
"""A step of a listener; `author`, `borrow` and the signal steps are for those of `execute` only.

A `defer` in one is refused, for it is no body.
"""

SyncStep: TypeAlias = Annotated[
    _Anywhere
    | Annotated[RaiseAtOnceStep, Tag("raise")]
    | Annotated[DenyStep, Tag("deny")]
    | Annotated[NothingStep, Tag("nothing")]
    | Annotated[ReturnStep, Tag("return")],
    Discriminator(single_key),
]
"""A step of what cannot wait: a guard, a projection, an observer."""

AnswererStep: TypeAlias = Annotated[
    _Common | _Waits | _Row | Annotated[AnswerStep, Tag("answer")],
    Discriminator(single_key),
]
"""A step of an approver."""

Step: TypeAlias = (
    GateStep
    | AwaitAbortStep
    | SleepStep
    | ExecuteStep
    | OnCancelStep
    | NoteStep
    | AbortStep
    | ChangeStep
    | ReturnStep
    | RaiseStep
    | DeferStep
    | ConcludeStep
    | NextStep
    | NextUnawaitedStep
    | NextConcurrentlyStep
    | KeepNextStep
    | MutateStep
    | PassStep
    | DecideStep
    | AuthorStep
    | BorrowStep
    | SetSignalStep
    | SetSignalValueStep
    | RestoreSignalStep
    | DenyStep
    | NothingStep
    | AnswerStep
)
