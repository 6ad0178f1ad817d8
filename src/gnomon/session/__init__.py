"""The session log: the protocol that a store follows, and the stores that come with gnomon."""

from __future__ import annotations

from gnomon.session.closing import missing, repair
from gnomon.session.log import Fsync, JsonlSession, MemorySession, Session
from gnomon.session.records import LogContent, Record, StoredRecord, read_log, read_log_bytes
from gnomon.session.standing import OpenCall, Standing, check_record, standing_of

__all__ = [
    "Fsync",
    "JsonlSession",
    "LogContent",
    "MemorySession",
    "OpenCall",
    "Record",
    "Session",
    "Standing",
    "StoredRecord",
    "check_record",
    "missing",
    "read_log",
    "read_log_bytes",
    "repair",
    "standing_of",
]
