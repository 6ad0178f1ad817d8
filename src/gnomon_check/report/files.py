"""Every form of a report, as files in one folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gnomon_check.report.badge import badge
from gnomon_check.report.html import html
from gnomon_check.report.junit import junit
from gnomon_check.report.markdown import markdown
from gnomon_check.report.model import Report


def as_json(report: Report) -> str:
    """The report itself, which all other forms are made from."""
    return report.model_dump_json(indent=1) + "\n"


FORMS: dict[str, Callable[[Report], str]] = {
    "report.json": as_json,
    "report.html": html,
    "junit.xml": junit,
    "summary.md": markdown,
    "badge.json": badge,
}
"""The name of each file, and what makes it."""


def write(report: Report, folder: Path) -> list[Path]:
    """Write every form into a folder, which is made where it is not there. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in FORMS.items():
        (folder / name).write_text(make(report), encoding="utf-8")
    return [folder / name for name in FORMS]
