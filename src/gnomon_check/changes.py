"""What a scenario can change while it runs: tools, restrictions, modes, guards, listeners, the policy.

Scripts and schedules ask for the same changes, by the same steps. A step names what it adds by the id of a
definition of the scenario (one that says `later` is not there from the start), so that a change is plain
data, and means the same each time that it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, Tag, ValidationError

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.:$-]+$", max_length=80)]
"""Names of gates, tools and the like; `$call` in the name of a gate becomes the position of the call."""

Numbered: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.:$-]+@[0-9]+$", max_length=90)]
"""The n-th of that name, from 1: `read@2` is the second registration of a tool `read`."""


class Strict(BaseModel):
    """A model that takes no field it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def faults(error: ValidationError) -> str:
    """Everything that a model does not take, each with its place."""
    told = []
    for one in error.errors():
        place = ".".join(str(part) for part in one["loc"])
        told.append(f"{place}: {one['msg']}" if place else one["msg"])
    return "; ".join(told)


def single_key(value: Any) -> str:
    """The tag of a step: the one key of its object."""
    if isinstance(value, dict):
        return next(iter(value), "") if len(value) == 1 else "a step has exactly one key"
    if isinstance(value, BaseModel):
        field = next(iter(type(value).model_fields.items()))
        return field[1].alias or field[0]
    return "a step is an object"


class Register(Strict):
    """Register a tool, by the id of its definition, in the layer that the definition names."""

    tool: Name


class Remove(Strict):
    """Take a registration back, by its number; one that is gone already stays gone."""

    registration: Numbered


class Restrict(Strict):
    """Restrict what a scope inherits; none at all is refused, and so is one of no scope."""

    scope: Name | None = None
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None


class Lift(Strict):
    """Lift a restriction: `agent@1` is the first of the scope `agent`."""

    restriction: Numbered


class SetMode(Strict):
    """Let a scope declare how its tools are shown; null takes that back."""

    scope: Name
    mode: Literal["native", "ptc", "both"] | None


class SetPolicy(Strict):
    """Log the approval policy of the session; an unknown one is refused."""

    policy: str


class AddGuard(Strict):
    """Add a guard, by the id of its definition; one that stands already is refused."""

    guard: Name


class DropGuard(Strict):
    """Take a guard away; one that does not stand is refused."""

    guard: Name


class AddHook(Strict):
    """Add a listener, by the id of its definition; one that stands already is refused."""

    hook: Name


class DropHook(Strict):
    """Take a listener away; one that does not stand is refused. It may drop itself."""

    hook: Name


Change: TypeAlias = (
    Register | Remove | Restrict | Lift | SetMode | SetPolicy | AddGuard | DropGuard | AddHook | DropHook
)


class RegisterStep(Strict):
    register_: Register = Field(alias="register")


class RemoveStep(Strict):
    remove: Remove


class RestrictStep(Strict):
    restrict: Restrict


class LiftStep(Strict):
    lift: Lift


class SetModeStep(Strict):
    set_mode: SetMode


class SetPolicyStep(Strict):
    set_policy: SetPolicy


class AddGuardStep(Strict):
    add_guard: AddGuard


class DropGuardStep(Strict):
    drop_guard: DropGuard


class AddHookStep(Strict):
    add_hook: AddHook


class DropHookStep(Strict):
    drop_hook: DropHook


ChangeStep: TypeAlias = (
    RegisterStep
    | RemoveStep
    | RestrictStep
    | LiftStep
    | SetModeStep
    | SetPolicyStep
    | AddGuardStep
    | DropGuardStep
    | AddHookStep
    | DropHookStep
)
"""A step that changes something."""

_STEPS: tuple[type[BaseModel], ...] = get_args(ChangeStep)
_HOLD_NOTHING = frozenset([str, int, float, bool, dict, type(None)])

TaggedChangeStep: TypeAlias = (
    Annotated[RegisterStep, Tag("register")]
    | Annotated[RemoveStep, Tag("remove")]
    | Annotated[RestrictStep, Tag("restrict")]
    | Annotated[LiftStep, Tag("lift")]
    | Annotated[SetModeStep, Tag("set_mode")]
    | Annotated[SetPolicyStep, Tag("set_policy")]
    | Annotated[AddGuardStep, Tag("add_guard")]
    | Annotated[DropGuardStep, Tag("drop_guard")]
    | Annotated[AddHookStep, Tag("add_hook")]
    | Annotated[DropHookStep, Tag("drop_hook")]
)
"""The same, as a member of the unions of steps."""

OPERATIONS = {
    Register: "registered",
    Remove: "removed",
    Restrict: "restricted",
    Lift: "unrestricted",
    SetMode: "mode",
    SetPolicy: "policy",
    AddGuard: "guarded",
    DropGuard: "unguarded",
    AddHook: "hooked",
    DropHook: "unhooked",
}
"""The word for each change in the event vocabulary."""


def change_of(step: ChangeStep) -> Change:
    """The change that a step asks for."""
    change: Change = getattr(step, next(iter(type(step).model_fields)))
    return change


def subject_of(change: Change) -> str:
    """What a change is about: the id of a definition, a number, a scope."""
    match change:
        case Register(tool=name) | AddGuard(guard=name) | DropGuard(guard=name):
            return name
        case AddHook(hook=name) | DropHook(hook=name):
            return name
        case Remove(registration=number):
            return number
        case Lift(restriction=number):
            return number
        case Restrict(scope=scope):
            return scope or ""
        case SetMode(scope=scope):
            return scope
        case SetPolicy(policy=policy):
            return policy


def asks_for_change(model: object) -> bool:
    """Whether a model, or one in its fields, wherever, is a step that changes something."""
    return holds(model, _STEPS)


def holds(model: object, kinds: Collection[type]) -> bool:
    """Whether a model, or one in its fields, wherever, is of one of these kinds."""
    left = [model]
    while left:
        one = left.pop()
        kind = type(one)
        if kind in kinds:
            return True
        if kind is list or kind is tuple:
            left.extend(cast("list[object]", one))
        elif kind not in _HOLD_NOTHING and isinstance(one, BaseModel):
            left.extend(one.__dict__.values())
    return False


CHANGES = tuple(
    next(iter(kind.model_fields.values())).alias or next(iter(kind.model_fields)) for kind in _STEPS
)
"""The names of the steps that change something."""
