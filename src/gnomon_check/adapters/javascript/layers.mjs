// What stands in the layers of a scenario, and what changes there. It knows nothing of the runtime that is held to the
// specification, and serves an adapter for any other.

/** A change that there is nothing for, or that an implementation has refused. */
class NotChanged extends Error {}

export class Layers {
  #scenario;
  #made;
  #layers = new Map(); // by the name of the scope
  #disposers = new Map(); // by the number or the id that steps use
  #counts = new Map(); // how many were made under a name

  /**
   * `made` is what an adapter makes of the parts of a scenario. `globalLayer` and `scopeIn(layer, scope)` are layers;
   * each has `register(tool)`, `restrict(filter)`, `presentAs(mode)`, `guard(ask)` and `on(waterfall, listener,
   * {prepend})`, which answer how that is taken back. `tool(definition)`, `guard(definition)`, `hook(definition)`,
   * `answerer(definition)` and `somebody` are what is put there; `setPolicy(policy)` is how a policy of approvals is
   * set. `refusal(error)` says why something was refused, where an exception says that it was, or nothing.
   */
  constructor(scenario, made) {
    this.#scenario = scenario;
    this.#made = made;
  }

  /** Put up what stands at the start. */
  build() {
    const { approval, scopes, caller, tools, hooks, guards, restrictions } = this.#scenario;
    const known = scopes.length > 0 || caller === null ? scopes : [{ name: caller }];
    this.#layers.set(null, this.#made.globalLayer);
    for (const scope of known) {
      this.#layers.set(scope.name, this.#made.scopeIn(this.layer(scope.parent), scope));
    }
    if (approval) this.#addAnswerers(approval.answerers ?? []);
    const atTheStart = (one) => one.later !== true;
    for (const one of tools.filter(atTheStart)) this.#change("register", { tool: one.id ?? one.name });
    const ofChanges = ({ on }) => on === "change";
    const hooksAtTheStart = hooks.filter(atTheStart);
    for (const one of hooksAtTheStart) if (!ofChanges(one)) this.#change("add_hook", { hook: one.id });
    for (const { id } of guards.filter(atTheStart)) this.#change("add_guard", { guard: id });
    for (const one of restrictions) this.#change("restrict", one);
    for (const { name: scope, mode: own } of known) if (own) this.#change("set_mode", { scope, mode: own });
    for (const one of hooksAtTheStart) if (ofChanges(one)) this.#change("add_hook", { hook: one.id });
  }

  /** The layer of a scope, or the global one. */
  layer(scope = null) {
    const layer = this.#layers.get(scope);
    if (layer === undefined) throw new NotChanged(`there is no scope ${scope}`);
    return layer;
  }

  /** Change something; answers why it was refused, or nothing. */
  change(op, what) {
    try {
      this.#change(op, what);
      return undefined;
    } catch (error) {
      const refusal = error instanceof NotChanged ? error.message : this.#made.refusal(error);
      if (refusal === undefined) throw error;
      return refusal;
    }
  }

  /** Those who answer; where a scenario names none, somebody waits for the kit. */
  #addAnswerers(answerers) {
    for (const one of answerers) {
      this.layer(one.scope).on("approval", this.#made.answerer(one), { prepend: one.prepend });
    }
    if (answerers.length === 0) this.layer(null).on("approval", this.#made.somebody, {});
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
        return this.#made.setPolicy(what.policy);
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
    this.#keep(tool.name, this.layer(tool.scope).register(this.#made.tool(tool)));
  }

  #restrict({ scope = null, allow, deny }) {
    const filter = { allow: allow ?? undefined, deny: deny ?? undefined };
    this.#keep(`restriction:${scope}`, this.layer(scope).restrict(filter));
  }

  #setMode({ scope, mode }) {
    if (mode === null) this.#drop(`mode:${scope}`);
    else this.#disposers.set(`mode:${scope}`, this.layer(scope).presentAs(mode));
  }

  #addGuard(guard) {
    this.#stands(`guard:${guard.id}`, () => this.layer(guard.scope).guard(this.#made.guard(guard)));
  }

  #addHook(hook) {
    const { id, on, prepend, scope } = hook;
    this.#stands(`hook:${id}`, () => this.layer(scope).on(on, this.#made.hook(hook), { prepend }));
  }

  /** Remember how something is taken back, under its number: it is the n-th of its name. */
  #keep(name, dispose) {
    const number = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, number);
    this.#disposers.set(`${name}@${number}`, dispose);
  }

  /** Take back what has a number; that may be done again (REG-8). */
  #takeBack(number) {
    const dispose = this.#disposers.get(number);
    if (dispose === undefined) throw new NotChanged(`nothing ever had the number ${number}`);
    dispose();
  }

  /** Add what stands under an id, once. */
  #stands(key, add) {
    if (this.#disposers.has(key)) throw new NotChanged(`${key} stands already`);
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
  if (found === undefined) throw new NotChanged(`there is no definition ${key}`);
  return found;
}
