"""A composite tool: it calls other tools on behalf of its own call, and hands on what they leave.

A nested call carries nothing outward by itself. Its contexts, and its wish to end the turn, are the
composite's to hand on, or not.
"""

from __future__ import annotations

import anyio

from gnomon import Result, Runtime, Success, ToolCall, ToolContext, ToolError, tool

runtime = Runtime()


@tool(parallel=True)
async def search(word: str, context: ToolContext) -> list[str]:
    """Search for a word."""
    context.defer(f"the index of {word!r} is a day old")
    return [f"{word}-{number}" for number in range(2)]


@tool
async def submit(words: list[str], context: ToolContext) -> int:
    """Submit what was found; nothing is left to do after that."""
    context.conclude_turn()
    return len(words)


def hand_on(result: Result, context: ToolContext) -> Success:
    """Hand on what a nested call left, also where it failed; a failure becomes the composite's own."""
    for one in result.contexts:
        context.defer(one)
    if not result.ok:
        raise ToolError(result.error.message, code=result.error.code, name=result.error.name)
    if result.concludes_turn:
        context.conclude_turn()
    return result


@tool
async def search_and_submit(words: list[str], context: ToolContext) -> str:
    """Search for several words at once, then submit what was found."""
    searches = [ToolCall(f"{context.call_id}/{word}", "search", f'{{"word": "{word}"}}') for word in words]
    batch = await runtime.run_batch(
        searches,
        scope=context.scope,
        signal=context.signal,
        parent=context.token,
        root_call_id=context.root_call_id,
    )
    found: list[str] = []
    for result in batch.results:
        found += hand_on(result, context).value  # type: ignore[arg-type]
    text = ", ".join(f'"{one}"' for one in found)
    submitted = await runtime.execute(
        ToolCall(f"{context.call_id}/submit", "submit", f'{{"words": [{text}]}}'),
        scope=context.scope,
        signal=context.signal,
        parent=context.token,
        root_call_id=context.root_call_id,
    )
    return f"{hand_on(submitted, context).value} submitted"


async def main() -> None:
    for one in (search, submit, search_and_submit):
        runtime.register(one)
    batch = await runtime.run_batch([ToolCall("c1", "search_and_submit", '{"words": ["sun", "moon"]}')])
    result = batch.results[0]
    print(result.value if result.ok else result.error.message)
    print("the turn ends" if batch.concluded else "the turn goes on")
    for context in batch.contexts:
        print(context[0]["text"])


if __name__ == "__main__":
    anyio.run(main)
