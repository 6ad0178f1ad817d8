// A scenario on the runtime beside it: the inputs of its schedule, its batches, and what changes while they run.

import { SeenSession, answererOf, approvalOf, guardOf, hookOf, shownResult, textOf, toolOf } from "./bindings.mjs";
import { CHANGES, Cause, Harness } from "./harness.mjs";
import { Refused, Runtime, ToolError } from "./runtime.mjs";

const INPUTS = ["open", "release", "approve", "abort", "advance", "request_model", ...Object.keys(CHANGES)];

export class Run {
  #scenario;
  #harness;
  #runtime;
  #session;
  #caller; // the layer that calls are made from; nothing where they come from no scope
  #layers = new Map(); // by the name of the scope
  #disposers = new Map(); // by the number or the id that steps use
  #made = new Map(); // how many were made under a name
  #left; // the batches that are still to be opened
  #opened = false;
  #idle = true;
  #failed = false;
  #apart = new AbortController(); // for calls that bodies make without a signal of theirs

  constructor(scenario) {
    this.#scenario = { scopes: [], hooks: [], guards: [], restrictions: [], caller: "agent", ...scenario };
    this.#harness = new Harness({
      change: (op, what) => this.#changed(op, what),
      error: ({ message, code, name }) => new ToolError(message, { code, name: name ?? undefined }),
    });
    this.#session = new SeenSession(this.#harness);
    this.#left = [...scenario.batches];
    this.#standBeforeTheNext();
    this.#build();
  }

  // -- what the kit asks ------------------------------------------------------------------------

  /** Do a step of the schedule; answers why it cannot be done, or nothing. */
  do(step, value) {
    const inputs = (step.together ?? [step]).map((one) => Object.entries(one)[0]);
    const [unknown] = inputs.find(([op]) => !INPUTS.includes(op)) ?? [];
    if (unknown !== undefined) return `there is no step ${unknown} here`;
    const opens = this.#opened && inputs.some(([op]) => op === "open");
    if (opens && (!this.#idle || this.#failed)) return "another batch is in the way";
    if (opens) this.#standBeforeTheNext();
    this.#harness.value = value;
    for (const [op, what] of inputs) this.#input(op, what);
    return undefined;
  }

  #input(op, what) {
    const harness = this.#harness;
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
      case "request_model":
        return harness.emit("model.requested", this.#shownToTheModel());
      default:
        return harness.change(op, what);
    }
  }

  /** The scenario is over. */
  finish() {
    this.#harness.finish();
    this.#apart.abort(new Cause("caller"));
  }

  /** What has happened since this was last asked, once nothing can go on without the kit. */
  async quiet() {
    await this.#harness.quiet();
    return { events: this.#harness.takeEvents(), blocked: this.#harness.blocked(), idle: this.#idle };
  }

  // -- batches ----------------------------------------------------------------------------------

  #standBeforeTheNext() {
    const [{ id = "b1", calls }] = this.#left;
    this.#harness.begin(id, calls.length);
  }

  #open() {
    const { calls } = this.#left.shift();
    this.#opened = true;
    this.#idle = false;
    const announced = calls.map((one) => ({ arguments: "{}", ...one }));
    this.#harness.later(() => this.#runToTheEnd(announced)); // nothing runs before all inputs of a step are given
  }

  async #runToTheEnd(announced) {
    const around = { signal: this.#harness.caller.signal, scope: this.#caller };
    try {
      const concluded = await (this.#scenario.mode === "single"
        ? this.#execute(announced[0], { ...around, position: 0 })
        : this.#runBatch(announced, around));
      this.#harness.emit("batch.closed", { ended: "returned", concluded });
    } catch (failure) {
      console.error(failure);
      this.#failed = true;
      this.#harness.emit("batch.failed", { where: "other" });
    }
    this.#idle = true;
  }

  async #runBatch(announced, around) {
    const { concluded } = await this.#runtime.runBatch(announced, { ...around, session: this.#session });
    return concluded;
  }

  /** Run a call that no batch is about, and tell of its result; answers whether it ends the turn. */
  async #execute(announced, around) {
    const result = await this.#runtime.execute(announced, around);
    const shown = shownResult(result, this.#harness);
    const contexts = result.contexts.map(textOf);
    this.#harness.emit("result.returned", { pos: around.position, ...shown, contexts });
    return result.concludesTurn === true;
  }

  /** Make the call that a body makes. It has a place of its own, after the calls of the batch. */
  async #makeCall({ token, signal: whose, name, arguments: text }, context, attempt) {
    const { batch, count, nested } = this.#harness;
    const position = count + nested.length;
    const id = `nested-${position}`;
    const signal = whose === "own" ? context.signal : this.#apart.signal;
    const parent = { batch, pos: context.position, attempt };
    nested.push({ parent, signal });
    this.#harness.emit("batch.opened", { pos: position, calls: [{ call_id: id, name, arguments: text }], parent });
    const within = token ? { parent: context.token, root: context.root } : {};
    await this.#execute({ id, name, arguments: text }, { signal, scope: this.#caller, position, ...within });
  }

  // -- what stands at the start -----------------------------------------------------------------

  #build() {
    const { presentation: mode, limits, approval, scopes, caller, tools, hooks, guards, restrictions } = this.#scenario;
    this.#runtime = new Runtime({
      clock: this.#harness.clock,
      mode,
      maxParallel: limits?.max_parallel,
      approval: approvalOf(approval),
      warn() {},
    });
    this.#layers.set(null, this.#runtime.global);
    const known = scopes.length > 0 || caller === null ? scopes : [{ name: caller }];
    for (const { name, parent = null } of known) this.#layers.set(name, this.#layer(parent).scope(name));
    if (caller !== null) this.#caller = this.#layer(caller);
    if (approval) this.#addAnswerers(approval.answerers ?? []);
    const atTheStart = (one) => one.later !== true;
    for (const one of tools.filter(atTheStart)) this.#change("register", { tool: one.id ?? one.name });
    for (const { id } of hooks.filter(atTheStart)) this.#change("add_hook", { hook: id });
    for (const { id } of guards.filter(atTheStart)) this.#change("add_guard", { guard: id });
    for (const one of restrictions) this.#change("restrict", one);
    for (const { name: scope, mode: own } of known) if (own) this.#change("set_mode", { scope, mode: own });
  }

  /** Those who answer; where a scenario names none, somebody waits for the kit. */
  #addAnswerers(answerers) {
    for (const one of answerers) {
      this.#layer(one.scope).on("approval", answererOf(one, this.#harness), { prepend: one.prepend });
    }
    if (answerers.length > 0) return;
    const somebody = ({ execution, signal }) => this.#harness.approval(execution.position, signal);
    this.#runtime.global.on("approval", somebody);
  }

  #layer(scope = null) {
    const layer = this.#layers.get(scope);
    if (layer === undefined) throw new Refused("REG-2", `there is no scope ${scope}`);
    return layer;
  }

  // -- changes ----------------------------------------------------------------------------------

  /** Change something; answers why it was refused, or nothing. */
  #changed(op, what) {
    try {
      this.#change(op, what);
      return undefined;
    } catch (refused) {
      if (refused instanceof Refused) return refused.message;
      throw refused;
    }
  }

  #change(op, what) {
    switch (op) {
      case "register":
        return this.#register(definition(this.#scenario.tools, what.tool));
      case "remove":
        return this.#takeBack(what.registration);
      case "restrict":
        return this.#restrict(what);
      case "lift":
        return this.#takeBack(`restriction:${what.restriction}`);
      case "set_mode":
        return this.#setMode(what);
      case "set_policy":
        return this.#setPolicy(what.policy);
      case "add_guard":
        return this.#addGuard(definition(this.#scenario.guards, what.guard));
      case "drop_guard":
        return this.#drop(`guard:${what.guard}`);
      case "add_hook":
        return this.#addHook(definition(this.#scenario.hooks, what.hook));
      case "drop_hook":
        return this.#drop(`hook:${what.hook}`);
      default:
        throw new Error(`there is no change ${op}`);
    }
  }

  #register(tool) {
    const made = toolOf(tool, this.#harness, (...call) => this.#makeCall(...call));
    this.#keep(tool.name, this.#layer(tool.scope).register(made));
  }

  #restrict({ scope = null, allow, deny }) {
    const filter = { allow: allow ?? undefined, deny: deny ?? undefined };
    this.#keep(`restriction:${scope}`, this.#layer(scope).restrict(filter));
  }

  #setMode({ scope, mode }) {
    if (mode === null) this.#drop(`mode:${scope}`);
    else this.#disposers.set(`mode:${scope}`, this.#layer(scope).presentAs(mode));
  }

  #setPolicy(policy) {
    if (this.#scenario.mode === "single") throw new Refused("APP-9", "there is no session to log it in");
    this.#session.approvalPolicy = policy;
  }

  #addGuard(guard) {
    this.#stands(`guard:${guard.id}`, () => this.#layer(guard.scope).guard(guardOf(guard, this.#harness)));
  }

  #addHook(hook) {
    const { id, on, prepend, scope } = hook;
    this.#stands(`hook:${id}`, () => this.#layer(scope).on(on, hookOf(hook, this.#harness), { prepend }));
  }

  #shownToTheModel() {
    const layer = this.#caller ?? this.#runtime.global;
    try {
      return { tools: layer.modelTools().map(({ name }) => name) };
    } catch (refused) {
      if (refused instanceof Refused) return { tools: [], refused: refused.message };
      throw refused;
    }
  }

  /** Remember how something is taken back, under its number: it is the n-th of its name. */
  #keep(name, dispose) {
    const number = (this.#made.get(name) ?? 0) + 1;
    this.#made.set(name, number);
    this.#disposers.set(`${name}@${number}`, dispose);
  }

  /** Take back what has a number; that may be done again (REG-8). */
  #takeBack(number) {
    const dispose = this.#disposers.get(number);
    if (dispose === undefined) throw new Refused("REG-8", `nothing ever had the number ${number}`);
    dispose();
  }

  /** Add what stands under an id, once. */
  #stands(key, add) {
    if (this.#disposers.has(key)) throw new Refused("REG-2", `${key} stands already`);
    this.#disposers.set(key, add());
  }

  /** Take away what stands under an id. */
  #drop(key) {
    this.#takeBack(key);
    this.#disposers.delete(key);
  }
}

function definition(definitions, key) {
  const found = definitions.find((one) => (one.id ?? one.name) === key);
  if (found === undefined) throw new Refused("REG-1", `there is no definition ${key}`);
  return found;
}
