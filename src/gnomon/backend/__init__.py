"""All that is asyncio's or trio's own.

A *crew* runs the tasks of one batch: the lane, a task for each dispatch, and one for each body. The
caller's own task only waits for them, so a native cancellation of it can be turned into an abort without
cutting anything short (PY-3); `outlast` is such a wait. What a crew starts is *running*, and its answer is
waited for in the same way (PY-2). A *mailbox* is how a dispatch tells the lane that it has settled.
`interruptible` runs a body so that an abort interrupts it once (PY-2). `current_loop` is how another
thread reaches the loop (PY-11), `keep_ctrl_c_out` has Ctrl-C wait until it can be an abort (PY-3), and
`discard` closes what nobody will await (PY-8). `new_event` makes an *event* of the loop that runs,
`is_cancellation` knows its cancellations, and `InContext` awaits in context variables that are given (PY-7).
"""

from __future__ import annotations

from gnomon.backend._contexts import InContext
from gnomon.backend._crew import Crew, Mailbox, Running, keep_ctrl_c_out, supervise
from gnomon.backend._interrupt import Interrupted, interruptible
from gnomon.backend._loops import Loop, current_loop, discard
from gnomon.backend._waits import Event, is_cancellation, new_event, outlast

__all__ = [
    "Crew",
    "Event",
    "InContext",
    "Interrupted",
    "Loop",
    "Mailbox",
    "Running",
    "current_loop",
    "discard",
    "interruptible",
    "is_cancellation",
    "keep_ctrl_c_out",
    "new_event",
    "outlast",
    "supervise",
]
