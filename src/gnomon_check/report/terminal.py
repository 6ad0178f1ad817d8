"""Verdicts on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gnomon_check.conform import Run, conform
from gnomon_check.scenario import Scenario
from gnomon_check.subject import Subject


def run_all(
    scenarios: list[Scenario], subject: Subject, backends: list[str], console: Console, *, quiet: bool
) -> list[Run]:
    """Run every scenario on every backend, with a progress bar on a terminal."""
    runs: list[Run] = []
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        # Whoever does not even say its name is not asked a hundred times.
        task = bar.add_task(f"running scenarios on {subject.name}", total=len(scenarios) * len(backends))
        for one in scenarios:
            for backend in backends:
                runs.append(conform(one, subject, backend))
                bar.advance(task)
    return runs


def show_runs(console: Console, target: str, scenarios: list[Scenario], runs: list[Run]) -> None:
    """The table of verdicts, then the words of what was found."""
    table = Table(box=None, pad_edge=False)
    for name in ("scenario", "clauses", "verdict"):
        table.add_column(name, no_wrap=name != "clauses")
    by_id = {one.id: [run for run in runs if run.scenario.id == one.id] for one in scenarios}
    for one in scenarios:
        bad = [run for run in by_id[one.id] if not run.ok]
        left = [run for run in by_id[one.id] if run.cannot is not None]
        verdict = "[red]violation[/red]" if bad else "[green]conforms[/green]"
        if left and not bad:
            verdict = "[yellow]not testable[/yellow]"
        if any(run.not_claimed for run in by_id[one.id]):
            verdict = "[yellow]not claimed[/yellow]"
        table.add_row(one.id, " ".join(one.clauses), verdict)
    console.print(table)
    for run in runs:
        for problem in run.problems:
            console.print(
                f"\n{run.scenario.id} on {run.backend}: {problem.text}", markup=False, soft_wrap=True
            )
    backends = sorted({run.backend for run in runs})
    failed = len({run.scenario.id for run in runs if not run.ok})
    verdict = "conforms" if not failed else f"does not conform: {failed} with violations"
    reasons = {run.scenario.id: run.cannot for run in runs if run.cannot is not None}
    for identifier, reason in reasons.items():
        console.print(f"\n{identifier} was not tested: {reason}", markup=False, soft_wrap=True)
    unclaimed = {run.scenario.id: run.not_claimed for run in runs if run.not_claimed}
    if unclaimed:
        missing = sorted({one for names in unclaimed.values() for one in names})
        console.print(f"\n{len(unclaimed)} were not run: they need {', '.join(missing)}", markup=False)
    if reasons:
        verdict = f"{verdict}; {len(reasons)} not testable"
    if unclaimed:
        verdict = f"{verdict}; {len(unclaimed)} not claimed"
    console.print(
        f"\n{target}: {len(scenarios)} scenarios on {' and '.join(backends)}: {verdict}", markup=False
    )
