"""The oracle: the set of states of the specification that fit what was seen.

The specification says what the lane and each call may do; the scripts of a scenario say what bodies,
listeners and guards do. Both together are a machine with choices (freedom), so the oracle keeps every
state that the events so far allow. An event that no state allows is a disagreement; so is a `quiet` at
which something could still happen, or at which other gates block than those reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gnomon_check.changes import change_of
from gnomon_check.journeys import Move, abort_own, aborted
from gnomon_check.layers import Layers, layers_of
from gnomon_check.moves import Moves
from gnomon_check.refinement import Key
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import (
    AbortInputStep,
    AdvanceStep,
    ApproveStep,
    CallKeptStep,
    CancelStep,
    CrashStep,
    OpenStep,
    ReleaseStep,
    RepairStep,
    RequestModelStep,
    ScheduleStep,
    SingleStep,
    inputs_of,
)
from gnomon_check.world import Blocked, World, facts_of, nonce_of
from gnomon_spec import batch as chapter
from gnomon_spec import session
from gnomon_spec.kernel import Refused
from gnomon_spec.session import AnnouncedCall, Kind, Record
from gnomon_spec.visibility import model_tools
from gnomon_spec.vocabulary import Lane

__all__ = ["Blocked", "Move", "Oracle", "World", "nonce_of"]


class Oracle:
    """Follows one batch of a scenario, input by input and event by event."""

    def __init__(
        self, scenario: Scenario, starts: frozenset[Layers] | None = None, *, thorough: bool = True
    ) -> None:
        """Stand before the batch. `starts`: what may stand in the layers by then; without it, what does at
        the start of the scenario.

        `thorough` says to keep every state that fits. Otherwise what is urgent comes first, before anything
        else is looked at: fewer states, and the same is followed and refused, but not all is told of it.
        """
        self.scenario = scenario
        self._thorough = thorough
        self.facts = facts_of(scenario)
        self._moves = Moves(scenario, self.facts)
        self.starts = frozenset([layers_of(scenario)]) if starts is None else starts
        self.worlds: tuple[World, ...] = _distinct(World(layers) for layers in self.starts)
        """Each once, and always in the same order, so that the same is told of the same."""
        self.seen: list[Key] = []
        """What was followed, where every state is kept."""

    # -- inputs ---------------------------------------------------------------------------------

    def take(self, step: ScheduleStep) -> None:
        """Take a step of the schedule."""
        self.worlds = _distinct(self.after(world, step) for world in self.worlds)

    def input(self, given: SingleStep) -> None:
        """Take an input."""
        self.worlds = _distinct(self._after_input(world, given) for world in self.worlds)

    def after(self, world: World, step: ScheduleStep) -> World:
        """The state after a step of the schedule: its inputs, a crash, or the repair of a log."""
        for one in inputs_of(step):
            world = self._after_input(world, one)
        match step:
            case CrashStep():  # what was logged is all that is left
                return world._replace(crashed=True, frames=(), asking=(), deadlines=())
            case RepairStep():  # what is added to it is to be seen next (REP-1)
                return world._replace(due=self._repaired(world), repaired=True)
            case _:
                return world

    def _after_input(self, world: World, given: SingleStep) -> World:
        if world.just_answered:
            world = world._replace(just_answered=frozenset())
        match given:
            case OpenStep():
                modes = tuple(one.mode(world.layers) for one in self.facts)
                batch = chapter.open_batch(modes, self.scenario.limits.max_parallel).state
                return world._replace(
                    batch=batch._replace(aborted=world.aborted),
                    calls=(None,) * len(modes),
                    attempts=(0,) * len(modes),
                )
            case ReleaseStep(release=release):
                return world._replace(opened=world.opened | {release.gate})
            case ApproveStep(approve=approve):
                if any(pos == approve.pos for pos, _ in world.approvals):
                    return world  # the first answer counts
                return world._replace(approvals=(*world.approvals, (approve.pos, approve.outcome)))
            case AbortInputStep(abort=abort) if abort.signal != "caller":
                return abort_own(world, abort.signal)[1]
            case AbortInputStep():
                return aborted(world)._replace(signalled=True)
            case AdvanceStep(advance=advance):
                return world._replace(until=world.until + advance.ms)
            case CancelStep():
                # When the cancellation reaches the waiting task is free: until then bodies may go on.
                return world if self.idle(world) else world._replace(cancelled=True, landing=True)
            case CallKeptStep(call_kept=kept):
                place, late = dict(world.kept).get(kept.name, ((0, "", 0), False))
                refused: Key = ("op.refused", place[0], ("next",))
                return world._replace(due=(*world.due, refused)) if late else world  # PRE-7
            case RequestModelStep():
                return world._replace(due=(*world.due, self._shown_to_the_model(world)))
            case _:
                # Whether it is refused is to be seen before anything else.
                keys, following = self._moves.change(world, change_of(given))
                return following._replace(due=(*world.due, *keys))

    def _shown_to_the_model(self, world: World) -> Key:
        shown = model_tools(world.layers.registry, self.scenario.caller)
        if isinstance(shown, Refused):
            return ("model.requested", None, ((), True))
        return ("model.requested", None, (tuple(str(one["name"]) for one in shown), False))

    def _repaired(self, world: World) -> tuple[Key, ...]:
        batch = world.batch
        if batch is None or batch.lane is Lane.RETURNED or world.repaired:
            return ()
        calls = [AnnouncedCall(str(pos)) for pos in range(len(batch.calls))]
        log = [Record(Kind.TURN_START), Record(Kind.STEP_START)]
        log.append(Record(Kind.ASSISTANT_CALLS, calls=tuple(calls)))
        log += [Record(Kind.TOOL_CALL, call=one) for one in calls[: max(batch.next_start, batch.committed)]]
        log += [Record(Kind.TOOL_RESULT, call=calls[pos], cites=3 + pos) for pos in range(batch.committed)]
        keys: list[Key] = []
        for record in session.repair(log):
            if record.call is not None and record.kind == Kind.TOOL_CALL:
                keys.append(("call.logged", int(record.call.call_id), ()))
            elif record.call is not None:
                keys.append(("result.logged", int(record.call.call_id), (False, str(record.code), None)))
        return tuple(keys)

    @property
    def layers(self) -> frozenset[Layers]:
        """What may stand in the layers by now."""
        return frozenset(world.layers for world in self.worlds)

    # -- following what was seen ----------------------------------------------------------------

    def moves(self, world: World) -> Iterator[Move]:
        """Everything that may happen next in a state."""
        return self._moves.of(world)

    def closure(self) -> dict[World, tuple[Move, ...]]:
        """The states that may have been reached with nothing more to be seen, and what may follow each."""
        reached: dict[World, tuple[Move, ...]] = {}
        left = list(self.worlds)
        while left:
            world = left.pop()
            if world not in reached:
                world, moves = self._looked_at(world)
                reached[world] = moves
                left.extend(move.world for move in moves if not move.keys)
        return reached

    def _looked_at(self, world: World) -> tuple[World, tuple[Move, ...]]:
        """A state, once what is urgent in it has happened, and what may happen next."""
        moves = []
        for move in self.moves(world):
            if move.urgent and not self._thorough:
                return self._looked_at(move.world)
            moves.append(move)
        return world, tuple(moves)

    def allowed(self) -> frozenset[Key]:
        """The events that could come next."""
        return frozenset(move.keys[0] for moves in self.closure().values() for move in moves if move.keys)

    def see(self, *keys: Key) -> bool:
        """Follow an event, which is one of these; False, and nothing changed, where no state allows it."""
        following = _distinct(
            move.begun()
            for moves in self.closure().values()
            for move in moves
            if move.keys and move.keys[0] in keys
        )
        if not following:
            return False
        self.worlds = following
        if self._thorough:
            self.seen.append(keys[0])
        return True

    def quiet(self, blocked: frozenset[Blocked], idle: bool) -> bool:
        """Follow a `quiet`; False, and nothing changed, where no state is quiet in that way."""
        fitting = tuple(
            world
            for world in self.quiet_worlds()
            if self.blocked(world) == blocked and self.idle(world) == idle
        )
        if not fitting:
            return False
        self.worlds = fitting
        return True

    def rest(self) -> tuple[World, ...]:
        """Follow a quiet of which nothing is known: whatever may happen unseen, has happened.

        Answers the states that are quiet; where there is none, nothing is changed.
        """
        quiet = self.quiet_worlds()
        self.worlds = quiet or self.worlds
        return quiet

    def quiet_worlds(self) -> tuple[World, ...]:
        """The states that may have been reached, and in which nothing can happen without the harness."""
        return tuple(world for world, moves in self.closure().items() if not moves)

    def blocked(self, world: World) -> frozenset[Blocked]:
        """What blocks the scripts in a state."""
        return self._moves.blocked(world)

    def _answered(self, world: World) -> bool:
        return self.scenario.mode == "single" and 0 in world.answered

    def idle(self, world: World) -> bool:
        """Whether no batch is under way."""
        ended = world.batch is None or world.batch.lane in chapter.ENDED
        return ended or world.crashed or self._answered(world)


def _distinct(worlds: Iterable[World]) -> tuple[World, ...]:
    return tuple(dict.fromkeys(worlds))
