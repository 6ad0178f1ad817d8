"""What may happen next in the policies of a call: its listeners, its approval, its guards, its projections.

The machine of a call says what comes next in it, the scripts what listeners, approvers and guards want.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import cast

from gnomon_check import decisions
from gnomon_check.journeys import WATERFALLS, Journeys, Move, aborted
from gnomon_check.refinement import Key
from gnomon_check.script_steps import ReturnStep, Step
from gnomon_check.scripts import (
    ANSWERS_NOTHING,
    PASSES,
    RETURNS_NULL,
    CallNext,
    End,
    EndAnswered,
    EndAuthored,
    EndBorrowed,
    EndDecided,
    EndDenied,
    EndNothing,
    EndPassed,
    EndRaised,
    EndReturned,
    Frame,
    HandOver,
    HearNext,
    Keep,
    PutBackSignal,
    PutNonsense,
    PutSignal,
    StartNext,
    WaitForAbort,
    effect_at,
    passed,
    sync_effects,
)
from gnomon_check.world import Place, World, value_of
from gnomon_spec import journey, signals, waterfall
from gnomon_spec.vocabulary import (
    Accept,
    Allow,
    Answer,
    Approval,
    AuthoredSuccess,
    Change,
    Decision,
    ExecuteDecision,
    Execution,
    Failed,
    Malformed,
    Outcome,
    PostDecision,
    PreDecision,
    Stage,
    Verdict,
)
from gnomon_spec.vocabulary import Frame as Standing
from gnomon_spec.waterfall import Frames

APPROVAL = "approval"


class Rendered(Enum):
    """What came of rendering a value."""

    FITS = "it is content"
    FAILS = "it is none, or the tool raised"
    STRIKES = "the tool raised what is meant for the whole process"


def _hears(execution: Execution, frame: Frame) -> bool:
    """Whether the signal has aborted that a listener was given.

    What a wrapper has put in place has nothing of the caller's in it: only for a body are the two fused, and
    by the call's own deadline (DSP-2, TMO-1).
    """
    own = [one for one in frame.given if one != signals.DEADLINE]
    return bool(set(frame.given) & set(execution.fired)) or (execution.aborted and not own)


class Policies(Journeys):
    """What the policies of a call may do next."""

    # -- listeners ------------------------------------------------------------------------------

    def listener(self, world: World, pos: int) -> Iterator[Move]:
        """What the listener that is running may do, and those that do not wait for their `next()`."""
        execution = world.call(pos)
        which = WATERFALLS[execution.stage]
        for standing in execution.frames:
            place: Place = (pos, which, standing.listener)
            frame = world.frame(place)
            if frame is not None and not (frame.delegating and standing.pending):
                yield from self._listener(world, place, frame, standing)

    def _listener(self, world: World, place: Place, frame: Frame, standing: Standing) -> Iterator[Move]:
        pos, which, number = place
        execution = world.call(pos)
        hook = self.hook(world, place)
        effect = effect_at(hook.script, frame, pos, PASSES)
        if frame.delegating or (isinstance(effect, HearNext) and not standing.pending):
            nth = standing.delegated
            key: Key = ("policy.resumed", pos, (which, hook.id, nth, _heard(standing.heard)))
            if which == "execute" and isinstance(standing.heard, Outcome) and self.scenario.borrows:
                world = world.with_heard(pos, standing.heard)
            yield Move((key,), world.with_frame(place, passed(frame)._replace(heard=standing.heard)))
            return
        after = world.with_frame(place, passed(frame))
        if isinstance(effect, CallNext | StartNext):
            going_on = passed(frame) if isinstance(effect, CallNext) else effect.following
            if standing.pending or place in world.just_answered:
                yield _refused(world.with_frame(place, going_on), pos, "next")  # PRE-7
            if standing.pending:
                return
        match effect:
            case StartNext(following):
                yield self.journey(world.with_frame(place, following), pos, journey.Delegates(number))
            case CallNext():
                waiting = world.with_frame(place, frame._replace(delegating=True))
                yield self.journey(waiting, pos, journey.Delegates(number))
            case HearNext():
                pass
            case Keep(name):
                yield Move((), after.with_kept(name, place), urgent=True)
            case HandOver():
                yield _refused(after, pos, "defer")  # DSP-15
            case PutNonsense():
                yield _refused(after, pos, "set_signal_value")  # CRE-5
            case PutSignal() if which != "execute":
                yield _refused(after, pos, "set_signal")  # CRE-5
            case PutBackSignal() if which != "execute":
                yield Move((), after)
            case WaitForAbort() if _hears(execution, frame):
                yield Move((), world.with_frame(place, passed(frame)), urgent=True)
            case PutSignal(name, is_aborted):
                found = execution.signal if frame.found is None else frame.found
                after = world.with_frame(place, passed(frame)._replace(found=found))
                one = f"{name}#{world.signals_made}"
                kept = tuple(other for other in world.signals if other[0] != name)
                made = kept if is_aborted else (*kept, (name, pos, one))
                after = after._replace(signals=tuple(sorted(made)), signals_made=world.signals_made + 1)
                yield self.journey(after, pos, journey.SetsSignal(number, one, is_aborted))
            case PutBackSignal():
                found = execution.signal if frame.found is None else frame.found
                yield self.journey(after, pos, journey.RestoresSignal(number, found))
            case EndRaised(what) if what.kind == "keyboard":
                yield self.strikes(world, pos)
            case EndPassed() | EndDecided() | EndAuthored() | EndBorrowed() | EndRaised():
                decision = self._decision(world, pos, which, effect, cast("Answer | None", frame.heard))
                yield self._decides(_ended(world, place), pos, number, decision)
            case _:
                yield from self.common(world, pos, place, effect)

    def strikes(self, world: World, pos: int) -> Move:
        """Let a policy raise what is meant for the whole process: who waits for it is not asked (PY-4)."""
        struck = self.journey(world, pos, journey.Strikes())
        # Whoever answers a request that was withdrawn goes on, and is waited for (PY-13).
        left = struck.world
        for place, _ in left.frames:
            left = _ended(left, place) if place[0] == pos and place[1] != APPROVAL else left
        return struck._replace(world=self.interrupted(left, pos))

    def interrupted(self, world: World, pos: int) -> World:
        """The world in which a call is lost to what also ends its batch, so that the bodies end (PY-4)."""
        return aborted(world) if pos < len(self.facts) else world

    def _decides(self, world: World, pos: int, number: int, decision: Decision) -> Move:
        """Let a listener end. A value that counts as the call's own is rendered like the body's."""
        execution = world.call(pos)
        outcome = execution.outcome
        seen: tuple[Key, ...] = ()
        rendered = Rendered.FITS
        match execution.stage, decision:
            case Stage.EXECUTE | Stage.BODY, AuthoredSuccess(fits=True, gone=False):
                seen, world, rendered = self.rendered(world, pos)  # DSP-10
                decision = replace(decision, fits=rendered is Rendered.FITS)
            case Stage.POST, Accept(content=None, value=str(), fits=True, gone=False) if (
                len(execution.frames) == 1 and outcome is not None and not outcome.is_error
            ):
                seen, world, rendered = self.rendered(world, pos)  # PST-4
                decision = replace(decision, fits=rendered is Rendered.FITS)
        if rendered is Rendered.STRIKES:  # in the tool's own function, once the listener has decided
            struck = self.strikes(world, pos)
            ((name, _, (*whose, _)),) = struck.keys
            return struck._replace(keys=((name, pos, (*whose, decisions.word(decision))), *seen))
        decides: journey.Move
        match execution.stage:
            case Stage.PRE:
                decides = journey.PreDecides(number, cast("PreDecision", decision))
            case Stage.POST:
                decides = journey.PostDecides(number, cast("PostDecision", decision))
            case _:
                decides = journey.WrapperDecides(number, cast("ExecuteDecision", decision))
        decided = self.journey(world, pos, decides)
        first, *others = decided.keys
        return decided._replace(keys=(first, *seen, *others))

    def rendered(self, world: World, pos: int) -> tuple[tuple[Key, ...], World, Rendered]:
        """Let the tool render a value: what is seen of it, and what came of it (OUT-2, OUT-3)."""
        running = world.call(pos).stage is Stage.BODY
        tool = self.running(world, pos) if running else self.callable(world, pos)
        assert tool is not None, "a value that fits has a tool"
        keys: tuple[Key, ...] = ()
        for event, script in (("content.rendered", tool.render), ("content.meta", tool.presentation_meta)):
            if script is None or (script is tool.presentation_meta and world.call(pos).setup.nested):
                continue  # OUT-3: meta is for calls without a parent
            effects, end = sync_effects(script, pos, ANSWERS_NOTHING)
            wanted, world = self.wants(world, pos, effects)
            keys = (*keys, (event, pos, ()), *wanted)
            if _strikes(end):
                return keys, world, Rendered.STRIKES
            content = isinstance(end, EndReturned) and decisions.is_content(end.value)
            if not (content if script is tool.render else isinstance(end, EndReturned | EndNothing)):
                return keys, world, Rendered.FAILS
        return keys, world, Rendered.FITS

    def _decision(self, world: World, pos: int, which: str, effect: End, heard: Answer | None) -> Decision:
        tool = self.callable(world, pos)  # DSP-10, PST-4: what is visible now

        def fits(value: object) -> bool:
            return tool is not None and decisions.fits_schema(tool.output.schema_, value_of(value, pos))

        match effect:
            case EndRaised(what):
                return decisions.failed(what)
            case EndDecided(decision, contexts) if which == "post_execute":
                return decisions.post_decision(decision, contexts, fits, gone=tool is None)
            case EndDecided(decision) if which == "pre_execute":
                return decisions.pre_decision(decision)
            case EndAuthored(result, contexts) if which == "execute":
                return decisions.authored(result, contexts, fits, gone=tool is None)
            case EndBorrowed(other) if which == "execute":
                return decisions.authored(*self._borrowed(world, other), fits, gone=tool is None)
            case EndPassed() if isinstance(heard, Accept) and heard.value is not None:
                # What counts is the tool that is visible when the whole waterfall has decided.
                return replace(heard, fits=fits(json.loads(heard.value)), gone=tool is None)
            case EndPassed() if heard is not None:
                return heard
            case EndPassed() if which == "pre_execute":
                return Allow()
            case EndPassed() if which == "post_execute":
                return Accept()
            case _:
                return Malformed()

    def _borrowed(self, world: World, pos: int) -> tuple[object, tuple[str, ...]]:
        """The result of another call as if a wrapper had written it, and its contexts; it may be none."""
        outcome = dict(world.heard).get(pos)
        if outcome is None:
            return None, ()
        if outcome.is_error:
            return {"ok": False, "code": str(outcome.code)}, outcome.contexts
        ends = (one.return_.value for one in self.running(world, pos).body if isinstance(one, ReturnStep))
        # As such scenarios are, a success is what the body has returned.
        return {"ok": True, "value": next(ends, None)}, outcome.contexts

    # -- what cannot wait -----------------------------------------------------------------------

    def guards(self, move: Move, pos: int) -> Move:
        """Ask the guards of a call that has come to them, all in one go: guards cannot wait (GRD-1).

        Which guards there are is looked at after each answer (GRD-6).
        """
        name = self.fact(move.world, pos).name
        last: tuple[int, int, str] = (-1, -1, "")
        while move.world.call(pos).stage is Stage.GUARDS:
            following = next(one for one in move.world.layers.guards_for(name, pos) if one > last)
            last = following
            guard = self.scenario.guard(following[2])
            assert guard is not None
            effects, end = sync_effects(guard.script, pos, ANSWERS_NOTHING)
            keys, world = self.wants(move.world, pos, effects)
            left = sum(one > last for one in world.layers.guards_for(name, pos))
            execution = world.call(pos)
            world = world.with_call(pos, execution._replace(guards=execution.asked + 1 + left))
            verdict = _verdict(end)
            if _strikes(end):
                answered = self.strikes(world, pos)
            else:
                answered = self.journey(world, pos, journey.GuardAnswers(verdict))
            key: Key = ("guard.answered", pos, (guard.id, verdict.value))
            move = move._replace(keys=(*move.keys, *keys, key, *answered.keys), world=answered.world)
        return move

    def changed(
        self,
        world: World,
        pos: int,
        script: Sequence[Step],
        move: type[journey.Projects] | type[journey.FinalizesContent],
    ) -> Move:
        """Let a tool project or finalize its content."""
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
        changed = (
            self.strikes(following, pos) if _strikes(end) else self.journey(following, pos, move(change))
        )
        first, *others = changed.keys  # it is called before it does anything
        return changed._replace(keys=(first, *keys, *others))

    def observe(self, world: World, pos: int) -> Move:
        """Tell the observers that stand now."""
        execution = world.call(pos)
        outcome = execution.outcome
        assert outcome is not None
        keys: list[Key] = []
        following = world
        for identifier in world.layers.row("result", self.fact(world, pos).name, pos):
            observer = self.scenario.hook(identifier)
            assert observer is not None
            keys.append(("result.observed", pos, (observer.id, not outcome.is_error, outcome.code)))
            effects, end = sync_effects(observer.script, pos, RETURNS_NULL)
            wanted, following = self.wants(following, pos, effects)
            keys.extend(wanted)
            if _strikes(end):
                return Move(tuple(keys), self.strikes(following, pos).world)
        observed = journey.step(following.call(pos), journey.Observes())
        # Who observes is all that it looks at: the result is final, whoever aborts (CAN-1).
        unseen = not keys and not self.scenario.changes
        return Move(tuple(keys), following.with_call(pos, observed.state), urgent=unseen)

    # -- approval -------------------------------------------------------------------------------

    def approval(self, world: World, pos: int) -> Iterator[Move]:
        """What may become of an approval that is asked."""
        approval = self.scenario.approval
        assert approval is not None, "nothing is asked where there is no service"
        if approval.service != "ok":
            yield self.journey(world, pos, journey.Approves(Approval.BROKEN))
        elif world.call(pos).aborted:
            yield self.journey(world, pos, journey.Approves(Approval.CANCELLED))  # APP-11
        elif not approval.answerers:
            given = dict(world.approvals).get(pos)
            if given is not None:
                yield self.journey(world, pos, journey.Approves(decisions.approval(given)))
        elif all(asked != pos for asked, _ in world.asking):
            # Nobody in the layers of the asking scope answers (APP-8).
            yield self.journey(world, pos, journey.Approves(Approval.UNAVAILABLE))

    def answerers(self, world: World, pos: int) -> Iterator[Move]:
        """What those may do who were asked: of a request that was withdrawn nobody hears their answer."""
        frames = dict(world.asking)[pos]
        withdrawn = world.call(pos).stage is not Stage.APPROVAL
        if frames is None:
            yield self._answerer_begins(world, pos, waterfall.entered(len(world.row(pos, APPROVAL))), ())
            if withdrawn:
                yield Move((), self._asked_no_more(world, pos))
            return
        number = waterfall.running(frames)
        assert number is not None, "innermost of the answerers is a default, and does not wait"
        place: Place = (pos, APPROVAL, number)
        frame = world.frame(place)
        answerer = self.scenario.answerer(world.row(pos, APPROVAL)[number])
        assert frame is not None
        assert answerer is not None
        heard = frames[-1].heard
        if frame.delegating:
            told = "raised" if isinstance(heard, Failed) else heard
            key: Key = ("policy.resumed", pos, (APPROVAL, answerer.id, frames[-1].delegated, told))
            yield Move((key,), world.with_frame(place, passed(frame)))
            return
        effect = effect_at(answerer.script, frame, pos, PASSES)
        match effect:
            case CallNext():
                waiting = world.with_frame(place, frame._replace(delegating=True))
                further = waterfall.delegated(frames, number, len(world.row(pos, APPROVAL)))
                delegated: Key = ("policy.delegated", pos, (APPROVAL, answerer.id, frames[-1].delegated + 1))
                if waterfall.running(further) is None:
                    further, _ = waterfall.answered(further, cast("Answer", "unavailable"))  # APP-8
                    yield Move((delegated,), _standing(waiting, pos, further))
                else:
                    yield self._answerer_begins(waiting, pos, further, (delegated,))
            case EndRaised(what) if what.kind == "keyboard" and not withdrawn:
                struck = self.strikes(self._asked_no_more(world, pos), pos)
                yield struck._replace(keys=(("policy.decided", pos, (APPROVAL, answerer.id, "raised")),))
            case EndAnswered() | EndPassed() | EndRaised():
                yield self._answers(world, pos, frames, effect)
            case WaitForAbort():
                if withdrawn:  # PY-13: it is cancelled, and all that wait for it
                    yield Move((), self._asked_no_more(world, pos))
            case _:
                yield from self.common(world, pos, place, effect)

    def _answerer_begins(self, world: World, pos: int, frames: Frames, before: tuple[Key, ...]) -> Move:
        number = waterfall.running(frames)
        assert number is not None
        key: Key = ("policy.entered", pos, (APPROVAL, world.row(pos, APPROVAL)[number]))
        place: Place = (pos, APPROVAL, number)
        return Move((*before, key), _standing(world, pos, frames).with_frame(place, Frame()))

    def _answers(
        self, world: World, pos: int, frames: Frames, effect: EndAnswered | EndPassed | EndRaised
    ) -> Move:
        frame = frames[-1]
        match effect:
            case EndAnswered(outcome):
                said: object = outcome
            case EndPassed():
                said = "unavailable" if frame.delegated == 0 else frame.heard
            case EndRaised():
                said = Failed()
        known = isinstance(said, str) and decisions.approval(said) is not Approval.OTHER
        answer = said if known else Failed()  # APP-4
        word = "raised" if isinstance(said, Failed) else said if known else "malformed"
        place: Place = (pos, APPROVAL, frame.listener)
        key: Key = ("policy.decided", pos, (APPROVAL, world.row(pos, APPROVAL)[frame.listener], word))
        left, result = waterfall.decided(frames, frame.listener, cast("Answer", answer))
        following = world.with_frame(place, None)
        if result is None:
            return Move((key,), _standing(following, pos, left))
        over = self._asked_no_more(following, pos)
        if over.call(pos).aborted or over.call(pos).stage is not Stage.APPROVAL:
            return Move((key,), over)  # APP-6: an answer after the request was withdrawn changes nothing
        final = Approval.OTHER if isinstance(result, Failed) else decisions.approval(str(result))
        return self.journey(over, pos, journey.Approves(final), (key,))

    def _asked_no_more(self, world: World, pos: int) -> World:
        asking = tuple(one for one in world.asking if one[0] != pos)
        frames = tuple(one for one in world.frames if one[0][:2] != (pos, APPROVAL))
        return world._replace(asking=asking, frames=frames)


def _standing(world: World, pos: int, frames: Frames) -> World:
    """The world in which the answerers of a call stand so."""
    asking = tuple((asked, frames if asked == pos else one) for asked, one in world.asking)
    return world._replace(asking=asking)


def _refused(world: World, pos: int, op: str) -> Move:
    """What a script asks for is refused, and the script goes on."""
    return Move((("op.refused", pos, (op,)),), world)


def _ended(world: World, place: Place) -> World:
    """The world in which a listener has ended: a `next` of it that was kept comes too late from here on."""
    kept = tuple((name, (whose, late or whose == place)) for name, (whose, late) in world.kept)
    return world.with_frame(place, None)._replace(kept=kept)


def _strikes(end: End) -> bool:
    """Whether a script ends by raising what is meant for the whole process (PY-4)."""
    return isinstance(end, EndRaised) and end.what.kind == "keyboard"


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
