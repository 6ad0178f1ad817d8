"""What the scripts of a scenario do in a world, and what the harness sees of it.

One step of a script, one move of the machine of a call: everything here takes a world and answers the next
one, with the keys of the events that are seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from gnomon_check.changes import OPERATIONS, Change, subject_of
from gnomon_check.layers import Layers
from gnomon_check.refinement import Key
from gnomon_check.scenario import Scenario, ScenarioHook, ScenarioTool
from gnomon_check.script_steps import Step
from gnomon_check.scripts import (
    ANSWERS_NOTHING,
    PASSES,
    AbortSignalOf,
    ChangeLayers,
    Effect,
    EndRaised,
    Frame,
    Tamper,
    Tell,
    WaitForAbort,
    WaitForGate,
    WaitForTime,
    effect_at,
    passed,
    sync_effects,
)
from gnomon_check.world import Blocked, CallFacts, Place, World
from gnomon_spec import batch as chapter
from gnomon_spec import journey, signals
from gnomon_spec.machine import (
    Abort,
    Action,
    Reclassify,
    step,
)
from gnomon_spec.values import parse_arguments
from gnomon_spec.vocabulary import (
    Event,
    EventName,
    Execution,
    Setup,
    Stage,
)


class Move(NamedTuple):
    """Something that may happen without the harness: what is seen of it, and where it leads."""

    keys: tuple[Key, ...]
    world: World
    action: Action | None = None
    urgent: bool = False
    """Nobody can see it, and nothing else that may happen is in its way, or it in theirs.

    So where it may happen it may as well happen first, and nothing else has to be looked at before it.
    """

    def begun(self) -> World:
        """Where it leads once the first of its events has been seen: the others come before anything else."""
        (_, pos, _), *rest = self.keys
        return self.world.with_due(tuple(rest), pos) if rest else self.world


_step = lru_cache(maxsize=4096)(journey.step)
"""The machine of a call only looks at what it is given, so what it has said once it says again."""


WATERFALLS = {
    Stage.PRE: "pre_execute",
    Stage.EXECUTE: "execute",
    Stage.BODY: "execute",
    Stage.POST: "post_execute",
}


class Journeys:
    """The calls of a scenario, and their scripts."""

    def __init__(self, scenario: Scenario, facts: tuple[CallFacts, ...]) -> None:
        self.scenario = scenario
        self.facts = facts

    def of_batch(self, pos: int) -> bool:
        """Whether a call belongs to the batch: not made by a body, nor a single one."""
        return self.scenario.mode == "batch" and pos < len(self.facts)

    def fact(self, world: World, pos: int) -> CallFacts:
        """What is known of a call."""
        if pos < len(self.facts):
            return self.facts[pos]
        call, _, _ = world.nested[pos - len(self.facts)]
        return CallFacts(pos, call.name, parse_arguments(call.arguments), call.token)

    def setup(self, world: World, pos: int) -> Setup:
        """What a call meets in the layers now."""
        return self.fact(world, pos).setup(world.layers, in_session=pos < len(self.facts))

    def callable(self, world: World, pos: int) -> ScenarioTool | None:
        """The definition that a call would run now, or nothing."""
        facts = self.fact(world, pos)
        return world.layers.callable(facts.name, nested=facts.nested)

    # -- what any script may do -----------------------------------------------------------------

    def common(self, world: World, pos: int, place: Place, effect: Effect) -> Iterator[Move]:
        """The steps that mean the same whoever takes them."""
        frame = world.frame(place)
        assert frame is not None
        match effect:
            case WaitForGate(name) if name in world.opened:
                yield Move((), world.with_frame(place, passed(frame)), urgent=True)
            case WaitForTime(ms) if frame.wakes is None:
                asleep = world.with_frame(place, frame._replace(wakes=world.now + ms))
                yield Move((), asleep, urgent=True)
            case WaitForTime() if frame.wakes is not None and frame.wakes <= world.now:
                yield Move((), world.with_frame(place, passed(frame)))
            case Tell() | ChangeLayers() | Tamper():
                yield Move(*self.wants(world.with_frame(place, passed(frame)), pos, [effect]))
            case AbortSignalOf(name):
                keys, following = self.wants(world.with_frame(place, passed(frame)), pos, [effect])
                yield Move(keys, following, Abort() if name == "caller" else None)

    def wants(self, world: World, pos: int, effects: Sequence[Effect]) -> tuple[tuple[Key, ...], World]:
        """What comes of the effects of a script that do not wait, one after the other."""
        keys: list[Key] = []
        for effect in effects:
            match effect:
                case Tell(text):
                    keys.append(("noted", pos, (text,)))
                case AbortSignalOf("caller"):
                    if not world.signalled:
                        keys.append(("signal.aborted", None, ("caller",)))
                    world = aborted(world)._replace(signalled=True)
                case AbortSignalOf(name):
                    seen, world = abort_own(world, name)
                    keys.extend(seen)
                case Tamper():
                    keys.append(("op.refused", pos, ("mutate",)))  # VAL-7, ARG-5, CRE-5
                case ChangeLayers(change):
                    seen, world = self.change(world, change)
                    keys.extend(seen)
                case _:
                    pass
        return tuple(keys), world

    def change(self, world: World, change: Change) -> tuple[tuple[Key, ...], World]:
        """Change what stands in the layers; calls that have not started are classified anew (SCD-3)."""
        layers, refusal = world.layers.changed(change)
        told: tuple[Key, ...] = ()
        refused = refusal is not None
        if not refused:
            told, refused = self._announced(world.layers, change)
        following = world if refused else world._replace(layers=layers)  # REG-9: it is undone
        changed: Key = ("registry.changed", None, (OPERATIONS[type(change)], subject_of(change), refused))
        batch = world.batch
        if batch is not None and not refused:
            for fact in self.facts:
                mode = fact.mode(layers)
                if batch.calls[fact.pos].mode is not mode and not chapter.refuse_reclassify(batch, fact.pos):
                    batch = step(batch, Reclassify(fact.pos, mode)).state
            following = following._replace(batch=batch)
        return (*told, changed), following

    def _announced(self, layers: Layers, change: Change) -> tuple[tuple[Key, ...], bool]:
        """What those do who hear of a change, and whether one of them raises."""
        keys: list[Key] = []
        for identifier in layers.hear_of(change):
            hook = self.scenario.hook(identifier)
            assert hook is not None
            effects, end = sync_effects(hook.script, 0, ANSWERS_NOTHING)
            keys += [("noted", None, (one.text,)) for one in effects if isinstance(one, Tell)]
            if isinstance(end, EndRaised):
                return tuple(keys), True
        return tuple(keys), False

    # -- what a call has taken from the layers --------------------------------------------------

    def created_with(self, world: World, pos: int) -> ScenarioTool | None:
        """The definition that was visible when a call was created (CRE-3)."""
        taken = world.row(pos, "created")
        return world.layers.definition(taken[0]) if taken else None

    def running(self, world: World, pos: int) -> ScenarioTool:
        """The definition whose body a call runs (OUT-1)."""
        (taken,) = world.row(pos, "body")
        return world.layers.definition(taken)

    def hook(self, world: World, place: Place) -> ScenarioHook:
        """The listener at a place."""
        pos, waterfall, number = place
        hook = self.scenario.hook(world.row(pos, waterfall)[number])
        assert hook is not None, "rows hold the listeners of the scenario"
        return hook

    # -- the machine of a call ------------------------------------------------------------------

    def _logged(
        self, world: World, pos: int, move: journey.Move, taken: journey.Stepped
    ) -> tuple[World, journey.Stepped]:
        """What a move comes to by which an approval is logged: something else where the log fails (LOG-3)."""
        if self.scenario.log is None or not self.of_batch(pos):
            return world, taken
        execution = world.call(pos)
        names = [event.name for event in taken.events]
        asked, decided = world.requests
        asked += names.count(EventName.APPROVAL_ASKED)
        unlogged = None
        if EventName.APPROVAL_ASKED in names and self.scenario.fails_to_append("approval/asked", asked):
            unlogged = "asked"
        elif EventName.APPROVAL_DECIDED in names:
            decided += 1
            unlogged = "decided" if self.scenario.fails_to_append("approval/decided", decided) else None
        world = world._replace(requests=(asked, decided))
        if unlogged is None:
            return world, taken
        return world, _step(_surrounded(execution, unlogged=unlogged), move)

    def journey(self, world: World, pos: int, move: journey.Move, before: tuple[Key, ...] = ()) -> Move:
        """Take a move of the machine of a call, and see what is to be seen of it."""
        world = self._looked(world, pos)
        execution = world.call(pos)
        world, taken = self._logged(world, pos, move, _step(execution, move))
        following = self._timed(world.with_call(pos, taken.state), pos)
        if taken.state.stage is Stage.APPROVAL and execution.stage is not Stage.APPROVAL:
            following = self.asked(following, pos)
        keys, following = self.seen(following, pos, taken.events)
        return Move((*before, *keys), spread(_answered(following, pos, execution)))

    def asked(self, world: World, pos: int) -> World:
        """The world in which the approval of a call is asked: who answers is fixed (PRE-1, APP-8)."""
        answerers = world.layers.answerers()
        if not answerers:
            return world
        asking = (*world.asking, (pos, None))
        return world.with_row(pos, "approval", answerers)._replace(asking=asking)

    def _looked(self, world: World, pos: int) -> World:
        """The world after a call has looked at the layers, as far as its next step does so."""
        execution = world.call(pos)
        match execution.stage:
            case Stage.PRE | Stage.APPROVAL:
                now = self.setup(world, pos)
                looked = _surrounded(execution, never=now.never)  # APP-9
                if looked.guards != now.guards:
                    looked = looked._replace(guards=now.guards)
                return world.with_call(pos, looked)
            case Stage.PREPARED:
                facts, now = self.fact(world, pos), self.setup(world, pos)
                looked = _surrounded(execution, wrappers=now.wrappers, timeout=now.timeout)
                row = world.layers.row("execute", facts.name, pos)
                timeout = world.layers.timeout(facts.name)  # TMO-1: it is read at dispatch
                world = world.with_row(pos, "timeout", () if timeout is None else (str(timeout),))
                return world.with_call(pos, looked).with_row(pos, "execute", row)
            case Stage.SETTLED | Stage.PROJECT:
                facts, now = self.fact(world, pos), self.setup(world, pos)
                looked = _surrounded(execution, post=now.post)
                row = world.layers.row("post_execute", facts.name, pos)
                return world.with_call(pos, looked).with_row(pos, "post_execute", row)
            case _:
                return world

    def _timed(self, world: World, pos: int) -> World:
        """The world with the deadline of a call, where one begins or ends with its step (TMO-4)."""
        if world.call(pos).setup.timeout is None and not world.deadlines:
            return world
        runs = signals.deadline_runs(world.call(pos))
        if runs == any(one == pos for one, _ in world.deadlines):
            return world
        rest = tuple(one for one in world.deadlines if one[0] != pos)
        if not runs:
            return world._replace(deadlines=rest)
        (timeout,) = world.row(pos, "timeout")
        return world._replace(deadlines=tuple(sorted((*rest, (pos, world.now + int(timeout))))))

    def seen(self, world: World, pos: int, events: tuple[Event, ...]) -> tuple[tuple[Key, ...], World]:
        """What the harness sees of the events of a call, and the scripts that begin with them."""
        keys: list[Key] = []
        for event in events:
            match event.name:
                case EventName.POLICY_ENTERED | EventName.POLICY_DELEGATED | EventName.POLICY_DECIDED:
                    assert event.where is not None
                    assert event.listener is not None
                    place: Place = (pos, event.where, event.listener)
                    hook = self.hook(world, place)
                    if event.name is EventName.POLICY_ENTERED:
                        world = world.with_frame(place, Frame(given=world.call(pos).signal))
                        detail: tuple[object, ...] = (event.where, hook.id)
                    elif event.name is EventName.POLICY_DELEGATED:
                        nth = next(
                            one.delegated for one in world.call(pos).frames if one.listener == event.listener
                        )
                        detail = (event.where, hook.id, nth)
                    else:
                        detail = (event.where, hook.id, event.what)
                    keys.append((str(event.name), pos, detail))
                case EventName.BODY_STARTED:
                    attempts = list(world.attempts)
                    attempts[pos] += 1
                    world = world._replace(attempts=tuple(attempts)).with_frame((pos, "body", 0), Frame())
                    keys.append((str(event.name), pos, (attempts[pos],)))
                case EventName.BODY_SETTLED:
                    keys.append((str(event.name), pos, (world.attempts[pos], event.how)))
                case EventName.CONTEXT_DEFERRED:
                    keys.append((str(event.name), pos, (event.context,)))
                case EventName.APPROVAL_ASKED if self.of_batch(pos):
                    keys.append((str(event.name), pos, ()))
                case EventName.APPROVAL_DECIDED if self.of_batch(pos):
                    keys.append((str(event.name), pos, (event.what,)))
                case EventName.CONTENT_PROJECTED | EventName.CONTENT_FINALIZED:
                    keys.append((str(event.name), pos, ()))
                case _:
                    pass
        return tuple(keys), world

    # -- what blocks ----------------------------------------------------------------------------

    def blocked(self, world: World) -> frozenset[Blocked]:
        """What blocks the scripts in a world, and the approvals that wait for the harness."""
        found: set[Blocked] = set()
        if world.crashed:
            return frozenset()
        for pos, execution in enumerate(world.calls):
            approval = self.scenario.approval
            if execution is None or execution.stage is not Stage.APPROVAL:
                continue
            if approval is not None and not approval.answerers:
                found.add(Blocked(gate=f"approval:{pos}"))
        for place, frame in world.frames:
            if frame.delegating:
                continue
            match effect_at(self._script(world, place), frame, place[0], PASSES):
                case WaitForGate(name):
                    found.add(Blocked(gate=name))
                case WaitForAbort():
                    found.add(Blocked(await_abort=place[0]))
                case WaitForTime():
                    found.add(Blocked(sleep=place[0]))
                case _:
                    pass
        return frozenset(found)

    def _script(self, world: World, place: Place) -> Sequence[Step]:
        pos, whose, number = place
        if whose == "body":
            return self.running(world, pos).body
        if whose == "approval":
            answerer = self.scenario.answerer(world.row(pos, "approval")[number])
            assert answerer is not None
            return answerer.script
        return self.hook(world, place).script


def _answered(world: World, pos: int, before: Execution) -> World:
    """The world that knows which listeners were just answered that do not wait for it (PRE-7)."""
    stage = world.call(pos).stage
    where = WATERFALLS.get(stage)
    pending = {one.listener for one in before.frames if one.pending}
    if where is None or not pending or WATERFALLS.get(before.stage) != where:
        return world
    for one in world.call(pos).frames:
        place: Place = (pos, where, one.listener)
        frame = world.frame(place)
        if one.listener in pending and not one.pending and frame is not None and not frame.delegating:
            world = world._replace(just_answered=world.just_answered | {place})
    return world


def _surrounded(execution: Execution, **now: Any) -> Execution:
    """The execution with other surroundings, where they have changed."""
    setup = execution.setup._replace(**now)
    return execution if setup == execution.setup else execution._replace(setup=setup)


def aborted(world: World) -> World:
    """The world after the batch's own signal has aborted: the batch and every call under way know it."""
    batch = world.batch
    if batch is not None and not batch.aborted and batch.lane not in chapter.ENDED:
        batch = step(batch, Abort()).state
    own = len(world.calls) - len(world.nested)
    calls = (*map(_hears, world.calls[:own]), *world.calls[own:])
    return spread(world._replace(aborted=True, batch=batch, calls=calls))


def spread(world: World) -> World:
    """The world in which calls that bodies made have heard of the aborts of those that made them."""
    if not world.nested:
        return world
    own = len(world.calls) - len(world.nested)
    for slot, (call, parent, _) in enumerate(world.nested, own):
        waits = call.signal == "own" and slot not in world.answered
        if waits and signals.signal_aborted(world.call(parent)):
            calls = (*world.calls[:slot], _hears(world.calls[slot]), *world.calls[slot + 1 :])
            world = world._replace(calls=calls)
    return world


def _hears(one: Execution | None) -> Execution | None:
    if one is None or one.aborted or one.stage in (Stage.DONE, Stage.LOST):
        return one
    return journey.step(one, journey.CallerAborts()).state


def abort_own(world: World, name: str) -> tuple[tuple[Key, ...], World]:
    """Abort the signal that a wrapper made last under a name, if it can still be aborted (CAN-4)."""
    found = next((one for one in world.signals if one[0] == name), None)
    if found is None:
        return (), world
    _, pos, which = found
    following = world._replace(signals=tuple(one for one in world.signals if one != found))
    execution = following.call(pos)
    if execution.stage in (Stage.EXECUTE, Stage.BODY) and which in execution.made:
        taken = journey.step(execution, journey.OwnSignalAborts(which))
        following = spread(following.with_call(pos, taken.state))
    return (("signal.aborted", None, (name,)),), following
