import { addMs, formatTime, instantOf, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Binding } from "./bindings.ts";
import { RoomLedger } from "./room-ledger.ts";

const START = instantOf(1_700_000_000_000);
const names = ["m1", "m2", "m3"];

interface Given {
  readonly clusters: Readonly<Record<string, number>>;
  readonly seen: Readonly<Record<string, number>>;
}

function binding({ clusters, seen }: Given): Binding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "b", uid: "u", resourceVersion: "1", creationTimestamp: "" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      conflictResolution: "Abort",
      replicaRequirements: { resourceRequest: { cpu: "250m" } },
      clusters: Object.entries(clusters).map(([name, replicas]) => ({ name, replicas })),
    },
    status: {
      aggregatedStatus: Object.entries(seen).map(([clusterName, replicas]) => ({
        clusterName,
        status: { replicas },
      })),
    },
  };
}

const counts = fc.dictionary(fc.constantFrom(...names), fc.nat(5), { maxKeys: 3 });
const givens = fc.record({ clusters: counts, seen: counts });

it("holds what is promised and not seen yet, whatever came before", () => {
  const changes = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.option(givens)), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(changes, (list) => {
      const ledger = new RoomLedger(10_000);
      const last = new Map<string, Given>();
      for (const [key, given] of list) {
        if (given === null) {
          ledger.remove(key);
          last.delete(key);
        } else {
          ledger.put(key, binding(given));
          last.set(key, given);
        }
      }
      for (const name of names) {
        let pods = 0;
        for (const { clusters, seen } of last.values())
          pods += Math.max(0, (clusters[name] ?? 0) - (seen[name] ?? 0));
        const found = ledger.reserved.get(name);
        expect(found?.get("pods") ?? 0).toBe(pods);
        expect(found?.get("cpu") ?? 0).toBe(pods * 250);
      }
    }),
  );
});

it("reports what clusters no longer owe", () => {
  const ledger = new RoomLedger(10_000);
  const owed = (list: ReturnType<RoomLedger["remove"]>) =>
    list.map(({ cluster, amounts }) => `${cluster}:${amounts.get("pods")}`);
  expect(owed(ledger.put("a", binding({ clusters: { m1: 3, m2: 1 }, seen: {} })))).toEqual([]);
  expect(owed(ledger.put("a", binding({ clusters: { m1: 3, m2: 1 }, seen: { m1: 1 } })))).toEqual([
    "m1:1",
  ]);
  expect(owed(ledger.remove("a"))).toEqual(["m1:2", "m2:1"]);
  expect(owed(ledger.remove("a"))).toEqual([]);
});

describe("what copies report", () => {
  const given = { clusters: { m1: 3 }, seen: { m1: 3 } };
  const pods = (ledger: RoomLedger): number => ledger.reserved.get("m1")?.get("pods") ?? 0;
  function settling(): RoomLedger {
    const ledger = new RoomLedger(10_000);
    const before = binding({ clusters: { m1: 3 }, seen: {} });
    ledger.takeIn("a", undefined, before, plainMoment(START));
    expect(ledger.takeIn("a", before, binding(given), plainMoment(START))).toEqual([]);
    return ledger;
  }

  it("goes on counting until the cluster has counted it, too", () => {
    const ledger = settling();
    expect(pods(ledger)).toBe(3);
    expect(ledger.counted("m2", plainMoment(addMs(START, 5000)))).toBe(false);
    // This count may have been made before the copy reported.
    expect(ledger.counted("m1", plainMoment(addMs(START, 999)))).toBe(false);
    expect(pods(ledger)).toBe(3);
    expect(ledger.counted("m1", plainMoment(addMs(START, 1000)))).toBe(true);
    expect([pods(ledger), ledger.hasSettling]).toEqual([0, false]);
    expect(ledger.counted("m1", plainMoment(addMs(START, 1000)))).toBe(false);
  });

  it("is let go when the cluster's count did not change for long enough", () => {
    const ledger = settling();
    expect(ledger.expire(plainMoment(addMs(START, 11_999)))).toEqual([]);
    expect(ledger.expire(plainMoment(addMs(START, 12_000)))).toEqual(["m1"]);
    expect([pods(ledger), ledger.hasSettling]).toEqual([0, false]);
  });

  it("is free at once when another version of the workload asks for less", () => {
    const ledger = new RoomLedger(10_000);
    const before = binding({ clusters: { m1: 3 }, seen: {} });
    const edited = binding({ clusters: { m1: 1 }, seen: {} });
    ledger.takeIn("a", undefined, before, plainMoment(START));
    const after = { ...edited, metadata: { ...edited.metadata, generation: 2 } };
    expect(ledger.takeIn("a", before, after, plainMoment(START))).toMatchObject([
      { cluster: "m1" },
    ]);
    expect([pods(ledger), ledger.hasSettling]).toEqual([1, false]);
  });

  it.each([
    ["just now", 3000, 3],
    ["long ago", 12_000, 0],
  ])("counts again after a restart when it was placed %s", (_when, ago, expected) => {
    const ledger = new RoomLedger(10_000);
    const found = binding(given);
    const lastScheduledTime = formatTime(addMs(START, -ago));
    const recent = { ...found, status: { ...found.status, lastScheduledTime } };
    ledger.takeIn("a", undefined, recent, plainMoment(START));
    expect(pods(ledger)).toBe(expected);
  });
});
