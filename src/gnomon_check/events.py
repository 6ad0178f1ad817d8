"""The events that everything in the kit speaks: lockstep, vectors, conformance, logs, pictures.

One JSON object an event, flat. Unknown fields are ignored, and events of unknown names are kept
and reported as not judged, so that later versions only add. The models here are what the JSON
Schema files of the specification are made from; inside the kit an event travels as a plain dict.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, NonNegativeInt, Tag, TypeAdapter

Event: TypeAlias = dict[str, Any]
"""An event inside the kit: `event` and the fields of its model."""

Origin: TypeAlias = Literal["harness", "implementation", "log"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Outcome(_Model):
    """What a result says; message texts are never in it."""

    ok: bool
    code: str | None = None
    name: str | None = None
    nonce: str | None = None


class AnnouncedCall(_Model):
    """A call as it was announced. `mode` only where the observer knows it."""

    call_id: str
    name: str
    arguments: str
    mode: Literal["parallel", "exclusive"] | None = None


class _Event(_Model):
    seq: NonNegativeInt | None = None
    batch: str | None = None
    origin: Origin | None = None


class _CallEvent(_Event):
    pos: NonNegativeInt


class BatchOpened(_Event):
    """The executor was handed the announced calls."""

    event: Literal["batch.opened"]
    calls: list[AnnouncedCall]
    max_parallel: int | None = None


class BatchClosed(_Event):
    """The batch is about to return, or to let a cancellation go on."""

    event: Literal["batch.closed"]
    ended: Literal["returned", "cancelled"] = "returned"
    concluded: bool = False


class BatchFailed(_Event):
    """The batch is about to raise."""

    event: Literal["batch.failed"]
    where: Literal["prepare", "dispatch", "finalize", "log", "other"] = "other"
    error: dict[str, Any] | None = None


class CallLogged(_CallEvent):
    """The append of `tool/call` returned."""

    event: Literal["call.logged"]
    call_id: str
    name: str
    arguments: str
    log_seq: NonNegativeInt | None = None
    repair: bool = False


class ResultLogged(_CallEvent):
    """The append of `tool/result` returned."""

    event: Literal["result.logged"]
    call_id: str
    outcome: Outcome
    log_seq: NonNegativeInt | None = None
    cites: NonNegativeInt | None = None
    content_digest: str | None = None
    repair: bool = False


class BodyStarted(_CallEvent):
    """First instruction of the author's function."""

    event: Literal["body.started"]
    attempt: int = 1
    nonce: str | None = None
    arguments_digest: str | None = None


class BodySignalled(_CallEvent):
    """The body saw its signal abort."""

    event: Literal["body.signalled"]
    attempt: int = 1
    source: str = "caller"


class BodyInterrupted(_CallEvent):
    """A native cancellation took effect in the body."""

    event: Literal["body.interrupted"]
    attempt: int = 1


class BodySettled(_CallEvent):
    """Last instruction of the author's function."""

    event: Literal["body.settled"]
    attempt: int = 1
    how: Literal["returned", "raised", "cancelled"]
    code: str | None = None


class SignalAborted(_Event):
    """The harness, or a script, aborted a signal."""

    event: Literal["signal.aborted"]
    signal: str = "caller"
    reason: str | None = None


class ClassifierAnswered(_CallEvent):
    """A scripted classifier was asked; how often is free, and never compared."""

    event: Literal["classifier.answered"]
    answer: Literal["parallel", "exclusive", "raised", "other"]


Waterfall: TypeAlias = Literal["pre_execute", "execute", "post_execute", "approval"]


class PolicyEntered(_CallEvent):
    """A listener starts."""

    event: Literal["policy.entered"]
    waterfall: Waterfall
    listener: str


class PolicyDelegated(_CallEvent):
    """A listener calls `next`, the nth time."""

    event: Literal["policy.delegated"]
    waterfall: Waterfall
    listener: str
    nth: int


class PolicyResumed(_CallEvent):
    """That `next` answered: the word of a decision, or the code of a result."""

    event: Literal["policy.resumed"]
    waterfall: Waterfall
    listener: str
    nth: int
    answer: str | None = None


class PolicyDecided(_CallEvent):
    """A listener ended."""

    event: Literal["policy.decided"]
    waterfall: Waterfall
    listener: str
    decision: str
    code: str | None = None


class GuardAnswered(_CallEvent):
    """A guard was asked."""

    event: Literal["guard.answered"]
    guard: str
    layer: str | None = None
    answer: Literal["pass", "deny", "raised", "malformed"]


class ApprovalAsked(_CallEvent):
    """A request for approval was logged."""

    event: Literal["approval.asked"]
    request: str | None = None
    reason: str | None = None


class ApprovalDecided(_CallEvent):
    """Its decision was logged, once."""

    event: Literal["approval.decided"]
    request: str | None = None
    outcome: Literal["allowed-once", "rejected", "cancelled", "unavailable"]


class ContextDeferred(_CallEvent):
    """A body, or a decision, gave a context."""

    event: Literal["context.deferred"]
    attempt: int = 1
    context: str


class ContextAccepted(_CallEvent):
    """A context was taken into the inbox, after the result that it belongs to."""

    event: Literal["context.accepted"]
    context: str
    log_seq: NonNegativeInt | None = None


class ContentProjected(_CallEvent):
    """A scripted projectContent was called."""

    event: Literal["content.projected"]


class ContentFinalized(_CallEvent):
    """A scripted finalizeContent was called."""

    event: Literal["content.finalized"]
    nth: int = 1


class ContentRendered(_CallEvent):
    """A scripted render was called."""

    event: Literal["content.rendered"]


class ContentMeta(_CallEvent):
    """A scripted presentationMeta was called."""

    event: Literal["content.meta"]


class ResultSettled(_CallEvent):
    """The caller's signal was looked at for the last time (informative, never compared)."""

    event: Literal["result.settled"]


class ResultObserved(_CallEvent):
    """An observer got the result."""

    event: Literal["result.observed"]
    observer: str
    outcome: Outcome
    digest: str | None = None


class Warned(_Event):
    """Something went wrong beside a call, and changed nothing (FIN-3, PY-8, PY-11)."""

    event: Literal["warned"]
    about: Literal["observer", "abort_callback", "awaitable"]
    pos: NonNegativeInt | None = None


class ResultReturned(_CallEvent):
    """A call outside of any batch was answered."""

    event: Literal["result.returned"]
    outcome: Outcome
    content_digest: str | None = None
    contexts: list[str] = Field(default_factory=list)


class RegistryChanged(_Event):
    """A step of the schedule, or of a script, changed what stands in the layers; or it was refused.

    `name` is what the change is about: the id of a definition, a number, a scope, a policy.
    """

    event: Literal["registry.changed"]
    op: Literal[
        "registered",
        "removed",
        "restricted",
        "unrestricted",
        "mode",
        "policy",
        "guarded",
        "unguarded",
        "hooked",
        "unhooked",
    ]
    name: str
    refused: str | None = None


class OpRefused(_CallEvent):
    """A script asked for what is refused: a `next` that is late or pending, a change of what is frozen."""

    event: Literal["op.refused"]
    op: Literal["next", "defer", "mutate", "set_signal", "set_signal_value"]
    role: str | None = None
    reason: str | None = None


class ModelRequested(_Event):
    """The next request of the model was put together: the names of the tools that it shows, in order."""

    event: Literal["model.requested"]
    tools: list[str] = Field(default_factory=list)
    refused: str | None = None


class TimeAdvanced(_Event):
    """Virtual time moved."""

    event: Literal["time.advanced"]
    ms: NonNegativeInt


class Noted(_Event):
    """A `note` of a script."""

    event: Literal["noted"]
    text: str
    pos: NonNegativeInt | None = None


class Unknown(_Event):
    """An event of a name that this version does not know: kept, and not judged."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        json_schema_extra=lambda schema: schema["properties"]["event"].update(
            {"not": {"enum": sorted(NAMES)}}
        ),
    )
    event: str


_KNOWN = (
    BatchOpened,
    BatchClosed,
    BatchFailed,
    CallLogged,
    ResultLogged,
    BodyStarted,
    BodySignalled,
    BodyInterrupted,
    BodySettled,
    SignalAborted,
    ClassifierAnswered,
    PolicyEntered,
    PolicyDelegated,
    PolicyResumed,
    PolicyDecided,
    GuardAnswered,
    ApprovalAsked,
    ApprovalDecided,
    ContextDeferred,
    ContextAccepted,
    ContentProjected,
    ContentFinalized,
    ContentRendered,
    ContentMeta,
    ResultSettled,
    ResultObserved,
    ResultReturned,
    RegistryChanged,
    OpRefused,
    ModelRequested,
    TimeAdvanced,
    Warned,
    Noted,
)
NAMES: frozenset[str] = frozenset(get_args(model.model_fields["event"].annotation)[0] for model in _KNOWN)


def _not_known(schema: dict[str, Any]) -> None:
    """In JSON Schema, too, an event of a known name is only what its own model says."""
    schema["properties"]["event"]["not"] = {"enum": sorted(NAMES)}


def _tag(value: Any) -> str:
    name = value.get("event") if isinstance(value, dict) else getattr(value, "event", None)
    return name if isinstance(name, str) and name in NAMES else "unknown"


AnyEvent: TypeAlias = Annotated[
    Annotated[BatchOpened, Tag("batch.opened")]
    | Annotated[BatchClosed, Tag("batch.closed")]
    | Annotated[BatchFailed, Tag("batch.failed")]
    | Annotated[CallLogged, Tag("call.logged")]
    | Annotated[ResultLogged, Tag("result.logged")]
    | Annotated[BodyStarted, Tag("body.started")]
    | Annotated[BodySignalled, Tag("body.signalled")]
    | Annotated[BodyInterrupted, Tag("body.interrupted")]
    | Annotated[BodySettled, Tag("body.settled")]
    | Annotated[SignalAborted, Tag("signal.aborted")]
    | Annotated[ClassifierAnswered, Tag("classifier.answered")]
    | Annotated[PolicyEntered, Tag("policy.entered")]
    | Annotated[PolicyDelegated, Tag("policy.delegated")]
    | Annotated[PolicyResumed, Tag("policy.resumed")]
    | Annotated[PolicyDecided, Tag("policy.decided")]
    | Annotated[GuardAnswered, Tag("guard.answered")]
    | Annotated[ApprovalAsked, Tag("approval.asked")]
    | Annotated[ApprovalDecided, Tag("approval.decided")]
    | Annotated[ContextDeferred, Tag("context.deferred")]
    | Annotated[ContextAccepted, Tag("context.accepted")]
    | Annotated[ContentProjected, Tag("content.projected")]
    | Annotated[ContentFinalized, Tag("content.finalized")]
    | Annotated[ContentRendered, Tag("content.rendered")]
    | Annotated[ContentMeta, Tag("content.meta")]
    | Annotated[ResultSettled, Tag("result.settled")]
    | Annotated[ResultObserved, Tag("result.observed")]
    | Annotated[ResultReturned, Tag("result.returned")]
    | Annotated[RegistryChanged, Tag("registry.changed")]
    | Annotated[OpRefused, Tag("op.refused")]
    | Annotated[ModelRequested, Tag("model.requested")]
    | Annotated[TimeAdvanced, Tag("time.advanced")]
    | Annotated[Warned, Tag("warned")]
    | Annotated[Noted, Tag("noted")]
    | Annotated[Unknown, Tag("unknown")],
    Discriminator(_tag),
]

EVENT: TypeAdapter[Any] = TypeAdapter(AnyEvent)
"""Checks one event; raises pydantic's `ValidationError` with what is wrong and where."""


class Producer(_Model):
    """Who wrote a trace."""

    name: str
    version: str | None = None


class TraceHeader(_Model):
    """The first line of a trace file."""

    trace: Literal["gnomon/1"]
    spec: str
    producer: Producer
    cannot_show: list[str] = Field(default_factory=list)
