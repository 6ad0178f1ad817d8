"""The layers that tools, restrictions, guards and hooks stand in, and who sees what of them (REG, MOD).

There is one global layer, and one of each scope; a layer looks at itself, then at its parents, the
global one last. Every question is answered from the layers as they are now; nothing is remembered.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from gnomon.errors import ConfigError, RegistrationError, RestrictionError, warn
from gnomon.functions import is_async, refuse_generators
from gnomon.schemas import Schema
from gnomon.signals import Registration
from gnomon.tools import Output, Tool
from gnomon.values import JSON, thaw

RESERVED = "run_code"

Mode: TypeAlias = Literal["native", "ptc", "both"]
"""How tools are shown to the model: as tools, as one tool that runs programs, or as both (MOD-1)."""
HookName: TypeAlias = Literal[
    "pre_execute", "execute", "post_execute", "result", "approval", "nested_log", "change"
]
HOOKS: frozenset[str] = frozenset(get_args(HookName))


@dataclass(frozen=True, slots=True)
class RegisteredTool:
    """A tool as it was when it was registered, with its schemas compiled (REG-10)."""

    tool: Tool
    parameters: Schema
    output: Schema
    threaded: bool
    """Its body is a plain function, which runs in a worker thread (PY-5)."""
    number: int = 1
    """Of the registrations of this name, which it is."""

    @property
    def id(self) -> str:
        """Its name in a trace."""
        return f"{self.tool.name}@{self.number}"


@dataclass(frozen=True, slots=True)
class Change:
    """What listeners for changes are told: tools and restrictions come and go (REG-9).

    `scope` is the name of the scope whose layer changed, None for the global one; `tool` is the name of
    the tool, None for a restriction.
    """

    what: Literal["registered", "removed", "restricted", "unrestricted"]
    scope: str | None
    tool: str | None


@dataclass(frozen=True, slots=True)
class Restriction:
    """What a scope lets through of what it inherits (REG-4)."""

    allow: frozenset[str] | None
    deny: frozenset[str]

    def lets_through(self, name: str) -> bool:
        return (self.allow is None or name in self.allow) and name not in self.deny


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A guard or a hook in its place: `order` says when it was added, negative for a prepended one."""

    order: int
    function: Callable[..., Any]
    layer: str | None
    """The name of the scope that it was added to, None for the global layer."""

    @property
    def id(self) -> str:
        """Its name in a trace: that of the function, and when it was added."""
        try:
            name = self.function.__name__
        except Exception:  # what is called may be an object that answers nothing else
            name = None
        return f"{name if type(name) is str else type(self.function).__name__}@{abs(self.order)}"


@dataclass(slots=True, eq=False)
class Layer:
    """What one scope has added, or what is global."""

    name: str | None = None
    parent: Layer | None = None
    tools: dict[str, RegisteredTool] = field(default_factory=dict)
    restrictions: list[Restriction] = field(default_factory=list)
    guards: list[Entry] = field(default_factory=list)
    hooks: dict[str, list[Entry]] = field(default_factory=dict)
    mode: Mode | None = None
    chain: tuple[Layer, ...] = field(init=False)
    """This layer and its parents, the nearest first, the global one last."""

    def __post_init__(self) -> None:
        self.chain = (self, *(() if self.parent is None else self.parent.chain))


class Registry:
    """Changes layers, and answers what is seen from one."""

    __slots__ = ("_numbers", "_orders", "everywhere", "mode", "run_code")

    def __init__(self, mode: Mode, run_code: RegisteredTool) -> None:
        """Make a registry. `mode` holds where no scope declares one; raises `ConfigError` if it is none."""
        self.mode = _known_mode(mode)
        self.everywhere = Layer()
        self.run_code = run_code
        self._orders = itertools.count(1)
        self._numbers: Counter[str] = Counter()

    # -- what is seen ---------------------------------------------------------------------------

    def visible(self, name: str, layer: Layer) -> RegisteredTool | None:
        """The definition that a call of `name` from a layer would run now (DSP-4, REG-5)."""
        if name == RESERVED:
            return None if self.mode_of(layer) == "native" else self.run_code  # MOD-5
        own = layer.tools.get(name)
        if own is not None:
            return own
        for one in layer.chain:
            if not all(restriction.lets_through(name) for restriction in one.restrictions):
                return None  # REG-4
        return next((one.tools[name] for one in layer.chain if name in one.tools), None)  # REG-7

    def view(self, layer: Layer) -> list[RegisteredTool]:
        """Everything that a layer sees now, in order (REG-11)."""
        found: dict[str, RegisteredTool] = {}
        for one in reversed(layer.chain[1:]):
            found.update(one.tools)  # a shadowing tool takes the place of the shadowed
        for one in layer.chain:
            for restriction in one.restrictions:
                found = {name: tool for name, tool in found.items() if restriction.lets_through(name)}
        found.update(layer.tools)
        if self.mode_of(layer) != "native":
            found[RESERVED] = self.run_code
        return list(found.values())

    def mode_of(self, layer: Layer) -> Mode:
        """How the tools of a layer are shown: the nearest mode wins (REG-7, MOD-6)."""
        for one in layer.chain:
            if one.mode is not None:
                return one.mode
        return self.mode

    def collapsed(self, name: str, layer: Layer, nested: bool) -> bool:
        """Whether a call goes past the one way that the mode leaves open: through a program (MOD-2)."""
        if nested or name == RESERVED or self.mode_of(layer) != "ptc":
            return False
        return self.visible(name, layer) is not None

    def schemas(self, layer: Layer) -> list[dict[str, JSON]]:
        """What the model is sent, as detached copies (REG-6).

        Raises `ConfigError` where the mode needs a code runtime: there is none yet (MOD-3).
        """
        mode = self.mode_of(layer)
        if mode != "native":
            raise ConfigError(f"the mode {mode!r} needs a code runtime, and there is none (MOD-3)")
        return [_sent(one.tool) for one in self.view(layer)]

    def hooks(self, event: HookName, layer: Layer) -> list[Entry]:
        """The listeners of an event for a call from a layer, outermost first; the set is fixed (PRE-1)."""
        found: list[Entry] = []
        for one in layer.chain:
            if event in one.hooks:
                found += one.hooks[event]
        if len(found) > 1:
            found.sort(key=lambda entry: entry.order)
        return found

    def guards(self, layer: Layer) -> Iterator[Entry]:
        """The guards of a call from a layer, farthest layer first, each in order of registration (GRD-1).

        What a guard adds to a layer still to be finished takes part (GRD-6); what one removes hides none
        of the others.
        """
        for one in reversed(layer.chain):
            last = 0
            while True:
                following = next((entry for entry in one.guards if entry.order > last), None)
                if following is None:
                    break
                last = following.order
                yield following

    # -- what changes it ------------------------------------------------------------------------

    def register(self, tool: Tool, layer: Layer) -> Registration:
        """Add a tool to a layer.

        Raises `RegistrationError`, and changes nothing, where the name is taken or reserved (REG-2,
        REG-3) or the definition is not usable (REG-1, SCH-2, PY-9).
        """
        registered = captured(tool)
        name = registered.tool.name
        if name == RESERVED:
            raise RegistrationError(f"the name {RESERVED!r} is reserved, whatever the mode (REG-3)")
        if name in layer.tools:
            raise RegistrationError(f"there is a tool named {name!r} in that layer already (REG-2)")
        self._numbers[name] += 1
        registered = layer.tools[name] = replace(registered, number=self._numbers[name])

        def remove(announce: bool = True) -> None:
            if layer.tools.get(name) is registered:
                del layer.tools[name]
                if announce:
                    self._announce_contained(Change("removed", layer.name, name), layer)

        self._announce(Change("registered", layer.name, name), layer, undo=lambda: remove(False))
        return Registration(remove)

    def restrict(
        self, layer: Layer, allow: Collection[str] | None, deny: Collection[str] | None
    ) -> Registration:
        """Restrict what a layer inherits. Raises `RestrictionError`, and changes nothing (REG-3, REG-4)."""
        if layer.parent is None:
            raise RestrictionError("a restriction belongs to a scope (REG-4)")
        if allow is None and deny is None:
            raise RestrictionError("a restriction needs `allow` or `deny` (REG-4)")
        if isinstance(allow, str) or isinstance(deny, str):
            raise RestrictionError("`allow` and `deny` are collections of names, not one name (REG-4)")
        restriction = Restriction(None if allow is None else frozenset(allow), frozenset(deny or ()))
        for name in sorted((restriction.allow or frozenset()) | restriction.deny, key=str):
            if name == RESERVED:
                raise RestrictionError(f"{RESERVED!r} cannot be restricted (REG-3)")
            if not any(name in one.tools for one in layer.chain[1:]):
                raise RestrictionError(f"the scope inherits no tool named {name!r} (REG-4)")
        layer.restrictions.append(restriction)

        def lift(announce: bool = True) -> None:
            # By identity: an equal restriction is another one.
            layer.restrictions[:] = [one for one in layer.restrictions if one is not restriction]
            if announce:
                self._announce_contained(Change("unrestricted", layer.name, None), layer)

        self._announce(Change("restricted", layer.name, None), layer, undo=lambda: lift(False))
        return Registration(lift)

    def guard(self, guard: Callable[..., Any], layer: Layer) -> Registration:
        """Add a guard to a layer; that is not announced (REG-9)."""
        return _added(layer.guards, self._entry(guard, "a guard", layer))

    def on(
        self, event: str, hook: Callable[..., Any], layer: Layer, *, prepend: bool = False
    ) -> Registration:
        """Add a listener; a prepended one goes outermost (PRE-1). Raises `RegistrationError`."""
        if event not in HOOKS:
            raise RegistrationError(f"there is no event {event!r}; there are {', '.join(sorted(HOOKS))}")
        return _added(layer.hooks.setdefault(event, []), self._entry(hook, "a listener", layer, prepend))

    def set_mode(self, layer: Layer, mode: Mode) -> Registration:
        """Declare the mode of a scope, once; taking it back restores what it hid (MOD-6)."""
        if layer.mode is not None:
            raise RegistrationError(f"the scope {layer.name!r} has declared a mode already (MOD-6)")
        layer.mode = _known_mode(mode)

        def undo() -> None:
            layer.mode = None

        return Registration(undo)

    def _entry(self, function: Callable[..., Any], what: str, layer: Layer, prepend: bool = False) -> Entry:
        if not callable(function):
            raise RegistrationError(f"{what} is a function, not an object of type {type(function).__name__}")
        order = next(self._orders)
        return Entry(-order if prepend else order, function, layer.name)

    def _announce(self, change: Change, layer: Layer, undo: Callable[[], None]) -> None:
        try:
            for listener in self.hooks("change", layer):
                _refuse_awaitable(listener.function(change))
        except BaseException:
            undo()  # REG-9
            raise

    def _announce_contained(self, change: Change, layer: Layer) -> None:
        for listener in self.hooks("change", layer):
            try:
                _refuse_awaitable(listener.function(change))
            except Exception as error:
                warn(f"a listener for changes raised {type(error).__name__}: {error}")


def _added(entries: list[Entry], entry: Entry) -> Registration:
    entries.append(entry)

    def remove() -> None:
        if entry in entries:
            entries.remove(entry)

    return Registration(remove)


def _refuse_awaitable(answer: object) -> None:
    if inspect.iscoroutine(answer):
        answer.close()
        raise TypeError("a listener for changes is a plain function (PY-8)")


def _known_mode(mode: Mode) -> Mode:
    if mode not in get_args(Mode):
        raise ConfigError(f"there is no mode {mode!r}; there are {', '.join(get_args(Mode))}")
    return mode


def _sent(tool: Tool) -> dict[str, JSON]:
    sent = {"name": tool.name, "description": tool.description, "parameters": thaw(tool.parameters)}
    return {**sent, "deferLoading": True} if tool.defer_loading is True else sent


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def captured(tool: Tool) -> RegisteredTool:
    """A tool as it is now: what changes in its definition later has no effect (REG-1, REG-10)."""
    if not isinstance(tool, Tool):
        raise RegistrationError(f"a tool is a Tool, not an object of type {type(tool).__name__}")
    name, output = tool.name, tool.output
    if not _is_text(name):
        raise RegistrationError("a tool needs a name")
    if type(output) is not Output or not callable(output.render):
        raise RegistrationError(f"tool {name!r} declares no output with a `render` function (REG-1)")
    refuse_generators(tool.run)
    timeout = tool.timeout
    if timeout is not None and (
        type(timeout) not in (int, float) or not (math.isfinite(timeout) and timeout > 0)
    ):
        raise RegistrationError(
            f"the timeout of tool {name!r} is a positive finite number of seconds, not {timeout!r} (REG-1)"
        )
    if tool.interrupt not in ("cancel", "signal"):
        raise RegistrationError(f"`interrupt` of tool {name!r} is 'cancel' or 'signal'")
    parameters = Schema(tool.parameters, f"the parameters of tool {name!r}", subset=tool.authored)
    schema = Schema(output.schema, f"the output schema of tool {name!r}", subset=True)
    kept = replace(tool, parameters=parameters.source, output=replace(output, schema=schema.source))
    return RegisteredTool(kept, parameters, schema, not is_async(kept.run))
