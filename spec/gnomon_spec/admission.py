"""CRE, PRE, APP, GRD: how a call is admitted, before anything runs.

Creating an execution fixes who the call is: its id, its name, its arguments.
Then policies have their say, in three ways that differ in what they may do.
*Listeners* of pre-execute allow, deny, cancel or ask; one may hide those after
it. An *approval* is asked for where a listener says so, and a grant is good for
this one call. *Guards* come last, cannot be hidden, and can only deny: what one
of them denies, nobody turns back. Whatever is not a proper decision fails the
call; nothing ever lets it through.

Each function ends the preparation of a call (`PREPARED`, `SETTLED` or
`SETTLED_FINAL`) or says what it waits for next.
"""

from __future__ import annotations

from collections.abc import Sequence

from gnomon_spec import waterfall
from gnomon_spec.cancellation import cancellation_code
from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.values import Json, NotAValue
from gnomon_spec.vocabulary import (
    Allow,
    Answer,
    Approval,
    Ask,
    Cancel,
    Code,
    Deny,
    Event,
    EventName,
    Execution,
    Failed,
    FinalResult,
    Malformed,
    Outcome,
    PreDecision,
    PrepareAnswer,
    Setup,
    Stage,
    ToDispatch,
    Verdict,
    event,
)

Stepped = Step[Execution, Event]
PRE = "pre_execute"


# -- creation -----------------------------------------------------------------------------------


@clause("CRE-2", "CRE-4")
def created(arguments: Json | NotAValue, aborted: bool) -> PrepareAnswer:
    """Say how the creation of an execution ends.

    CRE-2  Arguments that cannot be snapshotted MUST give INVALID_ARGS, with no
           policy and no body, also when the caller has aborted.
    CRE-4  If the caller signal is aborted when creation ends, the call MUST
           get ABORTED_BEFORE_DISPATCH, and no policy runs.
    """
    if isinstance(arguments, NotAValue):
        return FinalResult(Outcome(Code.INVALID_ARGS))  # CRE-2
    if aborted:
        return FinalResult(Outcome(Code.ABORTED_BEFORE_DISPATCH))  # CRE-4
    return ToDispatch()


@clause("CRE-1", "CRE-2", "CRE-3", "CRE-4", "CRE-6", "CRE-7", "MOD-2")
def create(setup: Setup, aborted: bool = False) -> Stepped:
    """Create the execution of a call, and send it on its way.

    CRE-1  An execution MUST have its identity (call id, name, arguments, caller
           scope, parent, root, a fresh token) from here on.
    CRE-3  `projectContent` and `finalizeContent` MUST be taken from the visible
           definition here; later changes of the registry do not change them.
    CRE-6  For a call that MOD-2 collapses, bad arguments MUST give INVALID_ARGS,
           else an aborted signal ABORTED_BEFORE_DISPATCH, else UNKNOWN_TOOL; its
           finalizer is kept only if the signal is aborted at that moment.
    CRE-7  Each field of the input MUST be read once, visibility and finalizer
           before arguments.
    MOD-2  Under `ptc` a model-direct call to another visible tool MUST be refused
           as a final result, before any policy sees it.
    """
    finalizer = setup.visible and setup.finalizer and (aborted or not setup.collapsed)  # CRE-3, CRE-6, CRE-7
    born = Execution(setup, Stage.PRE, aborted, guards=setup.guards, finalizer=finalizer)  # CRE-1
    if not setup.arguments:
        return Step(_final(born, Outcome(Code.INVALID_ARGS)))  # CRE-2, CRE-6
    if aborted:
        return Step(_final(born, Outcome(Code.ABORTED_BEFORE_DISPATCH)))  # CRE-4, CRE-6
    if setup.collapsed:
        return Step(_final(born, Outcome(Code.UNKNOWN_TOOL)))  # CRE-6, MOD-2
    if setup.pre == 0:
        return _after_pre(born, Allow(), ())
    frames = waterfall.entered(setup.pre)
    return Step(born._replace(frames=frames), (_entered(0),))


def _final(execution: Execution, outcome: Outcome) -> Execution:
    return execution._replace(stage=Stage.SETTLED_FINAL, frames=(), outcome=outcome)


def _post(execution: Execution, outcome: Outcome) -> Execution:
    return execution._replace(stage=Stage.SETTLED, frames=(), outcome=outcome)


# -- pre-execute --------------------------------------------------------------------------------


def refuse_pre(execution: Execution, listener: int) -> Refused | None:
    """Say why a listener of pre-execute may do nothing now, or nothing."""
    if execution.stage is not Stage.PRE:
        return Refused("PRE-1", "the call is not in pre-execute")
    return waterfall.refuse_decide(execution.frames, listener)


@clause("PRE-1")
def pre_delegates(execution: Execution, listener: int) -> Stepped:
    """Let a listener of pre-execute call `next()`.

    PRE-1  `next()` MUST delegate; the innermost default is `allow`.
    """
    refused = refuse_pre(execution, listener)
    if refused is not None:
        raise NotEnabled(refused)
    count = execution.setup.pre
    frames = waterfall.delegated(execution.frames, listener, count)
    told = (event(Event(EventName.POLICY_DELEGATED, 0, where=PRE, listener=listener)),)
    inner = waterfall.running(frames)
    if inner is not None:
        return Step(execution._replace(frames=frames), (*told, _entered(inner)))
    frames, answer = waterfall.answered(frames, Allow())  # PRE-1
    if answer is not None:
        return _after_pre(execution, answer, told)
    return Step(execution._replace(frames=frames), told)


@clause("PRE-2", "PRE-3", "PRE-5")
def pre_decides(execution: Execution, listener: int, decision: PreDecision) -> Stepped:
    """Let a listener of pre-execute end.

    PRE-2  Anything that is no decision MUST be a pipeline failure: the body does
           not run.
    PRE-3  A listener that decides without delegating MUST hide the listeners
           after it. It MUST NOT hide guards.
    PRE-5  A listener that raises MUST be a pipeline failure, keeping the code of
           a structured error.
    """
    refused = refuse_pre(execution, listener)
    if refused is not None:
        raise NotEnabled(refused)
    told = (_decided(listener, decision),)
    proper: Answer = Failed() if isinstance(decision, Malformed) else decision  # PRE-2
    frames, answer = waterfall.decided(execution.frames, listener, proper)  # PRE-3
    if answer is not None:
        return _after_pre(execution, answer, told)
    return Step(execution._replace(frames=frames), told)


@clause("PRE-2", "PRE-4", "PRE-5", "PRE-6")
def _after_pre(execution: Execution, answer: Answer, told: tuple[Event, ...]) -> Stepped:
    """Take the answer of the whole waterfall.

    PRE-4  `deny` MUST become an error result with that reason; `cancel` MUST
           become ABORTED_BEFORE_DISPATCH; both visit post-execute.
    PRE-6  A denial or failure that settles after the caller aborted MUST be kept
           as it is.
    """
    match answer:
        case Deny(code):
            return Step(_post(execution, Outcome(code)), told)  # PRE-4, PRE-6
        case Cancel():
            return Step(_post(execution, Outcome(Code.ABORTED_BEFORE_DISPATCH)), told)  # PRE-4
        case Allow():
            return _to_guards(execution, told)
        case Ask():
            return _ask(execution, told)
        case Failed(code):
            return Step(_final(execution, Outcome(code)), told)  # PRE-2, PRE-5, PRE-6
        case _:
            return Step(_final(execution, Outcome(Code.POLICY_ERROR)), told)  # PRE-2


# -- approval -----------------------------------------------------------------------------------


@clause("APP-2", "APP-7", "APP-9", "APP-10", "LOG-3")
def _ask(execution: Execution, told: tuple[Event, ...]) -> Stepped:
    """Ask for an approval, if there is anybody to ask.

    APP-2   Without a service, and without a caller scope, the call MUST be
            denied, saying so; nothing is asked.
    APP-7   A session policy `never` MUST reject before any answerer; an aborted
            signal is looked at first and gives `cancelled`. Both are logged.
    APP-9   Service and policy MUST be looked up at each ask.
    APP-10  Without an open turn asking MUST be a pipeline failure, and nothing
            is logged.
    LOG-3   A record of an approval that cannot be appended MUST be a pipeline
            failure.
    """
    setup = execution.setup
    if not setup.service or not setup.scope:
        return Step(_post(execution, Outcome(Code.APPROVAL_UNAVAILABLE)), told)  # APP-2, APP-9
    if not setup.turn:
        return Step(_final(execution, Outcome(Code.POLICY_ERROR)), told)  # APP-10
    if setup.unlogged == "asked":
        return Step(_final(execution, Outcome(Code.POLICY_ERROR)), told)  # LOG-3
    asked = event(Event(EventName.APPROVAL_ASKED, 0))
    waiting = execution._replace(stage=Stage.APPROVAL, frames=())
    if execution.aborted:
        return _approved(waiting, Approval.CANCELLED, (*told, asked))  # APP-7
    if setup.never:
        return _approved(waiting, Approval.REJECTED, (*told, asked))  # APP-7
    return Step(waiting, (*told, asked))


@clause("APP-11", "APP-6")
def refuse_approval(execution: Execution, answer: Approval) -> Refused | None:
    """Say why the approval may not be answered so now, or nothing.

    APP-6   An answer after the request was withdrawn MUST change nothing.
    APP-11  On abort a pending request MUST settle `cancelled` at once.
    """
    if execution.stage is not Stage.APPROVAL:
        return Refused("APP-6", "no request is open")
    if execution.aborted and answer is not Approval.CANCELLED:
        return Refused("APP-11", "the caller has aborted, so the request is withdrawn")  # APP-11
    return None


@clause("APP-1", "APP-3", "APP-4", "APP-6")
def approval_answered(execution: Execution, answer: Approval) -> Stepped:
    """Take the answer of the approval.

    APP-1  The call MUST go on only after `allowed-once`; a grant is for this call
           only.
    APP-3  `cancelled` while the caller signal is aborted MUST be
           ABORTED_BEFORE_DISPATCH, and guards do not run.
    APP-4  An answerer that raises or answers something else MUST count as
           `unavailable`; a service that does MUST be a pipeline failure.
    APP-6  Every request MUST be logged as asked and decided, once each.
    """
    refused = refuse_approval(execution, answer)
    if refused is not None:
        raise NotEnabled(refused)
    return _approved(execution, answer, ())


@clause("LOG-3")
def _approved(execution: Execution, answer: Approval, told: tuple[Event, ...]) -> Stepped:
    """Take an answer, and log it.

    LOG-3  A record of an approval that cannot be appended MUST be a pipeline
           failure, whatever was answered.
    """
    if answer is Approval.BROKEN:
        return Step(_final(execution, Outcome(Code.POLICY_ERROR)), told)  # APP-4
    if execution.setup.unlogged == "decided":
        return Step(_final(execution, Outcome(Code.POLICY_ERROR)), told)  # LOG-3
    heard = Approval.UNAVAILABLE if answer is Approval.OTHER else answer  # APP-4
    told = (*told, event(Event(EventName.APPROVAL_DECIDED, 0, what=heard.value)))  # APP-6
    match heard:
        case Approval.ALLOWED_ONCE:
            return _to_guards(execution, told)  # APP-1
        case Approval.CANCELLED if execution.aborted:
            return Step(_post(execution, Outcome(Code.ABORTED_BEFORE_DISPATCH)), told)  # APP-3
        case _:
            return Step(_post(execution, Outcome(approval_code(heard))), told)


@clause("APP-8")
def first_to_decide(answers: Sequence[Approval | None]) -> Approval:
    """Say what comes of answerers, in the order of their waterfall; None stands for one that delegates.

    APP-8  Answerers MUST form a waterfall in the asking scope, by default
           `unavailable`; the first to decide wins.
    """
    for answer in answers:
        if answer is not None:
            return answer  # APP-8
    return Approval.UNAVAILABLE


@clause("APP-2", "ERR-1")
def approval_code(answer: Approval) -> Code:
    """Say which code an approval gives that is no grant.

    APP-2  `rejected`, `cancelled` and `unavailable` MUST each have a code of
           their own.
    """
    codes = {
        Approval.REJECTED: Code.APPROVAL_REJECTED,
        Approval.CANCELLED: Code.APPROVAL_CANCELLED,
        Approval.UNAVAILABLE: Code.APPROVAL_UNAVAILABLE,
    }
    return codes[answer]  # APP-2


# -- guards -------------------------------------------------------------------------------------


@clause("GRD-1", "GRD-7")
def _to_guards(execution: Execution, told: tuple[Event, ...]) -> Stepped:
    """Go on to the guards.

    GRD-1  Guards MUST run after the waterfall and the approval, only when those
           allow: the global layer's first, then each layer of the scope chain,
           farthest first.
    GRD-7  They MUST run although the caller has aborted.
    """
    waiting = execution._replace(stage=Stage.GUARDS, frames=(), asked=0)  # GRD-1, GRD-7
    if waiting.guards == 0:
        return Step(_guarded(waiting), told)
    return Step(waiting, told)


@clause("GRD-2", "GRD-4")
def guard_answers(execution: Execution, answer: Verdict) -> Stepped:
    """Take the answer of the next guard.

    GRD-2  The first reason MUST deny; no later guard, listener or approval turns
           it back.
    GRD-4  A guard that raises, or answers something that is neither nothing nor
           a reason, MUST fail the call; it never lets it through.
    """
    if execution.stage is not Stage.GUARDS:
        raise NotEnabled(Refused("GRD-1", "the guards are not being asked"))
    told = (event(Event(EventName.GUARD_ANSWERED, 0, what=answer.value, listener=execution.asked)),)
    match answer:
        case Verdict.DENY:
            return Step(_post(execution, Outcome(Code.DENIED)), told)  # GRD-2
        case Verdict.MALFORMED | Verdict.RAISED:
            return Step(_final(execution, Outcome(Code.POLICY_ERROR)), told)  # GRD-4
        case Verdict.PASS:
            asked = execution._replace(asked=execution.asked + 1)
            return Step(_guarded(asked) if asked.asked == asked.guards else asked, told)


@clause("GRD-5")
def _guarded(execution: Execution) -> Execution:
    """Look at the caller's signal once more, when the guards have let the call through.

    GRD-5  Aborted MUST mean ABORTED_BEFORE_DISPATCH.
    """
    if execution.aborted:
        return _post(execution, Outcome(cancellation_code(body_invoked=False)))  # GRD-5
    return execution._replace(stage=Stage.PREPARED)


@clause("GRD-6")
def guard_added(execution: Execution) -> Stepped:
    """Let a guard add another, to a layer that is still to be finished.

    GRD-6  It MUST take part in this call.
    """
    if execution.stage is not Stage.GUARDS:
        raise NotEnabled(Refused("GRD-6", "the guards are not being asked"))
    return Step(execution._replace(guards=execution.guards + 1))  # GRD-6


@clause("GRD-3")
def no_more_runs(denied_before: bool, denied_after: bool) -> bool:
    """Say whether two runs, the second with one guard more, are as they must be.

    GRD-3  Adding a guard MUST NOT turn a denied call into an allowed one; removing
           one MUST NOT turn an allowed call into a denied one.
    """
    return denied_after or not denied_before  # GRD-3


# -- what is seen -------------------------------------------------------------------------------


def _entered(listener: int) -> Event:
    return event(Event(EventName.POLICY_ENTERED, 0, where=PRE, listener=listener))


def _decided(listener: int, decision: PreDecision) -> Event:
    words = {
        Allow: "allow",
        Deny: "deny",
        Cancel: "cancel",
        Ask: "ask",
        Malformed: "malformed",
        Failed: "raised",
    }
    return event(Event(EventName.POLICY_DECIDED, 0, where=PRE, listener=listener, what=words[type(decision)]))
