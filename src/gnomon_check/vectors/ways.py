"""Every way that the specification allows through a scenario: a graph of what may be seen.

A node is what may still come, an edge an event, and where nothing has to come any more a node leads into the
next window. Two nodes from which the same may come are one. Where nothing is left free, the graph is a line.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gnomon_check.oracle import Blocked, Move, Oracle, World
from gnomon_check.refinement import Key
from gnomon_check.scenario import Scenario
from gnomon_spec.vocabulary import Lane

MOST = 10_000
"""How many states the oracle may hold, all nodes together, before a scenario is too free to be told."""

Place: TypeAlias = tuple[int, int]
"""A step of the schedule: which batch, and which step of its part."""


class TooFree(ValueError):
    """There are more ways through a scenario than can be told."""


@dataclass(frozen=True, slots=True)
class Rest:
    """A quiet: what blocks, whether no batch is under way, and the node that begins the next window."""

    blocked: tuple[Blocked, ...]
    idle: bool
    then: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """What may come: events, each with the node that follows; quiets."""

    place: Place
    events: tuple[tuple[Key, int], ...]
    rests: tuple[Rest, ...]


class Ways:
    """The graph of a scenario. Raises `TooFree`."""

    def __init__(self, scenario: Scenario) -> None:
        """Follow every way."""
        self._parts = scenario.by_batch()
        self._known: dict[tuple[Place, frozenset[World]], int] = {}
        self._numbers: dict[Node, int] = {}
        self._held = 0
        self.nodes: list[Node] = []
        self.begin = self._entered(Oracle(self._parts[0], thorough=False), (0, 0))

    def _entered(self, oracle: Oracle, place: Place) -> int:
        """The node that begins a window: the input has been taken."""
        oracle.take(oracle.scenario.schedule[place[1]])
        return self._node(oracle, place)

    def _node(self, oracle: Oracle, place: Place) -> int:
        key = place, frozenset(oracle.worlds)
        if key not in self._known:
            node = self._followed(oracle, place)
            if node not in self._numbers:
                self._numbers[node] = len(self.nodes)
                self.nodes.append(node)
            self._known[key] = self._numbers[node]
        return self._known[key]

    def _followed(self, oracle: Oracle, place: Place) -> Node:
        closure = oracle.closure()
        self._held += len(closure)
        if self._held > MOST:
            raise TooFree(f"{oracle.scenario.id}: the oracle would hold more than {MOST} states")
        seen: defaultdict[Key, list[World]] = defaultdict(list)
        for moves in closure.values():
            for move in moves:
                if move.keys:
                    seen[move.keys[0]].append(move.begun())
        events = tuple(
            (key, self._node(standing(oracle, worlds), place))
            for key, worlds in sorted(seen.items(), key=lambda one: repr(one[0]))
        )
        rests = [
            Rest(tuple(sorted(blocked, key=str)), idle, self._after(oracle, place, worlds, idle))
            for (blocked, idle), worlds in quiets(oracle, closure).items()
        ]
        return Node(place, events, tuple(sorted(rests, key=str)))

    def _after(self, oracle: Oracle, place: Place, worlds: list[World], idle: bool) -> int | None:
        """The node that begins the next window, if one comes."""
        part, step = place
        if step + 1 < len(oracle.scenario.schedule):
            return self._entered(standing(oracle, worlds), (part, step + 1))
        if part + 1 == len(self._parts) or not idle or any(_failed(one) for one in worlds):
            return None  # the batch is in the way of the next one
        layers = frozenset(one.layers for one in worlds)
        return self._entered(Oracle(self._parts[part + 1], layers, thorough=False), (part + 1, 0))


def standing(oracle: Oracle, worlds: Iterable[World]) -> Oracle:
    """Another oracle of the same batch, in other states."""
    other = copy.copy(oracle)
    other.worlds = tuple(dict.fromkeys(worlds))
    return other


def quiets(
    oracle: Oracle, closure: Mapping[World, Sequence[Move]]
) -> dict[tuple[frozenset[Blocked], bool], list[World]]:
    """How everything may rest in these states, and those in which it does."""
    found: defaultdict[tuple[frozenset[Blocked], bool], list[World]] = defaultdict(list)
    for world, moves in closure.items():
        if not moves:
            found[oracle.blocked(world), oracle.idle(world)].append(world)
    return found


def _failed(world: World) -> bool:
    return world.batch is not None and world.batch.lane is not Lane.RETURNED
