"""`gnomon explore`: every reachable state of a batch."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from gnomon_check import counterexample, explain
from gnomon_check import explore as exploring
from gnomon_check.explore import Exploration, Taken
from gnomon_spec.machine import Reclassify

_WORTH_IT = 4
"""With fewer calls than this, a second process takes longer to begin than the exploration."""


def explore(
    calls: Annotated[int, typer.Option(help="Calls in the batch.", min=0, max=6)] = 3,
    parallel: Annotated[int, typer.Option(help="Size of the pool.", min=1)] = 2,
    abort: Annotated[bool, typer.Option("--abort", help="The caller may abort at any moment.")] = False,
    failure: Annotated[bool, typer.Option("--failure", help="The runtime itself may fail.")] = False,
    reclassify: Annotated[
        bool, typer.Option("--reclassify", help="The mode of a call may change until it starts.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
    processes: Annotated[
        int, typer.Option(help=f"Processes to share the work, from {_WORTH_IT} calls on.", min=1)
    ] = 2,
    trace: Annotated[
        Path | None, typer.Option(help="Where the history of a broken rule is written.", dir_okay=False)
    ] = None,
) -> None:
    """Explore every reachable state of a batch, over all combinations of modes, and judge every step.

    Exit code 0: every property holds. 1: one is broken, and the shortest history is printed.
    """
    if trace is not None and not trace.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {trace.parent}", param_hint="--trace")
    begun = time.perf_counter()
    with _bar(Console(stderr=True), quiet=as_json) as bar:
        task = bar.add_task("exploring", total=None, states=0)

        def progress(now: exploring.Progress) -> None:
            bar.update(task, completed=now.done, total=now.parts, states=now.states)

        found = exploring.explore(
            calls,
            parallel,
            aborts=abort,
            failures=failure,
            reclassify=reclassify,
            processes=processes if calls >= _WORTH_IT else 1,
            progress=progress,
        )
    seconds = time.perf_counter() - begun
    if found.broken is not None and trace is not None:
        counterexample.write(found, trace)
    if as_json:
        typer.echo(json.dumps(as_object(found, trace)))
    else:
        console = Console()
        for line in described(found, seconds, trace):
            console.print(line, markup=False, soft_wrap=True, style="red" if found.broken else None)
    raise typer.Exit(1 if found.broken is not None else 0)


def _bar(errors: Console, *, quiet: bool) -> Progress:
    """A bar of the combinations of modes; nothing where nobody looks."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}: {task.fields[states]:,} states"),
        BarColumn(),
        MofNCompleteColumn(),
        console=errors,
        transient=True,
        disable=quiet or not errors.is_terminal,
    )


# -- for people -----------------------------------------------------------------------------------


def described(found: Exploration, seconds: float, trace: Path | None) -> Iterator[str]:
    """What is to be said of an exploration, line by line."""
    bounds = found.bounds
    changing = ", which may change" if bounds.reclassify else ""
    yield f"{bounds.calls} calls in a pool of {bounds.parallel}, all combinations of modes{changing}"
    if found.broken is not None:
        words = explain.explain_broken(found.broken, lambda position: f"call {position + 1}")
        yield f"broken: {found.broken.prop}: {words}"
        yield from (f"  {_taken(one)}" for one in found.history)
        yield f"trace: {trace}" if trace is not None else "(--trace FILE writes this history to a file)"
        return
    yield (
        f"{found.states:,} states, {found.nodes:,} with what was seen of them, {found.steps:,} steps, "
        f"{found.depth} deep, in {seconds:.1f} s: every property holds"
    )
    for name, count in sorted(found.witnesses.items()):
        yield f"  seen {count:>9,} times: {name}"
    for name in found.missing:
        yield f"  not seen here: {name}"


def _taken(one: Taken) -> str:
    """A step of a history: what was done, and what was seen of it."""
    action = "Open" if one.action is None else type(one.action).__name__
    position = getattr(one.action, "position", None)
    about = "" if position is None else f" {position + 1}"
    mode = "" if not isinstance(one.action, Reclassify) else f" as {one.action.mode.value}"
    seen = []
    for event in one.events:
        of = "" if event.pos is None else f" of call {event.pos + 1}"
        says = "" if event.outcome is None else f" with {event.outcome.code or 'a success'}"
        seen.append(f"{event.name}{of}{says}")
    return f"{action}{about}{mode}".ljust(28) + ", ".join(seen)


# -- for machines ---------------------------------------------------------------------------------


def as_object(found: Exploration, trace: Path | None) -> dict[str, object]:
    """What `--json` prints. Positions count from 0, as in the events."""
    broken = found.broken
    bounds = found.bounds
    return {
        "calls": bounds.calls,
        "parallel": bounds.parallel,
        "abort": bounds.aborts,
        "failure": bounds.failures,
        "reclassify": bounds.reclassify,
        "states": found.states,
        "nodes": found.nodes,
        "steps": found.steps,
        "depth": found.depth,
        "witnesses": dict(sorted(found.witnesses.items())),
        "missing": list(found.missing),
        "broken": None
        if broken is None
        else {
            "property": broken.prop,
            "clause": broken.clause,
            "reason": broken.reason,
            "about": list(broken.about),
            "history": list(counterexample.events(found.history)),
            "trace": None if trace is None else str(trace),
        },
    }
