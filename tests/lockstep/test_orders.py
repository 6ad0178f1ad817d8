"""What is ready at the same time runs in an order that is drawn: for the races that no gate reaches."""

from __future__ import annotations

import json

import pytest
from hypothesis import find, settings
from hypothesis import strategies as st
from patched import runtime_with

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.driver import run
from gnomon_check.orders import Order, drawn
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import load
from gnomon_check.targets.builtin import Builtin

ORDERS = st.binary(max_size=80)


def at_one_gate(calls: int = 4) -> Scenario:
    """Bodies that all wait at one gate, and so are ready at the same time."""
    return load(
        json.dumps(
            {
                "scenario": "gnomon/1",
                "id": "one-gate",
                "title": "one gate",
                "clauses": [],
                "tools": [
                    {
                        "name": "act",
                        "parallel": True,
                        "body": [{"gate": {"name": "all"}}, {"return": {"value": {"$nonce": True}}}],
                    }
                ],
                "batches": [{"calls": [{"id": f"c{pos}", "name": "act"} for pos in range(calls)]}],
                "schedule": [{"open": {}}, {"release": {"gate": "all"}}],
            }
        ),
        "here",
    )


def settled(backend: str, order: Order | None) -> tuple[int, ...]:
    """The calls, in the order in which their bodies have settled."""
    windows = run(at_one_gate(), Builtin(), backend, order)
    return tuple(one["pos"] for one in windows[1].events if one["event"] == "body.settled")


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_order_is_chosen_and_the_same_one_chooses_the_same(backend: str) -> None:
    several = [drawn(seed) for seed in range(20)]
    found = [settled(backend, one) for one in several]
    assert len(set(found)) > 5, "bodies that are ready together settle in many orders"
    assert found == [settled(backend, one) for one in several]
    assert settled("asyncio", None) == settled("asyncio", b"") == (0, 1, 2, 3), (
        "without a choice it is as ever"
    )
    assert settled("trio", None) == settled("trio", b"")


# The lane takes it that all in flight have settled when it wakes. First in, first out, that is so here.
TAKES_ALL_FOR_SETTLED = (
    (
        "self._in_flight.discard(await self._mailbox.get())\n                self._raise_failure()",
        "await self._mailbox.get()\n                self._in_flight.clear()",
    ),
)


def test_a_race_that_no_gate_reaches_is_found_and_its_order_shrinks() -> None:
    with runtime_with("scheduler", *TAKES_ALL_FOR_SETTLED) as runtime:
        target = Builtin(runtime)
        scenario = at_one_gate(3)
        assert conform(scenario, target, "asyncio").ok, "first in, first out, nothing is wrong"
        order = find(
            ORDERS,
            lambda one: not conform(scenario, target, "asyncio", one).ok,
            settings=settings(max_examples=500, derandomize=True, database=None),
        )
    assert sum(byte != 0 for byte in order) == 1, "one choice is left that matters"
