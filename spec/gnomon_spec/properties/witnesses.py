"""Situations that a good exploration must reach."""

from __future__ import annotations

from gnomon_spec.ledger import Ledger
from gnomon_spec.properties.kinds import sometimes
from gnomon_spec.properties.of_batches import unanswered
from gnomon_spec.vocabulary import Code, Event, EventName, How


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
