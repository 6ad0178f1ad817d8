"""Vectors of VAL: what is a JSON value, and when two are equal."""

from __future__ import annotations

from typing import Any

from gnomon_check.hostile import has_forms, realised
from gnomon_check.vectors.case import Case, Suite, fails, path
from gnomon_spec.values import Limits, NotAValue, json_equal, snapshot, unchanged


def limits_of(given: dict[str, Any]) -> Limits:
    """The limits of an input; what it leaves out is as by default."""
    return Limits(**given.get("limits", {}))


def computed_snapshot(given: dict[str, Any]) -> dict[str, Any]:
    """What a snapshot of `value` must answer. A value that needs forms is repeated as it was given."""
    source = realised(given["value"])
    copy = snapshot(source, limits_of(given))
    if isinstance(copy, NotAValue):
        return fails(copy.clause, copy.reason, path=path(copy.path))
    assert unchanged(source, copy)
    return {"value": given["value"] if has_forms(given["value"]) else copy}


def computed_equal(given: dict[str, Any]) -> dict[str, Any]:
    """Whether `left` and `right` are equal."""
    return {"equal": json_equal(realised(given["left"]), realised(given["right"]))}


def _form(kind: str) -> dict[str, str]:
    return {"$hostile": kind}


def _no_value(kind: str, title: str, value: object = 1) -> list[Case]:
    """A hostile value inside, and beside it the same with something that is a value."""
    name = kind.replace("_", "-")
    return [
        Case(f"snapshot-{name}-twin", "VAL-1 VAL-2", "a value stands there", {"value": {"a": [0, value]}}),
        Case(
            f"snapshot-{name}",
            "VAL-1 VAL-2",
            f"{title} is no value, and the path leads to it",
            {"value": {"a": [0, _form(kind)]}},
            twin=f"snapshot-{name}-twin",
        ),
    ]


SNAPSHOT = Suite(
    "snapshot",
    "Copy `value`, within `limits` {depth, nodes} where they are given, else 200 and 1000000. Answer "
    "the copy, or fail with the path to the first part that is no JSON value.",
    computed_snapshot,
    (
        Case("snapshot-null", "VAL-1", "null", {"value": None}),
        Case("snapshot-booleans", "VAL-1", "both booleans", {"value": [True, False]}),
        Case("snapshot-numbers", "VAL-1 VAL-4", "numbers", {"value": [0, -1, 0.5, 1e300, 5e-324, 1.0]}),
        Case("snapshot-text", "VAL-1 VAL-6", "text", {"value": ["", "a\u0000b", "e\u0301", "\U0001d11e"]}),
        Case("snapshot-empty", "VAL-1", "empty containers", {"value": [{}, [], {"a": {}}]}),
        Case(
            "snapshot-key-order",
            "VAL-2 VAL-5",
            "the order of keys is kept",
            {"value": {"b": 1, "a": 2, "": 3}},
        ),
        Case(
            "snapshot-lone-surrogate",
            "VAL-6",
            "a lone surrogate is kept",
            {"value": [_form("lone_surrogate")]},
        ),
        Case(
            "snapshot-big-integer", "VAL-4", "a large whole number is kept", {"value": [_form("big_int:400")]}
        ),
        Case(
            "snapshot-beyond-whole-doubles",
            "VAL-4",
            "beyond the whole doubles",
            {"value": [2**53 + 1, -(2**64) - 1]},
        ),
        Case("snapshot-negative-zero", "VAL-4", "zero keeps its sign", {"value": _form("negative_zero")}),
        *_no_value("nan", "NaN", 0.5),
        *_no_value("inf", "an infinite number", 1e308),
        *_no_value("tuple", "a tuple", [1, 2]),
        *_no_value("set", "a set", [1]),
        *_no_value("bytes", "a string of bytes", "x"),
        *_no_value("date", "a date", "2020-01-01"),
        *_no_value("enum", "a member of an enum that is a number"),
        *_no_value("subclass", "an instance of a subclass of text", "x"),
        *_no_value("non_string_key", "an object with a key that is no text", {"1": 2}),
        *_no_value("coroutine", "a coroutine", None),
        *_no_value("evil_dunder", "an object of which nothing can be asked", {}),
        *_no_value("mutates_while_read", "an object that changes whenever it is read", {"a": 1}),
        *_no_value("cycle", "an array that contains itself", []),
        Case(
            "snapshot-first-of-two",
            "VAL-2",
            "the first offending part, in the order of the source",
            {"value": {"b": [_form("nan")], "a": _form("inf")}},
            twin="snapshot-second-of-two",
        ),
        Case(
            "snapshot-second-of-two",
            "VAL-2",
            "the second, where the first is a value",
            {"value": {"b": [1], "a": _form("inf")}},
        ),
        Case(
            "snapshot-at-the-root",
            "VAL-1 VAL-2",
            "the path may be empty",
            {"value": _form("nan")},
            twin="snapshot-null",
        ),
        Case("snapshot-depth-200", "VAL-3", "200 containers inside each other", {"value": _form("deep:200")}),
        Case(
            "snapshot-depth-201",
            "VAL-3",
            "one more than the limit",
            {"value": _form("deep:201")},
            twin="snapshot-depth-200",
        ),
        Case(
            "snapshot-depth-100000",
            "VAL-3",
            "far more: still an answer",
            {"value": _form("deep:100000")},
            twin="snapshot-depth-200",
        ),
        Case(
            "snapshot-depth-own-limit", "VAL-3", "a limit of 2", {"value": {"a": [1]}, "limits": {"depth": 2}}
        ),
        Case(
            "snapshot-depth-own-limit-over",
            "VAL-3",
            "a limit of 1",
            {"value": {"a": [1]}, "limits": {"depth": 1}},
            twin="snapshot-depth-own-limit",
        ),
        Case(
            "snapshot-nodes-own-limit",
            "VAL-8",
            "four parts, and a budget of four",
            {"value": {"a": [1, 2]}, "limits": {"nodes": 4}},
        ),
        Case(
            "snapshot-nodes-own-limit-over",
            "VAL-8",
            "a budget of three",
            {"value": {"a": [1, 2]}, "limits": {"nodes": 3}},
            twin="snapshot-nodes-own-limit",
        ),
        Case("snapshot-nodes-default", "VAL-8", "a million parts", {"value": _form("wide:999999")}),
        Case(
            "snapshot-nodes-default-over",
            "VAL-8",
            "one more",
            {"value": _form("wide:1000000")},
            twin="snapshot-nodes-default",
        ),
    ),
)


def _pair(name: str, title: str, left: object, right: object, clauses: str = "VAL-5") -> Case:
    return Case(f"equal-{name}", clauses, title, {"left": left, "right": right})


EQUAL = Suite(
    "equal",
    "Say whether `left` and `right` are equal as JSON.",
    computed_equal,
    (
        _pair("true-and-one", "true is no number", True, 1),
        _pair("one-and-one", "a number is itself", 1, 1),
        _pair("false-and-zero", "false is no number", False, 0),
        _pair("null-and-false", "null is no boolean", None, False),
        _pair("true-inside", "also inside", {"a": [True]}, {"a": [1]}),
        _pair("one-and-one-point-zero", "1 and 1.0 are one number", 1, 1.0),
        _pair("zeros", "the two zeros are one number", _form("negative_zero"), 0),
        _pair("beyond-doubles", "whole numbers are compared exactly", 2**53 + 1, float(2**53)),
        _pair("key-order", "the order of keys is no part of it", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        _pair("item-order", "the order of items is", [1, 2], [2, 1]),
        _pair("key-more", "a key more", {"a": 1}, {"a": 1, "b": None}),
        _pair("item-more", "an item more", [1], [1, 1]),
        _pair("array-and-object", "both empty", [], {}),
        _pair("text-and-number", "text is no number", "1", 1),
        _pair(
            "text-composed", "text is compared code point for code point", "\u00e9", "e\u0301", "VAL-5 VAL-6"
        ),
        _pair("lone-surrogates", "also where it is a lone surrogate", "\ud800", "\ud800", "VAL-5 VAL-6"),
        Case(
            "equal-lone-surrogate-replaced",
            "VAL-5 VAL-6",
            "and it is not what decoders put in its place",
            {"left": "\ud800", "right": "\ufffd"},
            twin="equal-lone-surrogates",
        ),
        _pair("deep", "at any depth", _form("deep:5000"), _form("deep:5000"), "VAL-3 VAL-5"),
        _pair("deep-differs", "at any depth", _form("deep:5000"), _form("deep:5001"), "VAL-3 VAL-5"),
    ),
)


def computed_unchanged(given: dict[str, Any]) -> dict[str, Any]:
    """Whether a value is still exactly what it was."""
    return {"unchanged": unchanged(realised(given["before"]), realised(given["after"]))}


def _still(name: str, title: str, before: Any, after: Any, clauses: str = "VAL-7", twin: str = "") -> Case:
    given = {"before": before, "after": after}
    return Case(f"unchanged-{name}", clauses, title, given, f"unchanged-{twin}" if twin else None)


UNCHANGED = Suite(
    "unchanged",
    "Say whether `after` is still exactly what `before` was, as a frozen value has to be whatever was "
    "tried on it: stricter than equal.",
    computed_unchanged,
    (
        _still("object", "nothing has changed", {"a": [1, {"b": "x"}]}, {"a": [1, {"b": "x"}]}),
        _still("item-replaced", "deep within", {"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}, twin="object"),
        _still(
            "item-added", "an item more", {"a": [1, {"b": "x"}]}, {"a": [1, {"b": "x"}, 2]}, twin="object"
        ),
        _still("key-removed", "a key less", {"a": [1, {"b": "x"}]}, {"a": [1, {}]}, twin="object"),
        _still("keys", "two keys", {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        _still("keys-turned", "the order of keys counts", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
        _still("number", "a whole number", [1], [1], "VAL-7 VAL-4"),
        _still("number-as-double", "and a double are two things", [1], [1.0], "VAL-7 VAL-4", "number"),
        _still("zero", "zero", [0.0], [0.0], "VAL-7 VAL-4"),
        _still("zero-signed", "has a sign", [0.0], [_form("negative_zero")], "VAL-7 VAL-4", "zero"),
        _still("text", "text", ["\ud800"], ["\ud800"], "VAL-7 VAL-6"),
        _still("text-mended", "is not mended", ["\ud800"], ["\ufffd"], "VAL-7 VAL-6", "text"),
    ),
)
