"""A disagreement that is kept in a file, and run again: the scenario, the backend, the order."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from gnomon_check.conform import BACKENDS, Run
from gnomon_check.disagreement import Words
from gnomon_check.orders import Order
from gnomon_check.problem import printable
from gnomon_check.refinement import key_of
from gnomon_check.scenario import Scenario, ScenarioError
from gnomon_check.scenario_files import parsed, read, scenario_of
from gnomon_check.schedule import CrashStep, RepairStep, inputs_of
from gnomon_check.window import Window, by_batch

FORMAT = "gnomon-replay/1"
FOLDER = Path("build") / "disagreements"
_BACKENDS = (*BACKENDS, "stdio")
"""All that there are: which of them an implementation has, it says itself."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What is run again."""

    scenario: Scenario
    backend: str
    order: Order | None = None


def keep(run: Run, folder: Path = FOLDER) -> Path:
    """Write down what leads to the problems of a run; answers the file."""
    kept = {
        "replay": FORMAT,
        "backend": run.backend,
        "order": None if run.order is None else run.order.hex(),
        "scenario": _declared(run.scenario),
    }
    text = json.dumps(kept, indent=1) + "\n"
    name = blake2b(text.encode(), digest_size=6).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run.scenario.id}-{name}.json"
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> Replay:
    """Read such a file. Raises `ScenarioError`, with the reason."""
    kept = parsed(read(path), str(path))
    if not isinstance(kept, dict) or kept.get("replay") != FORMAT:
        raise ScenarioError(f"{path}: this is no file of a disagreement ({FORMAT})")
    order, backend = kept.get("order"), kept.get("backend")
    if backend not in _BACKENDS:
        raise ScenarioError(f"{path}: there is no backend {backend!r}: it is {' or '.join(_BACKENDS)}")
    scenario = scenario_of(kept.get("scenario"), str(path))
    try:
        return Replay(scenario, backend, None if order is None else bytes.fromhex(order))
    except (TypeError, ValueError):
        raise ScenarioError(f"{path}: its order is no text of hexadecimal digits") from None


def complaint(run: Run, target: str) -> str:
    """Keep what leads to the problems of a run, and say all of it."""
    return told(run, target, keep(run))


# -- in words -------------------------------------------------------------------------------------


def told(run: Run, name: str, path: Path, target: str = "builtin") -> str:
    """A disagreement as people read it: what was run, what came of it, what is wrong, how to run it again.

    `name` is what the implementation is called, `target` what it is on the command line.
    """
    lines = [f"{name} on {run.backend} and the specification disagree.", ""]
    lines += _surroundings(run.scenario)
    lines += ["", *windows_told(run), ""]
    for problem in run.problems:
        lines += [problem.text, ""]
    on = "" if target == "builtin" else f" --target {shlex.quote(target)}"
    lines += [f"It is kept in {path}. To run it again:", f"  gnomon replay {path}{on}"]
    return printable("\n".join(lines))


def _surroundings(scenario: Scenario) -> Iterator[str]:
    """What stands around the calls."""
    for batch in scenario.batches:
        of_which = f" of {batch.id}" if len(scenario.batches) > 1 else ""
        yield f"  a pool of {scenario.limits.max_parallel}, and the calls{of_which}"
        for number, call in enumerate(batch.calls, 1):
            yield f"    {number}. {call.id}: {call.name} with {call.arguments}"
    called = {call.name for batch in scenario.batches for call in batch.calls}
    for tool in scenario.tools:
        if tool.name not in called and not scenario.changes:
            continue
        declared = _declared(tool)
        if tool.parameters == {"type": "object"}:
            declared.pop("parameters", None)
        yield _line(f"tool {tool.key}", declared, "name", "id")
    for hook in scenario.hooks:
        yield _line(f"{hook.on} listener {hook.id}", _declared(hook), "id", "on")
    for guard in scenario.guards:
        yield _line(f"guard {guard.id}", _declared(guard), "id")
    for name, value in _declared(scenario).items():
        if name in _MORE:
            yield f"  {name}: {json.dumps(value, ensure_ascii=False)}"


_MORE = ("mode", "scopes", "presentation", "caller", "restrictions", "approval")
"""What more of a scenario is told."""


def _declared(what: BaseModel) -> dict[str, Any]:
    return what.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _line(what: str, declared: dict[str, Any], *told_already: str) -> str:
    left = {name: value for name, value in declared.items() if name not in told_already}
    return f"  {what}: {json.dumps(left, ensure_ascii=False)}" if left else f"  {what}"


def _input(window: Window, words: Words) -> str:
    if window.step is None:
        return "the scenario is over: every gate is opened, and the caller aborts"
    if isinstance(window.step, CrashStep):
        return "the process ends"
    if isinstance(window.step, RepairStep):
        return "the log is repaired"
    return ", ".join(words.input(one) for one in inputs_of(window.step))


def windows_told(run: Run) -> Iterator[str]:
    """What was done, and what was seen of it."""
    parts = zip(run.scenario.by_batch(), by_batch(run.windows), strict=False)
    told = [(Words(part), window) for part, windows in parts for window in windows]
    for number, (words, window) in enumerate(told, 1):
        yield f"  {number}. {_input(window, words)}"
        for event in window.events:
            key = key_of(event)
            if key is not None:
                yield f"       {words.key(key)}"
        yield f"       then it {words.waiting(window.blocked, window.idle)}"
    if run.order is not None:
        yield f"  what is ready at the same time runs in the order {run.order.hex() or 'of its coming'}"
