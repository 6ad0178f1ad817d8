"""One call under way: what the pipeline knows of it, and what policies may see."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from gnomon.backend import InContext, Running
from gnomon.content import Content
from gnomon.registry import Entry, Layer, RegisteredTool
from gnomon.results import ABSENT, Result
from gnomon.signals import AbortSignal
from gnomon.tools import Token
from gnomon.trace import CallTrace
from gnomon.values import JSON, Limits, NotJson, parse_arguments, snapshot
from gnomon.waterfall import Watches

if TYPE_CHECKING:
    from gnomon.scopes import Scope

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model announced it; `arguments` is its text, as the model wrote it (ARG-4)."""

    id: str
    name: str
    arguments: str = ""

    def __post_init__(self) -> None:
        for value in (self.id, self.name, self.arguments):
            if not isinstance(value, str):
                raise TypeError(f"id, name and arguments of a call are text, not {type(value).__name__}")


class ApprovalLog(Protocol):
    """Where approvals of a call are written down, where the call belongs to a session (APP-6, APP-10)."""

    def asked(self, call_id: str, name: str, reason: str | None) -> int:
        """Write that somebody is asked, and answer the number of the record.

        Raises `PolicyError` where no turn is open (APP-10), `LogError` where it cannot be written.
        """

    def decided(self, request: int, call_id: str, outcome: str) -> None:
        """Write what became of the request. Raises `LogError`."""

    def policy(self) -> str | None:
        """The policy that the session logged last, or nothing where it logged none (APP-9)."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes the calls: from which scope, under which signal, within which other call."""

    layer: Layer
    signal: AbortSignal
    scope: Scope | None = None
    parent: Token | None = None
    root_call_id: str | None = None
    log: ApprovalLog | None = None


class Call:
    """The state of one call. Only the pipeline changes it."""

    __slots__ = (
        "_context",
        "announced",
        "arguments",
        "body_invoked",
        "caller",
        "checked",
        "concluded",
        "deferred",
        "finalize_content",
        "made",
        "project_content",
        "signal",
        "stages",
        "timeout",
        "token",
        "trace",
        "unusable",
        "view",
    )

    def __init__(self, announced: ToolCall, caller: Caller, limits: Limits) -> None:
        self.announced = announced
        self.caller = caller
        self.token = Token()
        self.trace: CallTrace | None = None
        """What is told of the call, where anybody listens."""
        self._context: Context | None = None
        self.signal: AbortSignal = caller.signal
        """The signal that the wrappers have left in place (CRE-5)."""
        self.timeout: float | None = None
        """The seconds that the tool may take, as they were when it was dispatched (TMO-1)."""
        self.checked: tuple[RegisteredTool, list[str]] | None = None
        """How the arguments do not fit a definition: neither ever changes."""
        self.body_invoked = False
        self.concluded = False
        self.deferred: list[Content] = []
        self.made: dict[int, Result] = {}
        """The results that were made for this very call, by identity: only these are trusted (DSP-10)."""
        self.stages: list[Running[Result]] = []
        """The body stages that were reached, one an attempt; each runs in a task of its own (PY-2)."""
        self.project_content: Callable[[Any, Result], object] | None = None
        self.finalize_content: Callable[[Any, Result], object] | None = None
        self.arguments: JSON = None
        self.unusable: NotJson | None = None
        try:
            self.arguments = snapshot(parse_arguments(announced.arguments), limits)
        except NotJson as error:
            self.unusable = error  # CRE-2
        self.view = Execution(self)

    @property
    def name(self) -> str:
        return self.announced.name

    @property
    def aborted(self) -> bool:
        """Whether the caller has aborted."""
        return self.caller.signal.aborted

    def remember(self, result: Result) -> Result:
        """Trust a result, because it was made for this call."""
        self.made[id(result)] = result
        return result

    def watches(self, waterfall: str, listeners: Sequence[Entry]) -> Watches | None:
        """What watches the listeners of a waterfall, where anybody listens."""
        if self.trace is None:
            return None
        return self.trace.waterfall(waterfall, [one.id for one in listeners])

    async def outlast_bodies(self) -> None:
        """Wait until no body of this call runs, whatever its wrappers did with theirs (DSP-6).

        Raises the KeyboardInterrupt of a body, also where a wrapper caught it (PY-4).
        """
        for stage in self.stages:
            await stage.settled()

    @property
    def context(self) -> Context:
        """The call's own copy of the context variables, taken at its first step (PY-7)."""
        if self._context is None:
            self._context = copy_context()
        return self._context

    def step(self, coroutine: Coroutine[Any, Any, T]) -> InContext[T]:
        """A step of this call in its own context variables, where its task has others (PY-7)."""
        return InContext(self.context, coroutine)  # PY-7

    def captures(self, registered: RegisteredTool) -> None:
        """Take from the visible definition what belongs to this call for good (CRE-3)."""
        self.project_content = registered.tool.project_content
        self.finalize_content = registered.tool.finalize_content


class Execution:
    """What policies, finalizers and observers see of a call. Nobody can change it (CRE-5)."""

    __slots__ = ("_call",)
    _call: Call

    def __init__(self, call: Call) -> None:
        object.__setattr__(self, "_call", call)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} of an execution cannot be set (CRE-5)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} of an execution cannot be deleted (CRE-5)")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}, call {self.call_id!r}>"

    @property
    def call_id(self) -> str:
        """The id that the model gave the call; it may repeat."""
        return self._call.announced.id

    @property
    def root_call_id(self) -> str:
        """The id of the call that the model made, where this one is nested in it; else its own (CRE-1)."""
        root = self._call.caller.root_call_id
        return self.call_id if root is None else root

    @property
    def name(self) -> str:
        """The name that the model called; there may be no such tool."""
        return self._call.announced.name

    @property
    def arguments(self) -> Any:
        """The frozen arguments; `ABSENT` for a finalizer or observer where they are no JSON (CRE-2)."""
        return ABSENT if self._call.unusable is not None else self._call.arguments

    @property
    def scope(self) -> Scope | None:
        """The scope that the call comes from."""
        return self._call.caller.scope

    @property
    def signal(self) -> AbortSignal:
        """The caller's signal; in a wrapper, the one that stands in its place now."""
        return self._call.caller.signal

    @property
    def token(self) -> Token:
        """Stands for this call where another is made on its behalf; compares by identity (CRE-1)."""
        return self._call.token

    @property
    def parent(self) -> Token | None:
        """The token of the call that this one was made on behalf of."""
        return self._call.caller.parent


class DispatchExecution(Execution):
    """What a wrapper sees: it may replace `signal`, from its start until it ends (CRE-5)."""

    __slots__ = ("_open",)
    _open: bool

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        object.__setattr__(self, "_open", True)

    def __setattr__(self, name: str, value: object) -> None:
        if name != "signal":
            super().__setattr__(name, value)
        object.__setattr__(self, name, value)

    @property
    def signal(self) -> AbortSignal:
        """The signal that stands now: the caller's, or that of a wrapper further out."""
        return self._call.signal

    @signal.setter
    def signal(self, value: AbortSignal) -> None:
        if not isinstance(value, AbortSignal):
            raise TypeError(f"a signal is an AbortSignal, not {type(value).__name__} (CRE-5)")
        if not self._open:
            raise AttributeError("the signal can no longer be replaced: the wrapper has ended (CRE-5)")
        self._call.signal = value

    def _close(self) -> None:
        object.__setattr__(self, "_open", False)
