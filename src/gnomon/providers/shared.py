"""What the message formats share: reading what is handed in, and the parts of what the model is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from gnomon.content import Content
from gnomon.errors import GnomonError
from gnomon.execution import ToolCall
from gnomon.results import Result
from gnomon.runtime import BatchResult
from gnomon.values import JSON, from_text, show_path, thaw, to_text

Fields: TypeAlias = dict[str, Any]

UNCHANGED = "hand over the message as the API sent it"
WHOLE = "put the pieces of a stream together first"


class MessageError(GnomonError):
    """A message of a model API cannot be read, or results do not fit the calls that they answer.

    `place` says where, `problem` what is wrong there, `remedy` what to do.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}")
        self.place = place
        self.problem = problem
        self.remedy = remedy


# -- what is handed in --------------------------------------------------------------------------


def fields(value: object, place: str) -> Fields:
    """The fields of a JSON object, or of a model object of an SDK. Raises `MessageError`."""
    if isinstance(value, dict):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        try:
            # Not mode="json": that turns NaN into null, and an argument must not change unseen (ARG-5).
            dumped = dump(mode="python", by_alias=True, warnings=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise MessageError(place, f"its model_dump() failed: {error}", UNCHANGED) from error
        if isinstance(dumped, dict):
            return dumped
    raise MessageError(
        place,
        f"it is {kind_of(value)}, and neither a JSON object nor a model object of an SDK",
        UNCHANGED,
    )


def first_of(holder: Fields, *keys: str) -> Any:
    """The field of one of these names, None where there is none: some dumps spell a name in snake case."""
    for key in keys:
        if holder.get(key) is not None:
            return holder[key]
    return None


def listed(holder: Fields, key: str, place: str) -> list[Any]:
    """The list in a field, empty where it is missing or null. Raises `MessageError`."""
    value = holder.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise MessageError(place, f"`{key}` is {kind_of(value)}, not a list", UNCHANGED)
    return value


def text(holder: Fields, key: str, place: str, remedy: str = UNCHANGED) -> str:
    """The text in a field that must be there. Raises `MessageError`."""
    value = holder.get(key)
    if isinstance(value, str):
        return value
    problem = f"`{key}` is missing" if value is None else f"`{key}` is {kind_of(value)}, not text"
    raise MessageError(place, problem, remedy)


def call_id(holder: Fields, key: str, place: str, remedy: str = UNCHANGED) -> str:
    """The id of a call, which its result has to name. Raises `MessageError`."""
    value = text(holder, key, place, remedy)
    if not value:
        raise MessageError(place, f"`{key}` is empty, so no result could be matched to the call", UNCHANGED)
    return value


def of_role(message: Fields, role: str) -> None:
    """Raise `MessageError` for what is not a message of the model: it would seem to announce no calls."""
    said = message.get("role")
    if said != role:
        problem = "it has no `role`" if said is None else f"its role is {said!r}"
        raise MessageError(
            "the message",
            f"{problem}, and only a message of role {role!r} announces calls",
            "hand over the whole message that the model answered",
        )


def kind_of(value: object) -> str:
    """What a value is called in messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"an object of type {type(value).__name__}"


# -- JSON text ----------------------------------------------------------------------------------


def json_text(value: object, place: str) -> str:
    """JSON text of a value, of any depth: code points as they are, integers exact (VAL-3, VAL-4, VAL-6).

    Raises `MessageError` for what is no JSON value: NaN, infinity, bytes, and whatever else (VAL-1).
    """
    return _Writer(place).of(value)


class _Writer:
    """Writes containers from a work list; `to_text` writes what stands in them."""

    __slots__ = ("_open", "_parts", "_path", "_place")

    def __init__(self, place: str) -> None:
        self._place = place
        self._parts: list[str] = []
        self._open: dict[int, tuple[Iterator[tuple[Any, object]], str]] = {}
        """Containers under way by their identity: what is left of them, and how they close."""
        self._path: list[str | int] = []

    def of(self, value: object) -> str:
        self._begin(value)
        while self._open:
            identity = next(reversed(self._open))
            slots, end = self._open[identity]
            for key, inner in slots:
                self._path[-1] = key
                if self._parts[-1] not in ("{", "["):
                    self._parts.append(",")
                if end == "}":
                    if type(key) is not str:
                        self._refuse(f"has a key that is {kind_of(key)}")
                    self._parts.append(to_text(key) + ":")
                self._begin(inner)
                break
            else:
                self._parts.append(end)
                del self._open[identity]
                self._path.pop()
        return "".join(self._parts)

    def _begin(self, value: object) -> None:
        if isinstance(value, dict | list):
            if id(value) in self._open:
                self._refuse("contains itself")
            slots = value.items() if isinstance(value, dict) else enumerate(value)
            start, end = "{}" if isinstance(value, dict) else "[]"
            self._parts.append(start)
            self._open[id(value)] = (iter(slots), end)
            self._path.append("")
        elif type(value) is float and not math.isfinite(value):
            self._refuse(f"is {value}")
        elif value is None or type(value) in (bool, int, float, str):
            self._parts.append(to_text(value))
        else:
            self._refuse(f"is {kind_of(value)}")

    def _refuse(self, what: str) -> NoReturn:
        raise MessageError(
            self._place, f"{show_path(tuple(self._path))} {what}, which JSON has not", UNCHANGED
        )


# -- what goes out ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Text for the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Json:
    """A JSON value for the model."""

    value: JSON
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: its bytes in base64, or where it lies."""

    kind: str
    """Its media type, such as `image/png`; empty where it is not known, which a `url` may leave so."""
    data: str = ""
    url: str = ""

    @property
    def address(self) -> str:
        """Where it lies; its bytes as such an address, where it has bytes."""
        return self.url or f"data:{self.kind};base64,{self.data}"


Piece: TypeAlias = Text | Json | Image

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def sendable(words: str) -> str:
    """The text with U+FFFD for each lone surrogate: no client can send one, and the whole request fails."""
    return _SURROGATE.sub("\ufffd", words)


def pieces(content: Content) -> list[Piece]:
    """The blocks of content; one that is of no known form is told by its type, as in PST-5."""
    return [_piece(block) for block in content]


def _piece(block: Mapping[str, Any]) -> Piece:
    match block:
        case {"type": "text", "text": str(words)}:
            return Text(sendable(words))
        case {"type": "image", "data": str(data), "mimeType": str(kind)} if kind:
            return Image(sendable(kind), data=sendable(data))
        case {"type": "image", "url": str(url)}:
            told = block.get("mimeType")
            return Image(sendable(told) if isinstance(told, str) else "", url=sendable(url))
        case {"type": "json"} if "value" in block:
            return json_piece(block["value"])
        case _:
            return Text(f"[{sendable(block['type'])} content]")


def json_piece(value: Any) -> Json:
    """A JSON value as it can be sent."""
    written = json_text(value, "a json block")
    if _SURROGATE.search(written):
        written = sendable(written)
        return Json(from_text(written), written)
    return Json(thaw(value), written)


def answered(
    calls: Sequence[ToolCall], batch: BatchResult | Sequence[Result]
) -> tuple[list[tuple[ToolCall, Result]], list[Content]]:
    """Each call with its result, in order (SCD-10), and the contexts (SCD-15).

    Raises `MessageError` where there are more or fewer results than calls.
    """
    if isinstance(batch, BatchResult):
        results, contexts = list(batch.results), list(batch.contexts)
    else:
        results = list(batch)
        contexts = [one for result in results for one in result.contexts]
    if len(results) != len(calls):
        raise MessageError(
            "the results",
            f"there are {len(results)} of them for {len(calls)} calls",
            "hand over the calls that the batch was run with, in their order",
        )
    return list(zip(calls, results, strict=True)), contexts


def tool_fields(schema: Mapping[str, Any], parameters: str) -> Fields:
    """Name, description and parameters of a tool, the last under the name that they have there (REG-6).

    Arguments are an object in all of these APIs, and they refuse parameters that do not say so.
    """
    said: Any = thaw(dict(schema["parameters"]))
    if "type" not in said:
        said = {"type": "object", **said}
    return {"name": schema["name"], "description": schema["description"], parameters: said}


def loaded_later(schema: Mapping[str, Any]) -> bool:
    """Whether the model is to find the tool by a search, where an API can do that (REG-6)."""
    return schema.get("deferLoading") is True


def arguments_text(holder: Fields, place: str) -> str:
    """The arguments where an API gives them as text: as they are (ARG-4), empty where missing (ARG-1).

    Raises `MessageError` where they are no text.
    """
    arguments = holder.get("arguments")
    if arguments is None:
        return ""
    if not isinstance(arguments, str):
        raise MessageError(place, f"`arguments` is {kind_of(arguments)}, not text", UNCHANGED)
    return arguments


def arguments_of_object(holder: Fields, key: str, place: str) -> str:
    """The arguments where an API gives an object: written once, as text; empty where missing (ARG-1).

    Raises `MessageError` where they are no object of JSON.
    """
    arguments = holder.get(key)
    if arguments is None:
        return ""
    if not isinstance(arguments, dict):
        raise MessageError(place, f"`{key}` is {kind_of(arguments)}, not an object", UNCHANGED)
    return json_text(arguments, f"{place}, `{key}`")
