"""JSON: what the raw text of arguments means, and what a tool may answer.

Ids such as VAL-1 are clauses of the specification: `gnomon explain VAL-1` says what each asks for.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from jsonschema import Draft202012Validator

DEEPEST = 200
"""How many arrays and objects may stand inside each other (VAL-3)."""
MOST = 1_000_000
"""How many parts a value may have (VAL-8)."""


class NotJson(Exception):
    """Something is no JSON value, or too large; the message says where, and why."""


def parse(text: str) -> Any:
    """What the raw argument text of a call means.

    Text that is no JSON is answered as it is: the parameters of the tool refuse it, and nothing runs on
    defaults (ARG-3). Raises `NotJson` for JSON that is too deep, too large, or beyond all numbers.
    """
    if text == "":
        return {}  # ARG-1
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_int=_whole)  # ARG-2
    except RecursionError:
        raise NotJson(f"it is nested more than {DEEPEST} deep") from None
    except ValueError:
        return text  # ARG-3
    return snapshot(value)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")  # ARG-2: Python would take it


def _whole(digits: str) -> int:
    try:
        return int(digits)  # VAL-4: exactly
    except ValueError:
        raise NotJson("it holds a whole number of more digits than Python reads") from None


def snapshot(value: object) -> Any:
    """A copy of a JSON value that shares nothing with it (VAL-2). Raises `NotJson`."""
    parts = 0

    def copied(part: Any, path: tuple[object, ...]) -> Any:
        nonlocal parts
        parts += 1
        kind = type(part)  # VAL-1: what only claims to be one of these, or derives from it, is none
        if part is None or kind in (bool, int, str) or (kind is float and math.isfinite(part)):
            return part
        where = ".".join(map(str, ("$", *path)))
        if len(path) >= DEEPEST or parts > MOST:
            raise NotJson(f"{where}: it is nested more than {DEEPEST} deep, or has more than {MOST} parts")
        if kind is list:
            return [copied(one, (*path, number)) for number, one in enumerate(part)]
        if kind is dict and all(type(key) is str for key in part):
            return {key: copied(one, (*path, key)) for key, one in part.items()}
        raise NotJson(f"{where}: this {kind.__name__} is no JSON value")

    return copied(value, ())


def faults(schema: Any, value: Any) -> str:
    """Everything in which a value does not fit a schema (DSP-8, OUT-1); no text where it fits."""
    found = Draft202012Validator(schema).iter_errors(value)
    return "; ".join(f"{one.json_path}: {one.message}" for one in found)


def shown(value: Any) -> str:
    """A value as the model is shown it: text as it is, and anything else as its JSON text (OUT-2)."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
