"""Inputs that cannot be judged, and inputs that nobody meant."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from verify_inputs import (
    SAMPLES,
    TEXT,
    USER,
    anthropic,
    as_bytes,
    openai,
    sealed,
    session,
    tool_result,
    tool_use,
)

from gnomon.session import Record, read_log

ALL_SAMPLES = sorted(SAMPLES.iterdir())
LINES = (SAMPLES / "session-good.jsonl").read_bytes().splitlines(keepends=True)

DEEP = b'[{"role": "user", "content": %s}]' % (b"[" * 100_000 + b"]" * 100_000)


def role(value: Any) -> bytes:
    return as_bytes([{"role": value, "content": ""}])


def tool_calls(value: Any) -> bytes:
    return as_bytes([USER, {"role": "assistant", "tool_calls": value}])


def blocks(value: Any) -> bytes:
    return as_bytes([*json.loads(anthropic(("a",), ["a"])), {"role": "user", "content": value}])


NOT_JUDGED = {
    # what is no JSON
    "empty": (b"", "it is empty"),
    "blank": (b" \n\t\n", "it is empty"),
    "binary": (b"\x89PNG\r\n\x1a\n", "not text in UTF-8 (byte 0x89 at offset 0)"),
    "another encoding": ("[]".encode("utf-16"), "not text in UTF-8 (byte 0xff at offset 0)"),
    "NUL": (b'["\0"]', "not text (a NUL byte at offset 2)"),
    "words": (b"hello", "line 1, column 1: not JSON (Expecting value)"),
    "a missing comma": (
        b'[\n  {"role": "user"}\n  {}\n]',
        "line 3, column 3: not JSON (Expecting ',' delimiter)",
    ),
    "NaN": (b'[{"role": NaN}]', "not JSON (it holds NaN)"),
    "cut off in a list": (b'[\n{"role": "user"},\n', "line 3, column 1: the JSON is cut off here"),
    "cut off in a string": (b'[{"role": "us', "line 1, column 11: the JSON is cut off here"),
    "cut off in an escape": (b'[{"role": "us\\', "line 1, column 11: the JSON is cut off here"),
    "cut off in a number": (b'[{"role": 1.', "line 1, column 12: the JSON is cut off here"),
    "cut off in a code": (b'["\\u00', "line 1, column 4: the JSON is cut off here"),
    "cut off in a word": (b'[{"role": nul', "line 1, column 11: the JSON is cut off here"),
    "cut off in a character": ('[{"role": "ü'.encode()[:-1], "line 1, column 11: the JSON is cut off here"),
    "a broken last character": (
        b"[]\xc3",
        "line 1, column 3: more follows after the JSON value; one message list is needed",
    ),
    "two values": (
        b"[]\n[]",
        "line 2, column 1: more follows after the JSON value; one message list is needed",
    ),
    "nested too deeply": (DEEP, "the JSON is nested too deeply to be read"),
    # what is no message list
    "a number": (b"1", "a number: neither a message list nor a session log"),
    "null": (b"null", "null: neither a message list nor a session log"),
    "an object": (b"{}", "an object without `messages`: neither a message list nor a session log"),
    "no list of messages": (b'{"messages": {}}', "`messages` is not a list, but an object"),
    "no messages": (b"[]", "the list of messages is empty"),
    "no message": (b'[{"role": "user"}, "hello"]', "message 2 is not an object, but a string"),
    "no role": (b'[{"content": ""}]', "message 1: `role` is missing"),
    "a wrong role": (role(1.5), "message 1: `role` is not a string, but a number"),
    "an unknown role": (
        role("model"),
        "message 1: the role model is none of system, developer, user, assistant, tool, function",
    ),
    "two formats": (
        b"[%s, %s]" % (openai(("a",), "a")[1:-1], anthropic(("a",), ["a"])[1:-1]),
        (
            "two formats in one list: message 1 is of the OpenAI chat API, "
            "message 3 of the Anthropic messages API"
        ),
    ),
    # shapes of the OpenAI chat API
    "calls are no list": (tool_calls("f"), "message 2: `tool_calls` is not a list, but a string"),
    "a call is no object": (tool_calls([None]), "message 2, tool call 1 is not an object, but null"),
    "a call without a function": (tool_calls([{"id": "a"}]), "message 2, tool call 1: `function` is missing"),
    "a function that is none": (
        tool_calls([{"id": "a", "function": True}]),
        "message 2, tool call 1: `function` is not an object, but a boolean",
    ),
    "a call without a name": (
        tool_calls([{"id": "a", "function": {}}]),
        "message 2, tool call 1: `name` is missing",
    ),
    "a call without an id": (
        tool_calls([{"function": {"name": "f"}}]),
        "message 2, tool call 1: `id` is missing",
    ),
    "a result without an id": (as_bytes([{"role": "tool"}]), "message 1: `tool_call_id` is missing"),
    "calls of a user": (
        as_bytes([{"role": "user", "tool_calls": json.loads(openai(("a",)))[0]["tool_calls"]}]),
        "message 1: `tool_calls` in a message of role user",
    ),
    "the old form": (
        as_bytes([{"role": "assistant", "function_call": {"name": "f"}}]),
        "message 1: calls in the old form (`function_call`) have no ids to judge by",
    ),
    "the old form of a result": (
        as_bytes([{"role": "function", "name": "f", "content": ""}]),
        "message 1: calls in the old form (`function_call`) have no ids to judge by",
    ),
    # shapes of the Anthropic messages API
    "no content": (blocks(None), "message 3: `content` is not a list, but null"),
    "a block is no object": (blocks([[]]), "message 3, block 1 is not an object, but a list"),
    "a block without a type": (blocks([TEXT, {}]), "message 3, block 2: `type` is missing"),
    "a call of a user": (blocks([tool_use("a")]), "message 3, block 1: `tool_use` in a message of role user"),
    "a tool_result without an id": (
        blocks([{"type": "tool_result"}]),
        "message 3, block 1: `tool_use_id` is missing",
    ),
    "a tool_use without an id": (
        anthropic(({"type": "tool_use", "name": "f"},)),
        "message 1, block 1: `id` is missing",
    ),
    "a strange flag": (
        blocks([tool_result("a", is_error="no")]),
        "message 3, block 1: `is_error` is not a boolean, but a string",
    ),
    # records of a session log
    "only a torn record": (LINES[0][:30], "it holds no whole record, only 30 bytes of a torn first one"),
    "calls without a turn": (
        session(Record("assistant/calls", {"step": 0, "calls": []})),
        "record 0 (assistant/calls): `turn` is missing",
    ),
    "a turn that is no number": (
        session(Record("assistant/calls", {"turn": True, "step": 0, "calls": []})),
        "record 0 (assistant/calls): `turn` is not a whole number, but a boolean",
    ),
    "a negative step": (
        session(Record("assistant/calls", {"turn": 0, "step": -1, "calls": []})),
        "record 0 (assistant/calls): `step` is negative",
    ),
    "an announced call without an id": (
        session(Record("assistant/calls", {"turn": 0, "step": 0, "calls": [{"name": "f"}]})),
        "record 0 (assistant/calls), call 1: `callId` is missing",
    ),
    "a logged call without a name": (
        session(Record("tool/call", {"callId": "a"})),
        "record 0 (tool/call): `name` is missing",
    ),
    "a result without a message": (
        session(Record("tool/result", {"cites": 0})),
        "record 0 (tool/result): `message` is missing",
    ),
    "a result without a citation": (
        session(Record("tool/result", {"message": {"callId": "a", "isError": False}})),
        "record 0 (tool/result): `cites` is missing",
    ),
    "an error without a code": (
        session(
            Record("tool/result", {"message": {"callId": "a", "isError": True}, "error": {}, "cites": 0})
        ),
        "record 0 (tool/result): `code` is missing",
    ),
}
"""Name -> (content of the file, why it cannot be judged)."""

# -- strategies

SAMPLE_BYTES = [one.read_bytes() for one in ALL_SAMPLES]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The bytes of a sample: cut, flipped, spliced with another, in any order."""
    content = draw(st.sampled_from(SAMPLE_BYTES))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        match draw(st.sampled_from(["cut", "flip", "splice", "insert", "leave out"])):
            case "cut":
                content = content[:at]
            case "flip":
                content = (
                    content[:at]
                    + bytes(one ^ draw(st.integers(1, 255)) for one in content[at : at + 1])
                    + content[at + 1 :]
                )
            case "splice":
                other = draw(st.sampled_from(SAMPLE_BYTES))
                content = content[:at] + other[draw(st.integers(0, len(other))) :]
            case "insert":
                content = content[:at] + draw(st.binary(min_size=1, max_size=8)) + content[at:]
            case _:
                content = content[:at] + content[at + draw(st.integers(1, 200)) :]
    return content


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["tool", "assistant", "tool_use", "tool_result", "toolu_01", "call_1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "id", "tool_use_id", "callId"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: what holds it, and the key or index there."""
    found: list[tuple[Any, Any]] = []
    todo = [value]
    while todo:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        found += [(holder, key) for key in keys]
        todo += [holder[key] for key in keys if isinstance(holder[key], dict | list)]
    return found


@st.composite
def misshapen(draw: st.DrawFn) -> bytes:
    """A sample in which some values were replaced or taken away; still JSON, and a log still sealed."""
    path = draw(st.sampled_from(ALL_SAMPLES))
    is_log = path.suffix == ".jsonl"
    value: Any = (
        [[one.type, one.data] for one in read_log(path).records] if is_log else json.loads(path.read_bytes())
    )
    for _ in range(draw(st.integers(1, 3))):
        places = nodes(value)
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        if isinstance(holder, dict) and draw(st.booleans()):
            del holder[key]
        else:
            holder[key] = draw(JSON)
    if not is_log:
        return as_bytes(value)
    records = [one for one in value if isinstance(one, list) and len(one) == 2]
    return sealed(
        Record(kind, data) for kind, data in records if isinstance(kind, str) and isinstance(data, dict)
    )
