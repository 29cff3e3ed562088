import { expect, it } from "vitest";
import { prune } from "./prune.ts";

const selfMade = {
  name: "x",
  namespace: "default",
  labels: { a: "1" },
  annotations: { b: "2" },
};

it("takes out what servers fill in, and the status", () => {
  const full = {
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: {
      ...selfMade,
      creationTimestamp: "t",
      deletionTimestamp: "t",
      deletionGracePeriodSeconds: 1,
      generation: 2,
      managedFields: [],
      resourceVersion: "1",
      selfLink: "/x",
      uid: "u",
      ownerReferences: [],
      finalizers: ["f"],
    },
    spec: { any: 1 },
    status: { any: 1 },
  };
  expect(prune(full)).toEqual({
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: selfMade,
    spec: { any: 1 },
  });
});

const jobLabels = {
  "controller-uid": "u",
  "job-name": "x",
  "batch.kubernetes.io/controller-uid": "u",
  "batch.kubernetes.io/job-name": "x",
  app: "a",
};

it.each([
  [
    "the revision of a Deployment",
    "apps/v1",
    "Deployment",
    { metadata: { annotations: { "deployment.kubernetes.io/revision": "3", a: "1" } } },
    { metadata: { annotations: { a: "1" } } },
  ],
  [
    "the counter of a DaemonSet",
    "apps/v1",
    "DaemonSet",
    { metadata: { annotations: { "deprecated.daemonset.template.generation": "3" } } },
    { metadata: { annotations: {} } },
  ],
  [
    "the generated selector of a Job",
    "batch/v1",
    "Job",
    {
      metadata: { labels: jobLabels },
      spec: {
        ttlSecondsAfterFinished: 5,
        selector: { matchLabels: {} },
        template: { metadata: { labels: jobLabels } },
      },
    },
    {
      metadata: { labels: { app: "a" } },
      spec: { template: { metadata: { labels: { app: "a" } } } },
    },
  ],
  [
    "no selector that is a person's",
    "batch/v1",
    "Job",
    { metadata: {}, spec: { manualSelector: true, selector: { a: 1 } } },
    { metadata: {}, spec: { manualSelector: true, selector: { a: 1 } } },
  ],
  [
    "token secrets of a ServiceAccount",
    "v1",
    "ServiceAccount",
    { metadata: { name: "bot" }, secrets: [{ name: "bot-token-abc" }, { name: "mine" }] },
    { metadata: { name: "bot" }, secrets: [{ name: "mine" }] },
  ],
  [
    "a list of only token secrets",
    "v1",
    "ServiceAccount",
    { metadata: { name: "bot" }, secrets: [{ name: "bot-token-abc" }] },
    { metadata: { name: "bot" } },
  ],
  [
    "the token of a service account",
    "v1",
    "Secret",
    {
      metadata: { annotations: { "kubernetes.io/service-account.uid": "u" } },
      type: "kubernetes.io/service-account-token",
      data: { token: "x" },
    },
    { metadata: { annotations: {} }, type: "kubernetes.io/service-account-token" },
  ],
  [
    "no data of another Secret",
    "v1",
    "Secret",
    { metadata: {}, data: { a: "x" } },
    { metadata: {}, data: { a: "x" } },
  ],
  [
    "addresses of a Service",
    "v1",
    "Service",
    { metadata: {}, spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ports: [] } },
    { metadata: {}, spec: { ports: [] } },
  ],
  [
    "no node port, because a port that the user chose cannot be distinguished from one that was given",
    "v1",
    "Service",
    { metadata: {}, spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] } },
    { metadata: {}, spec: { type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] } },
  ],
  [
    "nothing of a headless Service",
    "v1",
    "Service",
    { metadata: {}, spec: { clusterIP: "None", clusterIPs: ["None"] } },
    { metadata: {}, spec: { clusterIP: "None", clusterIPs: ["None"] } },
  ],
  [
    "the node of a claim",
    "v1",
    "PersistentVolumeClaim",
    { metadata: { annotations: { "volume.kubernetes.io/selected-node": "n" } } },
    { metadata: { annotations: {} } },
  ],
])("takes out %s", (_what, apiVersion, kind, parts, expected) => {
  const pruned = prune({ apiVersion, kind, ...parts });
  expect(pruned).toEqual({ apiVersion, kind, ...expected });
  expect(prune(pruned)).toEqual(pruned);
});
