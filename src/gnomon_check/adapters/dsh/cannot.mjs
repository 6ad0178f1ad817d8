// What a scenario may ask for that DSH has no way to do, or that an adapter has no way to ask it for.

import { madeByBodies } from "../javascript/parts.mjs";
import { alteredNumber } from "../javascript/values.mjs";
import { unsupported } from "../javascript/scripts.mjs";

const SOURCE = "https://github.com/deepseek-ai/deepseek-harness/tree/dsh-v0.1.0-rc.8/packages";
const TOOLS = `${SOURCE}/core/tools`;
const LOOP = `${SOURCE}/core/agent-loop`;
const APPROVAL = `${SOURCE}/interaction/user-approval`;

/** Why a scenario cannot be run: the feature, the reason, and where that can be read; or nothing. */
export function cannotOf(scenario, line) {
  const found = CHECKS.map((check) => check(scenario, line)).find((one) => one !== undefined);
  return found && { link: TOOLS, ...found };
}

const CHECKS = [
  (scenario) => unsupported(scenario, { resumes: true }),
  (scenario, line) => {
    const number = alteredNumber(line);
    return number && { feature: "large whole numbers", reason: `no number of JavaScript holds ${number} exactly` };
  },
  ({ tools }) =>
    tools.some((one) => one.project) && {
      feature: "projectContent",
      reason: "a definition of this release has no such function: it came later",
    },
  ({ mode, caller }) =>
    mode !== "single" &&
    caller === null && { feature: "a batch from no scope", reason: "its loop always calls for an agent", link: LOOP },
  ({ mode, presentation = "native", scopes = [] }) =>
    mode !== "single" &&
    [presentation, ...scopes.map((one) => one.mode ?? "native")].some((one) => one !== "native") && {
      feature: "a batch under a code mode",
      reason: "its loop puts together a request of the model before each batch, which needs a code runtime then",
      link: LOOP,
    },
  ({ approval }) =>
    (approval?.service ?? "ok") !== "ok" && {
      feature: "a broken approval service",
      reason: "what asks is what logs: another in its place would log nothing",
      link: APPROVAL,
    },
  ({ mode, approval, tools }) =>
    (mode === "single" || madeByBodies(tools).length > 0) &&
    approval && {
      feature: "an approval outside of a session",
      reason: "its service asks in the session of an agent, and logs there, whoever makes the call",
      link: APPROVAL,
    },
  ({ mode, batches, tools }) => {
    const alone = [...(mode === "single" ? batches.flatMap((one) => one.calls) : []), ...madeByBodies(tools)];
    return (
      alone.some(({ arguments: text = "{}" }) => !isJson(text)) && {
        feature: "arguments of a single call that are no JSON",
        reason: "outside of a batch it is given a value, and not a text",
      }
    );
  },
].map((check) => (scenario, line) => check(scenario, line) || undefined);

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
