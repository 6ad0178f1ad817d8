"""The OpenAI chat completions API, and the many that speak like it.

Calls are `tool_calls` of type `function`. Calls of custom tools are left alone: `tool_list` makes none,
so whoever declares one answers it. Results are messages of role `tool`, which hold text only and have no
flag for errors: a failure says so in its text (OUT-5). Pictures follow in a message of the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gnomon.content import Content
from gnomon.execution import ToolCall
from gnomon.providers.shared import (
    UNCHANGED,
    WHOLE,
    Fields,
    Image,
    MessageError,
    Piece,
    answered,
    arguments_text,
    call_id,
    fields,
    listed,
    of_role,
    pieces,
    sendable,
    text,
    tool_fields,
)
from gnomon.results import Result
from gnomon.runtime import BatchResult
from gnomon.values import JSON


def announced_calls(message: object) -> list[ToolCall]:
    """The function calls of an assistant message, or of the one choice of a whole completion.

    The text of the arguments is kept as it is (ARG-4); where it is missing, it is empty (ARG-1).

    Raises `MessageError` for a message that is not the model's, a piece of a stream, a call without id or
    name, a call in the old form (`function_call`, which has no id), and a completion that was cut off
    (`finish_reason` "length") before the arguments of its last call began: these would count as `{}`.
    """
    told = fields(message, "the message")
    cut_off = False
    if "choices" in told:
        choices = listed(told, "choices", "the completion")
        if len(choices) != 1:
            raise MessageError(
                "the completion",
                f"it has {len(choices)} choices",
                "hand over the message of the choice that the conversation goes on with",
            )
        choice = fields(choices[0], "choice 1")
        if choice.get("message") is None:
            raise MessageError("choice 1", "it has no `message`", WHOLE if "delta" in choice else UNCHANGED)
        cut_off = choice.get("finish_reason") == "length"
        told = fields(choice["message"], "the message")
    of_role(told, "assistant")
    if told.get("function_call") is not None:
        raise MessageError(
            "the message", "it calls in the old form, `function_call`", "send `tools` in place of `functions`"
        )
    calls = [
        _call(entry, f"tool call {number}")
        for number, value in enumerate(listed(told, "tool_calls", "the message"), 1)
        if (entry := fields(value, f"tool call {number}")).get("type") in (None, "function")
    ]
    if cut_off and calls and not calls[-1].arguments:
        raise MessageError(
            "the last tool call",
            "the completion was cut off before its arguments",
            "ask again with a larger limit of tokens",
        )
    return calls


def _call(entry: Fields, place: str) -> ToolCall:
    # A number of its own marks a piece of a stream; only the first piece of a call has id and name.
    remedy = WHOLE if entry.get("index") is not None else UNCHANGED
    identity = call_id(entry, "id", place, remedy)
    if entry.get("function") is None:
        raise MessageError(place, "`function` is missing", remedy)
    function = fields(entry["function"], f"{place}, `function`")
    return ToolCall(identity, text(function, "name", place, remedy), arguments_text(function, place))


def result_messages(
    calls: Sequence[ToolCall], batch: BatchResult | Sequence[Result], *, images: bool = True
) -> list[Fields]:
    """The messages to append after the assistant message that announced the calls.

    One message of role `tool` for each call, in order (SCD-6, SCD-10); its blocks are joined by newlines,
    a `json` block is its JSON text. Pictures of all results follow in one message of the user, each under
    a line that names its call; with `images=False`, for models that see none, their places are named only.
    Each context is a message of the user after that (SCD-15).

    Raises `MessageError` where there are more or fewer results than calls.
    """
    pairs, contexts = answered(calls, batch)
    messages: list[Fields] = []
    pictures: list[Fields] = []
    for call, result in pairs:
        lines: list[str] = []
        count = 0
        for piece in pieces(result.content):
            if not isinstance(piece, Image):
                lines.append(piece.text)
            elif not images:
                lines.append("[image content]")
            else:
                count += 1
                lines.append(f"[image {count}, shown below]")
                title = f"Image {count} of the result of {sendable(call.name)} ({call.id}):"
                pictures += [{"type": "text", "text": title}, _shown(piece)]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "\n".join(lines)})
    if pictures:
        messages.append({"role": "user", "content": pictures})
    return messages + [_context(one, images) for one in contexts if one]


def _context(content: Content, images: bool) -> Fields:
    parts = [
        {"type": "text", "text": "[image content]"} if isinstance(one, Image) and not images else _shown(one)
        for one in pieces(content)
    ]
    return {"role": "user", "content": parts}


def _shown(piece: Piece) -> Fields:
    if isinstance(piece, Image):
        return {"type": "image_url", "image_url": {"url": piece.address}}
    return {"type": "text", "text": piece.text}


def tool_list(schemas: Iterable[Mapping[str, JSON]]) -> list[Fields]:
    """The `tools` of a request (REG-6). `strict` is not said; this API cannot load tools later."""
    return [{"type": "function", "function": tool_fields(schema, "parameters")} for schema in schemas]
