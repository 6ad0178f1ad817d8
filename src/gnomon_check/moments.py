"""What a moment itself forbids: a log that has failed, an approval that is in no log, an abort.

Most of what is wrong is told by what else could have come. At these moments the clause is another than
that of the event which comes next.
"""

from __future__ import annotations

from gnomon_check.oracle import Blocked, Oracle, World
from gnomon_check.refinement import Key
from gnomon_spec.kernel import Refused
from gnomon_spec.vocabulary import Stage


def refused_at_once(oracle: Oracle, key: Key) -> Refused | None:
    """Why an event may not come at a moment, whatever else could; or nothing."""
    refused = to_be_refused(oracle, key[1]) or _of_changes(oracle, key)
    if refused is not None:
        return refused
    for world in oracle.closure():
        refused = _unlogged(oracle, world, key[1]) or _not_dispatched(world, key) or _still_runs(world, key)
        refused = refused or _borrowed(oracle, world, key)
        if refused is not None:
            return refused
    return None


_CLAUSES = {"next": "PRE-7", "defer": "DSP-15", "mutate": "VAL-7"}
"""What a refused operation is refused by; all others are about signals."""


def _of_op(op: str, pos: int | None) -> Refused:
    return Refused(_CLAUSES.get(op, "CRE-5"), f"a `{op}` in a script of call {pos} is to be refused first")


def to_be_refused(oracle: Oracle, of: int | None = None) -> Refused | None:
    """What of a call, or of any, has to be refused before anything else can come; or nothing."""
    found = (one for one in oracle.allowed() if one[0] == "op.refused" and of in (None, one[1]))
    return next((_of_op(str(detail[0]), pos) for _, pos, detail in found), None)


def unlogged(oracle: Oracle, pos: int | None = None) -> Refused | None:
    """Why nothing of a call goes on, or of any call, where the log did not take a record (SCD-9, LOG-3)."""
    found = (_unlogged(oracle, world, pos) for world in oracle.closure())
    return next((one for one in found if one is not None), None)


def _unlogged(oracle: Oracle, world: World, pos: int | None) -> Refused | None:
    if oracle.scenario.log is None:
        return None
    for number, call in enumerate(world.calls):
        if call is not None and call.setup.unlogged and pos in (None, number):
            return Refused(
                "LOG-3", f"the log did not take the approval of call {number}, which grants nothing"
            )
    if world.batch is not None and world.batch.failed:
        return Refused(
            "SCD-9", "the log did not take a record, so that nothing further starts or is appended"
        )
    return None


def _not_dispatched(world: World, key: Key) -> Refused | None:
    """A call that was prepared when the caller had aborted comes to none of its wrappers (GRD-5)."""
    name, pos, detail = key
    call = world.calls[pos] if pos is not None and pos < len(world.calls) else None
    if name != "policy.entered" or detail[0] != "execute" or call is None or call.body_invoked:
        return None
    if call.aborted and call.stage in (Stage.SETTLED, Stage.PROJECT, Stage.POST):
        return Refused("GRD-5", f"the caller has aborted, so call {pos} is not dispatched")
    return None


def _still_runs(world: World, key: Key) -> Refused | None:
    """What a wrapper has started runs to its end before anything else happens to its call (DSP-6)."""
    name, pos, detail = key
    call = world.calls[pos] if pos is not None and pos < len(world.calls) else None
    if call is None or all(frame.settled is None for frame in call.frames):
        return None
    if name == "result.logged" or (name == "policy.entered" and detail[0] == "post_execute"):
        return Refused("DSP-6", f"what a listener of call {pos} has started with next() still runs")
    return None


_AFTER_WRAPPERS = (Stage.SETTLED, Stage.SETTLED_FINAL, Stage.PROJECT, Stage.POST, Stage.DONE)
_SHOWS_A_RESULT = ("content.rendered", "content.meta", "policy.entered", "result.logged")


def _borrowed(oracle: Oracle, world: World, key: Key) -> Refused | None:
    """What comes of a call whose wrapper has ended with a result that was made for another (DSP-10)."""
    name, pos, _ = key
    call = world.calls[pos] if pos is not None and pos < len(world.calls) else None
    if pos not in oracle.scenario.borrowers or call is None or name not in _SHOWS_A_RESULT:
        return None
    its_turn = world.batch is not None and world.batch.committed == pos
    if call.stage not in _AFTER_WRAPPERS or (name == "result.logged" and not its_turn):
        return None
    return Refused(
        "DSP-10",
        f"call {pos} has a result that was made for another call: its value is checked and rendered anew",
    )


_OF_A_DECISION = {
    "pre_execute": ("PRE-5", "PRE-2"),
    "execute": ("DSP-13", "DSP-13"),
    "post_execute": ("PST-7", "PST-3"),
    "approval": ("APP-4", "APP-4"),
}
"""By which clause a policy fails its call that has raised; and one that has decided nothing that it may."""
_OF_AN_EVENT = {"guard.answered": "GRD-4", "approval.asked": "APP-4"}


def failing_policy(oracle: Oracle, pos: int | None) -> str:
    """The clause by which a call has failed with POLICY_ERROR: that of the policy that ended last."""
    for name, whose, detail in reversed(oracle.seen):
        if whose == pos and name in _OF_AN_EVENT:
            return _OF_AN_EVENT[name]
        if whose == pos and name == "policy.decided":
            raised, otherwise = _OF_A_DECISION[str(detail[0])]
            return raised if detail[-1] == "raised" else otherwise
    return "PRE-2"


def _of_changes(oracle: Oracle, key: Key) -> Refused | None:
    """Who hears of changes hears of no other, and what one of them objects to is undone (REG-9)."""
    name, pos, _ = key
    if all(one.on != "change" for one in oracle.scenario.hooks):
        return None
    if name == "noted" and pos is None:
        return Refused("REG-9", "nobody is told of a change of that kind, or who is told says something else")
    if name == "registry.changed":
        return Refused("REG-9", "what somebody has objected to is undone, and all else stands")
    return None


def hears_nothing(oracle: Oracle, pos: int) -> Refused | None:
    """Why a listener that is no wrapper, and awaits an abort, does not go on: only its caller's counts."""
    for world in oracle.closure():
        call = world.calls[pos] if pos < len(world.calls) else None
        awaits = Blocked(await_abort=pos) in oracle.blocked(world)
        if call is not None and call.stage in (Stage.PRE, Stage.POST) and awaits:
            return Refused("CRE-5", f"call {pos} has its caller's signal there, and that has not aborted")
    return None
