"""What is measured. Each case is made from the package it is given, so that two of them can take turns."""

from __future__ import annotations

import asyncio
import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Case

Package = Any
"""The package `gnomon`, or that of another checkout."""

NESTED = {
    "path": "src/main.py",
    "edits": [{"line": n, "old": f"a{n}", "new": f"b{n}", "keep": n % 2 == 0} for n in range(9)],
    "note": None,
    "weight": 0.5,
}
"""A value of 50 nodes, such as a model may send: every scalar, list and object counts."""


async def trivial() -> None:
    """What a body costs at least."""


async def one_task(times: int) -> None:
    """F1: a task for a trivial coroutine, and its answer."""
    for _ in range(times):
        await asyncio.create_task(trivial())


async def ten_tasks(times: int) -> None:
    """F10: ten trivial coroutines, gathered."""
    for _ in range(times):
        await asyncio.gather(*[trivial() for _ in range(10)])


async def ten_on_trio(times: int) -> None:
    """A nursery of ten trivial tasks."""
    import trio

    for _ in range(times):
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(trivial)


def runtime(gnomon: Package, listeners: int = 0, *, everywhere: bool = True, pool: int = 10) -> Any:
    """A runtime with a trivial tool, and so many listeners on each waterfall.

    `everywhere` adds as many guards and observers, so that there is one of each at every stage.
    """
    made = gnomon.Runtime(max_parallel=pool)

    async def act(s: str) -> str:
        return s

    async def anything(arguments: Any, context: Any) -> None:
        return None

    async def around(execution: Any, following: Any) -> Any:
        return await following()

    async def after(execution: Any, result: Any, following: Any) -> Any:
        return await following()

    def look(execution: Any, result: Any = None) -> None:
        return None

    made.register(gnomon.tool(parallel=True)(act))
    output = gnomon.Output(schema={})
    made.register(
        gnomon.Tool(
            name="anything", description="", parameters={"type": "object"}, output=output, run=anything
        )
    )
    for _ in range(listeners):
        made.on("pre_execute", around)
        made.on("execute", around)
        made.on("post_execute", after)
        if everywhere:
            made.guard(look)
            made.on("result", look)
    return made


def calls(gnomon: Package, size: int, text: str = "a") -> list[Any]:
    """Calls of the trivial tool."""
    return [gnomon.ToolCall(f"c{n}", "act", json.dumps({"s": text})) for n in range(size)]


def single(gnomon: Package, arguments: Any = None) -> Case:
    """One call, without hooks and without a log."""
    made = runtime(gnomon)
    call = gnomon.ToolCall("c1", "act", '{"s": "a"}')
    if arguments is not None:
        call = gnomon.ToolCall("c1", "anything", json.dumps(arguments))

    async def run(times: int) -> None:
        for _ in range(times):
            assert (await made.execute(call)).ok

    return run


def batch(
    gnomon: Package, size: int, listeners: int = 0, session: Callable[[], Any] | None = None, **more: Any
) -> Case:
    """A batch of trivial calls, written into the session that `session` answers."""
    made = runtime(gnomon, listeners, **more)
    announced = calls(gnomon, size)
    store = gnomon.MemorySession if session is None else session

    async def run(times: int) -> None:
        for _ in range(times):
            done = await made.run_batch(announced, session=store())
            assert len(done.results) == size

    return run


def into_a_file(gnomon: Package, size: int, folder: Path) -> Case:
    """A batch of trivial calls, written into a new file of JSON lines."""
    made = runtime(gnomon)
    announced = calls(gnomon, size)
    path = folder / "batch.jsonl"

    async def run(times: int) -> None:
        for _ in range(times):
            with gnomon.JsonlSession(path) as session:
                await made.run_batch(announced, session=session)
            os.unlink(path)

    return run


def in_a_session(gnomon: Package, session: Any, records: int) -> Case:
    """A batch of one call, in a session that holds so many records of turns before it."""
    made = runtime(gnomon)
    announced = calls(gnomon, 1)
    for turn in range(records // 7):
        place = {"turn": turn, "step": 0}
        told = {"callId": "c0", "name": "act", "arguments": '{"s": "a"}'}
        message = {"callId": "c0", "isError": False, "content": [{"type": "text", "text": "a"}]}
        for kind, data in (
            ("turn/start", {"turn": turn}),
            ("step/start", place),
            ("assistant/calls", {**place, "calls": [told]}),
            ("tool/call", {**place, **told}),
            ("tool/result", {**place, "message": message, "cites": 7 * turn + 3}),
            ("step/end", place),
            ("turn/end", {"turn": turn, "reason": "completed"}),
        ):
            session.append(gnomon.Record(kind, data))

    async def run(times: int) -> None:
        for _ in range(times):
            await made.run_batch(announced, session=session)

    return run


def appends(gnomon: Package, size: int, path: Path | None = None) -> Case:
    """A new session, and so many records appended to it."""
    record = gnomon.Record(
        "tool/call", {"turn": 0, "step": 0, "callId": "c0", "name": "act", "arguments": ""}
    )

    async def run(times: int) -> None:
        for _ in range(times):
            session = gnomon.MemorySession() if path is None else gnomon.JsonlSession(path)
            for _ in range(size):
                session.append(record)
            if path is not None:
                session.close()
                os.unlink(path)

    return run


def on_the_disk(gnomon: Package, session: Any, producers: int) -> Case:
    """So many producers, each of which appends a record and waits until it is on the disk."""
    record = gnomon.Record(
        "tool/call", {"turn": 0, "step": 0, "callId": "c0", "name": "act", "arguments": ""}
    )

    async def produce(times: int) -> None:
        for _ in range(times):
            session.append(record)
            await session.flush()

    async def run(times: int) -> None:
        await asyncio.gather(*[produce(times) for _ in range(producers)])

    return run


def snapshots(gnomon: Package, value: Any) -> Case:
    """A snapshot of a value."""
    snapshot = gnomon.values.snapshot

    async def run(times: int) -> None:
        for _ in range(times):
            snapshot(value)

    return run


def deep_copies(value: Any) -> Case:
    """A deep copy of a value, by the standard library."""

    async def run(times: int) -> None:
        for _ in range(times):
            copy.deepcopy(value)

    return run
