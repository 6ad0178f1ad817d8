"""Message formats of model APIs: announced calls in, result messages and tool lists out.

Each format is a module of pure functions over plain JSON, with the same three names in each:

- `announced_calls(message)`: the calls that a message of the model announces, in its order;
- `result_messages(calls, batch)`: the messages to append, one result for each call, in the same order
  (SCD-10), and after all of them the contexts of the batch (SCD-15);
- `tool_list(schemas)`: what `schemas()` of a scope or a runtime answers, as the API wants it (REG-6).

`mcp` makes tools of a server's list, and the other way round. No SDK is needed or imported: a message is
a dict of JSON, or a model object of the API's own SDK, or a dict that holds such objects.

All of them raise `MessageError` for a message that cannot be read, and for results that do not fit the
calls; it says where, and what to do. Nothing that a tool answers makes `result_messages` raise.
"""

from __future__ import annotations

from gnomon.providers import anthropic_messages, gemini_contents, mcp, openai_chat, openai_responses
from gnomon.providers.shared import MessageError

__all__ = [
    "MessageError",
    "anthropic_messages",
    "gemini_contents",
    "mcp",
    "openai_chat",
    "openai_responses",
]
