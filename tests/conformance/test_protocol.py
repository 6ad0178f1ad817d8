"""The protocol: an adapter that speaks it is judged like any other, and one that does not is told so."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from meddled_adapter import FAULTS
from typer.testing import CliRunner

from gnomon_check.cli import app
from gnomon_check.cli.smoke import ONE_CALL
from gnomon_check.conform import BACKENDS, Run, conform
from gnomon_check.generated import FILES
from gnomon_check.profiles import PROFILES, needs
from gnomon_check.protocol import ProtocolError, read_answer
from gnomon_check.scenario_files import shipped
from gnomon_check.subject import Cannot, Stopped
from gnomon_check.targets.adapter_process import AdapterProcess, Died, KitFault
from gnomon_check.targets.remote import Remote

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "conform" / "protocol.md").read_text()
GNOMON = shlex.quote(str(Path(sys.executable).with_name("gnomon")))
SECONDS = 60.0


def command(fault: str) -> str:
    return shlex.join([sys.executable, str(HERE / "meddled_adapter.py"), fault])


def run(fault: str, seconds: float = SECONDS) -> Run:
    with Remote(command(fault), seconds=seconds) as remote:
        return conform(ONE_CALL, remote, "stdio")


# -- an adapter that speaks it --------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_runtime_behind_an_adapter_conforms_as_it_does_in_process(backend: str) -> None:
    with Remote(f"{GNOMON} serve --backend {backend}", seconds=SECONDS) as remote:
        runs = [conform(one, remote, "stdio") for one in shipped()]
    assert [run.scenario.id for run in runs if not run.judged or run.problems] == []


@pytest.mark.process
def test_smoke_says_hello_and_runs_one_call() -> None:
    done = CliRunner().invoke(app, ["smoke", f"exec:{GNOMON} serve"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("gnomon claims ANNOUNCE, ARGS, ASK, BOUND")
    assert "result.logged of call 1 (c1) with a success carrying nonce-0" in done.output
    assert CliRunner().invoke(app, ["smoke", "builtin"]).exit_code == 0


def test_a_request_that_is_none_ends_the_adapter_with_the_reason() -> None:
    done = CliRunner().invoke(app, ["serve"], input='{"id":1,"open":{"scenario":{}}}\n')
    assert done.exit_code == 2
    assert "this is no request of the protocol: open.open.scenario" in done.output
    assert CliRunner().invoke(app, ["serve", "--backend", "curio"]).exit_code == 2


def test_a_step_without_a_scenario_is_refused_and_bye_is_the_end() -> None:
    asked = '{"id":1,"close":{}}\n{"id":2,"bye":{}}\n{"id":3,"close":{}}\n'
    done = CliRunner().invoke(app, ["serve"], input=asked)
    assert done.output.splitlines() == [
        '{"id": 1, "refused": {"reason": "no scenario is open"}}',
        '{"id": 2, "bye": {}}',
    ]


# -- adapters that do not -------------------------------------------------------------------------


MEDDLED = tomllib.loads((HERE / "meddled_adapters.toml").read_text())["meddled"]
NO_HELLO = {one["name"]: one["words"] for one in MEDDLED if one["judge"] == "hello"}
"""Those that are not even asked to run anything, and why."""
WRONG = {one["name"]: (one["judge"], one["words"]) for one in MEDDLED if one["name"] not in NO_HELLO}
"""What each of the others gets wrong, who finds it, and in which words."""

FINE = {"nothing", "cannot", "refuses", "claims nothing"}


@pytest.mark.process
@pytest.mark.parametrize("fault", WRONG)
def test_what_an_adapter_gets_wrong_is_found_by_the_judge_for_it(fault: str) -> None:
    judge, words = WRONG[fault]
    (first, *_) = run(fault, 3.0 if fault == "hangs" else SECONDS).problems
    assert first.judge == judge
    assert words in first.text


@pytest.mark.process
def test_nothing_is_found_where_nothing_is_wrong() -> None:
    found = run("nothing")
    assert found.judged
    assert found.problems == ()


@pytest.mark.process
def test_what_cannot_be_run_is_not_testable() -> None:
    assert run("cannot").cannot == Cannot("tools", "there are none", "https://example.org/why")
    assert run("refuses").cannot == Cannot("the step `open`", "not today")


@pytest.mark.process
def test_what_is_not_claimed_is_not_run() -> None:
    found = run("claims nothing")
    assert found.not_claimed == ("PAIRING",)
    assert not found.judged
    done = CliRunner().invoke(app, ["smoke", f"exec:{command('claims nothing')}"])
    assert done.exit_code == 1
    assert "not run: it needs PAIRING" in done.output


@pytest.mark.process
@pytest.mark.parametrize("fault", NO_HELLO)
def test_who_it_says_that_it_is_has_to_make_sense(fault: str) -> None:
    with Remote(command(fault), seconds=SECONDS) as remote, pytest.raises(Stopped, match=NO_HELLO[fault]):
        assert remote.manifest
    done = CliRunner().invoke(app, ["conform", f"exec:{command(fault)}"])
    assert done.exit_code == 1
    assert NO_HELLO[fault] in done.output


def test_every_fault_is_looked_for() -> None:
    written = {"says no JSON", "speaks unasked", "floods"}
    assert FAULTS.keys() | written == WRONG.keys() | FINE | NO_HELLO.keys()


@pytest.mark.process
def test_after_one_that_dies_the_next_scenario_has_a_new_process() -> None:
    with Remote(command("dies"), seconds=SECONDS) as remote:
        twice = [conform(ONE_CALL, remote, "stdio") for _ in range(2)]
    assert [one.problems[0].judge for one in twice] == ["process", "process"]


def test_what_cannot_be_started_is_told() -> None:
    with pytest.raises(Died, match="`there-is-no-such-program` cannot be started: No such file"):
        AdapterProcess("there-is-no-such-program", seconds=SECONDS)
    done = CliRunner().invoke(app, ["conform", "exec:there-is-no-such-program"])
    assert done.exit_code == 1
    assert "cannot be started" in done.output


@pytest.mark.process
def test_a_question_that_is_none_is_the_kits_own_fault() -> None:
    process = AdapterProcess(command("nothing"), seconds=SECONDS)
    try:
        with pytest.raises(KitFault, match=r"the kit's own `do` is not valid: do\.do\.step"):
            process.ask("do", {"step": {"dance": {}}, "value": "x"})
    finally:
        process.end()


# -- targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("nobody", "A target is one of: builtin"),
        ("exec:", "A target is one of: builtin"),
        ("python:nowhere", "A target is one of: builtin"),
        ("python:nowhere:make", "ModuleNotFoundError"),
        ("python:json:nothing", "AttributeError"),
        ("python:builtins:dict", "answers a dict, and has to answer an instance"),
    ],
)
def test_a_target_that_is_none_is_refused_in_words(target: str, words: str) -> None:
    done = CliRunner().invoke(app, ["conform", target])
    assert done.exit_code == 2
    assert words in done.output


def test_a_runtime_for_python_is_named_by_its_factory() -> None:
    done = CliRunner().invoke(app, ["smoke", "python:gnomon_check.targets.builtin:Builtin"])
    assert done.exit_code == 0, done.output


# -- the page and the schema ----------------------------------------------------------------------


def test_every_profile_is_on_the_page_and_needed_by_something() -> None:
    for name, meaning in PROFILES.items():
        assert f"| `{name}` | {meaning} |" in PAGE
    needed = {one for scenario in shipped() for one in needs(scenario)}
    assert needed == PROFILES.keys() - {"SEVERAL"}


def test_the_schema_tells_requests_and_answers() -> None:
    schema = json.loads(next(one for one in FILES if one.name == "protocol.v1.json").read_text())
    messages = {"request": {"id": 1, "bye": {}}, "answer": {"id": 1, "ready": {}}}
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(messages)
    assert not validator.is_valid({**messages, "answer": {"id": 1, "redy": {}}})


def test_an_answer_says_in_which_place_it_is_wrong() -> None:
    with pytest.raises(ProtocolError, match=r"cannot\.cannot\.reason: Field required"):
        read_answer('{"id": 1, "cannot": {"feature": "x"}}', "open", 1)
    with pytest.raises(ProtocolError, match="one key beside `id`"):
        read_answer('{"id": 1, "ready": {}, "cannot": {}}', "open", 1)
