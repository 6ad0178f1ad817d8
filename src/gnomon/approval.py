"""Approvals: somebody is asked before a call may run, and only `allowed-once` lets it (APP).

Answerers form a waterfall like any other. The approver that a runtime is given is the outermost of
them, but for prepended ones. While one is asked, the batch waits; an abort withdraws the request.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

import anyio
import anyio.to_thread

from gnomon.backend import Crew, is_cancellation, new_event
from gnomon.errors import Code, ConfigError, PolicyError
from gnomon.execution import Call
from gnomon.registry import Entry, Registry
from gnomon.results import Failure, aborted_before_dispatch, failure
from gnomon.scopes import Scope
from gnomon.session import Record, Session
from gnomon.trace import EventName
from gnomon.waterfall import Listener, Next, run_waterfall

ApprovalOutcome: TypeAlias = Literal["allowed-once", "rejected", "cancelled", "unavailable"]
ApprovalPolicy: TypeAlias = Literal["ask", "never"]
OUTCOMES: tuple[ApprovalOutcome, ...] = get_args(ApprovalOutcome)
POLICIES: tuple[ApprovalPolicy, ...] = get_args(ApprovalPolicy)

NO_SERVICE = "this call needs an approval, and there is nobody to ask"
NO_SCOPE = "this call needs an approval, and comes from no scope that could ask for one"
TEXTS: dict[ApprovalOutcome, str] = {
    "rejected": "somebody was asked to approve this call, and rejected it",
    "cancelled": "the request to approve this call was cancelled",
    "unavailable": "nobody was available to approve this call",
}
CODES: dict[ApprovalOutcome, Code] = {
    "rejected": Code.APPROVAL_REJECTED,
    "cancelled": Code.APPROVAL_CANCELLED,
    "unavailable": Code.APPROVAL_UNAVAILABLE,
}


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What is to be approved: one call, with its frozen arguments, and why somebody asks."""

    call_id: str
    name: str
    arguments: Any
    reason: str | None
    scope: Scope | None


class Approver(Protocol):
    """Somebody who can be asked."""

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        """Decide. Only "allowed-once" lets the call run; raising counts as "unavailable" (APP-4).

        It is cancelled where the request is withdrawn (APP-11, PY-13).
        """


Answerer: TypeAlias = Callable[
    [ApprovalRequest, Next[ApprovalOutcome]], Awaitable[ApprovalOutcome] | ApprovalOutcome
]
"""A listener of `runtime.on("approval", ...)`; sync or async."""


class CallbackApprover:
    """Asks a function, sync or async, which answers an outcome, or simply whether the call may run."""

    def __init__(self, callback: Callable[[ApprovalRequest], object]) -> None:
        self._callback = callback

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        answer: Any = self._callback(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is True:
            return "allowed-once"
        if answer is False:
            return "rejected"
        other: ApprovalOutcome = answer  # whatever it is: it is judged where answers are
        return other


class TerminalApprover:
    """Asks at the terminal. The question cannot be taken back: once withdrawn, its answer is ignored."""

    def __init__(self, ask: Callable[[str], str] | None = None) -> None:
        """`ask` shows a question and answers the line that was typed; the default uses rich and stdin."""
        self._ask = ask or _ask_with_rich

    async def ask(self, request: ApprovalRequest) -> ApprovalOutcome:
        why = f"\n  {request.reason}" if request.reason else ""
        question = f"Allow {request.name} with {request.arguments!r}?{why}\n  [y/N] "
        line = await anyio.to_thread.run_sync(self._ask, question, abandon_on_cancel=True)
        return "allowed-once" if line.strip().lower() in ("y", "yes") else "rejected"


def _ask_with_rich(question: str) -> str:
    from rich.console import Console

    return Console(stderr=True).input(question, markup=False)


def set_approval_policy(session: Session, policy: ApprovalPolicy) -> None:
    """Log the approval policy of a session; it holds from the next request on (APP-7, APP-9).

    Raises `ConfigError`, and logs nothing, for an unknown policy.
    """
    session.append(Record("approval/policy", {"policy": known_policy(policy)}))


def known_policy(policy: ApprovalPolicy) -> ApprovalPolicy:
    """The policy, if it is one; raises `ConfigError` otherwise."""
    if policy not in POLICIES:
        raise ConfigError(f"there is no approval policy {policy!r}; there are {', '.join(POLICIES)} (APP-9)")
    return policy


class Approvals:
    """The approval service of a runtime."""

    __slots__ = ("_policy", "_registry")

    def __init__(self, registry: Registry, approver: Approver | None, policy: ApprovalPolicy | None) -> None:
        self._registry = registry
        self._policy = None if policy is None else known_policy(policy)
        if approver is not None:
            registry.on("approval", _answering(approver), registry.everywhere)

    async def ask(self, call: Call, reason: str | None, crew: Crew) -> Failure | None:
        """Ask for one call; answers nothing where it may go on, else the result of the denial (APP-1).

        Raises `PolicyError` where no turn is open, and `LogError` where a record cannot be written: both
        are failures of the policy step (APP-10, LOG-3).
        """
        if call.caller.scope is None:
            return failure(Code.APPROVAL_UNAVAILABLE, NO_SCOPE, "ApprovalError")  # APP-2
        log = call.caller.log
        call_id = call.announced.id
        request = None if log is None else log.asked(call_id, call.name, reason)  # APP-6, APP-10
        if call.trace is not None and request is not None:
            call.trace.emit(EventName.APPROVAL_ASKED, request=str(request))
        outcome = await self._outcome(call, reason, crew)
        if log is not None and request is not None:
            log.decided(request, call_id, outcome)  # APP-6
            if call.trace is not None:
                call.trace.emit(EventName.APPROVAL_DECIDED, request=str(request), outcome=outcome)
        if outcome == "allowed-once":
            return None
        if outcome == "cancelled" and call.aborted:
            return aborted_before_dispatch()  # APP-3
        return failure(CODES[outcome], TEXTS[outcome], "ApprovalError")  # APP-2

    async def _outcome(self, call: Call, reason: str | None, crew: Crew) -> ApprovalOutcome:
        if call.aborted:
            return "cancelled"  # APP-7: looked at first
        if self._current_policy(call) == "never":
            return "rejected"  # APP-7
        request = ApprovalRequest(call.announced.id, call.name, call.arguments, reason, call.caller.scope)
        answerers = self._registry.hooks("approval", call.caller.layer)
        return await _Asking(call, request, answerers).outcome(crew)

    def _current_policy(self, call: Call) -> str:
        logged = None if call.caller.log is None else call.caller.log.policy()
        return logged or self._policy or "ask"  # APP-9


def _answering(approver: Approver) -> Callable[..., object]:
    """An approver, as the outermost answerer (APP-8)."""

    def approver_asked(request: ApprovalRequest, following: Next[ApprovalOutcome]) -> object:
        return approver.ask(request)

    return approver_asked


def no_service(reason: str | None) -> Failure:
    """The denial of an ask where there is no approval service (APP-2)."""
    return failure(Code.APPROVAL_UNAVAILABLE, NO_SERVICE if reason is None else reason, "ApprovalError")


class _Asking:
    """One request, pending in a task of its own: answered, or withdrawn at once by an abort (APP-11)."""

    __slots__ = ("_answer", "_answerers", "_call", "_over", "_request", "_scope", "_struck")

    def __init__(self, call: Call, request: ApprovalRequest, answerers: list[Entry]) -> None:
        self._call = call
        self._request = request
        self._answerers = answerers
        self._answer: ApprovalOutcome | None = None
        self._struck: BaseException | None = None
        self._over = new_event()
        self._scope = anyio.CancelScope()

    async def outcome(self, crew: Crew) -> ApprovalOutcome:
        crew.start(lambda: self._ask(crew), context=self._call.context)  # PY-7
        with self._call.caller.signal.on_abort(lambda reason: self._withdraw()):
            await self._over.wait()
        if self._struck is not None:
            raise self._struck
        assert self._answer is not None
        return self._answer

    def _withdraw(self) -> None:
        if not self._over.is_set():
            self._answer = "cancelled"
            self._over.set()
            self._scope.cancel()  # PY-13

    async def _ask(self, crew: Crew) -> None:
        answer: ApprovalOutcome = "unavailable"
        with self._scope:
            try:
                listeners = [self._listener(one.function) for one in self._answerers]
                watches = self._call.watches("approval", self._answerers)
                answer = await run_waterfall(listeners, _unavailable, _proper, watches)
            except KeyboardInterrupt as error:
                if self._over.is_set():
                    crew.report(error)  # the lane has gone on, and hears of it at the end of the batch
                else:
                    self._struck = error
            except BaseException as error:
                if self._scope.cancel_called and is_cancellation(error):
                    raise
                # An answerer that raises is not available, and grants nothing (APP-4).
        if not self._over.is_set():
            self._answer = answer
            self._over.set()

    def _listener(self, answerer: Callable[..., object]) -> Listener[ApprovalOutcome]:
        return lambda following: answerer(self._request, following)


async def _unavailable() -> ApprovalOutcome:
    return "unavailable"  # APP-8


def _proper(answer: object) -> ApprovalOutcome:
    if type(answer) is str and answer in OUTCOMES:
        return answer
    raise PolicyError("an answerer answered what is none of the four outcomes (APP-4)")
