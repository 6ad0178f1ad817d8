"""What the events of a history have said so far.

A property reads a history once, event by event. What it needs to remember of the
events before is in a *ledger*: for each call a *track* of what was seen of it,
and what was seen of the batch. It holds nothing that cannot be seen from
outside.
"""

from __future__ import annotations

from typing import NamedTuple

from gnomon_spec.vocabulary import Announced, Event, EventName, How, Outcome


class Track(NamedTuple):
    """What has been seen of one call."""

    logged: int | None = None
    """Sequence number of its `tool/call`; -1 where it is logged and the number is not known."""
    bodies: int = 0
    running: bool = False
    ended: How | None = None
    """How the body of the present attempt ended; a retry begins a new attempt."""
    answered: bool = False
    returned: bool = False
    """A body of some attempt returned a value that passed its check."""
    authored: bool = False
    """A policy put a result of its own in place, or a value."""
    admitted: str | None = None
    """What the outermost listener of pre-execute decided."""
    approved: str | None = None
    """"asked", then what the approval answered."""
    passed: int = 0
    """How many guards have let the call through."""
    stopped: str | None = None
    """What the guard answered that denied the call, or failed."""
    deferred: tuple[str, ...] = ()
    timed_out: bool = False
    """The call's own deadline passed before anything else aborted it."""
    withheld: str | None = None
    """What the outermost listener of post-execute decided."""
    settled: bool = False
    """The caller's signal was looked at for the last time, and had not aborted (CAN-1)."""
    finalized: int = 0
    observed: Outcome | None = None


class Ledger(NamedTuple):
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


def known(ledger: Ledger, pos: int | None) -> bool:
    """Whether `pos` is the position of an announced call."""
    return pos is not None and 0 <= pos < len(ledger.tracks)


def enter(ledger: Ledger, one: Event) -> Ledger:
    """Enter an event into the ledger."""
    match one.name:
        case EventName.BATCH_OPENED:
            calls = one.calls or ()
            return Ledger(calls, tuple(Track() for _ in calls), one.max_parallel)
        case EventName.SIGNAL_ABORTED if one.what is None:
            return ledger._replace(aborted=True)
        case EventName.SIGNAL_ABORTED:
            return _deadline_passed(ledger) if one.what == "deadline" else ledger
        case EventName.BATCH_CLOSED | EventName.BATCH_FAILED:
            return ledger._replace(ended=one.name)
    if one.pos is None or not known(ledger, one.pos):
        return ledger
    track = ledger.tracks[one.pos]
    pair = ledger.pair
    match one.name:
        case EventName.CALL_LOGGED:
            track = track._replace(logged=-1 if one.log_seq is None else one.log_seq)
            pair = one.pos if ledger.aborted else None
        case EventName.BODY_STARTED:
            track = track._replace(bodies=track.bodies + 1, running=True, ended=None)
        case EventName.BODY_SETTLED:
            genuine = one.how is How.RETURNED and one.what != "unfit"
            track = track._replace(running=False, ended=one.how, returned=track.returned or genuine)
        case (
            EventName.POLICY_ENTERED
            | EventName.POLICY_DELEGATED
            | EventName.POLICY_DECIDED
            | EventName.GUARD_ANSWERED
            | EventName.APPROVAL_ASKED
            | EventName.APPROVAL_DECIDED
        ):
            track = _after_policy(track, one)
        case EventName.CONTEXT_DEFERRED if one.context is not None:
            track = track._replace(deferred=(*track.deferred, one.context))
        case EventName.RESULT_SETTLED:
            track = track._replace(settled=not ledger.aborted)
        case EventName.CONTENT_FINALIZED:
            settled = track.settled or not ledger.aborted
            track = track._replace(finalized=track.finalized + 1, settled=settled)
        case EventName.RESULT_OBSERVED:
            settled = track.settled or not ledger.aborted  # an observer gets what is final (FIN-3)
            track = track._replace(observed=one.outcome, settled=settled)
        case EventName.RESULT_LOGGED:
            track = track._replace(answered=True)
            pair = None
    tracks = ledger.tracks[: one.pos] + (track,) + ledger.tracks[one.pos + 1 :]
    unlogged, unanswered = ledger.first_unlogged, ledger.first_unanswered
    while unlogged < len(tracks) and tracks[unlogged].logged is not None:
        unlogged += 1
    while unanswered < len(tracks) and tracks[unanswered].answered:
        unanswered += 1
    return ledger._replace(tracks=tracks, pair=pair, first_unlogged=unlogged, first_unanswered=unanswered)


def _deadline_passed(ledger: Ledger) -> Ledger:
    """A deadline belongs to a call alone: here, to the only one. After an abort it counts for nothing."""
    if ledger.aborted:
        return ledger
    return ledger._replace(tracks=tuple(one._replace(timed_out=True) for one in ledger.tracks))


def _after_policy(track: Track, one: Event) -> Track:
    outermost = one.listener == 0
    match one.name, one.where:
        case EventName.POLICY_DELEGATED, "execute":
            return track._replace(ended=None)
        case EventName.POLICY_DECIDED, "pre_execute" if outermost:
            return track._replace(admitted=one.what)
        case EventName.POLICY_DECIDED, "execute" if one.what == "authored":
            return track._replace(authored=True)
        case EventName.POLICY_DECIDED, "post_execute" if outermost:
            return track._replace(withheld=one.what)
        case EventName.GUARD_ANSWERED, _ if one.what == "pass":
            return track._replace(passed=track.passed + 1)
        case EventName.GUARD_ANSWERED, _:
            return track._replace(stopped=one.what)
        case EventName.APPROVAL_ASKED, _:
            return track._replace(approved="asked")
        case EventName.APPROVAL_DECIDED, _:
            return track._replace(approved=one.what)
        case _:
            return track
