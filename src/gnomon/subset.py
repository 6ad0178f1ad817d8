"""The supported subset of JSON Schema, for outputs and authored parameters (SCH-1..6, SCH-9).

What is outside is refused when a tool is declared, with every violation, so that nothing is published
and then not enforced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from gnomon.values import JSON, Limits, NotJson, json_equal, show_path, snapshot, thaw

Path: TypeAlias = tuple[str | int, ...]

SCALARS = ("string", "number", "integer", "boolean", "null")
_OF_TYPE: dict[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items"}),
    **dict.fromkeys(SCALARS, frozenset({"enum", "const"})),
}
ANNOTATIONS = frozenset({"title", "description", "default", "examples"})
_KNOWN = ANNOTATIONS.union({"type", "oneOf"}, *_OF_TYPE.values())


def is_of_type(value: object, name: str) -> bool:
    """Whether a JSON value is of a type of JSON Schema; a bool is no number (PY-12)."""
    match value:
        case None:
            return name == "null"
        case bool():  # PY-12
            return name == "boolean"
        case int():
            return name in ("integer", "number")
        case float():
            return name == "number" or (name == "integer" and value.is_integer())  # SCH-3
        case str():
            return name == "string"
        case list():
            return name == "array"
        case _:
            return name == "object" and isinstance(value, dict)


# -- declaring ------------------------------------------------------------------------------------


def subset_violations(schema: object, limits: Limits | None = None) -> list[str]:
    """Everything that is outside the subset in a schema, each with its path; empty where it is supported."""
    limits = limits or Limits()
    found: list[str] = []
    left: list[tuple[object, Path, tuple[int, ...]]] = [(schema, (), ())]
    looked_at = 0
    while left:
        node, path, around = left.pop()
        looked_at += 1
        if id(node) in around:
            found.append(f"{show_path(path)}: the schema contains itself (SCH-5)")
        elif len(path) > limits.depth or looked_at > limits.nodes:
            found.append(f"{show_path(path)}: the schema is too deep or too large (VAL-3)")
            break
        else:
            look = _Look(node, path, found)
            look.at()
            left.extend((one, below, (*around, id(node))) for below, one in reversed(look.inside))
    if not found:
        try:
            snapshot(schema, limits)
        except NotJson as error:
            found.append(str(error))
    return found


class _Look:
    """A look at one schema object; the schemas that stand in it are left in `inside`."""

    __slots__ = ("found", "inside", "node", "path")

    def __init__(self, node: object, path: Path, found: list[str]) -> None:
        self.node = node
        self.path = path
        self.found = found
        self.inside: list[tuple[Path, object]] = []

    def wrong(self, reason: str, *below: str | int) -> None:
        self.found.append(f"{show_path((*self.path, *below))}: {reason}")

    def at(self) -> None:
        if not isinstance(self.node, dict):
            self.wrong("a schema is an object (SCH-9)")
            return
        kind = self.node.get("type")
        known = type(kind) is str and kind in _OF_TYPE
        for keyword, value in self.node.items():
            if type(keyword) is not str or keyword not in _KNOWN:
                self.wrong("this keyword is outside the supported subset (SCH-2)", str(keyword))
            elif keyword in ANNOTATIONS:
                self._annotation(keyword, value)
            elif keyword == "oneOf":
                if isinstance(value, list) and len(value) >= 2:
                    self._contains((((*self.path, keyword, index), one) for index, one in enumerate(value)))
                else:
                    self.wrong("`oneOf` has two branches or more (SCH-1)", keyword)
            elif "oneOf" in self.node:
                self.wrong("this stands beside `oneOf`, where only annotations may (SCH-1)", keyword)
            elif keyword == "type":
                if not known:
                    self.wrong("`type` is the name of one type (SCH-9)", keyword)
            elif not known or keyword not in _OF_TYPE[str(kind)]:
                self.wrong(f"this keyword does not belong to the type {kind!r} (SCH-2)", keyword)
            else:
                self._constraint(str(kind), keyword, value)

    def _contains(self, schemas: Iterator[tuple[Path, object]]) -> None:
        self.inside.extend(schemas)

    def _annotation(self, keyword: str, value: object) -> None:
        if keyword in ("title", "description"):
            if type(value) is not str:
                self.wrong(f"`{keyword}` is text (SCH-1)", keyword)
            return
        try:
            frozen = snapshot(value)
        except NotJson as error:
            self.wrong(f"{error.reason} (SCH-1)", keyword, *error.path)
            return
        if keyword == "examples" and not isinstance(frozen, list):
            self.wrong("`examples` is a list of values (SCH-1)", keyword)

    def _constraint(self, kind: str, keyword: str, value: Any) -> None:
        match keyword:
            case "properties":
                if isinstance(value, dict):
                    self._contains((((*self.path, keyword, key), one) for key, one in value.items()))
                else:
                    self.wrong("`properties` maps names to schemas (SCH-1)", keyword)
            case "items":
                self._contains(iter([((*self.path, keyword), value)]))
            case "additionalProperties":
                if type(value) is not bool:
                    self.wrong("`additionalProperties` is true or false (SCH-1)", keyword)
            case "required":
                self._required(value)
            case "enum":
                if not isinstance(value, list) or not value:
                    self.wrong("`enum` is a list that is not empty (SCH-9)", keyword)
                    return
                for index, one in enumerate(value):
                    if not _is_scalar(one, kind):
                        self.wrong(f"this is no {kind} (SCH-1)", keyword, index)
            case _:
                self._const(kind, value)

    def _required(self, value: object) -> None:
        if not isinstance(value, list):
            self.wrong("`required` is a list of names (SCH-1)", "required")
            return
        assert isinstance(self.node, dict)
        declared = self.node.get("properties")
        for index, one in enumerate(value):
            if type(one) is not str or not isinstance(declared, dict) or one not in declared:
                self.wrong("no such property is declared (SCH-3)", "required", index)
            elif one in value[:index]:
                self.wrong("the name stands twice (SCH-3)", "required", index)

    def _const(self, kind: str, value: Any) -> None:
        assert isinstance(self.node, dict)
        allowed = self.node.get("enum")
        if not _is_scalar(value, kind):
            self.wrong(f"this is no {kind} (SCH-1)", "const")
        elif isinstance(allowed, list) and not any(
            _is_scalar(one, kind) and json_equal(one, value) for one in allowed
        ):
            self.wrong("`const` is not one of `enum` (SCH-9)", "const")


def _is_scalar(value: object, kind: str) -> bool:
    try:
        return is_of_type(snapshot(value, Limits(depth=0)), kind)
    except NotJson:
        return False


# -- the authoring form ---------------------------------------------------------------------------


def compile_parameters(property_map: object) -> tuple[JSON, list[str]]:
    """Compile the authoring form of parameters; answers the schema, and what is wrong with it (SCH-4).

    The form maps names to schemas of the subset. `required: true` stands in the property itself; an
    object inside says `additionalProperties`; `{"type": "json"}` is any JSON value.
    """
    try:
        written = thaw(snapshot(property_map))
    except NotJson as error:
        return None, [str(error)]
    if not isinstance(written, dict):
        return None, ["$: parameters map names to properties (SCH-4)"]
    root: dict[str, Any] = {"type": "object", "properties": written}
    found: list[str] = []
    left: list[tuple[dict[str, Any], Path]] = [(root, ())]
    while left:
        node, path = left.pop()
        if node.get("type") == "json":
            del node["type"]
        if node.get("type") == "object" and path and "additionalProperties" not in node:
            found.append(f"{_told(path)}: an object says `additionalProperties` true or false (SCH-4)")
        required: list[str] = []
        for step, one in _inside(node):
            if "required" in one:
                if step[0] == "properties" and one.pop("required") is True:
                    required.append(str(step[1]))
                else:
                    one.pop("required", None)
                    found.append(f"{_told((*path, *step))}: only `required: true` marks a property (SCH-4)")
            left.append((one, (*path, *step)))
        if required:
            node["required"] = required
    return root, [*found, *(one.replace("$.properties", "$", 1) for one in subset_violations(root))]


def _told(path: Path) -> str:
    return show_path(path[1:])


def _inside(node: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    properties, branches = node.get("properties"), node.get("oneOf")
    several: list[tuple[Path, Any]] = []
    if isinstance(properties, dict):
        several += [(("properties", name), one) for name, one in properties.items()]
    if "items" in node:
        several.append((("items",), node["items"]))
    if isinstance(branches, list):
        several += [(("oneOf", index), one) for index, one in enumerate(branches)]
    return ((step, one) for step, one in several if isinstance(one, dict))


# -- explaining -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Check:
    schema: Any
    value: Any
    path: Path
    found: list[str]


@dataclass(slots=True)
class _Tell:
    text: str
    path: Path
    found: list[str]


@dataclass(slots=True)
class _Count:
    branches: list[list[str]]
    path: Path
    found: list[str]


def explain(schema: JSON, value: JSON) -> list[str]:
    """Every way in which a value does not fit a schema of the subset, each with its path (SCH-6).

    In this order: missing names, declared properties in the order of the schema, undeclared names. A
    failed `oneOf` tells only how many of its branches fit.
    """
    found: list[str] = []
    left: list[_Check | _Tell | _Count] = [_Check(schema, value, (), found)]
    while left:
        match left.pop():
            case _Tell(text, path, into):
                into.append(f"{show_path(path)}: {text}")
            case _Count(branches, path, into):
                fitting = sum(not one for one in branches)
                if fitting != 1:
                    into.append(f"{show_path(path)}: {fitting} of {len(branches)} alternatives fit, not one")
            case _Check() as check:
                left.extend(reversed(_parts(check)))
    return found


def _parts(check: _Check) -> list[_Check | _Tell | _Count]:
    schema, value, path, found = check.schema, check.value, check.path, check.found
    kind = schema.get("type")
    if kind is not None and not is_of_type(value, kind):
        return [_Tell(f"this is no {kind}", path, found)]
    parts: list[_Check | _Tell | _Count] = []
    if "enum" in schema and not any(json_equal(value, one) for one in schema["enum"]):
        parts.append(_Tell("this is none of the allowed values", path, found))
    if "const" in schema and not json_equal(value, schema["const"]):
        parts.append(_Tell("this is not the one allowed value", path, found))
    if "oneOf" in schema:
        heard: list[list[str]] = [[] for _ in schema["oneOf"]]
        parts += [_Check(one, value, path, own) for one, own in zip(schema["oneOf"], heard, strict=True)]
        parts.append(_Count(heard, path, found))
    if isinstance(value, list) and "items" in schema:
        parts += [_Check(schema["items"], one, (*path, index), found) for index, one in enumerate(value)]
    if isinstance(value, dict):
        declared = schema.get("properties", {})
        missing = [name for name in schema.get("required", ()) if name not in value]
        parts += [_Tell(f"{name!r} is missing", path, found) for name in missing]
        parts += [
            _Check(one, value[name], (*path, name), found) for name, one in declared.items() if name in value
        ]
        if schema.get("additionalProperties") is False:
            more = [name for name in value if name not in declared]
            parts += [_Tell("there is no such property", (*path, name), found) for name in more]
    return parts
