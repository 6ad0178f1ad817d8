"""SCH: the schemas of arguments and outputs.

A schema is a small part of JSON Schema draft 2020-12: one type, properties and
what is required of them, items, `enum` and `const` of scalars, `oneOf`. What is
outside is refused when a tool is declared, so nothing is published and then not
enforced. A check answers with every violation, each with its path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gnomon_spec.kernel import clause
from gnomon_spec.values import Json, json_equal


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value does not fit: the path to it, and the keyword it breaks."""

    path: tuple[str | int, ...]
    keyword: str


_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int, float),
}


def _is_of(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


@clause("SCH-1", "SCH-3", "SCH-6", "SCH-7")
def violations(schema: Json, value: Json, path: tuple[str | int, ...] = ()) -> tuple[Violation, ...]:
    """Every way in which `value` does not fit `schema`, in the order of the schema.

    SCH-3  Objects MUST be open unless `additionalProperties` is false;
           `default` MUST NOT be applied; `integer` accepts any number without
           a fractional part.
    SCH-6  All violations MUST be answered: missing names, then declared
           properties in schema order, then undeclared names; a failed `oneOf`
           reports only the number of matches.
    SCH-7  The verdict MUST equal that of JSON Schema draft 2020-12.
    """
    return tuple(_walk(schema, value, path))


def _walk(root: Json, value: Json, start: tuple[str | int, ...]) -> Iterator[Violation]:
    # A work list, last in first out: what is pushed in reverse comes out in schema order.
    left: list[tuple[Json, Json, tuple[str | int, ...]] | Violation] = [(root, value, start)]
    while left:
        item = left.pop()
        if isinstance(item, Violation):
            yield item
            continue
        schema, one, path = item
        if not isinstance(schema, dict):
            continue
        found: list[tuple[Json, Json, tuple[str | int, ...]] | Violation] = []
        name = schema.get("type")
        if isinstance(name, str) and not _is_of(one, name):
            yield Violation(path, "type")
            continue
        allowed = schema.get("enum")
        if isinstance(allowed, list) and not any(json_equal(one, other) for other in allowed):
            yield Violation(path, "enum")
        if "const" in schema and not json_equal(one, schema["const"]):
            yield Violation(path, "const")
        branches = schema.get("oneOf")
        if isinstance(branches, list) and _matches(branches, one) != 1:
            yield Violation(path, "oneOf")
        if isinstance(one, dict):
            properties = schema.get("properties")
            declared = properties if isinstance(properties, dict) else {}
            required = schema.get("required")
            for key in required if isinstance(required, list) else []:
                if key not in one:
                    yield Violation(path, "required")
            found.extend((below, one[key], (*path, key)) for key, below in declared.items() if key in one)
            if schema.get("additionalProperties") is False:
                found.extend(
                    Violation((*path, key), "additionalProperties") for key in one if key not in declared
                )
        if isinstance(one, list) and "items" in schema:
            found.extend((schema["items"], item, (*path, index)) for index, item in enumerate(one))
        left.extend(reversed(found))


def _matches(branches: list[Json], value: Json) -> int:
    return sum(1 for branch in branches if not violations(branch, value))
