"""Interrupting a body, once, when its signal aborts (PY-2)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import anyio

from gnomon.backend._loops import asyncio_task

T = TypeVar("T")


class Signal(Protocol):
    """What aborts."""

    def on_abort(self, callback: Callable[[object], None]) -> AbstractContextManager[object]:
        """Call `callback` when it aborts."""


class Interrupted(Exception):
    """A body ended because it was interrupted (PY-2)."""


async def interruptible(body: Callable[[], Awaitable[T]], signal: Signal) -> T:
    """Run a body, and interrupt it once when `signal` aborts (PY-2).

    Raises `Interrupted` where the body ended because of that. On asyncio its task is cancelled, once,
    so that an awaited clean-up still runs to its end; on trio its scope is, which stays cancelled. The
    task is the body's own and waits for nothing more: a cancellation that it did not notice hits nobody.
    """
    task = asyncio_task()
    if task is None:
        with anyio.CancelScope(shield=True) as scope, signal.on_abort(lambda reason: scope.cancel()):
            return await body()
        raise Interrupted
    interrupted = False

    def interrupt(reason: object) -> None:
        nonlocal interrupted
        interrupted = True
        task.cancel()

    with signal.on_abort(interrupt):
        try:
            return await body()
        except BaseException as error:
            if not _is_cancellation(error) or not (interrupted or task.cancelling()):
                raise  # its own error, or a cancellation that nobody asked for (PY-4)
            raise Interrupted from None


def _is_cancellation(error: BaseException) -> bool:
    """Whether an exception is asyncio's cancellation, or a group of nothing else (PY-2)."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_cancellation, error.exceptions))
    return isinstance(error, asyncio.CancelledError)
