"""The way of one call, from its creation to its result.

It reads in the order in which a call travels: `receive`, `prepare` (create, pre-execute, approval,
guards), `dispatch` (wrappers, body stage, body, output), `finalize` (projection, post-execute, finish).
Each stage answers with what comes next. The pipeline knows nothing of batches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CoroutineType
from typing import Any, TypeAlias, assert_never

from gnomon.approval import Approvals, no_service
from gnomon.backend import Crew, Interrupted, discard
from gnomon.bodies import settled_body
from gnomon.content import plain_text
from gnomon.contexts import synchronous
from gnomon.decisions import (
    Accept,
    Allow,
    Ask,
    Block,
    Cancel,
    Deny,
    PostDecision,
    PreDecision,
    proper_contexts,
    proper_post_decision,
    proper_pre_decision,
)
from gnomon.errors import Aborted, Code, PolicyError, warn
from gnomon.execution import Call, Caller, DispatchExecution, ToolCall
from gnomon.output import Unfit, authored_failure, finalized, projected, success_of
from gnomon.registry import Entry, RegisteredTool, Registry
from gnomon.results import (
    ABSENT,
    ErrorInfo,
    Failure,
    Result,
    Success,
    aborted,
    aborted_before_dispatch,
    cancelled,
    failure,
    failure_of,
    invalid_arguments,
    invalid_output,
    materialized,
    unknown_tool,
)
from gnomon.signals import AbortSignal, fuse
from gnomon.tools import Desk, InvalidArguments, ToolContext
from gnomon.trace import EventName
from gnomon.values import Limits, NotJson
from gnomon.waterfall import Listener, Next, run_waterfall


@dataclass(frozen=True, slots=True)
class ToDispatch:
    """Prepare lets the call go on to its body."""


@dataclass(frozen=True, slots=True)
class PostResult:
    """A result that still visits post-execute."""

    result: Result


@dataclass(frozen=True, slots=True)
class FinalResult:
    """A result that only needs finishing."""

    result: Result


Settled: TypeAlias = PostResult | FinalResult
Prepared: TypeAlias = ToDispatch | Settled


class Pipeline:
    """The stages of a call, over a registry. Each runs in the call's own context variables (PY-7)."""

    __slots__ = ("_approvals", "_limits", "_registry", "_timeout")

    def __init__(
        self, registry: Registry, approvals: Approvals | None, limits: Limits, timeout: Callable[..., Any]
    ) -> None:
        """Make a pipeline. `timeout` is the registered wrapper that a call without a timeout goes past."""
        self._registry = registry
        self._approvals = approvals
        self._limits = limits
        self._timeout = timeout

    # -- create ---------------------------------------------------------------------------------

    def receive(self, announced: ToolCall, caller: Caller) -> Call:
        """Take in a call: its arguments are read and frozen before anything sees them (CRE-2)."""
        return Call(announced, caller, self._limits)

    def is_parallel(self, call: Call) -> bool:
        """Whether the call may overlap others, asked of the live registry; False in every doubt (SCD-2)."""
        registered = self._registry.visible(call.name, call.caller.layer)
        if registered is None or call.unusable is not None or self._collapsed(call):
            return False  # ARG-5
        classifier = registered.tool.parallel
        if not callable(classifier) and classifier is not True:
            return False
        if _violations(registered, call):
            return False
        if not callable(classifier):
            return True
        try:
            with synchronous("classifier"):
                answer: object = classifier(call.arguments)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a classifier that raises makes the call exclusive, nothing else (SCD-2)
            return False
        discard(answer)
        return answer is True

    def _collapsed(self, call: Call) -> bool:
        caller = call.caller
        return self._registry.collapsed(call.name, caller.layer, caller.parent is not None)

    def _create(self, call: Call) -> FinalResult | None:
        """Make the call's execution; answers the result of a call that is over already (CRE)."""
        registered = self._registry.visible(call.name, call.caller.layer)
        collapsed = self._collapsed(call)
        if registered is not None and (call.aborted or not collapsed):
            call.captures(registered)  # CRE-3, CRE-6
        if call.unusable is not None:
            return FinalResult(invalid_arguments([str(call.unusable)]))  # CRE-2
        if call.aborted:
            return FinalResult(aborted_before_dispatch())  # CRE-4
        if collapsed:
            hint = " that may be called directly; call it from a program, by way of run_code"
            return FinalResult(unknown_tool(call.name, hint))  # MOD-2
        return None

    # -- prepare --------------------------------------------------------------------------------

    async def prepare(self, call: Call, crew: Crew) -> Prepared:
        """Decide whether the call goes on to its body."""
        over = self._create(call)
        if over is not None:
            return over
        try:
            denied = await self._pre_execute(call, crew)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a policy raises fails the call, and nothing else (PY-4)
            return FinalResult(failure_of(error, Code.POLICY_ERROR))  # PRE-2, PRE-5, PY-4
        return self._ask_guards(call) if denied is None else PostResult(denied)

    async def _pre_execute(self, call: Call, crew: Crew) -> Failure | None:
        """Ask the listeners, and whoever has to approve; answers nothing where all allow."""
        hooks = self._registry.hooks("pre_execute", call.caller.layer)
        if not hooks:
            return None
        listeners: list[Listener[PreDecision]] = [_with(hook.function, call.view) for hook in hooks]
        watches = call.watches("pre_execute", hooks)
        decision = await run_waterfall(listeners, _allow, proper_pre_decision, watches)
        match decision:
            case Allow():
                return None
            case Deny(reason, code):
                return failure(code, reason, "DeniedError")  # PRE-4, PRE-6
            case Cancel():
                return aborted_before_dispatch()  # PRE-4
            case Ask(reason) if self._approvals is None:
                return no_service(reason)  # APP-2
            case Ask(reason):
                return await self._approvals.ask(call, reason, crew)
            case _:
                assert_never(decision)

    def _ask_guards(self, call: Call) -> Prepared:
        for guard in self._registry.guards(call.caller.layer):  # GRD-1, GRD-6
            try:
                with synchronous("guard"):
                    reason: object = guard.function(call.view)
            except BaseException as error:
                _tell_of(guard, call, "raised")
                if isinstance(error, KeyboardInterrupt):
                    raise
                return FinalResult(failure_of(error, Code.POLICY_ERROR))  # GRD-4
            if issubclass(type(reason), str):
                _tell_of(guard, call, "deny")
                return PostResult(failure(Code.DENIED, str.__str__(reason), "DeniedError"))  # GRD-2
            _tell_of(guard, call, "pass" if reason is None else "malformed")
            if reason is not None:
                discard(reason)
                message = f"a guard answered an object of type {type(reason).__name__}, not a reason"
                return FinalResult(failure(Code.POLICY_ERROR, message, "PolicyError"))  # GRD-4
        if call.aborted:
            return PostResult(aborted_before_dispatch())  # GRD-5
        return ToDispatch()

    # -- dispatch -------------------------------------------------------------------------------

    async def dispatch(self, call: Call, crew: Crew, *, own_task: bool = False) -> Settled:
        """Run the wrappers, and innermost the body, unless something stands in its way.

        `own_task` says that the task that runs this does nothing else.
        """
        registered = self._registry.visible(call.name, call.caller.layer)
        call.timeout = None if registered is None else registered.tool.timeout  # TMO-1
        hooks = self._wrappers(call)
        try:
            if own_task and not hooks:  # PY-2: nothing but the body is in this task
                result = await self._stage(call, call.signal)
            else:
                result = await self._wrapped(call, hooks, crew)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return FinalResult(failure_of(error, Code.POLICY_ERROR))  # DSP-13
        finally:
            call.signal = call.caller.signal  # CRE-5
        if call.deferred:
            result = replace(result, contexts=(*call.deferred, *result.contexts))  # DSP-11
        if isinstance(result, Success) and result.concludes_turn is not call.concluded:
            result = replace(result, concludes_turn=call.concluded)  # DSP-14
        if call.aborted:
            result = cancelled(result, call.body_invoked)  # DSP-12
        return PostResult(result)

    async def _wrapped(self, call: Call, hooks: list[Entry], crew: Crew) -> Result:
        wrappers: list[Listener[Result]] = [_around(hook.function, call) for hook in hooks]
        try:
            return await run_waterfall(
                wrappers,
                lambda: self._stage_apart(call, crew),
                lambda answer: self._normalized(call, answer),
                call.watches("execute", hooks),
            )
        finally:
            await call.outlast_bodies()  # DSP-6

    def _wrappers(self, call: Call) -> list[Entry]:
        hooks = self._registry.hooks("execute", call.caller.layer)
        if call.timeout is not None:
            return hooks
        return [hook for hook in hooks if hook.function is not self._timeout]  # it would only delegate

    def waits_for_bodies_only(self, call: Call) -> bool:
        """Whether nothing of anybody's is in the way of a call but its body, as things stand now."""
        layer = call.caller.layer
        return not (
            call.project_content
            or any(one.guards for one in layer.chain)
            or self._registry.hooks("pre_execute", layer)
            or self._wrappers(call)
            or self._registry.hooks("post_execute", layer)
        )

    async def _stage_apart(self, call: Call, crew: Crew) -> Result:
        """Have the body stage run apart: no wrapper can cut it short, only abort its signal (PY-2)."""
        await call.outlast_bodies()
        signal = call.signal  # CRE-5: the one that stands now
        stage = crew.start(lambda: self._stage(call, signal), context=call.context)  # PY-2, PY-7
        call.stages.append(stage)
        return await stage.answer()

    async def _stage(self, call: Call, signal: AbortSignal) -> Result:
        with fuse(call.caller.signal, signal) as fused:  # DSP-2, CAN-3
            return call.remember(await self._attempt(call, fused))

    async def _attempt(self, call: Call, signal: AbortSignal) -> Result:
        """Look at the signal, at the registry, at the arguments; then run the body."""
        if signal.aborted:
            return aborted() if call.body_invoked else aborted_before_dispatch()  # DSP-3
        registered = self._registry.visible(call.name, call.caller.layer)
        if registered is None or self._collapsed(call):
            return unknown_tool(call.name)  # DSP-4
        violations = _violations(registered, call)
        if violations:
            return invalid_arguments(violations)  # DSP-8
        try:
            converted = registered.tool.convert(call.arguments)
        except InvalidArguments as error:
            return invalid_arguments(error.violations)  # DSP-8
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a validator of the tool's own may raise anything
            return invalid_arguments([f"$: {failure_of(error).error.message}"])
        if type(converted) is CoroutineType:
            discard(converted)
            return invalid_arguments(["$: the tool's conversion of arguments is async, and may not be"])
        return await self._run_body(registered, call, converted, signal)

    async def _run_body(
        self, registered: RegisteredTool, call: Call, converted: object, signal: AbortSignal
    ) -> Result:
        desk = Desk(call.deferred, None if call.trace is None else call.trace.deferred)
        context = ToolContext(
            call_id=call.announced.id,
            root_call_id=call.view.root_call_id,
            name=call.name,
            arguments=call.arguments,
            scope=call.caller.scope,
            signal=signal,
            token=call.token,
            parent=call.caller.parent,
            _desk=desk,
        )
        try:
            value = await settled_body(call, registered, converted, context)
        except Interrupted:
            return aborted()  # PY-2
        except Aborted as error:
            return aborted() if signal.aborted else failure_of(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # A body may raise anything: its failure is a result, and stays with its call (DSP-7, PY-4).
            return failure_of(error)
        finally:
            desk.close()  # DSP-15
            call.concluded = call.concluded or desk.concluded  # DSP-14
        try:
            result = success_of(registered, call, value, self._limits, dump=registered.tool.dump)
        except Unfit as unfit:
            return invalid_output(unfit.violations)
        if signal.aborted:
            return aborted()  # DSP-9
        return result

    def _normalized(self, call: Call, answer: object) -> Result:
        """The result that a wrapper answers: one made for this very call, or one that it wrote (DSP-10)."""
        made = call.made.get(id(answer))
        if made is not None:
            return made
        try:
            if type(answer) is Success:
                contexts = proper_contexts(answer.contexts)
                authored: Result = self._authored(call, answer.value)
            elif type(answer) is Failure:
                contexts = proper_contexts(answer.contexts)
                authored = authored_failure(answer, self._limits)
            else:
                raise PolicyError(f"a wrapper answered an object of type {type(answer).__name__}, no result")
        except NotJson as error:
            raise PolicyError(f"a wrapper answered what is no result: {error}") from error  # DSP-13
        return call.remember(replace(authored, contexts=contexts))

    def _authored(self, call: Call, value: object) -> Success:
        """Check a value that a policy gives: by the definition that is visible now (DSP-10, PST-4)."""
        registered = self._registry.visible(call.name, call.caller.layer)
        if registered is None or self._collapsed(call):
            message = f"there is no tool named {call.name!r} any more"
            raise PolicyError(message, code=Code.UNKNOWN_TOOL, name="ToolNotFoundError")
        try:
            return success_of(registered, call, value, self._limits)
        except Unfit as unfit:
            message = "a value that a policy gave does not fit: " + "; ".join(unfit.violations)
            raise PolicyError(message, code=Code.INVALID_TOOL_OUTPUT, name="ToolOutputError") from unfit

    # -- finalize -------------------------------------------------------------------------------

    async def finalize(self, call: Call, settled: Settled) -> Result:
        """What is still to be done with a settled result, when its turn to be committed has come."""
        match settled:
            case FinalResult(result):
                return self._finish(call, result)
            case PostResult(result):
                judged = await self._post_execute(call, result)
        if call.aborted:
            judged = cancelled(judged, call.body_invoked)  # PST-8
        return self._finish(call, judged)  # CAN-1: from here on an abort changes nothing

    async def _post_execute(self, call: Call, result: Result) -> Result:
        try:
            result = await projected(call, result)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return failure_of(error, Code.INVALID_TOOL_OUTPUT)  # PST-1
        hooks = self._registry.hooks("post_execute", call.caller.layer)
        if not hooks:
            return result
        listeners: list[Listener[PostDecision]] = [_with(hook.function, call.view, result) for hook in hooks]
        watches = call.watches("post_execute", hooks)
        try:
            decision = await run_waterfall(listeners, _accept, proper_post_decision, watches)
            return self._judged(call, result, decision)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return failure_of(error, Code.POLICY_ERROR)  # PST-3, PST-7

    def _judged(self, call: Call, result: Result, decision: PostDecision) -> Result:
        """What the decision of post-execute makes of a result. Raises `PolicyError` (PST-3, PST-4)."""
        match decision:
            case Block(feedback, contexts):
                message = plain_text(feedback) or "the result was blocked"
                info = ErrorInfo(message, Code.BLOCKED.value, "BlockedError")
                return Failure(info, feedback, contexts=tuple(contexts))  # PST-5
            case Accept(content, value, contexts):
                both = (*result.contexts, *contexts)
                kept = replace(result, contexts=both) if contexts else result  # PST-6
                if value is ABSENT:
                    return kept if content is ABSENT else replace(kept, content=content)  # PST-4
                if content is not ABSENT:
                    raise PolicyError("a decision gives content or a value, not both (PST-3)")
                if isinstance(result, Failure):
                    raise PolicyError("a failed result takes no value (PST-3)")
                made = self._authored(call, value)
                return replace(made, contexts=kept.contexts, concludes_turn=result.concludes_turn)  # PST-4
            case _:
                assert_never(decision)

    def _finish(self, call: Call, result: Result) -> Result:
        """Materialize, let the tool have the last word on content, and tell the observers (FIN)."""
        frozen = result if id(result) in call.made else materialized(result)  # FIN-1
        final = finalized(call, frozen)  # FIN-2
        for observer in self._registry.hooks("result", call.caller.layer):
            if call.trace is not None:
                call.trace.observed(observer.id, final)
            try:
                answer = observer.function(call.view, final)  # FIN-3
                if inspect.isawaitable(answer):
                    discard(answer)  # PY-8
                    what = "an observer is async, and observers are plain functions; it did not run (PY-8)"
                    _warn_of(call, "awaitable", what)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                message = failure_of(error).error.message
                _warn_of(call, "observer", f"an observer raised {type(error).__name__}: {message}")
        return final


async def _allow() -> PreDecision:
    return _ALLOWED


async def _accept() -> PostDecision:
    return _ACCEPTED


_ALLOWED = Allow()
_ACCEPTED = Accept()


def _with(hook: Callable[..., object], *given: object) -> Listener[Any]:
    return lambda following: hook(*given, following)


def _around(hook: Callable[..., object], call: Call) -> Listener[Result]:
    """A wrapper, with an execution whose signal it may replace until it ends (CRE-5)."""

    async def around(following: Next[Result]) -> object:
        execution = DispatchExecution(call)
        try:
            answer = hook(execution, following)
            return await answer if inspect.isawaitable(answer) else answer
        finally:
            execution._close()

    return around


def _tell_of(guard: Entry, call: Call, answer: str) -> None:
    if call.trace is not None:
        layer = "global" if guard.layer is None else guard.layer
        call.trace.emit(EventName.GUARD_ANSWERED, guard=guard.id, layer=layer, answer=answer)


def _warn_of(call: Call, about: str, message: str) -> None:
    if call.trace is not None:
        call.trace.emit(EventName.WARNED, about=about)
    warn(message)


def _violations(registered: RegisteredTool, call: Call) -> list[str]:
    """How the arguments do not fit what the tool publishes, unless it checks them itself (SCH-8)."""
    if registered.tool.checks_own_arguments:
        return []
    if call.checked is None or call.checked[0] is not registered:
        call.checked = registered, registered.parameters.violations(call.arguments)
    return call.checked[1]
