"""What is compared: which events, which of their fields, and what may differ.

Lockstep and conformance compare *keys*: an event cut down to what the specification speaks of.
Texts, digests, numbers of records and everything informative are not in a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from gnomon_check.events import Event
from gnomon_spec.vocabulary import Announced, EventName, How, Mode, Outcome
from gnomon_spec.vocabulary import Event as SpecEvent

Key: TypeAlias = tuple[str, int | None, tuple[object, ...]]
"""The name of an event, its position, and the fields that count."""

Listeners: TypeAlias = Sequence[dict[str, Sequence[str]]]
"""For each call, the ids of the listeners of each waterfall, outermost first."""

COMPARED: dict[str, tuple[str, ...]] = {
    "batch.opened": ("parent.pos", "parent.attempt"),
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
    "content.rendered": (),
    "content.meta": (),
    "result.observed": ("observer", "outcome.ok", "outcome.code"),
    "result.returned": ("outcome.ok", "outcome.code", "outcome.nonce", "contexts"),
    "registry.changed": ("op", "name", "refused"),
    "op.refused": ("op",),
    "model.requested": ("tools", "refused"),
}
"""Each event that is compared, and the fields of it that count; all others are never compared."""

_PATHS = {name: tuple(tuple(field.split(".")) for field in fields) for name, fields in COMPARED.items()}


@dataclass(frozen=True, slots=True)
class Freedom:
    """Something that the specification leaves to an implementation."""

    clause: str
    what: str


FREEDOMS: dict[str, Freedom] = {
    "bodies": Freedom("SCD-4", "what bodies do that run at the same time comes in any order"),
    "lane and bodies": Freedom("SCD-7", "what a body does comes before, between or after what the lane does"),
    "notice": Freedom("SCD-4", "when the lane notices that a call has settled; until then it holds its slot"),
    "due": Freedom("SCD-9", "whether a result that was due is still committed after a failure"),
    "landing": Freedom("PY-3", "when a native cancellation reaches the batch, which is then aborted"),
    "withdrawn": Freedom("PY-13", "when an approver ends whose request was withdrawn"),
    "answer": Freedom(
        "PRE-7", "when the answer of a `next()` is there that nobody waits for: until then another is refused"
    ),
    "moment": Freedom("TMO-1", "what is due at the same moment of virtual time comes in any order"),
}
"""What may come in another order, or not at all, within a window; nothing else may.

The machine of the specification has a choice in each of these places, and the oracle follows all of them.
"""


def key_of(event: Event) -> Key | None:
    """What of an event is compared, or nothing where the event is informative."""
    name = event["event"]
    paths = _PATHS.get(name)
    if paths is None:
        return None
    return (name, event.get("slot", event.get("pos")), tuple(_field(event, path) for path in paths))


def _field(event: Event, path: tuple[str, ...]) -> object:
    if path == ("refused",):
        return "refused" in event  # that it was, and not in which words
    value: object = event
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return tuple(value) if isinstance(value, list) else value


def key_of_spec(one: SpecEvent) -> Key:
    """The key of an event that the specification made."""
    match one.name:
        case EventName.RESULT_LOGGED if one.outcome is not None:
            outcome = one.outcome
            # A nonce shows only in content that is made of the value, not in what a policy put there.
            shows = outcome.content is None and (outcome.nonce or "").startswith("nonce-")
            nonce = outcome.nonce if shows else None
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


_NAMES = {**{str(one): one for one in EventName}, "result.returned": EventName.RESULT_LOGGED}
"""How the specification names what is seen; what is returned outside of any batch is judged as if logged."""


def as_spec(event: Event, listeners: Listeners | None = None) -> SpecEvent | None:
    """The event as the properties of the specification read it, or nothing where they do not.

    `listeners` says which listener of a waterfall is which, outermost first, for each call; without it
    events of policies are not read.
    """
    name = _NAMES.get(event["event"])
    if name is None:
        return None
    if event.get("waterfall") == "approval" or "slot" in event:
        return None  # what became of the approval is an event of its own; so is what a body calls
    outcome = event.get("outcome")
    return SpecEvent(
        name,
        pos=event.get("pos"),
        outcome=_outcome(outcome) if isinstance(outcome, dict) else None,
        how=None if event.get("how") is None else How(event["how"]),
        calls=tuple(map(_announced, event["calls"])) if "calls" in event else None,
        max_parallel=event.get("max_parallel"),
        log_seq=event.get("log_seq"),
        cites=event.get("cites"),
        what=_what(event),
        where=event.get("waterfall"),
        listener=_listener(event, listeners),
        context=event.get("context"),
    )


NO_CODE = "ERROR"
"""What stands for the code of a failure that says none (ERR-1), as `OK` does for that of a success."""


def _outcome(outcome: dict[str, Any]) -> Outcome:
    code = outcome.get("code")
    return Outcome(NO_CODE if code is None and not outcome["ok"] else code, outcome.get("nonce"))


def _what(event: Event) -> str | None:
    match event["event"]:
        case "policy.decided":
            return str(event["decision"])
        case "guard.answered":
            return str(event["answer"])
        case "approval.decided":
            return str(event["outcome"])
        case "signal.aborted" if event.get("signal") != "caller":
            return "own"
        case _:
            return None


def _listener(event: Event, listeners: Listeners | None) -> int | None:
    if listeners is None or "waterfall" not in event or event.get("pos") is None:
        return None
    row = listeners[event["pos"]].get(event["waterfall"], ())
    return row.index(event["listener"]) if event["listener"] in row else None


def _announced(call: dict[str, Any]) -> Announced:
    mode = call.get("mode")
    return Announced(
        call["call_id"],
        call.get("name", ""),
        None if mode is None else Mode(mode),
        call.get("listeners"),
        call.get("guards"),
        call.get("finalizes"),
    )
