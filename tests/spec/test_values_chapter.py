"""VAL, ARG: values and raw arguments, also against the standard library."""

from __future__ import annotations

import collections
import datetime
import enum
import json
import math
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon_spec.values import (
    Json,
    Limits,
    NotAValue,
    json_equal,
    logged_as_written,
    must_run_alone,
    parse_arguments,
    snapshot,
    unchanged,
)

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

# -- VAL: snapshots -------------------------------------------------------------------------------


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


class FrozenList(list[Any]):
    pass


class FrozenDict(dict[str, Any]):
    pass


class Evil:
    """Everything that can be asked of it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = None


class EvilType(type):
    """A class whose class raises where it is compared."""

    def __eq__(cls, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(cls) -> int:
        raise RuntimeError("hash")


class OfEvilType(metaclass=EvilType):
    pass


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
LONG_CYCLE: dict[str, Any] = {"a": [1, {}]}
LONG_CYCLE["a"][1]["b"] = LONG_CYCLE


@pytest.mark.clause("VAL-1", "VAL-2")
@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.nan, ()),
        ({"p": [math.inf]}, ("p", 0)),
        ([1, -math.inf], (1,)),
        ((1, 2), ()),
        ({"a": {1, 2}}, ("a",)),
        (b"x", ()),
        ([datetime.date(2026, 1, 1)], (0,)),
        ([Colour.RED], (0,)),
        ([Text("x")], (0,)),
        (collections.OrderedDict(), ()),
        (FrozenList(), ()),
        ({"a": {1: 2}}, ("a",)),
        ({"a": math.nan, 1: 2}, ()),
        ({Text("x"): 2}, ()),
        (CYCLE, (0,)),
        (LONG_CYCLE, ("a", 1, "b")),
        ([[], {"a": object()}], (1, "a")),
        ([math.nan, math.inf], (0,)),
        ([[1, [math.nan]], math.inf], (0, 1, 0)),
        ([Evil()], (0,)),
        ([OfEvilType()], (0,)),
    ],
)
def test_what_is_no_value_is_refused_with_the_path_to_its_first_part(value: object, path: object) -> None:
    found = snapshot(value)
    assert isinstance(found, NotAValue)
    assert found.path == path
    assert found.clause == "VAL-1"


@pytest.mark.clause("VAL-2")
@given(VALUES)
def test_a_snapshot_is_exact_and_detached(value: Json) -> None:
    copy = snapshot(value)
    assert not isinstance(copy, NotAValue)
    assert unchanged(value, copy)
    shared = {id(one) for one in containers(value)} & {id(one) for one in containers(copy)}
    assert not shared


def containers(value: Any) -> list[Any]:
    found = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list | dict):
            found.append(one)
            left.extend(one.values() if isinstance(one, dict) else one)
    return found


@pytest.mark.clause("VAL-1")
def test_the_frozen_containers_of_a_runtime_count_as_plain_ones() -> None:
    value = FrozenDict(a=FrozenList([1, {"b": FrozenList()}]))
    copy = snapshot(value, own=(FrozenList, FrozenDict))
    assert {type(one) for one in containers(copy)} == {list, dict}
    assert unchanged({"a": [1, {"b": []}]}, copy)
    assert isinstance(snapshot(value, own=(FrozenDict,)), NotAValue)


@pytest.mark.clause("VAL-2")
def test_each_slot_is_read_once() -> None:
    reads: list[object] = []

    class Watched(list[Any]):
        def __iter__(self) -> Any:
            for index, one in enumerate(super().__iter__()):
                reads.append(index)
                yield one

    assert snapshot(Watched(["a", ["b"]]), own=(Watched,)) == ["a", ["b"]]
    assert reads == [0, 1]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.clause("VAL-3")
def test_depth_counts_containers_inside_each_other() -> None:
    assert not isinstance(snapshot(nested(200)), NotAValue)
    found = snapshot(nested(201))
    assert isinstance(found, NotAValue)
    assert (found.clause, len(found.path)) == ("VAL-3", 200)
    assert snapshot(1, Limits(depth=0)) == 1
    assert isinstance(snapshot([], Limits(depth=0)), NotAValue)
    assert isinstance(snapshot(nested(100_000)), NotAValue)
    assert not isinstance(snapshot(nested(100_000), Limits(depth=100_000)), NotAValue)


@pytest.mark.clause("VAL-8")
def test_the_node_budget_counts_every_part_each_time_it_occurs() -> None:
    assert snapshot([1, 2], Limits(nodes=3)) == [1, 2]
    found = snapshot([1, 2], Limits(nodes=2))
    assert isinstance(found, NotAValue)
    assert (found.clause, found.path) == ("VAL-8", (1,))
    shared = [1]
    assert snapshot([shared, shared], Limits(nodes=5)) == [[1], [1]]
    assert isinstance(snapshot([shared, shared], Limits(nodes=4)), NotAValue)
    doubling: Any = []
    for _ in range(100):
        doubling = [doubling, doubling]
    found = snapshot(doubling, Limits(nodes=10_000))
    assert isinstance(found, NotAValue)
    assert found.clause == "VAL-8"


# -- VAL: equality --------------------------------------------------------------------------------


@pytest.mark.clause("VAL-3", "VAL-5")
@pytest.mark.parametrize(
    ("left", "right", "equal", "same"),
    [
        (True, 1, False, False),
        (False, 0, False, False),
        (None, False, False, False),
        (1, 1.0, True, False),
        (0.0, -0.0, True, False),
        (0, -0.0, True, False),
        (2**53 + 1, float(2**53), False, False),
        (10**400, 1e300, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, False),
        ({"a": 1}, {"a": 1, "b": None}, False, False),
        ([], {}, False, False),
        ("1", 1, False, False),
        ("\ud800", "\ud800", True, True),
        ("é", "e\u0301", False, False),
        ([1, [True]], [1, [1]], False, False),
        ([1, {"a": [0.5]}], [1, {"a": [0.5]}], True, True),
        (nested(5_000), nested(5_000), True, True),
    ],
)
def test_equality(left: Json, right: Json, equal: bool, same: bool) -> None:
    assert json_equal(left, right) is equal
    assert json_equal(right, left) is equal
    assert unchanged(left, right) is same
    assert unchanged(right, left) is same


# -- ARG: the raw text ----------------------------------------------------------------------------


@pytest.mark.clause("VAL-4", "VAL-6", "ARG-1", "ARG-2")
@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("", {}),
        ("{}", {}),
        (" \t\r\n[ 1 , 2 ] ", [1, 2]),
        ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        ('{"a":1e999,"a":1}', {"a": 1}),
        ("-0", 0),
        ("-0.0", -0.0),
        ("-0e0", -0.0),
        ("1E2", 100.0),
        ("1e-999", 0.0),
        ("-1e-999", -0.0),
        ("0e999", 0.0),
        ("9007199254740993", 2**53 + 1),
        ("9007199254740993.0", float(2**53)),
        (r'"\ud834\udd1e"', "\U0001d11e"),
        (r'"\ud800"', "\ud800"),
        (r'"\udc00\ud800"', "\udc00\ud800"),
        (r'"\ud800\ud834\udd1e"', "\ud800\U0001d11e"),
        ('"\ud834\\udd1e"', "\ud834\udd1e"),
        (r'"\/\b\f\n\r\t\"\\"', '/\b\f\n\r\t"\\'),
        ('"\x7f\u2028"', "\x7f\u2028"),
        ("null", None),
    ],
)
def test_text_that_is_json_means_its_value(raw: str, value: Json) -> None:
    parsed = parse_arguments(raw)
    assert not isinstance(parsed, NotAValue)
    assert unchanged(parsed, value)


@pytest.mark.clause("ARG-2")
def test_the_last_value_of_a_repeated_key_stands_in_the_place_of_the_first() -> None:
    parsed = parse_arguments('{"a":1,"b":2,"a":3}')
    assert isinstance(parsed, dict)
    assert list(parsed.items()) == [("a", 3), ("b", 2)]


@pytest.mark.clause("ARG-1", "ARG-2", "ARG-3")
@pytest.mark.parametrize(
    "raw",
    [
        " ",
        "\n",
        "NaN",
        "[NaN]",
        "Infinity",
        "-Infinity",
        "01",
        "-01",
        "+1",
        "1.",
        ".5",
        "1e",
        "0x1",
        "1_000",
        "\uff11",
        "\u0661",
        "[1,]",
        '{"a":1,}',
        "{'a':1}",
        "{a:1}",
        "\ufeff{}",
        "{} // no",
        "\xa0{}",
        "\f1",
        '"\t"',
        '"a',
        '"\\',
        r'"\x"',
        r'"\u12"',
        '"\\u\uff11234"',
        "[1 2]",
        "]",
        "{",
        "nul",
        "nulll",
        "True",
        "{}{}",
        '{"a"}',
        '{"a":}',
        "{1:2}",
        "[" * 100_000,
        "[" * 100_000 + "}" * 100_000,
        '{"a":' * 100_000,
    ],
    ids=lambda raw: ascii(raw[:20]),
)
def test_all_other_text_is_passed_on_unchanged(raw: str) -> None:
    assert parse_arguments(raw) is raw


@pytest.mark.clause("VAL-3", "VAL-4", "ARG-3", "ARG-5")
@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("1e400", ()),
        ('{"a":[0,-1e999]}', ("a", 1)),
        ("1" * 400 + ".0", ()),
        ("[" * 201 + "]" * 201, (0,) * 200),
        ("[" * 100_000 + "]" * 100_000, (0,) * 200),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, ("a",) * 200),
    ],
    ids=lambda one: str(one)[:12],
)
def test_json_that_is_no_value_within_the_limits_fails_and_does_not_become_a_string(
    raw: str, path: object
) -> None:
    parsed = parse_arguments(raw)
    assert isinstance(parsed, NotAValue)
    assert parsed.path == path
    assert must_run_alone(parsed)


@pytest.mark.clause("VAL-3", "VAL-8")
def test_the_limits_are_those_that_were_given() -> None:
    assert parse_arguments("[[]]", Limits(depth=2)) == [[]]
    assert isinstance(parse_arguments("[[]]", Limits(depth=1)), NotAValue)
    assert parse_arguments("[[}", Limits(depth=1)) == "[[}"
    assert isinstance(parse_arguments("[1,2]", Limits(nodes=2)), NotAValue)
    assert parse_arguments('{"a":[1,2],"a":3}', Limits(nodes=2)) == {"a": 3}


@pytest.mark.clause("VAL-4")
def test_whole_numbers_of_any_length_are_kept_exactly() -> None:
    for length in (1, 3_999, 4_000, 4_001, 8_000, 12_345, 100_000):
        for sign in ("", "-"):
            raw = sign + "7" * length
            expected = int(sign + "1") * 7 * (10**length - 1) // 9
            parsed = parse_arguments(raw)
            assert parsed == expected
    assert parse_arguments("1" + "0" * 5_000) == 10**5_000


def test_reading_takes_linear_time() -> None:
    """Counted in steps of the interpreter, not in seconds: four times the text, four times the steps."""

    def steps(raw: str) -> int:
        count = 0

        def see(frame: object, event: str, argument: object) -> Any:
            nonlocal count
            count += 1
            return see

        before = sys.gettrace()
        sys.settrace(see)
        try:
            parse_arguments(raw)
        finally:
            sys.settrace(before)
        return count

    for make in (
        lambda n: "[" * n,
        lambda n: "[" * n + "]" * n,
        lambda n: '{"a":' * n,
        lambda n: "[" + "1," * n + "1]",
        lambda n: '"' + "\\n" * n + '"',
        lambda n: '"' + "\\ud800" * n,
        lambda n: "[" + '"a" ,' * n,
    ):
        assert steps(make(2_000)) < 4.5 * steps(make(500))


def test_reading_copies_each_part_of_the_text_a_few_times_at_most() -> None:
    copied = 0

    class Watched(str):
        __slots__ = ()

        def __getitem__(self, key: Any) -> Watched:
            nonlocal copied
            piece = Watched(super().__getitem__(key))
            copied += len(piece)
            return piece

    raw = Watched('{"a":[1,2.5,"x\\n\\u0041 y",' + "[true]," * 300 + 'null],"b":' + "7" * 9_000 + "}")
    assert isinstance(parse_arguments(raw), dict)
    assert 0 < copied < 3 * len(raw)


@pytest.mark.clause("ARG-4")
def test_arguments_are_logged_as_they_were_written() -> None:
    assert logged_as_written('{"a": 1}', '{"a": 1}')
    assert not logged_as_written('{"a": 1}', '{"a":1}')


@pytest.mark.clause("ARG-5")
def test_only_arguments_that_are_no_value_make_a_call_run_alone() -> None:
    assert must_run_alone(parse_arguments("1e999"))
    assert not must_run_alone(parse_arguments("no JSON"))


def _constant(name: str) -> float:
    raise ValueError(name)


@pytest.mark.clause("ARG-2")
@given(st.text(alphabet='{}[]",:0123456789eE+-.truefalsn \t\n\\u"ab', max_size=30) | VALUES.map(json.dumps))
def test_the_standard_library_reads_the_same(raw: str) -> None:
    try:
        value = json.loads(raw, parse_constant=_constant) if raw else {}
    except ValueError:
        value = raw
    parsed = parse_arguments(raw)
    if isinstance(parsed, NotAValue):
        assert isinstance(snapshot(value), NotAValue)
    else:
        assert unchanged(parsed, value)


@pytest.mark.clause("ARG-3")
@given(st.text())
def test_parsing_never_raises(raw: str) -> None:
    parse_arguments(raw)
    parse_arguments('{"' + raw)
    parse_arguments('["\\' + raw)


@pytest.mark.clause("ARG-2")
@given(VALUES)
def test_what_is_written_is_read_back(value: Json) -> None:
    parsed = parse_arguments(json.dumps(value))
    assert not isinstance(parsed, NotAValue)
    assert unchanged(parsed, value)
