"""`gnomon smoke`: the first sign of life of an implementation."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from gnomon_check.cli.target import SECONDS, TARGET, opened
from gnomon_check.conform import conform
from gnomon_check.replay import windows_told
from gnomon_check.scenario import Scenario
from gnomon_check.targets.remote import WATCHDOG

ONE_CALL = Scenario.model_validate(
    {
        "scenario": "gnomon/1",
        "id": "smoke",
        "title": "one call, whose body waits until it is let go",
        "clauses": ["SCD-10"],
        "tools": [
            {
                "name": "act",
                "body": [{"gate": {"name": "body:$call"}}, {"return": {"value": {"$nonce": True}}}],
            }
        ],
        "batches": [{"calls": [{"id": "c1", "name": "act"}]}],
        "schedule": [{"open": {}}, {"release": {"gate": "body:0"}}],
    }
)


def smoke(target: Annotated[str, TARGET], watchdog: Annotated[float, SECONDS] = WATCHDOG) -> None:
    """Say hello to an implementation, and run one call on it.

    Exit code 0: it answers, and the call comes out right. 1: it does not. 2: wrong usage.
    """
    console = Console()
    with opened(target, watchdog) as subject:
        told = f"{subject.name} claims {', '.join(sorted(subject.claims)) or 'nothing'}"
        console.print(told, markup=False, soft_wrap=True, highlight=False)
        runs = [conform(ONE_CALL, subject, backend) for backend in subject.backends]
    for run in runs:
        lines = [f"one call on {run.backend}:", *windows_told(run)]
        if run.not_claimed:
            lines.append(f"  not run: it needs {', '.join(run.not_claimed)}")
        if run.cannot is not None:
            lines.append(f"  not run: {run.cannot}")
        lines += ["", *(problem.text for problem in run.problems)] if run.problems else []
        console.print("\n".join(lines), markup=False, soft_wrap=True, highlight=False)
    raise typer.Exit(0 if all(run.ok and run.judged for run in runs) else 1)
