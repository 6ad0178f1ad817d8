"""Words for a disagreement between an implementation and the specification.

Each text says what was done, what was seen, what the specification allows there, and the first
condition that forbids what was seen, with its clause.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from gnomon_check import explain, moments
from gnomon_check.changes import OPERATIONS, change_of, subject_of
from gnomon_check.events import Event
from gnomon_check.oracle import Blocked, Oracle, World
from gnomon_check.problem import Problem
from gnomon_check.refinement import Key, key_of
from gnomon_check.scenario import Scenario
from gnomon_check.schedule import (
    AbortInputStep,
    AdvanceStep,
    ApproveStep,
    CallKeptStep,
    CancelStep,
    CrashStep,
    OpenStep,
    ReleaseStep,
    RepairStep,
    RequestModelStep,
    SingleStep,
    inputs_of,
)
from gnomon_check.subject import Stopped
from gnomon_check.window import Window
from gnomon_spec.batch import (
    SETTLED,
    refuse_body,
    refuse_close,
    refuse_commit,
    refuse_raise,
    refuse_skip,
    refuse_start,
)
from gnomon_spec.dispatch import before_the_body
from gnomon_spec.kernel import Refused
from gnomon_spec.properties import Broken
from gnomon_spec.values import NotAValue
from gnomon_spec.vocabulary import Code, Phase


def labels(scenario: Scenario) -> Callable[[int], str]:
    """How the call at a position is named to people: `call 2 (c2)`."""
    calls = scenario.batch.calls

    def label(position: int) -> str:
        known = 0 <= position < len(calls)
        return f"call {position + 1} ({calls[position].id})" if known else f"call {position + 1}"

    return label


# -- the disagreements --------------------------------------------------------------------------


def not_allowed(oracle: Oracle, number: int, window: Window, event: Event) -> Problem:
    """An event was seen that the specification does not allow there."""
    key = key_of(event)
    assert key is not None, "an event that is not compared is never refused"
    words = Words(oracle.scenario)
    refused = why_not(oracle, key)
    text = (
        f"{words.window(number, window)} the implementation did: {words.key(key)}.\n"
        f"  The specification allows there: {words.allowed(oracle)}.\n"
        f"  Not what was seen, because {words.positions(refused.reason)}: {refused.clause}."
    )
    return Problem("specification", refused.clause, text, words.key(key))


def without_a_code(oracle: Oracle, number: int, window: Window, key: Key, named: Iterable[Key]) -> Problem:
    """A failure was seen that has no code, and is right in everything else."""
    words = Words(oracle.scenario)
    text = (
        f"{words.window(number, window)} the implementation did: {words.key(key)}.\n"
        f"  It should say the code: {words.details(named)}: ERR-1."
    )
    return Problem("specification", "ERR-1", text, words.key(key))


def not_quiet(oracle: Oracle, number: int, window: Window) -> Problem:
    """The implementation waits for the harness in a way that the specification does not."""
    words = Words(oracle.scenario)
    seen = words.waiting(window.blocked, window.idle)
    quiet = oracle.quiet_worlds()
    identifier = _clause_of_quiet(oracle, window)
    begin = f"{words.window(number, window)} the implementation {seen}.\n"
    if quiet:
        expected = sorted({words.waiting(oracle.blocked(one), oracle.idle(one)) for one in quiet})
        text = f"{begin}  By the specification it {' or '.join(expected)}: {identifier}."
    else:
        text = f"{begin}  By the specification more has to happen first: {words.allowed(oracle)}."
    return Problem("specification", identifier, text, seen)


def never_ends(oracle: Oracle, number: int) -> Problem:
    """Every gate was opened and the caller aborted, and still the batch is not over."""
    text = "with every gate open and the caller aborted the batch never ends: SCD-10"
    return Problem("specification", "SCD-10", text, "never ends")


def property_broken(oracle: Oracle, broken: Broken, event: Event | None = None) -> Problem:
    """A named property does not hold: at an event, or once everything is over."""
    text = f"{broken.prop}: {explain.explain_broken(broken, labels(oracle.scenario))}"
    if event is None:
        return Problem("property", broken.clause, text, "at the end")
    key = key_of(event)
    seen = event["event"] if key is None else Words(oracle.scenario).key(key)
    return Problem("property", broken.clause, text, seen)


def stopped(scenario: Scenario, number: int, why: Stopped) -> Problem:
    """Nobody says any more what happens: after so many windows."""
    steps = scenario.schedule[number : number + 1]
    words = Words(scenario)
    did = ", ".join(words.input(one) for step in steps for one in inputs_of(step))
    where = f"In window {number + 1} ({did})" if did else f"After window {number}"
    return Problem(why.fault, "", f"{where} {why.reason}", why.fault)


def report_differs(report: str, about: str, expected: object, seen: object) -> Problem:
    """Something is not what the report says it must be."""
    got = "has no result" if seen is None else f"is {seen}"
    text = f"{report}: {about} must be {expected}, and it {got}"
    return Problem("report", "", text, f"{about} {got}")


def report_value(report: str, pos: int) -> Problem:
    """A result does not carry the value that the field report says its body returned."""
    seen = f"call {pos + 1} does not carry the value of its own body"
    return Problem("report", "", f"{report}: {seen}", seen)


def report_body(report: str, pos: int, *, ran: bool) -> Problem:
    """A body ran, or did not, against what the field report says."""
    must = "must not have run, and it did" if ran else "must have run, and it did not"
    seen = f"the body of call {pos + 1} {'ran' if ran else 'did not run'}"
    return Problem("report", "", f"{report}: the body of call {pos + 1} {must}", seen)


def _clause_of_quiet(oracle: Oracle, window: Window) -> str:
    if isinstance(window.step, RepairStep):
        return "REP-1"
    refused = moments.unlogged(oracle) or moments.to_be_refused(oracle)
    if refused is not None:
        return refused.clause
    events = {key[0] for key in oracle.allowed()}
    for name, identifier in (
        ("result.logged", "SCD-7"),
        ("call.logged", "SCD-3"),
        ("body.started", "SCD-1"),
        ("batch.closed", "SCD-10"),
        ("batch.failed", "SCD-9"),
    ):
        if name in events:
            return identifier
    return "SCD-11"


# -- why not ------------------------------------------------------------------------------------


_COMES_FIRST = {
    "guard.answered": ("GRD-1", "its guards are asked first"),
    "approval.asked": ("APP-6", "its approval is logged as asked first"),
    "approval.decided": ("APP-6", "its approval is logged as decided first"),
    "content.projected": ("PST-1", "its content is projected first"),
    "content.finalized": ("FIN-2", "its content is finalized first"),
    "result.observed": ("FIN-3", "its result is told to the observers first"),
    "context.accepted": ("SCD-6", "its contexts are accepted first"),
    "policy.entered": ("PRE-1", "its listeners are asked first"),
    "policy.resumed": ("PRE-1", "its listener hears what next() answered first"),
    "policy.decided": ("PRE-1", "its listener decides first"),
}
"""What comes before anything else of a call -> the clause, and the reason."""
_OF_THE_LANE = ("call.logged", "result.logged", "batch.closed")
"""What the lane goes on with once the contexts of a result are accepted."""


def why_not(oracle: Oracle, key: Key) -> Refused:
    """The first condition that forbids an event, in the state that has come furthest; calls by position."""
    refused = moments.refused_at_once(oracle, key)
    if refused is not None:
        return refused
    allowed = oracle.allowed()
    other = sorted((one for one in allowed if one[:2] == key[:2]), key=str)
    if other:
        words = Words(oracle.scenario)
        return Refused(_clause_of_detail(oracle, key, other[0]), f"it is {words.details(other)} here")
    accepting = [pos for name, pos, _ in allowed if name == "context.accepted" and pos is not None]
    if accepting and key[0] in _OF_THE_LANE:
        identifier, reason = _COMES_FIRST["context.accepted"]
        return Refused(identifier, f"call {min(accepting)} is under way, and {reason}")
    refusals = list(_refusals(oracle, key))
    for refused in refusals:
        if refused.clause != "SCD-7":
            return refused
    for name, pos, _ in sorted(allowed, key=str):
        if name in _COMES_FIRST and pos is not None:
            identifier, reason = _COMES_FIRST[name]
            return Refused(identifier, f"call {pos} is under way, and {reason}")
    if refusals:
        return refusals[0]
    name, pos, _ = key
    if pos is None:
        return Refused("SCD-11", "nothing of the kind can happen there")
    refused = moments.hears_nothing(oracle, pos)
    if refused is not None:
        return refused
    identifier, reason = _OUT_OF_PLACE.get(name, ("DSP-6", "its script does nothing of the kind there"))
    return Refused(identifier, f"call {pos} is elsewhere, and {reason}")


def _refusals(oracle: Oracle, key: Key) -> Iterator[Refused]:
    """What forbids an event in each state, that which has come furthest first; the same way each time."""

    def rank(world: World) -> tuple[bool, tuple[int, int, int]]:
        return _awaits(world, key), _progress(world)

    worlds = sorted(oracle.closure(), key=rank, reverse=True)
    for _, equal in itertools.groupby(worlds, key=rank):
        found = (_refused_in(oracle, world, key) for world in equal)
        yield from sorted((one for one in found if one is not None), key=lambda one: (one.clause, one.reason))


def _awaits(world: World, key: Key) -> bool:
    """Whether a state stands right before a body, and a body is what was seen."""
    name, pos, _ = key
    if name != "body.started" or world.batch is None or pos is None or pos >= len(world.batch.calls):
        return False
    return world.batch.calls[pos].phase is Phase.DISPATCHED


def _progress(world: World) -> tuple[int, int, int]:
    batch = world.batch
    if batch is None:
        return (0, 0, 0)
    settled = sum(one.phase in SETTLED for one in batch.calls)
    return (batch.committed, batch.next_start, settled)


def _refused_in(oracle: Oracle, world: World, key: Key) -> Refused | None:
    name, pos, _ = key
    batch = world.batch
    if batch is None:
        return Refused("SCD-14", "no batch is open")
    if name == "batch.closed":
        return refuse_close(batch)
    if name == "batch.failed":
        return refuse_raise(batch)
    if pos is None or not 0 <= pos < len(batch.calls):
        return Refused("SCD-10", "it belongs to no call of the batch")
    match name:
        case "call.logged":
            return refuse_skip(batch, pos) if batch.aborted else refuse_start(batch, pos)
        case "result.logged":
            return refuse_commit(batch, pos)
        case "body.started":
            return refuse_body(batch, pos) or _instead_of_body(oracle, world, pos)
        case _:
            return None


_OUT_OF_PLACE = {
    "policy.entered": ("PRE-1", "that listener is not reached there"),
    "policy.delegated": ("PRE-7", "that listener is not running, or waits for its next()"),
    "policy.resumed": ("PRE-7", "that listener does not wait for its next()"),
    "policy.decided": ("PRE-1", "that listener does not end there"),
    "guard.answered": ("GRD-1", "its guards are not asked there"),
    "approval.asked": ("APP-6", "nobody is asked there"),
    "approval.decided": ("APP-6", "no request is open, or it is not decided there"),
    "content.projected": ("PST-1", "its content is not projected there"),
    "content.finalized": ("FIN-2", "its content is not finalized there"),
    "content.rendered": ("OUT-2", "nothing of it is rendered there"),
    "content.meta": ("OUT-3", "nothing of it is presented there"),
    "result.observed": ("FIN-3", "its result is not told there"),
    "result.returned": ("FIN-3", "it is not answered there"),
    "context.accepted": ("SCD-6", "no context of it is accepted there"),
    "context.deferred": ("DSP-15", "its body hands nothing over there"),
}
"""What an event is refused by that no step of its call brings, where nothing says more."""

_INSTEAD = {
    Code.UNKNOWN_TOOL: ("DSP-4", "there is no tool of that name"),
    Code.INVALID_ARGS: ("DSP-8", "its arguments do not fit what the tool publishes"),
}


def _instead_of_body(oracle: Oracle, world: World, pos: int) -> Refused | None:
    """Why a dispatched call ends without its body."""
    facts = oracle.facts[pos]
    if isinstance(facts.arguments, NotAValue):
        return None
    tool = world.layers.callable(facts.name)
    instead = before_the_body(world.aborted, None if tool is None else tool.parameters, facts.arguments)
    if instead is None:
        return None
    identifier, reason = _INSTEAD[Code(str(instead.outcome.code))]
    return Refused(identifier, f"the body of call {pos} does not run: {reason}")


_CLAUSE_OF_CODE: dict[str, str] = {
    Code.UNKNOWN_TOOL: "DSP-4",
    Code.INVALID_ARGS: "DSP-8",
    Code.INVALID_TOOL_OUTPUT: "OUT-1",
    Code.TOOL_TIMEOUT: "TMO-2",
    Code.TOOL_ERROR: "DSP-7",
    Code.DENIED: "PRE-4",
    Code.BLOCKED: "PST-5",
    Code.APPROVAL_REJECTED: "APP-2",
    Code.APPROVAL_CANCELLED: "APP-2",
    Code.APPROVAL_UNAVAILABLE: "APP-2",
    Code.ABORTED: "CAN-6",
    Code.ABORTED_BEFORE_DISPATCH: "CAN-5",
}
_CLAUSE_OF_EVENT = {
    "batch.closed": "SCD-12",
    "context.accepted": "DSP-11",
    "context.deferred": "DSP-11",
    "result.observed": "FIN-3",
    "guard.answered": "GRD-1",
    "approval.decided": "APP-2",
    "model.requested": "REG-5",
}
_ABORTS = (Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH)


def _clause_of_code(oracle: Oracle, pos: int | None, seen: object, right: object) -> str:
    """The clause by which a result of a call has another code than it has."""
    if Code.TOOL_TIMEOUT in (seen, right):
        return "TMO-2"
    if seen in _ABORTS:
        return "CAN-2" if right in _ABORTS else "CAN-1" if right is None else "CAN-7"
    if right == Code.POLICY_ERROR:
        return moments.failing_policy(oracle, pos)
    return _CLAUSE_OF_CODE.get(str(right), "DSP-7")


def _clause_of_detail(oracle: Oracle, seen: Key, allowed: Key) -> str:
    """The clause by which an event has to say something else than it does."""
    match seen, allowed:
        case ("result.returned", _, (_, code, nonce, _)), (_, _, (_, *right, _)) if [code, nonce] == right:
            return "PST-5" if code == Code.BLOCKED else "DSP-11"  # only the contexts differ
        case (("result.logged" | "result.returned"), pos, (_, code, *_)), (_, _, (_, right, *_)):
            return _clause_of_code(oracle, pos, code, right)
        case ("policy.resumed", pos, ("execute", _, _, code)), (_, _, ("execute", _, _, right)):
            return _clause_of_code(oracle, pos, code, None if right == "OK" else right)
        case ("batch.closed", _, (ended, _)), ("batch.closed", _, (right, _)) if ended != right:
            return "PY-3"
        case (name, _, _), _:
            if name.startswith("policy."):
                return "PRE-1"
            return _CLAUSE_OF_EVENT.get(name, "DSP-6")


# -- words --------------------------------------------------------------------------------------


def _code(code: object) -> str:
    return "a failure without a code" if code is None else str(code)


def _row(names: object) -> str:
    return ", ".join(names) if isinstance(names, tuple) and names else "none"


class Words:
    """The words of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self._label = labels(scenario)
        self._count = len(scenario.batch.calls)

    def window(self, number: int, window: Window) -> str:
        if window.step is None:
            return "At the end, with every gate open,"
        did = ", ".join(self.input(one) for one in inputs_of(window.step))
        if isinstance(window.step, CrashStep | RepairStep):
            did = "the process ends" if isinstance(window.step, CrashStep) else "the log is repaired"
        return f"In window {number + 1} ({did})"

    def input(self, one: SingleStep) -> str:
        match one:
            case CallKeptStep(call_kept=kept):
                return f"the kept next() {kept.name} is called"
            case RequestModelStep():
                return "the model is to be asked"
            case OpenStep():
                return "the batch is opened"
            case ReleaseStep(release=release):
                return f"gate {release.gate} is released"
            case AbortInputStep(abort=abort) if abort.signal != "caller":
                return f"the signal {abort.signal} aborts"
            case AbortInputStep():
                return "the caller aborts"
            case CancelStep():
                return "the task is cancelled"
            case ApproveStep(approve=approve):
                return f"the approval of {self._label(approve.pos)} is answered {approve.outcome}"
            case AdvanceStep(advance=advance):
                return f"{advance.ms} ms pass"
            case _:
                change = change_of(one)
                return f"{OPERATIONS[type(change)]}: {subject_of(change)}"

    def key(self, key: Key) -> str:
        name, pos, detail = key
        about = "" if pos is None else f" of {self._label(pos)}"
        says = self.detail(name, detail)
        return f"{name}{about}" + (f" with {says}" if says else "")

    def details(self, keys: Iterable[Key]) -> str:
        return " or ".join(sorted(self.detail(name, detail) or name for name, _, detail in keys))

    def detail(self, name: str, detail: tuple[object, ...]) -> str:
        match name, detail:
            case "result.logged", (True, _, nonce):
                return "a success" if nonce is None else f"a success carrying {nonce}"
            case "result.logged", (False, code, _):
                return _code(code)
            case ("body.settled", (_, how)):
                return str(how)
            case ("body.signalled", (_, source)):
                return f"the abort of {source}"
            case ("batch.closed", (ended, concluded)):
                return f"{ended}, ending the turn" if concluded else str(ended)
            case ("result.observed", (_, True, None)):
                return "a success"
            case ("result.observed", (_, False, code)):
                return _code(code)
            case ("result.returned", (ok, code, nonce, contexts)):
                what = self.detail("result.logged", (ok, code, nonce))
                return f"{what}, and the contexts {_row(contexts)}" if contexts else what
            case ("policy.resumed" | "policy.decided", (waterfall, listener, *_, said)):
                return f"{said} ({waterfall}, {listener})"
            case ("policy.entered" | "policy.delegated", (waterfall, listener, *_)):
                return f"{listener} ({waterfall})"
            case ("guard.answered", (guard, answer)):
                return f"{answer} ({guard})"
            case (
                "approval.decided"
                | "context.accepted"
                | "context.deferred"
                | "signal.aborted"
                | "op.refused",
                (what,),
            ):
                return str(what)
            case ("registry.changed", (op, about, refused)):
                return f"{op} {about}, refused" if refused else f"{op} {about}"
            case ("model.requested", (tools, refused)):
                return "a refusal" if refused else f"the tools {_row(tools)}"
            case ("noted", (text,)):
                return repr(text)
            case _:
                return ""

    def allowed(self, oracle: Oracle) -> str:
        keys = sorted(self.key(key) for key in oracle.allowed())
        return ", or ".join(keys) if keys else "nothing, until another input"

    def waiting(self, blocked: Iterable[Blocked], idle: bool) -> str:
        what = sorted(self.obstacle(one) for one in blocked)
        if what:
            return "waits at " + ", ".join(what)
        return "is over" if idle else "waits for nothing that the harness holds"

    def obstacle(self, one: Blocked) -> str:
        if one.gate is not None:
            return f"gate {one.gate}"
        if one.sleep is not None:
            return f"the time, in {self._label(one.sleep)}"
        return f"the abort, in the body of {self._label(one.await_abort or 0)}"

    def positions(self, reason: str) -> str:
        """The reason with its `call 0` turned into what people read."""
        for position in reversed(range(self._count)):
            reason = reason.replace(f"call {position} ", f"{self._label(position)} ")
            reason = reason.replace(f"call {position},", f"{self._label(position)},")
        return reason
