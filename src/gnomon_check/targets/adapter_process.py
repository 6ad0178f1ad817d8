"""An adapter as a process: it is asked a line, and answers a line, within a time.

The one place of the kit that reads the wall clock: an implementation that hangs would hold up everything
else, so it is ended, and that it hangs is a verdict.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, Any

from pydantic import ValidationError

from gnomon_check.changes import faults
from gnomon_check.protocol import REQUEST, Manifest, ProtocolError, read_answer

LONGEST = 64 * 1024 * 1024
"""No answer is longer, in bytes."""
AHEAD = 16
"""How many lines are read ahead of what was asked; more than one is already a fault."""
LAST_WORDS = 5
"""How many lines of standard error are told of a process that has died."""


class Died(Exception):
    """The process has ended while it was to answer."""


class Hangs(Exception):
    """The process does not answer in time."""


class KitFault(Exception):
    """The kit would have asked what its own protocol does not allow."""


class AdapterProcess:
    """A running adapter. Whoever starts one ends it with `end`."""

    def __init__(self, command: str, *, seconds: float) -> None:
        """Start the command (its words are split as a shell does, and no shell runs it).

        `seconds` is how long an answer may take. Raises `Died` where it cannot be started.
        """
        self._command = command
        self._seconds = seconds
        self._number = 0
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that all that it has started is ended with it
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise Died(f"`{command}` cannot be started: {reason}") from None
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._lines: queue.Queue[bytes | None] = queue.Queue(AHEAD)
        self._told: deque[str] = deque(maxlen=LAST_WORDS)
        pipes = self._process.stdin, self._process.stdout, self._process.stderr
        works = self._write_requests, self._read_answers, self._read_words
        self._threads = [_started(work, pipe) for work, pipe in zip(works, pipes, strict=True)]

    # -- asking ---------------------------------------------------------------------------------

    def hello(self) -> Manifest:
        """Say hello, and hear who it is. Raises as `ask`."""
        manifest: Manifest = self.ask("hello", {})
        return manifest

    def ask(self, what: str, fields: dict[str, Any]) -> Any:
        """Ask something, and answer what was answered.

        Raises `ProtocolError` for an answer that is none, `Hangs`, `Died`, and `KitFault`.
        """
        self._number += 1
        request = {"id": self._number, what: fields}
        try:
            REQUEST.validate_python(request)
        except ValidationError as error:
            raise KitFault(f"the kit's own `{what}` is not valid: {faults(error)}") from None
        if not self._lines.empty():
            if self._lines.get() is None:
                self._lines.put(None)
                raise self._died(what)  # told alike, for when it is seen is a matter of chance
            raise ProtocolError(f"the adapter said something before it was asked `{what}`")
        self._requests.put(json.dumps(request).encode() + b"\n")
        return read_answer(self._next_line(what), what, self._number)

    def _next_line(self, what: str) -> bytes:
        try:
            line = self._lines.get(timeout=self._seconds)
        except queue.Empty:
            raise Hangs(f"it did not answer `{what}` within {self._seconds:g} seconds") from None
        if line is None:
            raise self._died(what)
        if len(line) > LONGEST:
            raise ProtocolError(f"the adapter's answer to `{what}` is longer than {LONGEST} bytes")
        return line

    # -- the pipes --------------------------------------------------------------------------------

    def _write_requests(self, pipe: IO[bytes]) -> None:
        """Write in a thread of its own: a process that hangs may not read either."""
        while (line := self._requests.get()) is not None:
            try:
                pipe.write(line)
                pipe.flush()
            except OSError:
                return  # it has ended, which whoever waits for its answer is told

    def _read_answers(self, out: IO[bytes]) -> None:
        for line in _lines(out):
            self._lines.put(line)
        self._lines.put(None)

    def _read_words(self, out: IO[bytes]) -> None:
        for line in _lines(out):
            self._told.append(line.decode("utf-8", "replace").rstrip())

    def _died(self, what: str) -> Died:
        return Died(self._words(f"has ended instead of answering `{what}`"))

    def _words(self, what: str) -> str:
        """What became of the process, with its last words."""
        try:
            code: int | None = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = None  # it has closed its standard output, and lives on
        self._threads[-1].join(timeout=1)
        ended = "" if code is None else f", with exit code {code}"
        told = "".join(f"\n    {line}" for line in self._told)
        last = f"; its last words on standard error:{told}" if told else ""
        return f"it {what}{ended}{last}"

    # -- ending -----------------------------------------------------------------------------------

    def end(self) -> None:
        """End it: kindly, by saying bye, where it still answers; else at once."""
        if self._process.poll() is None:
            try:
                self.ask("bye", {})
                self._process.wait(timeout=self._seconds)
            except (ProtocolError, Hangs, Died, subprocess.TimeoutExpired):
                self.kill()
        self._close()

    def kill(self) -> None:
        """End it at once, with all that it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _close(self) -> None:
        self._requests.put(None)
        _, answers, _ = self._threads
        while answers.is_alive():
            with suppress(queue.Empty):  # it may wait for room in the queue
                self._lines.get(timeout=0.05)
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            with suppress(OSError):  # what was still to be written goes nowhere: the process has ended
                pipe.close()


def _started(work: Callable[[IO[bytes]], None], pipe: IO[bytes] | None) -> threading.Thread:
    assert pipe is not None, "each of the three was asked for"
    thread = threading.Thread(target=work, args=(pipe,), daemon=True)
    thread.start()
    return thread


def _lines(out: IO[bytes]) -> Iterator[bytes]:
    """The lines of a pipe; of one that is too long only so much that it shows."""
    while line := out.readline(LONGEST + 1):
        yield line
