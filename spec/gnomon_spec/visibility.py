"""REG, MOD: which tools there are, who sees them, and how they are shown to the model.

Tools stand in layers. There is one global layer, and one of each *scope*; a
scope is an agent, or a preset that agents inherit from, and has at most one
parent. Who asks, asks from a scope, and sees what is global, then what each
scope on the way down to it has added; of two tools with one name, the nearer
hides the farther. A scope may also *restrict* what it inherits. Restrictions
only take away: each one on the chain has its say, and none undoes another.

What is seen is shown to the model in one of three ways: as tools (`native`), as
one tool that runs programs, which call the others (`ptc`), or as both.

Nothing is remembered of an earlier look: each question is answered from the
registry as it is. A registry is one frozen value. A *contribution* (a tool, a
restriction, a mode, a guard) adds to it and has an id, which takes back
exactly that one.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.schemas import Unsupported, compile_parameters, declared_faults
from gnomon_spec.values import Json, NotAValue, snapshot
from gnomon_spec.vocabulary import Code, Outcome, PostResult

RUN_CODE = "run_code"
Scope: TypeAlias = str | None
"""The name of a scope; None where there is none, which is the global layer."""


class Presentation(StrEnum):
    """How the tools of a scope are shown to the model (MOD-1)."""

    NATIVE = "native"
    PTC = "ptc"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool, as far as the registry looks at it. `output` is None where none is declared.

    `authored` says that `parameters` are in the authoring form.
    """

    name: str
    description: str = ""
    parameters: object = field(default_factory=lambda: {"type": "object"})
    output: object = None
    render: bool = True
    timeout: object = None
    defer_loading: bool = False
    authored: bool = False
    parallel: bool = False
    handles_signal: bool = False


@dataclass(frozen=True, slots=True)
class Restriction:
    """What a scope lets through of what it inherits: only `allow`, where given, and never `deny`."""

    allow: frozenset[str] | None
    deny: frozenset[str] = frozenset()

    def lets_through(self, name: str) -> bool:
        """Whether a name passes."""
        return (self.allow is None or name in self.allow) and name not in self.deny


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """Something that was added to a layer, with the id that takes it back."""

    id: str
    layer: Scope
    what: Definition | Restriction | Presentation | Guard


@dataclass(frozen=True, slots=True)
class CodeRuntime:
    """What runs the programs of `run_code`; `renders` says that its language has an SDK renderer."""

    language: str
    renders: bool = True


@dataclass(frozen=True, slots=True)
class Registry:
    """All layers between two changes; contributions stand in the order in which they were made."""

    parents: tuple[tuple[str, Scope], ...] = ()
    contributions: tuple[Contribution, ...] = ()
    made: tuple[tuple[str, int], ...] = ()
    mode: Presentation = Presentation.NATIVE
    code: CodeRuntime | None = None


@dataclass(frozen=True, slots=True)
class Announced:
    """What the listeners for changes are told."""

    op: str
    scope: Scope
    contribution: str


Changed: TypeAlias = Step[Registry, Announced]


# -- layers ---------------------------------------------------------------------------------------


def open_scope(registry: Registry, name: str, parent: Scope = None) -> Registry:
    """Add a scope below a scope that exists, or below none. A name stands for one scope."""
    if _refuse_unknown(registry, parent) is not None or name in dict(registry.parents):
        raise NotEnabled(Refused("REG-2", "a scope has a name of its own, and a parent that exists"))
    return replace(registry, parents=(*registry.parents, (name, parent)))


@clause("REG-7")
def layers(registry: Registry, scope: Scope) -> tuple[Scope, ...]:
    """The layers that a scope looks at: the global one, then its chain, the farthest first.

    REG-7  For restrictions and guards every layer of these MUST have its say.
    """
    parents = dict(registry.parents)
    chain: list[Scope] = []
    while scope is not None:
        chain.append(scope)
        scope = parents[scope]
    return (None, *reversed(chain))  # REG-7


def _in(registry: Registry, layer: Scope) -> list[Contribution]:
    return [one for one in registry.contributions if one.layer == layer]


def _definitions(registry: Registry, layer: Scope) -> list[tuple[str, Contribution]]:
    """The tools of one layer, each with its name, in the order of their registration."""
    return [(one.what.name, one) for one in _in(registry, layer) if isinstance(one.what, Definition)]


# -- what is seen ---------------------------------------------------------------------------------


_PROGRAM: dict[str, Json] = {
    "type": "object",
    "properties": {"description": {"type": "string"}, "code": {"type": "string"}},  # MOD-4
    "required": ["description", "code"],
}


@clause("MOD-4", "MOD-5")
def run_code_definition() -> Contribution:
    """The tool that runs programs. Nobody registers it.

    MOD-4  It MUST take `description` and `code`, both required, in that order.
    MOD-5  It MUST be exclusive, and MUST handle its signal itself.
    """
    held = snapshot(_PROGRAM)  # MOD-4
    definition = Definition(RUN_CODE, "", held, {}, parallel=False, handles_signal=True)  # MOD-5
    return Contribution(RUN_CODE, None, definition)


def inherited(registry: Registry, scope: Scope) -> dict[str, Contribution]:
    """What a scope inherits before any restriction, by name."""
    found: dict[str, Contribution] = {}
    for layer in layers(registry, scope)[:-1]:
        for name, one in _definitions(registry, layer):
            found[name] = one  # REG-7: the nearer hides the farther, and takes its place
    return found


@clause("REG-2", "REG-4", "REG-5", "REG-7", "REG-11", "MOD-5")
def view(registry: Registry, scope: Scope) -> tuple[Contribution, ...]:
    """The tools that a scope sees now, in order.

    REG-2   A scope's tool MUST hide a global or inherited one of the same name.
    REG-4   The restrictions of every scope on the chain MUST intersect over
            what the scope inherits. Only its own layer MUST be exempt: what
            an ancestor registered for itself is hidden from a descendant by
            that ancestor's own restriction.
    REG-5   The view MUST be computed anew from the live layers.
    REG-7   The nearest MUST win.
    REG-11  First MUST stand what is inherited, the farthest layer first and by
            registration, a shadowing tool in the place of the one it hides;
            then the scope's own; `run_code` last.
    MOD-5   `run_code` MUST be visible only where the mode is not native.
    """
    chain = layers(registry, scope)  # REG-5
    found = inherited(registry, scope)  # REG-11
    for layer in chain:
        for one in _in(registry, layer):
            if isinstance(one.what, Restriction):
                found = {name: tool for name, tool in found.items() if one.what.lets_through(name)}  # REG-4
    for name, tool in _definitions(registry, chain[-1]):
        found[name] = tool  # REG-2, REG-4, REG-7: after the restrictions
    if mode_of(registry, scope) is not Presentation.NATIVE:
        found[RUN_CODE] = run_code_definition()  # MOD-5, REG-11
    return tuple(found.values())


@clause("REG-2", "REG-5")
def visible(registry: Registry, scope: Scope, name: str) -> Contribution | None:
    """The tool that a call of that name from a scope means now, or nothing.

    REG-2  A tool that was removed MUST be gone for every call that is not
           resolved yet.
    REG-5  Nothing MUST be captured when schemas are sent.
    """
    for one in view(registry, scope):  # REG-2, REG-5
        if isinstance(one.what, Definition) and one.what.name == name:
            return one
    return None


@clause("REG-4")
def shows_no_more(before: Registry, after: Registry, scope: Scope) -> bool:
    """Say whether a scope sees, after a change, nothing that it did not see before.

    REG-4  A restriction MUST only take away, for every scope: one more on the
           chain never shows a tool.
    """
    seen = {one.id for one in view(before, scope)}
    return all(one.id in seen for one in view(after, scope))  # REG-4


def guards_of(registry: Registry, scope: Scope) -> tuple[str, ...]:
    """The guards that a call from a scope is asked of, in order: each layer has its say (REG-7)."""
    return tuple(
        one.what.name
        for layer in layers(registry, scope)
        for one in _in(registry, layer)
        if isinstance(one.what, Guard)
    )


# -- how it is shown ------------------------------------------------------------------------------


@clause("REG-7", "MOD-6")
def mode_of(registry: Registry, scope: Scope) -> Presentation:
    """How the tools of a scope are shown now.

    REG-7  The nearest mode on the chain MUST win.
    MOD-6  Where none is declared, the configured one MUST hold; so taking a
           mode back restores what it hid.
    """
    for layer in reversed(layers(registry, scope)):
        for one in _in(registry, layer):
            if isinstance(one.what, Presentation):
                return one.what  # REG-7
    return registry.mode  # MOD-6


@clause("MOD-5")
def program_tools(registry: Registry, scope: Scope) -> tuple[Contribution, ...]:
    """The tools that a program of `run_code` is offered, and that the SDK describes.

    MOD-5  `run_code` MUST NOT be offered to its own programs.
    """
    return tuple(one for one in view(registry, scope) if one.id != RUN_CODE)  # MOD-5


@clause("REG-6", "MOD-1", "MOD-3")
def model_tools(registry: Registry, scope: Scope) -> tuple[dict[str, Json], ...] | Refused:
    """What the model is sent of the tools of a scope.

    REG-6  Of each tool the model MUST be sent `name`, `description`,
           `parameters` and, where it is set, `deferLoading`, as detached
           copies, and nothing else.
    MOD-1  `native` MUST show every visible tool; `ptc` MUST show `run_code`
           alone, which describes the others; `both` MUST show both.
    MOD-3  A code mode without a code runtime, or with one whose language has no
           SDK renderer, MUST fail here, and MUST NOT fall back.
    """
    mode = mode_of(registry, scope)
    if mode is not Presentation.NATIVE:
        if registry.code is None:
            return Refused("MOD-3", f"the mode {mode} needs a code runtime, and there is none")  # MOD-3
        if not registry.code.renders:
            return Refused("MOD-3", f"{registry.code.language} has no SDK renderer")  # MOD-3
    shown: list[dict[str, Json]] = []
    for one in view(registry, scope):
        if isinstance(one.what, Definition) and (mode is not Presentation.PTC or one.id == RUN_CODE):  # MOD-1
            shown.append(_sent(one.what))
    return tuple(shown)


def _sent(definition: Definition) -> dict[str, Json]:
    parameters = snapshot(definition.parameters)
    assert not isinstance(parameters, NotAValue), "it was captured as a value"
    sent: dict[str, Json] = {
        "name": definition.name,
        "description": definition.description,
        "parameters": parameters,  # REG-6: a detached copy
    }
    if definition.defer_loading:
        sent["deferLoading"] = True  # REG-6
    return sent


@clause("MOD-2")
def collapsed(registry: Registry, scope: Scope, name: str, nested: bool) -> bool:
    """Say whether a call goes past the way that is left open: through a program.

    `nested` says that the call carries a parent token.

    MOD-2  Under `ptc` a model-direct call of any other visible tool MUST be
           refused with UNKNOWN_TOOL before any policy sees it. A call with a
           parent token is not model-direct, and a name that the scope does
           not see is not a case of this clause.
    """
    if nested or name == RUN_CODE or mode_of(registry, scope) is not Presentation.PTC:
        return False  # MOD-2
    return visible(registry, scope, name) is not None  # MOD-2


@clause("MOD-3")
def without_a_code_runtime(registry: Registry) -> PostResult | None:
    """Say what running `run_code` ends with where nothing can run it, or nothing.

    MOD-3  It MUST be an error result of that call, CODE_RUN_FAILED.
    """
    return PostResult(Outcome(Code.CODE_RUN_FAILED)) if registry.code is None else None  # MOD-3


# -- what changes it ------------------------------------------------------------------------------


def _refuse_unknown(registry: Registry, scope: Scope) -> Refused | None:
    if scope is not None and scope not in dict(registry.parents):
        return Refused("REG-2", f"there is no scope {scope!r}")
    return None


def _add(
    registry: Registry, label: str, layer: Scope, what: Definition | Restriction | Presentation | Guard
) -> tuple[Registry, str]:
    """Add a contribution; its id is its label and how many had that label, itself included."""
    made = dict(registry.made)
    made[label] = made.get(label, 0) + 1
    one = Contribution(f"{label}@{made[label]}", layer, what)
    state = replace(registry, contributions=(*registry.contributions, one), made=tuple(made.items()))
    return state, one.id


@clause("REG-1", "REG-2", "REG-3", "SCH-2")
def refuse_register(registry: Registry, definition: Definition, scope: Scope = None) -> Refused | None:
    """Say why a tool cannot be registered in a layer, or nothing.

    REG-1  It MUST declare an output with a supported schema, and a `render`
           function; its timeout, if it has one, MUST be a positive finite
           number.
    REG-2  A name that stands in the layer already MUST be refused.
    REG-3  `run_code` MUST be refused, in every layer and every mode.
    SCH-2  Parameters in the authoring form MUST lie in the subset as well.
    """
    if definition.name == RUN_CODE:
        return Refused("REG-3", f"the name {RUN_CODE} is reserved")  # REG-3
    unknown = _refuse_unknown(registry, scope)
    if unknown is not None:
        return unknown
    if definition.name in dict(_definitions(registry, scope)):
        return Refused("REG-2", f"there is a tool {definition.name!r} in that layer already")  # REG-2
    if definition.output is None:
        return Refused("REG-1", "it declares no output")  # REG-1
    if declared_faults(definition.output):
        return Refused("REG-1", "the schema of its output is not supported")  # REG-1
    if not definition.render:
        return Refused("REG-1", "it has no `render` function")  # REG-1
    if definition.timeout is not None and not _is_positive(definition.timeout):
        return Refused("REG-1", "its timeout is no positive finite number")  # REG-1
    if definition.authored and isinstance(compile_parameters(definition.parameters), Unsupported):
        return Refused("SCH-2", "its parameters are not supported")  # SCH-2
    if not definition.authored and not isinstance(snapshot(definition.parameters), dict):
        return Refused("SCH-8", "its parameters are no JSON Schema")
    return None


def _is_positive(timeout: object) -> bool:
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        return False
    return math.isfinite(timeout) and timeout > 0


@clause("REG-8", "REG-9", "REG-10")
def register(registry: Registry, definition: Definition, scope: Scope = None) -> Changed:
    """Register a tool in a layer. What is refused changes nothing.

    REG-8   The registration MUST have an id of its own, which takes it back.
    REG-9   It MUST be announced.
    REG-10  Its schemas MUST be captured here: what changes later in the source
            MUST have no effect.
    """
    refused = refuse_register(registry, definition, scope)
    if refused is not None:
        raise NotEnabled(refused)
    given = definition.parameters
    parameters = compile_parameters(given) if definition.authored else snapshot(given)  # REG-10
    captured = replace(definition, parameters=parameters, output=snapshot(definition.output))  # REG-10
    state, identifier = _add(registry, definition.name, scope, captured)  # REG-8
    return Step(state, (Announced("registered", scope, identifier),))  # REG-9


@clause("REG-3", "REG-4")
def refuse_restrict(
    registry: Registry, scope: Scope, allow: Collection[str] | None, deny: Collection[str] | None
) -> Refused | None:
    """Say why a restriction is refused, or nothing.

    REG-4  A restriction MUST belong to a scope; it MUST have `allow` or
           `deny`, and `allow` MAY be empty; each name MUST be known as
           inherited, before any restriction, so a name only in the scope's
           own layer is unknown.
    REG-3  `run_code` MUST NOT be restricted.
    """
    if scope is None:
        return Refused("REG-4", "a restriction belongs to a scope")  # REG-4
    unknown = _refuse_unknown(registry, scope)
    if unknown is not None:
        return unknown
    if allow is None and deny is None:
        return Refused("REG-4", "it neither allows nor denies")  # REG-4
    known = inherited(registry, scope)
    for name in (*(allow or ()), *(deny or ())):
        if name == RUN_CODE:
            return Refused("REG-3", f"{RUN_CODE} cannot be restricted")  # REG-3
        if name not in known:
            return Refused("REG-4", f"the scope inherits no tool {name!r}")  # REG-4
    return None


@clause("REG-4", "REG-8", "REG-9")
def restrict(
    registry: Registry,
    scope: Scope,
    allow: Collection[str] | None = None,
    deny: Collection[str] | None = None,
) -> Changed:
    """Restrict what a scope inherits.

    REG-4  The names MUST be copied. With `deny` alone, later tools MUST pass;
           with `allow` they MUST NOT.
    """
    refused = refuse_restrict(registry, scope, allow, deny)
    if refused is not None:
        raise NotEnabled(refused)
    what = Restriction(None if allow is None else frozenset(allow), frozenset(deny or ()))  # REG-4
    state, identifier = _add(registry, f"restriction:{scope}", scope, what)  # REG-8
    return Step(state, (Announced("restricted", scope, identifier),))  # REG-9


@clause("MOD-6")
def refuse_set_mode(registry: Registry, scope: Scope) -> Refused | None:
    """Say why a scope cannot declare a mode, or nothing.

    MOD-6  A scope MAY declare a mode, once; the global one MUST be
           configuration.
    """
    if scope is None:
        return Refused("MOD-6", "the global mode is configuration")  # MOD-6
    if any(isinstance(one.what, Presentation) for one in _in(registry, scope)):
        return Refused("MOD-6", f"the scope {scope!r} has declared a mode already")  # MOD-6
    return _refuse_unknown(registry, scope)


@clause("MOD-6", "REG-8")
def set_mode(registry: Registry, scope: Scope, mode: Presentation) -> Changed:
    """Let a scope declare its mode.

    MOD-6  Taking it back MUST restore what it hid.
    """
    refused = refuse_set_mode(registry, scope)
    if refused is not None:
        raise NotEnabled(refused)
    return Step(_add(registry, f"mode:{scope}", scope, mode)[0])  # MOD-6, REG-8: nothing was replaced


@clause("REG-8", "REG-9")
def add_guard(registry: Registry, name: str, scope: Scope = None) -> Changed:
    """Add a guard to a layer.

    REG-9  A change of guards MUST NOT be announced.
    """
    unknown = _refuse_unknown(registry, scope)
    if unknown is not None:
        raise NotEnabled(unknown)
    return Step(_add(registry, f"guard:{name}", scope, Guard(name))[0])  # REG-8, REG-9: no event


@clause("REG-8")
def refuse_dispose(registry: Registry, identifier: str) -> Refused | None:
    """Say why nothing can be taken back by an id, or nothing: only an id that was given out takes back.

    REG-8  One whose contribution is gone already MAY be used again.
    """
    label, _, number = identifier.rpartition("@")
    if number.isdecimal() and 1 <= int(number) <= dict(registry.made).get(label, 0):
        return None  # REG-8
    return Refused("REG-8", f"no contribution ever had the id {identifier!r}")


@clause("REG-8", "REG-9")
def dispose(registry: Registry, identifier: str) -> Changed:
    """Take a contribution back: remove a tool, lift a restriction, undo a mode, drop a guard.

    REG-8  It MUST take back exactly that one; where that is gone already, it
           MUST have no effect.
    REG-9  The end of a tool and of a restriction MUST be announced.
    """
    refused = refuse_dispose(registry, identifier)
    if refused is not None:
        raise NotEnabled(refused)
    kept = tuple(one for one in registry.contributions if one.id != identifier)  # REG-8
    events: list[Announced] = []
    for one in registry.contributions:
        if one.id == identifier and isinstance(one.what, Definition | Restriction):
            op = "removed" if isinstance(one.what, Definition) else "unrestricted"
            events.append(Announced(op, one.layer, one.id))  # REG-9
    return Step(replace(registry, contributions=kept), tuple(events))


@clause("REG-9")
def after_announcement(changed: Changed, listener_raised: bool) -> Registry:
    """The registry once the listeners for changes have been told of a registration or a restriction.

    REG-9  Where one of them raises, the registration MUST be undone, and that
           exception MUST be raised. Its id is not given out again; whether
           the undoing is announced is left free.
    """
    if not listener_raised:
        return changed.state
    state = changed.state
    for announced in changed.events:
        state = dispose(state, announced.contribution).state  # REG-9
    return state
