"""The one waterfall: listeners stand around each other, the first registered outermost (PRE-1, PRE-7).

Each listener decides by itself, or calls `next()`: then the rest of the row runs, innermost a default,
and its answer comes back. All three waterfalls of a call, and that of an approval, are runs of this.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from gnomon.backend import Event, new_event, outlast
from gnomon.errors import PolicyError

T = TypeVar("T")


class Watch(Protocol):
    """Is told of one listener, from its start to its end."""

    def delegated(self) -> None:
        """It has called `next()`."""

    async def heard(self, rest: Awaitable[T]) -> T:
        """Await what `next()` delegates to."""

    def raised(self, error: BaseException) -> None:
        """It has raised."""

    def judged(self, answer: object, proper: Callable[[object], T]) -> T:
        """Make a decision of what it has answered, by `proper`."""


Watches: TypeAlias = Callable[[int], Watch]
"""Answers a watch for a listener that starts, by its place in the row."""
Listener: TypeAlias = Callable[["Next[T]"], object]
"""A listener, with what it decides about filled in already; it may be sync or async (PY-8)."""


class Next(Generic[T]):
    """What a listener calls to have the rest of the row decide.

    It may be called again once the first answer is there (a retry: the whole rest runs again). While an
    earlier call is pending, and after the listener has ended, it raises `PolicyError` (PRE-7).
    """

    __slots__ = ("_going", "_over", "_rest", "_settled", "_watch")

    def __init__(self, rest: Callable[[], Awaitable[T]], watch: Watch | None = None) -> None:
        self._rest = rest
        self._watch = watch
        self._going: Coroutine[Any, Any, T] | None = None
        self._settled = False
        self._over: Event | None = None

    def __call__(self) -> Coroutine[Any, Any, T]:
        if self._settled:
            raise PolicyError("next() was called after its listener had ended (PRE-7)")
        if self._pending() is not None:
            raise PolicyError("next() was called while an earlier next() is pending (PRE-7)")
        self._going = going = self._delegate()
        if self._watch is not None:
            self._watch.delegated()
        return going

    def _pending(self) -> Coroutine[Any, Any, T] | None:
        going = self._going
        if going is not None and inspect.getcoroutinestate(going) == inspect.CORO_CLOSED:
            return None  # its task was cancelled before it began
        return going

    async def _delegate(self) -> T:
        try:
            rest = self._rest()
            return await (rest if self._watch is None else self._watch.heard(rest))
        finally:
            self._going = None
            if self._over is not None:
                self._over.set()

    async def _settle(self) -> None:
        """The listener has ended: see to it that nothing of what it delegated is left behind (DSP-6)."""
        self._settled = True
        going = self._pending()
        if going is None:
            return
        if inspect.getcoroutinestate(going) == inspect.CORO_CREATED:
            # Called and never awaited: it was delegated all the same, only nobody hears the answer.
            try:
                await going
            except KeyboardInterrupt:
                raise
            except BaseException:
                return
        else:
            self._over = new_event()
            cancellation = await outlast(self._over)
            if cancellation is not None:
                raise cancellation


def run_waterfall(
    listeners: Sequence[Listener[T]],
    innermost: Callable[[], Awaitable[T]],
    proper: Callable[[object], T],
    watches: Watches | None = None,
) -> Coroutine[Any, Any, T]:
    """Run a row of listeners, and answer what the outermost decides.

    `proper` makes each listener's answer a decision, or raises `PolicyError`. What a listener raises is
    raised in the listener around it, and at last here: a KeyboardInterrupt as itself, anything else as
    it is. `watches` is asked for a watch whenever a listener starts.
    """
    return _from(0, listeners, innermost, proper, watches)


async def _from(
    index: int,
    listeners: Sequence[Listener[T]],
    innermost: Callable[[], Awaitable[T]],
    proper: Callable[[object], T],
    watches: Watches | None,
) -> T:
    if index == len(listeners):
        return await innermost()
    watch = None if watches is None else watches(index)
    following: Next[T] = Next(lambda: _from(index + 1, listeners, innermost, proper, watches), watch)
    try:
        try:
            answer = listeners[index](following)
            if inspect.isawaitable(answer):
                answer = await answer
        finally:
            await following._settle()
    except BaseException as error:
        if watch is not None:
            watch.raised(error)
        raise
    return proper(answer) if watch is None else watch.judged(answer, proper)
