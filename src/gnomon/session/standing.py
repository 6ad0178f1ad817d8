"""Where a log stands: what is open at its end.

It is kept up to date record by record, so that nobody has to read a whole log to learn it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnomon.errors import LogError

if TYPE_CHECKING:
    from gnomon.session.log import Session


@dataclass(slots=True)
class OpenCall:
    """A call that the open step announced."""

    call_id: str
    name: str
    arguments: str
    logged: int | None = None
    """The number of its `tool/call`."""
    by_repair: bool = False
    """Whether a repair wrote that record: the call never started."""
    answered: bool = False


@dataclass(slots=True)
class Standing:
    """The last turn and step of a log, what of them is still open, and the approval policy."""

    size: int = 0
    """How many records the log has."""
    turn: int = -1
    step: int = 0
    turn_is_open: bool = False
    step_is_open: bool = False
    calls: list[OpenCall] = field(default_factory=list)
    """What the open step announced, in model order."""
    announced: int | None = None
    """How many calls its last announcement has, and how many of them are started and answered."""
    started: int = 0
    answered: int = 0
    policy: str | None = None
    _unlogged: dict[str, deque[OpenCall]] = field(default_factory=dict)
    _by_record: dict[int, OpenCall] = field(default_factory=dict)

    def take(self, seq: int, kind: str, data: dict[str, Any]) -> None:
        """Take in the next record. Raises `LogError` for one that `check_record` refuses."""
        check_record(kind, data)
        self.size = seq + 1
        match kind:
            case "turn/start":
                self.turn, self.step, self.turn_is_open = data["turn"], 0, True
                self._open_step(False)
            case "step/start":
                if not self.turn_is_open:
                    self.turn, self.turn_is_open = data["turn"], True
                self.step = data["step"]
                self._open_step(True)
            case "assistant/calls":
                self._announce(data["calls"])
            case "tool/call":
                self.started += 1
                waiting = self._unlogged.get(data.get("callId", ""))
                if waiting:  # of repeated ids the first one that was not logged (SCD-13)
                    call = waiting.popleft()
                    call.logged, call.by_repair = seq, data.get("repair") is True
                    self._by_record[seq] = call
            case "tool/result":
                self.answered += 1
                cited = self._by_record.get(data.get("cites", -1))
                if cited is not None:
                    cited.answered = True
            case "step/end":
                self._open_step(False)
            case "turn/end":
                self._open_step(False)
                self.turn_is_open = False
            case "approval/policy":
                self.policy = data["policy"]  # APP-9: the last one

    def _open_step(self, is_open: bool) -> None:
        self.step_is_open = is_open
        self.announced, self.started, self.answered = None, 0, 0
        self.calls, self._unlogged, self._by_record = [], {}, {}

    def _announce(self, calls: list[dict[str, str]]) -> None:
        self.announced, self.started, self.answered = len(calls), 0, 0
        if not self.step_is_open:
            return
        for one in calls:
            call = OpenCall(one["callId"], one["name"], one["arguments"])
            self.calls.append(call)
            self._unlogged.setdefault(call.call_id, deque()).append(call)


def check_record(kind: str, data: dict[str, Any]) -> None:
    """Refuse a record without which nobody could say what is open. Raises `LogError`.

    Records of other types are kept, and nobody judges them.
    """
    match kind:
        case "turn/start" if not _is_number(data.get("turn")):
            raise LogError("a record of type turn/start needs the number of its `turn` (LOG-2)")
        case "step/start" if not (_is_number(data.get("turn")) and _is_number(data.get("step"))):
            raise LogError("a record of type step/start needs the numbers of its `turn` and `step` (LOG-2)")
        case "assistant/calls" if not _are_calls(data.get("calls")):
            raise LogError(
                "a record of type assistant/calls needs `calls`, each with `callId`, `name` and "
                "`arguments` as text (LOG-2)"
            )
        case "tool/call" if not isinstance(data.get("callId", ""), str):
            raise LogError("a record of type tool/call has a `callId` that is no text (LOG-2)")
        case "tool/result" if not _is_number(data.get("cites", 0)):
            raise LogError("a record of type tool/result has `cites` that is no number (LOG-2)")
        case "approval/policy" if not isinstance(data.get("policy"), str):
            raise LogError("a record of type approval/policy needs a `policy` (APP-9)")


def _is_number(value: object) -> bool:
    return type(value) is int


def _are_calls(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and all(isinstance(one.get(key), str) for key in ("callId", "name", "arguments"))
        for one in value
    )


def standing_of(session: Session) -> Standing:
    """Where a session stands: as it says itself, in `standing`, or else read from all of its records."""
    own = getattr(session, "standing", None)
    if isinstance(own, Standing):
        return own
    found = Standing()
    for record in session.records():
        found.take(record.seq, record.type, record.data)
    return found
