"""The session log under fire: full disks, failing syncs, files that change under it, other writers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from disk import Disk, ends, failing, kept, plain
from rich_logs import rich_log

from gnomon import ConfigError, JsonlSession, LogError, LogLocked, MemorySession, Record
from gnomon.session import read_log
from gnomon.session.records import encode

RECORDS = [Record("kind", {"number": number, "text": "x" * number}) for number in range(12)]


# -- writing ------------------------------------------------------------------------------------------


@pytest.mark.clause("LOG-3")
def test_a_full_disk_is_told_and_loses_nothing_that_was_said_to_be_written() -> None:
    whole = Disk()
    with whole.session() as session:
        for one in RECORDS:
            session.append(one)
    for room in range(len(whole["log"])):
        disk = Disk()
        disk.room = room
        session = disk.session()
        written = 0

        def fill(session: JsonlSession = session) -> None:
            nonlocal written
            for one in RECORDS:
                session.append(one)
                written += 1

        with pytest.raises(LogError, match="could not be appended: No space left on device"):
            fill()
        disk.room = None
        with pytest.raises(LogError, match="nothing is appended after a failure: No space left"):
            session.append(RECORDS[0])
        with pytest.raises(LogError, match="No space left"):
            anyio.run(session.flush)
        session.close()
        with disk.session() as again:
            found = plain(tuple(again.records()))
        assert found[:written] == [(one.type, one.data) for one in RECORDS[:written]]
        assert b"".join(kept(disk)) == whole["log"][ends(whole["log"])[written] : room]


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("piece", [1, 2, 7, 64])
def test_a_write_that_takes_a_part_is_gone_on_with(piece: int) -> None:
    disk = Disk()
    disk.piece = piece
    with disk.session() as session:
        for one in RECORDS:
            session.append(one)
        assert plain(tuple(session.records())) == [(one.type, one.data) for one in RECORDS]


@pytest.mark.clause("LOG-3")
def test_a_write_that_takes_nothing_is_a_failure() -> None:
    disk = Disk()
    disk.piece = 0
    with disk.session() as session, pytest.raises(LogError, match="took none of it"):
        session.append(RECORDS[0])


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("pieces", range(4))
def test_an_append_that_an_interrupt_breaks_into_is_the_last(pieces: int) -> None:
    disk = Disk()
    session = disk.session()
    session.append(RECORDS[0])
    disk.piece, left = 5, [pieces]

    def interrupt(operation: str) -> None:
        if operation == "write":
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

    disk.before = interrupt
    with pytest.raises(KeyboardInterrupt):
        session.append(RECORDS[1])
    disk.before = lambda operation: None
    with pytest.raises(LogError, match="an append was interrupted"):
        session.append(RECORDS[2])
    session.close()
    with disk.session() as again:
        assert [one.type for one in again.records()] == ["kind", *(["log/recovered"] if pieces else [])]


@pytest.mark.clause("LOG-3")
def test_after_a_failed_sync_nothing_more_is_trusted() -> None:
    disk = Disk()
    session = disk.session()
    session.append(RECORDS[0])
    disk.before = failing("sync")
    with pytest.raises(LogError, match=r"^log: could not be written to the disk: Input/output error$"):
        anyio.run(session.flush)
    disk.before = lambda operation: None
    for _ in range(2):
        with pytest.raises(LogError, match="after a failure: Input/output error"):
            anyio.run(session.flush)
    with pytest.raises(LogError, match="after a failure: Input/output error"):
        session.append(RECORDS[1])
    assert disk.syncs == 0
    session.close()


@pytest.mark.clause("LOG-3")
def test_a_sync_that_fails_beside_an_append_is_not_forgotten() -> None:
    disk = Disk()
    session = disk.session()
    session.append(RECORDS[0])

    def append_and_fail(operation: str) -> None:
        if operation == "sync":
            session.append(RECORDS[1])
            raise OSError("the cable is out")

    disk.before = append_and_fail
    with pytest.raises(LogError, match="the cable is out"):
        anyio.run(session.flush)
    disk.before = lambda operation: None
    with pytest.raises(LogError, match="the cable is out"):
        session.append(RECORDS[2])
    session.close()


def appended(session: JsonlSession) -> None:
    session.append(RECORDS[0])


def flushed(session: JsonlSession) -> None:
    anyio.run(session.flush)


UNDER_IT: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "the directory vanishes": (lambda path: shutil.rmtree(path.parent), "deleted or replaced", "moved, del"),
    "deleted": (lambda path: path.unlink(), "deleted or replaced", "moved, deleted or replaced"),
    "replaced": (lambda path: (path.parent / "other").rename(path), "deleted or replaced", "moved, deleted"),
    "truncated": (lambda path: os.truncate(path, 10), "has 10 bytes and not", ""),
    "grown": (lambda path: path.write_bytes(path.read_bytes() + b"more"), "somebody else changed", ""),
    "moved": (lambda path: path.rename(path.parent / "away"), "", "moved, deleted or replaced"),
}


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("what", UNDER_IT)
def test_a_file_that_changes_under_its_writer_is_noticed(what: str, tmp_path: Path) -> None:
    """Growing and shrinking is seen by the next append, another name by the next flush, the rest by both."""
    change, when_appended, when_flushed = UNDER_IT[what]
    for act, words in ((appended, when_appended), (flushed, when_flushed)):
        if not words:
            continue
        path = tmp_path / act.__name__ / "log"
        path.parent.mkdir()
        (path.parent / "other").write_bytes(b"")
        with JsonlSession(path) as session:
            session.append(RECORDS[0])
            flushed(session)
            change(path)
            with pytest.raises(LogError, match=words):
                act(session)
            with pytest.raises(LogError, match="after a failure"):
                appended(session)


def test_a_change_of_the_working_directory_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with JsonlSession("log") as session:
        session.append(RECORDS[0])
        monkeypatch.chdir("elsewhere")
        session.append(RECORDS[1])
        anyio.run(session.flush)
        assert len(list(session.records())) == 2


@pytest.mark.clause("LOG-1", "LOG-3")
def test_a_record_that_json_cannot_hold_is_refused_and_the_log_goes_on() -> None:
    disk = Disk()
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with disk.session() as session:
        for wrong in ({1, 2}, float("nan"), deep):
            with pytest.raises(LogError, match="of type 'kind' cannot be written"):
                session.append(Record("kind", {"wrong": wrong}))
        assert session.append(RECORDS[0]) == 0


@pytest.mark.clause("LOG-2")
@pytest.mark.parametrize(
    "record",
    [
        Record("turn/start", {}),
        Record("turn/start", {"turn": True}),
        Record("step/start", {"turn": 0}),
        Record("assistant/calls", {"calls": [{"callId": "c"}]}),
        Record("tool/call", {"callId": 1}),
        Record("tool/result", {"cites": "3"}),
        Record("approval/policy", {}),
    ],
    ids=lambda one: f"{one.type} {one.data}",
)
def test_a_record_that_would_leave_open_what_is_open_is_refused(record: Record) -> None:
    disk = Disk()
    with disk.session() as session:
        for store in (session, MemorySession()):
            with pytest.raises(LogError, match=f"record of type {record.type} "):
                store.append(record)
            assert store.append(Record("turn/start", {"turn": 0})) == 0


def test_records_of_a_later_version_are_kept_and_a_senseless_one_is_refused_when_read() -> None:
    line, crc = encode(0, 0, Record("of/later", {"turn": "?"}))
    disk = Disk(log=line)
    with disk.session() as session:
        assert plain(tuple(session.records())) == [("of/later", {"turn": "?"})]
    disk.put("log", line + encode(1, crc, Record("turn/start", {"turn": "?"}))[0])
    with pytest.raises(LogError, match=r"^log: record 1 makes no sense: a record of type turn/start needs"):
        disk.session()
    assert disk.opened == {}


# -- how durable --------------------------------------------------------------------------------------


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("fsync", ["flush", "always", "never"])
@pytest.mark.parametrize("power", [False, True])
def test_what_outlasts_a_crash_is_what_the_policy_promises(fsync: str, power: bool) -> None:
    disk = Disk()
    session = disk.session(fsync=fsync)
    for one in RECORDS[:4]:
        session.append(one)
    anyio.run(session.flush)
    for one in RECORDS[4:6]:
        session.append(one)
    assert disk.syncs == {"flush": 1, "always": 6, "never": 0}[fsync]
    disk.crash(power=power)
    expected = {"flush": 4, "always": 6, "never": 0}[fsync] if power else 6
    with disk.session() as again:
        assert plain(tuple(again.records())) == [(one.type, one.data) for one in RECORDS[:expected]]


def test_a_flush_with_nothing_to_do_leaves_the_disk_alone_but_for_the_first() -> None:
    disk = Disk(log=rich_log("exclusive"))
    with disk.session() as session:
        anyio.run(session.flush)
        assert disk.syncs == 1, "what another process has written may not be on the disk yet"
        anyio.run(session.flush)
        assert disk.syncs == 1


def test_there_are_three_policies() -> None:
    with pytest.raises(ConfigError, match="there are flush, always, never"):
        Disk().session(fsync="sometimes")


# -- one writer ---------------------------------------------------------------------------------------


@pytest.mark.clause("LOG-1")
def test_a_log_has_one_writer_and_many_readers(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with JsonlSession(path) as session:
        session.append(RECORDS[0])
        with pytest.raises(LogLocked, match="log: another writer has this log open"):
            JsonlSession(path)
        assert len(read_log(path).records) == 1
        assert session.append(RECORDS[1]) == 1
    with JsonlSession(path) as session:
        assert session.append(RECORDS[2]) == 2


HOLDER = """
import sys
from gnomon import JsonlSession, Record
session = JsonlSession(sys.argv[1])
session.append(Record("kind", {}))
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.process
@pytest.mark.clause("LOG-3")
def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "log")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(LogLocked):
            JsonlSession(tmp_path / "log")
        holder.kill()
    with JsonlSession(tmp_path / "log") as session:
        assert [one.type for one in session.records()] == ["kind"]


def test_a_session_that_is_forgotten_is_closed_with_a_warning(tmp_path: Path) -> None:
    with pytest.warns(ResourceWarning, match="a session was never closed"):
        JsonlSession(tmp_path / "log").__del__()
    JsonlSession(tmp_path / "log").close()
