"""An implementation in process, served over the protocol: the other side of `targets.remote`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import IO, Any

import anyio

from gnomon_check.driver import Drive
from gnomon_check.harness import Harness, Target
from gnomon_check.protocol import (
    REQUEST,
    CloseRequest,
    DoRequest,
    HelloRequest,
    Manifest,
    OpenRequest,
    Request,
)
from gnomon_check.scenario import ScenarioError
from gnomon_check.window import Window

MADE_BY_THE_KIT = ("batch.opened", "time.advanced")
"""What whoever asks knows without being told, of the batch itself."""


class _Wire:
    """The two ends of the conversation."""

    def __init__(self, requests: Iterable[str | bytes], answers: IO[str]) -> None:
        self._requests = iter(requests)
        self._answers = answers
        self.request: Request | None = None

    def next(self) -> Request | None:
        """The next request; nothing where there is none any more. Raises pydantic's `ValidationError`."""
        line = next(self._requests, None)
        self.request = None if line is None else REQUEST.validate_json(line)
        return self.request

    def answer(self, **fields: Any) -> None:
        """Answer the last request."""
        assert self.request is not None
        self._answers.write(json.dumps({"id": self.request.id, **fields}) + "\n")
        self._answers.flush()


def serve(
    target: Target, manifest: Manifest, backend: str, requests: Iterable[str | bytes], answers: IO[str]
) -> None:
    """Answer requests, one a line, until `bye` or their end.

    Raises pydantic's `ValidationError` for a request that is none.
    """
    wire = _Wire(requests, answers)
    request = wire.next()
    while request is not None:
        match request:
            case HelloRequest():
                wire.answer(hello=manifest.model_dump(exclude_none=True))
                request = wire.next()
            case OpenRequest(open=opened):
                reason = target.cannot(opened.scenario)
                if reason is not None:
                    wire.answer(cannot={"feature": "this scenario", "reason": reason})
                    request = wire.next()
                else:
                    request = anyio.run(_scenario, target, wire, backend=backend)
            case DoRequest() | CloseRequest():
                wire.answer(refused={"reason": "no scenario is open"})
                request = wire.next()
            case _:
                wire.answer(bye={})
                return


async def _scenario(target: Target, wire: _Wire) -> Request | None:
    """Go through the scenario that was opened; answers the request that comes after it."""
    assert isinstance(wire.request, OpenRequest)
    try:
        harness = Harness(wire.request.open.scenario, target)
    except ScenarioError as error:
        wire.answer(cannot={"feature": "this scenario", "reason": str(error)})
        return wire.next()
    async with anyio.create_task_group() as tasks:
        driven = Drive(harness, target, tasks)
        wire.answer(ready={})
        while isinstance(request := wire.next(), DoRequest):
            if driven.in_the_way(request.do.step):
                wire.answer(refused={"reason": "another batch is in the way"})
                continue
            driven.harness.values.append(request.do.value)
            wire.answer(quiet=_quiet(await driven.do(request.do.step)))
        window = await driven.close()
        if isinstance(request, CloseRequest):
            wire.answer(quiet=_quiet(window))
            request = wire.next()
    return request


def _quiet(window: Window) -> dict[str, Any]:
    blocked = [
        {name: value for name, value in asdict(one).items() if value is not None}
        for one in sorted(window.blocked, key=str)
    ]
    return {"events": list(_told(window)), "blocked": blocked, "idle": window.idle}


def _told(window: Window) -> Iterator[dict[str, Any]]:
    """The events of a window, without what whoever asks knows already."""
    for event in window.echoes:
        aborts = event["event"] == "signal.aborted" and event["signal"] == "caller"
        if event["event"] not in MADE_BY_THE_KIT and not aborts:
            yield event
    yield from window.events
