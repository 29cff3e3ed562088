/**
 * Random lives of federated StatefulSets against D15 written a second time, in a few lines: every step gives exactly these shares, an
 * identity is unique for ever, a majority of a quorum is never taken, and no name that does not fit is let in.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  NAMES,
  newWorld,
  recordOf,
  schedule,
  type Step,
  step,
  take,
  type World,
} from "./lives.suite.ts";
import { copyName, idBase, podName, podsOf } from "./names.ts";
import { clusterProblems, setProblems } from "./objects/index.ts";
import { type FederatedRecord, NO_RECORD, readFederated } from "./record.ts";

type Shares = Readonly<Record<string, number>>;

function sharesOf({ shares }: FederatedRecord): Shares {
  return Object.fromEntries([...shares].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function total(shares: Shares): number {
  return Object.values(shares).reduce((sum, share) => sum + share, 0);
}

/** The clusters that may get more, and those that may get less. */
function clustersOf({ clusters, binding }: World, { forgotten }: FederatedRecord) {
  const meant = binding.spec.placement?.clusterAffinity?.clusterNames ?? [];
  const living = NAMES.filter((name) => clusters.get(name)?.ready === true);
  const growing = living
    .filter((name) => clusters.get(name)?.tainted === false && !forgotten.has(name))
    .filter((name) => meant.length === 0 || meant.includes(name));
  return { living, growing };
}

/** D15: one after the other to the smallest, by name; one after the other from the largest, the last name first. */
function expectedShares(world: World, was: FederatedRecord): Shares {
  const shares: Record<string, number> = Object.fromEntries(was.shares);
  const { living, growing } = clustersOf(world, was);
  const asked = world.binding.spec.replicas ?? 0;
  const share = (name: string): number => shares[name] ?? 0;
  if (asked > was.replicas)
    while (total(shares) < asked && growing.length > 0) {
      const least = Math.min(...growing.map(share));
      const next = growing.toSorted().find((name) => share(name) === least) ?? "";
      shares[next] = share(next) + 1;
    }
  while (total(shares) > asked && living.some((name) => share(name) > 0)) {
    const most = Math.max(...living.map(share));
    const next = living.toSorted().findLast((name) => share(name) === most) ?? "";
    shares[next] = share(next) - 1;
  }
  const held = Object.entries(shares).filter(([, count]) => count > 0);
  return Object.fromEntries(held.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What was ever seen of identities. */
class Identities {
  readonly #homes = new Map<string, string>();
  readonly #ids = new Map<number, string>();

  see(record: FederatedRecord): void {
    for (const { name, cluster, ordinal } of podsOf("store", record)) {
      const id = (idBase(record, cluster) ?? NaN) + ordinal;
      expect(this.#homes.get(name) ?? cluster).toBe(cluster);
      expect(this.#ids.get(id) ?? name).toBe(name);
      this.#homes.set(name, cluster);
      this.#ids.set(id, name);
    }
  }
}

function live(
  steps: readonly Step[],
  quorum: boolean,
  check: (was: FederatedRecord, world: World) => void,
): void {
  const world = newWorld({ quorum });
  const identities = new Identities();
  for (const one of steps) {
    const before = recordOf(world);
    take(world, one);
    // What a person gave up is gone before the scheduler decides.
    const given = readFederated(world.binding) ?? NO_RECORD;
    schedule(world);
    // The replicas of a quorum leave one after the other (quorum.prop.test.ts).
    if (!quorum) expect(sharesOf(recordOf(world))).toEqual(expectedShares(world, given));
    identities.see(recordOf(world));
    check(before, world);
  }
}

it("every step gives the shares that D15 asks for, and an identity is unique for ever", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => live(steps, false, () => undefined)),
    { numRuns: 200 },
  );
});

it("a quorum never loses a majority of its living replicas in one step, and starts one replica at a time", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) =>
      live(steps, true, (was, world) => {
        const now = recordOf(world);
        const { living } = clustersOf(world, now);
        const count = (record: FederatedRecord): number =>
          living.reduce((sum, name) => sum + (record.shares.get(name) ?? 0), 0);
        expect(count(was) - count(now)).toBeLessThanOrEqual(Math.floor(count(was) / 2));
        const [before, after] = [was.started, now.started].map((started) =>
          [...(started ?? [])].reduce((sum, [, n]) => sum + n, 0),
        ) as [number, number];
        const isFirst = before === 0;
        if (!isFirst) expect(after - before).toBeLessThanOrEqual(1);
        for (const [name, n] of now.started ?? [])
          expect(n).toBeLessThanOrEqual(now.shares.get(name) ?? 0);
        // What runs goes on, unless its share shrank.
        for (const [name, n] of was.started ?? [])
          expect(now.started?.get(name) ?? 0).toBeGreaterThanOrEqual(
            Math.min(n, now.shares.get(name) ?? 0),
          );
      }),
    ),
    { numRuns: 200 },
  );
});

const word = fc.constantFrom(
  "a",
  "b",
  "a-b",
  "b-c",
  "c",
  "a-b-c",
  "A",
  "0",
  "x".repeat(48),
  "y".repeat(60),
);
const attempt = fc.record({
  kind: fc.constantFrom("set" as const, "cluster" as const),
  name: word,
});

it("no attempt to name a set or a cluster lets in a pod's name that is too long or another's", () => {
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 20 }), (attempts) => {
      const [sets, clusters]: [string[], string[]] = [[], []];
      for (const { kind, name } of attempts) {
        if ((kind === "set" ? sets : clusters).includes(name)) continue;
        const annotations = { "federation.kubernetes.io/federated": "true" };
        const object = { metadata: { name, annotations }, spec: { replicas: 1 } };
        const problems =
          kind === "set"
            ? setProblems({ object, clusters, sets })
            : clusterProblems(name, clusters, new Map([["default", sets]]));
        if (problems.length === 0) (kind === "set" ? sets : clusters).push(name);
        const copies = sets.flatMap((set) => clusters.map((cluster) => copyName(set, cluster)));
        expect(new Set(copies).size).toBe(copies.length);
        expect(
          copies.every((copy) => copy.length <= 52 && /^[a-z][-a-z0-9]*[a-z0-9]$/.test(copy)),
        ).toBe(true);
        for (const set of sets)
          for (const cluster of clusters)
            expect(podName(set, cluster, 9999).length).toBeLessThanOrEqual(63);
      }
    }),
    { numRuns: 500 },
  );
});
