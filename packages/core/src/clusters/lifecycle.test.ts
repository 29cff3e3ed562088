/** A cluster joins and leaves in order, and nothing is given up that a person did not give up. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideLifecycle, type LifecycleCommand, type LifecycleView } from "./lifecycle.ts";
import type { LifecycleReason } from "./reasons.ts";

const joined: LifecycleView = {
  name: "m1",
  hasFinalizer: true,
  isLeaving: false,
  isForced: false,
  isPull: false,
  isReachable: true,
  namespace: "active",
  bindings: 0,
  stuck: [],
  works: 0,
  heldWorks: 0,
};
const leaving: LifecycleView = { ...joined, isLeaving: true };
const pulling: LifecycleView = { ...leaving, isPull: true };
const lost: LifecycleView = { ...leaving, isReachable: false };

type Row = [string, LifecycleView, LifecycleReason, readonly LifecycleCommand[]];

const rows: readonly Row[] = [
  ["rests when it has all", joined, "Joined", []],
  [
    "gets its finalizer before its namespace",
    { ...joined, hasFinalizer: false, namespace: "absent" },
    "Joining",
    ["AddFinalizer", "CreateNamespace"],
  ],
  ["gets only what is missing", { ...joined, hasFinalizer: false }, "Joining", ["AddFinalizer"]],
  ["gets its namespace back", { ...joined, namespace: "absent" }, "Joining", ["CreateNamespace"]],
  [
    "waits for a former namespace to end",
    { ...joined, namespace: "ending" },
    "FormerNamespaceEnding",
    [],
  ],
  ["waits for bindings", { ...leaving, bindings: 2, works: 2 }, "WaitingForBindings", []],
  ["waits for bindings when out of reach", { ...lost, bindings: 1 }, "WaitingForBindings", []],
  [
    "does not wait for bindings when forced",
    { ...leaving, bindings: 2, isForced: true },
    "RemovingWorks",
    ["DeleteNamespace"],
  ],
  ["loses its namespace", { ...leaving, works: 3 }, "RemovingWorks", ["DeleteNamespace"]],
  [
    "waits for Works",
    { ...leaving, namespace: "ending", works: 3, heldWorks: 3 },
    "RemovingWorks",
    [],
  ],
  [
    "waits for Works of a member out of reach",
    { ...lost, namespace: "ending", works: 3, heldWorks: 3 },
    "RemovingWorks",
    [],
  ],
  [
    "gives Works up when forced and out of reach",
    { ...lost, isForced: true, namespace: "ending", works: 3, heldWorks: 1 },
    "RemovingWorks",
    ["ReleaseWorks"],
  ],
  [
    "gives nothing up when forced and in reach",
    { ...leaving, isForced: true, namespace: "ending", works: 3, heldWorks: 3 },
    "RemovingWorks",
    [],
  ],
  [
    "that pulls loses its Works before its namespace",
    { ...pulling, works: 3, heldWorks: 1 },
    "RemovingWorks",
    ["DeleteWorks"],
  ],
  [
    "that pulls keeps its namespace until its Works are gone",
    { ...pulling, isReachable: false, works: 3, heldWorks: 3 },
    "RemovingWorks",
    [],
  ],
  ["that pulls loses its namespace at last", pulling, "RemovingWorks", ["DeleteNamespace"]],
  [
    "that pulls gives Works up when forced and out of reach",
    { ...pulling, isReachable: false, isForced: true, works: 3, heldWorks: 3 },
    "RemovingWorks",
    ["ReleaseWorks"],
  ],
  [
    "waits for Works without a namespace",
    { ...leaving, namespace: "absent", works: 1 },
    "RemovingWorks",
    [],
  ],
  ["loses its finalizer last", { ...leaving, namespace: "absent" }, "Left", ["RemoveFinalizer"]],
  [
    "is left alone when its finalizer was taken off",
    { ...leaving, hasFinalizer: false, works: 4 },
    "Left",
    [],
  ],
];

describe("decideLifecycle", () => {
  it.each(rows)("a cluster %s", (_name, view, reason, commands) => {
    expect(decideLifecycle(view)).toMatchObject({ reason, commands });
  });

  it("reports how many are still there, and what a person can do", () => {
    const [waiting] = decideLifecycle({ ...leaving, bindings: 3 }).conditions;
    expect(waiting).toMatchObject({
      type: "Leaving",
      status: "True",
      reason: "WaitingForBindings",
    });
    expect(waiting?.message).toContain("3 bindings still need this cluster");
    expect(waiting?.message).toContain("lifeboat unjoin m1 --force");
    const [removing] = decideLifecycle({ ...lost, namespace: "ending", works: 1 }).conditions;
    expect(removing?.message).toContain("1 Work is still being taken out of the member");
    expect(removing?.message).toContain("out of reach");
  });

  it("names what does not move by itself, why, and what helps; a few of many", () => {
    const stuck = ["a", "b", "c", "d"].map((name) => ({
      workload: `Deployment shop/${name}`,
      reason: "NotClaimed" as const,
    }));
    const told = (count: number): string =>
      decideLifecycle({ ...leaving, bindings: 5, stuck: stuck.slice(0, count) }).conditions[0]
        ?.message ?? "";
    expect(told(0)).not.toContain("does not move");
    expect(told(1)).toMatch(
      /What does not move by itself: Deployment shop\/a \(no policy claims it, .+ or delete it\)$/,
    );
    expect(told(4)).toMatch(/Deployment shop\/c \([^()]+\) and 1 more$/);
  });

  it("never gives up a copy or ends a namespace that bindings need, unless forced", () => {
    const view = fc.record<LifecycleView>({
      name: fc.constant("m1"),
      hasFinalizer: fc.boolean(),
      isLeaving: fc.boolean(),
      isForced: fc.boolean(),
      isPull: fc.boolean(),
      isReachable: fc.boolean(),
      namespace: fc.constantFrom("absent", "active", "ending"),
      stuck: fc.constant([]),
      bindings: fc.nat(2),
      works: fc.nat(2),
      heldWorks: fc.nat(2),
    });
    fc.assert(
      fc.property(view, (given) => {
        const { commands } = decideLifecycle(given);
        const destroys = commands.some(
          (one) => one !== "AddFinalizer" && one !== "CreateNamespace",
        );
        if (destroys) expect(given.isLeaving && given.hasFinalizer).toBe(true);
        if (destroys && given.bindings > 0) expect(given.isForced).toBe(true);
        if (commands.includes("ReleaseWorks"))
          expect(given.isForced && !given.isReachable).toBe(true);
        if (commands.includes("DeleteNamespace"))
          expect(given.isPull && given.works > 0).toBe(false);
        if (commands.includes("RemoveFinalizer"))
          expect([given.namespace, given.works]).toEqual(["absent", 0]);
      }),
      { numRuns: 200 },
    );
  });
});
