"""The words of the specification: calls, answers, outcomes, states, events.

A **call** is one tool request that a model announced; it is known by its
position in the **batch**, never by its id (SCD-13). Each stage of a call gives
the batch one of four **answers**: go on to dispatch; a result that still visits
post-execute; a result that only needs finishing; or a fault of the runtime
itself. An **outcome** is what the call's result says. What can be seen from
outside is an **event**; a **history** is a sequence of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TypeAlias

from gnomon_spec.kernel import Interned, clause


class _Identity(Enum):
    """An enum hashed by identity: states are hashed millions of times."""

    __hash__ = object.__hash__


@clause("ERR-1")
class Code(StrEnum):
    """The codes that tell the outcomes of a call apart.

    ERR-1  Every error result MUST carry a code; a tool or a policy MAY choose
           one of its own instead.
    """

    ABORTED = "ABORTED"
    ABORTED_BEFORE_DISPATCH = "ABORTED_BEFORE_DISPATCH"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    INVALID_ARGS = "INVALID_ARGS"
    INVALID_TOOL_OUTPUT = "INVALID_TOOL_OUTPUT"
    UNSUPPORTED_SCHEMA = "UNSUPPORTED_SCHEMA"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_OUTCOME_UNKNOWN = "TOOL_OUTCOME_UNKNOWN"
    TOOL_NOT_STARTED = "TOOL_NOT_STARTED"
    CODE_RUN_FAILED = "CODE_RUN_FAILED"
    DENIED = "DENIED"
    APPROVAL_REJECTED = "APPROVAL_REJECTED"
    APPROVAL_CANCELLED = "APPROVAL_CANCELLED"
    APPROVAL_UNAVAILABLE = "APPROVAL_UNAVAILABLE"
    BLOCKED = "BLOCKED"
    TOOL_ERROR = "TOOL_ERROR"
    POLICY_ERROR = "POLICY_ERROR"


class Mode(_Identity):
    """Whether a call may overlap others of its batch (SCD-2)."""

    PARALLEL = "parallel"
    EXCLUSIVE = "exclusive"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a result says: a success, or an error with its code.

    `nonce` is what proves that a success carries the body's own value.
    """

    code: str | None = None
    nonce: str | None = None

    @property
    def is_error(self) -> bool:
        return self.code is not None


SUCCESS = Outcome()


# -- the answers of a stage ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToDispatch:
    """Prepare lets the call go on to its body."""


@dataclass(frozen=True, slots=True)
class PostResult:
    """A result that still visits post-execute."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class FinalResult:
    """A result that only needs finishing: a policy step itself failed, or the call never became one."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Fault:
    """The runtime itself failed; no result exists (SCD-9)."""


ResultAnswer: TypeAlias = PostResult | FinalResult | Fault
PrepareAnswer: TypeAlias = ToDispatch | ResultAnswer


# -- calls and the batch ------------------------------------------------------------------------


class Phase(_Identity):
    """How far a call has come."""

    ANNOUNCED = "announced"
    PREPARING = "preparing"
    DISPATCHED = "dispatched"
    RUNNING = "running"
    SETTLED_POST = "settled, goes through post-execute"
    SETTLED_FINAL = "settled, needs only finishing"
    COMMITTED = "committed"
    SYNTHETIC = "answered without having started"
    LOST = "lost to a fault of the runtime"
    DROPPED = "prepared, and not dispatched after a fault"


class Lane(_Identity):
    """What the one lane of policy of a batch is doing (SCD-7)."""

    FREE = "free"
    PREPARING = "preparing a call"
    COMMITTING = "committing a call"
    DRAINING = "waiting for bodies after a fault"
    RETURNED = "returned"
    RAISED = "raised"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """One call of a batch. Equal calls are one object: make them with `call`."""

    mode: Mode
    phase: Phase
    outcome: Outcome | None
    in_flight: bool
    body_invoked: bool


_calls: dict[tuple[Mode, Phase, Outcome | None, bool, bool], Call] = {}


def call(
    mode: Mode,
    phase: Phase = Phase.ANNOUNCED,
    outcome: Outcome | None = None,
    in_flight: bool = False,
    body_invoked: bool = False,
) -> Call:
    """The one `Call` with these fields."""
    key = (mode, phase, outcome, in_flight, body_invoked)
    known = _calls.get(key)
    if known is None:
        known = _calls[key] = Call(*key)
    return known


@dataclass(frozen=True, slots=True)
class Batch:
    """The state of a batch between two steps.

    `next_start` is the position of the first call that has not started;
    `committed` that of the first call whose result is not logged.
    """

    calls: tuple[Call, ...]
    max_parallel: int
    lane: Lane = Lane.FREE
    next_start: int = 0
    committed: int = 0
    aborted: bool = False
    failed: bool = False


# -- what can be seen ---------------------------------------------------------------------------


class EventName(StrEnum):
    """The events that the specification speaks of; the kit's vocabulary holds more."""

    BATCH_OPENED = "batch.opened"
    BATCH_CLOSED = "batch.closed"
    BATCH_FAILED = "batch.failed"
    CALL_LOGGED = "call.logged"
    RESULT_LOGGED = "result.logged"
    BODY_STARTED = "body.started"
    BODY_SETTLED = "body.settled"
    SIGNAL_ABORTED = "signal.aborted"


class How(StrEnum):
    """How a body ended."""

    RETURNED = "returned"
    RAISED = "raised"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Announced:
    """A call as `batch.opened` announces it; `mode` only where the observer knows it."""

    call_id: str
    name: str = ""
    mode: Mode | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that can be seen of a batch. Fields that an event does not have are None."""

    name: EventName
    pos: int | None = None
    outcome: Outcome | None = None
    how: How | None = None
    calls: tuple[Announced, ...] | None = None
    max_parallel: int | None = None
    log_seq: int | None = None
    cites: int | None = None
    repair: bool = False


event = Interned[Event]()
"""The one `Event` that equals the given one."""
