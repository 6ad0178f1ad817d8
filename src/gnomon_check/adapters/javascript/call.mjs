// CRE: one call on its way, and what others see of it.
//
//   create -> prepare (admission.mjs) -> dispatch (dispatch.mjs) -> finalize (settlement.mjs)
//
// `prepare` and `dispatch` answer how a call has settled: its result, and whether that still visits post-execute.

import { callable, collapses } from "./registry.mjs";
import { NotAValue, parseArguments } from "./values.mjs";

/** A result that still visits post-execute. */
export const visitsPost = (result) => ({ result, visitsPost: true });

/** A result that only needs finishing: a policy itself failed, or the call never became one. */
export const isFinal = (result) => ({ result, visitsPost: false });

export class Call {
  bodyInvoked = false;
  concluded = false;
  deferred = []; // the contexts that bodies have handed over
  made = new WeakSet(); // the results of this execution: a wrapper may end with one of them
  asked = []; // what becomes of the approvers that were asked
  timeoutMs; // what the timeout is, from the dispatch on

  /**
   * Create a call. `announced` is what the model said: {id, name, arguments}. Around it are the runtime, the layer
   * that it is made from, and whether there is a caller scope; the signal of the caller; its position among the calls
   * of its caller; its session; and the token and the root of the call in which it is nested.
   */
  constructor(announced, { runtime, layer, hasScope, signal, position, session, parent, root }) {
    const { id, name, arguments: text } = announced; // CRE-7
    Object.assign(this, { runtime, layer, hasScope, session, name, parent });
    const visible = layer.view().get(name); // CRE-3, CRE-7: before the arguments are read
    this.collapsed = collapses(layer, name, parent !== undefined); // MOD-2
    this.project = visible?.project; // CRE-3
    this.finalize = this.collapsed && !signal.aborted ? undefined : visible?.finalize; // CRE-3, CRE-6
    this.args = parseArguments(text); // CRE-2
    this.caller = signal;
    this.signal = signal; // what stands in its place: a wrapper may put another one there
    // CRE-1
    this.identity = {
      callId: id,
      name,
      arguments: this.args instanceof NotAValue ? undefined : this.args, // CRE-2: nobody sees what is none
      position,
      scope: layer,
      parent,
      root: root ?? id,
      token: Symbol(id),
    };
    this.execution = this.#face();
  }

  /** What policies see: nothing of it can be changed (CRE-5, ARG-5). */
  #face() {
    const call = this;
    return Object.freeze({
      ...call.identity,
      get signal() {
        return call.signal;
      },
    });
  }

  /** What a wrapper sees: while it runs, it may put another signal in place (CRE-5). */
  wrapperFace(standing) {
    const call = this;
    return Object.freeze({
      ...call.identity,
      callerSignal: call.caller,
      timeoutMs: call.timeoutMs,
      get signal() {
        return call.signal;
      },
      set signal(signal) {
        if (!standing.running) throw new TypeError("only a wrapper that runs may put a signal in place"); // CRE-5
        if (!(signal instanceof AbortSignal)) throw new TypeError("this is no AbortSignal"); // CRE-5
        call.signal = signal;
      },
    });
  }

  /** The listeners of a row that the call meets now. */
  row(name) {
    return this.runtime.registry.row(name, this.layer);
  }

  /** The tool that the call would run now, or nothing (DSP-4). */
  tool() {
    return callable(this.layer, this.name, this.parent !== undefined);
  }
}
