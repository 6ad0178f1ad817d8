"""VAL, ARG: JSON values, and the raw text that a model gives as arguments.

A model writes arguments as text, and the text may be anything. Empty text means
no arguments; text that is JSON means its value; all other text is passed on as
a string, so that the tool's own argument check rejects it and says what is
wrong. Nothing is repaired, and nothing is guessed: a tool must never run on
its defaults because its arguments did not parse.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TypeAlias

from gnomon_spec.kernel import clause

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"


@dataclass(frozen=True, slots=True)
class NotAValue:
    """JSON text whose value is no JSON value within the limits (VAL-4, VAL-3)."""

    reason: str


class _NotJson(ValueError):
    pass


def _integer(digits: str) -> int:
    """Read an integer of any length; Python refuses more than a few thousand digits at once."""
    if len(digits) <= 4000:
        return int(digits)
    half = len(digits) // 2
    head, tail = digits[:half], digits[half:]
    sign = -1 if head.startswith("-") else 1
    power: int = 10 ** len(tail)
    return _integer(head) * power + sign * _integer(tail)


def _fraction(literal: str) -> float:
    return float(literal)


def _constant(name: str) -> float:
    raise _NotJson(name)


@clause("ARG-1", "ARG-2", "ARG-3", "VAL-4")
def parse_arguments(raw: str) -> Json | NotAValue:
    """Say what the raw argument text of a call means.

    ARG-1  Empty text MUST mean `{}`; blank text is not empty.
    ARG-2  Text that is JSON by RFC 8259 MUST mean its value; of a repeated key
           the last one counts. NaN, Infinity, leading zeros, comments,
           trailing commas and a leading BOM are not JSON.
    ARG-3  Any other text MUST be passed on as a string, unchanged. Parsing
           MUST NOT raise.
    VAL-4  An integer literal MUST be kept exactly; a literal beyond the range
           of doubles is not a JSON value.
    """
    if raw == "":
        return {}  # ARG-1
    try:
        value: Json = json.loads(raw, parse_int=_integer, parse_float=_fraction, parse_constant=_constant)
    except RecursionError:
        return NotAValue("it is nested too deeply")
    except ValueError:
        return raw  # ARG-3
    if _beyond_doubles(value):
        return NotAValue("it has a number beyond the range of doubles")  # VAL-4
    return value  # ARG-2


def _beyond_doubles(value: Json) -> bool:
    left: list[Json] = [value]
    while left:
        one = left.pop()
        if isinstance(one, float) and not math.isfinite(one):
            return True
        if isinstance(one, list):
            left.extend(one)
        elif isinstance(one, dict):
            left.extend(one.values())
    return False


@clause("VAL-5")
def json_equal(left: Json, right: Json) -> bool:
    """Say whether two JSON values are equal.

    VAL-5  `true` MUST NOT equal `1`; `1` and `1.0` MUST be the same number; key
           order is no part of equality.
    """
    pairs: list[tuple[Json, Json]] = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
            if a is not b:
                return False
        elif isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif (
            isinstance(a, dict | list)
            or isinstance(b, dict | list)
            or isinstance(a, str) != isinstance(b, str)
            or a != b
        ):
            return False
    return True
