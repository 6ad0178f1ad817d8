"""A log file while it is being written: whose it is, what it held, and how it grows."""

from __future__ import annotations

import os
import threading

from gnomon.errors import LogError, LogLocked
from gnomon.session.files import Files, write_all
from gnomon.session.records import LogContent, Record, encode, read_log_bytes


class LogFile:
    """One log file, open for its one writer.

    After a failure nothing more is appended, and nothing more is said to be on the disk: what the file
    holds then is for the next opening to find out (LOG-3).
    """

    def __init__(self, path: str | os.PathLike[str], files: Files, *, sync_each: bool) -> None:
        """Open a file. Raises `LogError`."""
        self.name = os.fspath(path)
        self.path = os.path.abspath(self.name)  # a later change of the working directory changes nothing
        self.kept: str | None = None
        """Where a torn last record was kept."""
        self._files = files
        self._sync_each = sync_each
        self._appending = threading.Lock()
        self._syncing = threading.Lock()
        self._seq = self._crc = self._size = 0
        self._synced = -1
        self._broken: str | None = None
        self._is_appending = False
        try:
            self._file = files.open(self.path)
        except OSError as error:
            raise LogError(f"{self.name}: cannot be opened: {_reason(error)}") from error

    # -- what it held -----------------------------------------------------------------------------

    def recover(self) -> LogContent:
        """Lock the file, and read what it holds; a torn last record is kept aside and cut off.

        Raises `LogLocked` where another writer has it, `LogCorrupt` where it is damaged, and `LogError`.
        """
        files = self._files
        try:
            if not files.status(self._file).is_plain:
                raise LogError(f"{self.name}: cannot be opened: it is not a plain file")
            if not files.lock(self._file):
                raise LogLocked(f"{self.name}: another writer has this log open; it has one at a time")
            if not files.leads_to(self.path, self._file):
                raise LogError(f"{self.name}: the file was replaced while it was being opened")
            content = read_log_bytes(files.read(self._file), self.name)
            if content.size == 0:
                files.sync_directory(os.path.dirname(self.path))  # the name of a new file
        except OSError as error:
            raise LogError(f"{self.name}: cannot be opened: {_reason(error)}") from error
        if content.dropped:
            try:
                self.kept = self._keep(content.dropped)
                files.truncate(self._file, content.size)
            except OSError as error:
                raise LogError(
                    f"{self.name}: its torn last record could not be put aside: {_reason(error)}"
                ) from error
        self._seq, self._crc, self._size = len(content.records), content.crc, content.size
        return content

    def read(self) -> LogContent:
        """What it holds now. Raises `LogCorrupt` and `LogError`."""
        try:
            content = self._files.load(self.path)
        except OSError as error:
            raise LogError(f"{self.name}: cannot be read: {_reason(error)}") from error
        return read_log_bytes(content, self.name)

    def _keep(self, torn: bytes) -> str:
        """Write torn bytes into a new file beside the log, and have them on the disk before they are cut."""
        files, number = self._files, 1
        while True:
            path = f"{self.path}.torn-{number}"
            try:
                file = files.create(path)
                break
            except FileExistsError:
                number += 1
        try:
            write_all(files, file, torn)
            files.sync(file)
            files.sync_directory(os.path.dirname(path))
        except BaseException:
            files.remove(path)
            raise
        finally:
            files.close(file)
        return path

    # -- how it grows -----------------------------------------------------------------------------

    def append(self, record: Record) -> int:
        """Append a record, and answer its number. Raises `LogError`."""
        with self._appending:
            self._check()
            line, crc = encode(self._seq, self._crc, record)
            self._is_appending = True  # and so it stays if a KeyboardInterrupt breaks in
            try:
                self._check_file()
                write_all(self._files, self._file, line)
                if self._sync_each:
                    self._files.sync(self._file)
            except OSError as error:
                reason = self._fail(_reason(error))
                raise LogError(f"{self.name}: a record could not be appended: {reason}") from error
            seq, self._seq, self._crc, self._size = self._seq, self._seq + 1, crc, self._size + len(line)
            if self._sync_each:
                self._synced = self._size
            self._is_appending = False
            return seq

    def _check_file(self) -> None:
        found = self._files.status(self._file)
        if not found.is_linked:
            raise OSError("the file was deleted or replaced")
        if found.size != self._size:
            raise OSError(f"somebody else changed the file: it has {found.size} bytes and not {self._size}")

    def sync(self) -> None:
        """Have all that was appended on the disk. From any thread; appends go on meanwhile."""
        with self._syncing:
            with self._appending:
                if not self._behind():
                    return
                size = self._size
            try:
                self._files.sync(self._file)
            except OSError as error:
                # Whether any of it is on the disk is not known, and a second sync would not tell.
                with self._appending:
                    reason = self._fail(_reason(error))  # LOG-3
                raise LogError(f"{self.name}: could not be written to the disk: {reason}") from error
            self._synced = size

    def is_behind(self) -> bool:
        """Whether anything was appended that is not on the disk yet. Raises `LogError` after a failure."""
        with self._appending:
            return self._behind()

    def _behind(self) -> bool:
        self._check()
        try:
            found = self._files.leads_to(self.path, self._file)
        except OSError as error:
            reason = self._fail(_reason(error))
            raise LogError(f"{self.name}: cannot be looked at: {reason}") from error
        if not found:
            reason = self._fail("the file was moved, deleted or replaced")
            raise LogError(f"{self.name}: {reason}, and its records with it")
        return self._size != self._synced

    # -- failures, and the end --------------------------------------------------------------------

    def _fail(self, reason: str) -> str:
        if self._broken is None:
            self._broken = reason
        return reason

    def _check(self) -> None:
        if self._is_appending:
            self._fail("an append was interrupted")
        if self._broken is not None:
            raise LogError(f"{self.name}: nothing is appended after a failure: {self._broken}")

    @property
    def is_open(self) -> bool:
        """Whether it was not closed yet."""
        return self._file >= 0

    def close(self) -> None:
        """Close the file, and give up its lock; a sync that is running ends first."""
        with self._syncing, self._appending:
            if self._file >= 0:
                self._files.close(self._file)
                self._file = -1
            self._fail("the session is closed")


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
