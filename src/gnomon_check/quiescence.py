"""When an implementation is still, and how one is ended that never becomes so by itself."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import anyio


async def quiesce() -> None:
    """Wait until nothing can proceed without the harness."""
    try:
        loop: Any = asyncio.get_running_loop()
    except RuntimeError:
        await anyio.wait_all_tasks_blocked()
        return
    # Nothing here uses timers, threads or sockets: with no callback ready, all tasks are parked.
    while True:
        await asyncio.sleep(0)
        if not loop._ready:
            return


class _BrokenOff(BaseException):
    """An implementation never ends by itself; no shield of its keeps this away."""


async def break_off() -> None:
    """End an implementation that never ends by itself, however it shields its tasks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        await _break_off_on_trio()
        return
    for _ in range(50):
        for task in asyncio.all_tasks():
            if task is not asyncio.current_task():
                task.cancel()
        await asyncio.sleep(0)


async def _break_off_on_trio() -> None:
    trio = sys.modules["trio"]

    def strike() -> None:
        raise _BrokenOff

    def descendants(task: Any) -> Iterator[Any]:
        for nursery in task.child_nurseries:
            for child in nursery.child_tasks:
                yield child
                yield from descendants(child)

    for _ in range(50):
        for task in list(descendants(trio.lowlevel.current_task())):
            # What a cancellation does to a task that waits, and a shield cannot keep off.
            if task._abort_func is not None:
                task._attempt_abort(strike)
        await trio.lowlevel.checkpoint()
