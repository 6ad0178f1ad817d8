"""The Gemini API, its contents and their parts.

Calls are parts `functionCall`; results are parts `functionResponse`, in one content of the user. They need
not have ids: the API then matches them by name and order, and so does this. A failure is `error` in the
response where a success is `output`. Names are read in camel case and in snake case, written in camel case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gnomon.content import Content
from gnomon.execution import ToolCall
from gnomon.providers.shared import (
    UNCHANGED,
    WHOLE,
    Fields,
    Image,
    Json,
    MessageError,
    Piece,
    answered,
    arguments_of_object,
    fields,
    first_of,
    kind_of,
    listed,
    of_role,
    pieces,
    text,
    tool_fields,
)
from gnomon.results import Result
from gnomon.runtime import BatchResult
from gnomon.values import JSON

NO_ID = "gnomon-no-id-"
"""How the ids begin that are made here, for calls that came without one; the API is never sent them."""

DROPPED = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")
"""Reasons to finish that say that the model called, and the API left the call out of its answer."""


def announced_calls(content: object) -> list[ToolCall]:
    """The function calls of a content of the model, or of the one candidate of a whole response.

    A call without an id gets one that says its place among the calls: the same message gives the same
    ids, and no two calls of it the same. The API gives the arguments as an object, `args`: it is written as
    JSON text, once, with its integers and code points as they are (VAL-4, VAL-6). A missing one is empty
    text (ARG-1). A response without a candidate, such as a blocked one, announces nothing.

    Raises `MessageError` for a content that is not the model's, a call without name or with `args` that
    are no JSON object, a piece of a stream, and a candidate whose call the API dropped as malformed.
    """
    told = fields(content, "the content")
    if "candidates" in told:
        candidates = listed(told, "candidates", "the response")
        if not candidates:
            return []
        if len(candidates) > 1:
            raise MessageError(
                "the response",
                f"it has {len(candidates)} candidates",
                "hand over the content of the candidate that the conversation goes on with",
            )
        candidate = fields(candidates[0], "candidate 1")
        reason = _word(first_of(candidate, "finishReason", "finish_reason"))
        if reason in DROPPED:
            raise MessageError("candidate 1", f"the model's call was dropped ({reason})", "ask again")
        if candidate.get("content") is None:
            return []
        told = fields(candidate["content"], "the content")
    elif first_of(told, "promptFeedback", "prompt_feedback") is not None:
        return []
    of_role({"role": "model", **told} if "parts" in told else told, "model")
    return _named(
        [
            _call(fields(call, place), place)
            for number, value in enumerate(listed(told, "parts", "the content"), 1)
            if (call := first_of(fields(value, place := f"part {number}"), "functionCall", "function_call"))
            is not None
        ]
    )


def _word(reason: Any) -> str:
    """A constant of the API, which an SDK hands over as an enum."""
    return str(getattr(reason, "value", reason))


def _call(call: Fields, place: str) -> ToolCall:
    if first_of(call, "willContinue", "will_continue") or first_of(call, "partialArgs", "partial_args"):
        raise MessageError(place, "the call is not complete", WHOLE)
    identity = call.get("id")
    if identity is not None and not isinstance(identity, str):
        raise MessageError(place, f"`id` is {kind_of(identity)}, not text", UNCHANGED)
    return ToolCall(identity or "", text(call, "name", place), arguments_of_object(call, "args", place))


def _named(calls: list[ToolCall]) -> list[ToolCall]:
    taken = {call.id for call in calls}
    named: list[ToolCall] = []
    for number, call in enumerate(calls, 1):
        made = f"{NO_ID}{number}"
        while not call.id and made in taken:
            made += "-"
        named.append(call if call.id else ToolCall(made, call.name, call.arguments))
    return named


def result_messages(
    calls: Sequence[ToolCall], batch: BatchResult | Sequence[Result], *, nested_images: bool = True
) -> list[Fields]:
    """The contents of the user to append after the content of the model: none for no calls.

    The first has one `functionResponse` for each call, in order (SCD-6, SCD-10), and no other part: the
    API counts them. What is shown stands under `output`, or `error` for a failure: the text or the JSON
    value of the one block, else a list of them. Pictures are `parts` of the response, which needs Gemini 3;
    with `nested_images=False` they stand in a content of their own, each after a line that names its
    call. A picture without a media type is named by its `url`. Contexts are the last content (SCD-15),
    without empty text, which the API refuses.

    Raises `MessageError` where there are more or fewer results than calls.
    """
    pairs, contexts = answered(calls, batch)
    responses: list[Fields] = []
    beside: list[Fields] = []
    for call, result in pairs:
        values: list[JSON] = []
        pictures: list[Fields] = []
        for piece in pieces(result.content):
            if isinstance(piece, Image) and piece.kind:
                pictures.append(_picture(piece))
                values.append(f"[image {len(pictures)}]")
            else:
                values.append(piece.value if isinstance(piece, Json) else _words(piece))
        shown: JSON = values[0] if len(values) == 1 else values or ""
        response: Fields = {"name": call.name, "response": {"output" if result.ok else "error": shown}}
        if not call.id.startswith(NO_ID):
            response["id"] = call.id
        if pictures and nested_images:
            response["parts"] = pictures
        elif pictures:
            beside.append({"text": f"Images of the result of {call.name}, in order:"})
            beside += pictures
        responses.append({"functionResponse": response})
    contents = [responses, beside, [part for one in contexts for part in _parts(one)]]
    return [{"role": "user", "parts": parts} for parts in contents if parts]


def _parts(content: Content) -> list[Fields]:
    parts = [
        _picture(piece) if isinstance(piece, Image) and piece.kind else {"text": _words(piece)}
        for piece in pieces(content)
    ]
    return [part for part in parts if part != {"text": ""}]


def _words(piece: Piece) -> str:
    return f"[image at {piece.url}]" if isinstance(piece, Image) else piece.text


def _picture(image: Image) -> Fields:
    if image.url:
        return {"fileData": {"mimeType": image.kind, "fileUri": image.url}}
    return {"inlineData": {"mimeType": image.kind, "data": image.data}}


def tool_list(schemas: Iterable[Mapping[str, JSON]]) -> list[Fields]:
    """The `tools` of a request, all functions in one (REG-6); this API cannot load tools later."""
    functions = [tool_fields(schema, "parametersJsonSchema") for schema in schemas]
    return [{"functionDeclarations": functions}] if functions else []
