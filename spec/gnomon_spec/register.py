"""The register: every clause of the specification, as data.

The words stand in `clauses.toml`, which is read here and nowhere else. What the
code says of a clause is no part of it: the marks, the docstrings and the lines
of code are collected by those who look for them.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any


class Level(StrEnum):
    """How strongly a clause binds any implementation."""

    MUST = "must"
    SHOULD = "should"


class Status(StrEnum):
    """Where the code of a clause stands."""

    SPECIFIED = "specified"
    RUNTIME = "runtime"
    PLANNED = "planned"


class Where(StrEnum):
    """Where a breach of a clause shows."""

    EVENTS = "events"
    RESULTS = "results"
    LOG = "log"
    SCHEMAS = "schemas"
    VECTORS = "vectors"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. `observed` is empty exactly where `excluded` says why."""

    id: str
    level: Level
    since: str
    status: Status
    text: str
    observed: tuple[Where, ...] = ()
    excluded: str | None = None
    hidden: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter, and its clauses in reading order."""

    id: str
    title: str
    clauses: tuple[Clause, ...]


def _clause(identifier: str, row: dict[str, Any]) -> Clause:
    return Clause(
        id=identifier,
        level=Level(row.pop("level")),
        status=Status(row.pop("status")),
        observed=tuple(Where(one) for one in row.pop("observed", ())),
        **row,
    )


@cache
def chapters() -> tuple[Chapter, ...]:
    """All chapters, in reading order."""
    text = resources.files("gnomon_spec").joinpath("clauses.toml").read_text(encoding="utf-8")
    register = tomllib.loads(text)
    clauses = [_clause(identifier, row) for identifier, row in register["clause"].items()]
    return tuple(
        Chapter(name, row["title"], tuple(one for one in clauses if one.id.startswith(f"{name}-")))
        for name, row in register["chapter"].items()
    )


@cache
def clauses() -> dict[str, Clause]:
    """Every clause by its id, in reading order."""
    return {one.id: one for chapter in chapters() for one in chapter.clauses}
