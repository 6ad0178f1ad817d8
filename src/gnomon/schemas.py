"""JSON Schema, draft 2020-12: what is published is what is enforced (SCH-8).

The verdict is jsonschema-rs's: offline, so that no reference is ever fetched, and with patterns that
work in linear time. What it cannot take is put into a form that it can (a lone surrogate, VAL-6), or
judged by jsonschema (an integer of thousands of digits), with the patterns still left to jsonschema-rs.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jsonschema
import jsonschema_rs
import referencing

from gnomon.errors import RegistrationError, SchemaError
from gnomon.subset import explain, subset_violations
from gnomon.values import JSON, NotJson, show_path, snapshot

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MOVED = re.compile("[\U0010f000-\U0010f7ff]")
_LONG = 13_000
"""Bits of an integer that jsonschema-rs no longer reads exactly (about 4,000 digits)."""


class Schema:
    """A schema that has been compiled once, and checks values."""

    __slots__ = ("_fast", "_subset", "source")

    def __init__(self, source: object, what: str, *, subset: bool = False) -> None:
        """Compile a schema. `what` names it in messages; `subset` demands that of SCH-1.

        Raises `SchemaError` for what is outside the subset, with every violation, and
        `RegistrationError` for what is no usable JSON Schema at all. Nothing is ever fetched.
        """
        if not isinstance(source, dict):
            raise RegistrationError(f"{what} must be a JSON Schema object, not {type(source).__name__}")
        if subset:
            violations = subset_violations(source)
            if violations:
                raise SchemaError(what, violations)
        try:
            self.source: JSON = snapshot(source)
        except NotJson as error:
            raise SchemaError(what, [str(error)]) from error
        self._subset = subset
        self._fast = _compiled(_without_surrogates(self.source), what)

    def violations(self, value: JSON) -> list[str]:
        """Every way in which `value` does not fit, each with its path; empty where it fits."""
        with suppress(UnicodeEncodeError, ValueError):  # it holds what cannot be taken as it is
            if self._fast.is_valid(value) and not _holds_long_integer(value):
                return []
        if _holds_long_integer(value):
            found = list(_slowly(self.source, value))
        else:
            # What does not fit may not have been looked at as far as a surrogate that it holds.
            found = [_told(one) for one in self._fast.iter_errors(_without_surrogates(value))]
        if not found or not self._subset:
            return found
        return explain(self.source, value) or found


def _compiled(source: Any, what: str) -> Any:
    try:
        return jsonschema_rs.Draft202012Validator(
            source, offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise RegistrationError(f"{what} is not a usable JSON Schema: {error}") from error


def _told(error: Any) -> str:
    return _moved_back(f"{show_path(tuple(error.instance_path))}: {error.message}")


# -- what jsonschema-rs cannot take -----------------------------------------------------------------


def _moved(text: str) -> str:
    """The text with each lone surrogate as a private character of its own, which stands for no other."""
    return _SURROGATE.sub(lambda found: chr(0x10F000 + ord(found.group()) - 0xD800), text)


def _moved_back(text: str) -> str:
    """The text with the surrogates in their place again."""
    return _MOVED.sub(lambda found: chr(ord(found.group()) - 0x10F000 + 0xD800), text)


def _without_surrogates(value: JSON) -> JSON:
    root: list[Any] = [value]
    left: list[tuple[Any, Any]] = [(root, 0)]
    while left:
        holder, key = left.pop()
        one = holder[key]
        if isinstance(one, str):
            holder[key] = _moved(one)
        elif isinstance(one, dict):
            holder[key] = copied = {_moved(name): inner for name, inner in one.items()}
            left.extend((copied, name) for name in copied)
        elif isinstance(one, list):
            holder[key] = items = list(one)
            left.extend((items, index) for index in range(len(items)))
    moved: JSON = root[0]
    return moved


def _holds_long_integer(value: JSON) -> bool:
    left: list[Any] = [value]
    while left:
        one = left.pop()
        if type(one) is int:
            if one.bit_length() > _LONG:
                return True
        elif isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list):
            left.extend(one)
    return False


def _slowly(source: JSON, value: JSON) -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        validator = _Exact(source, registry=referencing.Registry())
        errors = iter(validator.iter_errors(value))
        while True:
            try:
                error = next(errors)
            except StopIteration:
                return
            except ValueError:  # the message would show an integer that Python does not write
                yield "$: a number of thousands of digits does not fit"
                return
            yield f"{show_path(tuple(error.absolute_path))}: {error.message}"


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield jsonschema.ValidationError(f"it does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    for pattern, below in patterns.items() if isinstance(instance, dict) else ():
        for name, value in instance.items():
            if _matches(pattern, name):
                yield from validator.descend(value, below, path=name, schema_path=pattern)


def _matches(pattern: str, text: str) -> bool:
    return bool(_compiled({"pattern": pattern}, "a pattern").is_valid(_moved(text)))


_extend: Any = jsonschema.validators.extend
_Exact: Any = _extend(
    jsonschema.Draft202012Validator, {"pattern": _pattern, "patternProperties": _pattern_properties}
)
