"""The implementation that a command is about: how it is named, and how long it is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import typer
from rich.console import Console

from gnomon_check.cli.refusal import refuse
from gnomon_check.subject import Stopped, Subject
from gnomon_check.targets.adapter_process import KitFault
from gnomon_check.targets.named import UnknownTarget, named

TARGET = typer.Argument(
    help="What to hold to the specification: `builtin`, `dsh`, `exec:COMMAND`, `python:MODULE:FACTORY`."
)
SECONDS = typer.Option("--watchdog", help="How many seconds an adapter may take for an answer.", min=0.1)


def backends_of(subject: Subject, wanted: Sequence[str] | None) -> list[str]:
    """What an implementation is to be run on: what is wanted, or all that there is; else the end."""
    for one in wanted or ():
        if one not in subject.backends:
            refuse(f"there is no backend {one!r}: use {' or '.join(subject.backends)}")
    return list(wanted or subject.backends)


@contextmanager
def opened(target: str, watchdog: float) -> Iterator[Subject]:
    """The implementation that a target means, until it is not needed; where there is none, the end."""
    try:
        with Console(stderr=True).status(f"preparing {target}"):
            subject = named(target, seconds=watchdog)
    except UnknownTarget as error:
        refuse(str(error))
    try:
        yield subject
    except Stopped as why:  # it does not even say who it is
        refuse(f"{target}: {why.reason}", 1)
    except KitFault as error:
        refuse(str(error), 4)
    finally:
        subject.end()
