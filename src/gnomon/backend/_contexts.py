"""Running a coroutine in context variables of its own, whatever task awaits it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class InContext(Generic[T]):
    """A coroutine that runs in a context of its own, whatever task awaits it."""

    __slots__ = ("_context", "_coroutine")

    def __init__(self, context: Context, coroutine: Coroutine[Any, Any, T]) -> None:
        self._context = context
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, T]:
        run, coroutine = self._context.run, self._coroutine
        step: Callable[..., Any] = coroutine.send
        given: Any = None
        while True:
            try:
                waits_for = run(step, given)
            except StopIteration as end:
                answer: T = end.value
                return answer
            try:
                given = yield waits_for
                step = coroutine.send
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                step, given = coroutine.throw, error
