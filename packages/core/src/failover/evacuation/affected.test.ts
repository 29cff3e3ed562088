/** Which bindings a taint affects, and until when they tolerate it. */
import type { ResourceBinding } from "@lifeboat/api";
import { addMs, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { affectedBy, type EvictingTaint } from "./affected.ts";

const ADDED = instantOf(Date.UTC(2026, 0, 1));
const taint = (
  effect: EvictingTaint["effect"],
  more: Partial<EvictingTaint> = {},
): EvictingTaint => ({
  key: "down",
  effect,
  timeAdded: "2026-01-01T00:00:00Z",
  ...more,
});

function binding(spec: object): Pick<ResourceBinding, "metadata" | "spec"> {
  return {
    metadata: {},
    spec: { clusters: [{ name: "eu-1" }], ...spec },
  } as unknown as ResourceBinding;
}

const tolerating = (
  ...clusterTolerations: readonly object[]
): Pick<ResourceBinding, "metadata" | "spec"> => binding({ placement: { clusterTolerations } });

const judge = (
  who: Pick<ResourceBinding, "metadata" | "spec">,
  by: EvictingTaint,
): ReturnType<typeof affectedBy> => affectedBy(who, "eu-1", by, "Gracefully");

const not = (why: string): object => ({ affected: false, why });
const NOT = not("Tolerated");
const AT_ONCE = { affected: true, purgeMode: "Gracefully" };
const after = (seconds: number): object => ({
  ...AT_ONCE,
  toleratedUntil: addMs(ADDED, seconds * 1000),
});

describe("NoExecute", () => {
  it.each([
    ["nothing tolerated", [], AT_ONCE],
    ["tolerated for ever", [{ key: "down", operator: "Exists", effect: "NoExecute" }], NOT],
    ["tolerated by an empty key", [{ operator: "Exists" }], NOT],
    ["tolerated by value", [{ key: "down", value: "" }], NOT],
    ["another value", [{ key: "down", value: "x" }], AT_ONCE],
    ["another key", [{ key: "up", operator: "Exists" }], AT_ONCE],
    ["another effect", [{ key: "down", operator: "Exists", effect: "NoSchedule" }], AT_ONCE],
    ["an unknown operator", [{ key: "down", operator: "Gt", value: "1" }], AT_ONCE],
    [
      "for a time",
      [{ key: "down", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
      after(60),
    ],
    ["for no time", [{ key: "down", operator: "Exists", tolerationSeconds: 0 }], AT_ONCE],
    ["for a negative time", [{ key: "down", operator: "Exists", tolerationSeconds: -5 }], AT_ONCE],
    [
      "the shortest of several",
      [
        { key: "down", operator: "Exists", tolerationSeconds: 60 },
        { operator: "Exists", tolerationSeconds: 30 },
        { operator: "Exists" },
      ],
      after(30),
    ],
  ])("%s", (_name, tolerations, expected) => {
    expect(judge(tolerating(...tolerations), taint("NoExecute"))).toEqual(expected);
  });

  it("is not delayed by failover.cluster.tolerationSeconds, whose purge mode applies", () => {
    const who = binding({
      failover: { cluster: { purgeMode: "Directly", tolerationSeconds: 100 } },
    });
    expect(judge(who, taint("NoExecute"))).toEqual({ affected: true, purgeMode: "Directly" });
  });
});

describe("PreferNoExecute", () => {
  it("17.15: moves no binding without failover.cluster, tolerated or not", () => {
    expect(judge(binding({}), taint("PreferNoExecute"))).toEqual(not("NoFailover"));
    expect(judge(tolerating({ operator: "Exists" }), taint("PreferNoExecute"))).toEqual(
      not("NoFailover"),
    );
  });

  it.each([
    [{}, after(300)],
    [{ tolerationSeconds: 100 }, after(100)],
    [{ tolerationSeconds: 0 }, AT_ONCE],
  ])(
    "moves those with failover.cluster %j after its time, whatever they tolerate",
    (cluster, expected) => {
      const who = binding({
        failover: { cluster },
        placement: { clusterTolerations: [{ operator: "Exists" }] },
      });
      expect(judge(who, taint("PreferNoExecute"))).toEqual(expected);
    },
  );
});

describe("others", () => {
  it("a drain moves everything at once, whatever is tolerated", () => {
    const drain = taint("NoExecute", { key: "lifeboat.dev/drain" });
    expect(judge(tolerating({ operator: "Exists" }), drain)).toEqual(AT_ONCE);
  });

  it("17.15: a binding that never moves is not told as tolerating: its cluster is not in its result, as a follower or after it has left", () => {
    expect(judge(binding({ clusters: [] }), taint("NoExecute"))).toEqual(not("LeftAlready"));
    const follower = binding({
      clusters: undefined,
      requiredBy: [{ name: "a", clusters: [{ name: "eu-1" }] }],
    });
    expect(judge(follower, taint("NoExecute"))).toEqual(not("FollowsWorkload"));
  });

  it("NoSchedule moves no binding", () => {
    expect(judge(binding({}), taint("NoSchedule"))).toEqual(NOT);
  });
});
