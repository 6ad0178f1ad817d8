"""The machinery of the specification: the clause marker, refusals, steps.

Nothing here knows what a tool call is. A *transition* is a pure function from a
frozen state to a `Step`; whatever forbids it is a `Refused` that names the
clause. A chapter marks each function with the clauses that it realises, so that
pages and tests can be derived from the code and are never kept by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

_F = TypeVar("_F", bound=Callable[..., object])
_S = TypeVar("_S")
_E = TypeVar("_E")
_H = TypeVar("_H", bound=Hashable)

REALISED: dict[str, list[Callable[..., object]]] = {}
"""Clause id -> the functions that realise it, in order of definition."""


def clause(*ids: str) -> Callable[[_F], _F]:
    """Mark a function as the place where the clauses `ids` are realised."""

    def mark(function: _F) -> _F:
        for identifier in ids:
            REALISED.setdefault(identifier, []).append(function)
        return function

    return mark


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an action is not enabled: the clause that forbids it, and the reason in words."""

    clause: str
    reason: str


class NotEnabled(ValueError):
    """An action was taken that the specification does not allow in that state."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(f"{refused.clause}: {refused.reason}")
        self.refused = refused


class Step(NamedTuple, Generic[_S, _E]):
    """What an action leads to: the next state, and the events that can be seen of it, in order."""

    state: _S
    events: tuple[_E, ...] = ()


class Interned(Generic[_H]):
    """One object for equal values, so that states compare and hash fast."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[_H, _H] = {}

    def __call__(self, value: _H) -> _H:
        return self._known.setdefault(value, value)
