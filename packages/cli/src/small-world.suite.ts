/**
 * A small fleet for tests that add what they need themselves: a cluster that failed with an Evacuation under way and one that is well,
 * one Deployment, one rule that taints, the settings, and a Remedy without a cluster.
 */
import {
  clusters,
  clusterTaintPolicies,
  configMaps,
  evacuations,
  evacuationSlices,
  remedies,
  resourceBindings,
} from "@lifeboat/api";
import { type Fleet, resources } from "@lifeboat/testkit";

const { deployments } = resources;

export async function fillSmallWorld({ plane, clock }: Fleet): Promise<void> {
  const lastTransitionTime = new Date(clock.now()).toISOString().replace(/\.\d+/, "");
  for (const name of ["member1", "member2"]) {
    const made = await plane.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Push", apiEndpoint: "https://127.0.0.1:1" },
    });
    const ready = { type: "Ready", reason: "ClusterReady", message: "", lastTransitionTime };
    await plane.update(
      clusters,
      {
        ...made,
        status: {
          conditions: [{ ...ready, status: name === "member1" ? "False" : "True" }],
          apiEnablements: [
            { groupVersion: "apps/v1", resources: [{ name: "deployments", kind: "Deployment" }] },
          ],
        },
      },
      { subresource: "status" },
    );
  }
  await plane.create(clusterTaintPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "failed" },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["True"] }],
      taintsToAdd: [{ key: "failed", effect: "NoExecute", addOnMatchSeconds: 10 }],
    },
  });
  const resource = { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name: "web" };
  const bound = await plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: "web-deployment", namespace: "default" },
    spec: { resource, replicas: 2, clusters: [{ name: "member1", replicas: 2 }], placement: {} },
  });
  await plane.create(evacuations, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "member1" },
    spec: { cluster: "member1", paused: false },
  });
  const { uid, name } = bound.metadata;
  await plane.create(evacuationSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: { name: "member1-0" },
    spec: {
      evacuation: "member1",
      taint: { key: "failed", effect: "NoExecute" },
      ordinal: 0,
      entries: [
        {
          binding: { kind: "ResourceBinding", namespace: "default", name, uid },
          resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          lane: "Workload",
        },
      ],
    },
  });
  await plane.create(deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web", namespace: "default" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "web", image: "web" }] },
      },
    },
  });
  await plane.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "lifeboat-system", name: "settings" },
    data: { "feature-gates": "Failover=true" },
  });
  await plane.create(remedies, {
    apiVersion: "remedy.karmada.io/v1alpha1",
    kind: "Remedy",
    metadata: { name: "names" },
    spec: { actions: ["TrafficControl"] },
  });
}
