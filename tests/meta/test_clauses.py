"""The register is whole; the code says what it realises; the page counts truly.

Most of this reads the files as plain text, with a regular expression and not with the kit's own reader:
a number that its own generator checks agrees with itself.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from gnomon_check import clauses as collected
from gnomon_check import sources
from gnomon_check.clauses import evidence
from gnomon_check.scenario_files import shipped
from gnomon_spec import properties, register
from gnomon_spec.register import Level, Status

ROOT = Path(__file__).parents[2]
SPECIFICATION = ROOT / "spec" / "gnomon_spec"
REGISTER = (SPECIFICATION / "clauses.toml").read_text()
PAGE = (ROOT / "docs" / "read" / "clauses.md").read_text()
README = (ROOT / "spec" / "README.md").read_text()
ID = re.compile(r"\b[A-Z]{2,3}-\d+\b")

COUNTS = {
    "VAL": 8,
    "ARG": 5,
    "SCH": 9,
    "REG": 11,
    "MOD": 6,
    "CRE": 7,
    "PRE": 7,
    "APP": 11,
    "GRD": 7,
    "DSP": 15,
    "OUT": 5,
    "PST": 8,
    "FIN": 4,
    "CAN": 7,
    "SCD": 16,
    "LOG": 6,
    "REP": 1,
    "TMO": 4,
    "PTC": 9,
    "ERR": 3,
    "PY": 13,
}
"""How many clauses each chapter has, counted by hand."""

PLANNED = {f"PTC-{n}" for n in range(1, 10)}
EXCLUDED = {"CRE-7", "SCD-16", "ERR-2"}
NO_CLAUSES = {"CRC-32", "UTF-8"}


def ids(text: str) -> set[str]:
    return set(text.split())


NOT_YET: set[str] = set()
"""Specified clauses whose mark, docstring line or code line is missing. It may only shrink."""

NOT_YET_IN_THE_RUNTIME: set[str] = set()
"""Clauses of Python alone that the runtime does not speak of, in a docstring and on a line of code."""

WITHOUT_MUST: set[str] = set()
"""Statements that do not say yet what must be, or may be."""


# -- the register -------------------------------------------------------------------------------


def test_the_register_is_whole() -> None:
    assert {one.id: len(one.clauses) for one in register.chapters()} == COUNTS
    assert list(COUNTS) == [one.id for one in register.chapters()]
    assert len(register.clauses()) == sum(COUNTS.values()) == 162


def test_ids_are_well_formed_and_each_stands_once_in_order() -> None:
    written = re.findall(r"^\[clause\.(.*)\]$", REGISTER, re.MULTILINE)
    assert written == [f"{chapter}-{n}" for chapter, count in COUNTS.items() for n in range(1, count + 1)]
    assert written == list(register.clauses())


@pytest.mark.parametrize("one", register.clauses().values(), ids=lambda one: one.id)
def test_a_row_is_well_formed(one: register.Clause) -> None:
    assert re.search(r"\b(MUST|MAY)\b", one.text), "it says neither what must be nor what may be"
    assert one.text == " ".join(one.text.split())
    assert one.text.endswith(".")
    assert one.since == "1.0"
    assert bool(one.observed) == (one.excluded is None)
    assert one.hidden is None or one.observed
    assert (one.reason is not None) == (one.status is Status.PLANNED)
    assert (one.status is Status.RUNTIME) == one.id.startswith("PY-")
    for mentioned in ID.findall(one.text):
        assert mentioned in register.clauses()


def test_what_is_planned_excluded_or_weaker_is_pinned() -> None:
    rows = register.clauses().values()
    assert {one.id for one in rows if one.status is Status.PLANNED} == PLANNED
    assert {one.id for one in rows if one.excluded is not None} == EXCLUDED
    assert {one.id for one in rows if one.level is Level.SHOULD} == {"ERR-1"}


def mutants() -> list[dict[str, str]]:
    manifest = SPECIFICATION / "mutants.toml"
    rows: list[dict[str, str]] = tomllib.loads(manifest.read_text())["mutant"] if manifest.exists() else []
    return rows


# -- the code -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    sorted(path for folder in ("spec", "src") for path in (ROOT / folder).rglob("*.py")),
    ids=lambda path: path.name,
)
def test_every_id_in_the_code_is_in_the_register(path: Path) -> None:
    assert set(ID.findall(path.read_text())) - NO_CLAUSES - set(register.clauses()) == set()


def test_every_id_that_a_check_names_is_in_the_register() -> None:
    named = {key: f"property {one.name}" for one in properties.ALWAYS.values() for key in one.clauses}
    named |= {key: f"scenario {one.id}" for one in shipped() for key in one.clauses}
    for path in (SPECIFICATION / "vectors").glob("*.json"):
        named |= dict.fromkeys(re.findall(r'"([A-Z]{2,3}-\d+)"', path.read_text()), path.name)
    named |= {row["clause"]: f"mutant {row['id']}" for row in mutants()}
    assert {key: by for key, by in named.items() if key not in register.clauses()} == {}
    assert all(one.clauses for one in properties.ALWAYS.values())


def test_nothing_claims_to_check_what_cannot_be_seen() -> None:
    for key in EXCLUDED:
        one = evidence()[key]
        assert (one.properties, one.scenarios, one.vectors, one.mutants) == ((), (), (), ()), key


def test_every_specified_clause_has_its_mark_its_statement_and_its_line() -> None:
    owed = {key: one for key, one in evidence().items() if one.owed}
    missing = {key: one.missing for key, one in owed.items() if one.clause.status is Status.SPECIFIED}
    assert {key: missing[key] for key in missing if key not in NOT_YET} == {}
    assert NOT_YET - set(missing) == set(), "these are there now: take them out of NOT_YET"


def test_every_clause_of_python_alone_is_spoken_of_in_the_runtime() -> None:
    rows = {key: one for key, one in evidence().items() if one.clause.status is Status.RUNTIME}
    missing = {key: one.missing for key, one in rows.items() if one.missing}
    assert {key: missing[key] for key in missing if key not in NOT_YET_IN_THE_RUNTIME} == {}
    assert NOT_YET_IN_THE_RUNTIME - set(missing) == set(), "these are there now: take them out"


def test_every_statement_says_what_must_or_may_be() -> None:
    silent = {
        f"{place} {key}"
        for module in sources.modules("gnomon_spec")
        for key, place in sources.source(module).statements
        if not re.search(r"\b(MUST|MAY)\b", place.text)
    }
    assert silent == WITHOUT_MUST


def test_a_mark_and_a_statement_stand_at_the_same_function() -> None:
    """A function that is marked with a clause says the clause, or another that is marked does."""
    apart = {
        key: [str(place) for place in one.statements]
        for key, one in evidence().items()
        if one.clause.status is Status.SPECIFIED and one.marks and one.statements
        if not {str(place) for place in one.marks} & {str(place) for place in one.statements}
    }
    assert apart == {}


MODULE = '''"""About a module.

SCD-1  The first MUST be told,
       and go on.
SCD-2 is only spoken of, with one space.
"""

# SCD-3 on a line of its own


@clause("SCD-4")
class Thing:
    """Nothing."""

    def method(self) -> None:
        """One line.

        SCD-5   It MUST be found.
        SCD-6   This MAY too.

        *Why.*  Because it
        is so.

        And more.
        """
        return None  # SCD-7, SCD-8 because; not SCD-9

    async def other(self) -> None:
        pass  # as SCD-10 says
'''


def test_what_a_module_says_is_read_as_it_is_meant() -> None:
    read = sources.parse("m", MODULE)
    assert [(key, place.name, place.line, place.text) for key, place in read.statements] == [
        ("SCD-1", "", 3, "The first MUST be told, and go on."),
        ("SCD-5", "Thing.method", 18, "It MUST be found."),
        ("SCD-6", "Thing.method", 19, "This MAY too."),
    ]
    assert [(key, place.name, place.line) for key, place in read.code_lines] == [
        ("SCD-7", "Thing.method", 26),
        ("SCD-8", "Thing.method", 26),
    ]
    assert Counter(key for key, _ in read.mentions) == {f"SCD-{n}": 1 for n in range(1, 11) if n != 4}
    assert list(read.functions) == ["Thing", "Thing.method", "Thing.other"]
    assert sources.why("Say.\n\n*Why.*  Because it\nis so.\n\nAnd more.\n") == "Because it is so."
    assert sources.why("Say.") is None


def test_a_clause_that_lacks_a_place_owes_it() -> None:
    one = evidence()["CAN-7"]
    assert not one.owed
    assert one.realised
    bare = collected.Evidence(one.clause, marks=one.marks)
    assert bare.missing == ("statement", "code line")
    assert bare.owed
    assert not bare.realised
    planned = collected.Evidence(register.clauses()["PTC-1"], one.marks, one.statements, one.code_lines)
    assert not planned.owed
    assert not planned.realised
    assert not collected.Evidence(register.clauses()["ERR-2"]).owed


@pytest.mark.clause("ERR-2")
def test_nothing_decides_by_the_text_of_a_message() -> None:
    """ERR-2, the one clause that is about sources: no comparison, no search in a message."""
    found = []
    for folder in ("spec", "src"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found += [f"{path.name}:{line}" for line in decides_by_text(path.read_text())]
    assert found == []
    assert decides_by_text("if 'x' in error.message:\n    pass\nb = a.message == c") == [1, 3]
    assert decides_by_text("a.message.startswith('x')\nre.match(x, a.message)\nf(a.message)") == [1, 2]
    assert decides_by_text("if a.message is None or not a.message:\n    pass") == []


def decides_by_text(text: str) -> list[int]:
    """The lines on which a `.message` is compared with a text or searched."""
    asks = {"startswith", "endswith", "find", "index", "count", "match", "search", "fullmatch"}
    lines = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            if any(isinstance(one, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for one in node.ops):
                parts = [node.left, *node.comparators]
                lines |= {node.lineno for one in parts if is_message(one)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in asks:
            lines |= {node.lineno for one in [node.func.value, *node.args] if is_message(one)}
    return sorted(lines)


def is_message(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "message"


# -- the page, counted again from the files themselves --------------------------------------------


def table() -> dict[str, dict[str, int]]:
    """The summary as it stands on the page: chapter -> column -> number."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    columns = [cell.strip() for cell in lines[0].split("|")[3:-1]]
    rows = {}
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        rows[re.findall(r"\w+", cells[0])[0]] = dict(zip(columns, map(int, cells[2:]), strict=True))
    return rows


def judges(path: Path) -> bool:
    return "properties" in path.relative_to(SPECIFICATION).parts[0]


def spoken(files: list[Path], pattern: str) -> set[str]:
    """Every id in what `pattern` finds in the text of the files."""
    found: set[str] = set()
    for path in files:
        for words in re.findall(pattern, path.read_text(), re.MULTILINE):
            found |= set(ID.findall(words))
    return found


def test_the_summary_of_the_page_is_right() -> None:
    chapters = [path for path in SPECIFICATION.rglob("*.py") if not judges(path)]
    judging = [path for path in SPECIFICATION.rglob("*.py") if judges(path)]
    runtime = list((ROOT / "src" / "gnomon").rglob("*.py"))
    line = r"^\s*[^\s#].*#\s*((?:[A-Z]{2,3}-\d+,? ?)+)"
    realised = (
        spoken(chapters, r"@clause\(([^)]*)\)")
        & spoken(chapters, r"^ *(?:\"\"\")?([A-Z]{2,3}-\d+)  +\S")
        & spoken(chapters, line)
    )
    of_python = spoken(runtime, line) & spoken(runtime, r"^([^#\n]*)$")
    realised = {key for key in realised if "PY-" not in key} | {key for key in of_python if "PY-" in key}
    rows = tomllib.loads(REGISTER)["clause"]
    columns = {
        "clauses": set(rows),
        "realised": {key for key in realised if rows[key]["status"] != "planned"},
        "with property": spoken(judging, r"@always\(([^)]*)\)"),
        "with scenario": {
            key
            for path in (ROOT / "src" / "gnomon_check" / "scenarios").rglob("*.json")
            for key in json.loads(path.read_text())["clauses"]
        },
        "with vector": {
            key
            for path in (SPECIFICATION / "vectors").glob("*.json")
            for words in re.findall(r'"clauses": \[([^\]]*)\]', path.read_text())
            for key in ID.findall(words)
        },
        "with mutant": {row["clause"] for row in mutants()},
        "planned": PLANNED,
        "excluded": EXCLUDED,
    }
    seen = table()
    assert list(seen) == [*COUNTS, "all"]
    for column, keys in columns.items():
        per_chapter = Counter(key.partition("-")[0] for key in keys)
        assert {name: row[column] for name, row in seen.items() if name != "all"} == {
            name: per_chapter[name] for name in COUNTS
        }, column
        assert seen["all"][column] == len(keys), column


def test_the_page_has_every_clause_once_and_its_links_within_lead_somewhere() -> None:
    assert re.findall(r"^### (.*)$", PAGE, re.MULTILINE) == list(register.clauses())
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
    targets = re.findall(r"\]\(#([^)]*)\)", PAGE)
    assert len(targets) >= len(COUNTS) + len(PLANNED) + len(EXCLUDED)
    assert set(targets) <= anchors
    assert not re.search(r"\.py#|\.py:\d", PAGE), "a line number makes the page stale at every edit"


# -- the README of the specification --------------------------------------------------------------


def section(title: str) -> str:
    return README.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_numbers_of_the_readme_are_right() -> None:
    rows = register.clauses().values()
    told = dict(re.findall(r"^\| (\w[\w ]*) \| (\d+) \|", section("Levels and statuses"), re.MULTILINE))
    assert {key: int(number) for key, number in told.items()} == {
        "must": sum(one.level is Level.MUST for one in rows),
        "should": sum(one.level is Level.SHOULD for one in rows),
        "specified": sum(one.status is Status.SPECIFIED for one in rows),
        "runtime": sum(one.status is Status.RUNTIME for one in rows),
        "planned": sum(one.status is Status.PLANNED for one in rows),
        "excluded": sum(one.excluded is not None for one in rows),
        "hidden in part": sum(one.hidden is not None for one in rows),
    }
    assert f"has {len(rows)} clauses in {len(COUNTS)} chapters" in README


def test_the_readme_says_why_clauses_are_excluded_and_what_is_hidden() -> None:
    text = section("What cannot be seen from outside")
    rows = register.clauses().values()
    assert set(re.findall(r"^- \*\*(.*?)\*\*", text, re.MULTILINE)) == {
        one.id for one in rows if one.excluded is not None or one.hidden is not None
    }


def test_the_readme_names_every_freedom_and_every_module() -> None:
    free = section("What is left free")
    mays = {one.id for one in register.clauses().values() if re.search(r"\bMAY\b", one.text)}
    assert mays - set(ID.findall(free)) == set()
    assert set(ID.findall(README)) <= set(register.clauses())
    modules = {path.name for path in SPECIFICATION.glob("*.py")} - {"__init__.py"}
    assert {name for name in modules if f"(gnomon_spec/{name})" not in README} == set()
