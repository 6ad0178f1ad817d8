"""Stores of a session log: in memory, and as a file of JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Protocol

import anyio.to_thread

from gnomon.errors import LogError
from gnomon.session.records import Record, StoredRecord, encode, read_log, read_log_bytes


class Session(Protocol):
    """A session log. A store of your own may stand in its place."""

    def append(self, record: Record) -> int:
        """Append a record, and answer its sequence number. Raises `LogError` if it is not in the log."""

    async def flush(self) -> None:
        """Make what was appended as durable as this store promises. Raises `LogError`."""

    def records(self) -> Iterable[StoredRecord]:
        """All records, in order."""


class MemorySession:
    """A session log that lives as long as the process."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: list[StoredRecord] = []

    def append(self, record: Record) -> int:
        seq = len(self._records)
        self._records.append(StoredRecord(seq, record.type, record.data))
        return seq

    async def flush(self) -> None:
        return None

    def records(self) -> Iterable[StoredRecord]:
        return tuple(self._records)


class JsonlSession:
    """A session log in a file, one record a line (LOG-1).

    Each record is handed to the operating system when it is appended; `flush` also has it written to
    the disk. Opening an existing log drops a torn last record, and writes down that it did (LOG-3).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._seq = self._crc = 0
        self._broken: str | None = None
        torn = self._recover()
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise LogError(f"{self.path}: cannot be opened: {error.strerror or error}") from error
        if torn:
            self.append(Record("log/recovered", {"records": self._seq, "droppedBytes": torn}))

    def _recover(self) -> int:
        if not self.path.exists():
            return 0
        found = read_log(self.path)
        self._seq, self._crc = len(found.records), found.crc
        if found.dropped:
            os.truncate(self.path, found.size)
        return len(found.dropped)

    def append(self, record: Record) -> int:
        if self._broken is not None:
            raise LogError(f"{self.path}: nothing is appended after a failure: {self._broken}")
        line, crc = encode(self._seq, self._crc, record)
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self._broken = error.strerror or str(error)
            raise LogError(f"{self.path}: a record could not be appended: {self._broken}") from error
        seq, self._seq, self._crc = self._seq, self._seq + 1, crc
        return seq

    async def flush(self) -> None:
        try:
            await anyio.to_thread.run_sync(os.fsync, self._file)
        except OSError as error:
            self._broken = error.strerror or str(error)
            raise LogError(f"{self.path}: could not be written to the disk: {self._broken}") from error

    def records(self) -> Iterable[StoredRecord]:
        return read_log_bytes(self.path.read_bytes(), str(self.path)).records

    def close(self) -> None:
        """Close the file. A closed session takes no more records."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
            self._broken = "the session is closed"

    def __enter__(self) -> JsonlSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
