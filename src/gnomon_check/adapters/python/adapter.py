"""Holds the runtime beside it to the specification, in process, on asyncio and trio.

    gnomon conform python:adapter:Adapter

The kit plays the bodies of a scenario's tools, opens the gates, aborts, and lets time go on. An adapter
makes the runtime's own tools of them, and tells the kit what the runtime writes down. It decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runtime import Context, DeadlinePassed, Log, Result, Runtime, Signal, Tool, ToolCall, ToolError

from gnomon_check.changes import Change
from gnomon_check.driven import Answered, BodyContext, Cause, Controls
from gnomon_check.driver import InProcess
from gnomon_check.harness import Harness
from gnomon_check.scenario import (
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    ScenarioTool,
)
from gnomon_check.script_steps import Execute
from gnomon_check.subject import About

NOT_CLAIMED = "this runtime has no such thing, and does not claim it"


class Adapter(InProcess):
    """Runs scenarios on the runtime."""

    name = "python"
    # There is nothing of HOOKS, GUARD, ASK, CONTENT, REGISTRY, RESUME, and so of MISUSE and ANNOUNCE; and
    # nothing cancels a body (NATIVE).
    claims = frozenset(
        [
            *("ORDER", "PAIRING", "BOUND", "CONTAIN", "ARGS", "VALUES", "CANCEL", "CONTEXT", "TIMEOUT"),
            *("SINGLE", "NESTED", "SEVERAL", "LOG"),
        ]
    )

    @property
    def about(self) -> About:
        """Who it is, as reports say it."""
        return About(name=self.name, version="1.0.0", language="Python")

    def prepare(self, harness: Harness) -> Controls:
        """Make the runtime of a scenario."""
        return Driven(harness)

    async def run_batch(self, harness: Harness) -> bool:
        """Run the batch of a scenario, or its single call, and say whether it ends the turn."""
        driven = harness.controls
        assert isinstance(driven, Driven)
        calls = [ToolCall(one.id, one.name, one.arguments) for one in harness.scenario.batch.calls]
        if harness.scenario.mode == "single":
            result = await driven.runtime.execute(calls[0], signal=driven.signal)
            harness.result_returned(0, _answered(result))
            return result.concludes
        batch = await driven.runtime.run_batch(calls, signal=driven.signal, log=driven.log)
        return batch.concluded


class Driven:
    """The runtime of one scenario, and what the kit does to it."""

    def __init__(self, harness: Harness) -> None:
        scenario, clock = harness.scenario, harness.clock
        self.runtime = Runtime(
            [_tool(one, harness) for one in scenario.tools],
            max_parallel=scenario.limits.max_parallel,
            now=clock.now,
            sleep_until=clock.sleep_until,
        )
        self.log = ToldLog(harness)
        self.signal = Signal()
        self._apart = Signal()

    def begin(self) -> None:
        """Another batch is to be opened: its caller has a signal of its own."""
        self.signal = Signal()

    def abort(self, cause: Cause) -> None:
        """Abort the caller's signal."""
        self.signal.abort(cause)

    def finish(self) -> None:
        """The scenario is over: abort the calls that bodies have made with no signal of theirs."""
        self._apart.abort(Cause("caller", "the scenario is over"))

    def source_of(self, reason: object) -> str:
        """What a reason means that is not the kit's own."""
        return "deadline" if isinstance(reason, DeadlinePassed) else "caller"

    async def execute(self, call: Execute, call_id: str, context: BodyContext) -> Answered:
        """Make another call from inside a body."""
        assert isinstance(context, Body)
        signal = context.given.signal if call.signal == "own" else self._apart
        made = ToolCall(call_id, call.name, call.arguments)
        return _answered(await self.runtime.execute(made, signal=signal))

    def change(self, change: Change) -> str | None:
        """Change what stands in the layers (REGISTRY)."""
        raise NotImplementedError(NOT_CLAIMED)

    def request_model(self) -> list[str] | str:
        """The tools that the model would be shown now (REGISTRY)."""
        raise NotImplementedError(NOT_CLAIMED)

    def repair(self) -> None:
        """Repair the log after a crash (RESUME)."""
        raise NotImplementedError(NOT_CLAIMED)


@dataclass(frozen=True, slots=True)
class Body:
    """What the kit does in a body, beside waiting and returning."""

    given: Context

    def defer(self, context: str) -> None:
        """Hand over a context."""
        self.given.defer(context)

    def conclude_turn(self) -> None:
        """Ask to end the turn."""
        self.given.conclude_turn()

    @property
    def token(self) -> object:
        """What tells this execution from all others."""
        return self.given


def _tool(one: ScenarioTool, harness: Harness) -> Tool:
    async def run(arguments: Any, context: Context) -> object:
        try:
            return await harness.body(one, context.call_id, context.signal, Body(context))
        except Exception as error:
            if isinstance(code := getattr(error, "code", None), str):
                raise ToolError(str(error), code) from error  # as this runtime knows a tool's own code
            raise

    return Tool(
        one.name,
        run,
        parameters=one.parameters,
        output=one.output.schema_,
        parallel=lambda arguments: _classified(one, arguments),
        timeout=None if one.timeout_ms is None else one.timeout_ms / 1000,
    )


def _classified(one: ScenarioTool, arguments: Any) -> object:
    """What the classifier of a scenario's tool answers."""
    match one.parallel:
        case ClassifierValue(value=value):
            return value
        case ClassifierRaises():
            raise RuntimeError("the classifier fails")
        case ClassifierWhen() as when:
            return when.answer(arguments)
        case declared:
            return declared


def _answered(result: Result) -> Answered:
    return Answered(_outcome(result.code), result.text, result.contexts, result.concludes)


def _outcome(code: str | None) -> dict[str, Any]:
    return {"ok": code is None, "code": code}


class ToldLog(Log):
    """A log that tells the kit what is appended."""

    def __init__(self, harness: Harness) -> None:
        super().__init__()
        self._harness = harness
        self._positions: dict[int, int | None] = {}

    def append(self, record: dict[str, Any]) -> int:
        """Append a record, and tell of it; a scenario may have that fail."""
        if not self._harness.takes_record(record["type"]):
            raise OSError("the log is full")
        number = super().append(record)
        match record:
            case {"type": "tool/call", "call_id": call_id, "name": name, "arguments": text}:
                self._positions[number] = self._harness.call_logged(call_id, name, text, number)
            case {"type": "tool/result", "cites": cites, "call_id": call_id, "code": code, "text": text}:
                pos = self._positions.get(cites)
                self._harness.result_logged(pos, call_id, _outcome(code), text, number, cites)
            case {"type": "context/accepted", "cites": cites, "text": text}:
                self._harness.emit("context.accepted", pos=self._positions.get(cites), context=text)
        return number
