"""The Model Context Protocol: a server's tools as tools of a runtime, and a runtime's tools for a server.

A client hands in what `tools/list` answered and a function that makes `tools/call`; a server hands out
`tool_list` and `call_result`. Names are read in camel case and in snake case, written in camel case.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from gnomon.content import Content, plain_text
from gnomon.errors import ToolError
from gnomon.execution import Execution, ToolCall
from gnomon.providers.shared import (
    Fields,
    Image,
    MessageError,
    arguments_of_object,
    fields,
    first_of,
    json_piece,
    listed,
    pieces,
    text,
    tool_fields,
)
from gnomon.results import Result
from gnomon.schemas import Schema
from gnomon.subset import subset_violations
from gnomon.tools import InvalidOutput, Output, Token, Tool, ToolContext
from gnomon.values import JSON, json_equal, thaw

CallTool: TypeAlias = Callable[[str, Any], Awaitable[object]]
"""Makes `tools/call`: gets the name of the tool at the server and the arguments, answers the result."""


# -- a server's tools, for a runtime --------------------------------------------------------------


def tools_of(
    listing: object,
    call_tool: CallTool,
    *,
    prefix: str = "",
    parallel: bool | Callable[[Fields], bool] = False,
    timeout: float | None = None,
) -> list[Tool]:
    """Tools that call a server's: `listing` is what `tools/list` answered, or the list of its tools.

    `prefix` goes before each name, so that two servers may have tools of one name. The `inputSchema` is
    the schema of the parameters as it is (SCH-8). An `outputSchema` in the supported subset (SCH-1) is
    that of the output; one outside of it is checked as well, but published as `{}`, any value.

    The value of a call is its `structuredContent`, else its text, else its blocks; the model is shown the
    blocks. A result with `isError` is a failure with the blocks as content (TOOL_ERROR), and so is
    whatever `call_tool` raises.

    `parallel` is True, or a function of a listed tool, to let its calls overlap others (SCD-2). What a
    server says of a tool, `readOnlyHint` say, never decides that by itself: these are hints, and the
    protocol tells clients not to trust them. `parallel=reads_only` is how one does trust them.

    Raises `MessageError` for a listing that cannot be read, or that is one page of several;
    `RegistrationError` for an `outputSchema` that is no usable JSON Schema.
    """
    if isinstance(listing, list):
        listed_tools = listing
    else:
        told = fields(listing, "the list of tools")
        if first_of(told, "nextCursor", "next_cursor"):
            raise MessageError(
                "the list of tools", "it has further pages", "hand over the tools of all pages in one list"
            )
        if told.get("tools") is None:
            raise MessageError(
                "the list of tools", "`tools` is missing", "hand over what tools/list answered"
            )
        listed_tools = listed(told, "tools", "the list of tools")
    tools = []
    for number, value in enumerate(listed_tools, 1):
        entry = fields(value, f"tool {number}")
        overlaps = parallel if isinstance(parallel, bool) else parallel(entry) is True
        tools.append(_tool(entry, f"tool {number}", call_tool, prefix, overlaps, timeout))
    return tools


def reads_only(listed_tool: Fields) -> bool:
    """Whether the server says that a tool changes nothing (`readOnlyHint`); for `parallel` of `tools_of`."""
    hints = listed_tool.get("annotations")
    return (
        hints is not None and first_of(fields(hints, "annotations"), "readOnlyHint", "read_only_hint") is True
    )


def _tool(
    entry: Fields, place: str, call_tool: CallTool, prefix: str, parallel: bool, timeout: float | None
) -> Tool:
    name = text(entry, "name", place)
    parameters = first_of(entry, "inputSchema", "input_schema")
    if parameters is None:
        raise MessageError(place, "`inputSchema` is missing", "hand over what tools/list answered")
    description = entry.get("description")
    published, check = _output(first_of(entry, "outputSchema", "output_schema"), name)
    shown: WeakKeyDictionary[Token, tuple[JSON, Content]] = WeakKeyDictionary()
    """What the server wants shown of a value, by the call: the blocks are no part of the value."""

    async def run(arguments: Any, context: ToolContext) -> JSON:
        value, content = value_of(await call_tool(name, thaw(arguments)))
        shown[context.token] = value, content
        return value

    def dump(value: Any) -> object:
        violations = check(value)
        if violations:
            raise InvalidOutput("; ".join(violations))
        return value

    def project(execution: Execution, result: Result) -> Content | None:
        value, content = shown.get(execution.token, (None, ()))
        # A wrapper may have answered another value, which the blocks do not show.
        return content if result.ok and content and json_equal(value, result.value) else None

    return Tool(
        name=prefix + name,
        description=description if isinstance(description, str) else "",
        parameters=parameters,
        output=Output(schema=published),
        run=run,
        parallel=parallel,
        timeout=timeout,
        project_content=project,
        dump=dump,
        check=check,
    )


def _output(schema: Any, name: str) -> tuple[JSON, Callable[[JSON], list[str]]]:
    """The output schema that is published, and a check of what that cannot say."""
    if schema is None or not subset_violations(schema):
        return ({} if schema is None else schema), lambda value: []
    return {}, Schema(schema, f"the outputSchema of tool {name!r}").violations


def value_of(result: object) -> tuple[JSON, Content]:
    """The value of a `CallToolResult`, and its blocks as content.

    The value is `structuredContent` where there is one; else the text, where all blocks are text; else
    the blocks. The text of an embedded resource and a link to one are text blocks, an embedded picture is
    a picture; audio and other embedded bytes stay as they are.

    Raises `ToolError`, with the blocks as content, for a result with `isError`, and where the server asks
    for further input in place of a result; `MessageError` for what is no result.
    """
    told = fields(result, "the result")
    if first_of(told, "resultType", "result_type") == "input_required":
        raise ToolError("the server asks for further input, which this call cannot give")
    if told.get("content") is None:
        raise MessageError("the result", "`content` is missing", "answer what tools/call answered")
    content = [
        _block(fields(value, f"block {number}"), f"block {number}")
        for number, value in enumerate(listed(told, "content", "the result"), 1)
    ]
    if first_of(told, "isError", "is_error") is True:
        said = plain_text(content) or "the server answered an error and did not say which"
        raise ToolError(said, content=content or None)
    structured = first_of(told, "structuredContent", "structured_content")
    if structured is not None:
        return structured, content
    if all(block["type"] == "text" for block in content):
        return "\n".join(block["text"] for block in content), content
    return content, content  # type: ignore[return-value]  # lists of dicts are JSON, invariance aside


def _block(entry: Fields, place: str) -> Fields:
    match text(entry, "type", place):
        case "text":
            return {"type": "text", "text": text(entry, "text", place)}
        case "image" | "audio" as kind:
            return _bytes(kind, entry, "data", place)
        case "resource_link":
            told = [
                entry.get("title") or text(entry, "name", place),
                entry.get("description"),
                str(entry.get("uri") or ""),
            ]
            return text_block(" - ".join(str(one) for one in told if one))
        case "resource":
            resource = fields(entry.get("resource"), f"{place}, `resource`")
            if isinstance(resource.get("text"), str):
                return text_block(resource["text"])
            media_type = str(first_of(resource, "mimeType", "mime_type"))
            shown_as = "image" if media_type.startswith("image/") else "resource"
            return _bytes(shown_as, resource, "blob", place)
        case unknown:
            return {**entry, "type": unknown}


def text_block(words: str) -> Fields:
    """One block of text."""
    return {"type": "text", "text": words}


def _bytes(kind: str, holder: Fields, key: str, place: str) -> Fields:
    block = {"type": kind, "data": text(holder, key, place)}
    media_type = first_of(holder, "mimeType", "mime_type")
    return block if media_type is None else {**block, "mimeType": str(media_type)}


# -- a runtime's tools, for clients ---------------------------------------------------------------


def tool_list(schemas: Iterable[Mapping[str, JSON]]) -> list[Fields]:
    """The `tools` of what `tools/list` answers: name, description and schema of the arguments (REG-6)."""
    return [tool_fields(schema, "inputSchema") for schema in schemas]


def announced_call(params: object, identity: str) -> ToolCall:
    """The call that the `params` of a `tools/call` request announce, under an id of the server's choice.

    The arguments are written as JSON text, once; missing ones are empty text (ARG-1). Raises
    `MessageError` for params without a name, or with arguments that are no JSON object.
    """
    told = fields(params, "the params")
    name = text(told, "name", "the params")
    return ToolCall(identity, name, arguments_of_object(told, "arguments", "the params"))


def call_result(result: Result, *, structured: bool = False) -> Fields:
    """The `CallToolResult` of a result: its content, then its contexts, and `isError` for a failure.

    With `structured`, a value that is an object stands in it as `structuredContent`. It is not there
    by itself: a policy that replaces content leaves the value as it was (PST-4), so that what it
    took from the model would be shown after all.
    """
    blocks = [block for content in (result.content, *result.contexts) for block in content]
    answer: Fields = {"content": [_shown(block) for block in blocks], "isError": not result.ok}
    if structured and result.ok and isinstance(result.value, dict):
        answer["structuredContent"] = json_piece(result.value).value
    return answer


def _shown(block: Mapping[str, Any]) -> Fields:
    match block:
        case {"type": "audio", "data": str(), "mimeType": str()}:
            return dict(block)
    [piece] = pieces([dict(block)])
    if not isinstance(piece, Image):
        return text_block(piece.text)
    if piece.url:
        return {"type": "resource_link", "name": "image", "uri": piece.url}
    return {"type": "image", "data": piece.data, "mimeType": piece.kind}
