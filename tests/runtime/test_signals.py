"""Abort signals and their fusion."""

from __future__ import annotations

import anyio
import pytest

from gnomon import AbortController, Aborted, fuse
from gnomon.signals import AbortCallbackWarning


@pytest.mark.clause("PY-11")
def test_the_first_reason_counts() -> None:
    controller = AbortController()
    reasons: list[object] = []
    controller.signal.on_abort(reasons.append)
    controller.abort("first")
    controller.abort("second")
    controller.signal.on_abort(reasons.append)
    assert reasons == ["first", "first"]
    with pytest.raises(Aborted, match="first"):
        controller.signal.raise_if_aborted()


@pytest.mark.clause("PY-11")
def test_a_callback_that_raises_is_a_warning() -> None:
    controller = AbortController()
    called: list[object] = []

    def fail(reason: object) -> None:
        raise ValueError("no")

    controller.signal.on_abort(fail)
    controller.signal.on_abort(called.append)
    with pytest.warns(AbortCallbackWarning, match="ValueError: no"):
        controller.abort("x")
    assert called == ["x"]


def test_a_registration_is_taken_back_once() -> None:
    controller = AbortController()
    called: list[object] = []
    with controller.signal.on_abort(called.append) as registration:
        pass
    registration()
    controller.abort()
    assert called == []


@pytest.mark.clause("DSP-2")
def test_fusion_passes_either_abort_on_and_leaves_nothing_behind() -> None:
    one, two = AbortController(), AbortController()
    with fuse(one.signal, two.signal) as fused:
        assert not fused.aborted
        two.abort("from two")
        assert fused.aborted
        assert fused.reason == "from two"
        assert not one.signal._callbacks
    with fuse(one.signal, AbortController().signal):
        assert len(one.signal._callbacks) == 1
    assert not one.signal._callbacks


@pytest.mark.clause("DSP-2")
def test_fusion_of_one_signal_makes_nothing() -> None:
    signal = AbortController().signal
    with fuse(signal, signal) as fused:
        assert fused is signal


@pytest.mark.clause("DSP-2")
def test_fusion_with_an_aborted_signal_is_aborted() -> None:
    one = AbortController()
    one.abort("before")
    with fuse(AbortController().signal, one.signal) as fused:
        assert fused.aborted
        assert fused.reason == "before"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_waiting_for_an_abort(backend: str) -> None:
    async def main() -> object:
        controller = AbortController()
        async with anyio.create_task_group() as group:
            group.start_soon(controller.signal.wait)
            await anyio.wait_all_tasks_blocked()
            controller.abort("now")
        await controller.signal.wait()
        return controller.signal.reason

    assert anyio.run(main, backend=backend) == "now"
