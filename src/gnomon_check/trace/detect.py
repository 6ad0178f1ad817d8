"""Which format an input has: told from its content alone, never from the name of its file."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from typing import NoReturn

from gnomon_check.trace.anthropic_messages import read_anthropic
from gnomon_check.trace.model import Format, Reading, Unjudgeable
from gnomon_check.trace.openai_chat import read_openai
from gnomon_check.trace.own_log import read_own_log
from gnomon_check.trace.shapes import kind_of

_RECORD = re.compile(rb'^\{"seq":[0-9]+,"crc":"', re.MULTILINE)
"""How a line of a session log begins: its writer has no choice in this."""

_CUT_OFF = re.compile(
    r"""(?: "(?:[^"\\]++|\\.)*+\\?     # a string that does not end
          | \\?u[0-9a-fA-F]{0,3}      # an escape,
          | \.|[eE][-+]?|-            # a number,
          | t|tr|tru|f|fa|fal|fals|n|nu|nul
        )?\s*""",
    re.VERBOSE | re.DOTALL,
)
"""What can be left of a JSON text from the place on where it stops being readable, if it was cut off."""


def read_input(content: bytes) -> Reading:
    """Read an input of any of the known formats. Raises `Unjudgeable` where that cannot be done."""
    if not content.strip():
        raise Unjudgeable("it is empty")
    if _RECORD.search(content):
        return read_own_log(content)
    return _read_messages(_messages(_json(content)))


# -- JSON -----------------------------------------------------------------------------------------


def _json(content: bytes) -> object:
    text = _text(content)
    start = len(text) - len(text.lstrip(_BLANK))
    try:
        # Numbers are not looked at; as floats they have no limit of digits.
        decoder = json.JSONDecoder(parse_int=float, parse_constant=_no_constant)
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        if _CUT_OFF.fullmatch(text, error.pos):
            raise Unjudgeable(f"{_place(text, error.pos)}: the JSON is cut off here") from None
        raise Unjudgeable(f"{_place(text, error.pos)}: not JSON ({error.msg})") from None
    except RecursionError:
        raise Unjudgeable("the JSON is nested too deeply to be read") from None
    rest = text[end:].lstrip(_BLANK)
    if rest:
        place = _place(text, len(text) - len(rest))
        raise Unjudgeable(f"{place}: more follows after the JSON value; one message list is needed")
    checked: object = value
    return checked


_BLANK = " \t\r\n"


def _text(content: bytes) -> str:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        text = decoder.decode(content)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise Unjudgeable(f"not text in UTF-8 (byte 0x{byte:02x} at offset {error.start})") from None
    if "\0" in text:
        raise Unjudgeable(f"not text (a NUL byte at offset {content.index(0)})")
    # Where the last character is incomplete, the file may have been cut off: JSON will tell.
    return f"{text}\ufffd" if decoder.getstate()[0] else text


def _place(text: str, offset: int) -> str:
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


def _no_constant(name: str) -> NoReturn:
    raise Unjudgeable(f"not JSON (it holds {name})")


# -- message lists --------------------------------------------------------------------------------


def _messages(value: object) -> Sequence[object]:
    if isinstance(value, dict):
        if "messages" not in value:
            raise Unjudgeable("an object without `messages`: neither a message list nor a session log")
        value = value["messages"]
        if not isinstance(value, list):
            raise Unjudgeable(f"`messages` is not a list, but {kind_of(value)}")
    if not isinstance(value, list):
        raise Unjudgeable(f"{kind_of(value)}: neither a message list nor a session log")
    if not value:
        raise Unjudgeable("the list of messages is empty")
    return value


def _read_messages(messages: Sequence[object]) -> Reading:
    marks = [(number, mark) for number, one in enumerate(messages, 1) if (mark := _mark(one)) is not None]
    first = {mark: number for number, mark in reversed(marks)}
    if len(first) > 1:
        raise Unjudgeable(
            f"two formats in one list: message {first[Format.OPENAI]} is of the OpenAI chat API, "
            f"message {first[Format.ANTHROPIC]} of the Anthropic messages API"
        )
    if Format.ANTHROPIC in first:
        return read_anthropic(messages)
    read = read_openai(messages)
    return read if Format.OPENAI in first else Reading(Format.MESSAGES, read.batches)


def _mark(message: object) -> Format | None:
    """The format that a message shows, if it is one that could not stand in the other."""
    if not isinstance(message, dict):
        return None
    if message.get("role") in ("tool", "function"):
        return Format.OPENAI
    if message.get("tool_calls") is not None or message.get("function_call") is not None:
        return Format.OPENAI
    content = message.get("content")
    if isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result") for block in content
    ):
        return Format.ANTHROPIC
    return None
