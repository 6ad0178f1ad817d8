"""What a vector is: an input of one pure function, and what the specification computes for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from gnomon_spec.values import Path

FORMAT = "gnomon/1"
SUITE = "1.1"
"""The first number changes where a case goes or is expected to end otherwise, the second where one comes."""

CaseId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
ClauseId: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2,3}-[0-9]+$")]


class Vector(BaseModel):
    """One case. `twin` names a case that differs in one place of the input, and in the verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: CaseId
    title: str
    clauses: list[ClauseId] = Field(min_length=1)
    twin: CaseId | None = None
    input: dict[str, Any]
    expect: dict[str, Any]


class VectorFile(BaseModel):
    """All cases of one function."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vectors: Literal["gnomon/1"]
    suite: str
    spec: str
    command: str
    function: Literal[
        "snapshot",
        "equal",
        "unchanged",
        "parse",
        "validate",
        "declare",
        "view",
        "cancelled",
        "decide",
        "call",
        "judge",
        "log",
        "repair",
        "name",
        "run",
        "trace",
    ]
    about: str
    cases: list[Vector]


@dataclass(frozen=True, slots=True)
class Case:
    """A case before it is computed; `twin` stands at the negative one."""

    id: str
    clauses: str
    title: str
    input: dict[str, Any]
    twin: str | None = None


@dataclass(frozen=True, eq=False)
class Suite:
    """The cases of one file, and how the specification computes what is expected.

    `given` is the cases, or a function that makes them: where that takes long, it is put off until they are
    asked for. `name` is that of the file, where it is not the name of the function.
    """

    function: str
    about: str
    compute: Callable[[dict[str, Any]], dict[str, Any]]
    given: tuple[Case, ...] | Callable[[], tuple[Case, ...]]
    name: str = ""

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Every case, before it is computed."""
        return self.given() if callable(self.given) else self.given

    @property
    def file(self) -> str:
        """The name of the file."""
        return f"{self.name or self.function}.json"

    def vectors(self) -> list[Vector]:
        """Every case, computed. Both of a pair name each other."""
        back = {case.twin: case.id for case in reversed(self.cases) if case.twin is not None}
        return [
            Vector(
                id=case.id,
                title=case.title,
                clauses=case.clauses.split(),
                twin=case.twin or back.get(case.id),
                input=case.input,
                expect=self.compute(case.input),
            )
            for case in self.cases
        ]


def fails(clause: str, reason: str, **more: Any) -> dict[str, Any]:
    """The expectation of a negative case. Only the reason, which is for people, is never compared."""
    return {"fails": {"clause": clause, "reason": reason, **more}}


def path(steps: Path) -> list[str | int]:
    """A path as JSON has it."""
    return list(steps)
