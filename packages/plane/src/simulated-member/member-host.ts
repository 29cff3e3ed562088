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
  type Condition,
  equalJson,
  hasCondition,
  type New,
  type NewCondition,
  setCondition,
  type SimulatedFault,
  type SimulatedMember as SimulatedMemberObject,
  simulatedMembers,
} from "@lifeboat/api";
import {
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
import { joinSimulated, NameTaken, refreshJoined, type SimulatedAccess } from "./join-simulated.ts";
import { modelOptions, type SimulatedMemberSpec } from "./member-spec.ts";
import type { SimulatedMember } from "./simulated-member.ts";

/** One member that runs here. */
export interface HostedMember {
  readonly member: SimulatedMember;
  readonly access: SimulatedAccess;
  /** What its object says when it is made. */
  readonly spec: SimulatedMemberSpec;
}

const CONCURRENCY = 4;

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
    const joined = await join(plane, one, object, refreshed);
    await report(ports, plane, one, object, joined);
    return done;
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
  plane: Client,
  { access }: HostedMember,
  object: SimulatedMemberObject,
  refreshed: Set<string>,
): Promise<NewCondition | undefined> {
  const wasJoined = hasCondition(object.status?.conditions, "Joined");
  if (wasJoined && refreshed.has(access.name)) return undefined;
  try {
    if (wasJoined) await refreshJoined(plane, access);
    else await joinSimulated(plane, access);
  } catch (error) {
    if (!(error instanceof NameTaken)) throw error;
    return { type: "Joined", status: "False", reason: "NameTaken", message: error.message };
  }
  refreshed.add(access.name);
  if (wasJoined) return undefined;
  const message = `it is the Cluster ${access.name}`;
  return { type: "Joined", status: "True", reason: "Joined", message };
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
    endpoint: access.endpoint,
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
