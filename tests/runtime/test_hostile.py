"""Hostile tools, hooks, guards, renderers, observers, classifiers, finalizers and approvers.

Whatever they do, a call ends with one well-formed result, a batch with a log that `gnomon verify`
accepts; what is no proper decision never lets a body run, nor a result through.
"""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from calls import BACKENDS, assert_well_formed, code, text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gnomon import (
    AbortController,
    Accept,
    Allow,
    Ask,
    BatchResult,
    Block,
    CallbackApprover,
    Cancel,
    Deny,
    ErrorInfo,
    Failure,
    JsonlSession,
    Output,
    Registration,
    Result,
    Runtime,
    Success,
    Tool,
    ToolCall,
    ToolContext,
    ToolError,
)
from gnomon_check.trace import Verdict, check_file

REACHED: Counter[str] = Counter()


class Evil:
    """Every dunder raises."""

    def _raise(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("evil")

    __getattribute__ = __str__ = __repr__ = __eq__ = __bool__ = __iter__ = __len__ = _raise
    __hash__ = __await__ = __call__ = __getitem__ = __lt__ = _raise


class Shifting(dict[str, Any]):
    """Claims to be a dict, and says something else each time."""

    def __getitem__(self, key: str) -> Any:
        return object()


async def coroutine() -> None:
    raise AssertionError("nobody awaits this")


def deep() -> Any:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return made


def cycle() -> Any:
    made: list[Any] = []
    made.append(made)
    return made


def unprintable() -> BaseException:
    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    return Unprintable()


ANSWERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "true": lambda: True,
    "text": lambda: "text",
    "number": lambda: 5,
    "nan": lambda: float("nan"),
    "set": lambda: {1},
    "tuple": lambda: (1,),
    "bytes": lambda: b"x",
    "object": object,
    "class": lambda: Allow,
    "evil": Evil,
    "shifting": lambda: Shifting(a=1),
    "coroutine": coroutine,
    "generator": lambda: (one for one in ()),
    "deep": deep,
    "cycle": cycle,
    "surrogate": lambda: "\ud800",
    "content": lambda: text("content"),
    "content with a surrogate": lambda: text("\ud800"),
    "big": lambda: 10**6000,
    "allow": Allow,
    "deny": lambda: Deny("no"),
    "deny evil": lambda: Deny(Evil()),
    "cancel": Cancel,
    "ask": Ask,
    "accept": Accept,
    "accept evil": lambda: Accept(value=Evil()),
    "accept both": lambda: Accept(value=1, content=text("x")),
    "accept nonsense": lambda: Accept(contexts=Evil()),
    "block": lambda: Block(text("no")),
    "block evil": lambda: Block(Evil()),
    "success": lambda: Success(1, text("1")),
    "success evil": lambda: Success(Evil(), Evil(), contexts=Evil()),
    "failure": lambda: Failure(ErrorInfo("m", "C", "N"), text("m")),
    "failure evil": lambda: Failure(Evil(), Evil()),
    "allowed-once": lambda: "allowed-once",
}
ERRORS: dict[str, Callable[[], BaseException]] = {
    "error": lambda: ValueError("v"),
    "unprintable": unprintable,
    "exit": lambda: SystemExit(3),
    "generator exit": GeneratorExit,
    "stop": lambda: StopIteration(1),
    "cancelled": asyncio.CancelledError,
    "coded": lambda: ToolError("t", code="OWN", content=text("x")),
    "coded evil": lambda: ToolError(Evil(), code=Evil(), name=Evil(), content=Evil()),
    "group": lambda: BaseExceptionGroup("g", [SystemExit(), ValueError()]),
    "notes": lambda: _noted(),
}


def _noted() -> BaseException:
    error = ValueError("v")
    error.add_note("secret")
    return error


FINALLY = st.one_of(
    st.sampled_from(sorted(ANSWERS)).map(lambda name: ("answer", name)),
    st.sampled_from(sorted(ERRORS)).map(lambda name: ("raise", name)),
    st.just(("pass", "")),
)
LISTENER_STEPS = ["next", "next unawaited", "next twice at once", "next in a task", "kept next", "abort"]
OTHER_STEPS = ["register", "remove", "unhook", "guard", "defer late", "call", "set signal"]
STEPS = st.lists(
    st.sampled_from(
        [*LISTENER_STEPS, "register", "remove", "unhook", "guard", "defer late", "call", "set signal"]
    ),
    max_size=3,
)
SCRIPT = st.tuples(STEPS, FINALLY, st.booleans())
PLACES = (
    "body", "render", "meta", "project", "finalize", "classifier", "guard", "observer", "change",
    "pre_execute", "execute", "post_execute", "approval", "convert", "dump",
)  # fmt: skip


class Surroundings:
    """A runtime whose every part plays a script."""

    def __init__(self, scripts: dict[str, Any]) -> None:
        self.scripts = scripts
        self.caller = AbortController()
        self.contexts: list[ToolContext] = []
        self.kept: list[Any] = []
        self.hooks: list[Registration] = []
        self.bodies = 0
        self.running = 0
        self.names = 0
        self.again = 0
        self.runtime = Runtime(
            approver=CallbackApprover(self.part("approval")) if "approval" in scripts else None
        )
        self.scope = self.runtime.scope("agent")
        self.hooks.append(self.runtime.register(self.tool("act")))
        for event in ("pre_execute", "execute", "post_execute", "change"):
            if event in scripts:
                self.hooks.append(self.scope.on(event, self.part(event)))
        if "approval" in scripts:
            self.hooks.append(self.runtime.on("pre_execute", lambda execution, following: Ask()))
        if "observer" in scripts:
            self.hooks.append(self.runtime.on("result", self.part("observer")))
        if "guard" in scripts:
            self.hooks.append(self.runtime.guard(self.part("guard")))

    def tool(self, name: str) -> Tool:
        output = Output(
            schema={}, **{key: self.part(key) for key in ("render", "meta") if key in self.scripts}
        )
        fields: dict[str, Any] = {}
        for place, field in {
            "project": "project_content",
            "finalize": "finalize_content",
            "classifier": "parallel",
            "convert": "convert",
            "dump": "dump",
        }.items():
            if place in self.scripts:
                fields[field] = self.part(place)
        run = self.part("body") if "body" in self.scripts else self.ordinary
        return Tool(name=name, description="", parameters={}, output=output, run=run, **fields)

    async def ordinary(self, arguments: Any, context: ToolContext) -> str:
        self.bodies += 1
        return "done"

    def part(self, place: str) -> Callable[..., Any]:
        steps, ending, is_async = self.scripts[place]

        async def play_async(*given: Any) -> Any:
            following = given[-1] if callable(given[-1]) else None
            self.begin(place, given)
            try:
                answer: Any = None
                for step in steps:
                    if following is not None and step in LISTENER_STEPS[:4]:
                        answer = await self.delegate(step, following)
                    elif step == "call" and self.again < 3:
                        self.again += 1
                        answer = await self.runtime.execute(ToolCall("again", "act"), scope=self.scope)
                    else:
                        self.do(step, given)
                return self.end(ending, answer)
            finally:
                self.running -= place == "body"

        def play(*given: Any) -> Any:
            self.begin(place, given)
            try:
                answer: Any = None
                for step in steps:
                    if step == "next" and callable(given[-1]):
                        answer = given[-1]()
                    else:
                        self.do(step, given)
                return self.end(ending, answer)
            finally:
                self.running -= place == "body"

        if place == "body":
            return play_async if is_async else play
        return play_async if is_async and place not in ("change",) else play

    def begin(self, place: str, given: tuple[Any, ...]) -> None:
        REACHED[place] += 1
        if place == "body":
            self.bodies += 1
            self.running += 1
            self.contexts.append(given[1])
            given[1].defer("a context")

    async def delegate(self, step: str, following: Any) -> Any:
        self.kept.append(following)
        match step:
            case "next":
                return await following()
            case "next unawaited":
                following()
            case "next twice at once":
                async with anyio.create_task_group() as group:
                    group.start_soon(following)
                    group.start_soon(following)
            case _:
                async with anyio.create_task_group() as group:
                    group.start_soon(following)
        return None

    def do(self, step: str, given: tuple[Any, ...]) -> None:
        match step:
            case "kept next" if self.kept:
                self.kept[0]().close()
            case "abort":
                self.caller.abort("hostile")
            case "register":
                self.names += 1
                self.hooks.append(self.scope.register(self.tool(f"more{self.names}")))
            case "remove":
                self.hooks[0]()
            case "unhook":
                for hook in self.hooks[1:]:
                    hook()
            case "guard" if len(self.hooks) < 20:
                self.hooks.append(self.scope.guard(lambda execution: None))
            case "defer late" if self.contexts:
                self.contexts[0].defer("late")
            case "set signal":
                given[0].signal = AbortController().signal

    def end(self, ending: tuple[str, str], answer: Any) -> Any:
        what, name = ending
        REACHED[f"{what} {name}"] += 1
        if what == "raise":
            raise ERRORS[name]()
        return ANSWERS[name]() if what == "answer" else answer


SCRIPTS = st.dictionaries(st.sampled_from(PLACES), SCRIPT, min_size=1, max_size=5)


def play(backend: str, scripts: dict[str, Any], in_scope: bool, path: Path) -> Surroundings:
    """Run a batch and a single call in these surroundings, and judge what is left of them."""
    texts = [("c", "act", ""), ("c", "act", '{"a": '), ("d", "nothing", ""), ("e", "act", "{}")]
    calls = [ToolCall(*one) for one in texts]
    path.unlink(missing_ok=True)

    async def main() -> tuple[BatchResult, Result, Surroundings]:
        world = Surroundings(scripts)
        scope = world.scope if in_scope else None
        with JsonlSession(path) as session:
            batch = await world.runtime.run_batch(
                calls, scope=scope, session=session, signal=world.caller.signal
            )
        assert world.running == 0, "no body is left behind"
        single = await world.runtime.execute(ToolCall("s", "act"), scope=scope, signal=world.caller.signal)
        assert world.running == 0
        return batch, single, world

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch, single, world = anyio.run(main, backend=backend)
    assert len(batch.results) == len(calls)
    for result in (*batch.results, single):
        assert_well_formed(result)
        REACHED[f"code {code(result)}"] += 1
    verified = check_file(path)
    assert verified.verdict is Verdict.HOLDS, verified
    return world


@pytest.mark.clause("SCD-10")
@pytest.mark.parametrize("backend", BACKENDS)
@given(scripts=SCRIPTS, in_scope=st.booleans())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_call_has_one_result_and_the_log_holds(
    backend: str, scripts: dict[str, Any], in_scope: bool, tmp_path: Path
) -> None:
    play(backend, scripts, in_scope, tmp_path / "log")


LETS_RUN = {
    "guard": {"none"},
    "pre_execute": {"allow"},
    "approval": {"allowed-once", "true"},
}
"""What a policy has to answer for a body to run."""


@pytest.mark.clause("PRE-2", "APP-4", "GRD-4")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_each_kind_at_each_place(place: str, is_async: bool, tmp_path: Path) -> None:
    """Seen to fail: with guards whose malformed answers pass, bodies run."""
    kinds = [("answer", name) for name in ANSWERS] + [("raise", name) for name in ERRORS]
    for number, (what, name) in enumerate(kinds):
        script: Any = ([], (what, name), is_async)
        world = play(BACKENDS[number % 2], {place: script}, True, tmp_path / "log")
        if place in LETS_RUN:
            proper = what == "answer" and name in LETS_RUN[place] and not (place == "guard" and is_async)
            assert (world.bodies > 0) is proper, (what, name)


def test_all_of_it_was_reached() -> None:
    """Runs after the drawn examples, and says what they reached."""
    if not REACHED:
        pytest.skip("the examples were not drawn in this run")
    places = {place for place in PLACES if REACHED[place]}
    answers = {name for name in ANSWERS if REACHED[f"answer {name}"]}
    errors = {name for name in ERRORS if REACHED[f"raise {name}"]}
    codes = {name for name in REACHED if name.startswith("code ")}
    assert places == set(PLACES)
    assert answers == set(ANSWERS)
    assert errors == set(ERRORS)
    assert {
        "code OK",
        "code POLICY_ERROR",
        "code INVALID_TOOL_OUTPUT",
        "code DENIED",
        "code ABORTED",
    } <= codes
