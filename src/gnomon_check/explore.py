"""Explore every reachable state of a batch, and judge every step on the way.

Breadth first, over all combinations of modes. What is explored is the product of the specification's
state and the ledger of what was seen, so the properties, which read histories, judge every state:
two histories that lead to one state and say different things are both followed. The first rule that
breaks is answered with the shortest history that leads to it; witnesses are counted.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from gnomon_spec import batch as chapter
from gnomon_spec import machine, properties
from gnomon_spec.cancellation import cancellation_code, cancelled_outcome
from gnomon_spec.vocabulary import (
    SUCCESS,
    Batch,
    Code,
    Event,
    Fault,
    FinalResult,
    How,
    Mode,
    Outcome,
    PostResult,
    PrepareAnswer,
    ResultAnswer,
    ToDispatch,
)

ERROR = Outcome(Code.TOOL_ERROR)
SKIPPED = Outcome(Code.ABORTED_BEFORE_DISPATCH)

Node: TypeAlias = tuple[Batch, properties.Ledger]


@dataclass(frozen=True, slots=True)
class AnySurroundings:
    """Everything that may come from around a batch, each kind of answer once.

    `failures` says whether the runtime itself may fail at each of its own steps.
    """

    aborts: bool = False
    failures: bool = False

    def _faults(self) -> tuple[Fault, ...]:
        return (Fault(),) if self.failures else ()

    def prepare(self, state: Batch) -> Iterable[PrepareAnswer]:
        """An error by either route; dispatch, or after an abort the cancellation by either route."""
        if state.aborted:
            yield from (PostResult(SKIPPED), FinalResult(SKIPPED))
        else:
            yield ToDispatch()
        yield from (PostResult(ERROR), FinalResult(ERROR))
        yield from self._faults()

    def dispatch(self, state: Batch, position: int) -> Iterable[ResultAnswer]:
        """Without a body: a failing wrapper, and after an abort the cancellation."""
        if state.aborted:
            yield PostResult(SKIPPED)
        yield FinalResult(ERROR)
        yield from self._faults()

    def body(self, state: Batch, position: int) -> Iterable[tuple[ResultAnswer, How]]:
        """With a body: its value, its error, or an error made after it."""
        value = Outcome(Code.ABORTED) if state.aborted else SUCCESS
        yield (PostResult(value), How.RETURNED)
        yield (PostResult(ERROR), How.RAISED)
        yield (FinalResult(ERROR), How.RETURNED)
        for fault in self._faults():
            yield (fault, How.RAISED)

    def commit(self, state: Batch, outcome: Outcome) -> Iterable[Outcome | Fault]:
        """The result as the table of cancellation has it, or an error made by a policy."""
        invoked = state.calls[state.committed].body_invoked
        kept = cancelled_outcome(outcome, invoked) if state.aborted else outcome
        yield kept
        if kept != ERROR:
            yield ERROR
        yield from self._faults()


assert cancellation_code(False) == SKIPPED.code


@dataclass(slots=True)
class Exploration:
    """What was found: how many states and steps, which witnesses, and the first rule that broke."""

    calls: int
    parallel: int
    states: int = 0
    nodes: int = 0
    steps: int = 0
    depth: int = 0
    witnesses: Counter[str] = field(default_factory=Counter)
    broken: properties.Broken | None = None
    trace: tuple[Event, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The witnesses that were never reached."""
        return tuple(name for name in properties.SOMETIMES if not self.witnesses[name])


def explore(
    calls: int,
    parallel: int,
    *,
    aborts: bool = False,
    failures: bool = False,
    progress: Callable[[int], None] | None = None,
    step: Callable[[Batch, machine.Action], chapter.Stepped] = machine.step,
) -> Exploration:
    """Explore a batch of `calls` calls in a pool of `parallel`, over all combinations of modes.

    `progress` is told the number of states from time to time. `step` may be a broken variant of the
    machine's, to see that the properties catch it.
    """
    found = Exploration(calls, parallel)
    for modes in itertools.product((Mode.PARALLEL, Mode.EXCLUSIVE), repeat=calls):
        _explore_modes(found, modes, AnySurroundings(aborts, failures), step, progress)
        if found.broken is not None:
            break
    return found


def _explore_modes(
    found: Exploration,
    modes: tuple[Mode, ...],
    around: AnySurroundings,
    step: Callable[[Batch, machine.Action], chapter.Stepped],
    progress: Callable[[int], None] | None,
) -> None:
    """Explore one combination of modes: no step leads from one combination to another."""
    judges = properties.judged()
    witnesses = tuple(properties.SOMETIMES.values())
    opened = chapter.open_batch(modes, found.parallel)
    root: Node = (opened.state, _entered(properties.NOTHING, opened.events))
    parents: dict[Node, tuple[Node, tuple[Event, ...]] | None] = {root: None}
    states = {opened.state}
    layer = [root]
    depth = 0
    while layer:
        following: list[Node] = []
        for node in layer:
            state, ledger = node
            ended = True
            for action in machine.enabled(state, around):
                ended = False
                taken = step(state, action)
                found.steps += 1
                after = ledger
                for event in taken.events:
                    for broken in properties.broken_by(after, event, judges):
                        found.broken = broken
                        found.trace = (*opened.events, *_history(parents, node), *taken.events)
                        return
                    for witness in witnesses:
                        if witness.holds(after, event):
                            found.witnesses[witness.name] += 1
                    after = properties.enter(after, event)
                reached = (taken.state, after)
                if reached not in parents:
                    parents[reached] = (node, taken.events)
                    following.append(reached)
                    states.add(taken.state)
            if ended:
                stuck = properties.settled(ledger)
                if stuck is not None:
                    found.broken = stuck
                    found.trace = (*opened.events, *_history(parents, node))
                    return
        layer = following
        depth += 1
        if progress is not None:
            progress(found.states + len(states))
    found.states += len(states)
    found.nodes += len(parents)
    found.depth = max(found.depth, depth)


def _entered(ledger: properties.Ledger, events: Iterable[Event]) -> properties.Ledger:
    for event in events:
        ledger = properties.enter(ledger, event)
    return ledger


def _history(parents: dict[Node, tuple[Node, tuple[Event, ...]] | None], node: Node) -> Iterator[Event]:
    """The events on the shortest way to a node."""
    steps: list[tuple[Event, ...]] = []
    parent = parents[node]
    while parent is not None:
        node, events = parent
        steps.append(events)
        parent = parents[node]
    for events in reversed(steps):
        yield from events
