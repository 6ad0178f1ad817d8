"""Specification and runtime agree: on every event of every window, and on what is enabled next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from gnomon_check.conform import BACKENDS, Run, conform
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin


def agree(scenario: Scenario, backend: str) -> Run:
    found = conform(scenario, Builtin(), backend)
    assert found.ok, complaint(found, "builtin")
    return found


@pytest.mark.clause("DSP-8", "CAN-2", "CAN-6", "CAN-7", "SCD-4", "SCD-5", "SCD-6", "SCD-8", "SCD-10", "PY-1")
@pytest.mark.parametrize("backend", BACKENDS)
@given(scenario=scenarios())
@settings(max_examples=400)
def test_batches_agree(scenario: Scenario, backend: str) -> None:
    agree(scenario, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@given(scenario=policed())
@settings(max_examples=400)
def test_calls_with_policies_around_them_agree(scenario: Scenario, backend: str) -> None:
    agree(scenario, backend)


WITNESSES = {
    "a tool is registered",
    "a registration is refused",
    "a tool is removed",
    "a scope is restricted",
    "a restriction is lifted",
    "a mode is declared",
    "a guard is added",
    "a listener is added",
    "a policy is logged",
    "a script changes something",
    "TOOL_TIMEOUT",
    "UNKNOWN_TOOL",
    "a body hears of a deadline",
    "a body hears of a wrapper's signal",
    "a signal of a wrapper aborts",
    "somebody answers an approval",
    "an answerer asks the next",
    "a single call is answered",
}


def witnessed(run: Run) -> Iterator[str]:
    """What of `WITNESSES` a run has reached."""
    changes = {
        "registered": "a tool is registered",
        "removed": "a tool is removed",
        "restricted": "a scope is restricted",
        "unrestricted": "a restriction is lifted",
        "mode": "a mode is declared",
        "guarded": "a guard is added",
        "hooked": "a listener is added",
        "policy": "a policy is logged",
    }
    for window in run.windows:
        for event in (*window.echoes, *window.events):
            match event:
                case {"event": "registry.changed", "op": "registered", "refused": _}:
                    yield "a registration is refused"
                case {"event": "registry.changed", "op": op} if "refused" not in event:
                    yield changes.get(op, op)
                case {"event": "result.logged" | "result.returned", "outcome": {"code": str(code)}}:
                    yield code
                case {"event": "body.signalled", "source": "deadline"}:
                    yield "a body hears of a deadline"
                case {"event": "body.signalled", "source": str(source)} if source != "caller":
                    yield "a body hears of a wrapper's signal"
                case {"event": "signal.aborted", "signal": str(signal)} if signal != "caller":
                    yield "a signal of a wrapper aborts"
                case {"event": "policy.decided", "waterfall": "approval"}:
                    yield "somebody answers an approval"
                case {"event": "policy.delegated", "waterfall": "approval"}:
                    yield "an answerer asks the next"
            if event["event"] == "result.returned":
                yield "a single call is answered"
        if any(event["event"] == "registry.changed" for event in window.events):
            yield "a script changes something"


@pytest.mark.parametrize("backend", BACKENDS)
def test_scenarios_in_which_everything_may_change_agree(backend: str) -> None:
    reached: Counter[str] = Counter()

    @given(scenario=living())
    @settings(max_examples=600)
    def all_agree(scenario: Scenario) -> None:
        reached.update(set(witnessed(agree(scenario, backend))))

    all_agree()
    assert WITNESSES - set(reached) == set(), "these were not reached"
