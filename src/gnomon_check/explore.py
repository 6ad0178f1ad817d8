"""Explore every reachable state of a batch, and judge every step on the way.

Breadth first, over all combinations of modes. What is explored is the product of the specification's
state and the ledger of what was seen, so the properties, which read histories, judge every state:
two histories that lead to one state and say different things are both followed. The first rule that
breaks is answered with the shortest history that leads to it; witnesses are counted.

A state is met with many ledgers, and a ledger with many states. So each half of a step is worked out
once: where the actions of a state lead, and what an event does to a ledger. The product only joins them.
"""

from __future__ import annotations

import gc
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import NamedTuple, TypeAlias

from gnomon_check.surroundings import AnySurroundings
from gnomon_spec import batch as chapter
from gnomon_spec import machine, properties
from gnomon_spec.batch import Batch
from gnomon_spec.machine import Action, Reclassify, Start
from gnomon_spec.properties import Broken, Ledger
from gnomon_spec.vocabulary import Event, Lane, Mode

Modes: TypeAlias = tuple[Mode, ...]
StepFunction: TypeAlias = Callable[[Batch, Action], chapter.Stepped]
EnabledFunction: TypeAlias = Callable[[Batch, machine.Surroundings], Iterable[Action]]

# -- witnesses of reclassification ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A witness that is told from a state and the action taken in it, not from what was seen."""

    name: str
    holds: Callable[[Batch, Reclassify], bool]


RECLASSIFIED: dict[str, Glimpse] = {}


def _glimpse(
    name: str,
) -> Callable[[Callable[[Batch, Reclassify], bool]], Callable[[Batch, Reclassify], bool]]:
    """Declare a witness of reclassification under its permanent name."""

    def declare(holds: Callable[[Batch, Reclassify], bool]) -> Callable[[Batch, Reclassify], bool]:
        RECLASSIFIED[name] = Glimpse(name, holds)
        return holds

    return declare


@_glimpse("a call is reclassified while the pool is full")
def _while_the_pool_is_full(state: Batch, action: Reclassify) -> bool:
    return chapter.in_flight(state) >= state.max_parallel


@_glimpse("a call is reclassified while another is being prepared")
def _while_preparing(state: Batch, action: Reclassify) -> bool:
    return state.lane is Lane.PREPARING


@_glimpse("a call is reclassified while another is being committed")
def _while_committing(state: Batch, action: Reclassify) -> bool:
    return state.lane is Lane.COMMITTING


@_glimpse("a call that stopped the filling becomes parallel")
def _stopped_becomes_parallel(state: Batch, action: Reclassify) -> bool:
    """It joins at the next filling, while others run."""
    return state.stopped and action == Reclassify(state.next_start, Mode.PARALLEL)


@_glimpse("a call that could join becomes exclusive")
def _becomes_a_barrier(state: Batch, action: Reclassify) -> bool:
    """It waits until all before it are committed."""
    start = Start(action.position)
    if machine.refused(state, start) is not None or action.mode is Mode.PARALLEL:
        return False
    return machine.refused(machine.step(state, action).state, start) is not None


# -- what was found -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Taken:
    """A step of a history: the action (none for the opening), and what was seen of it."""

    action: Action | None
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is explored."""

    calls: int
    parallel: int
    aborts: bool = False
    failures: bool = False
    reclassify: bool = False

    def parts(self) -> tuple[tuple[Modes, ...], ...]:
        """The combinations of modes, in parts that no step leads out of."""
        every = tuple(itertools.product((Mode.PARALLEL, Mode.EXCLUSIVE), repeat=self.calls))
        return (every,) if self.reclassify else tuple((modes,) for modes in every)

    @property
    def witnesses(self) -> tuple[str, ...]:
        """The names of the witnesses that are looked for."""
        return (*properties.SOMETIMES, *(RECLASSIFIED if self.reclassify else ()))


@dataclass(slots=True)
class Exploration:
    """What was found: how many states and steps, which witnesses, and the first rule that broke."""

    bounds: Bounds
    states: int = 0
    nodes: int = 0
    steps: int = 0
    depth: int = 0
    witnesses: Counter[str] = field(default_factory=Counter)
    broken: Broken | None = None
    history: tuple[Taken, ...] = ()
    """The shortest way to the broken rule, the step that broke it included."""

    @property
    def trace(self) -> tuple[Event, ...]:
        """What was seen on the way to the broken rule."""
        return tuple(event for taken in self.history for event in taken.events)

    @property
    def missing(self) -> tuple[str, ...]:
        """The witnesses that were never reached."""
        return tuple(name for name in self.bounds.witnesses if not self.witnesses[name])


class Progress(NamedTuple):
    """How far an exploration has come: parts that are done, parts in all, states so far."""

    done: int
    parts: int
    states: int


def explore(
    calls: int,
    parallel: int,
    *,
    aborts: bool = False,
    failures: bool = False,
    reclassify: bool = False,
    processes: int = 1,
    progress: Callable[[Progress], None] | None = None,
    step: StepFunction = machine.step,
    enabled: EnabledFunction = machine.enabled,
) -> Exploration:
    """Explore a batch of `calls` calls in a pool of `parallel`, over all combinations of modes.

    With `reclassify` the mode of a call may change until it starts; then the combinations hang
    together, and are explored as one. `progress` is told from time to time. `step` and `enabled` may
    be broken variants of the machine's, to see that the properties catch them; with more than one
    process they have to be functions of a module. What is found does not depend on `processes`.
    """
    bounds = Bounds(calls, parallel, aborts, failures, reclassify)
    parts = bounds.parts()
    told = progress or (lambda _: None)
    if processes == 1 or len(parts) == 1:
        found = _in_this_process(bounds, parts, told, step, enabled)
    else:
        found = _in_processes(bounds, parts, processes, told, step, enabled)
    return _joined(bounds, found)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep everything until the end: nothing of a search is garbage, and looking for it takes time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _in_this_process(
    bounds: Bounds,
    parts: Sequence[tuple[Modes, ...]],
    told: Callable[[Progress], None],
    step: StepFunction,
    enabled: EnabledFunction,
) -> list[Exploration]:
    found: list[Exploration] = []

    def tell(states: int) -> None:
        told(Progress(len(found), len(parts), sum(one.states for one in found) + states))

    for part in parts:
        found.append(_explore_part(bounds, part, step, enabled, tell))
    return found


def _in_processes(
    bounds: Bounds,
    parts: Sequence[tuple[Modes, ...]],
    processes: int,
    told: Callable[[Progress], None],
    step: StepFunction,
    enabled: EnabledFunction,
) -> list[Exploration]:
    """Explore the parts in several processes, the larger ones first; answer them in their own order."""
    by_size = sorted(range(len(parts)), key=lambda one: -sum(m.count(Mode.PARALLEL) for m in parts[one]))
    with ProcessPoolExecutor(min(processes, len(parts)), mp_context=get_context("spawn")) as pool:
        running = {
            pool.submit(_explore_part, bounds, parts[number], step, enabled): number for number in by_size
        }
        found: dict[int, Exploration] = {}
        for one in as_completed(running):
            found[running[one]] = one.result()
            told(Progress(len(found), len(parts), sum(each.states for each in found.values())))
    return [found[number] for number in range(len(parts))]


def _joined(bounds: Bounds, parts: Sequence[Exploration]) -> Exploration:
    """All parts as one; of several broken rules the one with the shortest history, the first of equals."""
    whole = Exploration(bounds)
    for part in parts:
        whole.states += part.states
        whole.nodes += part.nodes
        whole.steps += part.steps
        whole.depth = max(whole.depth, part.depth)
        whole.witnesses.update(part.witnesses)
        if part.broken is not None and (whole.broken is None or len(part.history) < len(whole.history)):
            whole.broken, whole.history = part.broken, part.history
    return whole


# -- the two halves of a step ---------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Place:
    """A state of the batch, and where its actions lead."""

    state: Batch
    edges: tuple[_Edge, ...] | None = None


@dataclass(slots=True, eq=False)
class _Sight:
    """A ledger, and what becomes of it by what is shown."""

    ledger: Ledger
    after: dict[_Shown, _Seen] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What a step shows: its events; or the new mode of a call, which is known but shows nothing."""

    events: tuple[Event, ...] = ()
    learnt: Reclassify | None = None


_NOTHING_SHOWN = _Shown()


class _Edge(NamedTuple):
    """An action of a state: where it leads, what it shows, which witnesses it is."""

    action: Action | None
    place: _Place
    shown: _Shown
    witnesses: tuple[str, ...]


class _Seen(NamedTuple):
    """What comes of showing something to a ledger."""

    sight: _Sight
    broken: Broken | None
    witnesses: tuple[str, ...]


_Node: TypeAlias = tuple[_Place, _Sight]


class _Graph:
    """The states and the ledgers that were met, one object each."""

    def __init__(self, bounds: Bounds, step: StepFunction, enabled: EnabledFunction) -> None:
        self._bounds = bounds
        self._around = AnySurroundings(bounds.aborts, bounds.failures, bounds.reclassify)
        self._step = step
        self._enabled = enabled
        self._judges = properties.judged(properties.BATCH)
        self._witnesses = tuple(properties.SOMETIMES.values())
        self.places: dict[Batch, _Place] = {}
        self._sights: dict[Ledger, _Sight] = {}
        self._shown: dict[tuple[tuple[Event, ...], Reclassify | None], _Shown] = {}

    def opening(self, modes: Modes) -> _Edge:
        """The step that opens a batch."""
        return self._edge(None, chapter.open_batch(modes, self._bounds.parallel), ())

    def forget(self) -> None:
        """Let go of what holds itself, so that its memory is free at once."""
        for place in self.places.values():
            place.edges = None
        for sight in self._sights.values():
            sight.after.clear()

    def edges(self, place: _Place) -> tuple[_Edge, ...]:
        """What may be done in a state."""
        if place.edges is None:
            place.edges = tuple(
                self._edge(action, self._step(place.state, action), _glimpsed(place.state, action))
                for action in self._enabled(place.state, self._around)
            )
        return place.edges

    def seen(self, sight: _Sight, shown: _Shown) -> _Seen:
        """What a ledger says once something was shown, and what that breaks."""
        seen = sight.after[shown] = self._judge(sight.ledger, shown)
        return seen

    def sight(self, ledger: Ledger) -> _Sight:
        """The one object of a ledger."""
        known = self._sights.get(ledger)
        if known is None:
            known = self._sights[ledger] = _Sight(ledger)
            known.after[_NOTHING_SHOWN] = _Seen(known, None, ())
        return known

    def _edge(self, action: Action | None, taken: chapter.Stepped, witnesses: tuple[str, ...]) -> _Edge:
        learnt = action if isinstance(action, Reclassify) else None
        shown = _NOTHING_SHOWN
        if taken.events or learnt is not None:
            shown = self._shown.setdefault((taken.events, learnt), _Shown(taken.events, learnt))
        place = self.places.get(taken.state)
        if place is None:
            place = self.places[taken.state] = _Place(taken.state)
        return _Edge(action, place, shown, witnesses)

    def _judge(self, ledger: Ledger, shown: _Shown) -> _Seen:
        witnesses: list[str] = []
        if shown.learnt is not None:
            ledger = _learnt(ledger, shown.learnt)
        for event in shown.events:
            for broken in properties.broken_by(ledger, event, self._judges):
                return _Seen(self.sight(ledger), broken, ())
            witnesses += (one.name for one in self._witnesses if one.holds(ledger, event))
            ledger = properties.enter(ledger, event)
        return _Seen(self.sight(ledger), None, tuple(witnesses))


def _learnt(ledger: Ledger, action: Reclassify) -> Ledger:
    """The ledger once it is known that a call that has not started has another mode."""
    position = action.position
    announced = replace(ledger.announced[position], mode=action.mode)
    return ledger._replace(
        announced=ledger.announced[:position] + (announced,) + ledger.announced[position + 1 :]
    )


def _glimpsed(state: Batch, action: Action) -> tuple[str, ...]:
    if not isinstance(action, Reclassify):
        return ()
    return tuple(one.name for one in RECLASSIFIED.values() if one.holds(state, action))


# -- the search -----------------------------------------------------------------------------------


def _explore_part(
    bounds: Bounds,
    part: tuple[Modes, ...],
    step: StepFunction,
    enabled: EnabledFunction,
    progress: Callable[[int], None] | None = None,
) -> Exploration:
    """Explore combinations of modes, breadth first, until a rule breaks or there is nothing more."""
    found = Exploration(bounds)
    graph = _Graph(bounds, step, enabled)
    came: dict[_Node, tuple[_Node | None, _Edge]] = {}
    nothing = graph.sight(properties.NOTHING)
    for modes in part:
        opening = graph.opening(modes)
        came[opening.place, graph.seen(nothing, opening.shown).sight] = (None, opening)
    layer = list(came)
    with _without_collector():
        while layer and found.broken is None:
            layer = _next_layer(found, graph, came, layer)
            found.depth += 1
            if progress is not None:
                progress(len(graph.places))
    found.states = len(graph.places)
    found.nodes = len(came)
    graph.forget()
    return found


def _next_layer(
    found: Exploration,
    graph: _Graph,
    came: dict[_Node, tuple[_Node | None, _Edge]],
    layer: list[_Node],
) -> list[_Node]:
    """Take every action of every node of a layer; answer the nodes that are new."""
    following: list[_Node] = []
    for node in layer:
        place, sight = node
        edges = graph.edges(place)
        if not edges:
            found.broken = properties.settled(sight.ledger)
            if found.broken is not None:
                found.history = tuple(_history(came, node))
                return []
        found.steps += len(edges)
        for edge in edges:
            seen = sight.after.get(edge.shown) or graph.seen(sight, edge.shown)
            if seen.broken is not None:
                found.broken = seen.broken
                found.history = (*_history(came, node), Taken(edge.action, edge.shown.events))
                return []
            if seen.witnesses or edge.witnesses:
                found.witnesses.update(seen.witnesses)
                found.witnesses.update(edge.witnesses)
            reached = (edge.place, seen.sight)
            if reached not in came:
                came[reached] = (node, edge)
                following.append(reached)
    return following


def _history(came: dict[_Node, tuple[_Node | None, _Edge]], node: _Node) -> Iterator[Taken]:
    """The steps of the shortest way to a node."""
    steps: list[Taken] = []
    before: _Node | None = node
    while before is not None:
        before, edge = came[before]
        steps.append(Taken(edge.action, edge.shown.events))
    return reversed(steps)
