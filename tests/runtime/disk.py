"""Files in memory that fail as they are told to, for what cannot be had from a real disk at will;
and what is found in them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from gnomon import JsonlSession
from gnomon.session import StoredRecord
from gnomon.session.files import Files, Status


@dataclass(eq=False)
class Node:
    """A file: what it holds, how much of that would outlast a power loss, and whether it has a name."""

    content: bytearray = field(default_factory=bytearray)
    on_disk: bytes = b""
    is_linked: bool = True
    locked_by: int | None = None


class Disk(Files):
    """Files in memory. `before` is called with the name of each operation, and may raise what it likes."""

    def __init__(self, **files: bytes) -> None:
        self.names: dict[str, Node] = {}
        self.opened: dict[int, Node] = {}
        self.sessions: list[JsonlSession] = []
        self.syncs = self.last = 0
        self.room: int | None = None
        """How many bytes fit yet."""
        self.piece: int | None = None
        """How many bytes are taken at once."""
        self.before: Callable[[str], object] = lambda operation: None
        for name, content in files.items():
            self.put(name, content)

    def session(self, name: str = "log", **options: Any) -> JsonlSession:
        """Open a log on this disk."""

        class OnDisk(JsonlSession):
            _files: ClassVar[Files] = self

        made = OnDisk(name, **options)
        self.sessions.append(made)
        return made

    def put(self, name: str, content: bytes) -> None:
        """Put a file in the place of whatever is there."""
        if name in self:
            self.names[os.path.abspath(name)].is_linked = False
        self.names[os.path.abspath(name)] = Node(bytearray(content), content)

    def __contains__(self, name: str) -> bool:
        return os.path.abspath(name) in self.names

    def __getitem__(self, name: str) -> bytes:
        return bytes(self.names[os.path.abspath(name)].content)

    def crash(self, *, power: bool = False) -> None:
        """The process ends; with the power gone, what was not synced is gone too."""
        self.opened.clear()
        for session in self.sessions:
            session._file._file = -1  # it went with its process, and nobody closed it
        for node in self.names.values():
            node.locked_by = None
            if power:
                node.content[:] = node.on_disk

    def _open(self, node: Node) -> int:
        self.last += 1
        file = self.last
        self.opened[file] = node
        return file

    def open(self, path: str) -> int:
        self.before("open")
        return self._open(self.names.setdefault(path, Node()))

    def create(self, path: str) -> int:
        self.before("create")
        if path in self.names:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        self.names[path] = Node()
        return self._open(self.names[path])

    def lock(self, file: int) -> bool:
        self.before("lock")
        node = self.opened[file]
        if node.locked_by is not None:
            return False
        node.locked_by = file
        return True

    def status(self, file: int) -> Status:
        self.before("status")
        node = self.opened[file]
        return Status(len(node.content), True, node.is_linked)

    def leads_to(self, path: str, file: int) -> bool:
        self.before("leads_to")
        return self.names.get(path) is self.opened[file]

    def read(self, file: int) -> bytes:
        self.before("read")
        return bytes(self.opened[file].content)

    def load(self, path: str) -> bytes:
        return bytes(self.names[path].content)

    def write(self, file: int, content: bytes | memoryview) -> int:
        self.before("write")
        taken = bytes(content)[: self.piece]
        if self.room is not None:
            taken = taken[: self.room]
            self.room -= len(taken)
            if not taken:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.opened[file].content += taken
        return len(taken)

    def truncate(self, file: int, size: int) -> None:
        self.before("truncate")
        del self.opened[file].content[size:]

    def sync(self, file: int) -> None:
        node = self.opened[file]
        content = bytes(node.content)
        self.before("sync")
        self.syncs += 1
        node.on_disk = content

    def sync_directory(self, path: str) -> None:
        self.before("sync_directory")

    def remove(self, path: str) -> None:
        self.before("remove")
        self.names.pop(path).is_linked = False

    def close(self, file: int) -> None:
        self.before("close")
        node = self.opened.pop(file)
        if node.locked_by == file:
            node.locked_by = None


def failing(operation: str) -> Callable[[str], object]:
    """A `before` that has one kind of operation fail."""

    def before(done: str) -> None:
        if done == operation:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    return before


def ends(content: bytes) -> list[int]:
    """Where whole records end, and where the first begins."""
    return [0, *(place + 1 for place, byte in enumerate(content) if byte == ord("\n"))]


def kept(disk: Disk, name: str = "log") -> list[bytes]:
    """What was put aside, in order."""
    found = []
    while (one := f"{name}.torn-{len(found) + 1}") in disk:
        found.append(disk[one])
    return found


def plain(records: tuple[StoredRecord, ...]) -> list[tuple[str, object]]:
    return [(one.type, one.data) for one in records]
