"""Every reason that the specification can give has a sentence, and each sentence names what it is about."""

from __future__ import annotations

import ast
import inspect

import pytest

from gnomon_check import explain
from gnomon_spec.properties import Broken, of_batches, of_calls


def reasons_of_the_specification() -> set[str]:
    """Every reason by name that `gnomon_spec.properties` can give, read from its source."""
    found: set[str] = set()
    source = "\n".join(inspect.getsource(module) for module in (of_batches, of_calls))
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        assigned = {
            target.id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            given: ast.expr | None = None
            if (
                isinstance(node, ast.Return)
                and isinstance(node.value, ast.Tuple)
                and len(node.value.elts) == 3
            ):
                given = node.value.elts[1]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Broken":
                given = node.args[2]
            if isinstance(given, ast.Name):
                given = assigned.get(given.id)
            if given is not None:
                found |= {
                    one.value
                    for one in ast.walk(given)
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                }
    return found


def test_every_reason_of_the_specification_has_its_sentence() -> None:
    reasons = reasons_of_the_specification()
    assert {"answers no call", "result without a logged call", "the batch never ends"} <= reasons
    assert reasons == set(explain.SENTENCES)
    assert set(explain.WITHOUT_CALLS) <= reasons


@pytest.mark.parametrize("reason", explain.SENTENCES)
@pytest.mark.parametrize("about", [(), (1,), (1, 0), (2, 0, 1)])
def test_a_sentence_names_its_calls_and_its_clause(reason: str, about: tuple[int, ...]) -> None:
    said = explain.explain_broken(
        Broken("P", "XYZ-1", reason, about), lambda pos: explain.call_label(pos, "abc"[pos])
    )
    assert said.endswith(": XYZ-1")
    assert "{" not in said
    placed = {"{call}": about[:1], "{other}": about[1:2], "{calls}": about}
    for placeholder, positions in placed.items():
        if placeholder in explain.SENTENCES[reason]:
            assert all(f"call {position + 1} ({'abc'[position]})" in said for position in positions)


def test_the_sentence_of_the_design() -> None:
    label = {0: "call 1 (toolu_a)", 1: "call 2 (toolu_b)"}.__getitem__
    early = Broken("ModelOrder", "SCD-6", "answered before an earlier call", (1, 0))
    assert (
        explain.explain_broken(early, label) == "call 2 (toolu_b) is answered before call 1 (toolu_a): SCD-6"
    )


def test_a_reason_of_tomorrow_is_still_said() -> None:
    unknown = Broken("New", "SCD-99", "something new", (0,))
    assert explain.explain_broken(unknown, lambda pos: f"call {pos + 1}") == "something new (call 1): SCD-99"
