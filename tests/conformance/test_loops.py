"""Scenarios share an event loop, and nothing of one of them is there for the next."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from gnomon_check import loops
from gnomon_check.conform import conform
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin

SEEN: ContextVar[str] = ContextVar("SEEN", default="nothing")


Used = list[tuple[asyncio.AbstractEventLoop, str]]
"""On which loop something ran, and what the variable was there."""


def run_on_asyncio(function: Callable[..., Coroutine[Any, Any, None]], *args: object) -> None:
    loops.run(function, *args, backend="asyncio", order=None)


async def tell(used: Used) -> None:
    used.append((asyncio.get_running_loop(), SEEN.get()))
    SEEN.set("something")


def test_one_after_the_other_runs_on_the_same_loop_with_variables_of_its_own() -> None:
    used: Used = []
    run_on_asyncio(tell, used)
    run_on_asyncio(tell, used)
    assert used[0] == used[1]
    assert used[0][1] == "nothing"


def test_what_is_left_ends_and_the_loop_with_it() -> None:
    used: Used = []
    ended = []
    left = []

    async def leaves_a_task() -> None:
        async def stays() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                ended.append("stays")

        await tell(used)
        left.append(asyncio.create_task(stays()))
        await asyncio.sleep(0)

    run_on_asyncio(leaves_a_task)
    assert ended == ["stays"]
    assert used[0][0].is_closed()
    run_on_asyncio(tell, used)
    assert used[1][0] is not used[0][0]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_is_raised_ends_the_loop(error: type[BaseException]) -> None:
    used = []

    async def fails() -> None:
        used.append(asyncio.get_running_loop())
        raise error("of its own")

    with pytest.raises(error, match="of its own"):
        run_on_asyncio(fails)
    assert used[0].is_closed()


def test_it_is_nobodys_current_loop() -> None:
    asyncio.set_event_loop(None)
    loops._kept.close()
    run_on_asyncio(tell, [])
    with pytest.raises(RuntimeError):
        asyncio.get_event_loop_policy().get_event_loop()


def test_within_another_loop_nothing_is_run_and_that_one_goes_on() -> None:
    async def runs_another() -> None:
        with pytest.raises(RuntimeError, match="Already running asyncio"):
            list(Builtin().windows(next(iter(shipped())), "asyncio"))

    used: Used = []
    run_on_asyncio(tell, used)
    run_on_asyncio(runs_another)
    run_on_asyncio(tell, used)
    assert used[0] == used[1]


def test_another_thread_has_another_loop() -> None:
    used: Used = []
    run_on_asyncio(tell, used)
    thread = threading.Thread(target=run_on_asyncio, args=(tell, used))
    thread.start()
    thread.join()
    assert used[0][0] is not used[1][0]
    assert used[1][0].is_closed()


def test_a_scenario_comes_to_the_same_on_a_loop_that_many_were_run_on() -> None:
    target = Builtin()
    chosen = [one for one in shipped() if target.cannot(one) is None][::12]
    alone = {}
    for one in chosen:
        loops._kept.close()
        alone[one.id] = list(target.windows(one, "asyncio"))
    for one in chosen:
        assert list(target.windows(one, "asyncio")) == alone[one.id]
    gc.collect()
    assert all(conform(one, target, "asyncio").ok for one in chosen)
