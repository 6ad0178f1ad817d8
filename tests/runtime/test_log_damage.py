"""The session log under fire: cuts at every byte, flipped bits, zeros, and what opening makes of them."""

from __future__ import annotations

import contextlib
import os
import random
from pathlib import Path

import pytest
from disk import Disk, ends, failing, kept
from hypothesis import given
from hypothesis import strategies as st
from rich_logs import PROGRAMS, rich_log

from gnomon import JsonlSession, LogCorrupt, LogError
from gnomon.session import LogContent, read_log_bytes


def read_or_refusal(content: bytes) -> LogContent | LogCorrupt:
    try:
        return read_log_bytes(content)
    except LogCorrupt as refusal:
        return refusal


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
def test_a_last_record_with_zeros_in_it_and_behind_it_is_torn() -> None:
    content = rich_log("exclusive")
    start = ends(content)[-2]
    holed = content[: start + 20] + bytes(10) + content[start + 30 :]
    for tail in (b"", bytes(1), bytes(700)):
        found = read_log_bytes(holed + tail)
        assert found.dropped == holed[start:] + tail
        assert found.records == read_log_bytes(content[:start]).records
    with pytest.raises(LogCorrupt):
        read_log_bytes(holed + b"\0{")


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
