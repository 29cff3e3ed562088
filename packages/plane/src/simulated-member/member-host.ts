/**
 * Ties running simulated members to a control plane: each has a SimulatedMember object there, whose spec is what shall
 * go wrong with it and whose status is what it reports; and each is joined once, or registers by an agent of its own (Pull).
 *
 * 1. The object is made when it is missing. Its spec is the user's: from then on it is only read.
 * 2. A member is joined as long as its object does not record that it was. So a member that a person unjoined stays away;
 *    one that is joined gets a new endpoint or token written where they changed.
 * 3. Faults are in force before the status speaks of them (`observedGeneration`).
 * 4. At rest nothing is written.
 * 5. A member with an agent counts as joined when that has renewed its Lease for the first time. Nothing here waits for an agent:
 *    a member that is cut off is healed here.
 */
import {
  clusters,
  type Condition,
  configMaps,
  equalJson,
  hasCondition,
  type New,
  type NewCondition,
  orNothing,
  setCondition,
  type SimulatedFault,
  type SimulatedMember as SimulatedMemberObject,
  simulatedMembers,
} from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import { memoryKey } from "@lifeboat/controllers/member-side";
import { wellKnown } from "@lifeboat/core";
import {
  checkAgainAt,
  type Client,
  createController,
  createManager,
  done,
  Informer,
  type KitPorts,
  leases,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
import { AGENT_NAMESPACE } from "../registration/agent-manifest.ts";
import { joinCluster } from "../registration/join.ts";
import type { GivenAccess } from "../registration/member-side.ts";
import { RegistrationRefused } from "../registration/refusal.ts";
import { modelOptions, type SimulatedMemberSpec } from "./member-spec.ts";
import type { SimulatedMember } from "./simulated-member.ts";

/** One member that runs here. */
export interface HostedMember {
  readonly member: SimulatedMember;
  /** How the control plane shall reach it. */
  readonly access: GivenAccess & { readonly token: string };
  /** The spec with which its object is made. */
  readonly spec: SimulatedMemberSpec;
  /** Absent: the control plane reaches it (Push). */
  readonly agent?: HostedAgent;
}

/** The agent of a member that runs here. */
export interface HostedAgent {
  /** Has it run from now on, with an identity of this control plane; `isNew`: no Cluster of it is expected yet. */
  start(plane: Client, isNew: boolean): void;
  /** Whether it was started, and has neither been stopped nor given up. */
  isStarted(): boolean;
  /** Why it does not run, if that is so. */
  problem(): string | undefined;
  stop(): Promise<void>;
}

const CONCURRENCY = 4;
/** A refused joining is tried again after so long: the Cluster in its way may have gone. */
const REFUSED_MS = 5000;
/** How often is looked for the first Lease of an agent. */
const FIRST_LEASE_MS = 500;
const JOINING_USER = { name: "system:lifeboat", groups: ["system:masters"] } as const;

/** Follows the objects of these members on a control plane until the signal aborts. */
export function createMemberHost(
  ports: KitPorts,
  plane: Client,
  hosted: readonly HostedMember[],
): Service {
  const byName = new Map(hosted.map((one) => [one.member.name, one]));
  const refreshed = new Set<string>();
  const objects = new Informer(ports, plane, simulatedMembers);
  const look = async (one: HostedMember, found?: SimulatedMemberObject): Promise<Outcome> => {
    const object = found ?? (await plane.create(simulatedMembers, newObject(one)));
    one.member.setModel(modelOptions(object.spec));
    await one.member.setFaults(object.spec.faults ?? []);
    const { agent } = one;
    const joined = await (agent === undefined
      ? join(ports, plane, one, object, refreshed)
      : register(plane, one, agent, object));
    await report(ports, plane, one, object, joined);
    if (joined?.status !== "False") return done;
    const againMs = joined.reason === "Registering" ? FIRST_LEASE_MS : REFUSED_MS;
    return checkAgainAt(addMs(ports.clock.now(), againMs));
  };
  const controller = createController(ports, {
    name: "simulated-member",
    concurrency: CONCURRENCY,
    watches: [
      watching(objects, ownKey),
      {
        whenSynced: (signal) => objects.whenSynced(signal),
        subscribe: (add) => {
          for (const name of byName.keys()) add({ namespace: "", name });
          return () => undefined;
        },
      },
    ],
    reconcile: async (key) => {
      const one = byName.get(key.name);
      return one === undefined ? done : look(one, objects.get(key));
    },
  });
  return createManager(ports, [objects, controller]);
}

function newObject({ member, spec }: HostedMember): New<SimulatedMemberObject> {
  return {
    apiVersion: `${simulatedMembers.group}/${simulatedMembers.version}`,
    kind: simulatedMembers.kind,
    metadata: { name: member.name },
    spec,
  };
}

/** Joins, or looks once whether what was joined is still right; answers the condition, or undefined to leave it. */
async function join(
  ports: KitPorts,
  plane: Client,
  { member, access }: HostedMember,
  object: SimulatedMemberObject,
  refreshed: Set<string>,
): Promise<NewCondition | undefined> {
  const { name } = member;
  const wasJoined = hasCondition(object.status?.conditions, "Joined");
  if (wasJoined && (refreshed.has(name) || !(await isJoined(plane, name)))) return undefined;
  try {
    // Not through the gate: a member with faults can be joined too.
    const client = member.server.client(JOINING_USER);
    await joinCluster(ports, { plane, member: client, name, access });
  } catch (error) {
    if (!(error instanceof RegistrationRefused)) throw error;
    return { type: "Joined", status: "False", reason: "Refused", message: error.message };
  }
  refreshed.add(name);
  const message = `it is the Cluster ${name}`;
  return { type: "Joined", status: "True", reason: "Joined", message };
}

async function isJoined(plane: Client, name: string): Promise<boolean> {
  const cluster = await orNothing(plane.get(clusters, { namespace: "", name }));
  return cluster !== undefined && cluster.metadata.deletionTimestamp === undefined;
}

/** Has the agent run, unless the member was unregistered; answers the condition, or undefined to leave it. */
async function register(
  plane: Client,
  { member }: HostedMember,
  agent: HostedAgent,
  object: SimulatedMemberObject,
): Promise<NewCondition | undefined> {
  const { name } = member;
  const wasJoined = hasCondition(object.status?.conditions, "Joined");
  const cluster = await orNothing(plane.get(clusters, { namespace: "", name }));
  const say = (status: "True" | "False", reason: string, message: string): NewCondition => ({
    type: "Joined",
    status,
    reason,
    message,
  });
  if (cluster === undefined ? wasJoined : cluster.spec.syncMode !== "Pull") {
    await agent.stop();
    if (cluster === undefined) return undefined;
    const way = `unjoin it first: lifeboat unjoin ${name}`;
    return say(
      "False",
      "Refused",
      `the Cluster ${name} is in mode ${cluster.spec.syncMode}; ${way}`,
    );
  }
  // A member that registers again: its agent is not to take the Cluster of before for one that was taken away.
  if (cluster === undefined && !agent.isStarted()) await forgetCluster(member);
  agent.start(plane, !wasJoined);
  if (wasJoined) return undefined;
  const lease = await orNothing(
    plane.get(leases, { namespace: wellKnown.CLUSTER_NAMESPACE, name }),
  );
  if (cluster !== undefined && lease?.spec?.renewTime !== undefined)
    return say("True", "Joined", `it is the Cluster ${name}, and its agent renews its Lease`);
  return say("False", "Registering", agent.problem() ?? "its agent has not renewed its Lease yet");
}

async function forgetCluster(member: SimulatedMember): Promise<void> {
  const key = memoryKey(member.name, AGENT_NAMESPACE);
  await orNothing(member.server.client(JOINING_USER).delete(configMaps, key));
}

async function report(
  { clock }: KitPorts,
  plane: Client,
  { access }: HostedMember,
  object: SimulatedMemberObject,
  joined: NewCondition | undefined,
): Promise<void> {
  const now = clock.now();
  let conditions: readonly Condition[] | undefined = object.status?.conditions;
  conditions = setCondition(conditions, servingCondition(object.spec.faults ?? []), now);
  if (joined !== undefined) conditions = setCondition(conditions, joined, now);
  const status = {
    ...object.status,
    observedGeneration: object.metadata.generation ?? 0,
    endpoint: access.server,
    conditions,
  };
  if (equalJson(status, object.status)) return;
  await plane.update(simulatedMembers, { ...object, status }, { subresource: "status" });
}

/** Whether its API answers at all, seen from outside. Pure. */
export function servingCondition(faults: readonly SimulatedFault[]): NewCondition {
  const modes = faults.map(({ mode }) => mode);
  const say = (status: "True" | "False", reason: string, message: string): NewCondition => ({
    type: "Serving",
    status,
    reason,
    message,
  });
  if (modes.includes("api-down")) return say("False", "ApiDown", "its API is down, as was asked");
  if (modes.includes("partition"))
    return say("False", "Partitioned", "it is cut off, as was asked");
  if (modes.length === 0) return say("True", "Serving", "it is well");
  return say("True", "Serving", `it serves, with faults as was asked: ${modes.join(", ")}`);
}
