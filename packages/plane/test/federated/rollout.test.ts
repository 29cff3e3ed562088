/** A new pod template over three clusters, with the production controllers: one cluster at a time (D15). */
import { type AnyObject, statefulSets } from "@lifeboat/api";
import { afterEach, describe, expect, it } from "vitest";
import { type Federation, openFederation, STORE } from "./federated.suite.ts";

let federation: Federation;
afterEach(() => federation.fleet.close());

const C3 = ["c1", "c2", "c3"];
const QUORUM = { "federation.kubernetes.io/quorum": "true" };

const image = (name: string) => ({
  spec: { template: { spec: { containers: [{ name: "etcd", image: name }] } } },
});

/** By member: the images of its pods in the order of their names. */
async function images(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const member of C3) {
    const pods = [...(await federation.pods(member))].sort(([a], [b]) => (a < b ? -1 : 1));
    const tags = pods.map(([, pod]) => {
      const { containers } = pod["spec"] as { containers: { image: string }[] };
      return containers[0]?.image.split(":")[1] ?? "";
    });
    found.push(`${member} ${tags.join(" ")}`);
  }
  return found;
}

/** Advances until nothing changes for a while; every state that was seen. */
async function watch(steps: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    await federation.fleet.advance("250ms");
    const now = (await images()).join(", ");
    if (now !== seen.at(-1)) seen.push(now);
  }
  return seen;
}

const mixed = (state: string): number =>
  state.split(", ").filter((one) => {
    const [, ...tags] = one.split(" ");
    return new Set(tags).size > 1 || tags.length < 2;
  }).length;

async function observedGeneration(): Promise<boolean> {
  const set = (await federation.fleet.plane.get(statefulSets, STORE)) as AnyObject & {
    status: { observedGeneration?: number };
  };
  return set.status.observedGeneration === set.metadata.generation;
}

describe("a new pod template", () => {
  it("reaches the last cluster first, and the next when all pods there are ready; also over a restart", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(6);
    await federation.fleet.advance("1m");
    expect(await federation.condition("RolloutComplete")).toBe("True UpToDate");
    await federation.edit(image("etcd:3.6"));
    const first = await watch(8);
    await federation.fleet.restart();
    const seen = [...first, ...(await watch(240))];
    expect(seen.at(-1)).toBe("c1 3.6 3.6, c2 3.6 3.6, c3 3.6 3.6");
    for (const state of seen) expect(mixed(state)).toBeLessThanOrEqual(1);
    const whole = seen.filter((state) => mixed(state) === 0);
    expect([...new Set(whole)]).toEqual([
      "c1 3.5 3.5, c2 3.5 3.5, c3 3.5 3.5",
      "c1 3.5 3.5, c2 3.5 3.5, c3 3.6 3.6",
      "c1 3.5 3.5, c2 3.6 3.6, c3 3.6 3.6",
      "c1 3.6 3.6, c2 3.6 3.6, c3 3.6 3.6",
    ]);
    await federation.fleet.advance("30s");
    expect(await federation.condition("RolloutComplete")).toBe("True UpToDate");
    expect(await observedGeneration()).toBe(true);
  });

  it("stops at a cluster that fails; its cure is taken first", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(6, QUORUM);
    await federation.fleet.advance("1m");
    federation.fleet
      .member("c3")
      .model.setFault({ kind: "pods-not-ready", labels: { bad: "yes" } });
    const labels = { app: "etcd", bad: "yes" };
    await federation.edit({ spec: { template: { metadata: { labels } } } });
    await federation.fleet.advance("10m");
    const held = await federation.fleet.member("c2").client.get(statefulSets, {
      namespace: "default",
      name: "store-c2",
    });
    expect(JSON.stringify(held["spec"])).not.toContain("bad");
    expect(await federation.condition("RolloutComplete")).toBe("False Updating");
    expect(await observedGeneration()).toBe(false);
    await federation.edit({ spec: { template: { metadata: { labels: { bad: null } } } } });
    federation.fleet.member("c3").model.heal();
    await federation.fleet.advance("5m");
    expect(await federation.condition("RolloutComplete")).toBe("True UpToDate");
  });

  it("with a global partition only the highest pods of all clusters are replaced", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(6);
    await federation.fleet.advance("1m");
    const updateStrategy = { type: "RollingUpdate", rollingUpdate: { partition: 3 } };
    const { spec } = image("etcd:3.6");
    await federation.edit({ spec: { ...spec, updateStrategy } });
    await federation.fleet.advance("3m");
    expect(await images()).toEqual(["c1 3.5 3.5", "c2 3.5 3.6", "c3 3.6 3.6"]);
    expect(await federation.condition("RolloutComplete")).toBe("True UpToDate");
    await federation.edit({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    const seen = await watch(240);
    for (const state of seen) expect(mixed(state)).toBeLessThanOrEqual(2);
    expect(await images()).toEqual(["c1 3.6 3.6", "c2 3.6 3.6", "c3 3.6 3.6"]);
  });

  it("of a quorum waits while the budget is spent", async () => {
    federation = await openFederation();
    await federation.service();
    await federation.set(3, QUORUM);
    await federation.fleet.advance("2m");
    federation.fleet.member("c3").link.setFault({ kind: "down" });
    await federation.fleet.advance("3m");
    await federation.edit(image("etcd:3.6"));
    await federation.fleet.advance("5m");
    expect(await images()).toEqual(["c1 3.5", "c2 3.5", "c3 3.5"]);
    expect(await federation.condition("RolloutComplete")).toBe("False BudgetSpent");
    federation.fleet.member("c3").link.setFault(undefined);
    await federation.fleet.advance("5m");
    expect(await images()).toEqual(["c1 3.6", "c2 3.6", "c3 3.6"]);
    expect(await federation.condition("RolloutComplete")).toBe("True UpToDate");
  });
});
