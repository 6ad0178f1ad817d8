"""The language of scenarios: what a harness can ask of an implementation.

A scenario is pure data. It describes tools whose bodies are small *scripts*, a batch of calls or several,
and a *schedule*: a list of inputs (release a gate, abort, ...), after each of which the implementation
runs until nothing can proceed without the harness. Each step is an object with a single key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

from pydantic import (
    Field,
    NonNegativeInt,
    PositiveInt,
    model_validator,
)

from gnomon_check.changes import Name, Strict, asks_for_change, holds
from gnomon_check.field_report import FieldReport
from gnomon_check.hostile import kinds_in
from gnomon_check.schedule import (
    AbortInputStep,
    CancelStep,
    CrashStep,
    OpenStep,
    RepairStep,
    ScheduleStep,
    inputs_of,
    opening,
)
from gnomon_check.script_steps import (
    AbortStep,
    AnswererStep,
    AuthorStep,
    BodyStep,
    BorrowStep,
    DeferStep,
    ExecuteStep,
    HookStep,
    NextConcurrentlyStep,
    NextUnawaitedStep,
    NoteStep,
    RaiseAtOnce,
    RaiseStep,
    ReturnStep,
    SetSignalStep,
    SetSignalValueStep,
    SyncStep,
)
from gnomon_spec.values import json_equal

_ABORTS = frozenset([AbortStep, AbortInputStep, CancelStep, SetSignalStep])


class ScenarioError(ValueError):
    """A scenario file cannot be used; the message says where and why."""


# -- tools, calls, batches ----------------------------------------------------------------------


class ClassifierValue(Strict):
    """A classifier that answers this value; only `true` makes a call parallel."""

    value: Any


class ClassifierRaises(Strict):
    """A classifier that raises."""

    raise_: RaiseAtOnce = Field(alias="raise")

    @model_validator(mode="after")
    def _strikes_nobody(self) -> ClassifierRaises:
        if self.raise_.kind == "keyboard":
            # SCD-2 leaves it free how often it is asked, so nobody could say what had happened by then.
            raise ValueError("a classifier raises no KeyboardInterrupt: nothing says when it is asked")
        return self


class ArgumentEquals(Strict):
    argument: str
    equals: Any


class ClassifierWhen(Strict):
    """A classifier that answers `true` when an argument has this value."""

    when: ArgumentEquals

    def answer(self, arguments: Any) -> bool:
        """What it answers: as values are equal in JSON, where `true` is not `1` (VAL-5)."""
        given = arguments.get(self.when.argument) if isinstance(arguments, dict) else None
        return isinstance(arguments, dict) and json_equal(given, self.when.equals)


Classifier: TypeAlias = bool | ClassifierValue | ClassifierRaises | ClassifierWhen


class ScenarioOutput(Strict):
    """The declared output of a tool."""

    schema_: Any = Field(alias="schema", default_factory=dict)


class ScenarioScope(Strict):
    """A scope: an agent, or a preset that agents inherit from."""

    name: Name
    parent: Name | None = None
    mode: Literal["native", "ptc", "both"] | None = None


class ScenarioTool(Strict):
    """A tool whose body is a script. Without `parallel` nothing is declared.

    `id` names the definition where several have one name. One that comes `later` is registered by a step.
    """

    name: Name
    id: Name | None = None
    later: bool = False
    scope: Name | None = None
    parameters: Any = Field(default_factory=lambda: {"type": "object"})
    output: ScenarioOutput = Field(default_factory=ScenarioOutput)
    parallel: Classifier | None = None
    timeout_ms: PositiveInt | None = None
    interrupt: Literal["signal", "cancel"] = "signal"
    body: list[BodyStep] = Field(default_factory=list)
    render: list[SyncStep] | None = None
    """Without it the value is rendered as its JSON text."""
    presentation_meta: list[SyncStep] | None = None
    project: list[SyncStep] | None = None
    finalize: list[SyncStep] | None = None

    @model_validator(mode="after")
    def _waits_for_its_calls(self) -> ScenarioTool:
        if self.interrupt == "cancel" and any(isinstance(one, ExecuteStep) for one in self.body):
            raise ValueError("a body that makes calls is told of an abort, not interrupted")
        return self

    @property
    def key(self) -> str:
        """What steps call the definition: its id, or its name where it has none."""
        return self.id or self.name


class Match(Strict):
    """Which calls a hook or a guard is for; an empty one is for all."""

    tool: str | None = None
    pos: NonNegativeInt | None = None

    def fits(self, tool: str, pos: int) -> bool:
        """Whether it is for the call at `pos`, of that name."""
        return self.tool in (None, tool) and self.pos in (None, pos)


class ScenarioHook(Strict):
    """A listener of one of the three waterfalls, an observer of results, or one who hears of changes.

    Who hears of changes is told when a tool is registered or a scope restricted, and stands in the global
    layer: it may note that, and raise.
    """

    id: Name
    on: Literal["pre_execute", "execute", "post_execute", "result", "change"]
    later: bool = False
    scope: Name | None = None
    prepend: bool = False
    match: Match = Field(default_factory=Match)
    script: list[HookStep] = Field(default_factory=list)

    @model_validator(mode="after")
    def _only_hears_of_changes(self) -> ScenarioHook:
        if self.on != "change":
            return self
        raises = [one for one in self.script if isinstance(one, RaiseStep)]
        if len(raises) + sum(isinstance(one, NoteStep) for one in self.script) < len(self.script):
            raise ValueError("who hears of changes has steps `note` and `raise`, and no others")
        if self.scope is not None or any(one.raise_.kind != "error" for one in raises):
            raise ValueError("who hears of changes stands in the global layer, and raises an `error`")
        return self


class ScenarioGuard(Strict):
    """A guard."""

    id: Name
    later: bool = False
    scope: Name | None = None
    match: Match = Field(default_factory=Match)
    script: list[SyncStep] = Field(default_factory=list)


class ScenarioRestriction(Strict):
    """What a scope lets through of what it inherits."""

    scope: Name
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None


class Answerer(Strict):
    """Who answers an approval, by a script; several form a waterfall."""

    id: Name
    scope: Name | None = None
    prepend: bool = False
    script: list[AnswererStep] = Field(default_factory=list)


class ScenarioApproval(Strict):
    """The approval service. Without answerers somebody waits at the gate `approval:<pos>`."""

    policy: Literal["ask", "never"] = "ask"
    service: Literal["ok", "raises", "malformed"] = "ok"
    answerers: list[Answerer] = Field(default_factory=list)


class FailAppend(Strict):
    """The append that fails: of the records of that kind, the nth in the log."""

    record: Literal["tool/call", "tool/result", "approval/asked", "approval/decided"]
    nth: PositiveInt = 1


class ScenarioLog(Strict):
    """The session log. After an append that fails the next one is taken: whoever goes on is seen to."""

    fail_append: FailAppend


class ScenarioCall(Strict):
    """One call of a batch; `arguments` is the raw text."""

    id: str
    name: str
    arguments: str = "{}"


class ScenarioBatch(Strict):
    id: Name = "b1"
    calls: list[ScenarioCall]


class ScenarioLimits(Strict):
    max_parallel: PositiveInt = 10


class Scenario(Strict):
    """A scenario, version 1."""

    scenario: Literal["gnomon/1"]
    id: Name
    title: str
    clauses: list[str]
    profiles: list[str] = Field(default_factory=list)
    mode: Literal["batch", "single"] = "batch"
    """`single` drives a call outside of any batch; its batch holds just that call."""
    limits: ScenarioLimits = Field(default_factory=ScenarioLimits)
    scopes: list[ScenarioScope] = Field(default_factory=list)
    """The scopes, each after its parent; without any, the caller's alone."""
    presentation: Literal["native", "ptc", "both"] = "native"
    """How tools are shown where no scope declares it."""
    caller: Name | None = "agent"
    tools: list[ScenarioTool]
    restrictions: list[ScenarioRestriction] = Field(default_factory=list)
    hooks: list[ScenarioHook] = Field(default_factory=list)
    guards: list[ScenarioGuard] = Field(default_factory=list)
    approval: ScenarioApproval | None = None
    log: ScenarioLog | None = None
    batches: list[ScenarioBatch]
    schedule: list[ScheduleStep]
    report: FieldReport | None = None

    @model_validator(mode="after")
    def _sane(self) -> Scenario:
        if not self.batches:
            raise ValueError("the scenario has no batch")
        if self.mode == "single" and any(len(one.calls) != 1 for one in self.batches):
            raise ValueError("mode `single` is for one call")
        if any(call.name == "run_code" for one in self.batches for call in one.calls):
            raise ValueError("this version runs no programs: no call is of `run_code`")
        if self.log is not None and (self.mode == "single" or len(self.batches) != 1):
            raise ValueError("a log fails in a scenario of one batch: a single call has none")
        if self.report is not None and len(self.batches) != 1:
            raise ValueError("a report is about one batch")
        self._names_are_known()
        self._hostile_only_in_bodies()
        self._nothing_left_to_chance()
        self._borrows_what_is_known()
        self._opens_each_in_turn()
        self._ends_with_a_crash()
        return self

    def _names_are_known(self) -> None:
        for what, ids in (
            ("tools", [one.key for one in self.tools]),
            ("hooks", [one.id for one in self.hooks]),
            ("guards", [one.id for one in self.guards]),
        ):
            if len(set(ids)) != len(ids):
                raise ValueError(f"two {what} have the same name")
        known: set[str] = set()
        for scope in self.all_scopes:
            if scope.name in known or (scope.parent is not None and scope.parent not in known):
                raise ValueError(f"the scope {scope.name!r} stands twice, or before its parent")
            known.add(scope.name)
        answerers = [] if self.approval is None else self.approval.answerers
        used = {self.caller, *(one.scope for one in self.tools), *(one.scope for one in self.hooks)}
        used |= {*(one.scope for one in self.guards), *(one.scope for one in self.restrictions)}
        used |= {one.scope for one in answerers}
        used.discard(None)
        if used - known:
            raise ValueError(f"there is no scope {', '.join(map(repr, sorted(map(str, used - known))))}")

    def _opens_each_in_turn(self) -> None:
        opened: list[str] = []
        for step in self.schedule:
            given = inputs_of(step)
            if not opened and any(isinstance(one, CancelStep) for one in given):
                raise ValueError("`cancel` needs a batch that was opened in an earlier step")
            now = [one.open.batch for one in given if isinstance(one, OpenStep)]
            if now and opened and len(given) > 1:
                raise ValueError("a batch that is not the first is opened by a step of its own")
            opened += now
        named = [one.id for one in self.batches]
        if len(set(named)) != len(named):
            raise ValueError("two batches have the same name")
        if opened != named:
            order = ", ".join(map(repr, named)) or "none"
            said = ", ".join(map(repr, opened)) or "none"
            raise ValueError(f"the schedule opens each batch once, in their order: {order}, and not {said}")

    def _ends_with_a_crash(self) -> None:
        crash = next((n for n, one in enumerate(self.schedule) if isinstance(one, CrashStep)), None)
        after = self.schedule[crash + 1 :] if crash is not None else []
        repairs = [one for one in self.schedule if isinstance(one, RepairStep)]
        if len(repairs) != len(after) or not all(isinstance(one, RepairStep) for one in after):
            raise ValueError("after a crash only `repair` comes, and it comes only there")
        if crash is not None and self.mode == "single":
            raise ValueError("a call outside of any session leaves no log to repair")

    def _hostile_only_in_bodies(self) -> None:
        bodies = {"tools": {"__all__": {"body"}}, "hooks": {"__all__": {"script"}}}
        elsewhere = self.model_dump(mode="json", by_alias=True, exclude=bodies)
        steps = [step for one in self.hooks for step in one.script]
        listeners = [one.model_dump() for one in steps if not isinstance(one, SetSignalValueStep)]
        kind = next(kinds_in([elsewhere, listeners]), None)
        if kind is not None:
            raise ValueError(
                f"`$hostile` ({kind}) stands in what the body of a tool returns, and nowhere else"
            )

    def _nothing_left_to_chance(self) -> None:
        steps = [step for one in self.hooks for step in one.script]
        if not any(isinstance(one, NextUnawaitedStep | NextConcurrentlyStep) for one in steps):
            return
        # Who is struck, and when a result of a wrapper is rendered whose `next` still runs, nothing says.
        if any(one.render is not None or one.presentation_meta is not None for one in self.tools):
            raise ValueError("a tool with a renderer has no listener that does not wait for its `next`")
        bodies = [step for one in self.tools for step in one.body]
        if any(isinstance(one, RaiseStep) and one.raise_.kind == "keyboard" for one in (*steps, *bodies)):
            raise ValueError("no KeyboardInterrupt is raised where a listener does not wait for its `next`")

    def _borrows_what_is_known(self) -> None:
        """Which value a wrapper has heard is known where the body ends with it, and it is written out.

        Nobody says what a code means that tells of an abort, or of a deadline, and came with another call.
        """
        if not self.borrows:
            return
        lending = set()
        for hook in self.hooks:
            found = {one.borrow.from_ for one in hook.script if isinstance(one, BorrowStep)}
            if found and (hook.on != "execute" or hook.match.pos is None):
                raise ValueError("a listener that borrows is a wrapper of the call at one position")
            lending |= found
        if self.borrowers & lending:
            raise ValueError("a call whose wrapper borrows a result has none that another borrows")
        if any(isinstance(one, AuthorStep) for hook in self.hooks for one in hook.script):
            raise ValueError("no wrapper writes a result where another borrows one")
        if any(one.timeout_ms is not None for one in self.tools) or holds(self, _ABORTS):
            raise ValueError("no call is aborted where a result is borrowed")
        steps = [one for tool in self.tools for one in tool.body]
        if any(isinstance(one, DeferStep) for one in steps):
            raise ValueError("no body hands over a context where a result is borrowed")
        values = [one.return_.value for one in steps if isinstance(one, ReturnStep)]
        if any(isinstance(one, dict) and {"$nonce", "$hostile"} & one.keys() for one in values):
            raise ValueError("a value is written out where a result is borrowed")

    @property
    def batch(self) -> ScenarioBatch:
        """The batch of the scenario, or its first."""
        return self.batches[0]

    def by_batch(self) -> list[Scenario]:
        """The scenario of each batch: its part of the schedule, from its opening to the next one.

        What comes before the first opening belongs to the first.
        """
        if len(self.batches) == 1:
            return [self]
        opens = [n for n, step in enumerate(self.schedule) if opening(step)]
        parts = zip(self.batches, [0, *opens[1:]], [*opens[1:], len(self.schedule)], strict=True)
        held = {name: getattr(self, name) for name in self.model_fields_set}
        return [
            Scenario.model_construct(**{**held, "batches": [batch], "schedule": self.schedule[begin:end]})
            for batch, begin, end in parts
        ]

    def fails_to_append(self, record: str, nth: int) -> bool:
        """Whether the log does not take the nth record of a kind."""
        failing = None if self.log is None else self.log.fail_append
        return failing is not None and (failing.record, failing.nth) == (record, nth)

    @property
    def all_scopes(self) -> list[ScenarioScope]:
        """The scopes; where none is said, the caller's."""
        if self.scopes or self.caller is None:
            return self.scopes
        return [ScenarioScope(name=self.caller)]

    def tool(self, key: str) -> ScenarioTool | None:
        """The definition of a tool, or nothing."""
        return next((one for one in self.tools if one.key == key), None)

    def hook(self, key: str) -> ScenarioHook | None:
        """The definition of a listener, or nothing."""
        return next((one for one in self.hooks if one.id == key), None)

    def guard(self, key: str) -> ScenarioGuard | None:
        """The definition of a guard, or nothing."""
        return next((one for one in self.guards if one.id == key), None)

    def answerer(self, key: str) -> Answerer | None:
        """Who answers approvals under that id, or nothing."""
        approval = self.approval
        return next((one for one in approval.answerers if one.id == key), None) if approval else None

    @cached_property
    def worked_out(self) -> dict[str, Any]:
        """What others have worked out of it, by name: it never changes, so once is enough."""
        return {}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, of which nothing is worked out: it may say something else."""
        copied = super().model_copy(update=update, deep=deep)
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied

    @cached_property
    def borrows(self) -> bool:
        """Whether a wrapper ends with the result of another call."""
        return bool(self.borrowers)

    @cached_property
    def borrowers(self) -> frozenset[int | None]:
        """The positions of the calls of which a wrapper ends with the result of another."""
        wrappers = (one for one in self.hooks if any(isinstance(step, BorrowStep) for step in one.script))
        return frozenset(one.match.pos for one in wrappers)

    @cached_property
    def changes(self) -> bool:
        """Whether anything of it can change while it runs: a script or the schedule has a step for it."""
        return asks_for_change(self)
