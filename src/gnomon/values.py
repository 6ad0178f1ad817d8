"""JSON values: detached, frozen copies, and the raw text of arguments (VAL, ARG)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, TypeAlias

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | dict[str, JSON]"
"""A JSON value. What the runtime hands out is frozen: lists and dicts refuse every change."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a JSON value may be: `depth` of nesting (VAL-3), `nodes` in all (VAL-8)."""

    depth: int = 200
    nodes: int = 1_000_000


class NotJson(ValueError):
    """A part of a value is no JSON value. `path` leads to the first such part (VAL-2)."""

    def __init__(self, path: tuple[str | int, ...], reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{show_path(path)}: {reason}")


def show_path(path: tuple[str | int, ...]) -> str:
    """A path as people read it: `$.files[0].name`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "$" + "".join(parts)


def _frozen(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("this JSON value is frozen: make a changed copy of it instead")


class FrozenList(list[Any]):
    """A list that refuses every change (VAL-7), and is a list to everybody else."""

    __slots__ = ()

    def __new__(cls, source: Any = ()) -> FrozenList:
        made: Any = snapshot(list(source))
        frozen: FrozenList = made
        return frozen

    def __init__(self, source: Any = ()) -> None:
        """Change nothing, where a list's own would: what a frozen list holds is said when it is made."""

    append = extend = insert = remove = pop = clear = sort = reverse = _frozen
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _frozen

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> JSON:
        return thaw(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_freeze_again, (list(self),))


class FrozenDict(dict[str, Any]):
    """A dict that refuses every change (VAL-7), and is a dict to everybody else."""

    __slots__ = ()

    def __new__(cls, source: Any = ()) -> FrozenDict:
        made: Any = snapshot(dict(source))
        frozen: FrozenDict = made
        return frozen

    def __init__(self, source: Any = ()) -> None:
        """Change nothing, where a dict's own would: what a frozen dict holds is said when it is made."""

    clear = pop = popitem = setdefault = update = _frozen
    __setitem__ = __delitem__ = __ior__ = _frozen

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> JSON:
        return thaw(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_freeze_again, (dict(self),))


def _freeze_again(value: Any) -> Any:
    return snapshot(value, Limits(depth=2**31, nodes=2**31))


def snapshot(value: object, limits: Limits | None = None) -> JSON:
    """Make a detached, deeply frozen copy of a JSON value, reading each slot of it once (VAL-2).

    Types are compared exactly: a subclass that stands in for one of JSON's types is refused (VAL-1).
    Raises `NotJson`, with the path to the first offending part.
    """
    return _Snapshot(limits or _USUAL).of(value)


_USUAL = Limits()


class _Snapshot:
    """The work list of one snapshot: the containers that are being copied, outermost first.

    A container is looked at once, and copied as it is; then each slot of the copy that holds no leaf is given
    a copy of its own.
    """

    __slots__ = ("_key", "_left", "_limits", "_open", "_path", "_sources")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.nodes
        """How many more nodes there may be."""
        self._open: list[tuple[Iterator[tuple[Any, Any]], Any, int]] = []
        """Of each container: what is left of its slots, how one is set, and who its source is."""
        self._sources: set[int] = set()
        self._path: list[str | int] = []
        """The keys that lead to the innermost open container."""
        self._key: Any = None
        """The key of the slot that is looked at, once there is an open container."""

    def of(self, value: object) -> JSON:
        root: JSON = self._copy(value)
        while self._open:
            depth = len(self._open)
            slots, put, source = self._open[-1]
            for key, inner in slots:
                kind = type(inner)
                # Types are told apart by identity: one may claim to be equal to any other.
                leaf = kind is str or kind is int or kind is bool or inner is None
                if (leaf or (kind is float and math.isfinite(inner))) and self._left > 0:
                    self._left -= 1
                    continue
                self._key = key
                put(key, self._copy(inner))
                if len(self._open) > depth:
                    break  # a container was opened: fill it first
            else:
                self._open.pop()
                self._sources.remove(source)
                if self._path:
                    self._path.pop()
        return root

    def _copy(self, value: Any) -> Any:
        if self._left <= 0:
            self._refuse(f"the value has more than {self._limits.nodes} parts")
        self._left -= 1
        kind = type(value)
        made: Any
        inside: Collection[Any]
        if kind is dict or kind is FrozenDict:
            made = dict.__new__(FrozenDict)
            dict.update(made, value)
            for key in made:
                if type(key) is not str:
                    self._refuse(f"a key is {_name(key)}, not a string")
            inside = made.values()
        elif kind is list or kind is FrozenList:
            inside = made = list.__new__(FrozenList)
            list.extend(made, value)
        elif kind is str or kind is int or kind is bool or value is None:
            return value
        elif kind is float:
            if not math.isfinite(value):
                self._refuse(f"{value} is not a JSON number")
            return value
        else:
            self._refuse(f"{_name(value)} is not a JSON value")
        source = id(value)
        if source in self._sources:
            self._refuse("the value contains itself")
        if len(self._open) >= self._limits.depth:
            self._refuse(f"the value is nested more than {self._limits.depth} deep")
        if len(inside) <= self._left:
            for inner in inside:
                kind = type(inner)
                leaf = kind is str or kind is int or kind is bool or inner is None
                if not (leaf or (kind is float and math.isfinite(inner))):
                    break
            else:  # it holds nothing but leaves
                self._left -= len(inside)
                return made
        self._go_into(made, source)
        return made

    def _go_into(self, made: Any, source: int) -> None:
        if self._open:
            self._path.append(self._key)
        if type(made) is FrozenDict:
            self._open.append((iter(made.items()), partial(dict.__setitem__, made), source))
        else:
            self._open.append((enumerate(made), partial(list.__setitem__, made), source))
        self._sources.add(source)

    def _refuse(self, reason: str) -> NoReturn:
        raise NotJson((*self._path, self._key) if self._open else (), reason)


def _name(value: object) -> str:
    return f"an object of type {type(value).__qualname__}"


def thaw(value: object) -> JSON:
    """A plain, changeable copy of a frozen value."""
    root: list[Any] = [value]
    left: list[tuple[Any, Any]] = [(root, 0)]
    while left:
        holder, key = left.pop()
        one = holder[key]
        if isinstance(one, dict):
            holder[key] = copied = dict(one)
            left.extend((copied, name) for name, inner in copied.items() if isinstance(inner, dict | list))
        elif isinstance(one, list):
            holder[key] = items = list(one)
            left.extend((items, index) for index, inner in enumerate(items) if isinstance(inner, dict | list))
    thawed: JSON = root[0]
    return thawed


def json_equal(left: JSON, right: JSON) -> bool:
    """Whether two JSON values are equal: `true` is not `1`, `1` is `1.0`, key order is nothing (VAL-5)."""
    pairs: list[tuple[Any, Any]] = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if isinstance(a, dict):
            if not isinstance(b, dict) or a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list):
            if not isinstance(b, list) or len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif isinstance(b, dict | list) or isinstance(a, bool) != isinstance(b, bool) or a != b:
            return False
    return True


# -- JSON text ----------------------------------------------------------------------------------


def to_text(value: Any) -> str:
    """Compact JSON text of a value, its code points as they are, its integers exact (VAL-4, VAL-6).

    Raises `ValueError` for NaN and infinity.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return _long_text(value)


def _long_text(value: Any) -> str:
    # Python writes no integer of more than a few thousand digits at once.
    if isinstance(value, dict):
        return "{" + ",".join(f"{to_text(key)}:{_long_text(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_long_text, value)) + "]"
    if type(value) is int:
        return _decimal(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _decimal(number: int) -> str:
    if number < 0:
        return "-" + _decimal(-number)
    if number.bit_length() < 12_000:
        return str(number)
    half = number.bit_length() * 3 // 20  # about half of its digits
    head, tail = divmod(number, 10**half)
    return _decimal(head) + _decimal(tail).zfill(half)


def from_text(text: str) -> Any:
    """The value of JSON text, its integers exact. Raises `ValueError` and `RecursionError`."""
    return _read(text)


# -- the raw text of arguments ------------------------------------------------------------------


class _NotText(ValueError):
    """The text is not JSON."""


def _integer(digits: str) -> int:
    # Python refuses to read integers of more than a few thousand digits at once (VAL-4 keeps them all).
    if len(digits) <= 4000:
        return int(digits)
    half = len(digits) // 2
    head, tail = digits[:half], digits[half:]
    sign = -1 if head.startswith("-") else 1
    power: int = 10 ** len(tail)
    return _integer(head) * power + sign * _integer(tail)


def _no_constant(name: str) -> NoReturn:
    raise _NotText(name)


_read = json.JSONDecoder(parse_int=_integer, parse_constant=_no_constant).decode


def parse_arguments(raw: str) -> JSON:
    """Say what the raw argument text of a call means; never raises (ARG-1..3).

    Empty text is `{}`; text that is JSON by RFC 8259 is its value, of any depth; any other text is
    answered as it is, a string. A number beyond the range of doubles is read as infinity, which
    `snapshot` then refuses with its path, as it refuses what is too deep or too large (CRE-2).
    """
    if not raw:
        return {}
    try:
        value: JSON = _read(raw)
    except RecursionError:
        return _deep(raw)
    except ValueError:
        return raw
    return value


_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(
    r"""(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)|(?P<colon>:)"""
    r"""|"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"|[-+0-9.a-zA-Z]+"""
)


def _deep(raw: str) -> JSON:
    """Read text that is nested deeper than the call stack allows, with a work list (VAL-3)."""
    try:
        return _Reader(raw).value()
    except ValueError:
        return raw


class _Reader:
    """Reads containers from a work list; what stands in them, the ordinary reader reads."""

    __slots__ = ("_at", "_raw")

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._at = 0

    def _token(self) -> re.Match[str]:
        found = _TOKEN.match(self._raw, _after_space(self._raw, self._at))
        if found is None:
            raise _NotText("something else was expected")
        self._at = found.end()
        return found

    def _key(self, token: re.Match[str]) -> str:
        key = _read(token.group()) if token.group().startswith('"') else None
        if not isinstance(key, str) or self._token().lastgroup != "colon":
            raise _NotText("a key and a colon were expected")
        return key

    def value(self) -> JSON:
        left: list[tuple[Any, str | None]] = []  # open containers; in an object, the key that waits
        token = self._token()
        while True:
            # Here a value begins.
            value: Any
            if token.lastgroup == "open":
                value = {} if token.group() == "{" else []
                token = self._token()
                if token.lastgroup != "close":
                    if isinstance(value, dict):
                        left.append((value, self._key(token)))
                        token = self._token()
                    else:
                        left.append((value, None))
                    continue
                _must_close(value, token)
            elif token.lastgroup is None:
                value = _read(token.group())
            else:
                raise _NotText("a value was expected")
            # Here a value is complete: put it where it belongs, and close what it completes.
            while left:
                holder, key = left.pop()
                if key is None:
                    holder.append(value)
                else:
                    holder[key] = value
                token = self._token()
                if token.lastgroup == "comma":
                    token = self._token()
                    if key is not None:
                        key = self._key(token)
                        token = self._token()
                    left.append((holder, key))
                    break
                _must_close(holder, token)
                value = holder
            else:
                if _after_space(self._raw, self._at) != len(self._raw):
                    raise _NotText("something follows the value")
                read: JSON = value
                return read


def _after_space(raw: str, start: int) -> int:
    found = _SPACE.match(raw, start)
    return start if found is None else found.end()


def _must_close(container: object, token: re.Match[str]) -> None:
    if token.group() != ("}" if isinstance(container, dict) else "]"):
        raise _NotText("a comma or the end was expected")
