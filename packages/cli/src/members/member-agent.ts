/**
 * The agent of a simulated pull member: a `lifeboat agent` as a child of the process that runs the members.
 *
 * 1. Its identity comes by the same registration as that of any cluster: a token made at the control plane, then `register`. It
 *    is kept in the member's directory and used again; one that the control plane does not accept any more is replaced.
 * 2. An agent that dies is started again, after a pause that grows while it keeps dying. Once its Cluster was taken away it
 *    stays away.
 * 3. All its traffic to the control plane, registration included, passes the relay.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clusters, isRefused, orNothing } from "@lifeboat/api";
import { addMs, type Clock, sleep } from "@lifeboat/base";
import type { Client, Log } from "@lifeboat/kit";
import { connectByKubeconfig, loadKubeconfig } from "@lifeboat/kit/adapters";
import { AGENT_NODE_FLAGS, type HostedAgent } from "@lifeboat/plane";
import { pinsOf } from "../ca-pin.ts";
import { obtainIdentity } from "../commands/register.ts";
import { makeToken, wayIn } from "../commands/token.ts";
import { PARENT_VARIABLE } from "../stopping.ts";
import type { AgentTimes } from "./member-directory.ts";

export interface MemberAgentPorts {
  readonly clock: Clock;
  readonly log: Log;
}

export interface MemberAgentOptions {
  readonly cluster: string;
  /** Where its identity and its log are kept. */
  readonly directory: string;
  /** How it reaches the member. */
  readonly memberKubeconfig: string;
  /** The control plane, by way of the relay. */
  readonly server: string;
  /** Whether the relay is cut: then nothing can be asked about the identity. */
  isCut(): boolean;
  readonly times: AgentTimes;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** An agent that ran for so long did not fail at its start. */
const STEADY_MS = 60_000;
/** How often is asked whether the control plane still accepts the identity. */
const CHECK_MS = 10_000;
const LOOK_MS = 250;
/** How long an agent may take to end, so that the process that runs the members ends in time. */
const KILL_MS = 3000;
const TOKEN_LIFE_MS = 10 * 60_000;
const REGISTER_TIMEOUT_MS = 30_000;

export function createMemberAgent(
  ports: MemberAgentPorts,
  options: MemberAgentOptions,
): HostedAgent {
  return new MemberAgent(ports, options);
}

class MemberAgent implements HostedAgent {
  readonly #ports: MemberAgentPorts;
  readonly #options: MemberAgentOptions;
  readonly #file: string;
  #plane: Client | undefined;
  #stop = new AbortController();
  #running: Promise<void> | undefined;
  #problem: string | undefined;
  #wasRegistered = false;

  constructor(ports: MemberAgentPorts, options: MemberAgentOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#file = join(options.directory, "agent.kubeconfig");
  }

  start(plane: Client, isNew: boolean): void {
    this.#plane = plane;
    if (this.#running !== undefined) return;
    this.#wasRegistered = !isNew;
    this.#stop = new AbortController();
    this.#running = this.#run(plane, this.#stop.signal).finally(() => {
      this.#running = undefined;
    });
  }

  isStarted(): boolean {
    return this.#running !== undefined;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(first: Client, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#ports;
    const { cluster } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    while (!signal.aborted) {
      const began = clock.monotonic();
      try {
        await this.#ensureIdentity(this.#plane ?? first, signal);
        this.#problem = undefined;
        // Another identity is no death: the next agent starts at once.
        if ((await this.#runChild(signal)) === "outdated") continue;
      } catch (error) {
        this.#problem = error instanceof Error ? error.message : String(error);
        log.warn("the agent of a member cannot be registered", { cluster, error });
      }
      if (signal.aborted) return;
      if (await this.#isTakenAway(this.#plane ?? first)) {
        log.info("the member was unregistered, its agent stays away", { cluster });
        return;
      }
      const isSteady = clock.monotonic() - began > STEADY_MS;
      pauseMs = isSteady ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      log.warn("the agent of a member ended, starting it again", { cluster, pauseMs });
      await sleep(clock, pauseMs, signal);
    }
  }

  /** Whether there was a Cluster, and is none any more. */
  async #isTakenAway(plane: Client): Promise<boolean> {
    try {
      const key = { namespace: "", name: this.#options.cluster };
      const found = await orNothing(plane.get(clusters, key));
      if (found !== undefined) this.#wasRegistered = true;
      return found === undefined && this.#wasRegistered;
    } catch (error) {
      this.#ports.log.debug("whether a Cluster is there is not known now", { error });
      return false;
    }
  }

  async #ensureIdentity(plane: Client, signal: AbortSignal): Promise<void> {
    const { cluster, server } = this.#options;
    const kept = readOrEmpty(this.#file);
    if (kept !== "") {
      // The relay may have another port than last time.
      const current = kept.replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, server);
      if (current !== kept) writeWhole(this.#file, current);
      if (!(await this.#isRefused(plane))) return;
      this.#ports.log.info("registering a member again", { cluster });
      rmSync(this.#file, { force: true });
    }
    const way = await wayIn(plane);
    const ends = addMs(this.#ports.clock.now(), TOKEN_LIFE_MS);
    const token = await makeToken(plane, ends, cluster, "of a simulated member");
    await obtainIdentity({
      server,
      token,
      pins: [way.pin],
      cluster,
      file: this.#file,
      timeoutMs: REGISTER_TIMEOUT_MS,
      check: false,
      onStep: () => undefined,
      signal,
    });
  }

  /** Whether the control plane will not accept the identity that is kept; false where that cannot be known now. */
  async #isRefused(plane: Client): Promise<boolean> {
    const kept = await readIdentity(this.#file);
    if (kept === undefined || kept.endsAt <= this.#ports.clock.now()) return true;
    if (this.#options.isCut()) return false;
    try {
      const { pin } = await wayIn(plane);
      if (!kept.pins.includes(pin)) return true;
      return await this.#isRefusedByServer();
    } catch (error) {
      this.#ports.log.debug("whether an identity counts is not known now", { error });
      return false;
    }
  }

  async #isRefusedByServer(): Promise<boolean> {
    const own = await connectByKubeconfig({ paths: [this.#file] }, "lifeboat-members");
    try {
      await orNothing(own.get(clusters, { namespace: "", name: this.#options.cluster }));
      return false;
    } catch (error) {
      // Without its rights it is refused as well: registering makes them.
      if (isRefused(error, "Unauthorized") || isRefused(error, "Forbidden")) return true;
      throw error;
    } finally {
      own.close();
    }
  }

  /** Runs the agent until it ends, is told to, or has an identity that does not count any more. */
  async #runChild(signal: AbortSignal): Promise<"ended" | "outdated"> {
    const { clock } = this.#ports;
    const output = openSync(join(this.#options.directory, "agent.log"), "a", 0o600);
    const child = spawn(process.execPath, this.#arguments(), {
      stdio: ["ignore", output, output],
      // It ends when this process is gone, however that ended.
      env: { ...process.env, [PARENT_VARIABLE]: String(process.pid) },
    });
    closeSync(output);
    const over = new AbortController();
    const ended = endOf(child).finally(() => over.abort());
    const either = AbortSignal.any([signal, over.signal]);
    let isOutdated = false;
    while (!isOutdated && (await sleep(clock, CHECK_MS, either)))
      isOutdated = await this.#isOutdated();
    await endInOrder(clock, child, over.signal);
    await ended;
    return isOutdated ? "outdated" : "ended";
  }

  async #isOutdated(): Promise<boolean> {
    const plane = this.#plane;
    return plane !== undefined && (await this.#isRefused(plane));
  }

  #arguments(): readonly string[] {
    const { cluster, memberKubeconfig, times } = this.#options;
    const flags = {
      "karmada-kubeconfig": this.#file,
      "cluster-name": cluster,
      "cluster-kubeconfig": memberKubeconfig,
      // There is one of it: nothing to elect, and nothing to wait for after a kill.
      "leader-elect": "false",
      "log-level": "warn",
      ...agentFlags(times),
    };
    const written = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    return [...process.execArgv, ...AGENT_NODE_FLAGS, process.argv[1] ?? "", "agent", ...written];
  }
}

/** The times of agents as flags. */
export function agentFlags(times: AgentTimes): Readonly<Record<string, string>> {
  return {
    "cluster-status-update-frequency": `${times.statusUpdateFrequencyMs}ms`,
    "cluster-failure-threshold": `${times.failureThresholdMs}ms`,
    "cluster-success-threshold": `${times.successThresholdMs}ms`,
    "cluster-lease-duration": `${times.leaseDurationMs}ms`,
    "cluster-lease-renew-interval-fraction": String(times.leaseRenewFraction),
  };
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
}

async function endInOrder(clock: Clock, child: ChildProcess, ended: AbortSignal): Promise<void> {
  if (ended.aborted) return;
  child.kill("SIGTERM");
  const deadline = clock.monotonic() + KILL_MS;
  while (!ended.aborted && clock.monotonic() < deadline) await sleep(clock, LOOK_MS, ended);
  if (!ended.aborted) child.kill("SIGKILL");
}

interface KeptIdentity {
  readonly endsAt: number;
  /** Of the authorities that it trusts. */
  readonly pins: readonly string[];
}

/** undefined: the file holds none, such as one that was half written when the process died. */
async function readIdentity(file: string): Promise<KeptIdentity | undefined> {
  try {
    const { user, cluster } = await loadKubeconfig({ paths: [file] });
    const certificate = new X509Certificate(pemOf(user.clientCertificate));
    return {
      endsAt: Date.parse(certificate.validTo),
      pins: pinsOf(pemOf(cluster.certificateAuthority)),
    };
  } catch {
    // Whatever is wrong with the file: the member registers again.
    return undefined;
  }
}

function pemOf(material: { readonly kind: string; readonly base64?: string } | undefined): string {
  return Buffer.from(material?.base64 ?? "", "base64").toString();
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // None yet.
    return "";
  }
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
