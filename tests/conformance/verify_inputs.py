"""Small inputs for the tests of `gnomon verify`, written in a short form."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gnomon.session import Record
from gnomon.session.records import encode

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"

Json = Any


def as_bytes(value: Json) -> bytes:
    return json.dumps(value).encode()


# -- message lists: `calls` are ids, any other item is a message as it is ---------------------------


def openai(*items: Json) -> bytes:
    """A tuple is an assistant message with those calls, a string the result for that id."""
    messages = []
    for item in items:
        if isinstance(item, tuple):
            calls = [{"id": one, "type": "function", "function": {"name": "f"}} for one in item]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        elif isinstance(item, str):
            messages.append({"role": "tool", "tool_call_id": item, "content": "done"})
        else:
            messages.append(item)
    return as_bytes(messages)


def anthropic(*items: Json) -> bytes:
    """A tuple is an assistant message with those calls, a list a user message: ids, and other blocks."""
    messages = []
    for item in items:
        if isinstance(item, tuple):
            content = [tool_use(one) if isinstance(one, str) else one for one in item]
            messages.append({"role": "assistant", "content": content})
        elif isinstance(item, list):
            content = [tool_result(one) if isinstance(one, str) else one for one in item]
            messages.append({"role": "user", "content": content})
        else:
            messages.append(item)
    return as_bytes(messages)


def tool_use(call_id: str, **more: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "f", "input": {}, **more}


def tool_result(call_id: str, **more: Json) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "done", **more}


TEXT = {"type": "text", "text": "and another thing"}
USER = {"role": "user", "content": "and another thing"}
ASSISTANT = {"role": "assistant", "content": "I see"}


# -- session logs ---------------------------------------------------------------------------------


def calls(*ids: str, step: int = 0) -> Record:
    announced = [{"callId": one, "name": "f", "arguments": "{}"} for one in ids]
    return Record("assistant/calls", {"turn": 0, "step": step, "calls": announced})


def start(call_id: str, **more: Json) -> Record:
    return Record(
        "tool/call", {"turn": 0, "step": 0, "callId": call_id, "name": "f", "arguments": "{}", **more}
    )


def result(call_id: str, cites: int, code: str | None = None, **more: Json) -> Record:
    data: Json = {"turn": 0, "step": 0, "message": {"callId": call_id, "isError": False, "content": []}}
    if code is not None:
        data["message"]["isError"] = True
        data["error"] = {"name": "Error", "code": code}
    return Record("tool/result", {**data, "cites": cites, **more})


END = Record("step/end", {"turn": 0, "step": 0})


def sealed(records: Iterable[Record]) -> bytes:
    """The bytes of a log of these records, numbered and with checksums as a writer would give them."""
    content, crc = b"", 0
    for seq, record in enumerate(records):
        line, crc = encode(seq, crc, record)
        content += line
    return content


def session(*records: Record) -> bytes:
    return sealed(records)
