/** The controller alone: a server that fails, others' conditions, and clusters that come and go. */
import {
  type Cluster,
  clusters,
  failure,
  findCondition,
  type New,
  Refused,
  setCondition,
  type Work,
  works,
} from "@lifeboat/api";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import { createFleet, type Fleet, newObject, resources } from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createStaleCopies } from "./create-stale-copies.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const KEY = { namespace: "", name: "m1" };
const WORK = { namespace: "karmada-es-m1", name: "web-x" };

async function start(wrap: (plane: Client) => Client = (plane) => plane): Promise<void> {
  fleet = await createFleet({
    memberModel: false,
    services: (context) => createStaleCopies({ ...context, plane: wrap(context.plane) }),
  });
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "m1" },
    spec: { syncMode: "Push" },
  });
  await fleet.plane.create(
    resources.namespaces,
    newObject(resources.namespaces, { name: "karmada-es-m1" }),
  );
  const work: New<Work> = {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { ...WORK, finalizers: ["karmada.io/execution-controller"] },
    spec: { workload: { manifests: [] } },
  };
  await fleet.plane.create(works, work);
}

async function say(type: string, status: "True" | "False"): Promise<void> {
  const cluster = await fleet.plane.get(clusters, KEY);
  const condition = { type, status, reason: "Test", message: "" };
  const conditions = setCondition(cluster.status?.conditions, condition, fleet.clock.now());
  const changed = { ...cluster, status: { ...cluster.status, conditions } };
  await fleet.plane.update(clusters, changed, { subresource: "status" });
  await fleet.settle();
}

async function release(): Promise<void> {
  const body = { metadata: { finalizers: null } };
  await fleet.plane.patch(works, WORK, { type: "merge", body });
  await fleet.advance("5s");
}

async function removed(): Promise<string | undefined> {
  const { status } = await fleet.plane.get(clusters, KEY);
  return findCondition(status?.conditions, "StaleCopiesRemoved")?.status;
}

describe("a server that fails", () => {
  it.each([
    ["refuses", (): Error => new Refused(failure(500, "InternalError", "broken")), false],
    ["takes writes and loses its answers", (): Error => new OutcomeUnknown("lost"), true],
  ])("%s: the condition is written in the end", async (_what, error, isTaken) => {
    let updates = 0;
    await start((plane) => ({
      ...plane,
      update: async (...given) => {
        updates += 1;
        if (updates % 2 === 0) return plane.update(...given);
        if (isTaken) await plane.update(...given);
        throw error();
      },
    }));
    await say("Ready", "False");
    await fleet.plane.delete(works, WORK);
    await fleet.advance("5s");
    expect(await removed()).toBe("False");
    await release();
    expect(await removed()).toBe("True");
    const before = updates;
    await fleet.advance("10m");
    expect(updates).toBe(before);
  });
});

describe("the condition", () => {
  it("leaves others' conditions alone and survives a restart", async () => {
    await start();
    await say("Other", "True");
    await say("Ready", "False");
    await fleet.plane.delete(works, WORK);
    await fleet.settle();
    await fleet.restart();
    await say("Ready", "True");
    await fleet.restart();
    expect(await removed()).toBe("False");
    const cluster: Cluster = await fleet.plane.get(clusters, KEY);
    expect(findCondition(cluster.status?.conditions, "Other")?.status).toBe("True");
    await release();
    expect(await removed()).toBe("True");
  });

  it("is not written for a cluster that loses nothing", async () => {
    await start();
    await say("Ready", "False");
    await say("Ready", "True");
    await fleet.plane.delete(works, WORK);
    await release();
    expect(await removed()).toBeUndefined();
  });
});

describe("a person's word that the cluster is off", () => {
  it("is taken off when it answers, and only then", async () => {
    await start();
    await say("Ready", "False");
    const body = { metadata: { annotations: { "lifeboat.dev/fenced": "{}", other: "x" } } };
    await fleet.plane.patch(clusters, KEY, { type: "merge", body });
    await fleet.advance("10m");
    const before = (await fleet.plane.get(clusters, KEY)).metadata;
    expect(before.annotations).toHaveProperty(["lifeboat.dev/fenced"]);
    await say("Ready", "True");
    await fleet.advance("1s");
    const after = (await fleet.plane.get(clusters, KEY)).metadata;
    expect(after.annotations).toMatchObject({ other: "x" });
    expect(after.annotations).not.toHaveProperty(["lifeboat.dev/fenced"]);
  });
});
