"""The built-in runtime as a target: driven in process, judged like any other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gnomon import AbortController, Output, Runtime, Tool, ToolCall
from gnomon.session import MemorySession, Record, StoredRecord
from gnomon_check.driver import Controls, Harness
from gnomon_check.scenario import (
    Classifier,
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    ScenarioTool,
)


class Builtin:
    """Runs scenarios on `gnomon.Runtime`, or on a runtime of the same interface."""

    name = "builtin"

    def __init__(self, runtime: Callable[..., Any] = Runtime) -> None:
        self._make_runtime = runtime

    def prepare(self, harness: Harness) -> Controls:
        return _Controls()

    async def run_batch(self, harness: Harness) -> bool:
        scenario = harness.scenario
        runtime = self._make_runtime(max_parallel=scenario.limits.max_parallel)
        for one in scenario.tools:
            runtime.register(_tool(one, harness))
        controls = harness.controls
        assert isinstance(controls, _Controls)
        calls = [ToolCall(one.id, one.name, one.arguments) for one in scenario.batch.calls]
        batch = await runtime.run_batch(calls, session=_Session(harness), signal=controls.controller.signal)
        return bool(batch.concluded)


class _Controls:
    def __init__(self) -> None:
        self.controller = AbortController()

    def abort(self, reason: str | None) -> None:
        self.controller.abort(reason)


def _tool(one: ScenarioTool, harness: Harness) -> Tool:
    async def run(arguments: Any, context: Any) -> object:
        return await harness.body(one.name, context.call_id, context.signal, context)

    return Tool(
        name=one.name,
        description=f"the scripted tool {one.name}",
        parameters=one.parameters,
        output=Output(schema=one.output.schema_),
        run=run,
        parallel=_classifier(one.parallel),
        interrupt=one.interrupt,
    )


def _classifier(declared: Classifier | None) -> Any:
    match declared:
        case None:
            return False
        case bool(answer):
            return answer
        case ClassifierValue(value=value):
            return lambda arguments: value
        case ClassifierRaises():
            return _raises
        case ClassifierWhen(when=when):
            return lambda arguments: arguments.get(when.argument) == when.equals


def _raises(arguments: object) -> bool:
    raise ValueError("the classifier fails")


class _Session:
    """A session in memory that tells the harness of calls and results as they are appended."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._inner = MemorySession()
        self._positions: dict[int, int] = {}

    def append(self, record: Record) -> int:
        seq = self._inner.append(record)
        data = record.data
        if record.type == "tool/call":
            pos = self._harness.call_logged(data["callId"], data["name"], data["arguments"], seq)
            if pos is not None:
                self._positions[seq] = pos
        elif record.type == "tool/result":
            message, error = data["message"], data.get("error")
            outcome = {"ok": error is None, "code": None if error is None else str(error["code"])}
            text = _text(message["content"])
            pos = self._positions.get(data["cites"])
            self._harness.result_logged(pos, message["callId"], outcome, text, seq, data["cites"])
        return seq

    async def flush(self) -> None:
        return None

    def records(self) -> Iterable[StoredRecord]:
        return self._inner.records()


def _text(content: Sequence[dict[str, Any]]) -> str:
    return "".join(block["text"] for block in content if block["type"] == "text")
