/**
 * The agent of a Pull member: the product's own, as a process of the world beside the member, life after life.
 *
 * 1. It reaches the plane over a link of its own, as the user that its certificate would name: what it asks for is authorized
 *    (RBAC) and admitted as if it came over a connection. It reaches its member over the member's link.
 * 2. It has no disk: what it remembers is in the member and in the plane.
 * 3. When its Cluster is deleted it stops, as the product's process does, until a person registers the member again.
 */
import { type AnyObject, clusterRoles, clusters, configMaps, orNothing } from "@lifeboat/api";
import type { User } from "@lifeboat/apiserver";
import { assert, createSeededIds, type Random, type VirtualClock } from "@lifeboat/base";
import { ensureAgentRights } from "@lifeboat/controllers/context";
import { memoryKey } from "@lifeboat/controllers/member-side";
import {
  AGENTS_GROUP,
  agentRoleName,
  agentUser,
  CLUSTER_UID,
} from "@lifeboat/core/clusters/rights";
import { type Client, type Log, NotSent, silentMetrics } from "@lifeboat/kit";
import { type AgentOptions, AgentStopped, createAgent, DEFAULT_AGENT } from "@lifeboat/plane/agent";
import type { MemberCluster } from "./member-cluster.ts";
import type { Link } from "./network/link.ts";
import { SimClient, type WriteWatcher } from "./network/sim-client.ts";
import { Process } from "./process.ts";

export interface AgentProcessPorts {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: Log;
  readonly member: MemberCluster;
  /** To the plane. */
  readonly link: Link;
  readonly plane: {
    /** Whom a call of this user reaches; undefined while the plane does not serve. */
    readonly clientOf: (user: User) => Client | undefined;
    readonly standsStillFor: () => number;
  };
  readonly writes: WriteWatcher;
  /** Told of every probe of the member. */
  readonly heard: (caller: string, path: string, ok: boolean) => void;
  readonly thresholds: Pick<AgentOptions, "failureThresholdMs" | "successThresholdMs">;
}

export class AgentProcess {
  readonly link: Link;
  readonly user: User;
  readonly #ports: AgentProcessPorts;
  #life: Process | undefined;
  #lives = 0;
  #skewMs = 0;

  constructor(ports: AgentProcessPorts) {
    this.#ports = ports;
    this.link = ports.link;
    const { name } = ports.member;
    this.user = { name: agentUser(name), groups: [AGENTS_GROUP, "system:authenticated"] };
  }

  get running(): boolean {
    return this.#life !== undefined;
  }

  /** Begins the next life. */
  start(): void {
    assert(this.#life === undefined, "an agent is started when it is dead");
    const { clock, member } = this.#ports;
    this.#lives += 1;
    const process = new Process(`agent ${member.name}#${this.#lives}`, clock, this.#skewMs);
    this.#life = process;
    void this.#run(process);
  }

  crash(): void {
    this.#life?.die();
    this.#life = undefined;
  }

  /** Stands still for so long. */
  pause(milliseconds: number): void {
    this.#life?.pause(milliseconds);
  }

  /** Its wall clock jumps, in this life and in later ones. */
  stepClock(milliseconds: number): void {
    this.#skewMs += milliseconds;
    this.#life?.step(milliseconds);
  }

  /** A client of the plane with its identity, over its link. */
  clientOf(caller: Process): SimClient {
    const { link, plane, writes } = this.#ports;
    const target = (): Client | undefined => plane.clientOf(this.user);
    return new SimClient({ caller, link, target, writes, standsStill: plane.standsStillFor });
  }

  async #run(process: Process): Promise<void> {
    const { log, member, writes, heard, thresholds } = this.#ports;
    const random = this.#ports.random.fork(process.name);
    const ids = createSeededIds(random.fork("ids"));
    const ports = { clock: process.clock, random, log, metrics: silentMetrics, ids };
    const agent = createAgent(ports, {
      ...DEFAULT_AGENT,
      ...thresholds,
      cluster: member.name,
      plane: this.clientOf(process),
      member: new SimClient({
        caller: process,
        link: member.link,
        target: () => member.reach(member.token),
        writes,
        heard: (path, ok) => heard(process.name, path, ok),
      }),
      // One replica: what a second one does is for the tests of real processes.
      leaderElect: false,
      instance: process.name,
    });
    try {
      await agent.run(new AbortController().signal);
    } catch (error) {
      if (!(error instanceof AgentStopped)) throw error;
      if (this.#life === process) this.crash();
    }
  }
}

/**
 * A person registers a member: the agent's rights are made, what the member remembers of a former Cluster goes, and the agent
 * starts. While the former registration has not ended, the person is refused, and tries again.
 */
export async function register(
  plane: Client,
  member: MemberCluster,
  agent: AgentProcess,
): Promise<void> {
  const { name } = member;
  const key = { namespace: "", name };
  if ((await orNothing(plane.get(clusters, key))) === undefined) {
    const roleKey = { namespace: "", name: agentRoleName(name) };
    const role: AnyObject | undefined = await orNothing(plane.get(clusterRoles, roleKey));
    if (role?.metadata.annotations?.[CLUSTER_UID] !== undefined)
      throw new NotSent("the former registration has not ended");
    const { admin } = member;
    if (admin === undefined) throw new NotSent("the member does not answer");
    await ensureAgentRights(plane, name);
    await orNothing(admin.delete(configMaps, memoryKey(name, DEFAULT_AGENT.namespace)));
  }
  if (!agent.running) agent.start();
}
