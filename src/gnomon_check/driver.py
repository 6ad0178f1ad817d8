"""Drives an implementation in process: gives it the steps of a scenario, and tells what happened.

After each input it waits until nothing can proceed without it: what happened until then is a *window*. No
clock is read and nothing sleeps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import anyio
from anyio.abc import TaskGroup

from gnomon_check import loops
from gnomon_check.changes import change_of
from gnomon_check.events import Event
from gnomon_check.harness import Harness, Target
from gnomon_check.orders import Order
from gnomon_check.profiles import PROFILES
from gnomon_check.quiescence import quiesce
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import (
    AbortInputStep,
    AdvanceStep,
    ApproveStep,
    CallKeptStep,
    CancelStep,
    CrashStep,
    OpenStep,
    ReleaseStep,
    RepairStep,
    RequestModelStep,
    ScheduleStep,
    SingleStep,
    inputs_of,
    opening,
)
from gnomon_check.subject import About, Cannot, NotTestable
from gnomon_check.window import Window


class InProcess(Target):
    """An implementation in this process, as it is held to the specification."""

    backends: Sequence[str] = ("asyncio", "trio")
    claims = frozenset(PROFILES)
    """The profiles that it claims: all of them, where it does not say less."""

    @property
    def about(self) -> About:
        """Who it is: its name, where it says no more."""
        return About(name=self.name, version="", language="Python")

    def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
        """Run a scenario, and answer its windows; as `run`. Raises `NotTestable`."""
        reason = self.cannot(scenario)
        if reason is not None:
            raise NotTestable(Cannot("this scenario", reason))
        windows: list[Window] = []
        try:
            _run(scenario, self, windows, backend, order)
        except Exception:
            yield from windows  # what was seen until then
            raise
        yield from windows

    def end(self) -> None:
        """Nothing more is run on it, and there is nothing to end."""


def run(scenario: Scenario, target: Target, backend: str, order: Order | None = None) -> list[Window]:
    """Run a scenario on a target, on asyncio or trio, and answer its windows.

    `order` chooses in which order what is ready at the same time runs; without it, that is the usual one.
    """
    windows: list[Window] = []
    _run(scenario, target, windows, backend, order)
    return windows


def _run(
    scenario: Scenario, target: Target, windows: list[Window], backend: str, order: Order | None
) -> None:
    # Not what the task answers: asyncio writes that out in full, unseen, whenever a runner ends.
    loops.run(_drive, scenario, target, windows, backend=backend, order=order)


async def drive(scenario: Scenario, target: Target) -> list[Window]:
    """Run a scenario on a target in the current event loop, and answer its windows."""
    windows: list[Window] = []
    await _drive(scenario, target, windows)
    return windows


async def _drive(scenario: Scenario, target: Target, windows: list[Window]) -> None:
    harness = Harness(scenario, target)
    async with anyio.create_task_group() as tasks:
        driven = Drive(harness, target, tasks)
        for step in scenario.schedule:
            if driven.in_the_way(step):
                break
            windows.append(await driven.do(step))
        windows.append(await driven.close())


class Drive:
    """A scenario under way on a target, step by step."""

    def __init__(self, harness: Harness, target: Target, tasks: TaskGroup) -> None:
        self.harness = harness
        harness.tasks = tasks
        self._runner = _Runner(harness, target)
        self._tasks = tasks
        self._later = iter(harness.scenario.by_batch()[1:])
        self._opened = False

    def in_the_way(self, step: ScheduleStep) -> bool:
        """Whether a step opens a batch that cannot be opened: another is under way, or has failed."""
        return self._opened and opening(step) and (not self.harness.over or self.harness.failed)

    async def do(self, step: ScheduleStep) -> Window:
        """Do a step of the schedule, and wait until nothing can proceed."""
        match step:
            case CrashStep():
                self.harness.crash()
            case RepairStep():
                self.harness.crashed = False
                self.harness.controls.repair()
                self.harness.crashed = True
                return Window(step, (), self.harness.take_events(), frozenset(), True)
        if self._opened and opening(step):
            self.harness.begin(next(self._later))
        for one in inputs_of(step):
            self._give(one)
        return await self._window(step)

    def _give(self, one: SingleStep) -> None:
        harness = self.harness
        match one:
            case OpenStep():
                self._opened = True
                harness.over = False
                harness.emit("batch.opened", **announcement(harness.scenario))
                self._tasks.start_soon(self._runner.run)
            case ReleaseStep(release=release):
                harness.release(release.gate)
            case AbortInputStep(abort=abort):
                harness.abort_signal(abort.signal, abort.reason)
            case CancelStep():
                self._runner.cancel()
            case ApproveStep(approve=approve):
                harness.approve(approve.pos, approve.outcome)
            case AdvanceStep(advance=advance):
                harness.emit("time.advanced", ms=advance.ms)
                harness.clock.advance(advance.ms)
            case RequestModelStep():
                harness.request_model()
            case CallKeptStep(call_kept=kept):
                harness.call_kept(kept.name)
            case _:
                harness.change(change_of(one))

    async def close(self) -> Window:
        """The scenario is over: open every gate, let all time pass, abort what can be aborted."""
        harness = self.harness
        harness.release_everything()
        harness.abort("the scenario is over")
        harness.controls.finish()
        last = await self._window(None)
        if not harness.over:
            harness.abort_what_is_left()
            last = _joined(last, await self._window(None))
        if not harness.over:
            await harness.break_off()
        return last

    async def _window(self, step: ScheduleStep | None) -> Window:
        harness = self.harness
        echoes = harness.take_events()
        await quiesce()
        while harness.clock.pass_on():
            await quiesce()
        idle = harness.over or harness.crashed
        return Window(step, echoes, harness.take_events(), harness.blocked(), idle)


def _joined(first: Window, second: Window) -> Window:
    return replace(second, echoes=first.echoes, events=(*first.events, *second.echoes, *second.events))


def announcement(scenario: Scenario) -> Event:
    """What `batch.opened` says of the batch of a scenario."""
    calls = [
        {"call_id": one.id, "name": one.name, "arguments": one.arguments} for one in scenario.batch.calls
    ]
    return {"batch": scenario.batch.id, "calls": calls, "max_parallel": scenario.limits.max_parallel}


class _Runner:
    """The task that runs the batch, and how it is cancelled natively."""

    def __init__(self, harness: Harness, target: Target) -> None:
        self._harness = harness
        self._target = target
        self._scope: anyio.CancelScope | None = None
        self._task: asyncio.Task[Any] | None = None

    async def run(self) -> None:
        emit = self._harness.emit
        cancelled = anyio.get_cancelled_exc_class()
        if issubclass(cancelled, asyncio.CancelledError):
            self._task = asyncio.current_task()
        with anyio.CancelScope() as self._scope:
            try:
                concluded = await self._target.run_batch(self._harness)
            except cancelled:
                emit("batch.closed", ended="cancelled", concluded=False)
            except BaseException as error:  # whatever leaves the batch is what is judged
                self._harness.failed = True
                emit("batch.failed", where="other", error={"type": type(error).__name__})
            else:
                emit("batch.closed", ended="returned", concluded=concluded)
            finally:
                self._harness.over = True

    def cancel(self) -> None:
        if self._harness.over:
            return
        if self._task is not None:
            self._task.cancel()
        elif self._scope is not None:
            self._scope.cancel()
