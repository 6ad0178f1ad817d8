"""What every session log does alike: the two that come with gnomon, a bare one, and the SQLite example."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import BACKENDS, on
from rich_logs import PROGRAMS, rich_log

from gnomon import (
    ConfigError,
    JsonlSession,
    LogError,
    MemorySession,
    Record,
    Runtime,
    Session,
    ToolCall,
    tool,
)
from gnomon.session import StoredRecord, read_log_bytes, repair, standing_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "sqlite_session.py"


def of_the_example() -> Any:
    spec = importlib.util.spec_from_file_location("sqlite_session", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SqliteSession


SqliteSession = of_the_example()


class Bare:
    """No more than the protocol asks for."""

    def __init__(self) -> None:
        self._records: list[StoredRecord] = []

    def append(self, record: Record) -> int:
        self._records.append(StoredRecord(len(self._records), record.type, record.data))
        return len(self._records) - 1

    async def flush(self) -> None:
        return None

    def records(self) -> Iterable[StoredRecord]:
        return iter(self._records)


Opened = Callable[[], Any]
"""Opens the session of a test; where it is kept on a disk, another opening finds what the first has left."""


@pytest.fixture(params=["memory", "bare", "jsonl", "jsonl, always", "sqlite"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """How to open the session, once at a time."""
    kept = {"memory": MemorySession(), "bare": Bare()}
    path = tmp_path / "log"

    @contextmanager
    def jsonl(fsync: Any) -> Iterator[Session]:
        with JsonlSession(path, fsync=fsync) as session:
            yield session

    match request.param:
        case "jsonl":
            return lambda: jsonl("flush")
        case "jsonl, always":
            return lambda: jsonl("always")
        case "sqlite":
            return lambda: closing(SqliteSession(path))
        case name:
            return lambda: nullcontext(kept[name])


def seen(session: Session) -> list[tuple[int, str, object]]:
    return [(one.seq, one.type, one.data) for one in session.records()]


def told(name: str) -> list[tuple[int, str, object]]:
    return [(one.seq, one.type, one.data) for one in read_log_bytes(rich_log(name)).records]


@pytest.mark.clause("VAL-6", "LOG-1", "LOG-3")
def test_what_is_appended_is_numbered_and_read_back(opened: Opened) -> None:
    records = [
        Record("turn/start", {"turn": 0}),
        Record("of/later", {"text": "é\ud800 \u2028\x00", "many": [1.5, 10**20, None, True, {}]}),
        Record("turn/end", {"turn": 0, "reason": "completed"}),
    ]
    expected = [(place, one.type, one.data) for place, one in enumerate(records)]
    with opened() as session:
        assert [session.append(one) for one in records[:2]] == [0, 1]
        assert seen(session) == expected[:2]
        anyio.run(session.flush)
    with opened() as session:
        assert session.append(records[2]) == 2
        assert seen(session) == seen(session) == expected


@pytest.mark.clause("LOG-2")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_batch_leaves_the_same_records_in_each(opened: Opened, name: str, backend: str) -> None:
    with opened() as session:
        on(backend, lambda: PROGRAMS[name](session))
        if backend == "asyncio":  # trio starts tasks that are ready together in any order
            assert seen(session) == told(name)
        assert len(seen(session)) == len(told(name))


@pytest.mark.parametrize("name", PROGRAMS)
def test_where_it_stands_is_known_after_each_record_and_after_opening(opened: Opened, name: str) -> None:
    whole = MemorySession()
    for _, kind, data in told(name):
        with opened() as session:
            session.append(Record(kind, data))
            whole.append(Record(kind, data))
            assert standing_of(session) == whole.standing


@pytest.mark.clause("REP-1")
def test_what_is_left_open_is_repaired_alike_and_once(opened: Opened) -> None:
    half = told("failures")[:6]
    whole = MemorySession()
    with opened() as session:
        for _, kind, data in half:
            session.append(Record(kind, data))
            whole.append(Record(kind, data))
    with opened() as session:
        assert repair(session) == repair(whole)
    with opened() as session:
        assert seen(session) == seen(whole)
        assert repair(session) == ()


@pytest.mark.clause("PY-10")
def test_a_session_whose_batch_is_open_takes_no_other_until_it_is_repaired(opened: Opened) -> None:
    @tool
    async def act() -> str:
        """Act."""
        return "done"

    runtime = Runtime()
    runtime.register(act)

    async def run() -> None:
        await runtime.run_batch([ToolCall("n", "act")], session=session)

    with opened() as session:
        for _, kind, data in told("exclusive")[:4]:
            session.append(Record(kind, data))
        with pytest.raises(ConfigError, match="repair it"):
            anyio.run(run)
        repair(session)
        anyio.run(run)
        assert seen(session)[-1][1:] == ("turn/end", {"turn": 1, "reason": "completed"})


@pytest.mark.clause("LOG-2")
def test_a_record_that_would_leave_open_what_is_open_is_refused_or_told(opened: Opened) -> None:
    """A bare store takes whatever it likes; whoever asks where it stands is told then."""

    def append_and_repair() -> None:
        session.append(Record("turn/start", {}))
        repair(session)

    with opened() as session:
        with pytest.raises(LogError, match="turn/start needs the number"):
            append_and_repair()
        assert len(seen(session)) == isinstance(session, Bare)


@pytest.mark.clause("LOG-3")
def test_what_cannot_be_kept_is_told_and_those_on_a_disk_have_one_writer(tmp_path: Path) -> None:
    for make in (JsonlSession, SqliteSession):
        path = tmp_path / make.__name__
        with closing(make(path)) as session:
            with pytest.raises(LogError, match=r"cannot be written|could not be appended"):
                session.append(Record("kind", {"wrong": float("nan")}))
            assert session.append(Record("kind", {})) == 0
            with pytest.raises(LogError, match=r"locked|another writer"):
                make(path)
        with closing(make(path)) as session:
            assert len(seen(session)) == 1
