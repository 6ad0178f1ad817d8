"""gnomon: run the tool calls of a model, and answer each of them, whatever happens."""

from __future__ import annotations

from gnomon.approval import (
    ApprovalOutcome,
    ApprovalPolicy,
    ApprovalRequest,
    Approver,
    CallbackApprover,
    TerminalApprover,
    set_approval_policy,
)
from gnomon.content import Card, Content, ImageBlock, JsonBlock, TextBlock, text_content
from gnomon.decisions import Accept, Allow, Ask, Block, Cancel, Deny, PostDecision, PreDecision
from gnomon.errors import (
    Aborted,
    Code,
    ConfigError,
    GnomonError,
    GnomonWarning,
    LogCorrupt,
    LogError,
    LogLocked,
    PolicyError,
    RegistrationError,
    RestrictionError,
    SchemaError,
    ToolError,
)
from gnomon.execution import DispatchExecution, Execution, ToolCall
from gnomon.functions import define_tool, tool
from gnomon.registry import Change
from gnomon.results import ABSENT, Absent, ErrorInfo, Failure, Result, Success
from gnomon.runtime import BatchResult, Runtime
from gnomon.scopes import Scope
from gnomon.session import JsonlSession, MemorySession, Record, Session
from gnomon.signals import AbortController, AbortSignal, Registration, fuse
from gnomon.timeout import Clock
from gnomon.tools import Output, Token, Tool, ToolContext
from gnomon.trace import TraceSink
from gnomon.trace_file import JsonlTrace
from gnomon.values import JSON, Limits, json_equal
from gnomon.version import __version__ as __version__
from gnomon.waterfall import Next

__all__ = [
    "ABSENT",
    "JSON",
    "AbortController",
    "AbortSignal",
    "Aborted",
    "Absent",
    "Accept",
    "Allow",
    "ApprovalOutcome",
    "ApprovalPolicy",
    "ApprovalRequest",
    "Approver",
    "Ask",
    "BatchResult",
    "Block",
    "CallbackApprover",
    "Cancel",
    "Card",
    "Change",
    "Clock",
    "Code",
    "ConfigError",
    "Content",
    "Deny",
    "DispatchExecution",
    "ErrorInfo",
    "Execution",
    "Failure",
    "GnomonError",
    "GnomonWarning",
    "ImageBlock",
    "JsonBlock",
    "JsonlSession",
    "JsonlTrace",
    "Limits",
    "LogCorrupt",
    "LogError",
    "LogLocked",
    "MemorySession",
    "Next",
    "Output",
    "PolicyError",
    "PostDecision",
    "PreDecision",
    "Record",
    "Registration",
    "RegistrationError",
    "RestrictionError",
    "Result",
    "Runtime",
    "SchemaError",
    "Scope",
    "Session",
    "Success",
    "TerminalApprover",
    "TextBlock",
    "Token",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "TraceSink",
    "define_tool",
    "fuse",
    "json_equal",
    "set_approval_policy",
    "text_content",
    "tool",
]
