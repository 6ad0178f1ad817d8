"""`gnomon serve`: the built-in runtime behind the protocol, as any other implementation."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer
from pydantic import ValidationError

from gnomon_check import profiles
from gnomon_check.changes import faults
from gnomon_check.cli.refusal import refuse
from gnomon_check.protocol import PROTOCOL, SPECIFICATION, Manifest
from gnomon_check.serve import serve as answer
from gnomon_check.targets.builtin import Builtin


def serve(
    backend: Annotated[str, typer.Option(help="`asyncio` or `trio`.")] = "asyncio",
) -> None:
    """Run scenarios for a kit that asks on standard input, and answer it on standard output.

    This is what an adapter does; `gnomon conform exec:"gnomon serve"` asks it. Exit code 2: it was asked
    something that the protocol does not know.
    """
    target = Builtin()
    if backend not in target.backends:
        refuse(f"there is no backend {backend!r}: use {' or '.join(target.backends)}")
    manifest = Manifest(
        name="gnomon",
        version=version("gnomon"),
        language="Python",
        profiles=list(profiles.PROFILES),
        protocol=PROTOCOL,
        spec=SPECIFICATION,
    )
    try:
        answer(target, manifest, backend, sys.stdin.buffer, sys.stdout)
    except ValidationError as error:
        refuse(f"this is no request of the protocol: {faults(error)}")
