"""What the tests of the message formats share: tools of every kind of answer, and one batch run with them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import anyio
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gnomon import (
    BatchResult,
    Failure,
    Output,
    Result,
    Runtime,
    Success,
    Tool,
    ToolCall,
    ToolContext,
    ToolError,
)
from gnomon.results import ErrorInfo
from gnomon_check.trace.check import FileReport, Verdict, check_file

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n not much of a picture").decode()
PICTURE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def echo(arguments: Any, context: ToolContext) -> object:
    """Answers its arguments; those may ask for a context, for content of a kind, or for a failure."""
    if not isinstance(arguments, dict):
        return arguments
    if "context" in arguments:
        context.defer(arguments["context"])
    if "fail" in arguments:
        raise ToolError(arguments["fail"], content=arguments.get("with"))
    return arguments


def rendered(arguments: Any, value: Any) -> list[dict[str, Any]]:
    """What the arguments say under `show`, else the value as a json block."""
    if isinstance(arguments, dict) and "show" in arguments:
        return list(arguments["show"])
    return [{"type": "json", "value": value}]


def runtime() -> Runtime:
    """A runtime with `echo`, and with `later`, which is loaded later."""
    made = Runtime()
    output = Output(schema={}, render=rendered)
    parameters = {"type": "object", "properties": {"show": {"type": "array"}}}
    for name, parallel, later in (("echo", True, False), ("later", False, True)):
        made.register(
            Tool(
                name=name,
                description=f"{name} what it is given",
                parameters=parameters,
                output=output,
                run=echo,
                parallel=parallel,
                defer_loading=later,
            )
        )
    return made


def run(backend: str, calls: Sequence[ToolCall]) -> BatchResult:
    """The batch of these calls, on a backend."""
    return anyio.run(lambda: runtime().run_batch(calls), backend=backend)


def shows(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Arguments that make `echo` show these blocks."""
    return {"show": list(blocks), **more}


def result_of(*blocks: dict[str, Any], ok: bool = True, contexts: Sequence[Any] = ()) -> Result:
    """A result with these blocks, made without a runtime."""
    if ok:
        return Success(None, list(blocks), contexts=tuple(contexts))
    return Failure(ErrorInfo("it broke", "TOOL_ERROR", "ToolError"), list(blocks), contexts=tuple(contexts))


def fits(kind: Any, value: Any) -> None:
    """A value is of an SDK's own type, and has no field that the type does not know.

    Unknown fields are dropped by pydantic, so the two would differ.
    """
    assert _read_out(_adapter(kind).validate_python(value)) == value


def _read_out(value: Any) -> Any:
    """The value with its iterators read: pydantic looks at the parts of an `Iterable` only then."""
    if isinstance(value, dict):
        return {key: _read_out(one) for key, one in value.items()}
    if isinstance(value, Iterator | list):
        return [_read_out(one) for one in value]
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


TEXTS = st.text(st.characters() | st.sampled_from('\ud800\udbff\udc00\udfff \n\\"{'), max_size=12)
"""Text of any code points, lone surrogates among them."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
"""JSON values."""

OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)

BLOCKS = st.lists(
    st.builds(lambda words: {"type": "text", "text": words}, TEXTS)
    | st.builds(lambda value: {"type": "json", "value": value}, VALUES)
    | st.just(PICTURE)
    | st.sampled_from(
        [
            {"type": "image", "url": "http://example.com/a.png"},
            {"type": "image", "url": "http://example.com/a.png", "mimeType": "image/png"},
            {"type": "image", "data": PIXEL, "mimeType": "image/svg+xml"},
            {"type": "image"},
            {"type": "image", "data": 1, "mimeType": "image/png"},
            {"type": "image", "data": PIXEL, "mimeType": ""},
            {"type": "image", "url": None},
            {"type": "text"},
            {"type": "text", "text": 5},
            {"type": "json"},
            {"type": "video", "data": "AA=="},
            {"type": ""},
        ]
    ),
    max_size=4,
)
"""Content of known blocks, and of blocks that are malformed or of no known type."""

RESULTS = st.builds(
    lambda blocks, ok, contexts: result_of(*blocks, ok=ok, contexts=contexts),
    BLOCKS,
    st.booleans(),
    st.lists(BLOCKS, max_size=2),
)


def sent(value: Any) -> str:
    """What a client sends: JSON in UTF-8. Raises for lone surrogates, NaN, and what is no JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode().decode()


def verified(tmp_path: Path, messages: list[Any]) -> FileReport:
    """What `gnomon verify` finds in a message list: nothing broken."""
    path = tmp_path / "messages.json"
    path.write_text(json.dumps(messages))
    report = check_file(path)
    assert report.verdict is Verdict.HOLDS, report
    return report
