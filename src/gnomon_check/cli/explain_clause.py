"""`gnomon explain`: one clause, or the clauses of a chapter."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from gnomon_check.clauses import Check, Evidence, evidence
from gnomon_check.cli.refusal import refuse
from gnomon_check.explain import shown
from gnomon_check.sources import Place, why
from gnomon_spec.register import Chapter, Status, chapters

_CHECKS = ("properties", "witnesses", "scenarios", "vectors", "mutants", "proofs", "tests")
_LISTED = 12
"""How many checks of a kind are listed before the rest is counted."""


def explain(
    clause: Annotated[
        str, typer.Argument(metavar="CLAUSE", help="A clause, such as SCD-6, or a chapter, such as SCD.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
) -> None:
    """Say what a CLAUSE of the specification asks, why, where its code is, and what checks it.

    Exit code 0: it was told. 2: there is no such clause.
    """
    found = evidence()
    names = {chapter.id: chapter for chapter in chapters()}
    key = clause.upper()
    if key in found:
        one = found[key]
        if as_json:
            typer.echo(json.dumps(as_object(one), indent=2))
        else:
            show(one, Console())
    elif key in names:
        if as_json:
            typer.echo(json.dumps(_chapter_as_object(names[key], found), indent=2))
        else:
            _show_chapter(names[key], found, Console())
    else:
        refuse(unknown(clause, [*found, *names]))


def unknown(asked: str, known: list[str]) -> str:
    """One line for an id that does not exist, with the nearest that do."""
    near = difflib.get_close_matches(asked.upper(), known, n=3, cutoff=0.5)
    chapter_ids = ", ".join(one.id for one in chapters())
    hint = f"nearest: {', '.join(near)}" if near else f"the chapters are {chapter_ids}"
    return f"there is no clause {shown(asked, longest=40)}; {hint}"


# -- for people -----------------------------------------------------------------------------------


def show(one: Evidence, console: Console) -> None:
    """Print a clause: the rule, the reason, the code, what checks it, and where it shows."""
    clause = one.clause
    console.print(
        Text.assemble((clause.id, "bold"), f" ({clause.level}, since {clause.since}, {clause.status})")
    )
    _say(console, clause.text)
    for reason in _reasons(one):
        console.print()
        _say(console, f"Why: {reason}")
    console.print()
    _say(console, _where(one))
    _show_code(one, console)
    _title(console, "Checked by")
    lines = [line for kind in _CHECKS for line in _checks(kind, getattr(one, kind))]
    for line in lines or ["nothing of the kit yet"]:
        _say(console, f"  {line}")


def _say(console: Console, words: str) -> None:
    console.print(Text(words), soft_wrap=not console.is_terminal)


def _title(console: Console, words: str) -> None:
    console.print()
    console.print(Text(words, "bold"))


def _reasons(one: Evidence) -> list[str]:
    """What the docstrings of its functions give as the reason, each once."""
    reasons = (why(inspect.getdoc(function)) for function in one.functions())
    return list(dict.fromkeys(reason for reason in reasons if reason is not None))


def _where(one: Evidence) -> str:
    clause = one.clause
    if clause.excluded is not None:
        return f"Cannot be seen from outside. {clause.excluded}"
    hidden = "" if clause.hidden is None else f" Not all of it: {clause.hidden}"
    return f"Seen in: {', '.join(clause.observed)}.{hidden}"


def _show_code(one: Evidence, console: Console) -> None:
    functions = list(one.functions())
    for place, function in zip(one.marks, functions, strict=True):
        _title(console, f"{place.file}:{place.line}")
        source = inspect.getsource(function)
        if console.is_terminal:
            console.print(Syntax(source, "python", theme="ansi_dark", background_color="default"))
        else:
            console.print(Text(source.rstrip()), soft_wrap=True)
    elsewhere = _elsewhere(one)
    if elsewhere:
        _title(console, "Also in" if functions else "Code")
        for place in elsewhere:
            _say(console, f"  {place.file}:{place.line}: {place.text}")
    if not functions and not elsewhere:
        _title(console, "Code")
        _say(console, f"  none: {one.clause.reason or 'not written yet'}")


def _elsewhere(one: Evidence) -> list[Place]:
    """The lines outside the marked functions that say they realise the clause."""
    inside = {(place.module, place.name) for place in one.marks}
    places = one.code_lines
    if one.clause.status is Status.RUNTIME:
        places = (*one.statements, *one.code_lines)
    return [place for place in places if (place.module, place.name) not in inside]


def _checks(kind: str, rows: tuple[Check, ...]) -> Iterator[str]:
    singular = {"properties": "property", "witnesses": "witness"}.get(kind, kind.removesuffix("s"))
    for row in rows[:_LISTED]:
        yield f"{singular} {row.name}" + (f": {row.about}" if row.about else "")
    if len(rows) > _LISTED:
        yield f"{len(rows) - _LISTED} more {kind}"


def _show_chapter(chapter: Chapter, found: dict[str, Evidence], console: Console) -> None:
    console.print(Text.assemble((chapter.id, "bold"), f" {chapter.title}"))
    for clause in chapter.clauses:
        one = found[clause.id]
        state = "" if one.realised else f" ({_state(one)})"
        _say(console, f"{clause.id}{state}: {clause.text}")


def _state(one: Evidence) -> str:
    if one.clause.status is Status.PLANNED:
        return "planned"
    return "excluded" if one.clause.excluded is not None else "not written yet"


# -- for machines ---------------------------------------------------------------------------------


def as_object(one: Evidence) -> dict[str, Any]:
    """What `--json` prints of a clause. Files are named from the folder of their package on."""
    clause = one.clause
    return {
        "clause": clause.id,
        "text": clause.text,
        "level": clause.level,
        "since": clause.since,
        "status": clause.status,
        "observed": clause.observed,
        "excluded": clause.excluded,
        "hidden": clause.hidden,
        "reason": clause.reason,
        "realised": one.realised,
        "why": _reasons(one),
        "code": [
            {**_place(place), "source": inspect.getsource(function)}
            for place, function in zip(one.marks, one.functions(), strict=True)
        ],
        "statements": [_place(place) for place in one.statements],
        "code_lines": [_place(place) for place in one.code_lines],
        **{
            kind: [{"name": row.name, "about": row.about, "file": row.file} for row in getattr(one, kind)]
            for kind in _CHECKS
        },
    }


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "in": place.name, "text": place.text}


def _chapter_as_object(chapter: Chapter, found: dict[str, Evidence]) -> dict[str, Any]:
    return {
        "chapter": chapter.id,
        "title": chapter.title,
        "clauses": [
            {"clause": one.id, "text": one.text, "level": one.level, "realised": found[one.id].realised}
            for one in chapter.clauses
        ],
    }
