"""What a reader makes of an input: batches, each a history of events, and where each event was seen.

A call is known by its position in its batch, never by its id (SCD-13). Ids and places are kept beside the
events, for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gnomon_check.explain import Circumstance, Earlier, WrongRole
from gnomon_spec.vocabulary import Announced, Event, EventName, Outcome


class Unjudgeable(Exception):
    """An input that cannot be judged. The text says what is wrong and where, for people."""


class Format(StrEnum):
    """What an input was found to be."""

    SESSION = "gnomon-session"
    OPENAI = "openai-chat"
    ANTHROPIC = "anthropic-messages"
    MESSAGES = "messages"
    """A message list in which no tool is called: it could be either."""


# -- batches --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sighting:
    """An event, and where it was seen."""

    event: Event
    where: str
    call_id: str | None = None
    """The id that stands there; the only name of what belongs to no call."""
    circumstance: Circumstance | None = None


@dataclass(frozen=True, slots=True)
class BatchTrace:
    """All that was seen of one batch; or one thing that was seen outside every batch."""

    id: str | None
    """None where no batch was open."""
    calls: tuple[Announced, ...]
    seen: Sequence[Sighting]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in an input."""

    format: Format
    batches: Sequence[BatchTrace]
    shows: frozenset[str] = frozenset()
    """What the format can show (`gnomon_spec.properties`); rules that need more are not judged."""
    skipped: int = 0
    """Calls of a program on the provider's side, which nobody can judge from here."""
    dropped: int = 0
    """Bytes of a torn last record (LOG-3)."""
    damaged_line: int | None = None
    """The line, counted from 1, of a damaged record that others follow (LOG-3)."""
    lines: int = 0
    """Whole records of a session log."""


# -- from one thing after the other to batches ----------------------------------------------------


class _Occurrences:
    """Which call of a batch the next occurrence of an id is about: the first that has none yet.

    Once each has one, it is the last of them: a call is then seen twice, which is for the rules to say.
    """

    __slots__ = ("_next", "_positions", "_taken")

    def __init__(self, calls: Sequence[Announced]) -> None:
        self._positions: dict[str, list[int]] = {}
        for position, one in enumerate(calls):
            self._positions.setdefault(one.call_id, []).append(position)
        self._next = dict.fromkeys(self._positions, 0)
        self._taken: set[int] = set()

    def take(self, call_id: str) -> int | None:
        """The position of the next occurrence of an id, or None where the batch does not have the id."""
        positions = self._positions.get(call_id)
        if positions is None:
            return None
        index = self._next[call_id]
        while index + 1 < len(positions) and positions[index] in self._taken:
            index += 1
        self._next[call_id] = index
        return self.mark(positions[index])

    def mark(self, position: int) -> int:
        """Note that the call at `position` has been met."""
        self._taken.add(position)
        return position

    def met(self, position: int) -> bool:
        """Whether the call at `position` has been met."""
        return position in self._taken


@dataclass(slots=True)
class _Open:
    id: str
    title: str
    calls: tuple[Announced, ...]
    results: _Occurrences
    starts: _Occurrences
    seen: list[Sighting]
    cited: dict[int, int] = field(default_factory=dict)
    """Sequence number of a `tool/call` -> the position of its call."""


class Assembler:
    """Takes what a reader meets, in order, and makes batches of it. Judges nothing."""

    def __init__(self) -> None:
        self.batches: list[BatchTrace] = []
        self._open: _Open | None = None
        self._earlier: dict[str, Earlier] = {}

    def open(self, batch: str, calls: Sequence[Announced], where: str, title: str | None = None) -> None:
        """A batch is announced. One that is still open must have been closed before.

        `title` is what people call the batch, where that is not its id.
        """
        announced = tuple(calls)
        opened = Sighting(Event(EventName.BATCH_OPENED, calls=announced), where)
        self._open = _Open(
            batch, title or batch, announced, _Occurrences(announced), _Occurrences(announced), [opened]
        )

    def start(self, call_id: str, where: str, *, seq: int, repair: bool) -> None:
        """A call is logged as record `seq`."""
        now = self._open
        position = None if now is None else now.starts.take(call_id)
        if now is not None and position is not None:
            now.cited[seq] = position
        self._add(Event(EventName.CALL_LOGGED, position, log_seq=seq, repair=repair), where, call_id)

    def result(
        self,
        call_id: str,
        outcome: Outcome,
        where: str,
        *,
        cites: int | None = None,
        repair: bool = False,
        wrong: WrongRole | None = None,
    ) -> None:
        """A result is met. It is for the call whose record it cites, else for the next one of its id.

        A citation that leads to a call with another id is not followed: the model pairs by the id.
        """
        now = self._open
        position = None
        if now is not None and wrong is None:
            position = None if cites is None else now.cited.get(cites)
            if position is None or now.calls[position].call_id != call_id:
                position = now.results.take(call_id)
            else:
                now.results.mark(position)
        one = Event(EventName.RESULT_LOGGED, position, outcome, cites=cites, repair=repair)
        self._add(one, where, call_id, wrong or (self._earlier.get(call_id) if position is None else None))

    def close(self, where: str, why: Circumstance) -> None:
        """The open batch ends here, if there is one."""
        now = self._open
        if now is None:
            return
        now.seen.append(Sighting(Event(EventName.BATCH_CLOSED), where, circumstance=why))
        for position, one in enumerate(now.calls):
            self._earlier[one.call_id] = Earlier(now.title, position, now.results.met(position))
        self.leave()

    def leave(self) -> None:
        """What follows cannot be read: the open batch stays without an end."""
        if self._open is not None:
            self.batches.append(BatchTrace(self._open.id, self._open.calls, self._open.seen))
            self._open = None

    def _add(self, one: Event, where: str, call_id: str, why: Circumstance | None = None) -> None:
        sighting = Sighting(one, where, call_id, why)
        if self._open is None:
            self.batches.append(BatchTrace(None, (), (sighting,)))
        else:
            self._open.seen.append(sighting)
