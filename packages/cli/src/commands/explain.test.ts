/** A person at a terminal sees why, cluster by cluster. */
import type { Cluster, ResourceBinding } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { explainPlacement } from "./explain.ts";

const now = instantOf(Date.UTC(2026, 0, 1, 2));
const metadata = { uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };

function cluster(name: string, spec: Partial<Cluster["spec"]> = {}): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { ...metadata, name },
    spec: { syncMode: "Push", ...spec },
    status: {
      apiEnablements: [
        { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
      ],
    },
  };
}

function binding(spec: Partial<ResourceBinding["spec"]>): ResourceBinding {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { ...metadata, name: "web-deployment", namespace: "default" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" },
      replicas: 2,
      conflictResolution: "Abort",
      ...spec,
    },
  };
}

const tainted = { taints: [{ key: "down", effect: "NoSchedule" as const }] };

it("says where a workload runs, which clusters fit, why others do not, and what would help", () => {
  const placement = { clusterAffinity: { exclude: ["m3"] } };
  const found = binding({ placement, clusters: [{ name: "m1", replicas: 2 }] });
  const fleet = [cluster("m1", tainted), cluster("m2"), cluster("m3"), cluster("m4", tainted)];
  expect(explainPlacement({ binding: found, bindings: [found], clusters: fleet }, now)).toBe(
    [
      "Workload   Deployment default/web, 2 replicas",
      "Runs on    m1:2",
      "Decision   Placed: Every replica has a cluster.",
      "Would be   m1:2, m2:2 (The placement of the policy is not the one last carried",
      "           out.)",
      "",
      "CLUSTER  FITS   WHY",
      "m1       keeps  TaintToleration: had untolerated taint {down:NoSchedule}",
      "m2       yes",
      "m3       no     ClusterAffinity: did not match the placement cluster affinity",
      "                constraint",
      "m4       no     TaintToleration: had untolerated taint {down:NoSchedule}",
      "",
      "What would let more clusters in:",
      "  - remove the taint {down:NoSchedule} from the cluster, or tolerate it in the",
      "    policy",
      "  - widen the cluster affinity of the policy, or label the cluster",
      "",
    ].join("\n"),
  );
});

it("stays within 80 columns whatever the names are", () => {
  const long = "a".repeat(48);
  const key = `${"b".repeat(63)}/${"c".repeat(63)}`;
  const fleet = [cluster(long, { taints: [{ key, value: "d".repeat(63), effect: "NoExecute" }] })];
  const found = binding({ clusters: [{ name: long }, { name: "z".repeat(90) }] });
  const lines = explainPlacement({ binding: found, bindings: [], clusters: fleet }, now).split(
    "\n",
  );
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

it("says so when there are no clusters", () => {
  const found = binding({});
  expect(explainPlacement({ binding: found, bindings: [], clusters: [] }, now)).toContain(
    "No clusters are joined",
  );
});
