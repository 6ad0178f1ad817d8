"""Many who flush at once share one sync of the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

import anyio

from gnomon.backend import current_loop
from gnomon.errors import LogError


class GroupSync:
    """Rounds of a sync: whoever comes while one is running is served by the next, together with all others.

    A round runs in a thread of its own, which belongs to nobody who waits: a cancellation of one of them
    leaves the others, and the sync, alone. Those who wait may come from several event loops.
    """

    __slots__ = ("_busy", "_lock", "_sync", "_waiting")

    def __init__(self, sync: Callable[[], None]) -> None:
        """`sync` covers all that was there when it began; it raises `LogError`."""
        self._sync = sync
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._busy = False

    async def flush(self) -> None:
        """Wait for a sync that began after this was called. Raises its `LogError`."""
        mine = _Waiting()
        with self._lock:
            self._waiting.append(mine)
            leads, self._busy = not self._busy, True
        if leads:
            try:
                threading.Thread(target=self._run, name="gnomon log sync").start()
            except BaseException as error:
                with self._lock:
                    left, self._waiting, self._busy = self._waiting, [], False
                self._serve(left, f"no thread could be started: {error}")
                raise
        await mine.over.wait()
        if mine.failure is not None:
            raise LogError(mine.failure)

    def _run(self) -> None:
        while served := self._next_round():
            failure = None
            try:
                self._sync()
            except BaseException as error:  # this thread has nobody else to tell
                failure = str(error) or type(error).__name__
            self._serve(served, failure)

    def _next_round(self) -> list[_Waiting]:
        with self._lock:
            served, self._waiting = self._waiting, []
            self._busy = bool(served)
        return served

    def _serve(self, served: list[_Waiting], failure: str | None) -> None:
        for one in served:
            one.tell(failure)


class _Waiting:
    """One who waits for a round."""

    __slots__ = ("_post", "failure", "over")

    def __init__(self) -> None:
        loop = current_loop()
        assert loop is not None
        self._post = loop.post
        self.over = anyio.Event()
        self.failure: str | None = None

    def tell(self, failure: str | None) -> None:
        self.failure = failure
        with suppress(RuntimeError):  # its loop was closed: nobody waits there
            self._post(self.over.set)
