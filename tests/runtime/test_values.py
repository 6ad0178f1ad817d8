"""JSON values: snapshots, and the raw text of arguments."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import enum
import json
import pickle
from collections import OrderedDict
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from public_data import files, needs

from gnomon import Success
from gnomon.content import render_json
from gnomon.values import (
    JSON,
    Limits,
    NotJson,
    _deep,
    from_text,
    json_equal,
    parse_arguments,
    snapshot,
    thaw,
    to_text,
)
from gnomon_spec import values as specified

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


class Alike(type):
    """The type of types that claim to be equal to any other."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(str)


class Pretender(metaclass=Alike):
    pass


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.clause("VAL-1", "VAL-2")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"p": [float("nan")]}, "$.p[0]: nan is not a JSON number"),
        ([1, float("-inf")], "$[1]: -inf is not a JSON number"),
        ((1, 2), "$: an object of type tuple is not a JSON value"),
        ({"a": {1, 2}}, "$.a: an object of type set is not a JSON value"),
        (b"x", "$: an object of type bytes is not a JSON value"),
        ({"when": datetime.date(2026, 1, 1)}, "$.when: an object of type date is not a JSON value"),
        ([Colour.RED], "$[0]: an object of type Colour is not a JSON value"),
        (Text("x"), "$: an object of type Text is not a JSON value"),
        ([1, [Pretender()]], "$[1][0]: an object of type Pretender is not a JSON value"),
        ({"a": {Pretender(): 1}}, "$.a: a key is an object of type Pretender, not a string"),
        (OrderedDict(), "$: an object of type OrderedDict is not a JSON value"),
        ({1: 2}, "$: a key is an object of type int, not a string"),
        (CYCLE, "$[0]: the value contains itself"),
        ([[], {"a": object()}], "$[1].a: an object of type object is not a JSON value"),
    ],
)
def test_what_is_no_json_value_is_refused_with_its_path(value: object, message: str) -> None:
    with pytest.raises(NotJson) as caught:
        snapshot(value)
    assert str(caught.value) == message


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.floats() | st.text(max_size=2)
    | st.builds(object) | st.builds(Pretender) | st.builds(Text) | st.just(()) | st.just(CYCLE),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=2) | st.integers(0, 3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.clause("VAL-1", "VAL-2", "VAL-3", "VAL-8")
@given(ANYTHING, st.integers(1, 5), st.integers(1, 12))
def test_specification_and_runtime_refuse_the_same_part(value: object, depth: int, nodes: int) -> None:
    told = specified.snapshot(value, specified.Limits(depth=depth, nodes=nodes))
    if isinstance(told, specified.NotAValue):
        with pytest.raises(NotJson) as caught:
            snapshot(value, Limits(depth=depth, nodes=nodes))
        assert caught.value.path == told.path
    else:
        assert specified.unchanged(told, snapshot(value, Limits(depth=depth, nodes=nodes)))


@pytest.mark.clause("VAL-2", "VAL-7")
@given(JSON_VALUES)
def test_a_snapshot_is_equal_detached_and_frozen(value: JSON) -> None:
    copied = snapshot(value)
    assert json_equal(copied, value)
    assert json.dumps(copied) == json.dumps(value)
    assert copy.copy(copied) is copied
    for again in (thaw(copied), copy.deepcopy(copied), pickle.loads(pickle.dumps(copied)), snapshot(copied)):
        assert json_equal(again, value)
    if isinstance(copied, list):
        with pytest.raises(TypeError, match="frozen"):
            copied.append(1)
    if isinstance(copied, dict):
        with pytest.raises(TypeError, match="frozen"):
            copied["x"] = 1


@pytest.mark.clause("VAL-2")
def test_a_shared_part_is_copied_each_time_and_is_no_cycle() -> None:
    shared: dict[str, Any] = {"x": [1]}
    copied: Any = snapshot([shared, shared])
    shared["x"].append(2)
    assert copied == [{"x": [1]}, {"x": [1]}]
    assert copied[0] is not copied[1]


@pytest.mark.clause("VAL-3", "VAL-8")
def test_depth_and_size_are_limited() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(NotJson, match="more than 200 deep"):
        snapshot(deep)
    with pytest.raises(NotJson, match="more than 5 parts"):
        snapshot([1, 2, 3, 4, 5], Limits(nodes=5))
    assert snapshot([1, 2, 3, 4], Limits(nodes=5)) == [1, 2, 3, 4]


@pytest.mark.clause("VAL-7")
def test_frozen_values_work_where_json_is_expected() -> None:
    value = {"a": [1, 2.5, None, True, {"b": "ü"}]}
    assert json.loads(json.dumps(snapshot(value))) == value
    assert msgspec.json.decode(msgspec.json.encode(snapshot(value))) == value


@pytest.mark.clause("VAL-5")
@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (True, 1, False),
        (1, 1.0, True),
        (0, False, False),
        (None, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1], [1, 2], False),
        ("1", 1, False),
        (-0.0, 0, True),
        ([], {}, False),
        ({"a": [True]}, {"a": [1]}, False),
    ],
)
def test_json_equality(left: Any, right: Any, equal: bool) -> None:
    for one in (json_equal, specified.json_equal):
        assert one(left, right) is equal
        assert one(right, left) is equal


RAW = [
    ("", {}),
    (" ", " "),
    ("{}", {}),
    ('{"a":1,"a":2}', {"a": 2}),
    ("NaN", "NaN"),
    ("[Infinity]", "[Infinity]"),
    ("01", "01"),
    ('{"a":1,}', '{"a":1,}'),
    ("\ufeff{}", "\ufeff{}"),
    ("// x", "// x"),
    ("\u00a0{}", "\u00a0{}"),
    ('{"mode": "dry', '{"mode": "dry'),
    ("2512292042121000001", 2512292042121000001),
    ('"\\ud99c x"', "\ud99c x"),
]


@pytest.mark.clause("VAL-4", "VAL-6", "ARG-1", "ARG-2", "ARG-3")
@pytest.mark.parametrize(("raw", "value"), RAW)
def test_raw_arguments(raw: str, value: Any) -> None:
    assert json_equal(parse_arguments(raw), value)
    parsed = specified.parse_arguments(raw)
    assert not isinstance(parsed, specified.NotAValue)
    assert json_equal(parsed, value)


@pytest.mark.clause("VAL-4")
def test_long_integers_are_kept_exactly() -> None:
    digits = "-" + "123456789" * 1_000
    parsed = parse_arguments(digits)
    assert isinstance(parsed, int)
    assert parsed % 10**9 == (-int("123456789")) % 10**9
    assert parsed == specified.parse_arguments(digits)


@pytest.mark.clause("VAL-3", "ARG-3")
def test_text_that_is_nested_too_deeply_is_an_answer() -> None:
    with pytest.raises(NotJson) as caught:
        snapshot(parse_arguments("[" * 100_000 + "]" * 100_000))
    assert caught.value.path == (0,) * 200
    unclosed = "[" * 100_000
    assert parse_arguments(unclosed) is unclosed


@pytest.mark.clause("ARG-2", "ARG-3")
@given(st.text(alphabet='{}[]",:0123456789eE+-.truefalsn \t\n\\u"ab', max_size=30))
def test_specification_and_runtime_read_the_same(raw: str) -> None:
    expected = specified.parse_arguments(raw)
    try:
        parsed = snapshot(parse_arguments(raw))
    except NotJson:
        assert isinstance(expected, specified.NotAValue)
        return
    assert not isinstance(expected, specified.NotAValue)
    assert json_equal(parsed, expected)


@pytest.mark.clause("VAL-3", "ARG-3")
@pytest.mark.parametrize(
    ("raw", "unchanged"),
    [
        ("[" * 100_000 + "]" * 100_000, False),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, False),
        ("[" * 100_000 + "]" * 99_999, True),
        ("[" * 100_000 + "]" * 99_999 + "}", True),
        ("[" * 100_000 + "1 2" + "]" * 100_000, True),
        ('"' + "x" * 10_000_000 + '"', False),
        ('"' + "x" * 10_000_000, True),
        ("9" * 5_000, False),
        ("-0", False),
    ],
    ids=["brackets", "braces", "unclosed", "wrong end", "no comma", "text", "open text", "digits", "zero"],
)
def test_large_and_deep_text_is_an_answer(raw: str, unchanged: bool) -> None:
    assert (parse_arguments(raw) is raw) is unchanged


@pytest.mark.clause("VAL-4")
@pytest.mark.parametrize("raw", ["1e400", "[-1e999]", '{"a": 1e400}'])
def test_a_number_beyond_the_range_of_doubles_is_refused_with_its_path(raw: str) -> None:
    with pytest.raises(NotJson):
        snapshot(parse_arguments(raw))
    assert parse_arguments("1e-400") == 0.0
    assert str(parse_arguments("-0.0")) == "-0.0"
    assert parse_arguments("-0") == 0


TEXT = st.text(alphabet='{}[]",:0123456789eE+-.truefalsn \t\n\\u"abdD8', max_size=30)


@given(TEXT)
def test_the_reader_for_deep_text_reads_like_the_other(raw: str) -> None:
    ordinary, deep = parse_arguments(raw), _deep(raw) if raw else {}
    assert repr(ordinary) == repr(deep)


@given(JSON_VALUES)
def test_the_reader_for_deep_text_reads_whatever_is_json(value: JSON) -> None:
    for indent in (None, 1):
        assert json_equal(_deep(json.dumps(value, indent=indent)), value)


SUITE = "json-parsing"


@pytest.mark.clause("ARG-2", "ARG-3")
@needs(SUITE)
def test_every_case_of_the_public_suite() -> None:
    """y is accepted, n is passed on as text, i is decided once, by the ordinary reader."""
    judged = {"y": 0, "n": 0, "i": 0}
    for path in files(SUITE):
        try:
            raw = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue  # bytes that are no text never reach the reader
        if not raw:
            continue
        kind = path.name[0]
        judged[kind] += 1
        parsed = parse_arguments(raw)
        assert repr(parsed) == repr(_deep(raw)), path.name
        if kind != "i":
            assert (parsed is raw) is (kind == "n"), path.name
    assert judged["y"] > 80
    assert judged["n"] > 150


@pytest.mark.clause("VAL-7")
def test_a_frozen_value_cannot_be_made_again_in_place() -> None:
    """Seen to fail: `__init__` of a dict and of a list changes it."""
    value: JSON = {"a": [1, {"b": 2}]}
    for source in (value, [value]):
        frozen: Any = snapshot(source)
        frozen.__init__({"new": 1} if isinstance(frozen, dict) else [])
        assert frozen == source
        again = type(frozen)(frozen)
        assert type(again) is type(frozen)
        assert again == frozen
    assert dataclasses.asdict(Success(snapshot(value), []))["value"] == value


@pytest.mark.clause("VAL-4")
def test_overlong_integers_are_written_and_read_exactly() -> None:
    for number in (10**5000, -(10**5000) + 1, 10**4299, 7**9000):
        value: JSON = {"n": [number, 1.5, None, "\u00fc"]}
        assert json_equal(from_text(to_text(value)), value)
    assert render_json({}, {"n": 10**5000, "m": [5]})[0]["text"] == '{"n":1' + "0" * 5000 + ',"m":[5]}'
