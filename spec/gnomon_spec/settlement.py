"""PST, FIN: what still happens to a settled call before its result is told.

A settled call waits for its turn. When it comes, the tool may project its
content, and listeners of post-execute see the result: they accept it, replace
its content or its value, hand over contexts, or block it. Then the caller's
signal is looked at for the last time. Whatever became of the call, the tool has
the last word on content, once; then the result is frozen, and observers get the
very result that is returned.

A failure of a policy here is an error result. It is never a silent accept.
"""

from __future__ import annotations

from dataclasses import replace

from gnomon_spec import waterfall
from gnomon_spec.cancellation import outcome_under
from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.vocabulary import (
    Accept,
    Answer,
    Block,
    Change,
    Code,
    Event,
    EventName,
    Execution,
    Failed,
    Malformed,
    Outcome,
    PostDecision,
    Stage,
    event,
)

Stepped = Step[Execution, Event]
POST = "post_execute"


def _outcome(execution: Execution) -> Outcome:
    assert execution.outcome is not None, "a settled call has an outcome"
    return execution.outcome


# -- beginning ----------------------------------------------------------------------------------


@clause("PST-1", "FIN-2")
def begin(execution: Execution) -> Stepped:
    """Begin to finish a settled call, by the route that it settled for.

    PST-1  `projectContent` MUST run once before the waterfall, for every result
           that visits post-execute.
    FIN-2  A result that bypasses post-execute MUST still be finalized.
    """
    if execution.stage is Stage.SETTLED_FINAL:
        return Step(_finish(execution, _outcome(execution)))  # FIN-2
    if execution.stage is not Stage.SETTLED:
        raise NotEnabled(Refused("SCD-6", "the call has not settled"))
    if execution.setup.projector and execution.setup.visible:
        return Step(execution._replace(stage=Stage.PROJECT))  # PST-1
    return _to_post(execution)


@clause("PST-1")
def projected(execution: Execution, answer: Change) -> Stepped:
    """Take what `projectContent` answers.

    PST-1  It MAY replace content only; if it raises, or answers neither nothing
           nor content, that MUST be a failure with INVALID_TOOL_OUTPUT, and the
           waterfall does not run.
    """
    if execution.stage is not Stage.PROJECT:
        raise NotEnabled(Refused("PST-1", "no content is being projected"))
    told = (event(Event(EventName.CONTENT_PROJECTED, 0)),)
    match answer:
        case Change.MALFORMED | Change.RAISED:
            return Step(_finish(execution, Outcome(Code.INVALID_TOOL_OUTPUT)), told)  # PST-1
        case Change.CONTENT:
            outcome = replace(_outcome(execution), content="projected")
            changed = execution._replace(outcome=outcome)
        case Change.NOTHING:
            changed = execution
    entered = _to_post(changed)
    return Step(entered.state, (*told, *entered.events))


def _to_post(execution: Execution) -> Stepped:
    if execution.setup.post == 0:
        return _after_post(execution._replace(stage=Stage.POST), Accept(), ())
    frames = waterfall.entered(execution.setup.post)
    return Step(execution._replace(stage=Stage.POST, frames=frames), (_entered(0),))


# -- post-execute -------------------------------------------------------------------------------


def refuse_post(execution: Execution, listener: int) -> Refused | None:
    """Say why a listener of post-execute may do nothing now, or nothing."""
    if execution.stage is not Stage.POST:
        return Refused("PRE-1", "the call is not in post-execute")
    return waterfall.refuse_decide(execution.frames, listener)


@clause("PST-2")
def post_delegates(execution: Execution, listener: int) -> Stepped:
    """Let a listener of post-execute call `next()`.

    PST-2  The innermost default MUST be to accept the result unchanged.
    """
    refused = refuse_post(execution, listener)
    if refused is not None:
        raise NotEnabled(refused)
    frames = waterfall.delegated(execution.frames, listener, execution.setup.post)
    told: tuple[Event, ...] = (event(Event(EventName.POLICY_DELEGATED, 0, where=POST, listener=listener)),)
    inner = waterfall.running(frames)
    if inner is not None:
        return Step(execution._replace(frames=frames), (*told, _entered(inner)))
    frames, answer = waterfall.answered(frames, Accept())  # PST-2
    if answer is not None:
        return _after_post(execution, answer, told)
    return Step(execution._replace(frames=frames), told)


@clause("PST-2", "PST-3", "PST-7")
def post_decides(execution: Execution, listener: int, decision: PostDecision) -> Stepped:
    """Let a listener of post-execute end.

    PST-3  A decision of any other kind, or whose content, feedback or contexts are
           not content, MUST be a failure, never a silent accept.
    PST-7  A listener that raises MUST give an error result.
    """
    refused = refuse_post(execution, listener)
    if refused is not None:
        raise NotEnabled(refused)
    told = (_decided(listener, decision),)
    proper: Answer = Failed() if isinstance(decision, Malformed) else decision  # PST-3
    frames, answer = waterfall.decided(execution.frames, listener, proper)
    if answer is not None:
        return _after_post(execution, answer, told)
    return Step(execution._replace(frames=frames), told)


@clause("PST-3", "PST-4", "PST-5", "PST-6", "PST-7")
def judged(outcome: Outcome, answer: Answer) -> Outcome:
    """Say what the decision of post-execute makes of an outcome.

    PST-3  Content and value together MUST be a failure; so MUST a value for a
           failed result.
    PST-4  A replaced value MUST go through the output check of the definition
           visible now; it recomputes content and meta and keeps the conclusion; a
           tool that has gone is UNKNOWN_TOOL. Replaced content leaves value, meta,
           error and message as they were.
    PST-5  `block` MUST give an error; it replaces an earlier error and its code;
           only contexts that the block itself names survive.
    PST-6  `accept` MUST keep the body's contexts, then the decision's.
    PST-7  A failure here MUST drop contexts, meta and conclusion.
    """
    match answer:
        case Block(contexts):
            return Outcome(Code.BLOCKED, contexts=contexts, content="feedback")  # PST-5
        case Accept(content, value) if content is not None and value is not None:
            return Outcome(Code.POLICY_ERROR)  # PST-3
        case Accept(value=value) if value is not None and outcome.is_error:
            return Outcome(Code.POLICY_ERROR)  # PST-3
        case Accept(value=value, gone=True) if value is not None:
            return Outcome(Code.UNKNOWN_TOOL)  # PST-4
        case Accept(value=value, fits=False) if value is not None:
            return Outcome(Code.INVALID_TOOL_OUTPUT)  # PST-4
        case Accept(content, value, contexts):
            kept = replace(outcome, contexts=(*outcome.contexts, *contexts))  # PST-6
            if value is not None:
                return replace(kept, nonce=value, content=None)  # PST-4
            return kept if content is None else replace(kept, content=content)  # PST-4
        case Failed(code):
            return Outcome(code)  # PST-7
        case _:
            return Outcome(Code.POLICY_ERROR)  # PST-3


@clause("PST-8")
def after_post_execute(outcome: Outcome, aborted: bool, body_invoked: bool) -> Outcome:
    """Look at the caller's signal for the last time.

    PST-8  After post-execute, a success MUST become what the table of
           cancellation says if the caller has aborted.
    """
    return outcome_under(aborted, outcome, body_invoked)  # PST-8


def _after_post(execution: Execution, answer: Answer, told: tuple[Event, ...]) -> Stepped:
    outcome = judged(_outcome(execution), answer)
    outcome = after_post_execute(outcome, execution.aborted, execution.body_invoked)
    # From here on an abort changes nothing (CAN-1).
    return Step(_finish(execution, outcome), (*told, event(Event(EventName.RESULT_SETTLED, 0))))


# -- finishing ----------------------------------------------------------------------------------


@clause("FIN-4")
def _finish(execution: Execution, outcome: Outcome) -> Execution:
    """Go on to finishing.

    FIN-4  Only a final success MUST conclude the turn.
    """
    final = replace(outcome, concludes=False, meta=False) if outcome.is_error else outcome  # FIN-4
    stage = Stage.FINALIZE if execution.finalizer else Stage.OBSERVE
    return execution._replace(stage=stage, frames=(), outcome=final)


@clause("FIN-1", "FIN-2")
def finalized(execution: Execution, answer: Change) -> Stepped:
    """Take what `finalizeContent` answers.

    FIN-1  The result MUST be materialized; if that fails, the error of that failure
           is. This step MUST always produce a result.
    FIN-2  It MUST run exactly once for every call whose definition was visible at
           creation, also for those that bypassed post-execute; it MAY replace
           content only; if it raises, or answers something else, the result MUST
           become that error, without contexts, meta, value or conclusion.
    """
    if execution.stage is not Stage.FINALIZE:
        raise NotEnabled(Refused("FIN-2", "no content is to be finalized"))
    told = (event(Event(EventName.CONTENT_FINALIZED, 0)),)
    match answer:
        case Change.MALFORMED | Change.RAISED:
            outcome = Outcome(Code.INVALID_TOOL_OUTPUT)  # FIN-1, FIN-2
        case Change.CONTENT:
            outcome = replace(_outcome(execution), content="finalized")
        case Change.NOTHING:
            outcome = _outcome(execution)
    return Step(execution._replace(stage=Stage.OBSERVE, outcome=outcome), told)


@clause("FIN-3")
def observed(execution: Execution) -> Stepped:
    """Tell the observers, and be done.

    FIN-3  Observers MUST get the very result that is returned, before
           `tool/result` is logged; whatever one of them does changes nothing.
    """
    if execution.stage is not Stage.OBSERVE:
        raise NotEnabled(Refused("FIN-3", "there is no result to tell yet"))
    outcome = _outcome(execution)
    told = (
        event(Event(EventName.RESULT_OBSERVED, 0, outcome=outcome)),
        event(Event(EventName.RESULT_LOGGED, 0, outcome=outcome)),
    )
    return Step(execution._replace(stage=Stage.DONE), told)  # FIN-3


# -- what is seen -------------------------------------------------------------------------------


def _entered(listener: int) -> Event:
    return event(Event(EventName.POLICY_ENTERED, 0, where=POST, listener=listener))


def _decided(listener: int, decision: PostDecision) -> Event:
    words = {Accept: "accept", Block: "block", Malformed: "malformed", Failed: "raised"}
    word = words[type(decision)]
    return event(Event(EventName.POLICY_DECIDED, 0, where=POST, listener=listener, what=word))
