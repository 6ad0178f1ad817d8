"""Hypothesis strategies for situations that take several things at once, and so are seldom met by chance.

Each begins with a scenario that comes to its situation, and then disturbs it: more calls, a listener more,
other inputs in between. What is drawn smallest is the scenario as it began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import strategies as st

from gnomon_check.generate import ENDINGS, GUARD_ENDS, Plain, calls_of, listeners, release
from gnomon_check.generate_living import REGISTRY_CHANGES
from gnomon_check.scenario import Scenario

_GATE: Plain = {"gate": {"name": "body:$call"}}
_OPEN: Plain = {"open": {}}
_END: Plain = {"return": {"value": {"$nonce": True}}}
_BLOCK: Plain = {"kind": "block", "feedback": [{"type": "text", "text": "no"}]}
_ASK: Plain = {"kind": "ask", "reason": "sure?"}


def _plain(tool: Plain, schedule: Iterable[Plain], *, calls: int = 1, pool: int = 2) -> Plain:
    """Calls of one tool, which may overlap."""
    return {
        "scenario": "gnomon/1",
        "id": "generated",
        "title": "drawn by Hypothesis",
        "clauses": [],
        "limits": {"max_parallel": pool},
        "tools": [{"name": "red", "parallel": True, **tool}],
        "batches": [{"id": "b1", "calls": [{"id": f"c{pos}", "name": "red"} for pos in range(calls)]}],
        "schedule": [_OPEN, *schedule],
        "hooks": [],
        "guards": [],
    }


def _release(pos: int, gate: str = "body") -> Plain:
    return release(f"{gate}:{pos}")


def _hook(name: str, on: str, *script: Plain) -> Plain:
    return {"id": name, "on": on, "script": list(script)}


def _ending(draw: st.DrawFn) -> Plain:
    return draw(st.just(_END) | st.sampled_from(ENDINGS))


# -- the situations -------------------------------------------------------------------------------


def _a_deadline(draw: st.DrawFn) -> Plain:
    """A body hears of its deadline; it may be tried again."""
    tool = {"timeout_ms": 5, "interrupt": "signal", "body": [{"await_abort": {}}, _ending(draw)]}
    plain = _plain(tool, [{"advance": {"ms": 5}}] * draw(st.integers(1, 2)))
    if draw(st.booleans()):
        plain["hooks"].append({**_hook("again", "execute", {"next": {}}, {"next": {}}), "prepend": True})
    return plain


def _a_signal_of_a_wrapper(draw: st.DrawFn) -> Plain:
    """A body hears that the signal of a wrapper has aborted."""
    plain = _plain({"body": [{"await_abort": {}}, _ending(draw)]}, [{"abort": {"signal": "own0"}}])
    own = {"set_signal": {"name": "own0", "aborted": False}}
    plain["hooks"].append(_hook("signal0", "execute", own, {"next": {}}, {"pass": {}}))
    return plain


def _an_end_of_the_turn(draw: st.DrawFn) -> Plain:
    """A call ends the turn, and its siblings still run."""
    count = draw(st.integers(1, 2))
    return _plain({"body": [{"conclude": {}}, _GATE, _END]}, map(_release, range(count)), calls=count)


def _a_drain(draw: st.DrawFn) -> Plain:
    """The task is cancelled natively while the bodies of an aborted batch are awaited."""
    order = draw(st.permutations(range(2)))
    steps = [{"abort": {}}, {"cancel": {}}, *map(_release, order)]
    return _plain({"body": [_GATE, _ending(draw)]}, steps, calls=draw(st.integers(2, 3)))


def _a_failure_beside(draw: st.DrawFn) -> Plain:
    """A body raises while another runs."""
    raised = draw(st.sampled_from([one for one in ENDINGS if "raise" in one]))
    order = draw(st.permutations(range(2)))
    return _plain({"body": [_GATE, raised]}, map(_release, order), calls=2)


def _a_restriction_lifted(draw: st.DrawFn) -> Plain:
    """What hid a tool is taken back, before the batch or while it runs."""
    plain = _plain({"body": [_GATE, _ending(draw)], "parallel": False}, [_release(0), _release(1)], calls=2)
    lift = {"lift": {"restriction": "agent@1"}}
    plain["schedule"].insert(draw(st.integers(0, 2)), lift)
    plain["schedule"].insert(0, {"restrict": {"scope": "agent", "allow": []}})
    return plain


def _a_change_with_a_full_pool(draw: st.DrawFn) -> Plain:
    """Something changes while no other call can start."""
    pool = draw(st.integers(1, 2))
    steps = [{"register": {"tool": "red-2"}}, *map(_release, range(3))]
    plain = _plain({"body": [_GATE, _ending(draw)]}, steps, calls=3, pool=pool)
    again = {"name": "red", "id": "red-2", "later": True, "scope": "agent", "body": [_END]}
    plain["tools"].append({**again, "parallel": draw(st.booleans())})
    return plain


def _an_answer(draw: st.DrawFn) -> Plain:
    """Approvals are answered, each in its own way, by the harness or by those who answer in a row."""
    outcomes = draw(
        st.lists(st.sampled_from(("rejected", "cancelled", "unavailable")), min_size=1, max_size=2)
    )
    plain = _plain({"body": [_END]}, [], calls=len(outcomes))
    plain["hooks"].append(_hook("asks", "pre_execute", {"decide": {"decision": _ASK}}))
    plain["approval"] = {"policy": "ask"}
    steps = [{"approve": {"pos": pos, "outcome": one}} for pos, one in enumerate(outcomes)]
    if outcomes[0] != "unavailable" and draw(st.booleans()):
        answers = {"id": "second", "script": [{"answer": {"outcome": outcomes[0]}}]}
        passes = {"id": "first", "script": [{"gate": {"name": "answer0:$call"}}, {"next": {}}, {"pass": {}}]}
        plain["approval"]["answerers"] = [passes, answers]
        steps = [_release(pos, "answer0") for pos in range(len(outcomes))]
    plain["schedule"] += steps
    return plain


def _a_block(draw: st.DrawFn) -> Plain:
    """A result is blocked after its body ran."""
    plain = _plain({"body": [{"defer": {"context": "d"}}, _GATE, _END]}, [_release(0)])
    decided = {"decide": {"decision": _BLOCK, "contexts": draw(st.sampled_from(([], ["blocked"])))}}
    asks_first: list[Plain] = draw(st.sampled_from(([], [{"next": {}}])))
    plain["hooks"].append(_hook("blocks", "post_execute", *asks_first, decided))
    return plain


def _an_abort_under_a_listener(draw: st.DrawFn) -> Plain:
    """The caller aborts, or is cancelled, while a listener waits."""
    on = draw(st.sampled_from(("pre_execute", "execute", "post_execute")))
    word = draw(st.sampled_from(("abort", "cancel")))
    plain = _plain({"body": [_END]}, [{word: {}}, _release(0, "hook0")])
    plain["hooks"].append(_hook("hook0", on, {"gate": {"name": "hook0:$call"}}, {"next": {}}, {"pass": {}}))
    return plain


def _a_failure_after_an_abort(draw: st.DrawFn) -> Plain:
    """The runtime fails while it drains."""
    struck = {"raise": {"kind": draw(st.sampled_from(("keyboard", "exit")))}}
    steps = [{"abort": {}}, *map(_release, draw(st.permutations(range(2))))]
    return _plain({"body": [_GATE, struck]}, steps, calls=2)


def _a_policy_that_comes(draw: st.DrawFn) -> Plain:
    """A guard or a listener is added, and perhaps taken away, while a call before it runs."""
    plain = _plain({"body": [_GATE, _ending(draw)], "parallel": False}, [_release(0), _release(1)], calls=2)
    what = draw(st.sampled_from(("hook", "guard")))
    if what == "hook":
        plain["hooks"].append({**draw(listeners(8)), "id": "late-hook", "later": True})
    else:
        plain["guards"].append(
            {"id": "late-guard", "later": True, "script": [draw(st.sampled_from(GUARD_ENDS))]}
        )
    plain["schedule"].insert(1, {f"add_{what}": {what: f"late-{what}"}})
    if draw(st.booleans()):
        plain["schedule"].insert(draw(st.integers(2, 4)), {f"drop_{what}": {what: f"late-{what}"}})
    return plain


SITUATIONS: tuple[Callable[[st.DrawFn], Plain], ...] = (
    _a_deadline,
    _a_signal_of_a_wrapper,
    _an_end_of_the_turn,
    _a_drain,
    _a_failure_beside,
    _a_restriction_lifted,
    _a_change_with_a_full_pool,
    _an_answer,
    _a_block,
    _an_abort_under_a_listener,
    _a_failure_after_an_abort,
    _a_policy_that_comes,
)


# -- what comes in between ------------------------------------------------------------------------


def _inputs(plain: Plain) -> list[Plain]:
    """What may come in between, at any time after the opening."""
    calls = range(len(plain["batches"][0]["calls"]))
    return [
        *(_release(pos, kind) for kind in ("body", "hook9") for pos in calls),
        {"abort": {}},
        {"abort": {"signal": "own0"}},
        {"cancel": {}},
        {"advance": {"ms": 3}},
        *REGISTRY_CHANGES,
    ]


def _disturbed(draw: st.DrawFn, plain: Plain) -> Plain:
    """What else happens, if anything does."""
    if draw(st.booleans()):
        plain["hooks"].insert(draw(st.integers(0, len(plain["hooks"]))), draw(listeners(9)))
    if draw(st.integers(0, 3)) == 3:
        plain["batches"][0]["calls"] += draw(calls_of(["red"], 1, 1))
    schedule = plain["schedule"]
    opened = schedule.index(_OPEN) + 1
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        schedule.insert(draw(st.integers(opened, len(schedule))), draw(st.sampled_from(_inputs(plain))))
    if len(schedule) > opened + 1 and draw(st.integers(0, 3)) == 3:
        first = draw(st.integers(opened, len(schedule) - 2))
        schedule[first : first + 2] = [{"together": schedule[first : first + 2]}]
    return plain


@st.composite
def situations(draw: st.DrawFn) -> Scenario:
    """A scenario that comes to a situation, or would, were it not disturbed."""
    make = draw(st.sampled_from(SITUATIONS))
    return Scenario.model_validate(_disturbed(draw, make(draw)))
