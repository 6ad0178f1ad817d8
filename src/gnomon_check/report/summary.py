"""The words that every form of a report has in common."""

from __future__ import annotations

from collections.abc import Iterator

from gnomon_check.report.model import Report, Verdict


def counted(number: int, what: str) -> str:
    """`1 scenario`, `2 scenarios`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def title(report: Report) -> str:
    """Who was held to what."""
    about = report.implementation
    return f"{about.name} {about.version}".rstrip() + f", written in {about.language}"


def not_checked(report: Report) -> Iterator[str]:
    """What nothing is said of, which a reader has to know first."""
    counts = report.counted()
    if counts["not claimed"]:
        needed = sorted({one for run in report.runs for one in run.not_claimed})
        yield f"{counted(counts['not claimed'], 'scenario')} not claimed: {', '.join(needed)}"
    if counts["not testable"]:
        known = sum(1 for runs in report.scenarios.values() if any(run.known for run in runs))
        of_which = f", {known} of them known" if known else ""
        yield f"{counted(counts['not testable'], 'scenario')} not testable{of_which}"
    left = sum(one.verdict == "not checked" for one in report.clauses)
    if left:
        yield f"{counted(left, 'clause')} that only those scenarios are about"
    none = report.clauses_in_all - len(report.clauses)
    yield f"{counted(none, 'clause')} of {report.clauses_in_all} that none of the scenarios is about"


_LEFT: tuple[Verdict, ...] = ("not testable", "not claimed")


def conclusion(report: Report) -> str:
    """What came of it all, in one line."""
    counts = report.counted()
    if report.conforms:
        said = ["conforms"]
    elif report.passes:
        said = ["nothing that is not known"]
    else:
        said = [f"does not conform: {counts['violation']} with violations"]
    if counts["known deviation"]:
        said.append(counted(counts["known deviation"], "known deviation"))
    said += [f"{counts[name]} {name}" for name in _LEFT if counts[name]]
    if report.baseline is not None and report.baseline.stale:
        said.append(f"{len(report.baseline.stale)} of the baseline fit nothing any more")
    backends = " and ".join(report.backends)
    return f"{report.target}: {counted(len(report.scenarios), 'scenario')} on {backends}: {'; '.join(said)}"
