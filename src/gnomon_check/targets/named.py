"""What a target on the command line means."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from gnomon_check import adapters
from gnomon_check.driver import InProcess
from gnomon_check.subject import Subject
from gnomon_check.targets.builtin import Builtin
from gnomon_check.targets.dsh import CannotInstall, dsh
from gnomon_check.targets.foreign import Foreign, in_a_line
from gnomon_check.targets.remote import Remote

FORMS = {
    "builtin": "the runtime of this package, in this process",
    "dsh": "the DeepSeek Harness, whose packages npm installs into a cache; it needs Node 20 or newer",
    "exec:COMMAND": "an adapter in any language, which speaks the protocol on its standard input and output",
    "python:MODULE:FACTORY": "a runtime for Python, in this process: what the factory answers drives it",
}
"""The forms of a target, and what each means."""


class UnknownTarget(ValueError):
    """Nothing can be held to the specification by that name; the message says why."""


def named(target: str, *, seconds: float) -> Subject:
    """The implementation that a target means; an adapter has `seconds` for each answer.

    Raises `UnknownTarget`.
    """
    kind, _, rest = target.partition(":")
    match kind, rest:
        case "builtin", "":
            return Builtin()
        case "dsh", "":
            return _dsh(seconds)
        case "exec", command if command.strip():
            return Remote(command, seconds=seconds)
        case "python", place if ":" in place:
            return _made(place)
        case _:
            forms = "; ".join(f"{form} ({meaning})" for form, meaning in FORMS.items())
            raise UnknownTarget(f"there is no target {target!r}. A target is one of: {forms}")


def known_of(target: str) -> Path | None:
    """The baseline that comes with a target, if one does."""
    file = adapters.FOLDER / target / "baseline.toml"
    return file if target in FORMS and file.is_file() else None


def _dsh(seconds: float) -> Subject:
    try:
        return dsh(seconds=seconds)
    except CannotInstall as error:
        raise UnknownTarget(f"dsh cannot be used: {error}") from None


def _made(place: str) -> Foreign:
    """What a factory answers; its module is looked for in the current folder first, as Python itself does."""
    module, _, factory = place.partition(":")
    try:
        here = os.getcwd()
        if here not in sys.path:
            sys.path.insert(0, here)
        made = getattr(importlib.import_module(module), factory)()
    except (Exception, SystemExit) as error:  # it is somebody's own code: anything may be raised there
        raise UnknownTarget(f"python:{place} cannot be used: {in_a_line(error)}") from None
    if not isinstance(made, InProcess):
        raise UnknownTarget(
            f"python:{place} cannot be used: {factory} answers a {type(made).__name__}, and has to answer an "
            "instance of a class that is derived from gnomon_check.driver.InProcess"
        )
    return Foreign(made)
