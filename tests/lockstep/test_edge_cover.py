"""Every edge of the explored graph of a batch, gone along by the runtime and by the specification."""

from __future__ import annotations

import pytest
from lockstep_faults import FAULTS
from patched import runtime_with

from gnomon_check.conform import BACKENDS
from gnomon_check.covering import cover
from gnomon_check.edge_cover import Bounds, graph_of, plan
from gnomon_check.scenario import dump
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
    assert [(one.backend, one.problems[0].text, dump(one.scenario)) for one in covered.disagreed] == []
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
