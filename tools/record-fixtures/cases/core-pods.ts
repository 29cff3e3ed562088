import { casesOf, container, type JsonObject, one } from "../case.ts";

const rich: JsonObject = {
  metadata: { labels: { app: "a" }, annotations: { note: "n" } },
  spec: {
    initContainers: [
      { name: "init", image: "busybox:1.36", command: ["true"] },
      {
        name: "side",
        image: "busybox:latest",
        restartPolicy: "Always",
        startupProbe: { tcpSocket: { port: 9000 } },
      },
    ],
    containers: [
      {
        name: "web",
        image: "registry.example:5000/team/web:v1",
        args: ["--x"],
        ports: [{ containerPort: 80 }, { name: "dns", containerPort: 53, protocol: "UDP" }],
        env: [
          { name: "A", value: "1" },
          { name: "B", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          { name: "C", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } },
          { name: "D", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
          { name: "E", valueFrom: { configMapKeyRef: { name: "m", key: "k", optional: true } } },
        ],
        envFrom: [{ configMapRef: { name: "m" } }, { prefix: "P_", secretRef: { name: "s" } }],
        resources: { limits: { cpu: "500m", memory: "1Gi" }, requests: { cpu: "0.1" } },
        livenessProbe: { httpGet: { port: "dns" } },
        readinessProbe: { exec: { command: ["true"] }, periodSeconds: 5 },
        startupProbe: { grpc: { port: 90 }, failureThreshold: 30 },
        lifecycle: {
          postStart: { exec: { command: ["a"] } },
          preStop: { httpGet: { port: 80, path: "/stop" } },
        },
        volumeMounts: [
          { name: "conf", mountPath: "/conf" },
          { name: "sec", mountPath: "/sec", subPath: "a/b", readOnly: true },
        ],
        securityContext: { runAsUser: 1000, capabilities: { add: ["NET_ADMIN"] } },
      },
      { name: "digest", image: "nginx@sha256:" + "a".repeat(64) },
    ],
    volumes: [
      { name: "conf", configMap: { name: "m", items: [{ key: "k", path: "p" }] } },
      { name: "sec", secret: { secretName: "s" } },
      { name: "empty", emptyDir: { sizeLimit: "1024Mi" } },
      { name: "none" },
      { name: "host", hostPath: { path: "/var" } },
      {
        name: "down",
        downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] },
      },
      {
        name: "proj",
        projected: {
          sources: [
            { serviceAccountToken: { path: "token" } },
            { downwardAPI: { items: [{ path: "n", fieldRef: { fieldPath: "metadata.name" } }] } },
            { configMap: { name: "m" } },
          ],
        },
      },
      { name: "claim", persistentVolumeClaim: { claimName: "c" } },
      {
        name: "eph",
        ephemeral: {
          volumeClaimTemplate: {
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
      { name: "img", image: { reference: "quay.io/x/y:v1" } },
      {
        name: "iscsi",
        iscsi: { targetPortal: "10.0.0.1", iqn: "iqn.2001-04.com.example:d", lun: 0 },
      },
      { name: "rbd", rbd: { monitors: ["m"], image: "i" } },
      {
        name: "azure",
        azureDisk: { diskName: "d", diskURI: "https://a.blob.core.windows.net/c/d.vhd" },
      },
      { name: "nfs", nfs: { server: "s", path: "/p" } },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "z", operator: "In", values: ["a"] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } } },
          },
        ],
      },
    },
    tolerations: [{ key: "k", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: "zone",
        whenUnsatisfiable: "DoNotSchedule",
        labelSelector: { matchLabels: { a: "b" } },
      },
    ],
    serviceAccountName: "robot",
    nodeSelector: { disk: "ssd" },
    readinessGates: [{ conditionType: "example.com/gate" }],
    imagePullSecrets: [{ name: "pull" }],
    dnsConfig: { options: [{ name: "ndots", value: "2" }] },
    hostAliases: [{ ip: "10.0.0.9", hostnames: ["h"] }],
  },
};

const bad = (fields: JsonObject, spec: JsonObject = {}): JsonObject => ({
  spec: one(fields, spec),
});

export const pods = casesOf(
  "v1",
  "Pod",
  "pods",
  "namespaced",
  {
    minimal: { spec: { containers: [container] } },
    rich,
    "limits become requests": {
      spec: {
        containers: [
          { ...container, resources: { limits: { cpu: "1000m", memory: "0.5Gi" } } },
          {
            name: "d",
            image: "x",
            resources: { limits: { cpu: "1.5" }, requests: { cpu: "1", memory: "64Mi" } },
          },
        ],
      },
    },
    "guaranteed quality of service": {
      spec: one({
        resources: {
          limits: { cpu: "1", memory: "1Gi" },
          requests: { cpu: "1000m", memory: "1024Mi" },
        },
      }),
    },
    "resources are rounded up to milli": {
      spec: one({ resources: { requests: { cpu: "0.0001", memory: "1.5" } } }),
    },
    "pod level resources": {
      spec: { containers: [container], resources: { limits: { cpu: "2", memory: "1Gi" } } },
    },
    "host network opens host ports": {
      spec: one(
        { ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81 }] },
        { hostNetwork: true },
      ),
    },
    "deprecated service account field": {
      spec: { containers: [container], serviceAccount: "old" },
    },
    "image without tag but with port": { spec: one({ image: "localhost:5000/x" }) },
    "image tag latest with digest": { spec: one({ image: `x:latest@sha256:${"b".repeat(64)}` }) },
    "ephemeral volume source wins nothing": {
      spec: { containers: [container], volumes: [{ name: "v", gitRepo: { repository: "r" } }] },
    },
    "refused: no containers": { spec: { containers: [] } },
    "refused: no spec": {},
    "refused: container without name and image": { spec: { containers: [{}] } },
    "refused: image with spaces": bad({ image: " nginx " }),
    "refused: bad container name": bad({ name: "Not_Valid" }),
    "refused: long container name": bad({ name: "a".repeat(64) }),
    "refused: duplicate container names": { spec: { containers: [container, container] } },
    "refused: duplicate of an init container": {
      spec: { containers: [container], initContainers: [container] },
    },
    "refused: pull policy": bad({ imagePullPolicy: "Sometimes" }),
    "refused: termination message policy": bad({ terminationMessagePolicy: "Else" }),
    "refused: restart policy": { spec: { containers: [container], restartPolicy: "Sometimes" } },
    "refused: dns policy": { spec: { containers: [container], dnsPolicy: "Mine" } },
    "refused: dns policy none without servers": {
      spec: { containers: [container], dnsPolicy: "None" },
    },
    "refused: key with two slashes": {
      spec: { containers: [container], nodeSelector: { "a/b/c": "x" } },
    },
    "refused: long key": {
      spec: {
        containers: [container],
        nodeSelector: { [`${"a".repeat(254)}/${"b".repeat(64)}`]: "x" },
      },
    },
    "refused: long value": {
      spec: { containers: [container], nodeSelector: { disk: "é".repeat(32) } },
    },
    "refused: characters that do not print": {
      spec: { containers: [container], hostname: 'a\u0001\u200b"' },
    },
    "refused: ports": bad({
      ports: [
        { containerPort: 0 },
        { containerPort: 70000 },
        { containerPort: 80, protocol: "HTTP" },
        { containerPort: 81, name: "Bad_Name" },
        { containerPort: 82, name: "same" },
        { containerPort: 83, name: "same" },
        { containerPort: 84, hostPort: 70000 },
        { containerPort: 85, name: "this-is-far-too-long" },
        { containerPort: 86, name: "123" },
        { containerPort: 87, name: "a--b" },
      ],
    }),
    "refused: host port taken twice": {
      spec: {
        containers: [
          { ...container, ports: [{ containerPort: 80, hostPort: 80 }] },
          { name: "d", image: "x", ports: [{ containerPort: 81, hostPort: 80 }] },
        ],
      },
    },
    "refused: host network with other host port": bad(
      { ports: [{ containerPort: 80, hostPort: 81 }] },
      { hostNetwork: true },
    ),
    "refused: env": bad({
      env: [
        { name: "" },
        { name: "a=b" },
        { name: "A", value: "v", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "B", valueFrom: {} },
        { name: "C", valueFrom: { fieldRef: { fieldPath: "spec.unknown" } } },
        { name: "D", valueFrom: { secretKeyRef: { name: "", key: "" } } },
        { name: "E", valueFrom: { configMapKeyRef: { name: "m", key: "bad key" } } },
        { name: "F", valueFrom: { resourceFieldRef: { resource: "limits.gpu" } } },
        { name: "G", valueFrom: { fieldRef: { fieldPath: "metadata.labels['Bad Key!']" } } },
        { name: "H", valueFrom: { fieldRef: { fieldPath: "" } } },
        {
          name: "I",
          valueFrom: {
            fieldRef: { fieldPath: "metadata.name" },
            secretKeyRef: { name: "s", key: "k" },
          },
        },
        { name: "J", valueFrom: { fieldRef: { apiVersion: "v9", fieldPath: "metadata.name" } } },
        { name: "K", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "3" } } },
      ],
    }),
    "refused: env from": bad({
      envFrom: [
        {},
        { prefix: "1=", configMapRef: { name: "m" } },
        { configMapRef: { name: "" } },
        { secretRef: { name: "Bad_Name" } },
        { configMapRef: { name: "m" }, secretRef: { name: "s" } },
      ],
    }),
    "refused: resources": bad({
      resources: {
        limits: { cpu: "1", memory: "-1", "bad key!": "1", gpu: "1", "example.com/gpu": "1.5" },
        requests: { cpu: "2", memory: "1Gi", "example.com/gpu": "2" },
      },
    }),
    "refused: overcommit of an extended resource": bad({
      resources: { limits: { "example.com/gpu": "2" }, requests: { "example.com/gpu": "1" } },
    }),
    "refused: huge pages alone": bad({ resources: { limits: { "hugepages-2Mi": "2Mi" } } }),
    "refused: extended resource without limit": bad({
      resources: { requests: { "example.com/gpu": "1" } },
    }),
    "refused: volume mounts": bad(
      {
        volumeMounts: [
          { name: "gone", mountPath: "/a" },
          { name: "", mountPath: "" },
          { name: "v", mountPath: "/same" },
          { name: "v", mountPath: "/same" },
          { name: "v", mountPath: "/b", subPath: "/absolute" },
          { name: "v", mountPath: "/c", subPath: "../up" },
          { name: "v", mountPath: "/d", subPath: "a", subPathExpr: "b" },
          { name: "v", mountPath: "/e", mountPropagation: "Both" },
          { name: "v", mountPath: "/f", mountPropagation: "Bidirectional" },
        ],
      },
      { volumes: [{ name: "v", emptyDir: {} }] },
    ),
    "refused: volume devices": bad(
      {
        volumeDevices: [
          { name: "v", devicePath: "/dev/a" },
          { name: "gone", devicePath: "../x" },
          { name: "p", devicePath: "" },
        ],
      },
      {
        volumes: [
          { name: "v", emptyDir: {} },
          { name: "p", persistentVolumeClaim: { claimName: "c" } },
        ],
      },
    ),
    "refused: volumes": {
      spec: {
        containers: [container],
        volumes: [
          { name: "" },
          { name: "Bad_Name" },
          { name: "twice" },
          { name: "twice" },
          { name: "both", emptyDir: {}, hostPath: { path: "/x" } },
          { name: "path", hostPath: { path: "" } },
          { name: "up", hostPath: { path: "/a/../b" } },
          { name: "type", hostPath: { path: "/a", type: "Thing" } },
          { name: "sec", secret: { secretName: "" } },
          { name: "cm", configMap: { name: "" } },
          {
            name: "items",
            configMap: {
              name: "m",
              items: [
                { key: "", path: "" },
                { key: "k", path: "/abs" },
                { key: "k", path: "a/../b" },
              ],
            },
          },
          { name: "mode", secret: { secretName: "s", defaultMode: 1000 } },
          { name: "pvc", persistentVolumeClaim: { claimName: "" } },
          { name: "nfs", nfs: { server: "", path: "rel" } },
          { name: "size", emptyDir: { sizeLimit: "-1" } },
          {
            name: "down",
            downwardAPI: {
              items: [{ path: "p", fieldRef: { fieldPath: "spec.nodeName" } }, { path: "" }],
            },
          },
          {
            name: "proj",
            projected: {
              sources: [
                {},
                { secret: { name: "" } },
                { serviceAccountToken: { path: "", expirationSeconds: 1 } },
              ],
            },
          },
          { name: "eph", ephemeral: {} },
          { name: "csi", csi: { driver: "" } },
        ],
      },
    },
    "refused: two volume sources in a projection that collide": {
      spec: {
        containers: [container],
        volumes: [
          {
            name: "proj",
            projected: {
              sources: [
                { secret: { name: "s", items: [{ key: "a", path: "same" }] } },
                { configMap: { name: "m", items: [{ key: "b", path: "same" }] } },
                { secret: { name: "s" }, configMap: { name: "m" } },
              ],
            },
          },
        ],
      },
    },
    "refused: probes": bad({
      livenessProbe: { httpGet: { port: 80 }, tcpSocket: { port: 80 }, successThreshold: 2 },
      readinessProbe: {
        httpGet: { port: 0, scheme: "FTP" },
        periodSeconds: -1,
        timeoutSeconds: -1,
        failureThreshold: -1,
        initialDelaySeconds: -1,
      },
      startupProbe: {
        tcpSocket: { port: "Bad Port" },
        successThreshold: 3,
        terminationGracePeriodSeconds: 0,
      },
    }),
    "refused: probe without handler": bad({
      livenessProbe: {},
      readinessProbe: { exec: { command: [] }, terminationGracePeriodSeconds: 5 },
    }),
    "refused: http headers": bad({
      livenessProbe: { httpGet: { port: 80, httpHeaders: [{ name: "bad header", value: "v" }] } },
    }),
    "refused: lifecycle": bad({
      lifecycle: { postStart: {}, preStop: { exec: {}, httpGet: { port: 80 } } },
    }),
    "refused: security context": bad({
      securityContext: {
        privileged: true,
        allowPrivilegeEscalation: false,
        runAsUser: -1,
        runAsGroup: -1,
        procMount: "Else",
        seccompProfile: { type: "Localhost" },
      },
    }),
    "refused: pod security context": {
      spec: {
        containers: [container],
        securityContext: {
          runAsUser: -1,
          runAsGroup: -1,
          fsGroup: -1,
          supplementalGroups: [-1],
          fsGroupChangePolicy: "Never",
          sysctls: [
            { name: "" },
            { name: "Bad Name" },
            { name: "kernel.shm_rmid_forced", value: "1" },
            { name: "kernel.shm_rmid_forced", value: "1" },
          ],
          seccompProfile: { type: "RuntimeDefault", localhostProfile: "x" },
        },
      },
    },
    "refused: init container with probes": {
      spec: {
        containers: [container],
        initContainers: [
          {
            name: "i",
            image: "x",
            livenessProbe: { tcpSocket: { port: 1 } },
            readinessProbe: { tcpSocket: { port: 1 } },
            startupProbe: { tcpSocket: { port: 1 } },
            lifecycle: { preStop: { exec: { command: ["a"] } } },
          },
          { name: "j", image: "x", restartPolicy: "Maybe" },
        ],
      },
    },
    "refused: container restart policy": bad({ restartPolicy: "Sometimes" }),
    "refused: affinity": {
      spec: {
        containers: [container],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 0,
                preference: {
                  matchExpressions: [{ key: "bad key", operator: "Is", values: ["a"] }],
                },
              },
              {
                weight: 101,
                preference: {
                  matchExpressions: [
                    { key: "k", operator: "In" },
                    { key: "k", operator: "Exists", values: ["a"] },
                    { key: "k", operator: "Gt", values: ["a", "b"] },
                  ],
                  matchFields: [{ key: "metadata.uid", operator: "In", values: ["a"] }],
                },
              },
            ],
          },
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: "",
                namespaces: ["Bad_NS"],
                labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
              },
            ],
          },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 0, podAffinityTerm: { topologyKey: "bad key" } },
            ],
          },
        },
      },
    },
    "refused: tolerations": {
      spec: {
        containers: [container],
        tolerations: [
          { key: "bad key", operator: "Exists" },
          { key: "k", operator: "Exists", value: "v" },
          { key: "k", operator: "Is" },
          { operator: "Equal", value: "v" },
          { key: "k", value: "bad value!", operator: "Equal" },
          { key: "k", operator: "Exists", effect: "Never" },
          { key: "k", operator: "Exists", effect: "NoSchedule", tolerationSeconds: 5 },
        ],
      },
    },
    "refused: topology spread": {
      spec: {
        containers: [container],
        topologySpreadConstraints: [
          { maxSkew: 0, topologyKey: "", whenUnsatisfiable: "Maybe" },
          { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 },
          { maxSkew: 1, topologyKey: "z", whenUnsatisfiable: "ScheduleAnyway", minDomains: 0 },
          {
            maxSkew: 1,
            topologyKey: "y",
            whenUnsatisfiable: "DoNotSchedule",
            nodeAffinityPolicy: "Else",
          },
        ],
      },
    },
    "refused: names in the pod spec": {
      spec: {
        containers: [container],
        serviceAccountName: "Bad_Name",
        nodeName: "Bad_Node",
        hostname: "Bad_Host",
        subdomain: "bad.sub",
        priorityClassName: "Bad_Class",
        runtimeClassName: "Bad_Runtime",
        nodeSelector: { "bad key!": "bad value!" },
        imagePullSecrets: [{ name: "" }],
        activeDeadlineSeconds: 0,
        terminationGracePeriodSeconds: -1,
        hostAliases: [{ ip: "nope", hostnames: ["Bad_Host"] }],
        readinessGates: [{ conditionType: "bad type" }],
        schedulingGates: [{ name: "bad gate" }, { name: "g" }, { name: "g" }],
      },
    },
    "refused: many at once": {
      spec: {
        containers: [{ image: "" }, { name: "A b", image: "x", ports: [{ containerPort: -1 }] }],
        restartPolicy: "X",
      },
    },
    "refused: ephemeral containers on create": {
      spec: { containers: [container], ephemeralContainers: [{ name: "e", image: "x" }] },
    },
    "refused: windows options on linux": {
      spec: {
        containers: [container],
        os: { name: "linux" },
        securityContext: { windowsOptions: { runAsUserName: "x" } },
      },
    },
    "refused: host pid with share process namespace": {
      spec: { containers: [container], hostPID: true, shareProcessNamespace: true },
    },
    "refused: set hostname as fqdn and os": {
      spec: { containers: [container], os: { name: "beos" } },
    },
  },
  {
    running: {
      object: {
        spec: {
          containers: [container, { name: "d", image: "x" }],
          nodeName: "n1",
          readinessGates: [{ conditionType: "example.com/g" }],
        },
      },
      status: {
        phase: "Running",
        podIP: "10.1.2.3",
        podIPs: [{ ip: "10.1.2.3" }],
        conditions: [
          { type: "Ready", status: "True" },
          { type: "example.com/g", status: "True" },
        ],
        containerStatuses: [
          {
            name: "c",
            image: "nginx",
            imageID: "",
            ready: true,
            restartCount: 3,
            state: { running: { startedAt: "1995-01-02T00:00:00Z" } },
            lastState: { terminated: { exitCode: 1, finishedAt: "1995-01-01T00:00:00Z" } },
          },
          {
            name: "d",
            image: "x",
            imageID: "",
            ready: false,
            restartCount: 0,
            state: { waiting: { reason: "CrashLoopBackOff" } },
          },
        ],
      },
    },
    succeeded: {
      object: { spec: { containers: [container], restartPolicy: "Never" } },
      status: {
        phase: "Succeeded",
        containerStatuses: [
          {
            name: "c",
            image: "nginx",
            imageID: "",
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: 0, reason: "Completed" } },
          },
        ],
      },
    },
    failed: {
      object: { spec: { containers: [container], restartPolicy: "Never" } },
      status: {
        phase: "Failed",
        containerStatuses: [
          {
            name: "c",
            image: "nginx",
            imageID: "",
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: 3 } },
          },
        ],
      },
    },
    "killed by a signal": {
      object: { spec: { containers: [container], restartPolicy: "Never" } },
      status: {
        phase: "Failed",
        containerStatuses: [
          {
            name: "c",
            image: "nginx",
            imageID: "",
            ready: false,
            restartCount: 0,
            state: { terminated: { exitCode: 137, signal: 9 } },
          },
        ],
      },
    },
    evicted: {
      object: { spec: { containers: [container] } },
      status: { phase: "Failed", reason: "Evicted" },
    },
    gated: {
      object: { spec: { containers: [container], schedulingGates: [{ name: "g" }] } },
      status: {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
      },
    },
    initializing: {
      object: {
        spec: {
          containers: [container],
          initContainers: [
            { name: "i", image: "x" },
            { name: "j", image: "x" },
          ],
        },
      },
      status: {
        phase: "Pending",
        initContainerStatuses: [
          {
            name: "i",
            image: "x",
            imageID: "",
            ready: true,
            restartCount: 1,
            state: { terminated: { exitCode: 0 } },
          },
          {
            name: "j",
            image: "x",
            imageID: "",
            ready: false,
            restartCount: 2,
            state: { waiting: { reason: "PodInitializing" } },
          },
        ],
      },
    },
    "failing in an init container": {
      object: { spec: { containers: [container], initContainers: [{ name: "i", image: "x" }] } },
      status: {
        phase: "Pending",
        initContainerStatuses: [
          {
            name: "i",
            image: "x",
            imageID: "",
            ready: false,
            restartCount: 2,
            state: { waiting: { reason: "CrashLoopBackOff" } },
          },
        ],
      },
    },
    "with a side container": {
      object: {
        spec: {
          containers: [container],
          initContainers: [{ name: "s", image: "x", restartPolicy: "Always" }],
        },
      },
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True" }],
        initContainerStatuses: [
          {
            name: "s",
            image: "x",
            imageID: "",
            ready: true,
            started: true,
            restartCount: 2,
            state: { running: {} },
          },
        ],
        containerStatuses: [
          {
            name: "c",
            image: "nginx",
            imageID: "",
            ready: true,
            restartCount: 1,
            state: { running: {} },
          },
        ],
      },
    },
    "image may change": {
      object: { spec: { containers: [container] } },
      change: {
        spec: {
          containers: [
            {
              ...container,
              image: "nginx:2",
              imagePullPolicy: "Always",
              terminationMessagePath: "/dev/termination-log",
              terminationMessagePolicy: "File",
              resources: {},
            },
          ],
        },
      },
    },
    "refused: command may not change": {
      object: { spec: { containers: [container] } },
      change: { spec: { containers: [{ ...container, command: ["x"] }] } },
    },
    "refused: container may not be added": {
      object: { spec: { containers: [container] } },
      change: { spec: { containers: [container, { name: "d", image: "x" }] } },
    },
    "refused: node may not change": {
      object: { spec: { containers: [container], nodeName: "n1" } },
      change: { spec: { nodeName: "n2" } },
    },
    "refused: deadline may not grow": {
      object: { spec: { containers: [container], activeDeadlineSeconds: 10 } },
      change: { spec: { activeDeadlineSeconds: 20 } },
    },
    "refused: toleration may not be removed": {
      object: {
        spec: { containers: [container], tolerations: [{ key: "k", operator: "Exists" }] },
      },
      change: { spec: { tolerations: null } },
    },
    "a toleration may be added": {
      object: {
        spec: { containers: [container], tolerations: [{ key: "k", operator: "Exists" }] },
      },
      change: {
        spec: {
          tolerations: [
            { key: "k", operator: "Exists" },
            { key: "l", operator: "Exists" },
          ],
        },
      },
    },
  },
);
