"""What a session log asks of the operating system, and nothing else of it."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import NamedTuple

if sys.platform != "win32":
    import fcntl

_BINARY: int = getattr(os, "O_BINARY", 0)


class Status(NamedTuple):
    """What is known of an open file: its size, whether it is a plain file, and whether it has a name yet."""

    size: int
    is_plain: bool
    is_linked: bool


class Files:
    """The operating system's files. Everything here raises `OSError` as the system does."""

    def open(self, path: str) -> int:
        """Open a file to read it and to write at its end; it is made where there is none."""
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _BINARY, 0o644)

    def create(self, path: str) -> int:
        """Make a file to be written; raises `FileExistsError` where there is one."""
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o644)

    def lock(self, file: int) -> bool:
        """Lock an open file for this writer; answers whether it is free. The lock ends with the process."""
        if sys.platform == "win32":
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def status(self, file: int) -> Status:
        """Look at an open file."""
        found = os.fstat(file)
        return Status(found.st_size, stat.S_ISREG(found.st_mode), found.st_nlink > 0)

    def leads_to(self, path: str, file: int) -> bool:
        """Whether a path leads to the file that is open."""
        try:
            return os.path.samestat(os.stat(path), os.fstat(file))
        except (FileNotFoundError, NotADirectoryError):
            return False

    def read(self, file: int) -> bytes:
        """All that an open file holds."""
        os.lseek(file, 0, os.SEEK_SET)
        parts = []
        while part := os.read(file, 1 << 20):
            parts.append(part)
        return b"".join(parts)

    def load(self, path: str) -> bytes:
        """All that the file of that name holds."""
        with open(path, "rb") as file:
            return file.read()

    def write(self, file: int, content: bytes | memoryview) -> int:
        """Write, and answer how many bytes were taken; it need not be all."""
        return os.write(file, content)

    def truncate(self, file: int, size: int) -> None:
        """Cut a file."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Have what was written to a file on the disk before this returns."""
        os.fsync(file)

    def sync_directory(self, path: str) -> None:
        """Have the names in a directory on the disk, where the system knows of such a thing."""
        if sys.platform == "win32":
            return
        directory = os.open(path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def remove(self, path: str) -> None:
        """Delete a file, if that can be done."""
        with suppress(OSError):
            os.unlink(path)

    def close(self, file: int) -> None:
        """Close a file. An error is not told: what had to be on the disk was synced before."""
        with suppress(OSError):
            os.close(file)


def write_all(files: Files, file: int, content: bytes) -> None:
    """Write all of it, in as many pieces as the system takes it in."""
    left = memoryview(content)
    while left:
        taken = files.write(file, left)
        if taken <= 0:
            raise OSError("the system took none of it")
        left = left[taken:]
