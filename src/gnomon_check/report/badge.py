"""A report as a badge, in the format that shields.io reads from an endpoint. It states its scope."""

from __future__ import annotations

import json

from gnomon_check.report.model import Report


def badge(report: Report) -> str:
    """The text of the JSON file."""
    label, _, message = report.scope.partition(": ")
    if not report.passes:
        color = "red"
    elif not report.complete:
        color = "orange"
    else:
        color = "green" if report.counted()["conforms"] == len(report.scenarios) else "yellowgreen"
    said = {"schemaVersion": 1, "label": label, "message": message, "color": color}
    return json.dumps(said, indent=1) + "\n"
