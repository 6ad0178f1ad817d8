"""`gnomon conform`: hold an implementation to the specification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check.cli.refusal import refuse
from gnomon_check.cli.target import SECONDS, TARGET, opened
from gnomon_check.conform import Run
from gnomon_check.report.terminal import run_all, show_runs
from gnomon_check.scenario import ScenarioError
from gnomon_check.scenario_files import load_file, shipped
from gnomon_check.targets.remote import WATCHDOG


def conform(
    target: Annotated[str, TARGET],
    scenario: Annotated[
        list[Path] | None,
        typer.Option(
            "--scenario",
            "-s",
            help="A scenario file; more than once for several. Default: all that are shipped.",
        ),
    ] = None,
    backend: Annotated[
        list[str] | None, typer.Option(help="`asyncio` or `trio`, in process; default: both.")
    ] = None,
    watchdog: Annotated[float, SECONDS] = WATCHDOG,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
) -> None:
    """Run scenarios on an implementation, and judge every event of them.

    Exit code 0: it conforms. 1: it does not. 2: wrong usage, or a scenario that cannot be used. 3: nothing
    was found, and not everything could be tested. 4: a fault of the kit itself.
    """
    console = Console()
    with opened(target, watchdog) as subject:
        backends = backend or list(subject.backends)
        for one in backends:
            if one not in subject.backends:
                refuse(f"there is no backend {one!r}: use {' or '.join(subject.backends)}")
        try:
            scenarios = [load_file(path) for path in scenario] if scenario else list(shipped())
            runs = run_all(scenarios, subject, backends, console, quiet=as_json)
        except ScenarioError as error:
            refuse(str(error))
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
                "conforms": run.ok if run.judged else None,
                **({} if run.cannot is None else {"not_testable": str(run.cannot)}),
                **({} if not run.not_claimed else {"not_claimed": list(run.not_claimed)}),
                "problems": [
                    {"judge": one.judge, "clause": one.clause, "text": one.text} for one in run.problems
                ],
            }
            for run in runs
        ],
    }
