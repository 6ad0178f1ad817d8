"""Waterfalls: order, `next()` and how often, what is a decision, and who takes part (PRE, PST, REG)."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import anyio
import pytest
from calls import World, both, code, contexts, on, shown, text

from gnomon import (
    Accept,
    Allow,
    Ask,
    Block,
    Cancel,
    Code,
    ConfigError,
    Deny,
    DispatchExecution,
    Execution,
    Failure,
    GnomonWarning,
    Next,
    PolicyError,
    Registration,
    RegistrationError,
    Result,
    Runtime,
    ToolCall,
    ToolContext,
    ToolError,
)


def listener(world: World, name: str) -> Callable[..., Any]:
    async def listen(*given: Any) -> Any:
        world.seen.append(f"{name}>")
        answer = await given[-1]()
        world.seen.append(f"<{name}")
        return answer

    return listen


@pytest.mark.clause("PRE-1")
@both
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
def test_the_first_registered_stands_outermost_and_a_prepended_one_outside_of_it(
    backend: str, event: Any
) -> None:
    world = World(in_scope=True)
    assert world.scope is not None
    child, stranger = world.scope.scope("child"), world.runtime.scope("stranger")
    world.runtime.on(event, listener(world, "1"))
    world.scope.on(event, listener(world, "2"))
    world.runtime.on(event, listener(world, "3"))
    world.scope.on(event, listener(world, "4"), prepend=True)
    world.runtime.on(event, listener(world, "5"), prepend=True)
    child.on(event, listener(world, "child"))
    stranger.on(event, listener(world, "stranger"))
    assert code(world.call(backend)) == "OK"
    heard = [one for one in world.seen if ">" in one or "<" in one]
    assert heard == ["5>", "4>", "1>", "2>", "3>", "<3", "<2", "<1", "<4", "<5"]
    world.seen.clear()
    world.scope = None
    world.call(backend)
    assert [one for one in world.seen if ">" in one] == ["5>", "1>", "3>"]


@pytest.mark.clause("PRE-1")
@both
def test_the_set_is_fixed_when_the_waterfall_starts_and_a_listener_may_take_itself_away(backend: str) -> None:
    world = World()
    mine: list[Registration] = []

    def late(execution: Execution, following: Next[Any]) -> Any:
        world.seen.append("late")
        return following()

    def first(execution: Execution, following: Next[Any]) -> Any:
        world.seen.append("first")
        mine[0]()
        for _ in range(2):  # one more than goes
            world.runtime.on("pre_execute", late)
        return following()

    mine.append(world.runtime.on("pre_execute", first))
    world.call(backend)
    assert world.seen == ["first", "body", "observer"]
    world.call(backend)
    assert world.seen[3:] == ["late", "late", "body", "observer"]


@pytest.mark.clause("PRE-2", "PRE-3", "PRE-4", "APP-2", "ERR-1")
@both
@pytest.mark.parametrize(
    ("decision", "expected", "words"),
    [
        (Allow(), "OK", "done"),
        (Deny("not here"), "DENIED", "Error: not here"),
        (Deny(""), "DENIED", "Error: "),
        (Deny("no", code="QUOTA"), "QUOTA", "Error: no"),
        (Cancel(), "ABORTED_BEFORE_DISPATCH", None),
        (Ask("why"), "APPROVAL_UNAVAILABLE", "Error: why"),
        (Ask(), "APPROVAL_UNAVAILABLE", None),
        (None, "POLICY_ERROR", None),
        (True, "POLICY_ERROR", None),
        ("allow", "POLICY_ERROR", None),
        ({"kind": "allow"}, "POLICY_ERROR", None),
        (Allow, "POLICY_ERROR", None),
        (Accept(), "POLICY_ERROR", None),
        (Deny(None), "POLICY_ERROR", None),
        (Deny(5), "POLICY_ERROR", None),
        (Deny("x", code=""), "POLICY_ERROR", None),
        (Ask(5), "POLICY_ERROR", None),
    ],
)
def test_decisions_of_pre_execute(backend: str, decision: Any, expected: str, words: str | None) -> None:
    world = World()
    world.runtime.on("pre_execute", lambda execution, following: decision)
    world.runtime.on("pre_execute", lambda execution, following: world.seen.append("hidden") or following())
    result = world.call(backend)
    assert code(result) == expected
    assert words is None or shown(result) == words
    assert "hidden" not in world.seen
    assert ("body" in world.seen) is (expected == "OK")


@pytest.mark.clause("PST-2", "PST-3", "PST-5", "PST-6")
@both
@pytest.mark.parametrize(
    ("decision", "expected", "left"),
    [
        (Accept(), "OK", ["d"]),
        (Accept(contexts=[text("p")]), "OK", ["d", "p"]),
        (Block(text("no")), "BLOCKED", []),
        (Block([]), "BLOCKED", []),
        (Block("no"), "POLICY_ERROR", []),
        (Block([{}]), "POLICY_ERROR", []),
        (Accept(content="no"), "POLICY_ERROR", []),
        (Accept(contexts=["no"]), "POLICY_ERROR", []),
        (Accept(contexts="no"), "POLICY_ERROR", []),
        (Accept(contexts=None), "POLICY_ERROR", []),
        (Allow(), "POLICY_ERROR", []),
        (None, "POLICY_ERROR", []),
        (Accept, "POLICY_ERROR", []),
    ],
)
def test_decisions_of_post_execute(backend: str, decision: Any, expected: str, left: list[str]) -> None:
    world = World(lambda context: context.defer("d"))
    world.runtime.on("post_execute", lambda execution, result, following: decision)
    result = world.call(backend)
    assert (code(result), contexts(result)) == (expected, left)


@pytest.mark.clause("PST-3", "PST-5", "PY-12")
@both
def test_an_empty_block_has_a_fixed_message_and_a_null_is_a_value(backend: str) -> None:
    world = World()
    decision: Any = Block([])
    world.runtime.on("post_execute", lambda execution, result, following: decision)
    blocked = world.call(backend)
    assert isinstance(blocked, Failure)
    assert blocked.error.message
    decision = Accept(value=None, content=text("x"))
    assert code(world.call(backend)) == Code.POLICY_ERROR
    decision = Accept(value=None)
    assert shown(world.call(backend)) == "null"


@pytest.mark.clause("PRE-5", "DSP-13", "PST-7", "ERR-1", "ERR-3", "PY-4")
@both
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
def test_a_listener_that_raises_keeps_a_structured_code(backend: str, event: Any) -> None:
    def run(error: BaseException) -> Result:
        world = World()

        def fail(*given: Any) -> Any:
            raise error

        world.runtime.on(event, fail)
        return world.call(backend)

    structured = run(ToolError("mine", code="MINE", name="MineError"))
    assert isinstance(structured, Failure)
    assert (structured.error.code, structured.error.name) == ("MINE", "MineError")
    for error in (ValueError("v"), SystemExit(), GeneratorExit(), asyncio.CancelledError(), ToolError("t")):
        result = run(error)
        assert isinstance(result, Failure)
        assert (result.error.code, result.error.name) == ("POLICY_ERROR", type(error).__name__)


@pytest.mark.clause("PY-4")
@both
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
def test_keyboard_interrupt_leaves(backend: str, event: Any) -> None:
    world = World()

    def strike(*given: Any) -> Any:
        raise KeyboardInterrupt

    world.runtime.on(event, strike)
    with pytest.raises(KeyboardInterrupt):
        world.call(backend)


@pytest.mark.clause("PRE-2")
@both
def test_an_inner_failure_is_raised_by_next_and_may_be_caught(backend: str) -> None:
    world = World()

    async def outer(execution: Execution, following: Next[Any]) -> Any:
        with pytest.raises(PolicyError, match="answered nothing"):
            await following()
        return Deny("the inner one is broken")

    world.runtime.on("pre_execute", outer)
    world.runtime.on("pre_execute", lambda execution, following: None)
    assert code(world.call(backend)) == Code.DENIED


@pytest.mark.clause("PRE-7", "DSP-1")
@both
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
def test_a_second_next_runs_the_whole_rest_again(backend: str, event: Any) -> None:
    world = World()

    async def twice(*given: Any) -> Any:
        await given[-1]()
        return await given[-1]()

    world.runtime.on(event, twice)
    world.runtime.on(event, listener(world, "rest"))
    assert code(world.call(backend)) == "OK"
    assert world.seen.count("rest>") == 2


@pytest.mark.clause("PRE-7")
@both
@pytest.mark.parametrize("event", ["pre_execute", "execute", "post_execute"])
def test_next_raises_while_an_earlier_one_is_pending_and_after_the_end(backend: str, event: Any) -> None:
    world = World()
    kept: list[Next[Any]] = []

    async def greedy(*given: Any) -> Any:
        following = given[-1]
        kept.append(following)
        pending = following()
        with pytest.raises(PolicyError, match="PRE-7"):
            following()
        return await pending

    def check(execution: Execution, result: Result) -> None:
        with pytest.raises(PolicyError, match="PRE-7"):
            kept[0]()

    world.runtime.on(event, greedy)
    world.runtime.on("result", check)
    assert code(world.call(backend)) == "OK"


def test_a_next_whose_task_never_began_holds_up_nothing() -> None:
    """On asyncio only: a task that was spawned always begins on trio."""
    world = World()

    async def give_up(execution: DispatchExecution, following: Next[Result]) -> Result:
        task = asyncio.ensure_future(following())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await following()

    world.runtime.on("execute", give_up)
    assert code(world.call("asyncio")) == "OK"


@pytest.mark.clause("FIN-3", "PY-8")
@both
def test_observers_are_contained_and_reported(backend: str) -> None:
    world = World()

    def broken(execution: Execution, result: Result) -> None:
        raise ValueError("observer")

    async def late(execution: Execution, result: Result) -> None:
        raise AssertionError("nobody awaits this")

    world.runtime.on("result", broken)
    world.runtime.on("result", late)
    world.runtime.on("result", lambda execution, result: world.seen.append("third"))
    with pytest.warns(GnomonWarning) as caught:
        assert code(world.call(backend)) == "OK"
    assert [str(one.message).split(";")[0] for one in caught] == [
        "an observer raised ValueError: observer",
        "an observer is async, and observers are plain functions",
    ]
    assert world.seen == ["body", "observer", "third"]


@pytest.mark.clause("FIN-3")
def test_a_warning_that_is_an_error_changes_nothing_and_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    reported: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", reported.append)

    def broken(execution: Execution, result: Result) -> None:
        raise ValueError("observer")

    world.runtime.on("result", broken)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert code(world.call("asyncio")) == "OK"
    assert [one.exc_type for one in reported] == [GnomonWarning]


def test_unknown_events_and_what_is_no_function_are_refused() -> None:
    runtime = Runtime()
    with pytest.raises(RegistrationError, match="no event 'after'"):
        runtime.on("after", print)
    with pytest.raises(RegistrationError, match="a listener is a function"):
        runtime.on("result", None)


@pytest.mark.clause("PY-7")
@both
def test_context_variables_are_shared_by_the_steps_of_one_call_and_by_nobody_else(backend: str) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    seen: list[str] = []
    world = World()

    def note(what: str, answer: Any = None) -> Any:
        seen.append(f"{what} {variable.get()}")
        variable.set(what)
        return answer

    def in_a_thread(arguments: Any, context: ToolContext) -> None:
        note("body")

    world.registration()
    world.runtime.register(replace(world.tool, run=in_a_thread))
    world.runtime.on("pre_execute", lambda execution, following: note("pre", following()))
    world.runtime.on("execute", lambda execution, following: note("execute", following()))
    world.runtime.on("post_execute", lambda execution, result, following: note("post", following()))
    world.runtime.on("result", lambda execution, result: note("observer"))

    async def main() -> None:
        variable.set("caller")
        for _ in range(2):
            await world.runtime.run_batch([ToolCall("c", "act")])
        note("after")

    anyio.run(main, backend=backend)
    once = ["pre caller", "execute pre", "body execute", "post body", "observer post"]
    assert seen == [*once, *once, "after caller"]


@pytest.mark.clause("PY-10")
@both
@pytest.mark.parametrize("step", ["guard", "classifier", "renderer", "finalizer"])
def test_the_runtime_refuses_to_be_called_from_a_synchronous_step(backend: str, step: str) -> None:
    refused: list[str] = []

    def call_again(*given: Any) -> Any:
        for again in (world.runtime.execute(ToolCall("c", "act")), world.runtime.run_batch([])):
            try:
                again.send(None)
            except ConfigError as error:
                refused.append(str(error))
        return {"renderer": text("x"), "classifier": True}.get(step)

    places: dict[str, Any] = {"renderer": {"render": call_again}, "classifier": {"parallel": call_again}}
    world = World(**places.get(step, {"finalize_content": call_again} if step == "finalizer" else {}))
    if step == "guard":
        world.runtime.guard(call_again)
    on(backend, lambda: world.runtime.run_batch([ToolCall("c", "act")]))
    assert len(refused) >= 2
    assert all(step in one and "PY-10" in one for one in refused)
