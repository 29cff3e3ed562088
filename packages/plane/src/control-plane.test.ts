/** A whole control plane in process: the kinds are there from the first moment, with their rules, and stay. */
import {
  createRandom,
  createSeededIds,
  parseTime,
  VirtualClock,
  type Instant,
} from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import {
  certificateSigningRequests,
  type Cluster,
  clusters,
  clusterTaintPolicies,
  type ClusterTaintPolicy,
  controlPlaneKinds,
  crdOf,
  customResourceDefinitions,
  type New,
  propagationPolicies,
  qualifiedName,
  works,
} from "@lifeboat/api";
import { createMemoryStorage, type MemoryStorage, type User } from "@lifeboat/apiserver";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { createPaperSigner, paperRequest, refusalOf } from "@lifeboat/testkit";
import { beforeEach, describe, expect, it } from "vitest";
import { type ControlPlane, createControlPlane } from "./control-plane.ts";
import { DEFAULT_CONTROLLERS } from "./controllers.ts";
import { establishKinds, installKinds } from "./install-kinds.ts";
import type { PlaneWork } from "./plane-work.ts";

const ADMIN: User = { name: "admin", groups: ["system:masters"] };

let clock: VirtualClock;
let storage: MemoryStorage;
let plane: ControlPlane;
let client: Client;

async function open(work?: PlaneWork): Promise<void> {
  const random = createRandom(1);
  const ids = createSeededIds(random.fork("ids"));
  const ports = { clock, random, ids, log: silentLog, metrics: silentMetrics, storage };
  const options = {
    version: "0.0.0",
    tokens: new Map([["t", ADMIN]]),
    signer: createPaperSigner(),
  };
  plane = await createControlPlane(ports, work === undefined ? options : { ...options, work });
  client = plane.server.client(ADMIN);
}

beforeEach(async () => {
  clock = new VirtualClock(parseTime("2026-01-01T00:00:00Z") as Instant, drainPromises);
  storage = createMemoryStorage(clock, { syncDelayMs: 0 });
  await open();
});

interface Answer {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly json: Record<string, unknown>;
}

async function ask(
  method: string,
  url: string,
  body = "",
  accept = "application/json",
): Promise<Answer> {
  const response = await plane.server.handle({
    method,
    url,
    headers: { authorization: "Bearer t", accept, "content-type": "application/yaml" },
    body: new TextEncoder().encode(body),
    signal: new AbortController().signal,
  });
  const chunks = response.body instanceof Uint8Array ? [response.body] : response.body;
  if (!Array.isArray(chunks)) throw new Error("not a stream");
  const text = new TextDecoder().decode(Buffer.concat(chunks));
  return {
    status: response.status,
    warnings: [response.headers["warning"] ?? []].flat(),
    json: JSON.parse(text) as Record<string, unknown>,
  };
}

const newCluster = (name: string, spec: Partial<Cluster["spec"]> = {}): New<Cluster> => ({
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name },
  spec: { syncMode: "Push", apiEndpoint: "https://10.0.0.1:6443", ...spec },
});

describe("the kinds", () => {
  it("are all served as soon as the plane exists, before anything runs", async () => {
    for (const kind of controlPlaneKinds) {
      const list = await client.list(kind);
      expect(list.items, kind.kind).toEqual([]);
    }
  });

  it("are installed once: a second start writes nothing", async () => {
    const before = await client.list(customResourceDefinitions);
    expect(before.items).toHaveLength(controlPlaneKinds.length);
    await plane.close();
    storage = storage.reopen();
    await open();
    expect((await client.list(customResourceDefinitions)).items).toEqual(before.items);
    await establishKinds(clock, client, await installKinds(client));
    expect((await client.list(customResourceDefinitions)).items).toEqual(before.items);
  });

  it("are brought up to date when a CRD differs", async () => {
    const [declaration] = controlPlaneKinds;
    if (declaration === undefined) throw new Error("there are kinds");
    const key = { namespace: "", name: qualifiedName(declaration) };
    const spec = { names: { shortNames: ["cl"] } };
    await client.patch(customResourceDefinitions, key, { type: "merge", body: { spec } });
    await installKinds(client);
    expect((await client.get(customResourceDefinitions, key))["spec"]).toEqual(
      crdOf(declaration).spec,
    );
  });

  it("leave nothing for the server's housekeeping to correct", async () => {
    const before = (await client.list(customResourceDefinitions)).metadata.resourceVersion;
    const stop = new AbortController();
    const running = plane.run(stop.signal);
    await clock.advance(1000);
    expect((await client.list(customResourceDefinitions)).metadata.resourceVersion).toBe(before);
    stop.abort();
    await running;
  });
});

describe("a Cluster", () => {
  it("goes through its life: created, tainted, reported on, read back", async () => {
    const created = await client.create(clusters, newCluster("eu-1"));
    expect(created.metadata.generation).toBe(1);
    expect(created.spec.resourceModels).toHaveLength(9);
    await clock.advance(5000);
    const taints = [{ key: "lifeboat.dev/drain", effect: "NoExecute" }] as const;
    const tainted = await client.update(clusters, {
      ...created,
      spec: { ...created.spec, taints },
    });
    expect(tainted.metadata.generation).toBe(2);
    expect(tainted.spec.taints).toEqual([{ ...taints[0], timeAdded: "2026-01-01T00:00:05Z" }]);
    const conditions = [
      {
        type: "Ready",
        status: "True",
        reason: "ClusterReady",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:05Z",
      },
    ] as const;
    const reported = await client.update(
      clusters,
      {
        ...tainted,
        spec: { syncMode: "Pull" },
        status: { kubernetesVersion: "v1.36.4", conditions },
      },
      { subresource: "status" },
    );
    expect(reported.spec).toEqual(tainted.spec);
    expect(reported.metadata.generation).toBe(2);
    expect(await client.get(clusters, { namespace: "", name: "eu-1" })).toEqual(reported);
  });

  it("is refused by its rules with the path of the field", async () => {
    const bad = newCluster("eu-1", { provider: "a b", zones: ["x"] });
    const refused = await refusalOf(client.create(clusters, bad));
    expect(refused).toMatchObject({
      code: 422,
      reason: "Invalid",
      details: { name: "eu-1", kind: "Cluster", causes: [{ field: "spec.provider" }] },
    });
  });

  it("prints the columns that kubectl shows", async () => {
    await client.create(clusters, newCluster("eu-1", { zone: "a", region: "eu" }));
    const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const { json } = await ask("GET", "/apis/cluster.karmada.io/v1alpha1/clusters", "", table);
    const columns = json["columnDefinitions"] as readonly { name: string; priority: number }[];
    expect(columns.filter(({ priority }) => priority === 0).map(({ name }) => name)).toEqual([
      "Name",
      "Version",
      "Mode",
      "Ready",
      "Age",
    ]);
    const [row] = json["rows"] as readonly { cells: unknown[] }[];
    expect(row?.cells.slice(0, 5)).toEqual(["eu-1", null, "Push", null, "0s"]);
    expect(row?.cells.slice(5)).toEqual(['["a"]', "eu", null, "https://10.0.0.1:6443", null]);
  });
});

describe("other kinds", () => {
  it("get their ids from the server and keep them when applied again", async () => {
    await client.create(works, {
      apiVersion: "work.karmada.io/v1alpha1",
      kind: "Work",
      metadata: { name: "w", namespace: "default" },
      spec: {
        workload: { manifests: [{ apiVersion: "v1", kind: "ConfigMap", data: { a: "1" } }] },
      },
    });
    const key = { namespace: "default", name: "w" };
    const work = await client.get(works, key);
    const label = "work.karmada.io/permanent-id";
    expect(work.metadata.labels?.[label]).toMatch(/^[0-9a-f-]{36}$/);
    expect(work.spec.workload?.manifests?.[0]).toMatchObject({ data: { a: "1" } });
    const bare = { ...work.metadata, labels: {} };
    const replaced = await client.update(works, { ...work, metadata: bare });
    expect(replaced.metadata.labels).toEqual(work.metadata.labels);
  });

  it("refuse a mix of the two spellings of a taint policy", async () => {
    const policy: New<ClusterTaintPolicy> = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "p" },
      spec: {
        taintsToAdd: [{ key: "a", effect: "NoExecute" }],
        taints: [{ key: "a", effect: "NoExecute" }],
      },
    };
    const refused = await refusalOf(client.create(clusterTaintPolicies, policy));
    expect(refused.details?.causes).toMatchObject([{ field: "spec.taints" }]);
  });

  it("have their dry runs prepared and checked like real writes", async () => {
    const policy = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "PropagationPolicy",
      metadata: { name: "p", namespace: "default" },
      spec: { resourceSelectors: [{ apiVersion: "v1", kind: "ConfigMap" }] },
    } as const;
    const dry = await client.create(propagationPolicies, policy, { dryRun: true });
    expect(dry.spec.resourceSelectors[0]?.namespace).toBe("default");
    expect((await client.list(propagationPolicies)).items).toEqual([]);
  });
});

/** Manifests as the proposals of the field write them. */
const MANIFESTS: readonly (readonly [collection: string, yaml: string])[] = [
  [
    "policy.karmada.io/v1alpha1/clustertaintpolicies",
    `
apiVersion: "policy.karmada.io/v1alpha1"
kind: "ClusterTaintPolicy"
metadata: {name: "detect-cluster-not-ready"}
spec:
  targetCluster: {clusterNames: ["member1", "member2"]}
  matchConditions:
  - {conditionType: "Ready", operator: "In", statusValues: ["False", "Unknown"]}
  taintsToAdd:
  - key: "cluster.karmada.io/not-ready"
    effect: PreferNoExecute
    addOnMatchSeconds: 300
    removeOnMismatchSeconds: 180
`,
  ],
  [
    "policy.karmada.io/v1alpha1/clustertaintpolicies",
    `
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: shipped-spelling}
spec:
  targetClusters: {clusterNames: [member1]}
  addOnConditions:
  - {conditionType: Ready, operator: NotIn, statusValues: ["True"]}
  removeOnConditions:
  - {conditionType: Ready, operator: In, statusValues: ["True"]}
  taints:
  - {key: not-ready, effect: NoSchedule}
  - {key: not-ready, effect: NoExecute}
`,
  ],
  [
    "policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
    `
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: nginx-propagation}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment, name: nginx}
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
  failover:
    cluster: {purgeMode: Directly, tolerationSeconds: 100}
`,
  ],
  [
    "policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies",
    `
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: foo}
spec:
  resourceSelectors:
    - {apiVersion: flink.apache.org/v1beta1, kind: FlinkDeployment, name: foo}
  placement:
    clusterAffinity: {clusterNames: [member1, member2]}
    spreadConstraints:
      - {maxGroups: 1, minGroups: 1, spreadByField: cluster}
  failover:
    cluster:
      purgeMode: Directly
      statePreservation:
        rules:
          - aliasLabelName: failover.karmada.io/failover-jobid
            jsonPath: "{ .jobStatus.jobID }"
          - aliasLabelName: failover.karmada.io/readyReplicas
            jsonPath: "{ .readyReplicas }"
`,
  ],
  [
    "cluster.karmada.io/v1alpha1/clusters",
    `
apiVersion: "cluster.karmada.io/v1alpha1"
kind: "Cluster"
metadata: {name: "member1"}
spec: {apiEndpoint: "https://192.10.0.1:6443", syncMode: Push}
status:
  conditions:
  - lastTransitionTime: "2024-01-25T04:05:57Z"
    message: "coredns function is normal "
    status: "True"
    type: ServiceDomainNameResolutionReady
`,
  ],
  [
    "remedy.karmada.io/v1alpha1/remedies",
    `
apiVersion: "remedy.karmada.io/v1alpha1"
kind: "Remedy"
metadata: {name: "foo"}
spec:
  decisionMatches:
  - clusterConditionMatch:
      conditionType: "ServiceDomainNameResolutionReady"
      operator: Equal
      conditionStatus: "False"
  clusterAffinity: {clusterNames: ["member1", "member2"]}
  actions: ["TrafficControl"]
`,
  ],
];

describe("manifests of the field", () => {
  it.each(MANIFESTS)("apply as they are: %s", async (collection, yaml) => {
    const url = `/apis/${collection}?fieldValidation=Strict`;
    const { status, json } = await ask("POST", url, yaml);
    expect(status, JSON.stringify(json)).toBe(201);
  });
});

describe("a policy that asks for what is not done", () => {
  const policy = (name: string) => `
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: { name: ${name} }
spec:
  resourceSelectors: [{ apiVersion: apps/v1, kind: Deployment }]
  placement: { workloadAffinity: { affinity: { groupByLabelKey: group } } }
  schedulePriority: { priorityClassSource: KubePriorityClass, priorityClassName: high }
  failover:
    cluster:
      statePreservation: { rules: [{ aliasLabelName: failover.karmada.io/job, jsonPath: "{.job}" }] }
`;
  const POLICIES = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
  const withGate = (statefulFailoverInjection: boolean): PlaneWork => ({
    connect: () => {
      throw new Error("nothing runs here");
    },
    instance: "test",
    controllers: { ...DEFAULT_CONTROLLERS, statefulFailoverInjection },
  });

  it.each([
    ["off", false, 3],
    ["on", true, 2],
  ] as const)(
    "17.12, 17.14: is stored with Warning headers while the gate is %s",
    async (_name, gate, count) => {
      storage = createMemoryStorage(clock, { syncDelayMs: 0 });
      await open(withGate(gate));
      const { status, warnings } = await ask("POST", POLICIES, policy("p"));
      expect(status).toBe(201);
      expect(warnings).toHaveLength(count);
      const text = warnings.join("\n");
      expect(text).toContain("spec.schedulePriority: orders what leaves a failed cluster");
      expect(text).toContain("spec.placement.workloadAffinity: has no effect yet");
      expect(text.includes("StatefulFailoverInjection is off")).toBe(!gate);
    },
  );

  it("17.12: is refused for a label that would be refused on the day", async () => {
    const given = policy("p").replace("failover.karmada.io/job", "app.kubernetes.io/name");
    const { status, json } = await ask("POST", POLICIES, given);
    expect(status).toBe(422);
    expect(json["details"]).toMatchObject({
      causes: [{ field: "spec.failover.cluster.statePreservation.rules[0].aliasLabelName" }],
    });
  });
});

it("a request to write the rights of agents is refused when it is made: karmadactl register reads no denial (D25)", async () => {
  const request = (commonName: string) => ({
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "r" },
    spec: {
      request: btoa(paperRequest(commonName, ["system:karmada:agents"])),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "key encipherment", "client auth"],
    },
  });
  const refused = await refusalOf(
    client.create(certificateSigningRequests, request("system:karmada:agent:rbac-generator")),
  );
  expect(refused.code).toBe(403);
  expect(refused.message).toContain("register the cluster with lifeboat register");
  await client.create(certificateSigningRequests, request("system:karmada:agent:eu-1"));
});
