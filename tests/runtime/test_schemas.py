"""Schemas: what is refused when it is declared, and what fits (SCH)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from public_data import files, needs

from gnomon import JSON, RegistrationError, SchemaError
from gnomon.schemas import Schema
from gnomon.subset import compile_parameters, explain, subset_violations
from gnomon_spec import schemas as specified

OUTSIDE = "this keyword is outside the supported subset (SCH-2)"
ONLY_TRUE = "only `required: true` marks a property (SCH-4)"
OPEN_OR_CLOSED = "an object says `additionalProperties` true or false (SCH-4)"


@pytest.mark.clause("SCH-1", "SCH-2", "SCH-3", "SCH-9")
@pytest.mark.parametrize(
    ("schema", "violations"),
    [
        (5, ["$: a schema is an object (SCH-9)"]),
        ({"type": ["string"]}, ["$.type: `type` is the name of one type (SCH-9)"]),
        ({"minimum": 1}, [f"$.minimum: {OUTSIDE}"]),
        ({"items": {}}, ["$.items: this keyword does not belong to the type None (SCH-2)"]),
        (
            {"type": "string", "items": {}},
            ["$.items: this keyword does not belong to the type 'string' (SCH-2)"],
        ),
        ({"oneOf": [{}]}, ["$.oneOf: `oneOf` has two branches or more (SCH-1)"]),
        ({"type": "string", "enum": []}, ["$.enum: `enum` is a list that is not empty (SCH-9)"]),
        ({"type": "integer", "enum": [1, True]}, ["$.enum[1]: this is no integer (SCH-1)"]),
        ({"type": "integer", "enum": [1], "const": 2}, ["$.const: `const` is not one of `enum` (SCH-9)"]),
        ({"type": "object", "required": ["a"]}, ["$.required[0]: no such property is declared (SCH-3)"]),
        (
            {"type": "object", "properties": {"a": {"type": "x"}, "b": {"pattern": ""}}},
            [
                "$.properties.a.type: `type` is the name of one type (SCH-9)",
                f"$.properties.b.pattern: {OUTSIDE}",
            ],
        ),
        ({"default": {1}}, ["$.default: an object of type set is not a JSON value (SCH-1)"]),
    ],
)
def test_every_violation_is_told_with_its_path(schema: Any, violations: list[str]) -> None:
    assert subset_violations(schema) == violations
    if isinstance(schema, dict):
        with pytest.raises(SchemaError) as caught:
            Schema(schema, "it", subset=True)
        assert list(caught.value.violations) == violations
        assert caught.value.code == "UNSUPPORTED_SCHEMA"


@pytest.mark.clause("VAL-3", "SCH-5")
def test_a_circular_schema_is_refused_and_a_shared_one_is_fine() -> None:
    circular: dict[str, Any] = {"type": "array"}
    circular["items"] = circular
    assert subset_violations(circular) == ["$.items: the schema contains itself (SCH-5)"]
    shared = {"type": "string"}
    assert subset_violations({"oneOf": [shared, {"type": "array", "items": shared}]}) == []
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"type": "array", "items": deep}
    assert "too deep" in subset_violations(deep)[0]


@pytest.mark.clause("SCH-3", "SCH-6")
def test_violations_stand_in_the_order_of_the_schema() -> None:
    schema: JSON = {
        "type": "object",
        "properties": {
            "b": {"type": "integer"},
            "a": {"type": "string", "enum": ["x"]},
            "c": {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "integer"}]},
            "d": {},
        },
        "required": ["d"],
        "additionalProperties": False,
    }
    value: JSON = {"more": 1, "c": 1, "a": "y", "b": True}
    assert Schema(schema, "it", subset=True).violations(value) == [
        "$: 'd' is missing",
        "$.b: this is no integer",
        "$.a: this is none of the allowed values",
        "$.c: 2 of 3 alternatives fit, not one",
        "$.more: there is no such property",
    ]
    assert Schema(schema, "it", subset=True).violations({"d": 1, "b": 2.0}) == []


@pytest.mark.clause("SCH-4")
@pytest.mark.parametrize(
    ("written", "schema", "violations"),
    [
        ({}, {"type": "object", "properties": {}}, []),
        (
            {"a": {"type": "string", "required": True}, "b": {"type": "json", "description": "any"}},
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"description": "any"}},
                "required": ["a"],
            },
            [],
        ),
        (
            {"a": {"type": "string", "required": False}},
            None,
            [f"$.a: {ONLY_TRUE}"],
        ),
        (
            {"a": {"type": "array", "items": {"type": "string", "required": True}}},
            None,
            [f"$.a.items: {ONLY_TRUE}"],
        ),
        (
            {"a": {"type": "object"}},
            None,
            [f"$.a: {OPEN_OR_CLOSED}"],
        ),
        (
            {"a": {"type": "string", "minLength": 1}},
            None,
            [f"$.a.minLength: {OUTSIDE}"],
        ),
        ([], None, ["$: parameters map names to properties (SCH-4)"]),
    ],
)
def test_the_authoring_form(written: Any, schema: Any, violations: list[str]) -> None:
    compiled, found = compile_parameters(written)
    assert found == violations
    if not violations:
        assert compiled == schema


# -- what is full draft 2020-12 ---------------------------------------------------------------------


@pytest.mark.clause("SCH-8")
@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://localhost:1/schema"},
        {"$ref": "file:///etc/passwd"},
        {"properties": {"a": {"$ref": "https://json-schema.org/draft/2020-12/nothing"}}},
        {"$ref": "#/$defs/missing"},
        {"pattern": "(?=look-around)"},
        {"pattern": "(a)\\1"},
        {"type": "strin"},
    ],
)
def test_nothing_is_fetched_and_what_cannot_be_enforced_is_refused(schema: Any) -> None:
    with pytest.raises(RegistrationError):
        Schema(schema, "it")


@pytest.mark.clause("SCH-8")
def test_a_file_that_would_do_as_a_schema_is_not_read(tmp_path: Path) -> None:
    """Seen to fail: without `offline` the reference is resolved."""
    there = tmp_path / "schema.json"
    there.write_text('{"type": "string"}')
    with pytest.raises(RegistrationError):
        Schema({"$ref": there.as_uri()}, "it")


def test_a_hostile_pattern_takes_linear_time_also_where_the_value_is_odd() -> None:
    """Seen to fail: with jsonschema's own patterns this does not end."""
    schema = Schema({"properties": {"s": {"pattern": "^(a+)+$"}, "n": {"maximum": 10}}}, "it")
    text = "a" * 5_000 + "!"
    for odd in ({}, {"n": 10**5000}, {"t": "\ud800"}):
        assert any("$.s" in one for one in schema.violations({"s": text, **odd}))


def test_overlong_integers_are_judged_exactly_and_told_without_them() -> None:
    schema = Schema({"type": "integer", "maximum": 10**30}, "it")
    assert schema.violations(10**5000) == ["$: a number of thousands of digits does not fit"]
    assert schema.violations(-(10**5000)) == []
    assert Schema({"type": "integer"}, "it", subset=True).violations(10**5000) == []


@pytest.mark.clause("VAL-6")
def test_a_lone_surrogate_in_what_does_not_fit_is_told_as_it_is() -> None:
    """Seen to fail: the verdict came before the surrogate was met, and the reason for it was an error."""
    schema = Schema({"type": "object", "properties": {"a": {"type": "integer"}}}, "a schema")
    values: tuple[JSON, ...] = (["\ud800"], "\ud800", {"a": "\udfff"}, {"a": ["\ud800"]})
    for value in values:
        (violation,) = schema.violations(value)
        assert ("\ud800" in violation) or ("\udfff" in violation)


@pytest.mark.clause("VAL-6")
def test_lone_surrogates_are_kept_apart() -> None:
    for subset in (True, False):
        schema = Schema({"type": "string", "enum": ["\ud800", "b"]}, "it", subset=subset)
        assert schema.violations("\ud800") == []
        assert schema.violations("\ud801") != []
    named = Schema({"type": "object", "properties": {"\ud800": {"type": "string"}}}, "it")
    assert named.violations({"\ud800": 5}) != []
    assert named.violations({"\ud800": "\udfff"}) == []


# -- the same as draft 2020-12, and as the specification -------------------------------------------------

SCALARS = {
    "string": st.sampled_from(["", "a", "b"]),
    "integer": st.sampled_from([0, 1, 2.0, 10**20]),
    "number": st.sampled_from([0, 1.5, -0.0]),
    "boolean": st.booleans(),
    "null": st.none(),
}


def scalar_schemas(kind: str) -> st.SearchStrategy[Any]:
    values = SCALARS[kind]
    return st.one_of(
        st.just({"type": kind}),
        values.map(lambda one: {"type": kind, "const": one}),
        st.lists(values, min_size=1, max_size=3).map(lambda several: {"type": kind, "enum": several}),
    )


def object_schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": sorted(required & properties.keys()),
            "additionalProperties": not closed,
        },
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.sets(st.sampled_from("abc")),
        st.booleans(),
    )


SCHEMAS = st.recursive(
    st.just({}) | st.one_of([scalar_schemas(kind) for kind in SCALARS]),
    lambda inner: st.one_of(
        inner.map(lambda one: {"type": "array", "items": one}),
        st.lists(inner, min_size=2, max_size=3).map(lambda several: {"oneOf": several}),
        object_schemas(inner),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.one_of(list(SCALARS.values())),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.clause("SCH-6", "SCH-7")
@given(SCHEMAS, VALUES)
def test_verdict_and_explanation_agree_and_are_those_of_the_specification(schema: Any, value: Any) -> None:
    assert subset_violations(schema) == []
    fast = Schema(schema, "it").violations(value)
    explained = explain(schema, value)
    assert bool(fast) == bool(explained)
    assert len(explained) == len(specified.violations(schema, value))
    assert [one.split(":")[0] for one in explained] == [
        _path(one.path) for one in specified.violations(schema, value)
    ]


def _path(path: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in path)


ODD = st.recursive(
    st.sampled_from(["object", "string", 5, None, True, [], ["a"], {}]),
    lambda inner: (
        st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "oneOf", "enum", "const", "required", "x", "title"]
            ),
            inner,
            max_size=4,
        )
        | st.lists(inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.clause("SCH-1", "SCH-2", "SCH-4")
@given(ODD)
def test_what_is_supported_is_what_the_specification_supports(schema: Any) -> None:
    assert bool(subset_violations(schema)) == bool(specified.declared_faults(schema))
    compiled, found = compile_parameters(schema)
    expected = specified.compile_parameters(schema)
    assert bool(found) == isinstance(expected, specified.Unsupported)
    assert found or compiled == expected


SUITE = "json-schema-draft2020-12"


@pytest.mark.clause("SCH-7")
@needs(SUITE)
def test_every_case_of_the_public_suite_that_lies_in_the_subset() -> None:
    judged = 0
    for file in files(SUITE):
        for group in json.loads(file.read_text()):
            schema = group["schema"]
            if not isinstance(schema, dict):
                continue
            schema = {key: value for key, value in schema.items() if key != "$schema"}
            if subset_violations(schema):
                continue
            compiled = Schema(schema, "it", subset=True)
            for case in group["tests"]:
                judged += 1
                assert (not compiled.violations(case["data"])) is case["valid"], (group, case)
                assert (not explain(schema, case["data"])) is case["valid"], (group, case)
    assert judged > 50
