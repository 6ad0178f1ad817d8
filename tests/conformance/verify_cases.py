"""Inputs that can be judged, and every sentence that is said of them: format by format.

Name -> (content of the file, what is said of each problem).
"""

from __future__ import annotations

from verify_inputs import (
    ASSISTANT,
    END,
    TEXT,
    USER,
    anthropic,
    as_bytes,
    calls,
    openai,
    result,
    session,
    start,
    tool_result,
    tool_use,
)

from gnomon.session import Record

OPENAI = {
    "in order": (openai(("a", "b"), "a", "b", USER), []),
    "no call": (openai(USER, {"role": "assistant", "content": "", "tool_calls": []}), []),
    "all roles": (openai({"role": "developer", "content": ""}, USER, ("a",), "a", ASSISTANT), []),
    "a custom tool": (
        as_bytes(
            [
                {"role": "assistant", "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "f"}}]},
                {"role": "tool", "tool_call_id": "a"},
            ]
        ),
        [],
    ),
    "ids recur in another batch": (openai(("a", "b"), "a", "b", ("b", "a"), "b", "a"), []),
    "one id for two calls": (openai(("a", "b", "a"), "a", "b", "a"), []),
    "swapped": (
        openai(("a", "b"), "b", "a"),
        ["message 2: call 2 (b) is answered before call 1 (a): SCD-6"],
    ),
    "the last one first": (
        openai(("a", "b", "c"), "c", "a", "b"),
        ["message 2: call 3 (c) is answered before call 1 (a): SCD-6"],
    ),
    "reversed": (
        openai(("a", "b", "c"), "c", "b", "a"),
        [
            "message 2: call 3 (c) is answered before call 1 (a): SCD-6",
            "message 3: call 2 (b) is answered before call 1 (a): SCD-6",
        ],
    ),
    "a missing one is no fault of order of those after it": (
        openai(("a", "b", "c"), "b", "c", USER),
        ["message 4: call 1 (a) is never answered: SCD-10 (a user message comes first)"],
    ),
    "a missing one does not hide a fault of order": (
        openai(("a", "b", "c"), "c", "b"),
        [
            "message 2: call 3 (c) is answered before call 2 (b): SCD-6",
            "the end: call 1 (a) is never answered: SCD-10 (the list ends before an answer)",
        ],
    ),
    "twice": (openai(("a", "b"), "a", "a", "b"), ["message 3: call 1 (a) is answered twice: SCD-10"]),
    "too early and twice": (
        openai(("a", "b"), "b", "b", "a"),
        [
            "message 2: call 2 (b) is answered before call 1 (a): SCD-6",
            "message 3: call 2 (b) is answered twice: SCD-10",
        ],
    ),
    "one id for two calls, and three results": (
        openai(("a", "a"), "a", "a", "a"),
        ["message 4: call 2 (a) is answered twice: SCD-10"],
    ),
    "one id for two calls, and one result": (
        openai(("a", "b", "a"), "a", "b", ASSISTANT),
        ["message 4: call 3 (a) is never answered: SCD-10 (an assistant message comes first)"],
    ),
    "an id that nobody announced": (
        openai(("a", "b"), "a", "c"),
        [
            "message 3: a result for c answers no call: SCD-10",
            "the end: call 2 (b) is never answered: SCD-10 (the list ends before an answer)",
        ],
    ),
    "an empty id": (
        openai(("a",), ""),
        [
            'message 2: a result for "" answers no call: SCD-10',
            "the end: call 1 (a) is never answered: SCD-10 (the list ends before an answer)",
        ],
    ),
    "before every call": (openai("a", ("a",), "a"), ["message 1: a result for a answers no call: SCD-10"]),
    "too late": (
        openai(("a", "b"), "a", USER, "b"),
        [
            "message 3: call 2 (b) is never answered: SCD-10 (a user message comes first)",
            "message 4: a result for b answers no call: SCD-10 (it comes too late for call 2 of message 1)",
        ],
    ),
    "once more in the next batch": (
        openai(("a",), "a", ("b",), "a", "b"),
        ["message 4: a result for a answers no call: SCD-10 (call 1 of message 1 has its result already)"],
    ),
    "other calls come first": (
        openai(("a",), ("b",), "b"),
        ["message 2: call 1 (a) is never answered: SCD-10 (an assistant message comes first)"],
    ),
    "the list ends": (
        openai(USER, ("a", "b")),
        ["the end: call 1 (a) and call 2 (b) are never answered: SCD-10 (the list ends before an answer)"],
    ),
    "many": (
        openai(tuple("abcdefghijk")),
        [
            (
                "the end: call 1 (a), call 2 (b), call 3 (c), call 4 (d), call 5 (e), call 6 (f), "
                "call 7 (g), call 8 (h) and 3 more are never answered: SCD-10 "
                "(the list ends before an answer)"
            )
        ],
    ),
}

SERVER = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
SERVED = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
MCP = {"type": "mcp_tool_use", "id": "mcp", "name": "f", "server_name": "s", "input": {}}
PROGRAM = {"type": "code_execution_20250825", "tool_id": "srv"}

ANTHROPIC = {
    "in order": (anthropic(USER, (TEXT, "a", "b"), ["a", "b", TEXT], (TEXT,)), []),
    "an error": (
        anthropic(("a",), [tool_result("a", is_error=True)], ("b",), [tool_result("b", is_error=None)]),
        [],
    ),
    "ids recur in another batch": (anthropic(("a", "b"), ["a", "b"], ("b", "a"), ["b", "a"]), []),
    "what the provider runs is not ours": (anthropic((SERVER, SERVED, MCP, "a"), ["a"]), []),
    "a call that the model made directly": (
        anthropic((tool_use("a", caller={"type": "direct"}),), [TEXT]),
        ["message 2, block 1: call 1 (a) is never answered: SCD-10 (a text block comes first)"],
    ),
    "an id that a program used before": (
        anthropic((tool_use("a", caller=PROGRAM),), ["a"], ("a",), ["a"]),
        [],
    ),
    "swapped": (
        anthropic(("toolu_a", "toolu_b"), ["toolu_b", "toolu_a"]),
        ["message 2, block 1: call 2 (toolu_b) is answered before call 1 (toolu_a): SCD-6"],
    ),
    "twice": (anthropic(("a",), ["a", "a"]), ["message 2, block 2: call 1 (a) is answered twice: SCD-10"]),
    "text before the results": (
        anthropic(("a", "b"), [TEXT, "a", "b"]),
        [
            (
                "message 2, block 1: call 1 (a) and call 2 (b) are never answered: SCD-10 "
                "(a text block comes first)"
            ),
            (
                "message 2, block 2: a result for a answers no call: SCD-10 "
                "(it comes too late for call 1 of message 1)"
            ),
            (
                "message 2, block 3: a result for b answers no call: SCD-10 "
                "(it comes too late for call 2 of message 1)"
            ),
        ],
    ),
    "an image between the results": (
        anthropic(("a", "b"), ["a", {"type": "image", "source": {}}, "b"]),
        [
            "message 2, block 2: call 2 (b) is never answered: SCD-10 (an image block comes first)",
            (
                "message 2, block 3: a result for b answers no call: SCD-10 "
                "(it comes too late for call 2 of message 1)"
            ),
        ],
    ),
    "results in two messages": (
        anthropic(("a", "b"), ["a"], ["b"]),
        [
            "message 2: call 2 (b) is never answered: SCD-10 (the end of the message comes first)",
            (
                "message 3, block 1: a result for b answers no call: SCD-10 "
                "(it comes too late for call 2 of message 1)"
            ),
        ],
    ),
    "plain text instead of a result": (
        anthropic(("a",), USER),
        ["message 2: call 1 (a) is never answered: SCD-10 (a text block comes first)"],
    ),
    "the model goes on": (
        anthropic(("a",), ("b",), ["b"]),
        ["message 2: call 1 (a) is never answered: SCD-10 (an assistant message comes first)"],
    ),
    "the model answers itself": (
        anthropic(("a", tool_result("a")), ["a"]),
        [
            (
                "message 1, block 2: a result for a answers no call: SCD-10 "
                "(a message of role assistant carries no results)"
            )
        ],
    ),
    "the system answers": (
        anthropic(("a",), {"role": "system", "content": [tool_result("a")]}),
        [
            (
                "message 2, block 1: a result for a answers no call: SCD-10 "
                "(a message of role system carries no results)"
            ),
            "message 2: call 1 (a) is never answered: SCD-10 (the end of the message comes first)",
        ],
    ),
    "the list ends": (
        anthropic(("a",)),
        ["the end: call 1 (a) is never answered: SCD-10 (the list ends before an answer)"],
    ),
}

SESSION = {
    "in order": (session(calls("a", "b"), start("a"), start("b"), result("a", 1), result("b", 2), END), []),
    "one after the other": (
        session(calls("a", "b"), start("a"), result("a", 1), start("b"), result("b", 3), END),
        [],
    ),
    "errors with a code and without one": (
        session(
            calls("a", "b"),
            start("a"),
            result("a", 1, "ABORTED"),
            start("b"),
            Record("tool/result", {"message": {"callId": "b", "isError": True}, "cites": 3}),
            END,
        ),
        [],
    ),
    "still open, and all is answered": (session(calls("a"), start("a"), result("a", 1)), []),
    "no calls": (session(calls(), END), []),
    "other records": (
        session(
            calls("a"),
            Record("my/own", {"cites": "?"}),
            start("a"),
            Record("my/own", {}),
            result("a", 2),
            END,
        ),
        [],
    ),
    "repaired": (
        session(calls("a"), start("a", repair=True), result("a", 1, "TOOL_NOT_STARTED", repair=True), END),
        [],
    ),
    "swapped": (
        session(calls("a", "b"), start("a"), start("b"), result("b", 2), result("a", 1), END),
        ["record 3: call 2 (b) is answered before call 1 (a): SCD-6"],
    ),
    "one id for two calls, told apart by what is cited": (
        session(calls("a", "a"), start("a"), start("a"), result("a", 2), result("a", 1), END),
        ["record 3: call 2 (a) is answered before call 1 (a): SCD-6"],
    ),
    "twice": (
        session(calls("a"), start("a"), result("a", 1), result("a", 1), END),
        ["record 3: call 1 (a) is answered twice: SCD-10"],
    ),
    "a call without a result": (
        session(calls("a", "b"), start("a"), start("b"), result("b", 2), END),
        ["record 4: call 1 (a) is never answered: SCD-10 (the end of the step comes first)"],
    ),
    "no record of the call": (
        session(calls("a"), result("a", 0), END),
        ["record 1: call 1 (a) is answered, and no record of the call stands before that: LOG-2"],
    ),
    "no record of the call is no fault of order of those after it": (
        session(calls("a", "b"), start("b"), result("a", 0), result("b", 1), END),
        ["record 2: call 1 (a) is answered, and no record of the call stands before that: LOG-2"],
    ),
    "a citation of another call": (
        session(calls("a", "b"), start("a"), start("b"), result("a", 1), result("b", 1), END),
        ["record 4: the result of call 2 (b) cites a record that is not the call's: LOG-2"],
    ),
    "ids exchanged, citations not": (
        session(calls("a", "b"), start("a"), start("b"), result("b", 1), result("a", 2), END),
        [
            "record 3: the result of call 2 (b) cites a record that is not the call's: LOG-2",
            "record 3: call 2 (b) is answered before call 1 (a): SCD-6",
            "record 4: the result of call 1 (a) cites a record that is not the call's: LOG-2",
        ],
    ),
    "an empty id, although the citation is right": (
        session(calls("a"), start("a"), result("", 1), END),
        [
            'record 2: a result for "" answers no call: SCD-10',
            "record 3: call 1 (a) is never answered: SCD-10 (the end of the step comes first)",
        ],
    ),
    "started out of order": (
        session(calls("a", "b"), start("b"), start("a"), result("a", 2), result("b", 1), END),
        ["record 1: call 2 (b) is started before call 1 (a): SCD-1"],
    ),
    "started twice": (
        session(calls("a"), start("a"), start("a"), result("a", 1), END),
        ["record 2: call 1 (a) is logged twice: SCD-1"],
    ),
    "not announced": (
        session(calls("a"), start("a"), start("b"), result("a", 1), END),
        ["record 2: a call b is logged, and no open batch announced it: SCD-1"],
    ),
    "nothing announced": (
        session(start("a"), result("a", 0), END),
        [
            "record 0: a call a is logged, and no open batch announced it: SCD-1",
            "record 1: a result for a answers no call: SCD-10",
        ],
    ),
    "after the step": (
        session(calls("a", "b"), start("a"), start("b"), result("a", 1), END, result("b", 2)),
        [
            "record 4: call 2 (b) is never answered: SCD-10 (the end of the step comes first)",
            "record 5: a result for b answers no call: SCD-10 (it comes too late for call 2 of step 0.0)",
        ],
    ),
    "once more after the step": (
        session(calls("a"), start("a"), result("a", 1), END, result("a", 1)),
        ["record 4: a result for a answers no call: SCD-10 (call 1 of step 0.0 has its result already)"],
    ),
    "the turn ends": (
        session(calls("a"), start("a"), Record("turn/end", {"turn": 0, "reason": "completed"})),
        ["record 2: call 1 (a) is never answered: SCD-10 (the end of the turn comes first)"],
    ),
    "a new turn after a crash that was not repaired": (
        session(calls("a"), start("a"), Record("turn/start", {"turn": 1})),
        ["record 2: call 1 (a) is never answered: SCD-10 (the start of a turn comes first)"],
    ),
    "a new step": (
        session(calls("a"), Record("step/start", {"turn": 0, "step": 1})),
        ["record 1: call 1 (a) is never answered: SCD-10 (the start of a step comes first)"],
    ),
    "other calls come first": (
        session(calls("a"), calls("b", step=1), start("b"), result("b", 2), END),
        ["record 1: call 1 (a) is never answered: SCD-10 (an announcement of other calls comes first)"],
    ),
    "killed": (
        session(calls("a", "b", "c"), start("a"), result("a", 1), start("b")),
        [
            (
                "the end: call 2 (b) and call 3 (c) are never answered: SCD-10 "
                "(the log ends before an answer; repair would give one: REP-1)"
            )
        ],
    ),
}
