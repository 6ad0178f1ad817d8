"""A report on a terminal: first what was not checked."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from gnomon_check.report.model import VERDICTS, Known, Report, Verdict, Weight
from gnomon_check.report.summary import conclusion, not_checked, title
from gnomon_spec.register import Level

_STYLES: dict[Verdict, str] = {
    "not claimed": "yellow",
    "not testable": "yellow",
    "violation": "red",
    "known deviation": "magenta",
    "conforms": "green",
}


WEIGHTS: tuple[Weight, ...] = ("should", "known", "violation")
"""The order in which a terminal tells what was found: what is red comes last, where people look first."""


def show(console: Console, report: Report) -> None:
    """The whole report: what was not checked, the table of verdicts, the words of what was found."""

    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True, highlight=False)

    say(f"{title(report)}. Not checked:")
    for line in not_checked(report):
        say(f"  {line}")
    say("")
    console.print(_table(report))
    for identifier, runs in report.scenarios.items():
        cannot = next((run.not_testable for run in runs if run.not_testable is not None), None)
        if cannot is not None:
            say(f"\n{identifier} was not tested: {cannot.feature}: {cannot.reason}")
            _show_known(say, cannot.known)
    for weight in WEIGHTS:
        for run, found in report.found(weight):
            for one in found:
                level = " (a should)" if one.level is Level.SHOULD else ""
                say(f"\n{run.scenario} on {run.backend}{level}: {one.text}")
                _show_known(say, one.known)
    for entry in report.baseline.stale if report.baseline else ():
        what = ", ".join(filter(None, (entry.check, entry.clause, entry.seen)))
        say(f"\n{entry.scenario}: of the baseline, and not so any more: {what}")
    say(f"\n{report.scope}")
    say(conclusion(report))


def _show_known(say: Callable[[str], None], known: Known | None) -> None:
    if known is not None:
        say(f"  Known: {known.reason} {known.link}")


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("scenario", "clauses", "verdict"):
        table.add_column(name, no_wrap=name != "clauses")
    verdicts = report.verdicts
    first_run = {identifier: runs[0] for identifier, runs in report.scenarios.items()}
    for identifier in sorted(verdicts, key=lambda one: VERDICTS.index(verdicts[one])):
        verdict = verdicts[identifier]
        clauses = " ".join(first_run[identifier].clauses)
        table.add_row(identifier, clauses, f"[{_STYLES[verdict]}]{verdict}[/{_STYLES[verdict]}]")
    return table
