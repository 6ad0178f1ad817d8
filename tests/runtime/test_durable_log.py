"""The session log under fire: every cut, flipped bits, full disks, and files that change under it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from disk import Disk, failing
from hypothesis import given
from hypothesis import strategies as st
from rich_logs import PROGRAMS, rich_log

from gnomon import ConfigError, JsonlSession, LogCorrupt, LogError, LogLocked, MemorySession, Record
from gnomon.session import LogContent, StoredRecord, read_log, read_log_bytes
from gnomon.session.records import encode

RECORDS = [Record("kind", {"number": number, "text": "x" * number}) for number in range(12)]


def ends(content: bytes) -> list[int]:
    """Where whole records end, and where the first begins."""
    return [0, *(place + 1 for place, byte in enumerate(content) if byte == ord("\n"))]


def kept(disk: Disk, name: str = "log") -> list[bytes]:
    """What was put aside, in order."""
    found = []
    while (one := f"{name}.torn-{len(found) + 1}") in disk:
        found.append(disk[one])
    return found


def read_or_refusal(content: bytes) -> LogContent | LogCorrupt:
    try:
        return read_log_bytes(content)
    except LogCorrupt as refusal:
        return refusal


def plain(records: tuple[StoredRecord, ...]) -> list[tuple[str, object]]:
    return [(one.type, one.data) for one in records]


# -- damage -------------------------------------------------------------------------------------------


@pytest.mark.clause("LOG-1", "LOG-3")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rich_log_cut_at_any_byte_is_read_up_to_its_last_whole_record(name: str) -> None:
    content = rich_log(name)
    places, whole = ends(content), read_log_bytes(content).records
    assert [one.seq for one in whole] == list(range(len(places) - 1))
    for count, (start, end) in enumerate(zip(places, [*places[1:], len(content) + 1], strict=True)):
        for cut in range(start, end):
            found = read_log_bytes(content[:cut])
            assert found.records == whole[:count]
            assert found.dropped == content[start:cut]


@pytest.mark.clause("LOG-3")
def test_no_flipped_bit_is_read_as_something_else() -> None:
    """4,000 flips. One is refused, or costs the last record, or the last two where it joins their lines."""
    chosen = random.Random(20)
    verdicts = {"refused": 0, "torn": 0}
    for _ in range(400):
        for name in PROGRAMS:
            content = rich_log(name)
            whole = read_log_bytes(content).records
            flipped = bytearray(content)
            place = chosen.randrange(len(content))
            flipped[place] ^= 1 << chosen.randrange(8)
            found = read_or_refusal(bytes(flipped))
            if isinstance(found, LogCorrupt):
                assert content[: found.whole].count(b"\n") == found.line - 1
                assert found.whole <= place
                verdicts["refused"] += 1
                continue
            assert found.dropped == flipped[found.size :] != b""
            assert found.records == whole[: len(found.records)]
            assert len(whole) - 2 <= len(found.records) < len(whole)
            verdicts["torn"] += 1
    assert sum(verdicts.values()) == 4_000
    assert verdicts["torn"] > 100, "both kinds are met"
    assert verdicts["refused"] > 3_000


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_tail_of_zeros_is_torn(name: str) -> None:
    """What some file systems show of a file that had grown when the power went."""
    content = rich_log(name)
    places, whole = ends(content), read_log_bytes(content).records
    for cut in range(len(content)):
        found = read_log_bytes(content[:cut] + bytes(len(content) - cut))
        count = sum(place <= cut for place in places) - 1
        assert found.records == whole[:count]
        assert len(found.dropped) == len(content) - places[count]


@pytest.mark.clause("LOG-3")
@given(st.binary(min_size=1, max_size=40), st.sampled_from(sorted(PROGRAMS)))
def test_a_log_with_anything_after_it_is_read_or_refused_and_nothing_is_made_up(
    tail: bytes, name: str
) -> None:
    content = rich_log(name)
    found = read_or_refusal(content + tail)
    if isinstance(found, LogCorrupt):
        assert found.whole == len(content)
        return
    assert found.records == read_log_bytes(content).records
    assert found.dropped == tail


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize(
    "content", [b"dear diary,", b'{"a": 1}', b"\x00\x00letters", b'{"seq":1,"crc":"', b'{"se\x00q', b"\n"]
)
def test_a_file_that_does_not_begin_as_a_log_is_refused_and_left_alone(content: bytes) -> None:
    disk = Disk(log=content)
    with pytest.raises(LogCorrupt, match="line 1: this is no session log") as refused:
        disk.session()
    assert (refused.value.line, refused.value.whole) == (1, 0)
    assert disk["log"] == content
    assert len(disk.names) == 1
    assert disk.opened == {}


@pytest.mark.clause("LOG-3")
def test_damage_before_other_records_is_refused_in_words_and_the_file_is_free_again() -> None:
    content = rich_log("parallel")
    damaged = content.replace(b'"callId":"c2"', b'"callId":"c9"')
    disk = Disk(log=damaged)
    for _ in range(2):
        with pytest.raises(LogCorrupt) as refused:
            disk.session()
        assert str(refused.value) == (
            "log, line 3: the record is damaged, and others follow it (LOG-3); the file was left as it is: "
            "keep it, and go on in a new one"
        )
    assert disk["log"] == damaged
    assert len(disk.names) == 1


# -- recovery -----------------------------------------------------------------------------------------


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("name", PROGRAMS)
def test_opening_drops_a_torn_record_keeps_its_bytes_and_says_so(name: str) -> None:
    content = rich_log(name)
    for start, end in zip(ends(content), ends(content)[1:], strict=False):
        for cut in sorted({start + 1, (start + end) // 2, end - 1}):
            disk = Disk(log=content[:cut])
            with disk.session() as session:
                assert session.kept is not None
                assert session.kept.name == "log.torn-1"
                *whole, told = session.records()
            assert kept(disk) == [content[start:cut]]
            assert tuple(whole) == read_log_bytes(content[:start]).records
            assert (told.type, told.data) == (
                "log/recovered",
                {"records": len(whole), "droppedBytes": cut - start, "kept": "log.torn-1"},
            )


@pytest.mark.clause("LOG-3")
def test_what_was_torn_twice_is_kept_twice() -> None:
    content = rich_log("exclusive")
    disk = Disk(log=content[:-3])
    disk.session().close()
    first = kept(disk)
    disk.put("log", disk["log"][:-1])
    second = disk["log"][ends(disk["log"])[-1] :]
    disk.session().close()
    assert kept(disk) == [*first, second]
    with disk.session() as session:
        assert session.kept is None
    assert len(kept(disk)) == 2


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("operation", ["create", "write", "sync", "sync_directory", "truncate"])
def test_where_the_torn_bytes_cannot_be_kept_nothing_is_cut(operation: str) -> None:
    torn = rich_log("exclusive")[:-3]
    disk = Disk(log=torn)
    disk.before = failing(operation)
    with pytest.raises(
        LogError, match=r"^log: its torn last record could not be put aside: Input/output error"
    ):
        disk.session()
    assert disk["log"] == torn
    assert kept(disk) == ([torn[ends(torn)[-1] :]] if operation == "truncate" else [])
    disk.before = lambda operation: None
    with disk.session() as session:
        assert session.kept is not None
    assert torn[ends(torn)[-1] :] in kept(disk)


@pytest.mark.clause("LOG-3")
def test_a_recovery_that_the_disk_fails_loses_nothing_and_goes_on_with_the_next() -> None:
    content = rich_log("exclusive")[:-3]
    start = ends(content)[-1]
    for room in range(300):
        disk = Disk(log=content)
        disk.room = room
        with contextlib.suppress(LogError):
            disk.session().close()
        disk.room = None
        with disk.session() as session:
            found = [one for one in session.records() if one.type != "log/recovered"]
        assert tuple(found) == read_log_bytes(content[:start]).records
        assert kept(disk)[0] == content[start:]


@pytest.mark.clause("LOG-3")
@pytest.mark.parametrize("operation", ["open", "lock", "status", "leads_to", "read", "sync_directory"])
def test_a_log_that_cannot_be_opened_is_an_error_in_words(operation: str) -> None:
    disk = Disk()
    disk.before = failing(operation)
    with pytest.raises(LogError, match=r"^log: cannot be opened: Input/output error$"):
        disk.session()
    assert disk.opened == {}


def test_a_log_that_was_replaced_while_it_was_opened_is_refused() -> None:
    disk = Disk(log=rich_log("parallel"))
    disk.before = lambda operation: disk.put("log", b"") if operation == "lock" else None
    with pytest.raises(LogError, match="replaced while it was being opened"):
        disk.session()


def test_what_is_no_plain_file_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be opened: Is a directory"):
        JsonlSession(tmp_path)
    if hasattr(os, "mkfifo"):  # Windows has no such files
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(LogError, match="not a plain file"):
            JsonlSession(tmp_path / "pipe")


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
