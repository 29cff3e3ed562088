import fc from "fast-check";
import { addMs, type Instant } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import type { Deployment, ReplicaSet } from "../kinds.ts";
import { decideDeployment, type DeploymentPlan } from "./deployment.ts";
import { deployment, meta, NOW, podTemplate, replicaSet } from "./objects.suite.ts";
import { portionOf, templateHash } from "./pods.ts";
import { conditionOf } from "./status.ts";

const NEW = templateHash(podTemplate());

/** A ReplicaSet of this size of which so many pods are available. */
function set(name: string, hash: string, replicas: number, available: number): ReplicaSet {
  const made = replicaSet(name, { replicas }, { labels: { "pod-template-hash": hash } });
  return {
    ...made,
    status: { replicas, readyReplicas: available, availableReplicas: available },
  };
}

function decide(
  subject: Deployment,
  replicaSets: readonly ReplicaSet[],
  now: Instant = NOW,
  withPods: ReadonlySet<string> = new Set(),
): DeploymentPlan {
  return decideDeployment({ deployment: subject, replicaSets, withPods }, now);
}

const sizes = (plan: DeploymentPlan): Record<string, number | undefined> =>
  Object.fromEntries(plan.update.map(({ metadata, spec }) => [metadata.name, spec.replicas]));

const rolling = (maxSurge: number | string, maxUnavailable: number | string) =>
  ({ type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } }) as const;

describe("sizes", () => {
  it("creates the first ReplicaSet at full size, with the labels that tell it apart", () => {
    const { create } = decide(deployment({ replicas: 3 }), []);
    expect(create).toMatchObject({
      metadata: {
        name: `web-${NEW}`,
        labels: { app: "a", "pod-template-hash": NEW },
        annotations: { "deployment.kubernetes.io/revision": "1" },
      },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "a", "pod-template-hash": NEW } },
        template: { metadata: { labels: { "pod-template-hash": NEW } } },
      },
    });
  });

  it.each<{
    name: string;
    spec: Partial<Deployment["spec"]>;
    sets: ReplicaSet[];
    want: Record<string, number>;
  }>([
    {
      name: "the new one takes the surge, the old one gives what may be missing",
      spec: { replicas: 4, strategy: rolling("25%", "25%") },
      sets: [set("new", NEW, 0, 0), set("old", "x", 4, 4)],
      want: { new: 1, old: 3 },
    },
    {
      name: "without surge the old one goes first",
      spec: { replicas: 2, strategy: rolling(0, 1) },
      sets: [set("new", NEW, 0, 0), set("old", "x", 2, 2)],
      want: { old: 1 },
    },
    {
      name: "with neither surge nor absence one may be missing",
      spec: { replicas: 2, strategy: rolling(0, 0) },
      sets: [set("new", NEW, 0, 0), set("old", "x", 2, 2)],
      want: { old: 1 },
    },
    {
      name: "old pods that are not available go first",
      spec: { replicas: 4, strategy: rolling(0, 1) },
      sets: [set("new", NEW, 0, 0), set("old", "x", 4, 3)],
      want: { old: 3 },
    },
    {
      name: "nothing moves while the new one proves itself",
      spec: { replicas: 3, strategy: rolling(1, 0) },
      sets: [set("new", NEW, 1, 0), set("old", "x", 3, 3)],
      want: {},
    },
    {
      name: "a smaller size reaches the newest at once",
      spec: { replicas: 1 },
      sets: [set("new", NEW, 3, 3)],
      want: { new: 1 },
    },
    {
      name: "a paused one follows its size and does not roll",
      spec: { replicas: 5, paused: true },
      sets: [set("old", "x", 2, 2)],
      want: { old: 5 },
    },
  ])("$name", ({ spec, sets, want }) => {
    const plan = decide(deployment(spec), sets.map(withRevision));
    expect(sizes(plan)).toEqual(want);
  });

  it("with Recreate waits for the last old pod", () => {
    const subject = deployment({ replicas: 2, strategy: { type: "Recreate" } });
    const sets = [set("new", NEW, 0, 0), set("old", "x", 0, 0)].map(withRevision);
    expect(sizes(decide(subject, sets, NOW, new Set(["uid-old"])))).toEqual({});
    expect(sizes(decide(subject, sets))).toEqual({ new: 2 });
  });

  it("keeps as much history as it is told to, the newest", () => {
    const old = [1, 2, 3].map((number) => ({
      ...set(`old-${number}`, `x${number}`, 0, 0),
      metadata: meta(`old-${number}`, {
        annotations: { "deployment.kubernetes.io/revision": String(number) },
      }),
    }));
    const subject = deployment({ replicas: 1, revisionHistoryLimit: 1 });
    const plan = decide(subject, [set("new", NEW, 1, 1), ...old]);
    expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual(["old-1", "old-2"]);
    expect(plan.revision).toBe("4");
  });

  it("never asks for more than the surge allows nor takes what must stay, from any state", () => {
    const count = fc.nat(8);
    const size = fc
      .tuple(count, count)
      .map(([a, b]) => ({ size: Math.max(a, b), up: Math.min(a, b) }));
    const share = fc.oneof(
      fc.nat(4),
      fc.nat(100).map((percent) => `${percent}%`),
    );
    fc.assert(
      fc.property(count, share, share, fc.array(size, { maxLength: 3 }), size, (...given) => {
        const [replicas, surge, unavailable, olds, newest] = given;
        const subject = deployment({ replicas, strategy: rolling(surge, unavailable) });
        const sets = [
          set("new", NEW, newest.size, newest.up),
          ...olds.map((item, i) => set(`old-${i}`, `x${i}`, item.size, item.up)),
        ].map(withRevision);
        const before = sets.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
        const changed = sizes(decide(subject, sets));
        const after = (item: ReplicaSet) => changed[item.metadata.name] ?? item.spec.replicas ?? 0;
        const total = sets.reduce((sum, item) => sum + after(item), 0);
        const most = replicas + portionOf(surge, replicas, Math.ceil);
        expect(total).toBeLessThanOrEqual(Math.max(before, most));
        // However the pods are chosen, those that were available and stay cannot be fewer than the minimum.
        const up = (item: ReplicaSet) => item.status?.availableReplicas ?? 0;
        const spare = portionOf(unavailable, replicas, Math.floor);
        const missing = spare === 0 && most === replicas ? 1 : spare;
        const left = sets.reduce((sum, item) => sum + Math.min(up(item), after(item)), 0);
        if (newest.size <= replicas) {
          const all = sets.reduce((sum, item) => sum + up(item), 0);
          expect(left).toBeGreaterThanOrEqual(Math.min(all, replicas - missing));
        }
      }),
    );
  });
});

function withRevision(item: ReplicaSet): ReplicaSet {
  const revision = item.metadata.name === "new" ? "9" : "1";
  const annotations = { "deployment.kubernetes.io/revision": revision };
  return { ...item, metadata: { ...item.metadata, annotations } };
}

describe("the status", () => {
  const progressing = (plan: DeploymentPlan) => conditionOf(plan.status.conditions, "Progressing");

  it("adds up what the ReplicaSets report", () => {
    const sets = [set("new", NEW, 1, 0), set("old", "x", 3, 2)];
    expect(decide(deployment({ replicas: 3 }), sets).status).toMatchObject({
      observedGeneration: 1,
      replicas: 4,
      updatedReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 2,
      unavailableReplicas: 2,
    });
  });

  it("is complete when all pods are new and available, and says the same on the next look", () => {
    const sets = [withRevision(set("new", NEW, 2, 2))];
    const first = decide(deployment({ replicas: 2 }), sets);
    expect(progressing(first)).toMatchObject({ reason: "NewReplicaSetAvailable" });
    const again = decide(deployment({ replicas: 2 }, first.status), sets, addMs(NOW, 60_000));
    expect(again.status).toEqual(first.status);
    expect(again.checkAgainAt).toBeUndefined();
  });

  it("exceeds its deadline once, never early, and recovers when it moves again", () => {
    const spec = { replicas: 2, progressDeadlineSeconds: 60 };
    const sets = [withRevision(set("new", NEW, 2, 0))];
    const first = decide(deployment(spec), sets);
    expect(first.checkAgainAt).toBe(addMs(NOW, 61_000));
    const early = decide(deployment(spec, first.status), sets, addMs(NOW, 60_000));
    expect(early.status).toEqual(first.status);
    const late = decide(deployment(spec, first.status), sets, addMs(NOW, 61_000));
    expect(progressing(late)).toMatchObject({
      status: "False",
      reason: "ProgressDeadlineExceeded",
    });
    const after = decide(deployment(spec, late.status), sets, addMs(NOW, 999_000));
    expect(after.status).toEqual(late.status);
    const moved = [withRevision(set("new", NEW, 2, 1))];
    const recovered = decide(deployment(spec, late.status), moved, addMs(NOW, 999_000));
    expect(progressing(recovered)).toMatchObject({ status: "True", reason: "ReplicaSetUpdated" });
  });
});
