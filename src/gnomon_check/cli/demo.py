"""`gnomon demo`: what gnomon does, in half a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check.baseline import NOTHING
from gnomon_check.cli import verify
from gnomon_check.cli.running import run_all
from gnomon_check.conform import BACKENDS
from gnomon_check.report import terminal
from gnomon_check.report.collect import report_of
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.builtin import Builtin
from gnomon_check.trace import Verdict, check_file

SAMPLES = (
    "anthropic-good.json",
    "session-good.jsonl",
    "openai-out-of-order.json",
    "anthropic-unanswered.json",
    "session-torn-and-unanswered.jsonl",
)


def demo(
    samples: Annotated[Path, typer.Option(help="The folder of the sample logs.")] = Path("docs/samples"),
) -> None:
    """Hold the built-in runtime to the specification, then judge five sample logs, three of them bad.

    Exit code 0: the runtime conforms, and the samples are judged as they should be.
    """
    console = Console()
    console.print("1. The built-in runtime, held to the specification\n", style="bold")
    runtime = Builtin()
    runs = run_all(list(shipped()), runtime, BACKENDS, console, quiet=False)
    terminal.show(console, report_of(runtime.name, runtime, runs, NOTHING, whole=True))
    console.print("\n2. Five sample logs, judged: two good, three bad\n", style="bold")
    reports = [check_file(samples / name) for name in SAMPLES]
    for report in reports:
        verify.show(report, console)
    as_expected = [one.verdict for one in reports] == [Verdict.HOLDS] * 2 + [Verdict.BROKEN] * 3
    raise typer.Exit(0 if all(run.ok for run in runs) and as_expected else 1)
