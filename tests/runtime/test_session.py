"""The session log on disk: what is appended is read back, what is torn is dropped, damage is refused."""

from __future__ import annotations

import random
from pathlib import Path

import anyio
import pytest

from gnomon import JsonlSession, LogCorrupt, LogError, Record
from gnomon.session import read_log, read_log_bytes

RECORDS = [
    Record("turn/start", {"turn": 0}),
    Record("tool/call", {"callId": "c1", "arguments": '{"a": "\u2028é\ud800"}'}),
    Record("tool/result", {"message": {"content": [{"type": "text", "text": "x" * 50}]}}),
    Record("a kind of later", {}),
]


def write(path: Path) -> bytes:
    with JsonlSession(path) as session:
        assert [session.append(one) for one in RECORDS] == [0, 1, 2, 3]
        anyio.run(session.flush)
    return path.read_bytes()


@pytest.mark.clause("VAL-6", "LOG-1", "LOG-3")
def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    write(tmp_path / "log")
    found = read_log(tmp_path / "log")
    assert [(one.type, one.data) for one in found.records] == [(one.type, one.data) for one in RECORDS]
    assert [one.seq for one in found.records] == [0, 1, 2, 3]
    assert found.dropped == b""


@pytest.mark.clause("LOG-3")
def test_every_prefix_is_read_up_to_its_last_whole_record(tmp_path: Path) -> None:
    content = write(tmp_path / "log")
    ends = [0, *(index + 1 for index, byte in enumerate(content) if byte == ord("\n"))]
    for cut in range(len(content) + 1):
        found = read_log_bytes(content[:cut])
        assert len(found.records) == sum(end <= cut for end in ends) - 1
        assert len(found.dropped) == cut - max(end for end in ends if end <= cut)


def test_no_flipped_bit_passes(tmp_path: Path) -> None:
    content = write(tmp_path / "log")
    chosen = random.Random(7)
    for _ in range(500):
        flipped = bytearray(content)
        flipped[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        try:
            found = read_log_bytes(bytes(flipped))
        except LogCorrupt:
            continue
        # Only the last record may be taken for torn, or the last two where the end of line between
        # them was hit.
        assert found.dropped
        assert len(found.records) >= len(RECORDS) - 2


@pytest.mark.clause("LOG-3")
def test_opening_a_torn_log_drops_the_torn_record_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(write(path)[:-5])
    with JsonlSession(path) as session:
        assert session.append(Record("next", {})) == 4
        kinds = [one.type for one in session.records()]
    assert kinds == ["turn/start", "tool/call", "tool/result", "log/recovered", "next"]
    assert read_log(path).records[3].data["records"] == 3


def test_damage_before_other_records_is_refused_and_nothing_is_touched(tmp_path: Path) -> None:
    path = tmp_path / "log"
    damaged = write(path).replace(b'"callId":"c1"', b'"callId":"c9"')
    path.write_bytes(damaged)
    with pytest.raises(LogCorrupt, match="line 2"):
        JsonlSession(path)
    assert path.read_bytes() == damaged


def test_a_log_that_cannot_be_opened_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be"):
        JsonlSession(tmp_path / "missing" / "log")
    with pytest.raises(LogError, match="cannot be read"):
        read_log(tmp_path)


def test_a_closed_session_takes_no_more_records(tmp_path: Path) -> None:
    session = JsonlSession(tmp_path / "log")
    session.close()
    session.close()
    with pytest.raises(LogError, match="closed"):
        session.append(RECORDS[0])
