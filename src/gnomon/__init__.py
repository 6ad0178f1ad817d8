"""gnomon: run the tool calls of a model, and answer each of them, whatever happens."""

from __future__ import annotations

from gnomon.errors import (
    Aborted,
    Code,
    ConfigError,
    GnomonError,
    LogCorrupt,
    LogError,
    RegistrationError,
    ToolError,
)
from gnomon.pipeline import ToolCall
from gnomon.results import ErrorInfo, Failure, Result, Success
from gnomon.runtime import BatchResult, Runtime
from gnomon.session import JsonlSession, MemorySession, Record, Session
from gnomon.signals import AbortController, AbortSignal, fuse
from gnomon.tools import Output, Tool, ToolContext, tool
from gnomon.values import JSON, Limits, json_equal

__version__ = "0.1.0"

__all__ = [
    "JSON",
    "AbortController",
    "AbortSignal",
    "Aborted",
    "BatchResult",
    "Code",
    "ConfigError",
    "ErrorInfo",
    "Failure",
    "GnomonError",
    "JsonlSession",
    "Limits",
    "LogCorrupt",
    "LogError",
    "MemorySession",
    "Output",
    "Record",
    "RegistrationError",
    "Result",
    "Runtime",
    "Session",
    "Success",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "fuse",
    "json_equal",
    "tool",
]
