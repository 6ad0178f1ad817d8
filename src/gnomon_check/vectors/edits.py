"""What makes a right trace wrong: one edit of it.

An event is named by what it is, its position and how many of its like came before: `result.logged:1:0` is the
first result of the call at position 1, `batch.closed::0` the first end of the batch.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, model_validator

Plain: TypeAlias = dict[str, Any]
Windows: TypeAlias = list[Plain]


class Edit(BaseModel):
    """One edit. `at` names the event that it is about; `window` is for what has no event to be named by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    do: Literal["drop", "twice", "swap", "earlier", "later", "change", "before", "after", "rest", "cite"]
    at: str | None = None
    other: str | None = None
    """The event that it is exchanged with, or whose record is cited."""
    to: Plain | None = None
    """The fields that change; or the event that is put there."""
    window: int | None = None

    @model_validator(mode="after")
    def _names_its_place(self) -> Edit:
        if (self.window is None) is (self.at is None):
            raise ValueError("an edit names an event, or else a window")
        return self


def edited(windows: Windows, edit: Edit) -> Windows:
    """The windows after an edit; those that were given stay as they are."""
    made = copy.deepcopy(windows)
    if edit.at is None:
        made[edit.window or 0].update(edit.to or {})
        return made
    window, index = place_of(made, edit.at)
    events = made[window]["events"]
    match edit.do:
        case "drop":
            del events[index]
        case "twice":
            events.insert(index, copy.deepcopy(events[index]))
        case "swap" | "cite" if edit.other is not None:
            _with_another(made, edit, (window, index), place_of(made, edit.other))
        case "earlier" | "later":
            _moved(made, edit.do, window, index)
        case "change":
            events[index].update(edit.to or {})
        case "before":
            events.insert(index, edit.to)
        case _:
            events.insert(index + 1, edit.to)
    return made


def named(windows: Windows) -> Iterator[tuple[str, int, int]]:
    """Every event of the windows: its name, its window, its place in it."""
    seen: dict[str, int] = {}
    for number, window in enumerate(windows):
        for index, event in enumerate(window["events"]):
            like = f"{event['event']}:{event.get('pos', '')}"
            seen[like] = seen.get(like, -1) + 1
            yield f"{like}:{seen[like]}", number, index


def place_of(windows: Windows, name: str) -> tuple[int, int]:
    """The window and the place in it of an event. Raises `KeyError`."""
    return {one: (number, index) for one, number, index in named(windows)}[name]


def _with_another(windows: Windows, edit: Edit, one: tuple[int, int], other: tuple[int, int]) -> None:
    left, right = windows[one[0]]["events"], windows[other[0]]["events"]
    if edit.do == "swap":
        left[one[1]], right[other[1]] = right[other[1]], left[one[1]]
        return
    numbers = _numbered(windows)
    left[one[1]]["cites"] = numbers[other]


def _moved(windows: Windows, way: Literal["earlier", "later"], window: int, index: int) -> None:
    """Move an event past the one beside it, or into the window beside it."""
    event = windows[window]["events"].pop(index)
    place = index - 1 if way == "earlier" else index + 1
    if 0 <= place <= len(windows[window]["events"]):
        windows[window]["events"].insert(place, event)
    elif way == "earlier":
        windows[window - 1]["events"].append(event)
    else:
        windows[window + 1]["events"].insert(0, event)


_LOGGED = ("call.logged", "result.logged", "context.accepted", "approval.asked", "approval.decided")


def _numbered(windows: Windows) -> dict[tuple[int, int], int]:
    """Give what is logged its numbers, and each result that of its call; answer the numbers by place."""
    numbers: dict[tuple[int, int], int] = {}
    calls: dict[int, int] = {}
    for window, one in enumerate(windows):
        for index, event in enumerate(one["events"]):
            if event["event"] not in _LOGGED:
                continue
            number = len(numbers) + 3  # the turn, the step and the announcement come first
            numbers[window, index] = event["log_seq"] = number
            if event["event"] == "call.logged":
                calls[event["pos"]] = number
            elif event["event"] == "result.logged":
                event["cites"] = calls[event["pos"]]
    return numbers
