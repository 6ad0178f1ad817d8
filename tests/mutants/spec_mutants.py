"""Mutants of the specification: edits of the manifest on a copy, judged by the property that is named.

`python tests/mutants/spec_mutants.py` runs them all, two at a time, and prints a table.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gnomon_spec

SPECIFICATION = Path(gnomon_spec.__file__).parent
JUDGE = Path(__file__).with_name("judge_specification.py")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small wrong edit: the clause that it breaks, and who has to catch it with which words."""

    id: str
    clause: str
    property: str
    words: str
    edits: tuple[tuple[str, str, str], ...]
    """(module, what stands there, what stands there instead)"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a mutant: nothing in `problem` where it was caught as it should be."""

    mutant: Mutant
    sentence: str | None
    problem: str | None


def manifest() -> list[Mutant]:
    """The mutants of the manifest, in its order."""
    rows: list[dict[str, Any]] = tomllib.loads((SPECIFICATION / "mutants.toml").read_text())["mutant"]
    return [
        Mutant(
            row["id"],
            row["clause"],
            row["property"],
            row["words"],
            tuple((one["module"], one["old"], one["new"]) for one in row["edits"]),
        )
        for row in rows
    ]


def apply(mutant: Mutant, folder: Path) -> None:
    """Write a copy of the specification with the edits. Raises ValueError if one does not apply."""
    copy = folder / "gnomon_spec"
    shutil.copytree(SPECIFICATION, copy, ignore=shutil.ignore_patterns("__pycache__", "vectors", "schema"))
    for module, old, new in mutant.edits:
        path = copy / f"{module}.py"
        source = path.read_text()
        if source.count(old) != 1:
            raise ValueError(f"{module}.py holds the text of an edit {source.count(old)} times, not once")
        path.write_text(source.replace(old, new))


def judge(folder: Path, name: str) -> tuple[str | None, str | None]:
    """What the property `name` says of the specification in `folder`: its name and sentence, or nothing."""
    done = subprocess.run(
        [sys.executable, str(JUDGE), name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    if done.returncode != 0:
        raise ValueError(f"the judge failed: {done.stderr.strip().splitlines()[-1:]}")
    answer = json.loads(done.stdout)
    return answer["property"], answer["sentence"]


def run(mutant: Mutant) -> Outcome:
    """Let the named property judge one mutant."""
    with tempfile.TemporaryDirectory() as name:
        try:
            apply(mutant, Path(name))
            _, sentence = judge(Path(name), mutant.property)
        except (ValueError, subprocess.TimeoutExpired) as error:
            return Outcome(mutant, None, str(error))
    if sentence is None:
        return Outcome(mutant, None, f"it survives {mutant.property}")
    if mutant.words not in sentence:
        return Outcome(mutant, sentence, f"it is caught in other words than {mutant.words!r}")
    return Outcome(mutant, sentence, None)


def unmutated(names: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """What each property says of the specification as it is: it has to be nothing."""
    with ThreadPoolExecutor(2) as pool:
        yield from zip(names, pool.map(lambda name: judge(SPECIFICATION.parent, name)[1], names), strict=True)


def run_all(mutants: Iterable[Mutant]) -> list[Outcome]:
    """Run mutants, two at a time."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, mutants))


def main() -> int:
    """Run everything, print a table; 1 if a mutant was not caught as it should be."""
    mutants = manifest()
    bad = [name for name, sentence in unmutated(sorted({one.property for one in mutants})) if sentence]
    for name in bad:
        print(f"the specification as it is breaks {name}")
    outcomes = run_all(mutants)
    for one in outcomes:
        verdict = one.problem or one.sentence
        print(f"{one.mutant.id:<40} {one.mutant.clause:<7} {one.mutant.property:<32} {verdict}")
    caught = sum(one.problem is None for one in outcomes)
    print(f"{caught} of {len(outcomes)} mutants caught by the property named for them")
    return 0 if caught == len(outcomes) and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
