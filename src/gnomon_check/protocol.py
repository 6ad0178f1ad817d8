"""The protocol that the kit speaks with an adapter in any language: JSON objects, one a line.

The kit asks on the adapter's standard input, and is answered on its standard output; standard error is free.
Each request has an `id` and one more key, which says what is asked; the answer repeats the `id`, and has one
more key, which says what is answered.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, Discriminator, NonNegativeInt, Tag, TypeAdapter, ValidationError

from gnomon_check.changes import Name, Strict, faults
from gnomon_check.events import EVENT, Event
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import ScheduleStep
from gnomon_check.subject import About

PROTOCOL = "1.0"
SPECIFICATION = "1.0"


class ProtocolError(Exception):
    """A message is not what the protocol says; the message says which side is wrong, and where."""


# -- what the kit asks ----------------------------------------------------------------------------


class Hello(Strict):
    """Say who you are. Comes first, and once."""

    protocol: str = PROTOCOL
    spec: str = SPECIFICATION


class Open(Strict):
    """Stand before the first input of a scenario; of the one before nothing is left."""

    scenario: Scenario


class Do(Strict):
    """Do one step of the schedule, go on until nothing can proceed, and say what has happened.

    `value` is fresh, and `{"$nonce": true}` in what a body returns stands for it: for the one that came last,
    a hyphen, and the position of the call (`f3a9-0`).
    """

    step: ScheduleStep
    value: str


class Close(Strict):
    """The scenario is over: open every gate, let all time pass, abort the caller's signal and all others.

    Go on until nothing can proceed, and say what has happened.
    """


class Bye(Strict):
    """Nothing more comes: end."""


class HelloRequest(Strict):
    id: NonNegativeInt
    hello: Hello


class OpenRequest(Strict):
    id: NonNegativeInt
    open: Open


class DoRequest(Strict):
    id: NonNegativeInt
    do: Do


class CloseRequest(Strict):
    id: NonNegativeInt
    close: Close


class ByeRequest(Strict):
    id: NonNegativeInt
    bye: Bye


# -- what an adapter answers ----------------------------------------------------------------------


class Manifest(About):
    """Who the implementation is, and what it claims."""

    profiles: list[str]
    """What it claims to do. A scenario that needs more is not run, and reported as not claimed."""
    protocol: str
    spec: str


class Ready(Strict):
    """The scenario can be run."""


class Cannot(Strict):
    """The scenario can not be run on this implementation at all."""

    feature: str
    reason: str
    link: str | None = None


class BlockedAt(Strict):
    """What keeps a script from going on: a gate, the abort that a call awaits, or virtual time."""

    gate: Name | None = None
    await_abort: NonNegativeInt | None = None
    sleep: NonNegativeInt | None = None


class Quiet(Strict):
    """Nothing can proceed without the kit."""

    events: list[dict[str, Any]]
    """What has happened since the request, in order, as the schema of events says."""
    blocked: list[BlockedAt]
    idle: bool
    """Whether no batch is under way."""


class Refused(Strict):
    """The step cannot be done."""

    reason: str


class HelloAnswer(Strict):
    id: NonNegativeInt
    hello: Manifest


class ReadyAnswer(Strict):
    id: NonNegativeInt
    ready: Ready


class CannotAnswer(Strict):
    id: NonNegativeInt
    cannot: Cannot


class QuietAnswer(Strict):
    id: NonNegativeInt
    quiet: Quiet


class RefusedAnswer(Strict):
    id: NonNegativeInt
    refused: Refused


class ByeAnswer(Strict):
    id: NonNegativeInt
    bye: Bye


ANSWERED_BY = {
    "hello": ("hello",),
    "open": ("ready", "cannot"),
    "do": ("quiet", "refused"),
    "close": ("quiet",),
    "bye": ("bye",),
}
"""What is asked, and what may be answered."""


def _kind(message: Any) -> str:
    """What a message is about: its one key beside `id`."""
    if not isinstance(message, dict):
        return "an object"
    kinds = [one for one in message if one != "id"]
    return kinds[0] if len(kinds) == 1 else "one key beside `id`"


Request: TypeAlias = Annotated[
    Annotated[HelloRequest, Tag("hello")]
    | Annotated[OpenRequest, Tag("open")]
    | Annotated[DoRequest, Tag("do")]
    | Annotated[CloseRequest, Tag("close")]
    | Annotated[ByeRequest, Tag("bye")],
    Discriminator(_kind),
]
Answer: TypeAlias = Annotated[
    Annotated[HelloAnswer, Tag("hello")]
    | Annotated[ReadyAnswer, Tag("ready")]
    | Annotated[CannotAnswer, Tag("cannot")]
    | Annotated[QuietAnswer, Tag("quiet")]
    | Annotated[RefusedAnswer, Tag("refused")]
    | Annotated[ByeAnswer, Tag("bye")],
    Discriminator(_kind),
]
REQUEST: TypeAdapter[Any] = TypeAdapter(Request)
ANSWER: TypeAdapter[Any] = TypeAdapter(Answer)


class Messages(BaseModel):
    """Every message of the protocol: what the kit asks, and what an adapter answers."""

    request: Request
    answer: Answer


MESSAGE: TypeAdapter[Any] = TypeAdapter(Messages)
"""What the one schema of the protocol is made from."""


def read_answer(line: str | bytes, asked: str, number: int) -> Any:
    """The answer that a line holds to what was asked, by its number.

    Raises `ProtocolError`, which says that the adapter is wrong, and where.
    """
    try:
        plain = json.loads(line)
    except ValueError as error:
        raise ProtocolError(
            f"the adapter answered `{asked}` with what is no JSON: {error}: {_shown(line)}"
        ) from None
    kind = _kind(plain)
    allowed = " or ".join(f"`{one}`" for one in ANSWERED_BY[asked])
    if not any(kind in kinds for kinds in ANSWERED_BY.values()):
        raise ProtocolError(
            f"the adapter's answer to `{asked}` is not valid: it is no object with `id` and one key beside "
            f"`id`, {allowed}: {_shown(line)}"
        )
    try:
        answer = ANSWER.validate_python(plain)
    except ValidationError as error:
        raise ProtocolError(f"the adapter's answer to `{asked}` is not valid: {faults(error)}") from None
    if answer.id != number:
        raise ProtocolError(
            f"the adapter answered `{asked}` with the id {answer.id}, and it was asked with {number}"
        )
    if kind not in ANSWERED_BY[asked]:
        raise ProtocolError(f"the adapter answered `{asked}` with `{kind}`; it is answered with {allowed}")
    if isinstance(answer, QuietAnswer):
        for place, event in enumerate(answer.quiet.events):
            _check_event(event, place, asked)
    return getattr(answer, kind)


def _check_event(event: Event, place: int, asked: str) -> None:
    try:
        EVENT.validate_python(event)
    except ValidationError as error:
        raise ProtocolError(
            f"the adapter's answer to `{asked}` is not valid: quiet.events.{place}: {faults(error)}"
        ) from None


def _shown(line: str | bytes) -> str:
    text = line if isinstance(line, str) else line.decode("utf-8", "replace")
    return repr(text if len(text) <= 80 else text[:80] + "...")
