"""`gnomon explore`: every reachable state of a batch."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check import explain
from gnomon_check.explore import Exploration
from gnomon_check.explore import explore as explore_batch


def explore(
    calls: Annotated[int, typer.Option(help="Calls in the batch.", min=0, max=6)] = 3,
    parallel: Annotated[int, typer.Option(help="Size of the pool.", min=1)] = 2,
    abort: Annotated[bool, typer.Option("--abort", help="The caller may abort at any moment.")] = False,
    failure: Annotated[bool, typer.Option("--failure", help="The runtime itself may fail.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
) -> None:
    """Explore every reachable state of a batch, over all combinations of modes, and judge every step.

    Exit code 0: every property holds. 1: one is broken, and the shortest history is printed.
    """
    console = Console()
    errors = Console(stderr=True)
    begun = time.perf_counter()
    with errors.status("exploring") if errors.is_terminal and not as_json else _Quiet() as status:

        def progress(states: int) -> None:
            status.update(f"exploring: {states:,} states")

        found = explore_batch(calls, parallel, aborts=abort, failures=failure, progress=progress)
    seconds = time.perf_counter() - begun
    if as_json:
        typer.echo(json.dumps(_report(found)))
    else:
        _show(console, found, seconds)
    raise typer.Exit(1 if found.broken is not None else 0)


class _Quiet:
    def __enter__(self) -> _Quiet:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def update(self, text: str) -> None:
        """Nothing is shown where nobody looks."""


def _show(console: Console, found: Exploration, seconds: float) -> None:
    title = f"{found.calls} calls in a pool of {found.parallel}, all combinations of modes"
    console.print(title, markup=False)
    if found.broken is not None:
        label = "call {}".format
        words = explain.explain_broken(found.broken, lambda position: label(position + 1))
        console.print(f"broken: {found.broken.prop}: {words}", style="red", markup=False)
        for event in found.trace:
            about = "" if event.pos is None else f" of call {event.pos + 1}"
            outcome = "" if event.outcome is None else f" with {event.outcome.code or 'a success'}"
            console.print(f"  {event.name}{about}{outcome}", markup=False)
        return
    console.print(
        f"{found.states:,} states, {found.nodes:,} with what was seen of them, {found.steps:,} steps, "
        f"{found.depth} deep, in {seconds:.1f} s: every property holds",
        markup=False,
    )
    for name, count in sorted(found.witnesses.items()):
        console.print(f"  seen {count:>9,} times: {name}", markup=False)
    for name in found.missing:
        console.print(f"  not seen here: {name}", markup=False)


def _report(found: Exploration) -> dict[str, object]:
    broken = found.broken
    return {
        "calls": found.calls,
        "parallel": found.parallel,
        "states": found.states,
        "nodes": found.nodes,
        "steps": found.steps,
        "depth": found.depth,
        "witnesses": dict(found.witnesses),
        "broken": None
        if broken is None
        else {"property": broken.prop, "clause": broken.clause, "reason": broken.reason},
    }
