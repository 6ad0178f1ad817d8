"""The exceptions that scripts raise."""

from __future__ import annotations

import asyncio

import anyio
import anyio.lowlevel

from gnomon import ToolError
from gnomon_check.script_steps import Raise


class UnprintableError(Exception):
    """An exception whose text cannot be produced."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class ScriptedError(Exception):
    """What a script raises that says nothing else."""


async def exception_of(what: Raise) -> BaseException:
    """The exception that a `raise` step raises."""
    if what.kind == "cancelled":
        return await _leaked_cancellation()
    return exception_at_once(what)


def exception_at_once(what: Raise) -> BaseException:
    """The exception that a `raise` step raises in a script that cannot wait; it raises no cancellation."""
    match what.kind:
        case "error":
            return ScriptedError(what.message)
        case "unprintable":
            return UnprintableError()
        case "exit":
            return SystemExit(what.message)
        case "keyboard":
            return KeyboardInterrupt(what.message)
        case "generator_exit":
            return GeneratorExit(what.message)
        case "coded":
            return coded_error(what)
        case "cancelled":
            raise AssertionError("a script that cannot wait has no cancellation to raise")


def coded_error(what: Raise) -> BaseException:
    """An error that chooses its own code, in the form that the built-in runtime knows."""
    return ToolError(what.message, code=what.code, name=what.name)


async def _leaked_cancellation() -> BaseException:
    """A genuine cancellation of this library that nobody asked for."""
    cancelled = anyio.get_cancelled_exc_class()
    if issubclass(cancelled, asyncio.CancelledError):
        return cancelled()
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await anyio.lowlevel.checkpoint()
        except cancelled as leaked:
            return leaked
    raise AssertionError("a cancelled scope did not cancel")
