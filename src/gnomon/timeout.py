"""Timeouts: a wrapper that fuses a deadline into the signal, and waits for the body all the same (TMO)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import anyio

from gnomon.errors import Code, warn
from gnomon.execution import DispatchExecution
from gnomon.results import Failure, Result, failure
from gnomon.signals import AbortController, AbortSignal, fuse
from gnomon.waterfall import Next


class Clock(Protocol):
    """What tells the time. An injected one gives virtual time, on the same code path."""

    def now(self) -> float:
        """The time, in seconds from some moment."""

    async def sleep_until(self, moment: float) -> None:
        """Wait until that time has come."""


class SystemClock:
    """The clock of the event loop."""

    def now(self) -> float:
        return anyio.current_time()

    async def sleep_until(self, moment: float) -> None:
        await anyio.sleep_until(moment)


@dataclass(frozen=True, slots=True)
class DeadlinePassed:
    """The reason with which the signal of a call aborts that has run out of its seconds (TMO-1)."""

    seconds: float

    def __str__(self) -> str:
        return f"the timeout of {self.seconds:g} seconds"


def timeout_wrapper(
    seconds_of: Callable[[DispatchExecution], float | None], clock: Clock
) -> Callable[[DispatchExecution, Next[Result]], Awaitable[Result]]:
    """A wrapper that gives each call the seconds that `seconds_of` answers, read at dispatch; None: no limit.

    Where its own deadline came first, TOOL_TIMEOUT replaces whatever result came back (TMO-2). It does
    not race the body: the deadline aborts the signal, and the body is waited for (TMO-1).
    """

    async def timeout(execution: DispatchExecution, following: Next[Result]) -> Result:
        seconds = seconds_of(execution)
        if seconds is None:
            return await following()
        return await _Deadline(execution, seconds, clock).around(following)

    return timeout


class _Deadline:
    __slots__ = ("_clock", "_controller", "_execution", "_fired", "_found", "_moment", "_seconds", "_struck")

    def __init__(self, execution: DispatchExecution, seconds: float, clock: Clock) -> None:
        self._execution = execution
        self._seconds = seconds
        self._clock = clock
        self._moment = clock.now() + seconds  # TMO-4: from entering the wrapper
        self._controller = AbortController()
        self._found: AbortSignal = execution.signal
        self._fired = False
        self._struck: KeyboardInterrupt | None = None

    async def around(self, following: Next[Result]) -> Result:
        result: Result | None = None
        error: BaseException | None = None
        with fuse(self._found, self._controller.signal) as fused:
            self._execution.signal = fused
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(self._watch)
                    try:
                        result = await following()
                    except BaseException as raised:  # not into the group, which would wrap it (PY-6)
                        error = raised
                    group.cancel_scope.cancel()
            finally:
                self._execution.signal = self._found  # TMO-3
        if self._struck is not None:
            raise self._struck
        if error is not None:
            raise error
        assert result is not None
        return self._timed_out() if self._fired else result  # TMO-2

    async def _watch(self) -> None:
        try:
            await self._clock.sleep_until(self._moment)
        except KeyboardInterrupt as error:  # not into the loop, which it would end there and then (PY-4)
            self._struck = error
            self._controller.abort("interrupted")
            return
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:
            warn(f"the clock failed, so a timeout does not count: {type(error).__name__}: {error}")
            return
        caller = self._execution._call.caller.signal
        if not self._found.aborted and not caller.aborted:
            self._fired = True  # TMO-2: no outer abort came first
            self._controller.abort(DeadlinePassed(self._seconds))

    def _timed_out(self) -> Failure:
        message = f"the tool took longer than {self._seconds:g} seconds; its effects may have happened"
        return failure(Code.TOOL_TIMEOUT, message, "ToolTimeoutError")
