"""What a judge has to say of an implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: which judge found it, the clause, and the words for people."""

    judge: Literal["specification", "property", "report", "watchdog", "process", "protocol"]
    clause: str
    text: str
    event: str | None = None
    """The event that was seen, as people read it, where there was one."""
