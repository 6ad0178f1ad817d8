"""A program that says what its batch is about to do, line by line; `python struck_batch.py BACKEND LOG`.

Its last calls never end, so that an interrupt always finds the batch running. It leaves with its parent.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import anyio
import anyio.lowlevel
from interrupted_batch import leave_with_the_parent

from gnomon import (
    Ask,
    CallbackApprover,
    JsonlSession,
    Runtime,
    ToolCall,
    ToolContext,
    tool,
)

LINES = 25
"""So many lines are written before all that is left waits."""

CALLS = ("quick", "asked", "threaded", "nested", "forever", "forever", "quick")


def write(line: str) -> None:
    """Write a line as a whole, whatever thread it is in."""
    os.write(1, f"{line}\n".encode())


async def say(line: str) -> None:
    """Write a line, and let others have a turn."""
    write(line)
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


@tool(parallel=True)
async def quick() -> str:
    """Return soon."""
    await say("body of quick")
    return "done"


@tool(parallel=True)
async def asked() -> str:
    """Return soon, once somebody has approved."""
    await say("body of asked")
    return "done"


@tool(parallel=True)
def threaded() -> str:
    """Return soon, from a thread."""
    write("body of threaded")
    return "done"


@tool(parallel=True)
async def forever() -> str:
    """Wait until interrupted, and unwind slowly."""
    write("body of forever")
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await say("unwinding")
    return "never"


async def main(log: str) -> None:
    async def approve(request: Any) -> bool:
        await say("approver")
        return True

    runtime = Runtime(max_parallel=4, approver=CallbackApprover(approve))
    scope = runtime.scope("agent")

    @tool(parallel=True)
    async def nested(context: ToolContext) -> str:
        """Run a batch of its own."""
        given: dict[str, Any] = {"parent": context.token, "signal": context.signal, "scope": scope}
        await runtime.run_batch([ToolCall("n", "quick"), ToolCall("n", "asked")], **given)
        return "done"

    for one in (quick, asked, threaded, forever, nested):
        runtime.register(one)

    async def pre(execution: Any, following: Any) -> Any:
        await say("listener")
        answer = await following()
        return Ask("why") if execution.name == "asked" else answer

    async def post(execution: Any, result: Any, following: Any) -> Any:
        await say("post listener")
        return await following()

    runtime.on("pre_execute", pre)
    runtime.on("post_execute", post)
    with JsonlSession(log) as session:
        calls = [ToolCall("c", name) for name in CALLS]
        await runtime.run_batch(calls, session=session, scope=scope)


if __name__ == "__main__":
    threading.Thread(target=leave_with_the_parent, daemon=True).start()
    # A process that is started in the background may have inherited that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    anyio.run(main, sys.argv[2], backend=sys.argv[1])
