"""Writes the two session logs of `docs/samples`, with the runtime itself.

    python tests/conformance/make_session_samples.py

Nothing in them depends on time or chance: the same bytes come out each time.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import anyio

from gnomon import AbortController, JsonlSession, Runtime, ToolCall, ToolError, tool

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"


@tool(parallel=True)
async def read_file(path: str) -> str:
    """Read a file."""
    return {"notes.md": "ship on Friday", "version.txt": "2.4.0"}[path]


@tool(parallel=True)
async def search(text: str) -> str:
    """Search all files for a text."""
    raise ToolError(f"nothing found for {text!r}", code="NOTHING_FOUND")


@tool
async def deploy(target: str) -> str:
    """Deploy to a target."""
    return f"deployed to {target}"


READ = [
    ToolCall("call_notes", "read_file", '{"path": "notes.md"}'),
    ToolCall("call_version", "read_file", '{"path": "version.txt"}'),
    ToolCall("call_search", "search", '{"text": "freeze"}'),
]
SHIP = [
    ToolCall("call_tests", "run_tests", "{}"),
    ToolCall("call_deploy", "deploy", '{"target": "staging"}'),
    ToolCall("call_notify", "deploy", '{"target": "production"}'),
]


def write_good(path: Path) -> None:
    """A turn that ran through, and one that its user aborted while the tests were running."""

    async def main() -> None:
        controller = AbortController()

        @tool
        async def run_tests() -> str:
            """Run all tests."""
            controller.abort("stopped by the user")
            await anyio.sleep_forever()
            return "never reached"

        runtime = Runtime()
        for one in (read_file, search, run_tests, deploy):
            runtime.register(one)
        with JsonlSession(path) as session:
            await runtime.run_batch(READ, session=session)
            await runtime.run_batch(SHIP, session=session, signal=controller.signal)

    anyio.run(main)


def write_torn(path: Path) -> None:
    """The process is killed while a record is being written: its last line is torn, two calls stay open."""

    async def main() -> None:
        runtime = Runtime()
        for one in (read_file, search):
            runtime.register(one)
        with JsonlSession(path) as session:
            await runtime.run_batch(READ, session=session)

    anyio.run(main)
    content = path.read_bytes()
    second = content.index(b'"type":"tool/result"', content.index(b'"type":"tool/result"') + 1)
    path.write_bytes(content[: second + 60])


GENERATED = {"session-good.jsonl": write_good, "session-torn-and-unanswered.jsonl": write_torn}
"""File -> what writes it."""


def regenerate(name: str) -> bytes:
    """The bytes that the sample `name` must have."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        GENERATED[name](path)
        return path.read_bytes()


if __name__ == "__main__":
    for each in GENERATED:
        (SAMPLES / each).write_bytes(regenerate(each))
