// PRE, APP, GRD: whether a call may run.
//
// Listeners of pre-execute allow, deny, cancel or ask; one may hide those after it. Guards come last, cannot be hidden,
// and can only deny. Whatever is no proper decision fails the call; nothing ever lets it through.

import { isFinal, visitsPost } from "./call.mjs";
import { cancelled, failure, failureOf, policyError } from "./results.mjs";
import { onAbort } from "./signals.mjs";
import { NotAValue } from "./values.mjs";
import { runRow, unawaited } from "./waterfall.mjs";

const ANSWERS = ["allowed-once", "rejected", "cancelled", "unavailable"];

/** Bring a call to where it may be dispatched. Answers nothing then, or how it has settled instead. */
export async function prepare(call) {
  if (call.args instanceof NotAValue) return isFinal(failure("INVALID_ARGS", String(call.args))); // CRE-2, CRE-6
  if (call.caller.aborted) return isFinal(cancelled(false)); // CRE-4, CRE-6
  if (call.collapsed) return isFinal(failure("UNKNOWN_TOOL", `call ${call.name} from inside run_code`)); // MOD-2
  try {
    const decision = await runRow(call.row("pre_execute"), {
      give: () => [call.execution],
      innermost: () => ({ kind: "allow" }), // PRE-1
      checked,
    });
    if (decision.kind === "deny") return visitsPost(failure(decision.code ?? "DENIED", decision.reason)); // PRE-4
    if (decision.kind === "cancel") return visitsPost(cancelled(false)); // PRE-4
    const refusal = decision.kind === "ask" ? await refusalOf(call, decision.reason) : undefined; // APP-1
    return refusal === undefined ? askGuards(call) : visitsPost(refusal);
  } catch (raised) {
    return isFinal(failureOf(raised, "POLICY_ERROR")); // PRE-2, PRE-5, APP-4, GRD-4
  }
}

/** What a listener decides; throws where it is no decision. */
function checked(decision) {
  const { kind, reason, code } = decision ?? {};
  const isText = typeof reason === "string"; // PRE-2: the empty string is a reason
  const proper =
    ["allow", "cancel"].includes(kind) ||
    (kind === "deny" && isText) ||
    (kind === "ask" && (isText || reason === undefined));
  if (!proper) throw policyError("a listener of pre-execute made no decision"); // PRE-2
  return { kind, reason, code: typeof code === "string" ? code : undefined };
}

// -- guards -------------------------------------------------------------------------------------

/** Ask the guards: the global layer's first, then each layer of the chain, the farthest first (GRD-1, GRD-7). */
function askGuards(call) {
  for (const layer of call.layer.chain()) {
    let guard = layer.guardAfter(0);
    while (guard !== undefined) {
      const answer = unawaited(guard.ask(call.execution));
      if (typeof answer === "string") return visitsPost(failure("DENIED", answer)); // GRD-2
      if (answer !== undefined && answer !== null) throw policyError("a guard answers a reason or nothing"); // GRD-4
      guard = layer.guardAfter(guard.order); // GRD-6: one that was added meanwhile takes part
    }
  }
  return call.caller.aborted ? visitsPost(cancelled(false)) : undefined; // GRD-5
}

// -- approval -----------------------------------------------------------------------------------

/** Ask for an approval. Answers the refusal, or nothing where the call may run. */
async function refusalOf(call, reason) {
  const { callId, position } = call.identity;
  const { approval } = call.runtime;
  if (approval === undefined) return failure("APPROVAL_UNAVAILABLE", reason ?? "there is nobody to ask"); // APP-2
  if (!call.hasScope) return failure("APPROVAL_UNAVAILABLE", "the call has no scope in which somebody could be asked");
  call.session?.append("approval/asked", { callId, position, reason }); // APP-6
  const answer = await answerTo(call, reason);
  if (!ANSWERS.includes(answer)) throw policyError("the approval service handed out no answer"); // APP-4
  call.session?.append("approval/decided", { callId, position, outcome: answer }); // APP-6
  switch (answer) {
    case "allowed-once":
      return undefined; // APP-1
    case "rejected":
      return failure("APPROVAL_REJECTED", "the call was not approved"); // APP-2
    case "cancelled":
      if (call.caller.aborted) return cancelled(false); // APP-3
      return failure("APPROVAL_CANCELLED", "the approval was cancelled"); // APP-2
    default:
      return failure("APPROVAL_UNAVAILABLE", "nobody has answered"); // APP-2
  }
}

function answerTo(call, reason) {
  const { approval } = call.runtime;
  if (call.caller.aborted) return "cancelled"; // APP-7: this is looked at first
  const policy = call.session?.approvalPolicy ?? approval.policy ?? "ask"; // APP-9
  if (policy === "never") return "rejected"; // APP-7
  const withdrawal = new AbortController();
  const request = { execution: call.execution, reason, signal: withdrawal.signal };
  const answer = (async () => (approval.service ? approval.service(request) : firstAnswer(call, request)))();
  call.asked.push(unawaited(answer)); // PY-13: the batch does not return before it is there
  return new Promise((resolve, reject) => {
    const callOff = onAbort(call.caller, () => {
      withdrawal.abort();
      resolve("cancelled"); // APP-11; an answer that comes later changes nothing (APP-6)
    });
    answer.finally(callOff).then(resolve, reject);
  });
}

/** What those answer who stand in the layers of the call: the first to decide wins (APP-8). */
async function firstAnswer(call, request) {
  try {
    return await runRow(call.row("approval"), {
      give: () => [request],
      innermost: () => "unavailable", // APP-8
      checked(answer) {
        if (!ANSWERS.includes(answer)) throw policyError("somebody gave no answer to an approval");
        return answer;
      },
    });
  } catch {
    return "unavailable"; // APP-4
  }
}
