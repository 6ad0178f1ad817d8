"""What the scripts of a scenario do in a world, and what the harness sees of it.

One step of a script, one move of the machine of a call: everything here takes a world and answers the next
one, with the keys of the events that are seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gnomon_check.refinement import Key
from gnomon_check.scenario import Scenario
from gnomon_check.script_steps import Step
from gnomon_check.scripts import (
    PASSES,
    AbortSignalOf,
    Effect,
    Frame,
    Tell,
    WaitForAbort,
    WaitForGate,
    effect_at,
    passed,
)
from gnomon_check.world import Blocked, CallFacts, Place, World
from gnomon_spec import batch as chapter
from gnomon_spec import journey
from gnomon_spec.machine import (
    Abort,
    Action,
    step,
)
from gnomon_spec.vocabulary import (
    Event,
    EventName,
    OwnSignal,
    Stage,
)


@dataclass(frozen=True, slots=True)
class Move:
    """Something that may happen without the harness: what is seen of it, and where it leads."""

    keys: tuple[Key, ...]
    world: World
    action: Action | None = None


class Journeys:
    """The calls of a scenario, and their scripts."""

    def __init__(self, scenario: Scenario, facts: tuple[CallFacts, ...]) -> None:
        self.scenario = scenario
        self.facts = facts

    def common(self, world: World, pos: int, place: Place, effect: Effect) -> Iterator[Move]:
        """The steps that mean the same whoever takes them."""
        frame = world.frame(place)
        assert frame is not None
        after = world.with_frame(place, passed(frame))
        match effect:
            case WaitForGate(name) if name in world.opened:
                yield Move((), after)
            case Tell(text):
                yield Move((("noted", pos, (text,)),), after)
            case AbortSignalOf("caller"):
                keys: tuple[Key, ...] = () if world.signalled else (("signal.aborted", None, ("caller",)),)
                yield Move(keys, replace(aborted(after), signalled=True), Abort())
            case AbortSignalOf(name):
                execution = after.call(pos)
                if execution.own is OwnSignal.SET:
                    own = replace(execution, own=OwnSignal.ABORTED)
                    yield Move((("signal.aborted", None, (name,)),), after.with_call(pos, own))
                else:
                    yield Move((), after)

    def wants(self, world: World, pos: int, effects: list[Effect]) -> tuple[tuple[Key, ...], World]:
        keys: list[Key] = []
        for effect in effects:
            match effect:
                case Tell(text):
                    keys.append(("noted", pos, (text,)))
                case AbortSignalOf("caller"):
                    if not world.signalled:
                        keys.append(("signal.aborted", None, ("caller",)))
                    world = replace(aborted(world), signalled=True)
                case _:
                    pass
        return tuple(keys), world

    # -- the machine of a call ------------------------------------------------------------------

    def journey(self, world: World, pos: int, move: journey.Move, before: tuple[Key, ...] = ()) -> Move:
        taken = journey.step(world.call(pos), move)
        keys, following = self.seen(world.with_call(pos, taken.state), pos, taken.events)
        return Move((*before, *keys), following)

    def seen(self, world: World, pos: int, events: tuple[Event, ...]) -> tuple[tuple[Key, ...], World]:
        """What the harness sees of the events of a call, and the scripts that begin with them."""
        keys: list[Key] = []
        for event in events:
            match event.name:
                case EventName.POLICY_ENTERED | EventName.POLICY_DELEGATED | EventName.POLICY_DECIDED:
                    assert event.where is not None
                    assert event.listener is not None
                    hook = self.facts[pos].hooks[event.where][event.listener]
                    place: Place = (pos, event.where, event.listener)
                    if event.name is EventName.POLICY_ENTERED:
                        world = world.with_frame(place, Frame())
                        detail: tuple[object, ...] = (event.where, hook.id)
                    elif event.name is EventName.POLICY_DELEGATED:
                        nth = next(
                            one.delegated for one in world.call(pos).frames if one.listener == event.listener
                        )
                        detail = (event.where, hook.id, nth)
                    else:
                        detail = (event.where, hook.id, event.what)
                    keys.append((str(event.name), pos, detail))
                case EventName.GUARD_ANSWERED:
                    guard = self.facts[pos].guards[event.listener or 0]
                    keys.append((str(event.name), pos, (guard.id, event.what)))
                case EventName.BODY_STARTED:
                    attempts = list(world.attempts)
                    attempts[pos] += 1
                    world = replace(world, attempts=tuple(attempts)).with_frame((pos, "body", 0), Frame())
                    keys.append((str(event.name), pos, (attempts[pos],)))
                case EventName.BODY_SETTLED:
                    keys.append((str(event.name), pos, (world.attempts[pos], event.how)))
                case EventName.CONTEXT_DEFERRED:
                    keys.append((str(event.name), pos, (event.context,)))
                case EventName.APPROVAL_ASKED:
                    keys.append((str(event.name), pos, ()))
                case EventName.APPROVAL_DECIDED:
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
        for pos, execution in enumerate(world.calls):
            approval = self.scenario.approval
            if execution is None or execution.stage is not Stage.APPROVAL:
                continue
            if approval is not None and not approval.answerers:
                found.add(Blocked(gate=f"approval:{pos}"))
        for place, frame in world.frames:
            match effect_at(self._script(place), frame, place[0], PASSES):
                case WaitForGate(name) if not frame.delegating:
                    found.add(Blocked(gate=name))
                case WaitForAbort() if not frame.delegating:
                    found.add(Blocked(await_abort=place[0]))
                case _:
                    pass
        return frozenset(found)

    def _script(self, place: Place) -> Sequence[Step]:
        pos, whose, number = place
        facts = self.facts[pos]
        if whose == "body":
            return facts.tool.body if facts.tool is not None else []
        if whose == "approval":
            assert self.scenario.approval is not None
            return self.scenario.approval.answerers[0].script
        return facts.hooks[whose][number].script


def aborted(world: World) -> World:
    """The world after the batch's own signal has aborted: the batch and every call under way know it."""
    batch = world.batch
    if batch is not None and not batch.aborted and batch.lane not in chapter.ENDED:
        batch = step(batch, Abort()).state
    over = (None, Stage.DONE, Stage.LOST)
    calls = tuple(
        one if one is None or one.aborted or one.stage in over else replace(one, aborted=True)
        for one in world.calls
    )
    return replace(world, aborted=True, batch=batch, calls=calls)
