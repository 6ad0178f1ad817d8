"""The driver on anyio: one code path for asyncio and trio (PY-1)."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Any, Protocol, TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

T = TypeVar("T")


class Signal(Protocol):
    """What aborts."""

    def on_abort(self, callback: Callable[[object], None]) -> AbstractContextManager[object]:
        """Call `callback` when it aborts."""


class Interrupted(Exception):
    """A body ended because it was interrupted (PY-2)."""


class Crew(Protocol):
    """Starts the tasks of one batch. Each is shielded from the caller's cancellation."""

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Start a task with a copy of the caller's context variables (PY-7). `work` must not raise."""

    def report(self, error: BaseException) -> None:
        """Report what has to leave the batch, from a task that nobody waits for (PY-4)."""


class Mailbox:
    """Positions of calls that have settled, in the order in which they did."""

    __slots__ = ("_items", "_waiting")

    def __init__(self) -> None:
        self._items: deque[int] = deque()
        self._waiting: anyio.Event | None = None

    def put(self, item: int) -> None:
        """Leave an item; never waits."""
        self._items.append(item)
        if self._waiting is not None:
            self._waiting.set()

    async def get(self) -> int:
        """Take the oldest item, waiting for one if there is none."""
        while not self._items:
            self._waiting = anyio.Event()
            await self._waiting.wait()
            self._waiting = None
        return self._items.popleft()


class _Crew:
    __slots__ = ("_group", "report")

    def __init__(self, group: TaskGroup, report: Callable[[BaseException], None]) -> None:
        self._group = group
        self.report = report

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        async def shielded() -> None:
            with anyio.CancelScope(shield=True):
                await work()

        def begin() -> None:
            self._group.start_soon(_against_interrupts(shielded))

        copy_context().run(begin)


def _against_interrupts(work: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """Keep Ctrl-C out of the code of a batch on trio, where it is raised in whatever code is running.

    It then reaches the main task, like asyncio's does, and is an abort like any other (PY-3).
    """
    if _asyncio_task() is not None:
        return work
    trio = sys.modules["trio"]
    protected: Callable[..., Coroutine[Any, Any, T]] = trio.lowlevel.enable_ki_protection(work)
    return protected


async def supervise(
    lane: Callable[[Crew], Awaitable[None]], on_cancel: Callable[[BaseException], None]
) -> BaseException | None:
    """Run `lane` to its end in a task of its own, and wait for all that it started.

    A native cancellation of the calling task does not cut this short: `on_cancel` is told of the
    first one, and it is answered, for the caller to let it go on once everything is logged (PY-3).
    A KeyboardInterrupt that lands in the waiting task is treated in the same way. `lane` must not
    raise.
    """
    return await _against_interrupts(_supervise)(lane, on_cancel)


async def _supervise(
    lane: Callable[[Crew], Awaitable[None]], on_cancel: Callable[[BaseException], None]
) -> BaseException | None:
    saved: BaseException | None = None
    over = anyio.Event()

    def keep(interruption: BaseException) -> None:
        nonlocal saved
        if saved is None:
            saved = interruption
            on_cancel(interruption)

    async def run_lane(crew: Crew) -> None:
        try:
            await lane(crew)
        finally:
            over.set()

    stops = (anyio.get_cancelled_exc_class(), KeyboardInterrupt)
    try:
        await anyio.lowlevel.checkpoint_if_cancelled()
    except stops as interruption:
        keep(interruption)
    try:
        async with anyio.create_task_group() as group:  # PY-1
            crew = _Crew(group, keep)
            crew.start(lambda: run_lane(crew))
            while not over.is_set():
                try:
                    # Once cancelled, an outer scope would cancel every further wait at once.
                    with anyio.CancelScope(shield=saved is not None):
                        await over.wait()
                except stops as interruption:
                    keep(interruption)
            # Nothing is left to wait for; leaving the group is shielded from a late cancellation.
            group.cancel_scope.shield = True
    except stops as interruption:
        keep(interruption)
    return saved


async def interruptible(body: Callable[[], Awaitable[T]], signal: Signal) -> T:
    """Run a body, and interrupt it once when `signal` aborts (PY-2).

    Raises `Interrupted` where the body ended because of that. On asyncio its task is cancelled, once,
    so that an awaited clean-up still runs to its end; on trio its scope is, which stays cancelled.
    """
    task = _asyncio_task()
    if task is None:
        with anyio.CancelScope(shield=True) as scope, signal.on_abort(lambda reason: scope.cancel()):
            return await body()
        raise Interrupted
    interruptions = 0

    def interrupt(reason: object) -> None:
        nonlocal interruptions
        interruptions += 1
        task.cancel()

    with signal.on_abort(interrupt):
        try:
            return await body()
        except BaseException as error:
            if not _is_cancellation(error) or not (interruptions or task.cancelling()):
                raise  # its own error, or a cancellation that nobody asked for (PY-4)
            raise Interrupted from None
        finally:
            if interruptions:
                await _absorb(task)


def _is_cancellation(error: BaseException) -> bool:
    """Whether an exception is asyncio's cancellation, or a group of nothing else (PY-2)."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_cancellation, error.exceptions))
    return isinstance(error, asyncio.CancelledError)


def _asyncio_task() -> asyncio.Task[object] | None:
    """The current task of asyncio, or nothing where another library runs."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


async def _absorb(task: asyncio.Task[object]) -> None:
    """Take back the cancellation of a body that ended before it noticed: it must not hit what follows."""
    task.uncancel()
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        if task.cancelling():
            raise
