/** Oracles of eligibility, on histories made up for them. */
import { wellKnown } from "@lifeboat/core";
import { DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { describe, expect, it } from "vitest";
import { PLAIN } from "./circumstances.ts";
import { alwaysOracles } from "./eligibility.ts";
import { judged } from "./judged.suite.ts";

const TIME = "2026-01-01T00:00:00Z";
const BINDING = "work.karmada.io/resourcebindings/default/web";
const FAULTY = { key: "test/faulty", effect: "NoExecute", timeAdded: TIME };
/** Those of this group: the histories are not complete enough for others. */
const NAMES = alwaysOracles.map(({ name }) => name);
/** Somebody sets the taint. */
const TAINTED = { at: 0, do: "taint", member: "m1", effect: "NoExecute", on: true } as const;

interface Story {
  readonly taint?: object;
  readonly placement?: object;
  readonly failover?: boolean;
  /** What was written down; absent: what is right for an untolerated taint. */
  readonly entry?: object;
  readonly clusters?: readonly string[];
  /** Of the task; Gracefully when absent. */
  readonly mode?: string;
  /** What the policy asks for from a second before the taint on; absent: what it asked for before. */
  readonly edited?: object;
  /** For so many seconds the plane was down after the taint was written, and before the disk showed it. */
  readonly downFor?: number;
  /** What is written in the instant of the eviction, just before it. */
  readonly meanwhile?: (
    write: ReturnType<typeof judged>["write"],
    pass: (milliseconds: number) => void,
  ) => void;
}

/** A binding on m1, which is tainted, written down, and evicts it some seconds later; what oracles say. */
function evictedAfter(seconds: number, story: Story = {}): string {
  const { taint = FAULTY, placement = {}, failover = true, clusters = ["m1", "m2"] } = story;
  const { edited = placement } = story;
  const { said, truth, write, pass } = judged({ ...PLAIN, steps: [TAINTED] });
  truth.witness.begins({ ...DEFAULT_CONTROLLERS, failover });
  pass(1000);
  for (const name of clusters)
    write("plane", `cluster.karmada.io/clusters//${name}`, cluster(name, []));
  write("plane", BINDING, binding(placement, false));
  pass(9000);
  write("plane", BINDING, binding(edited, false), "MODIFIED");
  pass(1000);
  if (story.downFor !== undefined) {
    truth.witness.ended();
    pass(story.downFor * 1000);
    truth.witness.begins({ ...DEFAULT_CONTROLLERS, failover });
  }
  write("plane", "cluster.karmada.io/clusters//m1", cluster("m1", [taint]), "MODIFIED");
  const entry = { purgeMode: "Gracefully", ...story.entry };
  write("plane", "lifeboat.dev/evacuationslices//m1-1-x-0", slice(taint, entry));
  pass(seconds * 1000);
  story.meanwhile?.(write, pass);
  write("plane", BINDING, binding(edited, true, taint, story.mode), "MODIFIED");
  return said.filter((text) => NAMES.some((name) => text.startsWith(name))).join("\n");
}

function cluster(name: string, taints: readonly object[], more: object = {}): object {
  return { kind: "Cluster", metadata: { name, uid: name, ...more }, spec: { taints } };
}

function binding(
  placement: object,
  isEvicted: boolean,
  { key = "test/faulty", effect = "NoExecute" }: { key?: string; effect?: string } = {},
  purgeMode = "Gracefully",
): object {
  const task = { fromCluster: "m1", producer: "TaintManager", purgeMode };
  const mark = JSON.stringify({ m1: `m1-1 ${key}:${effect}@${TIME}` });
  const annotations = isEvicted ? { [wellKnown.EVICTED_FOR]: mark } : {};
  return {
    kind: "ResourceBinding",
    metadata: { name: "web", namespace: "default", uid: "web", annotations },
    spec: {
      resource: { kind: "Deployment", namespace: "default", name: "web" },
      placement,
      clusters: isEvicted ? [] : [{ name: "m1" }],
      ...(isEvicted && { gracefulEvictionTasks: [task] }),
    },
  };
}

function slice(taint: object, entry: object): object {
  const reference = { kind: "ResourceBinding", namespace: "default", name: "web", uid: "web" };
  return {
    kind: "EvacuationSlice",
    metadata: { name: "m1-1-x-0" },
    spec: { evacuation: "m1-1", taint, ordinal: 0, entries: [{ binding: reference, ...entry }] },
  };
}

const toleratedFor = (tolerationSeconds?: number): object => ({
  clusterTolerations: [
    { operator: "Exists", ...(tolerationSeconds !== undefined && { tolerationSeconds }) },
  ],
});

describe("new-targets-are-untainted", () => {
  it.each([
    ["m2", false],
    ["m1", true],
  ])("a binding that is placed on %s, where m1 is tainted, breaks it: %s", (name, isBroken) => {
    const { said, write, pass } = judged();
    write("plane", "cluster.karmada.io/clusters//m1", cluster("m1", [FAULTY]));
    write("plane", "cluster.karmada.io/clusters//m2", cluster("m2", []));
    pass(10_000);
    const spec = { resource: { kind: "Deployment", name: "web" }, clusters: [{ name }] };
    write("plane", BINDING, { kind: "ResourceBinding", metadata: { name: "web" }, spec });
    expect(said.join().includes("new-targets-are-untainted")).toBe(isBroken);
  });
});

describe("an eviction", () => {
  it("that is right is not spoken of", () => {
    expect(evictedAfter(5)).toBe("");
  });

  it("while the gate is off is", () => {
    expect(evictedAfter(5, { failover: false })).toContain("gate-off-moves-nobody");
  });

  it("for a drain is not, whatever the gate says, nor when the drain is taken back in that instant", () => {
    const taint = { ...FAULTY, key: wellKnown.DRAIN_TAINT };
    expect(evictedAfter(5, { taint, failover: false })).toBe("");
    const meanwhile: Story["meanwhile"] = (write) =>
      write("plane", "cluster.karmada.io/clusters//m1", cluster("m1", []), "MODIFIED");
    expect(evictedAfter(5, { taint, failover: false, meanwhile })).toBe("");
  });

  it("on terms that were others a moment before the taint is not, when the plane had not heard of that", () => {
    const placement = toleratedFor(30);
    expect(evictedAfter(5, { placement, edited: {} })).toBe("");
    expect(evictedAfter(5, { edited: placement })).toBe("");
    expect(evictedAfter(5, { placement })).toContain("eligibility-is-recorded-as-it-is");
  });

  it("for NoSchedule alone is", () => {
    const story = { taint: { ...FAULTY, effect: "NoSchedule" } };
    expect(evictedAfter(5, story)).toContain("no-schedule-moves-nobody");
  });

  it("of who tolerates the taint is, and of who does not any more is not", () => {
    const entry = { toleratedUntil: "2026-01-01T00:00:30Z" };
    const placement = toleratedFor(30);
    expect(evictedAfter(5, { placement: toleratedFor() })).toContain("tolerations-are-respected");
    expect(evictedAfter(20, { placement, entry })).toContain("tolerations-are-respected");
    expect(evictedAfter(30, { placement, entry })).toBe("");
  });

  it("of who tolerates it counts from when the taint was written, though it was seen later", () => {
    const story = {
      entry: { toleratedUntil: "2026-01-01T00:00:30Z" },
      placement: toleratedFor(30),
      downFor: 15,
    };
    expect(evictedAfter(10, story)).toContain("tolerations-are-respected");
    expect(evictedAfter(15, story)).toBe("");
  });

  it("with another purge mode than was written down is", () => {
    const said = evictedAfter(5, { entry: { purgeMode: "Directly" } });
    expect(said).toContain("eligibility-is-frozen");
    expect(said).toContain("eligibility-is-recorded-as-it-is");
  });

  it("for PreferNoExecute is when the policy has no failover.cluster", () => {
    const story = { taint: { ...FAULTY, effect: "PreferNoExecute" } };
    expect(evictedAfter(5, story)).toContain("prefer-no-execute-asks-the-policy");
  });

  it("in a mode that nobody said is", () => {
    expect(evictedAfter(5, { mode: "Directly" })).toContain("purge-mode-is-said");
    expect(evictedAfter(5)).not.toContain("purge-mode-is-said");
  });

  it("to nowhere is", () => {
    expect(evictedAfter(5, { clusters: ["m1"] })).toContain("nobody-is-evicted-to-nowhere");
  });

  it.each([
    ["leaves", cluster("m2", [], { deletionTimestamp: TIME }), "MODIFIED"],
    ["is gone", cluster("m2", []), "DELETED"],
  ] as const)("to a cluster that %s is, but not in that instant", (_what, object, type) => {
    const leave: Story["meanwhile"] = (write) =>
      write("plane", "cluster.karmada.io/clusters//m2", object, type);
    expect(evictedAfter(5, { meanwhile: leave })).toBe("");
    const late: Story["meanwhile"] = (write, pass) => {
      leave(write, pass);
      pass(5000);
    };
    expect(evictedAfter(5, { meanwhile: late })).toContain("nobody-is-evicted-to-nowhere");
  });
});
