"""Runs of drawn batches with cancellations that land on exact steps of the event loop, and their judge.

On asyncio and uvloop a step is a callback that somebody hands to the loop, on trio a step of a task. A run
that hangs is found by counting: nothing can happen any more, or too many steps have been made. Nothing here
looks at a clock.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import trio
from cancel_plans import Landing, Plan, World

from gnomon import BatchResult, JsonlSession, MemorySession, Session
from gnomon.session import StoredRecord
from gnomon.session.records import encode
from gnomon_check.trace.check import findings
from gnomon_check.trace.detect import read_input

try:
    import uvloop
except ImportError:  # it has no builds for Windows
    uvloop = None

BACKENDS = ("asyncio", "trio") if uvloop is None else ("asyncio", "uvloop", "trio")
TOO_MANY_STEPS = 20_000
STANDS_STILL = 4
"""So many turns of the loop in which nothing happens mean that nothing will."""
STANDS_STILL_BESIDE_THREADS = 3_000_000
"""The same where a thread may yet hand something to the loop: turns are counted, and they are short."""

MOMENTS = ("before the start", "prepare", "approval", "body", "drain", "commit", "after the end", "between")


class Hung(AssertionError):
    """The batch does not end."""


@dataclass
class Run:
    """One run under way: counts its steps, lands what has to land, and notes what it was at that moment."""

    world: World
    landings: list[Landing]
    steps: int = 0
    turns: int = 0
    """Turns of the loop since something last happened."""
    next_at: int = 0
    entered: bool = False
    ended: bool = False
    left: bool = False
    scope: Any = None
    task: asyncio.Task[None] | None = None
    landed: Counter[str] = field(default_factory=Counter)
    """How many cancellations of each way came while the batch ran."""
    later: int = 0
    """How many native ones came after that."""
    moments: Counter[str] = field(default_factory=Counter)
    answer: BatchResult | None = None
    raised: BaseException | None = None
    cancelling: int = 0
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.next_at = self.landings[0].after

    def step(self) -> bool:
        """Count a step; answers whether a cancellation lands before it."""
        self.steps += 1
        self.turns = 0
        if self.steps > TOO_MANY_STEPS:
            raise Hung(f"it made {self.steps} steps")
        return bool(self.landings) and self.steps >= self.next_at and not self.left

    def moment(self) -> str:
        inside = self.world.inside
        if self.ended:
            return "after the end"
        if not self.entered:
            return "before the start"
        if self.landed:
            return "drain"
        for one in ("approval", "prepare", "commit", "body"):
            if inside[one]:
                return one
        return "between"

    def land(self) -> None:
        """Cancel."""
        landing = self.landings.pop(0)
        if self.landings:
            self.next_at = self.steps + self.landings[0].after
        self.moments[self.moment()] += 1
        way = landing.way
        if not (self.task if way == "task" else self.world.plan.signal):
            way = "scope"
        if not self.ended and (way != "scope" or not self.landed[way]):
            self.landed[way] += 1
        elif way == "task":
            self.later += 1
        if way == "abort":
            self.world.caller.abort("enough")
        elif way == "task":
            assert self.task is not None
            self.task.cancel()
        else:
            self.scope.cancel()

    def stands_still(self) -> None:
        """What goes on where nothing else does: a thread, the time, the next cancellation, or nothing."""
        self.turns += 1
        world = self.world
        if self.turns < STANDS_STILL or (world.busy and self.turns < STANDS_STILL_BESIDE_THREADS):
            return
        if world.alarms and (world.plan.time_first or not self.landings):
            self.turns = 0
            world.pass_on()
        elif self.landings:
            self.turns = 0
            self.land()
        elif not world.used_threads or self.turns >= STANDS_STILL_BESIDE_THREADS:
            raise Hung(f"nothing happens any more after {self.steps} steps")

    async def owner(self, session: Session | None) -> None:
        """What the user of a runtime writes around a batch."""
        self.world.cancelled = anyio.get_cancelled_exc_class()
        with self.scope:
            self.entered = True
            try:
                self.answer = await self.world.run(session)
            except BaseException as error:
                self.raised = error
                if isinstance(error, self.world.cancelled):
                    raise
            finally:
                self.ended = True
                self.cancelling = 0 if self.task is None else self.task.cancelling()
            for _ in range(3):
                await anyio.lowlevel.checkpoint()


# -- asyncio, and uvloop ----------------------------------------------------------------------------


def _counting(base: type[asyncio.AbstractEventLoop]) -> type[Any]:
    class Loop(base):  # type: ignore[misc,valid-type]  # which loop it is, is given
        run: Run | None = None
        failure: BaseException | None = None

        def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
            run = self.run
            if run is not None and self.failure is None:
                try:
                    if run.step():
                        super().call_soon(self.land)
                except Hung as hung:
                    self.give_up(hung)
            return super().call_soon(callback, *args, context=context)

        def land(self) -> None:
            run = self.run
            if run is not None and run.landings and not run.left:
                run.land()

        def turn(self) -> None:
            if self.run is None:
                return
            try:
                self.run.stands_still()
            except Hung as hung:
                self.give_up(hung)
            super().call_soon(self.turn)

        def give_up(self, hung: BaseException) -> None:
            self.failure = hung
            self.stop()

    return Loop


LOOPS = {"asyncio": _counting(asyncio.SelectorEventLoop)}
if uvloop is not None:
    LOOPS["uvloop"] = _counting(uvloop.Loop)


def _on_asyncio(kind: str, run: Run, session: Session | None) -> None:
    loop = LOOPS[kind]()
    loop.set_exception_handler(lambda _, about: run.complaints.append(str(about)))

    async def main() -> None:
        before = asyncio.all_tasks()
        run.scope = anyio.CancelScope()
        loop.run = run
        loop.turn()
        run.task = asyncio.create_task(run.owner(session))
        await asyncio.wait({run.task})
        run.left = True
        loop.run = None
        if len(asyncio.all_tasks() - before):
            run.complaints.append(f"tasks are left: {asyncio.all_tasks() - before}")

    try:
        try:
            loop.run_until_complete(main())
        except RuntimeError:
            if loop.failure is None:
                raise
            raise loop.failure from None
    finally:
        loop.close()


# -- trio -------------------------------------------------------------------------------------------


class _Steps(trio.abc.Instrument):
    """Counts the steps of all tasks but those that only carry what this class itself asks for."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.failure: BaseException | None = None

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if (
            self.run.scope is None
            or self.run.left
            or self.failure is not None
            or "run_sync_soon" in task.name
        ):
            return
        try:
            if self.run.step():
                self.run.land()
        except Hung as hung:
            self.fail(hung)

    def before_io_wait(self, timeout: float) -> None:
        if timeout > 0 and not self.run.left and self.failure is None:
            trio.lowlevel.current_trio_token().run_sync_soon(self.still)

    def still(self) -> None:
        try:
            if self.run.scope is not None and not self.run.left:
                self.run.stands_still()
        except Hung as hung:
            self.fail(hung)

    def fail(self, hung: BaseException) -> None:
        self.failure = hung


class _Clock(trio.abc.Clock):
    """Time stands still. It is also the only way out of a run of trio whose tasks never end."""

    def __init__(self, steps: _Steps) -> None:
        self.steps = steps

    def start_clock(self) -> None:
        pass

    def current_time(self) -> float:
        if self.steps.failure is not None:
            raise self.steps.failure
        return 0.0

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self.current_time()


def _on_trio(run: Run, session: Session | None) -> None:
    async def main() -> None:
        before = trio.lowlevel.current_statistics().tasks_living
        run.scope = anyio.CancelScope()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run.owner, session)
        run.left = True
        after = trio.lowlevel.current_statistics().tasks_living
        if after != before:
            run.complaints.append(f"tasks are left: {after - before}")

    steps = _Steps(run)
    try:
        trio.run(main, instruments=[steps], clock=_Clock(steps))
    except trio.TrioInternalError:
        if steps.failure is None:
            raise
        raise steps.failure from None


# -- the judge --------------------------------------------------------------------------------------


def bytes_of(records: Sequence[StoredRecord]) -> bytes:
    """A log in memory, as the file that it would be."""
    lines, crc = [], 0
    for one in records:
        line, crc = encode(one.seq, crc, one)  # type: ignore[arg-type]  # it has type and data
        lines.append(line)
    return b"".join(lines)


def problems_of(content: bytes) -> list[str]:
    """What `gnomon verify` says against a log."""
    return [f"{one.where}: {one.text}" for one in findings(read_input(content))]


@functools.cache
def _warmed_up(backend: str) -> None:
    """The first loop of a kind may open what the process then keeps: uvloop does."""
    if backend != "trio":
        LOOPS[backend]().close()


def run(backend: str, plan: Plan, landings: Sequence[Landing]) -> Run:
    """Run a batch under cancellations, and judge it. Raises `AssertionError` for whatever does not hold."""
    _warmed_up(backend)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    done = Run(World(plan), list(landings))
    with tempfile.TemporaryDirectory() if plan.store == "jsonl" else contextlib.nullcontext() as folder:
        path = Path(folder or "") / "log.jsonl"
        # No thread syncs: how many steps of the loop that takes, nobody could repeat.
        jsonl = partial(JsonlSession, path, fsync="never")
        session: Any = {"jsonl": jsonl, "memory": MemorySession, "none": lambda: None}
        store = session[plan.store]()
        try:
            if backend == "trio":
                _on_trio(done, store)
            else:
                _on_asyncio(backend, done, store)
            records = None if store is None else tuple(store.records())
            content = None if records is None else path.read_bytes() if folder else bytes_of(records)
        finally:
            if folder:
                store.close()
    judge(done, records, content)
    if before:
        assert len(os.listdir("/proc/self/fd")) == before, "a file is left open"
    return done


def judge(done: Run, records: Sequence[StoredRecord] | None, content: bytes | None) -> None:
    """What has to hold after every run."""
    world, plan = done.world, done.world.plan
    assert not done.complaints, done.complaints
    assert not +world.inside, f"still under way: {dict(+world.inside)}"
    assert not world.caller.signal._callbacks, "a callback is left on the caller's signal"
    assert not world.under_way, f"still under way: {world.under_way}"
    assert not world.alarms, "somebody still waits for the time"
    if done.moments["before the start"]:
        assert not world.begun, "a body began, and the caller had been cancelled before"
        assert not world.prepared, "a listener ran, and the caller had been cancelled before"
    came = done.landed["scope"] + done.landed["task"]
    if not done.entered:
        assert done.task is not None
        assert done.task.cancelled(), "it never ran, and nobody was told"
        assert not records, "and it has logged something"
        return
    if world.struck:
        assert isinstance(done.raised, KeyboardInterrupt), f"struck, and {done.raised!r} left"
    elif done.landed["task"]:
        assert isinstance(done.raised, world.cancelled), f"a cancellation was lost: {done.raised!r}"
    elif came:
        # One that comes between the end of the last task and the caller's next step is met by whatever the
        # caller waits for next: the scope is still cancelled.
        assert done.raised is None or isinstance(done.raised, world.cancelled), repr(done.raised)
        assert done.scope.cancelled_caught or done.later, "the scope did not get its cancellation"
    else:
        assert done.raised is None, f"it raised {done.raised!r}"
        assert done.answer is not None
    if done.task is not None and not done.landed["scope"]:
        assert done.cancelling == done.landed["task"], "somebody took a cancellation back"
    if records is not None and content is not None:
        _judge_log(done, records, content)
    if done.answer is not None:
        assert len(done.answer.results) == len(plan.calls)


def _judge_log(done: Run, records: Sequence[StoredRecord], content: bytes) -> None:
    world, plan = done.world, done.world.plan
    results = [one.data for one in records if one.type == "tool/result"]
    if not world.struck:
        assert not problems_of(content), problems_of(content)
        assert records[-1].type == "turn/end"
        assert len(results) == len(plan.calls), f"{len(results)} results for {len(plan.calls)} calls"
    if done.answer is not None:
        codes = ["OK" if one.ok else one.error.code for one in done.answer.results]
        assert codes == [one.get("error", {}).get("code", "OK") for one in results]
    for position, result in enumerate(results):
        code = result.get("error", {}).get("code", "OK")
        began = world.begun[position]
        if code == "ABORTED_BEFORE_DISPATCH":
            assert not began, f"the body of call {position} ran, and its result says that it did not"
        if code == "ABORTED":
            assert began, f"the body of call {position} did not run, and its result says that it did"
            # A second attempt under an abort is ABORTED as well, and does not run the body (DSP-3).
            alone = plan.calls[position].wrapper != "tries again"
            assert not (alone and position in world.failed), f"call {position} failed by itself"
        if code == "TOOL_TIMEOUT":
            assert position in world.ran_out, f"call {position} had ended before its deadline passed"
        if code == "OK":
            shown = result["message"]["content"][0]["text"]
            assert shown == world.values[position][-1], f"call {position} answered another value"
