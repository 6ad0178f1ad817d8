"""The runtime: what users hold. Tools are registered with it, and it runs the calls of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.backend import supervise
from gnomon.errors import ConfigError
from gnomon.pipeline import Pipeline, ToolCall
from gnomon.registry import Registry
from gnomon.results import Failure, Result
from gnomon.scheduler import BatchRun
from gnomon.session import MemorySession, Record, Session
from gnomon.signals import AbortController, AbortSignal, Registration, fuse
from gnomon.tools import Tool
from gnomon.values import JSON, Limits, thaw


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What came of a batch: one result for each call, in model order (SCD-10).

    `concluded` says whether any of them ends the turn (SCD-12).
    """

    results: tuple[Result, ...]
    concluded: bool


class Runtime:
    """Decides on tool calls, runs them, and answers them."""

    def __init__(self, *, max_parallel: int = 10, limits: Limits | None = None) -> None:
        """Make a runtime. `max_parallel` is how many bodies of a batch may run at once (SCD-4)."""
        self._max_parallel = _positive(max_parallel)
        self._registry = Registry()
        self._pipeline = Pipeline(self._registry, limits or Limits())

    def register(self, tool: Tool) -> Registration:
        """Add a tool; what is answered removes it again. Raises `RegistrationError` (REG-1..3)."""
        return self._registry.register(tool)

    def schemas(self) -> list[dict[str, JSON]]:
        """What the model is sent of each tool: name, description, parameters (REG-6)."""
        return self._registry.schemas()

    async def run_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        session: Session | None = None,
        signal: AbortSignal | None = None,
        max_parallel: int | None = None,
    ) -> BatchResult:
        """Run the calls of one assistant message, and answer each of them.

        The results stand in the order of the calls, whatever order the bodies ended in (SCD-6). When
        `signal` aborts, or the calling task is cancelled, nothing more is started, what runs is
        awaited, and every call still gets its result (SCD-8, PY-3); after a cancellation it goes on.

        Raises `ConfigError` for a pool of no slots and for a session whose batch is open, `LogError`
        where the session cannot be written, and KeyboardInterrupt. A failing tool is a result, never
        an exception.
        """
        bound = self._max_parallel if max_parallel is None else _positive(max_parallel)
        if not calls:
            return BatchResult((), False)  # SCD-14
        journal = _Journal(session if session is not None else MemorySession())
        journal.open(calls)
        own = AbortController()
        with fuse(own.signal, signal) if signal is not None else fuse(own.signal) as fused:
            run = BatchRun(
                calls,
                pipeline=self._pipeline,
                journal=journal,
                controller=own,
                signal=fused,
                max_parallel=bound,
            )
            interruption = await supervise(run.lane, on_cancel=lambda error: own.abort("cancelled"))
            was_aborted = fused.aborted
        return await _end(run, journal, interruption, was_aborted)


async def _end(
    run: BatchRun, journal: _Journal, interruption: BaseException | None, was_aborted: bool
) -> BatchResult:
    """Close the batch, and let out what has to leave it: first KeyboardInterrupt, then a failure (PY-3)."""
    leaving = [error for error in (run.failure, interruption) if error is not None]
    leaving.sort(key=lambda error: not isinstance(error, KeyboardInterrupt))
    if run.failure is None:
        journal.close("aborted" if was_aborted else "completed")
    if leaving:
        first, *others = leaving
        for other in others:
            first.add_note(f"the batch was also left by {type(other).__name__}: {other}")
        raise first
    return BatchResult(tuple(run.results), run.concluded)


def _positive(bound: int) -> int:
    if type(bound) is not int or bound < 1:
        raise ConfigError(f"max_parallel must be a positive whole number, not {bound!r} (SCD-4)")
    return bound


class _Journal:
    """Writes the records of one batch into a session (LOG-2).

    The turn and the step are the session's open ones. Where none is open, they are opened and closed
    around the batch; after a failure of the runtime they stay open, for repair to find (REP-1).
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        last = _Step.last_of(session)
        if last.is_open and last.started and last.answered < (last.announced or 0):
            raise ConfigError(
                "the session has an open batch already; run it to its end, or repair it (PY-10)"
            )
        self._owns = not last.is_open
        self._announces = self._owns or last.announced is None or last.answered > 0
        self._turn, self._step = (last.turn, last.step) if last.is_open else (last.turn + 1, 0)
        self._cites: dict[int, int] = {}

    def _append(self, kind: str, **data: Any) -> int:
        return self._session.append(Record(kind, {"turn": self._turn, "step": self._step, **data}))

    def open(self, calls: Sequence[ToolCall]) -> None:
        if self._owns:
            self._session.append(Record("turn/start", {"turn": self._turn}))
            self._append("step/start")
        if not self._announces:
            return
        announced = [{"callId": one.id, "name": one.name, "arguments": one.arguments} for one in calls]
        self._append("assistant/calls", calls=announced)

    def call(self, position: int, call: ToolCall) -> None:
        self._cites[position] = self._append(
            "tool/call", callId=call.id, name=call.name, arguments=call.arguments
        )

    def result(self, position: int, call: ToolCall, result: Result) -> None:
        message = {"callId": call.id, "isError": not result.ok, "content": thaw(result.content)}  # type: ignore[arg-type]
        error: dict[str, Any] = {}
        if isinstance(result, Failure):
            error["error"] = {"name": result.error.name, "code": result.error.code}
        self._append("tool/result", message=message, **error, cites=self._cites[position])

    def close(self, reason: str) -> None:
        if not self._owns:
            return
        self._append("step/end")
        self._session.append(Record("turn/end", {"turn": self._turn, "reason": reason}))


@dataclass(slots=True)
class _Step:
    """The last turn and step of a session, and what of it is still open."""

    turn: int = -1
    step: int = 0
    is_open: bool = False
    announced: int | None = None
    started: int = 0
    answered: int = 0

    @classmethod
    def last_of(cls, session: Session) -> _Step:
        """Read it from the session's records."""
        found = cls()
        for record in session.records():
            match record.type:
                case "turn/start":
                    found.turn = record.data["turn"]
                case "step/start":
                    found = cls(found.turn, record.data["step"], True)
                case "assistant/calls":
                    found.announced = len(record.data["calls"])
                    found.started = found.answered = 0
                case "tool/call":
                    found.started += 1
                case "tool/result":
                    found.answered += 1
                case "step/end" | "turn/end":
                    found.is_open = False
        return found
