"""Tools: what a model may call, and what a running tool may ask of its runtime."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.content import Card, Content, check_content, render_json, text_content
from gnomon.errors import GnomonError
from gnomon.results import Result
from gnomon.signals import AbortSignal
from gnomon.values import JSON

if TYPE_CHECKING:
    from gnomon.execution import Execution
    from gnomon.scopes import Scope

Render: TypeAlias = Callable[[JSON, JSON], Content]
"""Makes the content of a success of its arguments and its value; pure and synchronous (OUT-2)."""


class InvalidArguments(ValueError):
    """Arguments that the schema let through and the tool's own types did not (DSP-8)."""

    def __init__(self, violations: list[str]) -> None:
        super().__init__("; ".join(violations))
        self.violations = violations


class InvalidOutput(ValueError):
    """A value that is not what the tool said it returns (OUT-1)."""


class Token:
    """Stands for one call under way; equal to nothing but itself, and tells nothing (CRE-1)."""

    __slots__ = ("__weakref__",)


class Desk:
    """Where the body of one attempt leaves contexts, and its wish to end the turn, while it runs."""

    __slots__ = ("_contexts", "_open", "_tell", "concluded")

    def __init__(
        self, contexts: list[Content] | None = None, tell: Callable[[Content], None] | None = None
    ) -> None:
        """Make a desk that adds to `contexts`, and tells of each."""
        self._contexts: list[Content] = [] if contexts is None else contexts
        self._tell = tell
        self._open = True
        self.concluded = False

    def take(self, context: str | Content) -> None:
        """Take a context. Raises `NotJson` for what is no content."""
        self.require_open()
        taken = check_content(text_content(context) if isinstance(context, str) else context)
        self._contexts.append(taken)
        if self._tell is not None:
            self._tell(taken)

    def require_open(self) -> None:
        """Raise `GnomonError` once the body has ended (DSP-15)."""
        if not self._open:
            raise GnomonError("the body of this call has ended; nothing can be handed over any more (DSP-15)")

    def close(self) -> None:
        """The body has ended."""
        self._open = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a body may know of its call. A body gets it by annotating one parameter with this type."""

    call_id: str
    name: str
    arguments: JSON
    signal: AbortSignal
    """Aborts when the caller does, or whoever wraps the call: a timeout, say (DSP-2)."""
    root_call_id: str = ""
    scope: Scope | None = None
    token: Token = field(default_factory=Token, repr=False)
    """For calls made on this one's behalf: `runtime.execute(..., parent=context.token)`."""
    parent: Token | None = field(default=None, repr=False)
    _desk: Desk = field(default_factory=Desk, repr=False)

    def defer(self, context: str | Content) -> None:
        """Hand a context to the model, beside the result: after all results of the batch (DSP-11, SCD-15).

        It goes there whatever becomes of the call, but for a failing policy. Raises `NotJson` for what
        is no content, `GnomonError` once the body has ended (DSP-15).
        """
        self._desk.take(context)

    def conclude_turn(self) -> None:
        """Ask to end the turn. It counts if the call succeeds, in whatever attempt (DSP-14, FIN-4).

        Raises `GnomonError` once the body has ended.
        """
        self._desk.require_open()
        self._desk.concluded = True


Body: TypeAlias = Callable[[Any, ToolContext], object] | Callable[[Any, ToolContext], Awaitable[object]]
"""An async function, or a plain one, which runs in a worker thread (PY-5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a tool returns: the schema of its value, in the supported subset, and how it is shown.

    `render` makes the content for the model, `meta` what goes to whoever presents the result to people;
    both get arguments and value, and are pure and synchronous (OUT-1..3).
    """

    schema: JSON
    render: Render = render_json
    meta: Callable[[JSON, JSON], JSON] | None = None


def _same(value: Any) -> Any:
    return value


def _anything(value: JSON) -> list[str]:
    return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool. Made by `tool` from a function, by `define_tool`, or by hand with JSON Schemas.

    `parameters` is any JSON Schema of draft 2020-12; arguments are checked against it, unless
    `checks_own_arguments`, which then gets even text that is no JSON, as a string (SCH-8). `run` gets
    what `convert` makes of the arguments (they themselves by default), and its answer goes through
    `dump`; `check` may tell violations of a value that the output schema cannot say.

    `parallel` says whether a call may overlap others of its batch; a callable is asked with the
    arguments, and only `True` counts (SCD-2). `timeout` is in seconds (TMO-1). `interrupt` says what an
    abort does to a running body: "cancel" interrupts it once, "signal" only tells it (PY-2); a plain
    function is only ever told. `defer_loading` is told to the model (REG-6).

    `project_content` (sync or async) and `finalize_content` (sync) may replace the content of a result,
    before post-execute and at the very end; both get the execution and the result, and answer None to
    leave it (PST-1, FIN-2). `present_call` and `present_result` make cards for people, from the log
    alone (LOG-4).
    """

    name: str
    description: str
    parameters: JSON
    output: Output
    run: Body
    parallel: bool | Callable[[JSON], bool] = False
    timeout: float | None = None
    interrupt: Literal["cancel", "signal"] = "cancel"
    defer_loading: bool = False
    checks_own_arguments: bool = False
    project_content: Callable[[Execution, Result], object] | None = None
    finalize_content: Callable[[Execution, Result], Content | None] | None = None
    present_call: Callable[[JSON], Card] | None = None
    present_result: Callable[[JSON, Content, JSON], Card] | None = None
    convert: Callable[[JSON], object] = _same
    dump: Callable[[Any], object] = _same
    check: Callable[[JSON], list[str]] = _anything
    authored: bool = False
    """The parameters were compiled from the authoring form, so they lie in the subset (SCH-2, SCH-4)."""
