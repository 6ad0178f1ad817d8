"""Runs a body to its end: in a thread or on the loop, interrupted or only told (PY-2, PY-5, PY-9)."""

from __future__ import annotations

import inspect
from typing import Any

from gnomon.backend import Interrupted, interruptible
from gnomon.contexts import in_thread
from gnomon.errors import Aborted, Code
from gnomon.execution import Call
from gnomon.registry import RegisteredTool
from gnomon.results import failure_of
from gnomon.tools import ToolContext
from gnomon.trace import CallTrace, EventName


async def settled_body(
    call: Call, registered: RegisteredTool, converted: object, context: ToolContext
) -> Any:
    """Run a body to its end. Raises `Interrupted` where an abort ended it, else what it raises."""
    call.body_invoked = True  # DSP-5
    if call.trace is None:
        return await _run(registered, converted, context)
    return await _run_and_tell(call, call.trace, registered, converted, context)


async def _run(registered: RegisteredTool, converted: object, context: ToolContext) -> object:
    tool = registered.tool
    if registered.threaded:
        value = await in_thread(lambda: tool.run(converted, context))  # PY-5
        if not inspect.isawaitable(value):
            return value
        begun = value  # a plain function that answers an awaitable has it awaited (PY-9)
    else:
        begun = None

    async def body() -> object:
        pending: Any = tool.run(converted, context) if begun is None else begun
        return await pending

    if tool.interrupt == "cancel":
        return await interruptible(body, context.signal)
    return await body()


async def _run_and_tell(
    call: Call, trace: CallTrace, registered: RegisteredTool, converted: object, context: ToolContext
) -> object:
    trace.attempt = attempt = trace.attempt + 1

    def tell(name: EventName, **fields: Any) -> None:
        trace.emit(name, attempt=attempt, **fields)

    def signalled(reason: object) -> None:
        tell(EventName.BODY_SIGNALLED, source="caller" if call.aborted else "wrapper")

    tell(EventName.BODY_STARTED, registration=registered.id)
    with context.signal.on_abort(signalled):
        try:
            value = await _run(registered, converted, context)
        except Interrupted:
            tell(EventName.BODY_INTERRUPTED)
            tell(EventName.BODY_SETTLED, how="cancelled", code=Code.ABORTED.value)
            raise
        except BaseException as error:
            gave_in = isinstance(error, Aborted) and context.signal.aborted  # PY-2
            code = Code.ABORTED.value if gave_in else failure_of(error).error.code
            tell(EventName.BODY_SETTLED, how="raised", code=code)
            raise
        tell(EventName.BODY_SETTLED, how="returned")
        return value
