"""How a command ends that cannot be carried out."""

from __future__ import annotations

from typing import NoReturn

import typer
from rich.console import Console


def refuse(text: str, code: int = 2) -> NoReturn:
    """Say why it cannot be done, on standard error, and end. Raises `typer.Exit`."""
    Console(stderr=True).print(text, markup=False, soft_wrap=True, highlight=False)
    raise typer.Exit(code)
