"""Context variables: the steps of one call share one copy of the caller's, and no other sees it (PY-7)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import anyio
import anyio.to_thread

from gnomon.errors import ConfigError

T = TypeVar("T")
_MISSING = object()


async def in_thread(work: Callable[[], T]) -> T:
    """Run a plain function in a worker thread, and wait for it, whatever happens (PY-5).

    It sees the context variables of the caller, and what it sets there stays set. Its limiter has room
    for it alone, so that no number of bodies in flight can keep one from running.
    """
    error, answer, changed = await anyio.to_thread.run_sync(_watched, work, limiter=anyio.CapacityLimiter(1))
    for variable, value in changed:
        variable.set(value)
    if error is not None:
        raise error
    given: T = answer
    return given


def _watched(work: Callable[[], object]) -> tuple[BaseException | None, Any, list[tuple[Any, Any]]]:
    before = copy_context()
    error: BaseException | None = None
    answer: object = None
    try:
        answer = work()
    except BaseException as raised:  # some exceptions cannot cross a future (PY-4)
        error = raised
    changed = [
        (one, value) for one, value in copy_context().items() if before.get(one, _MISSING) is not value
    ]
    return error, answer, changed


# -- steps that must not call the runtime --------------------------------------------------------

_synchronous: ContextVar[str | None] = ContextVar("gnomon_synchronous_step", default=None)


class synchronous:
    """Marks a synchronous step, such as a guard: the runtime refuses to be called from it (PY-10)."""

    __slots__ = ("_reset", "_what")

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        self._reset = _synchronous.set(self._what)

    def __exit__(self, *exc: object) -> None:
        _synchronous.reset(self._reset)


def refuse_synchronous() -> None:
    """Raise `ConfigError` where a synchronous step calls the runtime (PY-10)."""
    what = _synchronous.get()
    if what is not None:  # PY-10
        raise ConfigError(f"a {what} is a synchronous step, and may not call the runtime (PY-10)")
