"""In which order runs what is ready at the same time: the races that no gate reaches.

An event loop of asyncio runs what is ready first in, first out; trio takes each batch of tasks from the one
end or the other, by chance. Neither is promised, so neither may matter. Here the order is chosen by bytes: a
shorter choice is a simpler one, and the same bytes always choose the same.
"""

from __future__ import annotations

import asyncio
import importlib
import random
from typing import Any

Order = bytes
"""What is chosen, choice by choice; without any, first in, first out."""


class PickLoop(asyncio.SelectorEventLoop):
    """A loop of asyncio that runs what is ready in a chosen order, and a callback at a time."""

    def __init__(self, order: Order) -> None:
        """Make a loop. Each byte of `order` picks one of those that are ready; after them it is the first."""
        super().__init__()
        self._picks = iter(order)

    def _run_once(self) -> None:
        ready: Any = self._ready  # type: ignore[attr-defined]  # every loop of asyncio's own has it
        if len(ready) < 2:
            super()._run_once()  # type: ignore[misc]  # and this
            return
        picked = next(self._picks, 0) % len(ready)
        ready.rotate(-picked)
        handle = ready.popleft()
        ready.rotate(picked)
        if not handle.cancelled():
            handle._run()


def _fix_trio(order: Order) -> None:
    """Have trio shuffle each batch of tasks that are ready as `order` says, from the next run on."""
    trio_run: Any = importlib.import_module("trio._core._run")
    trio_run._ALLOW_DETERMINISTIC_SCHEDULING = True  # without it trio only turns a batch over, or not
    trio_run._r.seed(order)


def options(backend: str, order: Order | None) -> dict[str, Any]:
    """What `anyio.run` is to be told, so that what is ready runs in that order.

    Without an order it is that of asyncio's own loop, and on trio always the same one.
    """
    if backend == "trio":
        _fix_trio(order or b"")
        return {}
    return {} if order is None else {"loop_factory": lambda: PickLoop(order)}


def drawn(seed: int, length: int = 64) -> Order:
    """An order that is drawn from a seed."""
    return random.Random(seed).randbytes(length)
