"""PY-4: what is meant for the whole process, wherever it is raised.

A KeyboardInterrupt is no answer of a policy and no error of a tool. Whoever of
a call raises it, the call has no result: it is lost, and with it the batch, which
ends its bodies and raises. Whoever waits for the one that raised is not asked.
A body that does so ends (see the chapter of dispatch); everything else of a call
is here: listeners, guards, the tool's own functions, observers.
"""

from __future__ import annotations

from gnomon_spec import waterfall
from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.vocabulary import Event, EventName, Execution, Stage, Verdict, event

_WATERFALLS = {Stage.PRE: "pre_execute", Stage.EXECUTE: "execute", Stage.POST: "post_execute"}
_FUNCTIONS = {
    Stage.PROJECT: EventName.CONTENT_PROJECTED,
    Stage.FINALIZE: EventName.CONTENT_FINALIZED,
    Stage.OBSERVE: EventName.RESULT_OBSERVED,
}


@clause("PY-4")
def refuse_strike(execution: Execution) -> Refused | None:
    """Say why nothing of the call can strike now, or nothing.

    PY-4  Only what runs MAY strike: a listener, an approver, a guard, a function
          of the tool, an observer.
    """
    stage = execution.stage
    running = stage in _WATERFALLS and waterfall.running(execution.frames) is not None
    if running or stage in (Stage.APPROVAL, Stage.GUARDS) or stage in _FUNCTIONS:
        return None
    return Refused("PY-4", "no listener, guard or function of the call is running")


@clause("PY-4", "SCD-9")
def strikes(execution: Execution) -> Step[Execution, Event]:
    """Let what runs of the call raise what is meant for the whole process.

    PY-4   It MUST be a failure of the runtime, and no result is made of it.
    SCD-9  The call MUST stay without a result.
    """
    refused = refuse_strike(execution)
    if refused is not None:
        raise NotEnabled(refused)
    told: tuple[Event, ...] = ()
    waterfall_of = _WATERFALLS.get(execution.stage)
    if waterfall_of is not None:
        listener = waterfall.running(execution.frames)
        raised = Event(EventName.POLICY_DECIDED, 0, where=waterfall_of, listener=listener, what="raised")
        told = (event(raised),)
    elif execution.stage is Stage.GUARDS:
        said = Verdict.RAISED.value
        told = (event(Event(EventName.GUARD_ANSWERED, 0, what=said, listener=execution.asked)),)
    elif execution.stage in _FUNCTIONS:
        told = (event(Event(_FUNCTIONS[execution.stage], 0, outcome=execution.outcome)),)
    return Step(execution._replace(stage=Stage.LOST, frames=()), told)  # SCD-9
