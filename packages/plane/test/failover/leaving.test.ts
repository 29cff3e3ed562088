/** Whether a workload may leave a cluster is one decision, for cluster failover and for application failover (D8, D9). */
import {
  evacuations,
  type Evacuation,
  propagationPolicies,
  type PropagationPolicy,
} from "@lifeboat/api";
import { deployment, type Fleet, oneOf, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { DOWN, failoverFleet, type Hands, policyFor, WEB } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;
afterEach(() => fleet.close());

const web = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const cluster = { cluster: { purgeMode: "Directly" } };
const application = (more: object) => ({
  application: { decisionConditions: { tolerationSeconds: 60 }, ...more },
});

async function start(failover: object, replicas = 1, members = ["m1", "m2"]): Promise<void> {
  ({ fleet, hands } = await failoverFleet(members, { failover: true }));
  const spec = { placement: oneOf(...members), propagateDeps: true, failover };
  await hands.create(policyFor(web, spec), resources.deployments, deployment("web", { replicas }));
  await fleet.advance("10s");
}

async function editPolicy(change: (spec: PropagationPolicy["spec"]) => object): Promise<void> {
  const policy = await fleet.plane.get(propagationPolicies, WEB);
  const spec = change(policy.spec) as PropagationPolicy["spec"];
  await fleet.plane.update(propagationPolicies, { ...policy, spec });
  await fleet.settle();
}

function evacuation(): Promise<Evacuation> {
  return fleet.plane.get(evacuations, { namespace: "", name: "m1-1" });
}

function held(): Promise<readonly string[]> {
  return hands.told("ResourceBinding", "web-deployment", "EvictionHeld");
}

const SUSPENSIONS = [
  ["everywhere", { dispatching: true }],
  ["on the target", { dispatchingOnClusters: { clusterNames: ["m2"] } }],
] as const;

describe("17.7: a workload that no policy claims", () => {
  it("is not purged by application failover, and goes once a policy claims it", async () => {
    await start(application({ purgeMode: "Directly" }));
    await fleet.plane.delete(propagationPolicies, WEB);
    await fleet.settle();
    await hands.sicken("m1");
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.copy("m1")).toBeDefined();
    expect(await held()).toEqual([expect.stringContaining("(NotClaimed)")]);
    const failover = application({ purgeMode: "Directly" });
    const spec = { placement: oneOf("m1", "m2"), propagateDeps: true, failover };
    await fleet.plane.create(propagationPolicies, policyFor(web, spec));
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m2");
  });
});

describe("17.7: suspended dispatching", () => {
  it.each(SUSPENSIONS)("%s holds cluster failover, Directly", async (_where, suspension) => {
    await start(cluster);
    await editPolicy((spec) => ({ ...spec, suspension }));
    await hands.taint("m1", DOWN);
    await fleet.advance("1m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.copy("m1")).toBeDefined();
    const { status } = await evacuation();
    expect(status).toMatchObject({ phase: "Held", held: [{ reason: "DispatchingSuspended" }] });
    await editPolicy(({ suspension: _none, ...spec }) => spec);
    await fleet.advance("1m");
    expect(await hands.placement()).toBe("m2");
    expect(await evacuation()).toMatchObject({ status: { phase: "Completed" } });
  });

  it("on the target holds application failover, Directly", async () => {
    await start(application({ purgeMode: "Directly" }));
    await editPolicy((spec) => ({
      ...spec,
      suspension: { dispatchingOnClusters: { clusterNames: ["m2"] } },
    }));
    await hands.sicken("m1");
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.copy("m1")).toBeDefined();
    expect(await held()).toEqual([expect.stringContaining("(DispatchingSuspended)")]);
  });

  it("everywhere holds application failover, Directly, and is told", async () => {
    await start(application({ purgeMode: "Directly" }));
    await editPolicy((spec) => ({ ...spec, suspension: { dispatching: true } }));
    await hands.sicken("m1");
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m1");
    expect(await hands.copy("m1")).toBeDefined();
    // Reports of the copy are about another version of its Work: it is not even known to be unhealthy.
    expect(await held()).toEqual([]);
    expect(await hands.told("ResourceBinding", "web-deployment", "DispatchingSuspended")).toEqual([
      expect.stringContaining("Application failover waits for cluster m1"),
    ]);
    await editPolicy(({ suspension: _none, ...spec }) => spec);
    await fleet.advance("3m");
    expect(await hands.placement()).toBe("m2");
  });

  it("that begins during a graceful eviction is named as what it waits for", async () => {
    await start({ cluster: { purgeMode: "Gracefully" } });
    await hands.sicken("m2");
    await hands.taint("m1", DOWN);
    await fleet.advance("20s");
    expect(await hands.placement()).toBe("m2 -m1");
    await editPolicy((spec) => ({ ...spec, suspension: { dispatching: true } }));
    await fleet.advance("10s");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.events("ResourceBinding", "web-deployment")).toContain(
      "DispatchingSuspended",
    );
  });
});

describe("17.10: the grace period of a failing application", () => {
  it("takes the old copy, task and Work, although a replica serves, and tells it at half time", async () => {
    await start(application({ purgeMode: "Gracefully", gracePeriodSeconds: 60 }), 2);
    await hands.sicken("m2");
    await hands.sicken("m1", 1);
    await fleet.advance("70s");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.copy("m1")).toMatchObject({ status: { readyReplicas: 1 } });
    const warned = () => hands.told("ResourceBinding", "web-deployment", "GracePeriodEnding");
    await fleet.advance("15s");
    expect(await warned()).toEqual([]);
    await fleet.advance("15s");
    expect(await warned()).toHaveLength(1);
    expect(await hands.works()).toBe("m1, m2");
    await fleet.advance("45s");
    expect(await hands.placement()).toBe("m2");
    expect(await hands.works()).toBe("m2");
    expect(await hands.copy("m1")).toBeUndefined();
  });

  it("keeps the old copy where its policy sets no such time: nothing goes that serves", async () => {
    await start({ cluster: { purgeMode: "Gracefully" } }, 2);
    await hands.sicken("m2");
    await hands.sicken("m1", 1);
    await hands.taint("m1", DOWN);
    await fleet.advance("15m");
    expect(await hands.placement()).toBe("m2 -m1");
    expect(await hands.works()).toBe("m1, m2");
  });
});

describe("17.14: an evacuation", () => {
  it("is not complete while the workload is in no cluster", async () => {
    await start(cluster);
    await hands.taint("m1", DOWN);
    for (let i = 0; i < 100 && (await hands.placement()) === "m1"; i++)
      await fleet.advance("100ms");
    expect(await hands.placement()).toBe("-m1");
    // Between the eviction and the end of the purge the only other cluster is closed.
    await hands.taint("m2", { key: "closed", effect: "NoSchedule" });
    await fleet.advance("2m");
    expect(await hands.placement()).toBe("");
    const { status } = await evacuation();
    expect(status).toMatchObject({ phase: "Running", reason: "NotPlaced" });
    expect(status?.entries).toMatchObject({ evicted: 1, done: 0 });
    await hands.untaint("m2");
    await fleet.advance("1m");
    expect(await hands.placement()).toBe("m2");
    expect((await evacuation()).status).toMatchObject({ phase: "Completed", reason: "AllMoved" });
  });
});
