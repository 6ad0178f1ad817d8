"""The stages on which scripts are played in process: gates, aborts and exceptions, for one call."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel

from gnomon_check.changes import Change
from gnomon_check.script_steps import Execute, Raise
from gnomon_check.scripted_errors import exception_of
from gnomon_check.tampering import tampered
from gnomon_check.world import Blocked

if TYPE_CHECKING:
    from gnomon_check.driven import BodyContext, Signal
    from gnomon_check.harness import Harness


@dataclass(slots=True)
class Stage:
    """What every script has around it."""

    harness: Harness
    pos: int
    signal: Signal
    reason: object = None
    """With what the signal aborted, once it has."""

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event."""
        self.harness.emit(event, **fields)

    async def pass_gate(self, name: str) -> None:
        """Wait at a gate; an interruption that arrives is kept."""
        await self.harness.wait(Blocked(gate=name), self.harness.gate(name), keep_for=self.pos)

    async def await_abort(self, *, interruptible: bool) -> BaseException | None:
        """Wait for the abort; answer the native cancellation that interrupted it, if one did."""
        kept = self.harness.kept(self.pos)
        if kept is not None and interruptible:
            return kept
        event = anyio.Event()

        def aborted(reason: object) -> None:
            self.reason = reason
            event.set()

        with self.signal.on_abort(aborted):
            return await self._wait(Blocked(await_abort=self.pos), event, interruptible)

    async def sleep(self, ms: int, *, interruptible: bool) -> BaseException | None:
        """Wait for virtual time; answer the native cancellation that interrupted it, if one did."""
        kept = self.harness.kept(self.pos)
        if kept is not None and interruptible:
            return kept
        clock = self.harness.clock
        return await self._wait(Blocked(sleep=self.pos), clock.alarm(clock.ms + ms), interruptible)

    async def _wait(self, what: Blocked, event: anyio.Event, interruptible: bool) -> BaseException | None:
        if not interruptible:
            await self.harness.wait(what, event, keep_for=self.pos)
            return None
        try:
            await self.harness.wait(what, event, keep_for=None)
            await anyio.lowlevel.checkpoint()  # on trio the interruption arrives here
        except anyio.get_cancelled_exc_class() as interruption:
            return interruption
        return None

    def change(self, change: Change) -> None:
        """Change what stands in the layers."""
        self.harness.change(change)

    def abort(self, signal: str, reason: str | None) -> None:
        """Abort a signal."""
        self.harness.abort_signal(signal, reason)

    def tamper(self, path: tuple[str | int, ...], value: object) -> str | None:
        """Try to change what nobody may; answer why that is refused, or nothing where it is not."""
        return tampered(self.things(), path, value)

    def things(self) -> dict[str, object]:
        """What the script is given that nobody may change, by name."""
        return {}

    def hears(self, answer: object) -> None:
        """The rest of its row has answered this; nobody else is told."""

    async def exception(self, what: Raise) -> BaseException:
        """The exception that `raise` of this kind raises."""
        return await exception_of(what)


@dataclass(slots=True)
class BodyStage(Stage):
    """The stage of the body of one call."""

    _: KW_ONLY
    context: BodyContext

    def things(self) -> dict[str, object]:
        """Its arguments, and what it is told of its call."""
        return {"arguments": getattr(self.context, "arguments", None), "execution": self.context}

    def hand_over(self, context: str) -> None:
        """Hand over a context."""
        self.context.defer(context)

    def conclude(self) -> None:
        """Ask to end the turn."""
        self.context.conclude_turn()

    async def make_call(self, call: Execute) -> None:
        """Make another call, and wait for its result."""
        await self.harness.make_call(self.pos, call, self.signal, self.context)

    def source(self) -> str:
        """What has aborted the signal of the body."""
        return self.harness.source_of(self.reason, self.pos)

    def nonce(self) -> str:
        """A fresh value that nobody else can know."""
        return self.harness.nonce(self.pos)
