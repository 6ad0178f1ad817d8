"""The adapter in Python, loaded from a folder, and drawn scenarios that it can be held to."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gnomon_check import adapters
from gnomon_check.driver import InProcess
from gnomon_check.generate import policed, scenarios
from gnomon_check.generate_living import living
from gnomon_check.generate_situations import situations
from gnomon_check.scenario import Scenario

FOLDER = adapters.FOLDER / "python"
MODULES = tuple(path.stem for path in sorted(FOLDER.glob("*.py")))


@contextmanager
def loaded(folder: Path = FOLDER) -> Iterator[InProcess]:
    """The adapter in a folder. Its modules are at the top, and gone again afterwards."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        made = importlib.import_module("adapter").Adapter()
        assert isinstance(made, InProcess)
        yield made
    finally:
        sys.path.remove(str(folder))
        for name in MODULES:
            sys.modules.pop(name, None)


_POLICIES = ("hooks", "guards", "approval", "restrictions", "scopes", "presentation")
_OF_TOOLS = ("interrupt", "render", "presentation_meta", "project", "finalize", "scope")
_STEPS = {
    *("gate", "await_abort", "sleep", "execute", "note", "abort", "raise", "return", "defer", "conclude"),
    *("open", "release", "advance"),
}
_RAISED = (None, "error", "coded", "unprintable")


def _kept(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = []
    for step in steps:
        (name, says), *_ = step.items()
        if name == "together":
            kept.append({"together": _kept(says)})
        elif name in _STEPS and (name != "raise" or says.get("kind") in _RAISED):
            kept.append(step)
    return [one for one in kept if one != {"together": []}]


def without_policies(scenario: Scenario) -> Scenario:
    """What is left of a scenario without policies, layers and native cancellation."""
    plain = scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    tools: dict[str, Any] = {}
    for tool in plain["tools"]:
        if tool.get("later"):
            continue
        body = _kept(tool.get("body", []))
        kept = {name: value for name, value in tool.items() if name not in _OF_TOOLS}
        tools.setdefault(tool["name"], {**kept, "body": body})
        parallel = tool.get("parallel")
        if isinstance(parallel, dict) and parallel.get("raise", {}).get("kind") not in _RAISED:
            tools[tool["name"]].pop("parallel", None)
    kept = {name: value for name, value in plain.items() if name not in _POLICIES}
    return Scenario.model_validate(
        {**kept, "tools": list(tools.values()), "schedule": _kept(plain["schedule"])}
    )


DRAWN = (scenarios() | policed() | living() | situations()).map(without_policies)
"""Scenarios of every kind that are drawn, without what this runtime does not claim."""
