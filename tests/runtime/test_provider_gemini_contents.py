"""Gemini contents: from the SDK's own response through a batch to contents that its types take."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from calls import both
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st
from provider_calls import OBJECTS, PICTURE, PIXEL, RESULTS, result_of, run, runtime, sent, shows

from gnomon import BatchResult, Result, ToolCall, json_equal
from gnomon.providers import MessageError, gemini_contents
from gnomon.values import from_text

NO_ID = gemini_contents.NO_ID


def called(name: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    told = {} if arguments is None else {"args": arguments}
    return {"functionCall": {"name": name, **told, **more}}


def response(*parts: dict[str, Any], finish: str = "STOP") -> types.GenerateContentResponse:
    candidate = {"finishReason": finish, "content": {"role": "model", "parts": list(parts)}}
    return types.GenerateContentResponse.model_validate({"candidates": [candidate]})


def fits(content: dict[str, Any]) -> types.Content:
    """The SDK's own content; it refuses fields that it does not know."""
    made = types.Content.model_validate(content)
    assert made.model_dump(mode="json", by_alias=True, exclude_none=True).keys() == content.keys()
    return made


@both
def test_a_response_becomes_calls_and_their_results_a_content(backend: str) -> None:
    answer = response(
        {"text": "let me look", "thought": True},
        {**called("echo", shows({"type": "text", "text": "one"})), "thoughtSignature": "aGk="},
        called("echo", {"fail": "no luck", "context": "a hint"}, id="given"),
        called("echo", {"x": [1, None]}),
        called("nobody"),
    )
    calls = gemini_contents.announced_calls(answer)
    assert [call.id for call in calls] == [f"{NO_ID}1", "given", f"{NO_ID}3", f"{NO_ID}4"]
    batch = run(backend, calls)
    contents = gemini_contents.result_messages(calls, batch)
    unknown = "Error: there is no tool named 'nobody'"
    assert contents == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "echo", "response": {"output": "one"}}},
                {
                    "functionResponse": {
                        "name": "echo",
                        "response": {"error": "Error: no luck"},
                        "id": "given",
                    }
                },
                {"functionResponse": {"name": "echo", "response": {"output": {"x": [1, None]}}}},
                {"functionResponse": {"name": "nobody", "response": {"error": unknown}}},
            ],
        },
        {"role": "user", "parts": [{"text": "a hint"}]},
    ]
    for content in contents:
        fits(content)


@given(OBJECTS)
def test_args_are_written_once_and_mean_the_same(arguments: dict[str, Any]) -> None:
    answer = response(called("echo", arguments))
    assert answer.candidates is not None
    content = answer.candidates[0].content
    assert content is not None
    for handed_in in (answer, content, content.model_dump(), content.model_dump(by_alias=True)):
        [call] = gemini_contents.announced_calls(handed_in)
        assert json_equal(from_text(call.arguments), arguments)


def test_ids_that_are_made_are_the_same_each_time_and_differ_from_all_others() -> None:
    content = {"parts": [called("f"), called("f", id=f"{NO_ID}1"), called("f", id=""), called("f", id=None)]}
    calls = gemini_contents.announced_calls(content)
    assert calls == gemini_contents.announced_calls(content)
    assert [call.id for call in calls] == [f"{NO_ID}1-", f"{NO_ID}1", f"{NO_ID}3", f"{NO_ID}4"]
    [answer] = gemini_contents.result_messages(calls, [result_of()] * 4)
    assert all("id" not in part["functionResponse"] for part in answer["parts"])


@given(
    st.lists(
        st.none() | st.sampled_from([f"{NO_ID}{n}{tail}" for n in "1234" for tail in ("", "-")]), max_size=6
    )
)
def test_made_ids_never_repeat(ids: list[str | None]) -> None:
    calls = gemini_contents.announced_calls({"parts": [called("f", id=one) for one in ids]})
    made = [call.id for call, one in zip(calls, ids, strict=True) if one is None]
    assert len(set(made)) == len(made)
    assert not set(made) & set(ids)


@given(st.lists(RESULTS, max_size=3), st.booleans())
def test_whatever_a_result_holds_is_answered_and_can_be_sent(results: list[Result], nested: bool) -> None:
    calls = [ToolCall(str(index), "echo") for index, _ in enumerate(results)]
    contents = gemini_contents.result_messages(calls, results, nested_images=nested)
    for content in contents:
        sent(content)
        fits(content)
    answers = [part["functionResponse"] for part in contents[0]["parts"]] if calls else []
    assert [one["id"] for one in answers] == [call.id for call in calls]
    assert [list(one["response"]) for one in answers] == [
        ["output" if one.ok else "error"] for one in results
    ]
    assert nested or all("parts" not in one for one in answers)
    for content in contents[1:]:
        assert all("functionResponse" not in part and part != {"text": ""} for part in content["parts"])


def test_pictures_are_parts_of_the_response_or_stand_beside_it() -> None:
    address = {"type": "image", "url": "http://example.com/a.png", "mimeType": "image/png"}
    nowhere = {"type": "image", "url": "http://example.com/b"}
    calls = [ToolCall("a", "look"), ToolCall("b", "look")]
    results = [result_of({"type": "text", "text": "a view"}, PICTURE, address, nowhere), result_of(PICTURE)]
    pixel = {"inlineData": {"mimeType": "image/png", "data": PIXEL}}
    file = {"fileData": {"mimeType": "image/png", "fileUri": "http://example.com/a.png"}}
    [content] = gemini_contents.result_messages(calls, results)
    first, second = (part["functionResponse"] for part in content["parts"])
    shown = ["a view", "[image 1]", "[image 2]", "[image at http://example.com/b]"]
    assert first["response"] == {"output": shown}
    assert first["parts"] == [pixel, file]
    assert second == {"name": "look", "id": "b", "response": {"output": "[image 1]"}, "parts": [pixel]}
    made = fits(content)
    assert made.parts is not None
    answer = made.parts[0].function_response
    assert answer is not None
    assert answer.parts is not None
    assert answer.parts[0].inline_data is not None
    assert answer.parts[0].inline_data.data == base64.b64decode(PIXEL)
    content, beside = gemini_contents.result_messages(calls, results, nested_images=False)
    assert "parts" not in content["parts"][0]["functionResponse"]
    assert beside["parts"] == [
        {"text": "Images of the result of look, in order:"},
        pixel,
        file,
        {"text": "Images of the result of look, in order:"},
        pixel,
    ]


def test_a_response_without_a_call_announces_none() -> None:
    blocked = types.GenerateContentResponse.model_validate({"promptFeedback": {"blockReason": "SAFETY"}})
    assert gemini_contents.announced_calls(blocked) == []
    assert gemini_contents.announced_calls({"promptFeedback": {"blockReason": "SAFETY"}}) == []
    assert gemini_contents.announced_calls({"candidates": [{"finishReason": "SAFETY"}]}) == []
    assert gemini_contents.announced_calls({"role": "model"}) == []
    assert (
        gemini_contents.announced_calls(response({"text": "done"}, {"executableCode": {"code": "1"}})) == []
    )


def test_missing_args_are_empty_text() -> None:
    parts = [called("f"), {"function_call": {"name": "f", "args": None}}, called("f", {})]
    calls = gemini_contents.announced_calls({"parts": parts})
    assert [call.arguments for call in calls] == ["", "", "{}"]


@pytest.mark.parametrize(
    ("handed_in", "says"),
    [
        (None, "the content: it is null"),
        ({"output": []}, "the message: it has no `role`, and only a message of role 'model' announces calls"),
        ({"role": "user", "parts": []}, "only a message of role 'model' announces calls"),
        ({"parts": 1}, "the content: `parts` is a number, not a list"),
        ({"parts": [called("f"), "x"]}, "part 2: it is text"),
        ({"parts": [{"functionCall": {"args": {}}}]}, "part 1: `name` is missing"),
        ({"parts": [called("f", "{}")]}, "part 1: `args` is text, not an object"),
        ({"parts": [called("f", id=1)]}, "part 1: `id` is a number, not text"),
        ({"parts": [called("f", {"x": float("nan")})]}, "part 1, `args`: $.x is nan, which JSON has not"),
        (response(called("f", {"x": float("nan")})), "part 1, `args`: $.x is nan, which JSON has not"),
        (response(called("f", willContinue=True)), "part 1: the call is not complete; put the pieces"),
        ({"parts": [called("f", partialArgs=[{"jsonPath": "$.x"}])]}, "part 1: the call is not complete"),
        (response(finish="MALFORMED_FUNCTION_CALL"), "call was dropped (MALFORMED_FUNCTION_CALL); ask again"),
        (
            {"candidates": [{"finish_reason": "UNEXPECTED_TOOL_CALL"}]},
            "candidate 1: the model's call was dropped",
        ),
        ({"candidates": [{}, {}]}, "the response: it has 2 candidates"),
    ],
)
def test_a_malformed_content_is_refused_with_its_place_and_a_remedy(handed_in: object, says: str) -> None:
    with pytest.raises(MessageError) as caught:
        gemini_contents.announced_calls(handed_in)
    assert says in str(caught.value)
    assert caught.value.remedy


def test_results_must_be_as_many_as_calls() -> None:
    with pytest.raises(MessageError, match="there are 0 of them for 1 calls"):
        gemini_contents.result_messages([ToolCall("a", "f")], [])
    assert gemini_contents.result_messages([], BatchResult((), False)) == []


def test_tools_are_sent_in_one_without_any_other_field() -> None:
    [tool] = gemini_contents.tool_list(runtime().schemas())
    assert tool["functionDeclarations"][0] == {
        "name": "echo",
        "description": "echo what it is given",
        "parametersJsonSchema": {"type": "object", "properties": {"show": {"type": "array"}}},
    }
    assert "defer" not in json.dumps(tool)
    made = types.Tool.model_validate(tool)
    assert made.function_declarations is not None
    assert [one.name for one in made.function_declarations] == ["echo", "later"]
    assert gemini_contents.tool_list([]) == []
