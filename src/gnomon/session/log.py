"""Stores of a session log: in memory, and as a file of JSON lines."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal, Protocol, TypeAlias, get_args

from gnomon.errors import ConfigError, LogError
from gnomon.session.files import Files
from gnomon.session.group import GroupSync
from gnomon.session.records import LogContent, Record, StoredRecord
from gnomon.session.standing import Standing, check_record
from gnomon.session.writing import LogFile

Fsync: TypeAlias = Literal["flush", "always", "never"]


class Session(Protocol):
    """A session log. A store of your own may stand in its place.

    A store that also has an attribute `standing`, a `Standing` that takes in each record, is not read from
    its beginning for each batch.
    """

    def append(self, record: Record) -> int:
        """Append a record, and answer its sequence number. Raises `LogError` if it is not in the log."""

    async def flush(self) -> None:
        """Make what was appended as durable as this store promises. Raises `LogError`.

        `run_batch` flushes before it returns, and before it lets out a failure or a cancellation.
        """

    def records(self) -> Iterable[StoredRecord]:
        """All records, in order."""


class MemorySession:
    """A session log that lives as long as the process."""

    __slots__ = ("_records", "standing")

    def __init__(self) -> None:
        self._records: list[StoredRecord] = []
        self.standing = Standing()

    def append(self, record: Record) -> int:
        seq = len(self._records)
        self.standing.take(seq, record.type, record.data)
        self._records.append(StoredRecord(seq, record.type, record.data))
        return seq

    async def flush(self) -> None:
        return None

    def records(self) -> Iterable[StoredRecord]:
        return tuple(self._records)


class JsonlSession:
    """A session log in a file, one record a line (LOG-1). It has one writer; whoever reads needs no lock.

    Opening an existing log drops a torn last record, keeps its bytes in a file beside the log
    (`<name>.torn-1`), and writes down that it did (LOG-3).

    Each record is handed to the operating system before `append` returns, so a crash of the process loses
    none. What a crash of the machine leaves is up to `fsync`:

    - `"flush"`: all that was appended before a `flush` that has returned, as `run_batch` does at its end.
      Of a batch that was running, calls may have run of which the log says nothing.
    - `"always"`: every record whose `append` has returned, so no body starts before its call is on the
      disk. Each append waits for the disk, and the event loop with it.
    - `"never"`: nothing is promised.
    """

    _files: ClassVar[Files] = Files()

    def __init__(self, path: str | Path, *, fsync: Fsync = "flush") -> None:
        """Open a log, and make it where there is none.

        Raises `LogLocked` where another writer has it open, `LogCorrupt` where records before the last one
        are damaged, `LogError` where it cannot be used for another reason, and `ConfigError`.
        """
        if fsync not in get_args(Fsync):
            raise ConfigError(f"there is no fsync policy {fsync!r}; there are {', '.join(get_args(Fsync))}")
        self.path = Path(path)
        self.fsync = fsync
        self.standing = Standing()
        self._file = LogFile(path, self._files, sync_each=fsync == "always")
        self._group = GroupSync(self._file.sync)
        try:
            self._take(self._file.recover())
        except BaseException:
            self._file.close()
            raise

    def _take(self, content: LogContent) -> None:
        for one in content.records:
            try:
                self.standing.take(one.seq, one.type, one.data)
            except LogError as error:
                raise LogError(f"{self.path}: record {one.seq} makes no sense: {error}") from None
        if self._file.kept is not None:
            kept = os.path.basename(self._file.kept)
            told = {"records": len(content.records), "droppedBytes": len(content.dropped), "kept": kept}
            self.append(Record("log/recovered", told))  # LOG-3

    @property
    def kept(self) -> Path | None:
        """Where the bytes of a torn last record are that opening the log has cut off."""
        return None if self._file.kept is None else Path(self._file.kept)

    def append(self, record: Record) -> int:
        check_record(record.type, record.data)
        seq = self._file.append(record)
        self.standing.take(seq, record.type, record.data)
        return seq

    async def flush(self) -> None:
        if self._file.is_behind() and self.fsync != "never":
            await self._group.flush()

    def records(self) -> Iterable[StoredRecord]:
        return self._file.read().records

    def close(self) -> None:
        """Close the file. A closed session takes no more records."""
        self._file.close()

    def __enter__(self) -> JsonlSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        file = getattr(self, "_file", None)  # there is none where it could not be opened
        if file is not None and file.is_open:
            words = f"a session was never closed: {self.path}"
            warnings.warn(words, ResourceWarning, source=self, stacklevel=2)
            file.close()  # its lock would otherwise last as long as the process
