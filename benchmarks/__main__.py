"""Measure the runtime and the kit, and print one table. `--help` says what there is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict

import gnomon
from benchmarks import against, conform, peers, table
from benchmarks.cases import Package
from benchmarks.table import Row

PARTS: dict[str, Callable[[Package, bool], list[Row]]] = {
    "goals": table.goals,
    "growth": table.growth,
    "memory": table.memory,
    "conform": conform.rows,
    "peers": peers.rows,
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parser.add_argument("--quick", action="store_true", help="every case once: says that it runs, no more")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--against", metavar="CHECKOUT", help="this checkout against that one, by turns")
    given = parser.parse_args()
    if given.against is not None:
        found = against.rows(gnomon, given.against, given.quick)
    else:
        found = [row for part in given.part or PARTS for row in PARTS[part](gnomon, given.quick)]
    if given.json:
        json.dump([asdict(row) for row in found], sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(as_text(found))


def as_text(rows: list[Row]) -> str:
    """The rows as a table of Markdown."""
    lines = [("", "ratio", "middle half", "in units of", "goal", ""), *map(_cells, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(6)]
    shown = ["| " + " | ".join(map(str.ljust, line, widths)) + " |\n" for line in lines]
    return "".join([shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|\n", *shown[1:]])


def _cells(row: Row) -> tuple[str, str, str, str, str, str]:
    goal = "" if row.goal is None else f"at most {row.goal:g}"
    if row.found is None:
        return row.what, "", "", row.unit, goal, row.why
    verdict = "" if row.goal is None else "reached" if row.found.middle <= row.goal else "missed"
    low, high = _short(row.found.low), _short(row.found.high)
    spread = "" if low == high else f"{low} to {high}"
    return row.what, _short(row.found.middle), spread, row.unit, goal, verdict


def _short(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:,.0f}"


if __name__ == "__main__":
    main()
