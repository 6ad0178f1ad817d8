// DSP-2, TMO: what aborts a body.

/** The reason of a signal whose deadline has passed. */
export class DeadlinePassed extends Error {
  constructor(ms) {
    super(`the time of ${ms} ms is over`);
    this.name = "DeadlinePassed";
  }
}

/** Calls back when a signal aborts, or at once if it has; answers how that is called off. */
export function onAbort(signal, callback) {
  if (signal.aborted) {
    callback();
    return () => {};
  }
  signal.addEventListener("abort", callback, { once: true });
  return () => signal.removeEventListener("abort", callback);
}

/** A signal that aborts as soon as one of two does, with its reason; and how it lets go of them (DSP-2). */
export function fused(one, other) {
  if (one === other) return { signal: one, release() {} }; // DSP-2: none is made needlessly
  const controller = new AbortController();
  const callOffs = [];
  const release = () => callOffs.forEach((callOff) => callOff());
  for (const source of [one, other]) {
    const abort = () => {
      controller.abort(source.reason);
      release();
    };
    callOffs.push(onAbort(source, abort));
  }
  return { signal: controller.signal, release };
}

/**
 * The wrapper that carries out timeouts. It fuses a deadline into the signal, and waits for the body instead of
 * racing it (TMO-1). The clock runs from here on, so that a retry outside of it gets a new deadline (TMO-4).
 */
export function timeoutWrapper(clock) {
  return async (execution, next) => {
    const ms = execution.timeoutMs;
    if (ms === undefined) return next();
    const { signal: found, callerSignal } = execution;
    const deadline = new AbortController();
    const callOff = clock.after(ms, () => {
      const tooLate = callerSignal.aborted || found.aborted; // TMO-2: an outer abort came first
      if (!tooLate) deadline.abort(new DeadlinePassed(ms));
    });
    const { signal, release } = fused(found, deadline.signal);
    execution.signal = signal;
    try {
      const result = await next();
      return deadline.signal.aborted ? timedOut(ms) : result; // TMO-2
    } finally {
      callOff();
      release();
      execution.signal = found; // TMO-3
    }
  };
}

function timedOut(ms) {
  return { ok: false, error: { code: "TOOL_TIMEOUT", name: "ToolTimeoutError", message: `it took over ${ms} ms` } };
}
