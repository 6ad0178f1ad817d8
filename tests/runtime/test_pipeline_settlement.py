"""The worked-out edge outcomes of a settled call: projection, post-execute, the finalizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from calls import World, both, code, contexts, see, shown, text

from gnomon import (
    ABSENT,
    Accept,
    Block,
    Code,
    DispatchExecution,
    ErrorInfo,
    Execution,
    Failure,
    Next,
    Output,
    Result,
    Success,
    Tool,
    ToolContext,
)

Around = Next[Result]


# -- settlement -----------------------------------------------------------------------------------


def aborted_before_its_commit(decide: Callable[[World, Result], Any]) -> World:
    def body(context: ToolContext) -> str:
        context.defer("d")
        return "x"

    world = World(body)

    async def post(execution: Execution, result: Result, following: Next[Any]) -> Any:
        assert result.ok
        world.caller.abort()
        return decide(world, result)

    world.runtime.on("post_execute", post)
    return world


def raises(world: World, result: Result) -> Any:
    raise ValueError("post")


@pytest.mark.clause("PST-5", "PST-7", "PST-8", "CAN-6", "CAN-7")
@both
@pytest.mark.parametrize(
    ("decide", "expected", "left"),
    [
        (lambda world, result: Accept(contexts=[text("p")]), "ABORTED", ["d", "p"]),
        (lambda world, result: Block(text("no"), contexts=[text("b")]), "BLOCKED", ["b"]),
        (raises, "POLICY_ERROR", []),
    ],
)
def test_a_success_that_is_aborted_before_its_commit(
    backend: str, decide: Callable[..., Any], expected: str, left: list[str]
) -> None:
    result = aborted_before_its_commit(decide).call(backend)
    assert (code(result), contexts(result)) == (expected, left)


@pytest.mark.clause("PST-3", "PST-4")
@both
def test_a_cancelled_call_still_visits_post_execute(backend: str) -> None:
    decision: Any = None

    def run() -> Result:
        world = World()

        async def wrapper(execution: DispatchExecution, following: Around) -> Result:
            world.caller.abort()
            return await following()

        world.runtime.on("execute", wrapper)
        world.runtime.on("post_execute", lambda execution, result, following: decision)
        return world.call(backend)

    decision = Accept(content=text("new"), contexts=[text("p")])
    result = run()
    assert (code(result), contexts(result), shown(result)) == ("ABORTED_BEFORE_DISPATCH", ["p"], "new")
    decision = Accept(value=None)
    assert code(run()) == Code.POLICY_ERROR
    decision = Block(text("no"))
    assert code(run()) == Code.BLOCKED


def concluding(context: ToolContext) -> str:
    context.defer("d")
    context.conclude_turn()
    return "x"


@pytest.mark.clause("CRE-3", "DSP-14", "PST-3", "PST-4")
@both
def test_a_replaced_value_is_checked_by_the_definition_that_is_there_now(backend: str) -> None:
    def run(decision: Any, before: Callable[[World], object] = lambda world: None) -> Result:
        world = World(
            concluding,
            schema={"type": "string"},
            meta=lambda arguments, value: {"of": value},
            finalize_content=lambda execution, result: see(world, "old finalizer", None),
        )
        world.runtime.on(
            "post_execute", lambda execution, result, following: see(world, "post", before(world) or decision)
        )
        result = world.call(backend)
        assert "old finalizer" in world.seen
        return result

    gone = run(Accept(value="v"), lambda world: world.registration())
    assert (code(gone), contexts(gone)) == ("UNKNOWN_TOOL", [])
    assert code(run(Accept(value=5))) == Code.INVALID_TOOL_OUTPUT
    kept = run(Accept(value="v"))
    assert kept == Success("v", text("v"), {"of": "v"}, (text("d"),), True)
    assert code(run(Accept(value="v", content=text("c")))) == Code.POLICY_ERROR
    content = run(Accept(content=text("c")))
    assert content == Success("x", text("c"), {"of": "x"}, (text("d"),), True)

    def replace_tool(world: World) -> None:
        world.registration()
        world.runtime.register(
            Tool(
                name="act",
                description="",
                parameters={},
                run=world.tool.run,
                output=Output(
                    schema={"type": "integer"}, render=lambda arguments, value: text(f"new {value}")
                ),
                finalize_content=lambda execution, result: text("a new finalizer is not this call's"),
            )
        )

    assert run(Accept(value=5), replace_tool) == Success(5, text("new 5"), ABSENT, (text("d"),), True)


@pytest.mark.clause("PST-5")
@both
def test_a_block_concludes_nothing_and_says_its_feedback(backend: str) -> None:
    world = World(concluding)
    feedback = [*text("no"), {"type": "image", "data": "", "mimeType": "image/png"}, *text("way")]
    world.runtime.on("post_execute", lambda execution, result, following: Block(feedback))
    result = world.call(backend)
    assert isinstance(result, Failure)
    assert result.error == ErrorInfo("no\n[image content]\nway", "BLOCKED", "BlockedError")
    assert result.content == feedback


@pytest.mark.clause("PST-1")
@both
@pytest.mark.parametrize("answer", [5, [{}], "text", "raises"])
def test_a_failing_projection_skips_post_execute(backend: str, answer: Any) -> None:
    async def project(execution: Execution, result: Result) -> Any:
        if answer == "raises":
            raise ValueError("projection")
        return answer

    world = World(concluding, project_content=project)
    world.runtime.on("post_execute", lambda e, r, following: see(world, "post", following()))
    result = world.call(backend)
    assert (code(result), contexts(result)) == (Code.INVALID_TOOL_OUTPUT, [])
    assert "post" not in world.seen


@pytest.mark.clause("PST-1")
@both
def test_a_projection_replaces_content_only_and_is_seen_by_post_execute(backend: str) -> None:
    world = World(concluding, project_content=lambda execution, result: text("projected"))
    world.runtime.on("post_execute", lambda e, r, following: see(world, shown(r), following()))
    result = world.call(backend)
    assert (code(result), shown(result), contexts(result)) == ("OK", "projected", ["d"])
    assert world.seen == ["body", "projected", "observer"]


@pytest.mark.clause("CAN-1")
@both
def test_an_abort_from_the_finalizer_changes_nothing(backend: str) -> None:
    world = World(finalize_content=lambda execution, result: world.caller.abort() or text("final"))
    result = world.call(backend)
    assert (code(result), shown(result)) == ("OK", "final")


async def _coroutine() -> None:
    raise AssertionError("nobody awaits this")


@pytest.mark.clause("FIN-2", "PY-8")
@both
@pytest.mark.parametrize("answer", [5, [{}], "raises", "a coroutine"])
def test_a_failing_finalizer_makes_an_error_and_is_not_called_again(backend: str, answer: Any) -> None:
    def finalize(execution: Execution, result: Result) -> Any:
        world.seen.append("finalizer")
        if answer == "raises":
            raise ValueError("finalizer")
        return _coroutine() if answer == "a coroutine" else answer

    world = World(concluding, meta=lambda arguments, value: 1, finalize_content=finalize)
    result = world.call(backend)
    assert (code(result), contexts(result), result.meta) == (Code.INVALID_TOOL_OUTPUT, [], ABSENT)
    assert world.seen == ["body", "finalizer", "observer"]
