"""A report as JUnit XML, which continuous integration shows test by test.

Only what conforms passes. What is not claimed, and what is known, is skipped with its reason; what cannot be
tested and is not known, and an entry of the baseline that fits nothing any more, is an error.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from gnomon_check.report.model import Report, ScenarioRun


def junit(report: Report) -> str:
    """The text of the file."""
    root = Xml.Element("testsuites", name=f"gnomon conform {report.target}")
    for backend in report.backends:
        suite = Xml.SubElement(root, "testsuite", name=f"{report.implementation.name} on {backend}")
        properties = Xml.SubElement(suite, "properties")
        Xml.SubElement(properties, "property", name="scope", value=report.scope)
        for run in report.runs:
            if run.backend == backend:
                _case(suite, run)
        _count(suite)
    if report.baseline is not None:
        suite = Xml.SubElement(root, "testsuite", name=f"baseline {report.baseline.file}")
        for entry in report.baseline.stale:
            case = Xml.SubElement(suite, "testcase", classname="gnomon.baseline", name=entry.scenario)
            what = ", ".join(filter(None, (entry.check, entry.clause, entry.seen)))
            Xml.SubElement(case, "error", message=_xml(f"not so any more: {what}"), type="stale")
        _count(suite)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _case(suite: Xml.Element, run: ScenarioRun) -> None:
    case = Xml.SubElement(suite, "testcase", classname=f"gnomon.{run.backend}", name=run.scenario)
    match run.verdict:
        case "not claimed":
            Xml.SubElement(case, "skipped", message=f"not claimed: {', '.join(run.not_claimed)}")
        case "not testable":
            assert run.not_testable is not None, "the verdict says so"
            why = _xml(f"{run.not_testable.feature}: {run.not_testable.reason}")
            if run.known is None:
                Xml.SubElement(case, "error", message=why, type="not testable")
            else:
                Xml.SubElement(case, "skipped", message=_xml(f"not testable, and known: {run.known.reason}"))
        case "known deviation":
            known = "; ".join(one.known.reason for one in run.problems if one.known is not None)
            Xml.SubElement(case, "skipped", message=_xml(f"known deviation: {known}"))
        case "violation":
            for one in run.problems:
                if one.weight == "violation":
                    message = _xml(one.text.partition("\n")[0])
                    failure = Xml.SubElement(case, "failure", message=message, type=one.clause or one.judge)
                    failure.text = _xml(one.text)
            Xml.SubElement(case, "system-out").text = _xml("\n".join(run.story))
        case "conforms":
            for one in run.problems:  # what should be otherwise
                Xml.SubElement(case, "system-out").text = _xml(one.text)


def _count(suite: Xml.Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))


def _xml(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold, which stand as escapes."""
    return "".join(one if _holds(one) else f"\\u{ord(one):04x}" for one in text)


def _holds(one: str) -> bool:
    return one in "\t\n" or (one >= " " and one not in "\ufffe\uffff")
