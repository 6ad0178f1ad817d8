"""What the sources of a package say of clauses: in docstrings, and in comments on lines of code.

Two things count. A *statement* is a line of a docstring that begins with an id and two spaces or more,
with the lines below it that are indented further. A *code line* has a comment that begins with one or
several ids: `return outcome  # CAN-7`. Any other place that names an id is a mention, and no more.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ID = r"[A-Z]{2,3}-\d+"
_STATEMENT = re.compile(rf"({ID})\s{{2,}}(\S.*)")
_COMMENT = re.compile(rf"#\s*({ID}(?:,\s*{ID})*)\b")
_MENTION = re.compile(rf"\b{ID}\b")
_WHY = "*Why.*"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the code: the module, the function or class (empty: the module itself), the line."""

    module: str
    name: str
    line: int
    text: str = ""

    @property
    def file(self) -> str:
        """The file, from the folder of its package on: `gnomon_spec/batch.py`."""
        return _files()[self.module][0]

    def __str__(self) -> str:
        return f"{self.module.partition('.')[2]}.{self.name}" if self.name else self.module


@dataclass(frozen=True, slots=True)
class Source:
    """What one module says. Each clause id leads to the places where it is said."""

    module: str
    functions: dict[str, Place]
    statements: tuple[tuple[str, Place], ...]
    code_lines: tuple[tuple[str, Place], ...]
    mentions: tuple[tuple[str, Place], ...]
    """Every id in a docstring or a comment, statements and code lines included."""


@cache
def _files() -> dict[str, tuple[str, Path]]:
    """Module name -> the file as it is named in a checkout or wheel, and where it stands."""
    found = {}
    for package in ("gnomon_spec", "gnomon", "gnomon_check"):
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.py")):
            inside = path.relative_to(folder.parent)
            parts = inside.with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = (inside.as_posix(), path)
    return found


def modules(package: str) -> list[str]:
    """The names of the modules of an installed package; none where it is not installed."""
    return [name for name in _files() if name == package or name.startswith(f"{package}.")]


@cache
def source(module: str) -> Source:
    """Read one module."""
    return parse(module, _files()[module][1].read_text(encoding="utf-8"))


def parse(module: str, text: str) -> Source:
    """Read the text of a module."""
    owners = list(_owners(ast.parse(text), ""))
    functions = {
        name: Place(module, name, node.lineno) for name, node in owners if not isinstance(node, ast.Module)
    }
    statements, mentions = [], []
    for name, node in owners:
        for line, words in _docstring(node):
            mentions += [(one, Place(module, name, line, words.strip())) for one in _MENTION.findall(words)]
        statements += [(one, Place(module, name, line, said)) for one, line, said in _statements(node)]
    code_lines = []
    lines = text.splitlines()
    for line, comment in _comments(text):
        name = _owner_of(line, owners)
        mentions += [(one, Place(module, name, line, comment)) for one in _MENTION.findall(comment)]
        begun = _COMMENT.match(comment)
        code = lines[line - 1].strip()
        if begun is not None and not code.startswith("#"):
            place = Place(module, name, line, code)
            code_lines += [(one, place) for one in _MENTION.findall(begun.group(1))]
    return Source(module, functions, tuple(statements), tuple(code_lines), tuple(mentions))


def why(docstring: str | None) -> str | None:
    """The reason that a docstring gives after `*Why.*`, as one line; None where it gives none."""
    if docstring is None or _WHY not in docstring:
        return None
    reason = docstring.split(_WHY, 1)[1].strip().split("\n\n", 1)[0]
    return " ".join(reason.split())


_Owner = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _owners(node: ast.AST, name: str) -> Iterator[tuple[str, _Owner]]:
    """Everything that can have a docstring, with its name as `__qualname__` has it."""
    if isinstance(node, ast.Module):
        yield "", node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            full = f"{name}.{child.name}" if name else child.name
            yield full, child
            inner = full if isinstance(child, ast.ClassDef) else f"{full}.<locals>"
            yield from _owners(child, inner)
        else:
            yield from _owners(child, name)


def _docstring(node: _Owner) -> Iterator[tuple[int, str]]:
    """The lines of a docstring as they stand in the file, numbered. Attributes' docstrings count too."""
    for one in node.body:
        match one:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from enumerate(text.split("\n"), start=one.lineno)


def _statements(node: _Owner) -> Iterator[tuple[str, int, str]]:
    """Each statement of a docstring: the id, its line, and its words as one line."""
    current: tuple[str, int, list[str], int] | None = None
    for line, words in _docstring(node):
        begun = _STATEMENT.match(words.strip())
        indent = len(words) - len(words.lstrip())
        if current is not None and (begun is not None or not words.strip() or indent <= current[3]):
            yield current[0], current[1], " ".join(current[2])
            current = None
        if begun is not None:
            current = (begun.group(1), line, [begun.group(2).strip()], indent)
        elif current is not None:
            current[2].append(words.strip())
    if current is not None:
        yield current[0], current[1], " ".join(current[2])


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _owner_of(line: int, owners: list[tuple[str, _Owner]]) -> str:
    """The innermost function or class around a line; they are listed from the outside in."""
    name = ""
    for candidate, node in owners:
        if not isinstance(node, ast.Module) and node.lineno <= line <= (node.end_lineno or node.lineno):
            name = candidate
    return name
