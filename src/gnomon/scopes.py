"""Scopes: an agent, or a preset that agents inherit from, and what each adds to or takes from its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Literal, TypeAlias, overload

from gnomon.content import Card, Content
from gnomon.decisions import PostDecision, PreDecision
from gnomon.execution import DispatchExecution, Execution
from gnomon.presentation import present_call, present_result
from gnomon.registry import Change, HookName, Layer, Mode, Registry
from gnomon.results import Result
from gnomon.signals import Registration
from gnomon.tools import Tool
from gnomon.values import JSON
from gnomon.waterfall import Next

PreHook: TypeAlias = Callable[[Execution, Next[PreDecision]], Awaitable[PreDecision] | PreDecision]
AroundHook: TypeAlias = Callable[[DispatchExecution, Next[Result]], Awaitable[Result] | Result]
PostHook: TypeAlias = Callable[
    [Execution, Result, Next[PostDecision]], Awaitable[PostDecision] | PostDecision
]
Observer: TypeAlias = Callable[[Execution, Result], None]
Guard: TypeAlias = Callable[[Execution], str | None]


class LayerOwner:
    """What a runtime and a scope have in common: tools, guards and hooks are added to their layer.

    Whatever is added answers a `Registration`: call it, or leave its `with` block, to take exactly that
    one back (REG-8).
    """

    __slots__ = ("_layer", "_registry")

    def __init__(self, registry: Registry, layer: Layer) -> None:
        self._registry = registry
        self._layer = layer

    def register(self, tool: Tool) -> Registration:
        """Add a tool. Raises `RegistrationError`, and changes nothing (REG-1..3)."""
        return self._registry.register(tool, self._layer)

    def guard(self, guard: Guard) -> Registration:
        """Add a guard: it gets the execution, and answers a reason to deny the call, or None (GRD-2).

        Guards are plain functions, run after everybody else has allowed, and cannot be overruled. One
        that raises, or answers anything else, fails the call (GRD-4).
        """
        return self._registry.guard(guard, self._layer)

    @overload
    def on(self, event: Literal["pre_execute"], hook: PreHook, *, prepend: bool = False) -> Registration: ...
    @overload
    def on(self, event: Literal["execute"], hook: AroundHook, *, prepend: bool = False) -> Registration: ...
    @overload
    def on(
        self, event: Literal["post_execute"], hook: PostHook, *, prepend: bool = False
    ) -> Registration: ...
    @overload
    def on(self, event: Literal["result"], hook: Observer, *, prepend: bool = False) -> Registration: ...
    @overload
    def on(
        self, event: Literal["change"], hook: Callable[[Change], None], *, prepend: bool = False
    ) -> Registration: ...
    @overload
    def on(
        self,
        event: Literal["approval", "nested_log"],
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
    ) -> Registration: ...

    def on(self, event: HookName, hook: Callable[..., Any], *, prepend: bool = False) -> Registration:
        """Add a listener for calls from here and from every scope below.

        `pre_execute`, `execute`, `post_execute` and `approval` are waterfalls: the first registered
        stands outermost, a prepended one outside of all others, and each calls `next()` to have the
        rest decide (PRE-1). `result` observes, `change` is told of tools and restrictions.
        """
        return self._registry.on(event, hook, self._layer, prepend=prepend)

    def scope(self, name: str, *, mode: Mode | None = None) -> Scope:
        """A scope below this one. `name` is a label; `mode` is how its tools are shown (MOD-6)."""
        parent = self if isinstance(self, Scope) else None
        return Scope(self._registry, Layer(name, self._layer), parent, mode)

    def tools(self) -> Sequence[Tool]:
        """The tools that are seen from here now, in order (REG-5, REG-11)."""
        return [one.tool for one in self._registry.view(self._layer)]

    def schemas(self) -> list[dict[str, JSON]]:
        """What the model is sent of each tool: name, description and parameters, nothing else (REG-6).

        Raises `ConfigError` where the mode cannot be shown (MOD-3).
        """
        return self._registry.schemas(self._layer)

    def present_call(self, name: str, arguments: str) -> Card:
        """How a call is shown to people, from its name and the text of its arguments alone (LOG-4)."""
        return present_call(self._registry.visible(name, self._layer), name, arguments)

    def present_result(self, name: str, arguments: str, content: Content, meta: JSON = None) -> Card:
        """How a result is shown to people, from what was logged of it and of its call (LOG-4)."""
        return present_result(self._registry.visible(name, self._layer), name, arguments, content, meta)


class Scope(LayerOwner):
    """An agent, or a preset that agents inherit from. It sees what is global and what its parents added."""

    __slots__ = ("parent",)

    def __init__(self, registry: Registry, layer: Layer, parent: Scope | None, mode: Mode | None) -> None:
        super().__init__(registry, layer)
        self.parent = parent
        if mode is not None:
            self.present_as(mode)

    @property
    def name(self) -> str:
        """The label of the scope."""
        return self._layer.name or ""

    def restrict(
        self, *, allow: Collection[str] | None = None, deny: Collection[str] | None = None
    ) -> Registration:
        """Let through only some of the inherited tools, here and in every scope below (REG-4).

        The scope's own tools are exempt for itself. Raises `RestrictionError`, and changes nothing.
        """
        return self._registry.restrict(self._layer, allow, deny)

    def present_as(self, mode: Mode) -> Registration:
        """Declare how the tools are shown, once; raises `RegistrationError` otherwise (MOD-6)."""
        return self._registry.set_mode(self._layer, mode)
