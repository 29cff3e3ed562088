import { describe, expect, it } from "vitest";
import { recording, workloadBinding } from "./binding.suite.ts";
import { decideReferrer } from "./referrer.ts";

const FINALIZER = "karmada.io/binding-dependencies-distributor";
const NEEDED = [{ apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: "a" }];
const recorded = workloadBinding(
  "web",
  {},
  { annotations: recording("a"), finalizers: [FINALIZER] },
);
const DELETING = { deletionTimestamp: "2026-01-01T00:00:00Z" };

describe("the record on a workload's binding", () => {
  it("is written with the finalizer that guards it", () => {
    const binding = workloadBinding("web", {}, { annotations: { a: "b" }, finalizers: ["x"] });
    const plan = decideReferrer({ binding, dependencies: NEEDED, hasFollowers: false });
    expect(plan.reason).toBe("Recorded");
    expect(plan.commands[0]?.binding.metadata).toMatchObject({
      annotations: { a: "b", ...recording("a") },
      finalizers: ["x", FINALIZER],
    });
    expect(plan.commands[0]?.binding.spec).toBe(binding.spec);
  });

  it("is not written again", () => {
    const plan = decideReferrer({ binding: recorded, dependencies: NEEDED, hasFollowers: true });
    expect(plan).toMatchObject({ reason: "UpToDate", commands: [] });
  });

  it("stays while it cannot be known what the workload needs", () => {
    const plan = decideReferrer({ binding: recorded, hasFollowers: true });
    expect(plan).toMatchObject({ reason: "Unknown", commands: [] });
  });

  it("becomes empty first, and goes when nothing follows", () => {
    const still = decideReferrer({ binding: recorded, dependencies: [], hasFollowers: true });
    expect(still.commands[0]?.binding.metadata.annotations).toEqual({
      "resourcebinding.karmada.io/dependencies": "[]",
    });
    const gone = decideReferrer({ binding: recorded, dependencies: [], hasFollowers: false });
    expect(gone.reason).toBe("NothingNeeded");
    expect(gone.commands[0]?.binding.metadata).toMatchObject({ annotations: {}, finalizers: [] });
  });

  it("keeps a binding that is being deleted until nothing follows it", () => {
    const metadata = { ...recorded.metadata, ...DELETING };
    const binding = { ...recorded, metadata };
    expect(decideReferrer({ binding, hasFollowers: true })).toMatchObject({
      reason: "AwaitingFollowers",
      commands: [],
    });
    const plan = decideReferrer({ binding, hasFollowers: false });
    expect(plan.commands[0]?.binding.metadata.finalizers).toEqual([]);
  });

  it("costs a workload without dependencies nothing", () => {
    const plan = decideReferrer({
      binding: workloadBinding("web"),
      dependencies: [],
      hasFollowers: false,
    });
    expect(plan).toMatchObject({ reason: "NothingNeeded", commands: [] });
  });
});
