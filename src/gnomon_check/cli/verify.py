"""`gnomon verify`: judge logs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from gnomon_check.explain import explain_torn, shown
from gnomon_check.trace import FileReport, Format, Verdict, check_file

_FORMATS = {
    Format.SESSION: "gnomon session log",
    Format.OPENAI: "OpenAI chat messages",
    Format.ANTHROPIC: "Anthropic messages",
    Format.MESSAGES: "message list without calls",
}
_COLOURS = {Verdict.HOLDS: "bold green", Verdict.BROKEN: "bold red", Verdict.NOT_JUDGED: "bold yellow"}


def verify(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Session logs and message lists.", show_default=False),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")] = False,
) -> None:
    """Say whether every call in FILE has exactly one result, in order, before anything else.

    A FILE is a session log of gnomon, or a list of messages: of the OpenAI
    chat API or of the Anthropic messages API, bare or in {"messages": [...]}.
    Which of these it is, is told from its content.

    Exit codes: 0 all rules hold, 1 one is broken, 2 a file cannot be judged.
    """
    if as_json:
        reports = [check_file(one) for one in files]
        typer.echo(json.dumps(as_object(reports), indent=2))
    else:
        reports = []
        console = Console()
        for one in files:
            reports.append(check_file(one))
            show(reports[-1], console)
    raise typer.Exit(exit_code(reports))


def exit_code(reports: Iterable[FileReport]) -> int:
    """2 if any file cannot be judged, else 1 if a rule is broken in any, else 0."""
    verdicts = {one.verdict for one in reports}
    if Verdict.NOT_JUDGED in verdicts:
        return 2
    return 1 if Verdict.BROKEN in verdicts else 0


# -- for people -----------------------------------------------------------------------------------


def show(report: FileReport, console: Console) -> None:
    """Print what is to be said of a file."""
    for line in described(report):
        try:
            line.plain.encode(console.encoding)
        except UnicodeEncodeError:  # ids and names are of others; an old terminal may not know their letters
            line = Text(line.plain.encode(console.encoding, "backslashreplace").decode(console.encoding))
        console.print(line, soft_wrap=True)


def described(report: FileReport) -> list[Text]:
    """What is to be said of a file, line by line: its verdict, then each problem."""
    name = shown(report.file, longest=1_000)
    if report.format is None:
        return [_line(name, (f"cannot be judged: {report.why_not}", _COLOURS[report.verdict]))]
    counts = [_FORMATS[report.format], _counted(report.batches, "batch", "batches")]
    counts.append(_counted(report.calls, "call", "calls"))
    if report.skipped:
        skipped = _counted(report.skipped, "call", "calls")
        counts.append(f"{skipped} of programs on the provider's side not judged")
    first = _line(name, (report.verdict.value, _COLOURS[report.verdict]))
    first.append(f" ({', '.join(counts)})", "dim")
    lines = [first]
    lines += [_line(f"  {one.where}", (one.text, "")) for one in report.problems]
    if report.dropped:
        lines.append(_line(f"  line {report.torn_line}", (explain_torn(report.dropped), "dim")))
    return lines


def _line(start: str, rest: tuple[str, str]) -> Text:
    return Text.assemble(start, ": ", rest)


def _counted(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"


# -- for machines ---------------------------------------------------------------------------------


def as_object(reports: list[FileReport]) -> dict[str, Any]:
    """What `--json` prints. Positions count from 0, as in the events; the texts count calls from 1."""
    return {"exit_code": exit_code(reports), "files": [_file(one) for one in reports]}


def _file(report: FileReport) -> dict[str, Any]:
    return {
        "file": report.file,
        "format": report.format,
        "verdict": report.verdict,
        "why_not": report.why_not,
        "batches": report.batches,
        "calls": report.calls,
        "skipped_calls": report.skipped,
        "dropped_bytes": report.dropped,
        "problems": [
            {
                "clause": one.clause,
                "property": one.property,
                "reason": one.reason,
                "batch": one.batch,
                "positions": one.positions,
                "call_ids": one.call_ids,
                "where": one.where,
                "text": one.text,
            }
            for one in report.problems
        ],
    }
