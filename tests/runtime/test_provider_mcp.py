"""MCP: the SDK's own server and client, in memory, on either side of a runtime."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anyio
import mcp_types
import pytest
from calls import both, on
from hypothesis import given
from mcp.client import Client
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from provider_calls import PICTURE, PIXEL, RESULTS, result_of, runtime, sent, shows

from gnomon import (
    BatchResult,
    DispatchExecution,
    Next,
    RegistrationError,
    Result,
    Runtime,
    Success,
    ToolCall,
    ToolError,
)
from gnomon.providers import MessageError, mcp

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}
"""Of the supported subset."""
SHORT = {"type": "object", "properties": {"x": {"type": "integer", "maximum": 9}}, "required": ["x"]}
"""Outside of it: the subset has no `maximum`."""

ANSWERS: dict[str, dict[str, Any]] = {
    "say": {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
    "look": {"content": [{"type": "text", "text": "a view"}, PICTURE]},
    "fail": {"content": [{"type": "text", "text": "no luck"}, PICTURE], "isError": True},
    "fail_silently": {"content": [], "isError": True},
    "point": {"content": [{"type": "text", "text": "x is 3"}], "structuredContent": {"x": 3}},
    "bare_point": {"content": [], "structuredContent": {"x": 3}},
    "no_point": {"content": [{"type": "text", "text": "none"}]},
    "short": {"content": [{"type": "text", "text": "x is 3"}], "structuredContent": {"x": 3}},
    "too_long": {"content": [{"type": "text", "text": "x is 30"}], "structuredContent": {"x": 30}},
}
OUTPUTS = {"point": POINT, "bare_point": POINT, "no_point": POINT, "short": SHORT, "too_long": SHORT}


def listing() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
            "annotations": {"readOnlyHint": name != "say"},
            **({"outputSchema": OUTPUTS[name]} if name in OUTPUTS else {}),
        }
        for name in ANSWERS
    ]


async def canned(name: str, arguments: Any) -> object:
    return mcp_types.CallToolResult.model_validate(ANSWERS[name])


def made(**options: Any) -> list[Any]:
    return mcp.tools_of({"tools": listing()}, canned, **options)


def call(name: str, arguments: str = "", *, backend: str = "asyncio", hook: Any = None) -> Result:
    at = Runtime()
    for tool in made():
        at.register(tool)
    if hook is not None:
        at.on("execute", hook)

    async def main() -> Result:
        return await at.execute(ToolCall("c", name, arguments))

    result: Result = on(backend, main)
    return result


def code(result: Result) -> str:
    return "OK" if result.ok else result.error.code


# -- a server's tools -----------------------------------------------------------------------------


def test_a_text_is_the_value_and_the_blocks_are_shown() -> None:
    result = call("say")
    assert isinstance(result, Success)
    assert result.value == "one\ntwo"
    assert result.content == ANSWERS["say"]["content"]
    result = call("look")
    assert isinstance(result, Success)
    assert result.value == result.content == ANSWERS["look"]["content"]


def test_structured_content_is_the_value_and_the_blocks_are_shown() -> None:
    for name in ("point", "short"):
        result = call(name)
        assert isinstance(result, Success)
        assert result.value == {"x": 3}
        assert result.content == [{"type": "text", "text": "x is 3"}]
    result = call("bare_point")
    assert isinstance(result, Success)
    assert result.content == [{"type": "text", "text": '{"x": 3}'}]


def test_the_blocks_are_not_shown_for_a_value_that_they_do_not_show() -> None:
    async def other(execution: DispatchExecution, following: Next[Result]) -> Result:
        await following()
        return Success({"x": 5}, [])

    result = call("point", hook=other)
    assert isinstance(result, Success)
    assert result.content == [{"type": "text", "text": '{"x": 5}'}]


def test_an_error_is_a_failure_with_its_blocks() -> None:
    result = call("fail")
    assert code(result) == "TOOL_ERROR"
    assert result.content == ANSWERS["fail"]["content"]
    result = call("fail_silently")
    assert result.content[0]["text"] == "Error: the server answered an error and did not say which"


def test_a_dump_in_snake_case_says_the_same() -> None:
    failed = mcp_types.CallToolResult.model_validate(ANSWERS["fail"]).model_dump()
    assert "is_error" in failed
    with pytest.raises(ToolError, match="no luck"):
        mcp.value_of(failed)
    point = mcp_types.CallToolResult.model_validate(ANSWERS["point"]).model_dump()
    assert mcp.value_of(point) == ({"x": 3}, ANSWERS["point"]["content"])
    dumped = mcp_types.ListToolsResult.model_validate({"tools": listing()}).model_dump()
    in_camel_case = [(tool.parameters, tool.output.schema) for tool in made()]
    assert [(tool.parameters, tool.output.schema) for tool in mcp.tools_of(dumped, canned)] == in_camel_case
    with pytest.raises(MessageError, match="further pages"):
        mcp.tools_of({**dumped, "next_cursor": "x"}, canned)


def test_what_does_not_fit_the_output_schema_is_invalid_output() -> None:
    assert {name: code(call(name)) for name in ("no_point", "too_long")} == {
        "no_point": "INVALID_TOOL_OUTPUT",
        "too_long": "INVALID_TOOL_OUTPUT",
    }

    async def other(execution: DispatchExecution, following: Next[Result]) -> Result:
        return Success({"x": 50}, [])

    assert code(call("short", hook=other)) == "INVALID_TOOL_OUTPUT"


def test_a_schema_outside_of_the_subset_is_published_as_any_value() -> None:
    schemas = {tool.name: tool.output.schema for tool in made()}
    assert schemas["point"] == POINT
    assert schemas["short"] == schemas["say"] == {}


def test_arguments_are_checked_against_the_input_schema() -> None:
    assert code(call("say", '{"q": 1}')) == "INVALID_ARGS"


def test_a_hint_makes_no_tool_parallel_unless_one_says_so() -> None:
    assert [tool.parallel for tool in made()] == [False] * len(ANSWERS)
    assert [tool.parallel for tool in made(parallel=True)] == [True] * len(ANSWERS)
    assert [tool.parallel for tool in made(parallel=mcp.reads_only)] == [name != "say" for name in ANSWERS]
    assert [tool.parallel for tool in made(parallel=lambda tool: "yes")] == [False] * len(ANSWERS)
    sdks = mcp_types.ListToolsResult.model_validate({"tools": listing()})

    def asked(tool: dict[str, Any]) -> bool:
        return tool["annotations"]["readOnlyHint"] is True and tool["inputSchema"] is not None

    from_sdk = mcp.tools_of(sdks, canned, parallel=asked)
    assert [tool.parallel for tool in from_sdk] == [name != "say" for name in ANSWERS]
    assert not mcp.reads_only({"name": "f"})
    assert not mcp.reads_only({"name": "f", "annotations": {"readOnlyHint": None}})


def test_a_description_may_be_missing_or_none() -> None:
    entries = [
        {"name": "f", "inputSchema": {}, **more} for more in ({}, {"description": None}, {"description": 1})
    ]
    assert [tool.description for tool in mcp.tools_of(entries, canned)] == ["", "", ""]


def test_a_prefix_keeps_servers_apart_and_the_server_hears_its_own_name() -> None:
    [first, *_] = made(prefix="there_", timeout=5)
    assert (first.name, first.timeout) == ("there_say", 5)
    at = Runtime()
    at.register(first)

    async def main() -> Result:
        return await at.execute(ToolCall("c", "there_say"))

    assert on("asyncio", main).ok


@pytest.mark.parametrize(
    ("handed_in", "says"),
    [
        (3, "the list of tools: it is a number"),
        ({}, "the list of tools: `tools` is missing"),
        ({"tools": [], "nextCursor": "x"}, "it has further pages; hand over the tools of all pages"),
        (mcp_types.ListToolsResult(tools=[], next_cursor="x"), "it has further pages"),
        ([{"inputSchema": {}}], "tool 1: `name` is missing"),
        ([{"name": "f"}], "tool 1: `inputSchema` is missing"),
    ],
)
def test_a_malformed_listing_is_refused(handed_in: object, says: str) -> None:
    with pytest.raises(MessageError) as caught:
        mcp.tools_of(handed_in, canned)
    assert says in str(caught.value)


def test_an_output_schema_that_is_none_is_refused() -> None:
    entry = {"name": "f", "inputSchema": {}, "outputSchema": {"type": "object", "properties": 5}}
    with pytest.raises(RegistrationError, match="the outputSchema of tool 'f' is not a usable JSON Schema"):
        mcp.tools_of([entry], canned)


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("x", "the result: it is text"),
        ({}, "the result: `content` is missing"),
        ({"content": "x"}, "the result: `content` is text, not a list"),
        ({"content": [{"text": "x"}]}, "block 1: `type` is missing"),
        ({"content": [{"type": "text"}]}, "block 1: `text` is missing"),
        ({"content": [{"type": "image"}]}, "block 1: `data` is missing"),
        ({"content": [{"type": "resource"}]}, "block 1, `resource`: it is null"),
    ],
)
def test_a_malformed_result_is_refused(result: object, says: str) -> None:
    with pytest.raises(MessageError) as caught:
        mcp.value_of(result)
    assert says in str(caught.value)


def test_a_server_that_asks_for_input_has_not_answered() -> None:
    with pytest.raises(ToolError, match="asks for further input"):
        mcp.value_of({"resultType": "input_required", "inputRequests": {}})


def test_every_block_of_the_protocol_becomes_content() -> None:
    link = {"type": "resource_link", "name": "notes", "uri": "file:///notes.txt", "description": "my notes"}
    text = {"type": "resource", "resource": {"uri": "file:///a", "text": "a text", "mimeType": "text/plain"}}
    image = {"type": "resource", "resource": {"uri": "file:///b", "blob": PIXEL, "mimeType": "image/png"}}
    other = {"type": "resource", "resource": {"uri": "file:///c", "blob": "AA=="}}
    audio = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
    answer = mcp_types.CallToolResult.model_validate({"content": [link, text, image, other, audio]})
    for handed_in in (answer, answer.model_dump(), answer.model_dump(by_alias=True, exclude_none=True)):
        value, content = mcp.value_of(handed_in)
        assert value == content
        assert content == [
            {"type": "text", "text": "notes - my notes - file:///notes.txt"},
            {"type": "text", "text": "a text"},
            PICTURE,
            {"type": "resource", "data": "AA=="},
            audio,
        ]
    assert mcp.value_of({"content": [{"type": "not_known_yet", "x": 1}]})[1] == [
        {"type": "not_known_yet", "x": 1}
    ]


# -- a runtime's tools ----------------------------------------------------------------------------


def test_a_result_becomes_what_the_sdk_takes() -> None:
    audio = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
    result = result_of({"type": "json", "value": {"a": [1]}}, PICTURE, audio, contexts=[[{"type": "x"}]])
    answer = mcp.call_result(result)
    assert answer == {
        "content": [
            {"type": "text", "text": '{"a":[1]}'},
            PICTURE,
            audio,
            {"type": "text", "text": "[x content]"},
        ],
        "isError": False,
    }
    assert mcp.call_result(result_of(ok=False))["isError"] is True


def test_a_value_is_handed_out_only_where_one_says_so() -> None:
    result = Success({"secret": 1}, [{"type": "text", "text": "[redacted]"}])
    assert "secret" not in json.dumps(mcp.call_result(result))
    assert mcp.call_result(result, structured=True)["structuredContent"] == {"secret": 1}
    assert "structuredContent" not in mcp.call_result(Success([1], []), structured=True)
    assert "structuredContent" not in mcp.call_result(result_of(ok=False), structured=True)


@given(RESULTS)
def test_whatever_a_result_holds_is_answered_and_can_be_sent(result: Result) -> None:
    answer = mcp.call_result(result, structured=True)
    sent(answer)
    made = mcp_types.CallToolResult.model_validate(answer)
    dumped = made.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert {**answer, "resultType": "complete"} == dumped
    assert made.is_error is not result.ok


def test_params_become_a_call() -> None:
    params = mcp_types.CallToolRequestParams(name="f", arguments={"x": "\ud800", "n": 10**30})
    announced = mcp.announced_call(params, "7")
    assert announced == ToolCall("7", "f", '{"x":"\ud800","n":1000000000000000000000000000000}')
    assert mcp.announced_call({"name": "f"}, "8") == ToolCall("8", "f", "")
    for params, says in (
        ({}, "`name` is missing"),
        ({"name": "f", "arguments": []}, "`arguments` is a list"),
    ):
        with pytest.raises(MessageError, match=says):
            mcp.announced_call(params, "9")


# -- both, with a real session between them --------------------------------------------------------


def server_of(at: Runtime) -> Server[Any]:
    """A server of the SDK whose tools are those of a runtime."""
    numbers = iter(range(1_000))

    async def list_tools(
        context: ServerRequestContext[Any], params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult.model_validate({"tools": mcp.tool_list(at.schemas())})

    async def call_tool(
        context: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams
    ) -> mcp_types.CallToolResult:
        result = await at.execute(mcp.announced_call(params, f"mcp-{next(numbers)}"))
        return mcp_types.CallToolResult.model_validate(mcp.call_result(result))

    return Server("gnomon", on_list_tools=list_tools, on_call_tool=call_tool)


@both
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_runtime_calls_another_through_a_session_of_the_sdk(backend: str, mode: str) -> None:
    arguments: Sequence[dict[str, Any]] = [
        shows({"type": "text", "text": "one"}, PICTURE, {"type": "json", "value": [2]}),
        {"fail": "no luck", "with": [{"type": "text", "text": "try again"}]},
        {"show": "no list"},
        {"context": "a hint", "q": ["\u00e9", 1.5, None]},
    ]
    calls = [ToolCall(f"c{n}", "far_echo", json.dumps(one)) for n, one in enumerate(arguments)]

    async def main() -> BatchResult:
        async with Client(server_of(runtime()), mode=mode) as client:
            near = Runtime()
            for tool in mcp.tools_of(await client.list_tools(), client.call_tool, prefix="far_"):
                near.register(tool)
            assert [one["name"] for one in near.schemas()] == ["far_echo", "far_later"]
            with anyio.fail_after(60):
                return await near.run_batch(calls)

    batch: BatchResult = on(backend, main)
    shown, failed, _, hinted = batch.results
    assert shown.content == [
        {"type": "text", "text": "one"},
        PICTURE,
        {"type": "text", "text": "[2]"},
    ]
    assert [code(one) for one in batch.results] == ["OK", "TOOL_ERROR", "INVALID_ARGS", "OK"]
    assert failed.content == [{"type": "text", "text": "try again"}]
    assert hinted.content[1] == {"type": "text", "text": "a hint"}
    assert isinstance(hinted, Success)
    assert json.loads(hinted.content[0]["text"]) == arguments[3]
