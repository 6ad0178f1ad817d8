"""Vectors of SCH: which values fit a schema, and which schemas may be declared."""

from __future__ import annotations

from typing import Any

from gnomon_check.hostile import realised
from gnomon_check.vectors.case import Case, Suite, fails, path
from gnomon_spec.schemas import Fault, Unsupported, compile_parameters, declared_faults, violations


def computed_validate(given: dict[str, Any]) -> dict[str, Any]:
    """Whether `value` fits `schema`, and if not, every violation in order."""
    found = violations(given["schema"], realised(given["value"]))
    if not found:
        return {"fits": True}
    listed = [
        {"path": path(one.path), "keyword": one.keyword}
        | ({} if one.detail is None else {"detail": one.detail})
        for one in found
    ]
    return fails("SCH-6", "the value does not fit", violations=listed)


def computed_declare(given: dict[str, Any]) -> dict[str, Any]:
    """Whether a schema is supported, and if not, every fault; of the authoring form, what it compiles to."""
    schema = realised(given["schema"])
    if given["form"] == "authored":
        compiled = compile_parameters(schema)
        return _faulty(compiled.faults) if isinstance(compiled, Unsupported) else {"compiled": compiled}
    faults = declared_faults(schema)
    return _faulty(faults) if faults else {"supported": True}


def _faulty(faults: tuple[Fault, ...]) -> dict[str, Any]:
    listed = [{"path": path(one.path), "clause": one.clause} for one in faults]
    return fails("SCH-2", faults[0].reason, code="UNSUPPORTED_SCHEMA", faults=listed)


_TEXT = {"type": "string"}
_PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": _TEXT, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
_OPEN: dict[str, Any] = {"type": "object", "properties": {"name": _TEXT}}
_EITHER: dict[str, Any] = {"oneOf": [_TEXT, {"type": "integer"}, {"type": "number"}]}


def _fit(name: str, title: str, schema: Any, value: Any, clauses: str = "SCH-7") -> Case:
    return Case(f"validate-{name}", clauses, title, {"schema": schema, "value": value})


def _not(name: str, title: str, schema: Any, value: Any, twin: str, clauses: str = "SCH-6 SCH-7") -> Case:
    return Case(
        f"validate-{name}", clauses, title, {"schema": schema, "value": value}, twin=f"validate-{twin}"
    )


VALIDATE = Suite(
    "validate",
    "Check `value` against `schema`. Answer that it fits, or every violation with its path, in order; "
    "`detail` is the missing name of `required`, and the number of matching branches of `oneOf`.",
    computed_validate,
    (
        _fit("anything", "a schema that says nothing", {}, {"a": [None]}, "SCH-1 SCH-7"),
        _fit(
            "annotations",
            "annotations check nothing",
            {"title": "t", "default": 1, "examples": [2]},
            "x",
            "SCH-1",
        ),
        _fit("string", "text", _TEXT, "x"),
        _not("string-number", "a number is no text", _TEXT, 1, "string"),
        _not(
            "string-arguments",
            "text that was no JSON does not fit an object",
            _OPEN,
            "{oops",
            "open",
            "SCH-7 ARG-3",
        ),
        _fit("boolean", "a boolean", {"type": "boolean"}, False),
        _not("boolean-zero", "0 is no boolean", {"type": "boolean"}, 0, "boolean", "SCH-7 VAL-5"),
        _fit("integer", "a whole number", {"type": "integer"}, 3),
        _fit("integer-point-zero", "no fractional part", {"type": "integer"}, 3.0, "SCH-3 SCH-7"),
        _fit("integer-large", "of any size", {"type": "integer"}, {"$hostile": "big_int:40"}, "VAL-4 SCH-7"),
        _not("integer-fraction", "a fractional part", {"type": "integer"}, 3.5, "integer", "SCH-3 SCH-7"),
        _not("integer-true", "true is no number", {"type": "integer"}, True, "integer", "SCH-7 VAL-5"),
        _fit("number", "a double", {"type": "number"}, 0.5),
        _not("number-text", "text is no number", {"type": "number"}, "0.5", "number"),
        _fit("null", "null", {"type": "null"}, None),
        _not("null-false", "false is not null", {"type": "null"}, False, "null"),
        _fit("enum", "one of them", {"type": "number", "enum": [1, 2]}, 2.0, "SCH-7 VAL-5"),
        _not("enum-other", "none of them", {"type": "number", "enum": [1, 2]}, 3, "enum"),
        _fit("const", "the very value", {"type": "string", "const": "a"}, "a"),
        _not("const-other", "another value", {"type": "string", "const": "a"}, "b", "const"),
        _fit(
            "lone-surrogate",
            "text with a lone surrogate",
            {"type": "string", "const": "\ud800"},
            "\ud800",
            "VAL-6 SCH-7",
        ),
        _fit("items", "each item fits", {"type": "array", "items": {"type": "integer"}}, [1, 2, 3]),
        _not(
            "items-wrong",
            "an item that does not",
            {"type": "array", "items": {"type": "integer"}},
            [1, "x", 3],
            "items",
        ),
        _not("items-no-array", "an object is no array", {"type": "array"}, {}, "array-empty"),
        _fit("array-empty", "an empty array", {"type": "array"}, []),
        _fit("open", "an object is open", _OPEN, {"name": "n", "more": 1}, "SCH-3 SCH-7"),
        _fit("open-absent", "what is not required may be absent", _OPEN, {}, "SCH-3 SCH-7"),
        _fit("person", "all that is required", _PERSON, {"name": "n", "age": 3}),
        _not(
            "person-closed",
            "an undeclared name where none is allowed",
            _PERSON,
            {"name": "n", "age": 3, "x": 1},
            "person",
            "SCH-3 SCH-6",
        ),
        _not("person-missing", "a missing name", _PERSON, {"name": "n"}, "person", "SCH-3 SCH-6"),
        _not(
            "person-all-wrong",
            "missing names, then declared ones, then undeclared ones",
            _PERSON,
            {"x": 1, "age": "3"},
            "person",
            "SCH-6",
        ),
        _not(
            "person-schema-order",
            "declared ones in the order of the schema",
            _PERSON,
            {"age": "3", "name": 4},
            "person",
            "SCH-6",
        ),
        _not(
            "default-not-applied",
            "a default is not applied",
            {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"]},
            {},
            "default-given",
            "SCH-3",
        ),
        _fit(
            "default-given",
            "the name is there",
            {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"]},
            {"a": 2},
            "SCH-3",
        ),
        _fit("one-of", "one branch fits", _EITHER, "x"),
        _not("one-of-none", "no branch fits", _EITHER, None, "one-of", "SCH-6"),
        _not("one-of-two", "two branches fit", _EITHER, 1, "one-of", "SCH-6"),
        _fit("one-of-inside", "branches inside branches", {"oneOf": [_EITHER, {"type": "null"}]}, None),
        _not(
            "one-of-inside-two",
            "their own violations are not reported",
            {"oneOf": [_EITHER, {"type": "null"}]},
            1,
            "one-of-inside",
            "SCH-6",
        ),
        _not(
            "nested-paths",
            "paths lead into the value",
            {"type": "object", "properties": {"list": {"type": "array", "items": _PERSON}}},
            {"list": [{"name": "n", "age": 1}, {"name": 2, "age": 1}]},
            "nested-paths-twin",
            "SCH-6",
        ),
        _fit(
            "nested-paths-twin",
            "the same, and it fits",
            {"type": "object", "properties": {"list": {"type": "array", "items": _PERSON}}},
            {"list": [{"name": "n", "age": 1}, {"name": "m", "age": 1}]},
            "SCH-6",
        ),
    ),
)


def _raw(name: str, title: str, schema: Any, clauses: str = "SCH-1", twin: str | None = None) -> Case:
    given = {"schema": schema, "form": "raw"}
    return Case(f"declare-{name}", clauses, title, given, None if twin is None else f"declare-{twin}")


def _authored(name: str, title: str, schema: Any, clauses: str = "SCH-4", twin: str | None = None) -> Case:
    given = {"schema": schema, "form": "authored"}
    return Case(
        f"declare-authored-{name}",
        clauses,
        title,
        given,
        None if twin is None else f"declare-authored-{twin}",
    )


DECLARE = Suite(
    "declare",
    "Say whether `schema` is supported. In `form` raw, answer every fault, each with its path and the "
    "clause that it breaks. In `form` authored it is a property map: answer the schema that it compiles "
    "to, or at least the first fault.",
    computed_declare,
    (
        _raw("anything", "a schema that says nothing", {}),
        _raw(
            "annotated",
            "annotations",
            {"title": "t", "description": "d", "default": {"a": 1}, "examples": [1]},
        ),
        _raw(
            "annotated-title",
            "a title that is no text",
            {"title": 1, "description": "d", "default": {"a": 1}, "examples": [1]},
            twin="annotated",
        ),
        _raw(
            "annotated-default",
            "a default that is no value",
            {"title": "t", "description": "d", "default": {"a": {"$hostile": "nan"}}, "examples": [1]},
            twin="annotated",
        ),
        _raw("object", "an object", _PERSON),
        _raw(
            "required-undeclared",
            "a required name that is not declared",
            {**_PERSON, "required": ["name", "size"]},
            "SCH-3",
            "object",
        ),
        _raw(
            "required-twice",
            "a required name that stands twice",
            {**_PERSON, "required": ["name", "name"]},
            "SCH-3",
            "object",
        ),
        _raw(
            "additional-schema",
            "`additionalProperties` is no boolean",
            {**_PERSON, "additionalProperties": {}},
            twin="object",
        ),
        _raw("true", "true is no schema here", True, "SCH-9", "anything"),
        _raw("type-list", "a list of types", {"type": ["string", "null"]}, "SCH-9", "string"),
        _raw("type-unknown", "a type that there is not", {"type": "text"}, "SCH-9", "string"),
        _raw("string", "text", {"type": "string"}),
        _raw(
            "pattern", "a keyword outside the subset", {"type": "string", "pattern": "x"}, "SCH-2", "string"
        ),
        _raw("reference", "a reference", {"$ref": "#"}, "SCH-2", "anything"),
        _raw(
            "items-on-string",
            "a keyword in the wrong place",
            {"type": "string", "items": {}},
            "SCH-2",
            "string",
        ),
        _raw("enum-untyped", "`enum` without a type", {"enum": ["a"]}, "SCH-2", "enum"),
        _raw("enum", "`enum` of the type", {"enum": ["a"], "type": "string"}),
        _raw("enum-empty", "an empty `enum`", {"enum": [], "type": "string"}, "SCH-9", "enum"),
        _raw("enum-other-type", "a value of another type", {"enum": [1], "type": "string"}, "SCH-1", "enum"),
        _raw("const", "`const` is one of `enum`", {"type": "integer", "enum": [1, 2], "const": 2.0}, "SCH-9"),
        _raw(
            "const-outside",
            "`const` is not",
            {"type": "integer", "enum": [1, 2], "const": 3},
            "SCH-9",
            "const",
        ),
        _raw("one-of", "two branches", {"oneOf": [_TEXT, {"type": "null"}], "title": "t"}),
        _raw("one-of-single", "one branch", {"oneOf": [_TEXT], "title": "t"}, twin="one-of"),
        _raw(
            "one-of-beside",
            "a constraint beside it",
            {"oneOf": [_TEXT, {"type": "null"}], "title": "t", "type": "string"},
            twin="one-of",
        ),
        _raw(
            "part-twice",
            "a part that occurs in two places",
            {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
            "SCH-5",
        ),
        _raw(
            "in-their-places",
            "keywords of the subset, each in its place",
            {
                "type": "object",
                "description": "d",
                "properties": {"a": {"type": "array", "items": {"type": "integer", "enum": [1, 2]}}},
                "required": ["a"],
                "additionalProperties": False,
            },
            "SCH-1 SCH-2",
        ),
        _raw("array", "an array of anything", {"type": "array", "items": {}}),
        _raw("array-list", "a list of schemas", {"type": "array", "items": [{}]}, "SCH-9", "array"),
        _raw(
            "cycle",
            "a schema that contains itself",
            {"type": "array", "items": {"$hostile": "cycle"}},
            "SCH-5",
            "array",
        ),
        _raw(
            "every-fault",
            "every fault, each with its path",
            {
                "type": "object",
                "format": "x",
                "properties": {
                    "a": {"type": "string", "minLength": 1},
                    "b": {"items": {}},
                    "c": {"oneOf": [{}, False]},
                },
                "required": ["d"],
            },
            "SCH-1 SCH-2 SCH-3 SCH-9",
            "object",
        ),
        _authored("empty", "no parameters", {}),
        _authored("flat", "a required property", {"a": {"type": "string", "required": True}}),
        _authored(
            "required-false",
            "`required` with another value",
            {"a": {"type": "string", "required": False}},
            twin="flat",
        ),
        _authored(
            "unsupported",
            "a keyword outside the subset",
            {"a": {"type": "string", "required": True, "format": "x"}},
            "SCH-2 SCH-4",
            "flat",
        ),
        _authored("json", "any value", {"a": {"type": "json", "title": "t"}}),
        _authored(
            "json-constrained",
            "any value, and a constraint",
            {"a": {"type": "json", "title": "t", "enum": [1]}},
            "SCH-2 SCH-4",
            "json",
        ),
        _authored(
            "nested",
            "an object inside says whether it is open",
            {
                "a": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"b": {"type": "integer", "required": True}},
                }
            },
        ),
        _authored(
            "nested-silent",
            "one that does not say it",
            {"a": {"type": "object", "properties": {"b": {"type": "integer", "required": True}}}},
            twin="nested",
        ),
        _authored(
            "nested-required-list",
            "a list of names in the place of `required: true`",
            {
                "a": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["b"],
                    "properties": {"b": {"type": "integer", "required": True}},
                }
            },
            twin="nested",
        ),
        _authored("items", "items", {"a": {"type": "array", "items": {"type": "json"}}}),
        _authored(
            "items-required",
            "an item cannot be required",
            {"a": {"type": "array", "items": {"type": "json", "required": True}}},
            twin="items",
        ),
        _authored("list", "a list is no property map", [], twin="empty"),
    ),
)
