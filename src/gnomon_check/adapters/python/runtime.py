"""A little runtime for batches of tool calls, on asyncio and trio.

    runtime = Runtime([Tool("read", read, parallel=True)])
    batch = await runtime.run_batch([ToolCall("c1", "read", '{"path": "x"}')], signal=signal, log=log)

A language model announces calls in one message, and every one of them is answered, in that order, whatever
happens. There are no hooks, guards or approvals here, and a tool that is to end early heeds its signal:
nothing cancels a body from outside.

Ids such as SCD-6 are clauses of the specification: `gnomon explain SCD-6` says what each asks for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import TaskGroup
from values import NotJson, faults, parse, shown, snapshot

# -- what goes in, and what comes out -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model announced it; `arguments` is the raw text."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `parallel`, or what it answers of the arguments, says whether a call may overlap others."""

    name: str
    run: Callable[[Any, Context], Awaitable[object]]
    parameters: Any = field(default_factory=lambda: {"type": "object"})
    output: Any = field(default_factory=dict)
    parallel: bool | Callable[[Any], object] = False
    timeout: float | None = None
    """How many seconds it may take, after which its signal aborts."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a call comes to: a success, without a code, or a failure with one."""

    text: str
    """What the model is shown."""
    code: str | None = None
    value: Any = None
    contexts: tuple[str, ...] = ()
    """What the model is told beside the results."""
    concludes: bool = False
    """The turn ends with this call."""

    @property
    def ok(self) -> bool:
        """Whether it is a success."""
        return self.code is None


def failure(code: str, message: str) -> Result:
    """A failure, as the model is shown it (OUT-5)."""
    return Result(f"Error: {message}", code)


class ToolError(Exception):
    """What a tool raises that says its own code."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Log:
    """A log in memory. Whoever keeps one elsewhere derives from it."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def append(self, record: dict[str, Any]) -> int:
        """Append a record, and answer its number (LOG-1)."""
        self.records.append(record)
        return len(self.records) - 1


class Signal:
    """Says that whoever waits for a result does not want it any more. The first reason counts."""

    def __init__(self) -> None:
        self.aborted = False
        self.reason: object = None
        self._callbacks: dict[object, Callable[[object], None]] = {}

    def abort(self, reason: object = None) -> None:
        """Abort."""
        if not self.aborted:
            self.aborted, self.reason = True, reason
            for callback in list(self._callbacks.values()):
                callback(reason)

    @contextmanager
    def on_abort(self, callback: Callable[[object], None]) -> Iterator[None]:
        """Call back when it aborts, at once if it has; within a `with` block, and not after it."""
        key = object()
        self._callbacks[key] = callback
        try:
            if self.aborted:
                callback(self.reason)
            yield
        finally:
            del self._callbacks[key]


class DeadlinePassed:
    """The reason with which a timeout aborts the signal of a body; each call has its own."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a body is given beside its arguments."""

    call_id: str
    signal: Signal
    _call: _Execution

    def defer(self, context: str) -> None:
        """Hand over what the model is to be told beside the results, also where the call fails."""
        self._call.contexts.append(context)  # DSP-11

    def conclude_turn(self) -> None:
        """Ask to end the turn with this call; that counts where it succeeds."""
        self._call.concludes = True  # DSP-14


# -- the runtime ----------------------------------------------------------------------------------


class Runtime:
    """Runs the calls of its tools. Two functions tell it the time, in seconds, and wait for one."""

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        max_parallel: int = 10,
        now: Callable[[], float] = anyio.current_time,
        sleep_until: Callable[[float], Awaitable[None]] = anyio.sleep_until,
    ) -> None:
        self.tools = {one.name: one for one in tools}
        self.max_parallel = max_parallel
        self.now = now
        self.sleep_until = sleep_until

    async def run_batch(
        self, calls: Sequence[ToolCall], *, signal: Signal | None = None, log: Log | None = None
    ) -> Batch:
        """Run the calls of one message to their end. Raises what the log raises, once nothing runs."""
        batch = Batch(self, calls, signal or Signal(), log or Log())
        await batch.run()
        return batch

    async def execute(self, call: ToolCall, *, signal: Signal | None = None) -> Result:
        """Run one call outside of any batch."""
        one = _Execution(self, call, signal or Signal())
        await one.settle()
        return one.outcome()


class _Execution:
    """One call on its way."""

    def __init__(self, runtime: Runtime, call: ToolCall, caller: Signal) -> None:
        self.call = call
        self.contexts: list[str] = []
        self.concludes = False
        self.parallel = False
        self.logged_as = -1
        self._runtime = runtime
        self._caller = caller
        self._body_ran = False
        self._settled: Result | None = None

    @property
    def settled(self) -> bool:
        """Whether it only waits for its outcome to be told."""
        return self._settled is not None

    def may_overlap(self) -> bool:
        """Whether its tool says so of its arguments, with exactly true; in every doubt not (SCD-2)."""
        tool = self._runtime.tools.get(self.call.name)
        try:
            arguments = parse(self.call.arguments)
            if tool is None or faults(tool.parameters, arguments):
                return False
            return (tool.parallel(arguments) if callable(tool.parallel) else tool.parallel) is True
        except Exception:
            return False  # SCD-2: arguments that are none, or a classifier that raises

    def outcome(self) -> Result:
        """The result, where the caller's signal is looked at for the last time."""
        if self._settled is None or (self._settled.ok and self._caller.aborted):  # CAN-5..7
            return replace(self._aborted(), contexts=tuple(self.contexts))
        return self._settled

    def _aborted(self) -> Result:
        if self._body_ran:
            return failure("ABORTED", "the call was aborted, and may have had effects")  # CAN-2
        return failure("ABORTED_BEFORE_DISPATCH", "the call was aborted before it ran")  # CAN-2

    async def settle(self) -> None:
        """Run it. Nothing leaves this but how it has settled."""
        result = await self._run()
        self._settled = replace(result, contexts=tuple(self.contexts))  # DSP-11: of a failure, too

    async def _run(self) -> Result:
        try:
            arguments = parse(self.call.arguments)
        except NotJson as error:
            return failure("INVALID_ARGS", str(error))  # CRE-2: also where the caller has aborted
        if self._caller.aborted:
            return self._aborted()  # CRE-4, DSP-3
        tool = self._runtime.tools.get(self.call.name)
        if tool is None:
            return failure("UNKNOWN_TOOL", f"there is no tool {self.call.name}")  # DSP-4
        if wrong := faults(tool.parameters, arguments):
            return failure("INVALID_ARGS", wrong)  # DSP-8
        signal, deadline = Signal(), DeadlinePassed()
        with self._caller.on_abort(signal.abort):  # CAN-3
            async with anyio.create_task_group() as beside:
                beside.start_soon(self._watch, tool.timeout, signal, deadline)
                result = await self._run_body(tool, arguments, signal)  # DSP-6: to its end, always
                beside.cancel_scope.cancel()
        if signal.reason is deadline:  # TMO-2: it was over first, so it replaces whatever came back
            return failure("TOOL_TIMEOUT", f"it took more than {tool.timeout} s")
        return result

    async def _watch(self, seconds: float | None, signal: Signal, deadline: DeadlinePassed) -> None:
        if seconds is not None:
            await self._runtime.sleep_until(self._runtime.now() + seconds)
            signal.abort(deadline)  # TMO-1: the body is told, and waited for

    async def _run_body(self, tool: Tool, arguments: Any, signal: Signal) -> Result:
        self._body_ran = True  # DSP-5
        try:
            value = await tool.run(arguments, Context(self.call.id, signal, self))
        except Exception as error:  # DSP-7: whatever a tool raises is its result
            return failure(error.code if isinstance(error, ToolError) else "TOOL_ERROR", _words(error))
        try:
            held = snapshot(value)  # OUT-1
            if wrong := faults(tool.output, held):
                return failure("INVALID_TOOL_OUTPUT", wrong)
            return Result(shown(held), value=held, concludes=self.concludes)
        except (NotJson, ValueError) as error:
            return failure("INVALID_TOOL_OUTPUT", str(error))


def _words(error: Exception) -> str:
    """The text of an exception; its type's name where it has none, or where none can be had (DSP-7)."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


class Batch:
    """The calls of one message.

    Bodies may overlap. All that decides about calls, and all that is logged of them, happens in one lane:
    one call at a time, in the order in which the model announced them.
    """

    def __init__(self, runtime: Runtime, calls: Sequence[ToolCall], signal: Signal, log: Log) -> None:
        self.results: list[Result] = []
        self.concluded = False
        self._max_parallel = runtime.max_parallel
        self._signal = signal
        self._log = log
        self._calls = [_Execution(runtime, one, signal) for one in calls]  # SCD-13: ids may repeat
        self._started = 0
        self._in_flight = 0
        self._settlement = anyio.Event()

    async def run(self) -> None:
        """Run the calls to their end."""
        failed: Exception | None = None
        async with anyio.create_task_group() as bodies:  # SCD-11: it is not left before every body has ended
            try:
                await self._lane(bodies)
            except Exception as error:  # SCD-9: the log failed, so nothing more starts, or is logged
                failed = error
        if failed is not None:
            raise failed

    async def _lane(self, bodies: TaskGroup) -> None:
        while len(self.results) < len(self._calls):
            committed = len(self.results)
            head = self._calls[committed]
            if head.settled:
                self._commit(head)  # SCD-6, SCD-7: in model order, and before anything else starts
            elif self._signal.aborted and committed == self._started:
                self._log_call(head)  # SCD-8: it never starts, and is answered all the same
                self._commit(head)
            elif not self._signal.aborted and self._may_start_another():
                self._start(bodies)
            else:
                await self._settlement.wait()
                self._settlement = anyio.Event()

    def _may_start_another(self) -> bool:
        if self._started == len(self._calls) or self._in_flight >= self._max_parallel:  # SCD-4
            return False
        following = self._calls[self._started]
        following.parallel = following.may_overlap()  # SCD-3: asked right before it would start
        if self._started == len(self.results):
            return True  # nothing is under way
        return following.parallel and self._calls[self._started - 1].parallel  # SCD-3, SCD-5

    def _start(self, bodies: TaskGroup) -> None:
        one = self._calls[self._started]
        self._log_call(one)  # SCD-1: this comes first
        self._in_flight += 1
        bodies.start_soon(self._run, one)

    async def _run(self, one: _Execution) -> None:
        await one.settle()
        self._in_flight -= 1  # SCD-4: what waits for its commit is not in flight
        self._settlement.set()

    # -- the log ------------------------------------------------------------------------------------

    def _log_call(self, one: _Execution) -> None:
        call = one.call
        about = {"call_id": call.id, "name": call.name, "arguments": call.arguments}  # ARG-4: as it came
        one.logged_as = self._log.append({"type": "tool/call", **about})
        self._started += 1

    def _commit(self, one: _Execution) -> None:
        result = one.outcome()
        about = {"call_id": one.call.id, "code": result.code, "text": result.text}
        self._log.append({"type": "tool/result", "cites": one.logged_as, **about})  # LOG-2
        for context in result.contexts:  # SCD-6: after its result, in the order in which they were given
            self._log.append({"type": "context/accepted", "cites": one.logged_as, "text": context})
        self.concluded = self.concluded or (result.ok and result.concludes)  # SCD-12, FIN-4
        self.results.append(result)
