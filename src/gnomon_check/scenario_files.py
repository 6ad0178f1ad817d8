"""Scenarios as files: those that come with the kit, and those of anybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gnomon_check.changes import faults
from gnomon_check.scenario import Scenario, ScenarioError


def load(text: str | bytes, where: str) -> Scenario:
    """Read a scenario. Raises `ScenarioError`, naming `where` and every fault."""
    return scenario_of(parsed(text, where), where)


def load_file(path: Path) -> Scenario:
    """Read a scenario file. Raises `ScenarioError`."""
    return load(read(path), str(path))


def named(name: str) -> list[Scenario]:
    """The scenarios of a file; where there is none, the shipped one of that id. Raises `ScenarioError`."""
    path = Path(name)
    if path.exists() or path.suffix:
        return load_all(path)
    found = [one for one in shipped() if one.id == name]
    if not found:
        raise ScenarioError(f"{name}: there is no such file, and no scenario of that id is shipped")
    return found


def load_all(path: Path) -> list[Scenario]:
    """Read a scenario file, or the scenarios of a file of vectors. Raises `ScenarioError`."""
    plain = parsed(read(path), str(path))
    if not isinstance(plain, dict) or "vectors" not in plain:
        return [scenario_of(plain, str(path))]
    function, cases = plain.get("function"), plain.get("cases")
    if function != "run" or not isinstance(cases, list):
        raise ScenarioError(f"{path}: the vectors of {function!r} are no scenarios: take those of 'run'")
    return [_of_a_vector(case, f"{path}: case {number}") for number, case in enumerate(cases)]


def _of_a_vector(case: Any, where: str) -> Scenario:
    given = case.get("input") if isinstance(case, dict) else None
    if not isinstance(given, dict) or "scenario" not in given:
        raise ScenarioError(f"{where}: its input has no scenario")
    return scenario_of(given["scenario"], where)


def read(path: Path) -> bytes:
    """The bytes of a file. Raises `ScenarioError`, with the reason."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror or error}") from None


def parsed(text: str | bytes, where: str) -> Any:
    """What a text says in JSON. Raises `ScenarioError`, naming `where`."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise ScenarioError(f"{where}: not JSON: {error}") from None


def scenario_of(plain: Any, where: str) -> Scenario:
    """The scenario that plain data stands for. Raises `ScenarioError`, naming `where` and every fault."""
    try:
        return Scenario.model_validate(plain)
    except ValidationError as error:
        raise ScenarioError(f"{where}: not a scenario: {faults(error)}") from None


def shipped(kind: str = "") -> Iterator[Scenario]:
    """The scenarios that come with the kit, in the order of their ids; all, or those of one kind.

    The kinds are folders: `field-reports`, and `edge-outcomes`, which were worked out by hand.
    """
    folder = Path(__file__).parent / "scenarios" / kind
    for path in sorted(folder.rglob("*.json"), key=_natural):
        yield load_file(path)


def _natural(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in path.stem.split("-")]


def dump(scenario: Scenario) -> str:
    """The scenario as the text of a file: only what was said, defaults left out."""
    return json.dumps(scenario.model_dump(by_alias=True, exclude_unset=True), indent=1, ensure_ascii=False)
