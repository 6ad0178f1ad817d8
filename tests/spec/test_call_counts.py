"""One call, explored: all decisions, failures and abort moments, with the numbers pinned by hand."""

from __future__ import annotations

import pytest

from gnomon_check.explore_call import Around, CallExploration, explore_call
from gnomon_spec import properties
from gnomon_spec.vocabulary import Code, Setup, Stage

PLAIN = Around(contexts=False, signals=False)

# (name, what surrounds the call, what may come): states, steps
PINNED: dict[str, tuple[Setup, Around, tuple[int, int]]] = {
    "pre-execute and guards": (Setup(pre=2, guards=2), Around(), (687, 988)),
    "a wrapper and a timeout": (Setup(wrappers=2, timeout=0), Around(), (13473, 60469)),
    "post-execute, projection, finalizer": (
        Setup(post=2, finalizer=True, projector=True),
        Around(),
        (6901, 35175),
    ),
    "whatever may strike": (
        Setup(pre=1, guards=1, wrappers=1, post=1, finalizer=True, projector=True),
        Around(contexts=False, signals=False, strikes=True),
        (24570, 49747),
    ),
    "all of it": (Setup(pre=2, guards=2, wrappers=1, post=2, finalizer=True), PLAIN, (19530, 87884)),
}


@pytest.mark.parametrize("name", PINNED)
def test_every_property_holds_and_the_numbers_are_what_was_pinned(name: str) -> None:
    setup, around, pinned = PINNED[name]
    found = explore_call(setup, around=around)
    assert found.broken is None, found.trace
    assert (found.states, found.steps) == pinned


@pytest.mark.clause("SCD-9", "PY-4")
def test_a_call_that_is_struck_is_lost_and_nothing_more_is_seen_of_it() -> None:
    around = Around(contexts=False, signals=False, strikes=True)
    found = explore_call(
        Setup(pre=2, guards=1, wrappers=1, post=1, finalizer=True, projector=True), around=around
    )
    assert found.broken is None, found.trace
    assert found.stages[Stage.LOST.value] > 0
    assert found.refused["PY-4"] > 0, "where nothing of the call runs, nothing of it strikes"


@pytest.fixture(scope="module")
def found() -> CallExploration:
    """Everything around a call, but for contexts and signals."""
    return explore_call(Setup(pre=2, guards=2, wrappers=2, post=2, finalizer=True, timeout=0), around=PLAIN)


def test_every_stage_is_reached_and_every_code_comes_out(found: CallExploration) -> None:
    unreachable = {Stage.PROJECT.value, Stage.LOST.value}  # no projection here, and no fault
    assert set(found.stages) == {stage.value for stage in Stage} - unreachable
    assert set(found.codes) == {
        "OK",
        "OWN_CODE",
        Code.ABORTED,
        Code.ABORTED_BEFORE_DISPATCH,
        Code.UNKNOWN_TOOL,
        Code.INVALID_ARGS,
        Code.INVALID_TOOL_OUTPUT,
        Code.TOOL_TIMEOUT,
        Code.DENIED,
        Code.APPROVAL_REJECTED,
        Code.APPROVAL_CANCELLED,
        Code.APPROVAL_UNAVAILABLE,
        Code.BLOCKED,
        Code.TOOL_ERROR,
        Code.POLICY_ERROR,
    }


@pytest.mark.parametrize("aborted", [False, True])
@pytest.mark.parametrize(
    "setup",
    [
        Setup(arguments=False, finalizer=True, pre=1),
        Setup(collapsed=True, finalizer=True, pre=1),
        Setup(visible=False, finalizer=True, pre=1, guards=1),
        Setup(pre=1, service=False),
        Setup(pre=1, scope=False),
        Setup(pre=1, turn=False),
        Setup(pre=1, never=True),
    ],
    ids=str,
)
def test_unusual_surroundings_break_nothing_either(setup: Setup, aborted: bool) -> None:
    found = explore_call(setup, aborted=aborted)
    assert found.broken is None
    assert found.codes


def test_a_call_is_judged_by_every_property_that_it_can_show() -> None:
    names = {one.name for one in properties.judged(properties.CALL)}
    assert {"FailClosed", "GuardsNotSkippable", "ContextDiscipline", "FinalizerExactlyOnce"} <= names
