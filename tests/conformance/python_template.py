"""The adapter in Python, loaded from a folder."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnomon_check import adapters
from gnomon_check.driver import InProcess

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
