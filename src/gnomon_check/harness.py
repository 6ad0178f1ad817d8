"""The surroundings of a scenario in process: its tools, its gates, its aborts, its clock, and what is seen.

The implementation runs its real pipeline; everything around it is the harness's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from gnomon_check.changes import OPERATIONS, Change, subject_of
from gnomon_check.driven import Answered, BodyContext, Cause, Controls, Signal
from gnomon_check.events import Event
from gnomon_check.layers import layers_of
from gnomon_check.playing import Row, Started, play
from gnomon_check.quiescence import break_off
from gnomon_check.scenario import Scenario, ScenarioTool
from gnomon_check.script_steps import Execute
from gnomon_check.stages import BodyStage
from gnomon_check.virtual_clock import VirtualClock
from gnomon_check.world import NONCE, Blocked, nonce_of


class Target(ABC):
    """An implementation that can be driven in process."""

    name: str

    @abstractmethod
    def prepare(self, harness: Harness) -> Controls:
        """Make the runtime of a scenario, with tools that are played by `harness`."""

    @abstractmethod
    async def run_batch(self, harness: Harness) -> bool:
        """Run the batch of the harness's scenario to its end, and say whether it concludes the turn.

        In mode `single` run its one call, and tell the harness of the result (`result_returned`). Raises
        what the implementation raises.
        """

    def cannot(self, scenario: Scenario) -> str | None:
        """Why a scenario cannot be run on this implementation at all, or nothing."""
        return None


_OVER = Cause("caller", "the scenario is over")
_NESTED = "nested-{}"
"""The id of a call that a body makes."""

_made_by_a_body: ContextVar[int | None] = ContextVar("_made_by_a_body", default=None)
"""The call that a body has made, while it waits for it."""

_lately_logged: ContextVar[int] = ContextVar("_lately_logged", default=-1)
"""The call that the current task logged last: what it starts then belongs to that call."""


class Harness:
    """The surroundings of one scenario: its gates, and the events that are seen."""

    def __init__(self, scenario: Scenario, target: Target) -> None:
        self._events: list[Event] = []
        self.values = [NONCE]
        """The fresh values that were handed over; the last one is the one that bodies return."""
        self._all_open = False
        self._waiting: dict[Blocked, int] = {}
        self.clock = VirtualClock()
        self._layers = layers_of(scenario)
        self._made: list[Callable[[Cause], None]] = []
        self._over_and_done = False
        self._broken_off = False
        self.crashed = False
        """The runtime has been dropped: nothing that it still does is seen, or logged."""
        self._has_crashed = False
        self._appended: Counter[str] = Counter()
        self.over = True
        self.failed = False
        """A batch has failed, and left its log to be repaired: no other is opened on it (REP-1, PY-10)."""
        self._stand_before(scenario)
        self.tasks: TaskGroup | None = None
        """Where what nobody waits for runs."""
        self.controls = target.prepare(self)

    def _stand_before(self, scenario: Scenario) -> None:
        """Nothing is known yet of the batch of this scenario, or of its first."""
        self.scenario = scenario
        self._count = len(scenario.batch.calls)
        self._gates: dict[str, anyio.Event] = {}
        self._opened: set[str] = set()
        self.aborted = False
        self.attempts: dict[int, int] = {}
        self.approvals: dict[int, str] = {}
        self._tokens: dict[int, tuple[int, object]] = {}
        self.own_signals: dict[str, Callable[[Cause], None]] = {}
        """How the signal is aborted that a wrapper made last under a name."""
        self.heard: dict[int, object] = {}
        """The result that a wrapper of a call has heard last."""
        self._kept: dict[int, BaseException] = {}
        self._nested: list[tuple[Execute, int, int]] = []
        """The calls that bodies have made: each with the position and the attempt of the one that made it."""
        self._logged: list[int] = []
        self._bodies: set[int] = set()
        self._left: dict[int, BodyContext] = {}
        self._nexts: dict[str, tuple[Row, Callable[[], object]]] = {}
        self._from_outside: dict[int, object] = {}
        """With what the signal aborted that a call was made with which a body has made, once it has."""

    def begin(self, scenario: Scenario) -> None:
        """Go on to another batch: what was done for the one before it, its gates and answers, is past."""
        self._stand_before(scenario)
        self.controls.begin()

    def takes_record(self, record: str) -> bool:
        """Whether the log takes a record of that kind; where the scenario has it fail, one it does not."""
        self._appended[record] += 1
        return self._has_crashed or not self.scenario.fails_to_append(record, self._appended[record])

    def crash(self) -> None:
        """The process ends: what repairs its log is another, and has no trouble with it."""
        self.crashed = self._has_crashed = True

    # -- events ---------------------------------------------------------------------------------

    def emit(self, event: str, **fields: Any) -> None:
        """Leave an event. One of a call that a body made says so: its batch is the body's own."""
        if self.crashed:
            return
        pos = fields.get("pos")
        if pos is not None and pos >= self._count:
            _, parent, attempt = self._nested[pos - self._count]
            batch = f"{self.scenario.batch.id}/{parent}#{attempt}"
            fields = {**fields, "slot": pos, "pos": 0, "batch": batch}
        self._events.append({"event": event, **fields})

    def take_events(self) -> tuple[Event, ...]:
        """The events since this was last asked."""
        events, self._events = self._events, []
        return tuple(events)

    def call_logged(self, call_id: str, name: str, arguments: str, log_seq: int) -> int | None:
        """The implementation logged a call: the first of that id and text that was not logged yet.

        Answers its position, or nothing where there is no such call.
        """
        pos = self._position(call_id, arguments, self._logged)
        self._logged.append(-1 if pos is None else pos)
        self.emit("call.logged", pos=pos, call_id=call_id, name=name, arguments=arguments, log_seq=log_seq)
        _lately_logged.set(self._logged[-1])
        return pos

    def result_logged(
        self, pos: int | None, call_id: str, outcome: dict[str, Any], text: str, log_seq: int, cites: int
    ) -> None:
        """The implementation logged a result. A nonce in its text is borne out by the harness."""
        known = any(text == self.nonce(at, one) for at in range(self._count) for one in self.values)
        nonce = text if outcome["ok"] and known else None
        self.emit(
            "result.logged",
            pos=pos,
            call_id=call_id,
            outcome={**outcome, "nonce": nonce},
            content_digest=digest(text),
            log_seq=log_seq,
            cites=cites,
        )

    def result_returned(self, pos: int, answered: Answered) -> None:
        """A call outside of the batch was answered. A nonce in its text is borne out by the harness."""
        known = any(answered.text == self.nonce(pos, one) for one in self.values)
        nonce = answered.text if answered.outcome["ok"] and known else None
        self.emit(
            "result.returned",
            pos=pos,
            outcome={**answered.outcome, "nonce": nonce},
            content_digest=digest(answered.text),
            contexts=list(answered.contexts),
        )

    async def make_call(self, pos: int, call: Execute, signal: Signal, context: BodyContext) -> None:
        """Make another call for the body at `pos`, whose signal that is, and wait for its result."""
        slot = self._count + len(self._nested)
        attempt = self.attempts[pos]
        self._nested.append((call, pos, attempt))
        call_id = _NESTED.format(slot)
        about = {"call_id": call_id, "name": call.name, "arguments": call.arguments}
        parent = {"batch": self.scenario.batch.id, "pos": pos, "attempt": attempt}
        self.emit("batch.opened", pos=slot, calls=[about], parent=parent)
        reset = _made_by_a_body.set(slot)
        try:
            with signal.on_abort(lambda reason: self._from_outside.update({slot: reason})):
                answered = await self.controls.execute(call, call_id, context)
        finally:
            _made_by_a_body.reset(reset)
        self.result_returned(slot, answered)

    def made_by_a_body(self, call_id: str) -> bool:
        """Whether the call at work is that one, and a body has made it."""
        made = _made_by_a_body.get()
        return made is not None and call_id == _NESTED.format(made)

    def _position(self, call_id: str, arguments: str | None, taken: Any) -> int | None:
        for position, call in enumerate(self.scenario.batch.calls):
            if position not in taken and call.id == call_id and arguments in (None, call.arguments):
                return position
        return None

    def nonce(self, pos: int, value: str | None = None) -> str:
        """The fresh value that the body of a call returns by now; or did, while `value` was the last."""
        return nonce_of(pos, self.values[-1] if value is None else value)

    # -- playing bodies -------------------------------------------------------------------------

    async def body(self, tool: ScenarioTool, call_id: str, signal: Signal, context: BodyContext) -> Any:
        """Play the body of a tool for a call of that id."""
        pos = self._position_of_body(tool.name, call_id, context.token)
        self._bodies.add(pos)
        attempt = self.attempts[pos] = self.attempts.get(pos, 0) + 1
        self._kept.pop(pos, None)  # an interruption that an earlier attempt never came to is not for this one
        stage = BodyStage(self, pos, signal, context=context)
        try:
            return await play(tool.body, pos, attempt, tool.interrupt == "cancel", stage)
        finally:
            self._left[pos] = context

    def left_by_a_body(self, pos: int) -> BodyContext | None:
        """What the last body of a call was given that has ended; whoever has it still may try to use it."""
        return self._left.get(pos)

    def bind(self, token: object) -> int:
        """Remember which call an execution belongs to: the one that is being prepared, logged last."""
        made = _made_by_a_body.get()
        pos = self.last_logged if made is None else made
        return self._tokens.setdefault(id(token), (pos, token))[0]

    def position(self, token: object) -> int | None:
        """The call that an execution belongs to, if it was bound."""
        found = self._tokens.get(id(token))
        return None if found is None else found[0]

    @property
    def current_call(self) -> int:
        """The call that the task at work belongs to, as far as its context variables tell."""
        made = _made_by_a_body.get()
        return max(_lately_logged.get(), 0) if made is None else made

    @property
    def last_logged(self) -> int:
        """The call that was logged last."""
        return self._logged[-1] if self._logged else 0

    def approve(self, pos: int, outcome: str) -> None:
        """Answer the approval of a call; the first answer counts."""
        self.approvals.setdefault(pos, outcome)
        self.release(f"approval:{pos}")

    def _position_of_body(self, tool_name: str, call_id: str, token: object) -> int:
        """Which call a body belongs to. Ids may repeat, and bodies may start in any order."""
        bound = self.position(token)
        if bound is not None:
            return bound
        made = _made_by_a_body.get()
        if made is not None:
            return made
        calls = self.scenario.batch.calls
        fitting = [p for p, call in enumerate(calls) if (call.id, call.name) == (call_id, tool_name)]
        lately = _lately_logged.get()
        if lately in fitting:
            return lately
        return next((p for p in fitting if p not in self._bodies), fitting[0])

    # -- inputs ---------------------------------------------------------------------------------

    def release(self, gate: str) -> None:
        """Open a gate."""
        self._opened.add(gate)
        if gate in self._gates:
            self._gates[gate].set()

    def release_everything(self) -> None:
        """Open every gate, those to come as well, and let all time pass."""
        self._all_open = True
        self.clock.finish()
        for event in self._gates.values():
            event.set()

    def makes_signal(self, name: str, abort: Callable[[Cause], None]) -> None:
        """A wrapper has made a signal, under a name: it is the last of that name."""
        self.own_signals[name] = abort
        self._made.append(abort)
        if self._over_and_done:
            abort(_OVER)

    def abort_what_is_left(self) -> None:
        """Abort every signal that wrappers have made, and those to come: nobody else will any more."""
        self._over_and_done = True
        for abort in self._made:
            abort(_OVER)

    async def break_off(self) -> None:
        """End an implementation that never ends by itself; nothing that waits in a script holds it up."""
        self._broken_off = True
        await break_off()

    def abort(self, reason: str | None) -> None:
        """Abort the caller's signal; only the first time is an event."""
        if self.aborted:
            return
        self.aborted = True
        self.emit("signal.aborted", signal="caller", reason=reason)
        self.controls.abort(Cause("caller", reason))

    def abort_signal(self, signal: str, reason: str | None) -> None:
        """Abort the caller's signal, or one that a wrapper made; only the first time is an event."""
        if signal == "caller":
            self.abort(reason)
            return
        abort = self.own_signals.pop(signal, None)
        if abort is not None:
            self.emit("signal.aborted", signal=signal, reason=reason)
            abort(Cause(signal, reason))

    async def start(self, following: Callable[[], Awaitable[object]]) -> Started:
        """Have the rest of a row run in a task of its own; answers once it has begun."""
        started = Started(anyio.Event())
        going = following()
        begun = anyio.Event()

        async def rest() -> None:
            begun.set()
            try:
                started.answer = await going
            except anyio.get_cancelled_exc_class():
                raise
            except BaseException as error:  # it is the answer, for whoever may wait for it
                started.raised = error
            finally:
                started.over.set()

        assert self.tasks is not None, "it is there while a scenario runs"
        self.tasks.start_soon(rest)
        await begun.wait()
        return started

    def keep(self, name: str, row: Row, following: Callable[[], object]) -> None:
        """Keep the `next` of a listener under a name; the last of a name is the one that counts."""
        self._nexts[name] = (row, following)

    def call_kept(self, name: str) -> None:
        """Call a `next` that was kept, if its listener has ended: then it is to be refused (PRE-7)."""
        if name not in self._nexts or not self._nexts[name][0].ended:
            return
        row, following = self._nexts[name]
        try:
            going = following()
        except Exception as error:  # in which way it is refused is the implementation's
            row.refused("next", f"its listener has ended: {type(error).__name__}: {error}")
            return
        row.delegates()
        if self.tasks is not None and isinstance(going, Coroutine):
            self.tasks.start_soon(_awaited, going)

    def change(self, change: Change) -> None:
        """Change what stands in the layers; that it was done, or refused, is an event."""
        following, refusal = self._layers.changed(change)
        refused = self.controls.change(change) if refusal is None or refusal.by_rule else refusal.reason
        if refused is None:
            self._layers = following
        why = {} if refused is None else {"refused": refused}
        self.emit("registry.changed", op=OPERATIONS[type(change)], name=subject_of(change), **why)

    def request_model(self) -> None:
        """Have the next request of the model put together."""
        shown = self.controls.request_model()
        told = {"tools": [], "refused": shown} if isinstance(shown, str) else {"tools": shown}
        self.emit("model.requested", **told)

    def source_of(self, reason: object, pos: int) -> str:
        """What has aborted the signal of the body at `pos`, which aborted with that reason.

        For a call that a body has made, the signal of that body is its caller's, whatever has aborted it.
        """
        if pos in self._from_outside and self._from_outside[pos] is reason:
            return "caller"
        return reason.signal if isinstance(reason, Cause) else self.controls.source_of(reason)

    def blocked(self) -> frozenset[Blocked]:
        """What the scripts wait for."""
        return frozenset() if self.crashed else frozenset(self._waiting)

    async def wait(self, what: Blocked, event: anyio.Event, *, keep_for: int | None) -> None:
        """Wait for an event, and be listed as blocked meanwhile."""
        self._waiting[what] = self._waiting.get(what, 0) + 1
        try:
            while not event.is_set():
                try:
                    with anyio.CancelScope(shield=keep_for is not None):
                        await event.wait()
                except anyio.get_cancelled_exc_class() as interruption:
                    if keep_for is None or self._broken_off:
                        raise
                    self._kept[keep_for] = interruption
        finally:
            self._waiting[what] -= 1
            if not self._waiting[what]:
                del self._waiting[what]

    def gate(self, name: str) -> anyio.Event:
        """The event of a gate."""
        event = self._gates.setdefault(name, anyio.Event())
        if self._all_open or name in self._opened:
            event.set()
        return event

    def kept(self, pos: int) -> BaseException | None:
        """The interruption that a gate kept for the body at `pos`."""
        return self._kept.pop(pos, None)


async def _awaited(going: Coroutine[Any, Any, object]) -> None:
    """Await what should never have begun; what comes of it is seen in what it does."""
    with suppress(Exception):
        await going


def digest(text: str) -> str:
    """A short fingerprint of content, so that contents can be compared and texts stay out of events."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
