"""Who flushes a session, what a flush covers, and that many share one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import anyio
import anyio.to_thread
import pytest
from calls import both, on
from disk import Disk, failing

from gnomon import (
    AbortController,
    Ask,
    CallbackApprover,
    LogError,
    MemorySession,
    Record,
    Runtime,
    ToolCall,
    tool,
)
from gnomon.session import StoredRecord


class Slow:
    """Holds each sync of a disk until it is let go on."""

    def __init__(self, disk: Disk) -> None:
        self.entered, self.released = threading.Semaphore(0), threading.Semaphore(0)
        disk.before = self.hold

    def hold(self, operation: str) -> None:
        if operation == "sync":
            self.entered.release()
            self.released.acquire()

    async def begun(self) -> None:
        await anyio.to_thread.run_sync(self.entered.acquire)


# -- one sync for many --------------------------------------------------------------------------------


@both
@pytest.mark.clause("LOG-3")
def test_all_who_flush_while_a_sync_runs_share_the_next(backend: str) -> None:
    disk = Disk()
    slow = Slow(disk)

    async def produce(number: int) -> None:
        session.append(Record("kind", {"number": number}))
        size = len(disk["log"])
        await session.flush()
        assert len(disk.names[session._file.path].on_disk) >= size

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(produce, 0)
            await slow.begun()
            for number in range(1, 50):
                group.start_soon(produce, number)
            await anyio.wait_all_tasks_blocked()
            assert len(list(session.records())) == 50
            slow.released.release(50)

    with disk.session() as session:
        on(backend, main)
        assert disk.syncs == 2
        assert disk.names[session._file.path].on_disk == disk["log"]


@both
@pytest.mark.clause("LOG-3")
def test_everybody_who_waits_for_a_sync_that_fails_is_told(backend: str) -> None:
    disk = Disk()
    told: list[str] = []

    async def flush() -> None:
        with pytest.raises(LogError) as caught:
            await session.flush()
        told.append(str(caught.value))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(flush)

    with disk.session() as session:
        session.append(Record("kind", {}))
        disk.before = failing("sync")
        on(backend, main)
    assert len(told) == 5
    assert {one.rpartition(": ")[2] for one in told} == {"Input/output error"}


@both
def test_one_who_gives_up_waiting_leaves_the_others_and_the_sync_alone(backend: str) -> None:
    disk = Disk()
    slow = Slow(disk)
    done: list[str] = []

    async def flush(name: str, scope: anyio.CancelScope) -> None:
        with scope:
            await session.flush()
            done.append(name)

    async def main() -> None:
        first = anyio.CancelScope()
        async with anyio.create_task_group() as group:
            group.start_soon(flush, "first", first)
            await slow.begun()
            group.start_soon(flush, "second", anyio.CancelScope())
            await anyio.wait_all_tasks_blocked()
            first.cancel()
            slow.released.release(2)

    with disk.session() as session:
        session.append(Record("kind", {}))
        on(backend, main)
    assert done == ["second"]


def test_a_native_cancellation_of_one_who_waits_does_so_too() -> None:
    disk = Disk()
    slow = Slow(disk)

    async def main() -> None:
        first = asyncio.create_task(session.flush())
        await slow.begun()
        second = asyncio.create_task(session.flush())
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        slow.released.release(2)
        await second

    with disk.session() as session:
        session.append(Record("kind", {}))
        asyncio.run(main())
        assert disk.syncs == 1, "the second found nothing left to do"


def test_a_session_is_closed_only_once_a_sync_has_ended() -> None:
    disk = Disk()
    slow = Slow(disk)
    order: list[str] = []

    def watch(operation: str) -> None:
        slow.hold(operation)
        order.append(operation)

    async def main() -> None:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(session.flush)
                await slow.begun()
                scope.cancel()

    session = disk.session()
    session.append(Record("kind", {}))
    disk.before = watch
    anyio.run(main)
    closing = threading.Thread(target=session.close)
    closing.start()
    slow.released.release()
    closing.join()
    assert order[-2:] == ["sync", "close"]
    assert disk.syncs == 1
    assert not disk.opened


# -- who flushes --------------------------------------------------------------------------------------


@tool(parallel=True)
async def act() -> str:
    """Act."""
    return "done"


@tool
async def wait() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


@tool
async def strike() -> None:
    """End the batch."""
    raise KeyboardInterrupt


def runtime(**options: CallbackApprover) -> Runtime:
    made = Runtime(**options)
    for one in (act, wait, strike):
        made.register(one)
    return made


@both
@pytest.mark.clause("LOG-3")
def test_what_a_batch_has_logged_is_on_the_disk_when_it_returns(backend: str) -> None:
    disk = Disk()
    with disk.session() as session:
        on(backend, lambda: runtime().run_batch([ToolCall("c", "act")], session=session))
        disk.crash(power=True)
    with disk.session() as session:
        assert [one.type for one in session.records()][-3:] == ["tool/result", "step/end", "turn/end"]


@pytest.mark.clause("PY-3")
@pytest.mark.parametrize(
    ("backend", "how"), [("asyncio", "the scope"), ("asyncio", "the task"), ("trio", "the scope")]
)
def test_a_cancelled_batch_flushes_before_it_lets_the_cancellation_out(backend: str, how: str) -> None:
    disk = Disk()
    slow = Slow(disk)
    left: list[bytes] = []

    async def run() -> None:
        try:
            await runtime().run_batch([ToolCall("c", "wait")], session=session)
        finally:
            left.append(disk.names[session._file.path].on_disk)

    async def main() -> None:
        if how == "the task":
            task = asyncio.create_task(run())
            await anyio.wait_all_tasks_blocked()
            task.cancel()
            await slow.begun()
            task.cancel()  # again, while it flushes
            slow.released.release()
            with pytest.raises(asyncio.CancelledError):
                await task
            return
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await slow.begun()
            slow.released.release()

    with disk.session() as session:
        on(backend, main)
    assert left == [disk["log"]]
    assert b'"turn/end"' in disk["log"]


@both
@pytest.mark.clause("SCD-9", "LOG-3")
def test_a_flush_that_fails_is_a_failure_of_the_batch(backend: str) -> None:
    disk = Disk()
    with disk.session() as session:
        disk.before = failing("sync")
        with pytest.raises(LogError, match="could not be written to the disk"):
            on(backend, lambda: runtime().run_batch([ToolCall("c", "act")], session=session))


class Counting(MemorySession):
    """Counts flushes, and takes no record of one type."""

    def __init__(self, refused: str = "") -> None:
        super().__init__()
        self.refused = refused
        self.flushes = 0

    def append(self, record: Record) -> int:
        if record.type == self.refused:
            raise LogError("the disk is full")
        return super().append(record)

    async def flush(self) -> None:
        self.flushes += 1


@both
@pytest.mark.clause("SCD-9", "PY-3")
def test_a_failed_batch_flushes_unless_it_was_the_log_that_failed(backend: str) -> None:
    session = Counting()
    with pytest.raises(KeyboardInterrupt) as struck:
        on(backend, lambda: runtime().run_batch([ToolCall("c", "strike")], session=session))
    assert session.flushes == 1
    assert not hasattr(struck.value, "__notes__")
    for refused in ("tool/call", "tool/result", "step/end"):
        session = Counting(refused)
        with pytest.raises(LogError, match="full") as failed:
            on(backend, lambda log=session: runtime().run_batch([ToolCall("c", "act")], session=log))
        assert session.flushes == 0
        assert not hasattr(failed.value, "__notes__")


@both
@pytest.mark.clause("LOG-3")
def test_a_disk_that_is_full_for_an_approval_fails_the_call_and_then_the_batch(backend: str) -> None:
    """The record of the result cannot be appended after that, which is a failure of the batch (SCD-9)."""
    made = runtime(approver=CallbackApprover(lambda request: True))
    disk = Disk()
    seen: list[str] = []

    def hook(execution: object, following: object) -> Ask:
        disk.room = 3
        return Ask()

    made.on("pre_execute", hook)
    made.on("result", lambda execution, result: seen.append(result.error.code))
    with disk.session() as session, pytest.raises(LogError, match="No space left on device"):
        on(
            backend,
            lambda: made.run_batch([ToolCall("c", "act")], session=session, scope=made.scope("agent")),
        )
    assert seen == ["POLICY_ERROR"]


# -- where a log stands -------------------------------------------------------------------------------


class Unread(MemorySession):
    """A session that nobody may read from its beginning."""

    def records(self) -> Iterable[StoredRecord]:
        raise AssertionError("all records were read")


@both
def test_a_batch_does_not_read_the_log_from_its_beginning(backend: str) -> None:
    made = runtime(approver=CallbackApprover(lambda request: True))
    made.on("pre_execute", lambda execution, following: Ask())
    session = Unread()
    for turn in range(3):
        on(
            backend,
            lambda: made.run_batch([ToolCall("c", "act")], session=session, scope=made.scope("agent")),
        )
        assert (session.standing.turn, session.standing.turn_is_open) == (turn, False)


@both
def test_an_aborted_batch_says_so_in_its_turn(backend: str) -> None:
    session, stop = MemorySession(), AbortController()
    stop.abort()
    on(
        backend,
        lambda: runtime().run_batch([ToolCall("c", "act")], session=session, signal=stop.signal),
    )
    assert list(session.records())[-1].data["reason"] == "aborted"
