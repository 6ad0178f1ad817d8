"""A session log of your own, on SQLite: it survives a crash, and is repaired like any other.

A store has to append, flush and give back its records. Here each record is a transaction of its own, so
that it is there once `append` has answered, and nothing is left to flush.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio

from gnomon import LogError, Record, Runtime, ToolCall, tool
from gnomon.session import Standing, StoredRecord, check_record, repair


class SqliteSession:
    """A session log in a database, which nobody else may write to meanwhile."""

    def __init__(self, path: str | Path) -> None:
        try:
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)
            for words in (
                "PRAGMA locking_mode = EXCLUSIVE",
                "PRAGMA synchronous = FULL",
                "BEGIN EXCLUSIVE",
                "CREATE TABLE IF NOT EXISTS record (seq INTEGER PRIMARY KEY, type TEXT, data TEXT)",
                "COMMIT",
            ):
                self._base.execute(words)
        except sqlite3.Error as error:
            self._base.close()
            raise LogError(f"{path}: {error}") from error
        # Not needed, but with it a batch does not have to read the whole log to find the open turn.
        self.standing = Standing()
        for one in self.records():
            self.standing.take(one.seq, one.type, one.data)

    def append(self, record: Record) -> int:
        check_record(record.type, record.data)
        seq = self.standing.size
        try:
            # Escapes for all letters but ASCII: SQLite takes no text with half a surrogate pair.
            row = (seq, json.dumps(record.type), json.dumps(record.data, allow_nan=False))
            self._base.execute("INSERT INTO record VALUES (?, ?, ?)", row)
        except (sqlite3.Error, TypeError, ValueError, RecursionError) as error:
            raise LogError(f"a record could not be appended: {error}") from error
        self.standing.take(seq, record.type, record.data)
        return seq

    async def flush(self) -> None:
        """Each record is on the disk by now."""

    def records(self) -> Iterator[StoredRecord]:
        for seq, kind, data in self._base.execute("SELECT * FROM record ORDER BY seq").fetchall():
            yield StoredRecord(seq, json.loads(kind), json.loads(data))

    def close(self) -> None:
        self._base.close()


@tool(parallel=True)
async def look(at: str) -> str:
    """Look at something."""
    return f"{at}: fine"


@tool
async def send(to: str) -> str:
    """Send something; the machine goes down while it is on its way."""
    os._exit(1)


def crash(path: str) -> None:
    """Run a batch that does not live to see its end."""
    runtime = Runtime()
    runtime.register(look)
    runtime.register(send)
    calls = [
        ToolCall("c1", "look", '{"at": "the moon"}'),
        ToolCall("c2", "send", '{"to": "the moon"}'),
        ToolCall("c3", "look", '{"at": "the sun"}'),
    ]
    session = SqliteSession(path)
    anyio.run(lambda: runtime.run_batch(calls, session=session))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "session.db")
        subprocess.run([sys.executable, __file__, path])
        session = SqliteSession(path)
        before = len(list(session.records()))
        added = repair(session)
        print(f"{before} records outlived the crash, repair added {len(added)}")
        for one in session.records():
            if one.type == "tool/result":
                message = one.data["message"]
                outcome = one.data["error"]["code"] if message["isError"] else message["content"][0]["text"]
                print(f"{message['callId']}: {outcome}")
        print(f"repaired again: {len(repair(session))} more")
        session.close()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        crash(sys.argv[1])
    else:
        main()
