"""`gnomon vectors`: the cases of the pure functions, as the specification computes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check import vectors as made
from gnomon_check.cli.refusal import refuse
from gnomon_check.generated import COMMAND


def vectors(
    folder: Annotated[
        Path,
        typer.Argument(help="Where they are written. Default: beside the specification.", show_default=False),
    ] = made.FOLDER,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; say what differs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
) -> None:
    """Compute the vectors from the specification, and write them into FOLDER.

    Exit codes: 0 they are there, 1 with --check: some differ, 2 FOLDER cannot be written.
    """
    console = Console()
    try:
        names = made.differing(folder, COMMAND) if check else made.write(folder, COMMAND)
    except OSError as error:
        refuse(f"{folder}: cannot be written: {error.strerror or error}")
    counts = {one.file.removesuffix(".json"): len(one.cases) for one in made.SUITES}
    if as_json:
        key = "differing" if check else "written"
        typer.echo(json.dumps({"suite": made.SUITE, "cases": counts, "folder": str(folder), key: names}))
    else:
        for name, count in counts.items():
            console.print(f"{count:>5} cases of {name}", markup=False, highlight=False)
        for name in names:
            console.print(f"{'differs' if check else 'wrote'}: {name}", markup=False, highlight=False)
        console.print(f"{sum(counts.values()):>5} cases, suite {made.SUITE}", markup=False, highlight=False)
    raise typer.Exit(1 if check and names else 0)
