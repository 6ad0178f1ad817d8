"""The explorer, seen to fail: each broken machine is caught by the property named for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gnomon_check import counterexample
from gnomon_check import explore as exploring
from gnomon_check.cli import app
from gnomon_check.events import EVENT, TraceHeader
from gnomon_check.explore import Exploration, explore
from gnomon_check.refinement import as_spec
from gnomon_spec import batch as chapter
from gnomon_spec import machine, properties
from gnomon_spec.batch import Batch
from gnomon_spec.kernel import Step
from gnomon_spec.machine import Abort, Action, Close, Commits, Reclassify, Skip, Start, Surroundings
from gnomon_spec.vocabulary import Event, EventName, Lane, Mode, Outcome, Phase, call

# -- broken machines ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Relaxed:
    """A machine that starts calls which it would only start if its state were another one."""

    relax: Callable[[Batch], Batch]

    def enabled(self, state: Batch, around: Surroundings) -> Iterator[Action]:
        yield from machine.enabled(state, around)
        start = Start(state.next_start)
        left = state.next_start < len(state.calls) and machine.refused(state, start) is not None
        if left and machine.refused(self.relax(state), start) is None:
            yield start

    def step(self, state: Batch, action: Action) -> chapter.Stepped:
        if not isinstance(action, Start) or machine.refused(state, action) is None:
            return machine.step(state, action)
        taken = machine.step(self.relax(state), action)
        same = taken.state._replace(max_parallel=state.max_parallel, aborted=state.aborted)
        return Step(same, taken.events)


def not_aborted(state: Batch) -> Batch:
    """As long as no call was answered without having started: starting that one would break another rule."""
    return state._replace(aborted=state.committed > state.next_start)


def with_a_large_pool(state: Batch) -> Batch:
    return state._replace(max_parallel=len(state.calls))


def with_the_next_parallel(state: Batch) -> Batch:
    position = state.next_start
    return state._replace(calls=state.calls[:position] + (call(Mode.PARALLEL),) + state.calls[position + 1 :])


def with_both(state: Batch) -> Batch:
    return with_the_next_parallel(with_a_large_pool(state))


def enabled_past_the_prefix(state: Batch, around: Surroundings) -> Iterator[Action]:
    yield from machine.enabled(state, around)
    for position in range(state.committed + 1, state.next_start if state.lane is Lane.FREE else 0):
        one = state.calls[position]
        if one.phase is Phase.SETTLED_FINAL and one.outcome is not None:
            yield Commits(position, one.outcome)


def step_past_the_prefix(state: Batch, action: Action) -> chapter.Stepped:
    if isinstance(action, Commits) and action.position > state.committed:
        position = action.position
        assert isinstance(action.answer, Outcome)
        return Step(state, (Event(EventName.RESULT_LOGGED, position, outcome=action.answer),))
    return machine.step(state, action)


def step_with_two_results(state: Batch, action: Action) -> chapter.Stepped:
    taken = machine.step(state, action)
    if isinstance(action, Skip):
        return Step(taken.state, (*taken.events, taken.events[-1]))
    return taken


def step_that_forgets_reclassification(state: Batch, action: Action) -> chapter.Stepped:
    return Step(state) if isinstance(action, Reclassify) else machine.step(state, action)


def enabled_without_an_end(state: Batch, around: Surroundings) -> Iterator[Action]:
    return (one for one in machine.enabled(state, around) if not isinstance(one, Close | Abort))


# -- each is caught -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """A broken machine, what catches it, and in how many steps at best, the opening included."""

    prop: str
    clause: str
    reason: str
    steps: int
    step: Callable[[Batch, Action], chapter.Stepped] = machine.step
    enabled: Callable[[Batch, Surroundings], Iterable[Action]] = machine.enabled
    parallel: int = 2
    reclassify: bool = False

    def explored(self, calls: int = 2, processes: int = 1) -> Exploration:
        return explore(
            calls,
            self.parallel,
            aborts=True,
            reclassify=self.reclassify,
            processes=processes,
            step=self.step,
            enabled=self.enabled,
        )


MUTANTS = {
    # abort, start, prepare answers an error, it is committed
    "start after the abort": Mutant(
        "NoStartAfterAbort",
        "SCD-8",
        "started after the abort",
        5,
        Relaxed(not_aborted).step,
        Relaxed(not_aborted).enabled,
    ),
    # start, prepare: dispatch; start, prepare: an error; it is committed
    "commit past the prefix": Mutant(
        "ModelOrder",
        "SCD-6",
        "answered before an earlier call",
        6,
        step_past_the_prefix,
        enabled_past_the_prefix,
    ),
    # abort, skip
    "two synthetic results": Mutant("Pairing", "SCD-10", "answered twice", 3, step_with_two_results),
    # twice: start, prepare, body
    "start while the pool is full": Mutant(
        "PoolBound",
        "SCD-4",
        "more bodies than the pool allows",
        7,
        Relaxed(with_a_large_pool).step,
        Relaxed(with_a_large_pool).enabled,
        parallel=1,
    ),
    # start, prepare, body; start
    "an exclusive call joins": Mutant(
        "Exclusivity",
        "SCD-5",
        "overlaps an exclusive call",
        5,
        Relaxed(with_the_next_parallel).step,
        Relaxed(with_the_next_parallel).enabled,
    ),
    # the same, and the call has become exclusive before
    "reclassification is forgotten": Mutant(
        "Exclusivity",
        "SCD-5",
        "overlaps an exclusive call",
        6,
        step_that_forgets_reclassification,
        reclassify=True,
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_machine_is_caught_by_the_property_named_for_it(name: str) -> None:
    mutant = MUTANTS[name]
    found = mutant.explored()
    assert found.broken is not None
    seen = (found.broken.prop, found.broken.clause, found.broken.reason, len(found.history))
    assert seen == (mutant.prop, mutant.clause, mutant.reason, mutant.steps)


def test_a_batch_that_never_ends_is_caught() -> None:
    found = explore(1, 1, enabled=enabled_without_an_end)
    assert found.broken is not None
    assert (found.broken.prop, found.broken.reason) == ("Termination", "the batch never ends")


def test_the_shortest_history_is_sought_over_all_combinations_of_modes() -> None:
    """All-parallel comes first, and there only the pool can be overfilled, in seven steps."""
    both = Mutant(
        "Exclusivity",
        "SCD-5",
        "overlaps an exclusive call",
        5,
        Relaxed(with_both).step,
        Relaxed(with_both).enabled,
        parallel=1,
    )
    found = both.explored()
    assert found.broken is not None
    assert (found.broken.prop, len(found.history)) == (both.prop, both.steps)
    announced = found.history[0].events[0].calls
    assert announced is not None
    assert [one.mode for one in announced] == [Mode.PARALLEL, Mode.EXCLUSIVE]


@pytest.mark.process
def test_processes_find_the_same() -> None:
    mutant = MUTANTS["an exclusive call joins"]
    assert mutant.explored(calls=3, processes=2) == mutant.explored(calls=3)
    assert explore(3, 1, aborts=True, failures=True, processes=2) == explore(3, 1, aborts=True, failures=True)


# -- the trace file -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, mutant in MUTANTS.items() if not mutant.reclassify])
def test_the_history_is_written_as_a_trace_that_breaks_the_same_rule(name: str, tmp_path: Path) -> None:
    found = MUTANTS[name].explored()
    counterexample.write(found, tmp_path / "broken.jsonl")
    header, *events = map(json.loads, (tmp_path / "broken.jsonl").read_text().splitlines())
    TraceHeader.model_validate(header)
    assert [one["seq"] for one in events] == list(range(len(events)))
    for one in events:
        assert type(EVENT.validate_python(one)).__name__ != "Unknown"
    history = [read for one in events if (read := as_spec(one)) is not None]
    assert properties.judge(history) == found.broken


def test_a_reclassification_stands_in_the_trace() -> None:
    events = list(counterexample.events(MUTANTS["reclassification is forgotten"].explored().history))
    answered = [one for one in events if one["event"] == "classifier.answered"]
    assert [one["answer"] for one in answered] == ["exclusive"]
    assert type(EVENT.validate_python(answered[0])).__name__ == "ClassifierAnswered"


def test_the_command_tells_the_broken_rule_and_the_name_of_the_trace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(calls: int, parallel: int, **_: object) -> Exploration:
        return MUTANTS["two synthetic results"].explored()

    monkeypatch.setattr(exploring, "explore", broken)
    trace = tmp_path / "broken.jsonl"
    shown = CliRunner().invoke(app, ["explore", "--calls", "2", "--trace", str(trace)])
    assert shown.exit_code == 1
    lines = shown.stdout.splitlines()
    assert lines[1] == "broken: Pairing: call 1 is answered twice: SCD-10"
    assert lines[-1] == f"trace: {trace}"
    assert trace.exists()
    nowhere = CliRunner().invoke(app, ["explore", "--calls", "2", "--trace", str(tmp_path / "no" / "file")])
    assert nowhere.exit_code == 2
    machine_read = json.loads(CliRunner().invoke(app, ["explore", "--json"]).stdout)
    assert machine_read["broken"]["property"] == "Pairing"
    assert machine_read["broken"]["history"][0]["event"] == "batch.opened"


def test_nothing_is_written_where_every_property_holds(tmp_path: Path) -> None:
    trace = tmp_path / "none.jsonl"
    shown = CliRunner().invoke(app, ["explore", "--calls", "2", "--reclassify", "--trace", str(trace)])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith("2 calls in a pool of 2, all combinations of modes, which may change\n")
    assert shown.stderr == ""
    assert not trace.exists()
