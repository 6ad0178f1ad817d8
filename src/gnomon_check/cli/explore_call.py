"""`gnomon explore-call`: everything that can happen to one call."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer
from rich.console import Console

from gnomon_check import explain
from gnomon_check.explore_call import Around, CallExploration
from gnomon_check.explore_call import explore_call as explore_one_call
from gnomon_spec.vocabulary import Setup


def explore_call(
    pre: Annotated[int, typer.Option(help="Listeners of pre-execute.", min=0, max=3)] = 2,
    guards: Annotated[int, typer.Option(help="Guards.", min=0, max=3)] = 2,
    wrappers: Annotated[int, typer.Option(help="Wrappers.", min=0, max=2)] = 1,
    post: Annotated[int, typer.Option(help="Listeners of post-execute.", min=0, max=3)] = 2,
    finalizer: Annotated[bool, typer.Option("--finalizer", help="The tool has a finalizer.")] = False,
    projector: Annotated[bool, typer.Option("--projector", help="The tool projects its content.")] = False,
    timeout: Annotated[bool, typer.Option("--timeout", help="The tool has a timeout.")] = False,
    contexts: Annotated[bool, typer.Option("--contexts", help="The body defers and concludes.")] = False,
    signals: Annotated[bool, typer.Option("--signals", help="Wrappers put signals in place.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for machines.")] = False,
) -> None:
    """Explore one call: all combinations of decisions, failures and abort moments, every step judged.

    Exit code 0: every property holds. 1: one is broken, and the shortest history is printed.
    """
    setup = Setup(
        pre=pre,
        guards=guards,
        wrappers=wrappers + 1 if timeout else wrappers,
        post=post,
        finalizer=finalizer,
        projector=projector,
        timeout=0 if timeout else None,
    )
    begun = time.perf_counter()
    found = explore_one_call(setup, around=Around(contexts=contexts, signals=signals))
    seconds = time.perf_counter() - begun
    if as_json:
        typer.echo(json.dumps(_as_object(found)))
    else:
        _show(Console(), found, seconds)
    raise typer.Exit(1 if found.broken is not None else 0)


def _show(console: Console, found: CallExploration, seconds: float) -> None:
    def tell(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    if found.broken is not None:
        words = explain.explain_broken(found.broken, lambda position: f"call {position + 1}")
        tell(f"broken: {found.broken.prop}: {words}")
        for event in found.trace:
            more = " ".join(
                str(one) for one in (event.where, event.listener, event.what, event.how) if one is not None
            )
            tell(f"  {event.name} {more}".rstrip())
        return
    tell(f"{found.states:,} states, {found.steps:,} steps, in {seconds:.1f} s: every property holds")
    for code, count in sorted(found.codes.items()):
        tell(f"  {count:>7,} ways to {code}")


def _as_object(found: CallExploration) -> dict[str, object]:
    broken = found.broken
    return {
        "states": found.states,
        "steps": found.steps,
        "codes": dict(found.codes),
        "broken": None
        if broken is None
        else {"property": broken.prop, "clause": broken.clause, "reason": broken.reason},
    }
