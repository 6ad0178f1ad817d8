"""Faults of the runtime where its log fails, or where scripts ask for what is to be refused."""

from __future__ import annotations

from patched import Edit
from seeded_faults import TRUSTING

SUPPRESS: Edit = (
    "from collections.abc import",
    "from contextlib import suppress\nfrom collections.abc import",
)

FAULTS: dict[str, tuple[str, tuple[Edit, ...], str]] = {
    "borrowed-success-unfit": ("pipeline", (TRUSTING,), "DSP-10"),
    "borrowed-success-rendered": ("pipeline", (TRUSTING,), "DSP-10"),
    "borrowed-failure": (
        "pipeline",
        (
            (
                "        made = call.made.get(id(answer))\n        if made is not None:\n",
                (
                    "        made = call.made.get(id(answer))\n"
                    "        if made is None and type(answer) is Failure:\n"
                    '            raise PolicyError("that result was not made for this call")\n'
                    "        if made is not None:\n"
                ),
            ),
        ),
        "DSP-10",
    ),
    "log-fails-at-call": (
        "scheduler",
        (
            (
                "        self._journal.call(position, slot.call.announced)",
                (
                    "        with suppress(LogError):\n"
                    "            self._journal.call(position, slot.call.announced)"
                ),
            ),
            SUPPRESS,
        ),
        "SCD-9",
    ),
    "log-fails-at-result": (
        "scheduler",
        (
            (
                "            self._journal.result(position, slot.call.announced, result)\n",
                (
                    "            with suppress(LogError):\n"
                    "                self._journal.result(position, slot.call.announced, result)\n"
                ),
            ),
            SUPPRESS,
        ),
        "SCD-9",
    ),
    "log-fails-at-pair": (
        "scheduler",
        (
            (
                "            self._journal.result(position, call, result)\n",
                (
                    "            with suppress(LogError):\n"
                    "                self._journal.result(position, call, result)\n"
                ),
            ),
            SUPPRESS,
        ),
        "SCD-9",
    ),
    "log-fails-at-asking": (
        "approval",
        (
            (
                "        request = None if log is None else log.asked(",
                (
                    "        request = None\n        with suppress(LogError):\n"
                    "            request = None if log is None else log.asked("
                ),
            ),
            SUPPRESS,
            ("from gnomon.errors import Code,", "from gnomon.errors import LogError, Code,"),
        ),
        "LOG-3",
    ),
    "log-fails-at-grant": (
        "approval",
        (
            (
                "            log.decided(",
                "            with suppress(LogError):\n                log.decided(",
            ),
            SUPPRESS,
            ("from gnomon.errors import Code,", "from gnomon.errors import LogError, Code,"),
        ),
        "LOG-3",
    ),
    "log-fails-then-repaired": (
        "scheduler",
        (
            (
                "            self._note_failure(error)\n            while self._in_flight:  # nothing",
                (
                    "            self._note_failure(error)\n            self._journal.close('failed')\n"
                    "            while self._in_flight:  # nothing"
                ),
            ),
        ),
        "REP-1",
    ),
    "next-unawaited": (
        "waterfall",
        (
            (
                "        going = self._pending()\n        if going is None:",
                "        going = None\n        if going is None:",
            ),
        ),
        "DSP-6",
    ),
    "next-while-pending": (
        "waterfall",
        (("        if self._pending() is not None:\n", "        if self is None:\n"),),
        "PRE-7",
    ),
    "next-after-the-end": (
        "waterfall",
        (("        if self._settled:\n", "        if self is None:\n"),),
        "PRE-7",
    ),
    "signal-that-is-none": (
        "pipeline",
        (
            (
                "        execution = DispatchExecution(call)\n",
                "        execution = _Lenient(call)\n",
            ),
            (
                "def _around(",
                (
                    "class _Lenient(DispatchExecution):\n    def __setattr__(self, name, value):\n"
                    "        if isinstance(value, AbortSignal):\n            self._call.signal = value\n\n\n"
                    "def _around("
                ),
            ),
        ),
        "CRE-5",
    ),
    "frozen-for-everybody": (
        "pipeline",
        (
            (
                "[_with(hook.function, call.view, result) for hook in hooks]",
                (
                    "[_with(hook.function, call.view, replace(result, "
                    "content=[dict(one) for one in result.content])) for hook in hooks]"
                ),
            ),
        ),
        "VAL-7",
    ),
    "context-from-outside": (
        "pipeline",
        (("            desk.close()  # DSP-15", "            pass"),),
        "DSP-15",
    ),
    "registration-undone": (
        "registry",
        (("            undo()  # REG-9\n            raise\n", "            raise\n"),),
        "REG-9",
    ),
    "changes-are-told": (
        "registry",
        (
            (
                '        return _added(layer.guards, self._entry(guard, "a guard", layer))\n',
                (
                    '        self._announce_contained(Change("registered", None, None), layer)\n'
                    '        return _added(layer.guards, self._entry(guard, "a guard", layer))\n'
                ),
            ),
        ),
        "REG-9",
    ),
}
"""The scenario that catches it: the module, the edits, and the clause that is named."""
