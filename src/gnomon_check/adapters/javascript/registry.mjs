// REG, MOD: the layers that tools, restrictions, modes, guards and listeners stand in, and who sees what of them.
//
// There is one global layer, and one of each scope; a scope is an agent, or a preset that agents inherit from.
// Nothing is remembered of an earlier look: each question is answered from the layers as they are.

import { declaredFaults, violations } from "./schema.mjs";
import { ToolError } from "./results.mjs";
import { NotAValue, kindOf, snapshot } from "./values.mjs";

const RUN_CODE = "run_code";
const MODES = ["native", "ptc", "both"];
const ROWS = ["pre_execute", "execute", "post_execute", "result", "approval", "change"];

/** A contribution is refused; nothing has changed. */
export class Refused extends Error {
  constructor(clause, reason) {
    super(`${clause}: ${reason}`);
    this.clause = clause;
    this.name = "Refused";
  }
}

// -- layers -------------------------------------------------------------------------------------

/** One layer. Whatever is added to it answers a disposer, which takes back exactly that (REG-8). */
class Layer {
  #registry;
  #parent;
  #tools = new Map();
  #restrictions = new Set();
  #guards = [];
  #mode;

  constructor(registry, name, parent) {
    this.#registry = registry;
    this.#parent = parent;
    this.name = name;
  }

  /** A scope below this layer. */
  scope(name) {
    return new Layer(this.#registry, name, this);
  }

  /** Register a tool. */
  register(definition) {
    const tool = defined(definition);
    if (this.#tools.has(tool.name)) throw new Refused("REG-2", `the layer has a tool ${tool.name} already`); // REG-2
    this.#tools.set(tool.name, tool);
    const dispose = () => {
      if (this.#tools.get(tool.name) !== tool) return; // REG-8
      this.#tools.delete(tool.name);
      this.#registry.announce("removed", this, tool.name);
    };
    this.#announced("registered", tool.name, dispose);
    return dispose;
  }

  /** Restrict what the layer inherits: only `allow`, where it is given, and never `deny`. */
  restrict({ allow, deny }) {
    if (this.#parent === undefined) throw new Refused("REG-4", "a restriction belongs to a scope");
    if (allow === undefined && deny === undefined) throw new Refused("REG-4", "it neither allows nor denies");
    const known = this.inherited(); // REG-4: before any restriction
    for (const name of [...(allow ?? []), ...(deny ?? [])]) {
      if (name === RUN_CODE) throw new Refused("REG-3", `${RUN_CODE} cannot be restricted`);
      if (!known.has(name)) throw new Refused("REG-4", `the scope inherits no tool ${name}`);
    }
    const restriction = { allow: allow && new Set(allow), deny: new Set(deny ?? []) }; // REG-4: copied
    this.#restrictions.add(restriction);
    const dispose = () => {
      if (this.#restrictions.delete(restriction)) this.#registry.announce("unrestricted", this);
    };
    this.#announced("restricted", undefined, dispose);
    return dispose;
  }

  /** Declare how the tools of a scope are shown. */
  presentAs(mode) {
    if (this.#parent === undefined) throw new Refused("MOD-6", "the global mode is configuration");
    if (this.#mode !== undefined) throw new Refused("MOD-6", "the scope declares a mode already");
    if (!MODES.includes(mode)) throw new Refused("MOD-1", `there is no mode ${mode}`);
    const declared = (this.#mode = { mode });
    return () => {
      if (this.#mode === declared) this.#mode = undefined; // MOD-6: what it hid holds again
    };
  }

  /** Add a guard: a function of the execution that answers a reason, which denies, or nothing. */
  guard(ask) {
    const guard = { ask, order: this.#registry.nextOrder() };
    this.#guards.push(guard);
    return () => removeFrom(this.#guards, guard); // REG-9: guards are not announced
  }

  /** Add a listener to a row: after the others, or outermost of all (PRE-1). */
  on(row, listener, { prepend = false } = {}) {
    return this.#registry.addListener(row, { layer: this, listener }, prepend);
  }

  /** The first guard of this layer that was added after a moment: one that a guard adds is still asked (GRD-6). */
  guardAfter(order) {
    return this.#guards.find((one) => one.order > order);
  }

  /** This layer and all that it inherits from, the farthest first (REG-7). */
  chain() {
    return this.#parent === undefined ? [this] : [...this.#parent.chain(), this];
  }

  /** What the layer inherits before any restriction, by name; a nearer tool takes the place of the one it hides. */
  inherited() {
    const found = new Map();
    for (const layer of this.chain().slice(0, -1)) {
      for (const [name, tool] of layer.#tools) found.set(name, tool); // REG-7, REG-11
    }
    return found;
  }

  /** The tools that are seen from here, by name and in order (REG-5, REG-11). */
  view() {
    const found = this.inherited();
    for (const layer of this.chain()) for (const one of layer.#restrictions) removeHidden(found, one); // REG-4
    for (const [name, tool] of this.#tools) found.set(name, tool); // REG-2, REG-4: its own are exempt
    if (this.mode() !== "native") found.set(RUN_CODE, RUN_CODE_TOOL); // MOD-5
    return found;
  }

  /** How the tools are shown that are seen from here: the nearest declaration wins (REG-7, MOD-6). */
  mode() {
    const declaring = this.chain().findLast((layer) => layer.#mode !== undefined);
    return declaring === undefined ? this.#registry.mode : declaring.#mode.mode;
  }

  /** What the model is sent (REG-6). There is no code runtime here, so the modes that need one fail (MOD-3). */
  modelTools() {
    if (this.mode() !== "native") throw new Refused("MOD-3", `the mode ${this.mode()} needs a code runtime`);
    return [...this.view().values()].map(({ name, description, parameters, deferLoading }) => ({
      name,
      description,
      parameters: structuredClone(parameters),
      ...(deferLoading && { deferLoading: true }),
    }));
  }

  /** Tell of an addition; where a listener throws, the addition is undone (REG-9). */
  #announced(op, name, dispose) {
    try {
      this.#registry.announce(op, this, name);
    } catch (raised) {
      dispose();
      throw raised;
    }
  }
}

function removeHidden(found, { allow, deny }) {
  for (const name of [...found.keys()]) {
    if (deny.has(name) || (allow !== undefined && !allow.has(name))) found.delete(name);
  }
}

function removeFrom(list, one) {
  const place = list.indexOf(one);
  if (place >= 0) list.splice(place, 1);
}

// -- all layers ---------------------------------------------------------------------------------

export class Registry {
  #rows = new Map(ROWS.map((row) => [row, []]));
  #order = 0;

  constructor(mode) {
    if (!MODES.includes(mode)) throw new Refused("MOD-1", `there is no mode ${mode}`);
    this.mode = mode;
    this.global = new Layer(this, "global");
  }

  nextOrder() {
    this.#order += 1;
    return this.#order;
  }

  addListener(row, entry, prepend) {
    const entries = this.#rows.get(row);
    if (entries === undefined) throw new Refused("PRE-1", `there is no row ${row}`);
    if (prepend) entries.unshift(entry);
    else entries.push(entry);
    return () => removeFrom(entries, entry);
  }

  /** The listeners of a row for a call from a layer, outermost first: no descendant's (PRE-1). */
  row(row, layer) {
    const chain = layer.chain();
    return this.#rows.get(row).filter((one) => chain.includes(one.layer)).map((one) => one.listener);
  }

  announce(op, layer, name) {
    for (const { listener } of [...this.#rows.get("change")]) listener({ op, layer, name });
  }
}

/** Whether a call from a layer goes past the one way that is left open, through a program (MOD-2). */
export function collapses(layer, name, nested) {
  return !nested && name !== RUN_CODE && layer.mode() === "ptc" && layer.view().has(name);
}

/** The tool that a call from a layer would run now, or nothing (DSP-4). */
export function callable(layer, name, nested) {
  return collapses(layer, name, nested) ? undefined : layer.view().get(name);
}

// -- definitions --------------------------------------------------------------------------------

/** A tool as it was defined: what changes later in the source has no effect (REG-10). */
function defined(source) {
  const { name, description = "", parameters = { type: "object" }, output } = source;
  const { run, project, finalize, parallel, timeoutMs, deferLoading = false, checksArguments = false } = source;
  if (typeof name !== "string" || name === RUN_CODE) throw new Refused("REG-3", `no tool may be named ${name}`);
  if (typeof run !== "function") throw new Refused("REG-1", "it has no `run` function");
  if (output === undefined) throw new Refused("REG-1", "it declares no output");
  if (typeof output.render !== "function") throw new Refused("REG-1", "its output has no `render` function");
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new Refused("REG-1", "its timeout is no positive finite number");
  }
  const { render, meta } = output;
  const given = { name, description, run, project, finalize, parallel, timeoutMs, deferLoading, checksArguments };
  return held({
    ...given,
    // SCH-8 allows any JSON Schema here. This runtime enforces the subset only, so it publishes nothing else (SCH-2).
    parameters: checksArguments ? plain(parameters) : supported(parameters),
    output: Object.freeze({ schema: supported(output.schema), render, meta }),
  });
}

function held(tool) {
  const faultsOf = (args) => (tool.checksArguments ? [] : violations(tool.parameters, args)); // SCH-8, DSP-8
  return Object.freeze({ ...tool, faultsOf });
}

function supported(schema) {
  const [fault] = declaredFaults(schema);
  if (fault === undefined) return snapshot(schema);
  const path = ["$", ...fault.path].join(".");
  throw new Refused(fault.clause, `UNSUPPORTED_SCHEMA: ${path}: ${fault.reason}`);
}

function plain(schema) {
  const copy = snapshot(schema);
  if (copy instanceof NotAValue || kindOf(copy) !== "object") throw new Refused("SCH-8", "this is no JSON Schema");
  return copy;
}

/** The tool that runs programs; nobody registers it (MOD-4, MOD-5). Here nothing can run one (MOD-3). */
const RUN_CODE_TOOL = held({
  name: RUN_CODE,
  description: "Run a program that may call the tools",
  parameters: supported({
    type: "object",
    properties: { description: { type: "string" }, code: { type: "string" } },
    required: ["description", "code"],
  }),
  output: Object.freeze({ schema: Object.freeze({}), render: () => [] }),
  run() {
    throw new ToolError("there is no code runtime", { code: "CODE_RUN_FAILED", name: "CodeRunFailedError" });
  },
});
