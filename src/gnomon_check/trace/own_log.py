"""Session logs of gnomon itself (`gnomon.session`).

`assistant/calls` opens a batch, `step/end` or `turn/end` closes it; so does whatever begins anew while it is
open. Results are paired by what they cite. Records of a type that is not known here are passed over.
"""

from __future__ import annotations

from gnomon.errors import LogCorrupt, LogError
from gnomon.session import LogContent, StoredRecord, read_log_bytes
from gnomon_check.explain import CameFirst, InputEnds
from gnomon_check.trace import shapes
from gnomon_check.trace.model import Assembler, Format, Reading, Unjudgeable
from gnomon_spec.properties import LOGGED_CALLS
from gnomon_spec.vocabulary import SUCCESS, Announced, Outcome

SHOWS = frozenset({LOGGED_CALLS})
"""A log shows when a call was logged; it shows no body, no mode, and not when the caller aborted."""

_ENDS = {
    "turn/start": "the start of a turn",
    "turn/end": "the end of the turn",
    "step/start": "the start of a step",
    "step/end": "the end of the step",
    "assistant/calls": "an announcement of other calls",
}
"""What ends the open batch."""


def read_own_log(content: bytes) -> Reading:
    """Read the bytes of a log; of a damaged one, what stands before the damage.

    Raises `Unjudgeable` where a record lacks what is needed, or where there is no whole record.
    """
    log, damaged_line = _whole_records(content)
    if not log.records and damaged_line is None:
        raise Unjudgeable(f"it holds no whole record, only {len(log.dropped)} bytes of a torn first one")
    reader = Assembler()
    for record in log.records:
        _read_record(record, reader)
    if damaged_line is None:
        reader.close("the end", InputEnds(repairable=True))
    else:
        reader.leave()  # what came after the damage is not known
    return Reading(
        Format.SESSION,
        reader.batches,
        SHOWS,
        dropped=0 if damaged_line else len(log.dropped),
        damaged_line=damaged_line,
        lines=len(log.records),
    )


def _whole_records(content: bytes) -> tuple[LogContent, int | None]:
    """The records before the first damage, and the line of that damage, counted from 1."""
    try:
        return read_log_bytes(content), None
    except LogCorrupt as damage:
        return read_log_bytes(content[: damage.whole]), damage.line
    except LogError as error:
        raise Unjudgeable(str(error)) from None


def _read_record(record: StoredRecord, reader: Assembler) -> None:
    kind, data = record.type, record.data
    here = f"record {record.seq} ({kind})"
    where = f"record {record.seq}"
    if kind in _ENDS:
        reader.close(where, CameFirst(_ENDS[kind]))
    match kind:
        case "assistant/calls":
            batch = f"{shapes.number(data, 'turn', here)}.{shapes.number(data, 'step', here)}"
            calls: list[Announced] = []
            for index, value in enumerate(shapes.items(data, "calls", here), 1):
                place = f"{here}, call {index}"
                one = shapes.an_object(value, place)
                calls.append(Announced(shapes.text(one, "callId", place), shapes.text(one, "name", place)))
            reader.open(batch, calls, where, title=f"step {batch}")
        case "tool/call":
            repair = "repair" in data and shapes.flag(data, "repair", here)
            shapes.text(data, "name", here)
            reader.start(shapes.text(data, "callId", here), where, seq=record.seq, repair=repair)
        case "tool/result":
            message = shapes.within(data, "message", here)
            reader.result(
                shapes.text(message, "callId", here),
                _outcome(record, here),
                where,
                cites=shapes.number(data, "cites", here),
                repair="repair" in data and shapes.flag(data, "repair", here),
            )


def _outcome(record: StoredRecord, here: str) -> Outcome:
    if not shapes.flag(record.data["message"], "isError", here):
        return SUCCESS
    # An error without a code is still an error (ERR-1 asks others for a code, and does not demand it).
    if "error" not in record.data:
        return Outcome(code="")
    return Outcome(code=shapes.text(shapes.within(record.data, "error", here), "code", here))
