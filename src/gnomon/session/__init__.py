"""The session log: the protocol that a store follows, and the stores that come with gnomon."""

from __future__ import annotations

from gnomon.session.log import JsonlSession, MemorySession, Session
from gnomon.session.records import LogContent, Record, StoredRecord, read_log, read_log_bytes

__all__ = [
    "JsonlSession",
    "LogContent",
    "MemorySession",
    "Record",
    "Session",
    "StoredRecord",
    "read_log",
    "read_log_bytes",
]
