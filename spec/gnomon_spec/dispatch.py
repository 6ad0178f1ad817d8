"""DSP, OUT, TMO: how a call is dispatched, and what its end means.

Wrappers stand around the body: a timeout, a retry, a measurement. Innermost is
the *body stage*. There, and not earlier, the runtime looks three times: has the
signal aborted, is there such a tool now, do the arguments fit what it
publishes? Only then the body runs. Whatever it does after that is an answer: a
value, an error of its own, or the end of an interruption.

A wrapper may put a signal of its own in place of the caller's (`signals`). It
may run the rest again, or write a result itself; then that result is checked
like the body's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gnomon_spec import waterfall
from gnomon_spec.cancellation import cancellation_code, outcome_under
from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.schemas import violations
from gnomon_spec.signals import DEADLINE, signal_aborted, without
from gnomon_spec.values import Json
from gnomon_spec.vocabulary import (
    Answer,
    AuthoredFailure,
    AuthoredSuccess,
    Code,
    Event,
    EventName,
    ExecuteDecision,
    Execution,
    Failed,
    Fault,
    How,
    Malformed,
    Outcome,
    PostResult,
    ResultAnswer,
    Stage,
    event,
)

Stepped = Step[Execution, Event]
EXECUTE = "execute"

# -- entering -----------------------------------------------------------------------------------


@clause("DSP-1")
def begin(execution: Execution) -> Stepped:
    """Begin to dispatch a prepared call.

    DSP-1  Wrappers MUST nest in order; innermost is the body stage.
    """
    if execution.stage is not Stage.PREPARED:
        raise NotEnabled(Refused("DSP-1", "the call is not prepared"))
    entered = waterfall.entered(execution.setup.wrappers)  # DSP-1
    return _reached(execution._replace(stage=Stage.EXECUTE, frames=entered), ())


@clause("TMO-1", "TMO-4")
def _reached(execution: Execution, told: tuple[Event, ...]) -> Stepped:
    """Start the wrapper that has been reached. The timeout delegates at once.

    TMO-1  The timeout MUST be a wrapper that fuses a deadline into the signal, the
           first registered one, outermost but for prepended ones. It waits for
           the body.
    TMO-4  The clock MUST run from entering it, inner wrappers included; a retry
           outside MUST get a new deadline, one inside shares it.
    """
    inner = waterfall.running(execution.frames)
    if inner is None:
        return Step(execution, told)
    if inner != execution.setup.timeout:
        return Step(execution, (*told, _entered(inner)))
    ticking = execution._replace(
        frames=waterfall.delegated(execution.frames, inner, execution.setup.wrappers),
        found=execution.signal,
        signal=(*execution.signal, DEADLINE),  # TMO-1
        fired=without(execution.fired, DEADLINE),  # TMO-4
    )
    return _reached(ticking, told)


def refuse_wrapper(execution: Execution, listener: int) -> Refused | None:
    """Say why a wrapper may do nothing now, or nothing."""
    if execution.stage not in (Stage.EXECUTE, Stage.BODY):
        return Refused("DSP-1", "the call is not being dispatched")
    return waterfall.refuse_decide(execution.frames, listener)


@clause("DSP-1")
def wrapper_delegates(execution: Execution, listener: int) -> Stepped:
    """Let a wrapper call `next()`.

    DSP-1  Calling it again (a retry) MUST run the whole rest of the chain again.
    """
    refused = refuse_wrapper(execution, listener)
    if refused is None:
        refused = waterfall.refuse_delegate(execution.frames, listener)
    if refused is not None:
        raise NotEnabled(refused)
    frames = waterfall.delegated(execution.frames, listener, execution.setup.wrappers)
    told = (event(Event(EventName.POLICY_DELEGATED, 0, where=EXECUTE, listener=listener)),)
    return _reached(execution._replace(frames=frames), told)


# -- the body stage -----------------------------------------------------------------------------


@clause("DSP-3", "DSP-4", "DSP-8", "ARG-3", "SCH-8")
def before_the_body(
    aborted: bool, parameters: Json | None, arguments: Json, body_invoked: bool = False
) -> PostResult | None:
    """Say what a call ends with instead of its body, or nothing where the body runs.

    `parameters` is what the visible definition publishes; None where none is visible.

    DSP-3  With an aborted signal the body MUST NOT run; this comes before the
           look-up.
    DSP-4  A name that is not visible MUST give UNKNOWN_TOOL.
    DSP-8  Arguments that do not fit MUST give INVALID_ARGS, and the body does
           not run.
    ARG-3  So MUST text that is not JSON: it arrives here as a string.
    SCH-8  What is published MUST be what is enforced.
    """
    fit = parameters is not None and not violations(parameters, arguments)  # SCH-8
    instead = _instead_of_body(aborted, parameters is not None, fit, body_invoked)
    return None if instead is None else PostResult(instead)


def _instead_of_body(aborted: bool, found: bool, fit: bool, body_invoked: bool) -> Outcome | None:
    if aborted:
        return Outcome(cancellation_code(body_invoked))  # DSP-3
    if not found:
        return Outcome(Code.UNKNOWN_TOOL)  # DSP-4
    if not fit:
        return Outcome(Code.INVALID_ARGS)  # DSP-8, ARG-3
    return None


def refuse_body_stage(execution: Execution) -> Refused | None:
    """Say why the body stage is not reached now, or nothing."""
    if execution.stage is not Stage.EXECUTE:
        return Refused("DSP-1", "the call is not being dispatched")
    if waterfall.running(execution.frames) is not None:
        return Refused("DSP-1", "a wrapper has not called next()")
    return None


@clause("DSP-3", "DSP-4", "DSP-5", "DSP-8")
def reach_body_stage(execution: Execution, found: bool = True, fit: bool = True) -> Stepped:
    """Reach the body stage: look at the signal, at the registry, at the arguments; then run the body.

    `found` says whether the tool is visible now, `fit` whether the arguments fit.

    DSP-5  "Body invoked" MUST become true immediately before the body is called,
           at no other place, and stays true over all attempts.
    """
    refused = refuse_body_stage(execution)
    if refused is not None:
        raise NotEnabled(refused)
    instead = _instead_of_body(signal_aborted(execution), found, fit, execution.body_invoked)
    if instead is not None:
        return _inner_answer(execution, instead, ())
    started = execution._replace(stage=Stage.BODY, body_invoked=True, beneath=execution.signal)  # DSP-5
    return Step(started, (event(Event(EventName.BODY_STARTED, 0)),))


def refuse_in_body(execution: Execution) -> Refused | None:
    """Say why nothing of a body may happen now, or nothing."""
    if execution.stage is not Stage.BODY:
        return Refused("DSP-15", "no body of the call is running")  # DSP-15
    return None


@clause("DSP-11", "DSP-15")
def defers(execution: Execution, context: str) -> Stepped:
    """Let a body hand over a context.

    DSP-15  Outside a body this MUST be refused; after dispatch it has no effect.
    """
    refused = refuse_in_body(execution)
    if refused is not None:
        raise NotEnabled(refused)
    deferred = execution._replace(deferred=(*execution.deferred, context))
    return Step(deferred, (event(Event(EventName.CONTEXT_DEFERRED, 0, context=context)),))


@clause("DSP-14")
def concludes(execution: Execution) -> Stepped:
    """Let a body ask to end the turn.

    DSP-14  That MUST mark the execution for good: a success made later counts,
            also of another attempt.
    """
    refused = refuse_in_body(execution)
    if refused is not None:
        raise NotEnabled(refused)
    return Step(execution._replace(concluded=True))  # DSP-14


# -- the end of a body --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Returned:
    """A body returned a value; `nonce` marks it as its own.

    `fits` says whether the value is JSON, fits the output schema, and renders.
    """

    nonce: str | None = None
    fits: bool = True


@dataclass(frozen=True, slots=True)
class Raised:
    """A body raised an error, with a code of its own or without."""

    code: str | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A body ended by a cancellation; `asked` says whether it had been interrupted."""

    asked: bool


@dataclass(frozen=True, slots=True)
class Struck:
    """A body raised what is meant for the whole process (KeyboardInterrupt)."""


BodyEnd = Returned | Raised | Cancelled | Struck


@clause("DSP-7", "DSP-9", "OUT-1", "OUT-2", "PY-2", "PY-4", "ERR-1")
def after_the_body(end: BodyEnd, aborted: bool) -> ResultAnswer:
    """Say what the end of a body means.

    DSP-7  A body that raises MUST give an error result: its own code, else
           TOOL_ERROR.
    DSP-9  A body that returns, and whose value passes, while its signal is aborted
           MUST give ABORTED; one that raises keeps its own error.
    OUT-1  A value that is no JSON, or does not fit the output schema, MUST give
           INVALID_TOOL_OUTPUT, aborted or not.
    OUT-2  So MUST one that does not render as content.
    ERR-1  Every error result MUST carry a code.
    PY-2   A body that ended because it was interrupted MUST give ABORTED.
    PY-4   A cancellation that nobody asked for MUST be a failed tool; a
           KeyboardInterrupt MUST be a fault of the batch, and MUST abort its
           signal as well.
    """
    match end:
        case Struck():
            return Fault()  # PY-4
        case Cancelled(asked):
            return PostResult(Outcome(Code.ABORTED if asked else Code.TOOL_ERROR))  # PY-2, PY-4
        case Raised(code):
            return PostResult(Outcome(code or Code.TOOL_ERROR))  # DSP-7, PY-4, ERR-1
        case Returned(fits=False):
            return PostResult(Outcome(Code.INVALID_TOOL_OUTPUT))  # OUT-1, OUT-2
        case Returned(nonce):
            return PostResult(Outcome(Code.ABORTED) if aborted else Outcome(nonce=nonce))  # DSP-9


@clause("DSP-6", "OUT-3", "OUT-4", "OUT-5")
def body_ends(execution: Execution, end: BodyEnd, how: How = How.RETURNED) -> Stepped:
    """End the body, and hand its result to the wrapper that waits for it.

    DSP-6  A started body MUST be awaited, whatever was aborted or timed out.
    OUT-3  `presentationMeta` MUST be computed only for calls without a parent.
    OUT-4  A success MUST have a value and content; a failure an error and content.
    OUT-5  The content of an error MUST be its message, unless it has its own.
    """
    refused = refuse_in_body(execution)
    if refused is not None:
        raise NotEnabled(refused)
    unfit = isinstance(end, Returned) and not end.fits
    told = (event(Event(EventName.BODY_SETTLED, 0, how=how, what="unfit" if unfit else None)),)  # DSP-6
    answer = after_the_body(end, signal_aborted(execution))
    if isinstance(answer, Fault):
        return Step(execution._replace(stage=Stage.LOST, frames=()), told)
    outcome = answer.outcome  # OUT-5: without content of its own, it is made of the message
    if not outcome.is_error and not execution.setup.nested:
        outcome = replace(outcome, meta=True)  # OUT-3, OUT-4
    over = execution._replace(stage=Stage.EXECUTE, beneath=(), cause=None)
    return _inner_answer(over, outcome, told)


def _inner_answer(execution: Execution, outcome: Outcome, told: tuple[Event, ...]) -> Stepped:
    frames, answer = waterfall.answered(execution.frames, outcome)
    back = execution._replace(stage=Stage.EXECUTE, frames=frames, given=_given(execution, outcome))
    return _handed_out(back, answer, told)


def _given(execution: Execution, answer: Answer) -> tuple[Outcome, ...]:
    """The results that this execution has made, with one more."""
    if not isinstance(answer, Outcome) or answer in execution.given:
        return execution.given
    return (*execution.given, answer)


# -- wrappers end -------------------------------------------------------------------------------


@clause("DSP-10", "DSP-13")
def wrapper_decides(execution: Execution, listener: int, decision: ExecuteDecision) -> Stepped:
    """Let a wrapper end: with the result it was given, or with one that it wrote itself.

    DSP-10  Of a success that a wrapper wrote only value and contexts MUST count,
            and it goes through the tool's own output check; if the check fails or
            the tool is gone, that error is final, without contexts. A result is
            trusted only if this execution made it.
    DSP-13  A wrapper that raises, or answers no result, MUST be a pipeline
            failure.
    """
    refused = refuse_wrapper(execution, listener)
    if refused is None and isinstance(decision, Outcome) and decision not in execution.given:
        refused = Refused("DSP-10", "that result was not made for this execution")  # DSP-10
    if refused is not None:
        raise NotEnabled(refused)
    told = (_decided(listener, decision),)
    normalized = _normalized(decision)
    frames, answer = waterfall.decided(execution.frames, listener, normalized)
    back = execution._replace(frames=frames, given=_given(execution, normalized))
    return _handed_out(back, answer, told)


def _normalized(decision: ExecuteDecision) -> Answer:
    match decision:
        case AuthoredSuccess(gone=True):
            return Failed(Code.UNKNOWN_TOOL)  # DSP-10
        case AuthoredSuccess(fits=False):
            return Failed(Code.INVALID_TOOL_OUTPUT)  # DSP-10
        case AuthoredSuccess(contexts):
            return Outcome(contexts=contexts, meta=True)  # DSP-10
        case AuthoredFailure(code, contexts):
            return Outcome(code or Code.POLICY_ERROR, contexts=contexts)  # DSP-10
        case Malformed():
            return Failed()  # DSP-13
        case _:
            return decision


@clause("TMO-2", "TMO-3")
def _handed_out(execution: Execution, answer: Answer | None, told: tuple[Event, ...]) -> Stepped:
    """Hand an answer outward: through the timeout, if it is the one that waits; else as it is.

    TMO-2  If the call's own deadline fired first, TOOL_TIMEOUT MUST replace
           whatever result came back; contexts on that result go, body-deferred
           ones stay. (A pipeline failure brings no result back, and stays.)
    TMO-3  The timeout MUST restore the signal that it found, also when it fails.
    """
    if answer is not None:
        return _after_execute(execution, answer, told)
    timeout = execution.setup.timeout
    if timeout is None or waterfall.running(execution.frames) != timeout:
        return Step(execution, told)
    through = execution.frames[-1].heard
    assert through is not None, "the timeout has delegated, and was answered"
    if DEADLINE in execution.fired and isinstance(through, Outcome):
        through = Outcome(Code.TOOL_TIMEOUT)  # TMO-2
    frames, outer = waterfall.answered(execution.frames[:-1], through)
    back = execution._replace(
        frames=frames,
        signal=execution.found,  # TMO-3
        found=(),
        fired=without(execution.fired, DEADLINE),
        given=_given(execution, through),
    )
    return _handed_out(back, outer, told)


@clause("DSP-11", "DSP-12", "DSP-13", "DSP-14", "CRE-5")
def _after_execute(execution: Execution, answer: Answer, told: tuple[Event, ...]) -> Stepped:
    """Take the result of the whole waterfall.

    DSP-11  Contexts deferred by bodies MUST come first, of every attempt in call
            order, then those on the result; also on failures.
    DSP-12  If the caller has aborted and the result is a success, it MUST become
            ABORTED or ABORTED_BEFORE_DISPATCH, keeping its contexts.
    DSP-13  After a pipeline failure contexts of every kind MUST be lost, and
            post-execute does not run.
    DSP-14  A result's own flag MUST NOT conclude the turn.
    CRE-5   A signal that was not put back MUST be undone when the waterfall ends.
    """
    left = execution._replace(frames=(), signal=(), found=(), made=(), fired=(), given=())  # CRE-5
    if not isinstance(answer, Outcome):
        code = answer.code if isinstance(answer, Failed) else Code.POLICY_ERROR
        return Step(left._replace(stage=Stage.SETTLED_FINAL, outcome=Outcome(code)), told)  # DSP-13
    outcome = replace(
        answer,
        contexts=(*execution.deferred, *answer.contexts),  # DSP-11
        concludes=execution.concluded and not answer.is_error,  # DSP-14
    )
    outcome = outcome_under(execution.aborted, outcome, execution.body_invoked)  # DSP-12
    return Step(left._replace(stage=Stage.SETTLED, outcome=outcome), told)


# -- what is seen -------------------------------------------------------------------------------


def _entered(listener: int) -> Event:
    return event(Event(EventName.POLICY_ENTERED, 0, where=EXECUTE, listener=listener))


def _decided(listener: int, decision: ExecuteDecision) -> Event:
    match decision:
        case AuthoredSuccess() | AuthoredFailure():
            word = "authored"
        case Malformed():
            word = "malformed"
        case Failed():
            word = "raised"
        case _:
            word = "passed"
    return event(Event(EventName.POLICY_DECIDED, 0, where=EXECUTE, listener=listener, what=word))
