import fc from "fast-check";
import { addMs } from "@lifeboat/base";
import { expect, it } from "vitest";
import { isActive } from "./pods.ts";
import { ANY_UNFINISHED, NOW, pod, type PodState, replicaSet } from "./objects.suite.ts";
import { decideReplicaSet } from "./replica-set.ts";

const names = (pods: readonly { readonly metadata: { readonly name?: string } }[]) =>
  pods.map(({ metadata }) => metadata.name);

it.each<{ name: string; replicas: number; pods: PodState[]; create: number; remove: string[] }>([
  { name: "creates what is missing", replicas: 3, pods: ["ready"], create: 2, remove: [] },
  { name: "does nothing when all are there", replicas: 1, pods: ["ready"], create: 0, remove: [] },
  { name: "replaces a pod that leaves", replicas: 1, pods: ["leaving"], create: 1, remove: [] },
  { name: "replaces a pod that failed", replicas: 1, pods: ["failed"], create: 1, remove: [] },
  {
    name: "gives up who is missed least",
    replicas: 1,
    pods: ["ready", "unready", "pending", "unplaced"],
    create: 0,
    remove: ["3", "2", "1"],
  },
  {
    name: "gives up the first of equals",
    replicas: 1,
    pods: ["ready", "ready"],
    create: 0,
    remove: ["0"],
  },
])("$name", ({ replicas, pods, create, remove }) => {
  const owned = pods.map((state, i) => pod(String(i), state));
  const plan = decideReplicaSet(replicaSet("rs", { replicas }), owned, NOW);
  expect(plan.create).toHaveLength(create);
  expect(names(plan.remove)).toEqual(remove);
});

it("touches no pod when it is being deleted", () => {
  const set = replicaSet("rs", { replicas: 5 }, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(decideReplicaSet(set, [], NOW)).toMatchObject({ create: [], remove: [] });
});

it("counts a pod as available only after minReadySeconds, and says when to look again", () => {
  const set = replicaSet("rs", { replicas: 1, minReadySeconds: 10 });
  const owned = [pod("a", "ready")];
  const early = decideReplicaSet(set, owned, addMs(NOW, 9_000));
  expect(early).toMatchObject({
    status: { readyReplicas: 1, availableReplicas: 0 },
    checkAgainAt: addMs(NOW, 10_000),
  });
  const late = decideReplicaSet(set, owned, addMs(NOW, 10_000));
  expect(late).toMatchObject({ status: { availableReplicas: 1 } });
  expect(late.checkAgainAt).toBeUndefined();
});

it("creates at most 500 pods in one look", () => {
  expect(decideReplicaSet(replicaSet("rs", { replicas: 1_000_000 }), [], NOW).create).toHaveLength(
    500,
  );
});

it("reaches its size from any state in one step, with names that are not taken", () => {
  const state = fc.constantFrom(...ANY_UNFINISHED);
  fc.assert(
    fc.property(fc.array(state, { maxLength: 12 }), fc.nat(12), (states, replicas) => {
      const set = replicaSet("rs", { replicas });
      const owned = states.map((item, i) => pod(`p-${i}`, item));
      const plan = decideReplicaSet(set, owned, NOW);
      const active = owned.filter(isActive).length;
      expect(active + plan.create.length - plan.remove.length).toBe(replicas);
      expect(plan.create.length === 0 || plan.remove.length === 0).toBe(true);
      expect(plan.remove.every(isActive)).toBe(true);
      const created = new Set(names(plan.create));
      expect(created.size).toBe(plan.create.length);
      expect(decideReplicaSet(set, owned, NOW)).toEqual(plan);
    }),
  );
});
