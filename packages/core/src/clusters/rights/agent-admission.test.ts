import { describe, expect, test } from "vitest";
import { type AgentWrite, agentRefusal, isAgentsWrite } from "./agent-admission.ts";

const user = {
  name: "system:karmada:agent:eu-1",
  groups: ["system:karmada:agents", "system:authenticated"],
};
const cluster = {
  metadata: {
    name: "eu-1",
    uid: "u",
    labels: { tier: "gold" },
    annotations: { a: "b" },
    finalizers: ["karmada.io/cluster-controller"],
  },
  spec: { syncMode: "Pull", id: "x", taints: [{ key: "k", effect: "NoSchedule" }] },
  status: { remedyActions: ["TrafficControl"] },
};
const work = {
  metadata: {
    name: "w",
    namespace: "karmada-es-eu-1",
    finalizers: ["karmada.io/execution-controller", "x.io/other"],
  },
  spec: { workload: { manifests: [{ kind: "ConfigMap" }] } },
};
const dying = {
  ...work,
  metadata: { ...work.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
};

function ofCluster(over: Partial<AgentWrite>): AgentWrite {
  const base = {
    user,
    operation: "UPDATE",
    group: "cluster.karmada.io",
    plural: "clusters",
    subresource: "",
  } as const;
  return { ...base, namespace: "", name: "eu-1", object: cluster, old: cluster, ...over };
}

/** More than one copy may report. */
const HUGE = "x".repeat(300_000);

function reportedWork(
  manifestStatuses: readonly object[],
  conditions: readonly object[] = [],
): AgentWrite {
  const status = { conditions, manifestStatuses };
  return ofWork({ ...work, status }, work, { subresource: "status" });
}

const OFF = { type: "Fenced", status: "True" };

/** A report of these conditions, after those. */
function reported(now: readonly object[], before: readonly object[]): AgentWrite {
  const withConditions = (conditions: readonly object[]): object => ({
    ...cluster,
    status: { ...cluster.status, conditions },
  });
  return ofCluster({
    subresource: "status",
    object: withConditions(now),
    old: withConditions(before),
  });
}

function created(object: object, over: Partial<AgentWrite> = {}): AgentWrite {
  return ofCluster({ operation: "CREATE", object, old: undefined, ...over });
}

function changed(spec: object, metadata: object = {}): AgentWrite {
  return ofCluster({
    object: {
      ...cluster,
      metadata: { ...cluster.metadata, ...metadata },
      spec: { ...cluster.spec, ...spec },
    },
  });
}

function ofWork(object: object, old: object, over: Partial<AgentWrite> = {}): AgentWrite {
  const base = {
    user,
    operation: "UPDATE",
    group: "work.karmada.io",
    plural: "works",
    subresource: "",
  } as const;
  return { ...base, namespace: "karmada-es-eu-1", name: "w", object, old, ...over };
}

function inNamespace(
  group: string,
  plural: string,
  namespace: string,
  name: string,
  object: object = {},
): AgentWrite {
  return { user, operation: "CREATE", group, plural, subresource: "", namespace, name, object };
}

const about = (kind: string, namespace: string, name: string) => ({
  involvedObject: { kind, namespace, name },
});
const withFinalizers = (object: typeof work, ...finalizers: string[]) => ({
  ...object,
  metadata: { ...object.metadata, finalizers },
});

const allowed: Readonly<Record<string, AgentWrite>> = {
  "creates its Cluster": created({
    metadata: { name: "eu-1" },
    spec: {
      syncMode: "Pull",
      id: "x",
      region: "eu",
      zones: ["a"],
      secretRef: { namespace: "karmada-cluster", name: "eu-1" },
    },
  }),
  "creates it with empty labels": created({
    metadata: { name: "eu-1", labels: {} },
    spec: { syncMode: "Pull", taints: [] },
  }),
  "moves it to another region": changed({
    region: "us",
    provider: "p",
    zones: ["b"],
    apiEndpoint: "https://x",
  }),
  "names its impersonator": changed({
    impersonatorSecretRef: { namespace: "karmada-cluster", name: "eu-1-impersonator" },
  }),
  "writes its status": ofCluster({
    subresource: "status",
    object: { ...cluster, status: { ...cluster.status, kubernetesVersion: "v1" } },
  }),
  "reports that it is ready, beside what others reported": reported(
    [{ type: "Ready", status: "True" }, OFF],
    [{ type: "Ready", status: "False" }, OFF],
  ),
  "reports what an agent reports, and keeps what it does not know": reported(
    [
      ...["Ready", "CompleteAPIEnablements", "ResponsesWithinLimits"].map((type) => ({
        type,
        status: "True",
      })),
      { type: "example.com/Quarantined", status: "True" },
    ],
    [{ type: "example.com/Quarantined", status: "True" }],
  ),
  "deletes it": ofCluster({ operation: "DELETE", object: undefined }),
  "writes its Lease": inNamespace("coordination.k8s.io", "leases", "karmada-cluster", "eu-1"),
  "writes its Secret": inNamespace("", "secrets", "karmada-cluster", "eu-1"),
  "writes its impersonator's Secret": inNamespace(
    "",
    "secrets",
    "karmada-cluster",
    "eu-1-impersonator",
  ),
  "asks for its certificate": inNamespace(
    "certificates.k8s.io",
    "certificatesigningrequests",
    "",
    "agent-eu-1",
    { spec: { signerName: "kubernetes.io/kube-apiserver-client" } },
  ),
  "reports on a Work": ofWork({ ...work, status: {} }, work, { subresource: "status" }),
  "reports the copy of a Work": reportedWork([{ status: { readyReplicas: 1 }, health: "Healthy" }]),
  "releases a Work that is being deleted": ofWork(withFinalizers(dying, "x.io/other"), dying),
  "tells of its Cluster": inNamespace("", "events", "default", "e", about("Cluster", "", "eu-1")),
  "tells of its Work": inNamespace("events.k8s.io", "events", "karmada-es-eu-1", "e", {
    regarding: { kind: "Work", namespace: "karmada-es-eu-1", name: "w" },
  }),
};

const refused: Readonly<Record<string, AgentWrite>> = {
  "creates the Cluster of another": created(
    { metadata: { name: "eu-2" }, spec: { syncMode: "Pull" } },
    { name: "eu-2" },
  ),
  "creates a Cluster to push to": created({
    metadata: { name: "eu-1" },
    spec: { syncMode: "Push" },
  }),
  "creates a Cluster without a mode": created({ metadata: { name: "eu-1" }, spec: {} }),
  "creates it with labels": created({
    metadata: { name: "eu-1", labels: { tier: "gold" } },
    spec: { syncMode: "Pull" },
  }),
  "creates it with taints": created({
    metadata: { name: "eu-1" },
    spec: { syncMode: "Pull", taints: [{ key: "k" }] },
  }),
  "creates it with finalizers": created({
    metadata: { name: "eu-1", finalizers: ["x"] },
    spec: { syncMode: "Pull" },
  }),
  "creates it with the Secret of another": created({
    metadata: { name: "eu-1" },
    spec: { syncMode: "Pull", secretRef: { namespace: "karmada-cluster", name: "eu-2" } },
  }),
  "creates it with a Secret elsewhere": created({
    metadata: { name: "eu-1" },
    spec: { syncMode: "Pull", secretRef: { namespace: "default", name: "eu-1" } },
  }),
  "creates it with resource models": created({
    metadata: { name: "eu-1" },
    spec: { syncMode: "Pull", resourceModels: [{ grade: 0 }] },
  }),
  "creates it behind a proxy": created({
    metadata: { name: "eu-1" },
    spec: { syncMode: "Pull", proxyURL: "http://x" },
  }),
  "changes labels": changed({}, { labels: { tier: "silver" } }),
  "drops labels": changed({}, { labels: undefined }),
  "changes annotations": changed({}, { annotations: { "lifeboat.dev/fenced": "{}" } }),
  "drops taints": changed({ taints: [] }),
  "adds a taint": changed({ taints: [...cluster.spec.taints, { key: "z", effect: "NoSchedule" }] }),
  "changes the mode": changed({ syncMode: "Push" }),
  "drops the finalizer": changed({}, { finalizers: [] }),
  "owns it otherwise": changed({}, { ownerReferences: [{ uid: "x" }] }),
  "skips certificates": changed({ insecureSkipTLSVerification: true }),
  "writes the actions of Remedies": ofCluster({
    subresource: "status",
    object: { ...cluster, status: {} },
  }),
  "declares itself off": reported([OFF], []),
  "takes back that it is off": reported([], [OFF]),
  "reports a condition that no agent reports": reported(
    [{ type: "example.com/Quarantined", status: "False" }],
    [],
  ),
  "changes a condition that no agent reports": reported(
    [{ type: "example.com/Quarantined", status: "False" }],
    [{ type: "example.com/Quarantined", status: "True" }],
  ),
  "reports a condition without a type": reported([{ status: "True" }], []),
  "reports that it is ready twice": reported(
    [
      { type: "Ready", status: "True" },
      { type: "Ready", status: "False" },
    ],
    [],
  ),
  "declares its stale copies removed": reported(
    [{ type: "StaleCopiesRemoved", status: "True" }],
    [{ type: "StaleCopiesRemoved", status: "False" }],
  ),
  "reports in place of a detector": reported(
    [{ type: "ServiceDomainNameResolutionReady", status: "True" }],
    [],
  ),
  "reports in place of a detector over HTTP": reported(
    [{ type: "detector.lifeboat.dev/IngressReady", status: "True" }],
    [{ type: "detector.lifeboat.dev/IngressReady", status: "False" }],
  ),
  "withdraws what a detector reported": reported(
    [],
    [{ type: "detector.lifeboat.dev/IngressReady", status: "False" }],
  ),
  "adds a second entry of a foreign condition": reported([OFF, { ...OFF, status: "False" }], [OFF]),
  "reports a status of any size": reportedWork([{ status: { message: HUGE } }]),
  "reports anything else of any size": reportedWork([{ status: {}, health: HUGE }]),
  "reports conditions of any size": reportedWork([], [{ type: "Applied", message: HUGE }]),
  "reports more copies than there are": reportedWork([{ status: {} }, { status: {} }]),
  "reports more copies, and more manifests than are stored": ofWork(
    {
      ...work,
      spec: { workload: { manifests: [{}, {}] } },
      status: { manifestStatuses: [{ status: {} }, { status: {} }] },
    },
    work,
    { subresource: "status" },
  ),
  "writes the Lease of another": inNamespace(
    "coordination.k8s.io",
    "leases",
    "karmada-cluster",
    "eu-2",
  ),
  "writes a Lease elsewhere": inNamespace("coordination.k8s.io", "leases", "kube-system", "eu-1"),
  "writes the Secret of another": inNamespace("", "secrets", "karmada-cluster", "eu-10"),
  "writes a Secret elsewhere": inNamespace("", "secrets", "default", "eu-1"),
  "asks for the certificate of another": inNamespace(
    "certificates.k8s.io",
    "certificatesigningrequests",
    "",
    "agent-eu-2",
    { spec: { signerName: "kubernetes.io/kube-apiserver-client" } },
  ),
  "asks another signer": inNamespace(
    "certificates.k8s.io",
    "certificatesigningrequests",
    "",
    "agent-eu-1",
    { spec: { signerName: "kubernetes.io/kubelet-serving" } },
  ),
  "approves its request": {
    ...inNamespace("certificates.k8s.io", "certificatesigningrequests", "", "agent-eu-1"),
    operation: "UPDATE",
    subresource: "approval",
    old: {},
  },
  "creates a Work": ofWork(work, work, { operation: "CREATE" }),
  "writes a Work of another": ofWork(work, work, { namespace: "karmada-es-eu-2" }),
  "changes what a Work holds": ofWork({ ...work, spec: { workload: { manifests: [] } } }, work),
  "changes the labels of a Work": ofWork(
    { ...work, metadata: { ...work.metadata, annotations: { "lifeboat.dev/endorsed": "u" } } },
    work,
  ),
  "releases a Work that stays": ofWork(withFinalizers(work, "x.io/other"), work),
  "takes another finalizer off": ofWork(withFinalizers(dying), dying),
  "changes a Work while it releases it": ofWork(
    { ...withFinalizers(dying, "x.io/other"), spec: {} },
    dying,
  ),
  "tells of the Cluster of another": inNamespace(
    "",
    "events",
    "default",
    "e",
    about("Cluster", "", "eu-2"),
  ),
  "tells of a Deployment": inNamespace(
    "",
    "events",
    "default",
    "e",
    about("Deployment", "default", "web"),
  ),
  "tells of nothing": inNamespace("", "events", "default", "e", {}),
  "takes over the Event of another": {
    ...inNamespace("", "events", "default", "e", about("Cluster", "", "eu-1")),
    operation: "UPDATE",
    old: about("Cluster", "", "eu-2"),
  },
  "writes a ConfigMap": inNamespace("", "configmaps", "karmada-es-eu-1", "x"),
  "writes a binding": inNamespace("work.karmada.io", "resourcebindings", "default", "x"),
};

describe("an agent", () => {
  test.each(Object.entries(allowed))("%s", (_, write) => {
    expect(agentRefusal(write)).toBeUndefined();
  });

  test.each(Object.entries(refused))("does not: %s", (_, write) => {
    expect(agentRefusal(write)).toMatch(/.{10}/u);
  });

  test.each([
    [{ name: "system:karmada:agent:eu-1", groups: [] }],
    [{ name: "bob", groups: ["system:karmada:agents"] }],
    [{ name: "system:karmada:agent:../x", groups: ["system:karmada:agents"] }],
  ])("of no cluster writes nothing: %j", (other) => {
    expect(isAgentsWrite({ user: other })).toBe(true);
    expect(agentRefusal({ ...ofCluster({}), user: other })).toContain("the agent of no cluster");
  });

  test("is no other user", () => {
    expect(isAgentsWrite({ user: { name: "bob", groups: ["system:masters"] } })).toBe(false);
  });

  test.each([undefined, null, 7, "x", [], { metadata: 7, spec: "x", involvedObject: [] }])(
    "may send %j, and nothing is thrown",
    (object) => {
      for (const write of [...Object.values(allowed), ...Object.values(refused)])
        expect(() => agentRefusal({ ...write, object, old: object })).not.toThrow();
    },
  );
});
