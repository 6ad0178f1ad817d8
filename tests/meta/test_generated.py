"""Generated files are fresh, and say how they are made."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import pytest

from gnomon_check.events import EVENT
from gnomon_check.generated import COMMAND, FILES
from gnomon_check.scenario_files import dump, shipped


@pytest.mark.parametrize(("path", "make"), FILES.items(), ids=lambda value: getattr(value, "name", "make"))
def test_a_generated_file_is_fresh(path: Path, make: Callable[[], str]) -> None:
    text = path.read_text()
    assert text == make(), f"{path.name} is stale: {COMMAND}"
    assert COMMAND in text


def test_the_schema_files_accept_what_the_kit_uses() -> None:
    schemas = {
        path.name: jsonschema_rs.Draft202012Validator(path.read_text())
        for path in FILES
        if path.parent.name == "schema"
    }
    for scenario in shipped():
        assert schemas["scenario.v1.json"].is_valid(json.loads(dump(scenario)))
    assert not schemas["scenario.v1.json"].is_valid({"scenario": "gnomon/1"})
    event = {"event": "body.settled", "pos": 0, "how": "returned", "more": 1}
    assert schemas["event.v1.json"].is_valid(event)
    assert EVENT.validate_python({"event": "of.later", "x": 1}).event == "of.later"
