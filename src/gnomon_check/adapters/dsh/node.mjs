// What DSH asks of Node, and what the kit takes from it. This comes before anything of DSH.
//
// DSH names Node 22.19 as what it needs; of what 20 does not have, the ways that are gone here use one function.
// Its timeouts arm real timers. The kit's time is virtual, so whoever sets a timer in this process gets a virtual one.

import { Console } from "node:console";

/** Standard output belongs to the protocol: what anybody logs is told to people. */
globalThis.console = new Console(process.stderr);

process.on("unhandledRejection", (reason) => console.error("a rejection that nobody handles:", reason));

Promise.withResolvers ??= function withResolvers() {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

let clock;

/** From here on timers go by this clock. */
export function keepTimeBy(virtual) {
  clock = virtual;
}

globalThis.setTimeout = (callback, ms, ...given) => {
  const callOff = clock.after(ms, () => callback(...given));
  const timer = { callOff, ref: () => timer, unref: () => timer, hasRef: () => true };
  return timer;
};
globalThis.clearTimeout = (timer) => timer?.callOff?.();
