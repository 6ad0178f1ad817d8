"""The tasks of one batch: how they are started and waited for, whatever cancels those who wait.

They are started natively, on asyncio as on trio (PY-1). A task of an anyio group costs several times as
much on asyncio, and there it would inherit a scope that it then has to be shielded from.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Generic, TypeAlias, TypeVar

import anyio
import anyio.lowlevel

from gnomon.backend._contexts import InContext
from gnomon.backend._loops import asyncio_task
from gnomon.backend._waits import Event, is_cancellation, new_event, outlast
from gnomon.errors import note_other

T = TypeVar("T")


class Running(Generic[T]):
    """Work in a task of its own."""

    __slots__ = (
        "_answer",
        "_ended",
        "_error",
        "_left",
        "_strike",
        "_unbegun",
        "_waited_for",
        "_work",
        "context",
        "task",
    )

    def __init__(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        context: Context | None,
        left: Callable[[Running[Any]], None],
        strike: Callable[[BaseException], None],
        unbegun: Callable[[BaseException], object],
    ) -> None:
        """Take in `work`, which runs in `context`. `left` is called at its end, `strike` where that is a
        KeyboardInterrupt.

        Before that, `unbegun` is called where it never began.
        """
        self._work = work
        self.context = context
        self._left = left
        self._strike = strike
        self._unbegun = unbegun
        self._ended = False
        self._waited_for: Event | None = None
        self._answer: T | None = None
        self._error: BaseException | None = None
        self.task: object = None
        """Kept here where the event loop does not keep it."""

    async def run(self) -> None:
        """Do the work. Its exceptions stay here, for whoever waits: none enters the crew (PY-4, PY-6)."""
        try:
            self._answer = await self._work()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                self._strike(error)  # PY-4: at once, before a task that is ready starts a body
            self.end(error)  # PY-4
        else:
            self.end()

    def end(self, error: BaseException | None = None) -> None:
        """Note, once, how the work has ended."""
        if self._ended:
            return
        self._ended = True
        self._error = error
        if self._waited_for is not None:
            self._waited_for.set()
        self._left(self)

    def never_began(self, task: object) -> None:
        """Note that its `task` has ended; where the work has not, somebody cancelled that before it began."""
        if not self._ended:
            error = asyncio.CancelledError("a task of a batch was cancelled before it began")
            self._unbegun(error)
            self.end(error)

    async def settled(self) -> None:
        """Wait for the end of the work; raises what has to leave the batch, a KeyboardInterrupt (PY-4).

        A native cancellation of the waiting task does not reach the work, and does not cut the wait short:
        it goes on once the work has ended (PY-2, DSP-6).
        """
        cancellation: BaseException | None = None
        if not self._ended:
            if self._waited_for is None:
                self._waited_for = new_event()
            cancellation = await outlast(self._waited_for)  # DSP-6
        if isinstance(self._error, KeyboardInterrupt):
            raise self._error
        if cancellation is not None:
            raise cancellation

    async def answer(self) -> T:
        """Wait in the same way, and answer or raise what the work came to."""
        await self.settled()
        if self._error is not None:
            raise self._error
        return self._answer  # type: ignore[return-value]  # it is there: the work ended without an error


class Crew:
    """Starts the tasks of one batch. None is reached by a cancellation of the caller."""

    __slots__ = ("_live", "_over", "_spawn", "_strike", "report")

    def __init__(
        self,
        spawn: Callable[[Running[Any]], None],
        over: Event,
        report: Callable[[BaseException], None],
        strike: Callable[[BaseException], None],
    ) -> None:
        """Make a crew that starts tasks by `spawn`, and sets `over` when the last of them has ended.

        `strike` is told at once where one of them ends by a KeyboardInterrupt, whoever waits for it.
        """
        self._spawn = spawn
        self._over = over
        self._live: set[Running[Any]] = set()
        self._strike = strike
        self.report = report
        """Report what has to leave the batch, from a task that nobody waits for (PY-4)."""

    def start(
        self,
        work: Callable[[], Coroutine[Any, Any, T]],
        unbegun: Callable[[BaseException], object] = lambda error: None,
        context: Context | None = None,
    ) -> Running[T]:
        """Start a task in these context variables, or in a copy of those that are in force here (PY-7).

        Its exceptions are for whoever waits; where nobody does, `work` must not raise. `unbegun` is called
        where the task is cancelled before it began.
        """
        running = Running(work, context, self._leave, self._strike, unbegun)
        self._live.add(running)
        self._spawn(running)
        return running

    def _leave(self, running: Running[Any]) -> None:
        self._live.remove(running)
        if not self._live:
            self._over.set()


class Mailbox:
    """Positions of calls that have settled, in the order in which they did."""

    __slots__ = ("_items", "_waiting")

    def __init__(self) -> None:
        self._items: deque[int] = deque()
        self._waiting: Event | None = None

    def put(self, item: int) -> None:
        """Leave an item; never waits."""
        self._items.append(item)
        if self._waiting is not None:
            self._waiting.set()

    async def get(self) -> int:
        """Take the oldest item, waiting for one if there is none; a cancellation does not cut that short.

        The task that waits is the lane's, which no caller holds: one who cancels every task of a loop
        cancels that of the caller as well, and a listener that cancels the task it is in has no batch to
        cancel (PY-3, PY-4). Only who insists, and cancels the same wait again, ends it.
        """
        spared = False
        while not self._items:
            self._waiting = new_event()
            try:
                await self._waiting.wait()
            except BaseException as error:
                if spared or not is_cancellation(error):
                    raise
                spared = True
                # Whoever cancels every task has the caller hear of it in this turn of the loop.
                await anyio.lowlevel.cancel_shielded_checkpoint()
            self._waiting = None
        return self._items.popleft()


Lane: TypeAlias = Callable[[Crew], Coroutine[Any, Any, None]]


async def supervise(
    lane: Lane, on_cancel: Callable[[BaseException], None], context: Context | None = None
) -> BaseException | None:
    """Run `lane` to its end in a task of its own, and wait for all that it started.

    It runs in these context variables, or in a copy of the caller's (PY-7). A native cancellation of the
    calling task does not cut this short: `on_cancel` is told of the first one, and it is answered, for the
    caller to let it go on once everything is logged (PY-3). A KeyboardInterrupt that lands in the waiting
    task is treated in the same way, and is answered whatever came before it. `lane` must not raise.
    """
    if asyncio_task() is not None:
        return await _supervise(lane, on_cancel, context, _spawn_on_asyncio)  # PY-1
    return await _supervise_on_trio(lane, on_cancel, context)  # PY-1


async def _supervise(
    lane: Lane,
    on_cancel: Callable[[BaseException], None],
    context: Context | None,
    spawn: Callable[[Running[Any]], None],
) -> BaseException | None:
    saved: BaseException | None = None
    over = new_event()

    def keep(interruption: BaseException) -> None:
        nonlocal saved
        if saved is None:
            on_cancel(interruption)
        elif isinstance(interruption, KeyboardInterrupt):  # it leaves before any other (PY-3)
            note_other(interruption, saved)  # PY-6
        else:
            return
        saved = interruption

    try:
        await anyio.lowlevel.checkpoint_if_cancelled()
    except BaseException as error:
        if not _interrupts(error):
            raise
        keep(error)
    crew = Crew(spawn, over, keep, on_cancel)
    running = crew.start(lambda: lane(crew), context=context)
    while not over.is_set():
        try:
            if saved is None:
                await over.wait()
            else:  # once cancelled, an outer scope would cancel every further wait at once
                with anyio.CancelScope(shield=True):
                    await over.wait()
        except BaseException as error:
            if not _interrupts(error):
                raise
            keep(error)
    await running.answer()  # answers at once, and raises where the lane did
    return saved


def _interrupts(error: BaseException) -> bool:
    return isinstance(error, KeyboardInterrupt) or is_cancellation(error)


def _spawn_on_asyncio(running: Running[Any]) -> None:
    """Start a task, which no scope of anyio's reaches."""
    # Not by the loop's task factory: an eager one would at once enter the context variables of the call,
    # which the step that starts the task is in.
    loop = asyncio.get_running_loop()
    running.task = task = asyncio.Task(running.run(), loop=loop, context=running.context)
    # A task that somebody cancels before it began never runs.
    task.add_done_callback(running.never_began)


def keep_ctrl_c_out(*functions: Callable[..., object]) -> None:
    """Have trio raise Ctrl-C in none of these functions, nor in what they call; at once, and for good.

    Trio raises it in whatever code is running. Where no code of a batch takes it, it reaches the main
    task when that waits, as asyncio's does, and is an abort like any other (PY-3).
    """
    if asyncio_task() is None and "trio" in sys.modules:
        for function in functions:
            sys.modules["trio"].lowlevel.enable_ki_protection(function)


async def _supervise_on_trio(
    lane: Lane, on_cancel: Callable[[BaseException], None], context: Context | None
) -> BaseException | None:
    trio = sys.modules["trio"]

    async def shielded(running: Running[Any]) -> None:
        with trio.CancelScope(shield=True):
            work = running.run()
            await (work if running.context is None else InContext(running.context, work))

    keep_ctrl_c_out(_supervise_on_trio, _supervise, shielded)  # PY-3
    async with trio.open_nursery() as nursery:
        saved = await _supervise(
            lane, on_cancel, context, lambda running: nursery.start_soon(shielded, running)
        )
        # Nothing is left to wait for; leaving the nursery is shielded from a late cancellation.
        nursery.cancel_scope.shield = True
    return saved
