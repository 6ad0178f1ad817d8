"""`gnomon conform TARGET --generate N`: draw scenarios, instead of taking those that are shipped."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from gnomon_check import replay
from gnomon_check.cli.refusal import refuse
from gnomon_check.cli.target import backends_of, opened
from gnomon_check.problem import printable
from gnomon_check.targets.adapter_process import KitFault

if TYPE_CHECKING:
    from gnomon_check.campaign import Outcome, Plan

GENERATE = typer.Option(
    "--generate", min=1, help="Draw so many scenarios, and run those; the first that fails is made small."
)
SEED = typer.Option("--seed", help="With --generate: what is drawn depends on this alone. Default: 0.")
JOBS = typer.Option("--jobs", min=0, help="With --generate: processes; 0 is one a core. Default: 1.")

NEEDS = "drawing scenarios needs Hypothesis: install it with  pip install 'gnomon[generate]'"


def refuse_without(generate: int | None, seed: int | None, jobs: int | None) -> None:
    """Refuse what only goes with `--generate`, where that is not given."""
    if generate is None and (seed is not None or jobs is not None):
        refuse(
            f"{'--seed' if seed is not None else '--jobs'} goes with --generate, which says how many to draw"
        )


def generate(
    target: str,
    count: int,
    *,
    seed: int | None,
    jobs: int | None,
    backends: Sequence[str] | None,
    watchdog: float,
    as_json: bool,
    beside: Mapping[str, object],
) -> NoReturn:
    """Draw scenarios, run them on a target, and end the command with what came of it.

    `beside` are the options that mean nothing here, by name: they are refused where they were given.
    """
    for name, given in beside.items():
        if given:
            refuse(f"{name} does not go with --generate: what is drawn is nowhere written down before")
    if importlib.util.find_spec("hypothesis") is None:
        refuse(NEEDS)
    from gnomon_check.campaign import Plan, carry_out

    with opened(target, watchdog) as subject:
        name, chosen = subject.name, backends_of(subject, backends)
    plan = Plan(target, count, seed or 0, tuple(chosen), watchdog)
    errors = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    try:
        with Bar(
            *columns,
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=errors,
            transient=True,
            disable=as_json or not errors.is_terminal,
        ) as bar:
            task = bar.add_task(f"drawn for {name}", total=count)

            def progress(now: Outcome) -> None:
                words = "making the first failure small" if now.shrinks else f"drawn for {name}"
                bar.update(task, completed=now.tally.drawn, description=words)

            outcome = carry_out(
                plan, jobs=(os.cpu_count() or 1) if jobs == 0 else jobs or 1, progress=progress
            )
    except KitFault as error:
        refuse(str(error), 4)
    _tell(name, plan, outcome, as_json=as_json)
    raise typer.Exit(_code(outcome))


def _code(outcome: Outcome) -> int:
    tally = outcome.tally
    if tally.failed is not None:
        return 1
    return 3 if outcome.interrupted or tally.not_testable or not tally.ran else 0


def _tell(name: str, plan: Plan, outcome: Outcome, *, as_json: bool) -> None:
    failed = outcome.tally.failed
    path = None if failed is None else replay.keep(failed)
    if as_json:
        typer.echo(json.dumps(_as_object(plan, outcome, None if path is None else str(path)), indent=2))
        return
    if failed is not None and path is not None:
        typer.echo(replay.told(failed, name, path, plan.target))
        if outcome.tally.wavers:
            typer.echo("It does not fail each time that it is run: that is what was seen once.")
        typer.echo()
    for line in _left_out(outcome):
        typer.echo(line)
    typer.echo(_verdict(name, plan, outcome))


def _left_out(outcome: Outcome) -> list[str]:
    tally = outcome.tally
    lines = []
    if tally.not_claimed:
        lines.append(f"{tally.not_claimed:,} were not run: they need {', '.join(sorted(tally.needed))}")
    lines += [f"{many:,} were not tested: {why}" for why, many in sorted(tally.not_testable.items())]
    lines += [f"{many:,} broke {clause}, which only says what should be" for clause, many in _lesser(outcome)]
    return [printable(line) for line in lines]


def _lesser(outcome: Outcome) -> list[tuple[str, int]]:
    return sorted(outcome.tally.lesser.items())


def _verdict(name: str, plan: Plan, outcome: Outcome) -> str:
    tally = outcome.tally
    drawn = f"{tally.drawn:,} scenarios drawn from seed {plan.seed}"
    ran = f"{tally.ran:,} of them run" if tally.ran < tally.drawn else "all of them run"
    verdict = "conforms" if tally.ran else "nothing was tested"
    if tally.failed is not None:
        verdict = "the last one does not conform"
    if outcome.interrupted:
        verdict = f"interrupted; until then {'nothing was found' if tally.failed is None else verdict}"
    return f"{name}: {drawn}, {ran} on {' and '.join(plan.backends)}: {verdict}"


def _as_object(plan: Plan, outcome: Outcome, path: str | None) -> dict[str, Any]:
    tally = outcome.tally
    return {
        "target": plan.target,
        "seed": plan.seed,
        "backends": list(plan.backends),
        "asked": plan.count,
        "drawn": tally.drawn,
        "ran": tally.ran,
        "not_claimed": {"scenarios": tally.not_claimed, "needed": sorted(tally.needed)},
        "not_testable": {printable(why): many for why, many in sorted(tally.not_testable.items())},
        "should": dict(_lesser(outcome)),
        "interrupted": outcome.interrupted,
        "conforms": tally.failed is None,
        "problems": [
            {"judge": one.judge, "clause": one.clause, "text": printable(one.text)}
            for one in (() if tally.failed is None else tally.failed.problems)
        ],
        "kept": path,
    }
