"""One path of states that fits what was seen, taken as it comes.

The oracle keeps every state that fits. Where nothing is wrong one is enough, and mostly the first that comes
leads to the end; where it does not, nothing is known, and all of them have to be looked at.
"""

from __future__ import annotations

from gnomon_check.oracle import Oracle
from gnomon_check.refinement import Key, key_of
from gnomon_check.window import Window
from gnomon_check.world import World


def leads_through(oracle: Oracle, windows: tuple[Window, ...]) -> bool:
    """Whether a path that was taken leads through the windows, each code where it belongs.

    Then the oracle stands at its end; otherwise where it stood, and there may be another path.
    """
    for world in oracle.worlds:
        end = _through(oracle, windows, world)
        if end is not None:
            oracle.worlds = (end,)
            return True
    return False


def _through(oracle: Oracle, windows: tuple[Window, ...], world: World) -> World | None:
    here: World | None = world
    for window in windows:
        if window.step is None:
            return here if window.idle else None
        here = oracle.after(world, window.step)
        for key in filter(None, map(key_of, window.judged())):
            here = _past(oracle, here, key)
            if here is None:
                return None
        here = _rest(oracle, here, window)
        if here is None:
            return None
        world = here
    return here


def _past(oracle: Oracle, world: World, key: Key) -> World | None:
    """The state after an event: here, where it may come; else once the first that nobody sees is past."""
    met = set()
    here: World | None = world
    while here is not None and here not in met:
        met.add(here)
        unseen: World | None = None
        for move in oracle.moves(here):
            if not move.keys:
                unseen = unseen or move.world
            elif move.keys[0] == key:
                return move.begun()
        here = unseen
    return None


def _rest(oracle: Oracle, world: World, window: Window) -> World | None:
    """The state in which all rests as it did at the end of a window, once what nobody sees is past."""
    met = set()
    here = world
    while here not in met:
        met.add(here)
        still = True
        for move in oracle.moves(here):
            still = False
            if not move.keys:
                here = move.world
                break
        else:
            as_it_was = oracle.blocked(here) == window.blocked and oracle.idle(here) == window.idle
            return here if still and as_it_was else None
    return None
