"""Ctrl-C at one exact moment of a batch: it waits, aborts, and leaves once the log is complete (PY-3)."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import anyio
import anyio.lowlevel
import pytest
from calls import both, on

from gnomon import (
    LogError,
    MemorySession,
    Record,
    Runtime,
    Session,
    ToolCall,
    ToolContext,
    tool,
)

RECORDS = (
    "turn/start",
    "step/start",
    "assistant/calls",
    "tool/call",
    "tool/result",
    "step/end",
    "turn/end",
)
"""What a batch of one call leaves."""


@pytest.fixture(autouse=True)
def ctrl_c_is_not_ignored() -> Iterator[None]:
    """As it would be in a process that was started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def strike() -> None:
    signal.raise_signal(signal.SIGINT)


class Struck(MemorySession):
    """A session during whose append of a record of one type somebody presses Ctrl-C."""

    def __init__(self, at: str, *, fails: bool = False) -> None:
        super().__init__()
        self.at = at
        self.fails = fails

    def append(self, record: Record) -> int:
        if record.type == self.at:
            strike()
            if self.fails:
                raise LogError("no room")
        return super().append(record)


def types(session: Session) -> tuple[str, ...]:
    return tuple(one.type for one in session.records())


def runtime() -> Runtime:
    @tool
    async def quick() -> str:
        """Return at once."""
        return "done"

    made = Runtime()
    made.register(quick)
    return made


@both
@pytest.mark.clause("SCD-10", "PY-3")
@pytest.mark.parametrize("at", RECORDS)
def test_ctrl_c_while_a_record_is_written_leaves_a_complete_log(backend: str, at: str) -> None:
    """Seen to fail on trio: raised within the write of what opens or closes a turn, it left the turn open."""
    session = Struck(at)

    async def main() -> None:
        await runtime().run_batch([ToolCall("c", "quick")], session=session)
        await anyio.lowlevel.checkpoint()

    with pytest.raises(KeyboardInterrupt):
        on(backend, main)
    assert types(session) == RECORDS


@both
@pytest.mark.clause("SCD-9", "PY-3")
@pytest.mark.parametrize("at", ["tool/call", "tool/result", "step/end"])
def test_ctrl_c_is_noted_on_a_failure_of_the_log_or_leaves_after_it(backend: str, at: str) -> None:
    """On asyncio Ctrl-C is a cancellation, and a failure leaves before it."""
    session = Struck(at, fails=True)
    noted: list[bool] = []

    async def main() -> None:
        try:
            await runtime().run_batch([ToolCall("c", "quick")], session=session)
        except LogError as error:
            noted.append(any("CancelledError" in one for one in getattr(error, "__notes__", ())))
        await anyio.lowlevel.checkpoint()

    if backend == "trio":
        with pytest.raises(KeyboardInterrupt) as caught:
            on(backend, main)
        assert noted == [False] or caught.value.__notes__ == ["this was also left by LogError: no room"]
    else:
        on(backend, main)
        assert noted == [True]
    assert types(session) == RECORDS[: RECORDS.index(at)]


@both
@pytest.mark.clause("PY-3", "PY-6")
def test_a_failure_to_close_the_log_keeps_no_cancellation_from_being_known(backend: str) -> None:
    """Seen to fail: the failure of the last write left as if nobody had cancelled."""

    class Failing(MemorySession):
        def append(self, record: Record) -> int:
            if record.type == "step/end":
                raise LogError("no room")
            return super().append(record)

    async def main() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await runtime().run_batch([ToolCall("c", "quick")], session=Failing())

    with pytest.raises(LogError) as caught:
        on(backend, main)
    assert [one.split(":")[0] for one in caught.value.__notes__] == [
        "this was also left by " + ("CancelledError" if backend == "asyncio" else "Cancelled")
    ]


@both
@pytest.mark.clause("PY-3")
def test_ctrl_c_in_the_drain_after_a_cancellation_is_not_lost(backend: str) -> None:
    """Seen to fail on trio: the first interruption was kept, and the second one with it for good."""
    session = MemorySession()
    left: list[str] = []

    @tool(interrupt="signal")
    async def slow(context: ToolContext) -> str:
        """Strike while the batch drains."""
        await context.signal.wait()
        strike()
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        return "done"

    async def main() -> None:
        runtime = Runtime()
        runtime.register(slow)
        async with anyio.create_task_group() as group:
            with anyio.CancelScope() as scope:
                group.start_soon(cancel_when_it_runs, scope)
                await runtime.run_batch([ToolCall("c", "slow")], session=session)
            left.append("the block of the scope")
            await anyio.lowlevel.checkpoint()
            left.append("what follows it")

    async def cancel_when_it_runs(scope: anyio.CancelScope) -> None:
        await anyio.wait_all_tasks_blocked()
        scope.cancel()

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)) as caught:
        on(backend, main)
    assert caught.group_contains(KeyboardInterrupt) if backend == "trio" else caught.type is KeyboardInterrupt
    assert types(session) == RECORDS
    assert left == []
