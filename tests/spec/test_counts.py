"""The numbers of states, pinned by hand, and compared with an independent model of the same batch."""

from __future__ import annotations

import itertools

import pytest

from gnomon_check.explore import RECLASSIFIED, explore
from gnomon_check.surroundings import AnySurroundings
from gnomon_spec import batch as chapter
from gnomon_spec import machine, properties
from gnomon_spec.batch import Batch
from gnomon_spec.vocabulary import Lane, Mode

# -- every interleaving of the lane's own moves, together with what was seen -----------------------

# (calls, parallel, aborts, failures): states, states with their ledgers, steps
PINNED = {
    (2, 1, False, False): (408, 568, 724),
    (2, 2, True, True): (3177, 4110, 7813),
    (3, 1, True, True): (9616, 17816, 29064),
    (3, 2, False, False): (5785, 8960, 15848),
    (3, 2, True, False): (18793, 27609, 56795),
    (3, 2, False, True): (11839, 18662, 30758),
    (3, 2, True, True): (33725, 50991, 100976),
    (4, 2, True, True): (290555, 524319, 1052146),
}

# The same, where the mode of a call may change until it starts.
RECLASSIFYING = {
    (2, 1, True, True): (1484, 2128, 3816),
    (2, 2, True, True): (3195, 4130, 8253),
    (3, 1, True, True): (9616, 17816, 33168),
    (3, 2, False, False): (6007, 9252, 18572),
    (3, 2, True, True): (33947, 51283, 109672),
    (3, 3, True, True): (58454, 79890, 189414),
}

# How often each witness is seen with three calls in a pool of two, with aborts and failures.
WITNESSES = {
    "a call settles before an earlier one": 120,
    "two bodies overlap": 30,
    "the abort finds a body running": 921,
    "the abort finds a success that waits for its commit": 5654,
    "an error survives the abort": 8166,
    "a call is answered without having started": 332,
    "the batch fails while a call has no result": 7955,
    "the batch fails after the abort": 4679,
}


WITNESSES_OF_RECLASSIFICATION = {
    "a call is reclassified while the pool is full": 1012,
    "a call is reclassified while another is being prepared": 148,
    "a call is reclassified while another is being committed": 1296,
    "a call that stopped the filling becomes parallel": 146,
    "a call that could join becomes exclusive": 146,
}


@pytest.mark.parametrize(("bounds", "pinned"), PINNED.items(), ids=str)
def test_the_numbers_of_states_are_what_was_pinned(
    bounds: tuple[int, int, bool, bool], pinned: tuple[int, int, int]
) -> None:
    calls, parallel, aborts, failures = bounds
    found = explore(calls, parallel, aborts=aborts, failures=failures)
    assert found.broken is None, found.trace
    assert (found.states, found.nodes, found.steps) == pinned


@pytest.mark.parametrize(("bounds", "pinned"), RECLASSIFYING.items(), ids=str)
def test_the_numbers_of_states_with_reclassification_are_what_was_pinned(
    bounds: tuple[int, int, bool, bool], pinned: tuple[int, int, int]
) -> None:
    calls, parallel, aborts, failures = bounds
    found = explore(calls, parallel, aborts=aborts, failures=failures, reclassify=True)
    assert found.broken is None, found.trace
    assert (found.states, found.nodes, found.steps) == pinned


def test_every_witness_is_reached_as_often_as_was_pinned() -> None:
    found = explore(3, 2, aborts=True, failures=True)
    assert dict(found.witnesses) == WITNESSES
    assert set(WITNESSES) == set(properties.SOMETIMES)


def test_every_witness_of_reclassification_is_reached_as_often_as_was_pinned() -> None:
    found = explore(3, 2, aborts=True, failures=True, reclassify=True)
    assert {name: found.witnesses[name] for name in RECLASSIFIED} == WITNESSES_OF_RECLASSIFICATION
    assert not found.missing


@pytest.mark.parametrize("bounds", [(2, 2), (3, 1), (3, 2)], ids=str)
def test_reclassification_reaches_no_state_that_the_modes_alone_do_not(bounds: tuple[int, int]) -> None:
    """The lane may always be slow: a call that becomes parallel might have been so and not yet started."""

    def reached(live: bool) -> set[Batch]:
        around = AnySurroundings(aborts=True, failures=True, live=live)
        every = itertools.product((Mode.PARALLEL, Mode.EXCLUSIVE), repeat=bounds[0])
        left = [chapter.open_batch(modes, bounds[1]).state for modes in every]
        seen = set(left)
        while left:
            state = left.pop()
            for action in machine.enabled(state, around):
                after = machine.step(state, action).state
                if after not in seen:
                    seen.add(after)
                    left.append(after)
        return {state._replace(stopped=False) for state in seen}

    assert reached(live=True) == reached(live=False)


# -- the same batch, as a model in which the lane's own moves are one step with what caused them --

# From an independent model (tuples, and again in TLA+ and Promela), all modes together:
# (calls, parallel): states and steps for (aborts, failures) = no/no, yes/no, no/yes, yes/yes.
INDEPENDENT = {
    (2, 1): ((112, 168), (292, 516), (136, 240), (340, 696)),
    (2, 2): ((216, 407), (695, 1451), (294, 637), (884, 2113)),
    (3, 1): ((512, 784), (1352, 2408), (624, 1120), (1576, 3248)),
    (3, 2): ((1428, 2941), (5025, 10996), (2032, 4741), (6596, 16412)),
    (3, 3): ((1918, 4740), (8451, 21418), (3067, 8540), (12063, 34755)),
}

Skeleton = tuple[object, ...]


def _at_once(state: Batch, after: machine.Action | None) -> Batch:
    """Let the lane go on by itself, as far as it can without waiting, in the one way of that model.

    That model resolves two freedoms: a fault that the lane learns of ends it at once, except right
    after a commit, where results that are ready are committed first; and a commit goes before a start.
    """
    lane_acted = after is None or isinstance(after, machine.Prepared | machine.Commits | machine.Notice)
    gives_up = isinstance(after, machine.Prepared | machine.Notice)
    while True:
        if state.lane is Lane.DRAINING and not chapter.is_live(state):
            return machine.step(state, machine.Raise()).state
        if state.lane is not Lane.FREE or not lane_acted:
            return state
        own = [one for one in machine.lane_moves(state) if not isinstance(one, machine.Notice)]
        if not own:
            return state
        drains = [one for one in own if isinstance(one, machine.Drain)]
        commits = [one for one in own if isinstance(one, machine.BeginCommit | machine.Commits)]
        chosen = (drains if gives_up else []) or commits or own
        state = machine.step(state, chosen[0]).state


def _skeleton(state: Batch) -> Skeleton:
    calls = tuple((one.mode, one.phase, one.outcome, one.in_flight) for one in state.calls)
    return (calls, state.lane, state.next_start, state.committed, state.aborted, state.failed)


def _count(calls: int, parallel: int, aborts: bool, failures: bool) -> tuple[int, int]:
    around = AnySurroundings(aborts, failures)
    seen: dict[Skeleton, Batch] = {}
    steps = 0
    for modes in itertools.product((Mode.PARALLEL, Mode.EXCLUSIVE), repeat=calls):
        root = _at_once(chapter.open_batch(modes, parallel).state, None)
        seen[_skeleton(root)] = root
        left = [root]
        while left:
            state = left.pop()
            for action in machine.enabled(state, around):
                own = (machine.Start, machine.BeginCommit, machine.Skip, machine.Close, machine.Drain)
                if isinstance(action, own) or (
                    state.lane is Lane.FREE and isinstance(action, machine.Commits)
                ):
                    continue
                steps += 1
                reached = _at_once(machine.step(state, action).state, action)
                if _skeleton(reached) not in seen:
                    seen[_skeleton(reached)] = reached
                    left.append(reached)
    return len(seen), steps


@pytest.mark.parametrize(("bounds", "counts"), INDEPENDENT.items(), ids=str)
def test_an_independent_model_counts_the_same(
    bounds: tuple[int, int], counts: tuple[tuple[int, int], ...]
) -> None:
    switches = ((False, False), (True, False), (False, True), (True, True))
    found = tuple(_count(*bounds, aborts, failures) for aborts, failures in switches)
    assert found == counts
