"""What stands in the layers of a scenario at a moment: its tools, restrictions, modes, guards, listeners.

Tools, restrictions and modes stand in the specification's own registry. Guards and listeners stand beside
it, in the order in which they were added. One `Layers` is one moment: a change makes another, or is refused
and changes nothing. Two that were changed in the same way are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from gnomon_check.changes import (
    AddGuard,
    AddHook,
    Change,
    DropGuard,
    DropHook,
    Lift,
    Register,
    Remove,
    Restrict,
    SetMode,
    SetPolicy,
)
from gnomon_check.scenario import Scenario, ScenarioError, ScenarioGuard, ScenarioHook, ScenarioTool
from gnomon_spec import registry as chapter
from gnomon_spec import visibility
from gnomon_spec.kernel import NotEnabled
from gnomon_spec.registry import Definition, Presentation, Registry
from gnomon_spec.vocabulary import Setup

T = TypeVar("T")

TIMEOUT = ""
"""The id of the runtime's own wrapper, in a row of wrappers: no listener of a scenario has it."""

POLICIES = ("ask", "never")


@dataclass(frozen=True, slots=True)
class Standing:
    """A guard or a listener that stands in a layer; `order` says when it was added."""

    order: int
    id: str
    scope: str | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a change is refused."""

    reason: str
    by_rule: bool = True
    """By the specification, so that an implementation is asked too; else the harness refuses it itself.

    Definitions have their ids only in the scenario: of one that there is not, no implementation could know.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """What stands in the layers at a moment."""

    scenario: Scenario
    registry: Registry
    tools: tuple[tuple[str, str], ...] = ()
    """The number of each registration, and the definition that it is of."""
    guards: tuple[Standing, ...] = ()
    hooks: tuple[Standing, ...] = ()
    policy: str | None = None
    """The policy that the session logged last."""
    added: int = 0
    history: tuple[Change, ...] = ()
    looked_up: dict[tuple[object, ...], Any] = field(default_factory=dict, init=False, repr=False)
    """What was looked up in them: they never change, so nothing is looked up twice."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layers) and self.scenario is other.scenario and self.history == other.history

    def __hash__(self) -> int:
        return id(self.scenario) + len(self.history)  # what it holds is costly to hash

    # -- changing ---------------------------------------------------------------------------------

    def changed(self, change: Change) -> tuple[Layers, Refusal | None]:
        """The layers after a change; or the same ones, and why it is refused."""
        return self._once(_changed, change)

    # -- looking ----------------------------------------------------------------------------------

    def visible(self, name: str) -> tuple[str, ScenarioTool] | None:
        """The registration that a call of that name means now, and its definition (REG-2, REG-5)."""
        return self._once(_visible, name)

    def definition(self, registration: str) -> ScenarioTool:
        """The definition that a registration is of."""
        return self._once(_defined, registration)

    def collapsed(self, name: str) -> bool:
        """Whether a call of that name goes past the way that is left open (MOD-2)."""
        return self._once(_collapsed, name)

    def callable(self, name: str, *, nested: bool = False) -> ScenarioTool | None:
        """The definition that a call of that name would run now, or nothing (DSP-4)."""
        found = self.visible(name)
        return None if found is None or (not nested and self.collapsed(name)) else found[1]

    def hear_of(self, change: Change) -> tuple[str, ...]:
        """Who is told of a change: of tools that come, and of restrictions (REG-9)."""
        tool = self.scenario.tool(change.tool) if isinstance(change, Register) else None
        if tool is None and not isinstance(change, Restrict):
            return ()
        name = "" if tool is None else tool.name
        return self.row("change", name, 0)

    def row(self, waterfall: str, name: str, pos: int) -> tuple[str, ...]:
        """The listeners of a waterfall for the call at a position, outermost first (PRE-1)."""
        return self._once(_row, waterfall, name, pos)

    def timeout(self, name: str) -> int | None:
        """The timeout of what a call of that name means now, in milliseconds."""
        found = self.visible(name)
        return None if found is None else found[1].timeout_ms

    def guards_for(self, name: str, pos: int) -> tuple[tuple[int, int, str], ...]:
        """The guards of the call at a position, as they stand: layer, order, id, in that order (GRD-1)."""
        return self._once(_guards_for, name, pos)

    def setup(self, name: str, pos: int, arguments: bool, nested: bool, in_session: bool) -> Setup:
        """What surrounds a call now.

        `arguments` says whether they are a value, `nested` whether it carries the token of another call. One
        that is made outside of the session knows nothing of the policy that is logged there (APP-9).
        """
        return self._once(_setup, name, pos, arguments, nested, in_session)

    def answerers(self) -> tuple[str, ...]:
        """Who answers approvals, outermost first (APP-8)."""
        approval = self.scenario.approval
        if approval is None:
            return ()
        chain = chapter.layers(self.registry, self.scenario.caller)
        found = [
            (-order if one.prepend else order, one.id)
            for order, one in enumerate(approval.answerers, 1)
            if one.scope in chain
        ]
        return tuple(identifier for _, identifier in sorted(found))

    def _once(self, look: Callable[..., T], *what: object) -> T:
        key = (look, *what)
        found: T
        if key in self.looked_up:
            found = self.looked_up[key]
        else:
            found = self.looked_up[key] = look(self, *what)
        return found


def _defined(layers: Layers, registration: str) -> ScenarioTool:
    tool = layers.scenario.tool(dict(layers.tools)[registration])
    assert tool is not None, "only definitions of the scenario are registered"
    return tool


def _visible(layers: Layers, name: str) -> tuple[str, ScenarioTool] | None:
    found = visibility.visible(layers.registry, layers.scenario.caller, name)
    return None if found is None else (found.id, layers.definition(found.id))


def _collapsed(layers: Layers, name: str) -> bool:
    return visibility.collapsed(layers.registry, layers.scenario.caller, name, nested=False)


def _row(layers: Layers, waterfall: str, name: str, pos: int) -> tuple[str, ...]:
    chain = chapter.layers(layers.registry, layers.scenario.caller)
    found = []
    for one in layers.hooks:
        hook = layers.scenario.hook(one.id)
        assert hook is not None
        if hook.on == waterfall and one.scope in chain and hook.match.fits(name, pos):
            found.append((-one.order if hook.prepend else one.order, one.id))
    if waterfall == "execute" and layers.timeout(name) is not None:
        found.append((0, TIMEOUT))  # TMO-1: the first that was registered
    return tuple(identifier for _, identifier in sorted(found))


def _guards_for(layers: Layers, name: str, pos: int) -> tuple[tuple[int, int, str], ...]:
    chain = chapter.layers(layers.registry, layers.scenario.caller)
    found = []
    for one in layers.guards:
        guard = layers.scenario.guard(one.id)
        assert guard is not None
        if one.scope in chain and guard.match.fits(name, pos):
            found.append((chain.index(one.scope), one.order, one.id))
    return tuple(sorted(found))


def _setup(layers: Layers, name: str, pos: int, arguments: bool, nested: bool, in_session: bool) -> Setup:
    visible = layers.visible(name)
    tool = None if visible is None else visible[1]
    wrappers = layers.row("execute", name, pos)
    approval = layers.scenario.approval
    logged = layers.policy if in_session else None
    policy = None if approval is None else logged or approval.policy
    return Setup(
        visible=tool is not None,
        collapsed=not nested and layers.collapsed(name),
        nested=nested,
        arguments=arguments,
        finalizer=tool is not None and tool.finalize is not None,
        projector=tool is not None and tool.project is not None,
        pre=len(layers.row("pre_execute", name, pos)),
        guards=len(layers.guards_for(name, pos)),
        wrappers=len(wrappers),
        post=len(layers.row("post_execute", name, pos)),
        service=approval is not None,
        scope=layers.scenario.caller is not None,
        never=policy == "never",
        timeout=wrappers.index(TIMEOUT) if TIMEOUT in wrappers else None,
    )


def _changed(layers: Layers, change: Change) -> tuple[Layers, Refusal | None]:
    made = _tried(layers, change)
    if isinstance(made, Refusal):
        return layers, made
    return replace(made, history=(*layers.history, change)), None


def _tried(layers: Layers, change: Change) -> Layers | Refusal:
    try:
        return _carried_out(layers, change)
    except NotEnabled as error:
        return Refusal(error.refused.reason)
    except _Refused as error:
        return error.refusal


class _Refused(Exception):
    """A change is refused; by default for a reason that is no clause."""

    def __init__(self, reason: str, by_rule: bool = False) -> None:
        super().__init__(reason)
        self.refusal = Refusal(reason, by_rule)


def _carried_out(layers: Layers, change: Change) -> Layers:
    registry = layers.registry
    match change:
        case Register(tool=key):
            tool = layers.scenario.tool(key)
            if tool is None:
                raise _Refused(f"there is no definition {key!r}")
            state = chapter.register(registry, _definition(tool), tool.scope).state
            number = state.contributions[-1].id
            return replace(layers, registry=state, tools=(*layers.tools, (number, key)))
        case Remove(registration=number):
            return replace(layers, registry=chapter.dispose(registry, number).state)
        case Restrict(scope=scope, allow=allow, deny=deny):
            return replace(layers, registry=chapter.restrict(registry, scope, allow, deny).state)
        case Lift(restriction=number):
            return replace(layers, registry=chapter.dispose(registry, f"restriction:{number}").state)
        case SetMode(scope=scope, mode=None):
            stands = [one for one in chapter.in_layer(registry, scope) if isinstance(one.what, Presentation)]
            if not stands:
                raise _Refused(f"the scope {scope!r} declares no mode")
            return replace(layers, registry=chapter.dispose(registry, stands[0].id).state)
        case SetMode(scope=scope, mode=mode):
            assert mode is not None
            return replace(layers, registry=chapter.set_mode(registry, scope, Presentation(mode)).state)
        case SetPolicy(policy=policy):
            if layers.scenario.mode == "single":
                raise _Refused("a call outside of any session has nowhere to log it")
            if policy not in POLICIES:
                raise _Refused(f"there is no policy {policy!r}", by_rule=True)  # APP-9
            return replace(layers, policy=policy)
        case AddGuard(guard=key):
            guards = _with(layers, layers.guards, key, layers.scenario.guard(key))
            return replace(layers, guards=guards, added=layers.added + 1)
        case AddHook(hook=key):
            hooks = _with(layers, layers.hooks, key, layers.scenario.hook(key))
            return replace(layers, hooks=hooks, added=layers.added + 1)
        case DropGuard(guard=key):
            return replace(layers, guards=_without(layers.guards, key))
        case DropHook(hook=key):
            return replace(layers, hooks=_without(layers.hooks, key))


def _with(
    layers: Layers, stand: tuple[Standing, ...], key: str, definition: ScenarioGuard | ScenarioHook | None
) -> tuple[Standing, ...]:
    if definition is None or any(one.id == key for one in stand):
        raise _Refused(f"there is no definition {key!r} to add, or it stands")
    return (*stand, Standing(layers.added + 1, key, definition.scope))


def _without(stand: tuple[Standing, ...], key: str) -> tuple[Standing, ...]:
    if all(one.id != key for one in stand):
        raise _Refused(f"{key!r} does not stand")
    return tuple(one for one in stand if one.id != key)


def _definition(tool: ScenarioTool) -> Definition:
    return Definition(
        tool.name,
        parameters=tool.parameters,
        output=tool.output.schema_,
        timeout=None if tool.timeout_ms is None else tool.timeout_ms / 1000,
    )


def first_changes(scenario: Scenario) -> list[Change]:
    """What makes the layers of a scenario as they are at its start, one after the other."""
    changes: list[Change] = [Register(tool=one.key) for one in scenario.tools if not one.later]
    changes += [AddHook(hook=one.id) for one in scenario.hooks if not one.later and one.on != "change"]
    changes += [AddGuard(guard=one.id) for one in scenario.guards if not one.later]
    changes += [Restrict(scope=one.scope, allow=one.allow, deny=one.deny) for one in scenario.restrictions]
    changes += [SetMode(scope=one.name, mode=one.mode) for one in scenario.all_scopes if one.mode is not None]
    # Who hears of changes hears of none of these.
    changes += [AddHook(hook=one.id) for one in scenario.hooks if not one.later and one.on == "change"]
    return changes


def layers_of(scenario: Scenario) -> Layers:
    """The layers of a scenario at its start. Raises `ScenarioError` where it asks for what is refused."""
    layers: Layers | None = scenario.worked_out.get("layers")
    if layers is None:
        layers = scenario.worked_out["layers"] = _first_layers(scenario)
    return layers


def _first_layers(scenario: Scenario) -> Layers:
    registry = Registry(mode=Presentation(scenario.presentation))
    for scope in scenario.all_scopes:
        registry = chapter.open_scope(registry, scope.name, scope.parent)
    layers = Layers(scenario, registry)
    for change in first_changes(scenario):
        made = _tried(layers, change)
        if isinstance(made, Refusal):
            raise ScenarioError(f"{scenario.id}: {type(change).__name__} {change}: refused, as {made.reason}")
        layers = made
    return layers
