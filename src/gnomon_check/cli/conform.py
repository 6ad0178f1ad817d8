"""`gnomon conform`: hold an implementation to the specification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check.conform import BACKENDS, Run
from gnomon_check.report.terminal import run_all, show_runs
from gnomon_check.scenario import ScenarioError
from gnomon_check.scenario_files import load_file, shipped
from gnomon_check.targets.builtin import Builtin

TARGETS = {"builtin": Builtin}


def conform(
    target: Annotated[str, typer.Argument(help="What to hold to the specification: `builtin`.")],
    scenario: Annotated[
        list[Path] | None,
        typer.Option(
            "--scenario",
            "-s",
            help="A scenario file; more than once for several. Default: all that are shipped.",
        ),
    ] = None,
    backend: Annotated[list[str] | None, typer.Option(help="`asyncio` or `trio`; default: both.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
) -> None:
    """Run scenarios on an implementation, and judge every event of them.

    Exit code 0: it conforms. 1: it does not. 2: wrong usage, or a scenario that cannot be used. 3: nothing
    was found, and not everything could be tested.
    """
    console = Console()
    errors = Console(stderr=True)
    backends = backend or list(BACKENDS)
    for one in backends:
        if one not in BACKENDS:
            errors.print(f"there is no backend {one!r}: use {' or '.join(BACKENDS)}", markup=False)
            raise typer.Exit(2)
    if target not in TARGETS:
        errors.print(f"there is no target {target!r}: use {' or '.join(TARGETS)}", markup=False)
        raise typer.Exit(2)
    try:
        scenarios = [load_file(path) for path in scenario] if scenario else list(shipped())
    except ScenarioError as error:
        errors.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    try:
        runs = run_all(scenarios, TARGETS[target](), backends, console, quiet=as_json)
    except ScenarioError as error:
        errors.print(str(error), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    if as_json:
        typer.echo(json.dumps(_report(target, runs)))
    else:
        show_runs(console, target, scenarios, runs)
    left = any(run.cannot is not None for run in runs)
    raise typer.Exit(1 if not all(run.ok for run in runs) else 3 if left else 0)


def _report(target: str, runs: list[Run]) -> dict[str, object]:
    return {
        "target": target,
        "conforms": all(run.ok for run in runs),
        "runs": [
            {
                "scenario": run.scenario.id,
                "clauses": run.scenario.clauses,
                "backend": run.backend,
                "conforms": run.ok if run.cannot is None else None,
                **({} if run.cannot is None else {"not_testable": run.cannot}),
                "problems": [
                    {"judge": one.judge, "clause": one.clause, "text": one.text} for one in run.problems
                ],
            }
            for run in runs
        ],
    }
