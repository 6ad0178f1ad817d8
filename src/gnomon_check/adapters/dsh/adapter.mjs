// Holds DSH, the DeepSeek Harness, to the specification, as its packages are published:
//
//   gnomon conform dsh
//
// By hand: `node adapter.mjs FOLDER`, with the folder that the packages of `package.json` are installed in.

import { converse } from "../javascript/conversation.mjs";
import { cannotOf } from "./cannot.mjs";
import { Refused } from "./host.mjs";
import { VERSION } from "./packages.mjs";
import { Run } from "./run.mjs";

const HOME = "https://github.com/deepseek-ai/deepseek-harness";

const MANIFEST = {
  name: "dsh",
  version: VERSION,
  language: "JavaScript",
  homepage: HOME,
  issues: `${HOME}/issues`,
  // All but NATIVE and LOG: nothing cancels a promise from outside, and nothing makes a session refuse a record.
  profiles: [
    ...["ORDER", "PAIRING", "BOUND", "CONTAIN", "ARGS", "VALUES", "CANCEL", "HOOKS", "GUARD", "ASK", "CONTENT"],
    ...["CONTEXT", "TIMEOUT", "REGISTRY", "SINGLE", "NESTED", "SEVERAL", "RESUME", "MISUSE", "ANNOUNCE"],
  ],
  protocol: "1.0",
  spec: "1.0",
};

async function opened(scenario, line) {
  const cannot = cannotOf(scenario, line);
  if (cannot !== undefined) return { cannot };
  try {
    return { run: await Run.of(scenario) };
  } catch (refused) {
    if (!(refused instanceof Refused)) throw refused;
    return { cannot: { feature: "what stands at the start", reason: refused.message, link: HOME } };
  }
}

await converse(MANIFEST, opened);
