"""The vectors: fresh, well-formed, in pairs, and able to tell a wrong implementation from a right one."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import vector_inputs
from typer.testing import CliRunner

import gnomon.errors
import gnomon.schemas
import gnomon.values
from gnomon_check import hostile, vectors
from gnomon_check.cli import app
from gnomon_check.generated import COMMAND, FILES
from gnomon_check.hostile import KINDS, realised
from gnomon_check.protocol import PROTOCOL
from gnomon_check.vectors.arguments import text_of
from gnomon_check.vectors.case import Vector, VectorFile
from gnomon_spec import kernel
from gnomon_spec.schemas import violations
from gnomon_spec.values import Limits, NotAValue, parse_arguments, snapshot, unchanged

COUNTS = {
    "snapshot": (48, 21),
    "equal": (19, 0),
    "unchanged": (12, 0),
    "parse": (59, 6),
    "validate": (41, 20),
    "declare": (42, 27),
    "view": (62, 20),
    "cancelled": (24, 0),
    "log": (9, 6),
    "repair": (13, 0),
    "name": (19, 0),
}
"""Pure function -> cases, and how many of them are negative, counted by hand."""
TOTAL = 348

SHIPPED = {one.function: one for one in vectors.shipped() if one.function in COUNTS}
CASES = {case.id: case for one in SHIPPED.values() for case in one.cases}


def text(value: Any) -> str:
    """What is compared: to Python, true equals 1."""
    return json.dumps(value)


def negative(case: Vector) -> bool:
    return '"fails"' in text(case.expect)


# -- the files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", vectors.NAMES)
def test_a_file_is_what_the_specification_computes(name: str) -> None:
    path = vectors.FOLDER / name
    assert path in FILES
    assert path.read_text() == vectors.files(COMMAND)[name] == FILES[path]()


def test_no_file_is_left_over() -> None:
    assert {path.name for path in vectors.FOLDER.iterdir()} == set(vectors.NAMES)


def test_computing_them_twice_gives_the_same_bytes() -> None:
    again = vectors.files.__wrapped__(COMMAND)
    assert again == vectors.files(COMMAND)


def test_the_manifest_has_the_hashes_of_the_files() -> None:
    manifest = json.loads((vectors.FOLDER / "MANIFEST.json").read_text())
    assert [one["file"] for one in manifest["files"]] == list(vectors.NAMES[:-2])
    for one in manifest["files"]:
        content = (vectors.FOLDER / one["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == one["sha256"]
        if one["file"] != "COVERAGE.json":
            assert len(json.loads(content)["cases"]) == one["cases"]
    assert manifest["total"] == sum(one.get("cases", 0) for one in manifest["files"]) == 1201


def test_the_manifest_keeps_the_versions_apart() -> None:
    manifest = json.loads((vectors.FOLDER / "MANIFEST.json").read_text())
    told = {key: manifest[key] for key in ("vectors", "suite", "spec", "protocol", "command")}
    assert told == {
        "vectors": "gnomon/1",
        "suite": "1.1",
        "spec": "1.0",
        "protocol": PROTOCOL,
        "command": COMMAND,
    }


def test_the_files_are_of_a_size_that_can_be_read() -> None:
    sizes = [path.stat().st_size for path in vectors.FOLDER.iterdir()]
    assert max(sizes) < 1_500_000
    assert sum(sizes) < 4_000_000


def test_the_files_describe_themselves_and_fit_their_schema() -> None:
    schema = json.loads((vectors.FOLDER.parent / "schema" / "vector.v1.json").read_text())
    check = jsonschema.Draft202012Validator(schema)
    for suite in vectors.SUITES:
        content = json.loads((vectors.FOLDER / suite.file).read_text())
        assert check.is_valid(content)
        assert not check.is_valid({key: one for key, one in content.items() if key != "suite"})
        assert (content["suite"], content["spec"], content["command"]) == ("1.1", "1.0", COMMAND)
        assert (content["function"], content["about"]) == (suite.function, suite.about)


def test_the_files_are_plain_ascii() -> None:
    for path in vectors.FOLDER.iterdir():
        assert path.read_bytes().isascii(), path.name


def test_the_readme_says_how_many_there_are_and_names_every_kind() -> None:
    text = (vectors.FOLDER / "README.md").read_text()
    manifest = json.loads((vectors.FOLDER / "MANIFEST.json").read_text())
    assert str(manifest["total"]) in re.findall(r"\d+", text)
    for kind in KINDS:
        assert f"`{kind}`" in text


# -- the cases ------------------------------------------------------------------------------------


def test_there_are_as_many_cases_as_were_counted() -> None:
    counted = {
        name: (len(one.cases), sum(negative(case) for case in one.cases)) for name, one in SHIPPED.items()
    }
    assert counted == COUNTS


def test_every_id_is_given_once_and_begins_with_its_function() -> None:
    assert len(CASES) == TOTAL
    for name, one in SHIPPED.items():
        for case in one.cases:
            assert case.id.startswith(f"{name}-")
            assert not re.search(r"-0*\d{1,2}$", case.id), "an id that looks like a position"


def test_every_id_of_every_file_is_given_once_and_begins_with_its_function() -> None:
    given = [(one.function, case.id) for one in vectors.shipped() for case in one.cases]
    assert len({name for _, name in given}) == len(given)
    assert all(name.startswith(f"{function}-") for function, name in given)


def test_an_id_that_was_given_stays_with_its_input() -> None:
    """`vector_inputs.py` adds to the list; what stands in it is never changed."""
    listed = vector_inputs.listed()
    now = vector_inputs.now()
    changed = {name for name in listed.keys() & now.keys() if listed[name] != now[name]}
    assert not changed, "the input of a case never changes: give the changed one an id of its own"
    assert not listed.keys() - now.keys(), "a case never goes within a suite: its first number would change"
    assert not now.keys() - listed.keys(), "cases have come: python tests/spec/vector_inputs.py"


def test_a_twin_is_a_case_of_the_vectors() -> None:
    cases = {case.id: case for one in vectors.shipped() for case in one.cases}
    for case in cases.values():
        if case.twin is not None:
            twin = cases[case.twin]
            assert twin.twin is not None or case.id.startswith(("trace-", "judge-"))


def test_what_is_expected_does_not_depend_on_the_place_of_a_case() -> None:
    for suite in vectors.SUITES:
        if suite.function not in COUNTS:
            continue
        turned = type(suite)(suite.function, suite.about, suite.compute, suite.cases[::-1]).vectors()
        for case in turned:
            assert text(case.input) == text(CASES[case.id].input)
            assert text(case.expect) == text(CASES[case.id].expect)


def test_every_negative_case_names_its_clause_and_has_a_twin_that_is_positive() -> None:
    checked = 0
    for case in CASES.values():
        if negative(case):
            checked += 1
            assert re.search(r'"fails": {"clause": "[A-Z]{3}-\d+", "reason": "\S', json.dumps(case.expect))
            if case.id == "snapshot-second-of-two":
                continue
            assert case.twin is not None, case.id
            assert not negative(CASES[case.twin]) or case.id == "snapshot-first-of-two", case.id
    assert checked == sum(one[1] for one in COUNTS.values())


def test_twins_differ_in_one_place_of_the_input_and_in_what_is_expected() -> None:
    for case in CASES.values():
        if case.twin is not None:
            twin = CASES[case.twin]
            assert twin.twin is not None
            inputs = case.input.keys() | twin.input.keys()
            assert sum(text(case.input.get(key)) != text(twin.input.get(key)) for key in inputs) == 1, case.id
            assert (differences(case.input, twin.input) == 1) is (case.id not in SEVERAL_FAULTS), case.id
            assert text(case.expect) != text(twin.expect)


SEVERAL_FAULTS = {"validate-person-all-wrong", "validate-person-schema-order", "declare-every-fault"}
"""Cases that show several faults at once: they differ from their twins in several places of one input."""


def differences(left: Any, right: Any) -> int:
    """In how many places two inputs differ: keys and items that one lacks, and values that are not equal."""
    if (
        isinstance(left, dict)
        and isinstance(right, dict)
        and not hostile.kind_of(left)
        and not hostile.kind_of(right)
    ):
        shared = left.keys() & right.keys()
        more = len(left.keys() ^ right.keys())
        return more + sum(differences(left[key], right[key]) for key in shared)
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        return sum(differences(a, b) for a, b in zip(left, right, strict=True))
    return 0 if text(left) == text(right) else 1


def test_every_clause_of_these_chapters_that_a_value_can_show_has_a_case() -> None:
    shown = {key for case in CASES.values() for key in case.clauses}
    chapters = {key for key in kernel.REALISED if key.split("-")[0] in ("VAL", "ARG", "SCH", "REG", "MOD")}
    assert chapters - shown == NO_CASE


NO_CASE = {
    "ARG-4",  # nor look into a log
    "ARG-5",
    "SCH-8",  # a scenario has tools that check their own arguments
    "REG-10",  # a file cannot change a definition after it was handed over
}


# -- the forms ------------------------------------------------------------------------------------


def test_every_kind_has_its_value() -> None:
    for kind in KINDS:
        value = hostile.hostile(kind.replace(":N", ":3"))
        assert isinstance(snapshot(value), NotAValue) is (
            kind not in ("deep:N", "wide:N", "none", "lone_surrogate", "big_int:N", "negative_zero")
        ), kind
    assert hostile.hostile("deep:3") == [[[]]]
    assert hostile.hostile("wide:3") == [0, 0, 0]
    assert hostile.hostile("big_int:3") == 999
    with pytest.raises(ValueError, match="there is no hostile value of kind 'odd'"):
        hostile.hostile("odd")


def test_a_cycle_is_what_it_stands_in() -> None:
    value = realised({"a": [1, {"$hostile": "cycle"}], "b": {"$hostile": "cycle"}})
    assert value["b"] is value
    assert value["a"][1] is value["a"]
    alone = realised({"$hostile": "cycle"})
    assert alone[0] is alone


# -- what they are good for -----------------------------------------------------------------------


def of_the_runtime(function: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the runtime answers, as far as it offers the function; reasons are left out."""
    limits = gnomon.values.Limits(**given.get("limits", {}))
    match function:
        case "snapshot":
            try:
                copied = gnomon.values.snapshot(realised(given["value"]), limits)
            except gnomon.values.NotJson as error:
                return {"path": list(error.path)}
            return {"value": copied}
        case "equal":
            return {"equal": gnomon.values.json_equal(realised(given["left"]), realised(given["right"]))}
        case "parse":
            raw = text_of(given["text"])
            try:
                parsed = gnomon.values.snapshot(gnomon.values.parse_arguments(raw), limits)
            except gnomon.values.NotJson as error:
                return {"path": list(error.path)}
            return {"unchanged": True} if parsed is raw else {"value": parsed}
        case _:
            schema = gnomon.schemas.Schema(given["schema"], "the schema")
            return {"fits": not schema.violations(realised(given["value"]))}


def expected_of(case: Vector) -> dict[str, Any]:
    match case.expect:
        case {"fails": {"path": where}}:
            return {"path": where}
        case {"fails": {"violations": _}}:
            return {"fits": False}
    return case.expect


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    a, b = snapshot(left, WIDE, own=FROZEN), snapshot(realised(right), WIDE)
    assert not isinstance(a, NotAValue)
    assert not isinstance(b, NotAValue)
    return unchanged(a, b)


WIDE = Limits(depth=1_000, nodes=10_000_000)
FROZEN = (gnomon.values.FrozenList, gnomon.values.FrozenDict)

RUNTIME_DIFFERS: dict[str, str] = {}
"""Known deviations of the runtime. One that is mended has to go from here."""


@pytest.mark.parametrize(
    ("function", "case"),
    [
        pytest.param(name, case, id=case.id)
        for name in ("snapshot", "equal", "parse", "validate")
        for case in SHIPPED[name].cases
    ],
)
def test_the_runtime_passes(function: str, case: Vector) -> None:
    try:
        passes = same(of_the_runtime(function, case.input), expected_of(case))
    except gnomon.errors.RegistrationError:
        passes = False
    assert passes is (case.id not in RUNTIME_DIFFERS)


def wrong(function: str, compute: Callable[[dict[str, Any]], dict[str, Any]]) -> set[str]:
    """The cases that an implementation fails."""
    found = set()
    for case in SHIPPED[function].cases:
        try:
            answer = compute(case.input)
        except (TypeError, ValueError, RecursionError, KeyError, AttributeError, RuntimeError):
            found.add(case.id)
            continue
        if text(without_words(answer)) != text(without_words(case.expect)):
            found.add(case.id)
    return found


def without_words(expect: Any) -> Any:
    if isinstance(expect, dict):
        return {key: without_words(one) for key, one in expect.items() if key != "reason"}
    return [without_words(one) for one in expect] if isinstance(expect, list) else expect


def computes(function: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return next(one.compute for one in vectors.SUITES if one.function == function)


@pytest.mark.parametrize("function", ["equal", "parse", "validate", "declare", "view", "cancelled"])
def test_the_specification_passes_its_own(function: str) -> None:
    assert wrong(function, computes(function)) == set()


def test_the_parser_of_the_standard_library_is_told_apart() -> None:
    def lenient(given: dict[str, Any]) -> dict[str, Any]:
        raw = text_of(given["text"])
        try:
            return {"value": json.loads(raw) if raw else {}}
        except ValueError:
            return {"unchanged": True}

    assert wrong("parse", lenient) == {
        "parse-nan",
        "parse-infinity",
        "parse-beyond-doubles",
        "parse-beyond-doubles-deep",
        "parse-depth-201",
        "parse-depth-100000",
        "parse-objects-100000-open",
        "parse-own-depth-over",
        "parse-own-nodes-over",
    }


def test_a_copy_through_text_is_told_apart() -> None:
    def through_text(given: dict[str, Any]) -> dict[str, Any]:
        value = json.loads(json.dumps(realised(given["value"])))
        return {"value": given["value"] if hostile.has_forms(given["value"]) else value}

    missed = wrong("snapshot", through_text)
    assert {"snapshot-nan", "snapshot-tuple", "snapshot-enum", "snapshot-subclass"} <= missed
    assert {"snapshot-depth-201", "snapshot-nodes-default-over", "snapshot-non-string-key"} <= missed


def test_python_equality_is_told_apart() -> None:
    def python(given: dict[str, Any]) -> dict[str, Any]:
        return {"equal": realised(given["left"]) == realised(given["right"])}

    assert {"equal-true-and-one", "equal-false-and-zero", "equal-true-inside"} <= wrong("equal", python)


def test_a_check_that_stops_at_the_first_violation_is_told_apart() -> None:
    def first_only(given: dict[str, Any]) -> dict[str, Any]:
        answer = copy.deepcopy(computes("validate")(given))
        if "fails" in answer:
            del answer["fails"]["violations"][1:]
        return answer

    assert wrong("validate", first_only) == {"validate-person-all-wrong", "validate-person-schema-order"}


def test_text_that_was_no_json_fits_no_object() -> None:
    case = CASES["validate-string-arguments"]
    assert violations(case.input["schema"], parse_arguments(case.input["value"]))


# -- the command ----------------------------------------------------------------------------------


def test_the_command_writes_and_checks(tmp_path: Path) -> None:
    run = CliRunner().invoke
    folder = tmp_path / "there" / "vectors"
    assert run(app, ["vectors", str(folder), "--check"]).exit_code == 1
    written = run(app, ["vectors", str(folder), "--json"])
    assert written.exit_code == 0
    assert json.loads(written.stdout)["written"] == list(vectors.NAMES)
    for name in vectors.NAMES:
        assert (folder / name).read_bytes() == (vectors.FOLDER / name).read_bytes()
    assert json.loads(run(app, ["vectors", str(folder), "--json"]).stdout)["written"] == []
    assert run(app, ["vectors", str(folder), "--check"]).exit_code == 0
    (folder / "view.json").write_text("{}")
    checked = run(app, ["vectors", str(folder), "--check"])
    assert checked.exit_code == 1
    assert "differs: view.json" in checked.stdout
    assert (folder / "view.json").read_text() == "{}"


def test_a_folder_that_cannot_be_written_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(app, ["vectors", str(tmp_path / "file")])
    assert done.exit_code == 2
    assert "cannot be written" in done.stderr


def test_a_file_with_a_fault_is_refused() -> None:
    content = json.loads((vectors.FOLDER / "equal.json").read_text())
    content["cases"][0]["id"] = "Case 1"
    with pytest.raises(ValueError, match="id"):
        VectorFile.model_validate(content)
