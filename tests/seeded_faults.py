"""Faults of the runtime that lockstep has to catch, and the clause that each breaks."""

from __future__ import annotations

from hypothesis import settings
from patched import Edit

SEARCH = settings(max_examples=3_000, derandomize=True, database=None)
"""How hard a fault is looked for."""

COMMIT_ON_SETTLEMENT: tuple[Edit, ...] = (
    (
        """            position = len(self.results)
            slot = self._slots[position]
            if slot.settled is None:
                return
            result = await slot.call.step(self._pipeline.finalize(slot.call, slot.settled))  # PY-7
""",
        """            ready = [p for p, one in self._slots.items() if one.settled is not None]
            if not ready:
                return
            position = ready[0]
            slot = self._slots[position]
            settled, slot.settled = slot.settled, None
            result = await slot.call.step(self._pipeline.finalize(slot.call, settled))
""",
    ),
)

TRUSTING: Edit = (
    "        made = call.made.get(id(answer))\n        if made is not None:\n            return made\n",
    "        if type(answer) in (Success, Failure):\n            return answer\n",
)
"""Whatever is a result is trusted, whichever call it was made for."""

FAULTS: dict[str, tuple[str, tuple[Edit, ...], str]] = {
    "commits on settlement": ("scheduler", COMMIT_ON_SETTLEMENT, "SCD-6"),
    "starts after the abort": (
        "scheduler",
        (("position == self._size or self._signal.aborted", "position == self._size"),),
        "SCD-8",
    ),
    "forgets calls that never started": (
        "scheduler",
        (("            self._answer_unstarted()\n", ""),),
        "SCD-10",
    ),
    "lets one body too many into the pool": (
        "scheduler",
        (("len(self._in_flight) >= self._max_parallel", "len(self._in_flight) > self._max_parallel"),),
        "SCD-4",
    ),
    "lets a call overlap an exclusive one": (
        "scheduler",
        (("return self._parallel_group and parallel", "return parallel"),),
        "SCD-5",
    ),
    "runs tools on text that is not JSON": (
        "pipeline",
        (
            (
                "            return invalid_arguments(violations)  # DSP-8",
                "            pass",
            ),
        ),
        "DSP-8",
    ),
    "says of a body that ran that it did not": (
        "pipeline",
        (("            return aborted()  # PY-2", "            return aborted_before_dispatch()  # PY-2"),),
        "CAN-2",
    ),
    "replaces an error by a cancellation": (
        "pipeline",
        (
            (
                "            return failure_of(error)\n        finally:\n            desk",
                (
                    "            return aborted() if signal.aborted else failure_of(error)\n"
                    "        finally:\n            desk"
                ),
            ),
        ),
        "CAN-7",
    ),
    "keeps a success that came after the abort": (
        "pipeline",
        (
            ("            return aborted()  # DSP-9\n", "            pass\n"),
            (
                "            judged = cancelled(judged, call.body_invoked)  # PST-8",
                "            pass",
            ),
            (
                "            result = cancelled(result, call.body_invoked)  # DSP-12",
                "            pass",
            ),
        ),
        "CAN-6",
    ),
}
