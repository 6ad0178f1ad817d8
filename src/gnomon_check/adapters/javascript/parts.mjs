// What the parts of a scenario mean on any runtime: for which calls a listener is, what a classifier answers, what has
// aborted a body, how a result is told.

import { createHash } from "node:crypto";

import { Cause } from "./harness.mjs";
import { jsonEqual, kindOf } from "./values.mjs";

/** Whether a listener or a guard is for a call. */
export function fits({ tool, pos } = {}, name, position) {
  return (tool ?? name) === name && (pos ?? position) === position;
}

/** What a tool declares as `parallel`: a function, a truth value, or nothing. */
export function classifierOf(parallel) {
  if (kindOf(parallel ?? null) !== "object") return parallel ?? undefined;
  if ("value" in parallel) return () => parallel.value;
  if ("when" in parallel) return (args) => hasArgument(args, parallel.when);
  return () => {
    throw new Error("the classifier fails");
  };
}

/** Whether an argument has a value; one that is not there counts as null. */
function hasArgument(args, { argument, equals }) {
  return kindOf(args) === "object" && jsonEqual(Object.hasOwn(args, argument) ? args[argument] : null, equals);
}

/** The calls that bodies make. */
export function madeByBodies(tools) {
  return tools.flatMap(({ body = [] }) => body.flatMap((step) => step.execute ?? []));
}

/**
 * What has aborted the signal of a body. A call that a body has made has that body's signal `around`: its caller's.
 * `Deadline` is what the runtime gives as the reason when time has passed.
 */
export function sourceOf(reason, around, Deadline) {
  if (around?.aborted && around.reason === reason) return "caller";
  if (reason instanceof Deadline) return "deadline";
  return reason instanceof Cause ? reason.signal : "caller";
}

/**
 * The outcome and the content of a result, as events have them. A fresh value as its content shows that a body has
 * made it.
 */
export function toldResult(outcome, text, harness) {
  const carries = outcome.ok && harness.nonces.has(text);
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { outcome: { ...outcome, ...(carries && { nonce: text }) }, content_digest: digest };
}

/** The text of content. */
export function textOf(content) {
  return content.map((one) => (one.type === "text" ? one.text : "")).join("");
}
