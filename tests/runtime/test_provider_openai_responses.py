"""OpenAI Responses: from the SDK's own response through a batch to input items that its types take."""

from __future__ import annotations

import json
from typing import Any

import pytest
from calls import both
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import FunctionToolParam, Response, ResponseInputItemParam
from provider_calls import PICTURE, PIXEL, RESULTS, TEXTS, fits, result_of, run, runtime, sent, shows

from gnomon import BatchResult, Result, ToolCall
from gnomon.providers import MessageError, openai_responses

WORDS = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "let me look", "annotations": []}],
}


def called(identity: str, name: str, arguments: str, **more: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": f"fc_{identity}", "call_id": identity, "name": name}
    return {**item, "arguments": arguments, "status": "completed", **more}


def response(*items: dict[str, Any], **more: Any) -> Response:
    return Response.model_validate(
        {
            "id": "r",
            "object": "response",
            "created_at": 0,
            "model": "m",
            "status": "completed",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": list(items),
            **more,
        }
    )


@both
def test_a_response_becomes_calls_and_their_results_items(backend: str) -> None:
    answer = response(
        {"type": "reasoning", "id": "rs", "summary": []},
        WORDS,
        called("a", "echo", json.dumps(shows({"type": "text", "text": "one"}))),
        called("b", "echo", json.dumps({"fail": "no luck", "context": "a hint"})),
        called("c", "echo", json.dumps(shows({"type": "text", "text": "two"}, PICTURE))),
        called("d", "echo", "{'x': 1}"),
    )
    calls = openai_responses.announced_calls(answer)
    batch = run(backend, calls)
    items = openai_responses.result_messages(calls, batch)
    assert [one.get("call_id") for one in items] == ["a", "b", "c", "d", None]
    assert [one["output"] for one in items[:2]] == ["one", "Error: no luck"]
    assert items[2]["output"] == [
        {"type": "input_text", "text": "two"},
        {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PIXEL}"},
    ]
    assert items[3]["output"].startswith("Error: the arguments do not fit")
    assert items[4]["content"] == [{"type": "input_text", "text": "a hint"}]
    for item in items:
        fits(ResponseInputItemParam, item)


@given(TEXTS, TEXTS)
def test_the_text_of_arguments_is_kept_as_it_is(first: str, second: str) -> None:
    answer = response(called("a", "echo", first), WORDS, called("b", "echo", second))
    expected = [ToolCall("a", "echo", first), ToolCall("b", "echo", second)]
    for handed_in in (answer, answer.output, answer.model_dump(), answer.model_dump(exclude_none=True)):
        assert openai_responses.announced_calls(handed_in) == expected


@given(st.lists(RESULTS, max_size=3))
def test_whatever_a_result_holds_is_answered_and_can_be_sent(results: list[Result]) -> None:
    calls = [ToolCall(str(index), "echo") for index, _ in enumerate(results)]
    items = openai_responses.result_messages(calls, results)
    assert [one.get("call_id") for one in items[: len(calls)]] == [one.id for one in calls]
    for item in items:
        sent(item)
        fits(ResponseInputItemParam, item)
    assert all(one["role"] == "user" for one in items[len(calls) :])


def test_a_result_of_nothing_is_empty_text() -> None:
    [item] = openai_responses.result_messages([ToolCall("a", "f")], [result_of()])
    assert item["output"] == ""


def test_what_is_no_function_call_is_left_alone() -> None:
    answer = response(
        {"type": "custom_tool_call", "call_id": "x", "name": "grammar", "input": "1 + 1"},
        {
            "type": "web_search_call",
            "id": "w",
            "status": "completed",
            "action": {"type": "search", "query": "q"},
        },
        {"type": "mcp_call", "id": "p", "name": "f", "arguments": "{}", "server_label": "s"},
        called("a", "echo", ""),
        {"type": "custom_tool_call_output", "id": "o", "call_id": "x", "output": "2", "status": "completed"},
    )
    assert len(answer.output) == 5
    assert openai_responses.announced_calls(answer) == [ToolCall("a", "echo", "")]
    assert openai_responses.announced_calls([{"type": "not_known_yet"}]) == []
    assert openai_responses.announced_calls(response()) == []


@pytest.mark.parametrize(
    ("handed_in", "says"),
    [
        (7, "the response: it is a number"),
        ({"id": "r"}, "the response: `output` is missing; hand over the response, or its output"),
        ({"output": {}}, "the response: `output` is an object, not a list"),
        ({"output": ["x"]}, "item 1: it is text"),
        ({"status": "failed", "error": {"code": "server_error"}}, "the response: it failed"),
        (response(status="failed", error={"code": "server_error", "message": "m"}), "it failed: {'code'"),
        ([{"type": "function_call", "name": "f", "id": "fc"}], "item 1: `call_id` is missing"),
        ([WORDS, {"type": "function_call", "call_id": "a"}], "item 2: `name` is missing"),
        ([called("", "f", "")], "item 1: `call_id` is empty"),
        ([{**called("a", "f", ""), "arguments": []}], "item 1: `arguments` is a list, not text"),
        ([called("a", "f", "", status="incomplete")], "ask again with a larger limit of tokens"),
        ([called("a", "f", "", status="in_progress")], "item 1: the call is not complete"),
    ],
)
def test_a_malformed_response_is_refused_with_its_place_and_a_remedy(handed_in: object, says: str) -> None:
    with pytest.raises(MessageError) as caught:
        openai_responses.announced_calls(handed_in)
    assert says in str(caught.value)
    assert caught.value.remedy


def test_results_must_be_as_many_as_calls() -> None:
    with pytest.raises(MessageError, match="there are 2 of them for 1 calls"):
        openai_responses.result_messages([ToolCall("a", "f")], [result_of(), result_of()])
    assert openai_responses.result_messages([], BatchResult((), False)) == []


def test_tools_are_sent_as_they_are_enforced_and_may_be_loaded_later() -> None:
    echo, later = openai_responses.tool_list(runtime().schemas())
    parameters = {"type": "object", "properties": {"show": {"type": "array"}}}
    assert echo == {
        "type": "function",
        "name": "echo",
        "description": "echo what it is given",
        "parameters": parameters,
        "strict": False,
    }
    assert later == {
        **echo,
        "name": "later",
        "description": "later what it is given",
        "defer_loading": True,
    }
    for tool in (echo, later):
        fits(FunctionToolParam, tool)
