"""Adapters that come with the kit, a folder each: to be held to the specification, and to be copied."""

import shlex
from pathlib import Path

FOLDER = Path(__file__).parent
_STARTED_BY = {"javascript": ("node", "adapter.mjs")}
LANGUAGES = tuple(_STARTED_BY)
"""The languages that there is an adapter in."""


def command(language: str, folder: Path | None = None) -> str:
    """The command that starts the adapter in a language, or a copy of it in another folder."""
    program, file = _STARTED_BY[language]
    return shlex.join([program, str((folder or FOLDER / language) / file)])
