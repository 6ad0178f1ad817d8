// SCH: the schemas of arguments and outputs, a small part of JSON Schema draft 2020-12.
//
// What is outside of that part is refused when a tool is declared, so that nothing is published and not enforced.

import { LIMITS, NotAValue, jsonEqual, kindOf, snapshot, walk } from "./values.mjs";

const SCALARS = ["string", "number", "integer", "boolean", "null"];

/** Which keywords may stand beside which type (SCH-1). */
const BESIDE = new Map([
  ["object", ["properties", "required", "additionalProperties"]],
  ["array", ["items"]],
  ...SCALARS.map((type) => [type, ["enum", "const"]]),
]);
const CONSTRAINTS = [...BESIDE.values()].flat();
const ANNOTATIONS = ["title", "description", "default", "examples"];

// -- what is declared ---------------------------------------------------------------------------

/** Every reason why a schema is not supported, each with its path and its clause (SCH-2). */
export function declaredFaults(schema) {
  const faults = [];
  walk(lookedAt(schema, [], [], faults));
  if (faults.length > 0) return faults;
  const whole = snapshot(schema);
  return whole instanceof NotAValue ? [{ path: whole.path, clause: "VAL-1", reason: whole.reason }] : [];
}

function* lookedAt(schema, path, around, faults) {
  const place = { schema, path, faults, inside: [] };
  if (around.includes(schema)) return fault(place, "SCH-5", "the schema contains itself");
  if (path.length >= LIMITS.depth) return fault(place, "VAL-3", `it is nested more than ${LIMITS.depth} deep`);
  if (kindOf(schema) !== "object") return fault(place, "SCH-9", "a schema is an object");
  for (const [keyword, value] of Object.entries(schema)) {
    const [clause, reason] = misplaced(schema, keyword) ?? [];
    if (clause !== undefined) fault(place, clause, reason, keyword);
    else if (!CONSTRAINTS.includes(keyword) || BESIDE.has(schema.type)) LOOKS[keyword](place, value, keyword);
  }
  for (const [one, ...more] of place.inside) yield lookedAt(one, [...path, ...more], [...around, schema], faults);
}

function fault({ path, faults }, clause, reason, ...more) {
  faults.push({ path: [...path, ...more], clause, reason });
}

/** The clause and the reason by which a keyword does not belong there, if it does not. */
function misplaced(schema, keyword) {
  const { type } = schema;
  if (ANNOTATIONS.includes(keyword) || keyword === "oneOf") return undefined;
  if (keyword !== "type" && !CONSTRAINTS.includes(keyword)) return ["SCH-2", "it is outside the subset"];
  if (Object.hasOwn(schema, "oneOf")) return ["SCH-1", "it stands beside `oneOf`"];
  if (keyword === "type") return BESIDE.has(type) ? undefined : ["SCH-9", "it is not the name of one type"];
  if (!Object.hasOwn(schema, "type")) return ["SCH-2", "no `type` stands beside it"];
  if (BESIDE.has(type) && !BESIDE.get(type).includes(keyword)) return ["SCH-2", `it does not belong to ${type}`];
  return undefined;
}

/** What is to be looked at in the value of each keyword, where the keyword belongs. */
const LOOKS = {
  type() {},
  title: mustBeText,
  description: mustBeText,
  default: mustBeAValue,
  examples(place, value, keyword) {
    if (mustBeAValue(place, value, keyword) && kindOf(value) !== "array") {
      fault(place, "SCH-1", "it is an array of values", keyword);
    }
  },
  oneOf(place, value, keyword) {
    if (kindOf(value) !== "array" || value.length < 2) fault(place, "SCH-1", "it has two branches or more", keyword);
    else place.inside.push(...value.map((one, index) => [one, keyword, index]));
  },
  properties(place, value, keyword) {
    if (kindOf(value) !== "object") fault(place, "SCH-1", "it maps names to schemas", keyword);
    else place.inside.push(...Object.entries(value).map(([name, one]) => [one, keyword, name]));
  },
  items(place, value, keyword) {
    place.inside.push([value, keyword]);
  },
  additionalProperties(place, value, keyword) {
    if (typeof value !== "boolean") fault(place, "SCH-1", "it is true or false", keyword);
  },
  required(place, value, keyword) {
    if (kindOf(value) !== "array") return fault(place, "SCH-1", "it is a list of names", keyword);
    const declared = kindOf(place.schema.properties) === "object" ? place.schema.properties : {};
    value.forEach((name, index) => {
      if (typeof name !== "string" || !Object.hasOwn(declared, name)) {
        fault(place, "SCH-3", "no such property is declared", keyword, index); // SCH-3
      } else if (value.indexOf(name) < index) fault(place, "SCH-3", "the name stands twice", keyword, index);
    });
  },
  enum(place, value, keyword) {
    if (kindOf(value) !== "array" || value.length === 0) {
      return fault(place, "SCH-9", "it is a list that is not empty", keyword); // SCH-9
    }
    value.forEach((one, index) => {
      if (!isOf(one, place.schema.type)) fault(place, "SCH-1", `it is no ${place.schema.type}`, keyword, index);
    });
  },
  const(place, value, keyword) {
    const { type, enum: allowed } = place.schema;
    if (!isOf(value, type)) fault(place, "SCH-1", `it is no ${type}`, keyword);
    else if (kindOf(allowed) === "array" && !allowed.some((one) => jsonEqual(one, value))) {
      fault(place, "SCH-9", "it is not one of `enum`", keyword); // SCH-9
    }
  },
};

function mustBeText(place, value, keyword) {
  if (typeof value !== "string") fault(place, "SCH-1", "it is text", keyword);
}

function mustBeAValue(place, value, keyword) {
  const held = snapshot(value);
  if (held instanceof NotAValue) fault(place, "SCH-1", held.reason, keyword, ...held.path);
  return !(held instanceof NotAValue);
}

/** Whether a value is of a type; an integer is every number without a fractional part (SCH-3). */
function isOf(value, type) {
  const kind = kindOf(value);
  if (kind !== "number") return kind === type;
  return Number.isFinite(value) && (type === "number" || (type === "integer" && Number.isInteger(value)));
}

// -- the check of a value -----------------------------------------------------------------------

/**
 * Every way in which a value does not fit a supported schema, in the order of SCH-6: the path, the keyword, and
 * as `detail` the missing name of `required`, and how many branches of `oneOf` fit.
 */
export function violations(schema, value) {
  const found = [];
  walk(checked(schema, value, [], found));
  return found;
}

function* checked(schema, value, path, found) {
  const { type, oneOf } = schema;
  const broken = (keyword, detail) => found.push({ path, keyword, ...(detail !== undefined && { detail }) });
  if (type !== undefined && !isOf(value, type)) return broken("type"); // one of the wrong type breaks nothing else
  if (schema.enum !== undefined && !schema.enum.some((one) => jsonEqual(one, value))) broken("enum");
  if (schema.const !== undefined && !jsonEqual(schema.const, value)) broken("const");
  if (oneOf !== undefined) {
    const findings = oneOf.map(() => []);
    for (const [index, branch] of oneOf.entries()) yield checked(branch, value, path, findings[index]);
    const matches = findings.filter((one) => one.length === 0).length;
    if (matches !== 1) broken("oneOf", matches); // SCH-6
  }
  if (kindOf(value) === "array" && schema.items !== undefined) {
    for (const [index, one] of value.entries()) yield checked(schema.items, one, [...path, index], found);
  }
  if (kindOf(value) !== "object") return;
  for (const name of schema.required ?? []) if (!Object.hasOwn(value, name)) broken("required", name); // SCH-6: first
  const properties = schema.properties ?? {};
  for (const [name, one] of Object.entries(properties)) {
    if (Object.hasOwn(value, name)) yield checked(one, value[name], [...path, name], found); // SCH-6: then
  }
  if (schema.additionalProperties !== false) return; // SCH-3
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) found.push({ path: [...path, name], keyword: "additionalProperties" });
  }
}
