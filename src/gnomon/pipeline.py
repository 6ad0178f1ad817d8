"""The way of one call, from its creation to its result.

It reads in the order in which a call travels: `create`, `prepare`, `dispatch`, `finalize`. Each stage
answers with what comes next. The pipeline knows nothing of batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from gnomon.backend import Interrupted, interruptible
from gnomon.content import check_content
from gnomon.errors import Aborted, Code
from gnomon.registry import RegisteredTool, Registry
from gnomon.results import (
    Failure,
    Result,
    Success,
    aborted,
    aborted_before_dispatch,
    cancelled,
    failure,
    failure_of,
)
from gnomon.signals import AbortSignal
from gnomon.tools import InvalidArguments, InvalidOutput, ToolContext
from gnomon.values import JSON, Limits, NotJson, parse_arguments, snapshot


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model announced it; `arguments` is its text, as the model wrote it (ARG-4)."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True, eq=False)
class Execution:
    """One call under way."""

    call: ToolCall
    signal: AbortSignal
    arguments: JSON = None
    unusable: NotJson | None = None
    """Why the arguments are no JSON value (CRE-2)."""
    body_invoked: bool = field(default=False)


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

_LETS_THROUGH = (KeyboardInterrupt,)
"""What a body may raise that is meant for the whole process (PY-4)."""


class Pipeline:
    """The stages of a call, over a registry."""

    __slots__ = ("_limits", "_registry")

    def __init__(self, registry: Registry, limits: Limits) -> None:
        self._registry = registry
        self._limits = limits

    # -- create ---------------------------------------------------------------------------------

    def create(self, call: ToolCall, signal: AbortSignal) -> Execution:
        """Make the execution of a call: its arguments are read and frozen before anything sees them."""
        execution = Execution(call, signal)
        try:
            execution.arguments = snapshot(parse_arguments(call.arguments), self._limits)
        except NotJson as error:
            execution.unusable = error
        return execution

    def is_parallel(self, execution: Execution) -> bool:
        """Whether the call may overlap others, asked of the live registry; False in every doubt (SCD-2)."""
        registered = self._registry.visible(execution.call.name)
        if registered is None or execution.unusable is not None:
            return False
        if registered.parameters.violations(execution.arguments):
            return False
        classifier = registered.tool.parallel
        if not callable(classifier):
            return classifier is True
        try:
            return classifier(execution.arguments) is True
        except Exception:  # a classifier that raises makes the call exclusive, nothing else (SCD-2)
            return False

    # -- prepare --------------------------------------------------------------------------------

    async def prepare(self, execution: Execution) -> Prepared:
        """Decide whether the call goes on to its body."""
        if execution.unusable is not None:
            return FinalResult(_invalid_arguments([str(execution.unusable)]))  # CRE-2
        if execution.signal.aborted:
            return FinalResult(aborted_before_dispatch())  # CRE-4
        return ToDispatch()

    # -- dispatch -------------------------------------------------------------------------------

    async def dispatch(self, execution: Execution) -> Settled:
        """Run the body, unless something stands in its way."""
        if execution.signal.aborted:
            return PostResult(aborted_before_dispatch())  # DSP-3
        name = execution.call.name
        registered = self._registry.visible(name)
        if registered is None:
            message = f"there is no tool named {name!r}"
            return PostResult(failure(Code.UNKNOWN_TOOL, message, "ToolNotFoundError"))  # DSP-4
        violations = registered.parameters.violations(execution.arguments)
        if violations:
            return PostResult(_invalid_arguments(violations))  # DSP-8
        try:
            converted = registered.tool.convert(execution.arguments)
        except InvalidArguments as error:
            return PostResult(_invalid_arguments(error.violations))  # DSP-8
        return PostResult(await self._run_body(registered, execution, converted))

    async def _run_body(self, registered: RegisteredTool, execution: Execution, converted: object) -> Result:
        tool, signal = registered.tool, execution.signal
        context = ToolContext(
            call_id=execution.call.id,
            name=execution.call.name,
            arguments=execution.arguments,
            signal=signal,
        )
        execution.body_invoked = True  # DSP-5
        try:
            if tool.interrupt == "cancel":
                value = await interruptible(lambda: tool.run(converted, context), signal)
            else:
                value = await tool.run(converted, context)
        except Interrupted:
            return aborted()  # PY-2
        except Aborted as error:
            return aborted() if signal.aborted else failure_of(error)
        except _LETS_THROUGH:
            raise
        except BaseException as error:
            # A body may raise anything: its failure is a result, and stays with its call (DSP-7, PY-4).
            return failure_of(error)
        return self._check_output(registered, execution, value)

    def _check_output(self, registered: RegisteredTool, execution: Execution, value: object) -> Result:
        """Snapshot, check and render the value of a body (OUT-1, OUT-2)."""
        try:
            frozen = snapshot(registered.tool.dump(value), self._limits)
            violations = registered.output.violations(frozen)
            if violations:
                return _invalid_output(violations)
        except (NotJson, InvalidOutput) as error:
            return _invalid_output([str(error)])
        try:
            content = check_content(registered.tool.output.render(execution.arguments, frozen))
        except Exception as error:
            return _invalid_output([f"its renderer failed: {failure_of(error).error.message}"])
        if execution.signal.aborted:
            return aborted()  # DSP-9
        return Success(frozen, content)

    # -- finalize -------------------------------------------------------------------------------

    async def finalize(self, execution: Execution, settled: Settled) -> Result:
        """What is still to be done with a settled result, when its turn to be committed has come."""
        match settled:
            case FinalResult(result):
                return result
            case PostResult(result) if execution.signal.aborted:
                return cancelled(result, execution.body_invoked)  # PST-8
            case PostResult(result):
                return result


def _invalid_arguments(violations: list[str]) -> Failure:
    message = "the arguments do not fit: " + "; ".join(violations)
    return failure(Code.INVALID_ARGS, message, "ToolArgsError")


def _invalid_output(violations: list[str]) -> Failure:
    message = (
        "the tool ran, and its effects may have happened, but what it returned does not fit: "
        + "; ".join(violations)
    )
    return failure(Code.INVALID_TOOL_OUTPUT, message, "ToolOutputError")
