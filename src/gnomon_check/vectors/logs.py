"""Vectors of LOG, REP, ERR: the records of a log, what closes one after a crash, the names of errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from gnomon_check.vectors.case import Case, Suite, fails
from gnomon_spec.session import AnnouncedCall, Kind, Record, gap, miscited, repair
from gnomon_spec.vocabulary import error_name

Plain: TypeAlias = dict[str, Any]


def computed_log(given: Plain) -> Plain:
    """What is wrong with the records of a log."""
    records = given["records"]
    place = gap(one["seq"] for one in records)
    if place is not None:
        return fails("LOG-1", "its number is not its place", record=place)
    place = miscited([_record(one) for one in records])
    if place is not None:
        return fails("LOG-2", "it does not cite an earlier record of its own call", record=place)
    return {"ok": True}


def computed_repair(given: Plain) -> Plain:
    """The records that close a log."""
    records = given["records"]
    added = repair([_record(one) for one in records])
    return {"added": [_plain(one, len(records) + number) for number, one in enumerate(added)]}


def computed_name(given: Plain) -> Plain:
    """The name that goes with an error."""
    return {"name": error_name(given["code"], given.get("raised"))}


# -- records, as they stand on disk ---------------------------------------------------------------


def _record(plain: Plain) -> Record:
    data = plain["data"]
    return Record(
        plain["type"],
        data.get("turn", 0),
        data.get("step", 0),
        call=AnnouncedCall(data["callId"]) if "callId" in data else None,
        calls=tuple(AnnouncedCall(one["callId"]) for one in data.get("calls", ())),
        cites=data.get("cites"),
        code=data.get("error", {}).get("code"),
        reason=data.get("reason"),
        repair=data.get("repair", False),
    )


def _plain(record: Record, number: int) -> Plain:
    """A record, with the fields that the rules speak of."""
    data: Plain = {"turn": record.turn}
    if record.kind != Kind.TURN_END:
        data["step"] = record.step
    if record.call is not None:
        data["callId"] = record.call.call_id
    if record.cites is not None:
        data["cites"] = record.cites
    if record.code is not None:
        data["error"] = {"code": str(record.code)}
    if record.reason is not None:
        data["reason"] = record.reason
    if record.repair:
        data["repair"] = True
    return {"seq": number, "type": str(record.kind), "data": data}


_Begun: TypeAlias = tuple[str, Plain]


def _numbered(*records: _Begun) -> list[Plain]:
    return [{"seq": number, "type": kind, "data": data} for number, (kind, data) in enumerate(records)]


def _begun(*ids: str) -> tuple[_Begun, ...]:
    """A turn, a step, and the announcement of calls."""
    return (
        ("turn/start", {"turn": 1}),
        ("step/start", {"turn": 1, "step": 1}),
        ("assistant/calls", {"turn": 1, "step": 1, "calls": [{"callId": one} for one in ids]}),
    )


def _call(name: str, **more: Any) -> _Begun:
    return "tool/call", {"turn": 1, "step": 1, "callId": name, **more}


def _result(name: str, cites: int, **more: Any) -> _Begun:
    return "tool/result", {"turn": 1, "step": 1, "callId": name, "cites": cites, **more}


_STEP_END: _Begun = ("step/end", {"turn": 1, "step": 1})
_TURN_END: _Begun = ("turn/end", {"turn": 1, "reason": "completed"})


# -- the cases ------------------------------------------------------------------------------------


def _log(name: str, clauses: str, title: str, records: Sequence[Plain], twin: str | None = None) -> Case:
    return Case(
        f"log-{name}", clauses, title, {"records": list(records)}, None if twin is None else f"log-{twin}"
    )


def _at(number: int, seq: int, records: list[Plain]) -> list[Plain]:
    """The records, one of them with another number."""
    return [{**one, "seq": seq} if place == number else one for place, one in enumerate(records)]


_TWO = _numbered(
    *_begun("a", "b"), _call("a"), _call("b"), _result("a", 3), _result("b", 4), _STEP_END, _TURN_END
)

LOG = Suite(
    "log",
    "Say whether the records of a session log are numbered without gaps, and whether each result cites an "
    "earlier record of its own call; or name the first `record` that is wrong, by its place.",
    computed_log,
    (
        _log("two-calls", "LOG-1 LOG-2", "two calls and their results", _TWO),
        _log("number-missing", "LOG-1", "a number is left out", _at(8, 9, _TWO), twin="two-calls"),
        _log("number-twice", "LOG-1", "a number comes twice", _at(4, 3, _TWO), twin="two-calls"),
        _log("from-one", "LOG-1", "the numbers begin with 1", _at(0, 1, _TWO), twin="two-calls"),
        _log(
            "cites-another-call",
            "LOG-2",
            "a result cites the record of another call",
            _numbered(
                *_begun("a", "b"),
                _call("a"),
                _call("b"),
                _result("a", 4),
                _result("b", 4),
                _STEP_END,
                _TURN_END,
            ),
            twin="two-calls",
        ),
        _log(
            "cites-itself",
            "LOG-2",
            "a result cites itself",
            _numbered(
                *_begun("a", "b"),
                _call("a"),
                _call("b"),
                _result("a", 5),
                _result("b", 4),
                _STEP_END,
                _TURN_END,
            ),
            twin="two-calls",
        ),
        _log(
            "cites-the-announcement",
            "LOG-2",
            "a result cites what announced its call",
            _numbered(
                *_begun("a", "b"),
                _call("a"),
                _call("b"),
                _result("a", 2),
                _result("b", 4),
                _STEP_END,
                _TURN_END,
            ),
            twin="two-calls",
        ),
        _log(
            "one-id-twice",
            "LOG-2 SCD-13",
            "two calls with one id, each with a result of its own",
            _numbered(*_begun("a", "a"), _call("a"), _call("a"), _result("a", 3), _result("a", 4), _STEP_END),
        ),
        _log("empty", "LOG-1", "no record at all", []),
    ),
)


def _open(name: str, title: str, *records: _Begun, twin: str | None = None) -> Case:
    return Case(
        f"repair-{name}",
        "REP-1",
        title,
        {"records": _numbered(*records)},
        None if twin is None else f"repair-{twin}",
    )


REPAIR = Suite(
    "repair",
    "Say which records close a log that a crash has left: none where no turn is open. Of the records "
    "that are added only the fields are given that the rules speak of.",
    computed_repair,
    (
        _open(
            "balanced",
            "a log that is balanced is left alone",
            *_begun("a"),
            _call("a"),
            _result("a", 3),
            _STEP_END,
            _TURN_END,
        ),
        _open("logged", "a call that was logged may have run", *_begun("a", "b"), _call("a")),
        _open("not-logged", "calls that were not logged never started", *_begun("a", "b"), twin="logged"),
        _open("answered", "a result that is there stays", *_begun("a", "b"), _call("a"), _result("a", 3)),
        _open(
            "all-answered", "only the step and the turn are open", *_begun("a"), _call("a"), _result("a", 3)
        ),
        _open("step-closed", "calls of a closed step get nothing", *_begun("a"), _STEP_END, twin="step-open"),
        _open("step-open", "and those of an open one do", *_begun("a")),
        _open(
            "one-id-twice", "ids may repeat: positions count", *_begun("a", "a"), _call("a"), _result("a", 3)
        ),
        _open(
            "not-announced",
            "a call that nothing announced gets nothing",
            *_begun("a"),
            _call("stray"),
            twin="step-open",
        ),
        _open(
            "cut-off-repair",
            "a repair that was cut off itself goes on: what it logged never started",
            *_begun("a"),
            _call("a", repair=True),
            twin="cut-off-run",
        ),
        _open("cut-off-run", "the same record of a run: it may have", *_begun("a"), _call("a")),
        _open("nothing-open", "an empty log"),
        _open("turn-only", "a turn without a step", ("turn/start", {"turn": 1})),
    ),
)


def _name(code: str, raised: str | None = None, twin: str | None = None) -> Case:
    slug = code.lower().replace("_", "-")
    title = f"{code}, raised by a {raised}" if raised else code
    return Case(
        f"name-{slug}{'-raised' if raised else ''}",
        "ERR-3",
        title,
        {"code": code, **({} if raised is None else {"raised": raised})},
        None if twin is None else f"name-{twin}",
    )


NAME = Suite(
    "name",
    "Say which name goes with the `code` of an error; `raised` is the type of the exception, where "
    "there was one.",
    computed_name,
    (
        *map(
            _name,
            (
                "ABORTED",
                "ABORTED_BEFORE_DISPATCH",
                "UNKNOWN_TOOL",
                "INVALID_ARGS",
                "INVALID_TOOL_OUTPUT",
                "UNSUPPORTED_SCHEMA",
                "TOOL_TIMEOUT",
                "TOOL_OUTCOME_UNKNOWN",
                "TOOL_NOT_STARTED",
                "CODE_RUN_FAILED",
                "DENIED",
                "BLOCKED",
                "APPROVAL_REJECTED",
                "APPROVAL_CANCELLED",
                "APPROVAL_UNAVAILABLE",
                "POLICY_ERROR",
            ),
        ),
        _name("POLICY_ERROR", "KeyError", twin="policy-error"),
        _name("TOOL_ERROR", "ValueError"),
        _name("QUOTA", "QuotaError"),
    ),
)
