// OUT, ERR: what a call ends with. A result is frozen as soon as it is made.
//
//   {ok: true, value, content, contexts, meta?, concludesTurn?}
//   {ok: false, error: {code, name, message}, content, contexts, meta?}

import { NotAValue, kindOf, snapshot } from "./values.mjs";

/** The names that go with codes (ERR-3); otherwise it is the name of the exception's type. */
const NAMES = {
  ABORTED: "AbortError",
  ABORTED_BEFORE_DISPATCH: "AbortError",
  UNKNOWN_TOOL: "ToolNotFoundError",
  INVALID_ARGS: "ToolArgsError",
  INVALID_TOOL_OUTPUT: "ToolOutputError",
  TOOL_TIMEOUT: "ToolTimeoutError",
  CODE_RUN_FAILED: "CodeRunFailedError",
  DENIED: "DeniedError",
  BLOCKED: "BlockedError",
  APPROVAL_REJECTED: "ApprovalError",
  APPROVAL_CANCELLED: "ApprovalError",
  APPROVAL_UNAVAILABLE: "ApprovalError",
  POLICY_ERROR: "PolicyError",
};

/** An error that says its own code: what a tool throws, or a policy, so that others can tell it apart (ERR-1). */
export class ToolError extends Error {
  constructor(message, { code, name = "ToolError" }) {
    super(message);
    this.code = code;
    this.name = name;
  }
}

/** A policy has done what no policy may do: the call fails, and nothing lets it through. */
export function policyError(message) {
  return new ToolError(message, { code: "POLICY_ERROR", name: NAMES.POLICY_ERROR });
}

// -- making results -----------------------------------------------------------------------------

export function success({ value, content, meta, contexts = [] }) {
  return made({ ok: true, value, content, contexts, meta });
}

/** A failure; its content is its message, unless it has content of its own (OUT-5). */
export function failure(code, message, { name = NAMES[code] ?? "PolicyError", content, meta, contexts = [] } = {}) {
  const error = Object.freeze({ code, name, message });
  return made({ ok: false, error, content: content ?? textContent(`Error: ${message}`), contexts, meta });
}

/** A result with some parts of it replaced. */
export function changed(result, parts) {
  return made({ ...result, ...parts });
}

function made({ meta, concludesTurn, ...result }) {
  return Object.freeze({
    ...result,
    contexts: Object.freeze([...result.contexts]),
    ...(meta !== undefined && { meta }),
    ...(concludesTurn && { concludesTurn }),
  });
}

/** The failure that an exception is: with the code that it says, if it is one that says a code, or else `code`. */
export function failureOf(raised, code) {
  const own = attempt(() => (raised instanceof ToolError ? raised.code : undefined), undefined);
  return failure(own ?? code, wordsOf(raised), { name: nameOf(raised) });
}

/** The failure of a tool whose value or content is none; `why` is an exception, or says it in words. */
export function invalidOutput(why) {
  return failure("INVALID_TOOL_OUTPUT", wordsOf(why));
}

/** The text of an exception, or the name of its type where it has none, or where none can be had (DSP-7). */
function wordsOf(raised) {
  return attempt(() => String(raised instanceof Error ? raised.message : raised), "") || nameOf(raised);
}

function nameOf(raised) {
  return attempt(() => (raised instanceof ToolError ? raised.name : raised.constructor.name), "Error");
}

/** What a function answers, or something else where it throws: nothing can be asked of some exceptions. */
function attempt(ask, otherwise) {
  try {
    return ask();
  } catch {
    return otherwise;
  }
}

// -- cancellation -------------------------------------------------------------------------------

/** What a call gets that was cancelled: may its body have had effects (CAN-2)? */
export function cancelled(bodyInvoked) {
  return bodyInvoked
    ? failure("ABORTED", "the call was aborted, and may have had effects")
    : failure("ABORTED_BEFORE_DISPATCH", "the call was aborted before it ran");
}

/** A result where the caller's signal is looked at: only a success is replaced, and it keeps its contexts. */
export function underAbort(aborted, result, bodyInvoked) {
  if (!aborted || !result.ok) return result; // CAN-7
  return changed(cancelled(bodyInvoked), { contexts: result.contexts }); // CAN-5, CAN-6
}

// -- content ------------------------------------------------------------------------------------

export function textContent(text) {
  return Object.freeze([Object.freeze({ type: "text", text })]);
}

/** A frozen copy of content: a list of objects that each have a `type` (OUT-2). Throws where it is none. */
export function contentOf(candidate) {
  const held = snapshot(candidate);
  if (held instanceof NotAValue) throw new TypeError(`this is no content: ${held}`);
  const isBlock = (one) => kindOf(one) === "object" && typeof one.type === "string";
  if (kindOf(held) !== "array" || !held.every(isBlock)) throw new TypeError("content is a list of blocks with a type");
  return held;
}

/** Contexts: a list of contents, each handed to the model beside the result. */
export function contextsOf(candidates = []) {
  if (!Array.isArray(candidates)) throw new TypeError("contexts are a list of contents");
  return candidates.map(contentOf);
}

/** The message that goes with content which takes the place of a result (PST-5). */
export function messageOf(content) {
  const lines = content.map((one) => (one.type === "text" ? String(one.text) : `[${one.type} content]`));
  return lines.join("\n") || "the result was withheld";
}
