/** A control plane and its members as processes, as the suite sees them: whatever the members are. */
import { join } from "node:path";
import { clusters } from "@lifeboat/api";
import type { Client } from "@lifeboat/kit";
import { connectByKubeconfig, type HttpClient } from "@lifeboat/kit/adapters";
import type { ApiEndpoint } from "../support/api-endpoint.ts";
import { createKubectl, type Kubectl } from "../support/kubectl.ts";
import { lifeboatCommand, type RunningLifeboat, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, startProcess, temporaryDirectory } from "../support/processes.ts";

export const MEMBERS: readonly string[] = ["member1", "member2", "member3"];

export interface PropagationFleet {
  /** The control plane's API, at the same address after it was killed. */
  readonly plane: HttpClient;
  readonly kubectl: Kubectl;
  /** The file that leads to the control plane. */
  readonly kubeconfig: string;
  readonly members: ReadonlyMap<string, HttpClient>;
  /** Kills the control plane with -9 and starts it again; resolves when it serves. */
  killPlane(): Promise<void>;
  close(): Promise<void>;
}

/** A fleet whose members can be made to die, whatever they are. */
export interface BreakableFleet extends PropagationFleet {
  /** Its API answers nobody from now on. */
  die(name: string): Promise<void>;
  /** It answers again, with everything it had. */
  revive(name: string): Promise<void>;
}

/** Members are looked at often, so that nothing in a test waits for the next look. */
const FLAGS: readonly string[] = ["--cluster-status-update-frequency", "2s"];

export interface Killable {
  /** Kills it with -9 and starts it again; resolves when it serves. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** The control plane alone, in a directory of its own, ready to be killed. */
export class KillablePlane implements Killable {
  readonly directory = temporaryDirectory("propagation");
  readonly #flags: readonly string[];
  #running: RunningLifeboat | undefined;

  constructor(flags: readonly string[] = []) {
    this.#flags = [...FLAGS, ...flags];
  }

  /** Starts it; a second time on the port of the first. */
  async start(): Promise<RunningLifeboat> {
    const port = this.#running?.port;
    this.#running = await startLifeboat({
      dataDirectory: this.directory,
      args: this.#flags,
      ...(port === undefined ? {} : { port }),
    });
    return this.#running;
  }

  async kill(): Promise<void> {
    await this.#running?.process.stop("SIGKILL");
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.process.stop();
    removeDirectory(this.directory);
  }
}

/** Runs a verb of the command to its end; throws what it printed when it fails. */
export async function runLifeboat(...args: readonly string[]): Promise<void> {
  const child = startProcess(lifeboatCommand, args);
  const code = await child.ended;
  if (code !== 0) throw new Error(`lifeboat ${args.join(" ")}: ${child.output()}`);
}

export interface SimulatedFleet extends BreakableFleet {
  /** The data directory of the control plane. */
  readonly directory: string;
  /** Lets something go wrong with a member from now on. */
  fail(name: string, mode: string): Promise<void>;
  heal(name: string): Promise<void>;
}

/** Pull members, whose silence is noticed soon. */
export const PULL_FLAGS: readonly string[] = [
  "--member-mode=pull",
  "--cluster-lease-duration=4s",
  "--cluster-monitor-period=500ms",
  "--cluster-monitor-grace-period=4s",
];

/** `lifeboat up --members 3`, with more flags. Push members die by a dead API, pull members by a cut line. */
export async function startSimulatedFleet(
  flags: readonly string[] = [],
  names = MEMBERS,
): Promise<SimulatedFleet> {
  const death = flags.includes("--member-mode=pull") ? "partition" : "api-down";
  const plane = new KillablePlane(["--members", String(names.length), ...flags]);
  const running = await plane.start();
  await running.process.printed(/^members ready$/m);
  const kubeconfigs = names.map((name) => join(plane.directory, `${name}.kubeconfig`));
  const member = (...args: readonly string[]): Promise<void> =>
    runLifeboat("member", ...args, "--data-dir", plane.directory);
  return {
    ...(await fleetOf(plane, running, kubeconfigs, names)),
    fail: (name, mode) => member("fail", name, "--mode", mode),
    heal: (name) => member("heal", name),
    die: (name) => member("fail", name, "--mode", death),
    directory: plane.directory,
    revive: (name) => member("heal", name),
  };
}

/** A fleet over a plane that runs and members that have joined. */
export async function fleetOf(
  plane: Killable,
  endpoint: ApiEndpoint,
  kubeconfigs: readonly string[],
  names = MEMBERS,
): Promise<PropagationFleet> {
  const connect = (path: string): Promise<HttpClient> => connectByKubeconfig({ paths: [path] });
  const client = await connect(endpoint.kubeconfig);
  const kubectl = createKubectl(endpoint);
  const members = new Map<string, HttpClient>();
  for (const [i, name] of names.entries()) members.set(name, await connect(kubeconfigs[i] ?? ""));
  return {
    plane: client,
    kubectl,
    kubeconfig: endpoint.kubeconfig,
    members,
    killPlane: () => plane.kill(),
    close: async () => {
      kubectl.close();
      for (const one of [client, ...members.values()]) one.close();
      await plane.stop();
    },
  };
}

/** Throws unless every member's cluster is ready. */
export async function allReady(plane: Client, count = MEMBERS.length): Promise<void> {
  const { items } = await plane.list(clusters);
  const ready = items
    .filter(({ status }) =>
      status?.conditions?.some((one) => one.type === "Ready" && one.status === "True"),
    )
    .map(({ metadata }) => metadata.name);
  if (ready.length < count) throw new Error(`only these are ready: ${ready.join(", ")}`);
}
