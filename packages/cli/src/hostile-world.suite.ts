/**
 * What the control plane of the error tables holds: an object for every command to act on, in the state in which the command writes.
 *
 *   member1  a Push cluster that failed: an Evacuation is under way, `web` waits for an approval, its traffic is blocked by hand
 *   member2  a Push cluster that is well: `moved` came here, the set `db` has a replica that leaves
 *   member3  a Push cluster that is well and empty: `moved` was there
 *   member4  a Push cluster that is off and fenced, with the majority of the set `lost`; no new workloads
 *   pull1…   Pull clusters that fell silent together
 */
import { join } from "node:path";
import {
  type AnyObject,
  type Cluster,
  clusterRoles,
  clusters,
  clusterTaintPolicies,
  type Condition,
  configMaps,
  evacuationBudgets,
  evacuations,
  evacuationSlices,
  type KubeObject,
  ledgerSlices,
  multiClusterIngresses,
  namespaces,
  type New,
  remedies,
  type Resource,
  type ResourceBinding,
  resourceBindings,
  secrets,
  simulatedMembers,
  statefulSets,
} from "@lifeboat/api";
import { openPki, prepareAuthority } from "@lifeboat/apiserver/adapters";
import { formatTime, type Instant } from "@lifeboat/base";
import { createRealClock } from "@lifeboat/base/adapters";
import { wellKnown } from "@lifeboat/core";
import { bootstrapSecretName } from "@lifeboat/core/clusters/bootstrap-tokens";
import { AGENT_OF } from "@lifeboat/core/clusters/rights";
import { type FederatedRecord, NO_RECORD, withFederated } from "@lifeboat/core/federated";
import { MASS_DELETION, RESTORED } from "@lifeboat/core/propagation/brake";
import { MASS_TRAFFIC_BLOCK } from "@lifeboat/core/remedy/actions";
import { type Client, leases } from "@lifeboat/kit";
import { type Fleet, resources, statefulSet } from "@lifeboat/testkit";
import { blockOf } from "./commands/remedy.ts";
import { directory } from "./error-paths.suite.ts";

const { deployments } = resources;
const TAINT = { key: "failed", effect: "NoExecute" } as const;

interface World {
  readonly plane: Client;
  readonly at: string;
}

/** Of the data directory whose authority signs here; its next authority is prepared. */
export const dataDirectory = join(directory, "data");

let authority: Promise<string> | undefined;
async function makeAuthority(): Promise<string> {
  const clock = createRealClock();
  const pki = join(dataDirectory, "pki");
  const { bundle } = await openPki(clock, pki);
  await prepareAuthority(clock, pki);
  return bundle;
}
const authorityOf = (): Promise<string> => (authority ??= makeAuthority());

export async function fillWorld({ plane, clock }: Fleet): Promise<void> {
  const world = { plane, at: formatTime(clock.now() as Instant) };
  for (const name of [
    "lifeboat-system",
    "karmada-cluster",
    "karmada-es-member1",
    "kube-public",
    "kube-system",
  ])
    await plane
      .create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name } })
      .catch(() => undefined);
  await fillFleet(world);
  await fillFailover(world);
  await fillSets(world);
  await fillTraffic(world);
  await fillRights(world);
}

/** Creates the object, then writes its status: the API server takes them apart. */
async function withStatus<T extends KubeObject>(
  plane: Client,
  resource: Resource<T>,
  object: New<T>,
  status: object,
): Promise<T> {
  const made = await plane.create(resource, object);
  return plane.update(resource, { ...made, status }, { subresource: "status" });
}

interface Member {
  readonly name: string;
  readonly ready: Condition["status"];
  readonly syncMode?: "Push" | "Pull";
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: NonNullable<Cluster["spec"]["taints"]>;
}

const MEMBERS: readonly Member[] = [
  { name: "member1", ready: "False" },
  { name: "member2", ready: "True" },
  { name: "member3", ready: "True" },
  {
    name: "member4",
    ready: "Unknown",
    annotations: { [wellKnown.FENCED]: "{}" },
    taints: [{ key: "cluster.karmada.io/unschedulable", effect: "NoSchedule" }],
  },
  { name: "pull1", ready: "Unknown", syncMode: "Pull" },
  { name: "pull2", ready: "Unknown", syncMode: "Pull" },
];

async function fillFleet({ plane, at }: World): Promise<void> {
  for (const { name, ready, syncMode = "Push", annotations = {}, taints } of MEMBERS)
    await withStatus(
      plane,
      clusters,
      {
        apiVersion: "cluster.karmada.io/v1alpha1",
        kind: "Cluster",
        metadata: { name, annotations },
        spec: {
          syncMode,
          region: "eu",
          ...(syncMode === "Push" && { apiEndpoint: "https://127.0.0.1:1" }),
          ...(taints !== undefined && { taints }),
        },
      },
      {
        conditions: [condition("Ready", ready, at)],
        resourceSummary: { allocatable: { pods: "50" }, allocated: {}, allocating: {} },
        apiEnablements: [
          {
            groupVersion: "apps/v1",
            resources: [
              { name: "deployments", kind: "Deployment" },
              { name: "statefulsets", kind: "StatefulSet" },
            ],
          },
        ],
      },
    );
  // A process that runs simulated members has taken up whatever is written of this one.
  await withStatus(
    plane,
    simulatedMembers,
    {
      apiVersion: "lifeboat.dev/v1alpha1",
      kind: "SimulatedMember",
      metadata: { name: "member1" },
      spec: { faults: [{ mode: "slow" }] },
    },
    { observedGeneration: 1000 },
  );
  await plane.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "lifeboat-system", name: "settings" },
    data: { "feature-gates": "Failover=true" },
  });
}

function condition(type: string, status: Condition["status"], lastTransitionTime: string) {
  return { type, status, reason: "ForThisTest", message: "it is so", lastTransitionTime };
}

function bindingOf(
  kind: "Deployment" | "StatefulSet",
  name: string,
  on: Readonly<Record<string, number>>,
  annotations: Readonly<Record<string, string>> = {},
): New<ResourceBinding> & { readonly metadata: { readonly name: string } } {
  const placed = Object.entries(on).map(([cluster, replicas]) => ({ name: cluster, replicas }));
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name: `${name}-${kind.toLowerCase()}`, namespace: "default", annotations },
    spec: {
      resource: { apiVersion: "apps/v1", kind, namespace: "default", name },
      replicas: placed.reduce((sum, { replicas }) => sum + replicas, 0),
      clusters: placed,
      placement: {},
    },
  };
}

async function fillFailover({ plane, at }: World): Promise<void> {
  await plane.create(clusterTaintPolicies, {
    apiVersion: "policy.karmada.io/v1alpha1",
    kind: "ClusterTaintPolicy",
    metadata: { name: "failed" },
    spec: {
      matchConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["True"] }],
      taintsToAdd: [{ ...TAINT, addOnMatchSeconds: 10 }],
    },
  });
  const bound = await plane.create(
    resourceBindings,
    bindingOf("Deployment", "web", { member1: 2 }),
  );
  const former = JSON.stringify([{ name: "member3", replicas: 1 }]);
  await plane.create(
    resourceBindings,
    bindingOf("Deployment", "moved", { member2: 1 }, { [wellKnown.FORMER_RESULT]: former }),
  );
  for (const name of ["web", "moved"])
    await plane.create(deployments, {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "default" },
      spec: {
        replicas: name === "web" ? 2 : 1,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name, image: name }] },
        },
      },
    });
  await withStatus(
    plane,
    evacuations,
    {
      apiVersion: "lifeboat.dev/v1alpha1",
      kind: "Evacuation",
      metadata: { name: "member1-1" },
      spec: { cluster: "member1", paused: false },
    },
    { phase: "AwaitingApproval", taints: [{ taint: TAINT, recorded: true, slices: 1 }] },
  );
  const { uid, name } = bound.metadata;
  await plane.create(evacuationSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: { name: "member1-1-0" },
    spec: {
      evacuation: "member1-1",
      taint: TAINT,
      ordinal: 0,
      entries: [
        {
          binding: { kind: "ResourceBinding", namespace: "default", name, uid },
          resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          lane: "Workload",
          approval: "Required",
        },
      ],
    },
  });
  await withStatus(
    plane,
    evacuationBudgets,
    {
      apiVersion: "lifeboat.dev/v1alpha1",
      kind: "EvacuationBudget",
      metadata: { name: "fleet" },
      spec: {
        paused: false,
        pausedClusters: ["member3"],
        rateOverride: { perSecond: 2, setAt: at, until: "2099-01-01T00:00:00Z", reason: "a test" },
      },
    },
    {
      conditions: [MASS_DELETION, RESTORED, MASS_TRAFFIC_BLOCK].map((type) =>
        condition(type, "True", at),
      ),
    },
  );
  await plane.create(ledgerSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "LedgerSlice",
    metadata: { name: "1-1" },
    spec: {
      first: 1,
      last: 1,
      entries: [
        {
          at,
          action: "ClusterFailed",
          subject: { kind: "Cluster", name: "member1", uid: "u" },
          fact: "ready",
          value: "False",
          cluster: "member1",
          message: "it does not answer",
        },
      ],
    },
  });
}

/** `db`: a replica leaves now. `lost`: its majority is in a cluster that is off. */
async function fillSets({ plane, at }: World): Promise<void> {
  const marks = {
    [wellKnown.FEDERATED]: "true",
    [wellKnown.FEDERATED_QUORUM]: "true",
    [wellKnown.FEDERATED_SERVICES]: "true",
  };
  const leaving = { cluster: "member2", ordinal: 1, number: 1, since: at };
  const sets = {
    db: { on: { member1: 1, member2: 2 }, more: { leaving, departures: 1 } },
    lost: { on: { member2: 1, member4: 2 }, more: {} },
  };
  for (const [name, { on, more }] of Object.entries(sets)) {
    const replicas = Object.values(on).reduce((sum, share) => sum + share, 0);
    const set = statefulSet(name, replicas);
    await plane.create(statefulSets, {
      ...set,
      metadata: { ...set.metadata, name, annotations: marks },
    });
    const record = {
      ...NO_RECORD,
      shares: new Map(Object.entries(on)),
      replicas,
      clusters: Object.keys(on),
      numbers: new Map(Object.keys(on).map((cluster, i) => [cluster, i])),
      ...more,
    } as unknown as FederatedRecord;
    const quorum = { [wellKnown.FEDERATED_QUORUM]: "true" };
    const binding = bindingOf("StatefulSet", name, on, quorum);
    const { metadata } = withFederated(
      { metadata: { ...binding.metadata } } as ResourceBinding,
      record,
    );
    const aggregatedStatus = Object.entries(on).map(([clusterName, readyReplicas]) => ({
      clusterName,
      status: { readyReplicas: clusterName === "member4" ? 0 : readyReplicas },
    }));
    await withStatus(plane, resourceBindings, { ...binding, metadata }, { aggregatedStatus });
  }
}

async function fillTraffic({ plane, at }: World): Promise<void> {
  await plane.create(remedies, blockOf("member1"));
  await withStatus(
    plane,
    multiClusterIngresses,
    {
      apiVersion: "networking.karmada.io/v1alpha1",
      kind: "MultiClusterIngress",
      metadata: { name: "web", namespace: "default" },
      spec: { defaultBackend: { service: { name: "web", port: { number: 80 } } } },
    },
    { serviceLocations: [{ name: "web", clusters: ["member1", "member2", "member3"] }] },
  );
  const state = {
    zone: "cluster.local",
    federation: "lifeboat",
    ttl: 5,
    listen: "192.0.2.1:53",
    names: 4,
    held: "4 of 4 names would go",
  };
  await plane.create(leases, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      namespace: "lifeboat-system",
      name: "lifeboat-dns-ns1",
      annotations: { "lifeboat.dev/dns-state": JSON.stringify(state) },
    },
    spec: {
      holderIdentity: "ns1",
      leaseDurationSeconds: 60,
      renewTime: at.replace("Z", ".000000Z"),
    },
  });
}

async function fillRights({ plane }: World): Promise<void> {
  const authority = Buffer.from(await authorityOf()).toString("base64");
  await plane.create(configMaps, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "kube-public", name: "cluster-info" },
    data: {
      kubeconfig: JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [
          {
            name: "",
            cluster: {
              server: "https://192.0.2.1:7443",
              "certificate-authority-data": authority,
            },
          },
        ],
      }),
    },
  });
  await plane.create(secrets, {
    apiVersion: "v1",
    kind: "Secret",
    type: "bootstrap.kubernetes.io/token",
    metadata: { namespace: "kube-system", name: bootstrapSecretName("abcdef") },
    stringData: {
      "token-id": "abcdef",
      "token-secret": "0123456789abcdef",
      expiration: "2099-01-01T00:00:00Z",
      "usage-bootstrap-authentication": "true",
      "usage-bootstrap-signing": "true",
    },
  });
  // An agent that has not told which authorities it trusts.
  await plane.create<AnyObject>(clusterRoles, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "agent-pull1", labels: { [AGENT_OF]: "pull1" } },
    rules: [],
  });
}
