/**
 * How a command that runs for long ends.
 *
 * 1. SIGTERM and SIGINT ask it to end in order; so does the end of a parent that does not hand signals on (npx runs a shell
 *    between itself and the command, and SIGTERM ends that shell alone).
 * 2. A second signal ends it at once: it has its default effect then, which no code of ours can delay. Below npm it counts as
 *    the same one for a second, because a terminal or a service manager sends it to npm and to us, and npm hands it on.
 * 3. Whatever hangs, it ends within `limitMs` of being asked, and tells what it was waiting for. A thread of its own sees to
 *    that, because the main one may be what hangs.
 */
import { setMaxListeners } from "node:events";
import { Worker } from "node:worker_threads";

export interface StoppingOptions {
  /** How long ending in order may take; 10 s when absent. */
  readonly limitMs?: number;
  /** Whether the end of the parent counts as a signal; false when absent. */
  readonly followsParent?: boolean;
  readonly signals?: readonly NodeJS.Signals[];
}

export interface Stopping {
  /** Aborts when the command is asked to end. */
  readonly signal: AbortSignal;
  /** Ends the command in order, as a signal would. */
  stop(): void;
  /** What it waits for from now on; told if that takes too long. */
  waitFor(what: string): void;
  /** Signals have their default effect again. What has begun to end still has its limit. */
  release(): void;
}

/** Every command that is asked to end is gone after this long. */
export const STOP_LIMIT_MS = 10_000;
const SAME_SIGNAL_MS = 1000;
const PARENT_LOOK_MS = 250;

export function stopOnSignal(options: StoppingOptions = {}): Stopping {
  const { limitMs = STOP_LIMIT_MS, followsParent = false } = options;
  const signals = options.signals ?? ["SIGTERM", "SIGINT"];
  const stop = new AbortController();
  // Every part of a command listens to it; Node takes more than ten for a leak.
  setMaxListeners(0, stop.signal);
  let watchdog: Worker | undefined;
  const release = (): void => {
    for (const signal of signals) process.off(signal, begin);
    clearInterval(parentWatch);
  };
  const begin = (): void => {
    if (stop.signal.aborted) return;
    clearInterval(parentWatch);
    watchdog = startWatchdog(limitMs);
    if (!isBelowNpm(process.env)) release();
    else setTimeout(release, SAME_SIGNAL_MS).unref();
    stop.abort();
  };
  for (const signal of signals) process.on(signal, begin);
  const parent = process.ppid;
  const parentWatch = followsParent
    ? setInterval(() => {
        if (process.ppid !== parent) begin();
      }, PARENT_LOOK_MS).unref()
    : undefined;
  return {
    signal: stop.signal,
    stop: begin,
    waitFor: (what) => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread of this process, not a window
      watchdog?.postMessage(what);
    },
    release,
  };
}

/**
 * Whether this process was started by one that cannot hand signals on: by npm, or by a command of ours that names itself in
 * the environment (`PARENT_VARIABLE`).
 */
export function isStartedByAnother(
  environment: Readonly<Record<string, string | undefined>>,
  parent: number,
): boolean {
  return isBelowNpm(environment) || environment[PARENT_VARIABLE] === String(parent);
}

function isBelowNpm(environment: Readonly<Record<string, string | undefined>>): boolean {
  return (environment["npm_execpath"] ?? "") !== "";
}

/** Holds the number of the process that must not be outlived. */
export const PARENT_VARIABLE = "LIFEBOAT_PARENT_PROCESS";

/** Ends this process by force after the limit, unless it has ended by then. */
function startWatchdog(limitMs: number): Worker {
  const worker = new Worker(WATCHDOG, { eval: true, workerData: limitMs });
  // A machine that has no thread left: what ends in order still does, and a second signal ends it at once.
  worker.once("error", () => undefined);
  worker.unref();
  return worker;
}

const WATCHDOG = `
const { parentPort, workerData: limitMs } = require("node:worker_threads");
const { writeSync } = require("node:fs");
let what = "it to end";
parentPort.on("message", (text) => { what = text; });
setTimeout(() => {
  try {
    writeSync(2, "lifeboat: had to stop and waited " + limitMs / 1000 + " s for " + what + ": ended by force; nothing acknowledged is lost\\n");
  } catch {}
  process.kill(process.pid, "SIGKILL");
}, limitMs);
`;
