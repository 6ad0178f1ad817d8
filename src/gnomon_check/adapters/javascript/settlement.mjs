// PST, FIN: what still happens to a settled call before its result is told.

import { outputOf } from "./dispatch.mjs";
import { changed, contentOf, contextsOf, failure, failureOf, invalidOutput } from "./results.mjs";
import { messageOf, policyError, underAbort } from "./results.mjs";
import { runRow, unawaited } from "./waterfall.mjs";

/** Bring a settled call to its end, and answer its result. */
export async function finalize(call, { result, visitsPost }) {
  return finish(call, visitsPost ? await postExecute(call, result) : result);
}

// -- post-execute -------------------------------------------------------------------------------

async function postExecute(call, settled) {
  let result = settled;
  try {
    result = withContent(result, await call.project?.(call.execution, result)); // PST-1
  } catch (raised) {
    return invalidOutput(raised); // PST-1
  }
  try {
    const decision = await runRow(call.row("post_execute"), {
      give: () => [call.execution, result],
      innermost: () => checked({ kind: "accept" }), // PST-2
      checked,
    });
    result = judged(call, result, decision);
  } catch (raised) {
    result = failureOf(raised, "POLICY_ERROR"); // PST-3, PST-7: never a silent accept
  }
  return underAbort(call.caller.aborted, result, call.bodyInvoked); // PST-8: a later abort changes nothing (CAN-1)
}

/** What a listener decides; throws where it is no decision (PST-3). */
function checked(decision) {
  const { kind, content, feedback } = decision ?? {};
  const contexts = contextsOf(decision?.contexts);
  if (kind === "block") return { kind, feedback: contentOf(feedback), contexts };
  if (kind !== "accept") throw policyError("a listener of post-execute made no decision");
  const replaces = (part) => Object.hasOwn(decision, part); // PST-3: null is a value
  return {
    kind,
    contexts,
    ...(replaces("content") && { content: contentOf(content) }),
    ...(replaces("value") && { value: decision.value }),
  };
}

/** What the decision of the whole row makes of a result. */
function judged(call, result, { kind, feedback, content, contexts: given, ...replaced }) {
  if (kind === "block") return failure("BLOCKED", messageOf(feedback), { content: feedback, contexts: given }); // PST-5
  const contexts = [...result.contexts, ...given]; // PST-6
  if (!Object.hasOwn(replaced, "value")) return changed(result, { contexts, ...(content && { content }) }); // PST-4
  if (content !== undefined) throw policyError("content and a value cannot both be replaced"); // PST-3
  if (!result.ok) throw policyError("a failed result has no value to be replaced"); // PST-3
  const tool = call.tool();
  if (tool === undefined) return failure("UNKNOWN_TOOL", `there is no tool ${call.name} any more`); // PST-4
  const made = outputOf(call, tool, replaced.value, contexts); // PST-4
  return made.ok ? changed(made, { concludesTurn: result.concludesTurn }) : made;
}

// -- finishing ----------------------------------------------------------------------------------

/** The last word on content, and the word to the observers. All that a result is made of was frozen before (FIN-1). */
function finish(call, settled) {
  let result = settled;
  try {
    result = withContent(result, unawaited(call.finalize?.(call.execution, result))); // FIN-2
  } catch (raised) {
    result = invalidOutput(raised); // FIN-2
  }
  for (const observe of call.row("result")) tellTo(observe, call, result); // FIN-3
  return result;
}

/** Whatever an observer does changes nothing, and where it fails, that is a warning (FIN-3). */
function tellTo(observe, { runtime, execution }, result) {
  const warn = (raised) => runtime.warn(raised);
  try {
    Promise.resolve(observe(execution, result)).catch(warn);
  } catch (raised) {
    warn(raised);
  }
}

/** A result with the content that a function of the tool has put in its place, if it has. */
function withContent(result, answer) {
  return answer === undefined || answer === null ? result : changed(result, { content: contentOf(answer) });
}
