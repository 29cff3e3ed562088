/** Taint policies on a real API server: windows by the clock, one write per change, and what a restart leaves. */
import { wellKnown } from "@lifeboat/core";
import {
  type Cluster,
  clusters,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  type New,
} from "@lifeboat/api";
import { Informer } from "@lifeboat/kit";
import { createFleet, type Fleet, newCluster, resources } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTaintPolicies } from "./create-taint-policies.ts";

let fleet: Fleet;
const KEY = { namespace: "", name: "eu-1" };

beforeEach(async () => {
  fleet = await createFleet({
    services: (context) => createTaintPolicies(context, { failover: true }),
  });
  await fleet.plane.create(clusters, newCluster("eu-1"));
});
afterEach(() => fleet.close());

/** The policy of the proposal, with the windows as given. */
const policy = (add = 300, remove = 180): New<ClusterTaintPolicy> => ({
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterTaintPolicy",
  metadata: { name: "detect-cluster-not-ready" },
  spec: {
    targetCluster: { clusterNames: ["eu-1", "eu-2"] },
    matchConditions: [
      { conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"] },
    ],
    taintsToAdd: [
      {
        key: "cluster.karmada.io/not-ready",
        effect: "PreferNoExecute",
        addOnMatchSeconds: add,
        removeOnMismatchSeconds: remove,
      },
    ],
  },
});

async function report(status: "True" | "False" | "Unknown"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, KEY);
  const others = (cluster.status?.conditions ?? []).filter(({ type }) => type !== "Ready");
  const condition = { type: "Ready", status, reason: "", message: "" };
  const lastTransitionTime = new Date(fleet.clock.now()).toISOString().replace(".000Z", "Z");
  // A patch: the controller may be writing its record meanwhile.
  const body = { status: { conditions: [...others, { ...condition, lastTransitionTime }] } };
  const options = { subresource: "status" };
  await fleet.plane.patch(clusters, KEY, { type: "merge", body: body as never }, options);
}

const read = (): Promise<Cluster> => fleet.plane.get(clusters, KEY);
const taintsOf = async (): Promise<readonly unknown[]> => (await read()).spec.taints ?? [];

it("asks the server before it acts for a policy that is gone, of which it has not heard", async () => {
  const stop = new AbortController();
  await fleet.close();
  fleet = await createFleet({
    services: (context) => {
      const stale = new Informer(context, context.plane, clusterTaintPolicies);
      const following = { name: "stale", run: () => stale.run(stop.signal) };
      const informers = { ...context.informers, clusterTaintPolicies: stale };
      return [following, ...createTaintPolicies({ ...context, informers }, { failover: true })];
    },
  });
  await fleet.plane.create(clusters, newCluster("eu-1"));
  const { metadata } = await fleet.plane.create(clusterTaintPolicies, policy(1, 1));
  await fleet.settle();
  stop.abort();
  await fleet.settle();
  await fleet.plane.delete(clusterTaintPolicies, { namespace: "", name: metadata.name });
  await report("False");
  await fleet.advance("10s");
  expect(await taintsOf()).toEqual([]);
});

describe("the policy of the proposal", () => {
  it("taints the cluster five minutes after it failed, and clears it three minutes after it is back", async () => {
    await fleet.plane.create(clusterTaintPolicies, policy());
    await report("False");
    await fleet.advance("299s");
    expect(await taintsOf()).toEqual([]);
    await fleet.advance("1s");
    expect(await taintsOf()).toEqual([
      {
        key: "cluster.karmada.io/not-ready",
        effect: "PreferNoExecute",
        timeAdded: "2026-01-01T00:05:00Z",
      },
    ]);
    await report("True");
    await fleet.advance("179s");
    expect(await taintsOf()).toHaveLength(1);
    await fleet.advance("1s");
    expect(await taintsOf()).toEqual([]);
    const events = await fleet.plane.list(resources.events, { namespace: "default" });
    expect(events.items.map((event) => event["reason"])).toEqual([
      "TaintClusterSucceed",
      "TaintClusterSucceed",
    ]);
  });

  it("goes on where it was after a restart, and writes nothing at rest", async () => {
    await fleet.plane.create(clusterTaintPolicies, policy());
    await report("False");
    await fleet.advance("200s");
    await fleet.restart();
    await fleet.advance("99s");
    expect(await taintsOf()).toEqual([]);
    await fleet.advance("1s");
    expect(await taintsOf()).toHaveLength(1);
    const before = (await read()).metadata.resourceVersion;
    await fleet.restart();
    await fleet.advance("10m");
    expect((await read()).metadata.resourceVersion).toBe(before);
  });

  it("waits the whole window again when the cluster was back for a moment between two looks", async () => {
    await fleet.plane.create(clusterTaintPolicies, policy());
    await report("False");
    await fleet.advance("200s");
    await report("True");
    await report("False");
    await fleet.advance("299s");
    expect(await taintsOf()).toEqual([]);
    await fleet.advance("1s");
    expect(await taintsOf()).toHaveLength(1);
  });

  it("takes its taints with it when it is deleted, also while the control plane is down", async () => {
    await fleet.plane.create(clusterTaintPolicies, policy(1, 1));
    await report("Unknown");
    await fleet.advance("1s");
    expect(await taintsOf()).toHaveLength(1);
    await fleet.plane.delete(clusterTaintPolicies, {
      namespace: "",
      name: "detect-cluster-not-ready",
    });
    await fleet.restart();
    await fleet.advance("1s");
    expect(await taintsOf()).toEqual([]);
    // Nothing but the stamp of its maker.
    const { annotations = {} } = (await read()).metadata;
    expect(Object.keys(annotations).filter((key) => key !== wellKnown.LAST_ACT)).toEqual([]);
  });
});
