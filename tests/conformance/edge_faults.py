"""Faults of the runtime, each with the edge outcome that catches it."""

from __future__ import annotations

from patched import Edit

RENDER_FIRST: tuple[Edit, ...] = (
    (
        "        try:\n            result = success_of(",
        "        early = signal.aborted\n        try:\n            result = success_of(",
    ),
    (
        "        if signal.aborted:\n            return aborted()  # DSP-9",
        "        if early:\n            return aborted()  # DSP-9",
    ),
)

FAULTS: dict[str, tuple[str, tuple[Edit, ...], str]] = {
    "ask-aborted": (
        "approval",
        (('if outcome == "cancelled" and call.aborted:', "if outcome == None:"),),
        "CAN-5",
    ),
    "allowed-aborted-denied": (
        "pipeline",
        (
            (
                "        for guard in self._registry.guards(call.caller.layer):  # GRD-1, GRD-6\n",
                (
                    "        for guard in self._registry.guards(call.caller.layer):\n"
                    "            if call.aborted:\n                break\n"
                ),
            ),
        ),
        "GRD-1",
    ),
    "allowed-aborted-around": (
        "pipeline",
        (
            (
                "return PostResult(aborted_before_dispatch())  # GRD-5",
                "pass",
            ),
        ),
        "GRD-5",
    ),
    "never-aborted": (
        "approval",
        (('            return "cancelled"  # APP-7: looked at first\n', "            pass\n"),),
        "APP-2",
    ),
    "abort-before-body": (
        "pipeline",
        (
            (
                "            return aborted() if call.body_invoked else aborted_before_dispatch()  # DSP-3",
                "            return aborted()",
            ),
        ),
        "CAN-2",
    ),
    "retry": (
        "pipeline",
        (
            (
                "contexts=(*call.deferred, *result.contexts))  # DSP-11",
                "contexts=(*call.deferred[-1:], *result.contexts))",
            ),
        ),
        "DSP-11",
    ),
    "retry-after-abort": (
        "pipeline",
        (
            (
                "            return aborted() if call.body_invoked else aborted_before_dispatch()  # DSP-3",
                "            return aborted_before_dispatch()",
            ),
        ),
        "CAN-2",
    ),
    "wrapper-success-aborted": (
        "pipeline",
        (
            ("            result = cancelled(result, call.body_invoked)  # DSP-12", "            pass"),
            ("            judged = cancelled(judged, call.body_invoked)  # PST-8", "            pass"),
        ),
        "CAN-5",
    ),
    "wrapper-success-unfit": (
        "pipeline",
        (
            (
                "            return FinalResult(failure_of(error, Code.POLICY_ERROR))  # DSP-13",
                "            return PostResult(failure_of(error, Code.POLICY_ERROR))",
            ),
        ),
        "FIN-3",
    ),
    "wrapper-raises": (
        "pipeline",
        (
            (
                "            return FinalResult(failure_of(error, Code.POLICY_ERROR))  # DSP-13",
                "            return PostResult(failure_of(error, Code.POLICY_ERROR))",
            ),
        ),
        "FIN-2",
    ),
    "own-signal": (
        "pipeline",
        (("            return aborted()  # DSP-9", "            pass"),),
        "CAN-6",
    ),
    "own-signal-caller-aborts": (
        "pipeline",
        (
            (
                "with fuse(call.caller.signal, signal) as fused:  # DSP-2, CAN-3",
                "with fuse(signal) as fused:",
            ),
        ),
        "SCD-11",
    ),
    "own-signal-of-another": (
        "pipeline",
        (
            (
                "with fuse(call.caller.signal, signal) as fused:  # DSP-2, CAN-3",
                "with fuse(call.caller.signal) as fused:",
            ),
        ),
        "SCD-11",
    ),
    "signal-left-behind": (
        "pipeline",
        (
            ("            call.signal = call.caller.signal  # CRE-5", "            pass"),
            (
                "[_with(hook.function, call.view, result) for hook in hooks]",
                "[_with(hook.function, DispatchExecution(call), result) for hook in hooks]",
            ),
        ),
        "CRE-5",
    ),
    "pool-of-two": (
        "scheduler",
        (("        if len(self._in_flight) >= self._max_parallel:\n", "        if position > 10:\n"),),
        "SCD-4",
    ),
    "abort-in-a-full-pool": (
        "scheduler",
        (("if position == self._size or self._signal.aborted:", "if position == self._size:"),),
        "SCD-8",
    ),
    "truthy-classifier": (
        "pipeline",
        (("        return answer is True\n", "        return bool(answer)\n"),),
        "SCD-5",
    ),
    "unfit-output": (
        "pipeline",
        (
            (
                "            return invalid_output(unfit.violations)\n",
                "            return failure_of(unfit)\n",
            ),
        ),
        "OUT-1",
    ),
    "unfit-while-aborted": (
        "pipeline",
        (
            (
                "            return invalid_output(unfit.violations)\n",
                "            return aborted() if signal.aborted else invalid_output(unfit.violations)\n",
            ),
        ),
        "CAN-7",
    ),
    "own-signal-from-render": ("pipeline", RENDER_FIRST, "CAN-6"),
    "abort-from-finalizer": (
        "pipeline",
        (
            (
                "        final = finalized(call, frozen)  # FIN-2\n",
                (
                    "        final = finalized(call, frozen)\n"
                    "        if call.aborted:\n            final = cancelled(final, call.body_invoked)\n"
                ),
            ),
        ),
        "CAN-1",
    ),
    "timeout-succeeds": (
        "timeout",
        (("return self._timed_out() if self._fired else result", "return result"),),
        "TMO-2",
    ),
    "timeout-raises": (
        "timeout",
        (("return self._timed_out() if self._fired else result", "return result"),),
        "TMO-2",
    ),
    "timeout-then-abort": (
        "timeout",
        (
            (
                "return self._timed_out() if self._fired else result",
                (
                    "caller = self._execution._call.caller.signal\n"
                    "        return self._timed_out() if self._fired and not caller.aborted else result"
                ),
            ),
        ),
        "TMO-2",
    ),
    "abort-then-timeout": (
        "timeout",
        (
            (
                "        if not self._found.aborted and not caller.aborted:\n",
                "        if caller is not None:\n",
            ),
        ),
        "TMO-2",
    ),
    "timeout-retry-outside": (
        "timeout",
        (
            (
                "        self._fired = False\n",
                "        self._fired = hasattr(clock, 'used')\n        clock.used = True\n",
            ),
        ),
        "TMO-2",
    ),
    "timeout-retry-inside": (
        "timeout",
        (
            (
                "                        result = await following()\n",
                (
                    "                        result = await following()\n"
                    "                        self._fired = False\n"
                ),
            ),
        ),
        "TMO-2",
    ),
    "abort-before-commit-accept": (
        "pipeline",
        (("            judged = cancelled(judged, call.body_invoked)  # PST-8", "            pass"),),
        "CAN-6",
    ),
    "abort-before-commit-block": (
        "pipeline",
        (
            (
                "            judged = cancelled(judged, call.body_invoked)  # PST-8",
                "            judged = aborted()",
            ),
        ),
        "CAN-7",
    ),
    "cancelled-replaces-value": (
        "pipeline",
        (
            (
                'raise PolicyError("a failed result takes no value (PST-3)")',
                "return kept",
            ),
        ),
        "CAN-7",
    ),
    "value-tool-gone": (
        "pipeline",
        (
            (
                "            return failure_of(error, Code.POLICY_ERROR)  # PST-3, PST-7",
                "            return result",
            ),
        ),
        "DSP-4",
    ),
    "value-after-conclude": (
        "pipeline",
        (("concludes_turn=result.concludes_turn)  # PST-4", "concludes_turn=False)"),),
        "SCD-12",
    ),
    "unusable-and-aborted": (
        "pipeline",
        (
            (
                "        if call.unusable is not None:\n            return FinalResult(invalid",
                (
                    "        if call.unusable is not None and not call.aborted:\n"
                    "            return FinalResult(invalid"
                ),
            ),
        ),
        "FIN-3",
    ),
    "collapsed": ("pipeline", (("        if collapsed:\n", "        if call is None:\n"),), "FIN-3"),
    "collapsed-aborted": (
        "pipeline",
        (
            (
                "registered is not None and (call.aborted or not collapsed)",
                "registered is not None and not collapsed",
            ),
        ),
        "FIN-2",
    ),
    "mode-flips": (
        "pipeline",
        (
            (
                "        if registered is None or self._collapsed(call):\n            return unknown_tool",
                "        if registered is None:\n            return unknown_tool",
            ),
        ),
        "DSP-4",
    ),
    "denied-without-reason": (
        "pipeline",
        (
            (
                "            return FinalResult(failure_of(error, Code.POLICY_ERROR))  # PRE-2, PRE-5, PY-4",
                "            return ToDispatch()",
            ),
        ),
        "GRD-1",
    ),
    "cancelled-by-listener": (
        "pipeline",
        (("                return aborted_before_dispatch()  # PRE-4", "                return None"),),
        "PRE-4",
    ),
    "guard-without-words": (
        "pipeline",
        (
            (
                "reason: object = guard.function(call.view)",
                "reason: object = guard.function(call.view) or None",
            ),
        ),
        "GRD-2",
    ),
    "guard-answers-nonsense": (
        "pipeline",
        (
            (
                'return FinalResult(failure(Code.POLICY_ERROR, message, "PolicyError"))  # GRD-4',
                'return PostResult(failure(Code.POLICY_ERROR, message, "PolicyError"))',
            ),
        ),
        "PRE-1",
    ),
    "unknown-post-decision": (
        "pipeline",
        (
            (
                "            return failure_of(error, Code.POLICY_ERROR)  # PST-3, PST-7",
                "            return result",
            ),
        ),
        "PST-3",
    ),
    "content-that-is-none": (
        "pipeline",
        (
            (
                "            return failure_of(error, Code.POLICY_ERROR)  # PST-3, PST-7",
                "            return result",
            ),
        ),
        "PST-3",
    ),
    "projected": (
        "pipeline",
        (("            result = await projected(call, result)", "            pass"),),
        "PST-1",
    ),
    "unfit-then-authored": (
        "pipeline",
        (
            (
                "        signal = call.signal  # CRE-5: the one that stands now",
                "        signal, call.body_invoked = call.signal, True",
            ),
        ),
        "CAN-2",
    ),
    "success-without-value": (
        "pipeline",
        (
            (
                (
                    'raise PolicyError(f"a wrapper answered an object of type '
                    '{type(answer).__name__}, no result")'
                ),
                "contexts, authored = (), self._authored(call, answer)",
            ),
        ),
        "SCD-9",
    ),
    "contexts-of-both": (
        "pipeline",
        (
            (
                "contexts=(*call.deferred, *result.contexts))  # DSP-11",
                "contexts=(*result.contexts, *call.deferred))",
            ),
        ),
        "DSP-11",
    ),
    "authored-aborted-replaced": (
        "pipeline",
        (("            result = cancelled(result, call.body_invoked)  # DSP-12", "            pass"),),
        "CAN-7",
    ),
}
"""The scenario that catches it: the module, the edits, and the clause that is named."""
