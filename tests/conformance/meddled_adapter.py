"""`python meddled_adapter.py FAULT`: an adapter of the built-in runtime that gets one thing wrong."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from gnomon_check.profiles import PROFILES
from gnomon_check.protocol import Manifest
from gnomon_check.serve import serve
from gnomon_check.targets.builtin import Builtin

Message = dict[str, Any]


def hangs(answer: Message) -> Message:
    if "quiet" in answer:
        threading.Event().wait()
    return answer


def dies(answer: Message) -> Message:
    if "quiet" in answer:
        sys.stderr.write("out of memory\n")
        sys.stderr.flush()
        os._exit(3)  # at once: its runtime would wait for the body
    return answer


def answers_another_question(answer: Message) -> Message:
    return {**answer, "id": answer["id"] + 1} if "quiet" in answer else answer


def answers_in_another_kind(answer: Message) -> Message:
    return {"id": answer["id"], "ready": {}} if "quiet" in answer else answer


def misspells(answer: Message) -> Message:
    if "quiet" in answer:
        answer["quiet"]["idel"] = answer["quiet"].pop("idle")
    return answer


def speaks_another_protocol(answer: Message) -> Message:
    if "hello" in answer:
        answer["hello"]["protocol"] = "2.0"
    return answer


def claims_what_there_is_not(answer: Message) -> Message:
    if "hello" in answer:
        answer["hello"]["profiles"].append("TELEPATHY")
    return answer


def claims_nothing(answer: Message) -> Message:
    if "hello" in answer:
        answer["hello"]["profiles"] = []
    return answer


def cannot(answer: Message) -> Message:
    if "ready" in answer:
        why = {"feature": "tools", "reason": "there are none", "link": "https://example.org/why"}
        return {"id": answer["id"], "cannot": why}
    return answer


def refuses(answer: Message) -> Message:
    return {"id": answer["id"], "refused": {"reason": "not today"}} if "quiet" in answer else answer


def _events(change: Callable[[list[Message]], list[Message]]) -> Callable[[Message], Message]:
    def meddle(answer: Message) -> Message:
        if "quiet" in answer:
            answer["quiet"]["events"] = change(answer["quiet"]["events"])
        return answer

    return meddle


def _each(name: str, **fields: Any) -> Callable[[Message], Message]:
    return _events(lambda events: [{**one, **fields} if one["event"] == name else one for one in events])


def _without(name: str) -> Callable[[Message], Message]:
    return _events(lambda events: [one for one in events if one["event"] != name])


def hides_what_waits(answer: Message) -> Message:
    if "quiet" in answer:
        answer["quiet"]["blocked"] = []
    return answer


def is_never_idle(answer: Message) -> Message:
    if "quiet" in answer:
        answer["quiet"]["idle"] = False
    return answer


FAULTS: dict[str, Callable[[Message], Message]] = {
    "nothing": lambda answer: answer,
    "hangs": hangs,
    "dies": dies,
    "answers another question": answers_another_question,
    "answers in another kind": answers_in_another_kind,
    "misspells a field": misspells,
    "speaks another protocol": speaks_another_protocol,
    "claims what there is not": claims_what_there_is_not,
    "claims nothing": claims_nothing,
    "cannot": cannot,
    "refuses": refuses,
    "makes up a word": _each("body.settled", how="finished"),
    "makes up a field": _each("result.logged", outcome={"ok": "certainly"}),
    "makes up a result": _each("result.logged", outcome={"ok": True, "nonce": "f3a9-0"}),
    "shows another text": _each("result.logged", content_digest="0" * 16),
    "vouches for itself": _each("body.started", origin="implementation"),
    "answers in finishing order": _events(lambda events: events[::-1]),
    "forgets a result": _without("result.logged"),
    "forgets to log a call": _without("call.logged"),
    "gives one code for all": _each("result.logged", outcome={"ok": False, "code": "ERROR"}),
    "never closes a batch": _without("batch.closed"),
    "hides what waits": hides_what_waits,
    "is never idle": is_never_idle,
}


class Meddled(io.StringIO):
    """What is written, line by line, with one fault in it."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self._fault = fault

    def write(self, text: str) -> int:
        answer = json.loads(text)
        if "quiet" in answer:
            match self._fault:
                case "says no JSON":
                    return self._say("quiet, at last")
                case "speaks unasked":
                    self._say("{}")
                case "floods":
                    while True:
                        self._say("{}")
        return self._say(json.dumps(FAULTS.get(self._fault, FAULTS["nothing"])(answer)))

    def _say(self, line: str) -> int:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
        return len(line)


if __name__ == "__main__":
    manifest = Manifest(
        name="meddled", version="0", language="Python", profiles=list(PROFILES), protocol="1.0", spec="1.0"
    )
    serve(Builtin(), manifest, "asyncio", sys.stdin.buffer, Meddled(sys.argv[1]))
