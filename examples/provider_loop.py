"""The loop of agent_loop.py with a real model: Anthropic's messages API, through its own SDK.

It needs `pip install anthropic`, and a key in ANTHROPIC_API_KEY; ANTHROPIC_MODEL names another model.
For another API, take its client and its module of `gnomon.providers`: the names in it are the same.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import anyio

from gnomon import Runtime, ToolContext, tool
from gnomon.providers import anthropic_messages

MODEL = "claude-sonnet-5"


@tool(parallel=True)
async def weather(city: str, context: ToolContext) -> str:
    """The weather of a city."""
    if city == "Atlantis":
        raise LookupError("there is no such city")
    context.defer(f"the station of {city} reports hourly")
    return f"{city}: rain"


async def converse(client: Any, runtime: Runtime, question: str, max_steps: int = 10) -> str:
    """Ask, and answer every call that the model announces, until it announces none."""
    messages: list[Any] = [{"role": "user", "content": question}]
    said = ""
    for _ in range(max_steps):
        answer = await client.messages.create(
            model=os.environ.get("ANTHROPIC_MODEL", MODEL),
            max_tokens=4096,
            tools=anthropic_messages.tool_list(runtime.schemas()),
            messages=messages,
        )
        said = "".join(block.text for block in answer.content if block.type == "text")
        messages.append({"role": "assistant", "content": answer.content})
        calls = anthropic_messages.announced_calls(answer)
        batch = await runtime.run_batch(calls)
        messages += anthropic_messages.result_messages(calls, batch)
        if not calls or batch.concluded:
            break
    return said


async def main(question: str) -> int:
    try:
        from anthropic import AsyncAnthropic
    except ImportError:
        print("this example needs Anthropic's SDK: pip install anthropic", file=sys.stderr)
        return 2
    if not os.environ.get("ANTHROPIC_API_KEY"):
        print("this example needs a key of the API in ANTHROPIC_API_KEY", file=sys.stderr)
        return 2
    runtime = Runtime()
    runtime.register(weather)
    async with AsyncAnthropic() as client:
        print(await converse(client, runtime, question))
    return 0


if __name__ == "__main__":
    asked = " ".join(sys.argv[1:]) or "What is the weather in Ghent and in Atlantis?"
    raise SystemExit(anyio.run(main, asked))
