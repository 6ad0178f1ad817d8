"""Mutants: small wrong edits of a package, made on a copy, each judged by the check that is named for it.

`python tests/mutants/mutants.py {specification|runtime} [ID ...]` runs them all, or those, two at a time, and
prints a table.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import gnomon
import gnomon_spec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NO_CODE = shutil.ignore_patterns("__pycache__", "vectors", "schema")
NOBODY_SAYS = "words that stand in no text"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small wrong edit: the clause that it breaks, and which check has to catch it with which words."""

    id: str
    clause: str
    check: str
    words: str
    edits: tuple[tuple[str, str, str], ...]
    """(module, what stands there, what stands there instead)"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says: what it found, after how many examples (where it counts them), in what time."""

    texts: tuple[str, ...]
    examples: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a mutant: nothing in `problem` where it was caught as it should be."""

    mutant: Mutant
    verdict: Verdict | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class Suite:
    """The mutants of one package, and the program that holds a copy of it to a check."""

    package: Path
    manifest: Path
    check: str
    """The key under which a mutant of the manifest names its check."""
    judge_program: Path
    seconds: int
    """How long the program may take."""

    def mutants(self) -> list[Mutant]:
        """The mutants of the manifest, in its order."""
        rows: list[dict[str, Any]] = tomllib.loads(self.manifest.read_text())["mutant"]
        return [
            Mutant(
                row["id"],
                row["clause"],
                row[self.check],
                row["words"],
                tuple((one["module"], one["old"], one["new"]) for one in row["edits"]),
            )
            for row in rows
        ]

    def apply(self, mutant: Mutant, folder: Path) -> None:
        """Write a copy of the package with the edits. Raises ValueError if one does not apply."""
        copy = folder / self.package.name
        shutil.copytree(self.package, copy, ignore=NO_CODE)
        for module, old, new in mutant.edits:
            path = copy / f"{module}.py"
            source = path.read_text()
            if source.count(old) != 1:
                raise ValueError(f"{module}.py holds the text of an edit {source.count(old)} times, not once")
            path.write_text(source.replace(old, new))

    def judge(self, folder: Path, check: str, words: str) -> Verdict:
        """What a check says of the package in `folder`. Raises ValueError where it says nothing."""
        paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(self.judge_program), check, words],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=self.seconds,
            check=False,
            cwd=ROOT,
        )
        if done.returncode != 0:
            raise ValueError(f"the judge failed: {done.stderr.strip().splitlines()[-1:]}")
        said = json.loads(done.stdout)
        return Verdict(tuple(said["texts"]), said["examples"], said["seconds"])

    def run(self, mutant: Mutant) -> Outcome:
        """Let the named check judge one mutant."""
        with tempfile.TemporaryDirectory() as name:
            try:
                self.apply(mutant, Path(name))
                verdict = self.judge(Path(name), mutant.check, mutant.words)
            except (ValueError, subprocess.TimeoutExpired) as error:
                return Outcome(mutant, None, str(error))
        if not verdict.texts:
            return Outcome(mutant, verdict, f"it survives `{mutant.check}`")
        if not any(mutant.words in text for text in verdict.texts):
            found = " / ".join(verdict.texts)
            return Outcome(mutant, verdict, f"it is caught in other words than {mutant.words!r}: {found}")
        return Outcome(mutant, verdict, None)

    def run_all(self, mutants: Sequence[Mutant]) -> Iterator[Outcome]:
        """Run mutants, two at a time, and answer them as they come."""
        with ThreadPoolExecutor(2) as pool:
            yield from pool.map(self.run, mutants)

    def unmutated(self, mutants: Iterable[Mutant]) -> Iterator[tuple[str, Verdict]]:
        """What each check of theirs says of the package as it is: it has to be nothing."""
        checks = sorted({one.check for one in mutants})
        with ThreadPoolExecutor(2) as pool:
            verdicts = pool.map(lambda one: self.judge(self.package.parent, one, NOBODY_SAYS), checks)
            yield from zip(checks, verdicts, strict=True)


SPECIFICATION = Suite(
    package=Path(gnomon_spec.__file__).parent,
    manifest=Path(gnomon_spec.__file__).with_name("mutants.toml"),
    check="property",
    judge_program=HERE / "judge_specification.py",
    seconds=240,
)
RUNTIME = Suite(
    package=Path(gnomon.__file__).parent,
    manifest=HERE / "manifest.toml",
    check="check",
    judge_program=HERE / "judge_runtime.py",
    seconds=400,
)
SUITES = {"specification": SPECIFICATION, "runtime": RUNTIME}


def main(name: str, wanted: Sequence[str]) -> int:
    """Run a suite, or what is wanted of it, and print a table; 1 if one was not caught as it should be."""
    begun = time.perf_counter()
    suite = SUITES[name]
    mutants = [one for one in suite.mutants() if not wanted or one.id in wanted]
    bad = 0
    for check, verdict in suite.unmutated(mutants):
        print(f"as it is: {check:<48} {verdict.seconds:6.1f} s", flush=True)
        for text in verdict.texts:
            bad += 1
            print(f"  the {name} as it is: {text}")
    outcomes = []
    for number, one in enumerate(suite.run_all(mutants), 1):
        outcomes.append(one)
        print(f"{number:>3}/{len(mutants)} {_row(one)}", flush=True)
    _by_check(outcomes)
    caught = sum(one.problem is None for one in outcomes)
    minutes = (time.perf_counter() - begun) / 60
    print(f"{caught} of {len(outcomes)} mutants caught by the check named for them, in {minutes:.1f} min")
    return 0 if caught == len(outcomes) and not bad else 1


def _row(one: Outcome) -> str:
    effort = " " * 14
    if one.verdict is not None:
        examples = "" if one.verdict.examples is None else one.verdict.examples
        effort = f"{examples:>5} {one.verdict.seconds:6.1f} s"
    mutant = one.mutant
    return f"{mutant.id:<48} {mutant.clause:<7} {mutant.check:<40} {effort} {one.problem or 'caught'}"


def _by_check(outcomes: Iterable[Outcome]) -> None:
    """How much each way of looking needed."""
    needed: dict[str, list[Verdict]] = defaultdict(list)
    for one in outcomes:
        if one.problem is None and one.verdict is not None:
            way = "tests" if one.mutant.check.startswith("tests/") else one.mutant.check
            needed[way].append(one.verdict)
    for way, verdicts in sorted(needed.items()):
        seconds = median(one.seconds for one in verdicts)
        counts = [one.examples for one in verdicts if one.examples is not None]
        examples = f", {median(counts):g} examples (at most {max(counts)})" if counts else ""
        print(f"{way}: {len(verdicts)} caught; in the middle {seconds:.1f} s{examples}")


if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in SUITES:
        sys.exit(f"which mutants: {' or '.join(SUITES)}?")
    sys.exit(main(sys.argv[1], sys.argv[2:]))
