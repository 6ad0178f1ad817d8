// What the parts of a scenario are on DSH: its tools, its listeners, its guards, its approvals.

import { classifierOf, fits, sourceOf, textOf } from "../javascript/parts.mjs";
import { isContent, playBody, playFunction, playGuard, playListener } from "../javascript/scripts.mjs";
import { TimeoutReason, createUserMessage, defineTool } from "./packages.mjs";
import { authored } from "./parameters.mjs";

/** Who hands over the contexts of a scenario. */
export const SOURCE = { kind: "plugin", plugin: "gnomon" };
/** The cause with which the owner of a turn cancels it. */
export const CANCELLED = { kind: "user" };

const textContent = (text) => [{ type: "text", text }];
const contextOf = (text) => createUserMessage({ content: textContent(text), source: SOURCE });

/** What of a decision or a result hands over contexts. */
function withContexts(contexts) {
  return contexts.length > 0 ? { additionalContexts: contexts.map(contextOf) } : {};
}

// -- tools --------------------------------------------------------------------------------------

/** A tool of DSH. `around` has the harness, the calls, and `makeCall(call, execution, stage)`. */
export function toolOf(tool, around) {
  const { name, parameters = { type: "object" }, output, parallel, timeout_ms: timeout, body = [] } = tool;
  const { render, presentation_meta: meta, finalize } = tool;
  const ofValue = (...given) => functionOf(aboutValue, around, ...given);
  const ofResult = (...given) => functionOf(aboutResult, around, ...given);
  const classifier = classifierOf(parallel);
  const schema = output?.schema ?? {};
  const projections = {
    render: ofValue(render, "content.rendered") ?? renderJson,
    ...(meta && { presentationMeta: ofValue(meta, "content.meta", null) }), // null is a value
  };
  const rest = {
    name,
    description: name,
    execute: (args, execution) => runBody(body, args, execution, around),
    ...(finalize && { finalizeContent: ofResult(finalize, "content.finalized") }),
    ...(classifier !== undefined && {
      isConcurrencySafe: typeof classifier === "function" ? classifier : () => classifier,
    }),
    ...(timeout && { timeoutMs: timeout }),
  };
  const properties = authored(parameters);
  if (properties === undefined) return { ...rest, parameters, output: { schema, ...projections } };
  const made = defineTool({ ...rest, parameters: properties, output: { schema: { type: "json" }, ...projections } });
  return { ...made, output: { ...made.output, schema } }; // the schema of an output is a JSON Schema in either form
}

/** Text as it is, everything else as its JSON text. */
function renderJson(args, value) {
  return textContent(typeof value === "string" ? value : JSON.stringify(value));
}

/** Which call a function of an output is about, and what it is given that nobody may change. */
function aboutValue({ calls }, args) {
  return { pos: calls.ofArguments(args), things: { arguments: args } };
}

/** Which call a function of a result is about, and what it is given that nobody may change. */
function aboutResult({ calls }, execution, result) {
  return { pos: calls.ofSettling(execution), things: thingsOf(execution, result) };
}

function thingsOf(execution, result) {
  return { arguments: execution.arguments, execution, result };
}

/** A function of a tool that plays a script; `nothing` is what it answers where the script answers nothing. */
function functionOf(about, around, script, event, nothing = undefined) {
  if (script === undefined || script === null) return undefined;
  return (...given) => {
    const { pos, things } = about(around, ...given);
    around.harness.emit(event, { pos });
    return playFunction(script, around.harness, pos, things) ?? nothing;
  };
}

async function runBody(script, args, execution, { harness, calls, makeCall }) {
  const pos = calls.ofBody(execution);
  const attempt = harness.nextAttempt(pos);
  const { signal } = execution;
  const played = playBody(script, {
    ...{ harness, pos, attempt, signal },
    things: { arguments: args, execution },
    source: () => sourceOf(signal.reason, harness.signalAround(pos), TimeoutReason),
    makeCall: (call) => makeCall(call, execution, { pos, attempt }),
    defer: (text) => execution.deferContext(contextOf(text)),
    conclude: () => execution.concludeTurn(),
  });
  return played.finally(() => harness.left.set(pos, execution));
}

// -- listeners, guards, approvals ---------------------------------------------------------------

export function hookOf(hook, around) {
  if (hook.on === "change") return hearerOf(hook, around);
  return hook.on === "result" ? observerOf(hook, around) : listenerOf(hook, around);
}

/**
 * Who hears that something has changed. DSH does not say what: `changing.name` is the name of what is put there just
 * now. When somebody objects it is undone, of which everybody is told once more.
 */
function hearerOf({ match, script = [] }, { harness, changing }) {
  return () => {
    if (changing.name === undefined || !fits(match, changing.name, 0)) return;
    try {
      playFunction(script, harness);
    } catch (objection) {
      changing.name = undefined;
      throw objection;
    }
  };
}

function observerOf({ id, match, script = [] }, { harness, calls }) {
  return (execution, result) => {
    const pos = calls.ofSettling(execution);
    if (!fits(match, execution.name, pos)) return;
    harness.emit("result.observed", { pos, observer: id, outcome: outcomeOf(result) });
    playFunction(script, harness, pos, thingsOf(execution, result));
  };
}

function listenerOf({ id, on, match, script = [] }, { harness, calls }) {
  return (execution, ...given) => {
    const next = given.at(-1);
    const pos = on === "post_execute" ? calls.ofSettling(execution) : calls.ofStarting(execution);
    if (!fits(match, execution.name, pos)) return next();
    const { signal } = execution;
    return playListener(script, {
      ...{ harness, pos, waterfall: on, listener: id, signal, next },
      things: thingsOf(execution, on === "post_execute" ? given[0] : undefined),
      word: WORDS[on],
      decision: (plain, contexts) => ({ ...plain, ...withContexts(contexts) }),
      result: written,
      putSignal: (name, aborted) => (execution.signal = harness.makeSignal(name, aborted)),
      putNonsense: (value) => (execution.signal = value),
      putBackSignal: () => (execution.signal = signal),
      defer: (text) => handOver(text, harness.left.get(pos) ?? execution),
    });
  };
}

/** Hand over a context, with what a body was given that has ended, or else with what the listener was given. */
function handOver(text, execution) {
  execution.deferContext(contextOf(text));
  return true;
}

const KINDS = { pre_execute: ["allow", "deny", "cancel", "ask"], post_execute: ["accept", "block"] };

/** The word for what `next()` answers. DSH hands on to a listener whatever the one inside of it has answered. */
const WORDS = {
  pre_execute: (decision) => (KINDS.pre_execute.includes(decision?.kind) ? decision.kind : "malformed"),
  post_execute: (decision) => (KINDS.post_execute.includes(decision?.kind) ? decision.kind : "malformed"),
  execute(result) {
    if (typeof result?.isError !== "boolean") return "malformed";
    return result.isError ? (codeOf(result) ?? "ERROR") : "OK";
  },
};

/** A result that a wrapper writes itself. */
function written({ ok, value, code }, contexts) {
  if (ok) return { isError: false, value, content: [], ...withContexts(contexts) };
  const error = { message: "it failed", ...(typeof code === "string" && { info: { name: "ScriptedError", code } }) };
  return { isError: true, error, content: textContent("Error: it failed"), ...withContexts(contexts) };
}

/** A guard of DSH lets through what it answers `undefined` for, and nothing else. */
export function guardOf({ id, match, script = [] }, { harness, calls }) {
  return (execution) => {
    const pos = calls.ofStarting(execution);
    if (!fits(match, execution.name, pos)) return undefined;
    return playGuard(script, harness, pos, id, thingsOf(execution)) ?? undefined;
  };
}

const ANSWERS = ["allowed-once", "rejected", "cancelled", "unavailable"];

export function answererOf({ id, script = [] }, { harness, calls }) {
  return (request, next) => {
    const about = { harness, pos: calls.asking(request.callId), waterfall: "approval", listener: id };
    const word = (answer) => (ANSWERS.includes(answer) ? answer : "malformed");
    return playListener(script, { ...about, signal: request.signal, next, word });
  };
}

// -- what is seen -------------------------------------------------------------------------------

function codeOf(result) {
  return result.error?.info?.code ?? null;
}

/** The outcome of a result of DSH, which gives a code to some failures only. */
export function outcomeOf(result) {
  return result.isError ? { ok: false, code: codeOf(result) } : { ok: true };
}

/** The text of what DSH takes for content; it takes anything that is JSON. */
export function shownText(content) {
  return isContent(content) ? textOf(content) : JSON.stringify(content);
}

/** The texts of the contexts of a result. */
export function contextsOf(result) {
  return (result.additionalContexts ?? []).map(({ content }) => textOf(content));
}
