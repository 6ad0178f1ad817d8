"""Anthropic messages: from the SDK's own message through a batch to a message that its types take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message, MessageParam, ToolParam
from calls import both
from hypothesis import given
from hypothesis import strategies as st
from provider_calls import (
    OBJECTS,
    PICTURE,
    PIXEL,
    RESULTS,
    fits,
    result_of,
    run,
    runtime,
    sent,
    shows,
    verified,
)

from gnomon import BatchResult, Result, ToolCall, json_equal
from gnomon.providers import MessageError, anthropic_messages
from gnomon.values import from_text


def called(identity: str, name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": name, "input": arguments, **more}


def message(*blocks: dict[str, Any], stop_reason: str = "tool_use") -> Message:
    return Message.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
            "content": list(blocks),
        }
    )


@both
def test_a_message_becomes_calls_and_their_results_one_message(backend: str, tmp_path: Path) -> None:
    answer = message(
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "let me look"},
        called("a", "echo", shows({"type": "text", "text": "one"}, PICTURE, {"type": "json", "value": [2]})),
        called("b", "echo", {"fail": "no luck", "context": "a hint"}),
        called("c", "nobody", {}),
    )
    calls = anthropic_messages.announced_calls(answer)
    batch = run(backend, calls)
    [reply] = anthropic_messages.result_messages(calls, batch)
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    assert reply == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "a",
                "content": [
                    {"type": "text", "text": "one"},
                    {"type": "image", "source": source},
                    {"type": "text", "text": "[2]"},
                ],
            },
            {
                "type": "tool_result",
                "tool_use_id": "b",
                "content": [{"type": "text", "text": "Error: no luck"}],
                "is_error": True,
            },
            {
                "type": "tool_result",
                "tool_use_id": "c",
                "content": [{"type": "text", "text": "Error: there is no tool named 'nobody'"}],
                "is_error": True,
            },
            {"type": "text", "text": "a hint"},
        ],
    }
    fits(MessageParam, reply)
    assistant = {
        "role": "assistant",
        "content": [one.model_dump(exclude_none=True) for one in answer.content],
    }
    assert verified(tmp_path, [{"role": "user", "content": "go"}, assistant, reply]).calls == 3


@given(OBJECTS)
def test_an_input_is_written_once_and_means_the_same(arguments: dict[str, Any]) -> None:
    answer = message(called("a", "echo", arguments))
    for handed_in in (answer, answer.model_dump(), {"role": "assistant", "content": answer.content}):
        [call] = anthropic_messages.announced_calls(handed_in)
        assert json_equal(from_text(call.arguments), arguments)


def test_an_input_is_written_with_its_numbers_and_code_points_as_they_are() -> None:
    given_text = '{"big":' + "9" * 6000 + ',"zero":-0.0,"half":"\ud800","none":null,"yes":true,"e":1e-07}'
    [call] = anthropic_messages.announced_calls(message(called("a", "echo", from_text(given_text))))
    assert call.arguments == given_text


def test_an_input_of_any_depth_is_written_and_the_runtime_says_what_is_wrong() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    [call] = anthropic_messages.announced_calls(
        {"role": "assistant", "content": [called("a", "echo", {"x": deep})]}
    )
    assert call.arguments == '{"x":' + "[" * 5_001 + "]" * 5_001 + "}"
    [result] = run("asyncio", [call]).results
    assert not result.ok
    assert result.error.code == "INVALID_ARGS"


@given(st.lists(RESULTS, max_size=3))
def test_whatever_a_result_holds_is_answered_and_can_be_sent(results: list[Result]) -> None:
    calls = [ToolCall(str(index), "echo") for index, _ in enumerate(results)]
    replies = anthropic_messages.result_messages(calls, results)
    assert len(replies) == (1 if calls else 0)
    for reply in replies:
        sent(reply)
        fits(MessageParam, reply)
        answers, rest = reply["content"][: len(calls)], reply["content"][len(calls) :]
        assert [one["tool_use_id"] for one in answers] == [call.id for call in calls]
        assert [one.get("is_error", False) for one in answers] == [not one.ok for one in results]
        assert all(one["type"] != "tool_result" for one in rest)
        for answer in answers:
            assert answer.get("content") or not answer.get("is_error")
        for block in [*rest, *(inner for one in answers for inner in one.get("content", ()))]:
            assert block["type"] != "text" or block["text"].strip()


def test_blank_text_is_left_out_and_a_failure_always_shows_something() -> None:
    blank = {"type": "text", "text": " \n"}
    calls = [ToolCall("a", "f"), ToolCall("b", "f"), ToolCall("c", "f")]
    results = [result_of(blank), result_of(ok=False), result_of(blank, ok=False, contexts=[[blank]])]
    [reply] = anthropic_messages.result_messages(calls, results)
    shown = [{"type": "text", "text": "Error: it broke"}]
    assert reply["content"] == [
        {"type": "tool_result", "tool_use_id": "a"},
        {"type": "tool_result", "tool_use_id": "b", "content": shown, "is_error": True},
        {"type": "tool_result", "tool_use_id": "c", "content": shown, "is_error": True},
    ]


def test_a_picture_is_given_by_its_bytes_or_its_address() -> None:
    address = {"type": "image", "url": "http://example.com/a.png"}
    drawing = {"type": "image", "data": PIXEL, "mimeType": "image/svg+xml"}
    [reply] = anthropic_messages.result_messages([ToolCall("a", "f")], [result_of(address, drawing)])
    assert reply["content"][0]["content"] == [
        {"type": "image", "source": {"type": "url", "url": "http://example.com/a.png"}},
        {"type": "text", "text": "[image content of type image/svg+xml]"},
    ]


def test_what_runs_at_the_provider_is_left_alone() -> None:
    program = {"type": "code_execution_20250825", "tool_id": "s"}
    answer = message(
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
        called("a", "echo", {}, caller=program),
    )
    assert len(answer.content) == 3
    assert anthropic_messages.announced_calls(answer) == [ToolCall("a", "echo", "{}")]
    assert anthropic_messages.announced_calls({"role": "assistant", "content": "done"}) == []
    assert (
        anthropic_messages.announced_calls({"role": "assistant", "content": [{"type": "not_known_yet"}]})
        == []
    )


def test_a_missing_input_is_empty_text() -> None:
    assert anthropic_messages.announced_calls(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "f"}, called("b", "f", None)],
        }
    ) == [ToolCall("a", "f", ""), ToolCall("b", "f", "")]


OWN: dict[str, Any] = {}
OWN["own"] = [OWN]


@pytest.mark.parametrize(
    ("handed_in", "says"),
    [
        ([], "the message: it is a list"),
        ({"role": "user", "content": []}, "only a message of role 'assistant' announces calls"),
        ({"role": None, "type": "content_block_stop"}, "the message: it has no `role`"),
        ({"content": {}}, "the message: `content` is an object, not a list"),
        ({"content": ["x"]}, "block 1: it is text"),
        ({"content": [{"type": "tool_use", "name": "f", "input": {}}]}, "block 1: `id` is missing"),
        ({"content": [{"type": "text"}, called("a", 5, {})]}, "block 2: `name` is a number, not text"),
        ({"content": [called("a", "f", "{}")]}, "block 1: `input` is text, not an object"),
        ({"content": [called("a", "f", [])]}, "block 1: `input` is a list, not an object"),
        (
            {"content": [called("a", "f", {"x": float("nan")})]},
            "block 1, `input`: $.x is nan, which JSON has not",
        ),
        (message(called("a", "f", {"x": [1, float("inf")]})), "block 1, `input`: $.x[1] is inf"),
        ({"content": [called("a", "f", {"x": {"y": b"z"}})]}, "$.x.y is an object of type bytes"),
        ({"content": [called("a", "f", {"x": {3: 1}})]}, "$.x[3] has a key that is a number"),
        ({"content": [called("a", "f", OWN)]}, "$.own[0] contains itself"),
        (
            message(called("a", "f", {}), stop_reason="max_tokens"),
            "cut off within this call (max_tokens); ask",
        ),
    ],
)
def test_a_malformed_message_is_refused_with_its_place_and_a_remedy(handed_in: object, says: str) -> None:
    if isinstance(handed_in, dict):
        handed_in = {"role": "assistant", **handed_in}
    with pytest.raises(MessageError) as caught:
        anthropic_messages.announced_calls(handed_in)
    assert says in str(caught.value)
    assert caught.value.remedy


def test_a_message_that_was_cut_off_after_its_calls_announces_them() -> None:
    answer = message(called("a", "f", {}), {"type": "text", "text": "and n"}, stop_reason="max_tokens")
    assert anthropic_messages.announced_calls(answer) == [ToolCall("a", "f", "{}")]


def test_results_must_be_as_many_as_calls() -> None:
    with pytest.raises(MessageError, match="there are 0 of them for 1 calls"):
        anthropic_messages.result_messages([ToolCall("a", "f")], [])
    assert anthropic_messages.result_messages([], BatchResult((), False)) == []


def test_tools_are_sent_without_any_other_field_and_may_be_loaded_later() -> None:
    schemas = runtime().schemas()
    echo, later = anthropic_messages.tool_list(schemas)
    assert echo == {
        "name": "echo",
        "description": "echo what it is given",
        "input_schema": {"type": "object", "properties": {"show": {"type": "array"}}},
    }
    assert later == {**echo, "name": "later", "description": "later what it is given", "defer_loading": True}
    for tool in (echo, later):
        fits(ToolParam, tool)
    echo["input_schema"]["properties"]["more"] = {}
    assert "more" not in json.dumps(schemas)
