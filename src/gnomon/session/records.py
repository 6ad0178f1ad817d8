"""Records of a session log, as they stand on disk: one JSON object a line, in a checked chain.

A line is `{"seq":n,"crc":"8 hex digits","type":"...","data":{...}}`. The checksum is
CRC-32 over the bytes of type and data as they were written, chained from record to
record. Reading compares bytes with what the writer must have written; nothing is
re-encoded (LOG-1, LOG-3). The checksum finds damage, not tampering.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.errors import LogCorrupt, LogError
from gnomon.values import from_text, to_text

_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Record:
    """One record before it has its place: its type (`events` of the specification), and its data."""

    type: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record in its place: `seq` counts from 0 without gaps (LOG-1)."""

    seq: int
    type: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class LogContent:
    """What a log holds: its whole records, and what was dropped of a torn last one (LOG-3)."""

    records: tuple[StoredRecord, ...]
    crc: int
    size: int
    """Bytes of the whole records."""
    dropped: bytes = field(default=b"")


def encode(seq: int, crc: int, record: Record) -> tuple[bytes, int]:
    """The line of a record, and the checksum that the next one goes on from.

    Raises `LogError` for data that JSON cannot hold.
    """
    try:
        kind, data = encoded(record.type), encoded(record.data)
    except (TypeError, ValueError, RecursionError) as error:
        raise LogError(f"a record of type {record.type!r} cannot be written: {error}") from error
    crc = zlib.crc32(data, zlib.crc32(kind, crc))
    return b'{"seq":%d,"crc":"%08x","type":%s,"data":%s}\n' % (seq, crc, kind, data), crc


def encoded(value: object) -> bytes:
    """The JSON text of a value, as bytes of UTF-8."""
    text = to_text(value)
    try:
        return text.encode()
    except UnicodeEncodeError:  # lone surrogates are kept as escapes (VAL-6)
        return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text).encode()


def _decode(line: bytes, seq: int, crc: int) -> tuple[StoredRecord, int] | None:
    """The record of a line, if the line is what its writer must have written there."""
    head, _, data = line.partition(b',"data":')
    start = b'{"seq":%d,"crc":"' % seq
    kind = head[len(start) + len(b'00000000","type":') :]
    data = data[:-1]
    crc = zlib.crc32(data, zlib.crc32(kind, crc))
    if line != b'%s%08x","type":%s,"data":%s}' % (start, crc, kind, data):
        return None
    try:
        name, fields = from_text(kind.decode()), from_text(data.decode())
    except ValueError:
        return None
    except RecursionError:
        raise LogError(f"record {seq} is nested too deeply to be read") from None
    if not isinstance(name, str) or not isinstance(fields, dict):
        return None
    return StoredRecord(seq, name, fields), crc


_BEGINS = b'{"seq":0,"crc":"'


def _begins_as_log(content: bytes) -> bool:
    """Whether this may be a log, torn or not, or nothing: zeros stand where a disk took no data."""
    head = content[: len(_BEGINS)].rstrip(b"\0")
    return _BEGINS.startswith(head) and not (len(head) < len(_BEGINS) and content[len(head) :].strip(b"\0"))


def read_log_bytes(content: bytes, name: str = "log") -> LogContent:
    """Read the bytes of a log; drop a torn last record, refuse any other damage.

    Raises `LogCorrupt`, with the number of the damaged line, where records follow that line, or where it
    is the first and does not even begin as one; and `LogError` for a whole record that cannot be read.
    """
    if not _begins_as_log(content):
        raise LogCorrupt(
            f"{name}, line 1: this is no session log, or its first record is damaged (LOG-3); it was left "
            "as it is",
            line=1,
            whole=0,
        )
    records: list[StoredRecord] = []
    crc = start = 0
    while True:
        end = content.find(b"\n", start)
        if end < 0:
            return LogContent(tuple(records), crc, start, content[start:])
        found = _decode(content[start:end], len(records), crc)
        if found is None:
            if content.find(b"\n", end + 1) >= 0 or content[end + 1 :].strip(b"\0"):
                line = len(records) + 1
                raise LogCorrupt(
                    f"{name}, line {line}: the record is damaged, and others follow it (LOG-3); the file was "
                    "left as it is: keep it, and go on in a new one",
                    line=line,
                    whole=start,
                )
            return LogContent(tuple(records), crc, start, content[start:])
        record, crc = found
        records.append(record)
        start = end + 1


def read_log(path: str | Path) -> LogContent:
    """Read a log file. Raises `LogError` where it cannot be read, `LogCorrupt` where it is damaged."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror or error}") from error
    return read_log_bytes(content, str(path))
