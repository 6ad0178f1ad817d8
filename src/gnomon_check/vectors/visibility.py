"""What a scope sees after some changes, computed for the vectors of REG and MOD."""

from __future__ import annotations

from typing import Any

from gnomon_check.hostile import realised
from gnomon_check.vectors.case import fails
from gnomon_spec.kernel import NotEnabled, Refused
from gnomon_spec.registry import (
    RUN_CODE,
    CodeRuntime,
    Contribution,
    Definition,
    Presentation,
    Registry,
    add_guard,
    dispose,
    open_scope,
    register,
    restrict,
    set_mode,
)
from gnomon_spec.visibility import collapsed, guards_of, model_tools, program_tools, view


def computed(given: dict[str, Any]) -> dict[str, Any]:
    """What `steps` answer, and what `scope` sees after them."""
    registry = _opened(given)
    steps: list[dict[str, Any]] = []
    for step in given["steps"]:
        registry, answer = _done(registry, step)
        steps.append(answer)
    scope = given["scope"]
    seen = view(registry, scope)
    return {
        "steps": steps,
        "view": [one.id for one in seen],
        "model": _model(registry, scope),
        "programs": [one.id for one in program_tools(registry, scope)],
        "guards": list(guards_of(registry, scope)),
        "collapsed": [one.id for one in seen if collapsed(registry, scope, _name(one), nested=False)],
    }


def _name(one: Contribution) -> str:
    return one.what.name if isinstance(one.what, Definition) else ""


def _opened(given: dict[str, Any]) -> Registry:
    code = given.get("code_runtime", {"language": "python"})
    registry = Registry(
        mode=Presentation(given.get("mode", "native")), code=None if code is None else CodeRuntime(**code)
    )
    for scope in given["scopes"]:
        registry = open_scope(registry, scope["name"], scope["parent"])
    return registry


def _done(registry: Registry, step: dict[str, Any]) -> tuple[Registry, dict[str, Any]]:
    """Do one step; answer the id of what was added, what was announced, or why it was refused."""
    ((op, given),) = step.items()
    scope = given.get("scope")
    try:
        match op:
            case "register":
                changed = register(registry, _definition(given["tool"]), scope)
            case "restrict":
                changed = restrict(registry, scope, given.get("allow"), given.get("deny"))
            case "set_mode":
                changed = set_mode(registry, scope, Presentation(given["mode"]))
            case "add_guard":
                changed = add_guard(registry, given["guard"], scope)
            case "dispose":
                changed = dispose(registry, given["id"])
            case _:
                raise ValueError(f"there is no step {op!r}")
    except NotEnabled as error:
        return registry, fails(error.refused.clause, error.refused.reason)
    announced = [one.op for one in changed.events]
    added = changed.state.contributions[len(registry.contributions) :]
    return changed.state, {"id": added[0].id if added else None, "announced": announced}


def _definition(given: dict[str, Any]) -> Definition:
    output = given.get("output")
    return Definition(
        name=given["name"],
        description=given.get("description", ""),
        parameters=given.get("parameters", {"type": "object"}),
        output=None if output is None else output["schema"],
        render=given.get("render", True),
        timeout=realised(given.get("timeout_ms")),
        defer_loading=given.get("defer_loading", False),
        authored=given.get("form") == "authored",
    )


def _model(registry: Registry, scope: str | None) -> Any:
    shown = model_tools(registry, scope)
    if isinstance(shown, Refused):
        return fails(shown.clause, shown.reason)
    return [_required(one) if one["name"] == RUN_CODE else one for one in shown]


def _required(sent: dict[str, Any]) -> dict[str, Any]:
    """Of `run_code`, only which parameters it requires: its words are an implementation's own."""
    return {"name": sent["name"], "required": sent["parameters"]["required"]}
