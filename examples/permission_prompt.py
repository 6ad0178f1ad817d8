"""A permission prompt: reading is free, everything else is asked for, and some of it never allowed.

Run it at a terminal; it asks before it writes. With `--yes` or `--no` it answers itself.
"""

from __future__ import annotations

import sys

import anyio

from gnomon import (
    Allow,
    ApprovalRequest,
    Approver,
    Ask,
    CallbackApprover,
    Execution,
    Next,
    PreDecision,
    Runtime,
    TerminalApprover,
    ToolCall,
    tool,
)

FILES = {"notes.txt": "buy milk"}


@tool(parallel=True)
async def read(path: str) -> str:
    """Read a file."""
    return FILES[path]


@tool
async def write(path: str, text: str) -> int:
    """Write a file, and say how long it is."""
    FILES[path] = text
    return len(text)


async def ask_before_writing(execution: Execution, following: Next[PreDecision]) -> PreDecision:
    """A listener may let the rest decide, and be stricter than that."""
    decision = await following()
    if isinstance(decision, Allow) and execution.name == "write":
        return Ask(f"{execution.arguments['path']} will be overwritten")
    return decision


def no_secrets(execution: Execution) -> str | None:
    """A guard has the last word: no approval turns it back."""
    path = execution.arguments.get("path", "")
    return "secrets are not for tools" if path.startswith(".env") else None


async def run(approver: Approver) -> list[str]:
    """Run three calls of a model, and answer what it is told of each."""
    runtime = Runtime(approver=approver)
    agent = runtime.scope("agent")
    agent.register(read)
    agent.register(write)
    agent.on("pre_execute", ask_before_writing)
    agent.guard(no_secrets)
    calls = [
        ToolCall("c1", "read", '{"path": "notes.txt"}'),
        ToolCall("c2", "write", '{"path": "notes.txt", "text": "buy bread"}'),
        ToolCall("c3", "write", '{"path": ".env", "text": "KEY=1"}'),
    ]
    batch = await runtime.run_batch(calls, scope=agent)
    return [str(result.value) if result.ok else result.error.code for result in batch.results]


def chosen(arguments: list[str]) -> Approver:
    """Who is asked: whoever sits at the terminal, unless an argument answers for them."""

    def answer(request: ApprovalRequest) -> bool:
        return arguments == ["--yes"]

    return CallbackApprover(answer) if arguments else TerminalApprover()


if __name__ == "__main__":
    for line in anyio.run(run, chosen(sys.argv[1:])):
        print(line)
