"""The stages of listeners of the built-in runtime: its own decisions and results, and nonsense as it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import gnomon
from gnomon import AbortController
from gnomon.content import text_content
from gnomon_check import decisions
from gnomon_check.driven import Cause
from gnomon_check.harness import Harness
from gnomon_check.playing import Row, Started
from gnomon_check.scenario import ScenarioHook
from gnomon_check.scripted_errors import exception_at_once
from gnomon_check.scripts import ANSWERS_NOTHING, EndRaised, Tell, sync_effects
from gnomon_check.stages import Stage
from gnomon_check.world import value_of
from gnomon_spec import vocabulary

_WORDS: dict[type, str] = {
    gnomon.Allow: "allow",
    gnomon.Deny: "deny",
    gnomon.Cancel: "cancel",
    gnomon.Ask: "ask",
    gnomon.Accept: "accept",
    gnomon.Block: "block",
}


@dataclass(slots=True)
class _ListenerStage(Stage):
    _: KW_ONLY
    execution: Any
    following: Callable[[], Awaitable[object]]
    heard: object = None
    """The result that it is told of: the last answer of a wrapper's `next()`."""
    _first: Any = field(default=None)

    async def next(self) -> object:
        """Delegate."""
        return await self.following()

    async def start_next(self) -> Started:
        """Delegate, and go on once the rest of the row has begun."""
        return await self.harness.start(self.following)

    def keep_next(self, name: str, row: Row) -> None:
        """Keep `next` for later."""
        self.harness.keep(name, row, self.following)

    def things(self) -> dict[str, object]:
        """What it is told of the call; its result, where there is one."""
        execution = self.execution
        return {"arguments": execution.arguments, "execution": execution, "result": self.heard}

    def put_nonsense(self, value: object) -> None:
        """Put what is no signal in place."""
        self.execution.signal = value

    def defer(self, context: str) -> bool:
        """Use what the last body of the call was given: there is nothing else that takes contexts."""
        left = self.harness.left_by_a_body(self.pos)
        if left is None:
            raise AttributeError("an execution takes no contexts")
        left.defer(context)
        return True

    def word(self, answer: object) -> str:
        """The word for an answer: of a decision its kind, of a result its code."""
        if isinstance(answer, gnomon.Success):
            return "OK"
        if isinstance(answer, gnomon.Failure):
            return str(answer.error.code)
        return _WORDS.get(type(answer), "malformed")

    def decision(self, decision: Any, contexts: tuple[str, ...]) -> object:
        """Nothing that this waterfall knows."""
        return decision

    def result(self, result: Any, contexts: tuple[str, ...]) -> object:
        """Nothing that this waterfall knows."""
        return result

    def borrowed(self, pos: int) -> object:
        """Nothing: only a wrapper ends with a result."""
        return None

    def default(self) -> object:
        """Nothing: a wrapper that has not delegated has no result to pass on."""
        return None

    def put_signal(self, name: str, aborted: bool) -> None:
        """Put a signal of its own in place."""
        controller = AbortController()
        first = self.execution.signal
        self.execution.signal = controller.signal  # whoever is no wrapper is refused here (CRE-5)
        self._first = first if self._first is None else self._first
        self.harness.own_signals.pop(name, None)
        if aborted:
            controller.abort(Cause(name, None))
        else:
            self.harness.makes_signal(name, controller.abort)

    def put_back_signal(self) -> None:
        """Put the first signal back."""
        if self._first is not None:
            self.execution.signal = self._first


class PreStage(_ListenerStage):
    """A listener of pre-execute."""

    __slots__ = ()

    def decision(self, decision: Any, contexts: tuple[str, ...]) -> object:
        """The decision, if it is one."""
        match decisions.pre_decision(decision):
            case vocabulary.Allow():
                return gnomon.Allow()
            case vocabulary.Deny(code):
                return gnomon.Deny(decision["reason"], code)
            case vocabulary.Cancel():
                return gnomon.Cancel()
            case vocabulary.Ask():
                return gnomon.Ask(decision.get("reason"))
            case _:
                return decision

    def default(self) -> object:
        """No objection."""
        return gnomon.Allow()


class PostStage(_ListenerStage):
    """A listener of post-execute."""

    __slots__ = ()

    def decision(self, decision: Any, contexts: tuple[str, ...]) -> object:
        """The decision, if it is one."""
        shown = tuple(text_content(one) for one in contexts)
        match decisions.post_decision(decision, contexts, lambda _: True):
            case vocabulary.Accept():
                given: dict[str, Any] = {}
                if "content" in decision:
                    given["content"] = decision["content"]
                if "value" in decision:
                    given["value"] = value_of(decision["value"], self.pos)
                return gnomon.Accept(**given, contexts=shown)
            case vocabulary.Block():
                return gnomon.Block(decision["feedback"], shown)
            case _:
                return decision

    def default(self) -> object:
        """The result stands."""
        return gnomon.Accept()


class WrapperStage(_ListenerStage):
    """A wrapper."""

    __slots__ = ()

    def hears(self, answer: object) -> None:
        """Keep what comes back: nobody may change it, and another call may try to end with it."""
        self.heard = self.harness.heard[self.pos] = answer

    def borrowed(self, pos: int) -> object:
        """What a wrapper of that call has heard last."""
        return self.harness.heard.get(pos)

    def result(self, result: Any, contexts: tuple[str, ...]) -> object:
        """A result of its own, if it is one."""
        shown = tuple(text_content(one) for one in contexts)
        match decisions.authored(result, contexts, lambda _: True):
            case vocabulary.AuthoredSuccess():
                value = value_of(result["value"], self.pos)
                return gnomon.Success(value, text_content("written by a wrapper"), contexts=shown)
            case vocabulary.AuthoredFailure(code):
                error = gnomon.ErrorInfo("it failed", code or "", "ScriptedError")
                return gnomon.Failure(error, text_content("Error: it failed"), contexts=shown)
            case _:
                return result


@dataclass(slots=True)
class AnswererStage(Stage):
    """An approver: its signal never aborts, as it is cancelled when its request is withdrawn."""

    _: KW_ONLY
    following: Callable[[], Awaitable[object]]

    async def next(self) -> object:
        """Ask the next one."""
        return await self.following()


def hears_of_changes(hook: ScenarioHook, harness: Harness) -> Callable[[Any], None]:
    """Who hears that a tool has come, or a restriction, by the script of a scenario."""

    def hear(change: Any) -> None:
        comes = change.what in ("registered", "restricted")
        if not comes or not hook.match.fits(change.tool or "", 0):
            return
        effects, end = sync_effects(hook.script, 0, ANSWERS_NOTHING)
        for effect in effects:
            if isinstance(effect, Tell):
                harness.emit("noted", text=effect.text)
        if isinstance(end, EndRaised):
            raise exception_at_once(end.what)

    return hear
