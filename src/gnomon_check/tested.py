"""Which tests of a checkout check which clause, as their marks say: `@pytest.mark.clause("SCD-6", "CAN-7")`.

The tests are read as text and never imported, so that a page can be made where what they need is not
installed. An installed wheel has no tests, and nothing is found.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class MarkedTest:
    """A test and the clauses that it checks. `file` is named from the checkout on."""

    file: str
    name: str
    about: str
    clauses: tuple[str, ...]

    @property
    def id(self) -> str:
        """What pytest calls the test."""
        return f"{self.file}::{self.name}"


@cache
def marked_tests() -> tuple[MarkedTest, ...]:
    """Every marked test of this checkout, by file and in the order of each file; none without a checkout."""
    if not (_CHECKOUT / "pyproject.toml").exists():
        return ()
    paths = sorted((_CHECKOUT / "tests").rglob("test_*.py"))
    return tuple(
        test
        for path in paths
        for test in read(path.read_text(encoding="utf-8"), path.relative_to(_CHECKOUT).as_posix())
    )


def read(text: str, file: str) -> Iterator[MarkedTest]:
    """The marked tests of one file. Raises `ValueError` for a mark whose clauses are not told as text."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            found = [key for one in node.decorator_list if _is_mark(one) for key in _clauses(one, file)]
            if found:
                about = (ast.get_docstring(node) or "").partition("\n")[0]
                yield MarkedTest(file, node.name, about, tuple(found))


def _is_mark(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(called) == "pytest.mark.clause"


def _clauses(node: ast.expr, file: str) -> Iterator[str]:
    for one in node.args if isinstance(node, ast.Call) else ():
        match one:
            case ast.Constant(value=str(key)):
                yield key
            case _:
                raise ValueError(f"{file}:{one.lineno}: a mark names its clauses one by one, as text")
