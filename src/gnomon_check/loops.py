"""The event loop that scenarios are run on: one after the other on the same, while nothing is left on it."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import anyio

from gnomon_check.orders import Order, options


def run(
    function: Callable[..., Coroutine[Any, Any, None]], *args: object, backend: str, order: Order | None
) -> None:
    """Run an asynchronous function to its end, on asyncio or trio; `order` as for `orders.options`.

    Raises what it raises.
    """
    if backend == "asyncio" and order is None and _nothing_else_runs():
        _kept.run(function, *args)
    else:
        anyio.run(function, *args, backend=backend, backend_options=options(backend, order))


def _nothing_else_runs() -> bool:
    """Whether this is the main thread, and no loop runs in it: where one does, anyio tells."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return threading.current_thread() is threading.main_thread()
    return False


class _Kept:
    """A loop of asyncio that is used again: to make one takes as long as many a scenario."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    def run(self, function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
        """Run an asynchronous function to its end. What is left on the loop then goes, and the loop too."""
        if self._runner is None:
            # By its own factory, so that it is nobody's current loop between two scenarios.
            self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        try:
            self._runner.get_loop().run_until_complete(function(*args))
        except BaseException:
            self.close()
            raise
        if asyncio.all_tasks(self._runner.get_loop()):
            self.close()

    def close(self) -> None:
        """End what is left on the loop, and the loop."""
        if self._runner is not None:
            runner, self._runner = self._runner, None
            runner.close()


_kept = _Kept()
atexit.register(_kept.close)
