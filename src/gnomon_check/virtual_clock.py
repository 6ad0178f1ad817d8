"""Virtual time: it goes on where a scenario says so, and nowhere else."""

from __future__ import annotations

import anyio


class VirtualClock:
    """A clock of whole milliseconds, for runtimes that take a clock."""

    def __init__(self) -> None:
        self.ms = 0
        self._until = 0
        self._alarms: list[tuple[int, anyio.Event]] = []
        self._over = False

    def now(self) -> float:
        """The time, in seconds."""
        return self.ms / 1000

    async def sleep_until(self, moment: float) -> None:
        """Wait until that time, in seconds, has come."""
        await self.alarm(round(moment * 1000)).wait()

    def alarm(self, moment: int) -> anyio.Event:
        """What is set when that time has come, in milliseconds."""
        event = anyio.Event()
        if self._over or moment <= self.ms:
            event.set()
        else:
            self._alarms.append((moment, event))
        return event

    def advance(self, ms: int) -> None:
        """Let time go on by so much; it does so from alarm to alarm (`pass_on`)."""
        self._until += ms

    def pass_on(self) -> bool:
        """Go on to the time of the next alarm, and set it off; False where time has come as far as it may.

        Whoever drives the clock lets everything run that an alarm has woken before time passes on.
        """
        following = min((moment for moment, _ in self._alarms), default=self._until + 1)
        self.ms = min(following, self._until)
        due = [event for moment, event in self._alarms if moment <= self.ms]
        self._alarms = [one for one in self._alarms if one[0] > self.ms]
        for event in due:
            event.set()
        return bool(due)

    def finish(self) -> None:
        """Let every alarm go off, and those to come at once."""
        self._over = True
        for _, event in self._alarms:
            event.set()
        self._alarms = []
