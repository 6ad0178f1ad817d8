"""Repair: what a crash has left open is closed, by position, as the specification says, and once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import both, on
from disk import Disk, failing
from hypothesis import given, settings
from hypothesis import strategies as st
from rich_logs import PROGRAMS, rich_log

from gnomon import (
    AbortController,
    Ask,
    CallbackApprover,
    JsonlSession,
    LogCorrupt,
    LogError,
    LogLocked,
    MemorySession,
    Record,
    Runtime,
    Session,
    ToolCall,
    ToolContext,
    set_approval_policy,
    tool,
)
from gnomon.session import StoredRecord, missing, read_log, read_log_bytes, repair, standing_of
from gnomon_check.trace import check_file
from gnomon_check.trace.check import findings
from gnomon_check.trace.detect import read_input
from gnomon_spec import session as specification


class Given(MemorySession):
    """A session that begins with records."""

    def __init__(self, records: tuple[StoredRecord, ...]) -> None:
        super().__init__()
        for one in records:
            assert self.append(Record(one.type, one.data)) == one.seq


def as_specified(record: StoredRecord) -> specification.Record:
    """A record, as far as the specification speaks of it."""
    data = record.data
    call = None
    if record.type == "tool/call":
        call = specification.AnnouncedCall(data["callId"], data["name"], data["arguments"])
    elif record.type == "tool/result":
        call = specification.AnnouncedCall(data["message"]["callId"])
    announced = data.get("calls", ())
    return specification.Record(
        record.type,
        data.get("turn", 0),
        data.get("step", 0),
        call=call,
        calls=tuple(
            specification.AnnouncedCall(one["callId"], one["name"], one["arguments"]) for one in announced
        ),
        cites=data.get("cites"),
        code=data.get("error", {}).get("code"),
        reason=data.get("reason"),
        repair=data.get("repair", False),
    )


def without_names(record: specification.Record) -> specification.Record:
    """A result of the specification names its call whole; one in a log has its id alone."""
    if record.kind != "tool/result" or record.call is None:
        return record
    return specification.Record(
        **{
            **{key: getattr(record, key) for key in specification.Record.__slots__},
            "call": specification.AnnouncedCall(record.call.call_id),
        }
    )


def broken(content: bytes) -> list[str]:
    """What the checker of logs finds wrong."""
    return [one.text for one in findings(read_input(content))]


def prefixes(name: str) -> list[tuple[StoredRecord, ...]]:
    records = read_log_bytes(rich_log(name)).records
    return [records[:count] for count in range(len(records) + 1)]


# -- every prefix -------------------------------------------------------------------------------------


@pytest.mark.clause("REP-1")
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_prefix_is_repaired_as_the_specification_says(name: str) -> None:
    for records in prefixes(name):
        session = Given(records)
        added = repair(session)
        specified = specification.repair([as_specified(one) for one in records])
        assert [as_specified(one) for one in added] == [without_names(one) for one in specified]
        assert tuple(session.records()) == (*records, *added)
        assert repair(session) == ()


@pytest.mark.clause("REP-1")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_repair_that_was_cut_short_is_completed_as_it_was_begun(name: str) -> None:
    for records in prefixes(name):
        added = repair(Given(records))
        for done in range(len(added) + 1):
            assert repair(Given((*records, *added[:done]))) == added[done:]


@pytest.mark.clause("LOG-3", "REP-1")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_log_cut_at_any_byte_is_opened_and_repaired_to_one_that_verify_accepts(name: str) -> None:
    """The checker judges each prefix of whole records once clean and once torn; the rest is compared."""
    content = rich_log(name)
    start, whole = 0, read_log_bytes(content).records
    for count in range(len(whole) + 1):
        end = content.find(b"\n", start)
        judged: list[Any] = []
        for cut in range(start, end + 1 if end >= 0 else start + 1):
            disk = Disk(log=content[:cut])
            with disk.session() as session:
                repair(session)
            found = read_log_bytes(disk["log"]).records
            assert found[:count] == whole[:count]
            added = [(one.type, one.data) for one in found[count:]]
            if cut > start:
                told = {"records": count, "droppedBytes": cut - start, "kept": "log.torn-1"}
                assert added.pop(0) == ("log/recovered", told)
            judged.append(added)
            if cut <= start + 1 and found:
                assert broken(disk["log"]) == []
            with disk.session() as session:
                assert repair(session) == ()
                assert session.kept is None
        assert all(_moved(one) == _moved(judged[0]) for one in judged)
        start = end + 1


def _moved(added: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Records without what they cite: a `log/recovered` before them moves that by one."""
    return [(kind, {**data, "cites": None}) for kind, data in added]


CALL_IDS = st.sampled_from(["a", "b"])
ANNOUNCED = st.fixed_dictionaries({"callId": CALL_IDS, "name": st.just("act"), "arguments": st.just("{}")})
PLACE = {"turn": st.integers(0, 2), "step": st.integers(0, 2)}
ANY_RECORD = st.one_of(
    st.tuples(st.just("turn/start"), st.fixed_dictionaries({"turn": PLACE["turn"]})),
    st.tuples(st.just("step/start"), st.fixed_dictionaries(PLACE)),
    st.tuples(
        st.just("assistant/calls"),
        st.fixed_dictionaries({**PLACE, "calls": st.lists(ANNOUNCED, min_size=1, max_size=3)}),
    ),
    st.tuples(
        st.just("tool/call"),
        st.builds(
            lambda call, repair: {**call, **({"repair": True} if repair else {})}, ANNOUNCED, st.booleans()
        ),
    ),
    st.tuples(
        st.just("tool/result"),
        st.builds(
            lambda call, cites: {"message": {"callId": call}, "cites": cites}, CALL_IDS, st.integers(0, 12)
        ),
    ),
    st.sampled_from([("step/end", {}), ("turn/end", {}), ("of/later", {})]),
)


OPENING: list[tuple[str, Any]] = [
    ("turn/start", {"turn": 1}),
    ("step/start", {"turn": 1, "step": 1}),
    ("assistant/calls", {"calls": [{"callId": one, "name": "act", "arguments": ""} for one in "aab"]}),
]


@pytest.mark.clause("REP-1")
@settings(max_examples=400)
@given(
    st.builds(
        lambda begin, rest: begin + rest, st.sampled_from([OPENING, []]), st.lists(ANY_RECORD, max_size=9)
    )
)
def test_records_in_any_order_are_closed_as_the_specification_says(drawn: list[tuple[str, Any]]) -> None:
    """Announced again in the same step, closed too early, cited wrongly: whatever a log holds."""
    records = tuple(StoredRecord(place, kind, data) for place, (kind, data) in enumerate(drawn))
    session = Given(records)
    specified = specification.repair([as_specified(one) for one in records])
    assert [as_specified(one) for one in repair(session)] == [without_names(one) for one in specified]
    assert repair(session) == ()


# -- what is written ----------------------------------------------------------------------------------


def crashed() -> MemorySession:
    """One call answered, one under way, one not started."""
    session = MemorySession()
    calls = [{"callId": f"c{n}", "name": "act", "arguments": '{"n": 1.0}'} for n in range(3)]
    session.append(Record("turn/start", {"turn": 4}))
    session.append(Record("step/start", {"turn": 4, "step": 2}))
    session.append(Record("assistant/calls", {"turn": 4, "step": 2, "calls": calls}))
    for one in calls[:2]:
        session.append(Record("tool/call", {"turn": 4, "step": 2, **one}))
    message = {"callId": "c0", "isError": False, "content": []}
    session.append(Record("tool/result", {"turn": 4, "step": 2, "message": message, "cites": 3}))
    return session


@pytest.mark.clause("OUT-5", "LOG-2", "REP-1", "ERR-3")
def test_a_repair_says_that_it_is_one_and_what_is_not_known() -> None:
    unknown = (
        "the run was interrupted before the outcome of this call was logged; the call may have run, and its "
        "effects may have happened"
    )
    idle = "the run was interrupted before this call was started; it had no effect"

    def answer(call: str, message: str, name: str, code: str, cites: int) -> dict[str, Any]:
        content = [{"type": "text", "text": f"Error: {message}"}]
        return {
            "turn": 4,
            "step": 2,
            "message": {"callId": call, "isError": True, "content": content},
            "error": {"name": name, "code": code},
            "cites": cites,
            "repair": True,
        }

    logged = {"turn": 4, "step": 2, "callId": "c2", "name": "act", "arguments": '{"n": 1.0}', "repair": True}
    assert [(one.type, one.data) for one in repair(crashed())] == [
        ("tool/result", answer("c1", unknown, "ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN", 4)),
        ("tool/call", logged),
        ("tool/result", answer("c2", idle, "ToolNotStartedError", "TOOL_NOT_STARTED", 7)),
        ("step/end", {"turn": 4, "step": 2}),
        ("turn/end", {"turn": 4, "reason": "interrupted"}),
    ]


@pytest.mark.clause("REP-1")
def test_what_is_missing_can_be_looked_at_and_nothing_is_written() -> None:
    session = crashed()
    before = list(session.records())
    assert missing(standing_of(session)) == repair(crashed())
    assert list(session.records()) == before


@pytest.mark.clause("REP-1")
def test_a_file_is_repaired_in_place_and_is_on_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(rich_log("exclusive")[:900])
    added = repair(path)
    assert [one.type for one in added][-2:] == ["step/end", "turn/end"]
    assert read_log(path).records[-len(added) :] == added
    assert check_file(path).problems == ()
    content = path.read_bytes()
    assert repair(str(path)) == ()
    assert path.read_bytes() == content


@pytest.mark.clause("REP-1")
def test_what_cannot_be_repaired_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with pytest.raises(LogError, match="there is no such log"):
        repair(path)
    assert not path.exists()
    path.write_bytes(rich_log("exclusive")[:900])
    with JsonlSession(path), pytest.raises(LogLocked):
        repair(path)
    damaged = path.read_bytes().replace(b"c1", b"c2")
    path.write_bytes(damaged)
    with pytest.raises(LogCorrupt):
        repair(path)
    assert path.read_bytes() == damaged


@pytest.mark.clause("LOG-3", "REP-1")
def test_a_repair_that_the_disk_fails_goes_on_with_the_next() -> None:
    content = rich_log("parallel")
    content = content[: content.index(b'{"seq":5,')]
    whole = Disk(log=content)
    with whole.session() as session:
        expected = [(one.type, one.data) for one in repair(session)]
    for room in range(len(whole["log"]) - len(content)):
        disk = Disk(log=content)
        session = disk.session()
        disk.room = room
        with pytest.raises(LogError, match="No space left"):
            repair(session)
        session.close()
        disk.room = None
        with disk.session() as again:
            repair(again)
        found = [(one.type, one.data) for one in read_log_bytes(disk["log"]).records[5:]]
        assert _moved([one for one in found if one[0] != "log/recovered"]) == _moved(expected)
        assert broken(disk["log"]) == []


def test_a_session_that_somebody_else_appends_to_is_not_repaired_on() -> None:
    class Busy(MemorySession):
        def append(self, record: Record) -> int:
            return super().append(record) + ("repair" in record.data)

    session = Busy()
    for one in crashed().records():
        session.append(Record(one.type, one.data))
    with pytest.raises(LogError, match="somebody else"):
        repair(session)


def test_a_sync_that_fails_is_a_failed_repair() -> None:
    disk = Disk(log=rich_log("exclusive")[:900])
    session = disk.session(fsync="always")
    disk.before = failing("sync")
    with pytest.raises(LogError, match="could not be appended"):
        repair(session)
    session.close()


# -- what people reported -----------------------------------------------------------------------------


class Crash(MemorySession):
    """The process ends before a record is written: nothing more of it is ever logged."""

    def __init__(self, before: int) -> None:
        super().__init__()
        self._left = before

    def append(self, record: Record) -> int:
        if self._left == 0:
            raise LogError("the process has ended")
        self._left -= 1
        return super().append(record)


def charging(started: list[str], **options: CallbackApprover) -> Runtime:
    runtime = Runtime(**options)

    @tool
    async def charge(context: ToolContext) -> str:
        """Charge somebody."""
        started.append(context.call_id)
        await anyio.lowlevel.checkpoint()
        return "charged"

    runtime.register(charge)
    return runtime


CALLS = [ToolCall("c1", "charge", "{}"), ToolCall("c2", "charge", "{}")]


def codes(session: Session) -> list[tuple[str, str]]:
    return [
        (one.data["message"]["callId"], one.data.get("error", {}).get("code", "OK"))
        for one in session.records()
        if one.type == "tool/result"
    ]


@both
@pytest.mark.clause("REP-1")
def test_fr_fab_4_repair_never_says_that_a_user_stopped_a_call(backend: str) -> None:
    """FR-FAB-4: ABORTED and ABORTED_BEFORE_DISPATCH come from an abort alone; repair has codes of its own."""
    for before in range(4, 12):
        session, started = Crash(before), list[str]()
        with contextlib.suppress(LogError):
            on(backend, lambda log=session, seen=started: charging(seen).run_batch(CALLS, session=log))
        resumed = Given(tuple(session.records()))
        repair(resumed)
        found = dict(codes(resumed))
        assert list(found) == ["c1", "c2"]
        assert set(found.values()) <= {"OK", "TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"}
        assert all(found[one] != "TOOL_NOT_STARTED" for one in started)


@both
@pytest.mark.clause("SCD-9", "REP-1")
def test_fr_fab_5_a_call_whose_runtime_went_away_is_closed_after_a_restart(backend: str) -> None:
    """FR-FAB-5: live, the logged call is kept and nothing is made up; a restart closes it."""
    session, started = MemorySession(), list[str]()
    runtime = charging(started)

    def unloaded(execution: object, following: object) -> None:
        raise KeyboardInterrupt("runtime unloaded")

    runtime.on("pre_execute", unloaded)
    with pytest.raises(KeyboardInterrupt, match="unloaded"):
        on(backend, lambda: runtime.run_batch(CALLS, session=session))
    assert [one.type for one in session.records()][-1] == "tool/call"
    assert codes(session) == []

    resumed = Given(tuple(session.records()))
    repair(resumed)
    assert codes(resumed) == [("c1", "TOOL_OUTCOME_UNKNOWN"), ("c2", "TOOL_NOT_STARTED")]
    on(backend, lambda: charging(started).run_batch([ToolCall("c3", "charge", "{}")], session=resumed))
    assert started == ["c3"], "what was closed is not run, and the session goes on"
    assert list(resumed.records())[-1].data == {"turn": 1, "reason": "completed"}


@both
@pytest.mark.clause("APP-1", "CAN-6", "REP-1")
def test_fr_apr_9_a_grant_is_used_up_when_the_body_starts(backend: str, tmp_path: Path) -> None:
    """FR-APR-9: granted, started, cancelled: ABORTED, and a resume finds a closed call and asks anew."""
    asked: list[str] = []
    started: list[str] = []
    stop = AbortController()

    def answer(request: Any) -> bool:
        asked.append(request.call_id)
        return True

    def charging_and_stopped() -> Runtime:
        runtime = Runtime(approver=CallbackApprover(answer))

        @tool(interrupt="signal")
        async def charge(context: ToolContext) -> str:
            """Charge somebody, whom the user stops meanwhile."""
            started.append(context.call_id)
            stop.abort()
            return "charged"

        runtime.register(charge)
        runtime.on("pre_execute", lambda execution, following: Ask())
        return runtime

    path = tmp_path / "log"
    with JsonlSession(path) as session:
        runtime = charging_and_stopped()
        set_approval_policy(session, "ask")
        on(
            backend,
            lambda: runtime.run_batch(
                [ToolCall("c1", "charge")], session=session, scope=runtime.scope("a"), signal=stop.signal
            ),
        )
        assert codes(session) == [("c1", "ABORTED")]
    assert repair(path) == ()
    with JsonlSession(path) as session:
        runtime = charging_and_stopped()
        on(
            backend,
            lambda: runtime.run_batch([ToolCall("c2", "charge")], session=session, scope=runtime.scope("a")),
        )
    assert asked == ["c1", "c2"], "the grant of the first call is not there any more"
    assert started == ["c1", "c2"]


@both
@pytest.mark.clause("REP-1")
def test_fr_apr_9_neither_does_a_crash_leave_a_grant_behind(backend: str) -> None:
    """The process ends while the granted body runs: the call is closed, and is not run again."""
    asked: list[str] = []
    started: list[str] = []
    runtime = charging(
        started, approver=CallbackApprover(lambda request: asked.append(request.call_id) or True)
    )
    runtime.on("pre_execute", lambda execution, following: Ask())
    session = Crash(6)
    with pytest.raises(LogError):
        on(
            backend,
            lambda: runtime.run_batch([ToolCall("c1", "charge")], session=session, scope=runtime.scope("a")),
        )
    resumed = Given(tuple(session.records()))
    assert [one.type for one in resumed.records()][-2:] == ["approval/asked", "approval/decided"]
    repair(resumed)
    assert codes(resumed) == [("c1", "TOOL_OUTCOME_UNKNOWN")]
    on(
        backend,
        lambda: runtime.run_batch([ToolCall("c2", "charge")], session=resumed, scope=runtime.scope("b")),
    )
    assert (asked, started) == (["c1", "c2"], ["c1", "c2"])
