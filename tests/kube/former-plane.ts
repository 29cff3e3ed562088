/**
 * A control plane as Karmada leaves it on a kube-apiserver: kinds without our mark, Clusters behind an aggregated API server of their
 * own, admission webhooks that nothing answers any more, and workloads with bindings, Works and copies, written from the published
 * names, labels and annotations.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:https";
import { once } from "node:events";
import { dirname, join } from "node:path";
import {
  type AnyObject,
  clusters,
  controlPlaneKinds,
  crdOf,
  customResourceDefinitions,
  type KubeObject,
  type New,
  type Resource,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { workName } from "@lifeboat/core/propagation/rendering";
import type { Client } from "@lifeboat/kit";
import { newNamespace, newObject, resources } from "@lifeboat/testkit";
import { eventually } from "../support/eventually.ts";
import { ONLY_API, startLifeboat } from "../support/lifeboat.ts";
import { removeDirectory, temporaryDirectory } from "../support/processes.ts";
import type { RealApiServer } from "../support/real-api-server.ts";
import type { Started } from "../support/started.ts";
import type { CountingMember } from "./counting-members.ts";
import { inBatches, SHOP, workload } from "./moved-workloads.ts";

type Texts = Readonly<Record<string, string>>;

/** Kinds, the aggregated API of Clusters, members that are joined. */
export async function startFormerPlane(
  started: Started,
  server: RealApiServer,
  plane: Client,
  members: readonly CountingMember[],
): Promise<void> {
  for (const name of ["karmada-system", "karmada-cluster", SHOP])
    await plane.create(resources.namespaces, newNamespace(name));
  for (const kind of controlPlaneKinds) {
    if (kind.group === "lifeboat.dev" || kind.kind === clusters.kind) continue;
    await plane.create(customResourceDefinitions, asFormer(crdOf(kind) as unknown as AnyObject));
  }
  await serveClusters(started, server, plane);
  for (const member of members) await joinFormer(plane, member);
}

/** The same names and subresources; the schema is another one. */
function asFormer(crd: AnyObject): New<AnyObject> {
  const spec = crd["spec"] as { readonly versions: readonly object[] };
  const schema = {
    openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  };
  const versions = spec.versions.map((version) => ({ ...version, schema }));
  return { ...crd, metadata: { name: crd.metadata.name }, spec: { ...spec, versions } };
}

/** Clusters are kept by an API server of their own, behind the kube-apiserver. */
async function serveClusters(
  started: Started,
  server: RealApiServer,
  plane: Client,
): Promise<void> {
  const directory = temporaryDirectory("aggregated");
  started.keep({ stop: () => Promise.resolve(removeDirectory(directory)) });
  const tokens = join(directory, "tokens.csv");
  writeFileSync(tokens, 'aggregator,aggregator,1,"system:masters"\n', { mode: 0o600 });
  const behind = started.keep(
    await startLifeboat({ args: [...ONLY_API, "--token-auth-file", tokens] }),
  );
  const keys = dirname(server.kubeconfig);
  const pair = {
    cert: readFileSync(join(keys, "server.crt")),
    key: readFileSync(join(keys, "server.key")),
  };
  const front = createServer(pair, (incoming, answer) => {
    const headers = { ...incoming.headers, authorization: "Bearer aggregator" };
    const passed = request(
      `${behind.url}${incoming.url ?? ""}`,
      { method: incoming.method, headers, rejectUnauthorized: false },
      (outcome) => {
        answer.writeHead(outcome.statusCode ?? 502, outcome.headers);
        outcome.pipe(answer);
      },
    );
    passed.on("error", () => answer.destroy());
    answer.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  started.keep({
    stop: () => {
      front.closeAllConnections();
      return Promise.resolve(front.close());
    },
  });
  const { port } = front.address() as { readonly port: number };
  const place = { namespace: "karmada-system", name: "karmada-aggregated-apiserver" };
  await plane.create(
    resources.services,
    newObject(resources.services, place, {
      spec: { type: "ExternalName", externalName: "localhost" },
    }),
  );
  await plane.create(apiServices, {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1alpha1.cluster.karmada.io" },
    spec: {
      group: clusters.group,
      version: clusters.version,
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      service: { ...place, port },
    },
  });
  await eventually(() => plane.list(clusters));
}

const apiServices: Resource = {
  group: "apiregistration.k8s.io",
  version: "v1",
  plural: "apiservices",
  kind: "APIService",
  namespaced: false,
};

async function joinFormer(plane: Client, { name, objects }: CountingMember): Promise<void> {
  await plane.create(resources.namespaces, {
    ...newNamespace(`karmada-es-${name}`),
    metadata: { name: `karmada-es-${name}`, labels: { "karmada.io/system": "true" } },
  });
  const finalizers = ["karmada.io/cluster-controller"];
  const cluster = await plane.create(clusters, {
    ...objects.cluster,
    metadata: { name, finalizers },
  });
  const ready = {
    type: "Ready",
    status: "True",
    reason: "ClusterReady",
    message: "",
    lastTransitionTime: TIME,
  };
  const status = { kubernetesVersion: "v1.36.4", conditions: [ready] } as never;
  await plane.update(clusters, { ...cluster, status }, { subresource: "status" });
  const { annotations: _ours, ...metadata } = objects.secret.metadata;
  await plane.create(resources.secrets, {
    ...objects.secret,
    metadata: { ...metadata, ownerReferences: [ownerOf(cluster, false)] },
  });
}

const TIME = "2026-01-01T00:00:00Z";

function ownerOf({ apiVersion, kind, metadata }: KubeObject, controller = true): never {
  const { name, uid } = metadata;
  return {
    apiVersion,
    kind,
    name,
    uid,
    ...(controller && { controller, blockOwnerDeletion: true }),
  } as never;
}

const POLICY = { namespace: SHOP, name: "all", id: "11111111-1111-4111-8111-111111111111" };
const CLAIM = {
  labels: { "propagationpolicy.karmada.io/permanent-id": POLICY.id },
  annotations: {
    "propagationpolicy.karmada.io/namespace": SHOP,
    "propagationpolicy.karmada.io/name": POLICY.name,
  },
};
const PLACEMENT = {
  replicaScheduling: { replicaSchedulingType: "Divided", replicaDivisionPreference: "Weighted" },
};
const policies: Resource = {
  group: "policy.karmada.io",
  version: "v1alpha1",
  plural: "propagationpolicies",
  kind: "PropagationPolicy",
  namespaced: true,
};

/** The policy, the namespace and the workloads, with their copies in both members. */
export async function propagateFormerly(
  plane: Client,
  members: readonly CountingMember[],
  count: number,
): Promise<void> {
  await eventually(() => plane.list(works));
  await plane.create(policies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "PropagationPolicy",
    metadata: {
      namespace: SHOP,
      name: POLICY.name,
      labels: CLAIM.labels,
      finalizers: ["karmada.io/propagation-policy-controller"],
    },
    spec: {
      resourceSelectors: [{ apiVersion: "apps/v1", kind: "Deployment", namespace: SHOP }],
      placement: PLACEMENT,
      conflictResolution: "Abort",
      preemption: "Never",
      priority: 0,
      schedulerName: "default-scheduler",
    },
  });
  const shop = await plane.get(resources.namespaces, { namespace: "", name: SHOP });
  for (const member of members) await putWork(plane, member, shop, {}, {});
  await inBatches(count, (i) => propagateOne(plane, members, i));
}

async function propagateOne(
  plane: Client,
  members: readonly CountingMember[],
  i: number,
): Promise<void> {
  const wanted = workload(i);
  const { annotations, ...metadata } = wanted.metadata;
  const template = await plane.create(resources.deployments, {
    ...wanted,
    metadata: {
      ...metadata,
      labels: CLAIM.labels,
      annotations: { ...annotations, ...CLAIM.annotations },
    },
  });
  const id = randomUUID();
  const shares = members.map(({ name }, j) => ({ name, replicas: (i + j) % 2 === 0 ? 2 : 1 }));
  const binding = await plane.create(resourceBindings, {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: {
      namespace: SHOP,
      name: `web-${i}-deployment`,
      labels: { ...CLAIM.labels, "resourcebinding.karmada.io/permanent-id": id },
      annotations: {
        ...CLAIM.annotations,
        "policy.karmada.io/applied-placement": JSON.stringify(PLACEMENT),
      },
      finalizers: ["karmada.io/binding-controller"],
      ownerReferences: [ownerOf(template)],
    },
    spec: {
      resource: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        namespace: SHOP,
        name: `web-${i}`,
        uid: template.metadata.uid,
        resourceVersion: template.metadata.resourceVersion,
      },
      replicas: 3,
      placement: PLACEMENT as never,
      clusters: shares,
      conflictResolution: "Abort",
      schedulerName: "default-scheduler",
    },
  });
  const done = { status: "True", message: "", lastTransitionTime: TIME };
  const conditions = [
    { type: "Scheduled", reason: "Success", ...done },
    { type: "FullyApplied", reason: "FullyAppliedSuccess", ...done },
  ];
  const status = { schedulerObservedGeneration: 1, lastScheduledTime: TIME, conditions } as never;
  await plane.update(resourceBindings, { ...binding, status }, { subresource: "status" });
  const marks = {
    "resourcebinding.karmada.io/namespace": SHOP,
    "resourcebinding.karmada.io/name": `web-${i}-deployment`,
    "work.karmada.io/conflict-resolution": "abort",
  };
  for (const [j, member] of members.entries()) {
    const spec = { ...(template["spec"] as object), replicas: shares[j]?.replicas };
    const generation = {
      "resourcetemplate.karmada.io/generation": String(template.metadata.generation),
    };
    const ids = { "resourcebinding.karmada.io/permanent-id": id };
    await putWork(plane, member, { ...template, spec }, marks, ids, generation);
  }
}

/** The Work of an object, and the copy that was made from it. */
async function putWork(
  plane: Client,
  { name: cluster, client }: CountingMember,
  object: AnyObject,
  marks: Texts,
  ids: Texts,
  more: Texts = {},
): Promise<void> {
  const { kind, apiVersion } = object;
  const { name, namespace = "" } = object.metadata;
  const key = { namespace: `karmada-es-${cluster}`, name: workName({ kind, namespace, name }) };
  const workId = { "work.karmada.io/permanent-id": randomUUID() };
  const labels = { ...object.metadata.labels, ...ids, "karmada.io/managed": "true", ...workId };
  const annotations: Record<string, string> = {
    ...object.metadata.annotations,
    ...marks,
    ...more,
    "resourcetemplate.karmada.io/uid": object.metadata.uid,
    "work.karmada.io/namespace": key.namespace,
    "work.karmada.io/name": key.name,
    "resourcetemplate.karmada.io/managed-labels": Object.keys(labels).sort().join(","),
    "resourcetemplate.karmada.io/managed-annotations": "",
  };
  annotations["resourcetemplate.karmada.io/managed-annotations"] = Object.keys(annotations)
    .sort()
    .join(",");
  const { status: _status, metadata: _metadata, ...content } = object;
  const metadata = { name, ...(namespace !== "" && { namespace }), labels, annotations };
  const manifest = { ...content, apiVersion, kind, metadata };
  const isNamespace = kind === "Namespace";
  const resource = isNamespace ? resources.namespaces : resources.deployments;
  const copy = await client.create(resource, manifest);
  const work = await plane.create(works, {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      ...key,
      labels: { ...ids, ...workId },
      ...(!isNamespace && { annotations: marks }),
      finalizers: ["karmada.io/execution-controller"],
      ...(isNamespace && { ownerReferences: [ownerOf(object)] }),
    },
    spec: {
      workload: { manifests: [manifest as never] },
      ...(!isNamespace && { suspendDispatching: false, preserveResourcesOnDeletion: false }),
    },
  });
  const applied = {
    type: "Applied",
    status: "True",
    reason: "AppliedSuccessful",
    message: "Manifest has been successfully applied",
    lastTransitionTime: TIME,
  } as const;
  const [group = "", version = group] = apiVersion.includes("/")
    ? apiVersion.split("/")
    : ["", apiVersion];
  const identifier = { ordinal: 0, group, version, kind, resource: "", namespace, name };
  const manifestStatuses = [{ identifier, status: {}, health: "Healthy" as const }];
  await plane.update(
    works,
    { ...work, status: { conditions: [applied], manifestStatuses } },
    { subresource: "status" },
  );
  if (isNamespace) return;
  const replicas = (copy["spec"] as { readonly replicas: number }).replicas;
  const counts = {
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  };
  await client.update(
    resource,
    { ...copy, status: { observedGeneration: copy.metadata.generation, ...counts } },
    { subresource: "status" },
  );
}

/** Admission of the former plane: everything about policies waits for an answer that does not come. */
export async function addFormerWebhook(plane: Client): Promise<void> {
  const resource: Resource = {
    group: "admissionregistration.k8s.io",
    version: "v1",
    plural: "validatingwebhookconfigurations",
    kind: "ValidatingWebhookConfiguration",
    namespaced: false,
  };
  const rule = {
    apiGroups: ["policy.karmada.io"],
    apiVersions: ["*"],
    operations: ["CREATE", "UPDATE"],
    resources: ["*"],
  };
  await plane.create(resource, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: resource.kind,
    metadata: { name: "validating-config" },
    webhooks: [
      {
        name: "propagationpolicy.karmada.io",
        clientConfig: { url: "https://127.0.0.1:1/validate-propagationpolicy" },
        rules: [rule],
        failurePolicy: "Fail",
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
}
