"""Reads the vectors of whole scenarios as somebody would who has nothing but their README.

Nothing of the kit or the specification is used: which fields count is read off the table of the README, and
the three kinds of order are followed as it says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Plain = dict[str, Any]


def compared(readme: str) -> dict[str, list[str]]:
    """Which events are compared, and which of their fields."""
    rows = re.findall(r"^\| `([a-z.]+)` \| (.*) \|$", readme, re.MULTILINE)
    return {name: re.findall(r"`([a-z_.]+)`", fields) for name, fields in rows}


@dataclass(frozen=True)
class Reader:
    """Compares windows; `fields` is what counts of each event."""

    fields: dict[str, list[str]]

    @classmethod
    def of(cls, folder: Path) -> Reader:
        """A reader of the vectors in a folder."""
        return cls(compared((folder / "README.md").read_text()))

    def first_wrong(self, expected: list[Plain], seen: list[Plain]) -> tuple[int, int] | None:
        """The window and the event at which a trace leaves what is expected; nothing where it does not."""
        for number, (window, one) in enumerate(zip(expected, seen, strict=False)):
            if window["order"] == "example":
                return None  # from here on, nothing may be held against it
            events = [event for event in one["events"] if event["event"] in self.fields]
            wrong = self.wrong_event(window, [self.key(event) for event in events])
            if wrong is None and not self._rests(window, one):
                wrong = len(events)
            if wrong is not None:
                return number, wrong
        return None

    def key(self, event: Plain) -> str:
        """What of an event counts, as a text."""
        shown: Plain = {"event": event["event"], "pos": event.get("slot", event.get("pos"))}
        for field in self.fields[event["event"]]:
            if field == "refused":
                shown[field] = "refused" in event
                continue
            value: Any = event
            for part in field.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            shown[field] = value
        return json.dumps(shown, sort_keys=True)

    def _rests(self, window: Plain, seen: Plain) -> bool:
        def waits(one: Plain) -> Counter[str]:
            return Counter(json.dumps(what, sort_keys=True) for what in one["blocked"])

        return waits(window) == waits(seen) and window["idle"] is seen["idle"]

    def wrong_event(self, window: Plain, seen: list[str]) -> int | None:
        """The number of the first event that may not come, or of those that came where more has to."""
        match window["order"]:
            case "total":
                return self._by_order(window["events"], [], seen, total=True)
            case "partial":
                return self._by_order(window["events"], window["before"], seen, total=False)
            case _:
                return self._by_graph(window, seen)

    def _by_order(
        self, events: list[Plain], before: list[list[int]], seen: list[str], *, total: bool
    ) -> int | None:
        keys = [self.key(event) for event in events]
        pairs = [[place, place + 1] for place in range(len(keys) - 1)] if total else before
        done: set[int] = set()
        for number, key in enumerate(seen):
            free = [
                place
                for place, other in enumerate(keys)
                if place not in done
                and other == key
                and all(left in done for left, right in pairs if right == place)
            ]
            if not free:
                return number
            done.add(free[0])
        return None if len(done) == len(keys) else len(seen)

    def _by_graph(self, window: Plain, seen: list[str]) -> int | None:
        keys = [self.key(event) for event in window["may_come"]]
        state = window["states"][0]
        for number, key in enumerate(seen):
            following = [then for place, then in state["next"] if keys[place] == key]
            if not following:
                return number
            state = window["states"][following[0]]
        return None if state["quiet"] else len(seen)
