"""REG, MOD: who sees which tools, and how they are shown to the model.

Who asks, asks from a scope. It sees what is global, then what each scope on the
way down to it has added; of two tools with one name, the nearer hides the
farther. A scope may also *restrict* what it inherits. Restrictions only take
away: each one on the chain has its say, and none undoes another.

What is seen is shown to the model in one of three ways: as tools (`native`), as
one tool that runs programs, which call the others (`ptc`), or as both.

Nothing is remembered of an earlier look: each question is answered from the
registry as it is.
"""

from __future__ import annotations

from gnomon_spec.kernel import Refused, clause
from gnomon_spec.registry import (
    RUN_CODE,
    Contribution,
    Definition,
    Guard,
    Presentation,
    Registry,
    Restriction,
    Scope,
    in_layer,
    inherited,
    layers,
    tools_in,
)
from gnomon_spec.values import Json, NotAValue, snapshot
from gnomon_spec.vocabulary import Code, Outcome, PostResult

# -- what is seen ---------------------------------------------------------------------------------

_PROGRAM: dict[str, Json] = {
    "type": "object",
    "properties": {"description": {"type": "string"}, "code": {"type": "string"}},  # MOD-4
    "required": ["description", "code"],
}


@clause("MOD-4", "MOD-5")
def run_code_definition() -> Contribution:
    """The tool that runs programs. Nobody registers it.

    MOD-4  It MUST take `description` and `code`, both required, in that order.
    MOD-5  It MUST be exclusive, and MUST handle its signal itself.
    """
    held = snapshot(_PROGRAM)  # MOD-4
    definition = Definition(RUN_CODE, "", held, {}, parallel=False, handles_signal=True)  # MOD-5
    return Contribution(RUN_CODE, None, definition)


@clause("REG-2", "REG-4", "REG-5", "REG-7", "REG-11", "MOD-5")
def view(registry: Registry, scope: Scope) -> tuple[Contribution, ...]:
    """The tools that a scope sees now, in order.

    REG-2   A scope's tool MUST hide a global or inherited one of the same name.
    REG-4   The restrictions of every scope on the chain MUST intersect over
            what the scope inherits. Only its own layer MUST be exempt: what
            an ancestor registered for itself is hidden from a descendant by
            that ancestor's own restriction.
    REG-5   The view MUST be computed anew from the live layers.
    REG-7   The nearest MUST win.
    REG-11  First MUST stand what is inherited, the farthest layer first and by
            registration, a shadowing tool in the place of the one it hides,
            also one of the scope's own where the hidden one was left; then
            the scope's own; `run_code` last.
    MOD-5   `run_code` MUST be visible only where the mode is not native.
    """
    chain = layers(registry, scope)  # REG-5
    found = inherited(registry, scope)  # REG-11
    for layer in chain:
        for one in in_layer(registry, layer):
            if isinstance(one.what, Restriction):
                found = {name: tool for name, tool in found.items() if one.what.lets_through(name)}  # REG-4
    for name, tool in tools_in(registry, chain[-1]):
        found[name] = tool  # REG-2, REG-4, REG-7: after the restrictions
    if mode_of(registry, scope) is not Presentation.NATIVE:
        found[RUN_CODE] = run_code_definition()  # MOD-5, REG-11
    return tuple(found.values())


@clause("REG-2", "REG-5")
def visible(registry: Registry, scope: Scope, name: str) -> Contribution | None:
    """The tool that a call of that name from a scope means now, or nothing.

    REG-2  A tool that was removed MUST be gone for every call that is not
           resolved yet.
    REG-5  Nothing MUST be captured when schemas are sent.
    """
    for one in view(registry, scope):  # REG-2, REG-5
        if isinstance(one.what, Definition) and one.what.name == name:
            return one
    return None


@clause("REG-4")
def shows_no_more(before: Registry, after: Registry, scope: Scope) -> bool:
    """Say whether a scope sees, after a change, nothing that it did not see before.

    REG-4  A restriction MUST only take away, for every scope: one more on the
           chain never shows a tool.
    """
    seen = {one.id for one in view(before, scope)}
    return all(one.id in seen for one in view(after, scope))  # REG-4


def guards_of(registry: Registry, scope: Scope) -> tuple[str, ...]:
    """The guards that a call from a scope is asked of, in order: each layer has its say (REG-7)."""
    return tuple(
        one.what.name
        for layer in layers(registry, scope)
        for one in in_layer(registry, layer)
        if isinstance(one.what, Guard)
    )


# -- how it is shown ------------------------------------------------------------------------------


@clause("REG-7", "MOD-6")
def mode_of(registry: Registry, scope: Scope) -> Presentation:
    """How the tools of a scope are shown now.

    REG-7  The nearest mode on the chain MUST win.
    MOD-6  Where none is declared, the configured one MUST hold; so taking a
           mode back restores what it hid.
    """
    for layer in reversed(layers(registry, scope)):
        for one in in_layer(registry, layer):
            if isinstance(one.what, Presentation):
                return one.what  # REG-7
    return registry.mode  # MOD-6


@clause("MOD-5")
def program_tools(registry: Registry, scope: Scope) -> tuple[Contribution, ...]:
    """The tools that a program of `run_code` is offered, and that the SDK describes.

    MOD-5  `run_code` MUST NOT be offered to its own programs.
    """
    return tuple(one for one in view(registry, scope) if one.id != RUN_CODE)  # MOD-5


@clause("REG-6", "MOD-1", "MOD-3")
def model_tools(registry: Registry, scope: Scope) -> tuple[dict[str, Json], ...] | Refused:
    """What the model is sent of the tools of a scope.

    REG-6  Of each tool the model MUST be sent `name`, `description`,
           `parameters` and, where it is set, `deferLoading`, as detached
           copies, and nothing else.
    MOD-1  `native` MUST show every visible tool; `ptc` MUST show `run_code`
           alone, which describes the others; `both` MUST show both.
    MOD-3  A code mode without a code runtime, or with one whose language has no
           SDK renderer, MUST fail here, and MUST NOT fall back.
    """
    mode = mode_of(registry, scope)
    if mode is not Presentation.NATIVE:
        if registry.code is None:
            return Refused("MOD-3", f"the mode {mode} needs a code runtime, and there is none")  # MOD-3
        if not registry.code.renders:
            return Refused("MOD-3", f"{registry.code.language} has no SDK renderer")  # MOD-3
    shown: list[dict[str, Json]] = []
    for one in view(registry, scope):
        if isinstance(one.what, Definition) and (mode is not Presentation.PTC or one.id == RUN_CODE):  # MOD-1
            shown.append(_sent(one.what))
    return tuple(shown)


def _sent(definition: Definition) -> dict[str, Json]:
    parameters = snapshot(definition.parameters)
    assert not isinstance(parameters, NotAValue), "it was captured as a value"
    sent: dict[str, Json] = {
        "name": definition.name,
        "description": definition.description,
        "parameters": parameters,  # REG-6: a detached copy
    }
    if definition.defer_loading:
        sent["deferLoading"] = True  # REG-6
    return sent


@clause("MOD-2")
def collapsed(registry: Registry, scope: Scope, name: str, nested: bool) -> bool:
    """Say whether a call goes past the way that is left open: through a program.

    `nested` says that the call carries a parent token.

    MOD-2  Under `ptc` a model-direct call of any other visible tool MUST be
           refused with UNKNOWN_TOOL before any policy sees it. A call with a
           parent token is not model-direct, and a name that the scope does
           not see is not a case of this clause.
    """
    if nested or name == RUN_CODE or mode_of(registry, scope) is not Presentation.PTC:
        return False  # MOD-2
    return visible(registry, scope, name) is not None  # MOD-2


@clause("MOD-3")
def without_a_code_runtime(registry: Registry) -> PostResult | None:
    """Say what running `run_code` ends with where nothing can run it, or nothing.

    MOD-3  It MUST be an error result of that call, CODE_RUN_FAILED.
    """
    return PostResult(Outcome(Code.CODE_RUN_FAILED)) if registry.code is None else None  # MOD-3
