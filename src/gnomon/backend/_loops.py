"""Event loops: which one is running here, and how another thread hands it something to do."""

from __future__ import annotations

import asyncio
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple


class Loop(NamedTuple):
    """One running event loop."""

    handle: Any
    post: Callable[[Callable[[], object]], object]
    """Have the loop call something soon; from any thread. Raises `RuntimeError` once the loop is closed."""


def current_loop() -> Loop | None:
    """The loop that runs in this thread, or nothing where none does."""
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return Loop(running, running.call_soon_threadsafe)
    trio = sys.modules.get("trio")
    if trio is None:
        return None
    try:
        token = trio.lowlevel.current_trio_token()
    except RuntimeError:
        return None
    return Loop(token, token.run_sync_soon)


def asyncio_task() -> asyncio.Task[object] | None:
    """The current task of asyncio, or nothing where another library runs."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def discard(answer: object) -> None:
    """Close what would otherwise be left running, or be reported as never awaited (PY-8, PY-9)."""
    kind = type(answer)  # by type alone: reading an attribute may run any code
    left: Any = answer
    if kind is types.CoroutineType or kind is types.GeneratorType:
        left.close()
    elif issubclass(kind, asyncio.Future):
        left.cancel()
