"""Judges what a reader found, by the properties of the specification and by nothing else."""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from gnomon_check.explain import (
    call_label,
    explain_broken,
    explain_circumstance,
    explain_damage,
    shown,
)
from gnomon_check.trace.detect import read_input
from gnomon_check.trace.model import BatchTrace, Format, Reading, Sighting, Unjudgeable
from gnomon_spec.properties import (
    NOTHING,
    Always,
    Broken,
    broken_by,
    enter,
    judged,
    unanswered,
)
from gnomon_spec.vocabulary import SUCCESS, Event, EventName


class Verdict(StrEnum):
    """What can be said of a file."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken rule in a log. `positions` count from 0, as in the events; texts count calls from 1."""

    clause: str
    property: str | None
    """None where no property of a batch is broken, but the log itself."""
    reason: str
    batch: str | None
    positions: tuple[int, ...]
    call_ids: tuple[str, ...]
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was found in a file."""

    file: str
    verdict: Verdict
    format: Format | None = None
    batches: int = 0
    calls: int = 0
    problems: tuple[Finding, ...] = field(default=())
    skipped: int = 0
    """Calls that nobody can judge from here."""
    dropped: int = 0
    """Bytes of a torn last record (LOG-3)."""
    torn_line: int | None = None
    why_not: str | None = None
    """Why the file cannot be judged."""


def check_file(path: str | Path) -> FileReport:
    """Judge a file. What cannot be read or judged is a verdict, never an exception."""
    try:
        reading = read_input(_content(Path(path)))
    except Unjudgeable as error:
        return FileReport(str(path), Verdict.NOT_JUDGED, why_not=str(error))
    problems = tuple(findings(reading))
    announced = [one for one in reading.batches if one.id is not None]
    return FileReport(
        str(path),
        Verdict.BROKEN if problems else Verdict.HOLDS,
        reading.format,
        len(announced),
        sum(len(one.calls) for one in announced),
        problems,
        reading.skipped,
        reading.dropped,
        reading.lines + 1 if reading.dropped else None,
    )


def _content(path: Path) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise Unjudgeable("it is a directory")
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise Unjudgeable("it is a device, not a file")
        return path.read_bytes()
    except FileNotFoundError:
        raise Unjudgeable("there is no such file") from None
    except OSError as error:
        raise Unjudgeable(f"it cannot be read ({error.strerror or error})") from None
    except ValueError as error:  # a name that no file can have
        raise Unjudgeable(f"it cannot be read ({error})") from None


# -- judging --------------------------------------------------------------------------------------


def findings(reading: Reading) -> Iterator[Finding]:
    """Every broken rule, in the order of the input."""
    properties = judged(reading.shows)
    for batch in reading.batches:
        yield from _judge(batch, properties)
    if reading.damaged_line is not None:
        where = f"line {reading.damaged_line}"
        yield Finding("LOG-3", None, "a damaged record", None, (), (), where, explain_damage())


_ORDER = frozenset({"ModelOrder", "StartOrder"})
"""Properties that compare a call with the earlier ones."""

_LEADS_TO = {"logged twice": "Citation"}
"""Reason -> the property that the same call breaks in consequence: it cites one of its two records."""


def _judge(batch: BatchTrace, properties: Collection[Always]) -> Iterator[Finding]:
    """The broken rules of one batch, without those that only follow from another one of it.

    A call that never comes is one problem of its own, not one of order for each later call: so order is
    judged by a ledger in which such calls count as met. And a call breaks the same rule once.
    """
    alone = [one for one in properties if one.name not in _ORDER]
    in_order = [one for one in properties if one.name in _ORDER]
    ledger, patient = NOTHING, NOTHING
    never = list(_never_met(batch, any(one.name == "StartOrder" for one in in_order)))
    told: set[tuple[str, int]] = set()
    for sighting in batch.seen:
        one = sighting.event
        for broken in (*broken_by(ledger, one, alone), *broken_by(patient, one, in_order)):
            if broken.about:
                position = broken.about[0]
                if (broken.prop, position) in told:
                    continue
                told.add((broken.prop, position))
                told.add((_LEADS_TO.get(broken.reason, broken.prop), position))
            yield _finding(batch, sighting, broken)
        ledger, patient = enter(ledger, one), enter(patient, one)
        if one.name is EventName.BATCH_OPENED:
            for missing in never:
                patient = enter(patient, missing)


def _never_met(batch: BatchTrace, starts_are_shown: bool) -> Iterator[Event]:
    """The records of calls and results that the batch lacks, as if they were there."""
    ledger = NOTHING
    for sighting in batch.seen:
        ledger = enter(ledger, sighting.event)
    for position in unanswered(ledger):
        yield Event(EventName.RESULT_LOGGED, position, SUCCESS)
    for position, track in enumerate(ledger.tracks):
        if starts_are_shown and track.logged is None:
            yield Event(EventName.CALL_LOGGED, position)


def _finding(batch: BatchTrace, sighting: Sighting, broken: Broken) -> Finding:
    ids = tuple(batch.calls[position].call_id for position in broken.about)
    named = None
    if not broken.about and sighting.call_id is not None:
        ids, named = (sighting.call_id,), shown(sighting.call_id)
    text = explain_broken(broken, lambda position: call_label(position, batch.calls[position].call_id), named)
    if sighting.circumstance is not None:
        text = f"{text} ({explain_circumstance(sighting.circumstance)})"
    return Finding(
        broken.clause, broken.prop, broken.reason, batch.id, broken.about, ids, sighting.where, text
    )
