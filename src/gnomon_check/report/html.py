"""A report as one HTML file that needs nothing else: no network, no script."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from gnomon_check.report.model import VERDICTS, Report
from gnomon_check.report.summary import conclusion, not_checked, title
from gnomon_spec.register import clauses

_PAGES = Environment(
    loader=PackageLoader("gnomon_check.report", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def html(report: Report) -> str:
    """The text of the page."""
    runs, counts = report.scenarios, report.counted()
    rows = [
        {"id": name, "verdict": verdict, "runs": runs[name]}
        for name, verdict in sorted(report.verdicts.items(), key=lambda one: VERDICTS.index(one[1]))
    ]
    return _PAGES.get_template("conformance.html").render(
        report=report,
        title=title(report),
        conclusion=conclusion(report),
        not_checked=list(not_checked(report)),
        counts={name: counts[name] for name in VERDICTS},
        rows=rows,
        texts={one.id: clauses()[one.id].text for one in report.clauses},
    )
