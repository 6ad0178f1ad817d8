"""A baseline: what is known of an implementation to differ, entry by entry, each with a reason and a link.

An entry stands for one thing that was seen in one scenario, and hides nothing else. An entry that nothing
fits any more is an error: a baseline only ever says what is.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import StringConstraints, ValidationError

from gnomon_check.changes import Strict, faults
from gnomon_check.problem import Judge, Problem, printable
from gnomon_check.subject import Cannot

NOT_TESTABLE = "not-testable"
Check: TypeAlias = Literal[Judge, "not-testable"]

Place: TypeAlias = tuple[str, str, str, str]
"""What an entry stands for: the scenario, the check, the clause, and what is seen."""

_Words: TypeAlias = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class BaselineError(ValueError):
    """A baseline that cannot be used; the message says where, and why."""


class Deviation(Strict):
    """One thing that is known."""

    scenario: str
    check: Check
    """Who finds it, as a report says; `not-testable` for what the implementation has no way to do."""
    clause: str = ""
    seen: str = ""
    """What is seen, as a report says it; of what is not testable, the feature that is missing."""
    reason: _Words
    link: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]


class _File(Strict):
    deviation: tuple[Deviation, ...] = ()


@dataclass(frozen=True)
class Baseline:
    """The entries of a file."""

    file: str
    deviations: tuple[Deviation, ...]

    @cached_property
    def _by_what_is_seen(self) -> dict[Place, Deviation]:
        return {_place(one): one for one in self.deviations}

    def of_problem(self, scenario: str, problem: Problem) -> Deviation | None:
        """The entry that a problem is known by, if it is."""
        return self._by_what_is_seen.get((scenario, problem.judge, problem.clause, printable(problem.seen)))

    def of_cannot(self, scenario: str, cannot: Cannot) -> Deviation | None:
        """The entry that something is known by that cannot be run, if it is."""
        return self._by_what_is_seen.get((scenario, NOT_TESTABLE, "", printable(cannot.feature)))


NOTHING = Baseline("", ())
"""Where nothing is known."""


def load(path: Path) -> Baseline:
    """Read a baseline. Raises `BaselineError`."""
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # of TOML, or of UTF-8
        raise BaselineError(f"{path}: this is no TOML: {error}") from None
    try:
        deviations = _File.model_validate(plain).deviation
    except ValidationError as error:
        raise BaselineError(f"{path}: {faults(error)}") from None
    places = [_place(one) for one in deviations]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise BaselineError(
                f"{path}: deviation.{number}: stands there twice: {', '.join(filter(None, place))}"
            )
    return Baseline(path.name, deviations)


def draft(places: Iterable[Place]) -> str:
    """The text of a baseline with an entry for each place, once; the reasons are to be filled in."""
    blocks = []
    for scenario, check, clause, seen in dict.fromkeys(places):
        fields = {"scenario": scenario, "check": check, "clause": clause, "seen": seen}
        lines = [f"{name} = {_text(value)}\n" for name, value in {**fields, "reason": "", "link": ""}.items()]
        blocks.append("".join(["[[deviation]]\n", *lines]))
    return _HEAD + "\n" + "\n".join(blocks)


_HEAD = """\
# What is known to differ. `reason` says what the implementation does instead, and why; `link`, where that is
# told. As long as one of them is empty this file is refused. An entry that nothing fits any more is an error.
"""


def _text(value: str) -> str:
    """A text as TOML has it: as JSON, but for one character."""
    return json.dumps(value, ensure_ascii=True).replace("\x7f", "\\u007f")


def _place(one: Deviation) -> Place:
    return (one.scenario, one.check, one.clause, one.seen)
