"""Tools made of functions: what is published, what comes in, what comes out, and where it runs."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import anyio.from_thread
import pydantic
import pytest
from calls import both, code, on, shown, text

from gnomon import (
    AbortController,
    Accept,
    Card,
    Output,
    RegistrationError,
    Result,
    Runtime,
    SchemaError,
    Success,
    Tool,
    ToolCall,
    ToolContext,
    define_tool,
    tool,
)
from gnomon.annotations import in_subset
from gnomon.subset import subset_violations


def run(backend: str, made: Tool, arguments: str = "", **options: Any) -> Result:
    runtime = Runtime()
    runtime.register(made)
    result: Result = on(backend, lambda: runtime.execute(ToolCall("c", made.name, arguments), **options))
    return result


def value(result: Result) -> Any:
    assert isinstance(result, Success), result
    return result.value


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: float | None = None


class Item(pydantic.BaseModel):
    name: str
    when: datetime.date
    colour: Colour = Colour.RED
    points: list[Point] = []


class Node(pydantic.BaseModel):
    children: list[Node] = []


@both
def test_what_a_function_returns_comes_out_as_json(backend: str) -> None:
    @tool
    async def find(name: str) -> Item:
        """Find an item."""
        return Item(name=name, when=datetime.date(2026, 1, 2), points=[Point(1, 2.5)])

    assert value(run(backend, find, '{"name": "x"}')) == {
        "name": "x",
        "when": "2026-01-02",
        "colour": "red",
        "points": [{"x": 1, "y": 2.5}],
    }
    assert find.output.schema == {
        "title": "Item",
        "type": "object",
        "properties": {
            "name": {"title": "Name", "type": "string"},
            "when": {"title": "When", "type": "string"},
            "colour": {"title": "Colour", "type": "string", "enum": ["red", "blue"], "default": "red"},
            "points": {
                "title": "Points",
                "type": "array",
                "default": [],
                "items": {
                    "title": "Point",
                    "type": "object",
                    "properties": {
                        "x": {"title": "X", "type": "integer"},
                        "y": {"title": "Y", "oneOf": [{"type": "number"}, {"type": "null"}], "default": None},
                    },
                    "required": ["x"],
                },
            },
        },
        "required": ["name", "when"],
    }


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (int, {"type": "integer"}),
        (None, {"type": "null"}),
        (Any, {}),
        (str | None, {"oneOf": [{"type": "string"}, {"type": "null"}]}),
        (int | float, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal["a"], {"type": "string", "const": "a"}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (dict[str, int], {}),
        (list[dict[str, int]], {"type": "array", "items": {}}),
        (tuple[int, str], {}),
        (set[int], {}),
        (bytes, {"type": "string"}),
        (datetime.datetime, {"type": "string"}),
        (Path, {"type": "string"}),
        (Annotated[int, pydantic.Field(ge=1)], {}),
    ],
)
def test_the_nearest_schema_of_the_subset(hint: Any, schema: Any) -> None:
    full = pydantic.TypeAdapter(hint).json_schema(mode="serialization")
    found = in_subset(full)
    assert subset_violations(found) == []
    if schema == {"enum": ["a", 1]}:
        schema = {}
    assert found == schema


def test_a_type_that_contains_itself_ends_in_anything() -> None:
    found = in_subset(pydantic.TypeAdapter(Node).json_schema(mode="serialization"))
    assert subset_violations(found) == []
    assert found["properties"]["children"]["items"] == {}


@pytest.mark.clause("OUT-1", "PST-4")
@both
def test_what_the_subset_cannot_say_is_checked_by_pydantic(backend: str) -> None:
    answer: Any = {"a": 1}

    @tool
    async def count() -> dict[str, int]:
        """Count."""
        return answer

    assert value(run(backend, count)) == {"a": 1}
    answer = {"a": "x"}
    assert code(run(backend, count)) == "INVALID_TOOL_OUTPUT"
    runtime = Runtime()
    runtime.register(count)
    answer = {"a": 1}
    for replaced, expected in (({"b": 2}, "OK"), ({"b": "x"}, "INVALID_TOOL_OUTPUT")):
        with runtime.on("post_execute", lambda e, r, following, new=replaced: Accept(value=new)):
            assert code(on(backend, lambda: runtime.execute(ToolCall("c", "count")))) == expected


@both
def test_parameters_of_any_name_and_kind(backend: str) -> None:
    @tool
    async def odd(
        schema: int, *, copy: str = "c", _own: Colour = Colour.RED, model_config: int = 3
    ) -> list[Any]:
        """Odd names."""
        return [schema, copy, _own.value, model_config]

    assert value(run(backend, odd, '{"schema": 1, "_own": "blue"}')) == [1, "c", "blue", 3]
    assert code(run(backend, odd, '{"schema": 1, "more": 1}')) == "INVALID_ARGS"
    assert list(odd.parameters["properties"]) == ["schema", "copy", "_own", "model_config"]


@pytest.mark.clause("SCH-8")
@both
def test_annotated_parameters_publish_what_they_enforce(backend: str) -> None:
    @tool
    async def act(
        count: Annotated[int, pydantic.Field(ge=1, description="how many")],
        other: int = pydantic.Field(2, le=3),
    ) -> int:
        """Act."""
        return count + other

    assert act.parameters["properties"]["count"]["minimum"] == 1
    assert act.parameters["properties"]["count"]["description"] == "how many"
    assert value(run(backend, act, '{"count": 1}')) == 3
    assert code(run(backend, act, '{"count": 0}')) == "INVALID_ARGS"
    assert code(run(backend, act, '{"count": 1, "other": 4}')) == "INVALID_ARGS"


class Query(pydantic.BaseModel):
    """What to look for."""

    words: list[str]

    @pydantic.field_validator("words")
    @classmethod
    def not_empty(cls, words: list[str]) -> list[str]:
        if not words:
            raise ValueError("say at least one word")
        if words == ["bug"]:
            raise RuntimeError("a bug in the validator")
        return words


@both
def test_a_model_as_parameters_and_its_own_validation(backend: str) -> None:
    @tool(parameters=Query)
    async def search(query: Query, context: ToolContext) -> str:
        """Search."""
        return f"{context.call_id}: {' '.join(query.words)}"

    assert value(run(backend, search, '{"words": ["a", "b"]}')) == "c: a b"
    empty = run(backend, search, '{"words": []}')
    assert code(empty) == "INVALID_ARGS"
    assert "say at least one word" in shown(empty)
    assert code(run(backend, search, '{"words": ["bug"]}')) == "INVALID_ARGS"
    with pytest.raises(RegistrationError, match="one parameter"):

        @tool(parameters=Query)
        async def two(query: Query, other: int) -> None:
            """Two."""


@pytest.mark.clause("PY-5", "PY-11")
@both
def test_a_plain_function_runs_in_a_thread_and_an_abort_waits_for_it(backend: str) -> None:
    stop = AbortController()
    threads: list[int] = []

    @tool
    def work(context: ToolContext) -> str:
        """Work."""
        threads.append(threading.get_ident())
        stop.abort("from a thread")
        assert context.signal.aborted, "a sync body sees the flag at once"
        return "ended"

    assert code(run(backend, work, signal=stop.signal)) == "ABORTED"
    assert threads != [threading.get_ident()]


@pytest.mark.clause("PY-5")
@both
def test_many_plain_functions_that_call_back_into_the_runtime_do_not_block_each_other(backend: str) -> None:
    runtime = Runtime(max_parallel=60)

    @tool(parallel=True)
    def nest(depth: int, context: ToolContext) -> int:
        """Call oneself."""
        if depth == 0:
            return 0
        call = ToolCall("n", "nest", f'{{"depth": {depth - 1}}}')
        inner = anyio.from_thread.run(runtime.execute, call)
        assert isinstance(inner, Success)
        return int(inner.value) + 1

    runtime.register(nest)
    calls = [ToolCall(f"c{number}", "nest", '{"depth": 1}') for number in range(60)]
    assert {value(one) for one in on(backend, lambda: runtime.run_batch(calls)).results} == {1}


@pytest.mark.clause("PY-9")
@both
def test_a_plain_function_may_answer_an_awaitable(backend: str) -> None:
    async def later() -> str:
        return "later"

    @tool
    def lazy() -> Any:
        """Answer an awaitable."""
        return later()

    assert value(run(backend, lazy)) == "later"


@pytest.mark.clause("PY-4")
@both
@pytest.mark.parametrize("error", [StopIteration("s"), SystemExit(1), GeneratorExit(), KeyError("k")])
def test_what_a_plain_function_raises(backend: str, error: BaseException) -> None:
    @tool
    def fail() -> None:
        """Fail."""
        raise error

    assert code(run(backend, fail)) == "TOOL_ERROR"


@pytest.mark.clause("PY-4")
@both
def test_keyboard_interrupt_in_a_thread_leaves(backend: str) -> None:
    @tool
    def strike() -> None:
        """Strike."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(backend, strike)


@pytest.mark.clause("PY-9")
@both
def test_generators_are_refused_and_one_as_a_value_is_closed(backend: str) -> None:
    closed: list[str] = []
    kept: list[Iterator[int]] = []  # so that nobody else closes it

    def generate() -> Iterator[int]:
        try:
            yield 1
        finally:
            closed.append("closed")

    async def generate_async() -> AsyncIterator[int]:
        yield 1

    for generator in (generate, generate_async):
        with pytest.raises(RegistrationError, match="PY-9"):
            tool(generator)
        with pytest.raises(RegistrationError, match="PY-9"):
            Runtime().register(
                Tool(name="g", description="", parameters={}, output=Output(schema={}), run=generator)
            )

    @tool
    async def hand_out():
        """Hand out a generator."""
        begun = generate()
        next(begun)
        kept.append(begun)
        return begun

    assert code(run(backend, hand_out)) == "INVALID_TOOL_OUTPUT"
    assert closed == ["closed"]


@both
@pytest.mark.parametrize(
    ("field", "expected"), [("dump", "INVALID_TOOL_OUTPUT"), ("convert", "INVALID_ARGS")]
)
def test_conversions_are_synchronous_and_a_coroutine_of_theirs_is_closed(
    backend: str, field: str, expected: str
) -> None:
    made: list[Any] = []

    async def later() -> None:
        raise AssertionError("nobody awaits this")

    def convert(value: object) -> Any:
        made.append(later())
        return made[-1]

    async def run_it(arguments: Any, context: ToolContext) -> None:
        raise AssertionError("it gets no coroutine for its arguments")

    async def ordinary(arguments: Any, context: ToolContext) -> None: ...

    body = run_it if field == "convert" else ordinary
    output = Output(schema={})
    fields: dict[str, Any] = {field: convert}
    result = run(backend, Tool(name="t", description="", parameters={}, output=output, run=body, **fields))
    assert code(result) == expected
    assert [inspect.getcoroutinestate(one) for one in made] == [inspect.CORO_CLOSED]


def test_functions_that_cannot_be_tools_are_refused() -> None:
    def star(*args: int) -> None: ...
    def unknown(a: Nowhere) -> None: ...  # noqa: F821  # a name that nobody defines is the case
    def no_schema(a: threading.Lock) -> None: ...
    def no_output() -> threading.Thread: ...

    for function in (star, unknown, no_schema, no_output, 5):
        with pytest.raises(RegistrationError):
            tool(function)


@pytest.mark.clause("SCH-2", "SCH-4")
@both
def test_define_tool_in_the_authoring_form(backend: str) -> None:
    async def act(arguments: Any, context: ToolContext) -> object:
        return dict(arguments)

    made = define_tool(
        name="act",
        description="Act.",
        parameters={"path": {"type": "string", "required": True}, "more": {"type": "json"}},
        output=Output(schema={"type": "object"}, render=lambda arguments, value: text("rendered")),
        run=act,
        parallel=True,
    )
    assert made.parameters == {
        "type": "object",
        "properties": {"path": {"type": "string"}, "more": {}},
        "required": ["path"],
    }
    result = run(backend, made, '{"path": "x", "more": [1], "undeclared": null}')
    assert value(result) == {"path": "x", "more": [1], "undeclared": None}
    refused = run(backend, made, "{}")
    assert shown(refused) == "Error: the arguments do not fit: $: 'path' is missing"
    with pytest.raises(SchemaError) as caught:
        define_tool(
            name="bad",
            description="",
            parameters={"a": {"type": "string", "pattern": "x"}, "b": {"type": "object"}},
            output=Output(schema={}),
            run=act,
        )
    assert len(caught.value.violations) == 2


@pytest.mark.clause("LOG-4")
def test_cards_come_from_the_log_alone_and_fall_back_to_a_generic_one() -> None:
    runtime = Runtime()
    made = Tool(
        name="act",
        description="",
        parameters={"type": "object", "required": ["path"]},
        output=Output(schema={}),
        run=lambda arguments, context: None,
        present_call=lambda arguments: Card(f"Act on {arguments['path']}"),
        present_result=lambda arguments, content, meta: Card(f"Did {meta}", content),
    )
    removal = runtime.register(made)
    raw = '{"path": "x"}'
    assert runtime.present_call("act", raw) == Card("Act on x", [])
    assert runtime.present_result("act", raw, text("c"), 5) == Card("Did 5", text("c"))
    assert runtime.present_result("act", raw[:-1], text("c"), 5) == Card("act", text("c"), True)
    for unfit in ("{}", "not JSON", '{"path": 1e400}'):
        assert runtime.present_call("act", unfit) == Card("act", text(unfit), True)
    removal()
    assert runtime.present_call("act", raw) == Card("act", text(raw), True)
    for broken in (lambda arguments: 5, lambda arguments: 1 / 0, lambda arguments: Card("t", [{}])):
        with runtime.register(dataclasses.replace(made, present_call=broken)):
            assert runtime.present_call("act", raw).generic
