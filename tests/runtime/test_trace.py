"""`Runtime(trace=sink)`: what a runtime tells of its batches, and that a sink has no say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import BACKENDS, both, code, on, text

from gnomon import (
    AbortController,
    Accept,
    Block,
    Deny,
    DispatchExecution,
    Failure,
    GnomonWarning,
    JsonlTrace,
    LogError,
    MemorySession,
    Next,
    Record,
    Result,
    Runtime,
    Success,
    ToolCall,
    ToolContext,
    tool,
)

Event = dict[str, Any]
SECRET = "what nobody is to read here"


class Told:
    """A runtime with a few tools, and the events that it tells, without the header."""

    def __init__(self, sink: Callable[[Event], object] | None = None, **settings: Any) -> None:
        self.lines: list[Event] = []
        self.runtime = Runtime(trace=self.lines.append if sink is None else sink, **settings)

        @tool(timeout=60)
        async def work(context: ToolContext) -> str:
            """Defer a context."""
            context.defer(SECRET)
            return SECRET

        @tool
        def fail() -> None:
            """Fail, in a thread."""
            raise ValueError(SECRET)

        @tool(parallel=True)
        async def wait() -> None:
            """Wait for the abort."""
            await anyio.sleep_forever()

        @tool
        async def compose(context: ToolContext) -> None:
            """Run others on its own behalf: one, and a batch, and one that nobody knows of."""
            await self.runtime.execute(ToolCall("n", "work"), parent=context.token)
            await self.runtime.run_batch([ToolCall("n", "work")], parent=context.token)
            await self.runtime.execute(ToolCall("n", "work"))

        for one in (work, fail, wait, compose):
            self.runtime.register(one)

    @property
    def events(self) -> list[Event]:
        return self.lines[1:]

    def of(self, *names: str) -> list[Event]:
        return [one for one in self.events if one["event"] in names]

    def words(self) -> list[str]:
        return [one["event"] for one in self.events]

    def execute(self, backend: str, name: str, **options: Any) -> Result:
        result: Result = on(backend, lambda: self.runtime.execute(ToolCall("c", name), **options))
        return result


@both
def test_a_single_call_from_its_start_to_its_end(backend: str) -> None:
    told = Told()
    told.runtime.on("result", lambda execution, result: None)
    assert code(told.execute(backend, "work")) == "OK"
    assert told.lines[0]["trace"] == "gnomon/1"
    assert told.words() == [
        "batch.opened",
        "policy.entered",  # the timeouts stand outermost (TMO-1)
        "policy.delegated",
        "body.started",
        "context.deferred",
        "body.settled",
        "content.rendered",
        "policy.resumed",
        "policy.decided",
        "result.observed",
        "result.returned",
        "batch.closed",
    ]
    assert [one["seq"] for one in told.events] == list(range(12))
    assert {one["batch"] for one in told.events} == {"b1"}
    assert {one.get("pos") for one in told.events} == {None, 0}
    returned = told.of("result.returned")[0]
    assert (returned["outcome"], returned["contexts"]) == ({"ok": True}, told.events[-1]["contexts"])
    assert told.of("body.started")[0]["registration"] == "work@1"
    assert told.of("policy.decided")[0]["listener"] == "timeout@1"


@both
def test_what_a_tool_does_to_its_content(backend: str) -> None:
    told = Told()
    on_work = told.runtime.tools()[0]
    told.runtime.register(
        replace(
            on_work,
            name="shown",
            timeout=None,
            project_content=lambda execution, result: text(SECRET),
            finalize_content=lambda execution, result: None,
        )
    )
    told.execute(backend, "shown")
    assert told.of("policy.entered") == []  # without a timeout, no wrapper stands around it
    assert told.words()[-4:] == [
        "content.projected",
        "content.finalized",
        "result.returned",
        "batch.closed",
    ]


@both
def test_a_batch_says_where_its_records_are(backend: str) -> None:
    told = Told()
    session = MemorySession()
    calls = [ToolCall("c1", "work", "{}"), ToolCall("c2", "fail"), ToolCall("c3", "nowhere")]
    on(backend, lambda: told.runtime.run_batch(calls, session=session))
    opened = told.of("batch.opened")[0]
    assert (opened["turn"], opened["step"], opened["max_parallel"]) == (0, 0, 10)
    assert opened["calls"][0] == {"call_id": "c1", "name": "work", "arguments": "{}"}
    types = {one.seq: one.type for one in session.records()}
    assert [types[one["log_seq"]] for one in told.of("call.logged")] == ["tool/call"] * 3
    assert [types[one["log_seq"]] for one in told.of("result.logged")] == ["tool/result"] * 3
    assert [types[one["cites"]] for one in told.of("result.logged")] == ["tool/call"] * 3
    assert [types[one["log_seq"]] for one in told.of("context.accepted")] == ["context/accepted"]
    (deferred,), (accepted,) = told.of("context.deferred"), told.of("context.accepted")
    assert [deferred["context"]] == [accepted["context"]] == told.events[-1]["contexts"]
    settled = told.of("body.settled")
    assert [(one["pos"], one["how"], one.get("code")) for one in settled] == [
        (0, "returned", None),
        (1, "raised", "TOOL_ERROR"),
    ]
    assert [one["outcome"] for one in told.of("result.logged")][1:] == [
        {"ok": False, "code": "TOOL_ERROR", "name": "ValueError"},
        {"ok": False, "code": "UNKNOWN_TOOL", "name": "ToolNotFoundError"},
    ]


@both
def test_texts_are_never_in_it(backend: str) -> None:
    told = Told()

    async def deny(execution: Any, following: Next[Any]) -> Any:
        return Deny(SECRET)

    def look(execution: Any, result: Result) -> None:
        raise ValueError(SECRET)

    told.runtime.on("result", look)
    guarded, denied = told.runtime.scope("guarded"), told.runtime.scope("denied")
    guarded.guard(lambda execution: SECRET)
    denied.on("pre_execute", deny)
    ways = [("work", None, "OK"), ("fail", None, "TOOL_ERROR")]
    ways += [("work", scope, "DENIED") for scope in (guarded, denied)]
    for name, scope, expected in ways:
        with pytest.warns(GnomonWarning):
            assert code(told.execute(backend, name, scope=scope)) == expected
    assert SECRET not in json.dumps(told.lines)
    assert [one["layer"] for one in told.of("guard.answered")] == ["guarded"]
    assert [one["about"] for one in told.of("warned")] == ["observer"] * 4


@both
def test_an_empty_batch_is_opened_and_closed(backend: str) -> None:
    told = Told()
    on(backend, lambda: told.runtime.run_batch([]))
    assert told.words() == ["batch.opened", "batch.closed"]


@both
def test_nested_batches_say_of_which_attempt_of_which_call_they_are(backend: str) -> None:
    told = Told()

    async def twice(execution: DispatchExecution, following: Next[Result]) -> Result:
        if execution.name == "compose":
            await following()
        return await following()

    told.runtime.on("execute", twice)
    on(backend, lambda: told.runtime.run_batch([ToolCall("c", "fail"), ToolCall("c", "compose")]))
    opened = told.of("batch.opened")
    assert [one["batch"] for one in opened] == [
        "b1",
        *("b1/1#1", "b1/1#1.2", "b2"),
        *("b1/1#2", "b1/1#2.2", "b3"),
    ]
    assert opened[4]["parent"] == {"batch": "b1", "pos": 1, "attempt": 2}
    assert "parent" not in opened[3]
    assert [one["batch"] for one in told.of("batch.closed")][-1] == "b1"


@both
def test_what_wrappers_and_post_steps_decide(backend: str) -> None:
    told = Told()
    answers: list[Any] = [Success("own", text("own"), contexts=(text("w"),)), Success(5, text("5")), None]
    told.runtime.on("execute", lambda execution, following: answers.pop(0))

    async def post(execution: Any, result: Result, following: Next[Any]) -> Any:
        await following()
        return Block(text(SECRET), (text("b"),)) if result.ok else Accept()

    told.runtime.on("post_execute", post)
    while answers:
        told.execute(backend, "work")
    about = [
        (one["waterfall"], one["decision"], one.get("code"))
        for one in told.of("policy.decided")
        if not one["listener"].startswith("timeout")
    ]
    assert about == [
        ("execute", "authored", None),
        ("post_execute", "block", None),
        ("execute", "authored", "INVALID_TOOL_OUTPUT"),
        ("execute", "malformed", "POLICY_ERROR"),
    ]
    assert len(told.of("context.deferred")) == 2
    assert [one["answer"] for one in told.of("policy.resumed") if one["waterfall"] == "post_execute"] == [
        "accept"
    ]


@both
def test_a_body_that_is_told_and_interrupted(backend: str) -> None:
    told = Told()
    mine = AbortController()
    caller = AbortController()

    async def wrapper(execution: DispatchExecution, following: Next[Result]) -> Result:
        execution.signal = mine.signal
        return await following()

    told.runtime.on("execute", wrapper)

    async def main() -> None:
        async with anyio.create_task_group() as group:
            calls = [ToolCall("c1", "wait"), ToolCall("c2", "wait")]
            group.start_soon(lambda: told.runtime.run_batch(calls, signal=caller.signal))
            await anyio.wait_all_tasks_blocked()
            controller.abort()

    for controller, source in ((caller, "caller"), (mine, "wrapper")):
        told.lines[1:] = []
        if controller is mine:
            caller = AbortController()
        on(backend, main)
        heard = told.of("body.signalled", "body.interrupted", "body.settled")
        first = [one for one in heard if one["pos"] == 0]
        assert [one["event"] for one in first] == ["body.signalled", "body.interrupted", "body.settled"]
        assert (first[0]["source"], first[2]["how"]) == (source, "cancelled")


@both
def test_a_cancelled_batch_and_one_whose_log_fails(backend: str) -> None:
    class Full(MemorySession):
        def __init__(self, last: str) -> None:
            super().__init__()
            self.last = last

        def append(self, record: Record) -> int:
            if record.type == self.last:
                raise LogError("no room")
            return super().append(record)

    told = Told()

    async def cancelled() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: told.runtime.run_batch([ToolCall("c", "wait")]))
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()

    on(backend, cancelled)
    assert told.events[-1]["ended"] == "cancelled"
    for last in ("tool/result", "turn/end"):
        session = Full(last)
        with pytest.raises(LogError):
            on(backend, partial(told.runtime.run_batch, [ToolCall("c", "work")], session=session))
        assert told.events[-1]["event"] == "batch.failed"
        assert (told.events[-1]["where"], told.events[-1]["error"]) == ("log", {"type": "LogError"})


# -- sinks ----------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("after", range(6))
def test_a_sink_that_raises_is_dropped_with_one_warning(backend: str, after: int) -> None:
    """Seen to fail: with what it raised let out, the call ended as a failure of the runtime."""
    given: list[Event] = []

    def sink(event: Event) -> None:
        given.append(event)
        if len(given) > after:
            raise [ValueError(), SystemExit(), asyncio.CancelledError(), GeneratorExit()][after % 4]

    def use_it() -> list[str]:
        told = Told(sink)
        batch = on(backend, lambda: told.runtime.run_batch([ToolCall("c", "work"), ToolCall("c", "fail")]))
        return [code(one) for one in batch.results]

    with pytest.warns(GnomonWarning, match="a trace ends") as caught:
        assert use_it() == ["OK", "TOOL_ERROR"]
    assert len(given) == after + 1
    assert len(caught) == 1


@both
def test_a_sink_is_a_plain_function(backend: str) -> None:
    async def late(event: Event) -> None:
        raise AssertionError("nobody awaits this")

    with pytest.warns(GnomonWarning, match="TypeError"):
        assert code(Told(late).execute(backend, "work")) == "OK"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_file_of_events(backend: str, tmp_path: Path) -> None:
    given: list[Event] = []
    with JsonlTrace(tmp_path / "trace.jsonl") as sink:

        def both_of_them(event: Event) -> None:
            given.append(event)
            sink(event)

        told = Told(both_of_them)
        told.execute(backend, "work")
        arguments = '{"lone": "\ud800"}'
        on(backend, lambda: told.runtime.execute(ToolCall("\ud800", "work", arguments)))
    lines = (tmp_path / "trace.jsonl").read_bytes().splitlines()
    assert [json.loads(one) for one in lines] == given


def test_a_closed_file_ends_the_trace(tmp_path: Path) -> None:
    sink = JsonlTrace(tmp_path / "trace.jsonl")
    told = Told(sink)
    sink.close()
    with pytest.warns(GnomonWarning, match="a trace ends"):
        result = told.execute("asyncio", "work")
    assert not isinstance(result, Failure)


@both
def test_callables_without_a_name_and_ones_that_hide_it(backend: str) -> None:
    class Guard:
        def __call__(self, execution: Any) -> None:
            return None

    class Hidden(Guard):
        def __getattribute__(self, name: str) -> Any:
            raise RuntimeError("nothing to see")

    told = Told()
    told.runtime.guard(Guard())
    told.runtime.guard(Hidden())
    told.execute(backend, "work")
    assert [one["guard"] for one in told.of("guard.answered")] == ["Guard@2", "Hidden@3"]


@pytest.mark.clause("GRD-4", "PY-4")
@both
def test_a_guard_that_raises_what_ends_the_process_is_told_of_as_well(backend: str) -> None:
    def strike(execution: Any) -> None:
        raise KeyboardInterrupt

    told = Told()
    told.runtime.guard(strike)
    with pytest.raises(KeyboardInterrupt):
        told.execute(backend, "work")
    assert [one["answer"] for one in told.of("guard.answered")] == ["raised"]
    assert told.words()[-1] == "batch.failed"
