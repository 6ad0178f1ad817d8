"""A runtime that is bent in a few places, so that a report of it has everything that a report can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnomon_check.baseline import Baseline, Deviation
from gnomon_check.orders import Order
from gnomon_check.profiles import PROFILES
from gnomon_check.scenario import Scenario
from gnomon_check.scenario_files import shipped
from gnomon_check.subject import About, Cannot, NotTestable
from gnomon_check.targets.builtin import Builtin
from gnomon_check.window import Window

LINK = "https://example.org/bent/1"

CHOSEN = (
    "edge-struck-while-starting",  # needs NATIVE, which is not claimed
    "edge-retry",  # not testable
    "edge-ask-aborted",  # not testable, and known
    "edge-abort-before-body",  # a wrong code
    "edge-abort-from-finalizer",  # a wrong code, and known
    "edge-allowed-aborted-denied",  # no code, which should be
    "edge-own-signal",  # as it should be
)

SCENARIOS = [next(one for one in shipped() if one.id == name) for name in CHOSEN]

KNOWN = Baseline(
    "bent.toml",
    (
        Deviation(
            scenario="edge-ask-aborted",
            check="not-testable",
            seen="approvals",
            reason="It has no approvals <yet>.",
            link=LINK,
        ),
        Deviation(
            scenario="edge-abort-from-finalizer",
            check="specification",
            clause="DSP-7",
            seen="result.logged of call 1 (c1) with BENT",
            reason="It answers BENT wherever it can.",
            link=LINK,
        ),
        Deviation(
            scenario="edge-abort-from-finalizer",
            check="report",
            seen="call 1 is BENT",
            reason="It answers BENT wherever it can.",
            link=LINK,
        ),
        Deviation(
            scenario="edge-own-signal",
            check="specification",
            clause="SCD-6",
            seen="result.logged of call 2 (c2) with a success",
            reason="It used to be so.",
            link=LINK,
        ),
    ),
)


class Bent(Builtin):
    """The built-in runtime, bent."""

    name = "bent"
    backends = ("asyncio",)
    claims = frozenset(PROFILES) - {"NATIVE"}

    @property
    def about(self) -> About:
        return About(
            name="bent", version="0.3", language="Python", homepage="https://example.org/bent", issues=LINK
        )

    def windows(self, scenario: Scenario, backend: str, order: Order | None = None) -> Iterator[Window]:
        match scenario.id:
            case "edge-retry":
                raise NotTestable(Cannot("wrappers", "a call cannot be wrapped", LINK))
            case "edge-ask-aborted":
                raise NotTestable(Cannot("approvals", "nobody is ever asked"))
        for window in super().windows(scenario, backend, order):
            events = tuple(_bent(scenario.id, one) for one in window.events)
            yield Window(window.step, window.echoes, events, window.blocked, window.idle)


def _bent(scenario: str, event: dict[str, Any]) -> dict[str, Any]:
    if event["event"] != "result.logged":
        return event
    match scenario:
        case "edge-abort-before-body":
            return {**event, "outcome": {"ok": False, "code": "ABORTED"}}
        case "edge-abort-from-finalizer":
            return {**event, "outcome": {"ok": False, "code": "BENT"}}
        case "edge-allowed-aborted-denied":
            return {**event, "outcome": {"ok": False, "code": None}}
        case _:
            return event
