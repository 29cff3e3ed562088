import { casesOf, container, type JsonObject, labels, template } from "../case.ts";

const ports = [{ port: 80 }];
const service = (spec: JsonObject): JsonObject => ({ spec });

export const services = casesOf(
  "v1",
  "Service",
  "services",
  "namespaced",
  {
    minimal: service({ ports, selector: labels }),
    rich: service({
      ports: [
        { name: "http", port: 80, targetPort: "web" },
        {
          name: "dns",
          port: 53,
          protocol: "UDP",
          targetPort: 5353,
          appProtocol: "example.com/dns",
        },
      ],
      selector: labels,
      sessionAffinity: "ClientIP",
      externalIPs: ["1.2.3.4"],
      publishNotReadyAddresses: true,
      trafficDistribution: "PreferClose",
    }),
    headless: service({ clusterIP: "None", selector: labels }),
    "node port": service({ type: "NodePort", ports: [{ port: 80, nodePort: 30080 }] }),
    "load balancer": service({
      type: "LoadBalancer",
      ports,
      loadBalancerSourceRanges: ["10.0.0.0/8"],
    }),
    "external name": service({ type: "ExternalName", externalName: "a.example.com" }),
    "external name with ports": service({
      type: "ExternalName",
      externalName: "a.example.com",
      ports,
    }),
    "local traffic": service({
      type: "LoadBalancer",
      ports,
      externalTrafficPolicy: "Local",
      healthCheckNodePort: 32000,
    }),
    "affinity timeout": service({
      ports,
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
    }),
    "affinity config without affinity": service({
      ports,
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
    }),
    "refused: no ports": service({ selector: labels }),
    "refused: ports": service({
      ports: [
        { port: 0 },
        { port: 70000, name: "Bad_Name" },
        { port: 80, name: "same" },
        { port: 81, name: "same" },
        { port: 82, name: "x", protocol: "HTTP" },
        { port: 83, name: "y", targetPort: "Bad Name" },
        { port: 84, name: "z", targetPort: 70000 },
        { port: 85, name: "w", nodePort: 30000 },
        { port: 86, name: "v", appProtocol: "bad proto" },
      ],
    }),
    "refused: two ports without names": service({ ports: [{ port: 80 }, { port: 81 }] }),
    "refused: the same port twice": service({
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    }),
    "refused: the same node port twice": service({
      type: "NodePort",
      ports: [
        { name: "a", port: 80, nodePort: 30001 },
        { name: "b", port: 81, nodePort: 30001 },
      ],
    }),
    "refused: type": service({ type: "Else", ports }),
    "refused: affinity": service({ ports, sessionAffinity: "Else" }),
    "refused: affinity timeout": service({
      ports,
      sessionAffinity: "ClientIP",
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 90000 } },
    }),
    "refused: external name missing": service({ type: "ExternalName" }),
    "refused: external name bad": service({ type: "ExternalName", externalName: "Bad_Name!" }),
    "refused: cluster ip": service({ ports, clusterIP: "nope" }),
    "refused: cluster ip on external name": service({
      type: "ExternalName",
      externalName: "a.example.com",
      clusterIP: "10.96.0.9",
    }),
    "refused: node port on headless": service({ type: "NodePort", clusterIP: "None", ports }),
    "refused: external ips": service({ ports, externalIPs: ["nope", "127.0.0.1", "0.0.0.0"] }),
    "refused: source ranges": service({ ports, loadBalancerSourceRanges: ["10.0.0.0/8"] }),
    "refused: bad source ranges": service({
      type: "LoadBalancer",
      ports,
      loadBalancerSourceRanges: ["nope"],
    }),
    "refused: external policy on cluster ip": service({ ports, externalTrafficPolicy: "Local" }),
    "refused: policies": service({
      type: "LoadBalancer",
      ports,
      externalTrafficPolicy: "Else",
      internalTrafficPolicy: "Else",
    }),
    "refused: health check port": service({
      type: "LoadBalancer",
      ports,
      healthCheckNodePort: 32001,
    }),
    "refused: selector": service({ ports, selector: { "bad key!": "bad value!" } }),
    "refused: ip families": service({ ports, ipFamilies: ["IPv5"] }),
    "refused: ip family policy": service({ ports, ipFamilyPolicy: "Else" }),
    "refused: load balancer class": service({ ports, loadBalancerClass: "example.com/x" }),
    "refused: load balancer class bad": service({
      type: "LoadBalancer",
      ports,
      loadBalancerClass: "bad class",
    }),
    "refused: traffic distribution": service({ ports, trafficDistribution: "Else" }),
    "refused: allocate node ports on cluster ip": service({
      ports,
      allocateLoadBalancerNodePorts: true,
    }),
    "refused: no spec": {},
  },
  {
    "load balancer with address": {
      object: service({
        type: "LoadBalancer",
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 443 },
        ],
        selector: { a: "b", c: "d" },
      }),
      status: {
        loadBalancer: { ingress: [{ ip: "203.0.113.10" }, { hostname: "lb.example.com" }] },
      },
    },
    "refused: cluster ip may not change": {
      object: service({ ports, clusterIP: "10.96.0.77" }),
      change: { spec: { clusterIP: "10.96.0.78", clusterIPs: ["10.96.0.78"] } },
    },
    "refused: load balancer class may not change": {
      object: service({ type: "LoadBalancer", ports, loadBalancerClass: "example.com/x" }),
      change: { spec: { loadBalancerClass: "example.com/y" } },
    },
    "selector may change": {
      object: service({ ports, selector: labels }),
      change: { spec: { selector: { app: "b" } } },
    },
  },
);

export const configMaps = casesOf(
  "v1",
  "ConfigMap",
  "configmaps",
  "namespaced",
  {
    minimal: {},
    rich: { data: { a: "1", "b.conf": "x" }, binaryData: { c: "AQID" }, immutable: false },
    "refused: keys": { data: { "bad key": "1", "": "x", "..": "y", ["k".repeat(254)]: "z" } },
    "refused: key in both": { data: { a: "1" }, binaryData: { a: "AQID" } },
  },
  {
    plain: { object: { data: { a: "1", b: "2" }, binaryData: { c: "AQID" } } },
    "refused: immutable data": {
      object: { data: { a: "1" }, immutable: true },
      change: { data: { a: "2" }, immutable: false },
    },
    "refused: immutable binary data": {
      object: { binaryData: { a: "AQID" }, immutable: true },
      change: { binaryData: { a: "AQIE" } },
    },
  },
);

export const secrets = casesOf(
  "v1",
  "Secret",
  "secrets",
  "namespaced",
  {
    minimal: {},
    rich: { stringData: { a: "1" }, data: { b: "AQID" }, type: "example.com/mine" },
    "string data wins": { stringData: { a: "new" }, data: { a: "AQID" } },
    "service account token": {
      type: "kubernetes.io/service-account-token",
      metadata: { annotations: { "kubernetes.io/service-account.name": "robot" } },
    },
    "docker config": {
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": "{}" },
    },
    "basic auth": { type: "kubernetes.io/basic-auth", stringData: { username: "u" } },
    tls: { type: "kubernetes.io/tls", stringData: { "tls.crt": "", "tls.key": "" } },
    "refused: keys": { data: { "bad key": "AQID" } },
    "refused: service account token": { type: "kubernetes.io/service-account-token" },
    "refused: docker config missing": { type: "kubernetes.io/dockerconfigjson" },
    "refused: docker config bad": {
      type: "kubernetes.io/dockerconfigjson",
      stringData: { ".dockerconfigjson": "{" },
    },
    "refused: dockercfg missing": { type: "kubernetes.io/dockercfg" },
    "refused: basic auth": { type: "kubernetes.io/basic-auth" },
    "refused: ssh auth": { type: "kubernetes.io/ssh-auth" },
    "refused: tls": { type: "kubernetes.io/tls", stringData: { "tls.crt": "" } },
  },
  {
    plain: { object: { stringData: { a: "1" } } },
    "refused: type may not change": {
      object: { type: "Opaque" },
      change: { type: "example.com/x" },
    },
    "refused: immutable": {
      object: { data: { a: "AQID" }, immutable: true },
      change: { data: { a: "AQIE" }, immutable: null },
    },
  },
);

export const namespaces = casesOf(
  "v1",
  "Namespace",
  "namespaces",
  "cluster",
  { minimal: {}, labelled: { metadata: { labels: { a: "b" } } } },
  { plain: { object: { metadata: { name: "stored" } } } },
);

export const serviceAccounts = casesOf(
  "v1",
  "ServiceAccount",
  "serviceaccounts",
  "namespaced",
  {
    minimal: {},
    rich: {
      imagePullSecrets: [{ name: "p" }],
      automountServiceAccountToken: false,
      secrets: [{ name: "s" }],
    },
  },
  { plain: { object: {} } },
);

const claim = (spec: JsonObject): JsonObject => ({ spec });
const goodClaim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

export const claims = casesOf(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
  "namespaced",
  {
    minimal: claim(goodClaim),
    rich: claim({
      ...goodClaim,
      storageClassName: "",
      volumeMode: "Block",
      selector: { matchLabels: { a: "b" } },
      dataSource: { kind: "PersistentVolumeClaim", name: "other" },
      volumeAttributesClassName: "gold",
    }),
    "storage rounded": claim({ ...goodClaim, resources: { requests: { storage: "1.5" } } }),
    "refused: empty": claim({}),
    "refused: no spec": {},
    "refused: modes": claim({ ...goodClaim, accessModes: ["Else"] }),
    "refused: read write once pod with others": claim({
      ...goodClaim,
      accessModes: ["ReadWriteOnce", "ReadWriteOncePod"],
    }),
    "refused: no request": claim({ accessModes: ["ReadWriteOnce"], resources: {} }),
    "refused: zero request": claim({
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "0" } },
    }),
    "refused: negative request": claim({
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "-1Gi" } },
    }),
    "refused: class": claim({ ...goodClaim, storageClassName: "Bad_Class" }),
    "refused: volume mode": claim({ ...goodClaim, volumeMode: "Else" }),
    "refused: selector": claim({
      ...goodClaim,
      selector: { matchExpressions: [{ key: "a", operator: "In" }] },
    }),
  },
  {
    bound: {
      object: claim({ ...goodClaim, volumeName: "v", storageClassName: "fast" }),
      status: {
        phase: "Bound",
        accessModes: ["ReadWriteOnce", "ReadOnlyMany"],
        capacity: { storage: "2Gi" },
      },
    },
    pending: { object: claim(goodClaim) },
    "refused: spec may not change": {
      object: claim(goodClaim),
      change: { spec: { accessModes: ["ReadOnlyMany"] } },
    },
    "refused: request may not shrink": {
      object: claim({ ...goodClaim, volumeName: "v" }),
      status: { phase: "Bound", capacity: { storage: "1Gi" } },
      change: { spec: { resources: { requests: { storage: "1Mi" } } } },
    },
    "refused: class may not change": {
      object: claim({ ...goodClaim, storageClassName: "a" }),
      change: { spec: { storageClassName: "b" } },
    },
  },
);

const volume = (spec: JsonObject): JsonObject => ({ spec });
const goodVolume = {
  capacity: { storage: "1Gi" },
  accessModes: ["ReadWriteOnce"],
  hostPath: { path: "/x" },
};

export const volumes = casesOf(
  "v1",
  "PersistentVolume",
  "persistentvolumes",
  "cluster",
  {
    minimal: volume(goodVolume),
    rich: volume({
      capacity: { storage: "10Gi" },
      accessModes: ["ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod".replace("Pod", "")],
      nfs: { server: "s", path: "/p" },
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: "slow",
      claimRef: { namespace: "ns", name: "c" },
      mountOptions: ["ro"],
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "k", operator: "Exists" }] }] },
      },
    }),
    csi: volume({
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "d.example.com", volumeHandle: "h" },
    }),
    iscsi: volume({
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:d", lun: 0 },
    }),
    "refused: empty": volume({}),
    "refused: modes and policy": volume({
      ...goodVolume,
      accessModes: ["Else"],
      persistentVolumeReclaimPolicy: "Burn",
      volumeMode: "Else",
    }),
    "refused: capacity": volume({ ...goodVolume, capacity: { storage: "0" } }),
    "refused: other capacity": volume({ ...goodVolume, capacity: { cpu: "1" } }),
    "refused: no source": volume({ capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"] }),
    "refused: two sources": volume({ ...goodVolume, nfs: { server: "s", path: "/p" } }),
    "refused: class": volume({ ...goodVolume, storageClassName: "Bad_Class" }),
    "refused: csi": volume({
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      csi: { driver: "", volumeHandle: "" },
    }),
    "refused: local without affinity": volume({
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      local: { path: "/x" },
    }),
  },
  {
    bound: {
      object: volume({
        ...goodVolume,
        storageClassName: "fast",
        claimRef: { namespace: "n", name: "c" },
      }),
      status: { phase: "Bound", reason: "why" },
    },
    "refused: source may not change": {
      object: volume(goodVolume),
      change: { spec: { hostPath: { path: "/y", type: "" } } },
    },
    "refused: volume mode may not change": {
      object: volume(goodVolume),
      change: { spec: { volumeMode: "Block" } },
    },
  },
);

export const nodes = casesOf(
  "v1",
  "Node",
  "nodes",
  "cluster",
  {
    minimal: {},
    rich: {
      metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "db" } },
      spec: {
        taints: [{ key: "k", effect: "NoSchedule" }],
        unschedulable: true,
        podCIDR: "10.0.0.0/24",
        podCIDRs: ["10.0.0.0/24"],
      },
    },
    "refused: taints": {
      spec: {
        taints: [
          { key: "bad key", effect: "Else" },
          { key: "k", effect: "NoSchedule" },
          { key: "k", effect: "NoSchedule" },
          { key: "v", value: "bad value!", effect: "" },
        ],
      },
    },
    "refused: cidrs": { spec: { podCIDR: "nope", podCIDRs: ["nope"] } },
  },
  {
    ready: {
      object: {
        metadata: { labels: { "node-role.kubernetes.io/b": "", "node-role.kubernetes.io/a": "" } },
      },
      status: {
        conditions: [{ type: "Ready", status: "True" }],
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "ExternalIP", address: "1.2.3.4" },
        ],
        capacity: { cpu: "2" },
        nodeInfo: {
          kubeletVersion: "v1.36.4",
          osImage: "Linux",
          kernelVersion: "6.1",
          containerRuntimeVersion: "containerd://2",
          architecture: "amd64",
          bootID: "",
          machineID: "",
          systemUUID: "",
          kubeProxyVersion: "",
          operatingSystem: "linux",
        },
      },
    },
    "not ready": {
      object: { spec: { unschedulable: true } },
      status: { conditions: [{ type: "Ready", status: "False" }] },
    },
    "refused: provider may not change": {
      object: { spec: { providerID: "a" } },
      change: { spec: { providerID: "b" } },
    },
  },
);

export const endpoints = casesOf(
  "v1",
  "Endpoints",
  "endpoints",
  "namespaced",
  {
    minimal: {},
    rich: {
      subsets: [
        {
          addresses: [{ ip: "10.0.0.1", hostname: "h" }],
          notReadyAddresses: [{ ip: "10.0.0.2" }],
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81, protocol: "UDP" },
          ],
        },
      ],
    },
    many: {
      subsets: [
        {
          addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }],
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81 },
          ],
        },
      ],
    },
    "without ports": { subsets: [{ addresses: [{ ip: "10.0.0.1" }] }] },
    "refused: subsets": {
      subsets: [
        { ports: [{ port: 80 }] },
        {
          addresses: [{ ip: "nope" }, { ip: "127.0.0.1" }],
          ports: [{ port: 0 }, { port: 1, name: "Bad_Name", protocol: "HTTP" }],
        },
      ],
    },
  },
  {
    plain: {
      object: {
        subsets: [{ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: [{ port: 80 }] }],
      },
    },
  },
);

export const limitRanges = casesOf(
  "v1",
  "LimitRange",
  "limitranges",
  "namespaced",
  {
    minimal: { spec: { limits: [] } },
    rich: {
      spec: {
        limits: [
          {
            type: "Container",
            max: { cpu: "2" },
            min: { memory: "64Mi" },
            default: { memory: "1Gi" },
          },
          { type: "Pod", max: { cpu: "4" } },
          { type: "PersistentVolumeClaim", min: { storage: "1Gi" } },
        ],
      },
    },
    "refused: limits": {
      spec: {
        limits: [
          {
            type: "Container",
            max: { cpu: "1" },
            min: { cpu: "2" },
            default: { cpu: "3" },
            defaultRequest: { cpu: "4" },
          },
          { type: "Pod", default: { cpu: "1" }, defaultRequest: { cpu: "1" } },
          { type: "Pod", max: { cpu: "1" } },
          { type: "bad type", max: { "bad key!": "1" } },
          { type: "PersistentVolumeClaim" },
          { type: "Container", maxLimitRequestRatio: { cpu: "0.5" } },
        ],
      },
    },
  },
  { plain: { object: { spec: { limits: [{ type: "Container", max: { cpu: "1" } }] } } } },
);

export const quotas = casesOf(
  "v1",
  "ResourceQuota",
  "resourcequotas",
  "namespaced",
  {
    minimal: {},
    rich: {
      spec: {
        hard: {
          pods: "10",
          "requests.cpu": "4",
          "limits.memory": "8Gi",
          "count/deployments.apps": "5",
        },
        scopes: ["NotTerminating"],
      },
    },
    "refused: hard": {
      spec: { hard: { pods: "-1", "bad key!": "1", services: "1.5", unknown: "1" } },
    },
    "refused: scopes": {
      spec: { hard: { pods: "1" }, scopes: ["Else", "Terminating", "NotTerminating"] },
    },
    "refused: scope selector": {
      spec: {
        hard: { pods: "1" },
        scopeSelector: {
          matchExpressions: [
            { scopeName: "PriorityClass", operator: "In" },
            { scopeName: "Else", operator: "Else" },
          ],
        },
      },
    },
  },
  {
    used: {
      object: { spec: { hard: { pods: "10", "limits.memory": "8Gi", "requests.cpu": "4" } } },
      status: {
        hard: { pods: "10", "limits.memory": "8Gi", "requests.cpu": "4" },
        used: { pods: "3", "limits.memory": "1Gi", "requests.cpu": "0" },
      },
    },
    "refused: scopes may not change": {
      object: { spec: { hard: { pods: "1" }, scopes: ["Terminating"] } },
      change: { spec: { scopes: ["NotTerminating"] } },
    },
  },
);

export const controllers = casesOf(
  "v1",
  "ReplicationController",
  "replicationcontrollers",
  "namespaced",
  {
    minimal: { spec: { template: template() } },
    rich: {
      metadata: { labels: { x: "y" } },
      spec: { replicas: 0, minReadySeconds: 3, selector: labels, template: template() },
    },
    "refused: empty": { spec: {} },
    "refused: selector": {
      spec: { selector: { app: "other" }, replicas: -1, minReadySeconds: -1, template: template() },
    },
    "refused: restart policy": {
      spec: { selector: labels, template: template({ restartPolicy: "Never" }) },
    },
  },
  {
    plain: {
      object: { spec: { template: template() } },
      status: { replicas: 3, readyReplicas: 2 },
    },
  },
);

export const podTemplates = casesOf(
  "v1",
  "PodTemplate",
  "podtemplates",
  "namespaced",
  {
    minimal: { template: template() },
    "refused: empty": { template: { spec: { containers: [{ name: "c" }] } } },
  },
  {
    plain: {
      object: { template: template({ containers: [container, { name: "d", image: "e" }] }) },
    },
  },
);

const event = (fields: JsonObject): JsonObject => ({
  metadata: { name: "sample.1" },
  involvedObject: { kind: "Pod", name: "p", namespace: "default" },
  ...fields,
});

export const events = casesOf(
  "v1",
  "Event",
  "events",
  "namespaced",
  {
    minimal: event({}),
    rich: event({
      reason: "Why",
      message: " words ",
      type: "Warning",
      count: 4,
      source: { component: "c", host: "h" },
      firstTimestamp: "1995-01-01T00:00:00Z",
      lastTimestamp: "1996-01-01T00:00:00Z",
      involvedObject: { kind: "Pod", name: "p", namespace: "default", fieldPath: "spec.x" },
    }),
    "new style": event({
      eventTime: "1995-01-01T00:00:00.000000Z",
      reportingComponent: "example.com/c",
      reportingInstance: "i",
      action: "Do",
      reason: "Why",
      type: "Normal",
    }),
    series: event({
      eventTime: "1995-01-01T00:00:00.000000Z",
      series: { count: 7, lastObservedTime: "1996-01-01T00:00:00.000000Z" },
      reportingComponent: "example.com/c",
      reportingInstance: "i",
      action: "Do",
      reason: "Why",
      type: "Normal",
    }),
    "cluster object": event({ involvedObject: { kind: "Node", name: "n" } }),
    "no name": event({ involvedObject: { kind: "Pod", namespace: "default" } }),
    "refused: namespace": event({ involvedObject: { kind: "Pod", name: "p", namespace: "other" } }),
    "refused: new style without parts": event({ eventTime: "1995-01-01T00:00:00.000000Z" }),
    "refused: new style bad parts": event({
      eventTime: "1995-01-01T00:00:00.000000Z",
      reportingComponent: "bad name",
      reportingInstance: "i".repeat(129),
      action: "a".repeat(129),
      reason: "r".repeat(129),
      message: "m".repeat(1025),
      type: "Else",
    }),
    "about nothing": { metadata: { name: "sample.1" } },
  },
  { plain: { object: event({ reason: "Why", message: "m", type: "Normal" }) } },
);
