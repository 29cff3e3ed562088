/** The room of a member: sums, counts and grades. */
import { describe, expect, it } from "vitest";
import { nodeOfferOf, podClaimOf } from "./claims.ts";
import { type ResourceModels, Room } from "./room.ts";

const node = (allocatable: object, ready = true) =>
  nodeOfferOf({
    status: { allocatable, conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  });
const pod = (requests: object, nodeName = "", status: object = { phase: "Running" }) =>
  podClaimOf({ spec: { nodeName, containers: [{ name: "c", resources: { requests } }] }, status });
const MODELS: ResourceModels = [
  { grade: 0, ranges: [range("cpu", "0", "2"), range("memory", "0", "4Gi")] },
  { grade: 1, ranges: [range("cpu", "2", "4"), range("memory", "4Gi", "16Gi")] },
  {
    grade: 2,
    ranges: [range("cpu", "4", "9223372036854775807"), range("memory", "16Gi", "1Ei")],
  },
];

function range(name: string, min: string, max: string) {
  return { name, min, max };
}

function gradesOf(room: Room): readonly number[] {
  const modelings = room.resourceSummary(MODELS).allocatableModelings ?? [];
  return modelings.map(({ count }) => count);
}

describe("the room of a member", () => {
  it("adds up what nodes offer and pods take, and counts both", () => {
    const room = new Room();
    room.changeNode("a", undefined, node({ cpu: "4", memory: "8145728Ki", pods: "110" }));
    room.changeNode("b", undefined, node({ cpu: "3500m", memory: "2Gi", pods: "110" }, false));
    room.changePod(undefined, pod({ cpu: "250m", memory: "64Mi" }, "a"));
    room.changePod(undefined, pod({ cpu: "250m" }, "a"));
    room.changePod(undefined, pod({ memory: "1Gi" }));
    expect(room.nodeSummary()).toEqual({ totalNum: 2, readyNum: 1 });
    expect(room.resourceSummary()).toEqual({
      allocatable: { cpu: "7500m", memory: "10242880Ki", pods: "220" },
      allocated: { cpu: "500m", memory: "64Mi", pods: "2" },
      allocating: { memory: "1Gi", pods: "1" },
    });
    expect(room.measure("allocatable", "cpu")).toBe(7.5);
    expect(room.measure("allocated", "memory")).toBe(64 * 1024 * 1024);
  });

  it.each([
    { name: "has ended well", status: { phase: "Succeeded" } },
    { name: "has failed", status: { phase: "Failed" } },
  ])("does not count a pod that $name", ({ status }) => {
    expect(pod({ cpu: "1" }, "a", status)).toBeUndefined();
  });

  it("takes the node from the status of a pod that could not be bound", () => {
    const conditions = [{ type: "PodScheduled", status: "True" }];
    const scheduled = { phase: "Running", nominatedNodeName: "a", conditions };
    expect(pod({}, "", scheduled)?.node).toBe("a");
    expect(pod({}, "", { ...scheduled, conditions: [] })?.node).toBe("");
  });

  it("counts a pod whatever it claims to ask of pods", () => {
    expect(pod({ pods: "1000" }, "a")?.amounts).toEqual([["pods", 1_000_000_000n]]);
  });

  it("puts each node into the highest grade all of whose minima it has free", () => {
    const room = new Room();
    room.changeNode("a", undefined, node({ cpu: "4", memory: "16Gi", pods: "10" }));
    room.changeNode("b", undefined, node({ cpu: "16", memory: "8Gi", pods: "10" }));
    room.changeNode("c", undefined, node({ cpu: "1", memory: "64Gi", pods: "10" }));
    expect(gradesOf(room)).toEqual([1, 1, 1]);
    room.changePod(undefined, pod({ cpu: "1" }, "a"));
    expect(gradesOf(room)).toEqual([1, 2, 0]);
  });

  it("leaves out a node without room for a pod, and counts the nodes after it", () => {
    const room = new Room();
    room.changeNode("a", undefined, node({ cpu: "8", memory: "32Gi", pods: "1" }));
    room.changeNode("b", undefined, node({ cpu: "8", memory: "32Gi", pods: "2" }));
    room.changePod(undefined, pod({}, "a"));
    room.changePod(undefined, pod({}, "b"));
    expect(gradesOf(room)).toEqual([0, 0, 1]);
  });

  it("counts an overbooked node among the lowest", () => {
    const room = new Room();
    room.changeNode("a", undefined, node({ cpu: "1", pods: "10" }));
    room.changePod(undefined, pod({ cpu: "2" }, "a"));
    expect(gradesOf(room)).toEqual([1, 0, 0]);
  });

  it("has no grades without models, and is empty for an empty member", () => {
    expect(new Room().resourceSummary()).toEqual({});
    expect(new Room().nodeSummary()).toEqual({ totalNum: 0, readyNum: 0 });
  });

  it("is written in few words, whatever names a member makes up", () => {
    const room = new Room();
    const made = Array.from({ length: 5000 }, (_, i) => [`example.com/thing-${i}`, "1"]);
    const offer = node({ ...Object.fromEntries(made), ["x".repeat(10_000)]: "1", pods: "4" });
    room.changeNode("a", undefined, offer);
    const { allocatable = {} } = room.resourceSummary();
    expect(Object.keys(allocatable)).toHaveLength(200);
    expect(allocatable).toMatchObject({ pods: "4" });
  });

  it("is not disturbed by what is no quantity", () => {
    const offer = nodeOfferOf({ status: { allocatable: { cpu: "many", memory: {}, pods: "-4" } } });
    expect(offer).toEqual({ ready: false, allocatable: [] });
    expect(podClaimOf({})?.amounts).toEqual([["pods", 1_000_000_000n]]);
  });
});
