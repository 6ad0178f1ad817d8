"""A retry wrapper, and the timeout that each attempt gets.

A tool's own timeout is carried out by the outermost wrapper. A retry that is prepended stands outside
of it, so each attempt gets a new deadline; one that is not shares a single deadline.
"""

from __future__ import annotations

import anyio

from gnomon import DispatchExecution, Next, Result, Runtime, ToolCall, ToolContext, tool
from gnomon.scopes import AroundHook

attempts = 0


@tool(timeout=30)
async def fetch(url: str, context: ToolContext) -> str:
    """Fetch a page from a server that hangs twice."""
    global attempts
    attempts += 1
    context.defer(f"attempt {attempts} on {url}")
    if attempts <= 2:
        await anyio.sleep_forever()
    return "the page"


def retry(times: int, codes: set[str]) -> AroundHook:
    """A wrapper that runs the rest again while it fails with one of these codes."""

    async def wrapper(execution: DispatchExecution, following: Next[Result]) -> Result:
        result = await following()
        for _ in range(times):
            if result.ok or result.error.code not in codes or execution.signal.aborted:
                break
            result = await following()
        return result

    return wrapper


class JumpingClock:
    """Virtual time: where everybody waits, it jumps ahead, so that this example does not take a minute."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    async def sleep_until(self, moment: float) -> None:
        await anyio.wait_all_tasks_blocked()
        self.seconds = max(self.seconds, moment)


async def main() -> None:
    runtime = Runtime(clock=JumpingClock())
    runtime.register(fetch)
    runtime.on("execute", retry(3, {"TOOL_TIMEOUT"}), prepend=True)
    batch = await runtime.run_batch([ToolCall("c1", "fetch", '{"url": "http://example.com"}')])
    result = batch.results[0]
    print(result.value if result.ok else result.error.code)
    for context in batch.contexts:
        print(context[0]["text"])


if __name__ == "__main__":
    anyio.run(main)
