"""Specification and runtime agree: on every event of every window, and on what is enabled next.

Scenarios are drawn, and the order in which runs what is ready; what they come across is counted.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import Runtime
from gnomon_check.conform import BACKENDS, conform
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.generate_situations import situations
from gnomon_check.orders import Order
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin
from gnomon_check.witnesses import witnesses

# Observers raise there; that is a warning, and the end of nothing (FIN-3).
pytestmark = pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")

DRAWN: dict[str, tuple[st.SearchStrategy[Scenario], int]] = {
    "batches": (scenarios(), 400),
    "policies": (policed(), 500),
    "lives": (living(), 700),
    "situations": (situations(), 600),
}
"""What is drawn, and how many examples of it."""
told = partial(Runtime, trace=lambda event: None)
"""A runtime that somebody listens to: the same, by another path."""
ORDERS = st.none() | st.binary(max_size=80)


@cache
def agreed(kind: str, backend: str) -> tuple[Counter[str], int]:
    """Have them agree on what is drawn; answers what was come across, and the number of examples."""
    drawn, most = DRAWN[kind]
    reached: Counter[str] = Counter()
    examples = 0

    @given(scenario=drawn, order=ORDERS, traced=st.booleans())
    @settings(max_examples=most)
    def agree(scenario: Scenario, order: Order | None, traced: bool) -> None:
        nonlocal examples
        found = conform(scenario, Builtin(told if traced else Runtime), backend, order)
        assert found.ok, complaint(found, "builtin")
        reached.update(witnesses(found))
        examples += 1

    agree()
    return reached, examples


@pytest.mark.clause(
    "DSP-8", "CAN-2", "CAN-6", "CAN-7", "SCD-4", "SCD-5", "SCD-6", "SCD-7", "SCD-8", "SCD-10", "PY-1", "PY-10"
)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", DRAWN)
def test_specification_and_runtime_agree(kind: str, backend: str) -> None:
    agreed(kind, backend)


LEAST = 0.005
TABLE = Path(__file__).parents[2] / "build" / "witnesses.txt"
WITNESSES = {
    "a batch after another",
    "two calls have one id",
    "several inputs at once",
    "the pool is full",
    "two bodies run at once",
    "two settle before anything else happens",
    "a body raises while another runs",
    "a body is interrupted",
    "a body sleeps",
    "a body hears of a deadline",
    "a body hears of a wrapper's signal",
    "an abort while a body runs",
    "an abort while a listener waits",
    "an abort while an approval is open",
    "a native cancellation",
    "a native cancellation while the batch drains",
    "a retry",
    "a wrapper calls next() again",
    "a wrapper calls next() again after an abort",
    "a signal of a wrapper aborts",
    "the runtime fails",
    "the runtime fails after an abort",
    "a context is accepted",
    "a batch concludes the turn",
    "somebody answers an approval",
    "an answerer asks the next",
    "a single call is answered",
    "a script changes something",
    "something changes while the pool is full",
    "a registration is refused",
    "a tool is registered",
    "a tool is removed",
    "a scope is restricted",
    "a restriction is lifted",
    "a mode is declared",
    "a guard is added",
    "a listener is added",
    "a policy is logged",
    "the model is asked",
    "ABORTED",
    "ABORTED_BEFORE_DISPATCH",
    "UNKNOWN_TOOL",
    "INVALID_ARGS",
    "INVALID_TOOL_OUTPUT",
    "TOOL_TIMEOUT",
    "TOOL_ERROR",
    "POLICY_ERROR",
    "DENIED",
    "BLOCKED",
    "APPROVAL_REJECTED",
    "APPROVAL_CANCELLED",
    "APPROVAL_UNAVAILABLE",
}


def test_nothing_that_matters_is_hardly_ever_reached() -> None:
    reached: Counter[str] = Counter()
    examples = 0
    for kind in DRAWN:
        counted, number = agreed(kind, "asyncio")
        reached += counted
        examples += number
    lines = [f"{reached[one] / examples:7.1%}  {one}" for one in sorted(WITNESSES)]
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(sorted(lines, reverse=True)) + "\n")
    assert {one for one in WITNESSES if reached[one] / examples < LEAST} == set()
