"""`gnomon diff`: what two reports say otherwise."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check.cli.refusal import refuse
from gnomon_check.report.compare import Difference, differences
from gnomon_check.report.model import ReportError, load
from gnomon_check.report.summary import counted, title


def diff(
    before: Annotated[Path, typer.Argument(help="A report.json.")],
    after: Annotated[Path, typer.Argument(help="Another, to be held against it.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
) -> None:
    """Compare two reports of `gnomon conform`: of two versions, or of two implementations.

    Exit code 0: nothing is worse in the second. 1: something is. 2: one of them is no report.
    """
    try:
        first, second = load(before), load(after)
    except ReportError as error:
        refuse(str(error))
    found = differences(first, second)
    if as_json:
        typer.echo(json.dumps({"differences": [asdict(one) for one in found]}))
    else:
        console = Console()
        for line in (
            f"A: {title(first)}: {first.scope}",
            f"B: {title(second)}: {second.scope}",
            *_lines(found),
        ):
            console.print(line, markup=False, soft_wrap=True, highlight=False)
    raise typer.Exit(1 if any(one.direction == "worse" for one in found) else 0)


def _lines(found: list[Difference]) -> list[str]:
    told = [f"{one.direction}: {one.subject}: {one.before} -> {one.after}" for one in found]
    worse = sum(one.direction == "worse" for one in found)
    end = f"{counted(len(found), 'difference')}, {worse} of them worse" if found else "no difference"
    return [*told, end]
