/** Lets things go wrong, and heals them. */
import { type AnyObject, isRefused, type ObjectKey, type Resource, secrets } from "@lifeboat/api";
import type { DiskImage } from "@lifeboat/apiserver";
import { unreachable } from "@lifeboat/base";
import { wellKnown } from "@lifeboat/core";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import type { MemberFault } from "@lifeboat/members";
import type { MemberCluster } from "../member-cluster.ts";
import type { Link } from "../network/link.ts";
import { type Simulation } from "../simulation.ts";
import { RESOURCES, workload } from "./objects.ts";
import { arrangeForgery } from "./forgery.ts";
import { rewritten } from "./other-version.ts";
import { type Fault, NAME_SERVER } from "./scenario.ts";

/** How much later pods start or stop when the scenario does not say. */
const LATE_MS = 30_000;
/** How long somebody in a member waits before trying again what did not work. */
const RETRY_MS = 1000;

/** Arranges a fault; its times count from now. `begins` is called when it begins. */
export function arrangeFault(simulation: Simulation, fault: Fault, begins: () => void): void {
  const { clock, writes, plane, planeDisk, agents, balancers, detectors } = simulation;
  if ("at" in fault) clock.after(fault.at * 1000, begins);
  if ("from" in fault) clock.after(fault.from * 1000, begins);
  const at = (seconds: number, act: () => void): void => void clock.after(seconds * 1000, act);
  switch (fault.fault) {
    case "crash":
      return at(fault.at, () => simulation.crashPlane(fault.downFor * 1000));
    case "crash-at-write": {
      const { write, moment, downFor, again } = fault;
      const die = (): void => {
        begins();
        simulation.crashPlane(downFor * 1000);
      };
      const act = (): void => {
        die();
        if (again !== undefined)
          writes.plan({ number: writes.count + again.after, moment: again.moment, act: die });
      };
      return writes.plan({ number: writes.count + write, moment, act });
    }
    case "lost-answer-at-write": {
      const act = (): never => {
        begins();
        throw new OutcomeUnknown("the answer was lost");
      };
      return writes.plan({ number: writes.count + fault.write, moment: "after", act });
    }
    case "pause":
      return at(fault.at, () => plane.pause(fault.lasts * 1000));
    case "two-leaders":
      at(fault.from, () => plane.startSecond());
      return at(fault.until, () => plane.stopSecond());
    case "upgrade":
      return at(fault.at, () =>
        simulation.crashPlane(fault.downFor * 1000, () =>
          planeDisk.replace(rewritten(planeDisk.image(), fault.data)),
        ),
      );
    case "link": {
      const link = linkOf(simulation, fault.link);
      at(fault.from, () => link.set(fault.conditions));
      return at(fault.until, () => link.set(undefined));
    }
    case "reset":
      return at(fault.at, () => linkOf(simulation, fault.link).reset("the connection was reset"));
    case "flap":
      for (let down = fault.from; down < fault.until; down += fault.downFor + fault.upFor)
        outOfReach(simulation, [fault.member], down, Math.min(fault.until, down + fault.downFor));
      return;
    case "mass-failure":
      return outOfReach(simulation, fault.members, fault.from, fault.until);
    case "member-gone":
      return at(fault.at, () => simulation.wayTo(fault.member).set({ down: true }));
    case "member-crash":
      return at(fault.at, () =>
        simulation.crash(simulation.member(fault.member), fault.downFor * 1000),
      );
    case "member-restored":
      return arrangeRestore(simulation, fault);
    case "foreign-object":
      return arrangeForeign(simulation, fault);
    case "pods": {
      const member = simulation.member(fault.member);
      at(fault.from, () => member.suffer(troubleOf(fault)));
      return at(fault.until, () => member.suffer(undefined));
    }
    case "lies": {
      const member = simulation.member(fault.member);
      at(fault.from, () => member.lie(fault.how));
      return at(fault.until, () => member.lie(undefined));
    }
    case "stuck-finalizer":
      return arrangeStuck(simulation, fault);
    case "unauthorized": {
      const member = simulation.member(fault.member);
      at(fault.from, () => member.refuseTokens(true));
      return at(fault.until, () => member.refuseTokens(false));
    }
    case "token-rotated":
      return arrangeRotation(simulation, fault);
    case "member-clock":
      return at(fault.at, () => simulation.member(fault.member).stepClock(fault.stepMs));
    case "agent-crash":
      return at(fault.at, () => simulation.crash(agents.get(fault.member), fault.downFor * 1000));
    case "balancer-crash":
      return at(fault.at, () =>
        simulation.crash(balancers.get(fault.balancer), fault.downFor * 1000),
      );
    case "names-fail": {
      const detector = detectors.get(fault.detector);
      at(fault.from, () => detector?.resolve(false));
      return at(fault.until, () => detector?.resolve(true));
    }
    case "detector-crash":
      return at(fault.at, () =>
        simulation.crash(detectors.get(fault.detector), fault.downFor * 1000),
      );
    case "detector-pause":
      return at(fault.at, () => detectors.get(fault.detector)?.pause(fault.lasts * 1000));
    case "agent-pause":
      return at(fault.at, () => agents.get(fault.member)?.pause(fault.lasts * 1000));
    case "agent-clock":
      return at(fault.at, () => agents.get(fault.member)?.stepClock(fault.stepMs));
    case "agent-forges":
      return arrangeForgery(simulation, fault);
    case "disk-full":
      at(fault.from, () => planeDisk.fill());
      return at(fault.until, () => planeDisk.free());
    case "disk-fail":
      // While nobody writes, nothing fails.
      at(fault.at, () => {
        if (plane.running) planeDisk.fail();
      });
      // The product stops writing for good then, and whoever runs it starts it again.
      return at(fault.at + 1, () => simulation.crashPlane(fault.downFor * 1000));
    case "clock-skew":
      return at(fault.at, () => {
        plane.skewMs = fault.skewMs;
        simulation.crashPlane(1000);
      });
    case "clock-step":
      return at(fault.at, () => plane.stepClock(fault.stepMs));
    default:
      return unreachable(fault);
  }
}

/** Nothing is wrong any more, and nobody is dead for longer than a second. */
export function healAll(simulation: Simulation): void {
  simulation.planeLink.set(undefined);
  simulation.planeDisk.free();
  simulation.plane.stopSecond();
  if (!simulation.plane.running) simulation.plane.start();
  for (const member of simulation.members.values()) {
    member.link.set(undefined);
    member.suffer(undefined);
    member.lie(undefined);
    member.refuseTokens(false);
    if (!member.running) member.start();
    letGo(simulation, member);
  }
  for (const detector of simulation.detectors.values()) detector.resolve(true);
  for (const beside of simulation.beside()) {
    beside.link.set(undefined);
    if (!beside.running) beside.start();
  }
}

type Is<F extends Fault["fault"]> = Extract<Fault, { readonly fault: F }>;

function linkOf(simulation: Simulation, name: string): Link {
  if (name === "plane") return simulation.planeLink;
  if (name === NAME_SERVER && simulation.nameServer !== undefined)
    return simulation.nameServer.link;
  const [member = "", end] = name.split("/");
  const beside =
    simulation.balancers.get(member) ?? simulation.detectors.get(name.replace(/\/plane$/, ""));
  if (beside !== undefined) return beside.link;
  return end === "plane" ? simulation.wayTo(member) : simulation.member(member).link;
}

function outOfReach(
  simulation: Simulation,
  names: readonly string[],
  from: number,
  until: number,
): void {
  const { clock } = simulation;
  for (const name of names) {
    const link = simulation.wayTo(name);
    clock.after(from * 1000, () => link.set({ down: true }));
    clock.after(until * 1000, () => link.set(undefined));
  }
}

function arrangeRestore(simulation: Simulation, fault: Is<"member-restored">): void {
  const { clock } = simulation;
  const { disk } = simulation.member(fault.member);
  clock.after(fault.backupAt * 1000, () => {
    const backup = disk.image();
    clock.after((fault.at - fault.backupAt) * 1000, () =>
      simulation.crash(simulation.member(fault.member), fault.downFor * 1000, () =>
        disk.replace(restored(backup, disk.image())),
      ),
    );
  });
}

/**
 * A backup as it is restored: versions go on above all that were given out, and nothing is known of the past, so that whoever
 * watched has to list again. A restore that tells nobody would be one that no client of Kubernetes survives.
 */
function restored(backup: DiskImage, lost: DiskImage): DiskImage {
  // One more: a server that has written nothing since it started has given out the ceiling itself.
  const revisionCeiling = Math.max(backup.revisionCeiling, lost.revisionCeiling) + 1;
  return { ...backup, history: [], historyStart: revisionCeiling + 1, revisionCeiling };
}

/** Somebody in a member who insists: what it does not take now is tried again, until it works or is not needed. */
function insist(
  simulation: Simulation,
  member: MemberCluster,
  act: (admin: Client) => Promise<unknown>,
): void {
  const { admin } = member;
  const again = (): void =>
    void simulation.clock.after(RETRY_MS, () => insist(simulation, member, act));
  if (admin === undefined) again();
  else
    void act(admin).catch((error: unknown) => {
      if (!isRefused(error, "AlreadyExists") && !isRefused(error, "NotFound")) again();
    });
}

/** Somebody's own reason why an object must not go. */
const STUCK = "test.example/stuck";

/** The finalizer comes as soon as the copy is there, if that is before the end. */
function arrangeStuck(simulation: Simulation, fault: Is<"stuck-finalizer">): void {
  const { clock } = simulation;
  const member = simulation.member(fault.member);
  const resource = RESOURCES[fault.kind];
  const key = { namespace: "default", name: fault.name };
  let isOver = false;
  const hold = async (): Promise<void> => {
    if (isOver) return;
    const tried = holdBack(member.admin, resource, key).catch(() => {
      // The copy is not there yet, or the member does not answer: tried again.
      return false;
    });
    if (await tried) return;
    clock.after(RETRY_MS, () => void hold());
  };
  clock.after(fault.from * 1000, () => void hold());
  clock.after(fault.until * 1000, () => {
    isOver = true;
    letGo(simulation, member);
  });
}

/** Answers whether the object is held back now. */
async function holdBack(admin: Client | undefined, resource: Resource, key: ObjectKey) {
  if (admin === undefined) return false;
  const { metadata } = await admin.get(resource, key);
  if (metadata.deletionTimestamp !== undefined) return false;
  await setFinalizers(admin, resource, metadata, [...(metadata.finalizers ?? []), STUCK]);
  return true;
}

async function setFinalizers(
  admin: Client,
  resource: Resource,
  { namespace = "", name, resourceVersion }: AnyObject["metadata"],
  finalizers: readonly string[],
): Promise<void> {
  const body = { metadata: { resourceVersion, finalizers } };
  await admin.patch(resource, { namespace, name }, { type: "merge", body });
}

/** Nobody holds anything back in the member any more. */
function letGo(simulation: Simulation, member: MemberCluster): void {
  for (const { object } of simulation.ledger.all(member.name)) {
    if (object.metadata.finalizers?.includes(STUCK) !== true) continue;
    const resource = Object.values(RESOURCES).find(({ kind }) => kind === object.kind);
    if (resource === undefined) continue;
    const { namespace = "", name } = object.metadata;
    insist(simulation, member, async (admin) => {
      const { metadata } = await admin.get(resource, { namespace, name });
      const others = (metadata.finalizers ?? []).filter((one) => one !== STUCK);
      await setFinalizers(admin, resource, metadata, others);
    });
  }
}

function arrangeRotation(simulation: Simulation, fault: Is<"token-rotated">): void {
  const { clock } = simulation;
  const member = simulation.member(fault.member);
  const first = Math.max(0, Math.min(fault.at, fault.at + fault.oldEndsAfter));
  clock.after(first * 1000, () => {
    member.issueToken();
    if (fault.oldEndsAfter < 0) member.revokeOldTokens();
  });
  clock.after(fault.at * 1000, () =>
    simulation.user(async (plane) => {
      const key = { namespace: wellKnown.CLUSTER_NAMESPACE, name: fault.member };
      const body = { data: { token: btoa(member.token) } };
      await plane.patch(secrets, key, { type: "merge", body });
    }),
  );
  if (fault.oldEndsAfter >= 0)
    clock.after((fault.at + fault.oldEndsAfter) * 1000, () => member.revokeOldTokens());
}

function arrangeForeign(simulation: Simulation, fault: Is<"foreign-object">): void {
  const { clock } = simulation;
  const member = simulation.member(fault.member);
  const resource = RESOURCES[fault.kind];
  const key = { namespace: "default", name: fault.name };
  const object = workload({ ...fault, do: "workload", at: fault.from, version: 9 });
  clock.after(fault.from * 1000, () =>
    insist(simulation, member, (admin) => admin.create(resource, object)),
  );
  clock.after(fault.until * 1000, () =>
    insist(simulation, member, async (admin) => {
      const { metadata } = await admin.get(resource, key);
      if (metadata.labels?.[wellKnown.MANAGED] === "true") return;
      const preconditions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
      await admin.delete(resource, key, { propagationPolicy: "Background", preconditions });
    }),
  );
}

function troubleOf({ kind, delayMs = LATE_MS }: Is<"pods">): MemberFault {
  return kind === "start-late" || kind === "stop-late" ? { kind, delayMs } : { kind };
}
