"""`gnomon new-adapter`: an adapter to begin with."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check import adapters
from gnomon_check.cli.refusal import refuse


def new_adapter(
    folder: Annotated[Path, typer.Argument(help="The folder to make; it must not be there yet.")],
    language: Annotated[str, typer.Option(help="`javascript` or `python`.")] = "javascript",
) -> None:
    """Copy an adapter that conforms, with the little runtime that it drives, to put your own in its place.

    Exit code 0: it is there. 2: wrong usage, or the folder is there already.
    """
    if language not in adapters.LANGUAGES:
        refuse(f"there is no adapter in {language!r}: use {' or '.join(adapters.LANGUAGES)}")
    if folder.exists():
        refuse(f"{folder} is there already, and nothing of it is changed")
    try:
        shutil.copytree(adapters.FOLDER / language, folder, ignore=shutil.ignore_patterns("__pycache__"))
    except OSError as error:
        refuse(f"{folder} cannot be made: {error.strerror or error}")
    console = Console(highlight=False)
    steps = [f"  {line}" for line in adapters.first_steps(language, folder)]
    for line in (f"An adapter in {language} is in {folder}. It conforms in all that it claims:", *steps):
        console.print(line, markup=False, soft_wrap=True)
