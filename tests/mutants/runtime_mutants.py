"""Mutants of the runtime: edits of the manifest on a copy, judged by the check that is named.

`python tests/mutants/runtime_mutants.py [ID ...]` runs them all, or those, two at a time, and prints a table.
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

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RUNTIME = Path(gnomon.__file__).parent
JUDGE = HERE / "judge_runtime.py"


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


def manifest() -> list[Mutant]:
    """The mutants of the manifest, in its order."""
    rows: list[dict[str, Any]] = tomllib.loads((HERE / "manifest.toml").read_text())["mutant"]
    return [
        Mutant(
            row["id"],
            row["clause"],
            row["check"],
            row["words"],
            tuple((one["module"], one["old"], one["new"]) for one in row["edits"]),
        )
        for row in rows
    ]


def apply(mutant: Mutant, folder: Path) -> None:
    """Write a copy of the runtime with the edits. Raises ValueError if one does not apply."""
    copy = folder / "gnomon"
    shutil.copytree(RUNTIME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for module, old, new in mutant.edits:
        path = copy / f"{module}.py"
        source = path.read_text()
        if source.count(old) != 1:
            raise ValueError(f"{module}.py holds the text of an edit {source.count(old)} times, not once")
        path.write_text(source.replace(old, new))


def judge(folder: Path, check: str, words: str) -> Verdict:
    """What a check says of the runtime in `folder`. Raises ValueError where it says nothing."""
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(JUDGE), check, words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
        cwd=ROOT,
    )
    if done.returncode != 0:
        raise ValueError(f"the judge failed: {done.stderr.strip().splitlines()[-1:]}")
    said = json.loads(done.stdout)
    return Verdict(tuple(said["texts"]), said["examples"], said["seconds"])


def run(mutant: Mutant) -> Outcome:
    """Let the named check judge one mutant."""
    with tempfile.TemporaryDirectory() as name:
        try:
            apply(mutant, Path(name))
            verdict = judge(Path(name), mutant.check, mutant.words)
        except (ValueError, subprocess.TimeoutExpired) as error:
            return Outcome(mutant, None, str(error))
    if not verdict.texts:
        return Outcome(mutant, verdict, f"it survives `{mutant.check}`")
    if not any(mutant.words in text for text in verdict.texts):
        found = " / ".join(verdict.texts)
        return Outcome(mutant, verdict, f"it is caught in other words than {mutant.words!r}: {found}")
    return Outcome(mutant, verdict, None)


def unmutated(checks: Iterable[str]) -> Iterator[tuple[str, Verdict]]:
    """What each check says of the runtime as it is: it has to be nothing."""
    names = sorted(set(checks))
    nobody = "words that stand in no text"
    with ThreadPoolExecutor(2) as pool:
        yield from zip(names, pool.map(lambda one: judge(RUNTIME.parent, one, nobody), names), strict=True)


def run_all(mutants: Sequence[Mutant]) -> Iterator[Outcome]:
    """Run mutants, two at a time, and answer them as they come."""
    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(run, mutants)


def main(wanted: Sequence[str]) -> int:
    """Run everything, or what is wanted, and print a table; 1 if a mutant was not caught as it should be."""
    begun = time.perf_counter()
    mutants = [one for one in manifest() if not wanted or one.id in wanted]
    bad = 0
    for name, verdict in unmutated(one.check for one in mutants):
        print(f"as it is: {name:<48} {verdict.seconds:6.1f} s", flush=True)
        for text in verdict.texts:
            bad += 1
            print(f"  the runtime as it is: {text}")
    outcomes = []
    for number, one in enumerate(run_all(mutants), 1):
        outcomes.append(one)
        counted = one.verdict is not None and one.verdict.examples is not None
        effort = "" if one.verdict is None else f"{one.verdict.seconds:6.1f} s"
        examples = f"{one.verdict.examples:>5}" if counted and one.verdict is not None else "     "
        told = one.problem or "caught"
        print(
            f"{number:>3}/{len(mutants)} {one.mutant.id:<48} {one.mutant.clause:<7} "
            f"{one.mutant.check:<40} {examples} {effort} {told}",
            flush=True,
        )
    _by_check(outcomes)
    caught = sum(one.problem is None for one in outcomes)
    minutes = (time.perf_counter() - begun) / 60
    print(f"{caught} of {len(outcomes)} mutants caught by the check named for them, in {minutes:.1f} min")
    return 0 if caught == len(outcomes) and not bad else 1


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
    sys.exit(main(sys.argv[1:]))
