"""Vectors of REG and MOD: what a scope sees after some changes, and what the model is shown."""

from __future__ import annotations

from typing import Any

from gnomon_check.vectors.case import Case, Suite
from gnomon_check.vectors.visibility import computed

_SCOPES = [
    {"name": "preset", "parent": None},
    {"name": "agent", "parent": "preset"},
    {"name": "helper", "parent": "agent"},
]


def _tool(name: str, scope: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"register": {"scope": scope, "tool": {"name": name, "output": {"schema": {}}, **fields}}}


def _restrict(scope: str | None, **names: list[str]) -> dict[str, Any]:
    return {"restrict": {"scope": scope, **names}}


def _mode(scope: str | None, mode: str) -> dict[str, Any]:
    return {"set_mode": {"scope": scope, "mode": mode}}


def _guard(scope: str | None, name: str) -> dict[str, Any]:
    return {"add_guard": {"scope": scope, "guard": name}}


def _dispose(identifier: str) -> dict[str, Any]:
    return {"dispose": {"id": identifier}}


def _case(
    name: str,
    clauses: str,
    title: str,
    *steps: dict[str, Any],
    scope: str | None = "agent",
    twin: str | None = None,
    **more: Any,
) -> Case:
    given = {"scopes": _SCOPES, "steps": list(steps), "scope": scope, **more}
    return Case(f"view-{name}", clauses, title, given, None if twin is None else f"view-{twin}")


def _registration(name: str, clauses: str, title: str, **fields: Any) -> Case:
    """A registration that is refused for its definition; the twin lacks what is wrong in it."""
    return _case(name, clauses, title, _tool("t", **fields), twin="plain")


_AB = (_tool("a"), _tool("b"))
_OWN = (*_AB, _tool("own", "agent"))

VIEW = Suite(
    "view",
    "Open `scopes`, set the configured `mode` (native where it is not given) and `code_runtime` (one "
    "for python where it is not given), do `steps` one after the other, and answer: for each step the "
    "`id` of what it added and what was announced, or `fails`; then what `scope` sees, in order; what "
    "the model is sent; what programs are offered; which guards are asked; and which tools collapse "
    "when the model calls them directly.",
    computed,
    (
        _case("nothing", "REG-5", "an empty registry"),
        _case("plain", "REG-1 REG-2", "a tool of the global layer", _tool("t", timeout_ms=1)),
        _case(
            "no-output",
            "REG-1",
            "no output is declared",
            {"register": {"scope": None, "tool": {"name": "t", "timeout_ms": 1}}},
            twin="plain",
        ),
        _registration(
            "output-unsupported",
            "REG-1 SCH-2",
            "an output that is not supported",
            timeout_ms=1,
            output={"schema": {"pattern": "x"}},
        ),
        _registration("no-render", "REG-1", "no render function", timeout_ms=1, render=False),
        _registration("timeout-zero", "REG-1", "a timeout of zero", timeout_ms=0),
        _registration("timeout-true", "REG-1", "a timeout that is a boolean", timeout_ms=True),
        _registration(
            "timeout-infinite", "REG-1", "a timeout that is not finite", timeout_ms={"$hostile": "inf"}
        ),
        _case("reserved", "REG-3", "the reserved name", _tool("run_code", timeout_ms=1), twin="plain"),
        _case(
            "reserved-in-a-scope",
            "REG-3",
            "also in a scope, also in a code mode",
            _tool("run_code", "agent"),
            mode="ptc",
            twin="not-reserved-in-a-scope",
        ),
        _case("not-reserved-in-a-scope", "REG-2", "another name", _tool("run", "agent"), mode="ptc"),
        _case(
            "repeated", "REG-2", "a name that is repeated in one layer", _tool("a"), _tool("a"), twin="both"
        ),
        _case("both", "REG-2", "two names", *_AB),
        _case(
            "repeated-elsewhere",
            "REG-2 REG-11",
            "a name that is repeated in a scope hides the global one, in its place",
            *_AB,
            _tool("a", "agent"),
        ),
        _case(
            "nearest",
            "REG-7",
            "the nearest scope wins",
            _tool("a"),
            _tool("a", "preset"),
            _tool("a", "agent"),
            scope="helper",
        ),
        _case("no-scope", "REG-2", "without a scope only the global layer is seen", *_OWN, scope=None),
        _case("ancestor-sees-less", "REG-2", "an ancestor does not see it", *_OWN, scope="preset"),
        _case("removed", "REG-2 REG-8", "a removed tool is gone", *_AB, _dispose("a@1")),
        _case(
            "removed-shadow",
            "REG-2 REG-8",
            "a hidden tool comes back",
            _tool("a"),
            _tool("a", "agent"),
            _dispose("a@2"),
        ),
        _case(
            "removed-twice",
            "REG-8",
            "a second removal changes nothing",
            *_AB,
            _dispose("a@1"),
            _tool("a"),
            _dispose("a@1"),
        ),
        _case(
            "removed-once",
            "REG-8",
            "each id is removed by itself",
            *_AB,
            _dispose("a@1"),
            _tool("a"),
            _dispose("a@2"),
        ),
        _case(
            "removed-never-made",
            "REG-8",
            "an id that never was",
            *_AB,
            _dispose("a@1"),
            _tool("a"),
            _dispose("a@3"),
            twin="removed-once",
        ),
        _case(
            "order",
            "REG-11",
            "inherited first, farthest first; a shadowing tool in its place; then own",
            _tool("own", "agent"),
            _tool("p", "preset"),
            _tool("g1"),
            _tool("g2"),
            _tool("g1", "preset"),
            _tool("p", "agent"),
        ),
        _case(
            "order-code-mode",
            "REG-11 MOD-5",
            "run_code is last",
            _tool("own", "agent"),
            _tool("g"),
            mode="both",
        ),
        _case("allow", "REG-4", "an allow-list", *_OWN, _restrict("agent", allow=["a"])),
        _case(
            "allow-none",
            "REG-4",
            "an empty allow-list hides all that is inherited",
            *_OWN,
            _restrict("agent", allow=[]),
        ),
        _case(
            "allow-later",
            "REG-4",
            "an allow-list does not let later tools through",
            *_AB,
            _restrict("agent", allow=["a"]),
            _tool("c"),
        ),
        _case(
            "deny-later",
            "REG-4",
            "a restriction that only denies does",
            *_AB,
            _restrict("agent", deny=["a"]),
            _tool("c"),
        ),
        _case(
            "allow-and-deny", "REG-4", "both together", *_AB, _restrict("agent", allow=["a", "b"], deny=["a"])
        ),
        _case(
            "restrict-own",
            "REG-4",
            "a name of the scope's own layer only",
            *_OWN,
            _restrict("agent", allow=["own"]),
            twin="allow",
        ),
        _case(
            "restrict-unknown",
            "REG-4",
            "a name that nobody has",
            *_OWN,
            _restrict("agent", allow=["zz"]),
            twin="allow",
        ),
        _case(
            "restrict-globally",
            "REG-4",
            "a global restriction",
            *_OWN,
            _restrict(None, allow=["a"]),
            twin="allow",
        ),
        _case("restrict-nothing", "REG-4", "neither allow nor deny", *_OWN, _restrict("agent"), twin="allow"),
        _case(
            "restrict-reserved",
            "REG-3",
            "the reserved name",
            *_OWN,
            _restrict("agent", allow=["run_code"]),
            twin="allow",
        ),
        _case(
            "restrict-before-any",
            "REG-4",
            "names are known before any restriction",
            *_AB,
            _restrict("preset", deny=["a"]),
            _restrict("agent", allow=["a"]),
        ),
        _case(
            "ancestor-own",
            "REG-4",
            "an ancestor's own tool, and its own restriction: the ancestor",
            *_OWN,
            _restrict("agent", allow=["a"]),
        ),
        _case(
            "ancestor-own-helper",
            "REG-4",
            "the same, seen by a descendant",
            *_OWN,
            _restrict("agent", allow=["a"]),
            scope="helper",
        ),
        _case(
            "shadow-denied",
            "REG-4",
            "an own tool that shadows a denied one is visible",
            *_AB,
            _restrict("agent", deny=["a"]),
            _tool("a", "agent"),
        ),
        _case(
            "shadow-denied-helper",
            "REG-4",
            "but not to a descendant",
            *_AB,
            _restrict("agent", deny=["a"]),
            _tool("a", "agent"),
            scope="helper",
        ),
        _case(
            "intersect",
            "REG-4 REG-7",
            "restrictions of the chain intersect",
            *_AB,
            _tool("c"),
            _restrict("preset", allow=["a", "b"]),
            _restrict("agent", deny=["a"]),
            _restrict("helper", allow=["a", "b", "c"]),
            scope="helper",
        ),
        _case(
            "lifted",
            "REG-4 REG-8",
            "a restriction that is lifted",
            *_AB,
            _restrict("agent", deny=["a"]),
            _restrict("agent", deny=["b"]),
            _dispose("restriction:agent@1"),
        ),
        _case(
            "sent",
            "REG-6",
            "four fields and no other are sent",
            _tool(
                "a",
                description="d",
                timeout_ms=5,
                defer_loading=True,
                parameters={"type": "object", "properties": {"x": {}}},
            ),
        ),
        _case(
            "sent-at-once",
            "REG-6",
            "a field that is not set is not sent",
            _tool(
                "a",
                description="d",
                timeout_ms=5,
                defer_loading=False,
                parameters={"type": "object", "properties": {"x": {}}},
            ),
            twin="sent",
        ),
        _case("like-the-reserved", "REG-3", "a name that is like the reserved one", _tool("run_codes")),
        _case(
            "authored",
            "SCH-4 REG-6",
            "what is sent of the authoring form is what it compiles to",
            _tool("a", form="authored", parameters={"x": {"type": "string", "required": True}}),
        ),
        _case(
            "authored-unsupported",
            "SCH-2 SCH-4",
            "an authoring form that is not supported",
            _tool("a", form="authored", parameters={"x": {"type": "string", "required": 1}}),
            twin="authored",
        ),
        _case(
            "mode-native",
            "MOD-1 MOD-5",
            "native: every tool, no run_code",
            *_OWN,
            mode="native",
            twin="mode-ptc",
        ),
        _case("mode-ptc", "MOD-1 MOD-2 MOD-4 MOD-5", "ptc: run_code alone", *_OWN, mode="ptc"),
        _case("mode-both", "MOD-1 MOD-4 MOD-5", "both", *_OWN, mode="both"),
        _case(
            "mode-no-runtime",
            "MOD-3",
            "a code mode without a code runtime",
            *_OWN,
            mode="ptc",
            code_runtime=None,
            twin="mode-native-no-runtime",
        ),
        _case(
            "mode-native-no-runtime", "MOD-3", "native needs none", *_OWN, mode="native", code_runtime=None
        ),
        _case(
            "mode-no-renderer",
            "MOD-3",
            "a language without an SDK renderer",
            *_OWN,
            mode="both",
            code_runtime={"language": "lua", "renders": False},
            twin="mode-renderer",
        ),
        _case(
            "mode-renderer",
            "MOD-3",
            "a language with one",
            *_OWN,
            mode="both",
            code_runtime={"language": "lua", "renders": True},
        ),
        _case(
            "mode-of-a-scope",
            "MOD-6 REG-7",
            "the nearest mode wins",
            *_AB,
            _mode("preset", "ptc"),
            _mode("agent", "both"),
            scope="helper",
        ),
        _case(
            "mode-twice",
            "MOD-6",
            "a scope declares a mode once",
            *_AB,
            _mode("agent", "ptc"),
            _mode("agent", "both"),
            scope="helper",
            twin="mode-once-each",
        ),
        _case(
            "mode-once-each",
            "MOD-6",
            "each scope once",
            *_AB,
            _mode("agent", "ptc"),
            _mode("preset", "both"),
            scope="helper",
        ),
        _case(
            "mode-global",
            "MOD-6",
            "the global mode is configuration",
            *_AB,
            _mode(None, "ptc"),
            scope="helper",
            twin="mode-agent",
        ),
        _case("mode-agent", "MOD-6", "a scope's own", *_AB, _mode("agent", "ptc"), scope="helper"),
        _case(
            "mode-taken-back",
            "MOD-6 REG-8",
            "taking a mode back restores what it hid",
            *_AB,
            _mode("preset", "both"),
            _mode("agent", "ptc"),
            _dispose("mode:agent@1"),
        ),
        _case(
            "guards",
            "REG-7 REG-9 GRD-1",
            "guards of every layer, the farthest first, and never announced",
            _guard("agent", "near"),
            _guard(None, "g1"),
            _guard("preset", "far"),
            _guard(None, "g2"),
            _guard("helper", "below"),
            _dispose("guard:g1@1"),
        ),
        _case(
            "guard-alone",
            "REG-9",
            "a guard comes, and nothing is announced",
            _guard("agent", "g"),
            twin="guard-and-tool",
        ),
        _case(
            "guard-and-tool",
            "REG-9",
            "a guard and a tool come, and the tool is announced",
            _guard("agent", "g"),
            _tool("t", "agent"),
        ),
    ),
)
