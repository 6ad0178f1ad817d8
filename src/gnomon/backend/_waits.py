"""Waiting for events, whatever is done to the task that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from typing import Protocol

import anyio

from gnomon.backend._loops import asyncio_task


class Event(Protocol):
    """Something that happens once, and that tasks of one loop wait for."""

    def set(self) -> object:
        """It has happened."""

    def is_set(self) -> bool:
        """Whether it has happened."""

    def wait(self) -> Awaitable[object]:
        """Wait until it has."""


def new_event() -> Event:
    """An event of the loop that runs here; on asyncio its own, of which anyio's costs several (PY-1)."""
    return anyio.Event() if asyncio_task() is None else asyncio.Event()


def is_cancellation(error: BaseException) -> bool:
    """Whether an exception cancels the task that it is raised in, natively."""
    return isinstance(error, anyio.get_cancelled_exc_class())


async def outlast(over: Event) -> BaseException | None:
    """Wait for an event, whatever is done to the waiting task; answers the first cancellation of it."""
    first: BaseException | None = None
    try:
        await over.wait()
    except BaseException as error:
        if not is_cancellation(error):
            raise
        first = error
    while not over.is_set():
        # Once cancelled, an outer scope would cancel every further wait at once.
        with suppress(anyio.get_cancelled_exc_class()), anyio.CancelScope(shield=True):
            await over.wait()
    return first
