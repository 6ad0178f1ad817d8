"""Adapters that come with the kit, a folder each: to be held to the specification, and to be copied."""

import shlex
from pathlib import Path

FOLDER = Path(__file__).parent
_STARTED_BY = {"javascript": ("node", "adapter.mjs")}
_IN_PROCESS = {"python": "python:adapter:Adapter"}
LANGUAGES = (*_STARTED_BY, *_IN_PROCESS)
"""The languages that there is an adapter in."""


def command(language: str, folder: Path | None = None) -> str:
    """The command that starts the adapter in a language, or a copy of it in another folder."""
    program, file = _STARTED_BY[language]
    return shlex.join([program, str((folder or FOLDER / language) / file)])


def first_steps(language: str, folder: Path) -> list[str]:
    """What to type to see that a copy in a folder conforms."""
    if language in _IN_PROCESS:
        target = _IN_PROCESS[language]
        return [shlex.join(["cd", str(folder)]), f"gnomon smoke {target}", f"gnomon conform {target}"]
    target = shlex.quote(f"exec:{command(language, folder)}")
    return [f"gnomon smoke {target}", f"gnomon conform {target}"]
