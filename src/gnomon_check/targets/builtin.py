"""The built-in runtime as a target: driven in process, judged like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from gnomon import AbortController, Output, Runtime, Tool, ToolCall
from gnomon.session import MemorySession, Record, StoredRecord
from gnomon_check.driver import Controls, Harness
from gnomon_check.playing import play_answerer, play_listener, play_sync
from gnomon_check.scenario import (
    Classifier,
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    ScenarioApproval,
    ScenarioGuard,
    ScenarioHook,
    ScenarioTool,
)
from gnomon_check.script_steps import Step
from gnomon_check.scripted_errors import ScriptedError
from gnomon_check.scripts import EndDenied, EndNothing, EndRaised, EndReturned
from gnomon_check.stages import Stage
from gnomon_check.targets.builtin_listeners import PostStage, PreStage, WrapperStage
from gnomon_check.world import Blocked, value_of


class Builtin:
    """Runs scenarios on `gnomon.Runtime`, or on a runtime of the same interface."""

    name = "builtin"

    def __init__(self, runtime: Callable[..., Any] = Runtime) -> None:
        self._make_runtime = runtime

    def prepare(self, harness: Harness) -> Controls:
        return _Controls()

    async def run_batch(self, harness: Harness) -> bool:
        scenario = harness.scenario
        more: dict[str, Any] = {}
        if scenario.approval is not None:
            more = {
                "approver": _Approver(harness, scenario.approval),
                "approval_policy": scenario.approval.policy,
            }
        runtime = self._make_runtime(max_parallel=scenario.limits.max_parallel, **more)
        scope = None if scenario.caller is None else runtime.scope(scenario.caller)
        for tool in scenario.tools:
            runtime.register(_tool(tool, harness))
        for hook in scenario.hooks:
            runtime.on(hook.on, _hook(hook, harness), prepend=hook.prepend)
        for guard in scenario.guards:
            runtime.guard(_guard(guard, harness))
        if scenario.hooks or _ids_repeat(harness):
            runtime.on("pre_execute", _probe(harness), prepend=True)
        controls = harness.controls
        assert isinstance(controls, _Controls)
        calls = [ToolCall(one.id, one.name, one.arguments) for one in scenario.batch.calls]
        batch = await runtime.run_batch(
            calls, session=_Session(harness), signal=controls.controller.signal, scope=scope
        )
        return bool(batch.concluded)


class _Controls:
    def __init__(self) -> None:
        self.controller = AbortController()

    def abort(self, reason: str | None) -> None:
        self.controller.abort(reason)


def _ids_repeat(harness: Harness) -> bool:
    named = [(one.id, one.name) for one in harness.scenario.batch.calls]
    return len(set(named)) < len(named)


def _probe(harness: Harness) -> Callable[..., Awaitable[Any]]:
    """A listener that only learns which execution belongs to which call, and passes on."""

    async def probe(execution: Any, following: Any) -> Any:
        harness.bind(execution.token)
        return await following()

    return probe


# -- tools --------------------------------------------------------------------------------------


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
        project_content=_change(one.project, "content.projected", harness),
        finalize_content=_change(one.finalize, "content.finalized", harness),
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


def _change(script: Sequence[Step] | None, event: str, harness: Harness) -> Any:
    if script is None:
        return None

    def change(execution: Any, result: Any) -> object:
        pos = _position(harness, execution)
        harness.emit(event, pos=pos)
        match play_sync(script, pos, harness.emit, harness.abort_signal):
            case EndReturned(value, _):
                return value_of(value, pos)
            case EndNothing():
                return None
            case _:
                raise ScriptedError("it failed")

    return change


def _position(harness: Harness, execution: Any) -> int:
    """The call that an execution belongs to; the last that was logged, where nobody has bound it yet."""
    bound = harness.position(execution.token)
    if bound is not None:
        return bound
    calls = harness.scenario.batch.calls
    fitting = [
        pos for pos, one in enumerate(calls) if (one.id, one.name) == (execution.call_id, execution.name)
    ]
    return fitting[0] if len(fitting) == 1 else harness.last_logged


# -- listeners, guards, approval ----------------------------------------------------------------


def _hook(hook: ScenarioHook, harness: Harness) -> Callable[..., Any]:
    if hook.on == "result":
        return _observer(hook, harness)
    stages = {"pre_execute": PreStage, "execute": WrapperStage, "post_execute": PostStage}

    async def listener(execution: Any, *given: Any) -> object:
        following = given[-1]
        pos = harness.bind(execution.token) if hook.on == "pre_execute" else _position(harness, execution)
        if not hook.match.fits(execution.name, pos):
            return await following()
        stage = stages[hook.on](harness, pos, execution.signal, execution, following)
        return await play_listener(hook.script, pos, hook.on, hook.id, stage)

    return listener


def _observer(hook: ScenarioHook, harness: Harness) -> Callable[..., Any]:
    def observe(execution: Any, result: Any) -> None:
        pos = _position(harness, execution)
        if not hook.match.fits(execution.name, pos):
            return
        outcome = {"ok": result.ok, "code": None if result.ok else result.error.code}
        harness.emit("result.observed", pos=pos, observer=hook.id, outcome=outcome)
        end = play_sync(hook.script, pos, harness.emit, harness.abort_signal)
        if isinstance(end, EndRaised):
            raise ScriptedError(end.what.message)

    return observe


def _guard(guard: ScenarioGuard, harness: Harness) -> Callable[[Any], Any]:
    def ask(execution: Any) -> object:
        pos = harness.bind(execution.token)
        if not guard.match.fits(execution.name, pos):
            return None

        def answered(answer: str) -> None:
            harness.emit("guard.answered", pos=pos, guard=guard.id, answer=answer)

        match play_sync(guard.script, pos, harness.emit, harness.abort_signal):
            case EndDenied(reason) | EndReturned(str(reason), _):
                answered("deny")
                return reason
            case EndNothing() | EndReturned(None, _):
                answered("pass")
                return None
            case EndReturned(value, _):
                answered("malformed")
                return value
            case _:
                answered("raised")
                raise ScriptedError("the guard fails")

    return ask


class _Approver:
    """Answers by the script of a scenario, or waits for the harness."""

    def __init__(self, harness: Harness, approval: ScenarioApproval) -> None:
        self._harness = harness
        self._approval = approval

    async def ask(self, request: Any) -> Any:
        pos = self._harness.last_logged
        if not self._approval.answerers:
            gate = f"approval:{pos}"
            await self._harness.wait(Blocked(gate=gate), self._harness.gate(gate), keep_for=None)
            return self._harness.approvals.get(pos, "unavailable")
        stage = Stage(self._harness, pos, _NeverAborts())
        return await play_answerer(self._approval.answerers[0].script, pos, stage)


class _NeverAborts:
    def on_abort(self, callback: Callable[[object], None]) -> Any:
        return AbortController().signal.on_abort(callback)


# -- the session --------------------------------------------------------------------------------


class _Session:
    """A session in memory that tells the harness of what is appended."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._inner = MemorySession()
        self._positions: dict[int, int] = {}
        self._answered = 0

    def append(self, record: Record) -> int:
        seq = self._inner.append(record)
        data = record.data
        match record.type:
            case "tool/call":
                pos = self._harness.call_logged(data["callId"], data["name"], data["arguments"], seq)
                if pos is not None:
                    self._positions[seq] = pos
            case "tool/result":
                message, error = data["message"], data.get("error")
                outcome = {"ok": error is None, "code": None if error is None else str(error["code"])}
                pos = self._positions.get(data["cites"])
                self._answered = 0 if pos is None else pos
                text = _text(message["content"])
                self._harness.result_logged(pos, message["callId"], outcome, text, seq, data["cites"])
            case "context/accepted":
                self._harness.emit("context.accepted", pos=self._answered, context=_text(data["content"]))
            case "approval/asked":
                self._harness.emit("approval.asked", pos=self._harness.last_logged)
            case "approval/decided":
                self._harness.emit("approval.decided", pos=self._harness.last_logged, outcome=data["outcome"])
        return seq

    async def flush(self) -> None:
        return None

    def records(self) -> Iterable[StoredRecord]:
        return self._inner.records()


def _text(content: Sequence[dict[str, Any]]) -> str:
    return "".join(block["text"] for block in content if block["type"] == "text")
