"""Message lists of the OpenAI chat API: `tool_calls` of an assistant message, messages of role `tool`.

Every result stands in a message of its own, directly after the assistant message and in any message that is
not a result the batch has ended. The form has no flag for errors: a result is a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon_check.explain import CameFirst, InputEnds
from gnomon_check.trace import shapes
from gnomon_check.trace.model import Assembler, Format, Reading, Unjudgeable
from gnomon_spec.vocabulary import SUCCESS, Announced

ROLES = ("system", "developer", "user", "assistant", "tool", "function")


def read_openai(messages: Sequence[object]) -> Reading:
    """Read a message list. Raises `Unjudgeable` where a message has not the form that is needed."""
    assembler = Assembler()
    for number, value in enumerate(messages, 1):
        place = f"message {number}"
        message = shapes.an_object(value, place)
        role = shapes.role_of(message, ROLES, place)
        if role == "tool":
            # Errors are not marked; no rule that can be judged here asks whether a result is one.
            assembler.result(shapes.text(message, "tool_call_id", place), SUCCESS, place)
            continue
        if role == "function" or message.get("function_call") is not None:
            raise Unjudgeable(f"{place}: calls in the old form (`function_call`) have no ids to judge by")
        assembler.close(place, CameFirst(_named(role)))
        calls = _calls(message, place)
        if calls and role != "assistant":
            raise Unjudgeable(f"{place}: `tool_calls` in a message of role {role}")
        if calls:
            assembler.open(place, calls, place)
    assembler.close("the end", InputEnds())
    return Reading(Format.OPENAI, assembler.batches)


def _named(role: str) -> str:
    return f"{'an' if role == 'assistant' else 'a'} {role} message"


def _calls(message: dict[str, Any], place: str) -> list[Announced]:
    if message.get("tool_calls") is None:
        return []
    calls: list[Announced] = []
    for index, value in enumerate(shapes.items(message, "tool_calls", place), 1):
        here = f"{place}, tool call {index}"
        one = shapes.an_object(value, here)
        # A call says what it calls under the name of its type: `function`, or `custom`.
        called = shapes.within(one, "custom" if one.get("type") == "custom" else "function", here)
        calls.append(Announced(shapes.text(one, "id", here), shapes.text(called, "name", here)))
    return calls
