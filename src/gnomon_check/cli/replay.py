"""`gnomon replay`: run again what has disagreed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon_check import replay as replaying
from gnomon_check.cli.refusal import refuse
from gnomon_check.conform import conform
from gnomon_check.scenario import ScenarioError
from gnomon_check.targets.builtin import Builtin


def replay(
    file: Annotated[Path, typer.Argument(help="A file that a disagreement was kept in.")],
) -> None:
    """Run again what has disagreed, on the built-in runtime: the same scenario, backend and order.

    Exit code 0: they agree now. 1: they disagree, as it is told. 2: the file cannot be used.
    """
    target = Builtin()
    try:
        kept = replaying.load(file)
        run = conform(kept.scenario, target, kept.backend, kept.order)
    except ScenarioError as error:
        refuse(str(error))
    if run.ok:
        typer.echo(f"{target.name} on {run.backend} and the specification agree on {kept.scenario.id}")
        return
    typer.echo(replaying.told(run, target.name, file))
    raise typer.Exit(1)
