"""`gnomon repair`: close what a crash has left open in logs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnomon.errors import Code, LogError
from gnomon.session import JsonlSession, Standing, StoredRecord, missing, read_log, repair
from gnomon_check.explain import shown


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was done to a log, or would be."""

    file: str
    dropped_bytes: int = 0
    kept: str | None = None
    """Where the bytes of a torn last record were put."""
    unknown: tuple[str, ...] = ()
    """The ids of calls that may have run."""
    not_started: tuple[str, ...] = ()
    """The ids of calls that never started."""
    closed_turn: int | None = None
    why_not: str | None = None
    """Why it cannot be repaired."""

    @property
    def changes(self) -> bool:
        """Whether anything was to do."""
        return bool(self.dropped_bytes) or self.closed_turn is not None


def repair_logs(
    logs: Annotated[
        list[Path], typer.Argument(metavar="LOG", help="Session logs of gnomon.", show_default=False)
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is to do, and do nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
) -> None:
    """Close the turn that a crash has left open in LOG.

    Every announced call without a result gets one, which says whether the call may
    have run. A torn last record is cut off; its bytes are kept beside the log. A log
    that is being written, or is damaged, is left alone.

    Exit codes: 0 nothing is left to repair, 1 something is (with --dry-run), 2 a log
    cannot be repaired.
    """
    done = []
    for log in logs:
        try:
            if not log.exists():
                raise LogError("there is no such file")
            done.append(_look_at(log) if dry_run else _repair(log))
        except LogError as error:
            done.append(Repaired(str(log), why_not=str(error)))
    code = 2 if any(one.why_not for one in done) else int(dry_run and any(one.changes for one in done))
    if as_json:
        logs_done = [{**asdict(one), "changes": one.changes} for one in done]
        typer.echo(json.dumps({"exit_code": code, "dry_run": dry_run, "logs": logs_done}, indent=2))
    else:
        console = Console()
        for one in done:
            for line in _described(one, dry_run):
                console.print(line, soft_wrap=True, markup=False, highlight=False)
    raise typer.Exit(code)


def _look_at(log: Path) -> Repaired:
    content, standing = read_log(log), Standing()
    for one in content.records:
        standing.take(one.seq, one.type, one.data)
    return _told(log, missing(standing), len(content.dropped))


def _repair(log: Path) -> Repaired:
    with JsonlSession(log, fsync="always") as session:
        added, kept = repair(session), session.kept
    return _told(log, added, kept.stat().st_size, str(kept)) if kept else _told(log, added)


def _told(log: Path, added: tuple[StoredRecord, ...], dropped: int = 0, kept: str | None = None) -> Repaired:
    results = [one.data for one in added if one.type == "tool/result"]

    def ids(code: Code) -> tuple[str, ...]:
        return tuple(one["message"]["callId"] for one in results if one["error"]["code"] == code)

    turn = added[-1].data["turn"] if added else None
    unknown, idle = ids(Code.TOOL_OUTCOME_UNKNOWN), ids(Code.TOOL_NOT_STARTED)
    return Repaired(str(log), dropped, kept, unknown, idle, turn)


def _described(one: Repaired, dry_run: bool) -> list[str]:
    name = shown(one.file, longest=1_000)
    if one.why_not is not None:
        return [f"{name}: cannot be repaired: {shown(one.why_not, longest=2_000)}"]
    if not one.changes:
        return [f"{name}: nothing to repair"]
    lines = [f"{name}: {'to repair' if dry_run else 'repaired'}"]
    if one.dropped_bytes:
        where = "" if one.kept is None else f", kept in {shown(one.kept, longest=1_000)}"
        lines.append(f"  a torn last record: {one.dropped_bytes} bytes dropped{where} (LOG-3)")
    lines += [f"  {shown(call)}: may have run, TOOL_OUTCOME_UNKNOWN (REP-1)" for call in one.unknown]
    lines += [f"  {shown(call)}: never started, TOOL_NOT_STARTED (REP-1)" for call in one.not_started]
    if one.closed_turn is not None:
        lines.append(f"  turn {one.closed_turn}: closed as interrupted (REP-1)")
    return lines
