"""Closing what a crash has left open in a log (REP-1)."""

from __future__ import annotations

import os
from pathlib import Path

from gnomon.errors import Code, LogError
from gnomon.results import Failure, failure
from gnomon.session.log import JsonlSession, Session
from gnomon.session.records import Record, StoredRecord
from gnomon.session.standing import OpenCall, Standing, standing_of
from gnomon.values import thaw


def repair(log: Session | str | Path) -> tuple[StoredRecord, ...]:
    """Close the turn that is open at the end of a log, and answer the records that were added.

    Every announced call of the open step that has no result gets one, in model order: TOOL_OUTCOME_UNKNOWN
    if it was logged, as it may have run; TOOL_NOT_STARTED if it was not. Then the step ends, and the turn,
    as interrupted. A log in which nothing is open is left alone (REP-1). A repair that was itself cut short
    is completed by the next one.

    A session is appended to, and flushing it is up to you; it must not be in use by a batch. A path is
    opened, which drops a torn last record, and everything is on the disk when this returns.

    Raises `LogError` where the log cannot be read or written, or there is none; `LogLocked` where it is
    being written; `LogCorrupt` where it is damaged.
    """
    if not isinstance(log, str | Path):
        return _close(log)
    if not os.path.exists(log):
        raise LogError(f"{log}: there is no such log")
    with JsonlSession(log, fsync="always") as session:
        return _close(session)


def missing(standing: Standing) -> tuple[StoredRecord, ...]:
    """The records that close a log which stands so. Nothing is written."""
    if not standing.turn_is_open:
        return ()  # REP-1: balanced
    turn, step = {"turn": standing.turn}, {"turn": standing.turn, "step": standing.step}
    added: list[Record] = []
    for call in standing.calls:
        if call.answered:
            continue
        cites, never_started = call.logged, call.logged is None or call.by_repair
        if cites is None:
            cites = standing.size + len(added)
            pair = {"callId": call.call_id, "name": call.name, "arguments": call.arguments}
            added.append(Record("tool/call", {**step, **pair, "repair": True}))
        result = not_started() if never_started else outcome_unknown()
        added.append(Record("tool/result", {**step, **_answer(call, result), "cites": cites, "repair": True}))
    if standing.step_is_open:
        added.append(Record("step/end", step))
    added.append(Record("turn/end", {**turn, "reason": "interrupted"}))
    return tuple(
        StoredRecord(place, one.type, one.data) for place, one in enumerate(added, standing.size)
    )  # REP-1


def _close(session: Session) -> tuple[StoredRecord, ...]:
    added = missing(standing_of(session))
    for one in added:
        if session.append(Record(one.type, one.data)) != one.seq:
            raise LogError("a session was appended to by somebody else while it was being repaired")
    return added


def _answer(call: OpenCall, result: Failure) -> dict[str, object]:
    return {
        "message": {"callId": call.call_id, "isError": True, "content": thaw(result.content)},
        "error": {"name": result.error.name, "code": result.error.code},
    }


def outcome_unknown() -> Failure:
    """The call was logged and has no result: whether it ran, nobody can say (REP-1, ERR-3)."""
    return failure(
        Code.TOOL_OUTCOME_UNKNOWN,
        "the run was interrupted before the outcome of this call was logged; the call may have run, and its "
        "effects may have happened",
        "ToolOutcomeUnknownError",
    )


def not_started() -> Failure:
    """The call was announced and never logged: it did not run (REP-1, ERR-3)."""
    return failure(
        Code.TOOL_NOT_STARTED,
        "the run was interrupted before this call was started; it had no effect",
        "ToolNotStartedError",
    )
