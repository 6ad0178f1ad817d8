"""`gnomon conform`: hold an implementation to the specification."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check import baseline as baselines
from gnomon_check.baseline import Baseline, BaselineError
from gnomon_check.cli import generate_option
from gnomon_check.cli.refusal import refuse
from gnomon_check.cli.running import run_all
from gnomon_check.cli.target import SECONDS, TARGET, backends_of, opened
from gnomon_check.report import collect, files
from gnomon_check.report.model import Report
from gnomon_check.report.terminal import show
from gnomon_check.scenario import ScenarioError
from gnomon_check.scenario_files import named, shipped
from gnomon_check.targets.named import known_of
from gnomon_check.targets.remote import WATCHDOG


def conform(
    target: Annotated[str, TARGET],
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            "-s",
            help="The id of a shipped one, or a file of one or of vectors of `run`; for several, again. "
            "Default: all shipped.",
        ),
    ] = None,
    backend: Annotated[
        list[str] | None, typer.Option(help="`asyncio` or `trio`, in process; default: both.")
    ] = None,
    watchdog: Annotated[float, SECONDS] = WATCHDOG,
    baseline: Annotated[
        Path | None,
        typer.Option(help="A TOML file of what is known to differ. Default: what the target has."),
    ] = None,
    no_baseline: Annotated[bool, typer.Option("--no-baseline", help="Nothing is known.")] = False,
    draft: Annotated[
        Path | None,
        typer.Option("--draft-baseline", help="Write what is not known yet, as a baseline to fill in."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="A folder to write report.json, report.html, junit.xml, summary.md, badge.json into."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report, as JSON.")] = False,
    generate: Annotated[int | None, generate_option.GENERATE] = None,
    seed: Annotated[int | None, generate_option.SEED] = None,
    jobs: Annotated[int | None, generate_option.JOBS] = None,
) -> None:
    """Run scenarios on an implementation, and judge every event of them.

    Exit code 0: it conforms, but for what is known. 1: it does not. 2: wrong usage, or a scenario or baseline
    that cannot be used. 3: nothing was found, and not everything could be tested, or an entry of the baseline
    fits nothing any more. 4: a fault of the kit itself.
    """
    generate_option.refuse_without(generate, seed, jobs)
    if generate is not None:
        generate_option.generate(
            target,
            generate,
            seed=seed,
            jobs=jobs,
            backends=backend,
            watchdog=watchdog,
            as_json=as_json,
            beside={
                "--scenario": scenario,
                "--baseline": baseline,
                "--draft-baseline": draft,
                "--report": report,
            },
        )
    console = Console()
    known = _known(target, baseline, no_baseline=no_baseline)
    with opened(target, watchdog) as subject:
        backends = backends_of(subject, backend)
        try:
            scenarios = [one for name in scenario for one in named(name)] if scenario else list(shipped())
            runs = run_all(scenarios, subject, backends, console, quiet=as_json)
        except ScenarioError as error:
            refuse(str(error))
        made = collect.report_of(target, subject, runs, known, whole=not scenario)
    if draft is not None:
        _write_draft(draft, baselines.draft(made.unknown()))
    if as_json:
        typer.echo(files.as_json(made), nl=False)
    else:
        show(console, made)
    if report is not None:
        _write(made, report)
    raise typer.Exit(1 if not made.passes else 0 if made.complete else 3)


def _known(target: str, file: Path | None, *, no_baseline: bool) -> Baseline:
    if no_baseline:
        if file is not None:
            refuse("--baseline and --no-baseline say the opposite of each other: use one of them")
        return baselines.NOTHING
    file = file or known_of(target)
    try:
        return baselines.NOTHING if file is None else baselines.load(file)
    except BaselineError as error:
        refuse(str(error))


def _write(report: Report, folder: Path) -> None:
    try:
        files.write(report, folder)
    except OSError as error:
        refuse(f"{folder}: the report cannot be written: {error.strerror or error}")


def _write_draft(path: Path, text: str) -> None:
    """Write a draft, but over nothing: somebody may have filled in the reasons already."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        refuse(f"{path}: the draft cannot be written: {error.strerror or error}")
