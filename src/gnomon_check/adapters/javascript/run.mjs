// A scenario on the runtime beside it: its batches, and what stands around them. Who writes an adapter for another
// runtime rewrites this, and `bindings.mjs`.

import { SeenSession, answererOf, approvalOf, guardOf, hookOf, shownResult, toolOf } from "./bindings.mjs";
import { Cause, Harness, ScriptedError } from "./harness.mjs";
import { Inputs } from "./inputs.mjs";
import { Layers } from "./layers.mjs";
import { textOf } from "./parts.mjs";
import { Refused, Runtime, ToolError } from "./runtime.mjs";

export class Run extends Inputs {
  #runtime;
  #session;
  #layers;
  #caller; // the layer that calls are made from; nothing where they come from no scope
  #apart = new AbortController(); // for calls that bodies make without a signal of theirs

  constructor(scenario) {
    const harness = new Harness({
      change: (op, what) => this.#layers.change(op, what),
      error: ({ message, code, name }) => new ToolError(message, { code, name: name ?? undefined }),
    });
    super(scenario, harness);
    const { presentation: mode, limits, approval, caller, log } = this.scenario;
    this.#session = new SeenSession(harness, log?.fail_append);
    this.#runtime = new Runtime({
      clock: harness.clock,
      mode,
      maxParallel: limits?.max_parallel,
      approval: approvalOf(approval),
      warn() {},
    });
    this.#layers = new Layers(this.scenario, this.#made());
    this.#layers.build();
    if (caller !== null) this.#caller = this.#layers.layer(caller);
  }

  /** What is made of the parts of the scenario. */
  #made() {
    const { harness } = this;
    return {
      globalLayer: this.#runtime.global,
      scopeIn: (layer, { name }) => layer.scope(name),
      tool: (tool) => toolOf(tool, harness, (...call) => this.#makeCall(...call)),
      guard: (guard) => guardOf(guard, harness),
      hook: (hook) => hookOf(hook, harness),
      answerer: (answerer) => answererOf(answerer, harness),
      somebody: ({ execution, signal }) => harness.approval(execution.position, signal),
      setPolicy: (policy) => this.#setPolicy(policy),
      refusal: (error) => (error instanceof Refused || error instanceof ScriptedError ? error.message : undefined),
    };
  }

  #setPolicy(policy) {
    if (this.scenario.mode === "single") throw new Refused("APP-9", "there is no session to log it in");
    this.#session.approvalPolicy = policy;
  }

  finish() {
    super.finish();
    this.#apart.abort(new Cause("caller"));
  }

  // -- batches ----------------------------------------------------------------------------------

  /** Run a batch to its end. */
  async begin(announced) {
    const around = { signal: this.harness.caller.signal, scope: this.#caller };
    try {
      const concluded = await (this.scenario.mode === "single"
        ? this.#execute(announced[0], { ...around, position: 0 })
        : this.#runBatch(announced, around));
      this.harness.emit("batch.closed", { ended: "returned", concluded });
    } catch (failure) {
      console.error(failure);
      this.failed = true;
      this.harness.emit("batch.failed", { where: "other" });
    }
    this.idle = true;
  }

  async #runBatch(announced, around) {
    const { concluded } = await this.#runtime.runBatch(announced, { ...around, session: this.#session });
    return concluded;
  }

  /** Run a call that no batch is about, and tell of its result; answers whether it ends the turn. */
  async #execute(announced, around) {
    const result = await this.#runtime.execute(announced, around);
    const shown = shownResult(result, this.harness);
    const contexts = result.contexts.map(textOf);
    this.harness.emit("result.returned", { pos: around.position, ...shown, contexts });
    return result.concludesTurn === true;
  }

  /** Make the call that a body makes. It has a place of its own, after the calls of the batch. */
  async #makeCall({ token, signal: whose, name, arguments: text }, context, attempt) {
    const signal = whose === "own" ? context.signal : this.#apart.signal;
    const { position, id } = this.harness.nest({ pos: context.position, attempt }, signal, name, text);
    const within = token ? { parent: context.token, root: context.root } : {};
    await this.#execute({ id, name, arguments: text }, { signal, scope: this.#caller, position, ...within });
  }

  /** Put together what the model is shown now. */
  tellTheModel() {
    this.harness.emit("model.requested", this.#shownToTheModel());
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
}
