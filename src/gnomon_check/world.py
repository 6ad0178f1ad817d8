"""The states that the oracle keeps: the specification's, and where every script stands.

A world is one state that fits what was seen. It puts the machine of the batch, the machine of each
call, and the scripts of a scenario side by side; `facts` is what of the calls is known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from gnomon_check.layers import Layers
from gnomon_check.refinement import Key
from gnomon_check.scenario import (
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    Scenario,
    ScenarioTool,
)
from gnomon_check.script_steps import Execute, is_nonce
from gnomon_check.scripts import Frame
from gnomon_spec import batch as chapter
from gnomon_spec.batch import Batch
from gnomon_spec.schemas import violations
from gnomon_spec.values import Json, NotAValue, parse_arguments
from gnomon_spec.vocabulary import Execution, Mode, Outcome, Setup
from gnomon_spec.waterfall import Frames

Place: TypeAlias = tuple[int, str, int]
"""Whose script it is: the position of the call, the waterfall (or `body`), the number of the listener."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """What keeps a script from going on: a gate, the abort that it awaits, or virtual time."""

    gate: str | None = None
    await_abort: int | None = None
    sleep: int | None = None


Row: TypeAlias = tuple[int, str]
"""A row of listeners that was fixed: the position of the call, the waterfall.

The same table remembers what else a call has taken from the layers: its definition at creation
(`created`), that of the body that is running (`body`), the guards that it was asked of (`guards`).
"""


class World(NamedTuple):
    """One state that fits what was seen."""

    layers: Layers
    batch: Batch | None = None
    calls: tuple[Execution | None, ...] = ()
    frames: tuple[tuple[Place, Frame], ...] = ()
    rows: tuple[tuple[Row, tuple[str, ...]], ...] = ()
    asking: tuple[tuple[int, Frames | None], ...] = ()
    """Where the answerers of a call stand; None where the first is still to begin."""
    attempts: tuple[int, ...] = ()
    opened: frozenset[str] = frozenset()
    approvals: tuple[tuple[int, str], ...] = ()
    signals: tuple[tuple[str, int, str], ...] = ()
    """The signals of wrappers that can still be aborted: name, position of the call, and which one it is."""
    signals_made: int = 0
    now: int = 0
    """Virtual time, in milliseconds."""
    until: int = 0
    """How far it goes on, from one moment to the next, once nothing else can happen."""
    deadlines: tuple[tuple[int, int], ...] = ()
    """When the deadline of a call passes, where one runs."""
    aborted: bool = False
    """The batch's own signal has aborted: the caller's has, or a cancellation has arrived."""
    signalled: bool = False
    """The harness, or a script, has aborted the caller's signal."""
    cancelled: bool = False
    landing: bool = False
    """A native cancellation is on its way to the task that runs the batch."""
    nested: tuple[tuple[Execute, int, int], ...] = ()
    """The calls that bodies have made, each with the position and the attempt of the one that made it."""
    answered: frozenset[int] = frozenset()
    """The calls outside of the batch that have been answered."""
    crashed: bool = False
    repaired: bool = False
    kept: tuple[tuple[str, tuple[Place, bool]], ...] = ()
    """The `next` that were kept: of which listener, and whether that has ended."""
    heard: tuple[tuple[int, Outcome], ...] = ()
    """The result that a wrapper of a call has heard last, where another may borrow it."""
    just_answered: frozenset[Place] = frozenset()
    """The listeners whose `next()` was answered since the last input, and that do not wait for it."""
    requests: tuple[int, int] = (0, 0)
    """How often an approval was to be logged as asked, and how often as decided."""
    due: tuple[Key, ...] = ()
    """Events that the lane has begun to write and that come before anything else of it."""
    due_apart: tuple[tuple[int, tuple[Key, ...]], ...] = ()
    """The same of calls that bodies have made, each apart: they run at once, and wait for no other."""

    def call(self, pos: int) -> Execution:
        """The execution of a call that has started."""
        execution = self.calls[pos]
        assert execution is not None, "the call has started"
        return execution

    def with_call(self, pos: int, execution: Execution) -> World:
        """The world with another state of a call."""
        if execution is self.calls[pos]:
            return self
        return self._replace(calls=(*self.calls[:pos], execution, *self.calls[pos + 1 :]))

    def frame(self, place: Place) -> Frame | None:
        """Where a script stands, if it has begun and not ended."""
        for key, frame in self.frames:
            if key == place:
                return frame
        return None

    def with_due(self, keys: tuple[Key, ...], pos: int | None) -> World:
        """The world in which events of a call have begun, and come before anything else of it."""
        assert self.batch is not None or pos is None
        if self.batch is None or pos is None or pos < len(self.batch.calls):
            return self._replace(due=keys + self.due)
        return self._replace(due_apart=_with(self.due_apart, pos, keys or None))

    def with_heard(self, pos: int, outcome: Outcome) -> World:
        """The world in which a wrapper of a call has heard a result."""
        return self._replace(heard=_with(self.heard, pos, outcome))

    def with_kept(self, name: str, place: Place) -> World:
        """The world in which a listener has kept its `next` under a name, the last one of that name."""
        return self._replace(kept=_with(self.kept, name, (place, False)))

    def with_frame(self, place: Place, frame: Frame | None) -> World:
        """The world with a script at another step, or without it."""
        return self._replace(frames=_with(self.frames, place, frame))

    def row(self, pos: int, what: str) -> tuple[str, ...]:
        """What a call has taken from the layers, of a kind."""
        wanted = pos, what
        for key, held in self.rows:
            if key == wanted:
                return held
        return ()

    def with_row(self, pos: int, what: str, held: tuple[str, ...]) -> World:
        """The world in which a call has taken this from the layers."""
        if held == self.row(pos, what):
            return self
        return self._replace(rows=_with(self.rows, (pos, what), held or None))


Key_ = TypeVar("Key_")
Held = TypeVar("Held")


def _with(
    table: tuple[tuple[Key_, Held], ...], key: Key_, held: Held | None
) -> tuple[tuple[Key_, Held], ...]:
    """The table with another entry under a key, or with none; in the order of the keys."""
    rest = tuple(one for one in table if one[0] != key)
    added = rest if held is None else (*rest, (key, held))
    return tuple(sorted(added, key=itemgetter(0)))


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is known of a call before it runs."""

    pos: int
    name: str
    arguments: Json | NotAValue
    nested: bool = False
    """It carries the token of another call, and so is not model-direct (MOD-2)."""

    def fits(self, tool: ScenarioTool | None) -> bool:
        """Whether the arguments fit what a tool publishes (DSP-8)."""
        if tool is None or isinstance(self.arguments, NotAValue):
            return False
        return not violations(tool.parameters, self.arguments)

    def mode(self, layers: Layers) -> Mode:
        """What the layers make of the call now (SCD-2)."""
        tool = layers.callable(self.name)
        answer = _classifier_answer(tool, self.arguments)
        return chapter.mode_of(answer, visible=tool is not None, arguments_fit=self.fits(tool))

    def setup(self, layers: Layers, *, in_session: bool = True) -> Setup:
        """What surrounds the call, as the layers stand now.

        A call that is made outside of the session knows nothing of the policy that is logged there (APP-9).
        """
        arguments = not isinstance(self.arguments, NotAValue)
        return layers.setup(self.name, self.pos, arguments, self.nested, in_session)


def facts_of(scenario: Scenario) -> tuple[CallFacts, ...]:
    """What is known of each call of a scenario before it runs."""
    return tuple(
        CallFacts(pos, call.name, parse_arguments(call.arguments))
        for pos, call in enumerate(scenario.batch.calls)
    )


def _classifier_answer(tool: ScenarioTool | None, arguments: Json | NotAValue) -> object:
    match None if tool is None else tool.parallel:
        case bool(answer):
            return answer
        case ClassifierValue(value=value):
            return value
        case ClassifierWhen() as when:
            return when.answer(arguments)
        case ClassifierRaises() | None:
            return None


NONCE = "nonce"
"""The value that fresh ones stand for in what the oracle follows."""


def nonce_of(position: int, value: str = NONCE) -> str:
    """The nonce of the body at a position, made of the fresh value that was handed over last."""
    return f"{value}-{position}"


def value_of(value: Any, position: int) -> Json:
    """The JSON value that `value` of a scenario stands for, in the call at a position."""
    given: Json = nonce_of(position) if is_nonce(value) else value
    return given
