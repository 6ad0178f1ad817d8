"""Scenarios that are made of choices, so that every two choices meet in one of them.

A row says one choice for each question; a scenario is rendered from it. The id of a case is made of its
choices, and says nothing of where it stands. Rows stay as they are: a question or a choice that comes is
covered by rows that are added.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

from gnomon_check.scenario import Scenario
from gnomon_check.vectors.pairs import Row
from gnomon_check.vectors.pairwise_rows import ROWS

Plain: TypeAlias = dict[str, Any]

QUESTIONS: dict[str, tuple[str, ...]] = {
    "shape": ("one", "two", "two-exclusive", "three", "three-narrow", "three-mixed"),
    "concerned": ("all", "first", "last"),
    "arguments": ("fit", "unfit", "cut", "beyond"),
    "before": ("nothing", "allows", "waits", "denies", "asks", "malformed", "raises"),
    "approval": ("nobody", "allows", "rejects", "odd", "raises", "never"),
    "guard": ("nothing", "passes", "denies", "raises"),
    "around": ("nothing", "passes", "retries", "succeeds", "fails", "raises", "owns"),
    "body": ("returns", "raises", "unfit", "defers", "concludes", "hears"),
    "after": ("nothing", "accepts", "adds", "content", "value", "blocks", "malformed", "raises"),
    "content": ("nothing", "projects", "finalizes", "observed"),
    "timeout": ("nothing", "ample", "passes"),
    "abort": ("never", "before", "open", "released", "together"),
    "releases": ("forwards", "backwards", "together"),
}
"""What is chosen: how many calls there are and how they overlap, which of them the choices below concern,
what comes before, around and after their bodies, and what the harness does.
"""


_NOT_REACHED = ("guard", "around", "body", "timeout")
_NOTHING_AT_ALL = ("arguments", "before", "approval", *_NOT_REACHED, "after", "content")
MASKS: dict[tuple[str, str], tuple[str, ...]] = {
    ("abort", "before"): _NOTHING_AT_ALL,
    ("arguments", "cut"): ("body",),
    ("arguments", "beyond"): ("before", "approval", *_NOT_REACHED, "after"),
    ("arguments", "unfit"): ("body",),
    ("before", "denies"): _NOT_REACHED,
    ("before", "malformed"): (*_NOT_REACHED, "after"),
    ("before", "raises"): (*_NOT_REACHED, "after"),
    ("approval", "rejects"): _NOT_REACHED,
    ("approval", "odd"): _NOT_REACHED,
    ("approval", "raises"): _NOT_REACHED,
    ("approval", "never"): _NOT_REACHED,
    ("guard", "denies"): ("around", "body", "timeout"),
    ("guard", "raises"): ("around", "body", "timeout", "after"),
    ("around", "succeeds"): ("body",),
    ("shape", "one"): ("concerned", "releases"),
}
"""What a choice keeps from being seen: then the first choice stands there."""


def possible(chosen: Row) -> bool:
    """Whether choices can stand together, and each of them be seen."""
    if chosen.get("approval", "nobody") != "nobody" and chosen.get("before", "asks") != "asks":
        return False
    return all(
        chosen.get(masked, QUESTIONS[masked][0]) == QUESTIONS[masked][0]
        for (question, choice), hidden in MASKS.items()
        if chosen.get(question) == choice
        for masked in hidden
    )


CLAUSES: dict[tuple[str, str], str] = {
    ("shape", "one"): "SCD-1",
    ("shape", "two"): "SCD-6",
    ("shape", "two-exclusive"): "SCD-5",
    ("shape", "three"): "SCD-7",
    ("shape", "three-narrow"): "SCD-4",
    ("shape", "three-mixed"): "SCD-3",
    ("arguments", "unfit"): "DSP-8",
    ("arguments", "cut"): "ARG-3",
    ("arguments", "beyond"): "CRE-2",
    ("before", "allows"): "PRE-1",
    ("before", "waits"): "PRE-1",
    ("before", "denies"): "PRE-4",
    ("before", "asks"): "APP-1",
    ("before", "malformed"): "PRE-2",
    ("before", "raises"): "PRE-5",
    ("approval", "rejects"): "APP-2",
    ("approval", "odd"): "APP-4",
    ("approval", "raises"): "APP-4",
    ("approval", "never"): "APP-7",
    ("guard", "passes"): "GRD-1",
    ("guard", "denies"): "GRD-2",
    ("guard", "raises"): "GRD-4",
    ("around", "passes"): "DSP-1",
    ("around", "retries"): "PRE-7",
    ("around", "succeeds"): "DSP-10",
    ("around", "fails"): "DSP-11",
    ("around", "raises"): "DSP-13",
    ("around", "owns"): "DSP-2",
    ("body", "raises"): "DSP-7",
    ("body", "unfit"): "OUT-1",
    ("body", "defers"): "DSP-11",
    ("body", "concludes"): "SCD-12",
    ("body", "hears"): "DSP-6",
    ("after", "accepts"): "PST-2",
    ("after", "adds"): "PST-6",
    ("after", "content"): "PST-4",
    ("after", "value"): "PST-4",
    ("after", "blocks"): "PST-5",
    ("after", "malformed"): "PST-3",
    ("after", "raises"): "PST-7",
    ("content", "projects"): "PST-1",
    ("content", "finalizes"): "FIN-2",
    ("content", "observed"): "FIN-3",
    ("timeout", "ample"): "TMO-1",
    ("timeout", "passes"): "TMO-2",
    ("abort", "before"): "SCD-8",
    ("abort", "open"): "CAN-1",
    ("abort", "released"): "CAN-1",
    ("abort", "together"): "CAN-1",
}
"""What the choices are about."""


def clauses_of(row: Row) -> list[str]:
    """What the scenario of a row is about."""
    return list(dict.fromkeys(CLAUSES[one] for one in row.items() if one in CLAUSES))


def rows() -> Iterator[Row]:
    """The rows that there are. Of a question that came later, the first choice stands in the older ones."""
    for row in ROWS.splitlines():
        said = row.split()
        yield {
            question: said[place] if place < len(said) else choices[0]
            for place, (question, choices) in enumerate(QUESTIONS.items())
        }


def name_of(row: Row) -> str:
    """The id of a row: a digest of what it chooses that is not the first choice."""
    known = {key: value for key, value in row.items() if value != QUESTIONS[key][0]}
    text = " ".join(f"{key}={value}" for key, value in sorted(known.items()))
    return f"pair-{hashlib.sha256(text.encode()).hexdigest()[:10]}"


def title_of(row: Row) -> str:
    """The choices of a row, in words."""
    return ", ".join(f"{key} {value}" for key, value in row.items() if value != "nothing")


# -- the scenario ---------------------------------------------------------------------------------

_TEXT = [{"type": "text", "text": "x"}]
_NONCE: Plain = {"return": {"value": {"$nonce": True}}}
_GATE: Plain = {"gate": {"name": "body:$call"}}

_BODIES: dict[str, list[Plain]] = {
    "returns": [_GATE, _NONCE],
    "raises": [_GATE, {"raise": {"kind": "coded", "code": "OWN"}}],
    "unfit": [_GATE, {"return": {"value": 7}}],
    "defers": [{"defer": {"context": "one"}}, _GATE, {"defer": {"context": "two"}}, _NONCE],
    "concludes": [{"conclude": {}}, _GATE, _NONCE],
    "hears": [_GATE, {"await_abort": {}}, _NONCE],
}
_BEFORE: dict[str, list[Plain]] = {
    "allows": [{"decide": {"decision": {"kind": "allow"}}}],
    "waits": [{"gate": {"name": "before:$call"}}, {"next": {}}, {"pass": {}}],
    "denies": [{"decide": {"decision": {"kind": "deny", "reason": "no"}}}],
    "asks": [{"decide": {"decision": {"kind": "ask", "reason": "sure?"}}}],
    "malformed": [{"decide": {"decision": {"kind": "fine"}}}],
    "raises": [{"raise": {}}],
}
_AROUND: dict[str, list[Plain]] = {
    "passes": [{"next": {}}, {"pass": {}}],
    "retries": [{"next": {}}, {"next": {}}, {"pass": {}}],
    "succeeds": [{"author": {"result": {"ok": True, "value": "own"}, "contexts": ["wrapper"]}}],
    "fails": [{"next": {}}, {"author": {"result": {"ok": False, "code": "QUOTA"}, "contexts": ["wrapper"]}}],
    "raises": [{"next": {}}, {"raise": {}}],
    "owns": [{"set_signal": {"name": "own:$call"}}, {"next": {}}, {"restore_signal": {}}, {"pass": {}}],
}
_AFTER: dict[str, Plain] = {
    "accepts": {"decide": {"decision": {"kind": "accept"}}},
    "adds": {"decide": {"decision": {"kind": "accept"}, "contexts": ["after"]}},
    "content": {"decide": {"decision": {"kind": "accept", "content": _TEXT}}},
    "value": {"decide": {"decision": {"kind": "accept", "value": "other"}}},
    "blocks": {"decide": {"decision": {"kind": "block", "feedback": _TEXT}, "contexts": ["after"]}},
    "malformed": {"decide": {"decision": {"kind": "fine"}}},
    "raises": {"raise": {}},
}
_GUARDS: dict[str, Plain] = {
    "passes": {"nothing": {}},
    "denies": {"deny": {"reason": "no"}},
    "raises": {"raise": {}},
}
_COUNTS = {"one": 1, "two": 2, "three": 3}
_ANSWERS = {"allows": "allowed-once", "rejects": "rejected", "odd": "perhaps"}
_ARGUMENTS = {"fit": '{"path":"x"}', "unfit": '{"path":1}', "cut": '{"path":', "beyond": '{"path":1e400}'}
_ADVANCE: Plain = {"advance": {"ms": 5}}


@cache
def scenario_of(name: str) -> Scenario:
    """The scenario of that id. Raises `KeyError`."""
    return Scenario.model_validate(plain_of({name_of(row): row for row in rows()}[name]))


def plain_of(row: Row) -> Plain:
    """The scenario of a row."""
    count = _COUNTS[row["shape"].partition("-")[0]]
    concerned = {"all": list(range(count)), "first": [0], "last": [count - 1]}[row["concerned"]]
    approval = _approval(row)
    return {
        "scenario": "gnomon/1",
        "id": name_of(row),
        "title": title_of(row),
        "clauses": clauses_of(row),
        "limits": {"max_parallel": 2 if row["shape"] == "three-narrow" else 3},
        "tools": [_tool(row, pos, pos in concerned) for pos in range(count)],
        "hooks": [hook for pos in concerned for hook in _hooks(row, pos)],
        "guards": [guard for pos in concerned for guard in _guards(row, pos)],
        **({} if approval is None else {"approval": approval}),
        "batches": [{"id": "b1", "calls": [_call(row, pos, pos in concerned) for pos in range(count)]}],
        "schedule": _schedule(row, count, concerned),
    }


def _tool(row: Row, pos: int, concerned: bool) -> Plain:
    alone = row["shape"] == "two-exclusive" or (row["shape"] == "three-mixed" and pos == 1)
    tool: Plain = {
        "name": f"tool-{pos}",
        "parallel": not alone,
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        "output": {"schema": {"type": "string"}},
        "body": _BODIES[row["body"] if concerned else "returns"],
    }
    if not concerned:
        return tool
    timeouts = {"ample": 20, "passes": 5}
    if row["timeout"] in timeouts:
        tool["timeout_ms"] = timeouts[row["timeout"]]
    if row["content"] == "projects":
        tool["project"] = [{"return": {"value": _TEXT}}]
    if row["content"] == "finalizes":
        tool["finalize"] = [{"return": {"value": _TEXT}}]
    return tool


def _call(row: Row, pos: int, concerned: bool) -> Plain:
    arguments = _ARGUMENTS[row["arguments"] if concerned else "fit"]
    return {"id": f"c{pos}", "name": f"tool-{pos}", "arguments": arguments}


def _hooks(row: Row, pos: int) -> Iterator[Plain]:
    scripts: dict[str, list[Plain] | None] = {
        "pre_execute": _BEFORE.get(row["before"]),
        "execute": _AROUND.get(row["around"]),
        "post_execute": [_AFTER[row["after"]]] if row["after"] in _AFTER else None,
        "result": [] if row["content"] == "observed" else None,
    }
    for on, script in scripts.items():
        if script is not None:
            yield {"id": f"{on}-{pos}", "on": on, "match": {"pos": pos}, "script": script}


def _guards(row: Row, pos: int) -> Iterator[Plain]:
    if row["guard"] in _GUARDS:
        yield {"id": f"guard-{pos}", "match": {"pos": pos}, "script": [_GUARDS[row["guard"]]]}


def _approval(row: Row) -> Plain | None:
    """Who is asked; where a listener asks and nobody is there, there is no service at all."""
    match row["approval"]:
        case "nobody":
            return None
        case "raises":
            return {"policy": "ask", "answerers": [{"id": "answers", "script": [{"raise": {}}]}]}
        case "never":
            return {"policy": "never"}
        case _:
            return {"policy": "ask"}


def _schedule(row: Row, count: int, concerned: list[int]) -> list[Plain]:
    abort: Plain = {"abort": {}}
    order = range(count)[::-1] if row["releases"] == "backwards" else range(count)
    releases: list[Plain] = [{"release": {"gate": f"body:{pos}"}} for pos in order]
    if row["releases"] == "together":
        releases = [{"together": releases}]
    if row["abort"] == "together":
        releases[0] = {"together": [abort, *releases[0].get("together", [releases[0]])]}
    steps: list[Plain] = [{"open": {}}]
    if row["before"] == "waits":
        steps += [{"release": {"gate": f"before:{pos}"}} for pos in concerned]
    if row["approval"] in _ANSWERS:
        steps += [{"approve": {"pos": pos, "outcome": _ANSWERS[row["approval"]]}} for pos in concerned]
    if row["timeout"] != "nothing":
        steps.append(_ADVANCE)
    steps += [*releases[:1], *([abort] if row["abort"] == "released" else []), *releases[1:]]
    if row["abort"] in ("before", "open"):
        steps.insert(0 if row["abort"] == "before" else 1, abort)
    if row["body"] == "hears" and row["abort"] == "never":
        steps.append(abort)
    return steps
