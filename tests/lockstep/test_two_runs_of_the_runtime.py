"""Relations between two runs of the runtime: what a policy more, or another order of policies, may change.

The specification's own are in `tests/spec/test_two_runs.py`; here both runs are also judged by it.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patched import runtime_with

from gnomon import Output, Runtime, Tool
from gnomon_check.conform import BACKENDS, conform
from gnomon_check.generate import GUARD_ENDS, policed
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin

# Observers raise there; that is a warning, and the end of nothing (FIN-3).
pytestmark = pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")

Plain = dict[str, Any]


def at_rest(scenario: Scenario) -> Plain:
    """The scenario with nothing that aborts, and every gate open beforehand: only policies decide then."""
    plain: Plain = copy.deepcopy(scenario.model_dump(by_alias=True, exclude_unset=True))
    scripts = [one["body"] for one in plain["tools"]] + [one["script"] for one in plain["hooks"]]
    for script in scripts:
        script[:] = [one for one in script if not {"abort", "await_abort", "set_signal"} & set(one)]
    gates = [f"{kind}:0" for kind in ("body", "more", "unwind", "hook0", "hook1", "hook2")]
    answered = [{"approve": {"pos": 0, "outcome": "allowed-once"}}]
    plain["schedule"] = [*({"release": {"gate": one}} for one in gates), *answered, {"open": {}}]
    return plain


def bodies(plain: Plain, backend: str, runtime: type = Runtime) -> int:
    """How many bodies run, in a run that specification and runtime agree on."""
    found = conform(Scenario.model_validate(plain), Builtin(runtime), backend)
    if runtime is Runtime:
        assert found.ok, complaint(found, "builtin")
    return sum(event["event"] == "body.started" for window in found.windows for event in window.events)


@pytest.mark.clause("GRD-3")
@pytest.mark.parametrize("backend", BACKENDS)
@given(policed(max_calls=1, min_calls=1), st.sampled_from(GUARD_ENDS), st.booleans())
@settings(max_examples=150)
def test_one_guard_more_never_lets_more_run(
    backend: Any, scenario: Scenario, end: Plain, first: bool
) -> None:
    plain = at_rest(scenario)
    before = bodies(plain, backend)
    guard = {"id": "one-more", "script": [end]}
    plain["guards"] = [guard, *plain["guards"]] if first else [*plain["guards"], guard]
    assert bodies(plain, backend) <= before


LISTENERS: tuple[list[Plain], ...] = (
    [{"next": {}}, {"pass": {}}],
    [{"next": {}}, {"pass": {}}],
    [{"decide": {"decision": {"kind": "deny", "reason": "no"}}}],
    [{"next": {}}, {"decide": {"decision": {"kind": "deny", "reason": "no"}}}],
    [{"raise": {}}],
)
"""Listeners of which none allows what another has not."""


def in_order(scripts: list[list[Plain]], guards: list[Plain]) -> Plain:
    listeners = [
        {"id": f"hook{number}", "on": "pre_execute", "script": script}
        for number, script in enumerate(scripts)
    ]
    return {
        "scenario": "gnomon/1",
        "id": "in-order",
        "title": "policies in an order",
        "clauses": [],
        "tools": [{"name": "act", "body": [{"return": {"value": 1}}]}],
        "hooks": listeners,
        "guards": [{"id": f"guard{number}", "script": [end]} for number, end in enumerate(guards)],
        "batches": [{"calls": [{"id": "c", "name": "act"}]}],
        "schedule": [{"open": {}}],
    }


@pytest.mark.clause("GRD-2", "GRD-3", "PY-1")
@pytest.mark.parametrize("backend", BACKENDS)
@given(
    scripts=st.lists(st.sampled_from(LISTENERS), max_size=4),
    guards=st.lists(st.sampled_from(GUARD_ENDS[:-1]), max_size=3),
    data=st.data(),
)
@settings(max_examples=150)
def test_no_order_of_policies_turns_a_denial_into_a_run(
    backend: Any, scripts: list[list[Plain]], guards: list[Plain], data: st.DataObject
) -> None:
    before = bodies(in_order(scripts, guards), backend)
    other = in_order(data.draw(st.permutations(scripts)), data.draw(st.permutations(guards)))
    assert bodies(other, backend) == before


NAMES = ("read", "write", "run")


def named(name: str) -> Tool:
    async def run(arguments: Any, context: Any) -> None:
        return None

    return Tool(name=name, description="", parameters={"type": "object"}, output=Output(schema={}), run=run)


@pytest.mark.clause("REG-4")
@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(("global", "preset", "agent"))), unique=True),
    st.lists(st.tuples(st.sampled_from(("preset", "agent")), st.booleans(), st.sets(st.sampled_from(NAMES)))),
)
def test_one_restriction_more_never_shows_more(
    tools: list[tuple[str, str]], restrictions: list[tuple[str, bool, set[str]]]
) -> None:
    runtime = Runtime()
    preset = runtime.scope("preset")
    agent = preset.scope("agent")
    places: dict[str, Any] = {"global": runtime, "preset": preset, "agent": agent}
    for name, place in tools:
        places[place].register(named(name))
    for place, allows, names in restrictions:
        before = {one.name for one in agent.tools()}
        inherited = {one.name for one in (runtime if place == "preset" else preset).tools()}
        some = names & inherited
        places[place].restrict(**({"allow": some} if allows else {"deny": some}))
        assert {one.name for one in agent.tools()} <= before


def test_the_relations_can_be_broken() -> None:
    denial = 'return PostResult(failure(Code.DENIED, str.__str__(reason), "DeniedError"))  # GRD-2'
    edits = ((denial, "return ToDispatch()"),)
    denied = in_order([], [{"deny": {"reason": "no"}}, {"raise": {}}])
    turned = in_order([], [{"raise": {}}, {"deny": {"reason": "no"}}])
    with runtime_with("pipeline", *edits) as broken:
        assert bodies(denied, "asyncio", broken) != bodies(turned, "asyncio", broken)
