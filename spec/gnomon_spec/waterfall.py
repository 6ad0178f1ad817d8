"""PRE-1, PRE-7: how the listeners of a waterfall are nested.

A waterfall is a row of listeners, the first registered outermost. Each may
decide by itself, or call `next()`: then the rest of the row runs, innermost a
default, and its answer comes back. A listener may do so again: then the whole
rest runs again. The three waterfalls of a call (pre-execute, execute,
post-execute) differ only in what is decided and in what is innermost.

The state of a waterfall is its *frames*: the listeners that have started and
not ended, outermost first. The last one is the one that is running.
"""

from __future__ import annotations

from gnomon_spec.kernel import NotEnabled, Refused, clause
from gnomon_spec.vocabulary import Answer, Frame

Frames = tuple[Frame, ...]


@clause("PRE-1")
def entered(count: int) -> Frames:
    """Begin a waterfall of `count` listeners; without any, the innermost is reached at once.

    PRE-1  Listeners MUST run in registration order, the first outermost; the
           set is fixed when the waterfall starts.
    """
    return (Frame(0),) if count else ()


@clause("PRE-7")
def refuse_delegate(frames: Frames, listener: int) -> Refused | None:
    """Say why a listener may not call `next()` now, or nothing.

    PRE-7  After the listener has settled, or while an earlier `next()` of the
           same listener is pending, `next()` MUST raise in it.
    """
    frame = _of(frames, listener)
    if frame is None or frame.settled is not None:
        return Refused("PRE-7", f"listener {listener} has settled, or has not been reached")
    if frame.pending:
        return Refused("PRE-7", f"an earlier next() of listener {listener} is pending")  # PRE-7
    return None


@clause("PRE-1", "PRE-7")
def delegated(frames: Frames, listener: int, count: int) -> Frames:
    """Let a listener call `next()`: the rest of the row runs.

    PRE-7  A second `next()` MUST run the whole rest again.
    """
    refused = refuse_delegate(frames, listener)
    if refused is not None:
        raise NotEnabled(refused)
    frame = frames[-1]
    waiting = (*frames[:-1], Frame(frame.listener, frame.delegated + 1, pending=True))
    following = frame.listener + 1
    return (*waiting, Frame(following)) if following < count else waiting  # PRE-1


def refuse_decide(frames: Frames, listener: int) -> Refused | None:
    """Say why a listener may not end now, or nothing."""
    frame = _of(frames, listener)
    if frame is None or frame.settled is not None:
        return Refused("PRE-1", f"listener {listener} is not running")
    return None


@clause("PRE-3", "DSP-6")
def decided(frames: Frames, listener: int, answer: Answer) -> tuple[Frames, Answer | None]:
    """Let a listener end; say which frames are left, and what the whole row answers if it is over.

    PRE-3  A listener that decides without delegating MUST hide those after it.
    DSP-6  Where it ends without having waited for its `next()`, what that
           started MUST still run to its end.
    """
    refused = refuse_decide(frames, listener)
    if refused is not None:
        raise NotEnabled(refused)
    place = next(index for index, frame in enumerate(frames) if frame.listener == listener)
    frame = frames[place]
    if frame.pending:
        kept = Frame(frame.listener, frame.delegated, pending=True, settled=answer)
        return (*frames[:place], kept, *frames[place + 1 :]), None  # DSP-6
    return answered(frames[:-1], answer)  # PRE-3


def answered(frames: Frames, answer: Answer) -> tuple[Frames, Answer | None]:
    """Hand an answer to the listener that waits for it; a listener that did not wait keeps its own."""
    while frames:
        waiting = frames[-1]
        if waiting.settled is None:
            return (*frames[:-1], Frame(waiting.listener, waiting.delegated, heard=answer)), None
        frames, answer = frames[:-1], waiting.settled
    return (), answer


def running(frames: Frames) -> int | None:
    """The listener that is running, or nothing where the innermost is."""
    if not frames or frames[-1].pending:
        return None
    return frames[-1].listener


def _of(frames: Frames, listener: int) -> Frame | None:
    return next((frame for frame in frames if frame.listener == listener), None)
