"""The history of a broken rule, as a trace file: JSON lines in the vocabulary of events.

The first line is the header. A reclassification, which shows nothing by itself, stands as what the
classifier would answer from then on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gnomon_spec
from gnomon_check.events import Event
from gnomon_check.explore import Exploration, Taken
from gnomon_spec import properties
from gnomon_spec.machine import Reclassify
from gnomon_spec.vocabulary import Announced, EventName
from gnomon_spec.vocabulary import Event as SpecEvent

_ORIGINS = {
    EventName.CALL_LOGGED: "log",
    EventName.RESULT_LOGGED: "log",
    EventName.BODY_STARTED: "harness",
    EventName.BODY_SETTLED: "harness",
    EventName.SIGNAL_ABORTED: "harness",
}


def header() -> dict[str, Any]:
    """The first line of a trace that the explorer writes."""
    return {
        "trace": "gnomon/1",
        "spec": gnomon_spec.__version__,
        "producer": {"name": "gnomon explore", "version": gnomon_spec.__version__},
        "cannot_show": sorted(properties.CALL - properties.BATCH),
    }


def events(history: tuple[Taken, ...]) -> Iterator[Event]:
    """The events of a history, numbered."""
    calls: tuple[Announced, ...] = ()
    seq = 0
    for taken in history:
        for one in taken.events:
            calls = one.calls or calls
            yield {"seq": seq, "batch": "explored", **_event(one, calls)}
            seq += 1
        if isinstance(taken.action, Reclassify):
            answer = {"pos": taken.action.position, "answer": taken.action.mode.value}
            yield {
                "seq": seq,
                "batch": "explored",
                "event": "classifier.answered",
                "origin": "harness",
                **answer,
            }
            seq += 1


def write(found: Exploration, path: Path) -> None:
    """Write the history of the rule that broke."""
    lines = [header(), *events(found.history)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _event(one: SpecEvent, calls: tuple[Announced, ...]) -> Event:
    event: Event = {"event": str(one.name), "origin": _ORIGINS.get(one.name, "implementation")}
    if one.pos is not None:
        event["pos"] = one.pos
    match one.name:
        case EventName.BATCH_OPENED:
            event["calls"] = [_announced(call) for call in calls]
            event["max_parallel"] = one.max_parallel
        case EventName.CALL_LOGGED if one.pos is not None:
            event |= {key: value for key, value in _announced(calls[one.pos]).items() if key != "mode"}
        case EventName.RESULT_LOGGED if one.pos is not None:
            event["call_id"] = calls[one.pos].call_id
        case EventName.BODY_SETTLED:
            event["how"] = str(one.how)
        case EventName.SIGNAL_ABORTED:
            event["signal"] = "caller"
    if one.outcome is not None:
        event["outcome"] = (
            {"ok": True} if one.outcome.code is None else {"ok": False, "code": str(one.outcome.code)}
        )
    return event


def _announced(call: Announced) -> dict[str, str]:
    announced = {"call_id": call.call_id, "name": call.name or "tool", "arguments": "{}"}
    return announced if call.mode is None else {**announced, "mode": call.mode.value}
