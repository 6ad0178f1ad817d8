"""Explore the specification that is first on the path, judged by one property; say what it caught.

`python tests/mutants/judge_specification.py PROPERTY` prints, as JSON, the sentence of the first broken
rule in `texts`, and how many seconds it took.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

from gnomon_check import explain
from gnomon_check.explore import explore
from gnomon_check.explore_call import Around, explore_call
from gnomon_spec import properties
from gnomon_spec.properties import Broken
from gnomon_spec.vocabulary import Setup

CALLS = (
    Setup(pre=2, guards=2),
    Setup(pre=1, never=True),
    Setup(pre=1, service=False),
    Setup(arguments=False, finalizer=True),
    Setup(post=1, finalizer=True, projector=True),
    Setup(wrappers=2, timeout=0),
)


def findings() -> Iterator[Broken | None]:
    """What is broken in a batch, then in a call, from small to large."""
    yield explore(2, 1, aborts=True, failures=True).broken
    yield explore(2, 2, aborts=True, failures=True).broken
    for setup in CALLS:
        for aborted in (False, True):
            yield explore_call(setup, aborted=aborted, around=Around(signals=False)).broken
    yield explore(3, 2, aborts=True).broken


def main(name: str) -> dict[str, object]:
    """What the property says: the sentence of what it found, in how many seconds."""
    begun = time.perf_counter()
    one = properties.ALWAYS[name]
    properties.judged = lambda shows=properties.BATCH: (one,) if one.needs <= set(shows) else ()
    broken = next((found for found in findings() if found is not None), None)
    texts = [] if broken is None else [explain.explain_broken(broken, lambda pos: f"call {pos + 1}")]
    return {"texts": texts, "examples": None, "seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
