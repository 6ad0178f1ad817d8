"""Rules that keep the three packages apart, and the vocabularies together."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon.errors
import gnomon_spec
from gnomon_check import events, refinement
from gnomon_spec import kernel, machine, vocabulary
from gnomon_spec.vocabulary import EventName

SPECIFICATION = Path(gnomon_spec.__file__).parent
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", sorted(SPECIFICATION.glob("*.py")), ids=lambda path: path.name)
def test_the_specification_imports_the_standard_library_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [node.module or ""]
        for name in names:
            top = name.split(".")[0]
            assert top == "gnomon_spec" or top in sys.stdlib_module_names, name


def test_the_specification_is_usable_without_anything_installed() -> None:
    """`-I -S` leaves site-packages out; only the folder of the specification is added."""
    program = (
        f"import sys; sys.path.insert(0, {str(SPECIFICATION.parent)!r}); "
        "import gnomon_spec.machine, gnomon_spec.properties, gnomon_spec.settlement, gnomon_spec.admission; "
        "print(len(gnomon_spec.properties.ALWAYS))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 10


def test_the_message_formats_import_no_sdk() -> None:
    program = (
        "import sys, gnomon.providers; "
        "print({'openai', 'anthropic', 'google.genai', 'mcp', 'httpx', 'httpx2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_codes_stand_once_in_the_specification_and_once_in_the_runtime_and_agree() -> None:
    assert [(one.name, one.value) for one in vocabulary.Code] == [
        (one.name, one.value) for one in gnomon.errors.Code
    ]


def test_the_events_of_the_specification_are_events_of_the_kit() -> None:
    assert {str(one) for one in EventName} <= events.NAMES
    assert set(refinement.COMPARED) <= events.NAMES


def test_the_machine_has_no_condition_on_codes_modes_or_decisions() -> None:
    tree = ast.parse(Path(machine.__file__).read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"Code", "Mode", "Decision"}
    assert "Code" not in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


def test_the_kernel_is_small() -> None:
    assert len(Path(kernel.__file__).read_text().splitlines()) < 150


@pytest.mark.parametrize(
    "path",
    sorted(path for folder in ("spec", "src", "tests") for path in (ROOT / folder).rglob("*.py")),
    ids=lambda path: path.name,
)
def test_modules_stay_short(path: Path) -> None:
    longer = {
        "properties.py": "every named property stands in one file",
        "batch.py": "a chapter of the specification is one module",
    }
    if path.name in longer:
        return
    assert len(path.read_text().splitlines()) <= 500
