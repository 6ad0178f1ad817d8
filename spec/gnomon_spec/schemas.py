"""SCH: the schemas of arguments and outputs.

A schema is a small part of JSON Schema draft 2020-12. It has one of four
shapes: one of the scalar types, with `enum` and `const`; an array, with one
schema for its items; an object, with its properties, which of them are
required, and whether others are allowed; or `oneOf` several schemas. A schema
that says nothing accepts every value. Beside each may stand annotations, which
check nothing.

What is outside is refused when a tool is declared, so that nothing is published
and then not enforced. Whoever writes parameters by hand may use the authoring
form, in which each property says itself that it is required; it is compiled to
a schema. A check answers with every violation, each with its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from gnomon_spec.kernel import clause
from gnomon_spec.values import DEFAULT, Json, Limits, NotAValue, Path, json_equal, snapshot

# -- the subset -----------------------------------------------------------------------------------

SCALARS = ("string", "number", "integer", "boolean", "null")
BESIDE: Mapping[str, tuple[str, ...]] = {
    "object": ("properties", "required", "additionalProperties"),
    "array": ("items",),
    **dict.fromkeys(SCALARS, ("enum", "const")),
}
"""Which keywords may stand beside which type (SCH-1)."""

ANNOTATIONS = ("title", "description", "default", "examples")
KEYWORDS = frozenset({"type", "oneOf", *ANNOTATIONS, *(one for row in BESIDE.values() for one in row)})


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a schema is not supported: the path to what is wrong in it, the clause, the reason."""

    path: Path
    clause: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Place:
    """A schema inside a schema: where it stands, and the objects that it stands in, outermost first."""

    schema: object
    path: Path
    around: tuple[object, ...]

    def below(self, schema: object, *path: str | int) -> _Place:
        return _Place(schema, (*self.path, *path), (*self.around, self.schema))


@clause("SCH-1", "SCH-2", "SCH-3", "SCH-5", "SCH-9", "VAL-3")
def declared_faults(schema: object, limits: Limits = DEFAULT) -> tuple[Fault, ...]:
    """Every reason why a schema in raw form is not supported, in the order of the schema.

    What stands in a wrong place is not looked into.

    SCH-1  Only the keywords of the subset, each beside its type, MUST be
           accepted; beside `oneOf`, only annotations.
    SCH-3  `required` MUST name declared properties only.
    SCH-2  Every fault MUST be answered, each with its path.
    SCH-5  A schema object that contains itself MUST be refused; one that stands
           at several places is fine.
    SCH-9  `enum` MUST NOT be empty; `const` MUST be one of `enum` where both
           stand; a schema MUST be an object, and `type` one name.
    VAL-3  The walk MUST use a work list; a schema is itself a JSON value within
           the limits.
    """
    faults: list[Fault] = []
    left = [_Place(schema, (), ())]  # VAL-3: last in, first out
    looked_at = 0
    while left and looked_at <= limits.nodes:
        place = left.pop()
        looked_at += 1
        if any(one is place.schema for one in place.around):
            faults.append(Fault(place.path, "SCH-5", "the schema contains itself"))  # SCH-5
        elif len(place.path) >= limits.depth:
            faults.append(Fault(place.path, "VAL-3", f"it is nested more than {limits.depth} deep"))  # VAL-3
        else:
            here, inside = _look_at(place, limits)
            faults.extend(here)  # SCH-2
            left.extend(reversed(inside))
    if not faults:
        whole = snapshot(schema, limits)
        if isinstance(whole, NotAValue):
            faults.append(Fault(whole.path, whole.clause, whole.reason))  # VAL-3
    return tuple(faults)


def _look_at(place: _Place, limits: Limits) -> tuple[list[Fault], list[_Place]]:
    """The faults of one schema object itself, and the schemas that stand in it."""
    faults: list[Fault] = []
    inside: list[_Place] = []

    def fault(identifier: str, reason: str, *path: str | int) -> None:
        faults.append(Fault((*place.path, *path), identifier, reason))

    if type(place.schema) is not dict:
        fault("SCH-9", "a schema is an object")  # SCH-9
        return faults, inside
    schema = cast("dict[object, object]", place.schema)
    name = schema.get("type")
    known = type(name) is str and name in BESIDE
    for keyword, value in schema.items():
        if type(keyword) is not str:
            fault("VAL-1", "a keyword is text")
        elif keyword not in KEYWORDS:
            fault("SCH-2", f"{keyword!r} is outside the subset", keyword)  # SCH-1, SCH-2
        elif keyword in ANNOTATIONS:
            _annotation(place, keyword, value, limits, faults)
        elif keyword == "oneOf":
            if type(value) is list and len(value) >= 2:
                inside += [place.below(one, "oneOf", index) for index, one in enumerate(value)]
            else:
                fault("SCH-1", "`oneOf` has two branches or more", keyword)  # SCH-1
        elif "oneOf" in schema:
            fault("SCH-1", f"{keyword!r} stands beside `oneOf`", keyword)  # SCH-1
        elif keyword == "type":
            if not known:
                fault("SCH-9", "`type` is the name of one type", keyword)  # SCH-9
        elif "type" not in schema:
            fault("SCH-2", f"{keyword!r} stands in a schema without `type`", keyword)  # SCH-2
        elif known and keyword not in BESIDE[str(name)]:
            fault("SCH-2", f"{keyword!r} does not belong to the type {name!r}", keyword)  # SCH-2
        elif known:
            _constraint(place, str(name), keyword, value, faults, inside)
    return faults, inside


def _annotation(place: _Place, keyword: str, value: object, limits: Limits, faults: list[Fault]) -> None:
    path = (*place.path, keyword)
    if keyword in ("title", "description"):
        if type(value) is not str:
            faults.append(Fault(path, "SCH-1", f"{keyword!r} is text"))  # SCH-1
        return
    held = snapshot(value, limits)
    if isinstance(held, NotAValue):
        faults.append(Fault((*path, *held.path), "SCH-1", held.reason))  # SCH-1
    elif keyword == "examples" and not isinstance(held, list):
        faults.append(Fault(path, "SCH-1", "`examples` is an array of values"))  # SCH-1


def _constraint(
    place: _Place, name: str, keyword: str, value: object, faults: list[Fault], inside: list[_Place]
) -> None:
    """Look at one keyword that stands beside the type it belongs to."""
    path = (*place.path, keyword)
    schema = cast("dict[str, object]", place.schema)
    match keyword:
        case "properties":
            if type(value) is not dict or any(type(key) is not str for key in value):
                faults.append(Fault(path, "SCH-1", "`properties` maps names to schemas"))  # SCH-1
            else:
                inside += [place.below(one, keyword, key) for key, one in value.items()]
        case "items":
            inside.append(place.below(value, keyword))
        case "additionalProperties":
            if type(value) is not bool:
                faults.append(Fault(path, "SCH-1", "it is true or false"))  # SCH-1
        case "required":
            if type(value) is not list:
                faults.append(Fault(path, "SCH-1", "`required` is a list of names"))  # SCH-1
                return
            properties = schema.get("properties")
            declared = properties if type(properties) is dict else {}
            for index, one in enumerate(value):
                if type(one) is not str or one not in declared:
                    faults.append(Fault((*path, index), "SCH-3", "no such property is declared"))  # SCH-3
                elif one in value[:index]:
                    faults.append(Fault((*path, index), "SCH-3", "the name stands twice"))
        case "enum":
            if type(value) is not list or not value:
                faults.append(Fault(path, "SCH-9", "`enum` is a list that is not empty"))  # SCH-9
                return
            for index, one in enumerate(value):
                if not _is_scalar_of(one, name):
                    faults.append(Fault((*path, index), "SCH-1", f"it is no {name}"))  # SCH-1
        case "const":
            allowed = schema.get("enum")
            if not _is_scalar_of(value, name):
                faults.append(Fault(path, "SCH-1", f"it is no {name}"))  # SCH-1
            elif type(allowed) is list and not any(
                _is_scalar_of(one, name) and json_equal(one, cast(Json, value)) for one in allowed
            ):
                faults.append(Fault(path, "SCH-9", "`const` is not one of `enum`"))  # SCH-9


def _is_scalar_of(value: object, name: str) -> bool:
    held = snapshot(value, Limits(depth=0))
    return not isinstance(held, NotAValue) and _is_of(held, name)


# -- the authoring form ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Parameters that are refused, with their faults; paths lead into what the author wrote."""

    faults: tuple[Fault, ...]


Schema: TypeAlias = dict[str, Json]


@clause("SCH-4", "SCH-2", "SCH-5")
def compile_parameters(property_map: object, limits: Limits = DEFAULT) -> Schema | Unsupported:
    """Compile the authoring form of parameters, a map from names to what each property is.

    SCH-4  `required: true` MUST mark a required property, and no other value
           is allowed; the root MUST be an open object; an object inside MUST
           say `additionalProperties` true or false; `{"type": "json"}` MUST
           mean any JSON value.
    SCH-2  What is outside the subset MUST be refused, with at least the first
           fault.
    """
    written = snapshot(property_map, limits)
    if isinstance(written, NotAValue):
        identifier = "SCH-5" if written.cycle else written.clause
        return Unsupported((Fault(written.path, identifier, written.reason),))  # SCH-5
    if not isinstance(written, dict):
        return Unsupported((Fault((), "SCH-4", "the parameters are a map from names to properties"),))
    root: Schema = {"type": "object", "properties": written}  # SCH-4: nothing closes the root
    faults: list[Fault] = []
    left: list[tuple[Schema, Path]] = [(root, ())]
    while left:
        node, path = left.pop()
        if node.get("type") == "json":
            del node["type"]  # SCH-4: what is left are annotations, and accepts any value
        if node.get("type") == "object" and path and "additionalProperties" not in node:
            faults.append(Fault(path, "SCH-4", "the object does not say `additionalProperties`"))  # SCH-4
        required: list[Json] = []
        inside: list[tuple[Schema, Path]] = []
        for step, one in _inside(node):
            below = (*path, *step)
            if "required" in one:
                if step[0] == "properties" and one["required"] is True:
                    required.append(step[1])  # SCH-4
                else:
                    faults.append(Fault((*below, "required"), "SCH-4", "`required: true` marks a property"))
                del one["required"]
            inside.append((one, below))
        if required:
            node["required"] = required
        left.extend(reversed(inside))
    faults.extend(declared_faults(root, limits))  # SCH-2
    if faults:
        return Unsupported(tuple(replace(one, path=one.path[1:]) for one in faults))
    return root


def _inside(node: Schema) -> list[tuple[Path, Schema]]:
    """The schemas that stand in a schema, each with the way to it."""
    found: list[tuple[Path, Json]] = []
    properties, branches = node.get("properties"), node.get("oneOf")
    if isinstance(properties, dict):
        found += [(("properties", name), one) for name, one in properties.items()]
    if "items" in node:
        found.append((("items",), node["items"]))
    if isinstance(branches, list):
        found += [(("oneOf", index), one) for index, one in enumerate(branches)]
    return [(step, one) for step, one in found if isinstance(one, dict)]


# -- the check of a value -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a value does not fit: the path to it, and the keyword it breaks.

    `detail` is the missing name for `required`, and the number of branches that
    fit for `oneOf`.
    """

    path: Path
    keyword: str
    detail: str | int | None = None


def _is_of(value: Json, name: str) -> bool:
    """Whether a value is of a type."""
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, int):
        return name in ("number", "integer")
    if isinstance(value, float):
        return name == "number" or (name == "integer" and value.is_integer())  # SCH-3
    if value is None:
        return name == "null"
    if isinstance(value, str):
        return name == "string"
    return name == ("object" if isinstance(value, dict) else "array")


@dataclass(frozen=True, slots=True)
class _Check:
    """A value that is still to be checked; what is found goes to `found`."""

    schema: Json
    value: Json
    path: Path
    found: list[Violation]


@dataclass(frozen=True, slots=True)
class _Report:
    """A violation whose turn has not come."""

    violation: Violation
    found: list[Violation]


@dataclass(frozen=True, slots=True)
class _Count:
    """Count the branches of a `oneOf` that fit, once each has been checked."""

    branches: tuple[list[Violation], ...]
    path: Path
    found: list[Violation]


@clause("SCH-1", "SCH-3", "SCH-6", "SCH-7", "VAL-3")
def violations(schema: Json, value: Json, path: Path = ()) -> tuple[Violation, ...]:
    """Every way in which `value` does not fit a supported schema, in the order of the schema.

    A value of the wrong type breaks nothing else.

    SCH-3  Objects MUST be open unless `additionalProperties` is false;
           `default` MUST NOT be applied; `integer` accepts any number without
           a fractional part.
    SCH-6  All violations MUST be answered: missing names, then declared
           properties in schema order, then undeclared names; a failed `oneOf`
           reports only the number of matches.
    SCH-7  The verdict MUST equal that of JSON Schema draft 2020-12.
    VAL-3  The walk MUST use a work list.
    """
    found: list[Violation] = []
    left: list[_Check | _Report | _Count] = [_Check(schema, value, path, found)]  # VAL-3: last in, first out
    while left:
        item = left.pop()
        match item:
            case _Report():
                item.found.append(item.violation)
            case _Count():
                matches = sum(1 for branch in item.branches if not branch)
                if matches != 1:
                    item.found.append(Violation(item.path, "oneOf", matches))  # SCH-6
            case _Check():
                left.extend(reversed(_checked(item)))  # SCH-7: each keyword means what it means there
    return tuple(found)


def _checked(item: _Check) -> list[_Check | _Report | _Count]:
    """What one schema object says of one value, in order; the parts of the value come later."""
    schema, value, path, found = item.schema, item.value, item.path, item.found
    if not isinstance(schema, dict):
        return []
    name = schema.get("type")
    if isinstance(name, str) and not _is_of(value, name):
        return [_Report(Violation(path, "type"), found)]
    following: list[_Check | _Report | _Count] = []
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(json_equal(value, one) for one in allowed):
        following.append(_Report(Violation(path, "enum"), found))
    if "const" in schema and not json_equal(value, schema["const"]):
        following.append(_Report(Violation(path, "const"), found))
    branches = schema.get("oneOf")
    if isinstance(branches, list):
        findings: list[list[Violation]] = [[] for _ in branches]
        following += [_Check(one, value, path, own) for one, own in zip(branches, findings, strict=True)]
        following.append(_Count(tuple(findings), path, found))
    if isinstance(value, list) and "items" in schema:
        following += [_Check(schema["items"], one, (*path, n), found) for n, one in enumerate(value)]
    if isinstance(value, dict):
        following += _properties(schema, value, path, found)
    return following


def _properties(
    schema: Schema, value: dict[str, Json], path: Path, found: list[Violation]
) -> list[_Check | _Report | _Count]:
    following: list[_Check | _Report | _Count] = []
    properties, required = schema.get("properties"), schema.get("required")
    declared = properties if isinstance(properties, dict) else {}
    for name in required if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            following.append(_Report(Violation(path, "required", name), found))  # SCH-6: first
    for name, below in declared.items():
        if name in value:
            following.append(_Check(below, value[name], (*path, name), found))  # SCH-6: then
    if schema.get("additionalProperties") is False:  # SCH-3
        for name in value:
            if name not in declared:
                following.append(
                    _Report(Violation((*path, name), "additionalProperties"), found)
                )  # SCH-6: last
    return following


@clause("SCH-8", "ARG-3")
def argument_violations(
    parameters: Json, arguments: Json, checks_own_arguments: bool = False
) -> tuple[Violation, ...]:
    """Every way in which arguments do not fit what a tool publishes.

    SCH-8  What is published MUST be what is enforced, also for a raw definition,
           unless it says that it checks its own arguments.
    ARG-3  Text that was not JSON arrives here as a string, and MUST NOT be
           repaired.
    """
    if checks_own_arguments:
        return ()  # SCH-8
    return violations(parameters, arguments)  # SCH-8, ARG-3
