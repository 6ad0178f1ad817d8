"""What must hold of a batch: results, the lane, cancellation, truth."""

from __future__ import annotations

from gnomon_spec.ledger import Ledger, known
from gnomon_spec.properties.kinds import BODY, CALLER, LOGGED_CALLS, MODES, Broken, Finding, always
from gnomon_spec.vocabulary import Code, Event, EventName, How, Mode, Outcome

# -- always: results ----------------------------------------------------------------------------


@always("Pairing", "SCD-10", "SCD-13")
def pairing(ledger: Ledger, one: Event) -> Finding:
    """Every announced call has exactly one result.

    SCD-10  A batch that ended without a fault MUST have exactly one result
            for every call.
    SCD-13  A result MUST belong to a position of the batch, whatever its id.
    """
    if one.name is EventName.RESULT_LOGGED:
        if one.pos is None or not known(ledger, one.pos):
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
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or not known(ledger, one.pos):
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
    if one.pos is None or not known(ledger, one.pos):
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
    if known(ledger, one.pos) and ledger.tracks[one.pos].logged not in (None, -1, one.cites):
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
    if one.pos is None or not known(ledger, one.pos):
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
    if one.pos is None or not known(ledger, one.pos):
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
    if one.name is not EventName.BODY_STARTED or one.pos is None or not known(ledger, one.pos):
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
           ABORTED_BEFORE_DISPATCH. Where the batch fails the pair MAY be cut
           short: the log may have failed between the two.
    DSP-3  A body MUST NOT start once the caller has aborted.
    """
    if one.name is EventName.BODY_STARTED and ledger.aborted and one.pos is not None:
        return ("DSP-3", "body after the abort", (one.pos,))
    if ledger.pair is None:
        return None
    if one.name in (EventName.CALL_LOGGED, EventName.BATCH_CLOSED):
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
    if not known(ledger, one.pos):
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
    if not known(ledger, one.pos) or one.outcome.code != Code.ABORTED:
        return None
    track = ledger.tracks[one.pos]
    if track.ended is How.RAISED and track.bodies == 1 and not track.authored:
        return ("CAN-7", "a cancellation replaced an error", (one.pos,))
    return None


@always("AbortedSuccess", "PST-8", "CAN-6", needs=[CALLER])
def aborted_success(ledger: Ledger, one: Event) -> Finding:
    """A success that was not settled when the caller aborted is not a success any more.

    CAN-6  A success of a call whose body was invoked MUST become ABORTED.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or one.outcome is None:
        return None
    settled = known(ledger, one.pos) and ledger.tracks[one.pos].settled
    if ledger.aborted and not settled and not one.outcome.is_error:
        return ("CAN-6", "a success after the abort", (one.pos,))
    return None


# -- always: truth ------------------------------------------------------------------------------


@always("NoFabrication", "SCD-9", "CAN-2", needs=[BODY])
def no_fabrication(ledger: Ledger, one: Event) -> Finding:
    """A success is the value of a body that returned, or of a policy that wrote it.

    SCD-9  Nothing MUST be fabricated: a call without a genuine settled result
           stays without one.
    """
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or one.outcome is None:
        return None
    if one.outcome.is_error or not known(ledger, one.pos):
        return None
    track = ledger.tracks[one.pos]
    if not track.returned and not track.authored:
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
    if one.name is not EventName.RESULT_LOGGED or one.pos is None or not known(ledger, one.pos):
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

    SCD-10  The batch MUST have ended, and without a fault each call have its one
            result.
    """
    if ledger.ended is None:
        return Broken("Termination", "SCD-10", "the batch never ends", unanswered(ledger))
    if ledger.ended is EventName.BATCH_CLOSED and unanswered(ledger):
        return Broken("Pairing", "SCD-10", "never answered", unanswered(ledger))
    return None
