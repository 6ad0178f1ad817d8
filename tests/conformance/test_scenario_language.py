"""The language of scenarios: what can be said is told on its page, and what makes no sense is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from patched import runtime_with
from python_template import loaded
from typer.testing import CliRunner

from gnomon_check import script_steps
from gnomon_check.changes import CHANGES
from gnomon_check.cli import app
from gnomon_check.conform import BACKENDS, conform
from gnomon_check.expectation import expected
from gnomon_check.scenario import Scenario, ScenarioError
from gnomon_check.scenario_files import load
from gnomon_check.targets.builtin import Builtin

PAGE = (Path(__file__).parents[2] / "docs" / "conform" / "scenarios.md").read_text()


def scenario(**more: Any) -> dict[str, Any]:
    return {
        "scenario": "gnomon/1",
        "id": "one",
        "title": "one",
        "clauses": [],
        "tools": [{"name": "act", "body": [{"return": {"value": 1}}]}],
        "batches": [{"calls": [{"id": "c1", "name": "act"}]}],
        "schedule": [{"open": {}}],
        **more,
    }


def steps() -> set[str]:
    kinds = get_args(script_steps.Step)
    return {next(iter(kind.model_fields)).rstrip("_") for kind in kinds} | set(CHANGES) | {"call_kept"}


def test_every_step_and_field_is_on_the_page() -> None:
    told = set(re.findall(r"`([a-z_]+)`", PAGE))
    assert steps() - told == set()
    assert set(Scenario.model_fields) - told == set()


def test_a_value_that_looks_like_a_change_is_none() -> None:
    body = [{"return": {"value": {"register": {"tool": "act"}}}}]
    assert not Scenario.model_validate(scenario(tools=[{"name": "act", "body": body}])).changes
    body = [{"register": {"tool": "act"}}, *body]
    assert Scenario.model_validate(scenario(tools=[{"name": "act", "body": body}])).changes


def hook(on: str, *script: dict[str, Any]) -> dict[str, Any]:
    return {"id": "h", "on": on, "script": [*script]}


TWICE = [{"name": "act"}, {"name": "act"}]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tools": TWICE}, "two tools have the same name"),
        ({"tools": [{"name": "act", "scope": "nowhere"}]}, "there is no scope 'nowhere'"),
        ({"caller": "nowhere", "scopes": [{"name": "agent"}]}, "there is no scope 'nowhere'"),
        ({"scopes": [{"name": "agent", "parent": "later"}, {"name": "later"}]}, "before its parent"),
        ({"scopes": [{"name": "agent"}, {"name": "agent"}]}, "stands twice"),
        ({"batches": [{"calls": [{"id": "c1", "name": "run_code"}]}]}, "runs no programs"),
        ({"mode": "single", "batches": [{"calls": []}]}, "mode `single` is for one call"),
        ({"schedule": [{"open": {}}, {"advance": {"ms": 0}}]}, "greater than 0"),
        ({"schedule": [{"open": {}}, {"remove": {"registration": "act"}}]}, "String should match pattern"),
        ({"schedule": [{"open": {}}, {"add_hook": {"hook": {}}}]}, "valid string"),
        ({"mode": "single", "log": {"fail_append": {"record": "tool/call"}}}, "a single call has none"),
        ({"log": {"fail_append": {"record": "turn/end"}}}, "Input should be 'tool/call'"),
        ({"hooks": [hook("change", {"gate": {"name": "g"}})]}, "`note` and `raise`, and no others"),
        ({"hooks": [hook("change", {"raise": {"kind": "exit"}})]}, "raises an `error`"),
        ({"hooks": [hook("execute", {"mutate": {"path": ["tool", "name"]}})]}, "begins with `arguments`"),
        ({"hooks": [hook("execute", {"set_signal_value": {"value": {"$hostile": "x"}}})]}, "'x'"),
        ({"hooks": [hook("execute", {"author": {"result": {"$hostile": "nan"}}})]}, "and nowhere else"),
        ({"hooks": [hook("execute", {"next_concurrently": {"times": 1}})]}, "greater than or equal to 2"),
        (
            {"hooks": [hook("execute", {"next_unawaited": {}}, {"raise": {"kind": "keyboard"}})]},
            "no KeyboardInterrupt is raised where",
        ),
        (
            {"hooks": [hook("execute", {"next_unawaited": {}})], "tools": [{"name": "act", "render": []}]},
            "a tool with a renderer",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(words)):
        load(json.dumps(scenario(**more)), "here")


def test_what_is_refused_at_the_start_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps(scenario(restrictions=[{"scope": "agent", "allow": ["nothing"]}])))
    result = CliRunner().invoke(app, ["conform", "builtin", "-s", str(file)])
    assert result.exit_code == 2
    assert "the scope inherits no tool 'nothing'" in result.output


def test_what_cannot_be_run_is_not_green(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_text(json.dumps(scenario(approval={"service": "raises"})))
    result = CliRunner().invoke(app, ["conform", "builtin", "-s", str(file)])
    assert result.exit_code == 3
    assert "not testable" in result.output
    assert "nothing outside can make it fail" in result.output
    as_json = CliRunner().invoke(app, ["conform", "builtin", "-s", str(file), "--json"])
    report = json.loads(as_json.output)
    assert [one["verdict"] for one in report["runs"]] == ["not testable", "not testable"]


def test_a_definition_that_comes_later_is_not_there_at_the_start() -> None:
    later = [{"name": "act", "later": True, "body": [{"return": {"value": 1}}]}]
    one = Scenario.model_validate(scenario(tools=later))
    assert ("result.logged", 0, (False, "UNKNOWN_TOOL", None)) in expected(one)[0].events
    come = [{"register": {"tool": "act"}}, {"register": {"tool": "act"}}, {"open": {}}]
    other = Scenario.model_validate(scenario(tools=later, schedule=come))
    windows = expected(other)
    assert windows[0].events == (("registry.changed", None, ("registered", "act", False)),)
    assert windows[1].events == (("registry.changed", None, ("registered", "act", True)),)
    assert ("result.logged", 0, (True, None, None)) in windows[2].events


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_change_that_is_wrongly_accepted_is_seen(backend: str) -> None:
    """Seen to fail: a runtime that accepts a restriction of a scope that there is not."""
    one = Scenario.model_validate(scenario(schedule=[{"open": {}}, {"restrict": {"scope": "agent"}}]))
    assert conform(one, Builtin(), backend).ok

    class Lenient(Builtin):
        def prepare(self, harness: Any) -> Any:
            controls = super().prepare(harness)
            controls.change = lambda change: None  # type: ignore[method-assign]  # the fault
            return controls

    problems = conform(one, Lenient(), backend).problems
    assert "registry.changed with restricted agent" in problems[0].text
    assert "restricted agent, refused" in problems[0].text


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"register": {"tool": "nowhere"}}, ("registered", "nowhere")),
        ({"add_guard": {"guard": "nowhere"}}, ("guarded", "nowhere")),
        ({"drop_guard": {"guard": "nowhere"}}, ("unguarded", "nowhere")),
        ({"add_hook": {"hook": "nowhere"}}, ("hooked", "nowhere")),
        ({"drop_hook": {"hook": "nowhere"}}, ("unhooked", "nowhere")),
        ({"set_mode": {"scope": "agent", "mode": None}}, ("mode", "agent")),
        ({"set_policy": {"policy": "sometimes"}}, ("policy", "sometimes")),
    ],
)
def test_a_change_of_what_there_is_not_is_refused(
    change: dict[str, Any], told: tuple[str, str], backend: str
) -> None:
    """In the schedule and in the script of a body: the scenario goes on, and what is refused is told."""
    body = [change, {"return": {"value": 1}}]
    more = {"scopes": [{"name": "agent"}], "schedule": [change, {"open": {}}]}
    one = Scenario.model_validate(scenario(tools=[{"name": "act", "body": body}], **more))
    found = conform(one, Builtin(), backend)
    assert found.problems == ()
    changes = [
        (event["op"], event["name"])
        for window in found.windows
        for event in (*window.echoes, *window.events)
        if event["event"] == "registry.changed" and "refused" in event
    ]
    assert changes == [told, told]
    assert expected(one)[0].events == (("registry.changed", None, (*told, True)),)


@pytest.mark.clause("TMO-4")
@pytest.mark.parametrize("backend", BACKENDS)
def test_time_goes_on_from_moment_to_moment(backend: str) -> None:
    """Of two deadlines that one advance lets pass, the earlier passes first, whatever the event loop does."""
    tools = [
        {
            "name": name,
            "parallel": True,
            "timeout_ms": ms,
            "body": [{"await_abort": {}}, {"note": {"text": name}}],
        }
        for name, ms in (("late", 9), ("early", 5))
    ]
    calls = [{"id": "c1", "name": "late"}, {"id": "c2", "name": "early"}]
    one = Scenario.model_validate(
        scenario(tools=tools, batches=[{"calls": calls}], schedule=[{"open": {}}, {"advance": {"ms": 20}}])
    )
    found = conform(one, Builtin(), backend)
    assert found.problems == ()
    notes = [event["text"] for event in found.windows[1].events if event["event"] == "noted"]
    assert notes == ["early", "late"]


@pytest.mark.clause("PY-13")
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_approver_of_a_withdrawn_request_is_waited_for(backend: str) -> None:
    """PY-13: it stays at its gate, and the batch does not return before it has ended."""
    answerer = {"id": "slow", "script": [{"gate": {"name": "slow"}}, {"note": {"text": "ended"}}]}
    asks = {"id": "asks", "on": "pre_execute", "script": [{"decide": {"decision": {"kind": "ask"}}}]}
    one = Scenario.model_validate(
        scenario(
            hooks=[asks],
            approval={"answerers": [answerer]},
            schedule=[{"open": {}}, {"abort": {}}, {"release": {"gate": "slow"}}],
        )
    )
    found = conform(one, Builtin(), backend)
    assert found.problems == ()
    assert [window.idle for window in found.windows] == [False, False, True, True]
    forgets = (
        "            await self._over.wait()\n",
        "            await self._over.wait()\n            return 'rejected'\n",
    )
    with runtime_with("approval", forgets) as runtime:
        assert not conform(one, Builtin(runtime), backend).ok


CRASH = {
    "batches": [{"calls": [{"id": "c1", "name": "act"}, {"id": "c1", "name": "act"}]}],
    "tools": [{"name": "act", "body": [{"gate": {"name": "body:$call"}}, {"return": {"value": 1}}]}],
    "schedule": [{"open": {}}, {"crash": {}}, {"repair": {}}, {"repair": {}}],
}


@pytest.mark.clause("REP-1")
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_crash_has_left_is_repaired_once(backend: str) -> None:
    one = Scenario.model_validate(scenario(**CRASH))
    found = conform(one, Builtin(), backend)
    assert found.problems == ()
    codes = [
        event["outcome"]["code"] for event in found.windows[2].events if event["event"] == "result.logged"
    ]
    assert codes == ["TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"]
    assert found.windows[3].events == ()


@pytest.mark.clause("REP-1")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_repair_that_repairs_nothing_or_repeats_itself_is_seen(backend: str) -> None:
    """Seen to fail: no repair at all, and one that gives the same results again."""

    class Broken(Builtin):
        def prepare(self, harness: Any) -> Any:
            controls = super().prepare(harness)
            controls.repair = self.broken(harness)
            return controls

        def broken(self, harness: Any) -> Any:
            return lambda: None

    class Again(Broken):
        def broken(self, harness: Any) -> Any:
            outcome = {"ok": False, "code": "TOOL_OUTCOME_UNKNOWN"}
            return lambda: harness.result_logged(0, "c1", outcome, "", 0, 0)

    one = Scenario.model_validate(scenario(**CRASH))
    assert (
        "more has to happen first: result.logged of call 1"
        in conform(one, Broken(), backend).problems[0].text
    )
    assert "(the log is repaired)" in conform(one, Again(), backend).problems[0].text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"schedule": [{"open": {}}, {"repair": {}}]}, "after a crash only `repair` comes"),
        ({"schedule": [{"open": {}}, {"crash": {}}, {"abort": {}}]}, "after a crash only `repair` comes"),
        ({"schedule": [{"open": {}}, {"crash": {}}], "mode": "single"}, "leaves no log to repair"),
    ],
)
def test_a_crash_that_makes_no_sense_is_refused(more: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(words)):
        load(json.dumps(scenario(**more)), "here")


@pytest.mark.clause("CRE-5", "DSP-2")
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrapper_inside_of_anothers_signal_hears_of_that_one_alone(backend: str) -> None:
    """Only for a body are the two fused: the caller's abort wakes no wrapper that has another signal."""
    own = {"set_signal": {"name": "own"}}
    hooks = [
        {"id": "outer", "on": "execute", "script": [own, {"next": {}}, {"pass": {}}]},
        {"id": "inner", "on": "execute", "script": [{"await_abort": {}}, {"next": {}}, {"pass": {}}]},
    ]
    schedule = [{"open": {}}, {"abort": {}}, {"abort": {"signal": "own"}}]
    one = Scenario.model_validate(scenario(hooks=hooks, schedule=schedule))
    found = conform(one, Builtin(), backend)
    assert found.problems == ()
    assert [window.idle for window in found.windows] == [False, False, True, True]


@pytest.mark.clause("FIN-3", "CAN-1")
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_abort_from_an_observer_comes_too_late(backend: str) -> None:
    hooks = [{"id": "seen", "on": "result", "script": [{"abort": {}}]}]
    found = conform(Scenario.model_validate(scenario(hooks=hooks)), Builtin(), backend)
    assert found.problems == ()
    results = [one for one in found.windows[0].events if one["event"] == "result.logged"]
    assert [one["outcome"]["ok"] for one in results] == [True]


@pytest.mark.clause("VAL-5")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("given", "equals", "same"), [(True, 1, False), (0, False, False), (1.0, 1, True)])
def test_a_classifier_tells_true_from_one(backend: str, given: object, equals: object, same: bool) -> None:
    note = [{"note": {"text": "in"}}, {"gate": {"name": "body:$call"}}, {"note": {"text": "out"}}]
    parallel = {"when": {"argument": "flag", "equals": equals}}
    noted = ["in", "in", "out", "out"] if same else ["in", "out", "in", "out"]
    one = load(
        json.dumps(
            scenario(
                tools=[{"name": "act", "parallel": parallel, "body": note}],
                batches=[
                    {"calls": [{"id": "a", "name": "act", "arguments": json.dumps({"flag": given})}] * 2}
                ],
                schedule=[{"open": {}}, *({"release": {"gate": f"body:{pos}"}} for pos in range(2))],
                report={
                    "id": "flag",
                    "symptom": "true is taken for one",
                    "results": [{"pos": pos, "code": "OK"} for pos in range(2)],
                    "noted": noted,
                },
            )
        ),
        "here",
    )
    assert conform(one, Builtin(), backend).problems == ()
    with loaded() as template:  # which asks in its own adapter
        assert conform(one, template, backend).problems == ()


@pytest.mark.clause("VAL-5")
def test_what_is_not_true_stands_for_no_fresh_value() -> None:
    returns = {"return": {"value": {"$nonce": 1}}}
    report = {
        "id": "nonce",
        "symptom": "one is taken for true",
        "results": [{"pos": 0, "code": "OK", "value": {"$nonce": 1}}],
    }
    plain = scenario(tools=[{"name": "act", "body": [returns]}], report=report)
    one = Scenario.model_validate(plain)
    assert conform(one, Builtin(), "asyncio").problems == ()
    with loaded() as template:
        assert conform(one, template, "asyncio").problems == ()
