"""`gnomon replay`: run again what has disagreed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon_check import replay as replaying
from gnomon_check.cli.refusal import refuse
from gnomon_check.cli.target import SECONDS, opened
from gnomon_check.conform import conform
from gnomon_check.problem import printable
from gnomon_check.scenario import ScenarioError
from gnomon_check.targets.remote import WATCHDOG


def replay(
    file: Annotated[Path, typer.Argument(help="A file that a disagreement was kept in.")],
    target: Annotated[str, typer.Option(help="What to run it on; no file says so.")] = "builtin",
    watchdog: Annotated[float, SECONDS] = WATCHDOG,
) -> None:
    """Run again what has disagreed: the same scenario, backend and order.

    Exit code 0: they agree now. 1: they disagree, as it is told. 2: the file cannot be used, or not on that
    target. 3: it cannot be tested there. 4: a fault of the kit itself.
    """
    try:
        kept = replaying.load(file)
    except ScenarioError as error:
        refuse(str(error))
    with opened(target, watchdog) as subject:
        name = subject.name
        if kept.backend not in subject.backends:
            refuse(
                f"{file} was kept of a run on {kept.backend}, and {name} runs on "
                f"{' or '.join(subject.backends)}: name another --target"
            )
        try:
            run = conform(kept.scenario, subject, kept.backend, kept.order)
        except ScenarioError as error:
            refuse(str(error))
    if not run.judged:
        why = run.cannot or f"{name} does not claim {', '.join(run.not_claimed)}"
        typer.echo(printable(f"{name} was not run on {kept.scenario.id}: {why}"))
        raise typer.Exit(3)
    if run.ok:
        typer.echo(f"{name} on {run.backend} and the specification agree on {kept.scenario.id}")
        return
    typer.echo(replaying.told(run, name, file, target))
    raise typer.Exit(1)
