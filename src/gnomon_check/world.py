"""The states that the oracle keeps: the specification's, and where every script stands.

A world is one state that fits what was seen. It puts the machine of the batch, the machine of each
call, and the scripts of a scenario side by side; `facts` is what of the calls is known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from gnomon_check.refinement import Key
from gnomon_check.scenario import (
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    Scenario,
    ScenarioCall,
    ScenarioGuard,
    ScenarioHook,
    ScenarioTool,
)
from gnomon_check.scripts import Frame
from gnomon_spec import batch as chapter
from gnomon_spec.batch import Batch
from gnomon_spec.schemas import violations
from gnomon_spec.values import Json, NotAValue, parse_arguments
from gnomon_spec.vocabulary import Execution, Mode, Setup

Place: TypeAlias = tuple[int, str, int]
"""Whose script it is: the position of the call, the waterfall (or `body`), the number of the listener."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """What keeps a script from going on: a gate, or the abort that it awaits."""

    gate: str | None = None
    await_abort: int | None = None


@dataclass(frozen=True, slots=True)
class World:
    """One state that fits what was seen."""

    batch: Batch | None = None
    calls: tuple[Execution | None, ...] = ()
    frames: tuple[tuple[Place, Frame], ...] = ()
    attempts: tuple[int, ...] = ()
    opened: frozenset[str] = frozenset()
    approvals: tuple[tuple[int, str], ...] = ()
    aborted: bool = False
    """The batch's own signal has aborted: the caller's has, or a cancellation has arrived."""
    signalled: bool = False
    """The harness, or a script, has aborted the caller's signal."""
    cancelled: bool = False
    landing: bool = False
    """A native cancellation is on its way to the task that runs the batch."""
    due: tuple[Key, ...] = ()
    """Events that the lane has begun to write and that come before anything else of it."""

    def call(self, pos: int) -> Execution:
        """The execution of a call that has started."""
        execution = self.calls[pos]
        assert execution is not None, "the call has started"
        return execution

    def with_call(self, pos: int, execution: Execution) -> World:
        """The world with another state of a call."""
        return replace(self, calls=(*self.calls[:pos], execution, *self.calls[pos + 1 :]))

    def frame(self, place: Place) -> Frame | None:
        """Where a script stands, if it has begun and not ended."""
        return next((frame for key, frame in self.frames if key == place), None)

    def with_frame(self, place: Place, frame: Frame | None) -> World:
        """The world with a script at another step, or without it."""
        rest = tuple(one for one in self.frames if one[0] != place)
        added = rest if frame is None else (*rest, (place, frame))
        return replace(self, frames=tuple(sorted(added, key=lambda one: one[0])))


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is known of a call before it runs."""

    pos: int
    mode: Mode
    arguments: Json | NotAValue
    fit: bool
    tool: ScenarioTool | None
    setup: Setup
    hooks: dict[str, tuple[ScenarioHook, ...]]
    guards: tuple[ScenarioGuard, ...]

    @property
    def cancels(self) -> bool:
        """Whether an abort interrupts the body natively."""
        return self.tool is not None and self.tool.interrupt == "cancel"


def facts_of(scenario: Scenario) -> tuple[CallFacts, ...]:
    """What is known of each call of a scenario before it runs."""
    return tuple(_facts(scenario, pos, call) for pos, call in enumerate(scenario.batch.calls))


def _facts(scenario: Scenario, pos: int, call: ScenarioCall) -> CallFacts:
    tool = scenario.tool(call.name)
    arguments = parse_arguments(call.arguments)
    usable = not isinstance(arguments, NotAValue)
    fit = (
        tool is not None
        and not isinstance(arguments, NotAValue)
        and not violations(tool.parameters, arguments)
    )
    answer = _classifier_answer(tool, arguments)
    mode = chapter.mode_of(answer, visible=tool is not None, arguments_fit=fit)
    hooks = {
        waterfall: in_order(
            [one for one in scenario.hooks if one.on == waterfall and one.match.fits(call.name, pos)]
        )
        for waterfall in ("pre_execute", "execute", "post_execute", "result")
    }
    guards = tuple(one for one in scenario.guards if one.match.fits(call.name, pos))
    approval = scenario.approval
    setup = Setup(
        visible=tool is not None,
        arguments=usable,
        finalizer=tool is not None and tool.finalize is not None,
        projector=tool is not None and tool.project is not None,
        pre=len(hooks["pre_execute"]),
        guards=len(guards),
        wrappers=len(hooks["execute"]),
        post=len(hooks["post_execute"]),
        service=approval is not None,
        scope=scenario.caller is not None,
        never=approval is not None and approval.policy == "never",
    )
    return CallFacts(pos, mode, arguments, fit, tool, setup, hooks, guards)


def in_order(hooks: Sequence[ScenarioHook]) -> tuple[ScenarioHook, ...]:
    """Listeners, outermost first: those prepended, the last first, then the others as registered."""
    prepended = [one for one in hooks if one.prepend]
    return (*reversed(prepended), *(one for one in hooks if not one.prepend))


def _classifier_answer(tool: ScenarioTool | None, arguments: Json | NotAValue) -> object:
    match None if tool is None else tool.parallel:
        case bool(answer):
            return answer
        case ClassifierValue(value=value):
            return value
        case ClassifierWhen(when=when):
            return isinstance(arguments, dict) and arguments.get(when.argument) == when.equals
        case ClassifierRaises() | None:
            return None


def nonce_of(position: int) -> str:
    """The nonce of the body at a position, as the harness in process makes it."""
    return f"nonce-{position}"


def value_of(value: Any, position: int) -> Json:
    """The JSON value that `value` of a scenario stands for, in the call at a position."""
    given: Json = nonce_of(position) if value == {"$nonce": True} else value
    return given
