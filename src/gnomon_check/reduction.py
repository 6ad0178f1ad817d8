"""A scenario without what an implementation does not claim: what is left can be run on it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeAlias

from gnomon_check.hostile import kinds_in
from gnomon_check.profiles import PROFILES, needs, of_step
from gnomon_check.scenario import Scenario

_Plain: TypeAlias = dict[str, Any]

_ANYTHING = {"type": "object"}
_SCRIPTS = ("render", "presentation_meta", "project", "finalize")
_ON = {"result": "CONTENT", "change": "ANNOUNCE"}
"""The profiles of listeners that are no HOOKS."""


def reduced(scenario: Scenario, claims: Collection[str]) -> Scenario:
    """The scenario, without what needs a profile that is not among `claims`.

    One that needs none of those is answered as it is. Without PAIRING and SINGLE there is nothing to run at
    all: what comes then still needs more than is claimed, as does a batch of no calls without PAIRING.
    """
    missing = frozenset() if PROFILES.keys() <= set(claims) else needs(scenario) - set(claims)
    if not missing:
        return scenario
    plain = scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if "PAIRING" in missing and "SINGLE" in claims:
        _made_single(plain)
    elif "SINGLE" in missing:
        plain.pop("mode")
    _batches(plain, missing)
    _layers(plain, missing)
    _tools(plain, missing)
    _policies(plain, missing)
    for script in _scripts(plain):
        script[:] = _kept(script, missing)
    plain["schedule"] = _kept(plain["schedule"], missing)
    return Scenario.model_validate(plain)


def _made_single(plain: _Plain) -> None:
    """One call of each batch, and each outside of any session."""
    if any(not one["calls"] for one in plain["batches"]):
        return
    for one in plain["batches"]:
        del one["calls"][1:]
    plain["mode"] = "single"
    plain.pop("log", None)
    plain["schedule"] = [one for one in plain["schedule"] if not {"crash", "repair"} & one.keys()]


def _batches(plain: _Plain, missing: Collection[str]) -> None:
    if "SEVERAL" in missing:
        opens = [n for n, step in enumerate(plain["schedule"]) if _opens(step)]
        del plain["batches"][1:], plain["schedule"][opens[1] :]
    if "LOG" in missing:
        plain.pop("log", None)
    for batch in plain["batches"]:
        if "ORDER" in missing:
            del batch["calls"][1:]
        for call in batch["calls"] if "ARGS" in missing else ():
            call["arguments"] = "{}"


def _opens(step: _Plain) -> bool:
    return "open" in step or any("open" in one for one in step.get("together", ()))


def _layers(plain: _Plain, missing: Collection[str]) -> None:
    if "REGISTRY" not in missing:
        return
    for field in ("scopes", "restrictions", "presentation"):
        plain.pop(field, None)
    for kind in ("tools", "hooks", "guards"):
        there = [one for one in plain.get(kind, ()) if not one.get("later")]
        plain[kind] = there
    answering = (plain.get("approval") or {}).get("answerers", ())
    for one in (*plain["tools"], *plain["hooks"], *plain["guards"], *answering):
        one.pop("scope", None)
    first = {one["name"]: one for one in reversed(plain["tools"])}  # in one layer a name stands once
    plain["tools"] = [one for one in plain["tools"] if one is first[one["name"]]]


def _tools(plain: _Plain, missing: Collection[str]) -> None:
    for one in plain["tools"]:
        if "ARGS" in missing:
            one["parameters"] = _ANYTHING
        if "VALUES" in missing:
            one.pop("output", None)
            one["body"] = [_tame(step) for step in one.get("body", ())]
        if "TIMEOUT" in missing:
            one.pop("timeout_ms", None)
        if "NATIVE" in missing:
            one.pop("interrupt", None)
        for script in _SCRIPTS if "CONTENT" in missing else ():
            one.pop(script, None)
        declared = one.get("parallel")
        if "BOUND" in missing or (isinstance(declared, dict) and not _may_stay(declared, missing)):
            one.pop("parallel", None)


def _tame(step: _Plain) -> _Plain:
    return {"return": {"value": 1}} if "return" in step and any(kinds_in(step)) else step


def _policies(plain: _Plain, missing: Collection[str]) -> None:
    hooks = plain.get("hooks", [])
    plain["hooks"] = [one for one in hooks if _ON.get(one["on"], "HOOKS") not in missing]
    for one in plain["hooks"]:
        if "MISUSE" in missing:
            one["script"] = [_waits_for_it(step) for step in one["script"] if "defer" not in step]
        if "VALUES" in missing:
            one["script"] = [step for step in one["script"] if not any(kinds_in(step))]
    if "GUARD" in missing:
        plain.pop("guards", None)
    if "ASK" in missing:
        plain.pop("approval", None)


def _waits_for_it(step: _Plain) -> _Plain:
    return {"next": {}} if {"next_unawaited", "next_concurrently"} & step.keys() else step


def _scripts(plain: _Plain) -> list[list[_Plain]]:
    answering = (plain.get("approval") or {}).get("answerers", ())
    told = [one[name] for one in plain["tools"] for name in ("body", *_SCRIPTS) if one.get(name)]
    return [*told, *(one["script"] for one in (*plain["hooks"], *plain.get("guards", ()), *answering))]


def _kept(steps: list[_Plain], missing: Collection[str]) -> list[_Plain]:
    """The steps that may stay; a script that loses its last one ends like one that runs off its end."""
    kept = []
    for step in steps:
        if "together" in step:
            kept += _together(_kept(step["together"], missing))
            continue
        for says in step.values():
            if "CONTEXT" in missing and "contexts" in says:
                says["contexts"] = []
        if _may_stay(step, missing):
            kept.append(step)
    return kept


def _together(steps: list[_Plain]) -> list[_Plain]:
    return [{"together": steps}] if len(steps) > 1 else steps


def _may_stay(step: _Plain, missing: Collection[str]) -> bool:
    return not any(profile in missing for name, says in step.items() for profile in of_step(name, says))
