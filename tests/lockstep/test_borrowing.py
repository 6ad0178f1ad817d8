"""A result that was made for another call is no more than what a wrapper wrote (DSP-10)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from patched import runtime_with
from pydantic import ValidationError
from seeded_faults import TRUSTING

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.generate_borrowing import borrowing
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin
from gnomon_spec.vocabulary import Code

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")


@pytest.mark.clause("DSP-10", "DSP-14")
@pytest.mark.parametrize("backend", BACKENDS)
def test_specification_and_runtime_agree_on_what_is_borrowed(backend: str) -> None:
    outcomes: Counter[str] = Counter()

    @given(scenario=borrowing())
    @settings(max_examples=400)
    def agree(scenario: Scenario) -> None:
        found = conform(scenario, Builtin(), backend)
        assert found.ok, complaint(found, "builtin")
        (borrower,) = [one.match.pos for one in scenario.hooks if one.id == "borrows"]
        for window in found.windows:
            if window.step is not None:
                outcomes.update(
                    str(one["outcome"]["code"] or "OK")
                    for one in window.events
                    if one["event"] == "result.logged" and one["pos"] == borrower
                )

    agree()
    met = {"OK", "OWN_CODE", Code.INVALID_TOOL_OUTPUT, Code.POLICY_ERROR, Code.BLOCKED, Code.TOOL_ERROR}
    assert {name for name, many in outcomes.items() if many >= 5} >= met, outcomes


@pytest.mark.clause("DSP-10")
def test_one_that_trusts_whatever_is_a_result_is_caught() -> None:
    with runtime_with("pipeline", TRUSTING) as runtime:

        @given(scenario=borrowing())
        @settings(max_examples=200)
        def agree(scenario: Scenario) -> None:
            found = conform(scenario, Builtin(runtime), "asyncio")
            assert found.ok, found.problems[0].clause

        with pytest.raises(AssertionError, match="DSP-10"):
            agree()


def plain(**more: Any) -> dict[str, Any]:
    return {
        "scenario": "gnomon/1",
        "id": "borrowing",
        "title": "a result that is borrowed",
        "clauses": [],
        "tools": [{"name": "red", "body": [{"return": {"value": 1}}]}],
        "hooks": [wrapper(1, {"borrow": {"from": 0}})],
        "batches": [{"calls": [{"id": "a", "name": "red"}, {"id": "b", "name": "red"}]}],
        "schedule": [{"open": {}}],
        **more,
    }


def wrapper(pos: int | None, *script: dict[str, Any], on: str = "execute") -> dict[str, Any]:
    return {
        "id": "everywhere" if pos is None else f"at-{pos}",
        "on": on,
        "match": {} if pos is None else {"pos": pos},
        "script": list(script),
    }


BORROW: dict[str, Any] = {"borrow": {"from": 0}}
AUTHOR: dict[str, Any] = {"author": {"result": {"ok": True, "value": 1}}}


def red(*body: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [{"name": "red", "body": list(body), **more}]


def test_what_is_aborted_at_the_end_may_be_borrowed() -> None:
    """Found by a campaign: then the borrower says ABORTED, of a body that was another call's (CAN-2)."""
    gate: dict[str, Any] = {"gate": {"name": "g:$call"}}
    lends = wrapper(0, {"next": {}}, {"pass": {}})
    scenario = Scenario.model_validate(
        plain(
            limits={"max_parallel": 2},
            tools=red(gate, {"return": {"value": 1}}, parallel=True),
            hooks=[wrapper(1, gate, {"next": {}}, BORROW), lends],
        )
    )
    found = conform(scenario, Builtin(), "asyncio")
    told = [one["outcome"]["code"] for one in found.windows[-1].events if one["event"] == "result.logged"]
    assert told == [Code.ABORTED, Code.ABORTED]
    assert found.ok, complaint(found, "builtin")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"hooks": [wrapper(None, BORROW)]}, "a wrapper of the call at one position"),
        ({"hooks": [wrapper(1, BORROW, on="post_execute")]}, "a wrapper of the call at one position"),
        ({"hooks": [wrapper(0, BORROW)]}, "has none that another borrows"),
        ({"hooks": [wrapper(1, BORROW), wrapper(0, AUTHOR)]}, "no wrapper writes a result"),
        ({"tools": red(timeout_ms=5)}, "no call is aborted"),
        ({"schedule": [{"open": {}}, {"abort": {}}]}, "no call is aborted"),
        ({"schedule": [{"open": {}}, {"together": [{"cancel": {}}]}]}, "no call is aborted"),
        ({"tools": red({"abort": {}})}, "no call is aborted"),
        ({"tools": red({"defer": {"context": "d"}})}, "no body hands over a context"),
        ({"tools": red({"return": {"value": {"$nonce": True}}})}, "a value is written out"),
        ({"tools": red({"return": {"value": {"$hostile": "nan"}}})}, "a value is written out"),
    ],
)
def test_what_would_not_be_known_is_refused(more: dict[str, Any], why: str) -> None:
    Scenario.model_validate(plain())
    with pytest.raises(ValidationError, match=why):
        Scenario.model_validate(plain(**more))
