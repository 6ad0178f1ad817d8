"""The only place that words a broken rule.

A rule is broken by reason, clause and positions (`gnomon_spec.properties.Broken`); here that becomes a
sentence for people. Nothing is decided here, and nothing decides by these texts (ERR-2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from gnomon_spec.properties import Broken

SENTENCES: dict[str, str] = {
    # results
    "answers no call": "{a_result} answers no call",
    "answered twice": "{call} is answered twice",
    "never answered": "{calls} {are} never answered",
    "answered before an earlier call": "{call} is answered before {other}",
    "result without a logged call": "{call} is answered, and no record of the call stands before that",
    "cites another record": "the result of {call} cites a record that is not the call's",
    # starts
    "logged a call that was not announced": "{a_call} is logged, and no open batch announced it",
    "logged twice": "{call} is logged twice",
    "started before an earlier call": "{call} is started before {other}",
    "body without a logged call": "the body of {call} starts, and no record of the call stands before that",
    "more bodies than the pool allows": "more bodies run at once than the pool allows: {calls}",
    "overlaps an exclusive call": "{call} overlaps {other}, and one of the two is exclusive",
    "two bodies of one call": "a second body of {call} starts while the first is running",
    "body after its result": "the body of {call} starts after the call was answered",
    # cancellation
    "body after the abort": "the body of {call} starts after the abort",
    "started after the abort": "{call} is started after the abort",
    "aborted, and its body never ran": "{call} is answered as ABORTED, and its body never ran",
    "aborted before dispatch, and its body ran": (
        "{call} is answered as ABORTED_BEFORE_DISPATCH, and its body ran"
    ),
    "a cancellation replaced an error": "{call} failed with its own error, and is answered as ABORTED",
    "a success after the abort": "{call} is answered with a success after the abort",
    # policies
    "a body that a guard had denied": "the body of {call} runs although a guard had denied the call",
    "a body whose guard had failed": "the body of {call} runs although a guard had failed",
    "a body that a listener had denied": "the body of {call} runs although pre-execute had denied the call",
    "a body although nobody could be asked": "the body of {call} runs although nobody could be asked",
    "a success that post-execute had blocked": "{call} is a success although post-execute had blocked it",
    "a body before all guards were asked": "the body of {call} starts before every guard was asked",
    "a body that no listener allowed": "the body of {call} runs although pre-execute did not allow it",
    "a body without the approval that was asked for": (
        "the body of {call} runs without the approval that was asked for"
    ),
    "a success that post-execute withheld": "{call} is a success although post-execute did not accept it",
    "an approval decided without being open": "an approval of {call} is decided that is not open",
    "an approval asked twice": "an approval of {call} is asked for twice",
    "a timeout without its deadline": "{call} is a timeout, and its deadline had not passed first",
    # what a result carries
    "a success whose value does not fit": "{call} is a success, and its value does not fit the output schema",
    "contexts of a body that was blocked": "{call} was blocked, and contexts of its body survive",
    "contexts after a failure of post-execute": "post-execute of {call} failed, and contexts survive",
    "contexts of a body that do not come first": "contexts of the body of {call} do not come first",
    "contexts of a body that were lost or reordered": "contexts of the body of {call} are lost or reordered",
    "an error that concludes the turn": "{call} is an error, and concludes the turn",
    "finalized twice": "the content of {call} is finalized twice",
    "never finalized": "the content of {call} is never finalized",
    "logged before it was observed": "the result of {call} is logged before observers got it",
    "another result than was observed": "observers of {call} got another result than the one that is logged",
    # truth, and the end
    "a success that no body returned": "{call} is answered with a success that its body did not return",
    "a body outlives the batch": "{calls} {are} still running when the batch ends",
    "answered while its body runs": "{call} is answered while its body is running",
    "something after the end": "{call} is heard of after its batch has ended",
    "the batch never ends": "the batch never ends, and without a result {are} {calls}",
}
"""Reason by name -> sentence. `call` and `other` are the first two calls that it is about, `calls` all."""

WITHOUT_CALLS: dict[str, str] = {
    "more bodies than the pool allows": "more bodies run at once than the pool allows",
    "something after the end": "the batch is heard of after it has ended",
    "the batch never ends": "the batch never ends",
}
"""The sentences of those reasons that may be about no call in particular."""

_LISTED = 8
"""A sentence names no more calls than this."""


def explain_broken(broken: Broken, label: Callable[[int], str], named: str | None = None) -> str:
    """Say which rule is broken, how, and by which call: `call 2 (b) is answered before call 1 (a): SCD-6`.

    `label` says how the call at a position is named (`call_label` is a good one). `named` is the id that
    stands on what belongs to no call, ready to be shown.
    """
    names = [label(position) for position in broken.about]
    sentence = SENTENCES.get(broken.reason, f"{broken.reason} ({{calls}})")
    if not names:
        sentence = WITHOUT_CALLS.get(broken.reason, sentence)
    words = sentence.format(
        call=names[0] if names else "a call",
        other=names[1] if len(names) > 1 else "another call",
        calls=_listed(names) if names else "no call in particular",
        are="are" if len(names) > 1 else "is",
        a_result="a result" if named is None else f"a result for {named}",
        a_call="a call" if named is None else f"a call {named}",
    )
    return f"{words}: {broken.clause}"


def call_label(position: int, call_id: str) -> str:
    """How a call is named to people: `call 2 (toolu_b)`, counted from 1."""
    return f"call {position + 1} ({shown(call_id)})"


def shown(text: str, longest: int = 60) -> str:
    """Text of others, fit to be shown: in one line, never too long, nothing that a terminal would obey."""
    if len(text) > longest:
        text = f"{text[: longest - 3]}..."
    clean = "".join(
        one if one.isprintable() else one.encode("unicode_escape", "surrogatepass").decode("ascii")
        for one in text
    )
    return clean if clean.strip() else f'"{clean}"'


def _listed(names: Sequence[str]) -> str:
    if len(names) > _LISTED:
        names = [*names[:_LISTED], f"{len(names) - _LISTED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# -- what stands beside a finding in a log --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InputEnds:
    """A batch is still open where the input ends."""

    repairable: bool = False
    """Whether the input is a session log, which repair can close (REP-1)."""


@dataclass(frozen=True, slots=True)
class CameFirst:
    """A batch was ended by something that is not a result, such as `a user message`."""

    what: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """A result is for no call of the open batch; an earlier batch announced its id."""

    batch: str
    pos: int
    answered: bool


@dataclass(frozen=True, slots=True)
class WrongRole:
    """A result stands in a message whose role cannot carry it."""

    role: str


Circumstance: TypeAlias = InputEnds | CameFirst | Earlier | WrongRole


def explain_circumstance(circumstance: Circumstance) -> str:
    """Say what goes with a finding, to stand behind it."""
    match circumstance:
        case InputEnds(repairable=False):
            return "the list ends before an answer"
        case InputEnds():
            return "the log ends before an answer; repair would give one: REP-1"
        case CameFirst(what):
            return f"{what} comes first"
        case Earlier(batch, pos, answered=True):
            return f"call {pos + 1} of {batch} has its result already"
        case Earlier(batch, pos):
            return f"it comes too late for call {pos + 1} of {batch}"
        case WrongRole(role):
            return f"a message of role {shown(role)} carries no results"
        case _:
            assert_never(circumstance)


def explain_damage() -> str:
    """Say that a record of a session log is damaged which is not the last one."""
    return "the record is damaged, and others follow it: LOG-3"


def explain_torn(dropped: int) -> str:
    """Say that the last record of a session log was not written to its end. That breaks no rule."""
    return f"the last record is torn, {dropped} {'byte' if dropped == 1 else 'bytes'} dropped: LOG-3"
