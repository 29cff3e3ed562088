/**
 * Random histories of a fleet: taints come and go, links break and heal, the control plane dies, time passes. Two
 * workloads live through it, one that moves Directly and one that moves gracefully.
 *
 * At every step: the first one has pods in at most one cluster (E1), and the second one has a copy that is ready (O-graceful-3).
 * When everything is well again: each runs in exactly one cluster, and nothing is left on its way.
 */
import { works } from "@lifeboat/api";
import { createRandom } from "@lifeboat/base";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { expect } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

const MEMBERS = ["m1", "m2", "m3"] as const;

interface History {
  readonly fleet: Fleet;
  readonly hands: Hands;
  /** What was done, for a failure to be read. */
  readonly told: string[];
}

/** Plays one history of so many steps; throws when a promise is broken. */
export async function playHistory(seed: number, steps: number): Promise<void> {
  const random = createRandom(seed);
  const { fleet, hands } = await failoverFleet(
    MEMBERS,
    { failover: true, resourceEvictionRate: 100, largeClusterNumThreshold: 1 },
    { seed },
  );
  const history: History = { fleet, hands, told: [] };
  try {
    for (const purgeMode of ["Directly", "Gracefully"]) await start(history, purgeMode);
    await fleet.advance("20s");
    for (let step = 0; step < steps; step++) {
      await act(history, random.below(10), random.below(3), random.below(4));
      for (let i = 0; i < 8; i++) {
        await fleet.advance(50 + random.below(random.below(4) === 0 ? 4000 : 400));
        await judge(history);
      }
    }
    await heal(history);
  } catch (error) {
    throw new Error(`seed ${seed}: ${history.told.join(", ")}`, { cause: error });
  } finally {
    await fleet.close();
  }
}

const nameOf = (purgeMode: string): string => purgeMode.toLowerCase();

async function start({ hands }: History, purgeMode: string): Promise<void> {
  const name = nameOf(purgeMode);
  const spec = {
    placement: oneOf(...MEMBERS),
    failover: { cluster: { purgeMode, tolerationSeconds: 0 } },
  };
  const resource = { apiVersion: "apps/v1", kind: "Deployment", name };
  await hands.create(policyFor(resource, spec), resources.deployments, deployment(name));
}

async function act(
  { fleet, hands, told }: History,
  action: number,
  at: number,
  how: number,
): Promise<void> {
  const member = MEMBERS[at] ?? "m1";
  const faults = [
    { kind: "down" },
    { kind: "partition" },
    { kind: "errors" },
    { kind: "slow", delayMs: 300 },
  ] as const;
  if (action < 3) {
    told.push(`taint ${member}`);
    await hands.untaint(member);
    const effect = how === 0 ? "PreferNoExecute" : "NoExecute";
    await hands.taint(member, { key: "down", effect });
  } else if (action < 6) {
    told.push(`untaint ${member}`);
    await hands.untaint(member);
  } else if (action < 8) {
    told.push(`${faults[how]?.kind ?? ""} ${member}`);
    fleet.member(member).link.setFault(faults[how]);
  } else if (action < 9) {
    told.push(`heal ${member}`);
    fleet.member(member).link.setFault(undefined);
  } else {
    told.push("restart");
    await fleet.restart();
  }
}

async function judge({ fleet }: History): Promise<void> {
  let running = 0;
  let ready = 0;
  for (const member of MEMBERS) {
    const { client } = fleet.member(member);
    const pods = await client.list(resources.pods, { labelSelector: "app=directly" });
    if (pods.items.length > 0) running += 1;
    const copies = await client.list(resources.deployments, { labelSelector: "app=gracefully" });
    for (const copy of copies.items) {
      const status = copy["status"] as { readonly readyReplicas?: number } | undefined;
      const isGoing = copy.metadata.deletionTimestamp !== undefined;
      if (!isGoing && (status?.readyReplicas ?? 0) > 0) ready += 1;
    }
  }
  expect(running, "clusters with pods of the workload that moves Directly").toBeLessThanOrEqual(1);
  expect(ready, "ready copies of the workload that moves gracefully").toBeGreaterThanOrEqual(1);
}

async function heal(history: History): Promise<void> {
  const { fleet, hands } = history;
  history.told.push("all is well again");
  for (const member of MEMBERS) {
    fleet.member(member).link.setFault(undefined);
    await hands.untaint(member);
  }
  for (let i = 0; i < 30; i++) {
    await fleet.advance("10s");
    await judge(history);
  }
  for (const purgeMode of ["Directly", "Gracefully"]) {
    const name = nameOf(purgeMode);
    expect(await hands.placement(`${name}-deployment`), name).toMatch(/^m[123]$/);
  }
  const { items } = await fleet.plane.list(works);
  const left = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  expect(left).toEqual([]);
  for (const member of MEMBERS)
    expect(await hands.condition(member, "StaleCopiesRemoved")).not.toBe("False");
}
