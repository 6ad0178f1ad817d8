// The packages of DSH, from the folder that they are installed in: the first argument of the adapter, or else where it
// stands. A bare import would look for them beside the adapter, and nothing is ever installed there.

import "./node.mjs";

import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = process.argv[2] ?? path.dirname(fileURLToPath(import.meta.url));
const require = createRequire(path.join(path.resolve(folder), "package.json"));

function load(name) {
  return import(pathToFileURL(require.resolve(`@deepseek-ai/${name}`)).href);
}

export const { Context } = await load("cordis");
export const { default: LlmRuntime, LlmAdapter, HarnessError, createUserMessage } = await load("dsh-llm");
export const { default: SessionStore, interruptedTurnClosers } = await load("dsh-session");
export const { default: SystemPrompt } = await load("dsh-system-prompt");
export const { default: ToolRuntime, defineTool } = await load("dsh-tools");
export const { default: AgentRegistry, assembleContextFor } = await load("dsh-agent");
export const { default: AgentLoop } = await load("dsh-agent-loop");
export const { default: ApprovalService, setApprovalPolicy } = await load("dsh-user-approval");
export const { bindScopeParent, createScope } = await load("dsh-scope");
export const { TimeoutReason } = await load("dsh-timeout");
export const TimeoutPolicy = await load("dsh-tool-call-timeout-policy");

/** The version of DSH that is driven. */
export const VERSION = require("@deepseek-ai/dsh-tools/package.json").version;
