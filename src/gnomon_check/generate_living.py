"""Hypothesis strategies for scenarios in which things change: layers, signals, approvals, time.

Each draws its scenario around one theme, so that what the theme is about is reached often; `living` draws
any of them, or all at once.
"""

from __future__ import annotations

import copy

from hypothesis import strategies as st

from gnomon_check.generate import (
    GUARD_ENDS,
    Plain,
    calls_of,
    listeners,
    plain_policed,
    plain_scenarios,
    release,
    to_the_end,
    tools,
)
from gnomon_check.scenario import Scenario

_SCOPES: tuple[list[Plain], ...] = (
    [],
    [{"name": "preset"}, {"name": "agent", "parent": "preset"}],
    [{"name": "preset", "mode": "both"}, {"name": "agent", "parent": "preset"}, {"name": "other"}],
)
REGISTRY_CHANGES: tuple[Plain, ...] = (
    {"remove": {"registration": "red@1"}},
    {"remove": {"registration": "red@2"}},
    {"restrict": {"scope": "agent", "allow": ["red"]}},
    {"restrict": {"scope": "agent", "deny": ["red"]}},
    {"restrict": {"scope": "agent"}},
    {"restrict": {"scope": None, "deny": ["red"]}},
    {"restrict": {"scope": "agent", "deny": ["run_code"]}},
    {"lift": {"restriction": "agent@1"}},
    {"lift": {"restriction": "agent@2"}},
    {"set_mode": {"scope": "agent", "mode": "ptc"}},
    {"set_mode": {"scope": "agent", "mode": "both"}},
    {"set_mode": {"scope": "agent", "mode": None}},
)
CHANGES: tuple[Plain, ...] = (
    {"register": {"tool": "red-2"}},
    {"register": {"tool": "red-2"}},
    {"register": {"tool": "red-3"}},
    {"register": {"tool": "reserved"}},
    *REGISTRY_CHANGES,
    {"add_guard": {"guard": "late-guard"}},
    {"drop_guard": {"guard": "late-guard"}},
    {"drop_guard": {"guard": "guard0"}},
    {"add_hook": {"hook": "late-hook"}},
    {"drop_hook": {"hook": "late-hook"}},
    {"drop_hook": {"hook": "hook0"}},
    {"add_hook": {"hook": "hook0"}},
)
_ASKED: Plain = {"request_model": {}}
_PAIRS: tuple[tuple[Plain, Plain], ...] = (
    ({"restrict": {"scope": "agent", "allow": []}}, {"lift": {"restriction": "agent@1"}}),
    ({"set_mode": {"scope": "agent", "mode": "ptc"}}, {"set_mode": {"scope": "agent", "mode": None}}),
    ({"add_hook": {"hook": "late-hook"}}, {"drop_hook": {"hook": "late-hook"}}),
    ({"add_guard": {"guard": "late-guard"}}, {"drop_guard": {"guard": "late-guard"}}),
    ({"remove": {"registration": "red@1"}}, {"remove": {"registration": "red@1"}}),
    ({"restrict": {"scope": "agent", "deny": ["red"]}}, {"lift": {"restriction": "agent@1"}}),
)
_SYNC = ("project", "finalize", "render", "presentation_meta")
_POLICIES: tuple[Plain, ...] = (
    {"set_policy": {"policy": "never"}},
    {"set_policy": {"policy": "ask"}},
    {"set_policy": {"policy": "always"}},
)
_ANSWERS: tuple[list[Plain], ...] = (
    [{"answer": {"outcome": "allowed-once"}}],
    [{"answer": {"outcome": "rejected"}}],
    [{"answer": {"outcome": "cancelled"}}],
    [{"answer": {"outcome": "yes"}}],
    [{"next": {}}, {"pass": {}}],
    [{"pass": {}}],
    [{"next": {}}, {"answer": {"outcome": "allowed-once"}}],
    [{"next": {}}, {"next": {}}, {"pass": {}}],
    [{"note": {"text": "asked"}}, {"raise": {}}],
    [{"await_abort": {}}],
)


def _insert(draw: st.DrawFn, into: list[Plain], step: Plain, *, last: bool = False) -> None:
    """Put a step somewhere into a script or a schedule; before its end, unless it may stand `last`."""
    into.insert(draw(st.integers(0, max(len(into) - (0 if last else 1), 0))), step)


def _after_opening(draw: st.DrawFn, plain: Plain, step: Plain) -> None:
    """Put a step into the schedule, mostly where a batch may be open."""
    schedule = plain["schedule"]
    first = draw(st.sampled_from((0, 1, 1, 1)))
    schedule.insert(draw(st.integers(first, len(schedule))), step)


def _right_after_opening(plain: Plain, step: Plain) -> None:
    plain["schedule"].insert(plain["schedule"].index({"open": {}}) + 1, step)


def _scripts(plain: Plain) -> list[list[Plain]]:
    answering = (plain.get("approval") or {}).get("answerers", [])
    return [
        *(one["body"] for one in plain["tools"]),
        *(one["script"] for one in (*plain["hooks"], *plain["guards"], *answering)),
        *(one[field] for one in plain["tools"] for field in _SYNC if one.get(field)),
    ]


def _calls(plain: Plain) -> int:
    return len(plain["batches"][0]["calls"])


def _agents(plain: Plain) -> list[str | None]:
    """Where something may stand: mostly everywhere, else in a scope."""
    named = [one["name"] for one in plain.get("scopes", [])]
    if not named and plain.get("caller", "agent") is not None:
        named = ["agent"]
    return [None, None, None, *named]


def _tamed(draw: st.DrawFn, plain: Plain) -> None:
    """Let most bodies be reached: what keeps them from running is drawn often enough elsewhere."""
    for call in plain["batches"][0]["calls"]:
        if draw(st.integers(0, 4)):
            call.update(name="red", arguments="{}")
    if draw(st.integers(0, 4)):
        plain["schedule"] = [{"open": {}}, *(one for one in plain["schedule"] if "open" not in one)]
    for one in plain["tools"]:
        if draw(st.integers(0, 2)):
            one.pop("output", None)


# -- the themes ---------------------------------------------------------------------------------


def _with_time(draw: st.DrawFn, plain: Plain) -> None:
    """Timeouts, sleeping bodies and wrappers, a retry outside of the timeout."""
    for one in plain["tools"]:
        one["timeout_ms"] = draw(st.sampled_from((None, 5, 5, 10)))
        waits: Plain | None = draw(
            st.sampled_from((None, {"sleep": {"ms": 7}}, {"await_abort": {}}, {"await_abort": {}}))
        )
        if waits is not None:
            one["interrupt"] = draw(st.sampled_from(("signal", "signal", "cancel")))
            one["body"].insert(0, waits)
    for hook in plain["hooks"]:
        if hook["on"] != "result" and draw(st.integers(0, 3)) == 0:
            _insert(draw, hook["script"], {"sleep": {"ms": 3}})
        if hook["on"] != "result" and draw(st.integers(0, 5)) == 0:
            _insert(draw, hook["script"], {"await_abort": {}})
    if draw(st.booleans()):
        again = {"id": "again", "on": "execute", "prepend": True, "script": [{"next": {}}, {"next": {}}]}
        plain["hooks"].append(again)
    for _ in range(draw(st.integers(2, 5))):
        _after_opening(draw, plain, {"advance": {"ms": draw(st.sampled_from((3, 5, 7)))}})


def _with_signals(draw: st.DrawFn, plain: Plain) -> None:
    """Signals of wrappers, put in place and put back, and aborted from anywhere."""
    for number in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from((f"own{number}", f"own{number}", f"own{number}:$call")))
        own = {"name": name, "aborted": False}
        script: list[Plain] = [{"set_signal": own}, {"next": {}}, {"pass": {}}]
        if draw(st.integers(0, 3)) == 0:
            script.insert(draw(st.integers(1, 2)), {"restore_signal": {}})
        if draw(st.integers(0, 2)) == 0:
            script.insert(draw(st.integers(0, 3)), {"next": {}})
        plain["hooks"].append({"id": f"signal{number}", "on": "execute", "script": script})
    for one in plain["tools"]:
        if draw(st.booleans()):
            one["interrupt"] = "signal"
            one["body"].insert(0, {"await_abort": {}})
    names = [f"own{number}{more}" for number in range(2) for more in ("", ":0", ":1")]
    for _ in range(draw(st.integers(1, 3))):
        _after_opening(draw, plain, {"abort": {"signal": draw(st.sampled_from(names))}})
    for _ in range(draw(st.integers(0, 2))):
        script = draw(st.sampled_from(_scripts(plain)))
        _insert(draw, script, {"abort": {"signal": draw(st.sampled_from(names))}})
    if draw(st.booleans()):  # while the first bodies wait
        _right_after_opening(plain, {"abort": {"signal": names[0]}})


def _with_approvals(draw: st.DrawFn, plain: Plain) -> None:
    """Several who answer, and a policy of the session that changes."""
    if plain.get("caller", "agent") is None:
        plain.pop("caller")
    asks = {"decide": {"decision": {"kind": "ask", "reason": "sure?"}}}
    plain["hooks"].append({"id": "asks", "on": "pre_execute", "prepend": True, "script": [asks]})
    answering = []
    for number in range(draw(st.sampled_from((0, 0, 1, 2, 3)))):
        script = list(draw(st.sampled_from(_ANSWERS)))
        if draw(st.integers(0, 2)) == 0:
            script.insert(0, {"gate": {"name": f"answer{number}:$call"}})
        scope = draw(st.sampled_from(_agents(plain)))
        one = {"id": f"answerer{number}", "scope": scope, "prepend": draw(st.booleans()), "script": script}
        answering.append(one)
    policy = draw(st.sampled_from(("ask", "ask", "ask", "never")))
    plain["approval"] = {"policy": policy, "answerers": answering}
    steps: list[Plain] = [
        *(release(f"answer{number}:{pos}") for number in range(3) for pos in range(3)),
        *({"approve": {"pos": pos, "outcome": "allowed-once"}} for pos in range(3)),
        *({"approve": {"pos": pos, "outcome": "cancelled"}} for pos in range(3)),
        *_POLICIES,
        {"abort": {}},
    ]
    for _ in range(draw(st.integers(1, 5))):
        _insert(draw, plain["schedule"], draw(st.sampled_from(steps)), last=True)


def _with_changes(draw: st.DrawFn, plain: Plain) -> None:
    """Tools, restrictions, modes, guards and listeners that come and go."""
    for one in (*plain["hooks"], *plain["guards"]):
        one["scope"] = draw(st.sampled_from(_agents(plain)))
    for one in plain["tools"]:
        one["scope"] = draw(st.sampled_from((*_agents(plain), None, None)))
    again = {**draw(tools("red")), "id": "red-2", "later": True}
    again["scope"] = draw(st.sampled_from(_agents(plain)))
    other = {**draw(tools("red")), "id": "red-3", "later": True, "timeout_ms": 5}
    reserved = {"name": "run_code", "id": "reserved", "later": True, "body": [{"return": {}}]}
    plain["tools"] += [again, other, reserved]
    end = draw(st.sampled_from(GUARD_ENDS))
    plain["guards"].append({"id": "late-guard", "later": True, "script": [end]})
    plain["hooks"].append({**draw(listeners(9)), "id": "late-hook", "later": True})
    for _ in range(draw(st.integers(0, 2))):
        _insert(draw, draw(st.sampled_from(_scripts(plain))), draw(st.sampled_from(CHANGES)))
    for _ in range(draw(st.integers(1, 4))):
        _after_opening(draw, plain, draw(st.sampled_from(CHANGES) | st.just(_ASKED)))
    if draw(st.booleans()):
        plain["limits"] = {"max_parallel": 1}
        _right_after_opening(plain, draw(st.sampled_from(CHANGES)))
    if draw(st.integers(0, 3)) == 0:
        # What comes and goes again: without the first, the second would mostly be refused.
        first, second = draw(st.sampled_from(_PAIRS))
        later = plain["schedule"]
        for _ in range(draw(st.integers(1, 2))):  # the second time nothing is left to take back
            _insert(draw, later, second, last=True)
        plain["schedule"] = [first, *later]


_CALLED = {"red": ("green", "blue", "nowhere"), "green": ("blue", "nowhere")}


def _with_calls(draw: st.DrawFn, plain: Plain) -> None:
    """Bodies that make calls of their own, and those that do so as well; none of them calls itself."""
    for one in plain["tools"]:
        for _ in range(draw(st.integers(0, 2)) if one["name"] in _CALLED else 0):
            call = {
                "name": draw(st.sampled_from(_CALLED[one["name"]])),
                "arguments": draw(st.sampled_from(("{}", "{}", "[1e400]", "{"))),
                "token": draw(st.booleans()),
                "signal": draw(st.sampled_from(("own", "own", "none"))),
            }
            one["interrupt"] = "signal"
            _insert(draw, one["body"], {"execute": call})
    gates = [f"{kind}:{pos}" for pos in range(_calls(plain), _calls(plain) + 3) for kind in ("body", "more")]
    for _ in range(draw(st.integers(0, 4))):
        _insert(draw, plain["schedule"], release(draw(st.sampled_from(gates))), last=True)


THEMES = (_with_time, _with_signals, _with_approvals, _with_changes, _with_calls)


def _and_another(draw: st.DrawFn, plain: Plain) -> None:
    """Bring the batch to its end, and let another one follow."""
    several = draw(st.integers(1, 2))
    count = 1 if plain.get("mode") == "single" else several
    _bring_to_its_end(draw, plain, _calls(plain))
    names = [one["name"] for one in plain["tools"] if not one.get("later")]
    plain["batches"].append({"id": "b2", "calls": draw(calls_of(names, count, count))})
    plain["schedule"].append({"open": {"batch": "b2"}})
    _bring_to_its_end(draw, plain, count)


def _bring_to_its_end(draw: st.DrawFn, plain: Plain, calls: int) -> None:
    """Answer, release and wake all that a batch of so many calls may wait for."""
    schedule = plain["schedule"]
    schedule += [{"approve": {"pos": pos, "outcome": "allowed-once"}} for pos in range(calls)]
    kinds = ("body", "more", "unwind", *(one["id"] for one in plain["hooks"]))
    schedule += to_the_end(draw, [f"{kind}:{pos}" for kind in kinds for pos in range(calls)])
    schedule.append({"advance": {"ms": 20}})


@st.composite
def living(draw: st.DrawFn, max_calls: int = 3) -> Scenario:
    """A scenario around a theme, or around all of them at once; of one call, it may be a single one."""
    bare = draw(st.booleans())
    drawn = draw((plain_scenarios if bare else plain_policed)(max_calls, 1))
    plain = copy.deepcopy(drawn)  # what is drawn shares its parts, and here they are changed
    _tamed(draw, plain)
    plain.setdefault("hooks", [])
    plain.setdefault("guards", [])
    if plain.get("caller", "agent") is not None:
        plain["scopes"] = draw(st.sampled_from(_SCOPES))
    number = draw(st.integers(0, len(THEMES)))
    for theme in THEMES if number == len(THEMES) else THEMES[number : number + 1]:
        theme(draw, plain)
    if _calls(plain) == 1 and draw(st.booleans()):
        plain["mode"] = "single"
    if draw(st.integers(0, 3)) == 3:
        _and_another(draw, plain)
    return Scenario.model_validate(plain)
