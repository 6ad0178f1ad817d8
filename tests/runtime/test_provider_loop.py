"""The loop with a real client: its transport answers what a script says, all else is the SDK's."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from calls import both, on
from google import genai
from google.genai import types
from provider_calls import PICTURE, PIXEL, runtime, shows, verified

from gnomon import BatchResult, Runtime, ToolCall
from gnomon.providers import gemini_contents, openai_chat, openai_responses

EXAMPLE = Path(__file__).parents[2] / "examples" / "provider_loop.py"


class Script:
    """A transport that answers one line after the other, and keeps what it was sent."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self._answers = list(answers)
        self.requests: list[Any] = []
        self.transport = httpx2.MockTransport(self._answer)
        self.client = httpx2.AsyncClient(transport=self.transport)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        return httpx2.Response(200, json=self._answers[len(self.requests) - 1])


def example() -> Any:
    spec = importlib.util.spec_from_file_location("provider_loop", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(*blocks: dict[str, Any], stop: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


@both
def test_the_example_answers_each_call_of_the_model(backend: str, tmp_path: Path) -> None:
    loop = example()
    script = Script(
        said(
            {"type": "text", "text": "let me look"},
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Ghent"}},
            {"type": "tool_use", "id": "toolu_2", "name": "weather", "input": {"city": "Atlantis"}},
            stop="tool_use",
        ),
        said({"type": "text", "text": "rain in Ghent; no Atlantis"}, stop="end_turn"),
    )

    async def main() -> str:
        at = Runtime()
        at.register(loop.weather)
        async with anthropic.AsyncAnthropic(
            api_key="none", http_client=script.client, max_retries=0
        ) as client:
            answer: str = await loop.converse(client, at, "what is the weather?")
            return answer

    assert on(backend, main) == "rain in Ghent; no Atlantis"
    first, second = script.requests
    [offered] = first["tools"]
    assert offered.keys() == {"name", "description", "input_schema"}
    assert second["messages"][2] == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [{"type": "text", "text": "Ghent: rain"}],
            },
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": [{"type": "text", "text": "Error: there is no such city"}],
                "is_error": True,
            },
            {"type": "text", "text": "the station of Ghent reports hourly"},
        ],
    }
    assert verified(tmp_path, second["messages"]).calls == 2


@both
def test_the_chat_client_of_openai_takes_the_messages_and_sends_them(backend: str, tmp_path: Path) -> None:
    function = {"name": "echo", "arguments": json.dumps(shows({"type": "text", "text": "half \ud800"}))}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "finish_reason": "tool_calls", "logprobs": None, "message": message}
    script = Script(
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]},
        {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": []},
    )
    at = runtime()

    async def main() -> None:
        async with openai.AsyncOpenAI(api_key="none", http_client=script.client, max_retries=0) as client:
            tools: Any = openai_chat.tool_list(at.schemas())
            messages: list[Any] = [{"role": "user", "content": "go"}]
            answer = await client.chat.completions.create(model="m", messages=messages, tools=tools)
            messages.append(answer.choices[0].message)
            announced = openai_chat.announced_calls(answer)
            messages += openai_chat.result_messages(announced, await at.run_batch(announced))
            await client.chat.completions.create(model="m", messages=messages, tools=tools)

    on(backend, main)
    sent = script.requests[1]["messages"]
    assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "half \ufffd"}
    assert verified(tmp_path, sent).calls == 1


@both
def test_the_responses_client_of_openai_takes_the_items_and_sends_them(backend: str) -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "call_1", "name": "echo", "arguments": '{"x": 1}'}
    base = {"object": "response", "created_at": 0, "model": "m", "status": "completed", "tools": []}
    base |= {"parallel_tool_calls": True, "tool_choice": "auto"}
    script = Script({**base, "id": "r1", "output": [item]}, {**base, "id": "r2", "output": []})
    at = runtime()

    async def main() -> None:
        async with openai.AsyncOpenAI(api_key="none", http_client=script.client, max_retries=0) as client:
            tools: Any = openai_responses.tool_list(at.schemas())
            items: list[Any] = [{"role": "user", "content": "go"}]
            answer = await client.responses.create(model="m", input=items, tools=tools)
            items += answer.output
            announced = openai_responses.announced_calls(answer)
            items += openai_responses.result_messages(announced, await at.run_batch(announced))
            await client.responses.create(model="m", input=items, tools=tools)

    on(backend, main)
    sent = script.requests[1]["input"]
    assert [one.get("call_id") for one in sent] == [None, "call_1", "call_1"]
    assert sent[2] == {"type": "function_call_output", "call_id": "call_1", "output": '{"x":1}'}


@both
def test_the_client_of_gemini_takes_the_contents_and_sends_them(backend: str) -> None:
    call = {"functionCall": {"name": "echo", "args": shows(PICTURE)}, "thoughtSignature": "aGk="}
    script = Script(
        {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [call, call]}}]},
        {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "done"}]}}]},
    )
    at = runtime()
    with httpx2.Client(transport=script.transport) as http:
        client = genai.Client(api_key="none", http_options=types.HttpOptions(httpx_client=http))
        config = types.GenerateContentConfig.model_validate(
            {"tools": gemini_contents.tool_list(at.schemas())}
        )
        contents: list[Any] = [{"role": "user", "parts": [{"text": "go"}]}]
        for _ in range(2):
            answer = client.models.generate_content(model="m", contents=contents, config=config)
            assert answer.candidates
            contents.append(answer.candidates[0].content)
            announced = gemini_contents.announced_calls(answer)

            async def main(announced: list[ToolCall] = announced) -> BatchResult:
                return await at.run_batch(announced)

            contents += gemini_contents.result_messages(announced, on(backend, main))
        client.close()
    first, second = script.requests
    offered = first["tools"][0]["functionDeclarations"]
    assert [one["name"] for one in offered] == ["echo", "later"]
    answers = [part["functionResponse"] for part in second["contents"][2]["parts"]]
    assert [(one["name"], one["response"]) for one in answers] == [("echo", {"output": "[image 1]"})] * 2
    assert all("id" not in one for one in answers)
    assert PIXEL in json.dumps(answers[0]["parts"])


@pytest.mark.process
@pytest.mark.parametrize(
    ("before", "says"),
    [
        ("", "this example needs a key of the API in ANTHROPIC_API_KEY"),
        ("sys.modules['anthropic'] = None", "this example needs Anthropic's SDK: pip install anthropic"),
    ],
)
def test_the_example_says_what_it_lacks(before: str, says: str) -> None:
    program = f"import runpy, sys\n{before}\nrunpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", says)
