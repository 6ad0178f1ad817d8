"""One batch: bodies overlap, everything else goes along one lane, in model order (SCD).

The lane is one task. It starts calls, commits the ready prefix after each start and each settlement,
and answers what an abort left over. A dispatch that settles does nothing but leave its position in a
mailbox. The scheduler knows of a call only what `prepare` and `dispatch` answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from gnomon.backend import Crew, Mailbox
from gnomon.content import Content
from gnomon.errors import LogError
from gnomon.execution import Call, ToolCall
from gnomon.pipeline import Pipeline, Settled, ToDispatch
from gnomon.results import Result, Success, aborted_before_dispatch
from gnomon.signals import AbortController, AbortSignal


class Journal(Protocol):
    """Where a batch writes down what happens to its calls. An append that fails raises (SCD-9)."""

    def call(self, position: int, call: ToolCall) -> object:
        """Write the record of a call (SCD-1)."""

    def result(self, position: int, call: ToolCall, result: Result) -> object:
        """Write the record of its result, citing that of the call (SCD-6)."""

    def context(self, position: int, call: ToolCall, context: Content) -> object:
        """Write that a context of the call is taken in (SCD-15)."""

    def close(self, reason: str) -> None:
        """Write that the batch has ended without a failure."""

    async def flush(self) -> None:
        """Make all of it as durable as the session promises."""


@dataclass(slots=True)
class Slot:
    """One call of the batch, by position (SCD-13)."""

    call: Call
    settled: Settled | None = None


class BatchRun:
    """One run of one batch."""

    def __init__(
        self,
        calls: Sequence[Call],
        *,
        pipeline: Pipeline,
        journal: Journal,
        controller: AbortController,
        signal: AbortSignal,
        max_parallel: int,
    ) -> None:
        """Make a run. `controller` is the runtime's own; `signal` is it, fused with the caller's."""
        self._pipeline = pipeline
        self._journal = journal
        self._controller = controller
        self._signal = signal
        self._max_parallel = max_parallel
        self._slots = {position: Slot(call) for position, call in enumerate(calls)}
        """The calls that are not committed: what a call holds is let go with it."""
        self._size = len(calls)
        self._mailbox = Mailbox()
        self._in_flight: set[int] = set()
        self._next_start = 0
        self._parallel_group = False
        self.results: list[Result] = []
        self.contexts: list[Content] = []
        self.failure: BaseException | None = None

    @property
    def concluded(self) -> bool:
        """Whether any committed result ends the turn (SCD-12)."""
        return any(isinstance(one, Success) and one.concludes_turn for one in self.results)

    # -- the lane -------------------------------------------------------------------------------

    async def lane(self, crew: Crew) -> None:
        """Run the batch to its end; what went wrong with the runtime itself is left in `failure`."""
        try:
            await self._fill(crew)
            while self._in_flight:
                self._in_flight.discard(await self._mailbox.get())
                self._raise_failure()
                await self._commit_ready()
                await self._fill(crew)
            self._answer_unstarted()
            self._journal.close("aborted" if self._signal.aborted else "completed")
        except BaseException as error:
            self._note_failure(error)
            while self._in_flight:  # nothing in flight is left behind (SCD-9, SCD-11)
                self._in_flight.discard(await self._mailbox.get())
        if not isinstance(self.failure, LogError):  # a log that has failed promises nothing (SCD-9)
            try:
                await self._journal.flush()  # here no cancellation of the caller reaches it (PY-3)
            except BaseException as error:
                self._note_failure(error)

    async def _fill(self, crew: Crew) -> None:
        """Start what may start now, one call after the other (SCD-1, SCD-3, SCD-4, SCD-8)."""
        while self._may_start():
            await self._start(self._next_start, crew)
            self._raise_failure()
            await self._commit_ready()  # SCD-7

    def _may_start(self) -> bool:
        position = self._next_start
        if position == self._size or self._signal.aborted:
            return False  # SCD-8
        if len(self._in_flight) >= self._max_parallel:
            return False  # SCD-4
        parallel = self._pipeline.is_parallel(self._slots[position].call)
        if not self._in_flight and len(self.results) == position:
            self._parallel_group = parallel  # the head of what is left runs whatever its mode (SCD-3)
            return True
        return self._parallel_group and parallel  # SCD-3, SCD-5

    async def _start(self, position: int, crew: Crew) -> None:
        slot = self._slots[position]
        self._next_start = position + 1
        self._journal.call(position, slot.call.announced)  # SCD-1
        answer = await slot.call.step(self._pipeline.prepare(slot.call, crew))  # PY-7
        self._raise_failure()
        match answer:
            case ToDispatch():
                self._in_flight.add(position)
                crew.start(
                    lambda: self._dispatch(position, crew),
                    lambda error: self._never_began(position, error),
                    slot.call.context,  # PY-7
                )
            case settled:
                slot.settled = settled

    async def _dispatch(self, position: int, crew: Crew) -> None:
        """Run the dispatch of one call, in a task of its own; never raises."""
        slot = self._slots[position]
        try:
            slot.settled = await self._pipeline.dispatch(slot.call, crew, own_task=True)
        except BaseException as error:
            self._note_failure(error)
        self._settle(position)

    def _never_began(self, position: int, error: BaseException) -> None:
        """The task of a dispatch was cancelled before it began: its call is left without a result (SCD-9)."""
        self._note_failure(error)
        self._settle(position)

    def _settle(self, position: int) -> None:
        self._mailbox.put(position)

    async def _commit_ready(self) -> None:
        """Commit the contiguous prefix of settled calls, in model order (SCD-6)."""
        while len(self.results) < self._next_start:
            position = len(self.results)
            slot = self._slots[position]
            if slot.settled is None:
                return
            result = await slot.call.step(self._pipeline.finalize(slot.call, slot.settled))  # PY-7
            self._journal.result(position, slot.call.announced, result)
            self.results.append(result)
            del self._slots[position]
            for context in result.contexts:
                self._journal.context(position, slot.call.announced, context)  # SCD-15
                self.contexts.append(context)
        self._raise_failure()

    def _answer_unstarted(self) -> None:
        """Answer every call that an abort kept from starting: a pair of records, no hook (SCD-8)."""
        for position in range(self._next_start, self._size):
            call = self._slots[position].call.announced
            result = aborted_before_dispatch()
            self._journal.call(position, call)
            self._journal.result(position, call, result)
            self.results.append(result)

    # -- failures of the runtime itself ---------------------------------------------------------

    def _note_failure(self, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._controller.abort("interrupted")  # the process is to end, so bodies are told (PY-4)
        if self.failure is None:
            self.failure = error
        elif self.failure is not error:
            self.failure.add_note(f"later in the same batch: {type(error).__name__}: {error}")

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure  # the first one (SCD-9)
