"""Abort signals: how a caller tells a running call that it wants it to end.

A signal is the reading half, a controller the writing one. Aborting only tells:
nothing is stopped by it that does not listen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import anyio

from gnomon.errors import Aborted

Callback: TypeAlias = Callable[[object], None]


class AbortCallbackWarning(RuntimeWarning):
    """A callback on an abort signal raised; the abort went on without it (PY-11)."""


class Registration:
    """One thing that was added, and how to take it away: call it, or leave its `with` block.

    Doing so again does nothing (REG-8).
    """

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def __call__(self) -> None:
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> Registration:
        return self

    def __exit__(self, *exc: object) -> None:
        self()


class AbortSignal:
    """Tells whether its controller has aborted, and why. Only a controller makes one."""

    __slots__ = ("_aborted", "_callbacks", "_reason")

    def __init__(self) -> None:
        self._aborted = False
        self._reason: object = None
        self._callbacks: dict[object, Callback] = {}

    @property
    def aborted(self) -> bool:
        """Whether the signal has aborted; it never goes back."""
        return self._aborted

    @property
    def reason(self) -> object:
        """What the aborter gave as its reason; None before the abort."""
        return self._reason

    def raise_if_aborted(self) -> None:
        """Raise `Aborted` if the signal has aborted."""
        if self._aborted:
            raise Aborted(self._reason)

    def on_abort(self, callback: Callback) -> Registration:
        """Call `callback` with the reason when the signal aborts, at once if it has."""
        if self._aborted:
            callback(self._reason)
            return Registration(lambda: None)
        token = object()
        self._callbacks[token] = callback
        return Registration(lambda: self._forget(token))

    def _forget(self, token: object) -> None:
        self._callbacks.pop(token, None)

    async def wait(self) -> None:
        """Wait until the signal aborts."""
        if self._aborted:
            return
        event = anyio.Event()
        with self.on_abort(lambda reason: event.set()):
            await event.wait()

    def _abort(self, reason: object) -> None:
        if self._aborted:
            return
        self._aborted = True
        self._reason = reason
        callbacks, self._callbacks = self._callbacks, {}
        for callback in callbacks.values():
            try:
                callback(reason)
            except Exception as error:
                warnings.warn(
                    f"an abort callback raised {type(error).__name__}: {error}",
                    AbortCallbackWarning,
                    stacklevel=3,
                )


class AbortController:
    """Owns a signal, and aborts it. The first reason counts."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: object = None) -> None:
        """Abort the signal; does nothing if it has aborted already."""
        self.signal._abort(reason)


@contextmanager
def fuse(*signals: AbortSignal) -> Iterator[AbortSignal]:
    """A signal that aborts when any of `signals` does, with its reason, inside the `with` block.

    Where all are one object, that object is answered and nothing is created. On leaving the
    block, and at the first abort, the callbacks on the others are taken away again (DSP-2).
    """
    distinct = list({id(one): one for one in signals}.values())
    if len(distinct) == 1:
        yield distinct[0]
        return
    controller = AbortController()
    registrations: list[Registration] = []

    def relay(reason: object) -> None:
        controller.abort(reason)
        for registration in registrations:
            registration()

    for one in distinct:
        if not controller.signal.aborted:
            registrations.append(one.on_abort(relay))
    try:
        yield controller.signal
    finally:
        for registration in registrations:
            registration()
