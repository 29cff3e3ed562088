/**
 * Ties running simulated members to a control plane: each has a SimulatedMember object there, which says what shall go
 * wrong with it and where its status is told; and each is joined once.
 *
 * 1. The object is made when it is missing. Its spec is the user's: from then on it is only read.
 * 2. A member is joined when its object does not say yet that it was. So a member that somebody unjoined stays away;
 *    one that is joined gets a new endpoint or token written where they changed.
 * 3. Faults are in force before the status speaks of them (`observedGeneration`).
 * 4. At rest nothing is written.
 */
import {
  clusters,
  type Condition,
  equalJson,
  hasCondition,
  isRefused,
  type New,
  type NewCondition,
  setCondition,
  type SimulatedFault,
  type SimulatedMember as SimulatedMemberObject,
  simulatedMembers,
} from "@lifeboat/api";
import { addMs } from "@lifeboat/base";
import {
  checkAgainAt,
  type Client,
  createController,
  createManager,
  done,
  Informer,
  type KitPorts,
  type Outcome,
  ownKey,
  type Service,
  watching,
} from "@lifeboat/kit";
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
  /** What its object says when it is made. */
  readonly spec: SimulatedMemberSpec;
}

const CONCURRENCY = 4;
/** A refused joining is tried again after so long: the Cluster in its way may have gone. */
const REFUSED_MS = 5000;
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
    const joined = await join(ports, plane, one, object, refreshed);
    await report(ports, plane, one, object, joined);
    return joined?.status === "False" ? checkAgainAt(addMs(ports.clock.now(), REFUSED_MS)) : done;
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
  try {
    const cluster = await plane.get(clusters, { namespace: "", name });
    return cluster.metadata.deletionTimestamp === undefined;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
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
