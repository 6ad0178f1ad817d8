"""The Anthropic messages API.

Calls are blocks `tool_use`. Blocks of tools that run at the provider (`server_tool_use`, `mcp_tool_use`
and what answers them) are left alone. Results are blocks `tool_result` in one message of the user, before
everything else in it, with `is_error` on those that failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.content import Content
from gnomon.execution import ToolCall
from gnomon.providers.shared import (
    Fields,
    Image,
    MessageError,
    Piece,
    answered,
    arguments_of_object,
    call_id,
    fields,
    listed,
    loaded_later,
    of_role,
    pieces,
    sendable,
    text,
    tool_fields,
)
from gnomon.results import Failure, Result
from gnomon.runtime import BatchResult
from gnomon.values import JSON

PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
"""The media types of pictures that the API takes as bytes."""


def announced_calls(message: object) -> list[ToolCall]:
    """The calls of an assistant message; its `content` is text, or a list of blocks.

    The API gives the arguments as an object, `input`: it is written as JSON text, once, with its integers
    and code points as they are (VAL-4, VAL-6). A missing one is empty text (ARG-1).

    Raises `MessageError` for a message that is not the model's, for a call without id or name or with an
    `input` that is no JSON object, and where the message was cut off (`stop_reason` "max_tokens" or
    "model_context_window_exceeded") within its last block, and that is a call: its `input` may lack parts.
    """
    told = fields(message, "the message")
    of_role(told, "assistant")
    if isinstance(told.get("content"), str):
        return []
    blocks = [
        (f"block {number}", fields(value, f"block {number}"))
        for number, value in enumerate(listed(told, "content", "the message"), 1)
    ]
    stopped = told.get("stop_reason")
    if stopped in ("max_tokens", "model_context_window_exceeded") and blocks:
        place, last = blocks[-1]
        if last.get("type") == "tool_use":
            raise MessageError(
                place, f"the message was cut off within this call ({stopped})", "ask again with more room"
            )
    return [
        ToolCall(
            call_id(block, "id", place),
            text(block, "name", place),
            arguments_of_object(block, "input", place),
        )
        for place, block in blocks
        if block.get("type") == "tool_use"
    ]


def result_messages(calls: Sequence[ToolCall], batch: BatchResult | Sequence[Result]) -> list[Fields]:
    """The message of the user to append after the assistant message: none for no calls, else one.

    First a `tool_result` for each call, in order (SCD-6, SCD-10), then the contexts (SCD-15). A `json` block
    is its JSON text, a picture is given by its bytes or by its `url`; one of a media type that the API does
    not take is named only. Blank text is left out, because the API refuses it; a failure that has nothing
    else to show shows its error.

    Raises `MessageError` where there are more or fewer results than calls.
    """
    pairs, contexts = answered(calls, batch)
    content = [_result(call, result) for call, result in pairs]
    for one in contexts:
        content += _blocks(one)
    return [{"role": "user", "content": content}] if content else []


def _result(call: ToolCall, result: Result) -> Fields:
    shown = _blocks(result.content)
    if isinstance(result, Failure) and not shown:
        shown = [{"type": "text", "text": sendable(f"Error: {result.error.message or result.error.code}")}]
    block: Fields = {"type": "tool_result", "tool_use_id": call.id}
    if shown:
        block["content"] = shown
    if isinstance(result, Failure):
        block["is_error"] = True
    return block


def _blocks(content: Content) -> list[Fields]:
    shown = [_shown(piece) for piece in pieces(content)]
    return [one for one in shown if one["type"] != "text" or one["text"].strip()]


def _shown(piece: Piece) -> Fields:
    if not isinstance(piece, Image):
        return {"type": "text", "text": piece.text}
    if piece.url:
        return {"type": "image", "source": {"type": "url", "url": piece.url}}
    if piece.kind not in PICTURES:
        return {"type": "text", "text": f"[image content of type {piece.kind}]"}
    return {"type": "image", "source": {"type": "base64", "media_type": piece.kind, "data": piece.data}}


def tool_list(schemas: Iterable[Mapping[str, JSON]]) -> list[Fields]:
    """The `tools` of a request (REG-6); one that is loaded later needs a tool search beside it."""
    return [
        {
            **tool_fields(schema, "input_schema"),
            **({"defer_loading": True} if loaded_later(schema) else {}),
        }
        for schema in schemas
    ]
