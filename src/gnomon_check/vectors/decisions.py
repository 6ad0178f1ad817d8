"""Vectors of decisions: what each decision of a listener, guard, approver or wrapper makes of a call."""

from __future__ import annotations

import itertools
from typing import Any

from gnomon_check import decisions
from gnomon_check.vectors.case import Case, Suite
from gnomon_spec import admission, journey
from gnomon_spec.journey import (
    Approves,
    Dispatches,
    GuardAnswers,
    PostDecides,
    PreDecides,
    ReachesBody,
    WrapperDecides,
)
from gnomon_spec.vocabulary import Approval, Ask, Code, Execution, Outcome, Setup, Stage, Verdict

_ROUTES = {
    Stage.PREPARED: "dispatch",
    Stage.SETTLED: "post-result",
    Stage.SETTLED_FINAL: "final-result",
    Stage.DONE: "done",
    Stage.OBSERVE: "finish",
}


def computed(given: dict[str, Any]) -> dict[str, Any]:
    """Where a call goes on to after a decision, and with which outcome."""
    state = _decided(given)
    shown: dict[str, Any] = {"route": _ROUTES[state.stage]}
    if state.outcome is not None:
        outcome = state.outcome
        code = {} if outcome.code is None else {"code": str(outcome.code)}
        shown["outcome"] = {"ok": not outcome.is_error, **code, "contexts": list(outcome.contexts)}
    return shown


def _decided(given: dict[str, Any]) -> Execution:
    aborted = given.get("aborted", False)
    contexts = tuple(given.get("contexts", ()))
    decision = given["decision"]
    match given["by"]:
        case "pre_execute":
            state = admission.create(Setup(pre=1)).state
            return _taken(state, aborted, PreDecides(0, decisions.pre_decision(decision)))
        case "guard":
            state = admission.create(Setup(guards=1)).state
            return _taken(state, aborted, GuardAnswers(_verdict(decision)))
        case "approval":
            state = journey.step(admission.create(Setup(pre=1)).state, PreDecides(0, Ask())).state
            return _taken(state, aborted, Approves(decisions.approval(decision)))
        case "execute":
            state = journey.step(admission.create(Setup(wrappers=1)).state, Dispatches()).state
            fits = given.get("fits", True)
            return _taken(
                state, aborted, WrapperDecides(0, decisions.authored(decision, contexts, lambda _: fits))
            )
        case _:
            return _posted(given, aborted, contexts)


def _posted(given: dict[str, Any], aborted: bool, contexts: tuple[str, ...]) -> Execution:
    state = admission.create(Setup(post=1)).state
    for move in (Dispatches(), ReachesBody()):
        state = journey.step(state, move).state
    before = Outcome(given["result"].get("code"), contexts=tuple(given["result"]["contexts"]))
    settled = Execution(state.setup, Stage.SETTLED, body_invoked=True, outcome=before)
    entered = journey.step(settled, journey.Finalizes()).state
    fits = given.get("fits", True)
    decision = decisions.post_decision(given["decision"], contexts, lambda _: fits)
    return _taken(entered, aborted, PostDecides(0, decision))


def _taken(state: Execution, aborted: bool, move: journey.Move) -> Execution:
    if aborted:
        state = journey.step(state, journey.CallerAborts()).state
    if isinstance(move, Approves) and state.aborted:
        move = Approves(Approval.CANCELLED)
    return journey.step(state, move).state


def _verdict(answer: Any) -> Verdict:
    if answer is None:
        return Verdict.PASS
    return Verdict.DENY if isinstance(answer, str) else Verdict.MALFORMED


def _case(
    name: str, clauses: tuple[str, ...], title: str, given: dict[str, Any], twin: str | None = None
) -> Case:
    return Case(name, " ".join(clauses), title, given, twin)


def _pre() -> list[Case]:
    proper: dict[str, Any] = {
        "allow": {"kind": "allow"},
        "deny": {"kind": "deny", "reason": "no"},
        "deny-empty-reason": {"kind": "deny", "reason": ""},
        "deny-own-code": {"kind": "deny", "reason": "no", "code": "QUOTA"},
        "cancel": {"kind": "cancel"},
    }
    wrong: dict[str, Any] = {
        "deny-without-reason": {"kind": "deny"},
        "deny-reason-no-text": {"kind": "deny", "reason": 7},
        "unknown-kind": {"kind": "maybe"},
        "nothing": None,
        "true": True,
        "text": "allow",
        "ask-reason-no-text": {"kind": "ask", "reason": 1},
    }
    cases = []
    for aborted in (False, True):
        for name, decision in {**proper, **wrong}.items():
            clause = (
                "PRE-2" if name in wrong else "PRE-4" if name != "allow" else "GRD-5" if aborted else "PRE-1"
            )
            clauses = (clause, "PRE-6") if aborted and name != "allow" else (clause,)
            how = "aborted" if aborted else "not-aborted"
            twin = f"decide-pre-deny-{how}" if name == "deny-without-reason" else None
            cases.append(
                _case(
                    f"decide-pre-{name}-{how}",
                    clauses,
                    f"pre-execute decides {name.replace('-', ' ')}, {how.replace('-', ' ')}",
                    {"by": "pre_execute", "decision": decision, "aborted": aborted},
                    twin,
                )
            )
    return cases


def _guards() -> list[Case]:
    answers: dict[str, Any] = {
        "nothing": None,
        "reason": "no",
        "empty-reason": "",
        "true": True,
        "object": {},
        "zero": 0,
    }
    cases = []
    for (name, answer), aborted in itertools.product(answers.items(), (False, True)):
        clause = "GRD-2" if isinstance(answer, str) else "GRD-4"
        if answer is None:
            clause = "GRD-5" if aborted else "GRD-1"
        clauses = (clause, "GRD-7") if aborted else (clause,)
        how = "aborted" if aborted else "not-aborted"
        given = {"by": "guard", "decision": answer, "aborted": aborted}
        cases.append(_case(f"decide-guard-{name}-{how}", clauses, f"a guard answers {name}, {how}", given))
    return cases


def _approvals() -> list[Case]:
    answers = ("allowed-once", "rejected", "cancelled", "unavailable", "yes", "")
    cases = []
    for answer, aborted in itertools.product(answers, (False, True)):
        known = answer in answers[:4]
        clauses = ("APP-3", "APP-11") if aborted else ("APP-1",) if answer == "allowed-once" else ("APP-2",)
        how = "aborted" if aborted else "not-aborted"
        cases.append(
            _case(
                f"decide-approval-{answer or 'empty'}-{how}",
                clauses if known else ("APP-4",),
                f"the approver answers {answer!r}, {how}",
                {"by": "approval", "decision": answer, "aborted": aborted},
            )
        )
    return cases


def _wrappers() -> list[Case]:
    results: dict[str, tuple[Any, tuple[str, ...]]] = {
        "success": ({"ok": True, "value": 1}, ("DSP-10", "DSP-12")),
        "failure": ({"ok": False, "code": "OWN"}, ("DSP-10",)),
        "failure-without-code": ({"ok": False}, ("DSP-10", "ERR-1")),
        "nothing": (None, ("DSP-13",)),
        "text": ("done", ("DSP-13",)),
        "success-without-value": ({"ok": True}, ("DSP-13",)),
    }
    cases = []
    for (name, (result, clauses)), aborted in itertools.product(results.items(), (False, True)):
        how = "aborted" if aborted else "not-aborted"
        given = {"by": "execute", "decision": result, "contexts": ["w"], "aborted": aborted}
        cases.append(
            _case(f"decide-wrapper-{name}-{how}", clauses, f"a wrapper ends with {name}, {how}", given)
        )
    unfit = {"by": "execute", "decision": {"ok": True, "value": 1}, "contexts": ["w"], "fits": False}
    cases.append(
        _case("decide-wrapper-success-unfit", ("DSP-10",), "a wrapper's own value does not fit", unfit)
    )
    return cases


def _posts() -> list[Case]:
    text = [{"type": "text", "text": "x"}]
    wanted: dict[str, tuple[Any, tuple[str, ...]]] = {
        "accept": ({"kind": "accept"}, ("PST-2", "PST-6")),
        "accept-content": ({"kind": "accept", "content": text}, ("PST-4", "PST-6")),
        "accept-value": ({"kind": "accept", "value": None}, ("PST-3", "PST-4")),
        "accept-both": ({"kind": "accept", "content": text, "value": 1}, ("PST-3",)),
        "block": ({"kind": "block", "feedback": text}, ("PST-5",)),
        "block-without-feedback": ({"kind": "block"}, ("PST-3",)),
        "content-is-none": ({"kind": "accept", "content": "x"}, ("PST-3",)),
        "unknown-kind": ({"kind": "allow"}, ("PST-3",)),
        "nothing": (None, ("PST-3",)),
    }
    cases = []
    for (name, (decision, clauses)), code, aborted in itertools.product(
        wanted.items(), (None, str(Code.TOOL_ERROR)), (False, True)
    ):
        result = {**({} if code is None else {"code": code}), "contexts": ["d"]}
        what = "success" if code is None else "error"
        how = "aborted" if aborted else "not-aborted"
        given = {
            "by": "post_execute",
            "decision": decision,
            "contexts": ["p"],
            "result": result,
            "aborted": aborted,
        }
        title = f"post-execute decides {name} of a {what}, {how}"
        cases.append(_case(f"decide-post-{name}-{what}-{how}", (*clauses, "PST-8"), title, given))
    return cases


DECIDE = Suite(
    "decide",
    "Say where a call goes on to after a decision, and with which outcome. `by` says whose decision it is; "
    "`aborted` that the caller has aborted meanwhile; `contexts` are those of the decision; `fits` says "
    "whether a value passes the output check; `result` is the outcome that post-execute sees, of a call "
    "whose body ran.",
    computed,
    (*_pre(), *_guards(), *_approvals(), *_wrappers(), *_posts()),
)
