"""The language of scenarios: what a harness can ask of an implementation.

A scenario is pure data. It describes tools whose bodies are small *scripts*, a batch of calls, and a
*schedule*: a list of inputs (release a gate, abort, ...), after each of which the implementation
runs until nothing can proceed without the harness. Each step is an object with a single key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PositiveInt,
    StringConstraints,
    Tag,
    ValidationError,
    model_validator,
)

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.:$-]+$", max_length=80)]
"""Names of gates, tools and the like; `$call` in the name of a gate becomes the position of the call."""


class ScenarioError(ValueError):
    """A scenario file cannot be used; the message says where and why."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _single_key(value: Any) -> str:
    """The tag of a step: the one key of its object."""
    if isinstance(value, dict):
        return next(iter(value), "") if len(value) == 1 else "a step has exactly one key"
    if isinstance(value, BaseModel):
        field = next(iter(type(value).model_fields.items()))
        return field[1].alias or field[0]
    return "a step is an object"


# -- scripts ------------------------------------------------------------------------------------


class Gate(_Strict):
    """Wait until the gate is released; an interruption that arrives here is kept for later."""

    name: Name


class AwaitAbort(_Strict):
    """Wait until the signal that the script was given aborts."""


class OnCancel(_Strict):
    """What a native cancellation does from here on, at `await_abort`."""

    do: Literal["propagate", "swallow", "unwind"] = "propagate"
    gate: Name | None = None

    @model_validator(mode="after")
    def _gate_for_unwind(self) -> OnCancel:
        if (self.do == "unwind") != (self.gate is not None):
            raise ValueError("`gate` goes with `unwind`, and only with it")
        return self


class Note(_Strict):
    """Leave an informative event."""

    text: str


class AbortFromInside(_Strict):
    """Abort the caller's signal from inside a script."""

    signal: Literal["caller"] = "caller"
    reason: str | None = None


class Return(_Strict):
    """End with a value; `{"$nonce": true}` stands for a fresh value made by the harness."""

    value: Any = None


class Raise(_Strict):
    """End by raising."""

    kind: Literal["error", "coded", "cancelled", "exit", "keyboard", "generator_exit", "unprintable"] = (
        "error"
    )
    message: str = "it failed"
    code: str | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _code_for_coded(self) -> Raise:
        if (self.kind == "coded") != (self.code is not None):
            raise ValueError("`code` goes with kind `coded`, and only with it")
        return self


class GateStep(_Strict):
    gate: Gate


class AwaitAbortStep(_Strict):
    await_abort: AwaitAbort


class OnCancelStep(_Strict):
    on_cancel: OnCancel


class NoteStep(_Strict):
    note: Note


class AbortStep(_Strict):
    abort: AbortFromInside


class ReturnStep(_Strict):
    return_: Return = Field(alias="return")


class RaiseStep(_Strict):
    raise_: Raise = Field(alias="raise")


BodyStep: TypeAlias = Annotated[
    Annotated[GateStep, Tag("gate")]
    | Annotated[AwaitAbortStep, Tag("await_abort")]
    | Annotated[OnCancelStep, Tag("on_cancel")]
    | Annotated[NoteStep, Tag("note")]
    | Annotated[AbortStep, Tag("abort")]
    | Annotated[ReturnStep, Tag("return")]
    | Annotated[RaiseStep, Tag("raise")],
    Discriminator(_single_key),
]


# -- tools, calls, batches ----------------------------------------------------------------------


class ClassifierValue(_Strict):
    """A classifier that answers this value; only `true` makes a call parallel."""

    value: Any


class ClassifierRaises(_Strict):
    """A classifier that raises."""

    raise_: Raise = Field(alias="raise")


class ArgumentEquals(_Strict):
    argument: str
    equals: Any


class ClassifierWhen(_Strict):
    """A classifier that answers `true` when an argument has this value."""

    when: ArgumentEquals


Classifier: TypeAlias = bool | ClassifierValue | ClassifierRaises | ClassifierWhen


class ScenarioOutput(_Strict):
    """The declared output of a tool."""

    schema_: Any = Field(alias="schema", default_factory=dict)


class ScenarioTool(_Strict):
    """A tool whose body is a script. Without `parallel` nothing is declared."""

    name: Name
    parameters: Any = Field(default_factory=lambda: {"type": "object"})
    output: ScenarioOutput = Field(default_factory=ScenarioOutput)
    parallel: Classifier | None = None
    interrupt: Literal["signal", "cancel"] = "signal"
    body: list[BodyStep] = Field(default_factory=list)


class ScenarioCall(_Strict):
    """One call of a batch; `arguments` is the raw text."""

    id: str
    name: str
    arguments: str = "{}"


class ScenarioBatch(_Strict):
    id: Name = "b1"
    calls: list[ScenarioCall]


class ScenarioLimits(_Strict):
    max_parallel: PositiveInt = 10


# -- the schedule -------------------------------------------------------------------------------


class Open(_Strict):
    """Hand the batch to the executor."""

    batch: Name = "b1"


class Release(_Strict):
    """Release a gate; one that nobody waits at is open from then on."""

    gate: Name


class AbortInput(_Strict):
    """Abort the caller's signal."""

    signal: Literal["caller"] = "caller"
    reason: str | None = None


class Cancel(_Strict):
    """Cancel the task that runs the batch, natively (profile NATIVE)."""


class OpenStep(_Strict):
    open: Open


class ReleaseStep(_Strict):
    release: Release


class AbortInputStep(_Strict):
    abort: AbortInput


class CancelStep(_Strict):
    cancel: Cancel


SingleStep: TypeAlias = Annotated[
    Annotated[OpenStep, Tag("open")]
    | Annotated[ReleaseStep, Tag("release")]
    | Annotated[AbortInputStep, Tag("abort")]
    | Annotated[CancelStep, Tag("cancel")],
    Discriminator(_single_key),
]


class TogetherStep(_Strict):
    """Several inputs at once, with no chance to run in between."""

    together: list[SingleStep]


ScheduleStep: TypeAlias = Annotated[
    Annotated[OpenStep, Tag("open")]
    | Annotated[ReleaseStep, Tag("release")]
    | Annotated[AbortInputStep, Tag("abort")]
    | Annotated[CancelStep, Tag("cancel")]
    | Annotated[TogetherStep, Tag("together")],
    Discriminator(_single_key),
]


def inputs_of(step: ScheduleStep) -> list[SingleStep]:
    """The inputs of a schedule step, in order."""
    return list(step.together) if isinstance(step, TogetherStep) else [step]


# -- what somebody else expects -----------------------------------------------------------------


class ReportedResult(_Strict):
    """What a field report says a result must be. `code` is `OK` for a success."""

    pos: int
    code: str
    value: Any = None


class FieldReport(_Strict):
    """A failure that people reported in public, and what its report says must come out instead.

    It is an assertion of its own, beside what the specification computes.
    """

    id: str
    symptom: str
    seen_in: str | None = None
    results: list[ReportedResult]
    bodies_started: list[int] | None = None
    bodies_never_started: list[int] | None = None


class Scenario(_Strict):
    """A scenario, version 1."""

    scenario: Literal["gnomon/1"]
    id: Name
    title: str
    clauses: list[str]
    profiles: list[str] = Field(default_factory=list)
    mode: Literal["batch"] = "batch"
    limits: ScenarioLimits = Field(default_factory=ScenarioLimits)
    tools: list[ScenarioTool]
    batches: list[ScenarioBatch]
    schedule: list[ScheduleStep]
    report: FieldReport | None = None

    @model_validator(mode="after")
    def _sane(self) -> Scenario:
        if len(self.batches) != 1:
            raise ValueError("this version runs scenarios of one batch")
        names = [one.name for one in self.tools]
        if len(set(names)) != len(names):
            raise ValueError("two tools have the same name")
        opened = False
        for step in self.schedule:
            kinds = [type(one) for one in inputs_of(step)]
            if CancelStep in kinds and not opened:
                raise ValueError("`cancel` needs a batch that was opened in an earlier step")
            if OpenStep in kinds:
                if opened or kinds.count(OpenStep) > 1:
                    raise ValueError("the batch is opened once")
                opened = True
        if not opened:
            raise ValueError("the schedule opens no batch")
        return self

    @property
    def batch(self) -> ScenarioBatch:
        """The batch of the scenario."""
        return self.batches[0]

    def tool(self, name: str) -> ScenarioTool | None:
        """The tool of that name, or nothing."""
        return next((one for one in self.tools if one.name == name), None)


def load(text: str | bytes, where: str) -> Scenario:
    """Read a scenario. Raises `ScenarioError`, naming `where` and every fault."""
    try:
        return Scenario.model_validate(json.loads(text))
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise ScenarioError(f"{where}: not a scenario: " + "; ".join(faults)) from None
    except ValueError as error:
        raise ScenarioError(f"{where}: not JSON: {error}") from None


def load_file(path: Path) -> Scenario:
    """Read a scenario file. Raises `ScenarioError`."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from None
    return load(text, str(path))


def shipped() -> Iterator[Scenario]:
    """The scenarios that come with the kit, in the order of their ids."""
    folder = Path(__file__).parent / "scenarios"
    for path in sorted(folder.rglob("*.json"), key=_natural):
        yield load_file(path)


def _natural(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in path.stem.split("-")]


def dump(scenario: Scenario) -> str:
    """The scenario as the text of a file: only what was said, defaults left out."""
    return json.dumps(scenario.model_dump(by_alias=True, exclude_unset=True), indent=1, ensure_ascii=False)
