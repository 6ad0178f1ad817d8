"""What stands behind each clause: the code that realises it, and everything that checks it.

Nothing of this is kept by hand. The marks come from the specification's own `@clause`, statements and
code lines from the sources, the rest from the properties, scenarios, vectors, mutants and proofs that are
installed. What is not installed (a checkout has proofs and tests, a wheel has none) is left out.
"""

from __future__ import annotations

import importlib
import inspect
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import gnomon_spec
from gnomon_check import sources
from gnomon_check.scenario_files import shipped
from gnomon_check.sources import Place
from gnomon_check.tested import marked_tests
from gnomon_spec import kernel, properties
from gnomon_spec.register import Clause, Status, clauses

PROPERTIES = properties.__name__
"""Where the functions stand that judge histories: they check a clause, and do not realise it."""

_PACKAGE = Path(gnomon_spec.__file__).parent


@dataclass(frozen=True, slots=True)
class Check:
    """Something that checks a clause: its name, one line on what it is, and its file, where it has one."""

    name: str
    about: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that stands behind one clause."""

    clause: Clause
    marks: tuple[Place, ...] = ()
    statements: tuple[Place, ...] = ()
    code_lines: tuple[Place, ...] = ()
    properties: tuple[Check, ...] = ()
    witnesses: tuple[Check, ...] = ()
    scenarios: tuple[Check, ...] = ()
    vectors: tuple[Check, ...] = ()
    mutants: tuple[Check, ...] = ()
    proofs: tuple[Check, ...] = ()
    tests: tuple[Check, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of mark, statement and code line are not there."""
        places = {"mark": self.marks, "statement": self.statements, "code line": self.code_lines}
        if self.clause.status is Status.RUNTIME:
            del places["mark"]  # the runtime does not import the specification, so it marks nothing
        return tuple(name for name, found in places.items() if not found)

    @property
    def realised(self) -> bool:
        """Whether the clause is code, and the code says so."""
        return self.clause.status is not Status.PLANNED and not self.missing

    @property
    def owed(self) -> bool:
        """Whether something is missing that has to be there: not of a planned or an excluded clause."""
        exempt = self.clause.status is Status.PLANNED or self.clause.excluded is not None
        return bool(self.missing) and not exempt

    def functions(self) -> Iterator[Callable[..., object]]:
        """The marked functions and classes themselves, in order of definition."""
        for place in self.marks:
            yield attrgetter(place.name)(importlib.import_module(place.module))


def evidence() -> dict[str, Evidence]:
    """The evidence of every clause of the register, in reading order."""
    marks = {key: tuple(_place(one) for one in functions) for key, functions in _marked().items()}
    found = {name: _by_clause(read()) for name, read in _CHECKS.items()}
    return {
        key: Evidence(
            one,
            marks=marks.get(key, ()),
            statements=_said(one, "statements"),
            code_lines=_said(one, "code_lines"),
            **{name: rows.get(key, ()) for name, rows in found.items()},
        )
        for key, one in clauses().items()
    }


# -- the code -----------------------------------------------------------------------------------


def _marked() -> dict[str, list[Callable[..., object]]]:
    """Clause id -> the functions of the specification, without its properties, that carry its mark."""
    for module in sources.modules("gnomon_spec"):
        importlib.import_module(module)
    return {
        key: [one for one in functions if _realises(one.__module__)]
        for key, functions in kernel.REALISED.items()
    }


def _realises(module: str) -> bool:
    return module.startswith("gnomon_spec.") and not f"{module}.".startswith(f"{PROPERTIES}.")


def _place(function: Callable[..., object]) -> Place:
    return sources.source(function.__module__).functions[function.__qualname__]


def _said(one: Clause, kind: str) -> tuple[Place, ...]:
    if one.status is not Status.RUNTIME:
        return _index("gnomon_spec", kind).get(one.id, ())
    runtime = _index("gnomon", "mentions" if kind == "statements" else kind).get(one.id, ())
    if kind == "code_lines":
        return runtime
    # Prose in a docstring is what the runtime has in the place of a statement.
    return tuple(place for place in runtime if not place.text.startswith("#"))


@cache
def _index(package: str, kind: str) -> dict[str, tuple[Place, ...]]:
    """Clause id -> where the package says it."""
    return _by_clause(
        (key, place)
        for module in sources.modules(package)
        if package != "gnomon_spec" or _realises(module)
        for key, place in getattr(sources.source(module), kind)
    )


def _by_clause(rows: Iterable[tuple[str, Any]]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, dict[Any, None]] = {}
    for key, row in rows:
        found.setdefault(key, {})[row] = None
    return {key: tuple(rows) for key, rows in found.items()}


# -- what checks it -----------------------------------------------------------------------------


def _properties() -> Iterator[tuple[str, Check]]:
    for one in properties.ALWAYS.values():
        for key in one.clauses:
            yield key, Check(one.name, _first_line(one.judge), _file(one.judge))


def _witnesses() -> Iterator[tuple[str, Check]]:
    """A witness is for the clauses that its own declaration names, or that its docstring speaks of."""
    for one in properties.SOMETIMES.values():
        spoken_of = [key for key in clauses() if key in (one.holds.__doc__ or "").replace(".", " ").split()]
        for key in getattr(one, "clauses", ()) or spoken_of:
            yield key, Check(one.name, _first_line(one.holds), _file(one.holds))


def _scenarios() -> Iterator[tuple[str, Check]]:
    package = Path(__file__).parent
    paths = (package / "scenarios").rglob("*.json")
    files = {path.stem: path.relative_to(package.parent).as_posix() for path in paths}
    for one in shipped():
        for key in one.clauses:
            yield key, Check(one.id, one.title, files.get(one.id, ""))


def _vectors() -> Iterator[tuple[str, Check]]:
    for path in sorted((_PACKAGE / "vectors").glob("*.json")):
        content = json.loads(
            path.read_text(encoding="utf-8"), parse_int=str
        )  # digits are many, and not needed
        cases = content.get("cases", ()) if isinstance(content, dict) else content
        for number, case in enumerate(cases):
            name = case.get("id") or case.get("name") or f"{path.stem}:{number}"
            for key in case.get("clauses", ()):
                yield key, Check(str(name), str(case.get("title", "")), f"gnomon_spec/vectors/{path.name}")


def _mutants() -> Iterator[tuple[str, Check]]:
    manifest = _PACKAGE / "mutants.toml"
    if manifest.exists():
        for row in tomllib.loads(manifest.read_text(encoding="utf-8"))["mutant"]:
            about = f"caught by {row['property']}, which says: {row['words']}"
            yield row["clause"], Check(row["id"], about, "gnomon_spec/mutants.toml")


def _proofs() -> Iterator[tuple[str, Check]]:
    """The ledger says by what method a clause or a property is shown; a property stands for its clauses."""
    ledger = _PACKAGE.parents[1] / "proofs" / "ledger.json"
    if ledger.exists():
        for subject, row in json.loads(ledger.read_text(encoding="utf-8")).items():
            prop = properties.ALWAYS.get(subject)
            for key in (subject,) if prop is None else prop.clauses:
                yield key, Check(subject, f"{row['method']}: {row['verdict']}", "proofs/ledger.json")


def _tests() -> Iterator[tuple[str, Check]]:
    for one in marked_tests():
        for key in one.clauses:
            yield key, Check(one.id, one.about, one.file)


def _first_line(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _file(function: Callable[..., object]) -> str:
    return _place(function).file


_CHECKS: dict[str, Callable[[], Iterator[tuple[str, Check]]]] = {
    "properties": _properties,
    "witnesses": _witnesses,
    "scenarios": _scenarios,
    "vectors": _vectors,
    "mutants": _mutants,
    "proofs": _proofs,
    "tests": _tests,
}
