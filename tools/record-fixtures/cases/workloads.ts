import { casesOf, container, type JsonObject, labels, one, selector, template } from "../case.ts";

const spec = (fields: JsonObject = {}): JsonObject => ({
  spec: { selector, template: template(), ...fields },
});

const richTemplate = template(
  {
    ...one({
      ports: [{ containerPort: 80 }],
      livenessProbe: { httpGet: { port: 80 } },
      env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      resources: { limits: { cpu: "1000m", memory: "0.5Gi" } },
    }),
    volumes: [
      { name: "s", secret: { secretName: "s" } },
      { name: "c", configMap: { name: "c" } },
      { name: "e" },
    ],
    serviceAccountName: "robot",
  },
  { annotations: { note: "n" } },
);

const selectors: Readonly<Record<string, JsonObject>> = {
  "refused: empty": { spec: {} },
  "refused: no spec": {},
  "refused: no selector": { spec: { template: template() } },
  "refused: empty selector": spec({ selector: {} }),
  "refused: selector does not match": spec({ selector: { matchLabels: { app: "other" } } }),
  "refused: bad selector": spec({
    selector: {
      matchLabels: { "bad key!": "bad value!" },
      matchExpressions: [
        { key: "a", operator: "In" },
        { key: "a", operator: "Exists", values: ["v"] },
        { key: "a", operator: "Is" },
      ],
    },
  }),
  "refused: bad template": spec({
    template: {
      metadata: { labels: { ...labels, "bad key!": "bad value!" } },
      spec: { containers: [{ name: "c" }] },
    },
  }),
  "refused: restart policy": spec({
    template: template({ restartPolicy: "OnFailure", activeDeadlineSeconds: 5 }),
  }),
  "refused: negative": spec({ replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1 }),
};

export const deployments = casesOf(
  "apps/v1",
  "Deployment",
  "deployments",
  "namespaced",
  {
    minimal: spec(),
    rich: spec({
      replicas: 3,
      strategy: { rollingUpdate: { maxSurge: 1 } },
      minReadySeconds: 5,
      template: richTemplate,
      paused: true,
    }),
    recreate: spec({ strategy: { type: "Recreate" }, replicas: 0 }),
    expressions: spec({
      selector: {
        matchExpressions: [
          { key: "app", operator: "In", values: ["b", "a"] },
          { key: "x", operator: "DoesNotExist" },
        ],
      },
    }),
    ...selectors,
    "refused: strategy": spec({ strategy: { type: "Else" } }),
    "refused: recreate with rolling update": spec({
      strategy: { type: "Recreate", rollingUpdate: {} },
    }),
    "refused: rolling update of nothing": spec({
      strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
    }),
    "refused: rolling update values": spec({
      strategy: { rollingUpdate: { maxSurge: "x", maxUnavailable: "101%" } },
    }),
    "refused: rolling update negative": spec({
      strategy: { rollingUpdate: { maxSurge: -1, maxUnavailable: "5" } },
    }),
    "refused: deadline": spec({ progressDeadlineSeconds: 5, minReadySeconds: 10 }),
  },
  {
    running: {
      object: spec({
        replicas: 3,
        template: template({ containers: [container, { name: "d", image: "e" }] }),
      }),
      status: {
        replicas: 3,
        updatedReplicas: 2,
        readyReplicas: 1,
        availableReplicas: 1,
        unavailableReplicas: 2,
        observedGeneration: 1,
      },
    },
    "replicas may change": { object: spec(), change: { spec: { replicas: 5 } } },
    "refused: selector may not change": {
      object: spec(),
      change: {
        spec: {
          selector: { matchLabels: { app: "b" } },
          template: { metadata: { labels: { app: "b" } } },
        },
      },
    },
  },
);

export const replicaSets = casesOf(
  "apps/v1",
  "ReplicaSet",
  "replicasets",
  "namespaced",
  {
    minimal: spec(),
    rich: spec({ replicas: 3, minReadySeconds: 5, template: richTemplate }),
    "refused: without template": { spec: { selector } },
    ...selectors,
  },
  {
    running: {
      object: spec({ replicas: 3 }),
      status: { replicas: 3, readyReplicas: 1, fullyLabeledReplicas: 3 },
    },
    "refused: selector may not change": {
      object: spec(),
      change: {
        spec: {
          selector: { matchLabels: { app: "b" } },
          template: { metadata: { labels: { app: "b" } } },
        },
      },
    },
  },
);

export const daemonSets = casesOf(
  "apps/v1",
  "DaemonSet",
  "daemonsets",
  "namespaced",
  {
    minimal: spec(),
    rich: spec({
      updateStrategy: { rollingUpdate: { maxUnavailable: "10%" } },
      minReadySeconds: 5,
      template: richTemplate,
    }),
    "on delete": spec({ updateStrategy: { type: "OnDelete" } }),
    ...selectors,
    "refused: strategy": spec({ updateStrategy: { type: "Else" } }),
    "refused: surge and unavailable": spec({
      updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } },
    }),
    "refused: neither surge nor unavailable": spec({
      updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } },
    }),
    "refused: host port with surge": spec({
      updateStrategy: { rollingUpdate: { maxUnavailable: "x", maxSurge: "120%" } },
    }),
  },
  {
    running: {
      object: spec({ template: template({ nodeSelector: { disk: "ssd", a: "b" } }) }),
      status: {
        desiredNumberScheduled: 3,
        currentNumberScheduled: 2,
        numberReady: 1,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
        numberMisscheduled: 0,
      },
    },
    "refused: selector may not change": {
      object: spec(),
      change: {
        spec: {
          selector: { matchLabels: { app: "b" } },
          template: { metadata: { labels: { app: "b" } } },
        },
      },
    },
  },
);

const claimTemplate: JsonObject = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

export const statefulSets = casesOf(
  "apps/v1",
  "StatefulSet",
  "statefulsets",
  "namespaced",
  {
    minimal: spec(),
    rich: spec({
      serviceName: "svc",
      replicas: 3,
      volumeClaimTemplates: [claimTemplate],
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      ordinals: { start: 5 },
      template: template(one({ volumeMounts: [{ name: "data", mountPath: "/d" }] })),
    }),
    "rolling update without details": spec({ updateStrategy: { type: "RollingUpdate" } }),
    "on delete": spec({ updateStrategy: { type: "OnDelete" } }),
    ...selectors,
    "refused: policies": spec({
      podManagementPolicy: "Else",
      updateStrategy: { type: "Else" },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Else" },
    }),
    "refused: on delete with rolling update": spec({
      updateStrategy: { type: "OnDelete", rollingUpdate: { partition: 1 } },
    }),
    "refused: partition": spec({
      updateStrategy: { rollingUpdate: { partition: -1, maxUnavailable: 0 } },
    }),
    "refused: service name": spec({ serviceName: "Bad_Name", ordinals: { start: -1 } }),
    "refused: claim templates": spec({
      volumeClaimTemplates: [{ metadata: { name: "d" }, spec: {} }],
    }),
  },
  {
    running: { object: spec({ replicas: 3 }), status: { replicas: 3, readyReplicas: 2 } },
    "refused: service name may not change": {
      object: spec({ serviceName: "a" }),
      change: { spec: { serviceName: "b" } },
    },
    "refused: selector may not change": {
      object: spec(),
      change: {
        spec: {
          selector: { matchLabels: { app: "b" } },
          template: { metadata: { labels: { app: "b" } } },
        },
      },
    },
    "template may change": {
      object: spec(),
      change: { spec: { replicas: 2, minReadySeconds: 4 } },
    },
  },
);

export const revisions = casesOf(
  "apps/v1",
  "ControllerRevision",
  "controllerrevisions",
  "namespaced",
  {
    minimal: { data: {}, revision: 1 },
    rich: { data: { spec: { x: 1 } }, revision: 3, metadata: { labels } },
    "refused: no data": { revision: 1 },
    "refused: negative": { data: {}, revision: -1 },
  },
  {
    owned: {
      object: {
        data: {},
        revision: 7,
        metadata: {
          ownerReferences: [
            { apiVersion: "apps/v1", kind: "StatefulSet", name: "s", uid: "u", controller: true },
          ],
        },
      },
    },
    free: { object: { data: {}, revision: 7 } },
    "refused: data may not change": {
      object: { data: { a: 1 }, revision: 1 },
      change: { data: { a: 2 } },
    },
  },
);

const never = template({ restartPolicy: "Never" });
const job = (fields: JsonObject = {}): JsonObject => ({ spec: { template: never, ...fields } });

export const jobs = casesOf(
  "batch/v1",
  "Job",
  "jobs",
  "namespaced",
  {
    minimal: job(),
    "without labels": {
      spec: { template: { spec: { containers: [container], restartPolicy: "Never" } } },
    },
    rich: job({
      parallelism: 2,
      completions: 4,
      backoffLimit: 1,
      activeDeadlineSeconds: 60,
      ttlSecondsAfterFinished: 10,
      completionMode: "Indexed",
      suspend: true,
    }),
    "parallelism only": job({ parallelism: 3 }),
    "per index": job({ completionMode: "Indexed", completions: 3, backoffLimitPerIndex: 1 }),
    "manual selector": job({ manualSelector: true, selector }),
    "failure policy": job({
      podFailurePolicy: {
        rules: [
          { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] },
          { action: "FailJob", onExitCodes: { operator: "In", values: [1, 2] } },
        ],
      },
    }),
    "refused: empty": { spec: {} },
    "refused: no spec": {},
    "refused: restart policy": job({ template: template() }),
    "refused: restart policy else": job({ template: template({ restartPolicy: "Else" }) }),
    "refused: negative": job({
      parallelism: -1,
      completions: -1,
      backoffLimit: -1,
      activeDeadlineSeconds: -1,
      ttlSecondsAfterFinished: -1,
    }),
    "refused: mode": job({ completionMode: "Else" }),
    "refused: indexed without completions": job({ completionMode: "Indexed", parallelism: 2 }),
    "refused: per index without index": job({ backoffLimitPerIndex: 1, maxFailedIndexes: 2 }),
    "refused: selector given": job({ selector }),
    "refused: manual selector missing": job({ manualSelector: true }),
    "refused: failure policy": job({
      podFailurePolicy: {
        rules: [
          { action: "" },
          { action: "Else", onExitCodes: { operator: "In", values: [] } },
          { action: "FailIndex", onPodConditions: [{ type: "bad type", status: "x" }] },
        ],
      },
    }),
    "refused: replacement policy": job({ podReplacementPolicy: "Else" }),
    "refused: managed by": job({ managedBy: "bad" }),
    "refused: success policy": job({ successPolicy: { rules: [] } }),
  },
  {
    running: { object: job(), status: { active: 1, startTime: "1995-01-01T00:00:00Z" } },
    complete: {
      object: job(),
      status: {
        succeeded: 1,
        startTime: "1995-01-01T00:00:00Z",
        completionTime: "1995-01-01T00:05:10Z",
        conditions: [
          { type: "SuccessCriteriaMet", status: "True" },
          { type: "Complete", status: "True" },
        ],
      },
    },
    suspended: {
      object: job({ suspend: true, parallelism: 2 }),
      status: { conditions: [{ type: "Suspended", status: "True" }] },
    },
    "one completion is enough": { object: job({ parallelism: 3 }) },
    "refused: template may not change": {
      object: job(),
      change: { spec: { template: { spec: { containers: [{ ...container, image: "other" }] } } } },
    },
    "refused: completions may not change": {
      object: job({ completions: 2 }),
      change: { spec: { completions: 3 } },
    },
    "refused: mode may not change": {
      object: job({ completions: 2 }),
      change: { spec: { completionMode: "Indexed" } },
    },
    "parallelism may change": { object: job(), change: { spec: { parallelism: 4 } } },
  },
);

const cron = (fields: JsonObject = {}): JsonObject => ({
  spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: never } }, ...fields },
});

export const cronJobs = casesOf(
  "batch/v1",
  "CronJob",
  "cronjobs",
  "namespaced",
  {
    minimal: cron(),
    rich: cron({
      timeZone: "Europe/Berlin",
      suspend: true,
      concurrencyPolicy: "Forbid",
      startingDeadlineSeconds: 10,
      successfulJobsHistoryLimit: 0,
      failedJobsHistoryLimit: 0,
    }),
    descriptor: cron({ schedule: "@daily" }),
    every: cron({ schedule: "@every 1h30m" }),
    names: cron({ schedule: "0 8-18/2 ? JAN-mar MON,fri" }),
    "refused: empty": { spec: {} },
    "refused: schedule": cron({ schedule: "nope" }),
    "refused: schedule out of range": cron({ schedule: "61 * * * *" }),
    "refused: schedule bad range": cron({ schedule: "* 5-2 * * *" }),
    "refused: schedule six fields": cron({ schedule: "* * * * * *" }),
    "refused: schedule bad step": cron({ schedule: "*/0 * * * *" }),
    "refused: schedule bad number": cron({ schedule: "x * * * *" }),
    "refused: schedule bad day": cron({ schedule: "* * * * 8" }),
    "refused: schedule bad descriptor": cron({ schedule: "@never" }),
    "refused: schedule bad duration": cron({ schedule: "@every soon" }),
    "refused: schedule too many hyphens": cron({ schedule: "1-2-3 * * * *" }),
    "refused: schedule too many slashes": cron({ schedule: "1/2/3 * * * *" }),
    "refused: schedule below range": cron({ schedule: "* * 0 * *" }),
    "refused: zone in schedule": cron({ schedule: "TZ=UTC * * * * *" }),
    "refused: zone": cron({ timeZone: "Mars/Olympus" }),
    "refused: zone empty": cron({ timeZone: "" }),
    "refused: zone local": cron({ timeZone: "Local" }),
    "refused: policy": cron({ concurrencyPolicy: "Else" }),
    "refused: negative": cron({
      startingDeadlineSeconds: -1,
      successfulJobsHistoryLimit: -1,
      failedJobsHistoryLimit: -1,
    }),
    "refused: selector": cron({
      jobTemplate: { spec: { template: never, selector, manualSelector: true } },
    }),
    "refused: restart policy": cron({ jobTemplate: { spec: { template: template() } } }),
    "refused: long name": { ...cron(), metadata: { name: "a".repeat(53) } },
  },
  {
    plain: { object: cron() },
    scheduled: {
      object: cron({ timeZone: "UTC", suspend: true }),
      status: {
        lastScheduleTime: "1995-01-01T00:00:00Z",
        active: [{ kind: "Job", name: "j", namespace: "default" }],
      },
    },
    "schedule may change": { object: cron(), change: { spec: { schedule: "@hourly" } } },
  },
);
