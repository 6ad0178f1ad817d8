"""From Python's annotations to the supported subset of JSON Schema, for what a function returns.

pydantic says what comes out; its schema is then put into the subset: references are inlined, unions
become `oneOf` where their branches exclude each other. What the subset cannot say becomes, at that
point, the schema that accepts anything, and is left to pydantic's own check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pydantic

from gnomon.errors import RegistrationError
from gnomon.subset import ANNOTATIONS, SCALARS, is_of_type, subset_violations
from gnomon.tools import InvalidOutput
from gnomon.values import JSON, json_equal

_EXACT = frozenset({"$ref", "$defs", "anyOf", "oneOf", "allOf", "discriminator", "format"})
"""Keywords that are rewritten, or that check nothing in draft 2020-12 (`format` annotates)."""


def output_of(hint: Any, called: str) -> tuple[JSON, Callable[[Any], object], Callable[[JSON], list[str]]]:
    """The output schema of a return annotation, its dump to JSON, and the check of a JSON value.

    Raises `RegistrationError` where pydantic makes no schema of it.
    """
    try:
        adapter = _adapter(hint)
        full = adapter.json_schema(mode="serialization")
    except (pydantic.errors.PydanticUserError, pydantic.errors.PydanticSchemaGenerationError) as error:
        raise RegistrationError(f"no schema can be made of what {called} returns: {error}") from error

    to_json = adapter.serializer.to_python

    def dump(value: Any) -> object:
        try:
            return to_json(value, mode="json", warnings="error")
        except Exception as error:  # besides pydantic's own, whatever a property of the value raises
            raise InvalidOutput(str(error)) from error

    def check(value: JSON) -> list[str]:
        try:
            adapter.validate_python(value)
        except pydantic.ValidationError as error:
            return violations_of(error)
        return []

    return in_subset(full), dump, check


def violations_of(error: pydantic.ValidationError) -> list[str]:
    """What pydantic found, each with its path; without the values, which may be anything."""
    return [f"{'.'.join(map(str, one['loc'])) or '$'}: {one['msg']}" for one in error.errors()]


def _adapter(hint: Any) -> pydantic.TypeAdapter[Any]:
    """An adapter that leaves NaN and infinity for OUT-1 to refuse, where pydantic would make them null."""
    try:
        return pydantic.TypeAdapter(hint, config=pydantic.ConfigDict(ser_json_inf_nan="constants"))
    except pydantic.errors.PydanticUserError:  # models and dataclasses bring a configuration of their own
        return pydantic.TypeAdapter(hint)


def in_subset(full: dict[str, Any]) -> JSON:
    """The nearest schema of the subset that accepts all that `full` accepts."""
    return _Rewrite(full.get("$defs", {})).of(full, ())


class _Rewrite:
    __slots__ = ("_definitions",)

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def of(self, node: dict[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
        told = {key: node[key] for key in ANNOTATIONS if key in node}
        reference = node.get("$ref")
        if reference is not None:
            name = reference.removeprefix("#/$defs/")
            if name in within or name not in self._definitions:
                return told  # a type that contains itself
            return {**self.of(self._definitions[name], (*within, name)), **told}
        branches = node.get("anyOf") or node.get("oneOf")
        if branches is not None:
            several = [self.of(one, within) for one in branches]
            if len(several) > 1 and _exclude_each_other(several):
                return {"oneOf": several, **told}
            return told
        if len(node.get("allOf", ())) == 1 and "type" not in node:
            return {**self.of(node["allOf"][0], within), **told}
        said = {key: value for key, value in node.items() if key not in _EXACT and key not in ANNOTATIONS}
        rewritten = self._typed(said, within) if "allOf" not in node else {}
        made = {**rewritten, **told}
        return told if subset_violations(made) else made

    def _typed(self, said: dict[str, Any], within: tuple[str, ...]) -> dict[str, Any]:
        if "type" not in said and ("enum" in said or "const" in said):
            values = [*said.get("enum", ()), *([said["const"]] if "const" in said else ())]
            kinds = [kind for kind in SCALARS if all(is_of_type(one, kind) for one in values)]
            said = {"type": kinds[0], **said} if kinds else said
        if said.get("type") == "null":
            said = {"type": "null"}
        if isinstance(said.get("properties"), dict):
            said["properties"] = {key: self.of(one, within) for key, one in said["properties"].items()}
        if isinstance(said.get("items"), dict):
            said["items"] = self.of(said["items"], within)
        return said


def _exclude_each_other(schemas: list[dict[str, Any]]) -> bool:
    return all(_disjoint(one, other) for index, one in enumerate(schemas) for other in schemas[index + 1 :])


def _disjoint(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether no value fits both, as far as their types, constants and marked objects tell."""
    for first, second in ((one, other), (other, one)):
        if "oneOf" in first:
            return all(_disjoint(branch, second) for branch in first["oneOf"])
    kinds = {one.get("type"), other.get("type")}
    if None in kinds:
        return False
    if len(kinds) == 2:
        return kinds != {"integer", "number"}
    mine, theirs = _values(one), _values(other)
    if mine is not None and theirs is not None:
        return not any(json_equal(a, b) for a in mine for b in theirs)
    if kinds == {"object"}:
        shared = set(one.get("required", ())) & set(other.get("required", ()))
        return any(_disjoint(one["properties"][key], other["properties"][key]) for key in shared)
    return False


def _values(schema: dict[str, Any]) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")
