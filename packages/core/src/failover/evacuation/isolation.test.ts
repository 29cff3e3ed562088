import type { Cluster, Condition } from "@lifeboat/api";
import { formatTime, instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { isolationCondition, isolationOf } from "./isolation.ts";
import { DEFAULT_RATES, rateOf } from "./rate.ts";

const at = (seconds: number): string =>
  formatTime(instantOf(Date.UTC(2026, 0, 1) + seconds * 1000));

/** A Pull cluster that fell silent so many seconds after the beginning; undefined: it is heard of. */
function pull(name: string, since?: number, changes: Partial<Condition> = {}): Cluster {
  const condition = {
    type: "Ready",
    status: since === undefined ? "True" : "Unknown",
    reason: since === undefined ? "ClusterReady" : "ClusterStatusUnknown",
    message: "",
    lastTransitionTime: at(since ?? 0),
    ...changes,
  };
  return {
    metadata: { name },
    spec: { syncMode: "Pull" },
    status: { conditions: [condition] },
  } as unknown as Cluster;
}

const push = (name: string, since: number): Cluster => ({
  ...pull(name, since),
  spec: { syncMode: "Push" },
});
const heard = (...names: string[]): readonly Cluster[] => names.map((name) => pull(name));

describe("the control plane may be cut off", () => {
  it.each([
    ["when most fell silent within a minute", [pull("a", 0), pull("b", 60), pull("c")], true],
    ["not when half did", [pull("a", 0), pull("b", 60), ...heard("c", "d")], false],
    ["not when they did so one after the other", [pull("a", 0), pull("b", 61), pull("c")], false],
    [
      "whatever was silent before",
      [pull("z", -900), pull("a", 0), pull("b", 9), pull("c", 9), ...heard("d")],
      true,
    ],
    ["not by one alone", [pull("a", 0)], false],
    ["not by Push clusters", [push("a", 0), push("b", 0), pull("c")], false],
    [
      "not by clusters that never reported",
      [
        pull("a", 0, { reason: "ClusterStatusNeverUpdated" }),
        pull("b", 0, { reason: "ClusterStatusNeverUpdated" }),
      ],
      false,
    ],
    [
      "not by clusters that leave",
      [leaving(pull("a", 0)), leaving(pull("b", 0)), pull("c")],
      false,
    ],
    ["not when nothing is there", [], false],
  ])("%s", (_name, clusters, expected) => {
    expect(isolationOf(clusters, undefined).isIsolated).toBe(expected);
  });

  it("no longer, once enough of them return", () => {
    const silent = [pull("a", 0), pull("b", 1), pull("c", 2), pull("d")];
    expect(isolationOf(silent, undefined).isIsolated).toBe(true);
    expect(isolationOf([...silent.slice(0, 2), ...heard("c", "d")], undefined).isIsolated).toBe(
      false,
    );
  });

  it("no longer, once a person agreed; those that follow count again", () => {
    const silent = [pull("a", 0), pull("b", 1), pull("c")];
    const agreed = isolationOf(silent, at(30));
    expect(agreed).toMatchObject({ isIsolated: false, isAgreed: true });
    expect(isolationCondition(agreed)).toMatchObject({ status: "False", reason: "AgreedByPerson" });
    const more = [...silent.slice(0, 2), pull("c", 40), pull("d", 41), pull("e", 42)];
    expect(isolationOf(more, at(30))).toMatchObject({ isIsolated: true, lapsed: ["c", "d", "e"] });
  });

  it("and says which clusters, and what a person can do", () => {
    const condition = isolationCondition(
      isolationOf([pull("a", 0), pull("b", 1), pull("c")], undefined),
    );
    expect(condition).toMatchObject({
      type: "PlaneMayBeIsolated",
      status: "True",
      reason: "LeasesLapsed",
    });
    expect(condition.message).toContain("2 of 3: a, b.");
    expect(condition.message).toContain("lifeboat evacuations agree");
  });

  it("then nothing moves", () => {
    const health = { failed: 1, counted: 30, isIsolated: true };
    expect(rateOf(health, DEFAULT_RATES)).toMatchObject({
      perSecond: 0,
      reason: "PlaneMayBeIsolated",
    });
  });
});

function leaving(cluster: Cluster): Cluster {
  return { ...cluster, metadata: { ...cluster.metadata, deletionTimestamp: at(0) } };
}
