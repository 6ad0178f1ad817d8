"""Ten small logs, written by the runtime itself, in which everything happens that a log can tell of.

Nothing in them depends on time or chance.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable

import anyio
import pytest
from disk import Disk

from gnomon import (
    AbortController,
    Ask,
    CallbackApprover,
    Record,
    Runtime,
    Session,
    ToolCall,
    ToolContext,
    ToolError,
    set_approval_policy,
    tool,
)

Program = Callable[[Session], Awaitable[None]]
PROGRAMS: dict[str, Program] = {}


def log(program: Program) -> Program:
    PROGRAMS[program.__name__] = program
    return program


@tool(parallel=True)
async def read(path: str = "") -> str:
    """Read."""
    return f"{path}!"


@tool
async def write(path: str = "") -> str:
    """Write, alone."""
    return path


@tool
async def fail(code: str | None = None) -> str:
    """Fail."""
    raise ToolError("it failed", code=code)


@tool(parallel=True)
async def tell(context: ToolContext) -> str:
    """Hand something to the model beside the result."""
    context.defer("first")
    context.defer([{"type": "image", "data": "aGk=", "mimeType": "image/png"}])
    return "told"


@tool(meta=lambda arguments, value: {"seen": [1, 2.5, None]})
async def shown() -> int:
    """Read, and keep something for people."""
    return 10**20


def runtime(**options: CallbackApprover) -> Runtime:
    made = Runtime(**options)
    for one in (read, write, fail, tell, shown):
        made.register(one)
    return made


def calls(*several: str) -> list[ToolCall]:
    """Calls from words such as `c1=read`, with no arguments."""
    return [ToolCall(*one.split("="), "") for one in several]


@log
async def parallel(session: Session) -> None:
    one = ToolCall("c1", "read", '{"path": "a"}')
    await runtime().run_batch([one, *calls("c2=read", "c3=tell")], session=session)


@log
async def exclusive(session: Session) -> None:
    await runtime().run_batch(calls("c1=write", "c2=read", "c3=write"), session=session)


@log
async def aborted(session: Session) -> None:
    stop, made = AbortController(), runtime()

    @tool
    async def wait(context: ToolContext) -> None:
        """Wait until the caller has had enough."""
        stop.abort("enough")
        await context.signal.wait()

    made.register(wait)
    await made.run_batch(calls("c1=read", "c2=wait", "c3=read"), session=session, signal=stop.signal)


@log
async def approvals(session: Session) -> None:
    made = runtime(approver=CallbackApprover(lambda request: request.call_id != "c2"))
    made.on("pre_execute", lambda execution, following: Ask("is that fine?"))
    set_approval_policy(session, "ask")
    await made.run_batch(calls("c1=write", "c2=write"), session=session, scope=made.scope("agent"))


@log
async def contexts(session: Session) -> None:
    await runtime().run_batch(calls("c1=tell", "c2=tell"), session=session)


@log
async def repeated_ids(session: Session) -> None:
    await runtime().run_batch(calls("c=read", "c=fail", "d=read", "c=read"), session=session)


@log
async def odd_letters(session: Session) -> None:
    raw = '{"path": "\ud800 \u2028 \N{GRINNING FACE} \\ud83d"}'
    await runtime().run_batch([ToolCall("é\ud800", "read", raw), *calls("\x00\n=read")], session=session)


@log
async def failures(session: Session) -> None:
    made = runtime()
    wrong = [ToolCall("c2", "read", '{"path": 1}'), ToolCall("c3", "fail", '{"code": "OWN"}')]
    await made.run_batch([*calls("c1=nobody", "c4=shown"), *wrong], session=session)


@log
async def several_turns(session: Session) -> None:
    made = runtime()
    await made.run_batch(calls("c1=read"), session=session)
    session.append(Record("turn/start", {"turn": 1}))
    for step in range(2):
        session.append(Record("step/start", {"turn": 1, "step": step}))
        await made.run_batch(calls(f"c{step}=read", "x=fail"), session=session)
        session.append(Record("of/later", {"anything": [True, 10**20]}))
        session.append(Record("step/end", {"turn": 1, "step": step}))
    session.append(Record("turn/end", {"turn": 1, "reason": "completed"}))


@log
async def failed_batch(session: Session) -> None:
    made = runtime()

    @tool
    async def strike() -> None:
        """End the batch without a result."""
        raise KeyboardInterrupt

    made.register(strike)
    with pytest.raises(KeyboardInterrupt):
        await made.run_batch(calls("c1=read", "c2=strike", "c2=strike", "c3=read"), session=session)


@functools.cache
def rich_log(name: str) -> bytes:
    """The bytes of one of the logs."""
    disk = Disk()
    with disk.session() as session:
        anyio.run(PROGRAMS[name], session)
    return disk["log"]
