"""Tools: what a model may call, and how a Python function becomes one."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_type_hints, overload

import pydantic

from gnomon.content import Content, render_json
from gnomon.errors import RegistrationError
from gnomon.signals import AbortSignal
from gnomon.values import JSON

Render: TypeAlias = Callable[[JSON, JSON], Content]


class InvalidArguments(ValueError):
    """Arguments that the schema let through and the tool's own types did not (DSP-8)."""

    def __init__(self, violations: list[str]) -> None:
        super().__init__("; ".join(violations))
        self.violations = violations


class InvalidOutput(ValueError):
    """A value that is not what the tool said it returns (OUT-1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a body may know of its call. A body gets it by annotating one parameter with this type."""

    call_id: str
    name: str
    arguments: JSON
    signal: AbortSignal


Body: TypeAlias = Callable[[Any, ToolContext], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a tool returns: the schema of its value, and how the model is shown it (OUT-1, OUT-2)."""

    schema: JSON
    render: Render = render_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool. Made by `tool` from a function, or by hand with JSON Schemas.

    `run` gets what `convert` makes of the checked arguments (the arguments themselves by default).
    `parallel` says whether a call may overlap others of its batch; a callable is asked with the
    arguments, and only `True` counts (SCD-2). `interrupt` says what an abort does to a running body:
    "cancel" interrupts it once, "signal" only tells it (PY-2).
    """

    name: str
    description: str
    parameters: JSON
    output: Output
    run: Body
    parallel: bool | Callable[[JSON], bool] = False
    interrupt: Literal["cancel", "signal"] = "cancel"
    convert: Callable[[JSON], object] = lambda arguments: arguments
    dump: Callable[[object], object] = lambda value: value


@overload
def tool(function: Callable[..., Awaitable[Any]], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parallel: bool | Callable[[JSON], bool] = False,
    interrupt: Literal["cancel", "signal"] = "cancel",
    render: Render = render_json,
) -> Callable[[Callable[..., Awaitable[Any]]], Tool]: ...


def tool(
    function: Callable[..., Awaitable[Any]] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parallel: bool | Callable[[JSON], bool] = False,
    interrupt: Literal["cancel", "signal"] = "cancel",
    render: Render = render_json,
) -> Tool | Callable[[Callable[..., Awaitable[Any]]], Tool]:
    """Make a tool of an async function.

    Its name and docstring become the tool's; its annotations become the schemas of arguments and
    value, through pydantic. Arguments that the function does not declare are refused, and published
    as refused. Raises `RegistrationError` where the function cannot be made a tool.
    """

    def make(body: Callable[..., Awaitable[Any]]) -> Tool:
        if not inspect.iscoroutinefunction(body):
            raise RegistrationError(f"{_called(body)} must be an async function (async def) to be a tool")
        hints = _hints(body)
        arguments = _arguments_model(body, hints)
        takes_context = [key for key, hint in hints.items() if hint is ToolContext]
        dump, schema = _output(hints)

        async def run(converted: Any, context: ToolContext) -> object:
            given: Mapping[str, Any] = converted
            return await body(**given, **dict.fromkeys(takes_context, context))

        return Tool(
            name=name or body.__name__,
            description=description if description is not None else inspect.getdoc(body) or "",
            parameters=arguments.model_json_schema(),
            output=Output(schema=schema, render=render),
            run=run,
            parallel=parallel,
            interrupt=interrupt,
            convert=_converter(arguments),
            dump=dump,
        )

    return make if function is None else make(function)


def _called(body: object) -> str:
    return getattr(body, "__qualname__", repr(body))


def _hints(body: Callable[..., object]) -> dict[str, Any]:
    try:
        return get_type_hints(body, include_extras=True)
    except (NameError, TypeError) as error:
        raise RegistrationError(f"the annotations of {_called(body)} cannot be read: {error}") from error


def _arguments_model(body: Callable[..., object], hints: dict[str, Any]) -> type[pydantic.BaseModel]:
    fields: dict[str, Any] = {}
    for key, parameter in inspect.signature(body).parameters.items():
        hint = hints.get(key, Any)
        if hint is ToolContext:
            continue
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise RegistrationError(
                f"parameter {key!r} of {_called(body)} cannot be filled: a tool's arguments have names"
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[key] = (hint, default)
    try:
        return pydantic.create_model(
            f"{_called(body)} arguments", __config__=pydantic.ConfigDict(extra="forbid"), **fields
        )
    except (pydantic.errors.PydanticUserError, NameError, TypeError) as error:
        raise RegistrationError(
            f"no schema can be made of the parameters of {_called(body)}: {error}"
        ) from error


def _converter(model: type[pydantic.BaseModel]) -> Callable[[JSON], object]:
    def convert(arguments: JSON) -> object:
        try:
            checked = model.model_validate(arguments)
        except pydantic.ValidationError as error:
            raise InvalidArguments(
                [f"{'.'.join(map(str, one['loc'])) or '$'}: {one['msg']}" for one in error.errors()]
            ) from error
        return {key: getattr(checked, key) for key in model.model_fields}

    return convert


def _output(hints: dict[str, Any]) -> tuple[Callable[[object], object], JSON]:
    if "return" not in hints:
        return (lambda value: value), {}
    adapter = _adapter(hints["return"])

    def dump(value: object) -> object:
        try:
            return adapter.dump_python(value, mode="json", warnings="error")
        except ValueError as error:  # pydantic_core's serialization errors are ValueErrors
            raise InvalidOutput(str(error)) from error

    return dump, adapter.json_schema(mode="serialization")


def _adapter(hint: Any) -> pydantic.TypeAdapter[Any]:
    """An adapter that leaves NaN and infinity for OUT-1 to refuse, where pydantic would make them null."""
    try:
        return pydantic.TypeAdapter(hint, config=pydantic.ConfigDict(ser_json_inf_nan="constants"))
    except pydantic.errors.PydanticUserError:  # models and dataclasses bring a configuration of their own
        return pydantic.TypeAdapter(hint)
