// What stands around the scripts of a scenario: gates, signals, approvals, virtual time, and the events that are
// seen. It knows nothing of the runtime that is held to the specification, and serves an adapter for any other.
//
// Scripts take turns. One that may go on does so only when everything else has come to rest. For the kit, a step of a
// script and what follows from it are one; here a promise hands its answer on a moment later, and what another script
// did in that moment would look as if it had come first.

import { setImmediate as nextTurn } from "node:timers/promises";

/** The reason with which a signal is aborted: the name of the signal. */
export class Cause extends Error {
  constructor(signal) {
    super(`the signal ${signal} was aborted`);
    this.signal = signal;
  }
}

/** What an approver ends with that waited for its request to be withdrawn. */
export class Withdrawn extends Error {}

/** A clock of whole milliseconds, which goes on from one moment at which something is due to the next. */
class VirtualClock {
  #now = 0;
  #until = 0;
  #alarms = [];
  #over = false;

  /** Call back after so many milliseconds; answers how that is called off. */
  after(ms, callback) {
    const alarm = { moment: this.#now + ms, callback };
    if (this.#over || ms <= 0) callback();
    else this.#alarms.push(alarm);
    return () => (this.#alarms = this.#alarms.filter((one) => one !== alarm));
  }

  advance(ms) {
    this.#until += ms;
  }

  /** Go on to the next moment at which something is due; false where there is none before time stops. */
  goOn() {
    const moments = this.#alarms.map((one) => one.moment);
    this.#now = Math.min(this.#until, ...moments);
    return this.#ring((one) => one.moment <= this.#now);
  }

  /** Everything is due at once from here on. */
  finish() {
    this.#over = true;
    this.#ring(() => true);
  }

  #ring(isDue) {
    const due = this.#alarms.filter(isDue);
    this.#alarms = this.#alarms.filter((one) => !isDue(one));
    for (const { callback } of due) callback();
    return due.length > 0;
  }
}

export class Harness {
  clock = new VirtualClock();
  /** The fresh value that was handed over last. */
  value = "";
  #implementation;
  #events = [];
  #turns = [];
  #waiting = new Map();
  #activity = 0;
  #attempts = [];
  #gates = new Map();
  #answers = new Map();
  #own = new Map(); // the signal that a wrapper made last under a name
  #signals = []; // all that wrappers have made
  #nexts = new Map(); // the `next` that listeners have kept, by name
  #over = false;

  /**
   * `implementation` is what an adapter does for scripts: `change(op, what)` answers why a change was refused, or
   * nothing; `error(what)` makes the exception that a `raise` step of kind `coded` throws.
   */
  constructor(implementation) {
    this.#implementation = implementation;
    this.begin("", 0);
  }

  /** Stand before a batch of so many calls: gates, answers and signals of the one before are past. */
  begin(batch, count) {
    this.batch = batch;
    this.count = count;
    this.caller = new AbortController();
    this.nested = []; // the calls that bodies have made: whose body, and with which signal
    this.nonces = new Set(); // the fresh values that bodies have returned
    this.left = new Map(); // what the last body of a call was given that has ended
    this.heard = new Map(); // the result that a wrapper of a call has heard last
    this.#attempts = [];
    this.#gates = new Map();
    this.#answers = new Map();
    this.#own = new Map();
    this.#nexts = new Map();
  }

  // -- events -----------------------------------------------------------------------------------

  /** Leave an event. Those of a call that a body has made tell so: it is the only one of a batch of its own. */
  emit(event, { pos, ...fields } = {}) {
    this.#activity += 1;
    this.#events.push({ event, ...this.#place(pos), ...fields });
  }

  #place(pos) {
    if (pos === undefined) return {};
    if (pos < this.count) return { pos };
    const { parent } = this.nested[pos - this.count];
    return { pos: 0, slot: pos, batch: `${this.batch}/${parent.pos}#${parent.attempt}` };
  }

  /** The events since this was last asked. */
  takeEvents() {
    return this.#events.splice(0);
  }

  /** The number of the attempt that begins: a wrapper may run the body of a call again. */
  nextAttempt(pos) {
    this.#attempts[pos] = (this.#attempts[pos] ?? 0) + 1;
    return this.#attempts[pos];
  }

  /** A body makes a call: it has a place of its own, after the calls of the batch, and an id. */
  nest({ pos, attempt }, signal, name, text) {
    const position = this.count + this.nested.length;
    const id = `nested-${position}`;
    const parent = { batch: this.batch, pos, attempt };
    this.nested.push({ parent, signal });
    this.emit("batch.opened", { pos: position, calls: [{ call_id: id, name, arguments: text }], parent });
    return { position, id };
  }

  /** The signal that a body has given to a call that it makes; nothing for the calls of the batch. */
  signalAround(pos) {
    return this.nested[pos - this.count]?.signal;
  }

  /** The fresh value that the body of a call returns by now. */
  nonce(pos) {
    const nonce = `${this.value}-${pos}`;
    this.nonces.add(nonce);
    return nonce;
  }

  // -- turns ------------------------------------------------------------------------------------

  /** Wait for one's turn. */
  turn() {
    return new Promise((go) => this.#turns.push(go));
  }

  /** Do something in its own turn. */
  later(work) {
    this.#turns.push(work);
  }

  /** Let everything run until nothing can go on without the kit. */
  async quiet() {
    do {
      await this.#rest();
      while (this.#turns.length > 0) {
        this.#turns.shift()();
        await this.#rest();
      }
    } while (this.clock.goOn());
  }

  /** Wait until nothing happens any more by itself. */
  async #rest() {
    let before;
    do {
      before = this.#activity;
      await nextTurn();
      await nextTurn();
    } while (this.#activity !== before);
  }

  // -- waiting ----------------------------------------------------------------------------------

  /** What scripts wait for, each once. */
  blocked() {
    return [...this.#waiting.keys()].map((key) => JSON.parse(key));
  }

  /** Wait until `arranged` has its callback called, and then for one's turn. */
  async #wait(what, arranged) {
    const key = JSON.stringify(what);
    this.#activity += 1;
    this.#waiting.set(key, (this.#waiting.get(key) ?? 0) + 1);
    await new Promise(arranged);
    await this.turn();
    this.#waiting.set(key, this.#waiting.get(key) - 1);
    if (this.#waiting.get(key) === 0) this.#waiting.delete(key);
  }

  async passGate(name) {
    const gate = this.#gate(name);
    if (!gate.open && !this.#over) await this.#wait({ gate: name }, (go) => gate.waiting.push(go));
  }

  async awaitAbort(pos, signal) {
    if (!signal.aborted) await this.#wait({ await_abort: pos }, (go) => signal.addEventListener("abort", go));
  }

  async sleep(pos, ms) {
    if (ms > 0) await this.#wait({ sleep: pos }, (go) => this.clock.after(ms, go));
  }

  /** The answer of the approver that is there where a scenario names none; it ends when it is asked no more. */
  async approval(pos, signal) {
    const name = `approval:${pos}`;
    const gate = this.#gate(name);
    if (!gate.open && !this.#over && !signal.aborted) {
      await this.#wait({ gate: name }, (go) => {
        gate.waiting.push(go);
        signal.addEventListener("abort", go);
      });
    }
    return this.#answers.get(pos) ?? "unavailable";
  }

  #gate(name) {
    if (!this.#gates.has(name)) this.#gates.set(name, { open: false, waiting: [] });
    return this.#gates.get(name);
  }

  // -- inputs -----------------------------------------------------------------------------------

  /** Open a gate, for good. */
  release(name) {
    const gate = this.#gate(name);
    gate.open = true;
    for (const go of gate.waiting.splice(0)) go();
  }

  /** Answer an approval; the first answer counts. */
  approve(pos, outcome) {
    if (!this.#answers.has(pos)) this.#answers.set(pos, outcome);
    this.release(`approval:${pos}`);
  }

  /** Keep the `next` of a listener under a name; the last of a name is the one that counts. */
  keepNext(name, kept) {
    this.#nexts.set(name, kept);
  }

  /** Call a `next` that was kept, if its listener has ended: then it is to be refused (PRE-7). */
  callKept(name) {
    const kept = this.#nexts.get(name);
    if (kept === undefined || kept.row.running) return;
    const { pos, role, next } = kept;
    const refused = (refusal) => this.emit("op.refused", { pos, role, op: "next", reason: String(refusal) });
    const goesOn = () => this.emit("policy.delegated", { pos, waterfall: role, listener: name, nth: 0 });
    try {
      Promise.resolve(next()).then(goesOn, refused); // one that is let go on may wait for long
    } catch (refusal) {
      refused(refusal);
    }
  }

  /** Abort the caller's signal, as the schedule does; the kit knows of that. */
  abortCaller() {
    if (!this.caller.signal.aborted) this.caller.abort(new Cause("caller"));
  }

  /** Abort a signal, and tell of it where it was not aborted. */
  abort(name) {
    const controller = name === "caller" ? this.caller : this.#own.get(name);
    if (controller === undefined || controller.signal.aborted) return;
    this.emit("signal.aborted", { signal: name });
    controller.abort(new Cause(name));
  }

  /** A signal that a wrapper makes, under a name; the last of a name is the one that is aborted by it. */
  makeSignal(name, aborted) {
    const controller = new AbortController();
    this.#signals.push(controller);
    this.#own.set(name, controller);
    if (aborted || this.#over) controller.abort(new Cause(name));
    return controller.signal;
  }

  /** Change what stands in the layers; that it was done, or refused, is an event. */
  change(op, what) {
    const refused = this.#implementation.change(op, what);
    const { word, subject } = CHANGES[op];
    this.emit("registry.changed", { op: word, name: subject(what), ...(refused !== undefined && { refused }) });
  }

  /** The exception that a `raise` step throws. */
  error(what) {
    const { kind = "error", message = "it failed" } = what;
    if (kind === "coded") return this.#implementation.error({ ...what, message });
    return kind === "unprintable" ? new UnprintableError() : new ScriptedError(message);
  }

  /** The scenario is over: open every gate, let all time pass, abort what can be aborted. */
  finish() {
    this.#over = true;
    for (const name of this.#gates.keys()) this.release(name);
    this.clock.finish();
    this.abortCaller();
    for (const controller of this.#signals) controller.abort(new Cause("caller"));
  }
}

/** Each change: its word in the events, and what it is about. */
export const CHANGES = {
  register: { word: "registered", subject: ({ tool }) => tool },
  remove: { word: "removed", subject: ({ registration }) => registration },
  restrict: { word: "restricted", subject: ({ scope }) => scope ?? "" },
  lift: { word: "unrestricted", subject: ({ restriction }) => restriction },
  set_mode: { word: "mode", subject: ({ scope }) => scope },
  set_policy: { word: "policy", subject: ({ policy }) => policy },
  add_guard: { word: "guarded", subject: ({ guard }) => guard },
  drop_guard: { word: "unguarded", subject: ({ guard }) => guard },
  add_hook: { word: "hooked", subject: ({ hook }) => hook },
  drop_hook: { word: "unhooked", subject: ({ hook }) => hook },
};

/** What a script throws that says nothing else. */
export class ScriptedError extends Error {}

/** An exception whose text cannot be produced. */
class UnprintableError extends Error {
  get message() {
    throw new Error("no text");
  }
}
