// The inputs of a scenario: does the steps of its schedule, and says what came of each. It knows nothing of the runtime
// that is held to the specification, and serves an adapter for any other.

import { CHANGES } from "./harness.mjs";

const INPUTS = ["open", "release", "approve", "abort", "advance", "request_model", "call_kept", ...Object.keys(CHANGES)];

/** A scenario under way. Who derives from it says how a batch begins (`begin`), and what the model is shown. */
export class Inputs {
  harness;
  scenario;
  idle = true; // no batch is under way
  failed = false; // the last batch has raised
  #left; // the batches that are still to be opened
  #opened = false;
  #known;

  /** `more` are steps that are known beside the usual ones: those that `other(op, what)` does. */
  constructor(scenario, harness, more = []) {
    this.scenario = { scopes: [], hooks: [], guards: [], restrictions: [], caller: "agent", ...scenario };
    this.harness = harness;
    this.#left = [...scenario.batches];
    this.#known = [...INPUTS, ...more];
    this.#standBeforeTheNext();
  }

  /** Do a step of the schedule; answers why it cannot be done, or nothing. */
  async do(step, value) {
    const inputs = (step.together ?? [step]).map((one) => Object.entries(one)[0]);
    const [unknown] = inputs.find(([op]) => !this.#known.includes(op)) ?? [];
    if (unknown !== undefined) return `there is no step ${unknown} here`;
    const opens = this.#opened && inputs.some(([op]) => op === "open");
    if (opens && (!this.isIdle() || this.failed)) return "another batch is in the way";
    if (opens) this.#standBeforeTheNext();
    this.harness.value = value;
    for (const [op, what] of inputs) {
      const waits = this.#input(op, what);
      if (waits instanceof Promise) await waits; // and else go on at once: nothing runs between the inputs of a step
    }
    return undefined;
  }

  #input(op, what) {
    const { harness } = this;
    switch (op) {
      case "open":
        return this.#open();
      case "release":
        return harness.release(what.gate);
      case "approve":
        return harness.approve(what.pos, what.outcome);
      case "advance":
        return harness.clock.advance(what.ms);
      case "abort":
        return (what.signal ?? "caller") === "caller" ? harness.abortCaller() : harness.abort(what.signal);
      case "call_kept":
        return harness.callKept(what.name);
      case "request_model":
        return this.tellTheModel();
      default:
        return Object.hasOwn(CHANGES, op) ? harness.change(op, what) : this.other(op, what);
    }
  }

  /** The scenario is over. */
  finish() {
    this.harness.finish();
  }

  /** Nothing more is asked of it: what it has taken can be given back. */
  end() {}

  /** What has happened since this was last asked, once nothing can go on without the kit. */
  async quiet() {
    await this.harness.quiet();
    return { events: this.harness.takeEvents(), blocked: this.harness.blocked(), idle: this.isIdle() };
  }

  /** Whether no batch is under way. */
  isIdle() {
    return this.idle;
  }

  #standBeforeTheNext() {
    const [{ id = "b1", calls }] = this.#left;
    this.harness.begin(id, calls.length);
  }

  #open() {
    const { calls } = this.#left.shift();
    this.#opened = true;
    this.idle = false;
    const announced = calls.map((one) => ({ arguments: "{}", ...one }));
    this.harness.later(() => this.begin(announced)); // nothing runs before all inputs of a step are given
  }
}
