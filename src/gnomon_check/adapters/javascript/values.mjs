// VAL, ARG: JSON values, and the raw text that a model gives as arguments.
//
// A value is copied once, where it comes in. The copy is frozen, so that from then on everybody may share it.

export const LIMITS = Object.freeze({ depth: 200, nodes: 1_000_000 });

/** Why something is no JSON value: the reason, and the path to the first part that is none. */
export class NotAValue {
  constructor(reason, path = []) {
    this.reason = reason;
    this.path = path;
  }

  toString() {
    return `${["$", ...this.path].join(".")}: ${this.reason}`;
  }
}

/**
 * Runs a walk through something nested, and answers what it answers. A walk is a generator that yields the walk
 * through a part where it would call itself, so that depth costs no stack (VAL-3).
 */
export function walk(whole) {
  const open = [whole];
  let answer;
  while (open.length > 0) {
    const { value, done } = open.at(-1).next(answer);
    answer = done ? value : undefined;
    if (done) open.pop();
    else open.push(value);
  }
  return answer;
}

// -- a frozen copy ------------------------------------------------------------------------------

/** A frozen copy of a value, or the `NotAValue` that says which part of it is none. */
export function snapshot(value, limits = LIMITS) {
  const at = { limits, nodes: 0, around: [], path: [] };
  try {
    return walk(copied(value, at));
  } catch (refused) {
    if (refused instanceof NotAValue) return refused;
    throw refused;
  }
}

function* copied(part, at) {
  at.nodes += 1;
  if (at.nodes > at.limits.nodes) throw refused(at, `it has more than ${at.limits.nodes} parts`); // VAL-8
  if (isScalar(part)) return part;
  const slots = slotsOf(part, at);
  if (at.around.includes(part)) throw refused(at, "it contains itself"); // VAL-1
  if (at.around.length >= at.limits.depth) throw refused(at, `it is nested more than ${at.limits.depth} deep`); // VAL-3
  at.around.push(part);
  const copy = Array.isArray(part) ? [] : {};
  for (const [key, one] of slots) {
    at.path.push(key);
    put(copy, key, yield copied(one, at));
    at.path.pop();
  }
  at.around.pop();
  return Object.freeze(copy); // VAL-7
}

function refused(at, reason) {
  return new NotAValue(reason, [...at.path]);
}

function isScalar(part) {
  const kind = typeof part;
  return part === null || kind === "string" || kind === "boolean" || (kind === "number" && Number.isFinite(part));
}

/** The slots of a container, each with its key, and each of them read once (VAL-2). */
function slotsOf(part, at) {
  try {
    if (typeof part === "object" && isPlain(part)) {
      return Array.isArray(part) ? Array.from(part, (one, index) => [index, one]) : Object.entries(part);
    }
  } catch {
    throw refused(at, "it cannot be read");
  }
  throw refused(at, "it is not null, a boolean, a finite number, text, an array or an object"); // VAL-1
}

/** No instance of a class, and no key that is not text: neither can be told in JSON (VAL-1). */
function isPlain(part) {
  const plain = Array.isArray(part) ? [Array.prototype] : [Object.prototype, null];
  return plain.includes(Object.getPrototypeOf(part)) && Object.getOwnPropertySymbols(part).length === 0;
}

/** Set a slot of a copy; `__proto__` is a name like any other. */
function put(container, key, value) {
  if (key !== "__proto__") container[key] = value;
  else Object.defineProperty(container, key, { value, enumerable: true, writable: true, configurable: true });
}

// -- equality -----------------------------------------------------------------------------------

/** Whether two JSON values are equal: the order of keys does not count, and `true` is not 1 (VAL-5). */
export function jsonEqual(left, right) {
  const pairs = [[left, right]]; // VAL-3
  while (pairs.length > 0) {
    const [one, other] = pairs.pop();
    const kind = kindOf(one);
    if (kind !== kindOf(other)) return false;
    if (kind !== "array" && kind !== "object") {
      if (one !== other) return false;
      continue;
    }
    const keys = Object.keys(one);
    if (keys.length !== Object.keys(other).length) return false;
    if (!keys.every((key) => Object.hasOwn(other, key))) return false;
    for (const key of keys) pairs.push([one[key], other[key]]);
  }
  return true;
}

/** One of the six kinds of JSON values. */
export function kindOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

// -- the raw text of arguments --------------------------------------------------------------------

/** What the raw argument text of a call means: a frozen value, the text itself, or a `NotAValue`. */
export function parseArguments(text) {
  if (text === "") return Object.freeze({}); // ARG-1
  let value;
  try {
    value = JSON.parse(text); // ARG-2: it takes what RFC 8259 says, and nothing else. A whole -0 is minus zero (VAL-5)
  } catch {
    return text; // ARG-3
  }
  const altered = alteredNumber(text);
  if (altered !== undefined) return new NotAValue(`no number holds ${altered} exactly`); // VAL-4
  return snapshot(value); // ARG-3: what is too deep or too large fails, as does what is beyond all doubles
}

/** The first whole number in a JSON text that a double would alter, if there is one. */
export function alteredNumber(json) {
  const withoutText = json.replace(/\\./g, "").replace(/"[^"]*"/g, "");
  for (const [literal] of withoutText.matchAll(/-?\d[\d.eE+-]*/g)) {
    if (/^-?\d+$/.test(literal) && isAltered(literal)) return literal; // VAL-4
  }
  return undefined;
}

/** Whether a double does not hold what an integer literal says. */
function isAltered(literal) {
  const number = Number(literal);
  return !Number.isFinite(number) || BigInt(number) !== BigInt(literal);
}
