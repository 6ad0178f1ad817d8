// Plays the scripts of a scenario: those of bodies, of listeners and approvers, and of what cannot wait.
//
// A script is a list of steps, each an object with one key. When a script delegates, what it waits for, and how it
// ends is the script's; what a decision or a result is made of is the adapter's, which is asked for it.

import { CHANGES, Withdrawn } from "./harness.mjs";

const opOf = (step) => Object.entries(step)[0];
const named = (name, pos) => name.replaceAll("$call", String(pos));

// -- bodies -------------------------------------------------------------------------------------

/**
 * Plays the script of a body. `stage` has the harness, `pos`, `attempt` and `signal`; `source()` says what has
 * aborted the signal; `makeCall(call)`, `defer(text)` and `conclude()` do what a body may do.
 */
export async function playBody(script, stage) {
  const { harness, pos, attempt, signal } = stage;
  const tell = (event, fields) => harness.emit(event, { pos, attempt, ...fields });
  tell("body.started");
  await harness.turn();
  for (const [op, what] of script.map(opOf)) {
    switch (op) {
      case "await_abort":
        await harness.awaitAbort(pos, signal);
        tell("body.signalled", { source: stage.source() });
        break;
      case "execute":
        await calling(what, stage, tell);
        break;
      case "defer":
        tell("context.deferred", { context: what.context });
        stage.defer(what.context);
        break;
      case "conclude":
        stage.conclude();
        break;
      case "return":
        tell("body.settled", { how: "returned" });
        return valueOf(what.value, harness, pos);
      case "raise":
        tell("body.settled", { how: "raised" });
        throw harness.error(what);
      default:
        await playCommon(op, what, stage);
    }
  }
  tell("body.settled", { how: "returned" });
  return null;
}

async function calling({ name, arguments: text = "{}", token = true, signal = "own" }, stage, tell) {
  try {
    await stage.makeCall({ name, arguments: text, token, signal });
  } catch (failure) {
    tell("body.settled", { how: "raised" });
    throw failure;
  }
}

/** What a body returns: a fresh value, where it is asked for; and what JSON cannot hold, where that stands for it. */
function valueOf(value = null, harness, pos) {
  if (isForm(value, "$nonce") && value.$nonce === true) return harness.nonce(pos);
  return realised(value);
}

/** The steps that mean the same whoever takes them. */
async function playCommon(op, what, { harness, pos, signal, things }) {
  switch (op) {
    case "gate":
      return harness.passGate(named(what.name, pos));
    case "await_abort":
      return harness.awaitAbort(pos, signal);
    case "sleep":
      return harness.sleep(pos, what.ms);
    case "abort":
      playAtOnce(op, what, harness, pos);
      return harness.turn(); // what follows from it comes first
    default:
      return playAtOnce(op, what, harness, pos, things);
  }
}

/** The steps that cannot wait. `things` is what the script was given that nobody may change, by name. */
function playAtOnce(op, what, harness, pos, things = {}) {
  if (op === "note") harness.emit("noted", { pos, text: what.text });
  else if (op === "mutate") tampering(what, harness, pos, things);
  else if (op === "abort") harness.abort(named(what.signal ?? "caller", pos));
  else if (Object.hasOwn(CHANGES, op)) harness.change(op, what);
  else throw new Error(`this script does not hold the step ${op}`);
}

/** Try to put a value where nobody may. That it is refused, or changes nothing, is told. */
function tampering({ path, value = null }, harness, pos, things) {
  const last = path.at(-1);
  let reason = "nothing has changed";
  try {
    const holder = path.slice(0, -1).reduce((whole, part) => whole[part], things);
    holder[last] = value;
    if (holder[last] === value) return;
  } catch (refusal) {
    reason = String(refusal);
  }
  harness.emit("op.refused", { pos, op: "mutate", reason });
}

// -- listeners and approvers --------------------------------------------------------------------

/**
 * Plays the script of one who stands in a row. `stage` has the harness, `pos`, `waterfall`, `listener` (its id) and
 * `signal`, and `next()`, which delegates. `word(answer)` is the word for what `next()` answers; `decision(plain,
 * contexts)`, `result(plain, contexts)` make what the implementation knows; `putSignal(name, aborted)`,
 * `putNonsense(value)` and `putBackSignal()` are for wrappers, and whoever is none is refused. `defer(text)` hands over
 * a context, which is no business of a listener: it throws, or answers false where that has no effect. `things` is
 * what nobody may change: `{arguments, execution, result}`.
 */
export async function playListener(script, stage) {
  const row = { running: true, nth: 0, hasHeard: false };
  try {
    return await playInRow(script, stage, row);
  } finally {
    row.running = false;
  }
}

async function playInRow(script, stage, heard) {
  const { harness, pos, waterfall, listener } = stage;
  const tell = (event, fields) => harness.emit(event, { pos, waterfall, listener, ...fields });
  const refused = (what, reason) => harness.emit("op.refused", { pos, role: waterfall, op: what, reason: String(reason) });
  const decided = (decision, answer) => {
    tell("policy.decided", { decision });
    return answer;
  };
  tell("policy.entered");
  await harness.turn();
  for (const [op, what] of script.map(opOf)) {
    switch (op) {
      case "next":
        await delegating(stage, heard, tell);
        break;
      case "next_unawaited":
        await starting(stage, heard, tell);
        break;
      case "next_concurrently":
        for (let times = what.times ?? 2; times > 0; times -= 1) await starting(stage, heard, tell);
        await hearing(stage, heard, tell);
        break;
      case "keep_next":
        harness.keepNext(named(what.name, pos), { pos, role: waterfall, row: heard, next: stage.next });
        break;
      case "defer":
      case "set_signal":
      case "set_signal_value":
        overstepping(op, what, stage, refused);
        break;
      case "restore_signal":
        stage.putBackSignal();
        break;
      case "await_abort":
        await harness.awaitAbort(pos, stage.signal);
        if (waterfall === "approval") throw new Withdrawn(); // nobody asks for an answer any more
        break;
      case "raise":
        decided("raised");
        throw harness.error(what);
      case "pass":
        return passing(stage, heard, decided);
      case "borrow":
        return borrowing(what.from, stage, decided);
      case "decide":
      case "author":
      case "answer":
        return ending(op, what, stage, decided);
      default:
        await playCommon(op, what, stage);
    }
  }
  return passing(stage, heard, decided);
}

async function delegating(stage, heard, tell) {
  if (isPending(heard)) return tooEarly(stage, heard, tell);
  heard.nth += 1;
  heard.raised = undefined;
  heard.hasHeard = true;
  tell("policy.delegated", { nth: heard.nth });
  try {
    heard.answer = await stage.next();
  } catch (raised) {
    if (raised instanceof Withdrawn) throw raised;
    heard.raised = { raised }; // the answer of the rest of the row is that it failed
  }
  return resuming(stage, heard, tell);
}

function resuming(stage, { nth, answer, raised }, tell) {
  if (stage.waterfall === "execute") {
    stage.things.result = answer; // nobody may change it
    if (raised === undefined) stage.harness.heard.set(stage.pos, answer);
  }
  tell("policy.resumed", { nth, answer: raised === undefined ? stage.word(answer) : "raised" });
}

const isPending = ({ started }) => started !== undefined && !started.over;

/** Delegate, and do not wait. Others come to their turn first: the rest of the row begins. */
async function starting(stage, heard, tell) {
  if (isPending(heard)) return tooEarly(stage, heard, tell);
  heard.nth += 1;
  tell("policy.delegated", { nth: heard.nth });
  const started = { over: false };
  const over = (outcome) => Object.assign(started, outcome, { over: true });
  started.going = Promise.resolve(stage.next()).then(
    (answer) => over({ answer }),
    (raised) => over({ raised: { raised } }),
  );
  heard.started = started;
  return stage.harness.turn();
}

/** Delegate while an earlier `next()` is pending: that is to be refused (PRE-7). */
async function tooEarly(stage, heard, tell) {
  const { harness, pos, waterfall: role } = stage;
  try {
    await stage.next();
  } catch (refusal) {
    harness.emit("op.refused", { pos, role, op: "next", reason: String(refusal) });
    return;
  }
  heard.nth += 1;
  tell("policy.delegated", { nth: heard.nth }); // it was let go on, which is seen too
}

/** Wait for the `next()` that was started, and tell of its answer. */
async function hearing(stage, heard, tell) {
  await heard.started.going;
  const { answer, raised } = heard.started;
  Object.assign(heard, { answer, raised, hasHeard: true, started: undefined });
  resuming(stage, heard, tell);
}

/** Do what not every listener may; that it is refused is told, and the script goes on. */
function overstepping(op, what, stage, refused) {
  const { pos } = stage;
  try {
    if (op === "defer" && !stage.defer(what.context)) refused(op, "it has no effect any more");
    if (op === "set_signal") stage.putSignal(named(what.name, pos), what.aborted ?? false);
    if (op === "set_signal_value") stage.putNonsense(realised(what.value ?? null));
  } catch (refusal) {
    refused(op, refusal);
  }
}

/** End with what the last `next()` has answered, or as one ends that has nothing to say. */
function passing(stage, { hasHeard, answer, raised }, decided) {
  if (raised !== undefined) {
    decided("raised");
    throw raised.raised;
  }
  if (hasHeard) return decided(stage.waterfall === "execute" ? "passed" : stage.word(answer), answer);
  switch (stage.waterfall) {
    case "pre_execute":
      return decided("allow", stage.decision({ kind: "allow" }, []));
    case "post_execute":
      return decided("accept", stage.decision({ kind: "accept" }, []));
    case "approval":
      return decided("unavailable", "unavailable");
    default:
      return decided("malformed", undefined);
  }
}

/** End with the very result that a wrapper of another call has heard last; with nothing where none has. */
function borrowing(from, { harness, waterfall }, decided) {
  const result = waterfall === "execute" ? harness.heard.get(from) : undefined;
  return decided(result === undefined ? "malformed" : "authored", result);
}

/** End with a decision, a result or an answer of one's own; nonsense is handed over as it is. */
function ending(op, what, stage, decided) {
  const { waterfall } = stage;
  const { contexts = [] } = what;
  const plain = what.decision ?? what.result ?? what.outcome ?? null;
  if (op !== ENDS[waterfall].op) return decided("malformed", { nonsense: plain }); // it is another row's
  const word = ENDS[waterfall].word(plain);
  if (word === undefined) return decided("malformed", plain);
  if (op === "answer") return decided(word, plain);
  return decided(word, op === "author" ? stage.result(plain, contexts) : stage.decision(plain, contexts));
}

/** By which step one of a row ends with something of its own, and the word for it where it is well-formed. */
const ENDS = {
  pre_execute: { op: "decide", word: (plain) => (isPreDecision(plain) ? plain.kind : undefined) },
  execute: { op: "author", word: (plain) => (isResult(plain) ? "authored" : undefined) },
  post_execute: { op: "decide", word: (plain) => (isPostDecision(plain) ? plain.kind : undefined) },
  approval: { op: "answer", word: (plain) => (ANSWERS.includes(plain) ? plain : undefined) },
};
const ANSWERS = ["allowed-once", "rejected", "cancelled", "unavailable"];

function isPreDecision(plain) {
  const reason = typeof plain?.reason;
  if (plain?.kind === "deny") return reason === "string";
  if (plain?.kind === "ask") return reason === "string" || reason === "undefined";
  return ["allow", "cancel"].includes(plain?.kind);
}

function isPostDecision(plain) {
  if (plain?.kind === "block") return isContent(plain.feedback);
  return plain?.kind === "accept" && (plain.content === undefined || isContent(plain.content));
}

function isResult(plain) {
  return plain?.ok === false || (plain?.ok === true && plain.value !== undefined);
}

/** Whether it is content: a list of objects that say their type. */
export function isContent(candidate) {
  return Array.isArray(candidate) && candidate.every((one) => typeof one?.type === "string");
}

// -- what cannot wait ---------------------------------------------------------------------------

/** Plays a script that cannot wait. Answers how it ends: `deny`, `nothing`, `return` or `raise`, and with what. */
function playAtOnceToTheEnd(script, harness, pos, things) {
  for (const [op, what] of script.map(opOf)) {
    if (["deny", "nothing", "return", "raise"].includes(op)) return [op, what];
    playAtOnce(op, what, harness, pos, things);
  }
  return ["nothing", {}];
}

/** Plays the script of a guard, and answers what a guard does: a reason, nothing, or nonsense. */
export function playGuard(script, harness, pos, guard, things) {
  const [op, what] = playAtOnceToTheEnd(script, harness, pos, things);
  const answered = (answer) => harness.emit("guard.answered", { pos, guard, answer });
  if (op === "raise") {
    answered("raised");
    throw harness.error(what);
  }
  const answer = op === "deny" ? what.reason ?? "denied" : what.value ?? null;
  answered(answer === null ? "pass" : typeof answer === "string" ? "deny" : "malformed");
  return answer;
}

/** Plays the script of a function of a tool, or of an observer, and answers what it answers: a value, or null. */
export function playFunction(script, harness, pos, things) {
  const [op, what] = playAtOnceToTheEnd(script, harness, pos, things);
  if (op === "raise" || op === "deny") throw harness.error(what);
  return what.value ?? null;
}

// -- values that JSON cannot hold, or not in short ----------------------------------------------

function isForm(value, form) {
  return value !== null && typeof value === "object" && Object.keys(value).join() === form;
}

/** The value that a value with forms `{"$hostile": KIND}` stands for. */
function realised(value) {
  if (isForm(value, "$hostile")) return hostile(value.$hostile);
  if (value === null || typeof value !== "object") return value;
  const made = Array.isArray(value) ? [] : {};
  for (const [key, one] of Object.entries(value)) {
    const part = isForm(one, "$hostile") && one.$hostile === "cycle" ? made : realised(one);
    Object.defineProperty(made, key, { value: part, enumerable: true, writable: true, configurable: true });
  }
  return made;
}

const HOSTILE = {
  nan: () => NaN,
  inf: () => Infinity,
  set: () => new Set([1]),
  bytes: () => new Uint8Array([120]),
  date: () => new Date(0),
  subclass: () => new String("x"),
  cycle: () => realised([{ $hostile: "cycle" }]),
  deep: (levels) => Array.from({ length: levels - 1 }).reduce((inside) => [inside], []),
  wide: (count) => new Array(count).fill(0),
  non_string_key: () => ({ [Symbol("key")]: 2 }),
  none: () => null,
  evil_dunder: () => new Proxy({}, { getPrototypeOf: refuse, ownKeys: refuse }),
  lone_surrogate: () => "\ud800",
  big_int: (digits) => 10 ** digits - 1,
  negative_zero: () => -0,
};

function refuse() {
  throw new Error("nothing can be asked of it");
}

function hostile(kind) {
  const [name, number] = kind.split(":");
  return HOSTILE[name](Number(number));
}

// -- what JavaScript cannot do ------------------------------------------------------------------

const NATIVE = { feature: "native cancellation", reason: "nothing cancels a promise from outside" };
const RESUME = { feature: "repair", reason: "the session is in memory, and ends with the process" };
const NOT_RAISED = ["cancelled", "exit", "keyboard", "generator_exit"];
const FUNCTIONS = ["render", "presentation_meta", "project", "finalize"];
const STEPS = new Set([
  ...["gate", "await_abort", "sleep", "note", "abort", "raise", ...Object.keys(CHANGES)],
  ...["execute", "defer", "conclude", "return"], // of bodies
  ...["next", "pass", "decide", "author", "borrow", "answer", "set_signal", "restore_signal"], // of those in rows
  ...["next_unawaited", "next_concurrently", "keep_next", "set_signal_value", "mutate"], // what is to be refused
  ...["deny", "nothing"], // of what cannot wait
]);

/**
 * What of a scenario no script can do here: the feature and the reason, or nothing. `resumes` says that a log can be
 * repaired.
 */
export function unsupported({ tools, hooks = [], guards = [], approval, schedule }, { resumes = false } = {}) {
  const inputs = schedule.flatMap((step) => step.together ?? [step]).map((step) => opOf(step)[0]);
  if (!resumes && (inputs.includes("crash") || inputs.includes("repair"))) return RESUME;
  if (inputs.includes("cancel") || tools.some((one) => one.interrupt === "cancel")) return NATIVE;
  const bodies = tools.flatMap((one) => one.body ?? []);
  const functions = tools.flatMap((one) => FUNCTIONS.flatMap((name) => one[name] ?? []));
  const others = [...hooks, ...guards, ...(approval?.answerers ?? [])].flatMap((one) => one.script ?? []);
  const missing = [...bodies, ...functions, ...others].map(missingStep).find((one) => one !== undefined);
  return missing ?? [...bodies, ...others].map(missingValue).find((one) => one !== undefined);
}

function missingStep(step) {
  const [op, what] = opOf(step);
  if (op === "on_cancel" || (op === "raise" && NOT_RAISED.includes(what.kind))) return NATIVE;
  return STEPS.has(op) ? undefined : { feature: `the step ${op}`, reason: "it is not known here" };
}

function missingValue(step) {
  const value = step.return?.value ?? step.set_signal_value?.value ?? null;
  const kind = [...kindsIn(value)].find((one) => !isMade(one));
  return kind && { feature: `$hostile ${kind}`, reason: "JavaScript has no such value, or does not hold it" };
}

/** The kinds of the forms that stand in a value. */
function* kindsIn(value) {
  if (isForm(value, "$hostile")) yield value.$hostile;
  else if (value !== null && typeof value === "object") {
    for (const one of Object.values(value)) yield* kindsIn(one);
  }
}

function isMade(kind) {
  const [name, number] = kind.split(":");
  return Object.hasOwn(HOSTILE, name) && (name !== "big_int" || Number(number) <= 15);
}
