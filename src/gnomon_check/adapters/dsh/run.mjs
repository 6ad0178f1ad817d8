// A scenario on DSH. A batch is what a scripted model announces to an agent of DSH's own loop; a call outside of any
// batch goes to its registry of tools directly.

import { randomUUID } from "node:crypto";

import { Cause, Harness } from "../javascript/harness.mjs";
import { Inputs } from "../javascript/inputs.mjs";
import { Layers } from "../javascript/layers.mjs";
import { textOf, toldResult } from "../javascript/parts.mjs";
import { CANCELLED, SOURCE, answererOf, guardOf, hookOf, toolOf } from "./bindings.mjs";
import { contextsOf, outcomeOf, shownText } from "./bindings.mjs";
import { Calls } from "./calls.mjs";
import { Layer, ROUTE, Refused, ScriptedModel, asked, started } from "./host.mjs";
import { keepTimeBy } from "./node.mjs";
import { HarnessError, assembleContextFor, createUserMessage, setApprovalPolicy } from "./packages.mjs";
import { interruptedTurnClosers } from "./packages.mjs";

/** A harness whose process may end: what goes on then is not seen any more. */
class Surroundings extends Harness {
  ended = false;

  emit(event, fields) {
    if (!this.ended) super.emit(event, fields);
  }

  blocked() {
    return this.ended ? [] : super.blocked();
  }
}

export class Run extends Inputs {
  #context;
  #stop;
  #agent;
  #layers;
  #calls = new Calls();
  #asked = new Map(); // the positions of the calls whose approvals were asked for
  #announced; // the calls that the model is still to announce
  #underway; // the batch that is not over yet, and what is known of its end
  #log; // what is left of the session after a crash
  #apart = new AbortController(); // for calls that bodies make without a signal of theirs

  /** Put DSH together for a scenario. Throws `Refused` where it refuses what stands at the start. */
  static async of(scenario) {
    const run = new Run(scenario);
    try {
      await run.#build();
      return run;
    } catch (refused) {
      run.end();
      throw refused;
    }
  }

  constructor(scenario) {
    const harness = new Surroundings({
      change: (op, what) => this.#layers.change(op, what),
      error: ({ message, code, name }) => Object.assign(new HarnessError(message, code), name && { name }),
    });
    super(scenario, harness, ["crash", "repair"]);
    keepTimeBy(harness.clock);
  }

  async #build() {
    const { scenario } = this;
    const { caller } = scenario;
    const { context, stop } = await started(scenario, new ScriptedModel(() => this.#modelAnswers()));
    this.#context = context;
    this.#stop = stop;
    if (caller !== null) this.#agent = this.#context.agentLoop.create(randomUUID(), ROUTE);
    this.#layers = new Layers(scenario, this.#made());
    this.#layers.build();
    this.#context.on("session/event", (session, event) => {
      if (session === this.#agent?.session) this.#see(event);
    });
    this.#context.on("tools/result", (execution, result) => {
      if (result.concludesTurn && !this.#calls.isNested(execution) && this.#underway) this.#underway.concludes = true;
    });
    this.#context.systemPrompt.variable("gnomon", () => void this.#beginsAnotherRequest());
  }

  /** What is made of the parts of the scenario. */
  #made() {
    const { harness, scenario } = this;
    const makeCall = (...call) => this.#makeCall(...call);
    const around = { harness, calls: this.#calls, makeCall, changing: Layer.changing };
    return {
      globalLayer: new Layer(this.#context),
      scopeIn: (layer, scope) => layer.scopeIn(scope, scope.name === scenario.caller ? this.#agent : undefined),
      tool: (tool) => asked(() => toolOf(tool, around)),
      guard: (guard) => guardOf(guard, around),
      hook: (hook) => hookOf(hook, around),
      answerer: (answerer) => answererOf(answerer, around),
      somebody: ({ callId, signal }) => harness.approval(this.#calls.asking(callId), signal),
      setPolicy: (policy) => asked(() => setApprovalPolicy(this.#agent.session, policy)),
      refusal: (error) => (error instanceof Refused ? error.message : undefined),
    };
  }

  isIdle() {
    if (this.#log !== undefined) return true;
    return this.scenario.mode === "single" ? this.idle : this.#agent.status === "idle";
  }

  finish() {
    super.finish();
    this.#apart.abort(new Cause("caller"));
  }

  end() {
    this.#stop?.();
  }

  // -- batches ----------------------------------------------------------------------------------

  begin(announced) {
    this.#calls.begin(announced);
    if (this.scenario.mode === "single") return void this.#runAlone(announced[0]);
    this.#announced = announced;
    this.#underway = { calls: announced.length, concludes: false, waiting: 0 };
    this.harness.caller.signal.addEventListener("abort", () => this.#cancel());
    const content = [{ type: "text", text: "go on" }];
    this.#agent.followup(createUserMessage({ content, source: { kind: "user" } }));
  }

  /** The owner of the turn cancels it: there is no other signal of a caller in the loop of DSH. */
  #cancel() {
    if (this.#agent.status === "running") this.#agent.cancel(CANCELLED);
  }

  /** The model is asked: it announces the batch first, and has nothing more to say then. */
  #modelAnswers() {
    const calls = this.#announced ?? [];
    this.#announced = undefined;
    return calls;
  }

  /** DSH puts together the next request of the model: then the batch is over. */
  #beginsAnotherRequest() {
    if (this.#underway?.stepEnded) this.#closed({ goesOn: true });
  }

  /**
   * The batch has returned. That it ends the turn shows in that the model is asked no more; where it is asked, for it
   * has to hear contexts, or is not, for the caller has aborted, what DSH says of the results counts.
   */
  #closed({ goesOn = false, aborted = false } = {}) {
    const { calls, concludes, waiting } = this.#underway;
    this.#underway = undefined;
    const asks = (goesOn && waiting > 0) || aborted || calls === 0;
    this.harness.emit("batch.closed", { ended: "returned", concluded: asks ? concludes : !goesOn });
  }

  #failed(why) {
    console.error(why);
    this.#underway = undefined;
    this.failed = true;
    this.harness.emit("batch.failed", { where: "other" });
  }

  // -- what DSH logs ----------------------------------------------------------------------------

  #see({ type, seq, data, sourceEventSeqs = [] }) {
    const { harness } = this;
    switch (type) {
      case "assistant/message": // nothing of the batch has begun, and an abort that came before counts from here on
        if (harness.caller.signal.aborted) this.#cancel();
        break;
      case "tool/call":
        this.#tellCall(seq, data);
        break;
      case "tool/result":
        this.#tellResult(seq, data, sourceEventSeqs);
        break;
      case "agent/inbox/spliced":
        for (const one of data.inserted) if (one.source.plugin === SOURCE.plugin) this.#tellContext(one);
        break;
      case "approval/asked":
        this.#asked.set(data.id, this.#calls.asking(data.callId));
        harness.emit("approval.asked", { pos: this.#asked.get(data.id) });
        break;
      case "approval/decided":
        harness.emit("approval.decided", { pos: this.#asked.get(data.id), outcome: data.outcome });
        break;
      case "step/end":
        if (this.#underway && this.#announced === undefined) this.#underway.stepEnded = true;
        break;
      case "turn/end":
        if (this.#underway) this.#turnEnded(data.reason);
        break;
    }
  }

  #tellCall(seq, { callId, name, arguments: text }) {
    const pos = this.#calls.log(seq);
    this.harness.emit("call.logged", { pos, call_id: callId, name, arguments: text, log_seq: seq });
  }

  #tellResult(seq, { message, error }, [cites]) {
    const [block] = message.content;
    const pos = this.#calls.logged.get(cites) ?? this.#calls.unanswered(block.toolCallId);
    const outcome = block.isError ? { ok: false, code: error?.code ?? null } : { ok: true };
    const shown = toldResult(outcome, shownText(block.content), this.harness);
    this.harness.emit("result.logged", { pos, call_id: block.toolCallId, log_seq: seq, cites, ...shown });
    this.#calls.answered += 1;
  }

  /** A context is taken in right after the result that it belongs to. */
  #tellContext({ content }) {
    if (this.#underway) this.#underway.waiting += 1;
    this.harness.emit("context.accepted", { pos: this.#calls.answered - 1, context: textOf(content) });
  }

  #turnEnded({ kind, ...reason }) {
    if (kind === "error") this.#failed(reason);
    else this.#closed({ aborted: kind === "aborted" });
  }

  // -- single calls -----------------------------------------------------------------------------

  async #runAlone(call) {
    try {
      const concluded = await this.#execute(call, { position: 0, signal: this.harness.caller.signal });
      this.harness.emit("batch.closed", { ended: "returned", concluded });
    } catch (failure) {
      this.#failed(failure);
    }
    this.idle = true;
  }

  /** Run a call that no batch is about, and tell of its result; answers whether it ends the turn. */
  async #execute({ id, name, arguments: text }, { position: pos, signal, ...within }) {
    const agent = this.#agent;
    const call = { callId: id, name, arguments: JSON.parse(text), signal, ...(agent && { agent }), ...within };
    const result = await this.#context.tools.execute(call);
    const shown = toldResult(outcomeOf(result), shownText(result.content), this.harness);
    this.harness.emit("result.returned", { pos, ...shown, contexts: contextsOf(result) });
    return result.concludesTurn === true;
  }

  /** Make the call that a body makes. */
  async #makeCall({ token, signal: whose, name, arguments: text }, execution, from) {
    const signal = whose === "own" ? execution.signal : this.#apart.signal;
    const { position, id } = this.harness.nest(from, signal, name, text);
    this.#calls.nest(id, position);
    const within = token ? { parent: execution.token, rootCallId: execution.rootCallId } : {};
    await this.#execute({ id, name, arguments: text }, { position, signal, ...within });
  }

  // -- the model, a crash -----------------------------------------------------------------------

  /** Put together what the model is shown now. */
  async tellTheModel() {
    const context = this.#agent ? assembleContextFor(this.#agent) : {};
    try {
      const { tools } = await this.#context.systemPrompt.assemble(context);
      this.harness.emit("model.requested", { tools: tools.map(({ name }) => name) });
    } catch (refused) {
      this.harness.emit("model.requested", { tools: [], refused: refused.message });
    }
  }

  other(op) {
    if (op === "crash") this.#crash();
    else this.#repair();
  }

  /** The process ends: what the session has logged is all that is left. */
  #crash() {
    this.#log = [...this.#agent.session.events];
    this.#underway = undefined;
    this.harness.ended = true;
  }

  /** What DSH adds to a log that it reads again after a crash. */
  #repair() {
    const added = interruptedTurnClosers(this.#log);
    this.#log = [...this.#log, ...added];
    this.harness.ended = false;
    for (const event of added) this.#see(event);
    this.harness.ended = true;
  }
}
