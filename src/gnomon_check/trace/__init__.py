"""Logs of others and of our own, read as histories of events and judged by the specification."""

from __future__ import annotations

from gnomon_check.trace.check import FileReport, Finding, Verdict, check_file
from gnomon_check.trace.model import Format, Unjudgeable

__all__ = ["FileReport", "Finding", "Format", "Unjudgeable", "Verdict", "check_file"]
