/** The thread that runs scripts for `script-workers.ts`: one request at a time, JSON in and JSON out. */
import { parentPort, workerData } from "node:worker_threads";
import { ScriptFailed, type ScriptLimits } from "../scripts/script-engine.ts";
import { checkLua, runLua } from "./script-lua.ts";
import type { WorkerAnswer, WorkerRequest } from "./script-workers.ts";

const limits = workerData as ScriptLimits;

/** A port of Node has no origin, unlike the window that the rule means. */
const post = (text: string): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort?.postMessage(text);
};

parentPort?.on("message", (text: string) => {
  post(JSON.stringify(answerTo(JSON.parse(text) as WorkerRequest)));
});
// The first answer: from now on a deadline measures the script alone.
post("ready");

function answerTo(request: WorkerRequest): WorkerAnswer {
  try {
    if (request.kind === "run") return { results: runLua(request.call, limits) };
    const problem = checkLua(request.script, limits);
    return problem === undefined ? {} : { problem };
  } catch (error) {
    if (error instanceof ScriptFailed) return { failure: error.kind, message: error.message };
    return { failure: "runtime", message: `the script broke its machine: ${String(error)}` };
  }
}
