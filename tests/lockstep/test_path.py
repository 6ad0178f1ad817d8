"""Where a path of states is taken to the end, the set of all states says that there is one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon_check import path
from gnomon_check.conform import follow
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.generate_situations import situations
from gnomon_check.oracle import Oracle
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import ScheduleStep
from gnomon_check.targets.builtin import Builtin
from gnomon_check.window import Window, by_batch

pytestmark = pytest.mark.filterwarnings("ignore::gnomon.GnomonWarning")

DRAWN: dict[str, st.SearchStrategy[Scenario]] = {
    "batches": scenarios(max_calls=3, min_calls=1),
    "policies": policed(max_calls=2, min_calls=1),
    "lives": living(),
    "situations": situations(),
}


def left_out(window: Window, place: int) -> Window:
    at = place % len(window.events)
    return replace(window, events=window.events[:at] + window.events[at + 1 :])


def told_twice(window: Window, place: int) -> Window:
    at = place % len(window.events)
    return replace(window, events=window.events[: at + 1] + window.events[at:])


def exchanged(window: Window, place: int) -> Window:
    at = place % len(window.events)
    first, *rest = window.events[at:]
    return replace(window, events=(*window.events[:at], *rest, first))


def about_another(window: Window, place: int) -> Window:
    at = place % len(window.events)
    pos = window.events[at].get("pos")
    moved = {**window.events[at], "pos": 1 if pos in (0, None) else 0}
    return replace(window, events=(*window.events[:at], moved, *window.events[at + 1 :]))


OTHERWISE: dict[str, Any] = {
    "outcome": {"ok": False, "code": "OTHERWISE"},
    "how": "cancelled",
    "attempt": 7,
    "decision": "malformed",
    "text": "otherwise",
    "context": "otherwise",
    "ended": "cancelled",
}


def said_otherwise(window: Window, place: int) -> Window:
    at = place % len(window.events)
    told = window.events[at]
    said = {field: other for field, other in OTHERWISE.items() if field in told}
    return replace(window, events=(*window.events[:at], {**told, **said}, *window.events[at + 1 :]))


def waits_for_nothing(window: Window, place: int) -> Window:
    return replace(window, blocked=frozenset())


def comes_to_its_end(window: Window, place: int) -> Window:
    return replace(window, idle=not window.idle)


SPOILT = (left_out, told_twice, exchanged, about_another, said_otherwise, waits_for_nothing, comes_to_its_end)


def spoilt(windows: list[Window], draw: Any) -> list[Window]:
    """The windows, with something in one of them that may not have been so."""
    number = draw.draw(st.integers(0, len(windows) - 1))
    window = windows[number]
    ways = [one for one in SPOILT if window.events or one in (waits_for_nothing, comes_to_its_end)]
    other = draw.draw(st.sampled_from(ways))(window, draw.draw(st.integers(0, 20)))
    return [*windows[:number], other, *windows[number + 1 :]]


@pytest.mark.parametrize("kind", DRAWN)
def test_a_path_is_found_where_there_is_one_and_nowhere_else(kind: str) -> None:
    found: Counter[bool] = Counter()
    missed = 0

    @given(scenario=DRAWN[kind], order=st.binary(max_size=40), data=st.data())
    @settings(max_examples=150)
    def alike(scenario: Scenario, order: bytes, data: Any) -> None:
        nonlocal missed
        windows = list(Builtin().windows(scenario, "asyncio", order))
        if data.draw(st.integers(0, 3)) > 0:
            windows = spoilt(windows, data)
        layers = None
        for part, its_windows in zip(scenario.by_batch(), by_batch(windows), strict=False):
            all_states = Oracle(part, layers)
            on_a_path = Oracle(part, layers, thorough=False)
            before = on_a_path.worlds
            leads_through = path.leads_through(on_a_path, its_windows)
            there_is_one = not list(follow(all_states, its_windows))
            assert there_is_one or not leads_through
            found[leads_through] += 1
            missed += there_is_one and not leads_through
            if not leads_through:
                assert on_a_path.worlds == before
                break
            (end,) = on_a_path.worlds
            assert any(
                (end.batch, end.calls, end.frames, end.layers)
                == (one.batch, one.calls, one.frames, one.layers)
                for one in all_states.worlds
            )
            layers = all_states.layers

    alike()
    assert min(found[True], found[False]) > 30, found
    assert missed == 0, "nothing is wrong then, but it takes longer"


def walk(oracle: Oracle, schedule: list[ScheduleStep], data: Any) -> list[Window]:
    """Any way that the oracle allows; its events are keys."""
    windows = []
    for step in schedule:
        oracle.take(step)
        keys: list[Any] = []
        while True:
            rests = sorted(
                {(oracle.blocked(one), oracle.idle(one)) for one in oracle.quiet_worlds()}, key=str
            )
            chosen = data.draw(st.sampled_from([*sorted(oracle.allowed(), key=repr), *rests]))
            if chosen in rests:
                assert oracle.quiet(*chosen)
                windows.append(Window(step, (), tuple(keys), *chosen))
                break
            assert oracle.see(chosen)
            keys.append(chosen)
    return windows


@pytest.mark.parametrize("kind", DRAWN)
def test_every_way_that_is_allowed_is_a_path(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path, "key_of", lambda key: key)

    @given(scenario=DRAWN[kind], data=st.data())
    @settings(max_examples=100)
    def leads_through(scenario: Scenario, data: Any) -> None:
        part = scenario.by_batch()[0]
        windows = walk(Oracle(part), part.schedule, data)
        assert path.leads_through(Oracle(part, thorough=False), windows)

    leads_through()


def test_a_run_that_never_ends_leads_nowhere() -> None:
    scenario = Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "endless",
            "title": "a run that is said to go on and on",
            "clauses": [],
            "tools": [{"name": "red", "body": [{"return": {"value": 1}}]}],
            "batches": [{"calls": [{"id": "a", "name": "red"}]}],
            "schedule": [{"open": {}}],
        }
    )
    windows = list(Builtin().windows(scenario, "asyncio"))
    assert path.leads_through(Oracle(scenario, thorough=False), windows)
    endless = [*windows[:-1], replace(windows[-1], idle=False)]
    assert not path.leads_through(Oracle(scenario, thorough=False), endless)
