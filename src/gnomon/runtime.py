"""The runtime: what users hold. Tools are registered with it, and it runs the calls of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gnomon.approval import ApprovalPolicy, Approvals, Approver
from gnomon.backend import Crew, keep_ctrl_c_out, supervise
from gnomon.content import Content
from gnomon.contexts import refuse_synchronous
from gnomon.errors import Code, ConfigError, ToolError, note_other
from gnomon.execution import Call, Caller, DispatchExecution, ToolCall
from gnomon.journal import ApprovalRecords, Journal, NoJournal, TracedJournal
from gnomon.pipeline import Pipeline, Settled, ToDispatch
from gnomon.registry import RESERVED, Layer, Mode, Registry, captured
from gnomon.results import Result
from gnomon.scheduler import BatchRun
from gnomon.scopes import LayerOwner, Scope
from gnomon.session import MemorySession, Session
from gnomon.signals import AbortController, AbortSignal, fuse
from gnomon.timeout import Clock, SystemClock, timeout_wrapper
from gnomon.tools import Output, Token, Tool, ToolContext
from gnomon.trace import BatchTrace, Trace, TraceSink
from gnomon.values import Limits


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of a batch: one result for each call, in model order (SCD-10).

    `concluded` says whether any of them ends the turn (SCD-12). `contexts` are what tools and policies
    hand to the model beside the results, after all of them, in the order of the calls (SCD-15).
    """

    results: tuple[Result, ...]
    concluded: bool
    contexts: tuple[Content, ...] = ()


class Runtime(LayerOwner):
    """Decides on tool calls, runs them, and answers them."""

    __slots__ = ("_max_parallel", "_pipeline", "_trace")

    def __init__(
        self,
        *,
        approver: Approver | None = None,
        approval_policy: ApprovalPolicy | None = None,
        mode: Mode = "native",
        max_parallel: int = 10,
        limits: Limits | None = None,
        trace: TraceSink | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Make a runtime.

        `approver` is asked where a policy says so; with it or with `approval_policy` there is an approval
        service, and without both every ask is denied (APP-2). `mode` is how tools are shown where no
        scope declares a mode. `max_parallel` is how many bodies of a batch may run at once (SCD-4).
        `limits` bound every JSON value. `trace` is given every event of every call, as a plain JSON
        object; `JsonlTrace` writes them into a file. `clock` is what timeouts are measured with, in seconds.

        Raises `ConfigError` for a setting that makes no sense.
        """
        registry = Registry(mode, _RUN_CODE)
        self._trace = None if trace is None else Trace(trace)
        super().__init__(registry, registry.everywhere)
        self._max_parallel = _positive(max_parallel)
        serves = approver is not None or approval_policy is not None
        approvals = Approvals(registry, approver, approval_policy) if serves else None

        def seconds_of(execution: DispatchExecution) -> float | None:
            return execution._call.timeout

        timeout = timeout_wrapper(seconds_of, clock or SystemClock())
        self.on("execute", timeout)  # TMO-1: the first one
        self._pipeline = Pipeline(registry, approvals, limits or Limits(), timeout)

    async def execute(
        self,
        call: ToolCall,
        *,
        scope: Scope | None = None,
        session: Session | None = None,
        signal: AbortSignal | None = None,
        parent: Token | None = None,
        root_call_id: str | None = None,
    ) -> Result:
        """Run one call, outside of any batch, and answer it.

        From inside a tool, `parent=context.token` and `root_call_id=context.root_call_id` make it a
        nested call; its contexts and its wish to end the turn are then the caller's to hand on (PTC-8).
        `session` only takes the records of approvals. A cancellation of the calling task is an abort:
        what runs is awaited, then the cancellation goes on (PY-3).

        Raises `ConfigError` where it is called from a synchronous step such as a guard (PY-10), and
        KeyboardInterrupt. A failing tool, hook, guard or approver is a result.
        """
        keep_ctrl_c_out(Runtime.execute)  # PY-3
        refuse_synchronous()
        own = AbortController()
        with fuse(own.signal, signal) as fused:
            log = None if session is None else ApprovalRecords(session)
            caller = Caller(self._layer_of(scope), fused, scope, parent, root_call_id, log)
            run = _SingleRun(self._pipeline, self._pipeline.receive(call, caller))
            traced = self._traced([run.call], 1, parent)
            interruption = await supervise(
                run.lane, on_cancel=lambda error: own.abort("cancelled"), context=run.call.context
            )
        if traced is not None:
            traced.answered(run.result, run.failure, interruption)
        _let_out(run.failure, interruption)
        assert run.result is not None
        return run.result

    async def run_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        scope: Scope | None = None,
        session: Session | None = None,
        signal: AbortSignal | None = None,
        max_parallel: int | None = None,
        parent: Token | None = None,
        root_call_id: str | None = None,
    ) -> BatchResult:
        """Run the calls of one assistant message, and answer each of them.

        The results stand in the order of the calls, whatever order the bodies ended in (SCD-6). When
        `signal` aborts, or the calling task is cancelled, nothing more is started, what runs is
        awaited, and every call still gets its result (SCD-8, PY-3); after a cancellation it goes on.
        The session is flushed before this returns or raises.

        Raises `ConfigError` for a pool of no slots, for a session whose batch is open, and from a
        synchronous step such as a guard; `LogError` where the session cannot be written; and
        KeyboardInterrupt. A failing tool, hook, guard or approver is a result, never an exception.
        """
        keep_ctrl_c_out(Runtime.run_batch)  # PY-3: the log is opened and closed here
        refuse_synchronous()
        bound = self._max_parallel if max_parallel is None else _positive(max_parallel)
        if not calls:
            traced = self._traced([], bound, parent)
            if traced is not None:
                traced.ended(None, None, False, ())
            return BatchResult((), False)  # SCD-14
        journal = self._journal(session)
        journal.open(calls)
        log = None if session is None else ApprovalRecords(session)
        own = AbortController()
        with fuse(own.signal, signal) as fused:
            caller = Caller(self._layer_of(scope), fused, scope, parent, root_call_id, log)
            received = [self._pipeline.receive(call, caller) for call in calls]
            traced = self._traced(received, bound, parent, turn=journal.turn, step=journal.step)
            run = BatchRun(
                received,
                pipeline=self._pipeline,
                journal=_told(journal, traced),
                controller=own,
                signal=fused,
                max_parallel=bound,
            )
            del received  # the run lets go of a call once it is committed
            interruption = await supervise(run.lane, on_cancel=lambda error: own.abort("cancelled"))
        if traced is not None:
            traced.ended(run.failure, interruption, run.concluded, run.contexts)
        _let_out(run.failure, interruption)
        return BatchResult(tuple(run.results), run.concluded, tuple(run.contexts))

    def _journal(self, session: Session | None) -> Journal | NoJournal:
        """What writes the records of a batch; a trace says which they are, so then there are some."""
        if session is None and self._trace is None:
            return NoJournal()
        return Journal(MemorySession() if session is None else session)

    def _traced(
        self, calls: Sequence[Call], bound: int, parent: Token | None, **more: int
    ) -> BatchTrace | None:
        """Begin to tell of a batch, where anybody listens."""
        if self._trace is None:
            return None
        traced = self._trace.batch(parent)
        traced.opened([call.announced for call in calls], bound, **more)
        for call in calls:
            call.trace = traced.call(call.token)
        return traced

    def _layer_of(self, scope: Scope | None) -> Layer:
        if scope is None:
            return self._layer
        if scope._registry is not self._registry:
            raise ConfigError(f"the scope {scope.name!r} is another runtime's")
        return scope._layer


def _told(journal: Journal | NoJournal, traced: BatchTrace | None) -> Journal | NoJournal | TracedJournal:
    """The journal, which also tells a trace of its records where there is one."""
    if traced is None or isinstance(journal, NoJournal):
        return journal
    return TracedJournal(journal, traced.calls)


class _SingleRun:
    """One call, alone: the same stages as in a batch, one after the other, in the call's own context."""

    __slots__ = ("_pipeline", "call", "failure", "result")

    def __init__(self, pipeline: Pipeline, call: Call) -> None:
        self._pipeline = pipeline
        self.call = call
        self.result: Result | None = None
        self.failure: BaseException | None = None

    async def lane(self, crew: Crew) -> None:
        """Run the call to its end; what went wrong with the runtime itself is left in `failure`."""
        try:
            alone = self._pipeline.waits_for_bodies_only(self.call)
            answer = await self._pipeline.prepare(self.call, crew)
            if isinstance(answer, ToDispatch):
                answer = await self._pipeline.dispatch(self.call, crew, own_task=alone)
        except BaseException as error:
            self.failure = error
            return
        if alone and not self._pipeline.waits_for_bodies_only(self.call):
            # This was the body's task: a cancellation that it may have left there is to hit nobody else.
            crew.start(lambda: self._finalize(answer), context=self.call.context)  # PY-2
        else:
            await self._finalize(answer)

    async def _finalize(self, settled: Settled) -> None:
        try:
            self.result = await self._pipeline.finalize(self.call, settled)
        except BaseException as error:
            self.failure = error


def _let_out(failure: BaseException | None, interruption: BaseException | None) -> None:
    """Let out what has to leave: first KeyboardInterrupt, then a failure, then a cancellation (PY-3)."""
    leaving = [error for error in (failure, interruption) if error is not None]
    leaving.sort(key=lambda error: not isinstance(error, KeyboardInterrupt))
    if leaving:
        first, *others = leaving
        for other in others:
            note_other(first, other)  # PY-6
        raise first  # PY-3


def _positive(bound: int) -> int:
    if type(bound) is not int or bound < 1:
        raise ConfigError(f"max_parallel must be a positive whole number, not {bound!r} (SCD-4)")
    return bound


async def _no_code_runtime(arguments: object, context: ToolContext) -> None:
    raise ToolError(
        "there is no code runtime to run the program with",
        code=Code.CODE_RUN_FAILED,
        name="CodeRunFailedError",
    )  # MOD-3


_RUN_CODE = captured(
    Tool(
        name=RESERVED,
        description="Run a program that may call the other tools.",
        parameters={
            "type": "object",
            "properties": {"description": {"type": "string"}, "code": {"type": "string"}},
            "required": ["description", "code"],
        },  # MOD-4
        output=Output(schema={}),
        run=_no_code_runtime,
        interrupt="signal",  # MOD-5
    )
)
