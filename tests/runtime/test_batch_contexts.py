"""Batches: what tools leave for the model, what observers change under way, aborts from threads."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import anyio.to_thread
import pytest
from calls import BACKENDS, both, on
from test_batches import call, codes, logged, runtime

from gnomon import (
    AbortController,
    Execution,
    Limits,
    LogError,
    MemorySession,
    Output,
    Record,
    Result,
    Runtime,
    Tool,
    ToolCall,
    ToolContext,
    fuse,
    tool,
)
from gnomon.execution import Call, Caller


@pytest.mark.clause("SCD-6", "SCD-12", "SCD-15")
@both
def test_contexts_are_accepted_after_their_result_and_handed_out_in_model_order(
    backend: str,
) -> None:
    session = MemorySession()

    @tool(parallel=True)
    async def note(text: str, context: ToolContext) -> str:
        """Leave a context, the later call first; the last one ends the turn."""
        if text == "first":
            await anyio.wait_all_tasks_blocked()
        context.defer(f"{text} 1")
        context.defer(f"{text} 2")
        if text == "second":
            context.conclude_turn()
        return text

    made = runtime()
    made.register(note)
    calls = [call("note", f'{{"text": "{text}"}}') for text in ("first", "second")] + [call("fail")]
    result = on(backend, lambda: made.run_batch(calls, session=session))
    assert [one[0]["text"] for one in result.contexts] == ["first 1", "first 2", "second 1", "second 2"]
    assert result.concluded, "and the sibling still ran"
    assert codes(result) == ["OK", "OK", "TOOL_ERROR"]
    written = [one for one in logged(session) if "result" in one or "context" in one]
    assert written == [
        "tool/result OK",
        *["context/accepted"] * 2,
        "tool/result OK",
        *["context/accepted"] * 2,
        "tool/result TOOL_ERROR",
    ]


@pytest.mark.clause("SCD-9", "LOG-3")
@both
def test_a_context_that_cannot_be_logged_is_a_failure_of_the_batch(backend: str) -> None:
    class Failing(MemorySession):
        def append(self, record: Record) -> int:
            if record.type == "context/accepted":
                raise LogError("the disk is full")
            return super().append(record)

    @tool
    async def note(context: ToolContext) -> None:
        """Leave a context."""
        context.defer("c")

    made = runtime()
    made.register(note)
    session = Failing()
    with pytest.raises(LogError, match="full"):
        on(backend, lambda: made.run_batch([call("note"), call("add", '{"a": 1}')], session=session))
    assert logged(session)[-1] == "tool/result OK"


@pytest.mark.clause("SCD-3", "SCD-5")
@both
def test_an_observer_that_makes_the_next_tool_exclusive_is_seen(backend: str) -> None:
    running: list[str] = []
    overlaps: list[bool] = []
    replaced: list[anyio.Event] = []

    def worker(name: str, parallel: bool) -> Any:
        @tool(name=name, parallel=parallel)
        async def work() -> None:
            """Work beside others."""
            running.append(name)
            overlaps.append(len(running) > 1)
            if name == "b":
                await replaced[0].wait()
            await anyio.wait_all_tasks_blocked()
            running.remove(name)

        return work

    made = Runtime()
    for name in ("a", "b"):
        made.register(worker(name, True))
    removal = made.register(worker("c", True))

    def replace(execution: Execution, result: Result) -> None:
        if execution.name == "a":
            removal()
            made.register(worker("c", False))
            replaced[0].set()

    made.on("result", replace)

    async def main() -> None:
        replaced.append(anyio.Event())
        await made.run_batch([call("a"), call("b"), call("c")], max_parallel=2)

    on(backend, main)
    assert overlaps == [False, True, False]


@pytest.mark.clause("PY-11")
def test_an_abort_from_another_thread_is_seen_at_once_and_told_on_the_loop() -> None:
    async def main() -> list[bool]:
        controller = AbortController()
        loop_thread = threading.get_ident()
        told: list[bool] = []
        with fuse(controller.signal, AbortController().signal) as fused:
            fused.on_abort(lambda reason: told.append(threading.get_ident() == loop_thread))

            def abort() -> None:
                controller.abort("from a thread")
                assert fused.aborted, "the flag is there at once"

            await anyio.to_thread.run_sync(abort)
            await fused.wait()
            await anyio.wait_all_tasks_blocked()
        return told

    for backend in BACKENDS:
        assert anyio.run(main, backend=backend) == [True]


async def _answer_later() -> bool:
    raise AssertionError("nobody awaits this")


def _fail(arguments: Any) -> bool:
    raise SystemExit


@pytest.mark.clause("SCD-2", "PY-8", "PY-12")
@pytest.mark.parametrize(
    ("classifier", "parallel"),
    [
        (True, True),
        (lambda arguments: True, True),
        (lambda arguments: arguments["a"] == 1, True),
        (False, False),
        (None, False),
        (1, False),
        ("true", False),
        (lambda arguments: 1, False),
        (lambda arguments: "yes", False),
        (lambda arguments: None, False),
        (lambda arguments: _answer_later(), False),
        (lambda arguments: arguments["missing"], False),
        (lambda arguments: arguments.update(a=2), False),
        (_fail, False),
    ],
)
def test_only_exactly_true_is_parallel(classifier: Any, parallel: bool) -> None:
    made = Runtime()
    scope = made.scope("scope")
    parameters: Any = {"type": "object", "required": ["a"]}
    output = Output(schema={})
    made.register(
        Tool(
            name="t",
            description="",
            parameters=parameters,
            output=output,
            run=_answer_later,
            parallel=classifier,
        )
    )

    def asked(arguments: str = '{"a": 1}', name: str = "t") -> bool:
        caller = Caller(scope._layer, AbortController().signal, scope)
        return made._pipeline.is_parallel(Call(ToolCall("c", name, arguments), caller, Limits()))

    assert asked() is parallel
    assert not asked("{}")
    assert not asked('{"a": 1e400}')
    assert not asked('{"a": ')
    assert not asked(name="missing")
    with scope.present_as("ptc"):
        assert not asked(), "collapsed"
    with scope.restrict(deny=["t"]):
        assert not asked(), "hidden"
