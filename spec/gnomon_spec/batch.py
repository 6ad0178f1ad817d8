"""SCD: how the calls of one assistant message are run together.

A model announces several calls at once. They may overlap, but only their
bodies: everything that decides about a call, and everything that is written
down about it, happens in one *lane*, one call at a time, in the order in which
the model announced them. So the lane starts a call (it logs it, and prepares
it), lets its body run, goes on to the next, and whenever the first calls of
those started have settled, it commits them, in order. A call that may not
overlap others stands alone. When the caller aborts, nothing more is started,
what runs is awaited, and every call still gets its one result. When the runtime
itself fails, nothing is invented: a call without a genuine result stays without.

Whether a call may overlap others is asked of the live registry, immediately
before it would start. So a body or a hook may change it until then, and not
after. The lane asks while it *fills* the pool: after each start, and after each
settlement that it notices. The first call that may not join stops the filling.

Each transition here comes with the function that says why it is refused. The
lane has *moves of its own* (start, begin to commit, skip, close, ...); the
rest (what prepare answers, when a body settles, an abort) comes from around it.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gnomon_spec.cancellation import cancellation_code
from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.vocabulary import (
    Announced,
    Call,
    Code,
    Event,
    EventName,
    Fault,
    FinalResult,
    How,
    Lane,
    Mode,
    Outcome,
    Phase,
    PostResult,
    PrepareAnswer,
    ResultAnswer,
    ToDispatch,
    call,
    event,
)


class Batch(NamedTuple):
    """The state of a batch between two steps.

    `next_start` is the position of the first call that has not started;
    `committed` that of the first call whose result is not logged. `stopped` says
    that the filling has stopped at `next_start`: the lane has asked that call's
    mode, and asks again only at the next filling.
    """

    calls: tuple[Call, ...]
    max_parallel: int
    lane: Lane = Lane.FREE
    next_start: int = 0
    committed: int = 0
    aborted: bool = False
    failed: bool = False
    stopped: bool = False


Stepped = Step[Batch, Event]

DEFAULT_PARALLEL = 10  # SCD-4
ENDED = (Lane.RETURNED, Lane.RAISED)
LIVE = (Phase.DISPATCHED, Phase.RUNNING)
SETTLED = (Phase.SETTLED_POST, Phase.SETTLED_FINAL)


# -- what a state says --------------------------------------------------------------------------


def in_flight(batch: Batch) -> int:
    """How many slots of the pool are held: dispatched, and not yet noticed to have settled."""
    return sum(1 for one in batch.calls if one.in_flight)


def is_live(batch: Batch) -> bool:
    """Whether a dispatch of the batch is still under way."""
    return any(one.phase in LIVE for one in batch.calls)


def commit_is_due(batch: Batch) -> bool:
    """Whether the first uncommitted call has settled, and the lane knows it.

    A settled call that the lane has not noticed still holds its slot: until
    then its commit is possible but not yet due (freedom of SCD-4).
    """
    if batch.committed >= batch.next_start:
        return False
    first = batch.calls[batch.committed]
    return first.phase in SETTLED and not first.in_flight


def stands_at_head(batch: Batch, position: int) -> bool:
    """Whether all before `position` are committed and nothing of the batch is in flight."""
    return batch.committed == position and in_flight(batch) == 0


def _with(batch: Batch, position: int, one: Call) -> tuple[Call, ...]:
    return batch.calls[:position] + (one,) + batch.calls[position + 1 :]


def _change(
    batch: Batch,
    *,
    calls: tuple[Call, ...] | None = None,
    lane: Lane | None = None,
    next_start: int | None = None,
    committed: int | None = None,
    aborted: bool = False,
    failed: bool = False,
    stopped: bool = False,
) -> Batch:
    """The batch with some fields changed. What is not said to leave the filling stopped ends that."""
    return Batch(
        batch.calls if calls is None else calls,
        batch.max_parallel,
        batch.lane if lane is None else lane,
        batch.next_start if next_start is None else next_start,
        batch.committed if committed is None else committed,
        batch.aborted or aborted,
        batch.failed or failed,
        stopped,
    )


@cache
def _seen(
    name: EventName, position: int | None = None, outcome: Outcome | None = None, how: How | None = None
) -> Event:
    """The event of that name, for the call at `position`."""
    return event(Event(name, position, outcome=outcome, how=how))


def _demand(refused: Refused | None) -> None:
    if refused is not None:
        raise NotEnabled(refused)


def _refuse_ended(batch: Batch) -> Refused | None:
    if batch.lane in ENDED:
        return Refused("SCD-11", "the batch has ended, and nothing of it may happen any more")
    return None


def _refuse_busy(batch: Batch) -> Refused | None:
    if batch.lane is Lane.PREPARING:
        return Refused("SCD-7", f"the lane still prepares call {batch.next_start - 1}")
    if batch.lane is Lane.COMMITTING:
        return Refused("SCD-7", f"the lane is still committing call {batch.committed}")
    if batch.lane is Lane.DRAINING:
        return Refused("SCD-9", "the runtime failed, and the batch only waits for its bodies")
    return None


# -- opening ------------------------------------------------------------------------------------


@clause("SCD-4")
def refuse_pool(max_parallel: object) -> Refused | None:
    """Say why a pool may not be configured to that size, or nothing.

    SCD-4  What is not a positive integer MUST be refused when it is configured.
    """
    if type(max_parallel) is int and max_parallel > 0:
        return None
    return Refused("SCD-4", f"{max_parallel!r} is not a positive integer")


@clause("SCD-4", "SCD-13", "SCD-14")
def open_batch(
    modes: tuple[Mode, ...], max_parallel: int = DEFAULT_PARALLEL, call_ids: tuple[str, ...] = ()
) -> Stepped:
    """Open a batch of announced calls.

    SCD-4   The pool MUST hold 10 dispatches unless it is configured otherwise.

    SCD-13  Calls MUST be tracked by position; call ids MAY repeat.
    SCD-14  An empty batch MUST do nothing (it is closed at once).
    """
    _demand(refuse_pool(max_parallel))
    ids = call_ids or tuple(f"c{position}" for position in range(len(modes)))
    announced = tuple(Announced(one, mode=mode) for one, mode in zip(ids, modes, strict=True))
    opened = event(Event(EventName.BATCH_OPENED, calls=announced, max_parallel=max_parallel))
    return Step(Batch(tuple(call(mode) for mode in modes), max_parallel), (opened,))  # SCD-13


@clause("SCD-2", "SCD-16")
def mode_of(answer: object, *, visible: bool, arguments_fit: bool) -> Mode:
    """Say what a classifier's answer makes of a call.

    SCD-2   A call MUST be parallel only if its visible definition's classifier,
            given arguments that fit, answers exactly true. Everything else
            (missing, hidden, raising, truthy but not true) is exclusive.
    SCD-16  A classifier MUST be pure, and calls that it lets overlap MUST NOT
            change what they share. Nobody checks that: it may be asked several
            times, and its answer is taken.
    """
    if visible and arguments_fit and answer is True:
        return Mode.PARALLEL  # SCD-2, SCD-16
    return Mode.EXCLUSIVE


@clause("SCD-2", "SCD-3")
def refuse_reclassify(batch: Batch, position: int) -> Refused | None:
    """Say why the mode of the call may not change now, or nothing.

    SCD-3  A call that has started MUST stay as it is.
    """
    refused = _refuse_ended(batch)
    if refused is not None:
        return refused
    if not 0 <= position < len(batch.calls):
        return Refused("SCD-13", f"the batch has no call {position}")
    if batch.calls[position].phase is Phase.SYNTHETIC:
        return Refused("SCD-8", f"call {position} has been answered without having started")
    if batch.calls[position].phase is not Phase.ANNOUNCED:
        return Refused("SCD-3", f"call {position} has started, and stays as it is")
    return None


@clause("SCD-2", "SCD-3")
def reclassify(batch: Batch, position: int, mode: Mode) -> Stepped:
    """Change what the live registry makes of a call. Nothing is seen of it before it would start.

    SCD-2  A tool that is hidden or removed meanwhile MUST make its calls
           exclusive.
    SCD-3  The lane MUST NOT learn of it before it asks: a filling that has
           stopped stays stopped until the next one.
    """
    _demand(refuse_reclassify(batch, position))
    changed = _with(batch, position, call(mode))
    return Step(_change(batch, calls=changed, stopped=batch.stopped))  # SCD-3


# -- starting a call ----------------------------------------------------------------------------


@clause("SCD-1", "SCD-4", "SCD-5", "SCD-7", "SCD-8", "SCD-9", "APP-5")
def refuse_start(batch: Batch, position: int) -> Refused | None:
    """Say why the call at `position` may not start now, or nothing.

    SCD-1  Calls MUST start in model order, one at a time.
    SCD-4  At most `max_parallel` dispatches MUST be in flight.
    SCD-5  An exclusive call MUST overlap nothing, from its start until its
           commit.
    SCD-7  The ready prefix MUST be committed before anything else starts.
    SCD-8  A call whose turn comes while the caller signal is aborted MUST NOT
           start.
    APP-5  Approvals of one batch MUST NOT overlap, and are asked in model order:
           they are part of preparing a call.
    SCD-9  After a fault of the runtime no further call MUST start.
    """
    refused = _refuse_ended(batch)
    if refused is not None:
        return refused
    if batch.failed:
        return Refused("SCD-9", "the runtime failed, so no further call starts")
    if batch.aborted:
        return Refused("SCD-8", "the caller has aborted, so no further call starts")
    if position != batch.next_start or position >= len(batch.calls):
        return Refused("SCD-1", f"calls start in model order, and it is not the turn of call {position}")
    refused = _refuse_busy(batch)  # APP-5
    if refused is not None:
        return refused
    if commit_is_due(batch):  # SCD-7
        return Refused("SCD-7", f"call {batch.committed} has settled and is committed first")
    if in_flight(batch) >= batch.max_parallel:  # SCD-4
        return Refused("SCD-4", f"{batch.max_parallel} dispatches are in flight, and no more may be")
    return refuse_overlap(batch, position)


@clause("SCD-3", "SCD-5")
def refuse_overlap(batch: Batch, position: int) -> Refused | None:
    """Say why the call at `position` may not join those that run, or nothing.

    SCD-3  The head of what is left MUST run whatever its mode; a further call
           MUST join only if it is parallel immediately before it would start,
           and if the head was when it started. One that is not MUST stop the
           filling.
    SCD-5  An exclusive call MUST overlap nothing.

    *Why the call before it speaks for the head.*  It is the head, or it has
    joined: then it is parallel, and so was the head.
    """
    if stands_at_head(batch, position):
        return None  # SCD-3
    if batch.calls[position].mode is not Mode.PARALLEL:
        return Refused("SCD-5", f"call {position} is exclusive, and calls before it are not committed")
    if position > 0 and batch.calls[position - 1].mode is not Mode.PARALLEL:  # SCD-5
        return Refused("SCD-5", f"call {position - 1} is exclusive, and it is not committed")
    if batch.stopped:
        return Refused("SCD-3", f"call {position} stopped the filling, and is asked again at the next")
    return None


@clause("SCD-3")
def refuse_stop(batch: Batch, position: int) -> Refused | None:
    """Say why the filling does not stop at the call now, or nothing.

    SCD-3  The first call that is not parallel MUST stop the filling. Where
           something else keeps it from starting, it is not asked.
    """
    if not 0 <= position < len(batch.calls):
        return Refused("SCD-13", f"the batch has no call {position}")
    if refuse_start(batch, position) is None:
        return Refused("SCD-3", f"call {position} may start, so the filling goes on")
    if batch.stopped:
        return Refused("SCD-3", f"the filling has stopped at call {position} already")
    as_parallel = _change(batch, calls=_with(batch, position, call(Mode.PARALLEL)))
    return refuse_start(as_parallel, position)


@clause("SCD-3")
def stop(batch: Batch, position: int) -> Stepped:
    """Stop the filling at a call that may not join: it is asked again at the next filling.

    SCD-3  It MUST be asked again at every later filling: those are after the
           next settlement that the lane notices, and after the next commit.
    """
    _demand(refuse_stop(batch, position))
    return Step(_change(batch, stopped=True))


@clause("SCD-1")
def start(batch: Batch, position: int) -> Stepped:
    """Start a call: log it, and begin to prepare it.

    SCD-1  A call MUST be logged, then prepared, and prepare MUST be awaited
           before the next call starts.
    """
    _demand(refuse_start(batch, position))
    started = _with(batch, position, call(batch.calls[position].mode, Phase.PREPARING))
    logged = _seen(EventName.CALL_LOGGED, position)  # SCD-1
    return Step(_change(batch, calls=started, lane=Lane.PREPARING, next_start=position + 1), (logged,))


@clause("SCD-9", "GRD-5")
def refuse_prepared(batch: Batch, position: int, answer: PrepareAnswer) -> Refused | None:
    """Say why prepare of the call may not end with `answer`, or nothing.

    GRD-5  A call MUST NOT be dispatched when the caller has aborted by the time
           its preparation ends.
    """
    if batch.lane is not Lane.PREPARING or position != batch.next_start - 1:
        return Refused("SCD-1", f"call {position} is not being prepared")
    if isinstance(answer, ToDispatch) and batch.aborted:
        return Refused("GRD-5", f"the caller has aborted, so call {position} is not dispatched")
    if isinstance(answer, PostResult | FinalResult) and not answer.outcome.is_error:
        return Refused("PRE-2", "preparing a call makes no success")
    return None


@clause("SCD-1", "SCD-9")
def prepared(batch: Batch, position: int, answer: PrepareAnswer) -> Stepped:
    """Take prepare's answer: dispatch the call, keep its result, or begin to drain.

    SCD-9  A prepare under way when the runtime fails MUST end, and its call
           MUST NOT be dispatched.
    """
    _demand(refuse_prepared(batch, position, answer))
    mode = batch.calls[position].mode
    if isinstance(answer, Fault):
        lost = _with(batch, position, call(mode, Phase.LOST))
        return Step(_change(batch, calls=lost, lane=Lane.DRAINING, failed=True))
    if batch.failed:
        dropped = _with(batch, position, call(mode, Phase.DROPPED))
        return Step(_change(batch, calls=dropped, lane=Lane.DRAINING))  # SCD-9
    if isinstance(answer, ToDispatch):
        dispatched = call(mode, Phase.DISPATCHED, in_flight=True)
    else:
        dispatched = _settled(batch.calls[position], answer)
    return Step(_change(batch, calls=_with(batch, position, dispatched), lane=Lane.FREE))


# -- dispatch -----------------------------------------------------------------------------------


def _settled(one: Call, answer: ResultAnswer) -> Call:
    match answer:
        case PostResult(outcome):
            return call(one.mode, Phase.SETTLED_POST, outcome, one.in_flight, one.body_invoked)
        case FinalResult(outcome):
            return call(one.mode, Phase.SETTLED_FINAL, outcome, one.in_flight, one.body_invoked)
        case Fault():
            return call(one.mode, Phase.LOST, None, one.in_flight, one.body_invoked)


@clause("DSP-3")
def refuse_body(batch: Batch, position: int) -> Refused | None:
    """Say why the body of the call may not start now, or nothing.

    DSP-3  A body MUST NOT run once its signal has aborted.
    """
    refused = _refuse_ended(batch)
    if refused is not None:
        return refused
    if batch.calls[position].phase is not Phase.DISPATCHED:
        return Refused("SCD-1", f"call {position} is not dispatched")
    if batch.aborted:
        return Refused("DSP-3", f"the caller has aborted, so the body of call {position} does not run")
    return None


@clause("DSP-5")
def body_started(batch: Batch, position: int) -> Stepped:
    """Start the body of a dispatched call.

    DSP-5  "Body invoked" MUST become true immediately before the body is
           called, and at no other place.
    """
    _demand(refuse_body(batch, position))
    running = call(batch.calls[position].mode, Phase.RUNNING, None, True, body_invoked=True)  # DSP-5
    return Step(
        _change(batch, calls=_with(batch, position, running), stopped=batch.stopped),
        (_seen(EventName.BODY_STARTED, position),),
    )


@clause("DSP-9", "OUT-1", "CAN-2")
def refuse_dispatched(batch: Batch, position: int, answer: ResultAnswer) -> Refused | None:
    """Say why the dispatch of the call may not end with `answer`, or nothing.

    DSP-9  A success MUST NOT be answered once the caller has aborted. (Without a
           body there is one only where a wrapper wrote it.)
    OUT-1  Once a body ran, ABORTED_BEFORE_DISPATCH MUST NOT be answered.
    CAN-2  ABORTED MUST NOT be answered for a body that did not run.
    """
    refused = _refuse_ended(batch)
    if refused is not None:
        return refused
    one = batch.calls[position]
    if one.phase not in LIVE:
        return Refused("SCD-1", f"no dispatch of call {position} is under way")
    if isinstance(answer, Fault):
        return None
    outcome = answer.outcome
    if not outcome.is_error and batch.aborted:
        return Refused("DSP-9", f"the caller has aborted, so call {position} does not end in a success")
    if outcome.code == Code.ABORTED_BEFORE_DISPATCH and one.body_invoked:
        return Refused("OUT-1", f"the body of call {position} ran, so it was not aborted before dispatch")
    if outcome.code == Code.ABORTED and not one.body_invoked:
        return Refused("CAN-2", f"the body of call {position} did not run, so nothing of it was aborted")
    return None


@clause("DSP-6", "SCD-9")
def dispatch_settled(batch: Batch, position: int, answer: ResultAnswer, how: How | None = None) -> Stepped:
    """Settle the dispatch of a call; `how` says how its body ended, if it ran.

    DSP-6  A started body MUST be awaited, whatever was aborted.
    SCD-9  A fault MUST be remembered; the lane learns of it when it looks.
    """
    _demand(refuse_dispatched(batch, position, answer))
    one = batch.calls[position]
    seen = (_seen(EventName.BODY_SETTLED, position, how=how),) if one.body_invoked else ()
    return Step(
        _change(
            batch,
            calls=_with(batch, position, _settled(one, answer)),
            failed=isinstance(answer, Fault),  # SCD-9
            stopped=batch.stopped and not isinstance(answer, Fault),
        ),
        seen,
    )


@clause("SCD-4")
def refuse_notice(batch: Batch, position: int) -> Refused | None:
    """Say why the lane may not notice now that the call has settled, or nothing."""
    if batch.lane is not Lane.FREE:
        return Refused("SCD-7", "the lane is busy, and notices settled calls only between two steps")
    one = batch.calls[position]
    if not one.in_flight or one.phase in LIVE:
        return Refused("SCD-4", f"call {position} has not settled, or its slot is free already")
    return None


@clause("SCD-3", "SCD-4")
def notice(batch: Batch, position: int) -> Stepped:
    """Notice that a call has settled: its slot is free again.

    SCD-4  A settled call that waits for its commit MUST NOT count as in
           flight, once the lane has noticed it. When it does so is free.
    SCD-3  The lane then MUST fill the pool again.
    """
    _demand(refuse_notice(batch, position))
    one = batch.calls[position]
    noticed = call(one.mode, one.phase, one.outcome, False, one.body_invoked)
    return Step(_change(batch, calls=_with(batch, position, noticed)))


# -- committing ---------------------------------------------------------------------------------


@clause("SCD-6", "SCD-7", "SCD-9")
def refuse_commit(batch: Batch, position: int) -> Refused | None:
    """Say why the commit of the call may not begin now, or nothing.

    SCD-6  Commits MUST go along the contiguous prefix of settled calls, in
           model order.
    SCD-9  After a fault, results that were due MAY still be committed, in order.
    """
    refused = _refuse_ended(batch) or _refuse_busy(batch)
    if refused is not None:
        return refused
    if position != batch.committed:
        return Refused("SCD-6", f"call {batch.committed} is not answered yet, and results go in model order")
    if batch.calls[position].phase not in SETTLED:
        return Refused("SCD-6", f"call {position} has not settled")
    return None


@clause("SCD-6")
def begin_commit(batch: Batch, position: int) -> Stepped:
    """Begin to commit a call that still visits post-execute.

    SCD-6  Nothing of call k MUST be post-executed before the result of call
           k-1 is logged.
    """
    refused = refuse_commit(batch, position)
    if refused is None and batch.calls[position].phase is not Phase.SETTLED_POST:
        refused = Refused("SCD-6", f"call {position} does not visit post-execute")
    _demand(refused)
    return Step(_change(batch, lane=Lane.COMMITTING))


@clause("SCD-6", "FIN-1", "PST-8", "CAN-2", "CAN-7")
def refuse_committed(batch: Batch, position: int, answer: Outcome | Fault) -> Refused | None:
    """Say why the commit of the call may not end with `answer`, or nothing.

    FIN-1  Finishing MUST keep the result, but for an error of its own making.
    PST-8  A success that is committed while the caller has aborted MUST become
           what the table of cancellation says.
    CAN-2  A cancellation MUST say truly whether the body ran.
    CAN-7  An error MUST be kept as it is when the caller aborts.
    """
    visiting = batch.lane is Lane.COMMITTING and position == batch.committed
    if not visiting:
        refused = refuse_commit(batch, position)
        if refused is not None:
            return refused
    one = batch.calls[position]
    if not visiting and one.phase is not Phase.SETTLED_FINAL:
        return Refused("SCD-6", f"call {position} visits post-execute before it is committed")
    if isinstance(answer, Fault) or one.outcome is None:
        return None
    if not visiting and answer.code not in (one.outcome.code, Code.INVALID_TOOL_OUTPUT):
        return Refused("FIN-1", f"call {position} has its result already")
    if not answer.is_error and one.outcome.is_error:
        return Refused("PST-3", f"the error of call {position} does not become a success")
    if not answer.is_error and batch.aborted:
        return Refused("PST-8", f"the caller has aborted, so call {position} does not end in a success")
    if answer.code == one.outcome.code or answer.code not in (Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH):
        return None
    if not batch.aborted:
        return Refused("CAN-2", f"nobody aborted, so call {position} is not cancelled")
    if one.outcome.is_error:
        return Refused("CAN-7", f"call {position} has an error of its own, and keeps it")
    if answer.code != cancellation_code(one.body_invoked):
        return Refused("CAN-2", f"{answer.code} does not say what happened to call {position}")
    return None


@clause("SCD-6", "SCD-9")
def committed(batch: Batch, position: int, answer: Outcome | Fault) -> Stepped:
    """Commit a call: log its result.

    SCD-6  `tool/result` MUST be logged before anything of the next call is.
    """
    _demand(refuse_committed(batch, position, answer))
    one = batch.calls[position]
    if isinstance(answer, Fault):
        lost = call(one.mode, Phase.LOST, None, one.in_flight, one.body_invoked)
        return Step(_change(batch, calls=_with(batch, position, lost), lane=Lane.DRAINING, failed=True))
    done = call(one.mode, Phase.COMMITTED, answer, one.in_flight, one.body_invoked)
    logged = _seen(EventName.RESULT_LOGGED, position, outcome=answer)  # SCD-6
    return Step(
        _change(batch, calls=_with(batch, position, done), lane=Lane.FREE, committed=position + 1),
        (logged,),
    )


# -- the end ------------------------------------------------------------------------------------


@clause("CAN-1")
def abort(batch: Batch) -> Stepped:
    """Abort the caller's signal. The first abort counts; what runs is not stopped by it."""
    refused = _refuse_ended(batch)
    if refused is None and batch.aborted:
        refused = Refused("CAN-1", "the caller has aborted already")
    _demand(refused)
    return Step(_change(batch, aborted=True), (_seen(EventName.SIGNAL_ABORTED),))


@clause("SCD-8", "SCD-9")
def refuse_skip(batch: Batch, position: int) -> Refused | None:
    """Say why the call may not be answered without having started, or nothing.

    SCD-8  Started calls MUST run to their end and be committed first.
    SCD-9  After a fault no synthetic pair MUST be written, aborted or not.
    """
    refused = _refuse_ended(batch)
    if refused is not None:
        return refused
    if batch.failed:
        return Refused("SCD-9", "the runtime failed, and nothing is invented")
    if not batch.aborted:
        return Refused("SCD-8", "the caller has not aborted, so every call starts")
    refused = _refuse_busy(batch)
    if refused is not None:
        return refused
    if position < batch.next_start:
        return Refused("SCD-8", f"call {position} has started, and its own result is awaited")
    if not (batch.committed == position and in_flight(batch) == 0):
        return Refused("SCD-8", "started calls are committed before the others are answered")
    return None


@clause("SCD-8")
def skip(batch: Batch, position: int) -> Stepped:
    """Answer a call that never started: a pair of records, and nothing else.

    SCD-8  After an abort every call not started MUST be logged as a pair with
           ABORTED_BEFORE_DISPATCH, in model order, with no hook, guard,
           finalizer or observer.
    """
    _demand(refuse_skip(batch, position))
    outcome = Outcome(Code.ABORTED_BEFORE_DISPATCH)
    skipped = _with(batch, position, call(batch.calls[position].mode, Phase.SYNTHETIC, outcome))
    pair = (
        _seen(EventName.CALL_LOGGED, position),
        _seen(EventName.RESULT_LOGGED, position, outcome=outcome),
    )
    return Step(_change(batch, calls=skipped, committed=position + 1), pair)  # SCD-8


@clause("SCD-9", "LOG-3")
def call_unlogged(batch: Batch, position: int) -> Stepped:
    """Fail to log a call that would start, or that is to be answered without having started.

    SCD-9  The log raising MUST be a failure of the runtime: the call does not
           start, and after the failed append nothing further is appended.
    LOG-3  An append that failed MUST NOT be a silent loss.
    """
    refused = refuse_start(batch, position)
    if refused is not None and refuse_skip(batch, position) is not None:
        raise NotEnabled(refused)
    return Step(_change(batch, lane=Lane.DRAINING, failed=True))  # SCD-9, LOG-3


@clause("SCD-9", "LOG-3")
def pair_unfinished(batch: Batch, position: int) -> Stepped:
    """Fail to log the result of a call that is answered without having started: only its call is logged.

    SCD-9  A call without a result MUST stay without one, and nothing further is
           appended.
    LOG-3  An append that failed MUST NOT be a silent loss.
    """
    _demand(refuse_skip(batch, position))
    lost = _with(batch, position, call(batch.calls[position].mode, Phase.LOST))
    failed = _change(batch, calls=lost, lane=Lane.DRAINING, next_start=position + 1, failed=True)
    return Step(failed, (_seen(EventName.CALL_LOGGED, position),))  # SCD-9, LOG-3


@clause("SCD-12", "FIN-4")
def concludes(batch: Batch) -> bool:
    """Say whether the batch concludes the turn.

    SCD-12  It MUST if any committed result does. Its siblings MUST go on: no
            transition asks this.
    FIN-4   Only a success MUST count.
    """
    return any(
        one.phase is Phase.COMMITTED and one.outcome.concludes and not one.outcome.is_error  # SCD-12, FIN-4
        for one in batch.calls
        if one.outcome is not None
    )


@clause("SCD-6", "SCD-15")
def accepted(batch: Batch) -> tuple[str, ...]:
    """The contexts of the calls that are committed, in the order of their commit.

    SCD-15  Those accepted before an abort and after it MUST count alike.
    """
    contexts: list[str] = []
    for one in batch.calls:
        if one.phase is Phase.COMMITTED and one.outcome is not None:
            contexts += one.outcome.contexts  # SCD-6, SCD-15
    return tuple(contexts)


@clause("SCD-15")
def handed_over(batch: Batch) -> tuple[str, ...]:
    """The contexts that may reach the model now.

    SCD-15  Contexts MUST reach the model only after all results of the batch,
            in the order of their commit.
    """
    return accepted(batch) if batch.lane is Lane.RETURNED else ()  # SCD-15


@clause("SCD-10", "SCD-11")
def refuse_close(batch: Batch) -> Refused | None:
    """Say why the batch may not return now, or nothing.

    SCD-10  A batch without a fault MUST have exactly one result for every call.
    SCD-11  When the batch returns, no body of it MUST be running.
    """
    refused = _refuse_ended(batch)
    if refused is not None:
        return refused
    if in_flight(batch):  # SCD-11
        return Refused("SCD-11", "a body of the batch is still in flight")
    refused = _refuse_busy(batch)
    if refused is not None:
        return refused
    if batch.failed:
        return Refused("SCD-9", "the runtime failed, so the batch raises")
    if batch.committed < len(batch.calls):  # SCD-10, SCD-14
        return Refused("SCD-10", f"call {batch.committed} has no result yet")
    return None


@clause("SCD-10", "SCD-11")
def close(batch: Batch) -> Stepped:
    """Let the batch return."""
    _demand(refuse_close(batch))
    return Step(_change(batch, lane=Lane.RETURNED), (_seen(EventName.BATCH_CLOSED),))


@clause("SCD-9")
def refuse_drain(batch: Batch) -> Refused | None:
    """Say why the lane may not give up now, or nothing."""
    if not batch.failed:
        return Refused("SCD-9", "the runtime has not failed")
    return _refuse_ended(batch) or _refuse_busy(batch)


@clause("SCD-9")
def drain(batch: Batch) -> Stepped:
    """Give up after a fault, and wait for what is in flight.

    SCD-9  Everything in flight MUST be awaited.
    """
    _demand(refuse_drain(batch))
    return Step(_change(batch, lane=Lane.DRAINING))


@clause("SCD-9", "SCD-11")
def refuse_raise(batch: Batch) -> Refused | None:
    """Say why the batch may not raise now, or nothing.

    SCD-11  When the batch raises, no body of it MUST be running.
    """
    if batch.lane is not Lane.DRAINING:
        return Refused("SCD-9", "the runtime has not failed, or the lane has not given up")
    if is_live(batch):  # SCD-11
        return Refused("SCD-11", "a body of the batch is still running")
    return None


@clause("SCD-9")
def raise_failure(batch: Batch) -> Stepped:
    """Let the batch raise its first failure.

    SCD-9  The first failure MUST be raised, and calls without a genuine
           result MUST stay without one.
    """
    _demand(refuse_raise(batch))
    return Step(_change(batch, lane=Lane.RAISED), (_seen(EventName.BATCH_FAILED),))
