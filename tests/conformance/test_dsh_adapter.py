"""DSH itself, as it is published: that it differs where the baseline says so, and nowhere else.

It needs Node, npm, and a network from which npm may install; where one of them is missing, this is skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from gnomon_check import adapters, baseline
from gnomon_check.baseline import Deviation, Place
from gnomon_check.conform import Run, conform
from gnomon_check.profiles import PROFILES
from gnomon_check.report.collect import report_of
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.dsh import CannotInstall, dsh
from gnomon_check.targets.remote import Remote
from gnomon_check.window import Window

pytestmark = pytest.mark.process

KNOWN = baseline.load(adapters.FOLDER / "dsh" / "baseline.toml")


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    cache = os.environ.get("GNOMON_CACHE") or str(tmp_path_factory.getbasetemp().parent / "dsh-cache")
    try:
        made = dsh(seconds=60, environment={**os.environ, "GNOMON_CACHE": cache})
    except CannotInstall as error:
        pytest.skip(f"DSH cannot be installed here: {error}")
    with made:
        yield made


@pytest.fixture(scope="module")
def runs(remote: Remote) -> dict[str, Run]:
    return {one.id: conform(one, remote, "stdio") for one in shipped()}


def found(remote: Remote, runs: dict[str, Run]) -> list[Place]:
    """Everything that it must not do, or has no way to do, where nothing is known of it."""
    return sorted(report_of("dsh", remote, list(runs.values()), baseline.NOTHING, whole=True).unknown())


def place(one: Deviation) -> Place:
    return one.scenario, one.check, one.clause, one.seen


def test_it_is_the_version_that_the_baseline_is_about(remote: Remote) -> None:
    assert (remote.manifest.name, remote.manifest.version) == ("dsh", "0.1.0-rc.8")
    assert remote.claims == PROFILES.keys() - {"NATIVE", "LOG"}


def test_it_differs_just_where_the_baseline_says(remote: Remote, runs: dict[str, Run]) -> None:
    assert found(remote, runs) == sorted(map(place, KNOWN.deviations))
    assert sum(bool(run.not_claimed) for run in runs.values()) == 20


def test_a_denial_without_a_reason_runs_the_body_and_asks_no_guard(runs: dict[str, Run]) -> None:
    run = runs["edge-denied-without-reason"]
    seen = [event for window in run.windows for event in window.events]
    decided = [event["decision"] for event in seen if event["event"] == "policy.decided"]
    assert decided == ["malformed"]
    assert [event["event"] for event in seen if event["event"].startswith("body.")] == [
        "body.started",
        "body.settled",
    ]
    assert [event for event in seen if event["event"] == "guard.answered"] == []
    assert [event["outcome"]["ok"] for event in seen if event["event"] == "result.logged"] == [True]


def test_the_codes_that_it_does_not_give_are_all_that_it_should_do(runs: dict[str, Run]) -> None:
    should = [one for run in runs.values() for one in run.problems if one.level != "must"]
    assert {one.clause for one in should} == {"ERR-1"}
    assert len(should) == 37


def test_the_same_happens_in_another_order(remote: Remote, runs: dict[str, Run]) -> None:
    again = {one.id: conform(one, remote, "stdio") for one in reversed(list(shipped()))}
    assert found(remote, again) == found(remote, runs)
    for name, run in runs.items():
        assert [told(window) for window in again[name].windows] == [told(window) for window in run.windows]


def told(window: Window) -> list[tuple[str, int | None]]:
    """The events of a window: their names and their calls; what is in them may hold fresh values."""
    return [(event["event"], event.get("slot", event.get("pos"))) for event in window.events]


def test_the_packages_are_pinned() -> None:
    text = (adapters.FOLDER / "dsh" / "package.json").read_text()
    assert "^" not in text
    assert "~" not in text
    assert not list((adapters.FOLDER / "dsh").glob("*lock*"))
