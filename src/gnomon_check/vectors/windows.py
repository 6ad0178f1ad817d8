"""The windows of a whole scenario, as JSON: what the specification allows in each, and in which order.

Where one sequence is allowed, the window is that sequence. Where several are, they are told exactly all the
same: as the pairs of events that are always in one order, where every order that keeps them is allowed, and
else as a little graph. Only where that would be too much, a window is an example.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from gnomon_check.expectation import as_object, echoes
from gnomon_check.oracle import Blocked, Oracle
from gnomon_check.refinement import Key
from gnomon_check.scenario import Scenario
from gnomon_check.vectors.ways import Node, Rest, TooFree, Ways, quiets, standing

Plain: TypeAlias = dict[str, Any]
Run: TypeAlias = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Allowed:
    """A window: its part of the graph, the node that begins it, and how it ends."""

    nodes: dict[int, Node]
    begin: int
    rest: Rest

    def runs(self, number: int) -> Iterator[Run]:
        """Every sequence that is allowed from a node on."""
        node = self.nodes[number]
        if node.rests:
            yield ()
        for key, then in node.events:
            for run in self.runs(then):
                yield (key, *run)

    def count(self, number: int, known: dict[int, int]) -> int:
        """How many sequences are allowed from a node on."""
        if number not in known:
            node = self.nodes[number]
            known[number] = bool(node.rests) + sum(self.count(then, known) for _, then in node.events)
        return known[number]


def allowed(scenario: Scenario) -> list[Allowed]:
    """The windows of a scenario. Raises `TooFree`, also where a window may end in several ways."""
    ways = Ways(scenario)
    windows: list[Allowed] = []
    begin: int | None = ways.begin
    while begin is not None:
        within = _within(ways, begin)
        rests = {rest for node in within.values() for rest in node.rests}
        if len(rests) != 1:
            raise TooFree(f"{scenario.id}: window {len(windows) + 1} may end in several ways")
        (rest,) = rests
        windows.append(Allowed(within, begin, rest))
        begin = rest.then
    return windows


def _within(ways: Ways, begin: int) -> dict[int, Node]:
    found: dict[int, Node] = {}
    left = [begin]
    while left:
        number = left.pop()
        if number not in found:
            found[number] = ways.nodes[number]
            left.extend(then for _, then in ways.nodes[number].events)
    return found


# -- as JSON --------------------------------------------------------------------------------------


def told(scenario: Scenario) -> Plain:
    """What is expected of a scenario: its windows, and what is true of every run of it."""
    try:
        windows = allowed(scenario)
    except TooFree:
        return {"windows": _with_echoes(scenario, _example(scenario))}
    shown = [{**_events(window), **_ending(window.rest.blocked, window.rest.idle)} for window in windows]
    return {"windows": _with_echoes(scenario, shown), "facts": _facts(scenario, windows)}


def _with_echoes(scenario: Scenario, windows: Sequence[Plain]) -> list[Plain]:
    return [
        {**({"harness": echo} if echo else {}), **window}
        for echo, window in zip(echoes(scenario), windows, strict=False)
    ]


def _ending(blocked: Sequence[Blocked], idle: bool) -> Plain:
    what = [{name: value for name, value in asdict(one).items() if value is not None} for one in blocked]
    return {"blocked": what, "idle": idle}


def _events(window: Allowed) -> Plain:
    first = next(window.runs(window.begin))
    shown = {"order": "total", "events": [as_object(key) for key in first]}
    if window.count(window.begin, {}) == 1:
        return shown
    before = _pairs(window, first)
    if before is not None:
        return {**shown, "order": "partial", "before": before}
    return {**shown, "order": "graph", **_graph(window, first)}


def _graph(window: Allowed, first: Run) -> Plain:
    """The nodes of a window: what may come in each, by the number of the event, and whether it may end."""
    others = {key for node in window.nodes.values() for key, _ in node.events} - set(first)
    keys = [*dict.fromkeys(first), *sorted(others, key=repr)]
    numbers = {key: number for number, key in enumerate(keys)}
    places = {number: place for place, number in enumerate(_in_order(window))}
    states = [
        {
            "next": [[numbers[key], places[then]] for key, then in window.nodes[number].events],
            "quiet": bool(window.nodes[number].rests),
        }
        for number in places
    ]
    return {"may_come": [as_object(key) for key in keys], "states": states}


def _in_order(window: Allowed) -> list[int]:
    """The nodes of a window, the beginning first."""
    order = [window.begin]
    for number in order:
        order += [then for _, then in window.nodes[number].events if then not in order]
    return list(dict.fromkeys(order))


# -- pairs of events ------------------------------------------------------------------------------


def _pairs(window: Allowed, first: Run) -> list[list[int]] | None:
    """The pairs of events that are always in that order, where every order that keeps them is allowed.

    Nothing where pairs do not say it all. Events are numbered as in the first run; of pairs that follow from
    others none is named.
    """
    place = {one: number for number, one in enumerate(_numbered(first))}
    done: dict[int, frozenset[int]] = {window.begin: frozenset()}
    always = {(left, right) for left in range(len(first)) for right in range(len(first)) if left != right}
    for number in _in_order(window):
        for key, then in window.nodes[number].events:
            nth = sum(first[one] == key for one in done[number])
            event = place.get((key, nth))
            if event is None or done.setdefault(then, done[number] | {event}) != done[number] | {event}:
                return None  # not every run has the same events
            always -= {(left, event) for left in range(len(first)) if left not in done[number]}
        if window.nodes[number].rests and len(done[number]) < len(first):
            return None
    if _extensions(len(first), always) != window.count(window.begin, {}):
        return None
    between = {(left, right) for left, middle in always for second, right in always if middle == second}
    return [list(pair) for pair in sorted(always - between)]


def _numbered(run: Run) -> Iterator[tuple[Key, int]]:
    """The events of a run, each with how many of its like came before."""
    seen: Counter[Key] = Counter()
    for key in run:
        yield key, seen[key]
        seen[key] += 1


def _extensions(count: int, pairs: set[tuple[int, int]]) -> int:
    """In how many orders the events can come that keep the pairs."""
    needed = [frozenset(left for left, right in pairs if right == one) for one in range(count)]
    ways = {frozenset[int](): 1}
    for _ in range(count):
        following: Counter[frozenset[int]] = Counter()
        for done, number in ways.items():
            for one in range(count):
                if one not in done and needed[one] <= done:
                    following[done | {one}] += number
        ways = dict(following)
    return sum(ways.values())


# -- where there are too many ways ----------------------------------------------------------------


def _example(scenario: Scenario) -> list[Plain]:
    """One run: in each window the first of what may come. What follows is expected of just that run."""
    shown: list[Plain] = []
    layers = None
    for part in scenario.by_batch():
        oracle = Oracle(part, layers, thorough=False)
        for step in part.schedule:
            oracle.take(step)
            events = []
            free = False
            while may_come := sorted(oracle.allowed(), key=repr):
                free = free or len(may_come) > 1 or bool(oracle.quiet_worlds())
                oracle.see(may_come[0])
                events.append(as_object(may_come[0]))
            rests = quiets(oracle, oracle.closure())
            (blocked, idle), worlds = min(rests.items(), key=lambda one: sorted(map(str, one[0][0])))
            order = "example" if free or len(rests) > 1 else "total"
            shown.append({"order": order, "events": events, **_ending(sorted(blocked, key=str), idle)})
            oracle = standing(oracle, worlds)
        layers = oracle.layers
    return shown


# -- what is true of every run --------------------------------------------------------------------


def _facts(scenario: Scenario, windows: Sequence[Allowed]) -> list[Plain]:
    """Of each batch: the results that a call may have, the bodies that start, how it ends."""
    return [
        {
            "batch": part.batch.id,
            **_facts_of([one for one in windows if one.nodes[one.begin].place[0] == number]),
        }
        for number, part in enumerate(scenario.by_batch())
    ]


def _facts_of(windows: Sequence[Allowed]) -> Plain:
    surely: set[Key] = set()
    perhaps: set[Key] = set()
    for window in windows:
        surely |= _surely(window, window.begin, {})
        perhaps |= {key for node in window.nodes.values() for key, _ in node.events}
    outcomes: dict[int, list[Plain | None]] = {}
    for key in sorted(perhaps, key=repr):
        if key[0] in _RESULTS and key[1] is not None:
            held = outcomes.setdefault(key[1], [])
            held.append(as_object(key)["outcome"])
            if key not in surely and None not in held:
                held.append(None)
    return {
        "results": [{"pos": pos, "outcomes": one} for pos, one in sorted(outcomes.items())],
        "bodies_started": _bodies(surely),
        "bodies_perhaps": _bodies(perhaps - surely),
        "ends": sorted({end for key in perhaps if (end := _end(key)) is not None}),
    }


def _surely(window: Allowed, number: int, known: dict[int, frozenset[Key]]) -> frozenset[Key]:
    """What comes in every run from a node on."""
    if number not in known:
        node = window.nodes[number]
        ways = [_surely(window, then, known) | {key} for key, then in node.events]
        if node.rests:
            ways.append(frozenset())
        known[number] = frozenset.intersection(*ways)
    return known[number]


_RESULTS = ("result.logged", "result.returned")


def _bodies(keys: set[Key]) -> list[int]:
    return sorted({key[1] for key in keys if key[0] == "body.started" and key[1] is not None})


def _end(key: Key) -> str | None:
    """How a batch ends by an event, if it does."""
    match key:
        case ("batch.failed", _, _):
            return "failed"
        case ("batch.closed", None, (ended, *_)):
            return str(ended)
        case _:
            return None
