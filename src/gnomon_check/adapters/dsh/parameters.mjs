// Parameters as an author of DSH writes them. `defineTool` checks arguments, and takes a map of properties in which
// `required: true` marks what has to be there; a raw definition holds a JSON Schema, and nobody checks it.

const ANNOTATIONS = ["title", "description", "default", "examples"];
const SCALARS = ["string", "number", "integer", "boolean", "null"];

/** The map of properties that means the same as a schema of parameters; nothing where there is none. */
export function authored(schema) {
  const { type, properties = {}, required = [], additionalProperties = true, ...rest } = schema;
  const isOpenObject = type === "object" && additionalProperties === true;
  if (!isOpenObject || Object.keys(rest).some((key) => !ANNOTATIONS.includes(key))) return undefined;
  return propertyMap(properties, required);
}

function propertyMap(properties, required) {
  if (required.some((name) => !Object.hasOwn(properties, name))) return undefined;
  const made = Object.entries(properties).map(([name, schema]) => {
    const one = value(schema);
    return [name, one && { ...one, ...(required.includes(name) && { required: true }) }];
  });
  return made.every(([, one]) => one !== undefined) ? Object.fromEntries(made) : undefined;
}

/** The author's form of a schema of one value; nothing where there is none. */
function value(schema) {
  const { type, ...rest } = schema;
  const { properties = {}, required = [], additionalProperties = true, items, oneOf, ...others } = rest;
  const allowed = SCALARS.includes(type) ? [...ANNOTATIONS, "enum", "const"] : ANNOTATIONS;
  if (Object.keys(others).some((key) => !allowed.includes(key))) return undefined;
  if (SCALARS.includes(type)) return { type, ...others };
  if (type === "object") {
    const inner = propertyMap(properties, required);
    return inner && { type, ...others, properties: inner, additionalProperties };
  }
  if (type === "array") {
    const item = items === undefined ? undefined : value(items);
    return items === undefined || item ? { type, ...others, ...(item && { items: item }) } : undefined;
  }
  if (oneOf !== undefined) {
    const branches = oneOf.map(value);
    return branches.every((one) => one !== undefined) ? { ...others, oneOf: branches } : undefined;
  }
  return type === undefined ? { type: "json", ...others } : undefined;
}
