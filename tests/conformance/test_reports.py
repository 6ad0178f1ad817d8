"""The report of a run, in all its forms: each says first what was not checked."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from bent_subject import KNOWN, LINK, SCENARIOS, Bent
from golden_text import is_golden
from rich.console import Console
from typer.testing import CliRunner

import gnomon_spec
from gnomon_check import baseline as baselines
from gnomon_check.baseline import Baseline, Deviation
from gnomon_check.cli import app
from gnomon_check.conform import conform
from gnomon_check.problem import Problem
from gnomon_check.report import collect, files, terminal
from gnomon_check.report.compare import differences
from gnomon_check.report.model import Report
from gnomon_check.scenario_files import dump
from gnomon_check.subject import About, Cannot
from gnomon_spec.register import Level, clauses

HERE = Path(__file__).parent
SCHEMA = Path(gnomon_spec.__file__).parent / "schema" / "report.v1.json"
BENT = "python:bent_subject:Bent"


@cache
def report(known: Baseline = KNOWN, *, whole: bool = False) -> Report:
    subject = Bent()
    runs = [conform(one, subject, "asyncio") for one in SCENARIOS]
    return collect.report_of(BENT, subject, runs, known, whole=whole)


def on_a_terminal(shown: Report) -> str:
    out = StringIO()
    terminal.show(Console(file=out, width=110), shown)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


# -- what it says -----------------------------------------------------------------------------------


def test_every_verdict_is_told_apart() -> None:
    assert report().verdicts == {
        "edge-struck-while-starting": "not claimed",
        "edge-retry": "not testable",
        "edge-ask-aborted": "not testable",
        "edge-abort-before-body": "violation",
        "edge-abort-from-finalizer": "known deviation",
        "edge-allowed-aborted-denied": "conforms",
        "edge-own-signal": "conforms",
    }
    known = {run.scenario for run in report().runs if run.known}
    assert known == {"edge-ask-aborted"}


def test_a_should_that_is_not_met_is_told_and_is_no_violation() -> None:
    [(run, [found])] = report().found("should")
    assert (run.scenario, found.clause, found.level) == ("edge-allowed-aborted-denied", "ERR-1", Level.SHOULD)
    assert report().met(Level.SHOULD) == (0, 1)


def test_a_clause_is_met_only_where_it_was_checked_and_nothing_breaks_it() -> None:
    verdicts = {one.id: one.verdict for one in report().clauses}
    assert verdicts["CAN-2"] == "not met"  # broken, though no scenario of these says that it is about it
    assert verdicts["PY-4"] == "not checked"  # not claimed
    assert verdicts["APP-6"] == "not checked"  # not testable, and that this is known makes it no better
    assert verdicts["DSP-7"] == "not met"  # that this is known makes it no better either
    assert verdicts["DSP-9"] == "met"
    assert "SCD-4" not in verdicts
    counts = Counter(verdicts.values())
    assert report().scope == f"specification 1.0: {counts['met']}/{len(verdicts) - 1} must, 0/1 should"
    assert report().clauses_in_all == len(clauses())


def test_an_entry_of_the_baseline_that_fits_nothing_is_told() -> None:
    use = report().baseline
    assert use is not None
    assert [one.scenario for one in use.stale] == ["edge-own-signal"]
    assert not report().complete
    elsewhere = KNOWN.deviations[3].model_copy(update={"scenario": "fr-ord-1"})
    of_another = Baseline("other.toml", (elsewhere,))
    partial, whole = report(of_another), report(of_another, whole=True)
    assert partial.baseline is not None
    assert whole.baseline is not None
    assert [partial.baseline.stale, whole.baseline.stale] == [[], [elsewhere]]


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("scenario", "edge-abort-before-body"),
        ("check", "property"),
        ("clause", "SCD-6"),
        ("seen", "result.logged of call 1 (c1) with ABORTED"),
    ],
)
def test_what_is_known_hides_nothing_else(field: str, other: str) -> None:
    """Of the two things that are found there both have to be known, each just as it is seen."""
    specification, by_report = KNOWN.deviations[1:3]
    name = "edge-abort-from-finalizer"
    assert report(Baseline("both", (specification, by_report))).verdicts[name] == "known deviation"
    assert report(Baseline("one of two", (specification,))).verdicts[name] == "violation"
    another = specification.model_copy(update={field: other})
    assert report(Baseline("another", (another, by_report))).verdicts[name] == "violation"


# -- its forms --------------------------------------------------------------------------------------


def test_the_terminal_says_first_what_was_not_checked() -> None:
    is_golden("report-terminal.txt", on_a_terminal(report()))


def test_the_summary_in_markdown() -> None:
    is_golden("report-summary.md", files.FORMS["summary.md"](report()))


def test_in_junit_only_what_conforms_passes() -> None:
    text = files.FORMS["junit.xml"](report())
    is_golden("report-junit.xml", text)
    root = ElementTree.fromstring(text)
    cases = {case.get("name"): [one.tag for one in case] for case in root.iter("testcase")}
    silent = {"system-out"}
    assert {name for name, tags in cases.items() if not set(tags) - silent} == {"edge-allowed-aborted-denied"}
    assert cases["edge-own-signal"] == ["error"], "its entry of the baseline is stale"


@pytest.mark.parametrize(
    ("known", "without", "color"),
    [
        (baselines.NOTHING, (), "red"),
        (baselines.NOTHING, ("edge-abort-before-body", "edge-abort-from-finalizer"), "orange"),
        (KNOWN, ("edge-abort-before-body", "edge-retry", "edge-own-signal"), "yellowgreen"),
        (baselines.NOTHING, None, "green"),
    ],
)
def test_a_badge_states_its_scope(known: Baseline, without: tuple[str, ...] | None, color: str) -> None:
    subject = Bent()
    chosen = [
        one
        for one in SCENARIOS
        if (one.id == "edge-own-signal" if without is None else one.id not in without)
    ]
    runs = [conform(one, subject, "asyncio") for one in chosen]
    made = collect.report_of(BENT, subject, runs, known, whole=False)
    badge = json.loads(files.FORMS["badge.json"](made))
    assert badge == {
        "schemaVersion": 1,
        "label": "specification 1.0",
        "message": made.scope.partition(": ")[2],
        "color": color,
    }


class Page(HTMLParser):
    """What a page has: its ids, its links, what it loads, and whether all is closed."""

    EMPTY = ("meta", "link", "img", "br", "hr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        fields = dict(attributes)
        if fields.get("id"):
            self.ids.append(str(fields["id"]))
        if tag == "a":
            self.links.append(str(fields["href"]))
        elif "src" in fields or "href" in fields or tag == "script":
            self.loads.append(tag)
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_needs_nothing_else_and_leads_everywhere() -> None:
    text = files.FORMS["report.html"](report())
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    assert "@import" not in text
    assert "url(" not in text
    assert len(set(page.ids)) == len(page.ids)
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    said = "".join(page.words)
    assert said.index("Not checked") < said.index("Violations") < said.index("Scenarios")
    assert "It has no approvals <yet>." in said, "what a baseline says is text, and no markup"
    for one in report().runs:
        assert one.scenario in said


def test_the_report_is_what_its_schema_says_and_can_be_read_again() -> None:
    text = files.FORMS["report.json"](report())
    plain = json.loads(text)
    jsonschema.validate(plain, json.loads(SCHEMA.read_text()))
    assert Report.model_validate_json(text) == report()
    assert (plain["conforms"], plain["complete"], plain["scope"]) == (False, False, report().scope)
    assert Report.model_validate({**plain, "conforms": True}).conforms is False, (
        "what follows is not believed"
    )


def test_what_no_file_can_hold_is_told_all_the_same() -> None:
    run = conform(SCENARIOS[-1], Bent(), "asyncio")
    odd = Problem("specification", "SCD-6", "a \ud800 and a \x00", "\ud800")
    bad = collect.report_of(BENT, Bent(), [replace(run, problems=(odd,))], KNOWN, whole=False)
    for name, make in files.FORMS.items():
        text = make(bad)
        text.encode("utf-8")
        assert "\\ud800" in text or name == "badge.json"
    ElementTree.fromstring(files.FORMS["junit.xml"](bad))


def test_what_an_adapter_says_in_letters_that_no_file_can_hold_is_told_all_the_same() -> None:
    class Odd(Bent):
        @property
        def about(self) -> About:
            return About(name="odd \ud800", version="\ud801", language="Python")

    cannot = Cannot("a feature \ud802", "a reason \ud803")
    run = replace(conform(SCENARIOS[-1], Bent(), "asyncio"), cannot=cannot)
    odd = collect.report_of("exec:\udcff", Odd(), [run], baselines.NOTHING, whole=False)
    for make in files.FORMS.values():
        make(odd).encode("utf-8")
    told = on_a_terminal(odd)
    assert "odd \\ud800 \\ud801" in told
    assert "a feature \\ud802: a reason \\ud803" in told
    known = baselines.draft(odd.unknown())
    assert 'seen = "a feature \\\\ud802"' in known
    entry = Deviation(
        scenario="edge-own-signal", check="not-testable", seen="a feature \\ud802", reason="so", link=LINK
    )
    assert Baseline("known", (entry,)).of_cannot("edge-own-signal", cannot) == entry


# -- the command ------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(HERE))


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments], env={"COLUMNS": "200"})
    assert not isinstance(result.exception, Exception), result.exception
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The scenarios, as files."""
    folder = tmp_path_factory.mktemp("scenarios")
    for one in SCENARIOS:
        (folder / f"{one.id}.json").write_text(dump(one))
    return {one.id: folder / f"{one.id}.json" for one in SCENARIOS}


def test_a_draft_is_filled_in_and_then_all_is_known(chosen: dict[str, Path], tmp_path: Path) -> None:
    these = [part for one in chosen.values() for part in ("-s", one)]
    draft = tmp_path / "known.toml"
    assert run("conform", BENT, *these, "--draft-baseline", draft)[0] == 1
    code, output = run("conform", BENT, *these, "--baseline", draft)
    assert code == 2
    assert "deviation.0.reason: String should have at least 1 character" in output
    kept = draft.read_text()
    code, output = run("conform", BENT, *these, "--draft-baseline", draft)
    assert code == 2
    assert "known.toml: the draft cannot be written: File exists" in output
    assert draft.read_text() == kept
    filled = kept.replace('reason = ""', 'reason = "so it is"').replace(
        'link = ""', 'link = "https://example.org"'
    )
    draft.write_text(filled)
    code, output = run("conform", BENT, *these, "--baseline", draft)
    assert code == 0, output
    assert "2 known deviations; 2 not testable; 1 not claimed" in output
    assert run("conform", BENT, *these, "--baseline", draft, "--no-baseline")[0] == 2
    draft.write_text(filled.replace('"edge-ask-aborted"', '"edge-own-signal"'))
    code, output = run("conform", BENT, "-s", chosen["edge-own-signal"], "--baseline", draft)
    assert code == 3
    assert "edge-own-signal: of the baseline, and not so any more: not-testable, approvals" in output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot be read: No such file or directory"),
        ("[[deviation", "this is no TOML"),
        ("[[deviation]]\nscenario = 1", "deviation.0.scenario: Input should be a valid string"),
        ("[[deviations]]", "deviations: Extra inputs are not permitted"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_one_line(text: str | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    if text is not None:
        file.write_text(text)
    code, output = run("conform", "builtin", "--baseline", file)
    assert code == 2
    assert words in output
    assert output.count("\n") <= 2


def test_an_entry_that_stands_there_twice_is_refused(tmp_path: Path) -> None:
    entry = '[[deviation]]\nscenario = "a"\ncheck = "report"\nseen = "b"\nreason = "c"\nlink = "https://example.org"\n'
    (tmp_path / "known.toml").write_text(entry * 2)
    code, output = run("conform", "builtin", "--baseline", tmp_path / "known.toml")
    assert code == 2
    assert "deviation.1: stands there twice: a, report, b" in output


def test_the_report_is_written_into_a_folder(chosen: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    assert run("conform", BENT, "-s", chosen["edge-own-signal"], "--report", folder)[0] == 0
    assert {one.name for one in folder.iterdir()} == set(files.FORMS)
    (tmp_path / "file").write_text("")
    code, output = run("conform", BENT, "-s", chosen["edge-own-signal"], "--report", tmp_path / "file")
    assert code == 2
    assert "the report cannot be written" in output


# -- two reports ------------------------------------------------------------------------------------


def test_two_reports_side_by_side(tmp_path: Path) -> None:
    for name, one in (("a", report(KNOWN)), ("b", report(baselines.NOTHING))):
        (tmp_path / f"{name}.json").write_text(files.as_json(one))
    code, output = run("diff", tmp_path / "a.json", tmp_path / "b.json")
    assert code == 1
    assert "worse: edge-abort-from-finalizer on asyncio: known deviation (" in output
    assert "1 difference, 1 of them worse" in output
    code, output = run("diff", tmp_path / "b.json", tmp_path / "a.json", "--json")
    assert code == 0
    assert [one["direction"] for one in json.loads(output)["differences"]] == ["better"]
    code, output = run("diff", tmp_path / "a.json", tmp_path / "a.json")
    assert code == 0
    assert output.endswith("no difference\n")
    (tmp_path / "c.json").write_text("{}")
    assert run("diff", tmp_path / "a.json", tmp_path / "c.json")[0] == 2


def test_what_is_run_no_longer_is_worse_and_what_is_new_is_otherwise() -> None:
    fewer = report().model_copy(update={"runs": report().runs[:-1]})
    assert [(one.direction, one.subject) for one in differences(report(), fewer)] == [
        ("worse", "edge-own-signal on asyncio")
    ]
    assert [one.direction for one in differences(fewer, report())] == ["otherwise"]
    met = [one.model_copy(update={"verdict": "not met"}) for one in report().clauses if one.id == "DSP-9"]
    other = [one for one in report().clauses if one.id != "DSP-9"]
    lost = report().model_copy(update={"clauses": [*other, *met]})
    assert [(one.direction, one.after) for one in differences(report(), lost)] == [("worse", "not met")]
    assert [one.direction for one in differences(lost, report())] == ["better"]
