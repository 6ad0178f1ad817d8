"""The samples: what they hold, and that no result can be moved, lost or doubled without being found.

Each single result of each good sample is removed, doubled, and swapped with every other one. A change that
breaks a rule must be found, for the clause that it breaks and for nothing else.
"""

from __future__ import annotations

import copy
import json
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import pytest
from make_session_samples import GENERATED, regenerate
from verify_inputs import SAMPLES, as_bytes, sealed

from gnomon.session import Record, StoredRecord, read_log
from gnomon_check.trace import FileReport, Verdict, check_file

GOOD = {"anthropic-good.json": (3, 1), "openai-good.json": (2, 3), "session-good.jsonl": (3, 3)}
"""Good sample -> how many results each of its batches has. Counted by hand."""

SAME_ID = "openai-good.json"
"""Here calls 2 and 3 of the second batch have one id, and ids of the first batch recur in the second."""

Slot = tuple[int, int]
"""A result: its batch, and its position there, both from 0."""


# -- changing one result ---------------------------------------------------------------------------


class Changed(Protocol):
    """A sample whose results can be changed."""

    def slots(self) -> list[Any]:
        """Where its results stand, in order."""

    def remove(self, slot: Any) -> None: ...

    def copy(self, slot: Any, behind: Any) -> None:
        """Put a copy of a result behind another one."""

    def swap(self, one: Any, other: Any) -> None: ...

    def content(self) -> bytes: ...


class MessageList:
    """A message list; a slot is the list that holds a result, and its index there."""

    def __init__(self, path: Path) -> None:
        self.value = json.loads(path.read_text())
        self.messages = self.value["messages"] if isinstance(self.value, dict) else self.value

    def slots(self) -> list[tuple[list[Any], int]]:
        found: list[tuple[list[Any], int]] = []
        for index, message in enumerate(self.messages):
            if message["role"] == "tool":
                found.append((self.messages, index))
            elif isinstance(message["content"], list):
                blocks = message["content"]
                found += [(blocks, at) for at, one in enumerate(blocks) if one["type"] == "tool_result"]
        return found

    def remove(self, slot: tuple[list[Any], int]) -> None:
        holder, index = slot
        del holder[index]

    def copy(self, slot: tuple[list[Any], int], behind: tuple[list[Any], int]) -> None:
        holder, index = behind
        holder.insert(index + 1, copy.deepcopy(slot[0][slot[1]]))

    def swap(self, one: tuple[list[Any], int], other: tuple[list[Any], int]) -> None:
        (a, i), (b, j) = one, other
        a[i], b[j] = b[j], a[i]

    def content(self) -> bytes:
        return as_bytes(self.value)


class SessionLog:
    """A session log; a slot is the place of a record. Numbers, checksums and citations are made anew."""

    def __init__(self, path: Path) -> None:
        self.records: list[StoredRecord] = list(read_log(path).records)

    def slots(self) -> list[int]:
        return [at for at, one in enumerate(self.records) if one.type == "tool/result"]

    def remove(self, slot: int) -> None:
        del self.records[slot]

    def copy(self, slot: int, behind: int) -> None:
        self.records.insert(behind + 1, self.records[slot])

    def swap(self, one: int, other: int) -> None:
        self.records[one], self.records[other] = self.records[other], self.records[one]

    def content(self) -> bytes:
        moved = {record.seq: at for at, record in reversed(list(enumerate(self.records)))}
        sound = []
        for record in self.records:
            data = dict(record.data)
            if "cites" in data:
                data["cites"] = moved[data["cites"]]
            sound.append(Record(record.type, data))
        return sealed(sound)


def load(name: str) -> Changed:
    return SessionLog(SAMPLES / name) if name.endswith(".jsonl") else MessageList(SAMPLES / name)


def all_slots(name: str) -> list[Slot]:
    return [(batch, pos) for batch, size in enumerate(GOOD[name]) for pos in range(size)]


def place(sample: Changed, name: str, slot: Slot) -> Any:
    return sample.slots()[all_slots(name).index(slot)]


def judged(sample: Changed, folder: Path) -> FileReport:
    path = folder / "changed"
    path.write_bytes(sample.content())
    return check_file(path)


def problems(report: FileReport) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(one.clause, one.reason, one.positions) for one in report.problems]


def each(kind: str) -> list[Any]:
    """Every change of a kind, as parameters of a test."""
    found = []
    for name in GOOD:
        slots = all_slots(name)
        match kind:
            case "one":
                changes: list[tuple[Slot, ...]] = [(one,) for one in slots]
            case "pair within":
                changes = [(a, b) for a, b in combinations(slots, 2) if a[0] == b[0]]
            case _:
                changes = [(a, b) for a, b in combinations(slots, 2) if a[0] != b[0]]
        for change in changes:
            label = "-".join(f"{batch}.{pos}" for batch, pos in change)
            found.append(pytest.param(name, *change, id=f"{name}-{label}"))
    return found


# -- the samples as they are ------------------------------------------------------------------------


def test_the_number_of_changes() -> None:
    assert len(each("one")) == 4 + 5 + 6
    assert len(each("pair within")) == 3 + (1 + 3) + (3 + 3)
    assert len(each("pair across")) == 3 + 6 + 9


@pytest.mark.parametrize("name", GOOD)
def test_a_good_sample_holds_and_has_the_results_that_are_changed_here(name: str) -> None:
    report = check_file(SAMPLES / name)
    assert report.verdict is Verdict.HOLDS
    assert (report.batches, report.calls) == (len(GOOD[name]), sum(GOOD[name]))
    assert len(load(name).slots()) == sum(GOOD[name])


@pytest.mark.parametrize("name", GOOD)
def test_a_sample_that_is_taken_apart_and_put_together_again_holds(name: str, tmp_path: Path) -> None:
    assert judged(load(name), tmp_path).verdict is Verdict.HOLDS


def test_the_session_samples_are_what_the_runtime_writes() -> None:
    for name in GENERATED:
        stale = f"{name} is stale: run python tests/conformance/make_session_samples.py"
        assert (SAMPLES / name).read_bytes() == regenerate(name), stale


# -- the changes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "slot"), each("one"))
def test_a_removed_result_is_missed(name: str, slot: Slot, tmp_path: Path) -> None:
    sample = load(name)
    sample.remove(place(sample, name, slot))
    # Of two calls with one id the later one is the one without a result, whichever was removed (SCD-13).
    missed = 2 if name == SAME_ID and slot == (1, 1) else slot[1]
    assert problems(judged(sample, tmp_path)) == [("SCD-10", "never answered", (missed,))]


@pytest.mark.parametrize(("name", "slot"), each("one"))
def test_a_doubled_result_is_one_too_many(name: str, slot: Slot, tmp_path: Path) -> None:
    sample = load(name)
    sample.copy(place(sample, name, slot), behind=place(sample, name, slot))
    # Of three results for two calls with one id the last one is too many, whichever was doubled (SCD-13).
    twice = 2 if name == SAME_ID and slot == (1, 1) else slot[1]
    assert problems(judged(sample, tmp_path)) == [("SCD-10", "answered twice", (twice,))]


@pytest.mark.parametrize(("name", "one", "other"), each("pair across"))
def test_a_result_that_is_repeated_in_another_batch_is_one_too_many(
    name: str, one: Slot, other: Slot, tmp_path: Path
) -> None:
    for slot, behind in ((one, other), (other, one)):
        sample = load(name)
        sample.copy(place(sample, name, slot), behind=place(sample, name, behind))
        assert {clause for clause, _, _ in problems(judged(sample, tmp_path))} == {"SCD-10"}


@pytest.mark.parametrize(("name", "one", "other"), each("pair within"))
def test_two_swapped_results_are_out_of_order(name: str, one: Slot, other: Slot, tmp_path: Path) -> None:
    sample = load(name)
    sample.swap(place(sample, name, one), place(sample, name, other))
    report = judged(sample, tmp_path)
    if name == SAME_ID and (one, other) == ((1, 1), (1, 2)):
        # No rule is broken: the two results have one id, so only their order says which call each is
        # for. A reader cannot see that their contents were exchanged (SCD-13).
        assert report.verdict is Verdict.HOLDS
        return
    (_, first), (_, last) = one, other
    early = [last, *range(first + 1, last)]
    expected = [("SCD-6", "answered before an earlier call", (position, first)) for position in early]
    if name == SAME_ID and (one, other) == ((1, 0), (1, 2)):
        # Results come as call_1, call_1, call_0: the first of them is for the first call of that id.
        expected = [("SCD-6", "answered before an earlier call", (position, 0)) for position in (1, 2)]
    found = problems(report)
    if name == "session-good.jsonl" and one[0] == 1:
        # These calls ran one after the other: the result now also stands before its own call.
        early_results = [item for item in found if item[0] == "LOG-2"]
        assert {reason for _, reason, _ in early_results} == {"result without a logged call"}
        assert (last,) in [positions for _, _, positions in early_results]
        found = [item for item in found if item[0] != "LOG-2"]
    assert found == expected


@pytest.mark.parametrize(("name", "one", "other"), each("pair across"))
def test_two_results_swapped_across_batches(name: str, one: Slot, other: Slot, tmp_path: Path) -> None:
    sample = load(name)
    sample.swap(place(sample, name, one), place(sample, name, other))
    report = judged(sample, tmp_path)
    if name == SAME_ID and (one, other) in (((0, 0), (1, 0)), ((0, 1), (1, 1)), ((0, 1), (1, 2))):
        # No rule is broken: ids recur across batches, and both results have the id that is expected in
        # either place. A reader cannot see that their contents were exchanged.
        assert report.verdict is Verdict.HOLDS
        return
    assert {clause for clause, _, _ in problems(report)} == {"SCD-10"}
