"""A campaign: many scenarios are drawn, in shares that processes work off, until one fails.

A share is drawn from the seed and its own number. Shares are told in the order of their numbers, however
many processes there are, and the first one that fails ends the campaign: so what is told does not depend on
them. Every process begins alike, the only one as well, for what is drawn may depend on what was imported.
"""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import TypeAlias

from gnomon import GnomonWarning
from gnomon_check.conform import conform
from gnomon_check.drawing import KINDS, Share, Tally, look_through
from gnomon_check.scenario_files import shipped
from gnomon_check.targets.adapter_process import KitFault
from gnomon_check.targets.named import named

_LARGEST = 50
"""Scenarios in a share, at most: as many are run at most in vain, and once more where one fails."""
_AHEAD = 4
"""So many shares a process may be ahead of the first one that has not come back."""
_WORN_OUT = 40
"""After so many shares a process is replaced: what it remembers of the scenarios before goes with it, so that
memory does not grow with what is drawn."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be drawn, and what it is run on."""

    target: str
    count: int
    seed: int
    backends: tuple[str, ...]
    seconds: float
    """How long an adapter may take for an answer."""

    def share(self, number: int) -> Share:
        """The share of a number."""
        size = self._size
        return Share(self.seed, number, min(size, self.count - number * size))

    @property
    def shares(self) -> int:
        """How many shares there are."""
        return -(-self.count // self._size)

    @property
    def _size(self) -> int:
        return min(_LARGEST, -(-self.count // len(KINDS)))  # a few are of every kind as well


@dataclass(slots=True)
class Outcome:
    """What came of a campaign, or of it so far."""

    tally: Tally
    interrupted: bool = False
    shrinks: bool = False
    """The first failure is being made small."""


Progress: TypeAlias = Callable[[Outcome], None]


def carry_out(plan: Plan, *, jobs: int, progress: Progress) -> Outcome:
    """Carry out a campaign with so many processes, up to the first failure, which is made small.

    `progress` is told whenever there is more. A KeyboardInterrupt ends it; what was found until then is
    answered. Raises `KitFault`.
    """
    outcome = Outcome(Tally())
    crew = _Crew(plan, min(jobs, plan.shares))
    try:
        for number, tally in crew.in_order():
            outcome.tally.add(tally)
            if tally.failed is not None:
                outcome.shrinks = True
                progress(outcome)
                smaller = crew.shrink(number)
                outcome.tally.failed = smaller.failed or tally.failed
                outcome.tally.wavers = smaller.wavers or smaller.failed is None
                break
            progress(outcome)
    except KeyboardInterrupt:
        outcome.interrupted = True
    finally:
        crew.end()
    outcome.shrinks = False
    return outcome


class _Crew:
    """The processes of a campaign."""

    def __init__(self, plan: Plan, size: int) -> None:
        self._plan = plan
        self._workers = [_Worker(plan) for _ in range(size)]

    def in_order(self) -> Iterator[tuple[int, Tally]]:
        """What came of each share, in the order of their numbers."""
        came: dict[int, Tally] = {}
        following, unsent = 0, 0
        while following < self._plan.shares:
            self._replace_the_worn_out()
            for worker in self._workers:
                ahead = unsent < following + _AHEAD * len(self._workers)
                if worker.at is None and unsent < self._plan.shares and ahead:
                    worker.give(unsent, shrinks=False)
                    unsent += 1
            for worker in self._that_answer():
                number, tally = worker.answer()
                came[number] = tally
            while following in came:
                yield following, came.pop(following)
                following += 1

    def _replace_the_worn_out(self) -> None:
        for place, worker in enumerate(self._workers):
            if worker.at is None and worker.given >= _WORN_OUT:
                _end([worker])
                self._workers[place] = _Worker(self._plan)

    def shrink(self, number: int) -> Tally:
        """Make the failure of a share small; nothing else goes on."""
        at_it, *others = sorted(self._workers, key=lambda one: one.at is not None)
        _end(others)
        while at_it.at is not None:
            at_it.answer()
        at_it.give(number, shrinks=True)
        return at_it.answer()[1]

    def end(self) -> None:
        """End all processes."""
        _end(self._workers)

    def _that_answer(self) -> list[_Worker]:
        busy = {worker.pipe: worker for worker in self._workers if worker.at is not None}
        return [busy[pipe] for pipe in wait(list(busy)) if isinstance(pipe, Connection)]


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join()


class _Worker:
    """A process that looks through shares, one after the other."""

    def __init__(self, plan: Plan) -> None:
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(plan, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self.at: int | None = None
        """The share that it is at."""
        self.given = 0
        """How many it has been given."""

    def give(self, number: int, *, shrinks: bool) -> None:
        """Give it a share."""
        self.at = number
        self.given += 1
        self.pipe.send((number, shrinks))

    def answer(self) -> tuple[int, Tally]:
        """What came of its share. Raises `KitFault`."""
        number, self.at = self.at, None
        assert number is not None
        try:
            answer: Tally | str = self.pipe.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            reason = f"a process that runs scenarios ended by itself (exit code {self._process.exitcode})"
            raise KitFault(reason) from None
        if isinstance(answer, str):
            raise KitFault(answer)
        return number, answer

    def stop(self) -> None:
        """Have it end, and with it the adapter that it may have started."""
        if self._process.is_alive():
            self._process.terminate()

    def join(self) -> None:
        """Wait until it has ended."""
        self._process.join()
        self.pipe.close()


def _work(plan: Plan, pipe: Connection) -> None:
    """What such a process does, until it is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who has started this
    warnings.simplefilter("ignore", GnomonWarning)  # observers raise where their scripts say so (FIN-3)
    subject = named(plan.target, seconds=plan.seconds)

    def ended(*_: object) -> None:
        subject.end()
        os._exit(0)  # an exception would be one more failure to whoever draws

    signal.signal(signal.SIGTERM, ended)
    try:
        # What is imported only where it is needed may change what is drawn later: so it is needed now.
        first = next(iter(shipped()))
        for backend in plan.backends:
            conform(first, subject, backend)
        while True:
            number, shrinks = pipe.recv()
            pipe.send(look_through(plan.share(number), subject, plan.backends, shrinks=shrinks))
    except (EOFError, ConnectionError):
        return
    except Exception as error:  # whatever it is: nobody else could tell of it
        told = str(error) if isinstance(error, KitFault) else traceback.format_exc()
        pipe.send(f"a process that runs scenarios failed: {told}")
    finally:
        subject.end()
