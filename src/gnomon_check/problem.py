"""What a judge has to say of an implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator

from gnomon_spec.register import Level, clauses

Judge: TypeAlias = Literal[
    "specification", "property", "report", "watchdog", "process", "protocol", "adapter"
]
"""Who finds something: the oracle, a named property, a field report's own expectation; or that nobody says
any more what happens."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: which judge found it, the clause, and the words for people."""

    judge: Judge
    clause: str
    """The clause that is broken; empty where no single one is, as for a field report's expectation."""
    text: str
    seen: str = ""
    """What was seen, in short, and the same in every run: an event, what blocks, or what became of it."""

    @property
    def level(self) -> Level:
        """How strongly what is broken binds an implementation."""
        return clauses()[self.clause].level if self.clause else Level.MUST


def printable(text: str) -> str:
    """The text as any file can hold it: lone surrogates, which a scenario may have, stand as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


Printable: TypeAlias = Annotated[str, AfterValidator(printable)]
"""A text of a model that goes into files: it is made printable where it comes in."""
