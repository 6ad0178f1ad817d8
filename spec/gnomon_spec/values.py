"""VAL, ARG: JSON values, and the raw text that a model gives as arguments.

Everything that passes between a model, a policy and a tool is a JSON value:
null, a boolean, a finite number, text, a list of values, or an object whose
keys are text. A program may hand over anything else as well, so each value is
copied once where it comes in. The copy either is a JSON value, or it is
refused, with the path to the first part that is none.

A model writes arguments as text, and the text may be anything. Empty text means
no arguments; text that is JSON means its value; all other text is passed on as
a string, so that the tool's own argument check rejects it and says what is
wrong. Nothing is repaired, and nothing is guessed: a tool must never run on
its defaults because its arguments did not parse.

Nothing here calls itself: a value may be nested as deep as its text is long,
and the answer to that is an answer, never a stack overflow (VAL-3).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, cast

from gnomon_spec.kernel import clause

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Path: TypeAlias = tuple[str | int, ...]
"""The way from a value to a part of it: the keys of objects and the indices of lists, outermost first."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a JSON value may be.

    `depth` counts the lists and objects inside each other, the outermost
    included; `nodes` counts every value in it, the whole included and keys
    not.
    """

    depth: int = 200
    nodes: int = 1_000_000


DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class NotAValue:
    """Why something is no JSON value within the limits.

    `path` leads to the first part that offends; `cycle` says that it contains itself.
    """

    reason: str
    path: Path = ()
    clause: str = "VAL-1"
    cycle: bool = False


# -- a detached copy ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Open:
    """A container that is being copied: the slots that are still to be copied, and where we are in it."""

    source: object
    slots: Iterator[tuple[str | int, object]]
    copy: list[Json] | dict[str, Json]
    at: str | int = 0


@clause("VAL-1", "VAL-2", "VAL-3", "VAL-6", "VAL-8")
def snapshot(value: object, limits: Limits = DEFAULT, own: tuple[type, ...] = ()) -> Json | NotAValue:
    """Copy a value of the host language, or say which part of it is no JSON value.

    `own` are the runtime's frozen containers; they count as plain ones.

    VAL-1  Only null, booleans, finite numbers, text, arrays, and objects whose
           keys are text MUST be accepted; no instance of a subclass stands in
           for one of them, and nothing contains itself.
    VAL-2  Each slot of the source MUST be read once. The answer MUST be a
           detached copy, or the path of the first offending part, in the
           order of the source; an object's keys are looked at before its
           values.
    VAL-3  The copy MUST be made with a work list, and one level more than the
           depth limit MUST fail like any other offending part.
    VAL-6  Text MUST be kept code point for code point, lone surrogates
           included.
    VAL-8  One part more than the node budget MUST fail in the same way; a
           part that is shared counts each time it occurs.
    """
    opened: list[_Open] = []  # VAL-3: a work list, the outermost container first
    around: set[int] = set()  # the identities of the containers in it
    part = value
    nodes = 0
    while True:
        nodes += 1
        if nodes > limits.nodes:
            return NotAValue(f"it has more than {limits.nodes} parts", _here(opened), "VAL-8")  # VAL-8
        copy: Json
        slots: list[tuple[str | int, object]] = []
        if _is_scalar(part):
            copy = cast(Json, part)  # VAL-6
        else:
            found = _slots(part, own)  # VAL-2: read once, here
            if isinstance(found, str):
                return NotAValue(found, _here(opened))  # VAL-1
            if id(part) in around:
                return NotAValue("it contains itself", _here(opened), cycle=True)  # VAL-1
            if len(opened) >= limits.depth:
                reason = f"it is nested more than {limits.depth} deep"
                return NotAValue(reason, _here(opened), "VAL-3")  # VAL-3
            slots = found
            copy = {} if issubclass(type(part), dict) else []
        if opened:
            _put(opened[-1].copy, opened[-1].at, copy)
        if isinstance(copy, list | dict):
            opened.append(_Open(part, iter(slots), copy))
            around.add(id(part))
        if not opened:
            return copy
        # Go on with the next slot; a container without one is complete.
        following = next(opened[-1].slots, None)
        while following is None:
            complete = opened.pop()
            around.remove(id(complete.source))
            if not opened:
                return complete.copy
            following = next(opened[-1].slots, None)
        opened[-1].at, part = following


# What a value is, is told from its exact type, by identity: nothing of the value's own class is asked.


def _is_scalar(part: object) -> bool:
    exact = type(part)
    if exact is float:
        return math.isfinite(cast(float, part))
    return exact is str or exact is int or exact is bool or part is None


def _slots(part: object, own: tuple[type, ...]) -> list[tuple[str | int, object]] | str:
    """The slots of a container, each with its place; or why this is none."""
    exact = type(part)
    is_own = any(exact is one for one in own)
    if exact is list or (is_own and issubclass(exact, list)):
        return list(enumerate(cast("list[object]", part)))
    if exact is dict or (is_own and issubclass(exact, dict)):
        slots = list(cast("dict[str | int, object]", part).items())
        if all(type(key) is str for key, _ in slots):
            return slots
        return "a key of it is not text"
    return "it is not null, a boolean, a finite number, text, an array or an object"


def _put(container: list[Json] | dict[str, Json], at: str | int, one: Json) -> None:
    if isinstance(container, dict):
        container[str(at)] = one
    else:
        container.append(one)


def _here(opened: list[_Open]) -> Path:
    return tuple(one.at for one in opened)


# -- equality -------------------------------------------------------------------------------------


@clause("VAL-3", "VAL-5")
def json_equal(left: Json, right: Json) -> bool:
    """Say whether two JSON values are equal.

    VAL-5  `true` MUST NOT equal `1`; `1` and `1.0` MUST be the same number; key
           order is no part of equality.
    VAL-3  The comparison MUST use a work list.
    """
    pairs: list[tuple[Json, Json]] = [(left, right)]  # VAL-3
    while pairs:
        a, b = pairs.pop()
        if _kind(a) != _kind(b):
            return False  # VAL-5: a boolean is of another kind than a number
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False  # VAL-5: a view of keys has no order
            pairs.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif a != b:
            return False  # VAL-5: Python compares whole numbers and doubles exactly
    return True


def _kind(value: Json) -> str:
    """One of the six kinds of JSON values."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array"


@clause("VAL-4", "VAL-6", "VAL-7", "ARG-5")
def unchanged(before: Json, after: Json) -> bool:
    """Say whether a value is still exactly what it was: stricter than equal.

    VAL-4  A number MUST stay what it is: a whole number whole, a double the
           same double, its zero with its sign.
    VAL-6  So MUST text, code point for code point.
    VAL-7  Whatever public operation was tried on a frozen value, at any depth,
           it MUST be unchanged.
    ARG-5  What listeners, guards, classifiers and bodies are given MUST be
           unchanged from what the logged text means.
    """
    pairs: list[tuple[Json, Json]] = [(before, after)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b):
                return False  # VAL-7: the order of keys is kept as well
            pairs.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(a, float) and isinstance(b, float):
            if a != b or math.copysign(1, a) != math.copysign(1, b):
                return False  # VAL-4
        elif _kind(a) != _kind(b) or isinstance(a, float) != isinstance(b, float) or a != b:
            return False  # VAL-4, VAL-6
    return True


# -- the raw text of arguments --------------------------------------------------------------------


@clause("ARG-1", "ARG-2", "ARG-3", "CRE-2", "VAL-4")
def parse_arguments(raw: str, limits: Limits = DEFAULT) -> Json | NotAValue:
    """Say what the raw argument text of a call means.

    ARG-1  Empty text MUST mean `{}`; blank text is not empty.
    ARG-2  Text that is JSON by RFC 8259 MUST mean its value; of a repeated key
           the last value counts, in the place of the first. NaN, Infinity,
           leading zeros, comments, trailing commas and a leading BOM are not
           JSON; only space, tab, CR and LF are white space.
    ARG-3  Any other text MUST be passed on as a string, unchanged. Parsing
           MUST NOT raise. JSON deeper or larger than the limits is still
           JSON: it fails, and MUST NOT become a string.
    VAL-4  A number without fraction and exponent MUST be kept exactly. One
           with either means the nearest double; beyond the range of doubles
           it is not a JSON value.
    """
    if raw == "":
        return {}  # ARG-1
    try:
        value = _read(raw)
    except _NotJson:
        return raw  # ARG-3
    return snapshot(value, limits)  # ARG-2, ARG-3: what is too deep or too large fails here


class _NotJson(ValueError):
    """The text is no JSON."""


_SPACE = re.compile("[ \t\r\n]*")  # ARG-2
_NUMBER = re.compile("(-?(?:0|[1-9][0-9]*))([.][0-9]+)?([eE][+-]?[0-9]+)?")  # ARG-2: no leading zero
_PLAIN_TEXT = re.compile('[^"\\\\\x00-\x1f]*')
_HEX = re.compile("[0-9a-fA-F]{4}")
_WORDS: dict[str, Json] = {"null": None, "true": True, "false": False}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _read(text: str) -> Json:
    """The value of a JSON text, by RFC 8259, in one pass and with a work list (VAL-3)."""
    opened: list[tuple[list[Json] | dict[str, Json], str]] = []  # each with the key that waits for its value
    at = _skip(text, 0)
    while True:
        # Here a value begins.
        value: Json
        if text.startswith("{", at):
            at = _skip(text, at + 1)
            if not text.startswith("}", at):
                key, at = _read_key(text, at)
                opened.append(({}, key))
                continue
            value, at = {}, at + 1
        elif text.startswith("[", at):
            at = _skip(text, at + 1)
            if not text.startswith("]", at):
                opened.append(([], ""))
                continue
            value, at = [], at + 1
        else:
            value, at = _read_scalar(text, at)
        # Here a value is complete: put it where it belongs, and close what it completes.
        while True:
            at = _skip(text, at)
            if not opened:
                if at < len(text):
                    raise _NotJson("something follows the value")
                return value
            container, key = opened[-1]
            _put(container, key, value)  # ARG-2: the last value of a repeated key, in the place of the first
            if text.startswith(",", at):
                at = _skip(text, at + 1)
                if isinstance(container, dict):
                    key, at = _read_key(text, at)
                    opened[-1] = (container, key)
                break
            if not text.startswith("}" if isinstance(container, dict) else "]", at):
                raise _NotJson("a comma or the end is missing")
            opened.pop()
            value, at = container, at + 1


def _skip(text: str, at: int) -> int:
    """The first place from `at` that is no white space."""
    return _end(_SPACE.match(text, at))


def _end(found: re.Match[str] | None) -> int:
    if found is None:
        raise _NotJson("something else was expected")
    return found.end()


def _read_key(text: str, at: int) -> tuple[str, int]:
    """A key with its colon, and where its value begins."""
    key, at = _read_text(text, at)
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise _NotJson("a colon is missing")
    return key, _skip(text, at + 1)


def _read_scalar(text: str, at: int) -> tuple[Json, int]:
    if text.startswith('"', at):
        return _read_text(text, at)
    for word, value in _WORDS.items():
        if text.startswith(word, at):
            return value, at + len(word)
    found = _NUMBER.match(text, at)
    end = _end(found)
    whole, fraction, exponent = found.groups() if found is not None else ("", None, None)
    if fraction is None and exponent is None:
        return _whole_number(whole), end  # VAL-4
    return float(text[at:end]), end  # VAL-4: infinite beyond the range, and then refused by `snapshot`


def _read_text(text: str, at: int) -> tuple[str, int]:
    """A string in its quotes."""
    if not text.startswith('"', at):
        raise _NotJson("a string is missing")
    at += 1
    pieces: list[str] = []
    while True:
        end = _end(_PLAIN_TEXT.match(text, at))
        pieces.append(text[at:end])
        if text.startswith('"', end):
            return "".join(pieces), end + 1
        if not text.startswith("\\", end):
            raise _NotJson("a control character, or the end, stands in a string")
        piece, at = _read_escape(text, end + 1)
        pieces.append(piece)


def _read_escape(text: str, at: int) -> tuple[str, int]:
    """What follows a backslash. Two escapes that are a surrogate pair are one code point (VAL-6)."""
    letter = text[at : at + 1]
    if letter in _ESCAPES:
        return _ESCAPES[letter], at + 1
    if letter != "u":
        raise _NotJson("there is no such escape")
    end = _end(_HEX.match(text, at + 1))
    unit = int(text[at + 1 : end], 16)
    if 0xD800 <= unit < 0xDC00 and text.startswith("\\u", end):
        second = _HEX.match(text, end + 2)
        low = int(second.group(), 16) if second is not None else 0
        if 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), end + 6
    return chr(unit), end  # VAL-6: a lone surrogate is kept


_DIGITS_AT_ONCE = 4_000
"""Python reads no more than a few thousand digits at once."""


def _whole_number(literal: str) -> int:
    """Read a whole number of any length: in pieces, which are then joined two by two."""
    digits = literal.removeprefix("-")
    first = len(digits) % _DIGITS_AT_ONCE
    pieces = [int(digits[:first] or "0")]
    for start in range(first, len(digits), _DIGITS_AT_ONCE):
        pieces.append(int(digits[start : start + _DIGITS_AT_ONCE]))
    base: int = 10**_DIGITS_AT_ONCE
    while len(pieces) > 1:
        if len(pieces) % 2:
            pieces.insert(0, 0)
        pieces = [high * base + low for high, low in zip(pieces[::2], pieces[1::2], strict=True)]
        base *= base
    return -pieces[0] if literal.startswith("-") else pieces[0]


@clause("ARG-4")
def logged_as_written(written: str, logged: str) -> bool:
    """Say whether the log holds what the model wrote.

    ARG-4  The logged text MUST be the model's, byte for byte, never a
           re-serialization.
    """
    return written == logged  # ARG-4


@clause("ARG-5")
def must_run_alone(arguments: Json | NotAValue) -> bool:
    """Say whether a call is exclusive already because of its arguments.

    ARG-5  Arguments that cannot be snapshotted MUST make the call exclusive.
    """
    return isinstance(arguments, NotAValue)  # ARG-5
