"""The vectors: for each pure function of the specification, inputs and what it computes for them.

They are files of JSON, so that an implementation in any language can be held to the specification without
running it. What is expected is always computed, never typed. An id of a case is permanent: it says nothing of
the place of the case in the file, is never given to another case, and its input never changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import gnomon_spec
from gnomon_check.protocol import PROTOCOL
from gnomon_check.vectors.arguments import PARSE
from gnomon_check.vectors.calls import CALL, JUDGE
from gnomon_check.vectors.cancellation import CANCELLED
from gnomon_check.vectors.case import FORMAT, SUITE, Suite, Vector, VectorFile
from gnomon_check.vectors.coverage import NOT_SHOWN, Coverage, coverage_of
from gnomon_check.vectors.decisions import DECIDE
from gnomon_check.vectors.logs import LOG, NAME, REPAIR
from gnomon_check.vectors.readme import readme
from gnomon_check.vectors.scenarios import RUN
from gnomon_check.vectors.schemas import DECLARE, VALIDATE
from gnomon_check.vectors.traces import TRACE
from gnomon_check.vectors.values import EQUAL, SNAPSHOT, UNCHANGED
from gnomon_check.vectors.visibility_cases import VIEW

__all__ = ["FOLDER", "NAMES", "SUITE", "SUITES", "differing", "files", "shipped", "write"]

SUITES: tuple[Suite, ...] = (
    SNAPSHOT,
    EQUAL,
    UNCHANGED,
    PARSE,
    VALIDATE,
    DECLARE,
    VIEW,
    CANCELLED,
    DECIDE,
    LOG,
    REPAIR,
    NAME,
    CALL,
    JUDGE,
    *RUN,
    TRACE,
)
FOLDER = Path(gnomon_spec.__file__).parent / "vectors"
NAMES = (*(suite.file for suite in SUITES), "COVERAGE.json", "MANIFEST.json", "README.md")


@cache
def files(command: str) -> dict[str, str]:
    """The name and the text of every file; `command` is what makes them."""
    vectors = {suite: suite.vectors() for suite in SUITES}
    made = {suite.file: _text(suite, cases, command) for suite, cases in vectors.items()}
    coverage = coverage_of(vectors)
    made["COVERAGE.json"] = _coverage(coverage, command)
    return {
        **made,
        "MANIFEST.json": _manifest(made, command),
        "README.md": readme(vectors, coverage, command),
    }


def shipped() -> list[VectorFile]:
    """The vectors that come with the specification, file by file."""
    return [VectorFile.model_validate(json.loads((FOLDER / one.file).read_text())) for one in SUITES]


def _text(suite: Suite, vectors: list[Vector], command: str) -> str:
    head = {
        "vectors": FORMAT,
        "suite": SUITE,
        "spec": gnomon_spec.__version__,
        "command": command,
        "function": suite.function,
        "about": suite.about,
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    cases = ",\n".join(_case_text(one) for one in vectors)
    return "\n".join(["{", *lines, ' "cases": [', cases, " ]", "}", ""])


def _case_text(vector: Vector) -> str:
    """One case, a line for each of its fields: to be read, and to be compared in a review."""
    fields = vector.model_dump(exclude_none=True)
    lines = [f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
    return "  {\n" + ",\n".join(lines) + "\n  }"


def _coverage(coverage: Coverage, command: str) -> str:
    """The table of clauses, a line for each."""
    head = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in _versions(command).items()]
    clauses = ",\n".join(
        f"  {json.dumps(key)}: {json.dumps(asdict(one))}" for key, one in coverage.clauses.items()
    )
    not_shown = ",\n".join(f"  {json.dumps(key)}: {json.dumps(why)}" for key, why in NOT_SHOWN.items())
    lines = ["{", *head, f' "triples": {coverage.triples},', ' "clauses": {', clauses, " },"]
    return "\n".join([*lines, ' "not_shown": {', not_shown, " }", "}", ""])


def _versions(command: str) -> dict[str, str]:
    """The versions: of the format, of the cases, of the specification, of the protocol of adapters."""
    return {
        "vectors": FORMAT,
        "suite": SUITE,
        "spec": gnomon_spec.__version__,
        "protocol": PROTOCOL,
        "command": command,
    }


def _manifest(made: Mapping[str, str], command: str) -> str:
    listed: list[dict[str, Any]] = []
    for name, text in made.items():
        content = json.loads(text)
        about = (
            {"function": content["function"], "cases": len(content["cases"])} if "cases" in content else {}
        )
        listed.append({"file": name, **about, "sha256": hashlib.sha256(text.encode()).hexdigest()})
    total = sum(one.get("cases", 0) for one in listed)
    return json.dumps({**_versions(command), "total": total, "files": listed}, indent=1) + "\n"


def write(folder: Path, command: str) -> list[str]:
    """Write the files into a folder; answer the names of those that were not there or differed."""
    folder.mkdir(parents=True, exist_ok=True)
    return [name for name, text in files(command).items() if _written(folder / name, text)]


def differing(folder: Path, command: str) -> list[str]:
    """The names of the files that are not in a folder, or differ there."""
    return [
        name
        for name, text in files(command).items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]


def _written(path: Path, text: str) -> bool:
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    path.write_bytes(text.encode())
    return True
