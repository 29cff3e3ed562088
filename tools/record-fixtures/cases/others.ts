import { casesOf, type JsonObject, selector } from "../case.ts";

const backend: JsonObject = { service: { name: "s", port: { number: 80 } } };
const ingress = (fields: JsonObject): JsonObject => ({ spec: fields });
const path = (fields: JsonObject): JsonObject =>
  ingress({
    rules: [
      {
        host: "a.example.com",
        http: { paths: [{ path: "/", pathType: "Prefix", backend, ...fields }] },
      },
    ],
  });

export const ingresses = casesOf(
  "networking.k8s.io/v1",
  "Ingress",
  "ingresses",
  "namespaced",
  {
    minimal: ingress({ defaultBackend: backend }),
    rich: ingress({
      ingressClassName: "nginx",
      tls: [{ hosts: ["a.example.com"], secretName: "s" }],
      rules: [
        {
          host: "a.example.com",
          http: {
            paths: [
              {
                path: "/x",
                pathType: "Exact",
                backend: { service: { name: "s", port: { name: "http" } } },
              },
            ],
          },
        },
        {
          host: "*.example.com",
          http: {
            paths: [
              {
                pathType: "ImplementationSpecific",
                backend: { resource: { apiGroup: "x.example.com", kind: "K", name: "n" } },
              },
            ],
          },
        },
      ],
    }),
    "many hosts": ingress({
      rules: ["a", "b", "c", "d", "e"].map((host) => ({ host: `${host}.example.com` })),
    }),
    "refused: empty": ingress({}),
    "refused: no spec": {},
    "refused: path": path({ path: "relative" }),
    "refused: path dots": path({ path: "/a/../b" }),
    "refused: path type": path({ pathType: "Else" }),
    "refused: no path type": path({ pathType: null }),
    "refused: no backend": path({ backend: {} }),
    "refused: service": path({ backend: { service: { name: "", port: {} } } }),
    "refused: service port": path({
      backend: { service: { name: "Bad_Name", port: { number: 70000, name: "x" } } },
    }),
    "refused: both backends": path({ backend: { ...backend, resource: { kind: "K", name: "n" } } }),
    "refused: no paths": ingress({ rules: [{ http: { paths: [] } }] }),
    "refused: host": ingress({
      rules: [{ host: "Bad_Host" }, { host: "*.*.example.com" }, { host: "1.2.3.4" }],
    }),
    "refused: long hosts": ingress({
      rules: [
        { host: "a".repeat(254) },
        { host: `*.${"a".repeat(252)}` },
        { host: "*".repeat(254) },
      ],
    }),
    "refused: tls": ingress({
      defaultBackend: backend,
      tls: [{ hosts: ["Bad_Host"], secretName: "Bad_Name" }],
    }),
    "refused: class": ingress({ defaultBackend: backend, ingressClassName: "Bad_Class" }),
  },
  {
    addressed: {
      object: ingress({
        ingressClassName: "nginx",
        tls: [{ hosts: ["a.example.com"] }],
        rules: [{ host: "a.example.com" }],
      }),
      status: { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } },
    },
    "long address": {
      object: ingress({ defaultBackend: backend }),
      status: { loadBalancer: { ingress: [{ hostname: "very-long-name.example.com" }] } },
    },
  },
);

export const ingressClasses = casesOf(
  "networking.k8s.io/v1",
  "IngressClass",
  "ingressclasses",
  "cluster",
  {
    minimal: { spec: { controller: "example.com/c" } },
    rich: {
      spec: {
        controller: "example.com/c",
        parameters: { apiGroup: "x.example.com", kind: "K", name: "n" },
      },
    },
    "namespaced parameters": {
      spec: {
        controller: "example.com/c",
        parameters: { kind: "K", name: "n", scope: "Namespace", namespace: "ns" },
      },
    },
    default: {
      metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
      spec: { controller: "example.com/c" },
    },
    "refused: empty": { spec: {} },
    "refused: controller": { spec: { controller: "bad" } },
    "refused: parameters": {
      spec: { controller: "example.com/c", parameters: { kind: "", name: "", scope: "Else" } },
    },
    "refused: scopes": {
      spec: {
        controller: "example.com/c",
        parameters: { kind: "K", name: "n", scope: "Cluster", namespace: "ns" },
      },
    },
  },
  {
    "refused: controller may not change": {
      object: { spec: { controller: "example.com/c" } },
      change: { spec: { controller: "example.com/d" } },
    },
  },
);

export const networkPolicies = casesOf(
  "networking.k8s.io/v1",
  "NetworkPolicy",
  "networkpolicies",
  "namespaced",
  {
    minimal: { spec: { podSelector: {} } },
    rich: {
      spec: {
        podSelector: {
          matchLabels: { a: "b", c: "d" },
          matchExpressions: [
            { key: "x", operator: "In", values: ["2", "1"] },
            { key: "y", operator: "Exists" },
          ],
        },
        ingress: [
          {
            from: [
              { podSelector: {} },
              { namespaceSelector: selector },
              { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } },
            ],
            ports: [{ port: 80 }, { port: "web", protocol: "UDP" }, { port: 100, endPort: 200 }],
          },
        ],
        egress: [{ ports: [{ port: 53 }] }],
      },
    },
    "no spec": {},
    "refused: types": { spec: { podSelector: {}, policyTypes: ["Else"] } },
    "refused: too many types": {
      spec: { podSelector: {}, policyTypes: ["Ingress", "Egress", "Ingress"] },
    },
    "refused: peers": {
      spec: {
        podSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
        ingress: [
          {
            from: [
              {},
              { podSelector: {}, ipBlock: { cidr: "10.0.0.0/8" } },
              { ipBlock: { cidr: "nope" } },
              { ipBlock: { cidr: "10.0.0.0/8", except: ["11.0.0.0/16", "nope"] } },
            ],
            ports: [
              { port: 0 },
              { port: "Bad_Name" },
              { protocol: "HTTP", port: 1 },
              { endPort: 5 },
              { port: 10, endPort: 5 },
              { port: "web", endPort: 5 },
            ],
          },
        ],
      },
    },
  },
  { plain: { object: { spec: { podSelector: selector } } } },
);

const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const roleCases: Readonly<Record<string, JsonObject>> = {
  minimal: {},
  rich: {
    rules: [
      {
        apiGroups: ["apps"],
        resources: ["deployments"],
        resourceNames: ["a"],
        verbs: ["get", "list"],
      },
    ],
  },
  "refused: rules": {
    rules: [
      {},
      { verbs: ["get"] },
      { verbs: ["get"], resources: ["pods"] },
      { verbs: ["get"], apiGroups: [""], resources: ["pods"], nonResourceURLs: ["/x"] },
    ],
  },
};

export const roles = casesOf(
  "rbac.authorization.k8s.io/v1",
  "Role",
  "roles",
  "namespaced",
  { ...roleCases, "refused: urls": { rules: [{ verbs: ["get"], nonResourceURLs: ["/x"] }] } },
  { plain: { object: { rules } } },
);

export const clusterRoles = casesOf(
  "rbac.authorization.k8s.io/v1",
  "ClusterRole",
  "clusterroles",
  "cluster",
  {
    ...roleCases,
    urls: { rules: [{ verbs: ["get"], nonResourceURLs: ["/healthz", "/x/*"] }] },
    aggregated: { aggregationRule: { clusterRoleSelectors: [selector] } },
    "refused: aggregation": { aggregationRule: { clusterRoleSelectors: [] } },
    "refused: aggregation selector": {
      aggregationRule: {
        clusterRoleSelectors: [{ matchExpressions: [{ key: "a", operator: "In" }] }],
      },
    },
  },
  { plain: { object: { rules } } },
);

const roleRef: JsonObject = {
  apiGroup: "rbac.authorization.k8s.io",
  kind: "ClusterRole",
  name: "view",
};
const bindingCases: Readonly<Record<string, JsonObject>> = {
  minimal: { roleRef: { kind: "ClusterRole", name: "view" } },
  rich: {
    roleRef,
    subjects: [
      { kind: "User", name: "u" },
      { kind: "Group", name: "g" },
      { kind: "ServiceAccount", name: "s", namespace: "n" },
      { kind: "User", name: "v" },
    ],
  },
  "refused: empty": {},
  "refused: role ref": { roleRef: { apiGroup: "x", kind: "Else", name: "" } },
  "refused: subjects": {
    roleRef,
    subjects: [
      { kind: "User", name: "" },
      { kind: "ServiceAccount", name: "Bad_Name" },
      { kind: "ServiceAccount", name: "s", namespace: "n", apiGroup: "x" },
      { kind: "Group", name: "g", apiGroup: "x" },
      { kind: "Else", name: "e" },
      { kind: "User", name: "u", apiGroup: "x" },
    ],
  },
};

export const roleBindings = casesOf(
  "rbac.authorization.k8s.io/v1",
  "RoleBinding",
  "rolebindings",
  "namespaced",
  bindingCases,
  {
    plain: {
      object: {
        roleRef,
        subjects: [
          { kind: "User", name: "u" },
          { kind: "ServiceAccount", name: "s", namespace: "n" },
        ],
      },
    },
    "refused: role ref may not change": {
      object: { roleRef },
      change: { roleRef: { name: "edit" } },
    },
  },
);

export const clusterRoleBindings = casesOf(
  "rbac.authorization.k8s.io/v1",
  "ClusterRoleBinding",
  "clusterrolebindings",
  "cluster",
  bindingCases,
  {
    plain: { object: { roleRef, subjects: [{ kind: "User", name: "u" }] } },
    "refused: role ref may not change": {
      object: { roleRef },
      change: { roleRef: { name: "edit" } },
    },
  },
);

export const budgets = casesOf(
  "policy/v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
  "namespaced",
  {
    minimal: { spec: { selector } },
    rich: { spec: { selector, minAvailable: "50%", unhealthyPodEvictionPolicy: "AlwaysAllow" } },
    unavailable: { spec: { selector, maxUnavailable: 1 } },
    "refused: both": { spec: { selector, minAvailable: 1, maxUnavailable: 1 } },
    "refused: values": { spec: { selector, minAvailable: "x%" } },
    "refused: more than all": { spec: { selector, maxUnavailable: "101%" } },
    "refused: negative": { spec: { selector, minAvailable: -1 } },
    "refused: selector": {
      spec: { selector: { matchExpressions: [{ key: "a", operator: "In" }] } },
    },
    "refused: policy": { spec: { selector, unhealthyPodEvictionPolicy: "Else" } },
  },
  {
    plain: {
      object: { spec: { selector, maxUnavailable: "30%" } },
      status: { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3 },
    },
  },
);

const target: JsonObject = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const scaler = (fields: JsonObject = {}): JsonObject => ({
  spec: { scaleTargetRef: target, maxReplicas: 3, ...fields },
});

export const scalersV1 = casesOf(
  "autoscaling/v1",
  "HorizontalPodAutoscaler",
  "horizontalpodautoscalers",
  "namespaced",
  {
    minimal: scaler(),
    rich: scaler({ minReplicas: 2, targetCPUUtilizationPercentage: 70 }),
    "refused: empty": { spec: {} },
    "refused: bounds": scaler({ minReplicas: 5, maxReplicas: 2 }),
    "refused: zero": scaler({ minReplicas: 0, maxReplicas: 0, targetCPUUtilizationPercentage: 0 }),
  },
  {
    plain: {
      object: scaler({ targetCPUUtilizationPercentage: 70 }),
      status: { currentReplicas: 2, desiredReplicas: 2, currentCPUUtilizationPercentage: 33 },
    },
  },
);

const cpu: JsonObject = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
};
const memory: JsonObject = {
  type: "Resource",
  resource: { name: "memory", target: { type: "AverageValue", averageValue: "1024Mi" } },
};
const podsMetric: JsonObject = {
  type: "Pods",
  pods: { metric: { name: "rps" }, target: { type: "AverageValue", averageValue: "100" } },
};
const objectMetric: JsonObject = {
  type: "Object",
  object: {
    metric: { name: "rps" },
    describedObject: { kind: "Service", name: "s" },
    target: { type: "Value", value: "1k" },
  },
};
const external: JsonObject = {
  type: "External",
  external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "30" } },
};
const containerMetric: JsonObject = {
  type: "ContainerResource",
  containerResource: {
    name: "cpu",
    container: "c",
    target: { type: "Utilization", averageUtilization: 50 },
  },
};

export const scalersV2 = casesOf(
  "autoscaling/v2",
  "HorizontalPodAutoscaler",
  "horizontalpodautoscalers",
  "namespaced",
  {
    minimal: scaler(),
    rich: scaler({
      minReplicas: 2,
      metrics: [cpu, memory, podsMetric, objectMetric, external, containerMetric],
      behavior: {
        scaleDown: {
          stabilizationWindowSeconds: 60,
          policies: [{ type: "Pods", value: 1, periodSeconds: 60 }],
        },
      },
    }),
    "up only": scaler({ behavior: { scaleUp: { selectPolicy: "Disabled" } } }),
    "one external": scaler({ metrics: [external] }),
    "one object": scaler({ metrics: [objectMetric] }),
    "one pods": scaler({ metrics: [podsMetric] }),
    "one container": scaler({ metrics: [containerMetric] }),
    "refused: empty": { spec: {} },
    "refused: bounds": scaler({ minReplicas: 5, maxReplicas: 2 }),
    "refused: zero": scaler({ minReplicas: -1, maxReplicas: -1 }),
    "refused: target": scaler({ scaleTargetRef: { kind: "Bad/Kind", name: "bad/name" } }),
    "refused: metrics": scaler({
      metrics: [
        { type: "" },
        { type: "Else" },
        { type: "Resource" },
        { type: "Resource", resource: { name: "", target: { type: "Utilization" } } },
        {
          type: "Resource",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 0 } },
        },
        {
          type: "Resource",
          resource: {
            name: "cpu",
            target: { type: "AverageValue", averageValue: "0", averageUtilization: 5 },
          },
        },
        { type: "Pods", pods: { metric: { name: "" }, target: { type: "AverageValue" } } },
        { type: "External", external: { metric: { name: "q" }, target: { type: "Value" } } },
        {
          type: "Object",
          object: {
            metric: { name: "q" },
            describedObject: { kind: "", name: "" },
            target: { type: "Value" },
          },
        },
        {
          type: "ContainerResource",
          containerResource: {
            name: "cpu",
            container: "",
            target: { type: "Utilization", averageUtilization: 5 },
          },
        },
        {
          type: "Pods",
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 5 } },
          pods: { metric: { name: "x" }, target: { type: "AverageValue", averageValue: "1" } },
        },
      ],
    }),
    "refused: behavior": scaler({
      behavior: {
        scaleUp: {
          stabilizationWindowSeconds: -1,
          policies: [{ type: "Else", value: 0, periodSeconds: 0 }],
          selectPolicy: "Else",
        },
        scaleDown: {
          stabilizationWindowSeconds: 4000,
          policies: [{ type: "Pods", value: 1, periodSeconds: 2000 }],
        },
      },
    }),
    "refused: no policies": scaler({ behavior: { scaleUp: { policies: [] } } }),
  },
  {
    plain: {
      object: scaler({ metrics: [cpu, memory] }),
      status: {
        currentReplicas: 2,
        desiredReplicas: 2,
        conditions: [],
        currentMetrics: [
          {
            type: "Resource",
            resource: { name: "cpu", current: { averageUtilization: 33, averageValue: "330m" } },
          },
          { type: "Resource", resource: { name: "memory", current: { averageValue: "512Mi" } } },
        ],
      },
    },
  },
);

export const leases = casesOf(
  "coordination.k8s.io/v1",
  "Lease",
  "leases",
  "namespaced",
  {
    minimal: {},
    rich: {
      spec: {
        holderIdentity: "me",
        leaseDurationSeconds: 15,
        leaseTransitions: 2,
        acquireTime: "2026-01-01T00:00:00.000000Z",
        renewTime: "2026-01-01T00:00:00.000000Z",
      },
    },
    strategic: {
      spec: { strategy: "OldestEmulationVersion", preferredHolder: "other", holderIdentity: "me" },
    },
    "refused: values": { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
    "empty holder": { spec: { holderIdentity: "" } },
    "preferred holder is dropped": { spec: { preferredHolder: "x" } },
    "strategy is dropped": { spec: { strategy: "Else" } },
  },
  { plain: { object: { spec: { holderIdentity: "me" } } } },
);

const slice = (fields: JsonObject): JsonObject => ({
  addressType: "IPv4",
  endpoints: [],
  ...fields,
});

export const endpointSlices = casesOf(
  "discovery.k8s.io/v1",
  "EndpointSlice",
  "endpointslices",
  "namespaced",
  {
    minimal: slice({}),
    rich: slice({
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          conditions: { ready: true },
          hostname: "h",
          nodeName: "n",
          zone: "z",
          targetRef: { kind: "Pod", name: "p" },
        },
        { addresses: ["10.0.0.2"] },
      ],
      ports: [{ port: 80 }, { name: "dns", protocol: "UDP", port: 53 }],
    }),
    many: slice({
      endpoints: ["1", "2", "3", "4", "5"].map((n) => ({ addresses: [`10.0.0.${n}`] })),
      ports: [
        { name: "a", port: 1 },
        { name: "b", port: 2 },
        { name: "c", port: 3 },
        { name: "d", port: 4 },
      ],
    }),
    names: slice({
      addressType: "FQDN",
      endpoints: [{ addresses: ["a.example.com"] }],
      ports: [{ name: "any" }],
    }),
    "refused: type": { addressType: "Else", endpoints: [] },
    "refused: no type": { endpoints: [] },
    "refused: endpoints": slice({
      endpoints: [
        { addresses: [] },
        { addresses: ["nope"] },
        { addresses: ["fd00::1"], hostname: "Bad_Host" },
        { addresses: ["127.0.0.1"] },
      ],
    }),
    "refused: ports": slice({
      ports: [
        { name: "Bad_Name", port: 0 },
        { name: "a", protocol: "HTTP", port: 1 },
        { name: "a", port: 2 },
      ],
    }),
    "refused: same port names": slice({ ports: [{ port: 1 }, { port: 2 }] }),
  },
  { "refused: type may not change": { object: slice({}), change: { addressType: "IPv6" } } },
);

export const storageClasses = casesOf(
  "storage.k8s.io/v1",
  "StorageClass",
  "storageclasses",
  "cluster",
  {
    minimal: { provisioner: "example.com/p" },
    rich: {
      provisioner: "example.com/p",
      reclaimPolicy: "Retain",
      volumeBindingMode: "WaitForFirstConsumer",
      allowVolumeExpansion: true,
      parameters: { a: "b" },
      mountOptions: ["ro"],
    },
    default: {
      provisioner: "example.com/p",
      metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    },
    "refused: empty": {},
    "refused: values": {
      provisioner: "bad name!",
      reclaimPolicy: "Else",
      volumeBindingMode: "Else",
      parameters: { "": "x" },
    },
  },
  {
    "refused: parameters may not change": {
      object: { provisioner: "example.com/p" },
      change: {
        parameters: { a: "b" },
        provisioner: "example.com/q",
        reclaimPolicy: "Retain",
        volumeBindingMode: "WaitForFirstConsumer",
      },
    },
  },
);

export const csiDrivers = casesOf(
  "storage.k8s.io/v1",
  "CSIDriver",
  "csidrivers",
  "cluster",
  {
    minimal: { metadata: { name: "d.example.com" }, spec: {} },
    rich: {
      metadata: { name: "d.example.com" },
      spec: {
        attachRequired: false,
        podInfoOnMount: true,
        volumeLifecycleModes: ["Persistent", "Ephemeral"],
        tokenRequests: [{ audience: "a" }, { audience: "b", expirationSeconds: 3600 }],
        requiresRepublish: true,
        storageCapacity: true,
        fsGroupPolicy: "File",
      },
    },
    "refused: values": {
      metadata: { name: "d.example.com" },
      spec: {
        volumeLifecycleModes: ["Else"],
        fsGroupPolicy: "Else",
        tokenRequests: [{ audience: "a", expirationSeconds: 1 }, { audience: "a" }],
      },
    },
  },
  {
    "refused: attach required may not change": {
      object: { metadata: { name: "d.example.com" }, spec: {} },
      change: { spec: { attachRequired: false } },
    },
  },
);

export const csiNodes = casesOf("storage.k8s.io/v1", "CSINode", "csinodes", "cluster", {
  minimal: { spec: { drivers: [] } },
  rich: {
    spec: {
      drivers: [
        { name: "d.example.com", nodeID: "n", topologyKeys: ["zone"], allocatable: { count: 5 } },
      ],
    },
  },
  "refused: drivers": {
    spec: {
      drivers: [
        { name: "", nodeID: "" },
        { name: "d.example.com", nodeID: "n", topologyKeys: ["bad key"] },
        { name: "d.example.com", nodeID: "n" },
      ],
    },
  },
});

export const csiCapacities = casesOf(
  "storage.k8s.io/v1",
  "CSIStorageCapacity",
  "csistoragecapacities",
  "namespaced",
  {
    minimal: { storageClassName: "c" },
    rich: {
      storageClassName: "c",
      capacity: "1024Mi",
      nodeTopology: selector,
      maximumVolumeSize: "1Gi",
    },
    "refused: values": { storageClassName: "Bad_Class", capacity: "-1" },
  },
);

export const attachments = casesOf(
  "storage.k8s.io/v1",
  "VolumeAttachment",
  "volumeattachments",
  "cluster",
  {
    minimal: {
      spec: { attacher: "a.example.com", nodeName: "n", source: { persistentVolumeName: "v" } },
    },
    "refused: empty": { spec: { attacher: "", nodeName: "", source: {} } },
  },
);

export const attributesClasses = casesOf(
  "storage.k8s.io/v1",
  "VolumeAttributesClass",
  "volumeattributesclasses",
  "cluster",
  {
    minimal: { driverName: "d.example.com", parameters: { a: "b" } },
    "refused: empty": {},
  },
);

export const priorityClasses = casesOf(
  "scheduling.k8s.io/v1",
  "PriorityClass",
  "priorityclasses",
  "cluster",
  {
    minimal: { value: 5 },
    zero: { value: 0 },
    rich: { value: 1000, globalDefault: true, description: "words", preemptionPolicy: "Never" },
    "refused: value": { value: 2_000_000_000 },
    "refused: policy": { value: 1, preemptionPolicy: "Else" },
    "refused: system name": { metadata: { name: "system-mine" }, value: 1 },
  },
  {
    "refused: value may not change": { object: { value: 5 }, change: { value: 6 } },
    "refused: policy may not change": {
      object: { value: 5 },
      change: { preemptionPolicy: "Never" },
    },
  },
);

const webhook = (fields: JsonObject = {}): JsonObject => ({
  webhooks: [
    {
      name: "hook.example.com",
      clientConfig: { url: "https://a.example.com/x" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      ...fields,
    },
  ],
});
const webhookCases: Readonly<Record<string, JsonObject>> = {
  empty: {},
  minimal: webhook(),
  rich: webhook({
    clientConfig: { service: { namespace: "n", name: "s" }, caBundle: "AQID" },
    rules: [
      {
        operations: ["CREATE"],
        apiGroups: ["apps"],
        apiVersions: ["v1"],
        resources: ["deployments"],
      },
    ],
    failurePolicy: "Ignore",
    matchPolicy: "Exact",
    namespaceSelector: selector,
    timeoutSeconds: 5,
    matchConditions: [{ name: "c", expression: "true" }],
  }),
  "refused: name": webhook({ name: "short" }),
  "refused: empty hook": { webhooks: [{}] },
  "refused: side effects": webhook({ sideEffects: "Some" }),
  "refused: versions": webhook({ admissionReviewVersions: ["v9"] }),
  "refused: policies": webhook({ failurePolicy: "Else", matchPolicy: "Else", timeoutSeconds: 31 }),
  "refused: client": webhook({ clientConfig: {} }),
  "refused: url": webhook({ clientConfig: { url: "http://a.example.com" } }),
  "refused: both clients": webhook({
    clientConfig: { url: "https://a.example.com", service: { namespace: "n", name: "s" } },
  }),
  "refused: service": webhook({
    clientConfig: { service: { namespace: "", name: "", port: 70000, path: "x" } },
  }),
  "refused: rules": webhook({
    rules: [
      { operations: [], apiGroups: [], apiVersions: [], resources: [] },
      {
        operations: ["*", "CREATE"],
        apiGroups: ["*", "a"],
        apiVersions: ["*", "v1"],
        resources: ["*", "pods"],
      },
      { operations: ["Else"], apiGroups: [""], apiVersions: [""], resources: [""], scope: "Else" },
    ],
  }),
  "refused: same names": {
    webhooks: [
      ...(webhook()["webhooks"] as JsonObject[]),
      ...(webhook()["webhooks"] as JsonObject[]),
    ],
  },
  "refused: selector": webhook({
    namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
  }),
};

export const validatingWebhooks = casesOf(
  "admissionregistration.k8s.io/v1",
  "ValidatingWebhookConfiguration",
  "validatingwebhookconfigurations",
  "cluster",
  webhookCases,
);

export const mutatingWebhooks = casesOf(
  "admissionregistration.k8s.io/v1",
  "MutatingWebhookConfiguration",
  "mutatingwebhookconfigurations",
  "cluster",
  {
    ...webhookCases,
    "refused: reinvocation": webhook({ reinvocationPolicy: "Else" }),
  },
);

export const admissionPolicies = casesOf(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicy",
  "validatingadmissionpolicies",
  "cluster",
  {
    minimal: {
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              operations: ["CREATE"],
              apiGroups: ["apps"],
              apiVersions: ["v1"],
              resources: ["deployments"],
            },
          ],
        },
        validations: [{ expression: "true" }],
      },
    },
  },
);

export const admissionPolicyBindings = casesOf(
  "admissionregistration.k8s.io/v1",
  "ValidatingAdmissionPolicyBinding",
  "validatingadmissionpolicybindings",
  "cluster",
  {
    minimal: { spec: { policyName: "p", validationActions: ["Deny"] } },
    "with parameters": {
      spec: {
        policyName: "p",
        validationActions: ["Deny"],
        paramRef: { name: "n", namespace: "ns", parameterNotFoundAction: "Deny" },
        matchResources: {},
      },
    },
    "refused: empty": { spec: {} },
  },
);

const crd = (fields: JsonObject = {}): JsonObject => ({
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [
      { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
    ],
    ...fields,
  },
});

export const definitions = casesOf(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
  "customresourcedefinitions",
  "cluster",
  {
    minimal: crd(),
    rich: crd({
      names: {
        plural: "things",
        singular: "thing",
        kind: "Thing",
        shortNames: ["th"],
        categories: ["all"],
      },
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: { service: { namespace: "n", name: "s" } },
        },
      },
    }),
  },
  { plain: { object: crd() } },
);

const newEvent = (fields: JsonObject = {}): JsonObject => ({
  metadata: { name: "sample.2" },
  eventTime: "1995-01-01T00:00:00.000000Z",
  reportingController: "example.com/c",
  reportingInstance: "i",
  action: "Do",
  reason: "Why",
  type: "Normal",
  regarding: { kind: "Pod", name: "p", namespace: "default" },
  ...fields,
});

export const newEvents = casesOf(
  "events.k8s.io/v1",
  "Event",
  "events",
  "namespaced",
  {
    minimal: newEvent(),
    rich: newEvent({
      note: "words",
      series: { count: 3, lastObservedTime: "1996-01-01T00:00:00.000000Z" },
      related: { kind: "Node", name: "n" },
    }),
    "refused: no time": newEvent({ eventTime: null }),
    "refused: no parts": {
      metadata: { name: "sample.2" },
      eventTime: "1995-01-01T00:00:00.000000Z",
    },
    "refused: deprecated parts": newEvent({
      deprecatedCount: 3,
      deprecatedFirstTimestamp: "1995-01-01T00:00:00Z",
      deprecatedSource: { component: "c" },
    }),
    "refused: series": newEvent({ series: { count: 1 } }),
    "another namespace": newEvent({ regarding: { kind: "Pod", name: "p", namespace: "other" } }),
  },
  { plain: { object: newEvent() } },
);

export const apiServices = casesOf(
  "apiregistration.k8s.io/v1",
  "APIService",
  "apiservices",
  "cluster",
  {
    minimal: {
      metadata: { name: "v1.x.example.com" },
      spec: {
        group: "x.example.com",
        version: "v1",
        groupPriorityMinimum: 1000,
        versionPriority: 10,
        service: { namespace: "n", name: "s" },
        insecureSkipTLSVerify: true,
      },
    },
    local: {
      metadata: { name: "v1.x.example.com" },
      spec: {
        group: "x.example.com",
        version: "v1",
        groupPriorityMinimum: 1000,
        versionPriority: 10,
      },
    },
    "refused: empty": { metadata: { name: "v1.x.example.com" }, spec: {} },
    "refused: name": {
      metadata: { name: "v2.x.example.com" },
      spec: {
        group: "x.example.com",
        version: "v1",
        groupPriorityMinimum: 1000,
        versionPriority: 10,
      },
    },
    "refused: values": {
      metadata: { name: "v1.x.example.com" },
      spec: {
        group: "x.example.com",
        version: "v1",
        groupPriorityMinimum: 30000,
        versionPriority: 2000,
        service: { namespace: "", name: "", port: 70000 },
        insecureSkipTLSVerify: true,
        caBundle: "AQID",
      },
    },
  },
);

export const signingRequests = casesOf(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  "certificatesigningrequests",
  "cluster",
  {
    "refused: empty": { spec: {} },
    "refused: not a request": {
      spec: { request: "AQID", signerName: "example.com/s", usages: ["client auth"] },
    },
  },
);
