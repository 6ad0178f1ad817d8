"""The machine: which actions are enabled in a state, and what each leads to.

It has no rules of its own. An action is a plain value; `step` hands it to the
transition of its chapter, which refuses it with a clause or answers the next
state and the events that can be seen. `enabled` asks the same refusals. The
lane's own moves are always there; what comes from around the batch (the answers
of prepare, dispatch and commit, an abort) comes from a `Surroundings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, assert_never

from gnomon_spec import batch as chapter
from gnomon_spec import vocabulary
from gnomon_spec.batch import Batch
from gnomon_spec.kernel import NotEnabled, Refused, Step
from gnomon_spec.vocabulary import (
    Event,
    Fault,
    How,
    Lane,
    Outcome,
    Phase,
    PrepareAnswer,
    ResultAnswer,
)


@dataclass(frozen=True, slots=True)
class Start:
    """The lane starts a call."""

    position: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """Prepare of a call answers."""

    position: int
    answer: PrepareAnswer


@dataclass(frozen=True, slots=True)
class BodyStarts:
    """The body of a dispatched call starts."""

    position: int


@dataclass(frozen=True, slots=True)
class DispatchSettles:
    """The dispatch of a call ends, its body (if it ran) in the way `how` says."""

    position: int
    answer: ResultAnswer
    how: How | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """The lane notices that a call has settled."""

    position: int


@dataclass(frozen=True, slots=True)
class BeginCommit:
    """The lane takes a settled call to post-execute."""

    position: int


@dataclass(frozen=True, slots=True)
class Commits:
    """The commit of a call ends: its result is logged, or the runtime failed."""

    position: int
    answer: Outcome | Fault


@dataclass(frozen=True, slots=True)
class Skip:
    """The lane answers a call that never started."""

    position: int


@dataclass(frozen=True, slots=True)
class CallUnlogged:
    """The record of the next call cannot be appended to the log."""

    position: int


@dataclass(frozen=True, slots=True)
class PairUnfinished:
    """The record of the result of a call that never started cannot be appended to the log."""

    position: int


@dataclass(frozen=True, slots=True)
class Close:
    """The batch returns."""


@dataclass(frozen=True, slots=True)
class Drain:
    """The lane gives up after a fault."""


@dataclass(frozen=True, slots=True)
class Raise:
    """The batch raises its failure."""


@dataclass(frozen=True, slots=True)
class Stop:
    """The lane asks the next call's mode, and stops filling the pool."""

    position: int


@dataclass(frozen=True, slots=True)
class Abort:
    """The caller aborts."""


@dataclass(frozen=True, slots=True)
class Reclassify:
    """The live registry makes something else of a call that has not started."""

    position: int
    mode: vocabulary.Mode


LaneMove: TypeAlias = Start | Stop | BeginCommit | Commits | Skip | Close | Drain | Raise | Notice
LogFails: TypeAlias = CallUnlogged | PairUnfinished
Action: TypeAlias = LaneMove | LogFails | Prepared | BodyStarts | DispatchSettles | Abort | Reclassify


def step(state: Batch, action: Action) -> Step[Batch, Event]:
    """Take one action; raise `NotEnabled`, with the clause, where it is forbidden."""
    match action:
        case Start(position):
            return chapter.start(state, position)
        case Prepared(position, answer):
            return chapter.prepared(state, position, answer)
        case BodyStarts(position):
            return chapter.body_started(state, position)
        case DispatchSettles(position, answer, how):
            return chapter.dispatch_settled(state, position, answer, how)
        case Notice(position):
            return chapter.notice(state, position)
        case BeginCommit(position):
            return chapter.begin_commit(state, position)
        case Commits(position, answer):
            return chapter.committed(state, position, answer)
        case Skip(position):
            return chapter.skip(state, position)
        case CallUnlogged(position):
            return chapter.call_unlogged(state, position)
        case PairUnfinished(position):
            return chapter.pair_unfinished(state, position)
        case Close():
            return chapter.close(state)
        case Drain():
            return chapter.drain(state)
        case Raise():
            return chapter.raise_failure(state)
        case Stop(position):
            return chapter.stop(state, position)
        case Abort():
            return chapter.abort(state)
        case Reclassify(position, mode):
            return chapter.reclassify(state, position, mode)
        case _:
            assert_never(action)


def refused(state: Batch, action: Action) -> Refused | None:
    """Say why `action` is not enabled in `state`, or nothing where it is."""
    try:
        step(state, action)
    except NotEnabled as error:
        return error.refused
    return None


def lane_moves(state: Batch, live: bool = False) -> Iterator[Action]:
    """What the lane may do by itself: one thing, but where a fault or an unnoticed call gives a choice.

    Where modes may change while the batch runs (`live`), it matters whether the
    lane has asked the next call already: then stopping is a move of its own.
    """
    lane = state.lane
    if lane is Lane.DRAINING:
        if chapter.refuse_raise(state) is None:
            yield Raise()
        return
    if lane is not Lane.FREE:
        return
    cursor = state.committed
    if cursor < state.next_start:
        first = state.calls[cursor]
        if first.phase is Phase.SETTLED_POST:
            yield BeginCommit(cursor)
        elif first.phase is Phase.SETTLED_FINAL and first.outcome is not None:
            yield Commits(cursor, first.outcome)
    if state.failed:
        yield Drain()
    elif cursor == len(state.calls):
        if chapter.refuse_close(state) is None:
            yield Close()
    elif chapter.refuse_skip(state, cursor) is None:
        yield Skip(cursor)
    elif chapter.refuse_start(state, state.next_start) is None:
        yield Start(state.next_start)
    elif live and chapter.refuse_stop(state, state.next_start) is None:
        yield Stop(state.next_start)
    for position, one in enumerate(state.calls):
        if one.in_flight and one.phase not in chapter.LIVE:
            yield Notice(position)


class Surroundings(Protocol):
    """What may come from around a batch in a given state.

    Each answer is offered only where its transition does not refuse it.
    """

    @property
    def aborts(self) -> bool:
        """Whether the caller may abort."""

    @property
    def live(self) -> bool:
        """Whether the modes of calls may change while the batch runs."""

    def reclassify(self, state: Batch, position: int) -> Iterable[vocabulary.Mode]:
        """What the live registry may now make of a call that has not started."""

    def prepare(self, state: Batch) -> Iterable[PrepareAnswer]:
        """What prepare of the call that is being prepared may answer."""

    def dispatch(self, state: Batch, position: int) -> Iterable[ResultAnswer]:
        """How the dispatch of a call may end without its body having run."""

    def body(self, state: Batch, position: int) -> Iterable[tuple[ResultAnswer, How]]:
        """How the dispatch of a call may end with its body, and how the body then ended."""

    def commit(self, state: Batch, outcome: Outcome) -> Iterable[Outcome | Fault]:
        """What the commit of the call that is being committed may answer."""


def enabled(state: Batch, around: Surroundings) -> Iterator[Action]:
    """Every action that is enabled in `state`, given what may come from around it."""
    yield from lane_moves(state, around.live)
    if state.lane in chapter.ENDED:
        return
    if around.aborts and not state.aborted:
        yield Abort()
    for position in range(state.next_start, len(state.calls)) if around.live else ():
        for mode in around.reclassify(state, position):
            if chapter.refuse_reclassify(state, position) is None:
                yield Reclassify(position, mode)
    if state.lane is Lane.PREPARING:
        position = state.next_start - 1
        for answer in around.prepare(state):
            if chapter.refuse_prepared(state, position, answer) is None:
                yield Prepared(position, answer)
    elif state.lane is Lane.COMMITTING:
        outcome = state.calls[state.committed].outcome
        assert outcome is not None, "only a settled call is committed, and it has an outcome"
        for result in around.commit(state, outcome):
            if chapter.refuse_committed(state, state.committed, result) is None:
                yield Commits(state.committed, result)
    for position, one in enumerate(state.calls):
        if one.phase is Phase.DISPATCHED:
            if chapter.refuse_body(state, position) is None:
                yield BodyStarts(position)
            for settled in around.dispatch(state, position):
                if chapter.refuse_dispatched(state, position, settled) is None:
                    yield DispatchSettles(position, settled)
        elif one.phase is Phase.RUNNING:
            for settled, how in around.body(state, position):
                if chapter.refuse_dispatched(state, position, settled) is None:
                    yield DispatchSettles(position, settled, how)
