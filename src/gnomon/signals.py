"""Abort signals: how a caller tells a running call that it wants it to end.

A signal is the reading half, a controller the writing one. Aborting only tells:
nothing is stopped by it that does not listen. Aborting works from any thread;
who listens is told on the event loop that it listens on (PY-11).
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TypeAlias

import anyio

from gnomon.backend import Loop, current_loop
from gnomon.errors import Aborted, GnomonWarning, warn

Callback: TypeAlias = Callable[[object], None]


class AbortCallbackWarning(GnomonWarning):
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

    __slots__ = ("_aborted", "_callbacks", "_lock", "_loop", "_reason")

    def __init__(self) -> None:
        self._aborted = False
        self._reason: object = None
        self._callbacks: dict[object, tuple[Callback, Loop | None]] = {}
        self._lock = threading.Lock()
        self._loop = current_loop()

    @property
    def aborted(self) -> bool:
        """Whether the signal has aborted; it never goes back. True at once, in every thread."""
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
        """Call `callback` with the reason when the signal aborts, at once if it has.

        It is called on the event loop that runs here; where none does, on that of the signal's maker;
        where there is none either, by whoever aborts. If it raises, that is a warning.
        """
        return self._listen(callback, current_loop() or self._loop)

    def _listen(self, callback: Callback, loop: Loop | None) -> Registration:
        token = object()
        with self._lock:
            if not self._aborted:
                self._callbacks[token] = callback, loop
                return Registration(lambda: self._forget(token))
        _tell(callback, self._reason)
        return Registration(lambda: None)

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
        with self._lock:
            if self._aborted:
                return  # the first reason counts
            self._reason = reason
            self._aborted = True
        here = current_loop()
        while True:
            try:
                callback, loop = self._callbacks.pop(next(iter(self._callbacks)))
            except (StopIteration, KeyError):
                return
            if loop is None or (here is not None and loop.handle is here.handle):
                _tell(callback, reason)
            else:
                self._post(loop, callback)

    def _post(self, loop: Loop, callback: Callback) -> None:
        try:
            loop.post(lambda: _tell(callback, self._reason))
        except RuntimeError:
            return  # that loop is closed, and nobody on it listens any more


def _tell(callback: Callback, reason: object) -> None:
    try:
        told: Callable[[object], object] = callback
        answer = told(reason)
        if inspect.iscoroutine(answer):
            answer.close()
            raise TypeError("it is async, and callbacks are plain functions")
    except Exception as error:
        warn(f"an abort callback raised {type(error).__name__}: {error}", AbortCallbackWarning)


class AbortController:
    """Owns a signal, and aborts it. The first reason counts."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: object = None) -> None:
        """Abort the signal; from any thread. Does nothing if it has aborted already (PY-11)."""
        self.signal._abort(reason)  # PY-11


def fuse(first: AbortSignal, *others: AbortSignal | None) -> AbstractContextManager[AbortSignal]:
    """A signal that aborts when any of them does, with its reason, inside the `with` block.

    Where there is only one, that object is answered and nothing is created. On leaving the
    block, and at the first abort, the callbacks on the others are taken away again (DSP-2).
    """
    distinct = [first]
    for one in others:
        if one is not None and all(one is not other for other in distinct):
            distinct.append(one)
    return nullcontext(first) if len(distinct) == 1 else _fused(distinct)


@contextmanager
def _fused(distinct: list[AbortSignal]) -> Iterator[AbortSignal]:
    controller = AbortController()
    registrations: list[Registration] = []

    def relay(reason: object) -> None:
        controller.abort(reason)
        for registration in registrations:
            registration()

    for one in distinct:
        if not controller.signal.aborted:
            # Passed on by whoever aborts: a body in a thread sees the flag at once (PY-11).
            registrations.append(one._listen(relay, None))
    try:
        yield controller.signal
    finally:
        for registration in registrations:
            registration()
