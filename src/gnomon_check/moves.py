"""What may happen next in a world: the lane, the calls, and the scripts, each by its own rules.

The machine of the batch says what the lane may do, the machine of a call what comes next in it, and
the scripts what listeners, guards and bodies want. Here they are put together; the rules are theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from gnomon_check import decisions
from gnomon_check.hostile import realised
from gnomon_check.journeys import Move, aborted
from gnomon_check.policies import Policies, Rendered
from gnomon_check.refinement import Key, key_of_spec
from gnomon_check.script_steps import Execute
from gnomon_check.scripts import (
    AskToConclude,
    EndCancelled,
    EndRaised,
    EndReturned,
    HandOver,
    MakeCall,
    SetOnCancel,
    WaitForAbort,
    WaitForTime,
    effect_at,
    interruption,
    passed,
)
from gnomon_check.world import Place, World, nonce_of, value_of
from gnomon_spec import admission, dispatch, journey, signals
from gnomon_spec import batch as chapter
from gnomon_spec.batch import Batch
from gnomon_spec.machine import (
    Abort,
    Action,
    BeginCommit,
    BodyStarts,
    CallUnlogged,
    Close,
    Commits,
    DispatchSettles,
    Notice,
    PairUnfinished,
    Prepared,
    Raise,
    Skip,
    Start,
    lane_moves,
    step,
)
from gnomon_spec.vocabulary import (
    Event,
    EventName,
    Execution,
    Fault,
    FinalResult,
    How,
    Lane,
    Outcome,
    Phase,
    PostResult,
    ResultAnswer,
    Stage,
    ToDispatch,
)

_step = lru_cache(maxsize=4096)(step)
"""The machine of a batch only looks at what it is given, so what it has said once it says again."""


@lru_cache(maxsize=4096)
def _lane_moves(batch: Batch, live: bool) -> tuple[Action, ...]:
    return tuple(lane_moves(batch, live))


class Moves(Policies):
    """What may happen next, in a scenario."""

    def of(self, world: World) -> Iterator[Move]:
        """Everything that may happen next in a world; where nothing else may, time goes on."""
        still = True
        for move in self._without_time(world):
            still = False
            yield move
        if still and world.now < world.until:
            yield Move((), world._replace(now=min(self._moments(world), default=world.until)))

    def _moments(self, world: World) -> Iterator[int]:
        """When something is to happen, as far as time goes on."""
        wakes = (frame.wakes for _, frame in world.frames if frame.wakes is not None)
        for moment in (*wakes, *(deadline for _, deadline in world.deadlines)):
            if world.now < moment <= world.until:
                yield moment

    def _without_time(self, world: World) -> Iterator[Move]:
        batch = world.batch
        if world.due:
            yield Move(world.due[:1], world._replace(due=world.due[1:]))
        for slot, keys in world.due_apart:
            yield Move(keys[:1], world.with_due(keys[1:], slot))
        if batch is None or world.crashed:
            return
        if world.landing:
            yield Move((), aborted(world._replace(landing=False)), Abort())
        for pos, moment in world.deadlines:
            if moment <= world.now and signals.refuse_deadline(world.call(pos)) is None:
                yield self.journey(world, pos, journey.DeadlinePasses())
        for pos, _ in world.asking:
            yield from (self._handed_on(move, pos) for move in self.answerers(world, pos))
        apart = {slot for slot, _ in world.due_apart}
        for slot in range(len(self.facts), len(world.calls)):
            if slot not in apart:
                yield from self._alone(world, slot)
        if self.scenario.mode == "single":
            yield from () if world.due else self._alone(world, 0)
            return
        if not world.due:
            yield from self._lane(world, batch)
        waiting = {pos for _, pos, _ in world.due}
        for pos, one in enumerate(batch.calls):
            if one.phase in chapter.LIVE and pos not in waiting:
                yield from (self._handed_back(move, pos) for move in self._dispatch(world, pos))

    # -- a call outside of any batch ------------------------------------------------------------

    def _alone(self, world: World, pos: int) -> Iterator[Move]:
        """What may happen next to a call of its own: the same stages, without a lane and without a log."""
        execution = world.calls[pos]
        if pos in world.answered:
            return
        if execution is None:
            yield self._created(world, pos)
            return
        match execution.stage:
            case Stage.SETTLED:
                yield self.journey(world, pos, journey.Finalizes())
            case Stage.APPROVAL | Stage.PRE:
                yield from (self._handed_on(one, pos) for one in self._asked(world, pos))
            case Stage.PREPARED | Stage.EXECUTE | Stage.BODY:
                yield from (self._handed_back(one, pos) for one in self._dispatch(world, pos))
            case Stage.DONE | Stage.LOST:
                if all(asked != pos for asked, _ in world.asking):
                    yield self._answered(world, pos, execution)
            case _:
                yield from self._finish(world, pos)

    def _answered(self, world: World, pos: int, execution: Execution) -> Move:
        over = world._replace(answered=world.answered | {pos})
        if pos >= len(self.facts):
            return self._hands_back(over, pos, execution)
        if execution.stage is Stage.LOST or execution.outcome is None:
            return Move((("batch.failed", None, ()),), over)
        if world.cancelled:
            return Move((("batch.closed", None, ("cancelled", False)),), over)  # PY-3
        closed: Key = ("batch.closed", None, ("returned", execution.outcome.concludes))
        return Move((_returned(pos, execution.outcome), closed), over)

    def _made(self, world: World, pos: int, call: Execute) -> Move:
        """Let a body make another call (PTC-8): it is its own tree, but for what it is given."""
        slot = len(world.calls)
        attempt = world.attempts[pos]
        made = world._replace(
            nested=(*world.nested, (call, pos, attempt)),
            calls=(*world.calls, None),
            attempts=(*world.attempts, 0),
        )
        return Move((("batch.opened", slot, (pos, attempt)),), made)

    def _hands_back(self, world: World, pos: int, execution: Execution) -> Move:
        """Hand the result of a call to the body that made it."""
        _, parent, _ = world.nested[pos - len(self.facts)]
        place: Place = (parent, "body", 0)
        if execution.stage is Stage.LOST or execution.outcome is None:
            return self._handed_back(self._body_ends(world, parent, dispatch.Struck(), How.RAISED), parent)
        frame = world.frame(place)
        assert frame is not None
        return Move((_returned(pos, execution.outcome),), world.with_frame(place, passed(frame)))

    # -- the lane -------------------------------------------------------------------------------

    def _lane(self, world: World, batch: Batch) -> Iterator[Move]:
        asked = any(frames is not None for _, frames in world.asking)
        for action in _lane_moves(batch, self.scenario.changes):
            if asked and isinstance(action, Close | Raise):
                continue  # PY-13: the batch does not return before an approver has ended
            match action:
                case Start(pos) | Skip(pos) if self.scenario.fails_to_append("tool/call", pos + 1):
                    yield self._take(world, CallUnlogged(pos))
                case Skip(pos) if self.scenario.fails_to_append("tool/result", pos + 1):
                    yield self._take(world, PairUnfinished(pos))
                case Start(pos):
                    yield self._start(world, pos)
                case BeginCommit(pos):
                    begun = self._take(world, action)
                    yield self.journey(begun.world, pos, journey.Finalizes(), begun.keys)
                case Commits(pos):
                    yield from self._finish(world, pos)
                case Notice():
                    yield self._take(world, action)._replace(urgent=_starts_no_more(batch))
                case _:
                    yield self._take(world, action)
        if batch.lane is Lane.PREPARING:
            yield from self._prepare(world, batch.next_start - 1)
        elif batch.lane is Lane.COMMITTING:
            yield from self._finish(world, batch.committed)

    def _take(self, world: World, action: Action) -> Move:
        assert world.batch is not None
        taken = _step(world.batch, action)
        keys: list[Key] = []
        for event in taken.events:
            keys.append(self._batch_key(world, event))
            if event.name is EventName.RESULT_LOGGED and event.outcome is not None:
                keys.extend(("context.accepted", event.pos, (context,)) for context in event.outcome.contexts)
        return Move(tuple(keys), world._replace(batch=taken.state), action)

    def _batch_key(self, world: World, event: Event) -> Key:
        name, pos, detail = key_of_spec(event)
        if event.name is EventName.BATCH_CLOSED:
            assert world.batch is not None
            concluded = any(one.outcome is not None and one.outcome.concludes for one in world.batch.calls)
            return (
                name,
                pos,
                ("cancelled" if world.cancelled else "returned", concluded and not world.cancelled),
            )
        return (name, pos, detail)

    def _start(self, world: World, pos: int) -> Move:
        started = self._take(world, Start(pos))
        created = self._created(started.world, pos)
        return created._replace(keys=(*started.keys, *created.keys), action=started.action)

    def _created(self, world: World, pos: int) -> Move:
        """Create the execution of a call; it takes from the layers what belongs to it for good (CRE-3)."""
        facts = self.fact(world, pos)
        created = admission.create(self.setup(world, pos), self._signal_of_caller(world, pos))
        visible = world.layers.visible(facts.name)
        following = world.with_call(pos, created.state)
        following = following.with_row(pos, "created", () if visible is None else (visible[0],))
        row = world.layers.row("pre_execute", facts.name, pos)
        keys, following = self.seen(following.with_row(pos, "pre_execute", row), pos, created.events)
        return self._handed_on(Move(keys, following), pos)

    def _signal_of_caller(self, world: World, pos: int) -> bool:
        """Whether the signal has aborted that a call was given."""
        if pos < len(self.facts):
            return world.aborted
        call, parent, _ = world.nested[pos - len(self.facts)]
        return call.signal == "own" and signals.signal_aborted(world.call(parent))

    def _handed_on(self, move: Move, pos: int) -> Move:
        """Guards are asked at once, and a call that they let through is dispatched in the same breath."""
        move = self.guards(move, pos)
        if move.world.call(pos).stage is not Stage.PREPARED or not self.of_batch(pos):
            return move
        return move._replace(world=self._take(move.world, Prepared(pos, ToDispatch())).world)

    def _prepare(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        match execution.stage:
            case Stage.SETTLED | Stage.SETTLED_FINAL | Stage.LOST:
                yield self._take(world, Prepared(pos, _settled(execution)))
            case _:
                yield from (self._handed_on(one, pos) for one in self._asked(world, pos))

    def _asked(self, world: World, pos: int) -> Iterator[Move]:
        if world.call(pos).stage is Stage.APPROVAL:
            yield from self.approval(world, pos)
        else:
            yield from self.listener(world, pos)

    def _finish(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        tool = self.created_with(world, pos)
        match execution.stage:
            case Stage.SETTLED_FINAL:
                yield self.journey(world, pos, journey.Finalizes())._replace(urgent=True)
            case Stage.PROJECT:
                projection = tool.project if tool is not None else None
                yield self.changed(world, pos, projection or [], journey.Projects)
            case Stage.FINALIZE:
                last_word = tool.finalize if tool is not None else None
                yield self.changed(world, pos, last_word or [], journey.FinalizesContent)
            case Stage.OBSERVE:
                yield self.observe(world, pos)
            case Stage.DONE:
                assert execution.outcome is not None
                yield self._commit(world, pos, execution.outcome)
            case Stage.LOST:
                yield self._take(world, Commits(pos, Fault()))
            case _:
                yield from self.listener(world, pos)

    def _commit(self, world: World, pos: int, outcome: Outcome) -> Move:
        """Log a result. A call that is a success by now looked at the signal before it aborted (CAN-1)."""
        assert world.batch is not None
        if self.scenario.fails_to_append("tool/result", pos + 1):
            return self._take(world, Commits(pos, Fault()))  # LOG-3
        if outcome.is_error or not world.batch.aborted:
            return self._take(world, Commits(pos, outcome))
        looked = world._replace(batch=world.batch._replace(aborted=False))
        committed = self._take(looked, Commits(pos, outcome))
        assert committed.world.batch is not None
        batch = committed.world.batch._replace(aborted=world.batch.aborted)
        return committed._replace(world=committed.world._replace(batch=batch))

    # -- dispatch -------------------------------------------------------------------------------

    def _dispatch(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        match execution.stage:
            case Stage.PREPARED:
                dispatched = self.journey(world, pos, journey.Dispatches())
                # Which wrappers there are is all that it looks at.
                yield dispatched._replace(urgent=not dispatched.keys and not self.scenario.changes)
            case Stage.BODY:
                yield from self._body(world, pos)
                yield from self.listener(world, pos)
            case _:
                if journey.listener_running(execution) is None:
                    yield self._reach_body(world, pos)
                yield from self.listener(world, pos)

    def _handed_back(self, move: Move, pos: int) -> Move:
        """A call whose dispatch has ended is settled in the same breath, for the lane if it has one."""
        execution = move.world.call(pos)
        if execution.stage not in (Stage.SETTLED, Stage.SETTLED_FINAL, Stage.LOST):
            return move
        following = move.world
        if self.of_batch(pos):
            # What is seen of the body was seen when it ended.
            following = self._take(following, DispatchSettles(pos, _settled(execution))).world
        if execution.stage is Stage.LOST:
            following = self.interrupted(following, pos)
        return move._replace(world=following)

    def _reach_body(self, world: World, pos: int) -> Move:
        facts = self.fact(world, pos)
        tool = self.callable(world, pos)  # DSP-4
        visible = world.layers.visible(facts.name)
        ready = world if visible is None else world.with_row(pos, "body", (visible[0],))
        reached = self.journey(ready, pos, journey.ReachesBody(tool is not None, facts.fits(tool)))
        following = reached.world
        if following.call(pos).stage is Stage.BODY and self.of_batch(pos):
            assert following.batch is not None
            if following.batch.calls[pos].phase is Phase.DISPATCHED:
                following = following._replace(batch=step(following.batch, BodyStarts(pos)).state)
        return reached._replace(world=following)

    def _body(self, world: World, pos: int) -> Iterator[Move]:
        place: Place = (pos, "body", 0)
        frame = world.frame(place)
        tool = self.running(world, pos)
        assert frame is not None
        execution = world.call(pos)
        attempt = world.attempts[pos]
        cancels = tool.interrupt == "cancel"
        effect = effect_at(tool.body, frame, pos)
        match effect:
            case WaitForAbort() | WaitForTime() if (
                cancels and not frame.interrupted and signals.signal_aborted(execution)
            ):
                interrupted = world.with_frame(place, interruption(frame))
                yield Move((("body.interrupted", pos, (attempt,)),), interrupted)
                if isinstance(effect, WaitForTime):  # both may come at once
                    yield from self.common(world, pos, place, effect)
            case WaitForAbort() if signals.signal_aborted(execution):
                source = str(execution.cause).split("#")[0]
                after = world.with_frame(place, passed(frame))
                yield Move((("body.signalled", pos, (attempt, source)),), after)
            case MakeCall(call):
                if not frame.calling:
                    calling = world.with_frame(place, frame._replace(calling=True))
                    yield self._made(calling, pos, call)
            case HandOver(context):
                yield self.journey(world.with_frame(place, passed(frame)), pos, journey.Defers(context))
            case AskToConclude():
                yield self.journey(world.with_frame(place, passed(frame)), pos, journey.Concludes())
            case SetOnCancel(changed):
                yield Move((), world.with_frame(place, changed), urgent=True)
            case EndReturned(value, is_nonce):
                given = realised(value_of(value, pos))
                fits = decisions.fits_schema(tool.output.schema_, given)
                seen, following, rendered = self.rendered(world, pos) if fits else ((), world, Rendered.FAILS)
                # A nonce shows only where the value is rendered as it is.
                nonce = nonce_of(pos) if is_nonce and tool.render is None else None
                end: dispatch.BodyEnd = dispatch.Returned(nonce, rendered is Rendered.FITS)
                if rendered is Rendered.STRIKES:
                    end = dispatch.Struck()
                ended = self._body_ends(following, pos, end, How.RETURNED)
                settled, *others = ended.keys  # it is rendered once the body has settled (OUT-2)
                yield ended._replace(keys=(settled, *seen, *others))
            case EndRaised(what) if what.kind == "cancelled":
                asked = cancels and signals.signal_aborted(execution)
                yield self._body_ends(world, pos, dispatch.Cancelled(asked), How.CANCELLED)
            case EndRaised(what):
                end = dispatch.Struck() if what.kind == "keyboard" else dispatch.Raised(what.code)
                yield self._body_ends(world, pos, end, How.RAISED)
            case EndCancelled():
                yield self._body_ends(world, pos, dispatch.Cancelled(asked=True), How.CANCELLED)
            case _:
                yield from self.common(world, pos, place, effect)

    def _body_ends(self, world: World, pos: int, end: dispatch.BodyEnd, how: How) -> Move:
        ended = self.journey(world, pos, journey.BodyEnds(end, how))
        return ended._replace(world=ended.world.with_frame((pos, "body", 0), None))


def _starts_no_more(batch: Batch) -> bool:
    """Whether no call of a batch starts any more: then when the lane notices what settles does not matter."""
    return batch.aborted or batch.failed or batch.next_start == len(batch.calls)


def _returned(pos: int, outcome: Outcome) -> Key:
    """What is seen of a result that goes to whoever made the call, and into no log."""
    _, _, (ok, code, nonce) = key_of_spec(Event(EventName.RESULT_LOGGED, pos, outcome=outcome))
    return ("result.returned", pos, (ok, code, nonce, outcome.contexts))


def _settled(execution: Execution) -> ResultAnswer:
    if execution.stage is Stage.LOST or execution.outcome is None:
        return Fault()
    if execution.stage is Stage.SETTLED:
        return PostResult(execution.outcome)
    return FinalResult(execution.outcome)
