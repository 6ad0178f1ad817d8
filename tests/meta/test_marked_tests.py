"""Every clause has tests that say that they check it, and the page of tests counts truly.

The marks are read here with a regular expression, and not with the kit's own reader.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from gnomon_check.clauses import evidence
from gnomon_check.tested import marked_tests, read
from gnomon_spec import register
from gnomon_spec.register import Status

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "read" / "tests.md").read_text()
MARK = "@pytest.mark." + "clause"
MARKED = re.compile(
    rf"^{re.escape(MARK)}\(([^)]*)\)\n(?:(?!def |async def ).*\n)*?(?:async )?def (test_\w+)", re.MULTILINE
)
FOLDERS = {
    "runtime": "runtime",
    "lockstep": "runtime",
    "spec": "specification",
    "conformance": "kit",
    "meta": "kit",
    "mutants": "kit",
}
"""What the tests of a folder run."""

WITHOUT = {
    "CRE-7": "excluded: how often a field of the input is read does not show",
    "SCD-16": "excluded: it obliges authors of tools, and a runtime does not check it",
    "LOG-5": "nested calls of programs are not written yet",
    "LOG-6": "nested calls of programs are not written yet",
    **{f"PTC-{n}": "planned" for n in (1, 2, 3, 4, 5, 6, 7, 9)},
}
"""Clauses that no test is marked with, and why. It may only shrink."""

WITHOUT_IN_THE_RUNTIME = {
    **WITHOUT,
    "ERR-2": "excluded: a meta test reads the sources of all three packages",
}
"""Clauses that no test of the runtime is marked with, and why. It may only shrink."""


def marks() -> list[tuple[str, str, str]]:
    """(clause, file from `tests/` on, test) of every mark, as the files stand."""
    found = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for words, test in MARKED.findall(path.read_text()):
            file = path.relative_to(ROOT / "tests").as_posix()
            found += [(key, file, test) for key in re.findall(r'"([^"]*)"', words)]
    return found


MARKS = marks()
CHAPTERS = [one.id for one in register.chapters()]


def kind(file: str) -> str:
    return FOLDERS[file.partition("/")[0]]


def test_every_mark_names_clauses_of_the_register_each_once_and_in_its_order() -> None:
    order = list(register.clauses())
    assert {key for key, _, _ in MARKS} - set(order) == set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for words, test in MARKED.findall(path.read_text()):
            named = re.findall(r'"([^"]*)"', words)
            assert named, test
            assert named == sorted(set(named), key=order.index), test


def test_every_mark_stands_on_a_test_and_the_kit_reads_the_same() -> None:
    """A mark on a class, a parameter or a whole module would be counted by nobody."""
    written = 0
    for path in (ROOT / "tests").rglob("*.py"):
        written += len(re.findall(r"mark\.clause\b", path.read_text()))
    written -= len(re.findall(r"mark\.clause\b", Path(__file__).read_text()))
    assert written == len({(file, test) for _, file, test in MARKS})
    assert [
        (key, one.file.removeprefix("tests/"), one.name) for one in marked_tests() for key in one.clauses
    ] == (MARKS)


def test_every_clause_has_a_test() -> None:
    assert set(register.clauses()) - {key for key, _, _ in MARKS} == set(WITHOUT)


def test_every_clause_has_a_test_of_the_runtime() -> None:
    marked = {key for key, file, _ in MARKS if kind(file) == "runtime"}
    assert set(register.clauses()) - marked == set(WITHOUT_IN_THE_RUNTIME)


def test_what_has_no_test_is_planned_excluded_or_about_nested_calls() -> None:
    free = {
        key
        for key, one in register.clauses().items()
        if one.status is Status.PLANNED or one.excluded is not None
    }
    assert set(WITHOUT) - free == {"LOG-5", "LOG-6"}
    assert set(WITHOUT_IN_THE_RUNTIME) - free == {"LOG-5", "LOG-6"}


# -- the reader -----------------------------------------------------------------------------------

FILE = f'''"""A file."""

@both
{MARK}("SCD-6", "CAN-7")
@pytest.mark.parametrize("x", [1])
def test_one(x):
    """What it shows.

    And more.
    """

{MARK}("PY-1")
{MARK}("PY-2")
async def test_two(): ...

@pytest.mark.process
def test_unmarked(): ...

{MARK}("SCD-1")
def helper(): ...
'''


def test_marks_are_read_as_they_are_meant() -> None:
    found = [(one.id, one.about, one.clauses) for one in read(FILE, "tests/f.py")]
    assert found == [
        ("tests/f.py::test_one", "What it shows.", ("SCD-6", "CAN-7")),
        ("tests/f.py::test_two", "", ("PY-1", "PY-2")),
    ]
    with pytest.raises(ValueError, match="1: a mark names its clauses one by one, as text"):
        list(read(f"{MARK}(*SEVERAL)\ndef test_one(): ...", "f.py"))


# -- the page, counted again ------------------------------------------------------------------------


def summary() -> dict[str, list[int]]:
    """The numbers of the summary as they stand on the page, by chapter."""
    head = PAGE.split("## Without a test")[0]
    rows = re.findall(r"^\| (?:\[(\w+)\]\S*|\*\*(all)\*\*) \|[^|]*\| (.*) \|$", head, re.MULTILINE)
    return {chapter or everything: [*map(int, cells.split(" | "))] for chapter, everything, cells in rows}


def test_the_summary_of_the_page_is_right() -> None:
    seen = summary()
    assert list(seen) == [*CHAPTERS, "all"]
    every = set(register.clauses())
    columns = [every]
    for one in ("runtime", "specification", "kit"):
        columns.append({key for key, file, _ in MARKS if kind(file) == one})
    columns.append(every - {key for key, _, _ in MARKS})
    for place, keys in enumerate(columns):
        per_chapter = Counter(key.partition("-")[0] for key in keys)
        told = {chapter: numbers[place] for chapter, numbers in seen.items() if chapter != "all"}
        assert told == {chapter: per_chapter[chapter] for chapter in CHAPTERS}
        assert seen["all"][place] == len(keys)


def test_every_clause_has_its_row_with_its_tests() -> None:
    rows = re.findall(
        r"^\| \[([A-Z]+-\d+)\]\S+ \| .* \| (.*) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.MULTILINE
    )
    assert [row[0] for row in rows] == list(register.clauses())
    found = evidence()
    for key, tests, scenarios, vectors, properties in rows:
        expected = [
            f"[{file}::{test}](../../tests/{file})" for marked, file, test in MARKS if marked == key
        ] or ["none"]
        assert tests.split("<br>") == expected
        one = found[key]
        beside = (len(one.scenarios), len(one.vectors), len(one.properties))
        assert (int(scenarios), int(vectors), int(properties)) == beside


def test_what_has_no_test_stands_on_the_page_with_the_reason_of_the_register() -> None:
    listed = PAGE.split("## Without a test\n")[1].split("\n## ")[0]
    rows = [(re.findall(r"\[(\S+)\]\(clauses", line), line) for line in listed.splitlines() if line]
    assert {key for keys, _ in rows for key in keys} == set(WITHOUT)
    for keys, line in rows:
        for key in keys:
            one = register.clauses()[key]
            assert line.endswith(one.excluded or one.reason or "no test yet.")


def test_a_link_to_a_clause_leads_to_its_heading() -> None:
    headings = set(re.findall(r"^### (\S+)$", (ROOT / "docs/read/clauses.md").read_text(), re.MULTILINE))
    targets = set(re.findall(r"\(clauses\.md#(\S+?)\)", PAGE))
    assert targets == {key.lower() for key in headings}
