// DSH, put together for one scenario: its services, an agent, and its scopes.

import {
  AgentLoop,
  AgentRegistry,
  ApprovalService,
  Context,
  LlmAdapter,
  LlmRuntime,
  SessionStore,
  SystemPrompt,
  TimeoutPolicy,
  ToolRuntime,
  bindScopeParent,
  createScope,
} from "./packages.mjs";

/** How tools are shown: the kit's word, and that of DSH. */
const MODES = { native: "native", ptc: "code", both: "both" };
const EVENTS = {
  pre_execute: "tools/pre-execute",
  execute: "tools/execute",
  post_execute: "tools/post-execute",
  result: "tools/result",
  approval: "approval/request",
  change: "tools/change",
};
const SERVICES = ["agentLoop", "agents", "llm", "sessions", "systemPrompt", "tools"];

/** Something that DSH refuses, with what it says. */
export class Refused extends Error {}

/** Ask DSH for something; what it throws then is a refusal. */
export function asked(work) {
  try {
    return work();
  } catch (error) {
    throw new Refused(error.message, { cause: error });
  }
}

/**
 * Start the services of a scenario. Answers the context in which all that is its own stands, and how it is stopped:
 * what a registry of agents has taken of Node would slow down all that come after it.
 */
export async function started({ presentation = "native", limits, approval }, model) {
  const root = new Context();
  const fibers = [];
  const start = async (...plugin) => fibers.unshift(await root.plugin(...plugin));
  await start(LlmRuntime);
  await start(SessionStore);
  await start(SystemPrompt, { persona: "" });
  if (approval) await start(ApprovalService, { policy: approval.policy ?? "ask" });
  await start(ToolRuntime, { mode: MODES[presentation] });
  await start(TimeoutPolicy); // the first wrapper that is registered
  await start(AgentRegistry);
  const bound = limits?.max_parallel && { maxParallelToolCalls: limits.max_parallel };
  await start(AgentLoop, { agents: [], ...bound });
  let context;
  await start({ name: "scenario", inject: SERVICES, apply: (own) => void (context = own) });
  context.llm.registerAdapter([ROUTE.provider], model);
  const stop = () => fibers.forEach((fiber) => Promise.resolve(fiber.dispose()).catch(console.error));
  return { context, stop };
}

/** The route of the model that announces what the kit wants. */
export const ROUTE = { provider: "gnomon", model: "gnomon" };

/** The model of a scenario: `answer()` says which calls it makes, each time that it is asked. */
export class ScriptedModel extends LlmAdapter {
  #answer;

  constructor(answer) {
    super();
    this.#answer = answer;
  }

  async *stream() {
    const calls = this.#answer();
    const said = { type: "text", text: "done" };
    const announced = calls.map((one) => ({ type: "tool-call", id: one.id, name: one.name, arguments: one.arguments }));
    for (const [index, block] of (calls.length > 0 ? announced : [said]).entries()) {
      yield { type: "block-start", index, blockType: block.type };
      yield { type: "block-end", index, block };
    }
    yield { type: "usage", usage: { inputTokens: 1, outputTokens: 1 } };
    yield { type: "finish", reason: { kind: calls.length > 0 ? "tool-calls" : "stop" } };
  }
}

/** A layer: what stands in a context of DSH, the global one or that of a scope. */
export class Layer {
  /** The name of the tool that is being registered; an empty one while a restriction is being made. */
  static changing = { name: undefined };
  #context;

  /** `key` is how DSH tells a scope: an agent, or anything that agents inherit from. */
  constructor(context, key) {
    this.#context = context;
    this.key = key;
  }

  /** The layer of a scope in this one; `agent` is given where it is that of the agent itself. */
  scopeIn({ name }, agent) {
    if (agent !== undefined) {
      if (this.key !== undefined) bindScopeParent(agent, this.key);
      return new Layer(agent.ctx, agent);
    }
    const key = { name };
    return new Layer(createScope(this.#context, key, { parent: this.key }).ctx, key);
  }

  register(tool) {
    return this.#change(tool.name, (tools) => tools.register(tool));
  }

  restrict(filter) {
    return this.#change("", (tools) => tools.restrict(filter));
  }

  #change(name, work) {
    Layer.changing.name = name;
    try {
      return asked(() => work(this.#context.tools));
    } finally {
      Layer.changing.name = undefined;
    }
  }

  presentAs(mode) {
    return asked(() => this.#context.tools.presentAs(MODES[mode]));
  }

  guard(ask) {
    return this.#context.tools.guard(ask);
  }

  on(waterfall, listener, { prepend }) {
    return this.#context.on(EVENTS[waterfall], listener, prepend ? { prepend } : {});
  }
}
