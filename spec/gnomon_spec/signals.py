"""CRE-5, DSP-2, TMO: what aborts a body.

A body has one signal. Fused in it are the caller's, which nobody can take away,
and whatever the wrappers have left in place when the body stage is reached: a
signal that one of them made, or the deadline of the timeout. The first of them
that aborts is the reason.

Signals are names here. `CALLER` is the caller's, `DEADLINE` that of the call's
own timeout; the others are the wrappers'.
"""

from __future__ import annotations

from gnomon_spec import waterfall
from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.vocabulary import Event, EventName, Execution, Stage, event

Stepped = Step[Execution, Event]
CALLER = "caller"
OWN = "own"
DEADLINE = "deadline"


def refuse_signal(execution: Execution, listener: int) -> Refused | None:
    """Say why a wrapper may not replace the signal now, or nothing."""
    if execution.stage is not Stage.EXECUTE or waterfall.running(execution.frames) != listener:
        return Refused("CRE-5", f"wrapper {listener} is not running")
    return None


@clause("CRE-5")
def sets_signal(execution: Execution, listener: int, name: str = OWN, aborted: bool = False) -> Stepped:
    """Let a wrapper put a new signal of its own in place.

    CRE-5  Only a wrapper MUST be able to replace the signal, from its start until
           it settles; what stands when the body stage is reached counts.
    """
    refused = refuse_signal(execution, listener)
    if refused is not None:
        raise NotEnabled(refused)
    fired = without(execution.fired, name)
    return Step(
        execution._replace(
            signal=(name,),  # CRE-5
            made=(*without(execution.made, name), name),
            fired=(*fired, name) if aborted else fired,
        )
    )


@clause("CRE-5")
def restores_signal(execution: Execution, listener: int, found: tuple[str, ...]) -> Stepped:
    """Let a wrapper put the signal back that it found."""
    refused = refuse_signal(execution, listener)
    if refused is not None:
        raise NotEnabled(refused)
    return Step(execution._replace(signal=found))  # CRE-5


@clause("CAN-4")
def own_signal_aborts(execution: Execution, name: str = OWN) -> Stepped:
    """Abort a signal that a wrapper has made.

    CAN-4  That MUST count for the body and its result only, and only where the
           signal stands: the caller is not aborted, the batch goes on.
    """
    if name not in execution.made or name in execution.fired:
        raise NotEnabled(Refused("CAN-4", "no wrapper has made that signal, or it has aborted"))
    told = (event(Event(EventName.SIGNAL_ABORTED, what="own")),)
    return Step(caused(execution._replace(fired=(*execution.fired, name)), name), told)  # CAN-4


def deadline_runs(execution: Execution) -> bool:
    """Say whether the timeout of a call has been entered and has not ended."""
    place = execution.setup.timeout
    dispatched = execution.stage in (Stage.EXECUTE, Stage.BODY)
    return dispatched and place is not None and any(one.listener == place for one in execution.frames)


def refuse_deadline(execution: Execution) -> Refused | None:
    """Say why the deadline of a call cannot pass now, or nothing."""
    if not deadline_runs(execution):
        return Refused("TMO-4", "no deadline runs")
    outer = execution.aborted or any(name in execution.fired for name in execution.found)
    if outer or DEADLINE in execution.fired:
        return Refused("TMO-2", "an outer abort or the deadline came before")
    return None


@clause("TMO-2")
def deadline_passes(execution: Execution) -> Stepped:
    """Let the deadline of the call's timeout pass.

    TMO-2  If an outer abort came first, the deadline MUST NOT count.
    """
    refused = refuse_deadline(execution)
    if refused is not None:
        raise NotEnabled(refused)
    told = (event(Event(EventName.SIGNAL_ABORTED, what="deadline")),)
    return Step(caused(execution._replace(fired=(*execution.fired, DEADLINE)), DEADLINE), told)  # TMO-2


@clause("DSP-2")
def caused(execution: Execution, source: str) -> Execution:
    """Remember what aborted the signal of the body that is running.

    DSP-2  The first abort MUST give the body's signal its reason.
    """
    reaches = source == CALLER or source in execution.beneath
    if execution.stage is not Stage.BODY or execution.cause is not None or not reaches:
        return execution
    return execution._replace(cause=source)  # DSP-2


@clause("DSP-2", "CAN-3")
def signal_aborted(execution: Execution) -> bool:
    """Say whether the signal of the body has aborted, or before the body the one that stands.

    DSP-2  The caller signal and the one that the wrappers left MUST be fused:
           either aborting aborts the body's.
    CAN-3  No wrapper MUST be able to detach the caller's abort from a body.
    """
    names = execution.beneath if execution.stage is Stage.BODY else execution.signal
    return execution.aborted or any(name in execution.fired for name in names)  # DSP-2, CAN-3


def without(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The names but for one."""
    return tuple(one for one in names if one != name)
