"""SCH: what is declared, what is compiled, and what a check answers, also against two other validators."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from public_data import files, needs

from gnomon_spec.schemas import (
    Unsupported,
    Violation,
    argument_violations,
    compile_parameters,
    declared_faults,
    violations,
)
from gnomon_spec.values import Json, Limits

# -- what is declared -----------------------------------------------------------------------------

STRING = {"type": "string"}
SHARED: Any = {"type": "object", "properties": {"a": STRING, "b": STRING}}
CYCLE: Any = {"type": "array"}
CYCLE["items"] = CYCLE
LONG_CYCLE: Any = {"type": "object", "properties": {"a": {"oneOf": [STRING, {"type": "array"}]}}}
LONG_CYCLE["properties"]["a"]["oneOf"][1]["items"] = LONG_CYCLE

SUPPORTED: list[Any] = [
    {},
    {"title": "t", "description": "d", "default": {"any": [1]}, "examples": [None]},
    {"type": "null"},
    {"type": "string", "enum": ["a", "b"], "const": "a"},
    {"type": "integer", "enum": [1, 2.0], "const": 2},
    {"type": "number", "const": 0.5, "title": "half"},
    {"type": "boolean", "const": True},
    {"type": "array"},
    {"type": "array", "items": {"type": "array", "items": {}}},
    {"type": "object"},
    {
        "type": "object",
        "properties": {"type": STRING, "oneOf": {}},
        "required": ["type"],
        "additionalProperties": False,
    },
    {"oneOf": [STRING, {"type": "null"}], "description": "maybe text"},
    {"oneOf": [{"oneOf": [{}, {}]}, {}, {}]},
    SHARED,
]


@pytest.mark.clause("SCH-1")
@pytest.mark.parametrize("schema", SUPPORTED, ids=json.dumps)
def test_the_subset_is_supported(schema: Any) -> None:
    assert declared_faults(schema) == ()
    jsonschema.Draft202012Validator.check_schema(schema)


FAULTY: list[tuple[Any, list[tuple[tuple[str | int, ...], str]]]] = [
    (True, [((), "SCH-9")]),
    (None, [((), "SCH-9")]),
    ({"type": ["string", "null"]}, [(("type",), "SCH-9")]),
    ({"type": "text"}, [(("type",), "SCH-9")]),
    ({"type": "json"}, [(("type",), "SCH-9")]),
    ({"type": "text", "minLength": 1, "enum": []}, [(("type",), "SCH-9"), (("minLength",), "SCH-2")]),
    ({"oneOf": [{}, {}], "anyOf": []}, [(("anyOf",), "SCH-2")]),
    ({"$schema": "x", "minLength": 1}, [(("$schema",), "SCH-2"), (("minLength",), "SCH-2")]),
    ({"type": "string", "minLength": 1}, [(("minLength",), "SCH-2")]),
    ({"type": "string", "items": {}}, [(("items",), "SCH-2")]),
    ({"type": "array", "enum": [[]]}, [(("enum",), "SCH-2")]),
    ({"enum": ["a"]}, [(("enum",), "SCH-2")]),
    ({"properties": {"a": {"x": 1}}}, [(("properties",), "SCH-2")]),
    ({"type": "string", "enum": []}, [(("enum",), "SCH-9")]),
    ({"type": "string", "enum": "a"}, [(("enum",), "SCH-9")]),
    ({"type": "string", "enum": ["a", 1, None]}, [(("enum", 1), "SCH-1"), (("enum", 2), "SCH-1")]),
    ({"type": "integer", "enum": [True]}, [(("enum", 0), "SCH-1")]),
    ({"type": "integer", "const": 1.5}, [(("const",), "SCH-1")]),
    ({"type": "string", "enum": ["a"], "const": "b"}, [(("const",), "SCH-9")]),
    (
        {"type": "string", "title": 1, "description": None},
        [(("title",), "SCH-1"), (("description",), "SCH-1")],
    ),
    ({"default": float("nan")}, [(("default",), "SCH-1")]),
    ({"examples": [1, (2,)]}, [(("examples", 1), "SCH-1")]),
    ({"examples": 1}, [(("examples",), "SCH-1")]),
    ({"type": "object", "required": ["a"]}, [(("required", 0), "SCH-3")]),
    (
        {"type": "object", "properties": {"a": {}}, "required": ["a", "a", 1]},
        [(("required", 1), "SCH-3"), (("required", 2), "SCH-3")],
    ),
    ({"type": "object", "required": True}, [(("required",), "SCH-1")]),
    ({"type": "object", "properties": []}, [(("properties",), "SCH-1")]),
    ({"type": "object", "properties": {1: {}}}, [(("properties",), "SCH-1")]),
    ({"type": "object", "additionalProperties": {}}, [(("additionalProperties",), "SCH-1")]),
    ({"type": "array", "items": [{}]}, [(("items",), "SCH-9")]),
    ({"type": "array", "items": True}, [(("items",), "SCH-9")]),
    ({"oneOf": [{}]}, [(("oneOf",), "SCH-1")]),
    ({"oneOf": [STRING, STRING], "type": "string"}, [(("type",), "SCH-1")]),
    ({"oneOf": [{}, False]}, [(("oneOf", 1), "SCH-9")]),
    ({1: 2}, [((), "VAL-1")]),
    (CYCLE, [(("items",), "SCH-5")]),
    (LONG_CYCLE, [(("properties", "a", "oneOf", 1, "items"), "SCH-5")]),
    (
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "pattern": "x"},
                "b": {"type": "array", "items": {"format": "date"}},
                "c": CYCLE,
            },
            "additionalProperties": 0,
            "anyOf": [],
        },
        [
            (("additionalProperties",), "SCH-1"),
            (("anyOf",), "SCH-2"),
            (("properties", "a", "pattern"), "SCH-2"),
            (("properties", "b", "items", "format"), "SCH-2"),
            (("properties", "c", "items"), "SCH-5"),
        ],
    ),
]


@pytest.mark.clause("SCH-1", "SCH-2", "SCH-3", "SCH-5", "SCH-9")
@pytest.mark.parametrize(("schema", "faults"), FAULTY, ids=lambda one: str(one)[:60])
def test_every_fault_is_answered_with_its_path(schema: Any, faults: object) -> None:
    assert [(one.path, one.clause) for one in declared_faults(schema)] == faults


@pytest.mark.clause("VAL-8", "SCH-5")
def test_a_shared_schema_is_no_cycle_and_does_not_explode() -> None:
    schema: Any = {}
    for _ in range(40):
        schema = {"oneOf": [schema, schema]}
    found = declared_faults(schema, Limits(nodes=10_000))
    assert [one.clause for one in found] == ["VAL-8"]


@pytest.mark.clause("VAL-3")
def test_a_schema_is_a_value_within_the_limits() -> None:
    schema: Any = {}
    for _ in range(199):
        schema = {"type": "array", "items": schema}
    assert declared_faults(schema) == ()
    assert [one.clause for one in declared_faults({"type": "array", "items": schema})] == ["VAL-3"]
    for _ in range(20_000):
        schema = {"type": "array", "items": schema}
    assert [one.clause for one in declared_faults(schema)] == ["VAL-3"]


@pytest.mark.clause("SCH-2")
def test_a_schema_that_is_too_deep_is_a_fault_beside_others() -> None:
    schema: Any = {}
    for _ in range(197):
        schema = {"type": "array", "items": schema}
    wrong = {"x": 1}
    assert [one.clause for one in declared_faults({"oneOf": [wrong, schema]})] == ["SCH-2"]
    deeper = {"type": "array", "items": schema}
    assert [one.clause for one in declared_faults({"oneOf": [deeper, wrong]})] == ["VAL-3", "SCH-2"]


# -- the authoring form ---------------------------------------------------------------------------


@pytest.mark.clause("SCH-4")
def test_the_authoring_form_is_compiled() -> None:
    written: Any = {
        "path": {"type": "string", "required": True, "description": "which file"},
        "options": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"depth": {"type": "integer", "required": True}, "any": {"type": "json"}},
        },
        "list": {"type": "array", "items": {"type": "json", "title": "t"}, "required": True},
        "either": {"oneOf": [{"type": "null"}, {"type": "object", "additionalProperties": True}]},
    }
    before = copy.deepcopy(written)
    compiled = compile_parameters(written)
    assert compiled == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "which file"},
            "options": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"depth": {"type": "integer"}, "any": {}},
                "required": ["depth"],
            },
            "list": {"type": "array", "items": {"title": "t"}},
            "either": {"oneOf": [{"type": "null"}, {"type": "object", "additionalProperties": True}]},
        },
        "required": ["path", "list"],
    }
    assert written == before
    assert declared_faults(compiled) == ()
    assert compile_parameters({}) == {"type": "object", "properties": {}}


@pytest.mark.clause("SCH-2", "SCH-4")
@pytest.mark.parametrize(
    ("written", "path", "clause"),
    [
        ([], (), "SCH-4"),
        ({"a": {"type": "string", "required": False}}, ("a", "required"), "SCH-4"),
        ({"a": {"type": "string", "required": 1}}, ("a", "required"), "SCH-4"),
        (
            {"a": {"type": "object", "additionalProperties": True, "required": ["b"]}},
            ("a", "required"),
            "SCH-4",
        ),
        ({"a": {"type": "object"}}, ("a",), "SCH-4"),
        ({"a": {"type": "array", "items": {"type": "object"}}}, ("a", "items"), "SCH-4"),
        ({"a": {"type": "array", "items": {"required": True}}}, ("a", "items", "required"), "SCH-4"),
        ({"a": {"oneOf": [{}, {"required": True}]}}, ("a", "oneOf", 1, "required"), "SCH-4"),
        ({"a": {"type": "object", "additionalProperties": {}}}, ("a", "additionalProperties"), "SCH-1"),
        ({"a": {"type": "json", "enum": [1]}}, ("a", "enum"), "SCH-2"),
        ({"a": {"type": "string", "minLength": 1}}, ("a", "minLength"), "SCH-2"),
        ({"a": True}, ("a",), "SCH-9"),
        ({"a": "string"}, ("a",), "SCH-9"),
        ({"a": {"type": "array", "items": CYCLE}}, ("a", "items", "items"), "SCH-5"),
    ],
)
def test_the_authoring_form_is_refused_with_its_first_fault(written: Any, path: object, clause: str) -> None:
    refused = compile_parameters(written)
    assert isinstance(refused, Unsupported)
    assert (refused.faults[0].path, refused.faults[0].clause) == (path, clause)


# -- the check of a value -------------------------------------------------------------------------


@pytest.mark.clause("SCH-6")
def test_all_violations_are_answered_in_the_order_of_the_schema() -> None:
    schema: Json = {
        "type": "object",
        "properties": {
            "b": {
                "type": "object",
                "properties": {"x": {}},
                "required": ["x"],
                "additionalProperties": False,
            },
            "a": {"type": "array", "items": {"type": "integer"}},
            "c": {"type": "string", "enum": ["p", "q"], "const": "q"},
            "d": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}]},
        },
        "required": ["n", "b", "m"],
        "additionalProperties": False,
    }
    value: Json = {"z": 0, "c": "r", "a": [1, "x", 1.5, 2.0, True], "y": 0, "b": {"k": 1}, "d": 1}
    assert violations(schema, value) == (
        Violation((), "required", "n"),
        Violation((), "required", "m"),
        Violation(("b",), "required", "x"),
        Violation(("b", "k"), "additionalProperties"),
        Violation(("a", 1), "type"),
        Violation(("a", 2), "type"),
        Violation(("a", 4), "type"),
        Violation(("c",), "enum"),
        Violation(("c",), "const"),
        Violation(("d",), "oneOf", 2),
        Violation(("z",), "additionalProperties"),
        Violation(("y",), "additionalProperties"),
    )


@pytest.mark.clause("SCH-6")
def test_a_failed_one_of_reports_only_the_number_of_matches() -> None:
    schema: Json = {"oneOf": [{"type": "string"}, {"oneOf": [{"type": "null"}, {"type": "array"}]}]}
    assert violations(schema, 1) == (Violation((), "oneOf", 0),)
    assert violations(schema, []) == ()
    assert violations({"oneOf": [{}, schema, {"type": "null"}]}, "x") == (Violation((), "oneOf", 2),)


@pytest.mark.clause("SCH-3")
def test_defaults_are_not_applied() -> None:
    schema: Json = {
        "type": "object",
        "properties": {"a": {"type": "integer", "default": 1}},
        "required": ["a"],
    }
    assert violations(schema, {}) == (Violation((), "required", "a"),)


@pytest.mark.clause("VAL-3")
def test_a_deep_schema_is_walked_without_a_call_stack() -> None:
    schema: Json = {"type": "string"}
    value: Json = 1
    for _ in range(5_000):
        schema = {"oneOf": [{"type": "null"}, {"type": "array", "items": schema}]}
        value = [value]
    assert violations(schema, value) == (Violation((), "oneOf", 0),)


@pytest.mark.clause("SCH-8")
def test_a_tool_that_checks_its_own_arguments_gets_them_as_they_are() -> None:
    parameters: Json = {"type": "object"}
    assert argument_violations(parameters, "no JSON") == (Violation((), "type"),)
    assert argument_violations(parameters, "no JSON", checks_own_arguments=True) == ()


# -- the verdict, against others ------------------------------------------------------------------

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "a", "b"]),
    "number": st.sampled_from([0, 1, 1.0, 0.5, -0.0, 2**53 + 1, 1e300]),
    "integer": st.sampled_from([0, 1, 1.0, -0.0, 2**53 + 1, 10**30]),
    "boolean": st.booleans(),
    "null": st.none(),
}
NAMES = st.sampled_from(["a", "b", "c", ""])
VALUES = st.recursive(
    st.one_of(*SCALARS.values()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def scalar_schemas(draw: st.DrawFn) -> Any:
    name = draw(st.sampled_from(sorted(SCALARS)))
    schema: dict[str, Any] = {"type": name}
    if draw(st.booleans()):
        schema["enum"] = draw(st.lists(SCALARS[name], min_size=1, max_size=3))
    if draw(st.booleans()):
        schema["const"] = draw(st.sampled_from(schema["enum"]) if "enum" in schema else SCALARS[name])
    return schema


@st.composite
def object_schemas(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    schema: dict[str, Any] = {"type": "object"}
    properties = draw(st.dictionaries(NAMES, inner, max_size=3))
    if properties or draw(st.booleans()):
        schema["properties"] = properties
        if draw(st.booleans()):
            required = (
                st.lists(st.sampled_from(sorted(properties)), unique=True) if properties else st.just([])
            )
            schema["required"] = draw(required)
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    return schema


SCHEMAS = st.recursive(
    scalar_schemas() | st.just({}) | st.just({"title": "t", "default": 1, "examples": [1]}),
    lambda inner: st.one_of(
        object_schemas(inner),
        st.builds(lambda one: {"type": "array", "items": one}, inner),
        st.builds(lambda some: {"oneOf": some}, st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=8,
)


@pytest.mark.clause("SCH-7")
@given(SCHEMAS, VALUES)
def test_the_verdict_is_that_of_draft_2020_12(schema: Any, value: Json) -> None:
    assert declared_faults(schema) == ()
    fits = not violations(schema, value)
    assert fits is jsonschema.Draft202012Validator(schema).is_valid(value)
    assert fits is jsonschema_rs.Draft202012Validator(schema).is_valid(value)


@pytest.mark.clause("SCH-6")
@given(SCHEMAS, VALUES)
def test_every_violation_leads_to_a_part_of_the_value(schema: Any, value: Json) -> None:
    for one in violations(schema, value):
        part: Any = value
        for step in one.path:
            part = part[step]
        if one.keyword == "required":
            assert one.detail not in part


@pytest.mark.clause("SCH-2")
@given(SCHEMAS, st.sampled_from(["minLength", "anyOf", "$ref", "not"]))
def test_one_keyword_more_is_one_fault_more(schema: Any, keyword: str) -> None:
    assert [one.path for one in declared_faults({**schema, keyword: 1})] == [(keyword,)]


SUITE = "json-schema-draft2020-12"


def in_the_subset() -> list[Any]:
    """Each case whose schema lies in the subset; what only names the draft is left out of it."""
    cases = []
    for path in files(SUITE):
        for group in json.loads(path.read_text()):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {key: one for key, one in schema.items() if key != "$schema"}
            if not declared_faults(schema):
                cases += [
                    pytest.param(
                        schema, test, id=f"{path.stem}: {group['description']}: {test['description']}"
                    )
                    for test in group["tests"]
                ]
    return cases


@pytest.mark.clause("SCH-7")
@needs(SUITE)
@pytest.mark.parametrize(("schema", "test"), in_the_subset() or [(None, None)])
def test_the_public_cases_of_the_subset_have_the_verdict_of_the_draft(schema: Any, test: Any) -> None:
    fits = not violations(schema, test["data"])
    assert fits is test["valid"]
    assert fits is jsonschema.Draft202012Validator(schema).is_valid(test["data"])


@needs(SUITE)
def test_the_subset_is_met_by_public_cases() -> None:
    assert len(in_the_subset()) == 68
