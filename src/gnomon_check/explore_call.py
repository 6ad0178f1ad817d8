"""Explore everything that can happen to one call, and judge every step on the way.

All combinations of decisions, failures and abort moments: listeners of pre-execute and post-execute,
guards, an approval, wrappers, a timeout, the body, the projections of content. What is explored is the
product of the machine's state and the ledger of what was seen, as for a batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from gnomon_spec import admission, dispatch, journey, properties, signals
from gnomon_spec.kernel import NotEnabled
from gnomon_spec.vocabulary import (
    Accept,
    Allow,
    Announced,
    Approval,
    Ask,
    AuthoredFailure,
    AuthoredSuccess,
    Block,
    Cancel,
    Change,
    Deny,
    Event,
    EventName,
    Execution,
    Failed,
    Frame,
    How,
    Malformed,
    PostDecision,
    PreDecision,
    Setup,
    Stage,
    Verdict,
)

Node: TypeAlias = tuple[Execution, properties.Ledger]
Stepper: TypeAlias = Callable[[Execution, journey.Move], journey.Stepped]

PRE: tuple[PreDecision, ...] = (Allow(), Deny(), Cancel(), Ask(), Malformed(), Failed())
POST: tuple[PostDecision, ...] = (
    Accept(),
    Accept(content="replaced", contexts=("decision",)),
    Accept(value="value"),
    Accept(value="value", fits=False),
    Accept(value="value", gone=True),
    Accept(content="replaced", value="value"),
    Block(("block",)),
    Malformed(),
    Failed(),
)
WRAPPER: tuple[AuthoredSuccess | AuthoredFailure | Malformed | Failed, ...] = (
    AuthoredSuccess(("wrapper",)),
    AuthoredSuccess(("wrapper",), fits=False),
    AuthoredSuccess(gone=True),
    AuthoredFailure("OWN_CODE", ("wrapper",)),
    Malformed(),
    Failed(),
)
ENDS: tuple[tuple[dispatch.BodyEnd, How], ...] = (
    (dispatch.Returned(), How.RETURNED),
    (dispatch.Returned(fits=False), How.RETURNED),
    (dispatch.Raised(), How.RAISED),
    (dispatch.Cancelled(asked=False), How.CANCELLED),
)

MOST_ATTEMPTS = 2
"""A wrapper calls `next()` no more often than this."""


@dataclass(frozen=True, slots=True)
class Around:
    """What may come from around a call, beside the decisions."""

    aborts: bool = True
    signals: bool = True
    contexts: bool = True
    strikes: bool = False
    """Whatever runs of the call may raise what is meant for the whole process (PY-4)."""
    approvals: tuple[Approval, ...] = tuple(Approval)


def moves(state: Execution, around: Around) -> Iterator[journey.Move]:
    """Every move that may be tried in a state; those that are not enabled are refused."""
    if around.aborts and not state.aborted and state.stage is not Stage.DONE:
        yield journey.CallerAborts()
    if around.strikes and state.stage is not Stage.LOST:
        yield journey.Strikes()
    running = journey.listener_running(state)
    if running is not None:
        yield from _listener(state, running, around)
    match state.stage:
        case Stage.APPROVAL:
            yield from map(journey.Approves, around.approvals)
        case Stage.GUARDS:
            yield from map(journey.GuardAnswers, Verdict)
        case Stage.PREPARED:
            yield journey.Dispatches()
        case Stage.EXECUTE if running is None:
            yield journey.ReachesBody()
            yield journey.ReachesBody(found=False)
            yield journey.ReachesBody(fit=False)
        case Stage.BODY:
            yield from _body(state, around)
        case Stage.SETTLED | Stage.SETTLED_FINAL:
            yield journey.Finalizes()
        case Stage.PROJECT:
            yield from map(journey.Projects, Change)
        case Stage.FINALIZE:
            yield from map(journey.FinalizesContent, Change)
        case Stage.OBSERVE:
            yield journey.Observes()
    if state.stage in (Stage.EXECUTE, Stage.BODY):
        if state.setup.timeout is not None:
            yield journey.DeadlinePasses()
        if state.made:
            yield journey.OwnSignalAborts()
        outermost = 1 if state.setup.timeout == 0 else 0
        for frame in state.frames:
            if frame.pending and frame.settled is None and frame.listener == outermost:
                # A wrapper that ends without having waited for its next().
                yield journey.WrapperDecides(outermost, AuthoredSuccess(("wrapper",)))


def _listener(state: Execution, listener: int, around: Around) -> Iterator[journey.Move]:
    frame: Frame = state.frames[-1]
    if frame.delegated < MOST_ATTEMPTS:
        yield journey.Delegates(listener)
    match state.stage:
        case Stage.PRE:
            yield from (journey.PreDecides(listener, one) for one in PRE)
        case Stage.POST:
            yield from (journey.PostDecides(listener, one) for one in POST)
        case Stage.EXECUTE:
            yield from (journey.WrapperDecides(listener, one) for one in WRAPPER)
            # A wrapper may end with what any of its attempts was given.
            yield from (journey.WrapperDecides(listener, one) for one in state.given)
            if around.signals and not state.made:
                yield journey.SetsSignal(listener)
                yield journey.SetsSignal(listener, aborted=True)


def _body(state: Execution, around: Around) -> Iterator[journey.Move]:
    if around.contexts and len(state.deferred) < MOST_ATTEMPTS:
        yield journey.Defers(f"body {len(state.deferred) + 1}")
    if around.contexts and not state.concluded:
        yield journey.Concludes()
    for end, how in ENDS:
        yield journey.BodyEnds(end, how)
    if signals.signal_aborted(state):
        yield journey.BodyEnds(dispatch.Cancelled(asked=True), How.CANCELLED)
    if around.strikes:
        yield journey.BodyEnds(dispatch.Struck(), How.RAISED)


# -- exploring ----------------------------------------------------------------------------------


@dataclass(slots=True)
class CallExploration:
    """What was found: states, steps, how often each code came out, and the first rule that broke."""

    states: int = 0
    steps: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    broken: properties.Broken | None = None
    trace: tuple[Event, ...] = ()


def explore_call(
    setup: Setup,
    *,
    around: Around | None = None,
    step: Stepper = journey.step,
    aborted: bool = False,
    judges: tuple[properties.Always, ...] | None = None,
) -> CallExploration:
    """Explore one call in its surroundings, breadth first; judged by `judges`, or by all that can be."""
    found = CallExploration()
    allowed = around or Around()
    judges = properties.judged(properties.CALL) if judges is None else judges
    created = admission.create(setup, aborted)
    announced = Announced("c0", listeners=setup.pre, guards=setup.guards, finalizes=created.state.finalizer)
    opened = Event(EventName.BATCH_OPENED, calls=(announced,), max_parallel=1)
    ledger = properties.enter(properties.NOTHING, opened)
    if aborted:
        ledger = properties.enter(ledger, Event(EventName.SIGNAL_ABORTED))
    for event in created.events:
        ledger = properties.enter(ledger, event)
    root: Node = (created.state, ledger)
    parents: dict[Node, tuple[Node, tuple[Event, ...]] | None] = {root: None}
    layer = [root]
    while layer:
        following: list[Node] = []
        for node in layer:
            state, seen = node
            for move in moves(state, allowed):
                try:
                    taken = step(state, move)
                except NotEnabled as error:
                    found.refused[error.refused.clause] += 1
                    continue
                found.steps += 1
                after = seen
                for event in taken.events:
                    for broken in properties.broken_by(after, event, judges):
                        found.broken = broken
                        found.trace = (opened, *created.events, *_history(parents, node), *taken.events)
                        return found
                    if event.name is EventName.RESULT_LOGGED and event.outcome is not None:
                        found.codes[event.outcome.code or "OK"] += 1
                    after = properties.enter(after, event)
                reached = (taken.state, after)
                if reached not in parents:
                    parents[reached] = (node, taken.events)
                    following.append(reached)
            found.stages[state.stage.value] += 1
        layer = following
    found.states = len(parents)
    return found


def _history(parents: dict[Node, tuple[Node, tuple[Event, ...]] | None], node: Node) -> Iterator[Event]:
    steps: list[tuple[Event, ...]] = []
    parent = parents[node]
    while parent is not None:
        node, events = parent
        steps.append(events)
        parent = parents[node]
    for events in reversed(steps):
        yield from events
