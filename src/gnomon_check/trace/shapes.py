"""What an input must look like to be judged. Each function raises `Unjudgeable`, saying what is not so."""

from __future__ import annotations

from typing import Any

from gnomon_check.explain import shown
from gnomon_check.trace.model import Unjudgeable


def kind_of(value: object) -> str:
    """What JSON calls a value, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def an_object(value: object, place: str) -> dict[str, Any]:
    """The value, if it is an object."""
    if not isinstance(value, dict):
        raise Unjudgeable(f"{place} is not an object, but {kind_of(value)}")
    return value


def _field(fields: dict[str, Any], key: str, place: str) -> object:
    if key not in fields:
        raise Unjudgeable(f"{place}: `{key}` is missing")
    value: object = fields[key]
    return value


def text(fields: dict[str, Any], key: str, place: str) -> str:
    """The string in the field `key`."""
    value = _field(fields, key, place)
    if not isinstance(value, str):
        raise Unjudgeable(f"{place}: `{key}` is not a string, but {kind_of(value)}")
    return value


def number(fields: dict[str, Any], key: str, place: str) -> int:
    """The whole number from 0 on in the field `key`."""
    value = _field(fields, key, place)
    if type(value) is not int:
        raise Unjudgeable(f"{place}: `{key}` is not a whole number, but {kind_of(value)}")
    if value < 0:
        raise Unjudgeable(f"{place}: `{key}` is negative")
    return value


def flag(fields: dict[str, Any], key: str, place: str) -> bool:
    """The boolean in the field `key`."""
    value = _field(fields, key, place)
    if not isinstance(value, bool):
        raise Unjudgeable(f"{place}: `{key}` is not a boolean, but {kind_of(value)}")
    return value


def items(fields: dict[str, Any], key: str, place: str) -> list[Any]:
    """The list in the field `key`."""
    value = _field(fields, key, place)
    if not isinstance(value, list):
        raise Unjudgeable(f"{place}: `{key}` is not a list, but {kind_of(value)}")
    return value


def within(fields: dict[str, Any], key: str, place: str) -> dict[str, Any]:
    """The object in the field `key`."""
    value = _field(fields, key, place)
    if not isinstance(value, dict):
        raise Unjudgeable(f"{place}: `{key}` is not an object, but {kind_of(value)}")
    return value


def role_of(message: dict[str, Any], known: tuple[str, ...], place: str) -> str:
    """The role of a message, if it is one of `known`."""
    role = text(message, "role", place)
    if role not in known:
        raise Unjudgeable(f"{place}: the role {shown(role)} is none of {', '.join(known)}")
    return role
