"""JSON Schema, draft 2020-12: what is published is what is enforced (SCH-8).

The verdict is jsonschema-rs's, which works in linear time and fetches nothing. Text that it
cannot take (a lone surrogate) is judged by jsonschema instead (VAL-6).
"""

from __future__ import annotations

import warnings
from typing import Any

import jsonschema
import jsonschema_rs
import referencing

from gnomon.errors import RegistrationError
from gnomon.values import JSON, show_path


class Schema:
    """A schema that has been compiled once, and checks values."""

    __slots__ = ("_fast", "_source")

    def __init__(self, source: JSON, what: str) -> None:
        """Compile a schema. `what` names it in messages. Raises `RegistrationError` if it is none."""
        if not isinstance(source, dict):
            raise RegistrationError(f"{what} must be a JSON Schema object, not {type(source).__name__}")
        self._source = source
        try:
            self._fast = jsonschema_rs.Draft202012Validator(
                source, offline=True, pattern_options=jsonschema_rs.RegexOptions()
            )
        except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
            raise RegistrationError(f"{what} is not a usable JSON Schema: {error}") from error

    def violations(self, value: JSON) -> list[str]:
        """Every way in which `value` does not fit, each with its path; empty where it fits."""
        try:
            if self._fast.is_valid(value):
                return []
            found = [(list(one.instance_path), one.message) for one in self._fast.iter_errors(value)]
        except (UnicodeEncodeError, ValueError):
            found = [(list(one.absolute_path), one.message) for one in self._slow().iter_errors(value)]
        return [f"{show_path(tuple(path))}: {message}" for path, message in found]

    def _slow(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return jsonschema.Draft202012Validator(self._source, registry=referencing.Registry())
