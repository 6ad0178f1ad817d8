"""Edge cover: scenarios that lead along every edge of the explored graph of a batch.

Around each call stand a listener before it, a wrapper, a body and a listener after it, each of which waits
at a gate of its own; so between two inputs everything rests, and what the lane does by itself is done. The
graph has those resting states of the specification's machine for its nodes, and for its edges what the
harness may do in them: let one that waits go on, with an answer; abort; change what a call is classified as;
or several of these at once. A plan is a set of ways through the graph that leaves no edge out. A way is an
ordinary scenario, so what comes of it is judged like that of any other.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from gnomon_check.surroundings import ERROR, SKIPPED
from gnomon_spec import batch as chapter
from gnomon_spec import machine
from gnomon_spec.batch import Batch
from gnomon_spec.cancellation import cancelled_outcome
from gnomon_spec.machine import (
    Abort,
    Action,
    BeginCommit,
    BodyStarts,
    Commits,
    DispatchSettles,
    Drain,
    Notice,
    Prepared,
    Reclassify,
    lane_moves,
)
from gnomon_spec.vocabulary import (
    SUCCESS,
    Code,
    Fault,
    FinalResult,
    How,
    Lane,
    Mode,
    Outcome,
    Phase,
    PostResult,
    ToDispatch,
    call,
)

Place: TypeAlias = Literal["pre", "wrap", "body", "post"]
"""Where something of a call waits: its listener, its wrapper, its body, the listener after it."""

ANSWERS: dict[Place, tuple[str, ...]] = {
    "pre": ("pass", "deny", "raise"),
    "wrap": ("pass", "raise"),
    "body": ("return", "raise", "return, and its wrapper raises"),
    "post": ("pass", "raise"),
}
"""How what waits may go on."""
STRIKE = "strike"
"""It raises what ends the process: the runtime itself fails (SCD-9, PY-4)."""


class Answer(NamedTuple):
    """Let what waits at a gate go on, in a certain way."""

    place: Place
    pos: int
    word: str

    @property
    def gate(self) -> str:
        return f"{self.place}:{self.pos}"


class Flip(NamedTuple):
    """Make a call that has not started parallel, or exclusive: whichever it is not."""

    pos: int


Input: TypeAlias = Answer | Flip | Abort
Turn: TypeAlias = tuple[Input, ...]
"""What the harness does before it lets the implementation run again."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is covered: so many calls, in a pool of so many, under which inputs."""

    calls: int
    parallel: int
    failures: bool = True
    reclassify: bool = False
    together: bool = False
    """Also two inputs at once."""


Graph: TypeAlias = dict[Batch, dict[Turn, Batch]]
"""Each resting state, and where each turn leads."""


# -- the graph ------------------------------------------------------------------------------------


def waiting(batch: Batch) -> tuple[tuple[Place, int], ...]:
    """What waits at a gate in a resting state."""
    found: list[tuple[Place, int]] = []
    if batch.lane is Lane.PREPARING:
        found.append(("pre", batch.next_start - 1))
    if batch.lane is Lane.COMMITTING:
        found.append(("post", batch.committed))
    for pos, one in enumerate(batch.calls):
        if one.phase is Phase.DISPATCHED:
            found.append(("wrap", pos))
        elif one.phase is Phase.RUNNING:
            found.append(("body", pos))
    return tuple(found)


def inputs(batch: Batch, bounds: Bounds) -> Iterator[Input]:
    """Everything that the harness may do in a resting state."""
    if batch.lane in chapter.ENDED:
        return
    for place, pos in waiting(batch):
        for word in (*ANSWERS[place], *((STRIKE,) if bounds.failures else ())):
            yield Answer(place, pos, word)
    if not batch.aborted:
        yield Abort()
    if bounds.reclassify:
        for pos in range(batch.next_start, len(batch.calls)):
            if chapter.refuse_reclassify(batch, pos) is None:
                yield Flip(pos)


def turns(batch: Batch, bounds: Bounds) -> Iterator[Turn]:
    """What the harness may do at once: one input, or two that do not concern the same gate."""
    single = tuple(inputs(batch, bounds))
    yield from ((one,) for one in single)
    for one, other in itertools.combinations(single, 2) if bounds.together else ():
        if type(one) is not Answer or type(other) is not Answer or one.gate != other.gate:
            yield (one, other)


def graph_of(bounds: Bounds) -> tuple[Graph, list[Batch]]:
    """Everything that can be reached, and where it begins: one state for each combination of modes."""
    begins = [
        _rest(chapter.open_batch(modes, bounds.parallel).state, bounds)
        for modes in itertools.product((Mode.PARALLEL, Mode.EXCLUSIVE), repeat=bounds.calls)
    ]
    graph: Graph = {}
    left = list(begins)
    while left:
        batch = left.pop()
        if batch not in graph:
            graph[batch] = {turn: after(batch, turn, bounds) for turn in turns(batch, bounds)}
            left.extend(graph[batch].values())
    return graph, begins


def after(batch: Batch, turn: Turn, bounds: Bounds) -> Batch:
    """Where a turn leads, as soon as everything rests again."""
    for one in turn:
        if isinstance(one, Abort):
            batch = machine.step(batch, one).state  # a signal aborts at once, before anything else goes on
    for one in turn:
        if isinstance(one, Flip):
            mode = Mode.EXCLUSIVE if batch.calls[one.pos].mode is Mode.PARALLEL else Mode.PARALLEL
            batch = machine.step(batch, Reclassify(one.pos, mode)).state
    commits = False
    for one in sorted(turn, key=_begins_a_body):
        if isinstance(one, Answer):
            batch = machine.step(batch, _action(batch, one)).state
            commits = commits or one.place == "post"
            if one.word == STRIKE and not batch.aborted:
                batch = machine.step(batch, Abort()).state  # PY-4: bodies are told
    return _rest(batch, bounds, commits)


def _begins_a_body(one: Input) -> bool:
    """Whether an input has a body begin: that looks at its signal after whatever else was done at once."""
    return isinstance(one, Answer) and (one.place, one.word) == ("wrap", "pass")


def _action(batch: Batch, answer: Answer) -> Action:
    place, pos, word = answer
    fault = Fault() if word == STRIKE else None
    one = batch.calls[pos]
    match place:
        case "pre" if word == "pass":
            return Prepared(pos, PostResult(SKIPPED) if batch.aborted else ToDispatch())  # GRD-5
        case "pre" if word == "deny":
            return Prepared(pos, PostResult(ERROR))
        case "pre":
            return Prepared(pos, fault or FinalResult(ERROR))
        case "wrap" if word == "pass":
            return DispatchSettles(pos, PostResult(SKIPPED)) if batch.aborted else BodyStarts(pos)  # DSP-3
        case "wrap":
            return DispatchSettles(pos, fault or FinalResult(ERROR))
        case "body" if word == "return":
            value = Outcome(Code.ABORTED) if batch.aborted else SUCCESS
            return DispatchSettles(pos, PostResult(value), How.RETURNED)
        case "body" if word == "raise":
            return DispatchSettles(pos, PostResult(ERROR), How.RAISED)
        case "body" if fault is not None:
            return DispatchSettles(pos, fault, How.RAISED)
        case "body":
            return DispatchSettles(pos, FinalResult(ERROR), How.RETURNED)
        case "post" if word == "pass":
            assert one.outcome is not None
            return Commits(
                pos, cancelled_outcome(one.outcome, one.body_invoked) if batch.aborted else one.outcome
            )
        case "post":
            return Commits(pos, fault or ERROR)


def _rest(batch: Batch, bounds: Bounds, commits: bool = False) -> Batch:
    """Let the lane do what it does by itself.

    Where the specification leaves it a choice, this is what a runtime does that commits all that is ready
    (`commits`) before it looks at a failure, and gives up at once where it learns of one otherwise.
    """
    while True:
        moves = list(lane_moves(batch, bounds.reclassify))
        if not moves:
            return _forgotten(batch)
        if batch.failed and commits:
            moves.sort(key=lambda move: not isinstance(move, BeginCommit | Commits))
        elif batch.failed:
            moves.sort(key=lambda move: not isinstance(move, Drain))
        else:
            moves.sort(key=lambda move: not isinstance(move, Notice))
        batch = machine.step(batch, moves[0]).state


def _forgotten(batch: Batch) -> Batch:
    """The state without what matters no more: of the calls that have their results, which those are."""
    over = call(Mode.PARALLEL, Phase.COMMITTED)
    done = tuple(over if pos < batch.committed else one for pos, one in enumerate(batch.calls))
    return batch._replace(calls=done)


# -- the plan -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Way:
    """A way through the graph, from the opening of the batch to its end, as plain data."""

    scenario: dict[str, Any]
    gates: tuple[frozenset[str], ...]
    """Where something waits after the opening, and after each turn."""
    fresh: frozenset[int]
    """The turns that are the first to go along their edge, by number."""


def plan(bounds: Bounds) -> Iterator[Way]:
    """Ways that together go along every edge."""
    graph, begins = graph_of(bounds)
    untaken = {batch: dict(edges) for batch, edges in graph.items()}
    ahead = _Ahead(graph, untaken)
    numbers = itertools.count()
    for begin in begins:
        while ahead.left(begin):
            turns, states, fresh = _way(begin, graph, untaken, ahead)
            yield Way(
                _scenario(begin, turns, bounds, next(numbers)),
                tuple(frozenset(f"{place}:{pos}" for place, pos in waiting(state)) for state in states),
                frozenset(fresh),
            )


def _way(
    begin: Batch, graph: Graph, untaken: Graph, ahead: _Ahead
) -> tuple[list[Turn], list[Batch], list[int]]:
    """A way from a state: along an edge that was not taken, or else to where there is one ahead."""
    state = begin
    turns: list[Turn] = []
    states = [begin]
    fresh = []
    while state.lane not in chapter.ENDED:
        if untaken[state]:
            fresh.append(len(turns))
            turn, state = untaken[state].popitem()
        else:
            turn, state = ahead.step(state) or _onwards(graph, state)
        turns.append(turn)
        states.append(state)
    return turns, states, fresh


class _Ahead:
    """Where there are edges ahead that were not taken."""

    def __init__(self, graph: Graph, untaken: Graph) -> None:
        self._graph = graph
        self._untaken = untaken
        self._over: set[Batch] = set()
        """States from which there is none any more."""

    def left(self, state: Batch) -> bool:
        """Whether there is one ahead of a state."""
        return bool(self._untaken[state]) or self.step(state) is not None

    def step(self, begin: Batch) -> tuple[Turn, Batch] | None:
        """The first step of a shortest way to a state that has one, or nothing."""
        first: dict[Batch, tuple[Turn, Batch]] = {}
        left: deque[Batch] = deque([begin])
        while left:
            state = left.popleft()
            for turn, following in self._graph[state].items():
                if following in first or following in self._over or following == begin:
                    continue
                first[following] = first.get(state, (turn, following))
                if self._untaken[following]:
                    return first[following]
                left.append(following)
        self._over.update(first, [begin])
        return None


def _onwards(graph: Graph, state: Batch) -> tuple[Turn, Batch]:
    """A step towards the end."""
    return next((turn, following) for turn, following in graph[state].items() if type(turn[0]) is Answer)


# -- scenarios ------------------------------------------------------------------------------------


def _scenario(begin: Batch, turns: Sequence[Turn], bounds: Bounds, number: int) -> dict[str, Any]:
    """The scenario that goes a way."""
    answers = {(one.place, one.pos): one.word for turn in turns for one in turn if isinstance(one, Answer)}
    modes = [one.mode for one in begin.calls]
    schedule: list[dict[str, Any]] = [{"open": {}}]
    flips = [0] * bounds.calls
    for turn in turns:
        steps = [step for one in turn for step in _steps(one, flips)]
        schedule.append(steps[0] if len(steps) == 1 else {"together": steps})
    positions = range(bounds.calls)
    return {
        "scenario": "gnomon/1",
        "id": f"edge-cover-{number}",
        "title": "A way through the explored graph of a batch",
        "clauses": [],
        "limits": {"max_parallel": bounds.parallel},
        "tools": [tool for pos in positions for tool in _tools(pos, modes[pos], answers, bounds)],
        "hooks": [*(hook for pos in positions for hook in _hooks(pos, answers)), _OBSERVER],
        "batches": [{"calls": [{"id": f"c{pos}", "name": f"t{pos}"} for pos in positions]}],
        "schedule": schedule,
    }


def _steps(one: Input, flips: list[int]) -> Iterator[dict[str, Any]]:
    match one:
        case Answer():
            yield {"release": {"gate": one.gate}}
        case Abort():
            yield {"abort": {}}
        case Flip(pos):
            flips[pos] += 1
            yield {"remove": {"registration": f"t{pos}@{flips[pos]}"}}
            turned = flips[pos] % 2 == 1
            yield {"register": {"tool": f"t{pos}-{'other' if turned else 'first'}"}}


def _tools(
    pos: int, mode: Mode, answers: dict[tuple[Place, int], str], bounds: Bounds
) -> Iterator[dict[str, Any]]:
    ends = {
        "raise": {"raise": {}},
        STRIKE: {"raise": {"kind": "keyboard"}},
    }
    end = ends.get(answers.get(("body", pos), ""), {"return": {"value": {"$nonce": True}}})
    parallel = mode is Mode.PARALLEL
    tool = {"name": f"t{pos}", "body": [{"gate": {"name": "body:$call"}}, end]}
    yield {**tool, "id": f"t{pos}-first", "parallel": parallel}
    if bounds.reclassify:
        yield {**tool, "id": f"t{pos}-other", "parallel": not parallel, "later": True}


_OBSERVER = {"id": "told", "on": "result"}
"""Tells the result of a call that has started from that of one that has not (SCD-8)."""
_LISTENERS: dict[Place, str] = {"pre": "pre_execute", "wrap": "execute", "post": "post_execute"}


def _hooks(pos: int, answers: dict[tuple[Place, int], str]) -> Iterator[dict[str, Any]]:
    ends: dict[str, dict[str, Any]] = {
        "deny": {"decide": {"decision": {"kind": "deny", "reason": "no"}}},
        "raise": {"raise": {}},
        STRIKE: {"raise": {"kind": "keyboard"}},
    }
    for place, on in _LISTENERS.items():
        script: list[dict[str, Any]] = [{"gate": {"name": f"{place}:$call"}}]
        end = ends.get(answers.get((place, pos), "pass"))
        if place == "wrap" and end is None:
            script.append({"next": {}})
            late = answers.get(("body", pos)) == "return, and its wrapper raises"
            end = ends["raise"] if late else None
        yield {
            "id": f"{place}-{pos}",
            "on": on,
            "match": {"pos": pos},
            "script": [*script, end or {"pass": {}}],
        }
