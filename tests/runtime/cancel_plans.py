"""Drawn batches for the fuzz of cancellations: what their bodies, policies and approvers do.

Nothing here waits for time to pass. What waits for ever ends when it is told to, or when it is cancelled;
time is virtual, and goes on where everything else stands still.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
from hypothesis import strategies as st

from gnomon import (
    AbortController,
    AbortSignal,
    Ask,
    CallbackApprover,
    Deny,
    DispatchExecution,
    Execution,
    Next,
    Output,
    Result,
    Runtime,
    Session,
    Tool,
    ToolCall,
    ToolContext,
)

BODIES = (
    "quick",
    "steps",
    "forever",
    "cleans up",
    "swallows",
    "heeds its signal",
    "is deaf for a while",
    "raises its own error",
    "leaks a cancellation",
    "raises cancellations in a group",
    "raises a mixed group",
    "raises SystemExit",
    "raises GeneratorExit",
    "raises StopIteration",
    "raises KeyboardInterrupt",
    "thread",
    "thread that waits",
    "thread that calls",
    "thread that raises",
    "nested call",
    "nested batch",
    "nested batch on its own",
)
PRES = ("none", "steps", "waits", "asks", "denies", "leaks a cancellation")
APPROVERS = ("allows", "steps", "forever", "cleans up", "swallows")
WRAPPERS = ("none", "steps", "waits", "tries again", "leaks a cancellation")
POSTS = ("none", "steps", "waits", "leaks a cancellation")
GUARDS = ("none", "denies", "leaks a cancellation")
DEAF = ("heeds its signal", "is deaf for a while")
THREADS = ("thread", "thread that waits", "thread that calls", "thread that raises")


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What one call is, and what stands around it."""

    body: str = "quick"
    parallel: bool = True
    timed: bool = False
    pre: str = "none"
    approver: str = "allows"
    guard: str = "none"
    wrapper: str = "none"
    post: str = "none"


@dataclass(frozen=True, slots=True)
class Plan:
    """A batch, and where its log goes."""

    calls: tuple[CallPlan, ...]
    pool: int = 3
    store: str = "memory"
    signal: bool = True
    time_first: bool = False
    """Whether, where everything waits, a deadline passes before the next cancellation comes."""


@dataclass(frozen=True, slots=True)
class Landing:
    """A cancellation, so many steps of the event loop after the one before it."""

    after: int
    way: str = "scope"
    """"scope": the scope around the batch; "task": the task that runs it, natively; "abort": its signal."""


def mostly_none(kinds: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Most calls have to reach their bodies."""
    return st.sampled_from(("none",) * (2 * len(kinds)) + kinds)


call_plans = st.builds(
    CallPlan,
    body=st.sampled_from(BODIES),
    parallel=st.sampled_from((True, True, False)),
    timed=st.sampled_from((False, False, True)),
    pre=mostly_none(PRES),
    approver=st.sampled_from(APPROVERS),
    guard=mostly_none(GUARDS),
    wrapper=mostly_none(WRAPPERS),
    post=mostly_none(POSTS),
)
plans = st.builds(
    Plan,
    calls=st.lists(call_plans, min_size=1, max_size=5).map(tuple),
    pool=st.integers(1, 4),
    store=st.sampled_from(("memory", "jsonl", "none")),
    signal=st.booleans(),
    time_first=st.booleans(),
)

SET_PIECES = tuple(
    Plan(
        calls=(
            CallPlan(
                body=body,
                timed=number % 5 == 4,
                pre=("none", "steps", "asks")[number % 3],
                approver=("allows", "steps")[number % 2],
                wrapper=WRAPPERS[number % 4],
                post=POSTS[number // 2 % 3],
            ),
            CallPlan("steps", timed=True, post="steps"),
            # While a commit waits nobody is asked, and the other way round.
            CallPlan(
                "quick", pre="none" if number // 2 % 3 == 2 else "asks", approver=APPROVERS[2 + number % 3]
            ),
            CallPlan("forever", parallel=False),
        ),
        store=("memory", "jsonl")[number % 2],
        signal=number % 4 > 0,
        time_first=number % 5 == 4,
    )
    for number, body in enumerate(BODIES)
)
"""A batch for each kind of body, so that none depends on what is drawn."""

WAYS = ("scope", "task", "abort")
gaps = st.lists(st.builds(Landing, st.integers(0, 6), st.sampled_from(WAYS)), max_size=4)


def bursts(first: st.SearchStrategy[int]) -> st.SearchStrategy[list[Landing]]:
    """A cancellation, alone or with a few that follow closely."""
    return st.builds(lambda one, more: [one, *more], st.builds(Landing, first, st.sampled_from(WAYS)), gaps)


class World:
    """A runtime for a plan, and everything that happens to its calls."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.caller = AbortController()
        self.inside: Counter[str] = Counter()
        """What is under way: "prepare", "approval", "body", "commit"."""
        self.begun: Counter[int] = Counter()
        """How often the body of each call began."""
        self.values: dict[int, list[str]] = {}
        """What the body of each call answered."""
        self.under_way: set[int] = set()
        """The calls whose bodies, or wrappers within a timeout, are under way."""
        self.ran_out: set[int] = set()
        """Those that were, when a deadline passed."""
        self.failed: set[int] = set()
        """The calls whose body raised while nobody had told it to end."""
        self.busy = 0
        """Threads that have something to do before everything stands still."""
        self.asked: Counter[str] = Counter()
        self.prepared = 0
        self.struck = False
        self.used_threads = any(one.body in THREADS for one in plan.calls)
        self._lock = threading.Lock()
        self.alarms: list[anyio.Event] = []
        self.cancelled: type[BaseException] = asyncio.CancelledError
        self.runtime = Runtime(approver=CallbackApprover(self._approve), clock=self)
        self.scope = self.runtime.scope("agent")
        for position, one in enumerate(plan.calls):
            self.runtime.register(self._tool(position, one))
        self.runtime.on("pre_execute", self._pre)
        self.runtime.guard(self._guard)
        self.runtime.on("execute", self._wrapper)
        self.runtime.on("post_execute", self._post)
        for name, kind in (("inner steps", "steps"), ("inner forever", "cleans up")):
            self.runtime.register(self._inner(name, kind))

    async def run(self, session: Session | None) -> Any:
        """Run the batch."""
        calls = [ToolCall("c", f"act{position}") for position in range(len(self.plan.calls))]
        return await self.runtime.run_batch(
            calls,
            scope=self.scope,
            session=session,
            signal=self.caller.signal if self.plan.signal else None,
            max_parallel=self.plan.pool,
        )

    # -- time --------------------------------------------------------------------------------------

    def now(self) -> float:
        return 0.0

    async def sleep_until(self, moment: float) -> None:
        alarm = anyio.Event()
        self.alarms.append(alarm)
        try:
            await alarm.wait()
        finally:
            self.alarms.remove(alarm)

    def pass_on(self) -> None:
        """Have the time come that somebody waits for."""
        self.ran_out |= self.under_way
        self.alarms[0].set()

    # -- what is around a body ---------------------------------------------------------------------

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        self.inside[what] += 1
        try:
            yield
        finally:
            self.inside[what] -= 1

    def _plan_of(self, execution: Any) -> CallPlan | None:
        name = execution.name
        return self.plan.calls[int(name.removeprefix("act"))] if name.startswith("act") else None

    async def _by(self, kind: str, signal: AbortSignal) -> None:
        """What a policy step does before it answers."""
        match kind:
            case "steps":
                await steps(2)
            case "waits":
                await signal.wait()
                await steps(1)
            case "leaks a cancellation":
                await steps(1)
                raise asyncio.CancelledError

    async def _pre(self, execution: Execution, following: Next[Any]) -> Any:
        plan = self._plan_of(execution)
        if plan is None:
            return await following()
        self.prepared += 1
        with self.during("prepare"):
            await self._by(plan.pre, execution.signal)
            answer = await following()
            if plan.pre == "asks":
                return Ask(plan.approver)
            return Deny("no") if plan.pre == "denies" else answer

    async def _approve(self, request: Any) -> bool:
        self.asked[request.reason] += 1
        with self.during("approval"):
            match request.reason:
                case "steps":
                    await steps(2)
                case "forever":
                    await anyio.sleep_forever()
                case "cleans up":
                    await cleaning_up()
                case "swallows":
                    with suppress(self.cancelled):
                        await anyio.sleep_forever()
            return True

    def _guard(self, execution: Execution) -> str | None:
        plan = self._plan_of(execution)
        if plan is not None and plan.guard == "leaks a cancellation":
            raise asyncio.CancelledError
        return "no" if plan is not None and plan.guard == "denies" else None

    async def _wrapper(self, execution: DispatchExecution, following: Next[Result]) -> Result:
        plan = self._plan_of(execution)
        if plan is None:
            return await following()
        position = int(execution.name.removeprefix("act"))
        self.under_way.add(position)
        try:
            if plan.wrapper == "tries again":
                await following()
            result = await following()
            await self._by(plan.wrapper, execution.signal)
            return result
        finally:
            self.under_way.remove(position)

    async def _post(self, execution: Execution, result: Result, following: Next[Any]) -> Any:
        plan = self._plan_of(execution)
        if plan is None:
            return await following()
        with self.during("commit"):
            await self._by(plan.post, execution.signal)
            return await following()

    # -- bodies ------------------------------------------------------------------------------------

    def _tool(self, position: int, plan: CallPlan) -> Tool:
        threaded = plan.body in THREADS

        async def run(arguments: Any, context: ToolContext) -> object:
            self.begun[position] += 1
            with self.during("body"):
                try:
                    await self._act(plan.body, context)
                except BaseException:
                    if not context.signal.aborted:
                        self.failed.add(position)
                    raise
                return self._answer(position)

        def run_in_thread(arguments: Any, context: ToolContext) -> object:
            with self._lock:
                self.begun[position] += 1
                self.inside["body"] += 1
            try:
                self._act_in_thread(plan.body, context)
                return self._answer(position)
            finally:
                with self._lock:
                    self.inside["body"] -= 1
                    self.busy -= 1

        def convert(arguments: Any) -> Any:
            if threaded:
                with self._lock:
                    self.busy += 1  # before the thread has begun
            return arguments

        return Tool(
            name=f"act{position}",
            description="Act.",
            parameters={"type": "object"},
            output=Output(schema={}),
            run=run_in_thread if threaded else run,
            convert=convert,
            parallel=plan.parallel,
            timeout=1.0 if plan.timed else None,
            interrupt="signal" if plan.body in DEAF else "cancel",
        )

    def _inner(self, name: str, kind: str) -> Tool:
        async def run(arguments: Any, context: ToolContext) -> object:
            with self.during("body"):
                await self._act(kind, context)
                return "inner"

        return Tool(
            name=name,
            description="Act.",
            parameters={"type": "object"},
            output=Output(schema={}),
            run=run,
            parallel=True,
        )

    def _answer(self, position: int) -> str:
        with self._lock:
            answered = self.values.setdefault(position, [])
            answered.append(f"{position}:{len(answered)}")
            return answered[-1]

    async def _act(self, kind: str, context: ToolContext) -> None:
        match kind:
            case "quick":
                return
            case "steps":
                await steps(3)
            case "forever":
                await anyio.sleep_forever()
            case "cleans up":
                await cleaning_up()
            case "swallows":
                try:
                    await anyio.sleep_forever()
                except self.cancelled:
                    with anyio.CancelScope(shield=True):
                        await steps(2)
            case "heeds its signal":
                await context.signal.wait()
                await steps(2)
            case "is deaf for a while":
                await self.sleep_until(1.0)
            case "raises its own error":
                try:
                    await anyio.sleep_forever()
                finally:
                    raise ValueError("its own")
            case "nested call" | "nested batch" | "nested batch on its own":
                await self._nested(kind, context)
            case _:
                await steps(2)
                if kind == "raises KeyboardInterrupt":
                    self.struck = True
                raise RAISED[kind]()

    async def _nested(self, kind: str, context: ToolContext) -> None:
        given: dict[str, Any] = {"scope": self.scope}
        if kind != "nested batch on its own":
            given |= {"parent": context.token, "root_call_id": context.root_call_id, "signal": context.signal}
        if kind == "nested call":
            await self.runtime.execute(ToolCall("n", "inner steps"), **given)
            await self.runtime.execute(ToolCall("n", "inner forever"), **given)
            return
        names = ("inner steps", "inner forever", "inner steps")
        await self.runtime.run_batch([ToolCall("n", name) for name in names], max_parallel=2, **given)

    def _act_in_thread(self, kind: str, context: ToolContext) -> None:
        if kind == "thread that waits":
            told = threading.Event()
            with context.signal.on_abort(lambda reason: told.set()):
                with self._lock:
                    self.busy -= 1
                told.wait()
                with self._lock:
                    self.busy += 1
        elif kind == "thread that raises":
            raise StopIteration  # no future takes it
        elif kind == "thread that calls":
            call = ToolCall("n", "inner steps")
            anyio.from_thread.run(lambda: self.runtime.execute(call, scope=self.scope, signal=context.signal))


RAISED: dict[str, Callable[[], BaseException]] = {
    "leaks a cancellation": asyncio.CancelledError,
    "raises cancellations in a group": lambda: BaseExceptionGroup("g", [asyncio.CancelledError()]),
    "raises a mixed group": lambda: BaseExceptionGroup("g", [asyncio.CancelledError(), ValueError("one")]),
    "raises SystemExit": SystemExit,
    "raises GeneratorExit": GeneratorExit,
    "raises StopIteration": StopIteration,
    "raises KeyboardInterrupt": KeyboardInterrupt,
}


async def steps(count: int) -> None:
    for _ in range(count):
        await anyio.lowlevel.checkpoint()


async def cleaning_up() -> None:
    """Wait for ever, and unwind slowly."""
    try:
        await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await steps(3)
