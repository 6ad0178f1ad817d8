"""An implementation behind an adapter: driven over the protocol, whatever language it is written in."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

from gnomon_check import subject
from gnomon_check.changes import asks_for_change
from gnomon_check.driver import announcement
from gnomon_check.events import Event
from gnomon_check.harness import digest
from gnomon_check.orders import Order
from gnomon_check.profiles import PROFILES
from gnomon_check.protocol import PROTOCOL, Cannot, Manifest, ProtocolError, Quiet, Refused
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import (
    AbortInputStep,
    AdvanceStep,
    CallKeptStep,
    OpenStep,
    RequestModelStep,
    ScheduleStep,
    inputs_of,
    opening,
)
from gnomon_check.subject import NotTestable, Stopped
from gnomon_check.targets.adapter_process import AdapterProcess, Died, Hangs
from gnomon_check.window import Window
from gnomon_check.world import Blocked, nonce_of

WATCHDOG = 20.0
"""How long an answer may take, in seconds, where nobody says."""

OF_SCRIPTS = ("body.", "policy.", "guard.", "content.", "result.observed", "noted", "context.deferred", "op.")
"""The events of those who play the scripts, by how their names begin."""


class Remote:
    """An adapter, started when it is needed, and again after it had to be ended."""

    backends: Sequence[str] = ("stdio",)

    def __init__(self, command: str, *, seconds: float = WATCHDOG) -> None:
        """Name the command that starts it; its words are split as a shell does, and no shell runs it."""
        self.command = command
        self._seconds = seconds
        self._process: AdapterProcess | None = None
        self._manifest: Manifest | None = None

    def __enter__(self) -> Remote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    @property
    def name(self) -> str:
        """What it calls itself."""
        return self.manifest.name

    @property
    def about(self) -> subject.About:
        """Who it says that it is. Raises `Stopped`."""
        return subject.About(**self.manifest.model_dump(include=set(subject.About.model_fields)))

    @property
    def claims(self) -> frozenset[str]:
        """The profiles that it claims. Raises `Stopped`."""
        return frozenset(self.manifest.profiles)

    @property
    def manifest(self) -> Manifest:
        """Who it says that it is. Raises `Stopped` where it does not say it."""
        if self._manifest is None:
            self._started()
        assert self._manifest is not None
        return self._manifest

    def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
        """Run a scenario, and answer its windows as they come.

        Raises `NotTestable` where it cannot be run, and `Stopped` where the adapter answers nothing, or not
        in the protocol; then the adapter has been ended, and is started again for the next scenario.
        """
        process = self._started()
        try:
            yield from _Conversation(process, scenario).windows()
        except (ProtocolError, Hangs, Died) as error:
            self._kill()
            raise _stopped(error) from None

    def end(self) -> None:
        """End the adapter, if it runs."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def _started(self) -> AdapterProcess:
        if self._process is not None:
            return self._process
        try:
            self._process = AdapterProcess(self.command, seconds=self._seconds)
            self._manifest = _agreed(self._process.hello())
        except (ProtocolError, Hangs, Died) as error:
            self._kill()
            raise _stopped(error) from None
        return self._process

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.end()
            self._process = None


def _agreed(manifest: Manifest) -> Manifest:
    unknown = sorted(set(manifest.profiles) - set(PROFILES))
    if unknown:
        raise ProtocolError(
            f"the adapter claims profiles that there are not: {', '.join(unknown)}; "
            f"there are {', '.join(PROFILES)}"
        )
    if manifest.protocol.partition(".")[0] != PROTOCOL.partition(".")[0]:
        raise ProtocolError(
            f"the adapter speaks protocol {manifest.protocol}, and this kit speaks {PROTOCOL}"
        )
    return manifest


def _stopped(error: Exception) -> Stopped:
    match error:
        case Hangs():
            return Stopped("watchdog", str(error))
        case Died():
            return Stopped("process", str(error))
        case _:
            return Stopped("protocol", str(error))


class _Conversation:
    """One scenario, from `open` to `close`."""

    def __init__(self, process: AdapterProcess, scenario: Scenario) -> None:
        self._process = process
        self._scenario = scenario
        self._values = _Values()
        self._batches = iter(scenario.by_batch())
        self._opened = False
        self._idle = True
        self._failed = False
        self._aborted = False

    def windows(self) -> Iterator[Window]:
        plain = self._scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
        ready = self._process.ask("open", {"scenario": plain})
        if isinstance(ready, Cannot):
            raise NotTestable(subject.Cannot(ready.feature, ready.reason, ready.link))
        for step in self._scenario.schedule:
            if opening(step) and self._opened and (not self._idle or self._failed):
                break
            yield self._do(step)
        yield self._read(None, (), self._process.ask("close", {}))

    def _do(self, step: ScheduleStep) -> Window:
        echoes = [echo for one in inputs_of(step) for echo in self._echoes(one)]
        said = step.model_dump(mode="json", by_alias=True, exclude_unset=True)
        answer = self._process.ask("do", {"step": said, "value": self._values.fresh()})
        if isinstance(answer, Refused):
            raise NotTestable(subject.Cannot(f"the step `{_name_of(step)}`", answer.reason))
        return self._read(step, echoes, answer)

    def _echoes(self, one: Any) -> Iterator[Event]:
        """What the kit itself does with an input: it needs nobody to tell it."""
        match one:
            case OpenStep():
                self._opened, self._aborted = True, self._aborted and not self._opened
                yield {"event": "batch.opened", **announcement(next(self._batches))}
            case AbortInputStep(abort=abort) if abort.signal == "caller" and not self._aborted:
                self._aborted = True
                yield {"event": "signal.aborted", "signal": "caller", "reason": abort.reason}
            case AdvanceStep(advance=advance):
                yield {"event": "time.advanced", "ms": advance.ms}

    def _read(self, step: ScheduleStep | None, echoes: Any, quiet: Quiet) -> Window:
        """The window that an answer tells of. What the schedule itself has done stands before it."""
        events = [one for one in map(self._values.known, quiet.events) if one is not None]
        done = [] if step is None else list(_done_by_the_schedule(step, events))
        for one in events:
            if one["event"] == "signal.aborted" and one.get("signal") == "caller":
                self._aborted = True
            self._failed = self._failed or one["event"] == "batch.failed"
        self._idle = quiet.idle
        blocked = frozenset(Blocked(one.gate, one.await_abort, one.sleep) for one in quiet.blocked)
        return Window(step, (*echoes, *done), tuple(events[len(done) :]), blocked, quiet.idle)


def _name_of(step: ScheduleStep) -> str:
    """What a step is called in the language of scenarios."""
    return next(iter(step.model_dump(mode="json", by_alias=True, exclude_unset=True)))


def _done_by_the_schedule(step: ScheduleStep, events: list[Event]) -> Iterator[Event]:
    """The events at the beginning that tell what the step itself has changed or aborted."""
    left = iter(events)
    for one in inputs_of(step):
        match one:
            case AbortInputStep(abort=abort) if abort.signal != "caller":
                wanted: dict[str, Any] = {"event": "signal.aborted", "signal": abort.signal}
            case RequestModelStep():
                wanted = {"event": "model.requested"}
            case CallKeptStep() if events and events[0]["event"] == "op.refused":
                wanted = {"event": "op.refused"}
            case _ if asks_for_change(one):
                wanted = {"event": "registry.changed"}
            case _:
                continue
        event = next(left, None)
        if event is None or any(event.get(key) != value for key, value in wanted.items()):
            return
        yield event


class _Values:
    """Fresh values, handed over one by one, and known again where a result carries one."""

    def __init__(self) -> None:
        self._last = ""
        self._returned: dict[int, str] = {}

    def fresh(self) -> str:
        """A value that nobody could know."""
        self._last = secrets.token_hex(6)
        return self._last

    def known(self, event: Event) -> Event | None:
        """The event, where it is a fact, in the words of the oracle; nothing, where it is hearsay.

        What the scripts do is told by who plays them, so what an implementation says of it itself is dropped.
        A nonce counts where the body of that call returned it, and where the content is that text.
        """
        name = event["event"]
        if event.get("origin") == "implementation" and name.startswith(OF_SCRIPTS):
            return None
        told = event.get("slot", event.get("pos"))
        pos = -1 if told is None else int(told)
        if name == "body.settled" and event.get("how") == "returned":
            self._returned[pos] = self._last
        outcome = event.get("outcome")
        if name not in ("result.logged", "result.returned") or not isinstance(outcome, dict):
            return event
        outcome = {"code": None, **outcome}  # it may leave out what is null
        event = {**event, "outcome": outcome}
        nonce = outcome.get("nonce")
        mine = nonce_of(pos, self._returned[pos]) if pos in self._returned else None
        if nonce is None or nonce != mine:
            return event
        if event.get("content_digest") != digest(nonce):
            return {**event, "outcome": {**outcome, "nonce": None}}
        return {**event, "outcome": {**outcome, "nonce": nonce_of(pos)}}
