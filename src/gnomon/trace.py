"""What a runtime tells of its batches, event by event: `Runtime(trace=sink)`.

The events and their fields are those of the specification, in their verbose form: one plain JSON object
each, numbered without gaps, none with a message text in it. A sink is told of what happened, where it
happened, and has no say: one that raises is dropped, with a warning.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import anyio

from gnomon.backend import discard
from gnomon.content import Content
from gnomon.decisions import Accept, Block, Deny
from gnomon.errors import Code, LogError, PolicyError, warn
from gnomon.results import Failure, Result, Success, failure_of
from gnomon.values import to_text
from gnomon.version import __version__

T = TypeVar("T")
SPEC = "1.0"
"""The version of the specification whose vocabulary this is."""

CANNOT_SHOW = (
    "card",
    "classifier",
    "model",
    "nested",
    "program",
    "registry",
    "result.settled",
    "signal",
)
"""Events of the vocabulary that this runtime does not tell, or whole families of them."""

TraceSink: TypeAlias = Callable[[dict[str, Any]], object]
"""What is given each event, from whatever thread it happened in; a plain function, which must not wait."""


class EventName(StrEnum):
    """The events that a runtime tells."""

    BATCH_OPENED = "batch.opened"
    BATCH_CLOSED = "batch.closed"
    BATCH_FAILED = "batch.failed"
    CALL_LOGGED = "call.logged"
    RESULT_LOGGED = "result.logged"
    POLICY_ENTERED = "policy.entered"
    POLICY_DELEGATED = "policy.delegated"
    POLICY_RESUMED = "policy.resumed"
    POLICY_DECIDED = "policy.decided"
    GUARD_ANSWERED = "guard.answered"
    APPROVAL_ASKED = "approval.asked"
    APPROVAL_DECIDED = "approval.decided"
    BODY_STARTED = "body.started"
    BODY_SIGNALLED = "body.signalled"
    BODY_INTERRUPTED = "body.interrupted"
    BODY_SETTLED = "body.settled"
    CONTEXT_DEFERRED = "context.deferred"
    CONTEXT_ACCEPTED = "context.accepted"
    CONTENT_PROJECTED = "content.projected"
    CONTENT_RENDERED = "content.rendered"
    CONTENT_META = "content.meta"
    CONTENT_FINALIZED = "content.finalized"
    RESULT_OBSERVED = "result.observed"
    RESULT_RETURNED = "result.returned"
    WARNED = "warned"


class Trace:
    """All that one runtime tells its sink: a header, then the events."""

    __slots__ = ("_batches", "_calls", "_lock", "_seq", "_sink")

    def __init__(self, sink: TraceSink) -> None:
        self._sink: TraceSink | None = sink
        self._lock = threading.RLock()
        self._seq = 0
        self._batches = 0
        self._calls: WeakKeyDictionary[Any, CallTrace] = WeakKeyDictionary()
        self._hand_over(
            {
                "trace": "gnomon/1",
                "spec": SPEC,
                "producer": {"name": "gnomon", "version": __version__},
                "cannot_show": list(CANNOT_SHOW),
            }
        )

    def emit(self, name: EventName, batch: str, fields: dict[str, Any]) -> None:
        """Tell the sink of an event. Numbers follow the order in which it is told."""
        with self._lock:
            event = {"seq": self._seq, "event": name.value, "batch": batch, "origin": "implementation"}
            self._seq += 1
            self._hand_over({**event, **fields})

    def _hand_over(self, event: dict[str, Any]) -> None:
        if self._sink is None:
            return
        try:
            answer = self._sink(event)
            if inspect.isawaitable(answer):
                discard(answer)
                raise TypeError("it is async, and a sink is a plain function")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever a sink raises hurts no call
            self._sink = None
            warn(f"a trace ends, because its sink raised {type(error).__name__}")

    def batch(self, parent: object) -> BatchTrace:
        """Begin to tell of a batch. `parent` is the token of the call that it is made on behalf of, if any.

        The id of a nested batch says which attempt of which call made it; where that made several, the
        second and later ones are numbered.
        """
        with self._lock:
            outer = None if parent is None else self._calls.get(parent)
            if outer is not None:
                return BatchTrace(self, outer.nested(), outer.place())
            self._batches += 1
            return BatchTrace(self, f"b{self._batches}", None)

    def call(self, batch: str, pos: int, token: object) -> CallTrace:
        """Begin to tell of a call; `token` is what calls that are made on its behalf name it by."""
        with self._lock:
            made = self._calls[token] = CallTrace(self, batch, pos)
        return made


class BatchTrace:
    """What is told of one batch."""

    __slots__ = ("_id", "_parent", "_trace", "calls")

    def __init__(self, trace: Trace, batch: str, parent: dict[str, Any] | None) -> None:
        self.calls: list[CallTrace] = []
        self._trace = trace
        self._id = batch
        self._parent = {} if parent is None else {"parent": parent}

    def call(self, token: object) -> CallTrace:
        """Begin to tell of the next call."""
        self.calls.append(self._trace.call(self._id, len(self.calls), token))
        return self.calls[-1]

    def opened(self, calls: Sequence[Any], max_parallel: int, **more: int) -> None:
        announced = [{"call_id": one.id, "name": one.name, "arguments": one.arguments} for one in calls]
        fields = {"calls": announced, "max_parallel": max_parallel, **self._parent, **more}
        self._trace.emit(EventName.BATCH_OPENED, self._id, fields)

    def answered(
        self, result: Result | None, failure: BaseException | None, interruption: BaseException | None
    ) -> None:
        """The single call of this batch ends; after a cancellation its result answers nobody (PY-3)."""
        if result is None or interruption is not None:
            self.ended(failure, interruption, False, ())
            return
        self.calls[0].returned(result)
        concluded = isinstance(result, Success) and result.concludes_turn
        self.ended(None, None, concluded, result.contexts)

    def ended(
        self,
        failure: BaseException | None,
        interruption: BaseException | None,
        concluded: bool,
        contexts: Sequence[Content],
    ) -> None:
        """It is about to raise, or to return, or to let a cancellation go on."""
        if failure is not None:
            where = "log" if isinstance(failure, LogError) else "other"
            fields = {"where": where, "error": {"type": type(failure).__name__}}
            self._trace.emit(EventName.BATCH_FAILED, self._id, fields)
            return
        closed: dict[str, Any] = {
            "concluded": concluded,
            "ended": "returned" if interruption is None else "cancelled",
            "contexts": [digest(one) for one in contexts],
        }
        self._trace.emit(EventName.BATCH_CLOSED, self._id, closed)


class CallTrace:
    """What is told of one call."""

    __slots__ = ("_batch", "_nested", "_pos", "_trace", "attempt")

    def __init__(self, trace: Trace, batch: str, pos: int) -> None:
        self._trace = trace
        self._batch = batch
        self._pos = pos
        self._nested: dict[int, int] = {}
        self.attempt = 0
        """How many bodies of the call have started."""

    def emit(self, name: EventName, /, **fields: Any) -> None:
        """Tell of something that happened to the call."""
        self._trace.emit(name, self._batch, {"pos": self._pos, **fields})

    def place(self) -> dict[str, Any]:
        """Where a nested batch comes from."""
        return {"batch": self._batch, "pos": self._pos, "attempt": self.attempt}

    def nested(self) -> str:
        """The id of a further batch that is nested in this call."""
        number = self._nested[self.attempt] = self._nested.get(self.attempt, 0) + 1
        name = f"{self._batch}/{self._pos}#{self.attempt}"
        return name if number == 1 else f"{name}.{number}"

    def logged(self, call: Any, **more: int) -> None:
        fields = {"call_id": call.id, "name": call.name, "arguments": call.arguments}
        self.emit(EventName.CALL_LOGGED, **fields, **more)

    def returned(self, result: Result) -> None:
        fields = {"outcome": _outcome(result), "content_digest": digest(result.content)}
        contexts = [digest(one) for one in result.contexts]
        self.emit(EventName.RESULT_RETURNED, **fields, contexts=contexts)

    def answered(self, call: Any, result: Result, **more: int) -> None:
        shown = {"call_id": call.id, "outcome": _outcome(result), "content_digest": digest(result.content)}
        self.emit(EventName.RESULT_LOGGED, **shown, **more)

    def deferred(self, context: Content) -> None:
        self.emit(EventName.CONTEXT_DEFERRED, attempt=max(1, self.attempt), context=digest(context))

    def accepted(self, context: Content, **more: int) -> None:
        self.emit(EventName.CONTEXT_ACCEPTED, context=digest(context), **more)

    def observed(self, observer: str, result: Result) -> None:
        fields = {"observer": observer, "outcome": _outcome(result), "digest": digest(result.content)}
        self.emit(EventName.RESULT_OBSERVED, **fields)

    def waterfall(self, name: str, listeners: Sequence[str]) -> Callable[[int], ListenerTrace]:
        """Begin to tell of one run of a waterfall, whose listeners have these ids, outermost first."""
        entered = [0] * len(listeners)

        def enter(index: int) -> ListenerTrace:
            entered[index] += 1
            about = {"waterfall": name, "listener": listeners[index]}
            self.emit(EventName.POLICY_ENTERED, **about, attempt=entered[index])
            return ListenerTrace(self, about)

        return enter


class ListenerTrace:
    """What is told of one listener, from its start to its end."""

    __slots__ = ("_about", "_call", "_heard", "_nth")

    def __init__(self, call: CallTrace, about: dict[str, Any]) -> None:
        self._call = call
        self._about = about
        self._nth = 0
        self._heard: object = None

    def delegated(self) -> None:
        """It has called `next()`."""
        self._nth += 1
        self._call.emit(EventName.POLICY_DELEGATED, **self._about, nth=self._nth)

    async def heard(self, rest: Awaitable[T]) -> T:
        """Await what `next()` delegates to, and tell of the answer."""
        nth = self._nth
        try:
            self._heard = answer = await rest
        except BaseException as error:
            if not self._withdrawn(error):
                self._call.emit(EventName.POLICY_RESUMED, **self._about, nth=nth, answer="raised")
            raise
        self._call.emit(EventName.POLICY_RESUMED, **self._about, nth=nth, answer=_word(answer))
        return answer

    def raised(self, error: BaseException) -> None:
        """It has raised."""
        if not self._withdrawn(error):
            self._decided("raised", _code(error))

    def _withdrawn(self, error: BaseException) -> bool:
        """Whether its request was withdrawn, so that it was cancelled and decides nothing (PY-13)."""
        cancelled = isinstance(error, anyio.get_cancelled_exc_class())
        return cancelled and self._about["waterfall"] == "approval"

    def judged(self, answer: object, proper: Callable[[object], T]) -> T:
        """Make a decision of what it has answered, and tell of it."""
        try:
            decision = proper(answer)
        except PolicyError as error:
            # A result of its own that does not pass says so by its code (DSP-10).
            own = type(answer) in (Success, Failure) and error.code != Code.POLICY_ERROR
            self._decided("authored" if own else "malformed", str(error.code))
            raise
        if isinstance(decision, Success | Failure):
            passed = decision is self._heard
            self._tell_contexts(() if passed else decision.contexts)
            self._decided("passed" if passed else "authored", _code_of(decision))
        else:
            self._tell_contexts(decision.contexts if isinstance(decision, Accept | Block) else ())
            self._decided(_word(decision), decision.code if isinstance(decision, Deny) else None)
        return decision

    def _tell_contexts(self, contexts: Sequence[Content]) -> None:
        for context in contexts:
            self._call.deferred(context)

    def _decided(self, word: str, code: str | None) -> None:
        more = {} if code is None else {"code": str(code)}
        self._call.emit(EventName.POLICY_DECIDED, **self._about, decision=word, **more)


def digest(value: object) -> str:
    """Stands for content in a trace: equal for equal JSON text, and tells nothing of it."""
    return blake2b(to_text(value).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _outcome(result: Result) -> dict[str, Any]:
    if isinstance(result, Success):
        return {"ok": True}
    return {"ok": False, "code": result.error.code, "name": result.error.name}


def _word(answer: object) -> str:
    """The word of the vocabulary: for a result its code, for a decision its kind."""
    match answer:
        case Success():
            return "OK"
        case Failure(error):
            return error.code
        case str():
            return answer
        case _:
            return type(answer).__name__.lower()


def _code(error: BaseException) -> str | None:
    return None if isinstance(error, KeyboardInterrupt) else failure_of(error, Code.POLICY_ERROR).error.code


def _code_of(result: Result) -> str | None:
    return result.error.code if isinstance(result, Failure) else None
