"""`gnomon cover`: go along every edge of the explored graph of a batch."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from gnomon_check import replay
from gnomon_check.cli.refusal import refuse
from gnomon_check.conform import BACKENDS
from gnomon_check.covering import Covered
from gnomon_check.covering import cover as go
from gnomon_check.edge_cover import Bounds, graph_of, plan
from gnomon_check.targets.builtin import Builtin


def cover(
    target: Annotated[str, typer.Argument(help="What to hold to the specification: `builtin`.")],
    calls: Annotated[int, typer.Option(help="Calls in the batch.", min=1, max=4)] = 2,
    parallel: Annotated[int, typer.Option(help="Size of the pool.", min=1)] = 2,
    failure: Annotated[
        bool, typer.Option("--failure/--no-failure", help="The runtime itself may fail.")
    ] = True,
    reclassify: Annotated[
        bool, typer.Option("--reclassify", help="The mode of a call may change until it starts.")
    ] = False,
    together: Annotated[bool, typer.Option("--together", help="Also two inputs at once.")] = False,
    backend: Annotated[list[str] | None, typer.Option(help="`asyncio` or `trio`; default: both.")] = None,
    processes: Annotated[int, typer.Option(help="Processes to share the work; 0: one a core.", min=0)] = 0,
) -> None:
    """Plan ways along every edge of the graph of a batch, and have an implementation go them all.

    Exit code 0: it agrees with the specification. 1: it does not; what was found first is told, and kept in
    a file. 2: wrong usage.
    """
    errors = Console(stderr=True)
    backends = backend or list(BACKENDS)
    unknown = [one for one in backends if one not in BACKENDS]
    if target != "builtin" or unknown:
        what = f"no target {target!r}: use builtin" if target != "builtin" else f"no backend {unknown[0]!r}"
        refuse(f"there is {what}")
    bounds = Bounds(calls, parallel, failure, reclassify, together)
    begun = time.perf_counter()
    graph, _ = graph_of(bounds)
    edges = sum(map(len, graph.values()))
    ways = list(plan(bounds))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("ways", total=len(ways))

        def progress(now: Covered) -> None:
            bar.update(task, completed=now.ways)

        found = go(ways, Builtin, backends, processes=processes, progress=progress, enough=1)
    seconds = time.perf_counter() - begun
    if found.disagreed:
        typer.echo(replay.complaint(found.disagreed[0], target))
        raise typer.Exit(1)
    taken = ", ".join(f"{found.edges[one]:,} on {one}" for one in backends)
    typer.echo(
        f"{target}: {edges:,} edges between {len(graph):,} resting states, in {len(ways):,} ways; "
        f"gone along: {taken}; it agrees with the specification ({seconds:.0f} s)"
    )
