/** The thread that runs scripts for `script-workers.ts`: one request at a time, JSON in and JSON out. */
import { parentPort, workerData } from "node:worker_threads";
import { ScriptFailed, type ScriptLimits } from "../context/scripts/script-engine.ts";
import { checkLua, runLua } from "./script-lua.ts";
import type { WorkerAnswer, WorkerRequest } from "./script-workers.ts";

const limits = workerData as ScriptLimits;

const post = (text: string): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of Node has no origin
  parentPort?.postMessage(text);
};

parentPort?.on("message", (text: string) => {
  post(JSON.stringify(answerTo(JSON.parse(text) as WorkerRequest)));
});
// The machine is loaded before the first answer: from then on a deadline measures the script alone.
checkLua("", limits);
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
