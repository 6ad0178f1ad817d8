"""What is driven: what the harness asks of an implementation, and what it is given by it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from gnomon_check.changes import Change
from gnomon_check.script_steps import Execute


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason with which the harness aborts a signal: which one it was, and why."""

    signal: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a call that no batch is about: its outcome, its text, its contexts."""

    outcome: dict[str, Any]
    text: str
    contexts: tuple[str, ...]
    concludes: bool


class Controls(Protocol):
    """What a target gives the harness of the batches that it opens."""

    def begin(self) -> None:
        """Another batch is to be opened: it has a caller's signal of its own."""

    def abort(self, cause: Cause) -> None:
        """Abort the caller's signal, with that reason."""

    def change(self, change: Change) -> str | None:
        """Change what stands in the layers; answer why it was refused, or nothing."""

    def request_model(self) -> list[str] | str:
        """The names of the tools that the model would be shown now, in order; or why it cannot be."""

    def source_of(self, reason: object) -> str:
        """What a reason of the implementation's own means: `caller` or `deadline`."""

    def repair(self) -> None:
        """Repair the log of the session, as after a crash."""

    def finish(self) -> None:
        """The scenario is over: abort whatever signal nothing else aborts."""

    async def execute(self, call: Execute, call_id: str, context: BodyContext) -> Answered:
        """Make another call from inside a body; raises what the implementation raises."""


class Signal(Protocol):
    """The signal that a body was given."""

    def on_abort(self, callback: Callable[[object], None]) -> AbstractContextManager[object]:
        """Call `callback` when the signal aborts, at once if it has."""


class BodyContext(Protocol):
    """What a body may do beside returning."""

    def defer(self, context: str) -> None:
        """Hand over a context."""

    def conclude_turn(self) -> None:
        """Ask to end the turn."""

    @property
    def token(self) -> object:
        """The execution that the body belongs to."""
