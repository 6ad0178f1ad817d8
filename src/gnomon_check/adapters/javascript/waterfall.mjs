// PRE-1, PRE-7: how the listeners of a row are nested, for all rows.

/**
 * Runs a row of listeners, the first outermost, and answers what it decides.
 *
 * `give` says what a listener is called with, before `next`; it gets an object whose `running` says whether the
 * listener still runs. `innermost` answers where nobody decides. `checked` takes what a listener decides, or throws.
 */
export function runRow(row, { give, innermost, checked }) {
  const listeners = [...row]; // PRE-1: the set is fixed here
  async function reach(number) {
    if (number === listeners.length) return innermost();
    const standing = { running: true };
    let pending;
    function next() {
      if (!standing.running) throw new Error("next() was called after the listener had settled"); // PRE-7
      if (pending !== undefined) throw new Error("next() was called while an earlier one is pending"); // PRE-7
      const answer = reach(number + 1); // PRE-7: a second one runs the whole rest again
      const over = () => (pending = undefined);
      pending = answer.then(over, over);
      return answer;
    }
    try {
      return checked(await listeners[number](...give(standing), next)); // PRE-3
    } finally {
      standing.running = false;
      await pending; // DSP-6: what it started runs to its end, also where it was not waited for
    }
  }
  return reach(0);
}

/** What a function answers that nobody waits for: where it is a promise, what comes of it changes nothing. */
export function unawaited(answer) {
  Promise.resolve(answer).catch(() => {});
  return answer;
}
