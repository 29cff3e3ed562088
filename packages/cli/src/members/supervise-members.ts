/**
 * How `lifeboat up --members N` looks after the process that runs the members.
 *
 * 1. The process has its own data and outlives the plane's kill -9. The next `up` takes it over when it runs what is
 *    asked for, and replaces it when not. When no `up` comes for a minute it ends by itself: nothing is left for ever.
 * 2. One that dies is started again, after a pause that grows while it keeps dying.
 * 3. When `up` ends in order, so does the process, also when the directory that names it is gone.
 *
 * The two agree by files that name living processes (owner-file.ts); everything else goes through the API.
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { isAlive, thisProcess } from "@lifeboat/apiserver/adapters";
import { clusters, equalJson, hasCondition, simulatedMembers } from "@lifeboat/api";
import { type Clock, sleep } from "@lifeboat/base";
import { type Client, Informer, type KitPorts, type Log } from "@lifeboat/kit";
import {
  logFile,
  memberName,
  type MembersProcess,
  type MembersSettings,
  parentFile,
  processFile,
} from "./member-directory.ts";
import { agentFlags } from "./member-agent.ts";
import { livingOwner, writeOwner } from "./owner-file.ts";

export interface SupervisionPorts {
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_MS = 250;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A process that runs this long did not fail at its start. */
const STEADY_MS = 60_000;
/** How long the members' process may take to end in order, so that `up` itself ends in time. */
export const MEMBERS_STOP_LIMIT_MS = 6000;
/** It did not end by itself after this long: it is killed. */
const KILL_MS = 7000;
/** How long members run when their plane is gone. */
const ORPHAN_TIMEOUT = "60s";

/** Keeps the members running until the signal aborts, then ends them in order. */
export async function superviseMembers(
  ports: SupervisionPorts,
  directory: string,
  settings: MembersSettings,
  dataDirectory: string,
  signal: AbortSignal,
): Promise<void> {
  writeOwner(parentFile(directory), { ...thisProcess() });
  const { clock, log } = ports;
  let last: MembersProcess | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    const living = livingMembers(directory);
    if (living !== undefined && !equalJson(living.settings, settings)) {
      await stopMembers(clock, directory);
      continue;
    }
    if (living === undefined) await startMembers(ports, directory, settings, dataDirectory, signal);
    const started = clock.monotonic();
    last = livingMembers(directory) ?? last;
    while (isRunning(directory, last) && !signal.aborted) await sleep(clock, LOOK_MS, signal);
    if (signal.aborted) break;
    pauseMs =
      clock.monotonic() - started > STEADY_MS
        ? FIRST_PAUSE_MS
        : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    log.warn("the members' process ended, starting it again", { pauseMs, log: logFile(directory) });
    await sleep(clock, pauseMs, signal);
  }
  await stopMembers(clock, directory, last);
}

/** The file that names it may be gone while the process is not. */
function isRunning(directory: string, last: MembersProcess | undefined): boolean {
  return livingMembers(directory) !== undefined || (last !== undefined && isAlive(last));
}

/** The process that runs the members of this directory, if there is one. */
export function livingMembers(directory: string): MembersProcess | undefined {
  return livingOwner(processFile(directory)) as MembersProcess | undefined;
}

/**
 * Ends the process that runs the members, in order if it can; resolves when it is gone. `last` is the one that was seen last,
 * for when nothing names it any more.
 */
export async function stopMembers(
  clock: Clock,
  directory: string,
  last?: MembersProcess,
): Promise<void> {
  const deadline = clock.monotonic() + KILL_MS;
  let hasAsked = false;
  for (;;) {
    const living =
      livingMembers(directory) ?? (last !== undefined && isAlive(last) ? last : undefined);
    if (living === undefined) return;
    const isLate = clock.monotonic() > deadline;
    if (!hasAsked || isLate) signalTo(living.pid, isLate ? "SIGKILL" : "SIGTERM");
    hasAsked = true;
    await sleep(clock, LOOK_MS);
  }
}

/**
 * Resolves with true once the members run and have been joined to this plane; pull members, once they are ready, too: until then
 * nothing may be placed there. False when the signal aborted first.
 */
export async function untilJoined(
  ports: KitPorts,
  plane: Client,
  directory: string,
  settings: MembersSettings,
  signal: AbortSignal,
): Promise<boolean> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const objects = new Informer(ports, plane, simulatedMembers);
  const fleet = new Informer(ports, plane, clusters);
  const running = Promise.all([objects.run(either), fleet.run(either)]);
  const isJoined = (name: string): boolean => {
    const key = { namespace: "", name };
    const object = objects.get(key);
    if (!hasCondition(object?.status?.conditions, "Joined")) return false;
    if (settings.agents === undefined || (object?.spec.faults ?? []).length > 0) return true;
    const cluster = fleet.get(key);
    // One that was unregistered stays away.
    return cluster === undefined || hasCondition(cluster.status?.conditions, "Ready");
  };
  await fleet.whenSynced(either);
  const names = Array.from({ length: settings.members }, (_, i) => memberName(i + 1));
  const areJoined = (): boolean => {
    const living = livingMembers(directory);
    // One with other settings is about to be replaced.
    if (living?.isServing !== true || !equalJson(living.settings, settings)) return false;
    return names.every(isJoined);
  };
  while (!signal.aborted && !areJoined()) await sleep(ports.clock, LOOK_MS, signal);
  stop.abort();
  await running;
  return !signal.aborted;
}

async function startMembers(
  { clock, log }: SupervisionPorts,
  directory: string,
  settings: MembersSettings,
  dataDirectory: string,
  signal: AbortSignal,
): Promise<void> {
  const output = openSync(logFile(directory), "a", 0o600);
  // A session of its own: Ctrl-C reaches `up` alone, which then ends it in order.
  const child = spawn(process.execPath, argumentsOf(settings, dataDirectory), {
    detached: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  const over = new AbortController();
  child.once("error", (error) => {
    log.error("starting the members' process", { error });
    over.abort();
  });
  child.once("exit", () => over.abort());
  child.unref();
  const either = AbortSignal.any([signal, over.signal]);
  while (!either.aborted && livingMembers(directory)?.pid !== child.pid)
    await sleep(clock, LOOK_MS, either);
}

function argumentsOf(settings: MembersSettings, dataDirectory: string): readonly string[] {
  const flags = {
    "data-dir": dataDirectory,
    members: String(settings.members),
    "member-nodes": String(settings.nodes),
    "member-start-delay": `${settings.startDelaySeconds}s`,
    kubeconfig: settings.planeKubeconfig,
    "kubeconfig-dir": settings.kubeconfigDirectory,
    "orphan-timeout": ORPHAN_TIMEOUT,
    "member-mode": settings.agents === undefined ? "push" : "pull",
    ...(settings.agents !== undefined && agentFlags(settings.agents)),
  };
  const written = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const switches = settings.serveHttp ? ["--serve-http"] : [];
  return [...process.execArgv, process.argv[1] ?? "", "members", ...written, ...switches];
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}
