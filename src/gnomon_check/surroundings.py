"""What may come from around a batch, for exploring it: every kind of answer, each once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gnomon_spec.batch import Batch
from gnomon_spec.cancellation import cancellation_code, cancelled_outcome
from gnomon_spec.vocabulary import (
    SUCCESS,
    Code,
    Fault,
    FinalResult,
    How,
    Mode,
    Outcome,
    PostResult,
    PrepareAnswer,
    ResultAnswer,
    ToDispatch,
)

ERROR = Outcome(Code.TOOL_ERROR)
SKIPPED = Outcome(cancellation_code(body_invoked=False))


@dataclass(frozen=True, slots=True)
class AnySurroundings:
    """Everything that may come from around a batch, each kind of answer once.

    `failures` says whether the runtime itself may fail at each of its own steps, `live` whether
    the registry may change at any moment.
    """

    aborts: bool = False
    failures: bool = False
    live: bool = False

    def reclassify(self, state: Batch, position: int) -> Iterable[Mode]:
        """The other mode."""
        now = state.calls[position].mode
        yield Mode.EXCLUSIVE if now is Mode.PARALLEL else Mode.PARALLEL

    def _faults(self) -> tuple[Fault, ...]:
        return (Fault(),) if self.failures else ()

    def prepare(self, state: Batch) -> Iterable[PrepareAnswer]:
        """An error by either route; dispatch, or after an abort the cancellation by either route."""
        if state.aborted:
            yield from (PostResult(SKIPPED), FinalResult(SKIPPED))
        else:
            yield ToDispatch()
        yield from (PostResult(ERROR), FinalResult(ERROR))
        yield from self._faults()

    def dispatch(self, state: Batch, position: int) -> Iterable[ResultAnswer]:
        """Without a body: a failing wrapper, and after an abort the cancellation."""
        if state.aborted:
            yield PostResult(SKIPPED)
        yield FinalResult(ERROR)
        yield from self._faults()

    def body(self, state: Batch, position: int) -> Iterable[tuple[ResultAnswer, How]]:
        """With a body: its value, its error, or an error made after it."""
        value = Outcome(Code.ABORTED) if state.aborted else SUCCESS
        yield (PostResult(value), How.RETURNED)
        yield (PostResult(ERROR), How.RAISED)
        yield (FinalResult(ERROR), How.RETURNED)
        for fault in self._faults():
            yield (fault, How.RAISED)

    def commit(self, state: Batch, outcome: Outcome) -> Iterable[Outcome | Fault]:
        """The result as the table of cancellation has it, or an error made by a policy."""
        invoked = state.calls[state.committed].body_invoked
        kept = cancelled_outcome(outcome, invoked) if state.aborted else outcome
        yield kept
        if kept != ERROR:
            yield ERROR
        yield from self._faults()
