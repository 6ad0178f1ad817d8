// Holds the runtime beside it to the specification:
//
//   gnomon conform exec:"node adapter.mjs"

import { converse } from "./conversation.mjs";
import { madeByBodies } from "./parts.mjs";
import { Run } from "./run.mjs";
import { Refused, alteredNumber, declaredFaults, parseArguments } from "./runtime.mjs";
import { unsupported } from "./scripts.mjs";

const MANIFEST = {
  name: "javascript",
  version: "1.0.0",
  language: "JavaScript",
  // All but RESUME and NATIVE: sessions are in memory only, and nothing cancels a promise from outside.
  profiles: [
    ...["ORDER", "PAIRING", "BOUND", "CONTAIN", "ARGS", "VALUES", "CANCEL", "HOOKS", "GUARD", "ASK", "CONTENT"],
    ...["CONTEXT", "TIMEOUT", "REGISTRY", "SINGLE", "NESTED", "SEVERAL", "LOG", "MISUSE", "ANNOUNCE"],
  ],
  protocol: "1.0",
  spec: "1.0",
};

function opened(scenario, line) {
  const cannot = tooLarge(scenario, line) ?? beyondTheSubset(scenario) ?? unsupported(scenario);
  if (cannot !== undefined) return { cannot };
  try {
    return { run: new Run(scenario) };
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    return { cannot: { feature: "what stands at the start", reason: refused.message } };
  }
}

/** Whole numbers that doubles do not hold are refused here, and kept where numbers hold them (VAL-4). */
function tooLarge({ tools, batches }, line) {
  const calls = [...batches.flatMap((one) => one.calls), ...madeByBodies(tools)];
  const texts = calls.map((one) => one.arguments ?? "{}").filter((text) => typeof parseArguments(text) !== "string");
  const number = [line, ...texts].map(alteredNumber).find((one) => one !== undefined);
  return number && { feature: "large whole numbers", reason: `no number holds ${number} exactly` };
}

/** Parameters may be any JSON Schema (SCH-8), but this runtime has no check for what is beyond the subset. */
function beyondTheSubset({ tools }) {
  const [fault] = tools.flatMap(({ parameters = {} }) => declaredFaults(parameters));
  return fault && { feature: "parameters beyond the subset", reason: `${fault.path.join(".")}: ${fault.reason}` };
}

await converse(MANIFEST, opened);
