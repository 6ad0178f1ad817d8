"""Profiles: what an implementation may claim, and which of it a scenario needs.

What a scenario needs is read off the scenario itself, so that nobody has to keep a list of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon_check.changes import CHANGES
from gnomon_check.hostile import kinds_in
from gnomon_check.scenario import Scenario
from gnomon_check.script_steps import DeferStep

PROFILES: dict[str, str] = {
    "ORDER": "several calls in one batch: results in the order of the calls, exclusive calls alone",
    "PAIRING": "batches: each call is logged and answered once, whatever happens",
    "BOUND": "calls that overlap, and a pool that bounds them",
    "CONTAIN": "bodies, listeners and plain functions that raise",
    "ARGS": "arguments that are no object, no JSON, or do not fit; parameters that say what fits",
    "VALUES": "outputs with a schema, and values that JSON cannot hold",
    "CANCEL": "aborts of the caller, and of signals that wrappers make; listeners that cancel a call",
    "HOOKS": "listeners before, around and after a call",
    "GUARD": "guards",
    "ASK": "approvals",
    "CONTENT": "renderers, projections, finalizers, observers",
    "CONTEXT": "contexts that calls leave, and calls that end the turn",
    "TIMEOUT": "timeouts, and scripts that wait for virtual time",
    "REGISTRY": "scopes, restrictions, modes, and changes of what stands in the layers",
    "ANNOUNCE": "listeners for tools and restrictions that come",
    "SINGLE": "a call outside of any batch",
    "NESTED": "calls that bodies make",
    "SEVERAL": "several batches on one runtime",
    "MISUSE": "scripts that ask for what is to be refused, or do not wait for `next`",
    "LOG": "a log that does not take a record",
    "RESUME": "a log that is repaired after a crash",
    "NATIVE": "native cancellation, of the caller's task and of bodies",
}
"""Each profile, and what is in it."""

_OF_STEPS: Mapping[str, str] = {
    "abort": "CANCEL",
    "await_abort": "CANCEL",
    "set_signal": "CANCEL",
    "restore_signal": "CANCEL",
    **dict.fromkeys(("next_unawaited", "next_concurrently", "keep_next", "call_kept"), "MISUSE"),
    **dict.fromkeys(("mutate", "set_signal_value"), "MISUSE"),
    "advance": "TIMEOUT",
    "sleep": "TIMEOUT",
    "defer": "CONTEXT",
    "conclude": "CONTEXT",
    "execute": "NESTED",
    "request_model": "REGISTRY",
    "approve": "ASK",
    "answer": "ASK",
    "cancel": "NATIVE",
    "on_cancel": "NATIVE",
    "crash": "RESUME",
    "repair": "RESUME",
    "set_policy": "ASK",
    **dict.fromkeys([one for one in CHANGES if one != "set_policy"], "REGISTRY"),
}
_NATIVE_RAISES = ("cancelled", "exit", "keyboard", "generator_exit")
_ANYTHING = {"type": "object"}
_DATA = ("parameters", "output", "value")
"""The fields that hold data, and no steps."""


def needs(scenario: Scenario) -> frozenset[str]:
    """The profiles that an implementation has to claim for a scenario to be run on it."""
    plain = scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)
    hostile = ("VALUES",) if any(kinds_in(plain)) else ()
    return frozenset(
        (
            *_of_batches(scenario),
            *_of_tools(scenario),
            *_of_policies(scenario),
            *_of_steps(plain),
            *hostile,
        )
    )


def _of_batches(scenario: Scenario) -> Iterator[str]:
    counts = [len(one.calls) for one in scenario.batches]
    if scenario.mode == "single":
        yield "SINGLE"
    else:
        yield "PAIRING"
    if max(counts) > 1:
        yield "ORDER"
        if any(one.parallel not in (None, False) for one in scenario.tools):
            yield "BOUND"
    if len(counts) > 1:
        yield "SEVERAL"
    if scenario.log is not None:
        yield "LOG"
    if any(call.arguments != "{}" for one in scenario.batches for call in one.calls):
        yield "ARGS"


def _of_tools(scenario: Scenario) -> Iterator[str]:
    for one in scenario.tools:
        if one.parameters != _ANYTHING:
            yield "ARGS"
        if one.output.schema_ != {}:
            yield "VALUES"
        if one.timeout_ms is not None:
            yield "TIMEOUT"
        if one.interrupt == "cancel":
            yield "NATIVE"
        if any(
            script is not None for script in (one.render, one.presentation_meta, one.project, one.finalize)
        ):
            yield "CONTENT"
        if one.scope is not None or one.later:
            yield "REGISTRY"


def _of_policies(scenario: Scenario) -> Iterator[str]:
    if any(one.on == "result" for one in scenario.hooks):
        yield "CONTENT"
    if any(one.on == "change" for one in scenario.hooks):
        yield "ANNOUNCE"
    if any(one.on not in ("result", "change") for one in scenario.hooks):
        yield "HOOKS"
    if any(isinstance(step, DeferStep) for one in scenario.hooks for step in one.script):
        yield "MISUSE"
    if scenario.guards:
        yield "GUARD"
    if scenario.approval is not None:
        yield "ASK"
    if scenario.scopes or scenario.restrictions or scenario.presentation != "native":
        yield "REGISTRY"


def _of_steps(plain: Any) -> Iterator[str]:
    """What the steps of scripts and of the schedule need, wherever they stand."""
    if isinstance(plain, list):
        for one in plain:
            yield from _of_steps(one)
    if not isinstance(plain, dict):
        return
    for name, says in plain.items():
        if name in _DATA:
            continue
        if len(plain) == 1 and isinstance(says, dict):
            yield from of_step(name, says)
        yield from _of_steps(says)


def of_step(name: str, says: dict[str, Any]) -> Iterator[str]:
    if name in _OF_STEPS:
        yield _OF_STEPS[name]
    match name, says:
        case "raise", _:
            yield "NATIVE" if says.get("kind") in _NATIVE_RAISES else "CONTAIN"
        case "decide", {"decision": {"kind": "ask"}}:
            yield "ASK"
        case "decide", {"decision": {"kind": "cancel"}}:
            yield "CANCEL"
    if name in ("decide", "author") and says.get("contexts"):
        yield "CONTEXT"
