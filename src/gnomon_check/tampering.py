"""What a script does that tries to change what nobody may: arguments, a result, an execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_NOTHING = object()


def tampered(things: Mapping[str, object], path: Sequence[str | int], value: object) -> str | None:
    """Try to put a value at a place; answer why that is refused, or nothing where it stands there now.

    What raises nothing and changes nothing is refused as well (VAL-7).
    """
    first, *inner, last = path
    try:
        holder: Any = things[str(first)]
        for part in inner:
            holder = _part(holder, part)
        if _has_items(holder):
            holder[last] = value
        else:
            setattr(holder, str(last), value)
    except Exception as error:  # in which way it is refused is the implementation's
        return f"{type(error).__name__}: {error}"
    return None if _part(holder, last) == value else "nothing has changed"


def _part(holder: Any, part: str | int) -> Any:
    return holder[part] if _has_items(holder) else getattr(holder, str(part), _NOTHING)


def _has_items(holder: object) -> bool:
    return isinstance(holder, Mapping | list | tuple)
