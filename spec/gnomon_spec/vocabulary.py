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
from typing import NamedTuple, TypeAlias

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


_NAMES: dict[str, str] = {
    Code.ABORTED: "AbortError",
    Code.ABORTED_BEFORE_DISPATCH: "AbortError",
    Code.UNKNOWN_TOOL: "ToolNotFoundError",
    Code.INVALID_ARGS: "ToolArgsError",
    Code.INVALID_TOOL_OUTPUT: "ToolOutputError",
    Code.UNSUPPORTED_SCHEMA: "JsonSchemaError",
    Code.TOOL_TIMEOUT: "ToolTimeoutError",
    Code.TOOL_OUTCOME_UNKNOWN: "ToolOutcomeUnknownError",
    Code.TOOL_NOT_STARTED: "ToolNotStartedError",
    Code.CODE_RUN_FAILED: "CodeRunFailedError",
    Code.DENIED: "DeniedError",
    Code.BLOCKED: "BlockedError",
    Code.APPROVAL_REJECTED: "ApprovalError",
    Code.APPROVAL_CANCELLED: "ApprovalError",
    Code.APPROVAL_UNAVAILABLE: "ApprovalError",
    Code.POLICY_ERROR: "PolicyError",
}


@clause("ERR-3")
def error_name(code: str, raised: str | None = None) -> str:
    """The name that goes with an error; `raised` is the name of the exception's type, if there was one.

    ERR-3  Each code of the runtime MUST have its name; otherwise it is the name of
           the exception's type.
    """
    named = _NAMES.get(code)
    if raised is not None and code in (Code.TOOL_ERROR, Code.POLICY_ERROR):
        return raised  # ERR-3
    return named or raised or "PolicyError"  # ERR-3


class Mode(_Identity):
    """Whether a call may overlap others of its batch (SCD-2)."""

    PARALLEL = "parallel"
    EXCLUSIVE = "exclusive"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a result says: a success, or an error with its code.

    `nonce` is what proves that a success carries the body's own value. `content`
    names where the content comes from, None where it is made from the value or
    from the error itself. `contexts` are what the call hands to the model beside
    its result, in order; `concludes` says that it ends the turn.
    """

    code: str | None = None
    nonce: str | None = None
    contexts: tuple[str, ...] = ()
    concludes: bool = False
    content: str | None = None
    meta: bool = False

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


# -- decisions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Allow:
    """Pre-execute: no objection."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Pre-execute: the call is refused, with a code of its own or without."""

    code: str = Code.DENIED


@dataclass(frozen=True, slots=True)
class Cancel:
    """Pre-execute: the call is to be treated as cancelled."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Pre-execute: somebody has to approve."""


@dataclass(frozen=True, slots=True)
class Accept:
    """Post-execute: the result stands.

    `content` and `value` name what replaces them, None where nothing does;
    `fits` says whether a replaced value passes the output check, `gone` that the
    tool has been removed meanwhile.
    """

    content: str | None = None
    value: str | None = None
    contexts: tuple[str, ...] = ()
    fits: bool = True
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Post-execute: the result is withheld, and feedback is given instead."""

    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuthoredSuccess:
    """Execute: a wrapper's own success; `fits` says whether its value passes the output check."""

    contexts: tuple[str, ...] = ()
    fits: bool = True
    gone: bool = False


@dataclass(frozen=True, slots=True)
class AuthoredFailure:
    """Execute: a wrapper's own failure."""

    code: str | None = None
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """Anything that is none of the decisions of its waterfall."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A policy step that raised, or whose decision was malformed; `code` is what it says."""

    code: str = Code.POLICY_ERROR


PreAnswer: TypeAlias = Allow | Deny | Cancel | Ask | Failed
ExecuteAnswer: TypeAlias = Outcome | Failed
PostAnswer: TypeAlias = Accept | Block | Failed
Answer: TypeAlias = PreAnswer | ExecuteAnswer | PostAnswer
PreDecision: TypeAlias = PreAnswer | Malformed
ExecuteDecision: TypeAlias = ExecuteAnswer | AuthoredSuccess | AuthoredFailure | Malformed
PostDecision: TypeAlias = PostAnswer | Malformed
Decision: TypeAlias = PreDecision | ExecuteDecision | PostDecision


class Verdict(_Identity):
    """What a guard answers."""

    PASS = "pass"
    DENY = "deny"
    MALFORMED = "malformed"
    RAISED = "raised"


class Approval(_Identity):
    """What comes of an approval: the four answers, and the ways in which it fails."""

    ALLOWED_ONCE = "allowed-once"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    UNAVAILABLE = "unavailable"
    OTHER = "an answerer raises, or answers something else"
    BROKEN = "the service raises, or hands out something else"


class Change(_Identity):
    """What projectContent and finalizeContent answer."""

    NOTHING = "nothing"
    CONTENT = "content"
    MALFORMED = "malformed"
    RAISED = "raised"


# -- one call under way -------------------------------------------------------------------------


class Stage(_Identity):
    """Where a call stands on its way."""

    PRE = "in pre-execute"
    APPROVAL = "waiting for an approval"
    GUARDS = "asking the guards"
    PREPARED = "prepared, to be dispatched"
    EXECUTE = "in execute"
    BODY = "its body runs"
    SETTLED = "settled, to visit post-execute"
    SETTLED_FINAL = "settled, to be finished"
    PROJECT = "projecting its content"
    POST = "in post-execute"
    FINALIZE = "finalizing its content"
    OBSERVE = "told to its observers"
    DONE = "done"
    LOST = "lost to a fault of the runtime"


class Frame(NamedTuple):
    """One listener of a waterfall that has started and not ended.

    `pending` says that it waits for its `next()`, `heard` what the last one
    answered; `settled` holds its decision where it ended without waiting.
    """

    listener: int
    delegated: int = 0
    pending: bool = False
    settled: Answer | None = None
    heard: Answer | None = None


class Setup(NamedTuple):
    """What surrounds a call, and does not change while it is under way.

    The numbers say how many listeners each waterfall has; `service` whether there
    is somebody to ask, and `never` that the session's policy is never to.
    `unlogged` names the record of an approval (asked or decided) that cannot be
    appended to the log. `timeout` is the place of the timeout among the wrappers, which count it; None
    where the tool has none.
    """

    visible: bool = True
    collapsed: bool = False
    arguments: bool = True
    finalizer: bool = False
    projector: bool = False
    pre: int = 0
    guards: int = 0
    wrappers: int = 0
    post: int = 0
    service: bool = True
    scope: bool = True
    turn: bool = True
    never: bool = False
    unlogged: str | None = None
    timeout: int | None = None
    nested: bool = False


class Execution(NamedTuple):
    """The state of one call between two steps."""

    setup: Setup
    stage: Stage
    aborted: bool = False
    frames: tuple[Frame, ...] = ()
    guards: int = 0
    asked: int = 0
    finalizer: bool = False
    signal: tuple[str, ...] = ()
    """The signals that are fused in the one that the wrappers have left in place, beside the caller's."""
    found: tuple[str, ...] = ()
    """What stood there when the timeout was entered."""
    made: tuple[str, ...] = ()
    """The signals that wrappers have made."""
    fired: tuple[str, ...] = ()
    """Those of them that have aborted; the deadline is one."""
    beneath: tuple[str, ...] = ()
    """What stood there when the body that is running was reached."""
    cause: str | None = None
    """What aborted the signal of the body that is running, first."""
    body_invoked: bool = False
    deferred: tuple[str, ...] = ()
    concluded: bool = False
    given: tuple[Outcome, ...] = ()
    """The results that this execution has made, in order: a wrapper may end with one of these."""
    outcome: Outcome | None = None


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
    POLICY_ENTERED = "policy.entered"
    POLICY_DELEGATED = "policy.delegated"
    POLICY_DECIDED = "policy.decided"
    GUARD_ANSWERED = "guard.answered"
    APPROVAL_ASKED = "approval.asked"
    APPROVAL_DECIDED = "approval.decided"
    CONTEXT_DEFERRED = "context.deferred"
    CONTENT_PROJECTED = "content.projected"
    CONTENT_FINALIZED = "content.finalized"
    RESULT_SETTLED = "result.settled"
    RESULT_OBSERVED = "result.observed"


class How(StrEnum):
    """How a body ended."""

    RETURNED = "returned"
    RAISED = "raised"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Announced:
    """A call as `batch.opened` announces it; the rest only where the observer knows it.

    `listeners` says how many stand around pre-execute, `guards` how many guards
    there are, `finalizes` whether the call has a finalizer.
    """

    call_id: str
    name: str = ""
    mode: Mode | None = None
    listeners: int | None = None
    guards: int | None = None
    finalizes: bool | None = None


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
    what: str | None = None
    """What was decided or answered, in the words of the event vocabulary."""
    where: str | None = None
    """The waterfall that a policy event belongs to."""
    listener: int | None = None
    context: str | None = None


event = Interned[Event]()
"""The one `Event` that equals the given one."""
