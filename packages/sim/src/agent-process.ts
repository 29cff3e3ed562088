/**
 * The agent of a Pull member: the product's own, as a process of the world beside the member, life after life.
 *
 * 1. It reaches the plane over a link of its own, as the user that its certificate would name: what it asks for is authorized
 *    (RBAC) and admitted as if it came over a connection. It reaches its member over the member's link.
 * 2. It has no disk: what it remembers is in the member and in the plane.
 * 3. When its Cluster is deleted it stops, as the product's process does, until a person registers the member again.
 */
import { type AnyObject, clusterRoles, clusters, configMaps, orNothing } from "@lifeboat/api";
import { createSeededIds } from "@lifeboat/base";
import { ensureRegistrationRights } from "@lifeboat/controllers/context";
import { memoryKey } from "@lifeboat/controllers/member-side";
import {
  AGENTS_GROUP,
  agentRoleName,
  agentUser,
  CLUSTER_UID,
} from "@lifeboat/core/clusters/rights";
import { type Client, NotSent } from "@lifeboat/kit";
import { type AgentOptions, AgentStopped, createAgent, DEFAULT_AGENT } from "@lifeboat/plane/agent";
import type { MemberCluster } from "./member-cluster.ts";
import { SimClient } from "./network/sim-client.ts";
import { type BesidePorts, type Life, ProcessBeside } from "./process-beside.ts";

export interface AgentProcessPorts extends BesidePorts {
  readonly member: MemberCluster;
  /** Called at every probe of the member. */
  readonly heard: (caller: string, path: string, ok: boolean) => void;
  readonly thresholds: Pick<AgentOptions, "failureThresholdMs" | "successThresholdMs">;
}

export class AgentProcess extends ProcessBeside<AgentProcessPorts> {
  constructor(ports: AgentProcessPorts) {
    const { name } = ports.member;
    const groups = [AGENTS_GROUP, "system:authenticated"];
    super(ports, `agent ${name}`, { name: agentUser(name), groups });
  }

  protected run(life: Life): void {
    void this.#runAgent(life);
  }

  async #runAgent({ process, kit, client }: Life): Promise<void> {
    const { member, writes, heard, thresholds } = this.ports;
    const ids = createSeededIds(kit.random.fork("ids"));
    const agent = createAgent(
      { ...kit, ids },
      {
        ...DEFAULT_AGENT,
        ...thresholds,
        cluster: member.name,
        plane: client,
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
      },
    );
    try {
      await agent.run(new AbortController().signal);
    } catch (error) {
      if (!(error instanceof AgentStopped)) throw error;
      if (process.alive) this.crash();
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
    await ensureRegistrationRights(plane, name);
    await orNothing(admin.delete(configMaps, memoryKey(name, DEFAULT_AGENT.namespace)));
  }
  if (!agent.running) agent.start();
}
