"""The built-in runtime as a target: driven in process, judged like any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NoReturn

from gnomon import (
    AbortController,
    ConfigError,
    GnomonError,
    LogError,
    Output,
    RegistrationError,
    RestrictionError,
    Runtime,
    Tool,
    ToolCall,
    set_approval_policy,
)
from gnomon.session import MemorySession, Record, StoredRecord, repair
from gnomon.timeout import DeadlinePassed
from gnomon.version import __version__
from gnomon_check.changes import (
    AddGuard,
    AddHook,
    Change,
    DropGuard,
    DropHook,
    Lift,
    Register,
    Remove,
    Restrict,
    SetMode,
    SetPolicy,
)
from gnomon_check.driven import Answered, Cause, Controls
from gnomon_check.driver import InProcess
from gnomon_check.harness import Harness
from gnomon_check.layers import first_changes
from gnomon_check.playing import play_answerer, play_listener, play_sync
from gnomon_check.scenario import (
    Answerer,
    Classifier,
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    Scenario,
    ScenarioGuard,
    ScenarioHook,
    ScenarioTool,
)
from gnomon_check.script_steps import Execute, Step
from gnomon_check.scripted_errors import ScriptedError, exception_at_once
from gnomon_check.scripts import EndDenied, EndNothing, EndRaised, EndReturned
from gnomon_check.subject import About
from gnomon_check.targets.builtin_listeners import (
    AnswererStage,
    PostStage,
    PreStage,
    WrapperStage,
    hears_of_changes,
)
from gnomon_check.world import Blocked, value_of


class Builtin(InProcess):
    """Runs scenarios on `gnomon.Runtime`, or on a runtime of the same interface."""

    name = "builtin"

    def __init__(self, runtime: Callable[..., Any] = Runtime) -> None:
        self._make_runtime = runtime

    @property
    def about(self) -> About:
        """This package, in its version."""
        return About(name=self.name, version=__version__, language="Python")

    def cannot(self, scenario: Scenario) -> str | None:
        """Nobody can break the approval service of this runtime from outside: it is its own."""
        if scenario.approval is not None and scenario.approval.service != "ok":
            return "the approval service is the runtime's own, and nothing outside can make it fail"
        return None

    def prepare(self, harness: Harness) -> Controls:
        return BuiltinControls(harness, self._make_runtime)

    async def run_batch(self, harness: Harness) -> bool:
        controls = harness.controls
        assert isinstance(controls, BuiltinControls)
        scenario = harness.scenario
        signal, scope = controls.controller.signal, controls.caller
        calls = [ToolCall(one.id, one.name, one.arguments) for one in scenario.batch.calls]
        if scenario.mode == "single":
            answered = _answered(await controls.runtime.execute(calls[0], signal=signal, scope=scope))
            harness.result_returned(0, answered)
            return answered.concludes
        batch = await controls.runtime.run_batch(calls, session=controls.session, signal=signal, scope=scope)
        return bool(batch.concluded)


class BuiltinControls:
    """The runtime of one scenario, and what the harness does to it."""

    def __init__(self, harness: Harness, make_runtime: Callable[..., Any]) -> None:
        scenario = harness.scenario
        self._harness = harness
        self._scenario = scenario
        self.controller = AbortController()
        self._apart = AbortController()
        self.session = _Session(harness)
        more: dict[str, Any] = {}
        if scenario.approval is not None:
            more["approval_policy"] = scenario.approval.policy
            if not scenario.approval.answerers:
                more["approver"] = _Waiting(harness)
        self.runtime = make_runtime(
            max_parallel=scenario.limits.max_parallel,
            mode=scenario.presentation,
            clock=harness.clock,
            **more,
        )
        self._layers: dict[str | None, Any] = {None: self.runtime}
        for scope in scenario.all_scopes:
            self._layers[scope.name] = self._layers[scope.parent].scope(scope.name)
        self.caller = None if scenario.caller is None else self._layers[scenario.caller]
        self._disposers: dict[str, Callable[[], None]] = {}
        self._made: Counter[str] = Counter()
        if scenario.hooks or scenario.guards or _ids_repeat(scenario):
            self.runtime.on("pre_execute", _probe(harness), prepend=True)
        for answerer in [] if scenario.approval is None else scenario.approval.answerers:
            layer = self._layers[answerer.scope]
            layer.on("approval", _answerer(answerer, harness), prepend=answerer.prepend)
        for change in first_changes(scenario):
            self._carry_out(change)

    def begin(self) -> None:
        """Another batch is to be opened: its caller has a signal of its own."""
        self.controller = AbortController()

    def abort(self, cause: Cause) -> None:
        """Abort the caller's signal."""
        self.controller.abort(cause)

    def repair(self) -> None:
        """Repair what the session holds."""
        repair(self.session)

    def finish(self) -> None:
        """End the calls that bodies have made with no signal of theirs."""
        self._apart.abort(Cause("caller", "the scenario is over"))

    def source_of(self, reason: object) -> str:
        """A deadline says so; whatever else the runtime aborts by itself, it aborts as the caller."""
        return "deadline" if isinstance(reason, DeadlinePassed) else "caller"

    def change(self, change: Change) -> str | None:
        """Change what stands in the layers; answer why it was refused, or nothing."""
        try:
            self._carry_out(change)
        except (GnomonError, ScriptedError) as error:  # of who hears of it, too (REG-9)
            return f"{type(error).__name__}: {error}"
        return None

    def request_model(self) -> list[str] | str:
        """What the model would be shown now."""
        try:
            return [str(one["name"]) for one in (self.caller or self.runtime).schemas()]
        except ConfigError as error:
            return str(error)

    async def execute(self, call: Execute, call_id: str, context: Any) -> Answered:
        """Make another call from inside a body."""
        nested = {"parent": context.token, "root_call_id": context.root_call_id} if call.token else {}
        signal = context.signal if call.signal == "own" else self._apart.signal
        made = ToolCall(call_id, call.name, call.arguments)
        return _answered(await self.runtime.execute(made, signal=signal, scope=self.caller, **nested))

    def _carry_out(self, change: Change) -> None:
        match change:
            case Register(tool=key):
                tool = self._scenario.tool(key)
                assert tool is not None, "the harness knows its definitions"
                made = self._layers[tool.scope].register(_tool(tool, self._harness))
                self._keep(tool.name, made)
            case Restrict(scope=scope, allow=allow, deny=deny):
                layer = self._layers.get(scope)
                if layer is None or layer is self.runtime:
                    raise RestrictionError("a restriction belongs to a scope")
                self._keep(f"restriction:{scope}", layer.restrict(allow=allow, deny=deny))
            case Remove(registration=number):
                self._dispose(number)
            case Lift(restriction=number):
                self._dispose(f"restriction:{number}")
            case SetMode(scope=scope, mode=None):
                self._disposers.pop(f"mode:{scope}")()
            case SetMode(scope=scope, mode=mode):
                if scope not in self._layers:
                    raise RegistrationError(f"there is no scope {scope!r}")
                self._disposers[f"mode:{scope}"] = self._layers[scope].present_as(mode)
            case SetPolicy(policy=policy):
                set_approval_policy(self.session, policy)  # type: ignore[arg-type]  # an unknown one is refused
            case AddGuard(guard=key):
                guard = self._scenario.guard(key)
                assert guard is not None, "the harness knows its definitions"
                made = self._layers[guard.scope].guard(_guard(guard, self._harness))
                self._disposers[f"guard:{key}"] = made
            case AddHook(hook=key):
                hook = self._scenario.hook(key)
                assert hook is not None, "the harness knows its definitions"
                made = self._layers[hook.scope].on(hook.on, _hook(hook, self._harness), prepend=hook.prepend)
                self._disposers[f"hook:{key}"] = made
            case DropGuard(guard=key):
                self._disposers.pop(f"guard:{key}")()
            case DropHook(hook=key):
                self._disposers.pop(f"hook:{key}")()

    def _keep(self, label: str, disposer: Callable[[], None]) -> None:
        self._made[label] += 1
        self._disposers[f"{label}@{self._made[label]}"] = disposer

    def _dispose(self, number: str) -> None:
        if number not in self._disposers:
            raise RegistrationError(f"nothing was ever registered as {number!r}")
        self._disposers[number]()


def _answered(result: Any) -> Answered:
    return Answered(
        {"ok": result.ok, "code": None if result.ok else result.error.code},
        _text(result.content),
        tuple(_text(one) for one in result.contexts),
        bool(result.ok and result.concludes_turn),
    )


def _ids_repeat(scenario: Scenario) -> bool:
    named = [[(call.id, call.name) for call in one.calls] for one in scenario.batches]
    return any(len(set(one)) < len(one) for one in named)


def _probe(harness: Harness) -> Callable[..., Awaitable[Any]]:
    """A listener that only learns which execution belongs to which call, and passes on."""

    async def probe(execution: Any, following: Any) -> Any:
        harness.bind(execution.token)
        return await following()

    return probe


# -- tools --------------------------------------------------------------------------------------


def _tool(one: ScenarioTool, harness: Harness) -> Tool:
    async def run(arguments: Any, context: Any) -> object:
        return await harness.body(one, context.call_id, context.signal, context)

    return Tool(
        name=one.name,
        description=f"the scripted tool {one.name}",
        parameters=one.parameters,
        output=_output(one, harness),
        run=run,
        parallel=_classifier(one.parallel),
        timeout=None if one.timeout_ms is None else one.timeout_ms / 1000,
        interrupt=one.interrupt,
        project_content=_change(one.project, "content.projected", harness),
        finalize_content=_change(one.finalize, "content.finalized", harness),
    )


def _output(one: ScenarioTool, harness: Harness) -> Output:
    given: dict[str, Any] = {}

    def player(script: Sequence[Step], event: str) -> Callable[[Any, Any], object]:
        # There is no execution to tell the call by: it is the one whose task is at work.
        return lambda arguments, value: _played(
            script, event, harness, harness.current_call, {"arguments": arguments}
        )

    if one.render is not None:
        given["render"] = player(one.render, "content.rendered")
    if one.presentation_meta is not None:
        given["meta"] = player(one.presentation_meta, "content.meta")
    return Output(schema=one.output.schema_, **given)


def _played(
    script: Sequence[Step], event: str, harness: Harness, pos: int, things: dict[str, object]
) -> object:
    """Play a script that answers with a value, or with nothing. `things` are what it is given."""
    harness.emit(event, pos=pos)
    match play_sync(script, pos, harness, things):
        case EndReturned(value, _):
            return value_of(value, pos)
        case EndNothing():
            return None
        case EndRaised(what):
            raise exception_at_once(what)
        case _:
            raise ScriptedError("it failed")


def _classifier(declared: Classifier | None) -> Any:
    match declared:
        case None:
            return False
        case bool(answer):
            return answer
        case ClassifierValue(value=value):
            return lambda arguments: value
        case ClassifierRaises(raise_=what):
            return lambda arguments: _raised(exception_at_once(what))
        case ClassifierWhen() as when:
            return when.answer


def _raised(error: BaseException) -> NoReturn:
    raise error


def _change(script: Sequence[Step] | None, event: str, harness: Harness) -> Any:
    if script is None:
        return None

    def change(execution: Any, result: Any) -> object:
        things = {"arguments": execution.arguments, "execution": execution, "result": result}
        return _played(script, event, harness, _position(harness, execution), things)

    return change


def _position(harness: Harness, execution: Any) -> int:
    """The call that an execution belongs to; the last that was logged, where nobody has bound it yet."""
    bound = harness.position(execution.token)
    if bound is not None:
        return bound
    if harness.made_by_a_body(execution.call_id):
        return harness.current_call
    calls = harness.scenario.batch.calls
    fitting = [
        pos for pos, one in enumerate(calls) if (one.id, one.name) == (execution.call_id, execution.name)
    ]
    return fitting[0] if len(fitting) == 1 else harness.last_logged


# -- listeners, guards, approval ----------------------------------------------------------------


def _hook(hook: ScenarioHook, harness: Harness) -> Callable[..., Any]:
    if hook.on == "result":
        return _observer(hook, harness)
    if hook.on == "change":
        return hears_of_changes(hook, harness)
    stages = {"pre_execute": PreStage, "execute": WrapperStage, "post_execute": PostStage}

    async def listener(execution: Any, *given: Any) -> object:
        following = given[-1]
        pos = harness.bind(execution.token) if hook.on == "pre_execute" else _position(harness, execution)
        if not hook.match.fits(execution.name, pos):
            return await following()
        result = given[0] if hook.on == "post_execute" else None
        stage = stages[hook.on](
            harness, pos, execution.signal, execution=execution, following=following, heard=result
        )
        return await play_listener(hook.script, pos, hook.on, hook.id, stage)

    return _named(listener, hook.id)


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, under the name that a trace is to show."""
    function.__name__ = name
    return function


def _observer(hook: ScenarioHook, harness: Harness) -> Callable[..., Any]:
    def observe(execution: Any, result: Any) -> None:
        pos = _position(harness, execution)
        if not hook.match.fits(execution.name, pos):
            return
        outcome = {"ok": result.ok, "code": None if result.ok else result.error.code}
        harness.emit("result.observed", pos=pos, observer=hook.id, outcome=outcome)
        things = {"arguments": execution.arguments, "execution": execution, "result": result}
        end = play_sync(hook.script, pos, harness, things)
        if isinstance(end, EndRaised):
            raise exception_at_once(end.what)

    return _named(observe, hook.id)


def _guard(guard: ScenarioGuard, harness: Harness) -> Callable[[Any], Any]:
    def ask(execution: Any) -> object:
        pos = harness.bind(execution.token)
        if not guard.match.fits(execution.name, pos):
            return None

        def answered(answer: str) -> None:
            harness.emit("guard.answered", pos=pos, guard=guard.id, answer=answer)

        things = {"arguments": execution.arguments, "execution": execution}
        match play_sync(guard.script, pos, harness, things):
            case EndDenied(reason) | EndReturned(str(reason), _):
                answered("deny")
                return reason
            case EndNothing() | EndReturned(None, _):
                answered("pass")
                return None
            case EndReturned(value, _):
                answered("malformed")
                return value
            case end:
                answered("raised")
                raise (
                    exception_at_once(end.what) if isinstance(end, EndRaised) else ScriptedError("it failed")
                )

    return _named(ask, guard.id)


class _Waiting:
    """Waits for the harness to answer."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness

    async def ask(self, request: Any) -> Any:
        pos = self._harness.current_call
        gate = f"approval:{pos}"
        await self._harness.wait(Blocked(gate=gate), self._harness.gate(gate), keep_for=None)
        return self._harness.approvals.get(pos, "unavailable")


def _answerer(answerer: Answerer, harness: Harness) -> Callable[..., Any]:
    """Answers by the script of a scenario."""

    async def ask(request: Any, following: Any) -> Any:
        pos = harness.current_call  # one whose request was withdrawn may go on while others are asked
        stage = AnswererStage(harness, pos, _NeverAborts(), following=following)
        return await play_answerer(answerer.script, pos, answerer.id, stage)

    return _named(ask, answerer.id)


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
        if self._harness.crashed:
            raise LogError("the process has ended")
        if not self._harness.takes_record(record.type):
            raise LogError(f"the log does not take the record {record.type}")
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
