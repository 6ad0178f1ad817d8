"""Relations between two runs: one guard more never lets more run, and no order of guards does."""

from __future__ import annotations

import itertools

import pytest

from gnomon_spec import admission, journey
from gnomon_spec.vocabulary import Allow, Ask, Deny, PreDecision, Setup, Stage, Verdict

ANSWERS = tuple(Verdict)


def runs(decision: PreDecision, guards: tuple[Verdict, ...]) -> bool:
    """Whether a call that a listener decided on, and these guards, is dispatched."""
    state = admission.create(Setup(pre=1, guards=len(guards))).state
    state = journey.step(state, journey.PreDecides(0, decision)).state
    for answer in guards:
        if state.stage is Stage.GUARDS:
            state = journey.step(state, journey.GuardAnswers(answer)).state
    return state.stage is Stage.PREPARED


@pytest.mark.clause("GRD-3")
@pytest.mark.parametrize("decision", [Allow(), Deny(), Ask()], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("count", range(4))
def test_one_guard_more_never_lets_more_run(decision: PreDecision, count: int) -> None:
    """GRD-3, for every row of guards, every answer, and every place where one is added."""
    for guards in itertools.product(ANSWERS, repeat=count):
        for place, added in itertools.product(range(count + 1), ANSWERS):
            more = (*guards[:place], added, *guards[place:])
            before, after = not runs(decision, guards), not runs(decision, more)
            assert admission.no_more_runs(before, after)


def test_the_relation_can_be_broken() -> None:
    assert not admission.no_more_runs(denied_before=True, denied_after=False)
    assert admission.no_more_runs(denied_before=False, denied_after=True)


@pytest.mark.clause("GRD-2")
def test_the_order_of_guards_never_turns_a_denial_into_a_run() -> None:
    for guards in itertools.product(ANSWERS, repeat=3):
        assert len({runs(Allow(), order) for order in itertools.permutations(guards)}) == 1
