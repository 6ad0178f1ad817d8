"""REG, MOD: the layers that tools stand in, and what changes them.

There is one global layer, and one of each *scope*; a scope is an agent, or a
preset that agents inherit from, and has at most one parent. A *contribution*
(a tool, a restriction, a mode, a guard) adds to a layer. Each has an id, which
takes back exactly that one, and taking it back twice does nothing more.

A registry is one frozen value; a change makes another, or is refused, with the
clause and the reason, and changes nothing. Who sees what of it is told by
`visibility`.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from gnomon_spec.kernel import NotEnabled, Refused, Step, clause
from gnomon_spec.schemas import Unsupported, compile_parameters, declared_faults
from gnomon_spec.values import snapshot

RUN_CODE = "run_code"
Scope: TypeAlias = str | None
"""What a scope is told apart by, here; None where there is none, which is the global layer.

In an implementation a scope is told apart by identity, and its name is a label that may repeat: two
scopes that are called alike are two of these keys. So no clause speaks of a name that is taken.
"""


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
    """Add a scope below a scope that exists, or below none.

    `name` is its key in this registry. One that is in use is a mistake of the caller, a `ValueError`,
    and no rule that an implementation keeps: it makes another scope, whatever that is called.
    """
    refused = _refuse_unknown(registry, parent)
    if refused is not None:
        raise NotEnabled(refused)
    if name in dict(registry.parents):
        raise ValueError(f"the key {name!r} stands for a scope already; give this one another")
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


def in_layer(registry: Registry, layer: Scope) -> list[Contribution]:
    """What one layer holds, in the order in which it was added."""
    return [one for one in registry.contributions if one.layer == layer]


def tools_in(registry: Registry, layer: Scope) -> list[tuple[str, Contribution]]:
    """The tools of one layer, each with its name, in the order of their registration."""
    return [(one.what.name, one) for one in in_layer(registry, layer) if isinstance(one.what, Definition)]


def inherited(registry: Registry, scope: Scope) -> dict[str, Contribution]:
    """What a scope inherits before any restriction, by name."""
    found: dict[str, Contribution] = {}
    for layer in layers(registry, scope)[:-1]:
        for name, one in tools_in(registry, layer):
            found[name] = one  # REG-7: the nearer hides the farther, and takes its place
    return found


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
    if definition.name in dict(tools_in(registry, scope)):
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
    if any(isinstance(one.what, Presentation) for one in in_layer(registry, scope)):
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
