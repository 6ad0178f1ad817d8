"""What may happen next in a world: the lane, the calls, and the scripts, each by its own rules.

The machine of the batch says what the lane may do, the machine of a call what comes next in it, and
the scripts what listeners, guards and bodies want. Here they are put together; the rules are theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gnomon_check import decisions
from gnomon_check.hostile import realised
from gnomon_check.journeys import Journeys, Move, aborted
from gnomon_check.refinement import Key, key_of_spec
from gnomon_check.script_steps import Step
from gnomon_check.scripts import (
    ANSWERS_NOTHING,
    PASSES,
    RETURNS_NULL,
    AskToConclude,
    CallNext,
    End,
    EndAnswered,
    EndAuthored,
    EndCancelled,
    EndDecided,
    EndDenied,
    EndNothing,
    EndPassed,
    EndRaised,
    EndReturned,
    Frame,
    HandOver,
    PutBackSignal,
    PutSignal,
    SetOnCancel,
    WaitForAbort,
    effect_at,
    interruption,
    passed,
    sync_effects,
)
from gnomon_check.world import Place, World, nonce_of, value_of
from gnomon_spec import admission, dispatch, journey
from gnomon_spec import batch as chapter
from gnomon_spec.batch import Batch
from gnomon_spec.machine import (
    Abort,
    Action,
    BeginCommit,
    BodyStarts,
    Commits,
    DispatchSettles,
    Prepared,
    Start,
    lane_moves,
    step,
)
from gnomon_spec.vocabulary import (
    Accept,
    Allow,
    Answer,
    Approval,
    Change,
    Decision,
    Event,
    EventName,
    Execution,
    Fault,
    FinalResult,
    How,
    Lane,
    Malformed,
    Outcome,
    OwnSignal,
    Phase,
    PostResult,
    ResultAnswer,
    Stage,
    ToDispatch,
    Verdict,
)

WATERFALLS = {
    Stage.PRE: "pre_execute",
    Stage.EXECUTE: "execute",
    Stage.BODY: "execute",
    Stage.POST: "post_execute",
}


class Moves(Journeys):
    """What may happen next, in a scenario."""

    def of(self, world: World) -> Iterator[Move]:
        """Everything that may happen next in a world."""
        batch = world.batch
        if batch is None:
            return
        if world.landing:
            yield Move((), aborted(replace(world, landing=False)), Abort())
        if world.due:
            yield Move(world.due[:1], replace(world, due=world.due[1:]))
        else:
            yield from self._lane(world, batch)
        for pos, one in enumerate(batch.calls):
            if one.phase in chapter.LIVE:
                yield from (self._handed_back(move, pos) for move in self._dispatch(world, pos))

    # -- the lane -------------------------------------------------------------------------------

    def _lane(self, world: World, batch: Batch) -> Iterator[Move]:
        for action in lane_moves(batch):
            match action:
                case Start(pos):
                    yield self._start(world, pos)
                case BeginCommit(pos):
                    begun = self._take(world, action)
                    yield self.journey(begun.world, pos, journey.Finalizes(), begun.keys)
                case Commits(pos):
                    yield from self._finish(world, pos)
                case _:
                    yield self._take(world, action)
        if batch.lane is Lane.PREPARING:
            yield from self._prepare(world, batch.next_start - 1)
        elif batch.lane is Lane.COMMITTING:
            yield from self._finish(world, batch.committed)

    def _take(self, world: World, action: Action) -> Move:
        assert world.batch is not None
        taken = step(world.batch, action)
        keys: list[Key] = []
        for event in taken.events:
            keys.append(self._batch_key(world, event))
            if event.name is EventName.RESULT_LOGGED and event.outcome is not None:
                keys.extend(("context.accepted", event.pos, (context,)) for context in event.outcome.contexts)
        return Move(tuple(keys), replace(world, batch=taken.state), action)

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
        created = admission.create(self.facts[pos].setup, world.aborted)
        following = started.world.with_call(pos, created.state)
        keys, following = self.seen(following, pos, created.events)
        return self._handed_on(Move((*started.keys, *keys), following, started.action), pos)

    def _handed_on(self, move: Move, pos: int) -> Move:
        """A call whose preparation has let it through is dispatched in the same breath (GRD-5)."""
        if move.world.call(pos).stage is not Stage.PREPARED:
            return move
        return replace(move, world=self._take(move.world, Prepared(pos, ToDispatch())).world)

    def _prepare(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        match execution.stage:
            case Stage.SETTLED | Stage.SETTLED_FINAL | Stage.LOST:
                yield self._take(world, Prepared(pos, _settled(execution)))
            case Stage.APPROVAL:
                yield from (self._handed_on(one, pos) for one in self._approval(world, pos))
            case Stage.GUARDS:
                yield self._handed_on(self._guard(world, pos), pos)
            case _:
                yield from (self._handed_on(one, pos) for one in self._listener(world, pos))

    def _finish(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        facts = self.facts[pos]
        match execution.stage:
            case Stage.SETTLED_FINAL:
                yield self.journey(world, pos, journey.Finalizes())
            case Stage.PROJECT:
                projection = facts.tool.project if facts.tool is not None else None
                yield self._change(world, pos, projection or [], journey.Projects)
            case Stage.FINALIZE:
                last_word = facts.tool.finalize if facts.tool is not None else None
                yield self._change(world, pos, last_word or [], journey.FinalizesContent)
            case Stage.OBSERVE:
                yield self._observe(world, pos)
            case Stage.DONE:
                assert execution.outcome is not None
                yield self._commit(world, pos, execution.outcome)
            case Stage.LOST:
                yield self._take(world, Commits(pos, Fault()))
            case _:
                yield from self._listener(world, pos)

    def _commit(self, world: World, pos: int, outcome: Outcome) -> Move:
        """Log a result. A call that is a success by now looked at the signal before it aborted (CAN-1)."""
        assert world.batch is not None
        if outcome.is_error or not world.batch.aborted:
            return self._take(world, Commits(pos, outcome))
        looked = replace(world, batch=world.batch._replace(aborted=False))
        committed = self._take(looked, Commits(pos, outcome))
        assert committed.world.batch is not None
        batch = committed.world.batch._replace(aborted=world.batch.aborted)
        return replace(committed, world=replace(committed.world, batch=batch))

    # -- dispatch -------------------------------------------------------------------------------

    def _dispatch(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        match execution.stage:
            case Stage.PREPARED:
                yield self.journey(world, pos, journey.Dispatches())
            case Stage.BODY:
                yield from self._body(world, pos)
            case _:
                if journey.listener_running(execution) is None:
                    yield self._reach_body(world, pos)
                else:
                    yield from self._listener(world, pos)

    def _handed_back(self, move: Move, pos: int) -> Move:
        """A call whose dispatch has ended is settled for the lane in the same breath."""
        execution = move.world.call(pos)
        if execution.stage not in (Stage.SETTLED, Stage.SETTLED_FINAL, Stage.LOST):
            return move
        # What is seen of the body was seen when it ended.
        settled = self._take(move.world, DispatchSettles(pos, _settled(execution)))
        following = settled.world
        if execution.stage is Stage.LOST:
            # What is meant for the whole process also aborts the batch, so that its bodies end (PY-4).
            following = aborted(following)
        return replace(move, world=following)

    def _reach_body(self, world: World, pos: int) -> Move:
        facts = self.facts[pos]
        reached = self.journey(world, pos, journey.ReachesBody(facts.tool is not None, facts.fit))
        following = reached.world
        if following.call(pos).stage is Stage.BODY:
            assert following.batch is not None
            if following.batch.calls[pos].phase is Phase.DISPATCHED:
                following = replace(following, batch=step(following.batch, BodyStarts(pos)).state)
        return replace(reached, world=following)

    def _body(self, world: World, pos: int) -> Iterator[Move]:
        place: Place = (pos, "body", 0)
        frame = world.frame(place)
        facts = self.facts[pos]
        assert frame is not None
        assert facts.tool is not None
        execution = world.call(pos)
        attempt = world.attempts[pos]
        effect = effect_at(facts.tool.body, frame, pos)
        after = world.with_frame(place, passed(frame))
        match effect:
            case WaitForAbort() if dispatch.signal_aborted(execution):
                if facts.cancels and not frame.interrupted:
                    interrupted = world.with_frame(place, interruption(frame))
                    yield Move((("body.interrupted", pos, (attempt,)),), interrupted)
                else:
                    for source in _sources(execution):
                        yield Move((("body.signalled", pos, (attempt, source)),), after)
            case HandOver(context):
                yield self.journey(after, pos, journey.Defers(context))
            case AskToConclude():
                yield self.journey(after, pos, journey.Concludes())
            case SetOnCancel(changed):
                yield Move((), world.with_frame(place, changed))
            case EndReturned(value, is_nonce):
                given = realised(value_of(value, pos))
                fits = decisions.fits_schema(facts.tool.output.schema_, given)
                end: dispatch.BodyEnd = dispatch.Returned(nonce_of(pos) if is_nonce else None, fits)
                yield self._body_ends(world, pos, end, How.RETURNED)
            case EndRaised(what) if what.kind == "cancelled":
                asked = facts.cancels and dispatch.signal_aborted(execution)
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
        return replace(ended, world=ended.world.with_frame((pos, "body", 0), None))

    # -- listeners ------------------------------------------------------------------------------

    def _listener(self, world: World, pos: int) -> Iterator[Move]:
        execution = world.call(pos)
        number = journey.listener_running(execution)
        assert number is not None
        waterfall = WATERFALLS[execution.stage]
        place: Place = (pos, waterfall, number)
        frame = world.frame(place)
        assert frame is not None
        hook = self.facts[pos].hooks[waterfall][number]
        standing = execution.frames[-1]
        if frame.delegating:
            nth = standing.delegated
            key: Key = ("policy.resumed", pos, (waterfall, hook.id, nth, _heard(standing.heard)))
            yield Move((key,), world.with_frame(place, passed(frame)))
            return
        effect = effect_at(hook.script, frame, pos, PASSES)
        match effect:
            case CallNext():
                waiting = world.with_frame(place, replace(frame, delegating=True))
                yield self.journey(waiting, pos, journey.Delegates(number))
            case WaitForAbort() if world.aborted:
                yield Move((), world.with_frame(place, passed(frame)))
            case PutSignal(_, is_aborted):
                after = world.with_frame(place, passed(frame))
                yield self.journey(after, pos, journey.SetsSignal(number, is_aborted))
            case PutBackSignal():
                back = replace(execution, own=OwnSignal.NONE)
                yield Move((), world.with_call(pos, back).with_frame(place, passed(frame)))
            case EndPassed() | EndDecided() | EndAuthored() | EndRaised():
                # A decision of this waterfall, whose stage it is: which of them, no type says.
                decision: Any = self._decision(pos, waterfall, effect, standing.heard)
                ended = world.with_frame(place, None)
                match execution.stage:
                    case Stage.PRE:
                        yield self.journey(ended, pos, journey.PreDecides(number, decision))
                    case Stage.POST:
                        yield self.journey(ended, pos, journey.PostDecides(number, decision))
                    case _:
                        yield self.journey(ended, pos, journey.WrapperDecides(number, decision))
            case _:
                yield from self.common(world, pos, place, effect)

    def _decision(self, pos: int, waterfall: str, effect: End, heard: Answer | None) -> Decision:
        tool = self.facts[pos].tool

        def fits(value: object) -> bool:
            return tool is not None and decisions.fits_schema(tool.output.schema_, value_of(value, pos))

        match effect:
            case EndRaised(what):
                return decisions.failed(what)
            case EndDecided(decision, contexts) if waterfall == "post_execute":
                return decisions.post_decision(decision, contexts, fits, gone=tool is None)
            case EndDecided(decision) if waterfall == "pre_execute":
                return decisions.pre_decision(decision)
            case EndAuthored(result, contexts) if waterfall == "execute":
                return decisions.authored(result, contexts, fits, gone=tool is None)
            case EndPassed() if heard is not None:
                return heard
            case EndPassed() if waterfall == "pre_execute":
                return Allow()
            case EndPassed() if waterfall == "post_execute":
                return Accept()
            case _:
                return Malformed()

    # -- what cannot wait -----------------------------------------------------------------------

    def _guard(self, world: World, pos: int) -> Move:
        execution = world.call(pos)
        guard = self.facts[pos].guards[execution.asked]
        effects, end = sync_effects(guard.script, pos, ANSWERS_NOTHING)
        keys, following = self.wants(world, pos, effects)
        answered = self.journey(following, pos, journey.GuardAnswers(_verdict(end)), keys)
        return answered

    def _change(
        self,
        world: World,
        pos: int,
        script: Sequence[Step],
        move: type[journey.Projects] | type[journey.FinalizesContent],
    ) -> Move:
        effects, end = sync_effects(script, pos, ANSWERS_NOTHING)
        keys, following = self.wants(world, pos, effects)
        match end:
            case EndNothing() | EndReturned(None, _):
                change = Change.NOTHING
            case EndReturned(value, _) if decisions.is_content(value):
                change = Change.CONTENT
            case EndReturned():
                change = Change.MALFORMED
            case _:
                change = Change.RAISED
        changed = self.journey(following, pos, move(change))
        return replace(changed, keys=(*changed.keys, *keys))  # it is called before it does anything

    def _observe(self, world: World, pos: int) -> Move:
        execution = world.call(pos)
        outcome = execution.outcome
        assert outcome is not None
        keys: list[Key] = []
        following = world
        for observer in self.facts[pos].hooks["result"]:
            keys.append(("result.observed", pos, (observer.id, not outcome.is_error, outcome.code)))
            effects, _ = sync_effects(observer.script, pos, RETURNS_NULL)
            wanted, following = self.wants(following, pos, effects)
            keys.extend(wanted)
        observed = journey.step(following.call(pos), journey.Observes())
        return Move(tuple(keys), following.with_call(pos, observed.state))

    # -- approval -------------------------------------------------------------------------------

    def _approval(self, world: World, pos: int) -> Iterator[Move]:
        approval = self.scenario.approval
        assert approval is not None, "nothing is asked where there is no service"
        if approval.service != "ok":
            yield self.journey(world, pos, journey.Approves(Approval.BROKEN))
            return
        if world.aborted:
            yield self.journey(world, pos, journey.Approves(Approval.CANCELLED))
            return
        if not approval.answerers:
            given = dict(world.approvals).get(pos)
            if given is not None:
                yield self.journey(world, pos, journey.Approves(decisions.approval(given)))
            return
        place: Place = (pos, "approval", 0)
        frame = world.frame(place) or Frame()
        effect = effect_at(approval.answerers[0].script, frame, pos, EndAnswered("unavailable"))
        standing = world.with_frame(place, frame)
        match effect:
            case EndAnswered(outcome):
                answer = journey.Approves(decisions.approval(outcome))
                yield self.journey(world.with_frame(place, None), pos, answer)
            case EndRaised():
                yield self.journey(world.with_frame(place, None), pos, journey.Approves(Approval.OTHER))
            case _:
                yield from self.common(standing, pos, place, effect)


def _settled(execution: Execution) -> ResultAnswer:
    if execution.stage is Stage.LOST or execution.outcome is None:
        return Fault()
    if execution.stage is Stage.SETTLED:
        return PostResult(execution.outcome)
    return FinalResult(execution.outcome)


def _sources(execution: Execution) -> Iterator[str]:
    """What may have aborted the signal of a body first."""
    if execution.aborted:
        yield "caller"
    if execution.own is OwnSignal.ABORTED and execution.fused:
        yield "own"


def _verdict(end: End) -> Verdict:
    match end:
        case EndDenied() | EndReturned(str(), _):
            return Verdict.DENY
        case EndNothing() | EndReturned(None, _):
            return Verdict.PASS
        case EndRaised():
            return Verdict.RAISED
        case _:
            return Verdict.MALFORMED


def _heard(answer: Answer | None) -> object:
    """What a listener is told by `next()`, as it stands in an event."""
    if isinstance(answer, Outcome):
        return answer.code or "OK"
    return decisions.word(answer)
