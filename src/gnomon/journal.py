"""The records that a batch leaves in a session: its calls, their results, its approvals, its contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.content import Content
from gnomon.errors import ConfigError, PolicyError
from gnomon.execution import ToolCall
from gnomon.results import ABSENT, Failure, Result
from gnomon.session import Record, Session, Standing, standing_of
from gnomon.trace import CallTrace
from gnomon.values import thaw


class ApprovalRecords:
    """Writes approvals into the open turn of a session (APP-6, APP-10)."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def asked(self, call_id: str, name: str, reason: str | None) -> int:
        last = standing_of(self._session)
        if not last.turn_is_open:
            raise PolicyError("an approval needs an open turn in the session, and there is none (APP-10)")
        why = {} if reason is None else {"reason": reason}
        return self._append(last, "approval/asked", callId=call_id, name=name, **why)

    def decided(self, request: int, call_id: str, outcome: str) -> None:
        last = standing_of(self._session)
        self._append(last, "approval/decided", request=request, callId=call_id, outcome=outcome)

    def policy(self) -> str | None:
        return standing_of(self._session).policy

    def _append(self, at: Standing, kind: str, **data: Any) -> int:
        return self._session.append(Record(kind, {"turn": at.turn, "step": at.step, **data}))


class Journal:
    """Writes the records of one batch into a session (LOG-2).

    The turn and the step are the session's open ones. Where none is open, they are opened and closed
    around the batch; after a failure of the runtime they stay open, for repair to find (REP-1).
    """

    def __init__(self, session: Session) -> None:
        """Raises `ConfigError` where the session has an open batch already (PY-10)."""
        self._session = session
        last = standing_of(session)
        if last.step_is_open and last.started and last.answered < (last.announced or 0):
            raise ConfigError(
                "the session has an open batch already; run it to its end, or repair it (PY-10)"
            )
        self._owns = not last.step_is_open
        self._announces = self._owns or last.announced is None or last.answered > 0
        self.turn, self.step = (last.turn, last.step) if last.step_is_open else (last.turn + 1, 0)
        self._cites: dict[int, int] = {}

    def _append(self, kind: str, **data: Any) -> int:
        return self._session.append(Record(kind, {"turn": self.turn, "step": self.step, **data}))

    def open(self, calls: Sequence[ToolCall]) -> None:
        """Open turn and step where none is open, and announce the calls where nobody has."""
        if self._owns:
            self._session.append(Record("turn/start", {"turn": self.turn}))
            self._append("step/start")
        if not self._announces:
            return
        announced = [{"callId": one.id, "name": one.name, "arguments": one.arguments} for one in calls]
        self._append("assistant/calls", calls=announced)

    def call(self, position: int, call: ToolCall) -> int:
        """Write that a call starts, with its arguments as the model wrote them (ARG-4)."""
        self._cites[position] = seq = self._append(
            "tool/call", callId=call.id, name=call.name, arguments=call.arguments
        )
        return seq

    def result(self, position: int, call: ToolCall, result: Result) -> int:
        """Write a result, citing its call."""
        message = {"callId": call.id, "isError": not result.ok, "content": thaw(result.content)}
        more: dict[str, Any] = {}
        if isinstance(result, Failure):
            more["error"] = {"name": result.error.name, "code": result.error.code}
        if result.meta is not ABSENT:
            more["meta"] = thaw(result.meta)
        return self._append("tool/result", message=message, **more, cites=self._cites[position])

    def context(self, position: int, call: ToolCall, context: Content) -> int:
        """Write that a context of a call was taken in, to be sent with the next request (SCD-15)."""
        return self._append("context/accepted", callId=call.id, content=thaw(context))

    def cited(self, position: int) -> int:
        """The number of the record that the result of a call cites."""
        return self._cites[position]

    def close(self, reason: str) -> None:
        """Close what was opened."""
        if not self._owns:
            return
        self._append("step/end")
        self._session.append(Record("turn/end", {"turn": self.turn, "reason": reason}))

    async def flush(self) -> None:
        """Have the session make durable what was written."""
        await self._session.flush()


class NoJournal:
    """Writes nothing, where a batch has no session."""

    turn = step = 0

    def open(self, calls: Sequence[ToolCall]) -> None:
        return None

    def call(self, position: int, call: ToolCall) -> None:
        return None

    def result(self, position: int, call: ToolCall, result: Result) -> None:
        return None

    def context(self, position: int, call: ToolCall, context: Content) -> None:
        return None

    def close(self, reason: str) -> None:
        return None

    async def flush(self) -> None:
        return None


class TracedJournal:
    """Tells a trace of what a journal has written, once it is written."""

    def __init__(self, journal: Journal, calls: Sequence[CallTrace]) -> None:
        self._journal = journal
        self._calls = calls

    def call(self, position: int, call: ToolCall) -> int:
        seq = self._journal.call(position, call)
        self._calls[position].logged(call, log_seq=seq)
        return seq

    def result(self, position: int, call: ToolCall, result: Result) -> int:
        seq = self._journal.result(position, call, result)
        self._calls[position].answered(call, result, log_seq=seq, cites=self._journal.cited(position))
        return seq

    def context(self, position: int, call: ToolCall, context: Content) -> int:
        seq = self._journal.context(position, call, context)
        self._calls[position].accepted(context, log_seq=seq)
        return seq

    def close(self, reason: str) -> None:
        self._journal.close(reason)

    async def flush(self) -> None:
        await self._journal.flush()
