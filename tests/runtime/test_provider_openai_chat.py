"""OpenAI chat: from the SDK's own completion through a batch to messages that the SDK's types take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calls import both
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessage,
    ChatCompletionMessageParam,
)
from provider_calls import (
    PICTURE,
    PIXEL,
    RESULTS,
    TEXTS,
    fits,
    result_of,
    run,
    runtime,
    sent,
    shows,
    verified,
)

from gnomon import BatchResult, Result, ToolCall
from gnomon.providers import MessageError, openai_chat

ONE = {"type": "text", "text": "one"}


def called(identity: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(*tool_calls: dict[str, Any], finish_reason: str = "tool_calls") -> ChatCompletion:
    message = {"role": "assistant", "content": None, "tool_calls": list(tool_calls)}
    choice = {"index": 0, "finish_reason": finish_reason, "logprobs": None, "message": message}
    return ChatCompletion.model_validate(
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    )


@both
def test_a_completion_becomes_calls_and_their_results_messages(backend: str, tmp_path: Path) -> None:
    answer = completion(
        called(
            "a", "echo", json.dumps(shows({"type": "text", "text": "one"}, {"type": "json", "value": [2]}))
        ),
        called("b", "nobody", "{}"),
        called("c", "echo", json.dumps({"fail": "no luck", "context": "a hint"})),
        called("d", "echo", '{"x": 1'),
    )
    calls = openai_chat.announced_calls(answer)
    batch = run(backend, calls)
    messages = openai_chat.result_messages(calls, batch)
    assert [(one["role"], one.get("tool_call_id")) for one in messages] == [
        ("tool", "a"),
        ("tool", "b"),
        ("tool", "c"),
        ("tool", "d"),
        ("user", None),
    ]
    assert messages[0]["content"] == "one\n[2]"
    assert messages[1]["content"] == "Error: there is no tool named 'nobody'"
    assert messages[2]["content"] == "Error: no luck"
    assert messages[3]["content"].startswith("Error: the arguments do not fit")
    assert messages[4]["content"] == [{"type": "text", "text": "a hint"}]
    for message in messages:
        fits(ChatCompletionMessageParam, message)
    history = [
        {"role": "user", "content": "go"},
        answer.choices[0].message.model_dump(exclude_none=True),
        *messages,
    ]
    assert verified(tmp_path, history).calls == 4


@given(TEXTS, TEXTS)
def test_the_text_of_arguments_is_kept_as_it_is(first: str, second: str) -> None:
    answer = completion(called("a", "echo", first), called("b", "echo", second))
    expected = [ToolCall("a", "echo", first), ToolCall("b", "echo", second)]
    message = answer.choices[0].message
    for handed_in in (answer, message, message.model_dump(), {"role": "assistant", **vars(message)}):
        assert openai_chat.announced_calls(handed_in) == expected


@given(st.lists(RESULTS, max_size=3), st.booleans())
def test_whatever_a_result_holds_is_answered_and_can_be_sent(results: list[Result], images: bool) -> None:
    calls = [ToolCall(str(index), "echo") for index, _ in enumerate(results)]
    messages = openai_chat.result_messages(calls, results, images=images)
    assert [one.get("tool_call_id") for one in messages[: len(calls)]] == [one.id for one in calls]
    for message in messages:
        sent(message)
        fits(ChatCompletionMessageParam, message)
    assert all(one["role"] == "user" for one in messages[len(calls) :])
    assert images or "image_url" not in sent(messages)


def test_pictures_follow_all_results_and_contexts_follow_the_pictures() -> None:
    text = {"type": "text", "text": "a view"}
    calls = [ToolCall("a", "look"), ToolCall("b", "look")]
    results = (result_of(text, PICTURE, contexts=[[PICTURE]]), result_of(PICTURE, PICTURE))
    batch = BatchResult(results, False, ([PICTURE],))
    shown = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    first, second, pictures, context = openai_chat.result_messages(calls, batch)
    assert first["content"] == "a view\n[image 1, shown below]"
    assert second["content"] == "[image 1, shown below]\n[image 2, shown below]"
    assert [one.get("text") for one in pictures["content"][::2]] == [
        "Image 1 of the result of look (a):",
        "Image 1 of the result of look (b):",
        "Image 2 of the result of look (b):",
    ]
    assert pictures["content"][1::2] == [shown] * 3
    assert context == {"role": "user", "content": [shown]}
    first, *_, context = openai_chat.result_messages(calls, batch, images=False)
    assert first["content"] == "a view\n[image content]"
    assert context["content"] == [{"type": "text", "text": "[image content]"}]


def test_contexts_of_single_results_follow_all_of_them() -> None:
    calls = [ToolCall("a", "f"), ToolCall("b", "f")]
    results = [result_of(ONE, contexts=[[ONE]]), result_of(ONE, ok=False, contexts=[[ONE], []])]
    messages = openai_chat.result_messages(calls, results)
    assert [one["role"] for one in messages] == ["tool", "tool", "user", "user"]


def test_what_is_no_function_call_is_left_alone() -> None:
    custom = {"id": "x", "type": "custom", "custom": {"name": "grammar", "input": "1 + 1"}}
    answer = completion(custom, called("a", "echo", ""))
    assert openai_chat.announced_calls(answer) == [ToolCall("a", "echo", "")]
    assert openai_chat.announced_calls({"role": "assistant", "content": "done"}) == []
    assert openai_chat.announced_calls(ChatCompletionMessage(role="assistant", content="done")) == []


def test_missing_arguments_are_empty_text() -> None:
    for function in ({"name": "echo"}, {"name": "echo", "arguments": None}):
        message = {"role": "assistant", "tool_calls": [{"id": "a", "function": function}]}
        assert openai_chat.announced_calls(message) == [ToolCall("a", "echo", "")]


CHUNK = ChatCompletionChunk.model_validate(
    {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]}}],
    }
)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("a text", "the message: it is text, and neither a JSON object nor a model object of an SDK"),
        (ChatCompletion, "the message: it is an object of type"),
        ({"role": "user", "content": "x"}, "only a message of role 'assistant' announces calls"),
        ({"role": "assistant", "tool_calls": {}}, "the message: `tool_calls` is an object, not a list"),
        ({"role": None, "output": []}, "hand over the whole message that the model answered"),
        ({"role": "assistant", "tool_calls": ["x"]}, "tool call 1: it is text"),
        ({"tool_calls": [{"function": {"name": "f", "arguments": ""}}]}, "tool call 1: `id` is missing"),
        ({"tool_calls": [called("", "f", "")]}, "tool call 1: `id` is empty"),
        ({"tool_calls": [called("a", "f", "{}"), {"id": "b"}]}, "tool call 2: `function` is missing"),
        ({"tool_calls": [{"id": "b", "function": {}}]}, "tool call 1: `name` is missing"),
        ({"tool_calls": [{"id": "b", "function": {"name": 1}}]}, "tool call 1: `name` is a number, not text"),
        ({"tool_calls": [{"id": "b", "function": 1}]}, "tool call 1, `function`: it is a number"),
        (
            {"tool_calls": [{"id": "b", "function": {"name": "f", "arguments": {"a": 1}}}]},
            "tool call 1: `arguments` is an object, not text",
        ),
        (
            {"tool_calls": [{"index": 0, "function": {"arguments": "{"}}]},
            "put the pieces of a stream together",
        ),
        (CHUNK, "choice 1: it has no `message`; put the pieces of a stream together"),
        (CHUNK.choices[0].delta, "it has no `role`, and only a message of role 'assistant' announces calls"),
        ({"choices": [{}, {}]}, "the completion: it has 2 choices"),
        ({"choices": []}, "the completion: it has 0 choices"),
        ({"choices": [{}]}, "choice 1: it has no `message`; hand over the message as the API sent it"),
        ({"function_call": {"name": "f", "arguments": ""}}, "send `tools` in place of `functions`"),
        (completion(called("a", "f", ""), finish_reason="length"), "ask again with a larger limit of tokens"),
    ],
)
def test_a_malformed_message_is_refused_with_its_place_and_a_remedy(message: object, says: str) -> None:
    if isinstance(message, dict):
        message = {"role": "assistant", **message}
    with pytest.raises(MessageError) as caught:
        openai_chat.announced_calls(message)
    assert says in str(caught.value)
    assert caught.value.place
    assert caught.value.problem
    assert caught.value.remedy


def test_a_completion_that_was_cut_off_within_the_arguments_is_left_to_the_argument_check() -> None:
    answer = completion(called("a", "echo", '{"x'), finish_reason="length")
    [call] = openai_chat.announced_calls(answer)
    [result] = run("asyncio", [call]).results
    assert not result.ok
    assert result.error.code == "INVALID_ARGS"


def test_results_must_be_as_many_as_calls() -> None:
    with pytest.raises(MessageError, match=r"the results: there are 1 of them for 2 calls; hand over"):
        openai_chat.result_messages([ToolCall("a", "f"), ToolCall("b", "f")], [result_of()])
    assert openai_chat.result_messages([], BatchResult((), False)) == []


def test_tools_are_sent_without_any_other_field() -> None:
    schemas = runtime().schemas()
    tools = openai_chat.tool_list(schemas)
    assert tools[0] == {
        "type": "function",
        "function": {
            "name": "echo",
            "description": "echo what it is given",
            "parameters": {"type": "object", "properties": {"show": {"type": "array"}}},
        },
    }
    assert "defer" not in json.dumps(tools)
    for tool in tools:
        fits(ChatCompletionFunctionToolParam, tool)
    bare = openai_chat.tool_list([{"name": "f", "description": "", "parameters": {}}])
    assert bare[0]["function"]["parameters"] == {"type": "object"}
