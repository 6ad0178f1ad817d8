"""Deliberately broken copies of the runtime: small edits of its source, loaded beside the real one."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

Edit = tuple[str, str]
"""(what stands there, what stands there instead); the first must occur exactly once."""


def _load(name: str, path: Path, edits: Sequence[Edit]) -> ModuleType:
    source = path.read_text()
    for old, new in edits:
        assert source.count(old) == 1, f"{path.name} does not hold this exactly once: {old!r}"
        source = source.replace(old, new)
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    return module


@contextmanager
def runtime_with(module: str, *edits: Edit) -> Iterator[type]:
    """The class `Runtime`, running on a copy of `gnomon.<module>` that has these edits."""
    package = Path(importlib.import_module("gnomon").__file__ or "").parent
    broken = f"gnomon_broken_{module}"
    names = [broken, "gnomon_broken_runtime"]
    try:
        edited = _load(broken, package / f"{module}.py", edits)
        if module == "runtime":
            yield edited.Runtime
            return
        uses = [(f"from gnomon.{module} import", f"from {broken} import")]
        if module == "waterfall":
            _load("gnomon_broken_pipeline", package / "pipeline.py", uses)
            names.append("gnomon_broken_pipeline")
            uses = [("from gnomon.pipeline import", "from gnomon_broken_pipeline import")]
        if module in ("pipeline", "waterfall"):
            _load("gnomon_broken_scheduler", package / "scheduler.py", uses)
            names.append("gnomon_broken_scheduler")
            uses.append(("from gnomon.scheduler import", "from gnomon_broken_scheduler import"))
        runtime = _load("gnomon_broken_runtime", package / "runtime.py", uses)
        yield runtime.Runtime
    finally:
        for name in names:
            sys.modules.pop(name, None)
