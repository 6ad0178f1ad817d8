"""Values that JSON cannot hold, or not in short, as forms in JSON: `{"$hostile": KIND}`.

`cycle` stands for the array or object that it stands in; alone, for an array of itself. `deep:N` is N
arrays inside each other, `wide:N` an array of N zeros, `big_int:N` a whole number of N nines.
"""

from __future__ import annotations

import datetime
import enum
import re
from collections.abc import Iterator
from typing import Any

KINDS = (
    "nan",
    "inf",
    "tuple",
    "set",
    "bytes",
    "date",
    "enum",
    "subclass",
    "cycle",
    "deep:N",
    "wide:N",
    "non_string_key",
    "coroutine",
    "none",
    "evil_dunder",
    "mutates_while_read",
    "lone_surrogate",
    "big_int:N",
    "negative_zero",
)
"""Every kind; N is a number."""

FORM = "$hostile"
MOST = 2_000_000
"""The largest N."""


class Colour(enum.IntEnum):
    """An enum whose members are also numbers."""

    RED = 1


class Text(str):
    """Text that is an instance of a subclass."""

    __slots__ = ()


class Mutating(dict[str, int]):
    """An object that changes whenever it is read."""

    def items(self) -> Any:
        self[f"more{len(self)}"] = 1
        return super().items()


class Evil:
    """Nothing can be asked of it: everything raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("__eq__")

    def __bool__(self) -> bool:
        raise RuntimeError("__bool__")


async def _nothing() -> None:
    return None


def _coroutine() -> object:
    coroutine = _nothing()
    coroutine.close()
    return coroutine


def _deep(levels: int) -> object:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def check_kind(kind: str) -> None:
    """Raises `ValueError`, saying what is wrong, for a kind that there is not."""
    name, colon, number = kind.partition(":")
    if f"{name}:N" in KINDS:
        if not re.fullmatch("[1-9][0-9]{0,6}", number):
            raise ValueError(f"{kind!r} needs a number from 1 to {MOST}, as in `{name}:100`")
        if int(number) > MOST:
            raise ValueError(f"{kind!r} is too large: at most {MOST}")
    elif colon or name not in KINDS:
        raise ValueError(f"there is no hostile value of kind {kind!r}; there are {', '.join(KINDS)}")


def hostile(kind: str) -> object:
    """The value of this kind that `{"$hostile": kind}` stands for. Raises `ValueError` for an unknown one."""
    check_kind(kind)
    name, _, number = kind.partition(":")
    match name:
        case "nan":
            return float("nan")
        case "inf":
            return float("inf")
        case "tuple":
            return (1, 2)
        case "set":
            return {1}
        case "bytes":
            return b"x"
        case "date":
            return datetime.date(2020, 1, 1)
        case "enum":
            return Colour.RED
        case "subclass":
            return Text("x")
        case "cycle":
            around: list[Any] = []
            around.append(around)
            return around
        case "deep":
            return _deep(int(number))
        case "wide":
            return [0] * int(number)
        case "non_string_key":
            return {1: 2}
        case "coroutine":
            return _coroutine()
        case "none":
            return None
        case "evil_dunder":
            return Evil()
        case "mutates_while_read":
            return Mutating(a=1)
        case "lone_surrogate":
            return "\ud800"
        case "big_int":
            return 10 ** int(number) - 1
        case "negative_zero":
            return -0.0
        case _:
            raise AssertionError(f"a kind that nobody makes: {kind}")


def kind_of(value: object) -> str | None:
    """The kind of a form; None for everything else."""
    if isinstance(value, dict) and list(value) == [FORM]:
        return str(value[FORM])
    return None


def realised(value: object) -> Any:
    """The value that a value with forms stands for."""
    kind = kind_of(value)
    if kind is not None:
        return hostile(kind)
    if isinstance(value, list):
        items: list[Any] = []
        items.extend(items if kind_of(one) == "cycle" else realised(one) for one in value)
        return items
    if isinstance(value, dict):
        fields: dict[str, Any] = {}
        for key, one in value.items():
            fields[key] = fields if kind_of(one) == "cycle" else realised(one)
        return fields
    return value


def kinds_in(value: object) -> Iterator[str]:
    """The kinds of the forms that stand anywhere in a value."""
    kind = kind_of(value)
    if kind is not None:
        yield kind
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from kinds_in(one)


def has_forms(value: object) -> bool:
    """Whether a form stands anywhere in a value."""
    return any(True for _ in kinds_in(value))
