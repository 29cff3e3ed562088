import { describe, expect, it } from "vitest";
import type { Fields } from "../../fields.ts";
import { hasOwnAnswer, interpreterOf } from "./interpretation.ts";
import type { StatusItem } from "./interpreter.ts";

type Parts = { readonly [field: string]: unknown };

const object = (apiVersion: string, kind: string, parts: Parts = {}): Fields => ({
  apiVersion,
  kind,
  metadata: { namespace: "default", name: "x", generation: 2 },
  ...parts,
});
const deployment = (parts: Parts = {}) => object("apps/v1", "Deployment", parts);
const item = (clusterName: string, status?: unknown): StatusItem =>
  status === undefined ? { clusterName } : { clusterName, status };

const KINDS = [
  ["apps/v1", "Deployment"],
  ["apps/v1", "StatefulSet"],
  ["apps/v1", "ReplicaSet"],
] as const;

describe("replicas", () => {
  const podSpec = {
    nodeSelector: { disk: "fast" },
    tolerations: [{ operator: "Exists" }],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { a: 1 } } },
    overhead: { cpu: "10m" },
    initContainers: [
      { resources: { requests: { cpu: "3", memory: "10Mi" } } },
      { restartPolicy: "Always", resources: { requests: { cpu: "100m" } } },
      { resources: { requests: { memory: "1Gi" } } },
    ],
    containers: [
      { resources: { requests: { cpu: "500m" }, limits: { cpu: "2", memory: "256Mi" } } },
      { resources: { requests: { cpu: 1, memory: "256Mi", "example.com/gpu": "0" } } },
    ],
  };

  it.each(KINDS)("of a %s %s are those of its spec, with what its pods need", (version, kind) => {
    const workload = object(version, kind, { spec: { replicas: 3, template: { spec: podSpec } } });
    expect(interpreterOf(workload).replicas(workload)).toEqual({
      replicas: 3,
      requirements: {
        nodeClaim: {
          hardNodeAffinity: { a: 1 },
          nodeSelector: { disk: "fast" },
          tolerations: [{ operator: "Exists" }],
        },
        resourceRequest: { cpu: "3010m", memory: "1Gi" },
      },
    });
    const revised = interpreterOf(workload).reviseReplicas(workload, 7);
    expect(interpreterOf(workload).replicas(revised).replicas).toBe(7);
    expect(workload).toEqual(
      object(version, kind, { spec: { replicas: 3, template: { spec: podSpec } } }),
    );
  });

  it.each([
    [{ parallelism: 4 }, 4],
    [{ parallelism: 4, completions: 2 }, 2],
    [{ parallelism: 2, completions: 9 }, 2],
    [{}, 0],
  ])("of a Job with %j are %i", (spec, expected) => {
    const job = object("batch/v1", "Job", { spec });
    expect(interpreterOf(job).replicas(job)).toEqual({ replicas: expected });
    expect(interpreterOf(job).reviseReplicas(job, 5)).toMatchObject({ spec: { parallelism: 5 } });
  });

  it("of a Pod ask for an init container together with the sidecars started before it", () => {
    const ask = (cpu: string) => ({ resources: { requests: { cpu } } });
    const spec = { initContainers: [{ ...ask("1"), restartPolicy: "Always" }, ask("3")] };
    const pod = object("v1", "Pod", { spec });
    expect(interpreterOf(pod).replicas(pod)).toEqual({
      replicas: 1,
      requirements: { resourceRequest: { cpu: "4" } },
    });
  });

  it("of a Pod are always one, and stay so", () => {
    const pod = object("v1", "Pod", { spec: {} });
    expect(interpreterOf(pod).replicas(pod)).toEqual({ replicas: 1 });
    expect(interpreterOf(pod).reviseReplicas(pod, 5)).toBe(pod);
  });

  it("of a FlinkDeployment are its managers, each as large as the larger kind", () => {
    const flink = object("flink.apache.org/v1beta1", "FlinkDeployment", {
      spec: {
        flinkConfiguration: { "taskmanager.numberOfTaskSlots": "2" },
        jobManager: { resource: { cpu: 1, memory: "4096m" } },
        taskManager: { resource: { cpu: 2, memory: "2048m" } },
        job: { parallelism: 5 },
      },
    });
    expect(interpreterOf(flink).replicas(flink)).toEqual({
      replicas: 4,
      requirements: { resourceRequest: { cpu: "2", memory: "4Gi" } },
    });
  });

  it("of anything else are none", () => {
    const map = object("v1", "ConfigMap");
    expect(interpreterOf(map).replicas(map)).toEqual({ replicas: 0 });
    expect(interpreterOf(map).reviseReplicas(map, 3)).toBe(map);
    expect(hasOwnAnswer(map, "replicas")).toBe(false);
    expect(hasOwnAnswer(deployment(), "reviseReplicas")).toBe(true);
  });
});

describe("health", () => {
  const rolledOut = { observedGeneration: 2, updatedReplicas: 3, availableReplicas: 3 };
  const ready = [{ type: "Ready", status: "True" }];
  const address = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } };
  const flinkKind = ["flink.apache.org/v1beta1", "FlinkDeployment"] as const;

  it.each([
    ["apps/v1", "Deployment", { spec: { replicas: 3 }, status: rolledOut }, "Healthy"],
    ["apps/v1", "Deployment", { spec: { replicas: 4 }, status: rolledOut }, "Unhealthy"],
    [
      "apps/v1",
      "Deployment",
      { spec: { replicas: 3 }, status: { ...rolledOut, observedGeneration: 1 } },
      "Unhealthy",
    ],
    [
      "apps/v1",
      "Deployment",
      { spec: { replicas: 3 }, status: { ...rolledOut, availableReplicas: 2 } },
      "Unhealthy",
    ],
    ["apps/v1", "Deployment", { spec: { replicas: 3 } }, "Unhealthy"],
    ["apps/v1", "StatefulSet", { spec: { replicas: 3 }, status: rolledOut }, "Healthy"],
    ["apps/v1", "StatefulSet", { spec: { replicas: 3 }, status: {} }, "Unhealthy"],
    ["apps/v1", "ReplicaSet", { spec: { replicas: 3 }, status: rolledOut }, "Healthy"],
    ["apps/v1", "ReplicaSet", { spec: { replicas: 5 }, status: rolledOut }, "Unhealthy"],
    [
      "apps/v1",
      "DaemonSet",
      {
        status: {
          observedGeneration: 2,
          desiredNumberScheduled: 2,
          updatedNumberScheduled: 2,
          numberAvailable: 2,
        },
      },
      "Healthy",
    ],
    [
      "apps/v1",
      "DaemonSet",
      {
        status: {
          observedGeneration: 2,
          desiredNumberScheduled: 2,
          updatedNumberScheduled: 1,
          numberAvailable: 2,
        },
      },
      "Unhealthy",
    ],
    ["v1", "Service", { spec: { type: "ClusterIP" } }, "Healthy"],
    ["v1", "Service", { spec: { type: "LoadBalancer" } }, "Unhealthy"],
    ["v1", "Service", { spec: { type: "LoadBalancer" }, status: address }, "Healthy"],
    ["networking.k8s.io/v1", "Ingress", { status: address }, "Healthy"],
    [
      "networking.k8s.io/v1",
      "Ingress",
      { status: { loadBalancer: { ingress: [{}] } } },
      "Unhealthy",
    ],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Bound" } }, "Healthy"],
    ["v1", "PersistentVolumeClaim", { status: { phase: "Pending" } }, "Unhealthy"],
    ["v1", "Pod", { status: { phase: "Succeeded" } }, "Healthy"],
    ["v1", "Pod", { status: { phase: "Running", conditions: ready } }, "Healthy"],
    ["v1", "Pod", { status: { phase: "Running" } }, "Unhealthy"],
    [
      "policy/v1",
      "PodDisruptionBudget",
      { status: { currentHealthy: 2, desiredHealthy: 2 } },
      "Healthy",
    ],
    [
      "policy/v1",
      "PodDisruptionBudget",
      { status: { currentHealthy: 1, desiredHealthy: 2 } },
      "Unhealthy",
    ],
    ["batch/v1", "Job", { status: { failed: 1 } }, "Healthy"],
    ["batch/v1", "CronJob", {}, "Healthy"],
    ["autoscaling/v2", "HorizontalPodAutoscaler", {}, "Healthy"],
    ["v1", "ConfigMap", {}, "Healthy"],
    ["example.com/v1", "Deployment", {}, "Healthy"],
    [...flinkKind, { spec: { job: {} }, status: { jobStatus: { state: "RUNNING" } } }, "Healthy"],
    [...flinkKind, { spec: { job: {} }, status: { jobStatus: { state: "FAILED" } } }, "Unhealthy"],
    [...flinkKind, { spec: { job: {} } }, "Unhealthy"],
    [
      ...flinkKind,
      { spec: { job: { state: "suspended" } }, status: { jobStatus: { state: "SUSPENDED" } } },
      "Healthy",
    ],
    [
      ...flinkKind,
      {
        spec: { job: {} },
        status: { jobStatus: { state: "RUNNING" }, jobManagerDeploymentStatus: "ERROR" },
      },
      "Unhealthy",
    ],
    [...flinkKind, { spec: {}, status: { jobManagerDeploymentStatus: "READY" } }, "Healthy"],
  ])("of %s %s %j is %s", (version, kind, parts, expected) => {
    const copy = object(version, kind, parts);
    expect(interpreterOf(copy).health(copy)).toBe(expected);
  });
});

describe("reflectStatus", () => {
  const metadata = {
    generation: 5,
    annotations: { "resourcetemplate.karmada.io/generation": "3" },
  };

  it.each([
    [
      "apps/v1",
      "Deployment",
      { replicas: 2, readyReplicas: 0, observedGeneration: 5, conditions: [] },
      { generation: 5, resourceTemplateGeneration: 3, replicas: 2, observedGeneration: 5 },
    ],
    ["apps/v1", "ReplicaSet", {}, { generation: 5, resourceTemplateGeneration: 3, replicas: 0 }],
    [
      "apps/v1",
      "DaemonSet",
      { numberAvailable: 1 },
      {
        generation: 5,
        resourceTemplateGeneration: 3,
        currentNumberScheduled: 0,
        desiredNumberScheduled: 0,
        numberMisscheduled: 0,
        numberReady: 0,
        numberAvailable: 1,
      },
    ],
    [
      "apps/v1",
      "StatefulSet",
      { observedGeneration: 5 },
      {
        generation: 5,
        resourceTemplateGeneration: 3,
        replicas: 0,
        availableReplicas: 0,
        observedGeneration: 5,
      },
    ],
    ["batch/v1", "Job", { active: 1, startTime: "t", ready: 1 }, { active: 1, startTime: "t" }],
    [
      "policy/v1",
      "PodDisruptionBudget",
      { currentHealthy: 1, observedGeneration: 1 },
      { currentHealthy: 1 },
    ],
    [
      "autoscaling/v2",
      "HorizontalPodAutoscaler",
      { currentReplicas: 1, conditions: [] },
      { currentReplicas: 1 },
    ],
    ["v1", "Service", { loadBalancer: {} }, undefined],
    [
      "networking.k8s.io/v1",
      "Ingress",
      { loadBalancer: {}, more: 1 },
      { loadBalancer: {}, more: 1 },
    ],
    [
      "flink.apache.org/v1beta1",
      "FlinkDeployment",
      { jobStatus: { jobId: "a", x: 1 } },
      { jobStatus: { jobId: "a", x: 1 } },
    ],
    ["example.com/v1", "Thing", { anything: [1] }, { anything: [1] }],
    ["v1", "ConfigMap", undefined, undefined],
  ])("of %s %s %j", (version, kind, status, expected) => {
    const copy = object(version, kind, { metadata, ...(status === undefined ? {} : { status }) });
    expect(interpreterOf(copy).reflectStatus(copy)).toEqual(expected);
  });

  it("of a load balancer is its addresses", () => {
    const status = { loadBalancer: { ingress: [{ ip: "1.1.1.1" }] }, conditions: [] };
    const copy = object("v1", "Service", { spec: { type: "LoadBalancer" }, status });
    expect(interpreterOf(copy).reflectStatus(copy)).toEqual({ loadBalancer: status.loadBalancer });
  });

  it("of the Service of a federated pod without a load balancer is what the member gave it, of another Service nothing", () => {
    const clusterIPs = ["10.96.0.7", "fd00::7"];
    const service = (selector: object) =>
      object("v1", "Service", { spec: { type: "ClusterIP", selector, clusterIPs } });
    const own = service({ "federated-statefulset": "store-c1-0" });
    expect(interpreterOf(own).reflectStatus(own)).toEqual({ clusterIPs });
    const other = service({ app: "etcd" });
    expect(interpreterOf(other).reflectStatus(other)).toBeUndefined();
  });
});

it("of a Service with node ports is those that the member chose, and that only some nodes answer", () => {
  const ports = [
    { port: 80, nodePort: 30_080 },
    { port: 53, nodePort: 30_053, protocol: "UDP" },
    { port: 8080 },
  ];
  const copy = (spec: object) => object("v1", "Service", { spec: { ports, ...spec } });
  const reflected = (spec: object) => interpreterOf(copy(spec)).reflectStatus(copy(spec));
  expect(reflected({ type: "NodePort" })).toEqual({ nodePorts: [{ port: 80, nodePort: 30_080 }] });
  expect(reflected({ type: "NodePort", externalTrafficPolicy: "Local" })).toEqual({
    nodePorts: [{ port: 80, nodePort: 30_080 }],
    nodes: {},
  });
  expect(reflected({ type: "NodePort", ports: [] })).toBeUndefined();
  expect(reflected({ type: "ClusterIP" })).toBeUndefined();
});

describe("aggregateStatus", () => {
  const seen = { generation: 4, observedGeneration: 4, resourceTemplateGeneration: 2 };
  const aggregate = (template: Fields, ...items: readonly StatusItem[]) =>
    interpreterOf(template).aggregateStatus(template, items);

  it("sums counters, keeps the rest and advances the generation when all copies have", () => {
    const template = deployment({
      status: { replicas: 9, unavailableReplicas: 4, observedGeneration: 1, collisionCount: 1 },
    });
    const one = item("a", { ...seen, replicas: 2, readyReplicas: 1 });
    expect(aggregate(template, one, item("b", { ...seen, replicas: 3 }))).toEqual({
      collisionCount: 1,
      observedGeneration: 2,
      replicas: 5,
      readyReplicas: 1,
    });
    const behind = item("b", { ...seen, resourceTemplateGeneration: 1, replicas: 3 });
    expect(aggregate(template, one, behind)).toMatchObject({ observedGeneration: 1 });
    const unseen = item("b", { ...seen, observedGeneration: 3, replicas: 3 });
    expect(aggregate(template, one, unseen)).toMatchObject({ observedGeneration: 1 });
    expect(aggregate(template, one, item("b"))).toMatchObject({ observedGeneration: 1 });
    expect(aggregate(template)).toEqual({ collisionCount: 1, observedGeneration: 2 });
  });

  it("advances the generation of StatefulSets as well", () => {
    const template = object("apps/v1", "StatefulSet");
    expect(aggregate(template, item("a", { ...seen, replicas: 1, availableReplicas: 1 }))).toEqual({
      observedGeneration: 2,
      replicas: 1,
      availableReplicas: 1,
    });
  });

  it("shows a StatefulSet as being updated until no copy is", () => {
    const template = object("apps/v1", "StatefulSet", { status: { currentRevision: "w-0" } });
    const revisions = (current: string, update: string) => ({
      ...seen,
      currentRevision: current,
      updateRevision: update,
    });
    const updated = item("a", revisions("w-2", "w-2"));
    const updating = item("b", revisions("w-1", "w-2"));
    expect(aggregate(template, updating, updated)).toMatchObject({
      currentRevision: "w-1",
      updateRevision: "w-2",
    });
    expect(aggregate(template, updated, item("c"))).toMatchObject({
      currentRevision: "w-2",
      updateRevision: "w-2",
    });
    expect(aggregate(template, item("c", seen))).not.toHaveProperty("currentRevision");
    const copy = object("apps/v1", "StatefulSet", { status: { updateRevision: "w-2" } });
    expect(interpreterOf(copy).reflectStatus(copy)).toMatchObject({ updateRevision: "w-2" });
  });

  it("collects addresses, each once, sorted, for load balancers only", () => {
    const addresses = (...ips: string[]) => ({
      loadBalancer: { ingress: ips.map((ip) => ({ ip })) },
    });
    const items = [item("b", addresses("2.2.2.2", "1.1.1.1")), item("a", addresses("2.2.2.2"))];
    const expected = addresses("1.1.1.1", "2.2.2.2");
    const service = (type: string) => object("v1", "Service", { spec: { type } });
    expect(aggregate(service("LoadBalancer"), ...items)).toEqual(expected);
    expect(aggregate(service("ClusterIP"), ...items)).toBeUndefined();
    expect(aggregate(object("networking.k8s.io/v1", "Ingress"), ...items)).toEqual(expected);
    expect(aggregate(service("LoadBalancer"))).toEqual({ loadBalancer: {} });
  });

  describe("of a Job", () => {
    const job = (status: Parts = {}) => object("batch/v1", "Job", { status });
    const done = (type: string, time: string) => ({
      conditions: [{ type, status: "True", lastTransitionTime: time }],
    });

    it("is complete when every copy is", () => {
      const a = item("a", {
        ...done("Complete", "2026-01-02T00:00:00Z"),
        succeeded: 1,
        startTime: "2026-01-01T00:00:00Z",
        completionTime: "2026-01-02T00:00:00Z",
      });
      const b = item("b", {
        ...done("Complete", "2026-01-03T00:00:00Z"),
        succeeded: 2,
        startTime: "2026-01-01T01:00:00Z",
        completionTime: "2026-01-03T00:00:00Z",
      });
      const condition = {
        status: "True",
        lastProbeTime: "2026-01-03T00:00:00Z",
        lastTransitionTime: "2026-01-03T00:00:00Z",
        reason: "Completed",
        message: "Job completed",
      };
      expect(aggregate(job(), b, a)).toEqual({
        succeeded: 3,
        startTime: "2026-01-01T00:00:00Z",
        completionTime: "2026-01-03T00:00:00Z",
        conditions: [
          { type: "SuccessCriteriaMet", ...condition },
          { type: "Complete", ...condition },
        ],
      });
      expect(aggregate(job(), a, item("b", { active: 1 }))).not.toHaveProperty("conditions");
      expect(aggregate(job(), a, item("b"))).not.toHaveProperty("completionTime");
      expect(aggregate(job())).toEqual({});
    });

    it("fails with a copy, once no other copy is active", () => {
      const failed = item("b", { ...done("Failed", "2026-01-02T00:00:00Z"), failed: 1 });
      const types = (status: Fields | undefined) =>
        ((status?.["conditions"] ?? []) as { type: string }[]).map(({ type }) => type);
      expect(types(aggregate(job(), failed, item("a", { active: 1 })))).toEqual(["FailureTarget"]);
      const over = aggregate(job(), failed, item("a", {}));
      expect(types(over)).toEqual(["FailureTarget", "Failed"]);
      expect(JSON.stringify(over)).toContain("Job executed failed in member clusters: b");
    });

    it("never changes after its end", () => {
      const finished = { ...done("Complete", "2026-01-02T00:00:00Z"), succeeded: 1 };
      expect(aggregate(job(finished), item("a", { active: 5 }))).toBe(finished);
    });
  });

  it.each([
    [
      "batch/v1",
      "CronJob",
      [
        item("b", { active: [2], lastScheduleTime: "2026-01-01T00:00:00Z" }),
        item("a", { active: [1], lastScheduleTime: "2026-01-02T00:00:00Z" }),
      ],
      { active: [1, 2], lastScheduleTime: "2026-01-02T00:00:00Z" },
    ],
    [
      "v1",
      "Pod",
      [
        item("a", { phase: "Running", containerStatuses: [{ ready: true, state: {}, name: "c" }] }),
        item("b"),
      ],
      { phase: "Pending", containerStatuses: [{ ready: true, state: {} }] },
    ],
    [
      "v1",
      "Pod",
      [item("a", { phase: "Running" }), item("b", { phase: "Failed" })],
      { phase: "Failed" },
    ],
    [
      "v1",
      "Pod",
      [item("a", { phase: "Succeeded" }), item("b", { phase: "Unknown" })],
      { phase: "Succeeded" },
    ],
    [
      "v1",
      "PersistentVolume",
      [item("a", { phase: "Bound" }), item("b", { phase: "Available" })],
      { phase: "Available" },
    ],
    ["v1", "PersistentVolumeClaim", [item("a", { phase: "Bound" })], { phase: "Bound" }],
    [
      "v1",
      "PersistentVolumeClaim",
      [item("a", { phase: "Pending" }), item("b", { phase: "Lost" })],
      { phase: "Lost" },
    ],
    [
      "policy/v1",
      "PodDisruptionBudget",
      [
        item("a", { currentHealthy: 1, disruptedPods: { p: "t" } }),
        item("b", { currentHealthy: 2 }),
      ],
      {
        currentHealthy: 3,
        desiredHealthy: 0,
        disruptionsAllowed: 0,
        expectedPods: 0,
        disruptedPods: { "a/p": "t" },
      },
    ],
    [
      "autoscaling/v2",
      "HorizontalPodAutoscaler",
      [item("a", { currentReplicas: 1, desiredReplicas: 2 }), item("b", { currentReplicas: 3 })],
      { currentReplicas: 4, desiredReplicas: 2 },
    ],
    [
      "flink.apache.org/v1beta1",
      "FlinkDeployment",
      [
        item("a", { jobStatus: { state: "FAILED" } }),
        item("b", { jobStatus: { state: "RUNNING", jobId: "1" }, observedGeneration: 9 }),
      ],
      { jobStatus: { state: "RUNNING", jobId: "1" } },
    ],
    ["v1", "ConfigMap", [item("a", { x: 1 })], undefined],
  ])("of %s %s %j is %j", (version, kind, items, expected) => {
    expect(aggregate(object(version, kind), ...items)).toEqual(expected);
  });
});

describe("retain", () => {
  const local = { type: "LoadBalancer", externalTrafficPolicy: "Local" };

  it.each([
    [
      "the replicas of an autoscaled Deployment",
      "apps/v1",
      "Deployment",
      {
        metadata: { labels: { "resourcetemplate.karmada.io/retain-replicas": "true" } },
        spec: { replicas: 1 },
      },
      { spec: { replicas: 5 } },
      { spec: { replicas: 5 } },
    ],
    [
      "nothing of another Deployment",
      "apps/v1",
      "Deployment",
      { spec: { replicas: 1 } },
      { spec: { replicas: 5 } },
      { spec: { replicas: 1 } },
    ],
    [
      "addresses of a Service",
      "v1",
      "Service",
      { spec: { ports: [] } },
      { spec: { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] } },
      { spec: { ports: [], clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] } },
    ],
    [
      "the health check port of a Service",
      "v1",
      "Service",
      { spec: { ...local, healthCheckNodePort: 31001 } },
      { spec: { ...local, healthCheckNodePort: 31000 } },
      { spec: { ...local, healthCheckNodePort: 31000 } },
    ],
    [
      "no health check port where none is used",
      "v1",
      "Service",
      { spec: { type: "ClusterIP" } },
      { spec: { ...local, healthCheckNodePort: 31000 } },
      { spec: { type: "ClusterIP" } },
    ],
    [
      "no address of a headless Service",
      "v1",
      "Service",
      { spec: { clusterIP: "None" } },
      { spec: { clusterIP: "10.0.0.1" } },
      { spec: { clusterIP: "None" } },
    ],
    [
      "the volume and class of a claim",
      "v1",
      "PersistentVolumeClaim",
      { spec: { a: 1 } },
      { spec: { volumeName: "v", storageClassName: "s" } },
      { spec: { a: 1, volumeName: "v", storageClassName: "s" } },
    ],
    [
      "the claim of a volume",
      "v1",
      "PersistentVolume",
      { spec: {} },
      { spec: { claimRef: { name: "c" } } },
      { spec: { claimRef: { name: "c" } } },
    ],
    [
      "the selector of a Job",
      "batch/v1",
      "Job",
      { spec: { parallelism: 2 } },
      {
        spec: {
          parallelism: 1,
          selector: { s: 1 },
          template: { metadata: { labels: { l: "1" } } },
        },
      },
      {
        spec: {
          parallelism: 2,
          selector: { s: 1 },
          template: { metadata: { labels: { l: "1" } } },
        },
      },
    ],
    [
      "secrets of a ServiceAccount",
      "v1",
      "ServiceAccount",
      { secrets: [{ name: "a" }] },
      { secrets: [{ name: "b" }, { name: "a" }], imagePullSecrets: [{ name: "r" }] },
      { secrets: [{ name: "a" }, { name: "b" }], imagePullSecrets: [{ name: "r" }] },
    ],
    [
      "the token of a service account",
      "v1",
      "Secret",
      { type: "kubernetes.io/service-account-token" },
      { data: { token: "x" } },
      { data: { token: "x" } },
    ],
    [
      "no data of another Secret",
      "v1",
      "Secret",
      { type: "Opaque", data: { a: "1" } },
      { data: { a: "2" } },
      { data: { a: "1" } },
    ],
    [
      "what a member fills in of a Pod",
      "v1",
      "Pod",
      { spec: { containers: [{ name: "c", image: "new" }], tolerations: [{ key: "b" }] } },
      {
        spec: {
          nodeName: "n",
          priority: 0,
          volumes: [{ name: "token" }],
          containers: [{ name: "c", image: "old", volumeMounts: [{ name: "token" }] }],
          tolerations: [{ key: "a" }],
        },
      },
      {
        spec: {
          nodeName: "n",
          priority: 0,
          volumes: [{ name: "token" }],
          containers: [{ name: "c", image: "new", volumeMounts: [{ name: "token" }] }],
          tolerations: [{ key: "a" }, { key: "b" }],
        },
      },
    ],
  ])("keeps %s", (_what, version, kind, desired, observed, expected) => {
    const wanted = object(version, kind, desired);
    const actual = object(version, kind, observed);
    expect(interpreterOf(wanted).retain(wanted, actual)).toEqual({ ...wanted, ...expected });
  });
});

describe("dependencies", () => {
  const podSpec = {
    serviceAccountName: "robot",
    imagePullSecrets: [{ name: "pull" }],
    containers: [
      { envFrom: [{ configMapRef: { name: "env" } }, { secretRef: { name: "env-secret" } }] },
      {
        env: [
          { valueFrom: { configMapKeyRef: { name: "env" } } },
          { valueFrom: { secretKeyRef: { name: "key" } } },
          { value: "plain" },
        ],
      },
    ],
    volumes: [
      { configMap: { name: "files" } },
      { secret: { secretName: "tls" } },
      { persistentVolumeClaim: { claimName: "data" } },
      { projected: { sources: [{ configMap: { name: "p" } }, { secret: { name: "ps" } }] } },
      { csi: { nodePublishSecretRef: { name: "csi" } } },
    ],
  };
  const expected = [
    "ConfigMap env",
    "ConfigMap files",
    "ConfigMap p",
    "PersistentVolumeClaim data",
    ..."csi env-secret key ps pull tls".split(" ").map((name) => `Secret ${name}`),
    "ServiceAccount robot",
  ];
  const read = (workload: Fields) =>
    interpreterOf(workload)
      .dependencies(workload)
      .map(({ apiVersion, kind, namespace, name }) => {
        expect([apiVersion, namespace]).toEqual(["v1", "default"]);
        return `${kind} ${name}`;
      });

  it.each([
    ["apps/v1", "Deployment", { template: { spec: podSpec } }],
    ["apps/v1", "ReplicaSet", { template: { spec: podSpec } }],
    ["apps/v1", "DaemonSet", { template: { spec: podSpec } }],
    ["batch/v1", "Job", { template: { spec: podSpec } }],
    ["batch/v1", "CronJob", { jobTemplate: { spec: { template: { spec: podSpec } } } }],
    ["v1", "Pod", podSpec],
  ])("of a %s %s are all that its pods name", (version, kind, spec) => {
    expect(read(object(version, kind, { spec }))).toEqual(expected);
  });

  it("of a StatefulSet leave out its own claims", () => {
    const spec = {
      template: { spec: podSpec },
      volumeClaimTemplates: [{ metadata: { name: "data" } }],
    };
    expect(read(object("apps/v1", "StatefulSet", { spec }))).toEqual(
      expected.filter((name) => name !== "PersistentVolumeClaim data"),
    );
  });

  it("of an Ingress are its certificates; the default account is none", () => {
    const tls = [{ secretName: "b" }, { secretName: "a" }, { secretName: "b" }, {}];
    expect(read(object("networking.k8s.io/v1", "Ingress", { spec: { tls } }))).toEqual([
      "Secret a",
      "Secret b",
    ]);
    expect(read(object("v1", "Pod", { spec: { serviceAccountName: "default" } }))).toEqual([]);
    expect(read(object("v1", "ConfigMap"))).toEqual([]);
  });
});
