"""What the drawn scenarios come across, and how often: one that is hardly ever reached is not tested."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given, settings

from gnomon_check.conform import Run
from gnomon_check.driver import run
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin
from gnomon_check.witnesses import witnesses

EXAMPLES = 600
LEAST = 0.005
TABLE = Path(__file__).parents[2] / "build" / "witnesses.txt"

WITNESSES = {
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

    for drawn in (scenarios(), policed(), living()):

        @given(scenario=drawn)
        @settings(max_examples=EXAMPLES)
        def look(scenario: Scenario) -> None:
            nonlocal examples
            examples += 1
            target = Builtin()
            if target.cannot(scenario) is None:
                windows = tuple(run(scenario, target, "asyncio"))
                reached.update(witnesses(Run(scenario, "asyncio", windows, ())))

        look()
    lines = [
        f"{reached[one] / examples:7.1%}  {one}" for one in sorted(WITNESSES, key=lambda one: -reached[one])
    ]
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text("\n".join(lines) + "\n")
    seldom = [line for line in lines if reached[line.split("  ", 1)[1]] / examples < LEAST]
    assert seldom == [], "these are reached by hardly any example"
    assert set(reached) - WITNESSES <= {
        "OWN_CODE",
        "QUOTA",
        "unguarded",
        "unhooked",
        "a retry after an abort",
    }
