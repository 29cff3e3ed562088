import fc from "fast-check";
import { expect, it } from "vitest";
import type { Binding } from "../bindings.ts";
import { Ledger } from "./ledger.ts";

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
      const ledger = new Ledger();
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

it("tells which clusters owe less", () => {
  const ledger = new Ledger();
  expect(ledger.put("a", binding({ clusters: { m1: 3, m2: 1 }, seen: {} }))).toEqual([]);
  expect(ledger.put("a", binding({ clusters: { m1: 3, m2: 1 }, seen: { m1: 1 } }))).toEqual(["m1"]);
  expect(ledger.remove("a")).toEqual(["m1", "m2"]);
  expect(ledger.remove("a")).toEqual([]);
});
