"""LOG, REP: what stands in a session log, and how it is closed after a crash.

A session log is append-only, numbered from 0 without gaps, one JSON record a
line. It is what the model is shown again, so it has to tell the truth: each
call is logged before anything of it happens, each result cites its call, and
nothing is rewritten. After a crash the last record may be torn; all before it
is read back. Then the open turn is closed: a call that was logged *may have
run*, and its outcome is unknown; one that was not logged never started. The two
have codes of their own, and both say that they are repairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gnomon_spec.kernel import clause
from gnomon_spec.vocabulary import Code


class Kind(StrEnum):
    """The records that exist; readers keep those of other kinds and do not judge them."""

    TURN_START = "turn/start"
    STEP_START = "step/start"
    ASSISTANT_CALLS = "assistant/calls"
    TOOL_CALL = "tool/call"
    TOOL_RESULT = "tool/result"
    NESTED_START = "tool/code-dispatch-start"
    NESTED_RESULT = "tool/code-dispatch"
    APPROVAL_POLICY = "approval/policy"
    APPROVAL_ASKED = "approval/asked"
    APPROVAL_DECIDED = "approval/decided"
    CONTEXT_ACCEPTED = "context/accepted"
    STEP_END = "step/end"
    TURN_END = "turn/end"
    LOG_RECOVERED = "log/recovered"


@dataclass(frozen=True, slots=True)
class AnnouncedCall:
    """A call as `assistant/calls` announces it."""

    call_id: str
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A record, as far as the rules of a log speak of it. Its number is its place in the log."""

    kind: str
    turn: int = 0
    step: int = 0
    call: AnnouncedCall | None = None
    calls: tuple[AnnouncedCall, ...] = ()
    cites: int | None = None
    code: str | None = None
    reason: str | None = None
    repair: bool = False


# -- the log ------------------------------------------------------------------------------------


@clause("LOG-1")
def gap(numbers: Iterable[int]) -> int | None:
    """The place of the first record whose number is not its place, or nothing.

    LOG-1  Records MUST be append-only, numbered from 0 without gaps, one JSON
           record a line.
    """
    for place, number in enumerate(numbers):
        if number != place:
            return place  # LOG-1
    return None


@clause("LOG-3")
def torn(whole: Sequence[bool]) -> int | None:
    """The place of a torn last record, or nothing. Damage before other records is not a torn record.

    `whole` says for each record whether its bytes are what its writer wrote.

    LOG-3  What was appended before a crash at any byte MUST be read back; a torn
           last record is dropped, and reported. An append that failed MUST be a
           scheduler failure, never a silent loss.
    """
    if whole and not whole[-1] and all(whole[:-1]):
        return len(whole) - 1  # LOG-3
    return None


@clause("LOG-2")
def miscited(log: Sequence[Record]) -> int | None:
    """The place of the first result that does not cite an earlier record of its own call, or nothing.

    LOG-2  A result MUST cite the number of its `tool/call`. The canonical value
           MUST NOT be logged.
    """
    for place, record in enumerate(log):
        if record.kind != Kind.TOOL_RESULT:
            continue
        cited = log[record.cites] if record.cites is not None and 0 <= record.cites < place else None
        if cited is None or cited.kind != Kind.TOOL_CALL or _id(cited) != _id(record):
            return place  # LOG-2
    return None


def _id(record: Record) -> str | None:
    return None if record.call is None else record.call.call_id


@clause("LOG-4")
def presented(fits: bool) -> str:
    """Say which card a logged call is shown as, given whether its arguments still fit the schema.

    LOG-4  Presentation MUST be computed from the log, be pure, and give the same
           answer on every replay; on arguments that no longer fit it falls back to
           the generic card.
    """
    return "own" if fits else "generic"  # LOG-4


@clause("LOG-5")
def sub_call_id(call_id: str, number: int) -> str:
    """The id of a nested call: the `number`-th that a program submitted, from 1.

    LOG-5  A nested call MUST be logged when it starts and once it settled, before
           `run_code` settles; it is never part of the model's messages.
    """
    return f"{call_id}:code:{number}"  # LOG-5


@clause("LOG-6")
def nested_content(original: str, answer: str | None, raised: bool) -> str:
    """The content that the log keeps of a nested call, after a hook has seen it.

    LOG-6  A hook MAY replace the content of the logged copy only; if it raises, the
           original MUST be logged.
    """
    return original if raised or answer is None else answer  # LOG-6


# -- repair -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OpenCall:
    """A call that the open step announced."""

    call: AnnouncedCall
    logged: int | None = None
    """The place of its `tool/call`."""
    by_repair: bool = False
    """Whether a repair logged it, because it was never started."""
    answered: bool = False


@dataclass(frozen=True, slots=True)
class _Open:
    """The turn and step that are open at the end of a log, and the calls that its step announced."""

    turn: int | None = None
    step: int | None = None
    calls: tuple[_OpenCall, ...] = ()


@clause("REP-1")
def repair(log: Sequence[Record]) -> tuple[Record, ...]:
    """The records that close a log after a crash; none where it is balanced.

    REP-1  Every call announced by an assistant message of the open step and without
           a result MUST get one, in model order, by position: TOOL_OUTCOME_UNKNOWN
           (citing it) if its `tool/call` was logged, TOOL_NOT_STARTED, with the
           pair, if not; then the open step MUST be closed, then the turn as
           interrupted. Both say that they are repairs. A `tool/call` that an
           unfinished repair logged gets the TOOL_NOT_STARTED that it was meant for.
           A balanced log is left alone; repair is deterministic and idempotent.

    *Why.*  Only one of the two is safe to make again without looking.
    """
    left = _open_at_the_end(log)
    if left.turn is None:
        return ()  # REP-1: balanced
    added = list(_answers(left, len(log)))
    if left.step is not None:
        added.append(Record(Kind.STEP_END, left.turn, left.step))
    added.append(Record(Kind.TURN_END, left.turn, reason="interrupted"))
    return tuple(added)  # REP-1


def _answers(left: _Open, place: int) -> Iterator[Record]:
    turn, step = left.turn or 0, left.step or 0
    for one in left.calls:
        if one.answered:
            continue
        started = one.logged is not None and not one.by_repair
        code = Code.TOOL_OUTCOME_UNKNOWN if started else Code.TOOL_NOT_STARTED
        logged = one.logged
        if logged is None:
            yield Record(Kind.TOOL_CALL, turn, step, call=one.call, repair=True)
            logged, place = place, place + 1
        yield Record(Kind.TOOL_RESULT, turn, step, call=one.call, cites=logged, code=code, repair=True)
        place += 1


def _open_at_the_end(log: Sequence[Record]) -> _Open:
    left = _Open()
    for place, record in enumerate(log):
        match record.kind:
            case Kind.TURN_START:
                left = _Open(record.turn)
            case Kind.STEP_START:
                left = _Open(record.turn if left.turn is None else left.turn, record.step)
            case Kind.STEP_END:
                left = _Open(left.turn)
            case Kind.TURN_END:
                left = _Open()
            case Kind.ASSISTANT_CALLS if left.step is not None:
                left = replace(left, calls=(*left.calls, *map(_OpenCall, record.calls)))
            case Kind.TOOL_CALL:
                left = replace(left, calls=tuple(_logged(left.calls, record, place)))
            case Kind.TOOL_RESULT:
                left = replace(left, calls=tuple(_answered(left.calls, record)))
    return left


def _logged(calls: Iterable[_OpenCall], record: Record, place: int) -> Iterator[_OpenCall]:
    """The first call of that id that was not logged is the one: ids may repeat, positions count."""
    found = False
    for one in calls:
        mine = not found and one.logged is None and one.call.call_id == _id(record)
        found = found or mine
        yield replace(one, logged=place, by_repair=record.repair) if mine else one


def _answered(calls: Iterable[_OpenCall], record: Record) -> Iterator[_OpenCall]:
    for one in calls:
        answers = one.logged is not None and one.logged == record.cites
        yield replace(one, answered=one.answered or answers)
