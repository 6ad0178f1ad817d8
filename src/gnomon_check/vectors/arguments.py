"""Vectors of ARG: what the raw text of arguments means."""

from __future__ import annotations

from typing import Any

from gnomon_check.vectors.case import Case, Suite, fails, path
from gnomon_check.vectors.values import limits_of
from gnomon_spec.values import NotAValue, parse_arguments

NEST = "$nest"


def text_of(given: Any) -> str:
    """The text of an input: as it stands, or `{"$nest": [OPENING, CLOSING, TIMES]}`."""
    if isinstance(given, str):
        return given
    opening, closing, times = given[NEST]
    return f"{opening * times}{closing * times}"


def computed(given: dict[str, Any]) -> dict[str, Any]:
    """What the text means."""
    raw = text_of(given["text"])
    value = parse_arguments(raw, limits_of(given))
    if isinstance(value, NotAValue):
        return fails("CRE-2", value.reason, path=path(value.path))
    return {"unchanged": True} if value is raw else {"value": value}


def _json(name: str, title: str, text: Any, clauses: str = "ARG-2", **limits: int) -> Case:
    given = {"text": text, **({"limits": limits} if limits else {})}
    return Case(f"parse-{name}", clauses, title, given)


def _text(name: str, title: str, text: Any, twin: str, clauses: str = "ARG-2 ARG-3", **limits: int) -> Case:
    given = {"text": text, **({"limits": limits} if limits else {})}
    return Case(f"parse-{name}", clauses, title, given, twin=f"parse-{twin}")


def _nested(opening: str, closing: str, times: int) -> dict[str, Any]:
    return {NEST: [opening, closing, times]}


PARSE = Suite(
    "parse",
    "Say what the argument text means: `value` where it is JSON (or empty), `unchanged` where it is not "
    "and is passed on as a string, `fails` where it is JSON and no value within the limits. The fault "
    "is CRE-2's: INVALID_ARGS.",
    computed,
    (
        _json("empty", "empty text means no arguments", "", "ARG-1"),
        _text("blank", "blank text is not empty", " ", "empty", "ARG-1 ARG-3"),
        _json("object", "an object", '{"path":"x","n":1}'),
        _json("white-space", "the four kinds of white space", ' \t\r\n{ "a" : [ 1 , 2 ] }\n'),
        _json("scalar", "any value may stand alone", "null"),
        _json("words", "the three words", "[true,false,null]"),
        _json("repeated-key", "the last value counts, in the place of the first", '{"a":1,"b":2,"a":3}'),
        _text("no-break-space", "another white space", "\u00a0{}", "object"),
        _text("byte-order-mark", "a leading BOM", "\ufeff{}", "object"),
        _text("trailing-comma-object", "a trailing comma", '{"path":"x","n":1,}', "object"),
        _text("trailing-comma-array", "a trailing comma", "[true,false,null,]", "words"),
        _text("comment", "a comment", '{"path":"x","n":1} // ok', "object"),
        _text("single-quotes", "quotes of another kind", "{'path':'x','n':1}", "object"),
        _text("bare-key", "a key without quotes", "{path:1}", "object"),
        _text("two-values", "two values", "{}{}", "object"),
        _text("cut-off", "text that was cut off", '{"path":"x","n"', "object"),
        _text("word-in-capitals", "a word in capitals", "[True,false,null]", "words"),
        _text("plain-words", "no JSON at all", "please read x", "object"),
        _text("fenced", "JSON in a fence", "```json\n{}\n```", "object"),
        _json("number", "a number", "[10]"),
        _text("leading-zero", "a leading zero", "[010]", "number"),
        _text("plus", "a leading plus", "[+10]", "number"),
        _text("bare-fraction", "a fraction without a whole", "[.10]", "number"),
        _text("bare-point", "a point without a fraction", "[10.]", "number"),
        _text("hexadecimal", "a hexadecimal number", "[0x10]", "number"),
        _text("underscore", "an underscore", "[1_0]", "number"),
        _text("other-digits", "digits of another script", "[\u0661\u0660]", "number"),
        _text("nan", "NaN", "[NaN]", "number"),
        _text("infinity", "Infinity", "[-Infinity]", "number"),
        _json("exponents", "exponents", "[1E2,1e+2,100e-2,0e0]"),
        _json("whole-zero", "a whole zero has no sign", "-0", "ARG-2 VAL-4"),
        _json("negative-zero", "a double's zero keeps its sign", "[-0.0,-0e1]", "ARG-2 VAL-4"),
        _json("whole-beyond-doubles", "a whole number is kept exactly", "9007199254740993", "VAL-4"),
        _json("whole-400-digits", "whatever its size", "9" * 400, "VAL-4"),
        _json("nearest-double", "the nearest double", "[9007199254740993.0,0.1,1e23]", "VAL-4"),
        _json("underflow", "underflow gives zero", "[1e-999,-1e-999]", "VAL-4"),
        _json("largest-double", "the largest double", "[1.7976931348623157e308]", "VAL-4"),
        _text(
            "beyond-doubles",
            "beyond the range of doubles",
            "[1.7976931348623159e308]",
            "largest-double",
            "VAL-4 ARG-3 CRE-2",
        ),
        _json("within-doubles-deep", "a large double, inside", '{"a":[0,-1e300]}', "VAL-4"),
        _text(
            "beyond-doubles-deep",
            "the path leads to it",
            '{"a":[0,-1e400]}',
            "within-doubles-deep",
            "VAL-4 VAL-2 CRE-2",
        ),
        _json(
            "beyond-doubles-replaced",
            "what a repeated key replaces is no part of the value",
            '{"a":1e400,"a":1}',
            "ARG-2 VAL-4",
        ),
        _json("escapes", "the escapes", '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"'),
        _json("surrogate-pair", "an escaped pair is one code point", '"\\ud834\\udd1e"', "ARG-2 VAL-6"),
        _json("lone-surrogate", "an escaped lone surrogate is kept", '["\\ud800","\\udc00\\ud800"]', "VAL-6"),
        _json("lone-surrogate-plain", "so is one that stands as it is", '"\ud800"', "VAL-6"),
        _json("other-controls", "DEL and the line separator may stand in a string", '"\u007f\u2028"'),
        _text("escape-unknown", "an unknown escape", '"\\x41"', "escapes"),
        _text("escape-short", "an escape that is too short", '"\\u041"', "escapes"),
        _text("control-character", "a control character in a string", '"a\tb"', "other-controls"),
        _json("depth-200", "200 arrays inside each other", _nested("[", "]", 200), "VAL-3"),
        _text(
            "depth-201",
            "deeper than the limit, and JSON all the same",
            _nested("[", "]", 201),
            "depth-200",
            "ARG-3 VAL-3 CRE-2",
        ),
        _text(
            "depth-100000",
            "far deeper: still an answer",
            _nested("[", "]", 100_000),
            "depth-200",
            "ARG-3 VAL-3 CRE-2",
        ),
        _text("depth-200-open", "as deep, and no JSON", _nested("[", "", 200), "depth-200", "ARG-3 VAL-3"),
        Case(
            "parse-objects-100000-open",
            "ARG-3 VAL-3",
            "objects that never end",
            {"text": _nested('{"a":', "", 100_000)},
        ),
        _json("own-depth", "a limit of 2", "[[1]]", "VAL-3", depth=2),
        _text("own-depth-over", "a limit of 1", "[[1]]", "own-depth", "ARG-3 VAL-3 CRE-2", depth=1),
        _text("own-depth-no-json", "no JSON, beyond the limit", "[[1}", "own-depth", "ARG-3", depth=2),
        _json("own-nodes", "a budget of 3", "[1,2]", "VAL-8", nodes=3),
        _text("own-nodes-over", "a budget of 2", "[1,2]", "own-nodes", "ARG-3 VAL-8 CRE-2", nodes=2),
    ),
)
