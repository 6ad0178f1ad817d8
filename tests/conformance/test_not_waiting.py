"""Listeners that do not wait for their `next()`: whatever comes first, a correct runtime is found correct."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from gnomon_check.conform import BACKENDS, conform
from gnomon_check.scenario import Scenario
from gnomon_check.targets.builtin import Builtin

STARTS = {"next_unawaited": {}}
GATE = {"gate": {"name": "outer"}}
PASS = {"pass": {}}
SCRIPTS: dict[str, list[Any]] = {
    "ends at once": [STARTS],
    "starts a second": [STARTS, STARTS, PASS],
    "waits for a second": [STARTS, {"next": {}}, PASS],
    "waits at a gate, and delegates again": [STARTS, GATE, {"next": {}}, PASS],
    "had an answer before": [{"next": {}}, STARTS, PASS],
    "raises meanwhile": [STARTS, GATE, {"raise": {"kind": "error"}}],
    "calls three times, and hears the first": [{"next_concurrently": {"times": 3}}, PASS],
    "aborts meanwhile": [STARTS, {"abort": {}}, GATE, PASS],
    "keeps it, and starts another": [{"keep_next": {"name": "kept"}}, STARTS, GATE],
}
OWN: dict[str, Any] = {
    "pre_execute": {"decide": {"decision": {"kind": "allow"}}},
    "execute": {"author": {"result": {"ok": True, "value": 2}}},
    "post_execute": {"decide": {"decision": {"kind": "accept"}}},
}
INNER: dict[str, list[Any]] = {
    "waits": [{"gate": {"name": "inner"}}, {"next": {}}, PASS],
    "passes on": [{"next": {}}, PASS],
    "does not wait either": [STARTS, {"note": {"text": "inner"}}],
}
SCHEDULES: dict[str, list[Any]] = {
    "outer first": ["outer", "inner", "body:0"],
    "inner first": ["inner", "body:0", "outer"],
    "all at once": [("outer", "inner", "body:0")],
}


def released(names: Any) -> dict[str, Any]:
    if isinstance(names, str):
        return {"release": {"gate": names}}
    return {"together": [{"call_kept": {"name": "kept"}}, *map(released, names)]}


def scenario(on: str, script: str, inner: str, schedule: str) -> Scenario:
    """One call, with two listeners of one waterfall."""
    steps = [one for one in SCRIPTS[script] if one is not PASS or on != "execute"]
    hooks = [
        {"id": "outer", "on": on, "script": [*steps, OWN[on]] if steps[-1] is not PASS else steps},
        {"id": "inner", "on": on, "script": INNER[inner]},
    ]
    return Scenario.model_validate(
        {
            "scenario": "gnomon/1",
            "id": "not-waiting",
            "title": "one that does not wait",
            "clauses": ["DSP-6", "PRE-7"],
            "tools": [{"name": "act", "body": [{"gate": {"name": "body:$call"}}, {"return": {"value": 1}}]}],
            "hooks": hooks,
            "batches": [{"calls": [{"id": "c1", "name": "act"}]}],
            "schedule": [{"open": {}}, *map(released, SCHEDULES[schedule]), {"call_kept": {"name": "kept"}}],
        }
    )


@pytest.mark.clause("PRE-7", "DSP-6")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("on", OWN)
def test_the_built_in_runtime_conforms(on: str, backend: str) -> None:
    for script, inner, schedule in product(SCRIPTS, INNER, SCHEDULES):
        run = conform(scenario(on, script, inner, schedule), Builtin(), backend)
        assert run.problems == (), (script, inner, schedule, [one.text for one in run.problems])
