"""A trace in a file, one event a line."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from gnomon.session.records import encoded


class JsonlTrace:
    """A sink that writes a file anew, as `Runtime(trace=JsonlTrace(path))`.

    Each line is handed to the operating system at once. A file that cannot be written raises at the event,
    so the runtime drops the trace, with a warning. One file is for one runtime.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the file. Raises `OSError`."""
        self.path = Path(path)
        self._lock = threading.Lock()
        self._file = self.path.open("wb", buffering=0)

    def __call__(self, event: dict[str, Any]) -> None:
        line = encoded(event) + b"\n"
        with self._lock:
            left = memoryview(line)
            while left:
                left = left[self._file.write(left) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> JsonlTrace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
