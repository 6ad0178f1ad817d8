// Holds the runtime beside it to the specification: speaks with the kit, one JSON object a line.
//
//   gnomon conform exec:"node adapter.mjs"
//
// Standard output belongs to the protocol. What is to be told to people goes to standard error.

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
    ...["CONTEXT", "TIMEOUT", "REGISTRY", "SINGLE", "NESTED", "SEVERAL"],
  ],
  protocol: "1.0",
  spec: "1.0",
};

/** The scenario that is open, if one is. */
let run;

/** The answer to a request, without its number. */
async function answerTo({ hello, open, do: asked, close, bye }, line) {
  if (hello) return { hello: MANIFEST };
  if (bye) return { bye: {} };
  if (open) return opened(open.scenario, line);
  if (run === undefined) return { refused: { reason: "no scenario is open" } };
  if (close) run.finish();
  const refused = asked && run.do(asked.step, asked.value);
  return refused === undefined ? { quiet: await run.quiet() } : { refused: { reason: refused } };
}

function opened(scenario, line) {
  run = undefined;
  const cannot = tooLarge(scenario, line) ?? beyondTheSubset(scenario) ?? unsupported(scenario);
  if (cannot !== undefined) return { cannot };
  try {
    run = new Run(scenario);
    return { ready: {} };
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    return { cannot: { feature: "what stands at the start", reason: refused.message } };
  }
}

/** Whole numbers that doubles do not hold are refused here, and kept where numbers hold them (VAL-4). */
function tooLarge({ tools, batches }, line) {
  const made = tools.flatMap(({ body = [] }) => body.flatMap((step) => step.execute ?? []));
  const calls = [...batches.flatMap((one) => one.calls), ...made];
  const texts = calls.map((one) => one.arguments ?? "{}").filter((text) => typeof parseArguments(text) !== "string");
  const number = [line, ...texts].map(alteredNumber).find((one) => one !== undefined);
  return number && { feature: "large whole numbers", reason: `no number holds ${number} exactly` };
}

/** Parameters may be any JSON Schema (SCH-8), but this runtime has no check for what is beyond the subset. */
function beyondTheSubset({ tools }) {
  const [fault] = tools.flatMap(({ parameters = {} }) => declaredFaults(parameters));
  return fault && { feature: "parameters beyond the subset", reason: `${fault.path.join(".")}: ${fault.reason}` };
}

/** The lines of a stream. A line ends with a line feed, and with nothing else. */
async function* linesOf(stream) {
  let rest = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    const pieces = (rest + chunk).split("\n");
    rest = pieces.pop();
    yield* pieces;
  }
}

for await (const line of linesOf(process.stdin)) {
  const { id, ...request } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id, ...(await answerTo(request, line)) })}\n`);
  if (request.bye) break;
}
