"""Lives of one runtime, step by step: what comes next is chosen among what the last step has left waiting."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from patched import runtime_with
from seeded_faults import FAULTS

from gnomon import Runtime
from gnomon_check.conform import BACKENDS, Run, conform
from gnomon_check.generate import calls_of
from gnomon_check.generate_living import CHANGES, living
from gnomon_check.orders import Order
from gnomon_check.replay import complaint
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin

# Observers raise there; that is a warning, and the end of nothing (FIN-3).
pytestmark = pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")

BATCHES = 3
OUTCOMES = ("allowed-once", "rejected", "cancelled", "unavailable", "yes")


class Lives(RuleBasedStateMachine):
    """A runtime under a schedule that grows by a step, run from its beginning each time: the same life.

    It may see several batches, one after the other, and what changes between them.
    """

    runtime: type = Runtime

    def __init__(self) -> None:
        super().__init__()
        self.plain: dict[str, Any] = {}
        self.backend = BACKENDS[0]
        self.order: Order | None = None
        self.gates: list[str] = []
        self.sleeping = False
        self.over = False
        self.ended = False
        self.aborted = False
        self.cancelled = False

    @initialize(
        scenario=living(), backend=st.sampled_from(BACKENDS), order=st.none() | st.binary(max_size=40)
    )
    def begin(self, scenario: Scenario, backend: Any, order: Order | None) -> None:
        """Open a batch, or make a single call, in surroundings that are drawn."""
        self.plain = scenario.model_dump(by_alias=True, exclude_unset=True)
        self.plain.update(schedule=[], batches=self.plain["batches"][:1])
        self.backend, self.order = backend, order
        self.goes_on({"open": {}})

    def goes_on(self, *steps: dict[str, Any]) -> None:
        """Live one more step, and have it judged."""
        self.plain["schedule"] += steps
        found = conform(Scenario.model_validate(self.plain), Builtin(self.runtime), self.backend, self.order)
        assert found.ok, complaint(found, "builtin")
        self.look(found)

    def look(self, found: Run) -> None:
        """See what is left waiting after the last step."""
        if found.cannot is not None:
            self.ended = True
            return
        last = found.windows[-2]
        if any(event["event"] == "batch.failed" for event in last.events):
            self.ended = True  # its log waits for a repair, and whoever opens a batch on it is refused
        self.gates = sorted(one.gate for one in last.blocked if one.gate is not None)
        self.sleeping = any(one.sleep is not None for one in last.blocked)
        self.over = last.idle

    def lives(self) -> bool:
        return bool(self.plain) and not self.ended

    def may_go_on(self) -> bool:
        return self.lives() and not self.over

    @precondition(lambda self: self.lives() and self.over and len(self.plain["batches"]) < BATCHES)
    @rule(data=st.data())
    def open_another(self, data: st.DataObject) -> None:
        """Once a batch is over, the next one is opened, on the same runtime and in the same session."""
        names = sorted({one["name"] for one in self.plain["tools"]} - {"run_code"})
        most = 1 if self.plain.get("mode") == "single" else 3
        number = len(self.plain["batches"]) + 1
        batch = {"id": f"b{number}", "calls": data.draw(calls_of(names, most, 1))}
        self.plain["batches"] = [*self.plain["batches"], batch]
        self.aborted = self.cancelled = False
        self.goes_on({"open": {"batch": f"b{number}"}})

    @precondition(lambda self: self.may_go_on() and self.gates)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        """Let one go on that waits, or have somebody answer."""
        self.goes_on(self._answer(data, data.draw(st.sampled_from(self.gates))))

    @precondition(lambda self: self.may_go_on() and len(self.gates) > 1)
    @rule(data=st.data())
    def release_several(self, data: st.DataObject) -> None:
        """Let several go on at once."""
        some = data.draw(st.lists(st.sampled_from(self.gates), min_size=2, max_size=3, unique=True))
        self.goes_on({"together": [self._answer(data, one) for one in some]})

    def _answer(self, data: st.DataObject, gate: str) -> dict[str, Any]:
        kind, _, pos = gate.partition(":")
        if kind == "approval":
            return {"approve": {"pos": int(pos), "outcome": data.draw(st.sampled_from(OUTCOMES))}}
        return {"release": {"gate": gate}}

    @precondition(lambda self: self.may_go_on() and not self.aborted)
    @rule()
    def abort(self) -> None:
        """The caller aborts."""
        self.aborted = True
        self.goes_on({"abort": {}})

    @precondition(lambda self: self.may_go_on() and not self.cancelled)
    @rule()
    def cancel(self) -> None:
        """The task is cancelled, natively."""
        self.cancelled = True
        self.goes_on({"cancel": {}})

    @precondition(lambda self: self.may_go_on())
    @rule(ms=st.sampled_from((1, 5, 10)))
    def time_passes(self, ms: int) -> None:
        """Virtual time goes on: sleepers wake, deadlines pass."""
        self.goes_on({"advance": {"ms": ms}})

    @precondition(lambda self: self.lives())
    @rule(change=st.sampled_from(CHANGES))
    def something_changes(self, change: dict[str, Any]) -> None:
        """Tools, restrictions, modes, guards or listeners change, under a batch or between two."""
        self.goes_on(change, {"request_model": {}})

    @precondition(lambda self: self.lives() and self.plain.get("mode") != "single")
    @rule(twice=st.booleans())
    def crash(self, twice: bool) -> None:
        """The process ends, and its log is repaired; it may be repaired once more."""
        self.goes_on({"crash": {}}, *[{"repair": {}}] * (2 if twice else 1))
        self.ended = True

    @precondition(lambda self: not self.may_go_on())
    @rule()
    def rest(self) -> None:
        """It is over."""


def test_specification_and_runtime_agree_all_along() -> None:
    run_state_machine_as_test(Lives, settings=settings(max_examples=150, stateful_step_count=14))


@pytest.mark.parametrize(
    "fault", ["keeps a success that came after the abort", "replaces an error by a cancellation"]
)
def test_a_life_with_a_fault_does_not_agree(fault: str) -> None:
    module, edits, clause = FAULTS[fault]
    with runtime_with(module, *edits) as broken:
        faulty = type("Faulty", (Lives,), {"runtime": broken})
        budget = settings(max_examples=300, stateful_step_count=14, phases=[Phase.generate])
        with pytest.raises(AssertionError, match=clause):
            run_state_machine_as_test(faulty, settings=budget)
