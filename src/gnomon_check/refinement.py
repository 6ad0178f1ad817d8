"""What is compared: which events, which of their fields, and what may differ.

Lockstep and conformance compare *keys*: an event cut down to what the specification speaks of.
Texts, digests, numbers of records and everything informative are not in a key.
"""

from __future__ import annotations

from typing import TypeAlias

from gnomon_check.events import Event
from gnomon_spec.vocabulary import Announced, EventName, How, Mode, Outcome
from gnomon_spec.vocabulary import Event as SpecEvent

Key: TypeAlias = tuple[str, int | None, tuple[object, ...]]
"""The name of an event, its position, and the fields that count."""

COMPARED: dict[str, tuple[str, ...]] = {
    "batch.opened": (),
    "batch.closed": ("ended", "concluded"),
    "batch.failed": (),
    "call.logged": (),
    "result.logged": ("outcome.ok", "outcome.code", "outcome.nonce"),
    "body.started": ("attempt",),
    "body.signalled": ("attempt", "source"),
    "body.interrupted": ("attempt",),
    "body.settled": ("attempt", "how"),
    "signal.aborted": ("signal",),
    "noted": ("text",),
    "policy.entered": ("waterfall", "listener"),
    "policy.delegated": ("waterfall", "listener", "nth"),
    "policy.resumed": ("waterfall", "listener", "nth", "answer"),
    "policy.decided": ("waterfall", "listener", "decision"),
    "guard.answered": ("guard", "answer"),
    "approval.asked": (),
    "approval.decided": ("outcome",),
    "context.deferred": ("context",),
    "context.accepted": ("context",),
    "content.projected": (),
    "content.finalized": (),
    "result.observed": ("observer", "outcome.ok", "outcome.code"),
}
"""Each event that is compared, and the fields of it that count; all others are never compared."""


def key_of(event: Event) -> Key | None:
    """What of an event is compared, or nothing where the event is informative."""
    name = event["event"]
    fields = COMPARED.get(name)
    if fields is None:
        return None
    return (name, event.get("pos"), tuple(_field(event, field) for field in fields))


def _field(event: Event, path: str) -> object:
    value: object = event
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def key_of_spec(one: SpecEvent) -> Key:
    """The key of an event that the specification made."""
    match one.name:
        case EventName.RESULT_LOGGED if one.outcome is not None:
            outcome = one.outcome
            nonce = outcome.nonce if (outcome.nonce or "").startswith("nonce-") else None
            detail: tuple[object, ...] = (not outcome.is_error, outcome.code, nonce)
        case EventName.BODY_STARTED:
            detail = (1,)
        case EventName.BODY_SETTLED:
            detail = (1, one.how)
        case EventName.SIGNAL_ABORTED:
            detail = ("caller",)
        case EventName.BATCH_CLOSED:
            detail = ("returned", False)
        case _:
            detail = ()
    return (str(one.name), one.pos, detail)


def as_spec(event: Event) -> SpecEvent | None:
    """The event as the properties of the specification read it, or nothing where they do not."""
    try:
        name = EventName(event["event"])
    except ValueError:
        return None
    outcome = event.get("outcome")
    calls = event.get("calls")
    return SpecEvent(
        name,
        pos=event.get("pos"),
        outcome=None if outcome is None else Outcome(outcome.get("code"), outcome.get("nonce")),
        how=None if event.get("how") is None else How(event["how"]),
        calls=None if calls is None else tuple(map(_announced, calls)),
        max_parallel=event.get("max_parallel"),
        log_seq=event.get("log_seq"),
        cites=event.get("cites"),
    )


def _announced(call: dict[str, str]) -> Announced:
    mode = call.get("mode")
    return Announced(call["call_id"], call.get("name", ""), None if mode is None else Mode(mode))
