"""The same work by others, where they are installed: ten more calls of a trivial tool in one turn.

Each is driven through what its users call, with a scripted model in place of a real one. What a turn costs
whatever its calls is taken away: a turn of eleven calls, less a turn of one.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import metadata
from typing import Any, TypeAlias

import anyio

from benchmarks import cases
from benchmarks.cases import Package
from benchmarks.measure import Case, Effort, Times, less, ratio, take_turns
from benchmarks.table import F10, Row

Turn: TypeAlias = Callable[[int], Awaitable[int]]
"""Runs a turn of so many calls, and answers how many were answered."""


def rows(gnomon: Package, quick: bool) -> list[Row]:
    """A row for each peer, beside the runtime's own."""
    effort = Effort(1, 0) if quick else Effort(25, 0.01)
    found = [_row("gnomon", anyio.run(take_turns, _pair(_gnomon(gnomon)), effort))]
    for distribution, make in PEERS.items():
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            found.append(Row("peers", f"ten more calls, {distribution}", F10, None, why="not installed"))
        else:
            times = anyio.run(take_turns, _pair(make()), effort)
            found.append(_row(f"{distribution} {version}", times))
    return found


def _row(name: str, times: Times) -> Row:
    more = less(times["eleven"], times["one"])
    return Row("peers", f"ten more calls, {name}", F10, ratio(more, times[F10]))


def _pair(turn: Turn) -> dict[str, Case]:
    async def run(size: int, times: int) -> None:
        for _ in range(times):
            answered = await turn(size)
            assert answered == size, f"{answered} of {size} calls were answered"

    return {F10: cases.ten_tasks, "one": partial(run, 1), "eleven": partial(run, 11)}


def _gnomon(gnomon: Package) -> Turn:
    made = cases.runtime(gnomon, pool=11)

    async def turn(size: int) -> int:
        return len((await made.run_batch(cases.calls(gnomon, size), session=gnomon.MemorySession())).results)

    return turn


def _pydantic_ai() -> Turn:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    async def act(s: str) -> str:
        return s

    def model_of(size: int) -> Any:
        def answer(messages: list[Any], info: Any) -> Any:
            if len(messages) > 1:
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart("act", '{"s": "a"}', f"c{n}") for n in range(size)])

        return FunctionModel(answer)

    agent = Agent(tools=[act])

    async def turn(size: int) -> int:
        done = await agent.run("go", model=model_of(size))
        return sum(isinstance(part, ToolReturnPart) for one in done.all_messages() for part in one.parts)

    return turn


def _openai_agents() -> Turn:
    import agents
    from agents.testing import ScriptedModel, assistant_message, function_call

    agents.set_tracing_disabled(True)

    @agents.function_tool
    async def act(s: str) -> str:
        """Answer."""
        return s

    async def turn(size: int) -> int:
        announced = [function_call("act", '{"s": "a"}', call_id=f"c{n}") for n in range(size)]
        agent = agents.Agent(
            name="a", tools=[act], model=ScriptedModel([announced, [assistant_message("done")]])
        )
        done = await agents.Runner.run(agent, "go")
        return sum(one.get("type") == "function_call_output" for one in done.to_input_list())

    return turn


def _langgraph() -> Turn:
    from langchain_core.messages import AIMessage
    from langchain_core.tools import tool
    from langgraph.graph import END, START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    @tool
    async def act(s: str) -> str:
        """Answer."""
        return s

    graph: Any = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([act]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    app = graph.compile()

    async def turn(size: int) -> int:
        announced = [{"name": "act", "args": {"s": "a"}, "id": f"c{n}"} for n in range(size)]
        done = await app.ainvoke({"messages": [AIMessage("", tool_calls=announced)]})
        return len(done["messages"]) - 1

    return turn


def _haystack() -> Turn:
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    from haystack import component
    from haystack.components.agents import Agent
    from haystack.dataclasses import ChatMessage, ToolCall
    from haystack.tools import tool

    @tool
    async def act(s: str) -> str:
        """Answer."""
        return s

    @component
    class Scripted:
        size = 0

        @component.output_types(replies=list[ChatMessage])
        def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
            if len(messages) > 1:
                return {"replies": [ChatMessage.from_assistant("done")]}
            announced = [ToolCall("act", {"s": "a"}, id=f"c{n}") for n in range(self.size)]
            return {"replies": [ChatMessage.from_assistant(tool_calls=announced)]}

        @component.output_types(replies=list[ChatMessage])
        async def run_async(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
            return self.run(messages, tools)

    model = Scripted()
    agent = Agent(chat_generator=model, tools=[act], tool_concurrency_limit=11)

    async def turn(size: int) -> int:
        model.size = size
        done = await agent.run_async([ChatMessage.from_user("go")])
        return sum(len(one.tool_call_results) for one in done["messages"])

    return turn


def _agent_framework() -> Turn:
    import agent_framework as framework

    @framework.tool
    async def act(s: str) -> str:
        """Answer."""
        return s

    class Scripted(framework.FunctionInvocationLayer, framework.BaseChatClient):
        size = 0

        async def _inner_get_response(self, *, messages: Any, **more: Any) -> Any:
            if len(messages) > 1:
                said = framework.Message(role="assistant", contents=["done"])
            else:
                announced = [
                    framework.Content.from_function_call(f"c{n}", "act", arguments='{"s": "a"}')
                    for n in range(self.size)
                ]
                said = framework.Message(role="assistant", contents=announced)
            return framework.ChatResponse(messages=[said])

    model = Scripted()

    async def turn(size: int) -> int:
        model.size = size
        done = await model.get_response(
            [framework.Message(role="user", contents=["go"])], options={"tools": [act]}
        )
        return sum(part.type == "function_result" for one in done.messages for part in one.contents)

    return turn


PEERS: dict[str, Callable[[], Turn]] = {
    "pydantic-ai-slim": _pydantic_ai,
    "langgraph": _langgraph,
    "openai-agents": _openai_agents,
    "haystack-ai": _haystack,
    "agent-framework-core": _agent_framework,
}
"""How the turns of each are made, by the name of its distribution."""
