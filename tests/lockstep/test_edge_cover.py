"""Every edge of the explored graph of a batch, gone along by the runtime and by the specification."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from patched import runtime_with
from seeded_faults import FAULTS
from typer.testing import CliRunner

from gnomon_check.cli import app
from gnomon_check.conform import BACKENDS
from gnomon_check.covering import cover
from gnomon_check.edge_cover import Bounds, graph_of, plan
from gnomon_check.replay import complaint
from gnomon_check.targets.builtin import Builtin

# Bounds -> how many resting states and edges the graph has, how many ways lead along all of them, and along
# how many edges the runtime goes on trio, where what two inputs have woken may run in the other order.
COVERS = {
    "two calls": (Bounds(2, 2), 325, 891, 555, 891),
    "two calls, classified anew": (Bounds(2, 2, reclassify=True), 337, 980, 580, 980),
    "two calls, two inputs at once": (Bounds(2, 2, together=True), 327, 1452, 987, 1448),
    "three calls": (Bounds(3, 2), 2040, 5567, 3368, 5567),
}


@pytest.mark.clause(
    "CAN-2", "CAN-7", "SCD-1", "SCD-3", "SCD-4", "SCD-5", "SCD-6", "SCD-7", "SCD-8", "SCD-9", "PY-4"
)
@pytest.mark.parametrize("which", COVERS)
def test_the_runtime_agrees_along_every_edge(which: str) -> None:
    bounds, states, edges, ways, on_trio = COVERS[which]
    graph, _ = graph_of(bounds)
    assert (len(graph), sum(map(len, graph.values()))) == (states, edges)
    covered = cover(plan(bounds), Builtin, BACKENDS)
    assert not covered.disagreed, complaint(covered.disagreed[0], "builtin")
    assert covered.ways == ways
    assert covered.edges == {"asyncio": edges, "trio": on_trio}


SEEN = {
    "commits on settlement": (Bounds(2, 2), "SCD-6"),
    "starts after the abort": (
        Bounds(2, 2),
        "FIN-3",
    ),  # only an observer is told of it
    "forgets calls that never started": (Bounds(2, 2), "SCD-10"),
    "lets one body too many into the pool": (Bounds(2, 1), "SCD-4"),
    "lets a call overlap an exclusive one": (Bounds(2, 2), "SCD-5"),
    "replaces an error by a cancellation": (Bounds(2, 2), "CAN-7"),
}
"""What goes wrong with calls that do nothing but wait and end, and how it is called there."""


@pytest.mark.parametrize("fault", SEEN)
def test_a_cover_of_two_calls_catches_it(fault: str) -> None:
    module, edits, _ = FAULTS[fault]
    bounds, clause = SEEN[fault]
    with runtime_with(module, *edits) as runtime:
        covered = cover(plan(bounds), lambda: Builtin(runtime), BACKENDS[:1], processes=1, enough=20)
    assert clause in {one.clause for way in covered.disagreed for one in way.problems}


def test_the_command_says_what_was_covered() -> None:
    done = CliRunner().invoke(
        app, ["cover", "builtin", "--calls", "1", "--parallel", "1", "--processes", "1"]
    )
    assert done.exit_code == 0, done.output
    assert "it agrees with the specification" in done.output
    edges, rest = done.output.removeprefix("builtin: ").split(" edges between ")
    assert f"gone along: {edges} on asyncio, {edges} on trio" in rest


def test_the_command_tells_of_a_disagreement_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, edits, _ = FAULTS["commits on settlement"]
    monkeypatch.chdir(tmp_path)
    with runtime_with(module, *edits) as runtime:
        monkeypatch.setattr(sys.modules["gnomon_check.cli.cover"], "Builtin", lambda: Builtin(runtime))
        done = CliRunner().invoke(app, ["cover", "builtin", "--backend", "asyncio", "--processes", "1"])
    assert done.exit_code == 1
    assert "builtin on asyncio and the specification disagree" in done.output
    (kept,) = (tmp_path / "build" / "disagreements").iterdir()
    assert f"gnomon replay build/disagreements/{kept.name}" in done.output


@pytest.mark.parametrize("wrong", [["elsewhere"], ["builtin", "--backend", "curio"]])
def test_the_command_refuses_what_there_is_not(wrong: list[str]) -> None:
    done = CliRunner().invoke(app, ["cover", *wrong])
    assert done.exit_code == 2
    assert "there is no" in done.stderr
