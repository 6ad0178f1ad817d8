// SCD: how the calls of one assistant message are run together.
//
// They may overlap, but only their bodies. All that decides about a call, and all that is written down about it,
// happens in one lane, one call at a time, in the order in which the model announced them.

import { prepare } from "./admission.mjs";
import { Call } from "./call.mjs";
import { dispatch } from "./dispatch.mjs";
import { callable } from "./registry.mjs";
import { cancelled } from "./results.mjs";
import { finalize } from "./settlement.mjs";
import { NotAValue, parseArguments } from "./values.mjs";

export class Batch {
  #around;
  #calls;
  #nextStart = 0; // the first call that has not started
  #committed = 0; // the first call whose result is not logged
  #inFlight = 0; // dispatched, and not settled
  #concluded = false;
  #failures = [];
  #settlement = deferred();

  /** `around` is what the calls have around them: runtime, layer, hasScope, signal, session. */
  constructor(announced, around) {
    this.#around = around;
    this.#calls = announced.map(({ id, name, arguments: text }, position) => ({
      announced: { id, name, arguments: text },
      position, // SCD-13: ids may repeat
    }));
  }

  /** Run the calls to their end; answers their results, and whether one of them ends the turn. */
  async run() {
    try {
      await this.#lane();
    } catch (failure) {
      this.#failures.push(failure); // SCD-9
    }
    while (this.#inFlight > 0) await this.#someSettlement(); // SCD-9, SCD-11
    await Promise.allSettled(this.#calls.flatMap(({ call }) => call?.asked ?? [])); // PY-13
    if (this.#failures.length > 0) throw this.#failures[0]; // SCD-9: the first one
    return { results: this.#calls.map((one) => one.result), concluded: this.#concluded }; // SCD-10, SCD-12
  }

  async #lane() {
    const { signal } = this.#around;
    while (this.#committed < this.#calls.length && this.#failures.length === 0) {
      const head = this.#calls[this.#committed];
      if (head.settled !== undefined) await this.#commit(head); // SCD-6, SCD-7: this comes first
      else if (signal.aborted && this.#committed === this.#nextStart) this.#skip(head); // SCD-8
      else if (!signal.aborted && this.#mayStartAnother()) await this.#start(this.#calls[this.#nextStart]);
      else await this.#someSettlement(); // SCD-3: after it, the next call is asked again
    }
  }

  // -- starting ---------------------------------------------------------------------------------

  #mayStartAnother() {
    const next = this.#calls[this.#nextStart];
    if (next === undefined || this.#inFlight >= this.#around.runtime.maxParallel) return false; // SCD-4
    next.mode = this.#modeOf(next); // SCD-3: immediately before it would start
    const before = this.#calls[this.#nextStart - 1];
    const isHead = this.#nextStart === this.#committed;
    // The call before it is the head, or has joined: then it is parallel, and so was the head.
    return isHead || (next.mode === "parallel" && before.mode === "parallel"); // SCD-3, SCD-5
  }

  /** A call may overlap others only if its tool says so of its arguments, with exactly true (SCD-2). */
  #modeOf({ announced }) {
    const tool = callable(this.#around.layer, announced.name, false);
    if (tool === undefined || tool.parallel === undefined) return "exclusive";
    const args = parseArguments(announced.arguments);
    if (args instanceof NotAValue || tool.faultsOf(args).length > 0) return "exclusive"; // ARG-5
    try {
      const answer = typeof tool.parallel === "function" ? tool.parallel(args) : tool.parallel;
      return answer === true ? "parallel" : "exclusive";
    } catch {
      return "exclusive";
    }
  }

  async #start(one) {
    this.#logCall(one); // SCD-1: this comes first
    one.call = new Call(one.announced, { ...this.#around, position: one.position });
    const settled = await prepare(one.call); // SCD-1: nothing else starts meanwhile
    if (this.#failures.length > 0) return; // SCD-9: it is not dispatched any more
    if (settled === undefined) this.#dispatch(one);
    else one.settled = settled;
  }

  /** Let a call run; the lane goes on without waiting for it (SCD-1). */
  #dispatch(one) {
    this.#inFlight += 1;
    const settles = (settled) => {
      one.settled = settled;
      this.#inFlight -= 1; // SCD-4: what waits for its commit holds no slot
      this.#settlement.resolve();
    };
    const fails = (failure) => {
      this.#failures.push(failure); // SCD-9
      settles(undefined);
    };
    dispatch(one.call).then(settles, fails);
  }

  async #someSettlement() {
    await this.#settlement.promise;
    this.#settlement = deferred();
  }

  // -- ending -----------------------------------------------------------------------------------

  async #commit(one) {
    this.#logResult(one, await finalize(one.call, one.settled)); // SCD-6
  }

  /** A call that never started gets its pair of records, and nothing else (SCD-8). */
  #skip(one) {
    this.#logCall(one);
    this.#logResult(one, cancelled(false));
  }

  // -- the log ----------------------------------------------------------------------------------

  #logCall(one) {
    const { session } = this.#around;
    const { announced, position } = one;
    const { id: callId, name, arguments: text } = announced; // ARG-4: the text as it came
    one.loggedAs = session.append("tool/call", { position, callId, name, arguments: text, ...session.step }); // LOG-2
    this.#nextStart += 1;
  }

  #logResult(one, result) {
    const { session } = this.#around;
    const { announced, position, loggedAs: cites } = one;
    const { content, error, meta, contexts } = result;
    const message = { callId: announced.id, content };
    session.append("tool/result", { position, cites, message, error, meta, ...session.step }); // LOG-2
    for (const context of contexts) session.append("context/accepted", { position, content: context }); // SCD-6, SCD-15
    one.result = result;
    this.#concluded ||= result.concludesTurn === true; // SCD-12
    this.#committed += 1;
  }
}

function deferred() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}
