"""Tasks of a batch that somebody cancels by themselves, as whoever ends an asyncio loop does with all.

On asyncio only: no code of trio's can cancel a task that is not its own.
"""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from cancel_runs import bytes_of, problems_of

from gnomon import MemorySession, Runtime, ToolCall, tool


@tool(parallel=True)
async def forever() -> str:
    """Wait for ever."""
    await anyio.sleep_forever()
    return "never"


@tool(parallel=True)
async def quick() -> str:
    """Return at once."""
    return "done"


def runtime() -> Runtime:
    made = Runtime(max_parallel=2)
    made.register(forever)
    made.register(quick)
    return made


async def around(execution: Any, following: Any) -> Any:
    return await following()


def calls(*names: str) -> list[ToolCall]:
    return [ToolCall("c", name) for name in names]


def codes(session: MemorySession) -> list[str]:
    results = [one.data for one in session.records() if one.type == "tool/result"]
    return [one.get("error", {}).get("code", "OK") for one in results]


@pytest.mark.clause("SCD-10", "SCD-11", "PY-3")
@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("how", ["by the loop", "the caller first", "the caller last"])
def test_the_end_of_a_loop_leaves_a_complete_log(wrapped: bool, how: str) -> None:
    """Seen to fail: the lane was cut as well, and a call that had ended was left without its result.

    And again: the caller was cancelled last, and the lane went on before it heard of that.
    """
    session = MemorySession()
    left: list[asyncio.Task[Any]] = []

    async def main() -> None:
        made = runtime()
        if wrapped:
            made.on("execute", around)
        batch = made.run_batch(calls("quick", "forever", "quick", "forever", "quick"), session=session)
        left.append(asyncio.create_task(batch))
        await anyio.wait_all_tasks_blocked()
        if how == "by the loop":
            return  # it cancels every task that is left
        others = asyncio.all_tasks() - {asyncio.current_task(), left[0]}
        for task in (*left, *others) if how == "the caller first" else (*others, *left):
            task.cancel()
        await asyncio.wait(left)

    asyncio.run(main())
    assert left[0].cancelled()
    # What a wrapper raises fails its call, whatever the body came to (DSP-13).
    cut = "POLICY_ERROR" if wrapped else "ABORTED"
    assert codes(session) == ["OK", cut, "ABORTED", cut, "ABORTED_BEFORE_DISPATCH"]
    records = tuple(session.records())
    assert records[-1].type == "turn/end"
    assert problems_of(bytes_of(records)) == []


@pytest.mark.clause("SCD-9", "SCD-11")
def test_a_dispatch_whose_task_is_cancelled_before_it_began_fails_the_batch_and_holds_up_nothing() -> None:
    """Seen to fail: the lane waited for it for ever."""
    session = MemorySession()

    async def main() -> None:
        made = runtime()
        before = asyncio.all_tasks()

        async def listener(execution: Any, following: Any) -> Any:
            fresh = asyncio.all_tasks() - before - {asyncio.current_task()}
            for task in fresh:  # the dispatch of the call before this one, where there is one
                task.cancel()
            return await following()

        made.on("pre_execute", listener)
        with pytest.raises(asyncio.CancelledError, match="before it began"):
            await made.run_batch(calls("quick", "quick"), session=session)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before

    asyncio.run(main())
    assert codes(session) == []


@pytest.mark.clause("PY-4")
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
@pytest.mark.parametrize("last", [True, False])
def test_a_listener_that_cancels_the_task_it_is_in_cancels_no_batch(event: Any, last: bool) -> None:
    """Seen to fail in pre-execute: the batch raised a cancellation that nobody had asked for."""
    session = MemorySession()

    async def main() -> list[bool]:
        made = runtime()

        async def listener(*given: Any) -> Any:
            if not last:
                cancel_this()
            answer = await given[-1]()
            if last:
                cancel_this()
            return answer

        made.on(event, listener)
        batch = await made.run_batch(calls("quick", "quick"), session=session)
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0
        return [one.ok for one in batch.results]

    assert len(asyncio.run(main())) == 2
    assert problems_of(bytes_of(tuple(session.records()))) == []


def cancel_this() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
