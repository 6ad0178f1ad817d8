// What the parts of a scenario are on the runtime beside it: its tools, its listeners, its guards, its approvals, and
// the events of its log. Who writes an adapter for another runtime rewrites this, and the calls of `run.mjs`.

import { classifierOf, fits, sourceOf, textOf, toldResult } from "./parts.mjs";
import { DeadlinePassed, Session, renderJson, textContent } from "./runtime.mjs";
import { playBody, playFunction, playGuard, playListener } from "./scripts.mjs";

// -- tools --------------------------------------------------------------------------------------

/** A tool of the runtime; `makeCall(call, context, attempt)` makes a call from inside its body. */
export function toolOf(tool, harness, makeCall) {
  const { name, parameters = { type: "object" }, output, parallel, timeout_ms: timeout, body = [] } = tool;
  const { render, presentation_meta: meta, project, finalize } = tool;
  const ofValue = (script, event) =>
    functionOf(script, event, harness, (args, value, execution) => ({ arguments: args, execution }));
  const ofResult = (script, event) => functionOf(script, event, harness, thingsOf);
  return {
    name,
    parameters,
    output: {
      schema: output?.schema ?? {},
      render: ofValue(render, "content.rendered") ?? renderJson,
      meta: ofValue(meta, "content.meta"),
    },
    parallel: classifierOf(parallel),
    timeoutMs: timeout ?? undefined,
    project: ofResult(project, "content.projected"),
    finalize: ofResult(finalize, "content.finalized"),
    run: (args, context) => runBody(body, args, context, harness, makeCall),
  };
}

/** A function of a tool that plays a script; `which` says what its arguments are, by name. */
function functionOf(script, event, harness, which) {
  if (script === undefined || script === null) return undefined;
  return (...given) => {
    const things = which(...given);
    const pos = things.execution.position;
    harness.emit(event, { pos });
    return playFunction(script, harness, pos, things);
  };
}

/** What policies and observers are given that nobody may change, by name. */
function thingsOf(execution, result) {
  return { arguments: execution.arguments, execution, result };
}

async function runBody(script, args, context, harness, makeCall) {
  const { position: pos, signal } = context;
  const attempt = harness.nextAttempt(pos);
  const played = playBody(script, {
    ...{ harness, pos, attempt, signal },
    things: { arguments: args, execution: context },
    source: () => sourceOf(signal.reason, harness.signalAround(pos), DeadlinePassed),
    makeCall: (call) => makeCall(call, context, attempt),
    defer: (text) => context.deferContext(textContent(text)),
    conclude: () => context.concludeTurn(),
  });
  return played.finally(() => harness.left.set(pos, context));
}

// -- listeners, guards, approvals ---------------------------------------------------------------

export function hookOf(hook, harness) {
  if (hook.on === "change") return hearerOf(hook, harness);
  return hook.on === "result" ? observerOf(hook, harness) : listenerOf(hook, harness);
}

/** Who hears that a tool has come, or a restriction; of what else changes it is told in vain. */
function hearerOf({ match, script = [] }, harness) {
  return ({ op, name = "" }) => {
    if (["registered", "restricted"].includes(op) && fits(match, name, 0)) playFunction(script, harness);
  };
}

function observerOf({ id, match, script = [] }, harness) {
  return (execution, result) => {
    if (!fits(match, execution.name, execution.position)) return;
    const { position: pos } = execution;
    harness.emit("result.observed", { pos, observer: id, outcome: outcomeOf(result) });
    playFunction(script, harness, pos, thingsOf(execution, result));
  };
}

function listenerOf({ id, on, match, script = [] }, harness) {
  return (execution, ...given) => {
    const next = given.at(-1);
    if (!fits(match, execution.name, execution.position)) return next();
    const { position: pos, signal } = execution;
    const things = thingsOf(execution, on === "post_execute" ? given[0] : undefined);
    return playListener(script, {
      ...{ harness, pos, waterfall: on, listener: id, signal, next, things },
      word: on === "execute" ? (result) => (result.ok ? "OK" : result.error.code) : (decision) => decision.kind,
      decision: (plain, contexts) => ({ ...plain, contexts: contexts.map(textContent) }),
      result: written,
      putSignal: (name, aborted) => (execution.signal = harness.makeSignal(name, aborted)),
      putNonsense: (value) => (execution.signal = value),
      putBackSignal: () => on === "execute" && (execution.signal = signal),
      defer: (text) => handOver(text, harness.left.get(pos)),
    });
  };
}

/** Hand over a context with what a body was given that has ended; nothing else takes contexts. */
function handOver(text, context) {
  if (context === undefined) throw new TypeError("an execution takes no contexts");
  context.deferContext(textContent(text));
  return true;
}

/** A result that a wrapper writes itself. */
function written({ ok, value, code }, contexts) {
  const shown = contexts.map(textContent);
  if (ok) return { ok, value, contexts: shown };
  return { ok, error: { message: "it failed", ...(typeof code === "string" && { code }) }, contexts: shown };
}

export function guardOf({ id, match, script = [] }, harness) {
  return (execution) => {
    const { name, position } = execution;
    return fits(match, name, position) ? playGuard(script, harness, position, id, thingsOf(execution)) : undefined;
  };
}

export function answererOf({ id, script = [] }, harness) {
  return ({ execution, signal }, next) => {
    const about = { harness, pos: execution.position, waterfall: "approval", listener: id };
    return playListener(script, { ...about, signal, next, word: (answer) => answer });
  };
}

/** How a runtime is told of the approval service of a scenario. */
export function approvalOf(approval) {
  if (!approval) return undefined;
  const { policy = "ask", service = "ok" } = approval;
  return { policy, service: SERVICES[service] };
}

/** The services in the place of those who answer: there is none where they do. */
const SERVICES = {
  ok: undefined,
  malformed: () => ({ granted: true }),
  raises() {
    throw new Error("the approval service fails");
  },
};

// -- what is seen -------------------------------------------------------------------------------

/** A session that tells of what the runtime appends to it. */
export class SeenSession extends Session {
  #harness;
  #fails; // which record it does not take, if any
  #appended = new Map(); // how many of each kind it was given

  constructor(harness, fails) {
    super();
    this.#harness = harness;
    this.#fails = fails;
  }

  append(type, data) {
    const nth = (this.#appended.get(type) ?? 0) + 1;
    this.#appended.set(type, nth);
    if (type === this.#fails?.record && nth === (this.#fails.nth ?? 1)) throw new Error(`no ${type} can be written`);
    const seq = super.append(type, data);
    const told = SEEN[type]?.(data, this.#harness);
    if (told !== undefined) {
      const [event, fields] = told;
      this.#harness.emit(event, { pos: data.position, log_seq: seq, ...fields });
    }
    return seq;
  }
}

/** The event that tells of a record, and its fields. */
const SEEN = {
  "tool/call": ({ callId, name, arguments: text }) => ["call.logged", { call_id: callId, name, arguments: text }],
  "tool/result"({ message: { callId, content }, error, cites }, harness) {
    const shown = shownResult({ ok: error === undefined, error, content }, harness);
    return ["result.logged", { call_id: callId, cites, ...shown }];
  },
  "context/accepted": ({ content }) => ["context.accepted", { context: textOf(content) }],
  "approval/asked": () => ["approval.asked", {}],
  "approval/decided": ({ outcome }) => ["approval.decided", { outcome }],
};

/** The outcome and the content of a result, as events have them. */
export function shownResult(result, harness) {
  return toldResult(outcomeOf(result), textOf(result.content), harness);
}

function outcomeOf({ ok, error }) {
  return ok ? { ok } : { ok, code: error.code };
}
