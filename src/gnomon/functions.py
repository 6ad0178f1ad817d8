"""How a Python function becomes a tool: `tool` reads its annotations, `define_tool` is told."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypedDict, Unpack, get_type_hints, overload

import pydantic
from pydantic.fields import FieldInfo

from gnomon.annotations import output_of, violations_of
from gnomon.content import render_json
from gnomon.errors import RegistrationError, SchemaError
from gnomon.subset import compile_parameters
from gnomon.tools import Body, InvalidArguments, Output, Render, Tool, ToolContext
from gnomon.values import JSON


class Options(TypedDict, total=False):
    """What may be said of a tool beside its function; the fields of `Tool` of the same names."""

    parallel: bool | Callable[[JSON], bool]
    timeout: float | None
    interrupt: Any
    defer_loading: bool
    project_content: Any
    finalize_content: Any
    present_call: Any
    present_result: Any


Function = Callable[..., Any]


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: type[pydantic.BaseModel] | None = None,
    render: Render = render_json,
    meta: Callable[[JSON, JSON], JSON] | None = None,
    **options: Unpack[Options],
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: type[pydantic.BaseModel] | None = None,
    render: Render = render_json,
    meta: Callable[[JSON, JSON], JSON] | None = None,
    **options: Unpack[Options],
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function, async or plain; a plain one runs in a worker thread (PY-5).

    Its name and docstring become the tool's, its annotations the schemas of arguments and value, through
    pydantic. One parameter may be a `ToolContext`. With `parameters`, a pydantic model, the function
    takes that model's instance as its only other parameter. Arguments that are not declared are refused,
    and published as refused, unless the model says otherwise. What it returns comes out as JSON:
    dataclasses, models, enums and dates as well. The other options are the fields of `Tool`.

    Raises `RegistrationError` where the function cannot be made a tool.
    """

    def make(body: Function) -> Tool:
        refuse_generators(body)
        hints = _hints(body)
        takes_context = [key for key, hint in hints.items() if hint is ToolContext and key != "return"]
        model, unpack = _arguments(body, hints, parameters)
        schema, dump, check = (
            output_of(hints["return"], called(body)) if "return" in hints else ({}, None, None)
        )
        fields: dict[str, Any] = dict(options)
        if dump is not None:
            fields.update(dump=dump, check=check)
        own_name = name or getattr(body, "__name__", "")
        if not isinstance(own_name, str) or (not own_name.isidentifier() and name is None):
            raise RegistrationError(f"{called(body)} has no name of its own: say one with tool(name=...)")
        return Tool(
            name=own_name,
            description=description if description is not None else inspect.getdoc(body) or "",
            parameters=_schema_of(model, body),
            output=Output(schema=schema, render=render, meta=meta),
            run=_runner(body, takes_context),
            convert=_converter(model, unpack),
            **fields,
        )

    return make if function is None else make(function)


def define_tool(
    *,
    name: str,
    description: str,
    parameters: Mapping[str, JSON],
    output: Output,
    run: Body,
    **options: Unpack[Options],
) -> Tool:
    """Make a tool whose parameters are told as a property map, in the authoring form (SCH-4).

    Each property is a schema of the supported subset; `"required": True` in it marks a required one, an
    object inside says `additionalProperties`, and `{"type": "json"}` is any JSON value. `run` gets the
    frozen arguments and a `ToolContext`. The other options are the fields of `Tool`.

    Raises `SchemaError`, with every violation.
    """
    compiled, violations = compile_parameters(parameters)
    if violations:
        raise SchemaError(f"the parameters of tool {name!r}", violations)
    return Tool(
        name=name,
        description=description,
        parameters=compiled,
        output=output,
        run=run,
        authored=True,
        **options,
    )


def is_async(function: object) -> bool:
    """Whether calling something starts a coroutine; else it runs in a worker thread."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may be called, and its call be async
    )


def refuse_generators(function: object) -> None:
    """Raise `RegistrationError` for generator functions, async or not, and what cannot be called (PY-9)."""
    if not callable(function):
        raise RegistrationError(f"{called(function)} cannot be called, so it is no tool")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise RegistrationError(f"{called(function)} is a generator: a tool returns one value (PY-9)")


def called(body: object) -> str:
    """How a function is named in messages."""
    name = getattr(body, "__qualname__", None)
    return name if isinstance(name, str) else f"an object of type {type(body).__name__}"


def _runner(body: Function, takes_context: list[str]) -> Body:
    if is_async(body):

        async def run(converted: Any, context: ToolContext) -> object:
            return await body(**converted, **dict.fromkeys(takes_context, context))

        return run

    def run_plain(converted: Any, context: ToolContext) -> object:
        return body(**converted, **dict.fromkeys(takes_context, context))

    return run_plain


def _hints(body: Function) -> dict[str, Any]:
    try:
        return get_type_hints(body, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise RegistrationError(f"the annotations of {called(body)} cannot be read: {error}") from error


def _arguments(
    body: Function, hints: dict[str, Any], given: type[pydantic.BaseModel] | None
) -> tuple[type[pydantic.BaseModel], Callable[[pydantic.BaseModel], dict[str, Any]]]:
    """The model of the arguments, and how an instance of it becomes what the function takes."""
    fields: dict[str, Any] = {}
    for key, parameter in inspect.signature(body).parameters.items():
        hint = hints.get(key, Any)
        if hint is ToolContext:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise RegistrationError(
                f"parameter {key!r} of {called(body)} cannot be filled: a tool's arguments have names"
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        if isinstance(default, FieldInfo):
            hint, default = Annotated[hint, default], ...
        fields[key] = (hint, default)
    if given is not None:
        if len(fields) != 1:
            raise RegistrationError(f"{called(body)} takes one parameter, the model {given.__name__}")
        [only] = fields
        return given, lambda model: {only: model}
    # A parameter may have a name that a model's field may not, such as `schema`.
    names = {f"field_{index}": key for index, key in enumerate(fields)}
    renamed = {
        alias: (
            hint,
            pydantic.Field(alias=names[alias])
            if default is ...
            else pydantic.Field(default, alias=names[alias]),
        )
        for alias, (hint, default) in zip(names, fields.values(), strict=True)
    }
    made = _model(body, renamed)
    return made, lambda model: {key: getattr(model, alias) for alias, key in names.items()}


def _model(body: Function, fields: dict[str, Any]) -> type[pydantic.BaseModel]:
    try:
        return pydantic.create_model(
            f"{called(body)} arguments",
            __config__=pydantic.ConfigDict(extra="forbid", title=f"{called(body)} arguments"),
            **fields,
        )
    except (pydantic.errors.PydanticUserError, NameError, TypeError, ValueError) as error:
        raise RegistrationError(
            f"no schema can be made of the parameters of {called(body)}: {error}"
        ) from error


def _schema_of(model: type[pydantic.BaseModel], body: Function) -> JSON:
    try:
        schema: JSON = model.model_json_schema(by_alias=True)
    except (pydantic.errors.PydanticUserError, ValueError) as error:
        raise RegistrationError(
            f"no schema can be made of the parameters of {called(body)}: {error}"
        ) from error
    return schema


def _converter(
    model: type[pydantic.BaseModel], unpack: Callable[[pydantic.BaseModel], dict[str, Any]]
) -> Callable[[JSON], object]:
    def convert(arguments: JSON) -> object:
        try:
            return unpack(model.model_validate(arguments))
        except pydantic.ValidationError as error:
            raise InvalidArguments(violations_of(error)) from error

    return convert
