// A little runtime of tool calls, written from the specification. It has no dependency, and reads no clock of its
// own: a program that has timeouts hands over a clock, `{after(ms, callback)}`, which answers how that is called off.
//
//   const runtime = new Runtime({ clock });
//   const agent = runtime.global.scope("agent");
//   agent.register({ name, parameters, output: { schema, render: renderJson }, run: async (args, context) => ... });
//   const { results } = await runtime.runBatch(calls, { session: new Session(), signal, scope: agent });

import { prepare } from "./admission.mjs";
import { Batch } from "./batch.mjs";
import { Call } from "./call.mjs";
import { dispatch } from "./dispatch.mjs";
import { Refused, Registry } from "./registry.mjs";
import { textContent } from "./results.mjs";
import { finalize } from "./settlement.mjs";
import { timeoutWrapper } from "./signals.mjs";

export { Refused } from "./registry.mjs";
export { ToolError, textContent } from "./results.mjs";
export { DeadlinePassed } from "./signals.mjs";
export { declaredFaults } from "./schema.mjs";
export { alteredNumber, jsonEqual, kindOf, parseArguments } from "./values.mjs";

const NO_CLOCK = {
  after() {
    throw new Error("a tool has a timeout, and the runtime was given no clock");
  },
};
const NEVER = new AbortController().signal;
const POLICIES = ["ask", "never"];

export class Runtime {
  /**
   * `mode` is how tools are shown where no scope says it. `approval` is left out where nobody can be asked; else
   * it has a `policy`, ask or never, and perhaps a `service` that answers requests in the place of the listeners.
   * `warn` hears of what went wrong and changed nothing.
   */
  constructor({ clock = NO_CLOCK, maxParallel = 10, mode = "native", approval, warn = console.warn } = {}) {
    if (!Number.isInteger(maxParallel) || maxParallel < 1) {
      throw new Refused("SCD-4", "maxParallel is a positive integer");
    }
    this.maxParallel = maxParallel;
    this.approval = approval;
    this.warn = warn;
    this.registry = new Registry(mode);
    this.global.on("execute", timeoutWrapper(clock)); // TMO-1: the first that is registered
  }

  /** The global layer: what stands in it is seen from every scope. */
  get global() {
    return this.registry.global;
  }

  /** Run the calls of one message together; answers {results, concluded}. */
  async runBatch(calls, { session = new Session(), signal = NEVER, scope } = {}) {
    if (calls.length === 0) return { results: [], concluded: false }; // SCD-14
    session.begin(calls);
    const ended = await new Batch(calls, { session, signal, ...this.#from(scope) }).run();
    session.end(); // SCD-9: after a failure it is left open
    return ended;
  }

  /**
   * Run one call outside of any batch; answers its result. `position` is how whoever calls tells its calls apart; a
   * body that calls hands over its own `parent` token and `root` where the call is to be nested in its own.
   */
  async execute(announced, { signal = NEVER, scope, position, parent, root } = {}) {
    const given = { signal, position, parent, root };
    const call = new Call(announced, { ...given, ...this.#from(scope) });
    const settled = (await prepare(call)) ?? (await dispatch(call));
    const result = await finalize(call, settled);
    await Promise.allSettled(call.asked); // PY-13
    return result;
  }

  /** Where calls are made from: a scope, or none. */
  #from(scope) {
    return { runtime: this, layer: scope ?? this.global, hasScope: Boolean(scope) };
  }
}

/** The log of a session, in memory (LOG-1, LOG-2). */
export class Session {
  #records = [];
  #turn = -1;
  #approvalPolicy;

  /** Append a record, and answer its number. Whoever keeps logs elsewhere overrides this. */
  append(type, data) {
    this.#records.push(Object.freeze({ type, data: Object.freeze(data) }));
    return this.#records.length - 1;
  }

  get records() {
    return [...this.#records];
  }

  /** The turn and the step that are open. */
  get step() {
    return { turn: this.#turn, step: 0 };
  }

  /** The policy that was logged last (APP-9). */
  get approvalPolicy() {
    return this.#approvalPolicy;
  }

  set approvalPolicy(policy) {
    if (!POLICIES.includes(policy)) throw new Refused("APP-9", `there is no policy ${policy}`); // APP-9
    this.append("approval/policy", { policy });
    this.#approvalPolicy = policy;
  }

  begin(calls) {
    this.#turn += 1;
    this.append("turn/start", { turn: this.#turn });
    this.append("step/start", this.step);
    const announced = calls.map(({ id, name, arguments: text }) => ({ callId: id, name, arguments: text }));
    this.append("assistant/calls", { ...this.step, calls: announced });
  }

  end() {
    this.append("step/end", this.step);
    this.append("turn/end", { turn: this.#turn, reason: "completed" });
  }
}

/** What most tools render their value as: text as it is, everything else as its JSON text. */
export function renderJson(args, value) {
  return textContent(typeof value === "string" ? value : JSON.stringify(value)); // VAL-3: it is at most 200 deep
}
