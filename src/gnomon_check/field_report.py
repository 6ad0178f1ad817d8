"""What somebody else expects of a scenario: a failure that was reported, or a case worked out by hand."""

from __future__ import annotations

from typing import Any

from gnomon_check.changes import Strict


class ReportedResult(Strict):
    """What a field report says a result must be. `code` is `OK` for a success."""

    pos: int
    code: str
    value: Any = None
    contexts: list[str] | None = None
    """The contexts that are accepted with it, in order, where the report says."""


class FieldReport(Strict):
    """A failure that people reported in public, or a case worked out by hand, and what must come out.

    It is an assertion of its own, beside what the specification computes.
    """

    id: str
    symptom: str
    seen_in: str | None = None
    results: list[ReportedResult]
    bodies_started: list[int] | None = None
    bodies_never_started: list[int] | None = None
    noted: list[str] | None = None
    """Everything that scripts note, in order, where the report says."""
    concluded: bool | None = None
    fails: bool = False
    """The batch itself fails, and raises."""
