"""What must hold of a single call: policies, and what its result carries."""

from __future__ import annotations

from gnomon_spec.ledger import Ledger, Track, known
from gnomon_spec.properties.kinds import (
    BODY,
    CONTENT,
    CONTEXTS,
    DEADLINE,
    OBSERVER,
    POLICY,
    VERDICTS,
    Finding,
    always,
)
from gnomon_spec.vocabulary import Code, Event, EventName

# -- always: policy -----------------------------------------------------------------------------


def _at(ledger: Ledger, one: Event, *names: EventName) -> Track | None:
    """The track of the call that the event is about, if it is one of `names`."""
    if one.name not in names or one.pos is None or not known(ledger, one.pos):
        return None
    return ledger.tracks[one.pos]


def _position(one: Event) -> tuple[int, ...]:
    return () if one.pos is None else (one.pos,)


@always("GuardsNotSkippable", "PRE-3", "GRD-1", "GRD-2", "GRD-4", needs=[BODY, POLICY])
def guards_not_skippable(ledger: Ledger, one: Event) -> Finding:
    """A body starts only when every guard has been asked and has let the call through.

    PRE-3  A listener MUST NOT hide guards.
    GRD-1  Every guard MUST be asked.
    GRD-2  The first reason MUST deny, whoever allowed the call.
    GRD-4  A guard that fails MUST NOT let the call through.
    """
    track = _at(ledger, one, EventName.BODY_STARTED)
    if track is None or one.pos is None:
        return None
    if track.stopped == "deny":
        return ("GRD-2", "a body that a guard had denied", (one.pos,))
    if track.stopped is not None:
        return ("GRD-4", "a body whose guard had failed", (one.pos,))
    guards = ledger.announced[one.pos].guards
    if guards is not None and track.passed < guards:
        return ("GRD-1", "a body before all guards were asked", (one.pos,))
    return None


@always("FailClosed", "PRE-2", "PRE-4", "APP-1", "APP-2", "APP-4", "PST-3", "PST-5", needs=[BODY, POLICY])
def fail_closed(ledger: Ledger, one: Event) -> Finding:
    """No malformed decision lets a body run or a result through.

    PRE-2  Anything that is no decision MUST be a pipeline failure.
    PRE-4  A denied or cancelled call MUST NOT run.
    APP-1  A call MUST run only after `allowed-once`, where it was asked for.
    APP-2  Where nobody can be asked the call MUST be denied.
    APP-4  Neither a failing answerer nor a failing service MUST be a grant.
    PST-5  A blocked result MUST be an error.
    PST-3  A malformed decision of post-execute MUST NOT be a silent accept.
    """
    track = _at(ledger, one, EventName.BODY_STARTED)
    if track is not None:
        if track.admitted in ("deny", "cancel"):
            return ("PRE-4", "a body that a listener had denied", _position(one))
        if track.admitted not in (None, "allow", "ask"):
            return ("PRE-2", "a body that no listener allowed", _position(one))
        if track.admitted == "ask" and track.approved is None:
            return ("APP-2", "a body although nobody could be asked", _position(one))
        if track.admitted == "ask" and track.approved != "allowed-once":
            return ("APP-1", "a body without the approval that was asked for", _position(one))
        return None
    track = _at(ledger, one, EventName.RESULT_LOGGED)
    if track is None or one.outcome is None or one.outcome.is_error:
        return None
    if track.withheld == "block":
        return ("PST-5", "a success that post-execute had blocked", _position(one))
    if track.withheld in ("malformed", "raised"):
        return ("PST-3", "a success that post-execute withheld", _position(one))
    return None


@always("AskedThenDecided", "APP-6", needs=[POLICY])
def asked_then_decided(ledger: Ledger, one: Event) -> Finding:
    """Every request for approval is decided once, after it was asked.

    APP-6  Every request MUST be logged as asked and decided, once each, in that
           order.
    """
    track = _at(ledger, one, EventName.APPROVAL_DECIDED, EventName.APPROVAL_ASKED)
    if track is None:
        return None
    if one.name is EventName.APPROVAL_DECIDED and track.approved != "asked":
        return ("APP-6", "an approval decided without being open", _position(one))
    if one.name is EventName.APPROVAL_ASKED and track.approved is not None:
        return ("APP-6", "an approval asked twice", _position(one))
    return None


@always("TimeoutOfItsOwn", "TMO-2", needs=[DEADLINE])
def timeout_of_its_own(ledger: Ledger, one: Event) -> Finding:
    """TOOL_TIMEOUT is answered only where the call's own deadline passed first.

    TMO-2  If an outer abort came first, the result MUST be left alone.
    """
    track = _at(ledger, one, EventName.RESULT_LOGGED)
    if track is None or one.outcome is None or one.outcome.code != Code.TOOL_TIMEOUT:
        return None
    if not track.timed_out:
        return ("TMO-2", "a timeout without its deadline", _position(one))
    return None


# -- always: what a result carries --------------------------------------------------------------


@always("OutputChecked", "OUT-1", "DSP-10", needs=[BODY, POLICY, VERDICTS])
def output_checked(ledger: Ledger, one: Event) -> Finding:
    """A value that does not fit never comes out as a success.

    OUT-1   A value that fails its check MUST give INVALID_TOOL_OUTPUT.
    DSP-10  A wrapper's own success MUST go through the same check.
    """
    track = _at(ledger, one, EventName.RESULT_LOGGED)
    if track is None or one.outcome is None or one.outcome.is_error:
        return None
    if track.bodies and not track.returned and not track.authored:
        return ("OUT-1", "a success whose value does not fit", _position(one))
    return None


@always("ContextDiscipline", "DSP-11", "PST-5", "PST-7", "DSP-13", needs=[POLICY, CONTEXTS])
def context_discipline(ledger: Ledger, one: Event) -> Finding:
    """Contexts of bodies come first and in order; a block and a failure drop them.

    DSP-11  Contexts deferred by bodies MUST come first, in call order.
    DSP-13  After a pipeline failure contexts of every kind MUST be lost.
    PST-5   Only contexts that a block itself names MUST survive it.
    PST-7   A failure of post-execute MUST drop contexts.
    """
    track = _at(ledger, one, EventName.RESULT_LOGGED)
    if track is None or one.outcome is None:
        return None
    contexts = one.outcome.contexts
    bodies = tuple(context for context in contexts if context in track.deferred)
    if bodies and track.withheld == "block":
        return ("PST-5", "contexts of a body that was blocked", _position(one))
    if contexts and track.withheld in ("malformed", "raised"):
        return ("PST-7", "contexts after a failure of post-execute", _position(one))
    if bodies and contexts[: len(bodies)] != bodies:
        return ("DSP-11", "contexts of a body that do not come first", _position(one))
    kept = one.outcome.code in (None, Code.ABORTED)
    if bodies != track.deferred and (bodies or kept):
        return ("DSP-11", "contexts of a body that were lost or reordered", _position(one))
    return None


@always("ConcludeOnlyOnSuccess", "FIN-4", needs=[])
def conclude_only_on_success(ledger: Ledger, one: Event) -> Finding:
    """A blocked, failed or cancelled call concludes nothing.

    FIN-4  `concludesTurn` MUST count only on a final success.
    """
    if one.name is not EventName.RESULT_LOGGED or one.outcome is None:
        return None
    if one.outcome.is_error and one.outcome.concludes:
        return ("FIN-4", "an error that concludes the turn", _position(one))
    return None


@always("FinalizerExactlyOnce", "FIN-2", needs=[CONTENT])
def finalizer_exactly_once(ledger: Ledger, one: Event) -> Finding:
    """The finalizer of a call that was created runs exactly once, before the result is told.

    FIN-2  It MUST run exactly once, also for calls that bypassed post-execute.
    """
    track = _at(ledger, one, EventName.CONTENT_FINALIZED, EventName.RESULT_LOGGED)
    if track is None or one.pos is None:
        return None
    if one.name is EventName.CONTENT_FINALIZED:
        if track.finalized:
            return ("FIN-2", "finalized twice", (one.pos,))
        return None
    if ledger.announced[one.pos].finalizes and track.finalized == 0 and one.pos != ledger.pair:
        return ("FIN-2", "never finalized", (one.pos,))
    return None


@always("ObserverSeesReturned", "FIN-3", needs=[OBSERVER])
def observer_sees_returned(ledger: Ledger, one: Event) -> Finding:
    """Observers get the very result that is returned, before it is logged.

    FIN-3  Observers MUST get the result that is returned.
    """
    track = _at(ledger, one, EventName.RESULT_LOGGED)
    if track is None or one.pos == ledger.pair:
        return None
    if track.observed is None:
        return ("FIN-3", "logged before it was observed", _position(one))
    if track.observed != one.outcome:
        return ("FIN-3", "another result than was observed", _position(one))
    return None
