"""The OpenAI Responses API.

Calls are items `function_call`. Everything else is left alone: messages, reasoning, tools that run at the
provider, and custom tools, shells and the like, which whoever declared them answers. Results are items
`function_call_output`; they have no flag for errors: a failure says so in its text (OUT-5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.execution import ToolCall
from gnomon.providers.shared import (
    Fields,
    Image,
    MessageError,
    Piece,
    answered,
    arguments_text,
    call_id,
    fields,
    listed,
    loaded_later,
    pieces,
    text,
    tool_fields,
)
from gnomon.results import Result
from gnomon.runtime import BatchResult
from gnomon.values import JSON


def announced_calls(response: object) -> list[ToolCall]:
    """The function calls of a response, or of the list of its `output` items.

    The id of a call is its `call_id`, not the `id` of the item. The text of the arguments is kept as it
    is (ARG-4); where it is missing, it is empty (ARG-1).

    Raises `MessageError` for a response that failed, a call without id or name, and a call that was cut
    off (`status` "incomplete" or "in_progress") before its arguments began: these would count as `{}`.
    """
    if isinstance(response, list):
        items = response
    else:
        told = fields(response, "the response")
        error = told.get("error")
        if error is not None or told.get("status") == "failed":
            raise MessageError("the response", f"it failed: {error}", "ask again")
        if "output" not in told:
            raise MessageError("the response", "`output` is missing", "hand over the response, or its output")
        items = listed(told, "output", "the response")
    return [
        _call(item, f"item {number}")
        for number, value in enumerate(items, 1)
        if (item := fields(value, f"item {number}")).get("type") == "function_call"
    ]


def _call(item: Fields, place: str) -> ToolCall:
    call = ToolCall(call_id(item, "call_id", place), text(item, "name", place), arguments_text(item, place))
    if not call.arguments and item.get("status") in ("incomplete", "in_progress"):
        raise MessageError(place, "the call is not complete", "ask again with a larger limit of tokens")
    return call


def result_messages(calls: Sequence[ToolCall], batch: BatchResult | Sequence[Result]) -> list[Fields]:
    """The items to append to the input after the items of the response.

    One `function_call_output` for each call, in order (SCD-6, SCD-10): its text, or a list of texts and
    pictures where it is not one text; a `json` block is its JSON text. Each context is a message of the
    user after that (SCD-15).

    Raises `MessageError` where there are more or fewer results than calls.
    """
    pairs, contexts = answered(calls, batch)
    outputs: list[Fields] = [
        {"type": "function_call_output", "call_id": call.id, "output": _output(pieces(result.content))}
        for call, result in pairs
    ]
    return outputs + [
        {"type": "message", "role": "user", "content": [_shown(piece) for piece in pieces(one)]}
        for one in contexts
        if one
    ]


def _output(shown: list[Piece]) -> str | list[Fields]:
    match shown:
        case []:
            return ""
        case [only] if not isinstance(only, Image):
            return only.text
        case _:
            return [_shown(piece) for piece in shown]


def _shown(piece: Piece) -> Fields:
    if isinstance(piece, Image):
        return {"type": "input_image", "detail": "auto", "image_url": piece.address}
    return {"type": "input_text", "text": piece.text}


def tool_list(schemas: Iterable[Mapping[str, JSON]]) -> list[Fields]:
    """The `tools` of a request (REG-6); one that is loaded later needs a tool search beside it.

    `strict` is false, which is what leaving it out means in the chat API: here it means strict where the
    schema allows, and the model would be shown other parameters than are enforced (SCH-8).
    """
    return [
        {
            "type": "function",
            **tool_fields(schema, "parameters"),
            "strict": False,
            **({"defer_loading": True} if loaded_later(schema) else {}),
        }
        for schema in schemas
    ]
