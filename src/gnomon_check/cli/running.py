"""Running scenarios, with a progress bar where somebody watches."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.progress import Progress

from gnomon_check.conform import Run, conform
from gnomon_check.scenario import Scenario
from gnomon_check.subject import Subject


def run_all(
    scenarios: Sequence[Scenario], subject: Subject, backends: Sequence[str], console: Console, *, quiet: bool
) -> list[Run]:
    """Run every scenario on every backend. Raises `Stopped` where the subject does not say who it is."""
    runs: list[Run] = []
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        # Whoever does not even say its name is not asked a hundred times.
        task = bar.add_task(f"running scenarios on {subject.name}", total=len(scenarios) * len(backends))
        for one in scenarios:
            for backend in backends:
                runs.append(conform(one, subject, backend))
                bar.advance(task)
    return runs
