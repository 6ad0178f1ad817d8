"""A report as Markdown, for the summary of a run in continuous integration."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon_check.report.model import Known, Report, Weight
from gnomon_check.report.summary import conclusion, not_checked, title


def markdown(report: Report) -> str:
    """The text of the summary."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield f"## {_plain(title(report))}"
    yield ""
    yield f"**{report.scope}**"
    yield ""
    yield _plain(conclusion(report))
    yield ""
    yield "### Not checked"
    yield ""
    yield from (f"- {_plain(line)}" for line in not_checked(report))
    for identifier, runs in report.scenarios.items():
        cannot = next((run.not_testable for run in runs if run.not_testable is not None), None)
        if cannot is not None:
            yield f"- `{identifier}`: {_plain(f'{cannot.feature}: {cannot.reason}')}{_known(cannot.known)}"
    yield from _found(report, "violation", "Violations")
    stale = report.baseline.stale if report.baseline else []
    if stale:
        yield from ("", "### Of the baseline, and not so any more", "")
        yield from (f"- `{one.scenario}`: {_plain(f'{one.clause} {one.seen}'.strip())}" for one in stale)
    yield from _found(report, "known", "Known deviations")
    yield from _found(report, "should", "What should be otherwise")


def _found(report: Report, weight: Weight, heading: str) -> Iterator[str]:
    rows = list(report.found(weight))
    if not rows:
        return
    yield from ("", f"### {heading}", "")
    for run, found in rows:
        about = ", ".join(dict.fromkeys(one.clause or one.judge for one in found))
        yield f"<details><summary><code>{run.scenario}</code> on {run.backend}: {about}</summary>"
        yield ""
        for one in found:
            yield from ("```text", *_fenced([one.text]), "```", "")
            if one.known:
                yield from (f"Known: {_plain(one.known.reason)} <{one.known.link}>", "")
        yield from ("```text", *_fenced(run.story), "```", "", "</details>")


def _known(known: Known | None) -> str:
    return "" if known is None else f" (known: {_plain(known.reason)} <{known.link}>)"


def _plain(text: str) -> str:
    """The text with nothing in it that Markdown or HTML would read."""
    return "".join(f"\\{one}" if one in "\\`*_{}[]<>#|&" else one for one in text.replace("\n", " "))


def _fenced(lines: list[str]) -> Iterator[str]:
    """Lines that cannot end the block that they stand in."""
    for line in lines:
        yield from (part.replace("```", "` ` `") for part in line.split("\n"))
