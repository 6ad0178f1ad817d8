"""A program that runs a batch until it is interrupted; `python interrupted_batch.py BACKEND LOG`.

It ends as well when its standard input does: whoever started it is gone then, in whatever way.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

import anyio

from gnomon import JsonlSession, Runtime, ToolCall, tool

started = 0


@tool(parallel=True)
async def work(number: int) -> str:
    """Work until interrupted; say so once all that fit into the pool do."""
    global started
    started += 1
    if started == 3:
        print("running", flush=True)
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.01)
    return "done"


async def main(log: str) -> None:
    runtime = Runtime(max_parallel=3)
    runtime.register(work)
    calls = [ToolCall(f"c{number}", "work", f'{{"number": {number}}}') for number in range(6)]
    with JsonlSession(log) as session:
        await runtime.run_batch(calls, session=session)


def leave_with_the_parent() -> None:
    """Wait for the end of the input, and end at once. The interrupt is for the other thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=leave_with_the_parent, daemon=True).start()
    # A process that is started in the background may have inherited that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    anyio.run(main, sys.argv[2], backend=sys.argv[1])
