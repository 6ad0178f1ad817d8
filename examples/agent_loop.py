"""A complete small agent loop: a model announces calls, a runtime answers them, until a turn ends.

The model is scripted, so that this runs anywhere. A real one is a function from messages and tool
schemas to text and calls; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio

from gnomon import JSON, AbortController, MemorySession, Record, Runtime, Scope, ToolCall, ToolContext, tool

Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a model answers: text, and the calls that it announces."""

    text: str
    calls: list[ToolCall] = field(default_factory=list)


Model: TypeAlias = Callable[[list[Message], list[dict[str, JSON]]], Answer]


@dataclass
class Agent:
    """Holds the messages of one conversation, and its log."""

    runtime: Runtime
    scope: Scope
    model: Model
    messages: list[Message] = field(default_factory=list)
    session: MemorySession = field(default_factory=MemorySession)
    turns: int = 0

    async def turn(self, text: str, stop: AbortController, max_steps: int = 10) -> str:
        """Answer one message of the user. Every call that the model announced has its result by then."""
        turn, self.turns = self.turns, self.turns + 1
        self.session.append(Record("turn/start", {"turn": turn}))
        self.messages.append({"role": "user", "content": text})
        reason, said = "completed", ""
        for step in range(max_steps):
            self.session.append(Record("step/start", {"turn": turn, "step": step}))
            answer = self.model(self.messages, self.scope.schemas())
            self.messages.append({"role": "assistant", "content": answer.text, "calls": answer.calls})
            said = answer.text
            goes_on = await self._run(answer.calls, stop)
            self.session.append(Record("step/end", {"turn": turn, "step": step}))
            if stop.signal.aborted:
                reason = "aborted"
            if not goes_on or stop.signal.aborted:
                break
        self.session.append(Record("turn/end", {"turn": turn, "reason": reason}))
        return said

    async def _run(self, calls: list[ToolCall], stop: AbortController) -> bool:
        """Run a batch, and put its results, then its contexts, before the model."""
        batch = await self.runtime.run_batch(
            calls, scope=self.scope, session=self.session, signal=stop.signal
        )
        for call, result in zip(calls, batch.results, strict=True):
            self.messages.append(
                {"role": "tool", "call": call.id, "content": result.content, "error": not result.ok}
            )
        for context in batch.contexts:
            self.messages.append({"role": "user", "content": context})
        return bool(calls) and not batch.concluded


@tool(parallel=True)
async def weather(city: str, context: ToolContext) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("there is no such city")
    context.defer(f"the station of {city} reports hourly")
    return f"{city}: rain"


def scripted(messages: list[Message], tools: list[dict[str, JSON]]) -> Answer:
    """A model that asks for two cities, and then says what it heard."""
    heard = [message for message in messages if message["role"] == "tool"]
    if not heard:
        calls = [
            ToolCall("c1", "weather", '{"city": "Ghent"}'),
            ToolCall("c2", "weather", '{"city": "Atlantis"}'),
        ]
        return Answer("let me look", calls)
    return Answer("; ".join(message["content"][0]["text"] for message in heard))


async def main() -> None:
    runtime = Runtime()
    runtime.register(weather)
    agent = Agent(runtime, runtime.scope("agent"), scripted)
    print(await agent.turn("what is the weather?", AbortController()))
    for record in agent.session.records():
        print(record.seq, record.type)


if __name__ == "__main__":
    anyio.run(main)
