"""`gnomon verify` through the real command line: sentences, exit codes, and inputs of every kind."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from typer.testing import CliRunner, Result
from verify_cases import ANTHROPIC, OPENAI, PROGRAM, SERVER, SESSION
from verify_hostile import ALL_SAMPLES, LINES, NOT_JUDGED, misshapen, mutated
from verify_inputs import (
    ASSISTANT,
    END,
    SAMPLES,
    TEXT,
    USER,
    anthropic,
    calls,
    openai,
    result,
    sealed,
    session,
    start,
    tool_use,
)

from gnomon_check.cli import app
from gnomon_check.cli.verify import show
from gnomon_check.trace import Unjudgeable, check_file
from gnomon_check.trace.detect import read_input
from gnomon_spec import properties


def verify(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


@pytest.fixture
def judge(tmp_path: Path) -> Any:
    """Judge some bytes; answers the exit code, and the lines with the file's name cut off."""
    path = tmp_path / "input"

    def run(content: bytes) -> tuple[int, list[str]]:
        path.write_bytes(content)
        answer = verify(path)
        first, *rest = answer.stdout.splitlines()
        assert first.startswith(f"{path}: ")
        return answer.exit_code, [first.removeprefix(f"{path}: "), *rest]

    return run


# -- the samples, and several files at once ---------------------------------------------------------

SAID = {
    "anthropic-good.json": "holds (Anthropic messages, 2 batches, 4 calls)",
    "anthropic-unanswered.json": """broken (Anthropic messages, 1 batch, 3 calls)
  message 3, block 2: call 2 (toolu_links) and call 3 (toolu_publish) are never answered: SCD-10 \
(a text block comes first)""",
    "openai-good.json": "holds (OpenAI chat messages, 2 batches, 5 calls)",
    "openai-out-of-order.json": """broken (OpenAI chat messages, 1 batch, 3 calls)
  message 3: call 3 (call_glob_ts) is answered before call 1 (call_search): SCD-6""",
    "session-good.jsonl": "holds (gnomon session log, 2 batches, 6 calls)",
    "session-torn-and-unanswered.jsonl": """broken (gnomon session log, 1 batch, 3 calls)
  the end: call 2 (call_version) and call 3 (call_search) are never answered: SCD-10 \
(the log ends before an answer; repair would give one: REP-1)
  line 8: the last record is torn, 86 bytes dropped: LOG-3""",
}


def test_every_sample_has_its_words() -> None:
    assert [one.name for one in ALL_SAMPLES] == list(SAID)


@pytest.mark.parametrize("name", SAID)
def test_what_is_said_of_a_sample(name: str) -> None:
    answer = verify(SAMPLES / name)
    assert answer.stdout == f"{SAMPLES / name}: {SAID[name]}\n"
    assert answer.exit_code == (0 if "good" in name else 1)
    assert answer.stderr == ""


def test_all_files_are_judged_and_the_worst_counts(tmp_path: Path) -> None:
    good, bad, none = SAMPLES / "openai-good.json", SAMPLES / "openai-out-of-order.json", tmp_path / "none"
    for files, code in (
        ([good, good], 0),
        ([good, bad], 1),
        ([bad, good], 1),
        ([none, bad, good], 2),
        ([good, bad, none], 2),
    ):
        answer = verify(*files)
        assert answer.exit_code == code
        told = [line for line in answer.stdout.splitlines() if not line.startswith("  ")]
        assert [line.split(": ")[0] for line in told] == [str(one) for one in files]


def test_no_file_is_wrong_usage() -> None:
    answer = verify()
    assert answer.exit_code == 2
    assert "Missing argument" in answer.stderr


def test_the_format_is_told_from_the_content_and_not_from_the_name(tmp_path: Path) -> None:
    for name in SAID:
        misnamed = tmp_path / ("sample.json" if name.endswith("jsonl") else "sample.jsonl")
        misnamed.write_bytes((SAMPLES / name).read_bytes())
        assert verify(misnamed).stdout == f"{misnamed}: {SAID[name]}\n"


def test_a_list_in_which_nothing_is_called_holds_and_says_so(judge: Any) -> None:
    for messages in (openai(USER, ASSISTANT), anthropic([TEXT], (TEXT,))):
        assert judge(messages) == (0, ["holds (message list without calls, 0 batches, 0 calls)"])


def test_numbers_of_any_size_do_no_harm(judge: Any) -> None:
    messages = openai(("a",), "a").replace(b'"done"', b"1" * 10_000)
    assert judge(messages) == (0, ["holds (OpenAI chat messages, 1 batch, 1 call)"])


def test_a_list_may_stand_alone_or_in_an_object(judge: Any) -> None:
    for content in (openai(("a", "b"), "b", "a"), anthropic(("a", "b"), ["b", "a"])):
        code, lines = judge(content)
        assert code == 1
        assert judge(b'{"model": "m", "messages": %s}' % content) == (code, lines)
        assert judge(b"\xef\xbb\xbf" + content) == (code, lines)


# -- what is wrong, in every format ------------------------------------------------------------------


def cases(of: dict[str, tuple[bytes, list[str]]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("content", "said"), list(of.values()), ids=list(of))


def check(judge: Any, content: bytes, said: list[str], name: str) -> None:
    code, (first, *problems) = judge(content)
    assert first.startswith(f"{'broken' if said else 'holds'} ({name}, ")
    assert problems == [f"  {one}" for one in said]
    assert code == (1 if said else 0)


@cases(OPENAI)
def test_openai(judge: Any, content: bytes, said: list[str]) -> None:
    check(judge, content, said, "OpenAI chat messages")


@cases(ANTHROPIC)
def test_anthropic(judge: Any, content: bytes, said: list[str]) -> None:
    check(judge, content, said, "Anthropic messages")


@cases(SESSION)
def test_session(judge: Any, content: bytes, said: list[str]) -> None:
    check(judge, content, said, "gnomon session log")


def test_calls_of_a_program_on_the_providers_side_are_counted_and_not_judged(judge: Any) -> None:
    by_program = tool_use("p", caller=PROGRAM)
    said = "(Anthropic messages, 1 batch, 1 call, 1 call of programs on the provider's side not judged)"
    for results in (["a"], ["p", "a"], ["a", "p"]):
        assert judge(anthropic((SERVER, by_program, "a"), results)) == (0, [f"holds {said}"])
    code, lines = judge(anthropic((SERVER, by_program, "a"), ["p", TEXT]))
    assert (code, lines[0]) == (1, f"broken {said}")


@given(
    announced=st.lists(st.sampled_from("abc"), max_size=4),
    answered=st.lists(st.sampled_from("abcd"), max_size=6),
)
def test_the_same_calls_and_results_are_judged_alike_in_every_format(
    tmp_path_factory: pytest.TempPathFactory, announced: list[str], answered: list[str]
) -> None:
    path = tmp_path_factory.mktemp("alike") / "input"
    records = [calls(*announced), *map(start, announced)]
    left = {one: [at for at, call in enumerate(announced, 1) if call == one] for one in announced}
    for one in answered:
        own = left.get(one, [0])
        records.append(result(one, own.pop(0) if len(own) > 1 else own[0]))
    found = []
    for content in (
        openai(tuple(announced), *answered),
        anthropic(tuple(announced), answered),
        session(*records),
    ):
        path.write_bytes(content)
        found.append(
            [(one.clause, one.reason, one.positions, one.call_ids) for one in check_file(path).problems]
        )
    assert found[0] == found[1] == found[2]


# -- logs that were damaged --------------------------------------------------------------------------


def test_a_damaged_record_that_others_follow_breaks_a_rule(judge: Any) -> None:
    for line in range(1, len(LINES)):
        damaged = [
            one.replace(b'"turn":', b'"turm":') if at == line else one for at, one in enumerate(LINES, 1)
        ]
        code, said = judge(b"".join(damaged))
        assert code == 1
        assert said[1:] == [f"  line {line}: the record is damaged, and others follow it: LOG-3"]


def test_what_stands_before_the_damage_is_judged(judge: Any) -> None:
    records = [calls("a", "b"), start("a"), start("b"), result("b", 2), result("a", 1), END, calls("c"), END]
    lines = sealed(records).splitlines(keepends=True)
    _, said = judge(b"".join([*lines[:7], b"{}\n", *lines[7:]]))
    assert said[1:] == [
        "  record 3: call 2 (b) is answered before call 1 (a): SCD-6",
        "  line 8: the record is damaged, and others follow it: LOG-3",
    ]


def test_a_missing_line_is_damage(judge: Any) -> None:
    assert judge(b"".join(LINES[:4] + LINES[5:]))[1][1:] == [
        "  line 5: the record is damaged, and others follow it: LOG-3"
    ]
    assert judge(b"".join(LINES[1:]))[1][1:] == [
        "  line 1: the record is damaged, and others follow it: LOG-3"
    ]


def test_a_log_is_known_by_any_of_its_lines(judge: Any) -> None:
    for first in (b"?" + LINES[0], b"\n"):
        code, said = judge(b"".join([first, *LINES[1:]]))
        assert (code, said[1:]) == (1, ["  line 1: the record is damaged, and others follow it: LOG-3"])


def test_a_torn_last_record_is_dropped_and_named_wherever_it_is_torn(judge: Any) -> None:
    whole = b"".join(LINES)
    for torn in range(len(whole) - len(LINES[-1]) + 1, len(whole)):
        dropped = torn - len(whole) + len(LINES[-1])
        code, said = judge(whole[:torn])
        size = "1 byte" if dropped == 1 else f"{dropped} bytes"
        assert code == 0
        assert said[1:] == [f"  line 22: the last record is torn, {size} dropped: LOG-3"]


def test_space_that_was_reserved_and_never_written_is_torn(judge: Any) -> None:
    code, said = judge(b"".join(LINES) + b"\0" * 512)
    assert (code, said[1:]) == (0, ["  line 23: the last record is torn, 512 bytes dropped: LOG-3"])


# -- inputs that cannot be judged --------------------------------------------------------------------


@pytest.mark.parametrize(("content", "why_not"), list(NOT_JUDGED.values()), ids=list(NOT_JUDGED))
def test_what_cannot_be_judged_is_said_in_one_line(judge: Any, content: bytes, why_not: str) -> None:
    assert judge(content) == (2, [f"cannot be judged: {why_not}"])


def test_a_record_that_is_nested_too_deeply(judge: Any) -> None:
    # The runtime writes no such record, but somebody may, and seal it well.
    kind, data = b'"my/own"', b'{"a":%s}' % (b"[" * 50_000 + b"]" * 50_000)
    line = b'{"seq":0,"crc":"%08x","type":%s,"data":%s}\n' % (zlib.crc32(kind + data), kind, data)
    assert judge(line) == (2, ["cannot be judged: record 0 is nested too deeply to be read"])


def test_every_cut_of_a_message_list_is_found() -> None:
    for name in ("openai-out-of-order.json", "anthropic-good.json"):
        content = (SAMPLES / name).read_bytes().rstrip()
        for cut in range(1, len(content)):
            with pytest.raises(Unjudgeable, match=r"^line \d+, column \d+: the JSON is cut off here$"):
                read_input(content[:cut])


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(path: str | Path) -> str:
        answer = verify(path)
        assert answer.exit_code == 2
        assert len(answer.stdout.splitlines()) == 1
        return answer.stdout.removeprefix(f"{path}: cannot be judged: ").rstrip("\n")

    assert said(tmp_path / "none") == "there is no such file"
    assert said(tmp_path) == "it is a directory"
    assert said(SAMPLES / "openai-good.json" / "x") == "it cannot be read (Not a directory)"
    assert said(tmp_path / ("x" * 300)) == "it cannot be read (File name too long)"
    device = os.stat_result((stat.S_IFCHR, *range(9)))
    monkeypatch.setattr(Path, "stat", lambda self: device)
    assert said(tmp_path / "zero") == "it is a device, not a file"
    monkeypatch.undo()

    def denied(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert said(SAMPLES / "openai-good.json") == "it cannot be read (Permission denied)"


# -- whatever comes, never a traceback ---------------------------------------------------------------


@given(content=mutated() | misshapen() | st.binary(max_size=200))
def test_whatever_the_bytes_are_there_is_a_verdict(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "input"
    path.write_bytes(content)
    for arguments in ([path], ["--json", path]):
        answer = verify(*arguments)
        assert answer.exception is None or isinstance(answer.exception, SystemExit)
        assert answer.exit_code in (0, 1, 2)
        assert "Traceback" not in answer.output
    told = verify(path).stdout.splitlines()
    assert told[0].startswith(f"{path}: {('holds', 'broken', 'cannot be judged')[answer.exit_code]}")
    assert all(line.startswith("  ") for line in told[1:])


# -- for machines, and for terminals -----------------------------------------------------------------


def test_json_says_the_same_as_the_words() -> None:
    files = [*ALL_SAMPLES, SAMPLES / "none"]
    words, machine = verify(*files), verify("--json", *files)
    answer = json.loads(machine.stdout)
    assert machine.exit_code == words.exit_code == answer["exit_code"] == 2
    told = [part.split("\n  ") for part in re.findall(r"^\S.*(?:\n  .*)*", words.stdout, re.MULTILINE)]
    for one, (first, *rest) in zip(answer["files"], told, strict=True):
        if one["verdict"] == "not judged":
            assert first == f"{one['file']}: cannot be judged: {one['why_not']}"
        else:
            assert first.startswith(f"{one['file']}: {one['verdict']} (")
            assert re.search(rf", {one['batches']} batch(es)?, {one['calls']} calls?\)$", first)
        problems = [f"{problem['where']}: {problem['text']}" for problem in one["problems"]]
        assert rest[: len(problems)] == problems
        torn = [f"{one['dropped_bytes']} bytes" in line for line in rest[len(problems) :]]
        assert torn == [True] * bool(one["dropped_bytes"])


def test_the_fields_of_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(session(calls("a", "b"), start("a"), start("b"), result("b", 2), END, result("c", 2)))
    (one,) = json.loads(verify("--json", path).stdout)["files"]
    assert one == {
        "file": str(path),
        "format": "gnomon-session",
        "verdict": "broken",
        "why_not": None,
        "batches": 1,
        "calls": 2,
        "skipped_calls": 0,
        "dropped_bytes": 0,
        "problems": [
            {
                "clause": "SCD-10",
                "property": "Pairing",
                "reason": "never answered",
                "batch": "0.0",
                "positions": [0],
                "call_ids": ["a"],
                "where": "record 4",
                "text": "call 1 (a) is never answered: SCD-10 (the end of the step comes first)",
            },
            {
                "clause": "SCD-10",
                "property": "Pairing",
                "reason": "answers no call",
                "batch": None,
                "positions": [],
                "call_ids": ["c"],
                "where": "record 5",
                "text": "a result for c answers no call: SCD-10",
            },
        ],
    }


STRANGE = "[red]x[/red]\x1b[31m\n\u202e\ud800" + "y" * 100


def test_ids_of_others_cannot_disturb_a_terminal(judge: Any) -> None:
    code, lines = judge(openai((STRANGE,)))
    shown = r"[red]x[/red]\x1b[31m\n\u202e\ud800" + "y" * 37 + "..."
    assert (code, lines[1:]) == (
        1,
        [f"  the end: call 1 ({shown}) is never answered: SCD-10 (the list ends before an answer)"],
    )


def test_json_keeps_strange_ids_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(openai((STRANGE,)))
    assert json.loads(verify("--json", path).stdout)["files"][0]["problems"][0]["call_ids"] == [STRANGE]


def test_a_terminal_gets_colours_and_a_narrow_one_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(openai(("a", "ü"), "ü", "a"))
    report = check_file(path)
    plain, coloured, ascii_only = (
        io.StringIO(),
        io.StringIO(),
        io.TextIOWrapper(io.BytesIO(), encoding="ascii"),
    )
    show(report, Console(file=plain, width=20))
    show(report, Console(file=coloured, width=20, force_terminal=True, color_system="standard"))
    show(report, Console(file=ascii_only, width=20))
    assert plain.getvalue() == verify(path).stdout
    assert "\x1b[1;31mbroken\x1b[0m" in coloured.getvalue()
    ascii_only.seek(0)
    assert "call 2 (\\xfc) is answered before call 1 (a): SCD-6" in ascii_only.read()


# -- the rules are the specification's ---------------------------------------------------------------


def test_without_the_properties_of_the_specification_nothing_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(properties.kinds, "ALWAYS", {})
    assert verify(*ALL_SAMPLES).exit_code == 0
