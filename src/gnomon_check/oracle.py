"""The oracle: the set of states of the specification that fit what was seen.

The specification says what the lane may do; the scripts of a scenario say what the bodies do. Both
together are a machine with choices (freedom), so the oracle keeps every state that the events so
far allow. An event that no state allows is a disagreement; so is a `quiet` at which something could
still happen, or at which other gates block than those reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gnomon_check.refinement import Key, key_of_spec
from gnomon_check.scenario import (
    AbortInputStep,
    CancelStep,
    ClassifierRaises,
    ClassifierValue,
    ClassifierWhen,
    OpenStep,
    ReleaseStep,
    Scenario,
    ScenarioCall,
    SingleStep,
)
from gnomon_check.scripts import (
    AbortCaller,
    EndCancelled,
    EndRaised,
    EndReturned,
    Frame,
    SetOnCancel,
    Tell,
    WaitForAbort,
    WaitForGate,
    effect_at,
    interruption,
    passed,
)
from gnomon_spec import admission, dispatch, settlement
from gnomon_spec import batch as chapter
from gnomon_spec.batch import Batch
from gnomon_spec.machine import (
    Abort,
    Action,
    BodyStarts,
    Commits,
    DispatchSettles,
    Prepared,
    lane_moves,
    step,
)
from gnomon_spec.schemas import violations
from gnomon_spec.values import Json, NotAValue, parse_arguments
from gnomon_spec.vocabulary import How, Lane, Mode, Phase


@dataclass(frozen=True, slots=True)
class Blocked:
    """What keeps a script from going on: a gate, or the abort that it awaits."""

    gate: str | None = None
    await_abort: int | None = None


@dataclass(frozen=True, slots=True)
class World:
    """One state that fits what was seen: the batch, where each body's script stands, what is open."""

    batch: Batch | None = None
    frames: tuple[Frame | None, ...] = ()
    opened: frozenset[str] = frozenset()
    aborted: bool = False
    """The batch's own signal has aborted: the caller's has, or a cancellation has arrived."""
    signalled: bool = False
    """The harness, or a script, has aborted the caller's signal."""
    cancelled: bool = False
    landing: bool = False
    """A native cancellation is on its way to the task that runs the batch."""
    due: tuple[Key, ...] = ()
    """Events that the lane has begun to write and that come before anything else of it."""


@dataclass(frozen=True, slots=True)
class CallFacts:
    """What is known of a call before it runs."""

    mode: Mode
    arguments: Json | NotAValue
    parameters: Json | None
    script_of: str
    cancels: bool


@dataclass(frozen=True, slots=True)
class Move:
    """Something that may happen without the harness: what is seen of it, and where it leads."""

    keys: tuple[Key, ...]
    world: World
    action: Action | None = None


class Oracle:
    """Follows one scenario, input by input and event by event."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.calls = scenario.batch.calls
        self.facts = tuple(self._facts_of(one) for one in self.calls)
        self.worlds: frozenset[World] = frozenset([World()])

    # -- what is known beforehand ---------------------------------------------------------------

    def _facts_of(self, call: ScenarioCall) -> CallFacts:
        tool = self.scenario.tool(call.name)
        arguments = parse_arguments(call.arguments)
        parameters = None if tool is None else tool.parameters
        fit = (
            not isinstance(arguments, NotAValue)
            and tool is not None
            and not violations(parameters, arguments)
        )
        answer = self._classifier_answer(call, arguments)
        mode = chapter.mode_of(answer, visible=tool is not None, arguments_fit=fit)
        cancels = tool is not None and tool.interrupt == "cancel"
        return CallFacts(mode, arguments, parameters, call.name, cancels)

    def _classifier_answer(self, call: ScenarioCall, arguments: Json | NotAValue) -> object:
        tool = self.scenario.tool(call.name)
        match None if tool is None else tool.parallel:
            case bool(answer):
                return answer
            case ClassifierValue(value=value):
                return value
            case ClassifierWhen(when=when):
                return isinstance(arguments, dict) and arguments.get(when.argument) == when.equals
            case ClassifierRaises() | None:
                return None

    # -- inputs ---------------------------------------------------------------------------------

    def input(self, given: SingleStep) -> None:
        """Take an input."""
        self.worlds = frozenset(self._after_input(world, given) for world in self.worlds)

    def _after_input(self, world: World, given: SingleStep) -> World:
        match given:
            case OpenStep():
                modes = tuple(one.mode for one in self.facts)
                batch = chapter.open_batch(modes, self.scenario.limits.max_parallel).state
                batch = batch._replace(aborted=world.aborted)
                return replace(world, batch=batch, frames=(None,) * len(modes))
            case ReleaseStep(release=release):
                return replace(world, opened=world.opened | {release.gate})
            case AbortInputStep():
                return replace(_aborted(world), signalled=True)
            case CancelStep():
                ended = world.batch is None or world.batch.lane in chapter.ENDED
                # When the cancellation reaches the waiting task is free: until then bodies may go on.
                return world if ended else replace(world, cancelled=True, landing=True)

    # -- what may happen without the harness ----------------------------------------------------

    def moves(self, world: World) -> Iterator[Move]:
        """Everything that may happen next in a state."""
        batch = world.batch
        if batch is None:
            return
        if world.landing:
            yield Move((), replace(_aborted(world), landing=False), Abort())
        if world.due:
            yield Move(world.due[:1], replace(world, due=world.due[1:]))
        else:
            for action in lane_moves(batch):
                yield self._take(world, action)
            yield from self._lane_answers(world, batch)
        for position, one in enumerate(batch.calls):
            if one.phase is Phase.DISPATCHED:
                yield self._body_stage(world, batch, position)
            elif one.phase is Phase.RUNNING:
                yield from self._body_moves(world, position)

    def _take(self, world: World, action: Action) -> Move:
        assert world.batch is not None
        taken = step(world.batch, action)
        keys = tuple(key_of_spec(one) for one in taken.events)
        if world.cancelled:
            keys = tuple(_cancelled_ending(key) for key in keys)
        return Move(keys, replace(world, batch=taken.state), action)

    def _lane_answers(self, world: World, batch: Batch) -> Iterator[Move]:
        """What prepare and commit of this scenario answer: it has no hooks, so they do not wait."""
        if batch.lane is Lane.PREPARING:
            position = batch.next_start - 1
            answer = admission.created(self.facts[position].arguments, batch.aborted)
            yield self._take(world, Prepared(position, answer))
        elif batch.lane is Lane.COMMITTING:
            position = batch.committed
            one = batch.calls[position]
            assert one.outcome is not None
            outcome = settlement.after_post_execute(one.outcome, batch.aborted, one.body_invoked)
            yield self._take(world, Commits(position, outcome))

    def _body_stage(self, world: World, batch: Batch, position: int) -> Move:
        facts = self.facts[position]
        assert not isinstance(facts.arguments, NotAValue)
        instead = dispatch.before_the_body(batch.aborted, facts.parameters, facts.arguments)
        if instead is not None:
            return self._take(world, DispatchSettles(position, instead))
        started = self._take(world, BodyStarts(position))
        return replace(started, world=_put(started.world, position, Frame()))

    def _body_moves(self, world: World, position: int) -> Iterator[Move]:
        frame = world.frames[position]
        tool = self.scenario.tool(self.facts[position].script_of)
        assert frame is not None
        assert tool is not None
        assert world.batch is not None
        match effect_at(tool.body, frame, position):
            case WaitForGate(name):
                if name in world.opened:
                    yield Move((), _put(world, position, passed(frame)))
            case WaitForAbort():
                if world.aborted and tool.interrupt == "cancel" and not frame.interrupted:
                    key: Key = ("body.interrupted", position, (1,))
                    yield Move((key,), _put(world, position, interruption(frame)))
                elif world.aborted:
                    key = ("body.signalled", position, (1, "caller"))
                    yield Move((key,), _put(world, position, passed(frame)))
            case Tell(text):
                yield Move((("noted", position, (text,)),), _put(world, position, passed(frame)))
            case AbortCaller():
                keys: tuple[Key, ...] = () if world.signalled else (("signal.aborted", None, ("caller",)),)
                after = replace(_aborted(world), signalled=True)
                yield Move(keys, _put(after, position, passed(frame)), Abort())
            case SetOnCancel(changed):
                yield Move((), _put(world, position, changed))
            case EndReturned(_, is_nonce):
                end: dispatch.BodyEnd = dispatch.Returned(nonce_of(position) if is_nonce else None)
                yield self._end(world, position, end, How.RETURNED)
            case EndRaised(what) if what.kind == "cancelled":
                asked = world.aborted and tool.interrupt == "cancel"
                yield self._end(world, position, dispatch.Cancelled(asked), How.CANCELLED)
            case EndRaised(what):
                end = dispatch.Struck() if what.kind == "keyboard" else dispatch.Raised(what.code)
                yield self._end(world, position, end, How.RAISED)
            case EndCancelled():
                yield self._end(world, position, dispatch.Cancelled(asked=True), How.CANCELLED)

    def _end(self, world: World, position: int, end: dispatch.BodyEnd, how: How) -> Move:
        assert world.batch is not None
        answer = dispatch.after_the_body(end, world.batch.aborted)
        ended = self._take(world, DispatchSettles(position, answer, how))
        after = _put(ended.world, position, None)
        # What is meant for the whole process also aborts the batch, so that its bodies end (PY-4).
        return replace(ended, world=_aborted(after) if isinstance(end, dispatch.Struck) else after)

    # -- following what was seen ----------------------------------------------------------------

    def closure(self, worlds: Iterable[World] | None = None) -> frozenset[World]:
        """The states that may have been reached without anything more to be seen."""
        reached = set(self.worlds if worlds is None else worlds)
        left = list(reached)
        while left:
            for move in self.moves(left.pop()):
                if not move.keys and move.world not in reached:
                    reached.add(move.world)
                    left.append(move.world)
        return frozenset(reached)

    def allowed(self) -> frozenset[Key]:
        """The events that could come next."""
        return frozenset(move.keys[0] for world in self.closure() for move in self.moves(world) if move.keys)

    def see(self, key: Key) -> bool:
        """Follow an event; False, and nothing changed, where no state allows it."""
        following = frozenset(
            replace(move.world, due=move.keys[1:] + move.world.due) if len(move.keys) > 1 else move.world
            for world in self.closure()
            for move in self.moves(world)
            if move.keys and move.keys[0] == key
        )
        if not following:
            return False
        self.worlds = following
        return True

    def quiet(self, blocked: frozenset[Blocked], idle: bool) -> bool:
        """Follow a `quiet`; False, and nothing changed, where no state is quiet in that way."""
        fitting = frozenset(
            world
            for world in self.quiet_worlds()
            if self.blocked(world) == blocked and self.idle(world) == idle
        )
        if not fitting:
            return False
        self.worlds = fitting
        return True

    def quiet_worlds(self) -> frozenset[World]:
        """The states that may have been reached, and in which nothing can happen without the harness."""
        return frozenset(world for world in self.closure() if next(self.moves(world), None) is None)

    def blocked(self, world: World) -> frozenset[Blocked]:
        """What blocks the scripts in a state."""
        found: set[Blocked] = set()
        for position, frame in enumerate(world.frames):
            tool = self.scenario.tool(self.facts[position].script_of)
            if frame is None or tool is None:
                continue
            match effect_at(tool.body, frame, position):
                case WaitForGate(name):
                    found.add(Blocked(gate=name))
                case WaitForAbort():
                    found.add(Blocked(await_abort=position))
                case _:
                    pass
        return frozenset(found)

    def idle(self, world: World) -> bool:
        """Whether no batch is under way."""
        return world.batch is None or world.batch.lane in chapter.ENDED


def nonce_of(position: int) -> str:
    """The nonce of the body at a position, as the harness in process makes it."""
    return f"nonce-{position}"


def _put(world: World, position: int, frame: Frame | None) -> World:
    return replace(world, frames=world.frames[:position] + (frame,) + world.frames[position + 1 :])


def _aborted(world: World) -> World:
    batch = world.batch
    if batch is not None and not batch.aborted and batch.lane not in chapter.ENDED:
        batch = step(batch, Abort()).state
    return replace(world, aborted=True, batch=batch)


def _cancelled_ending(key: Key) -> Key:
    name, pos, _ = key
    return (name, pos, ("cancelled",)) if name == "batch.closed" else key
