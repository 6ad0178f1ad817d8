"""The properties, by name: predicates over a history of events.

The same predicate judges a state of the explorer, a run in lockstep, a
conformance run of somebody else's runtime, and a production log. So none of
them looks into a state: they see what anybody can see. A history is read once,
event by event; a `Ledger` keeps what the events so far have said. There are
three kinds:

*always*     a rule that every event has to keep,
*sometimes*  a witness that has to be reached by a good exploration,
*settles*    what has to hold once nothing more can happen.

Each *always* property is asked *before* its event is entered into the ledger.
A property that needs events which a producer cannot show (a log shows no
bodies) says so, and is not judged there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from gnomon_spec.kernel import clause
from gnomon_spec.vocabulary import Announced, Code, Event, EventName, How, Mode, Outcome

# -- what the events so far have said -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Track:
    """What has been seen of one call."""

    logged: int | None = None
    """Sequence number of its `tool/call`; -1 where it is logged and the number is not known."""
    bodies: int = 0
    running: bool = False
    ended: How | None = None
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """What has been seen of one batch."""

    announced: tuple[Announced, ...] = ()
    tracks: tuple[Track, ...] = ()
    max_parallel: int | None = None
    first_unlogged: int = 0
    """The position of the first call that is not logged."""
    first_unanswered: int = 0
    """The position of the first call that has no result."""
    aborted: bool = False
    pair: int | None = None
    """The call that was logged after the abort, and whose result has to follow at once."""
    ended: EventName | None = None


NOTHING = Ledger()


def _known(ledger: Ledger, pos: int | None) -> bool:
    return pos is not None and 0 <= pos < len(ledger.tracks)


def enter(ledger: Ledger, one: Event) -> Ledger:
    """Enter an event into the ledger."""
    match one.name:
        case EventName.BATCH_OPENED:
            calls = one.calls or ()
            return Ledger(calls, tuple(Track() for _ in calls), one.max_parallel)
        case EventName.SIGNAL_ABORTED:
            return replace(ledger, aborted=True)
        case EventName.BATCH_CLOSED | EventName.BATCH_FAILED:
            return replace(ledger, ended=one.name)
    if one.pos is None or not _known(ledger, one.pos):
        return ledger
    track = ledger.tracks[one.pos]
    pair = ledger.pair
    match one.name:
        case EventName.CALL_LOGGED:
            track = replace(track, logged=-1 if one.log_seq is None else one.log_seq)
            pair = one.pos if ledger.aborted else None
        case EventName.BODY_STARTED:
            track = replace(track, bodies=track.bodies + 1, running=True, ended=None)
        case EventName.BODY_SETTLED:
            track = replace(track, running=False, ended=one.how)
        case EventName.RESULT_LOGGED:
            track = replace(track, answered=True)
            pair = None
    tracks = ledger.tracks[: one.pos] + (track,) + ledger.tracks[one.pos + 1 :]
    unlogged, unanswered = ledger.first_unlogged, ledger.first_unanswered
    while unlogged < len(tracks) and tracks[unlogged].logged is not None:
        unlogged += 1
    while unanswered < len(tracks) and tracks[unanswered].answered:
        unanswered += 1
    return replace(ledger, tracks=tracks, pair=pair, first_unlogged=unlogged, first_unanswered=unanswered)


# -- the three kinds ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule that an event broke: property, clause, reason by name, and the positions it is about."""

    prop: str
    clause: str
    reason: str
    about: tuple[int, ...] = ()


Finding: TypeAlias = tuple[str, str, tuple[int, ...]] | None
"""Nothing, or (clause, reason by name, positions)."""


@dataclass(frozen=True, slots=True)
class Always:
    """A rule, and the events that a producer must be able to show for it to be judged."""

    name: str
    clauses: tuple[str, ...]
    judge: Callable[[Ledger, Event], Finding]
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sometimes:
    """A witness: a situation that a good exploration must reach."""

    name: str
    holds: Callable[[Ledger, Event], bool]


ALWAYS: dict[str, Always] = {}
SOMETIMES: dict[str, Sometimes] = {}

BODY = "body"
LOGGED_CALLS = "call.logged"
MODES = "modes"
CALLER = "signal"


def always(
    name: str, *clauses: str, needs: Collection[str] = ()
) -> Callable[[Callable[[Ledger, Event], Finding]], Callable[[Ledger, Event], Finding]]:
    """Declare an *always* property under its permanent name."""

    def declare(judge: Callable[[Ledger, Event], Finding]) -> Callable[[Ledger, Event], Finding]:
        ALWAYS[name] = Always(name, clauses, judge, frozenset(needs))
        return clause(*clauses)(judge)

    return declare


def sometimes(
    name: str,
) -> Callable[[Callable[[Ledger, Event], bool]], Callable[[Ledger, Event], bool]]:
    """Declare a witness under its permanent name."""

    def declare(holds: Callable[[Ledger, Event], bool]) -> Callable[[Ledger, Event], bool]:
        SOMETIMES[name] = Sometimes(name, holds)
        return holds

    return declare


EVERYTHING = frozenset({BODY, LOGGED_CALLS, MODES, CALLER})


def judged(shows: Collection[str] = EVERYTHING) -> tuple[Always, ...]:
    """The *always* properties that a producer showing `shows` can be judged by."""
    return tuple(one for one in ALWAYS.values() if one.needs <= set(shows))


def broken_by(ledger: Ledger, one: Event, properties: Iterable[Always]) -> Iterator[Broken]:
    """Every rule among `properties` that the event `one`, coming after `ledger`, breaks."""
    for prop in properties:
        finding = prop.judge(ledger, one)
        if finding is not None:
            identifier, reason, about = finding
            yield Broken(prop.name, identifier, reason, about)


def judge(history: Iterable[Event], shows: Collection[str] = EVERYTHING) -> Broken | None:
    """Read a history of one batch; answer the first rule that is broken, or nothing."""
    properties = judged(shows)
    ledger = NOTHING
    for one in history:
        for broken in broken_by(ledger, one, properties):
            return broken
        ledger = enter(ledger, one)
    return None


# -- always: results ----------------------------------------------------------------------------


@always("Pairing", "SCD-10", "SCD-13")
def pairing(ledger: Ledger, one: Event) -> Finding:
    """Every announced call has exactly one result.

    SCD-10  A batch that ended without a fault MUST have exactly one result
            for every call.
    SCD-13  A result MUST belong to a position of the batch, whatever its id.
    """
    if one.name is EventName.RESULT_LOGGED:
        if one.pos is None or not _known(ledger, one.pos):
            return ("SCD-10", "answers no call", () if one.pos is None else (one.pos,))
        if ledger.tracks[one.pos].answered:
            return ("SCD-10", "answered twice", (one.pos,))
    if one.name is EventName.BATCH_CLOSED:
        missing = unanswered(ledger)
        if missing:
            return ("SCD-10", "never answered", missing)
    return None


@always("ModelOrder", "SCD-6")
def model_order(ledger: Ledger, one: Event) -> Finding:
    """Results are logged in the order in which the model announced the calls.

    SCD-6  Commit MUST go along the contiguous prefix, in model order.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or not _known(ledger, one.pos):
        return None
    if ledger.first_unanswered < one.pos:
        return ("SCD-6", "answered before an earlier call", (one.pos, ledger.first_unanswered))
    return None


@always("CallBeforeResult", "LOG-2", needs=[LOGGED_CALLS])
def call_before_result(ledger: Ledger, one: Event) -> Finding:
    """A call is logged before its result, and its body starts after that.

    LOG-2  A result MUST cite the record of its call.
    """
    if one.name not in (EventName.RESULT_LOGGED, EventName.BODY_STARTED):
        return None
    if one.pos is None or not _known(ledger, one.pos):
        return None
    if ledger.tracks[one.pos].logged is None:
        reason = (
            "result without a logged call"
            if one.name is EventName.RESULT_LOGGED
            else "body without a logged call"
        )
        return ("LOG-2", reason, (one.pos,))
    return None


@always("Citation", "LOG-2", needs=[LOGGED_CALLS])
def citation(ledger: Ledger, one: Event) -> Finding:
    """A result cites the record of its own call.

    LOG-2  `cites` MUST be the sequence number of the call's `tool/call`.
    """
    if one.name is not EventName.RESULT_LOGGED or one.cites is None or one.pos is None:
        return None
    if _known(ledger, one.pos) and ledger.tracks[one.pos].logged not in (None, -1, one.cites):
        return ("LOG-2", "cites another record", (one.pos,))
    return None


# -- always: the lane ---------------------------------------------------------------------------


@always("StartOrder", "SCD-1", needs=[LOGGED_CALLS])
def start_order(ledger: Ledger, one: Event) -> Finding:
    """Calls are logged in model order, each once.

    SCD-1  Calls MUST start in model order, one at a time.
    """
    if one.name is not EventName.CALL_LOGGED:
        return None
    if one.pos is None or not _known(ledger, one.pos):
        return ("SCD-1", "logged a call that was not announced", ())
    if ledger.tracks[one.pos].logged is not None:
        return ("SCD-1", "logged twice", (one.pos,))
    if ledger.first_unlogged < one.pos:
        return ("SCD-1", "started before an earlier call", (one.pos, ledger.first_unlogged))
    return None


@always("PoolBound", "SCD-4", needs=[BODY])
def pool_bound(ledger: Ledger, one: Event) -> Finding:
    """No more bodies run at once than the pool allows.

    SCD-4  At most `max_parallel` dispatches MUST be in flight.
    """
    if one.name is not EventName.BODY_STARTED or ledger.max_parallel is None:
        return None
    running = tuple(p for p, track in enumerate(ledger.tracks) if track.running)
    if len(running) >= ledger.max_parallel:
        return (
            "SCD-4",
            "more bodies than the pool allows",
            (one.pos, *running) if one.pos is not None else running,
        )
    return None


@always("Exclusivity", "SCD-5", needs=[BODY, MODES])
def exclusivity(ledger: Ledger, one: Event) -> Finding:
    """An exclusive call overlaps nothing, from its start until its result is logged.

    SCD-5  No other body MUST be in flight from the start of an exclusive call
           until its commit.
    """
    if one.name not in (EventName.BODY_STARTED, EventName.CALL_LOGGED):
        return None
    if one.pos is None or not _known(ledger, one.pos):
        return None
    own = ledger.announced[one.pos].mode
    for position, track in enumerate(ledger.tracks):
        if position == one.pos:
            continue
        open_call = track.bodies > 0 and not track.answered
        if open_call and (ledger.announced[position].mode is Mode.EXCLUSIVE or own is Mode.EXCLUSIVE):
            return ("SCD-5", "overlaps an exclusive call", (one.pos, position))
    return None


@always("BodyOnce", "DSP-5", needs=[BODY])
def body_once(ledger: Ledger, one: Event) -> Finding:
    """A body starts only while no body of its call is running, and never after its result.

    DSP-5  A body MUST be invoked at one place only.
    """
    if one.name is not EventName.BODY_STARTED or one.pos is None or not _known(ledger, one.pos):
        return None
    track = ledger.tracks[one.pos]
    if track.running:
        return ("DSP-5", "two bodies of one call", (one.pos,))
    if track.answered:
        return ("SCD-11", "body after its result", (one.pos,))
    return None


# -- always: cancellation -----------------------------------------------------------------------


@always("NoStartAfterAbort", "SCD-8", "DSP-3", needs=[CALLER])
def no_start_after_abort(ledger: Ledger, one: Event) -> Finding:
    """After an abort nothing starts: a call logged then is answered at once, as never started.

    SCD-8  Calls not started MUST be logged as a pair, with
           ABORTED_BEFORE_DISPATCH.
    DSP-3  A body MUST NOT start once the caller has aborted.
    """
    if one.name is EventName.BODY_STARTED and ledger.aborted and one.pos is not None:
        return ("DSP-3", "body after the abort", (one.pos,))
    if ledger.pair is None:
        return None
    if one.name in (EventName.CALL_LOGGED, EventName.BATCH_CLOSED, EventName.BATCH_FAILED):
        return ("SCD-8", "started after the abort", (ledger.pair,))
    if one.name is EventName.RESULT_LOGGED:
        paired = one.pos == ledger.pair and one.outcome == Outcome(Code.ABORTED_BEFORE_DISPATCH)
        if not paired:
            return ("SCD-8", "started after the abort", (ledger.pair,))
    return None


@always("CancellationCode", "CAN-2", "CAN-5", "CAN-6", needs=[BODY])
def cancellation_code(ledger: Ledger, one: Event) -> Finding:
    """Each of the two cancellation codes says truly whether the body ran.

    CAN-2  ABORTED MUST mean that the body ran, ABORTED_BEFORE_DISPATCH that it
           did not.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or one.outcome is None:
        return None
    if not _known(ledger, one.pos):
        return None
    ran = ledger.tracks[one.pos].bodies > 0
    if one.outcome.code == Code.ABORTED and not ran:
        return ("CAN-2", "aborted, and its body never ran", (one.pos,))
    if one.outcome.code == Code.ABORTED_BEFORE_DISPATCH and ran:
        return ("CAN-2", "aborted before dispatch, and its body ran", (one.pos,))
    return None


@always("CancellationReplacesSuccessOnly", "CAN-7", needs=[BODY])
def cancellation_replaces_success_only(ledger: Ledger, one: Event) -> Finding:
    """A body's own error is not replaced by a cancellation.

    CAN-7  An error MUST be kept as it is when the caller aborts.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or one.outcome is None:
        return None
    if not _known(ledger, one.pos) or one.outcome.code != Code.ABORTED:
        return None
    if ledger.tracks[one.pos].ended is How.RAISED:
        return ("CAN-7", "a cancellation replaced an error", (one.pos,))
    return None


@always("AbortedSuccess", "PST-8", "CAN-6", needs=[CALLER])
def aborted_success(ledger: Ledger, one: Event) -> Finding:
    """A success that is committed after the abort is not a success any more.

    CAN-6  A success of a call whose body was invoked MUST become ABORTED.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or one.outcome is None:
        return None
    if ledger.aborted and not one.outcome.is_error:
        return ("CAN-6", "a success after the abort", (one.pos,))
    return None


# -- always: truth ------------------------------------------------------------------------------


@always("NoFabrication", "SCD-9", "CAN-2", needs=[BODY])
def no_fabrication(ledger: Ledger, one: Event) -> Finding:
    """A success is the value of a body that returned.

    SCD-9  Nothing MUST be fabricated: a call without a genuine settled result
           stays without one.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or one.outcome is None:
        return None
    if one.outcome.is_error or not _known(ledger, one.pos):
        return None
    if ledger.tracks[one.pos].ended is not How.RETURNED:
        return ("SCD-9", "a success that no body returned", (one.pos,))
    return None


@always("Quiescence", "SCD-11", "DSP-6", needs=[BODY])
def quiescence(ledger: Ledger, one: Event) -> Finding:
    """No body outlives its batch, and a body's result is logged after the body has ended.

    SCD-11  When the batch returns or raises, no body of it MUST be running.
    DSP-6   A started body MUST be awaited.
    """
    if one.name in (EventName.BATCH_CLOSED, EventName.BATCH_FAILED):
        running = tuple(p for p, track in enumerate(ledger.tracks) if track.running)
        if running:
            return ("SCD-11", "a body outlives the batch", running)
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or not _known(ledger, one.pos):
        return None
    if ledger.tracks[one.pos].running:
        return ("DSP-6", "answered while its body runs", (one.pos,))
    return None


@always("NothingAfterTheEnd", "SCD-11")
def nothing_after_the_end(ledger: Ledger, one: Event) -> Finding:
    """Nothing of a batch happens after it has ended.

    SCD-11  A batch that has returned or raised MUST be over.
    """
    if ledger.ended is not None and one.name is not EventName.SIGNAL_ABORTED:
        about = () if one.pos is None else (one.pos,)
        return ("SCD-11", "something after the end", about)
    return None


# -- settles ------------------------------------------------------------------------------------


def unanswered(ledger: Ledger) -> tuple[int, ...]:
    """The positions of the calls that have no result."""
    return tuple(p for p, track in enumerate(ledger.tracks) if not track.answered)


def settled(ledger: Ledger) -> Broken | None:
    """Judge what must hold once every gate is open and nothing more can happen.

    SCD-10  The batch has ended, and without a fault each call has its one result.
    """
    if ledger.ended is None:
        return Broken("Termination", "SCD-10", "the batch never ends", unanswered(ledger))
    if ledger.ended is EventName.BATCH_CLOSED and unanswered(ledger):
        return Broken("Pairing", "SCD-10", "never answered", unanswered(ledger))
    return None


# -- sometimes ----------------------------------------------------------------------------------


@sometimes("a call settles before an earlier one")
def settles_early(ledger: Ledger, one: Event) -> bool:
    """Out of order: the case in which commit order matters."""
    if one.name is not EventName.BODY_SETTLED or one.pos is None:
        return False
    return any(track.running for track in ledger.tracks[: one.pos])


@sometimes("two bodies overlap")
def bodies_overlap(ledger: Ledger, one: Event) -> bool:
    """The pool is used."""
    return one.name is EventName.BODY_STARTED and any(track.running for track in ledger.tracks)


@sometimes("the abort finds a body running")
def abort_finds_a_body(ledger: Ledger, one: Event) -> bool:
    """The drain has something to wait for."""
    return one.name is EventName.SIGNAL_ABORTED and any(track.running for track in ledger.tracks)


@sometimes("the abort finds a success that waits for its commit")
def abort_finds_a_success(ledger: Ledger, one: Event) -> bool:
    """A success that is turned into ABORTED although its body is over."""
    return one.name is EventName.SIGNAL_ABORTED and any(
        track.ended is How.RETURNED and not track.answered for track in ledger.tracks
    )


@sometimes("an error survives the abort")
def error_survives(ledger: Ledger, one: Event) -> bool:
    """CAN-7 has something to keep."""
    return (
        one.name is EventName.RESULT_LOGGED
        and ledger.aborted
        and one.outcome is not None
        and one.outcome.code == Code.TOOL_ERROR
    )


@sometimes("a call is answered without having started")
def answered_unstarted(ledger: Ledger, one: Event) -> bool:
    """The synthetic pair."""
    return one.name is EventName.RESULT_LOGGED and one.pos is not None and one.pos == ledger.pair


@sometimes("the batch fails while a call has no result")
def fails_with_open_calls(ledger: Ledger, one: Event) -> bool:
    """Nothing is invented for it."""
    return one.name is EventName.BATCH_FAILED and bool(unanswered(ledger))


@sometimes("the batch fails after the abort")
def fails_after_abort(ledger: Ledger, one: Event) -> bool:
    """A fault wins over the synthetic pairs."""
    return one.name is EventName.BATCH_FAILED and ledger.aborted
