// DSP, OUT: wrappers around the body, and what the end of a body means.
//
// Innermost of the wrappers is the body stage. There, and not earlier, the runtime looks at the signal, at the registry
// and at the arguments; only then the body runs.

import { isFinal, visitsPost } from "./call.mjs";
import { ToolError, cancelled, changed, failure, failureOf, policyError, underAbort } from "./results.mjs";
import { contentOf, contextsOf, invalidOutput, success } from "./results.mjs";
import { violations } from "./schema.mjs";
import { fused } from "./signals.mjs";
import { NotAValue, snapshot } from "./values.mjs";
import { runRow } from "./waterfall.mjs";

/** Run a call that was prepared; answers how it has settled. */
export async function dispatch(call) {
  call.timeoutMs = call.layer.view().get(call.name)?.timeoutMs; // TMO-1: it is read here
  try {
    const result = await runRow(call.row("execute"), {
      give: (standing) => [call.wrapperFace(standing)],
      innermost: async () => ofThisCall(call, await bodyStage(call)),
      checked: (result) => ofThisCall(call, normalized(call, result)),
    });
    return visitsPost(afterWrappers(call, result));
  } catch (raised) {
    return isFinal(failureOf(raised, "POLICY_ERROR")); // DSP-13: contexts of every kind are lost
  } finally {
    call.signal = call.caller; // CRE-5: what was not put back is undone
  }
}

/** A result that a wrapper of this call may end with from here on (DSP-10). */
function ofThisCall(call, result) {
  call.made.add(result);
  return result;
}

function afterWrappers(call, result) {
  const contexts = [...call.deferred, ...result.contexts]; // DSP-11
  const concludesTurn = result.ok && call.concluded; // DSP-14
  return underAbort(call.caller.aborted, changed(result, { contexts, concludesTurn }), call.bodyInvoked); // DSP-12
}

// -- the body -----------------------------------------------------------------------------------

async function bodyStage(call) {
  const { caller, signal: standing } = call; // CRE-5: what stands here counts
  const aborted = () => caller.aborted || standing.aborted; // DSP-2
  if (aborted()) return cancelled(call.bodyInvoked); // DSP-3
  const tool = call.tool(); // DSP-4
  if (tool === undefined) return failure("UNKNOWN_TOOL", `there is no tool ${call.name}`); // DSP-4
  const faults = tool.faultsOf(call.args);
  if (faults.length > 0) return failure("INVALID_ARGS", told(faults)); // DSP-8, ARG-3
  let value;
  try {
    value = await runBody(call, tool, fused(caller, standing)); // DSP-2, CAN-3
  } catch (raised) {
    return failureOf(raised, "TOOL_ERROR"); // DSP-7
  }
  const result = outputOf(call, tool, value);
  return result.ok && aborted() ? cancelled(true) : result; // DSP-9
}

async function runBody(call, tool, { signal, release }) {
  const attempt = { running: true };
  call.bodyInvoked = true; // DSP-5
  try {
    return await tool.run(call.args, contextOf(call, signal, attempt)); // DSP-6
  } finally {
    attempt.running = false;
    release(); // DSP-2
  }
}

/** What a body is given beside its arguments. */
function contextOf(call, signal, attempt) {
  const refuseLater = () => {
    if (!attempt.running) throw new Error("the body has ended"); // DSP-15
  };
  return Object.freeze({
    ...call.identity,
    signal,
    deferContext(content) {
      refuseLater();
      call.deferred.push(contentOf(content)); // DSP-11
    },
    concludeTurn() {
      refuseLater();
      call.concluded = true; // DSP-14
    },
  });
}

// -- output -------------------------------------------------------------------------------------

/** The success that a value is, or the failure where the tool's own declaration does not take it. */
export function outputOf(call, tool, value, contexts = []) {
  const held = snapshot(value);
  if (held instanceof NotAValue) return invalidOutput(held); // OUT-1
  const faults = violations(tool.output.schema, held);
  if (faults.length > 0) return invalidOutput(told(faults)); // OUT-1
  try {
    const content = contentOf(tool.output.render(call.args, held, call.execution)); // OUT-2
    const meta = call.parent === undefined ? metaOf(call, tool, held) : undefined; // OUT-3
    return success({ value: held, content, meta, contexts }); // OUT-4
  } catch (raised) {
    return invalidOutput(raised); // OUT-2, OUT-3
  }
}

function metaOf(call, tool, value) {
  const held = snapshot(tool.output.meta?.(call.args, value, call.execution) ?? null);
  if (held instanceof NotAValue) throw new TypeError(String(held));
  return held ?? undefined;
}

/** Violations in words, each with its path. */
function told(faults) {
  return faults.map(({ path, keyword, detail = "" }) => `${["$", ...path].join(".")}: ${keyword} ${detail}`).join("; ");
}

// -- what wrappers end with -----------------------------------------------------------------------

/** The result that a wrapper ends with: one of this execution, or one that it wrote, which is checked (DSP-10). */
function normalized(call, answer) {
  if (call.made.has(answer)) return answer;
  if (answer?.ok === true && Object.hasOwn(answer, "value")) return writtenSuccess(call, answer);
  if (answer?.ok === false) return writtenFailure(answer);
  throw policyError("a wrapper ended with no result"); // DSP-13
}

/** Only its value and its contexts count, and the value is checked like the body's (DSP-10). */
function writtenSuccess(call, { value, contexts }) {
  const tool = call.tool();
  if (tool === undefined) throw new ToolError(`there is no tool ${call.name}`, { code: "UNKNOWN_TOOL" }); // DSP-10
  const result = outputOf(call, tool, value, contextsOf(contexts));
  if (!result.ok) throw new ToolError(result.error.message, result.error); // DSP-10: this error is final
  return result;
}

function writtenFailure({ error = {}, content, contexts }) {
  const { code = "POLICY_ERROR", message = "a wrapper failed the call", name } = error; // ERR-1
  const own = content === undefined ? undefined : contentOf(content);
  return failure(code, message, { name, content: own, contexts: contextsOf(contexts) });
}
