/** The table of StatefulSets: what a cluster that does not answer last reported is not shown as known. */
import type { AnyObject, Cluster, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { statefulSetTable } from "./get-statefulsets.ts";

const now = instantOf(Date.UTC(2026, 0, 1, 1));
const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

const set: AnyObject = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { ...metadata, namespace: "default", name: "store" },
  spec: { replicas: 11 },
  status: { readyReplicas: 11 },
};

function cluster(name: string, status: "True" | "False" | "Unknown"): Cluster {
  const ready = { type: "Ready", status, reason: "", message: "", lastTransitionTime: "" };
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push" },
    status: { conditions: [ready] },
  };
}

const shares = { c1: 4, c2: 4, c3: 3 };

function binding(annotations: Record<string, string> = {}): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { ...metadata, namespace: "default", name: "store-statefulset", annotations },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "StatefulSet", namespace: "default", name: "store" },
      conflictResolution: "Abort",
      clusters: Object.entries(shares).map(([name, replicas]) => ({ name, replicas })),
    },
    status: {
      aggregatedStatus: Object.entries(shares).map(([clusterName, readyReplicas]) => ({
        clusterName,
        status: { readyReplicas },
      })),
    },
  };
}

const federated = {
  "lifeboat.dev/federated-shares": JSON.stringify(shares),
  "lifeboat.dev/federated-record": JSON.stringify({
    replicas: 11,
    clusters: ["c1", "c2", "c3"],
    numbers: { c1: 1, c2: 2, c3: 3 },
    forgotten: [],
  }),
};

const all = [cluster("c1", "True"), cluster("c2", "True"), cluster("c3", "True")];
const shown = (clusters: readonly Cluster[], annotations = {}): string =>
  statefulSetTable([set], [binding(annotations)], clusters, now).split("\n")[1] ?? "";

it.each([
  ["all answer", all, /store +11\/11 +no/],
  ["one is down", [cluster("c1", "False"), ...all.slice(1)], /store +7\/11 \(4 unknown\) +no/],
  ["one is silent", [...all.slice(0, 2), cluster("c3", "Unknown")], /8\/11 \(3 unknown\)/],
  ["one has left the fleet", all.slice(0, 2), /8\/11 \(3 unknown\)/],
  ["none is known", [], /0\/11 \(11 unknown\)/],
])("READY while %s", (_name, clusters, expected) => {
  expect(shown(clusters)).toMatch(expected);
});

it("a federated set counts by its shares", () => {
  const clusters = [cluster("c1", "False"), ...all.slice(1)];
  expect(shown(clusters, federated)).toMatch(/7\/11 \(4 unknown\) +yes +c1:4,c2:4,c3:3 +60m$/);
});

it("STATE is why a federated set is not what it asks for, and which replica leaves", () => {
  const leaving = { cluster: "c2", ordinal: 3, number: 1, since: "2026-01-01T00:00:00Z" };
  const record = JSON.parse(federated["lifeboat.dev/federated-record"]) as object;
  const annotations = {
    ...federated,
    "lifeboat.dev/federated-record": JSON.stringify({ ...record, leaving }),
  };
  const given = binding(annotations);
  const state = (assigned: string, rolled: string): string => {
    const of = (type: string, reason: string) => ({
      type,
      status:
        reason === "Complete" || reason === "UpToDate" ? ("True" as const) : ("False" as const),
      reason,
      message: "",
      lastTransitionTime: "",
    });
    const conditions = [of("IdentitiesAssigned", assigned), of("RolloutComplete", rolled)];
    const one = { ...given, status: { ...given.status, conditions } };
    return statefulSetTable([set], [one], all, now).split("\n")[1] ?? "";
  };
  expect(state("AwaitingLetGo", "UpToDate")).toMatch(/leaving:store-c2-3 +AwaitingLetGo +60m$/);
  expect(state("Complete", "BudgetSpent")).toMatch(/ BudgetSpent +60m$/);
  expect(state("Complete", "UpToDate")).toMatch(/ Complete +60m$/);
});

it("a set that no policy placed shows its own status", () => {
  expect(statefulSetTable([set], [], [], now)).toMatch(/store +11\/11 +no/);
});
