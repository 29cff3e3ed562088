/** Every rule of every kind, broken once: what is refused, and the path of the field that is named. */
import { describe, expect, it } from "vitest";
import { equalJson } from "../equal-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { accept, admit, body } from "./admit.suite.ts";
import { kindWarnings } from "./control-plane-kinds.ts";

type Refusal = readonly [
  rule: string,
  spec: unknown,
  field: string,
  message?: RegExp,
  metadata?: JsonObject,
];

const selector = { apiVersion: "apps/v1", kind: "Deployment" };
const push = { syncMode: "Push" };
const placed = (placement: unknown): unknown => ({ resourceSelectors: [selector], placement });
const failing = (failover: unknown, rest: object = { propagateDeps: true }): unknown => ({
  resourceSelectors: [selector],
  failover,
  ...rest,
});
const application = { decisionConditions: { tolerationSeconds: 60 } };
const overriding = (overriders: unknown): unknown => ({ overrideRules: [{ overriders }] });
const model = (grade: number, min: string, max: string, name = "cpu"): unknown => ({
  grade,
  ranges: [{ name, min, max }],
});
const byFields = (...expressions: unknown[]): unknown => ({
  fieldSelector: { matchExpressions: expressions },
});
const ready = { conditionType: "Ready", operator: "In", statusValues: ["False"] };
const taint = { key: "a", effect: "NoExecute" };
const dynamic = {
  replicaSchedulingType: "Divided",
  replicaDivisionPreference: "Weighted",
  weightPreference: { dynamicWeight: "AvailableReplicas" },
};

const refusals: Readonly<Record<string, readonly Refusal[]>> = {
  Cluster: [
    ["a mode is needed", {}, "spec.syncMode", /Required/],
    ["the mode is Push or Pull", { syncMode: "Poll" }, "spec.syncMode", /supported values/],
    ["a name is a label", push, "metadata.name", /lower case/, { name: "A" }],
    ["a name has no dots", push, "metadata.name", /dots/, { name: "a.b" }],
    ["a name has at most 48 characters", push, "metadata.name", /48/, { name: "x".repeat(49) }],
    [
      "a name is not that of another cluster's Secret",
      push,
      "metadata.name",
      /must not end in -impersonator/,
      { name: "eu-1-impersonator" },
    ],
    ["an endpoint is a URL", { ...push, apiEndpoint: "member1" }, "spec.apiEndpoint", /host/],
    ["an endpoint has a host", { ...push, apiEndpoint: "file:///x" }, "spec.apiEndpoint", /host/],
    [
      "an endpoint has no user",
      { ...push, apiEndpoint: "https://u@h" },
      "spec.apiEndpoint",
      /user/,
    ],
    [
      "an endpoint has no query",
      { ...push, apiEndpoint: "https://h?a" },
      "spec.apiEndpoint",
      /query/,
    ],
    [
      "an endpoint has no fragment",
      { ...push, apiEndpoint: "https://h#a" },
      "spec.apiEndpoint",
      /fragment/,
    ],
    ["a proxy has a known scheme", { ...push, proxyURL: "ftp://h" }, "spec.proxyURL", /socks5/],
    ["a proxy is a URL", { ...push, proxyURL: "h" }, "spec.proxyURL", /URL/],
    ["a secret has a namespace", { ...push, secretRef: { name: "a" } }, "spec.secretRef.namespace"],
    ["a secret has a name", { ...push, secretRef: { namespace: "a" } }, "spec.secretRef.name"],
    [
      "so has the impersonator's",
      { ...push, impersonatorSecretRef: { namespace: "a" } },
      "spec.impersonatorSecretRef.name",
    ],
    ["a provider is a label value", { ...push, provider: "a b" }, "spec.provider"],
    ["a region is a label value", { ...push, region: "a b" }, "spec.region"],
    ["a zone is a label value", { ...push, zones: ["a", "b/c"] }, "spec.zones[1]"],
    ["zone and zones exclude each other", { ...push, zone: "a", zones: ["b"] }, "spec.zone"],
    [
      "a taint's key is a label key",
      { ...push, taints: [{ key: "a b", effect: "NoExecute" }] },
      "spec.taints[0].key",
    ],
    [
      "a taint's value is a label value",
      { ...push, taints: [{ ...taint, value: "a b" }] },
      "spec.taints[0].value",
    ],
    [
      "a taint has an effect that is known",
      { ...push, taints: [{ key: "a", effect: "PreferNothing" }] },
      "spec.taints[0].effect",
    ],
    [
      "a taint occurs once",
      { ...push, taints: [taint, { ...taint, value: "b" }] },
      "spec.taints[1]",
      /Duplicate/,
    ],
    [
      "a grade is not negative",
      { ...push, resourceModels: [model(-1, "0", "1")] },
      "spec.resourceModels[0].grade",
    ],
    [
      "a grade occurs once",
      { ...push, resourceModels: [model(1, "0", "1"), model(1, "1", "2")] },
      "spec.resourceModels[1].grade",
    ],
    [
      "grades touch",
      { ...push, resourceModels: [model(1, "0", "1"), model(2, "2", "3")] },
      "spec.resourceModels[1].ranges[0].min",
    ],
    [
      "grades grow",
      { ...push, resourceModels: [model(1, "0", "0"), model(2, "0", "3")] },
      "spec.resourceModels[0].ranges[0].max",
    ],
    [
      "grades have the same resources",
      { ...push, resourceModels: [model(1, "0", "1"), model(2, "1", "2", "memory")] },
      "spec.resourceModels[1].ranges[0].name",
    ],
    [
      "grades have as many resources",
      { ...push, resourceModels: [model(1, "0", "1"), { grade: 2, ranges: [] }] },
      "spec.resourceModels[1].ranges",
    ],
    [
      "bounds are quantities",
      { ...push, resourceModels: [model(1, "0", "many"), model(2, "1", "2")] },
      "spec.resourceModels[0].ranges[0].max",
    ],
  ],
  PropagationPolicy: [
    ["something is selected", { resourceSelectors: [] }, "spec.resourceSelectors", /at least 1/],
    ["selectors are needed", {}, "spec.resourceSelectors", /Required/],
    [
      "a selector has a kind",
      { resourceSelectors: [{ apiVersion: "v1" }] },
      "spec.resourceSelectors[0].kind",
    ],
    [
      "a selector has an apiVersion",
      { resourceSelectors: [{ kind: "A" }] },
      "spec.resourceSelectors[0].apiVersion",
    ],
    [
      "a selector stays in the namespace",
      { resourceSelectors: [{ ...selector, namespace: "other" }] },
      "spec.resourceSelectors[0].namespace",
    ],
    [
      "a label selector is valid",
      { resourceSelectors: [{ ...selector, labelSelector: { matchLabels: { "a b": "c" } } }] },
      "spec.resourceSelectors[0].labelSelector.matchLabels",
    ],
    [
      "a preempting policy names resources",
      { resourceSelectors: [{ ...selector, name: "a" }, selector], preemption: "Always" },
      "spec.resourceSelectors[1].name",
    ],
    [
      "preemption is Always or Never",
      { resourceSelectors: [selector], preemption: "Maybe" },
      "spec.preemption",
    ],
    [
      "conflicts abort or overwrite",
      { resourceSelectors: [selector], conflictResolution: "Maybe" },
      "spec.conflictResolution",
    ],
    [
      "activation is Lazy",
      { resourceSelectors: [selector], activationPreference: "Eager" },
      "spec.activationPreference",
    ],
    [
      "priority fits 32 bits",
      { resourceSelectors: [selector], priority: 3e9 },
      "<nil>",
      /spec\.priority/,
    ],
    [
      "all or some clusters are suspended",
      {
        resourceSelectors: [selector],
        suspension: { dispatching: true, dispatchingOnClusters: { clusterNames: ["a"] } },
      },
      "spec.suspension.dispatchingOnClusters",
    ],
    [
      "a priority class has a source",
      { resourceSelectors: [selector], schedulePriority: { priorityClassName: "a" } },
      "spec.schedulePriority.priorityClassSource",
    ],
    [
      "a priority class has a known source",
      {
        resourceSelectors: [selector],
        schedulePriority: { priorityClassSource: "Guess", priorityClassName: "a" },
      },
      "spec.schedulePriority.priorityClassSource",
    ],
    [
      "a priority class has a name",
      {
        resourceSelectors: [selector],
        schedulePriority: { priorityClassSource: "KubePriorityClass" },
      },
      "spec.schedulePriority.priorityClassName",
    ],
    [
      "clusterAffinity excludes clusterAffinities",
      placed({ clusterAffinity: {}, clusterAffinities: [{ affinityName: "a" }] }),
      "spec.placement.clusterAffinities",
    ],
    [
      "a field selector has a known key",
      placed({ clusterAffinity: byFields({ key: "planet", operator: "In", values: ["a"] }) }),
      "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].key",
    ],
    [
      "a field selector has a known operator",
      placed({ clusterAffinity: byFields({ key: "zone", operator: "Exists" }) }),
      "spec.placement.clusterAffinity.fieldSelector.matchExpressions[0].operator",
    ],
    [
      "cluster labels are selected validly",
      placed({
        clusterAffinity: {
          labelSelector: { matchExpressions: [{ key: "a", operator: "In", values: [] }] },
        },
      }),
      "spec.placement.clusterAffinity.labelSelector.matchExpressions[0].values",
    ],
    [
      "a group has a name",
      placed({ clusterAffinities: [{}] }),
      "spec.placement.clusterAffinities[0].affinityName",
    ],
    [
      "a group's name is not empty",
      placed({ clusterAffinities: [{ affinityName: "" }] }),
      "spec.placement.clusterAffinities[0].affinityName",
    ],
    [
      "a group's name is short",
      placed({ clusterAffinities: [{ affinityName: "a".repeat(33) }] }),
      "spec.placement.clusterAffinities[0].affinityName",
    ],
    [
      "a group's name is a label key",
      placed({ clusterAffinities: [{ affinityName: "a b" }] }),
      "spec.placement.clusterAffinities[0].affinityName",
    ],
    [
      "a group's name occurs once",
      placed({ clusterAffinities: [{ affinityName: "a" }, { affinityName: "a" }] }),
      "spec.placement.clusterAffinities[1].affinityName",
      /Duplicate/,
    ],
    [
      "an overflow group's name occurs once",
      placed({
        clusterAffinities: [
          { affinityName: "a", clusterNames: ["m"], overflowAffinities: [{ affinityName: "a" }] },
        ],
        replicaScheduling: dynamic,
      }),
      "spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName",
      /Duplicate/,
    ],
    [
      "overflow needs a division by room",
      placed({
        clusterAffinities: [
          { affinityName: "a", clusterNames: ["m"], overflowAffinities: [{ affinityName: "b" }] },
        ],
      }),
      "spec.placement.clusterAffinities[0].overflowAffinities",
      /Divided/,
    ],
    [
      "overflow needs a group that can be full",
      placed({
        clusterAffinities: [{ affinityName: "a", overflowAffinities: [{ affinityName: "b" }] }],
        replicaScheduling: dynamic,
      }),
      "spec.placement.clusterAffinities[0].overflowAffinities",
      /all clusters/,
    ],
    [
      "a toleration compares no sizes",
      placed({ clusterTolerations: [{ key: "a", operator: "Gt", value: "1" }] }),
      "spec.placement.clusterTolerations[0].operator",
    ],
    [
      "a toleration without key exists",
      placed({ clusterTolerations: [{ value: "a" }] }),
      "spec.placement.clusterTolerations[0].operator",
    ],
    [
      "a toleration that exists has no value",
      placed({ clusterTolerations: [{ key: "a", operator: "Exists", value: "b" }] }),
      "spec.placement.clusterTolerations[0].value",
    ],
    [
      "a toleration's key is a label key",
      placed({ clusterTolerations: [{ key: "a b" }] }),
      "spec.placement.clusterTolerations[0].key",
    ],
    [
      "a toleration's value is a label value",
      placed({ clusterTolerations: [{ key: "a", value: "b c" }] }),
      "spec.placement.clusterTolerations[0].value",
    ],
    [
      "PreferNoExecute is not tolerated",
      placed({ clusterTolerations: [{ key: "a", effect: "PreferNoExecute" }] }),
      "spec.placement.clusterTolerations[0].effect",
    ],
    [
      "only NoExecute is tolerated for a time",
      placed({ clusterTolerations: [{ key: "a", effect: "NoSchedule", tolerationSeconds: 1 }] }),
      "spec.placement.clusterTolerations[0].effect",
    ],
    [
      "spreading is by a known field",
      placed({ spreadConstraints: [{ spreadByField: "planet" }] }),
      "spec.placement.spreadConstraints[0].spreadByField",
    ],
    [
      "spreading is by field or label",
      placed({ spreadConstraints: [{ spreadByField: "cluster", spreadByLabel: "a" }] }),
      "spec.placement.spreadConstraints[0].spreadByLabel",
    ],
    [
      "minGroups is not negative",
      placed({ spreadConstraints: [{ minGroups: -1 }] }),
      "spec.placement.spreadConstraints[0].minGroups",
    ],
    [
      "maxGroups is not negative",
      placed({ spreadConstraints: [{ maxGroups: -1 }] }),
      "spec.placement.spreadConstraints[0].maxGroups",
    ],
    [
      "maxGroups is at least minGroups",
      placed({ spreadConstraints: [{ minGroups: 3, maxGroups: 2 }] }),
      "spec.placement.spreadConstraints[0].maxGroups",
    ],
    [
      "spreading by a field occurs once",
      placed({ spreadConstraints: [{ spreadByField: "cluster" }, {}] }),
      "spec.placement.spreadConstraints[1].spreadByField",
      /Duplicate/,
    ],
    [
      "spreading by field includes clusters",
      placed({ spreadConstraints: [{ spreadByField: "region" }] }),
      "spec.placement.spreadConstraints",
      /cluster/,
    ],
    [
      "replicas are divided or duplicated",
      placed({ replicaScheduling: { replicaSchedulingType: "Lost" } }),
      "spec.placement.replicaScheduling.replicaSchedulingType",
    ],
    [
      "replicas are divided in a known way",
      placed({
        replicaScheduling: {
          replicaSchedulingType: "Divided",
          replicaDivisionPreference: "Randomly",
        },
      }),
      "spec.placement.replicaScheduling.replicaDivisionPreference",
    ],
    [
      "a dynamic weight is known",
      placed({ replicaScheduling: { ...dynamic, weightPreference: { dynamicWeight: "Luck" } } }),
      "spec.placement.replicaScheduling.weightPreference.dynamicWeight",
    ],
    [
      "an overflow group's name is short",
      placed({
        clusterAffinities: [
          {
            affinityName: "a",
            clusterNames: ["m"],
            overflowAffinities: [{ affinityName: "b".repeat(33) }],
          },
        ],
        replicaScheduling: dynamic,
      }),
      "spec.placement.clusterAffinities[0].overflowAffinities[0].affinityName",
    ],
    [
      "a weight is positive",
      placed({
        replicaScheduling: {
          weightPreference: { staticWeightList: [{ targetCluster: {}, weight: 0 }] },
        },
      }),
      "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight",
    ],
    [
      "a weight is for clusters",
      placed({ replicaScheduling: { weightPreference: { staticWeightList: [{ weight: 1 }] } } }),
      "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster",
    ],
    [
      "a weight selects clusters validly",
      placed({
        replicaScheduling: {
          weightPreference: {
            staticWeightList: [
              { targetCluster: byFields({ key: "x", operator: "In" }), weight: 1 },
            ],
          },
        },
      }),
      "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].key",
    ],
    [
      "a group of workloads is by a label key",
      placed({ workloadAffinity: { affinity: { groupByLabelKey: "a b" } } }),
      "spec.placement.workloadAffinity.affinity.groupByLabelKey",
    ],
    [
      "together and apart differ",
      placed({
        workloadAffinity: {
          affinity: { groupByLabelKey: "a" },
          antiAffinity: { groupByLabelKey: "a" },
        },
      }),
      "spec.placement.workloadAffinity.antiAffinity.groupByLabelKey",
    ],
    [
      "application failover takes dependencies along",
      failing({ application }, {}),
      "spec.propagateDeps",
    ],
    [
      "application failover says when",
      failing({ application: {} }),
      "spec.failover.application.decisionConditions",
    ],
    [
      "an application is tolerated for no negative time",
      failing({ application: { decisionConditions: { tolerationSeconds: -1 } } }),
      "spec.failover.application.decisionConditions.tolerationSeconds",
    ],
    [
      "a purge mode is known",
      failing({ application: { ...application, purgeMode: "Softly" } }),
      "spec.failover.application.purgeMode",
    ],
    [
      "grace is for graceful purging",
      failing({ application: { ...application, purgeMode: "Directly", gracePeriodSeconds: 5 } }),
      "spec.failover.application.gracePeriodSeconds",
    ],
    [
      "grace is positive",
      failing({ application: { ...application, gracePeriodSeconds: 0 } }),
      "spec.failover.application.gracePeriodSeconds",
    ],
    [
      "a cluster is tolerated for no negative time",
      failing({ cluster: { tolerationSeconds: -1 } }),
      "spec.failover.cluster.tolerationSeconds",
    ],
    [
      "cluster failover purges",
      failing({ cluster: { purgeMode: "Never" } }),
      "spec.failover.cluster.purgeMode",
    ],
    [
      "state is kept by rules",
      failing({ cluster: { statePreservation: {} } }),
      "spec.failover.cluster.statePreservation.rules",
    ],
    [
      "a rule of state has a label",
      failing({ cluster: { statePreservation: { rules: [{ jsonPath: "{ .a }" }] } } }),
      "spec.failover.cluster.statePreservation.rules[0].aliasLabelName",
    ],
    [
      "a rule of state has a path",
      failing({ cluster: { statePreservation: { rules: [{ aliasLabelName: "a" }] } } }),
      "spec.failover.cluster.statePreservation.rules[0].jsonPath",
    ],
    [
      "state is kept in a label",
      failing({
        cluster: { statePreservation: { rules: [{ aliasLabelName: "a b", jsonPath: "{ .a }" }] } },
      }),
      "spec.failover.cluster.statePreservation.rules[0].aliasLabelName",
    ],
    [
      "state is found by a path in braces",
      failing({
        cluster: { statePreservation: { rules: [{ aliasLabelName: "a", jsonPath: ".a" }] } },
      }),
      "spec.failover.cluster.statePreservation.rules[0].jsonPath",
      /braces/,
    ],
    [
      "state is found by a path",
      failing({
        application: {
          ...application,
          statePreservation: { rules: [{ aliasLabelName: "a", jsonPath: "{ .a" }] },
        },
      }),
      "spec.failover.application.statePreservation.rules[0].jsonPath",
    ],
  ],
  OverridePolicy: [
    [
      "a selector stays in the namespace",
      { resourceSelectors: [{ ...selector, namespace: "other" }] },
      "spec.resourceSelectors[0].namespace",
    ],
    [
      "old and new forms exclude each other",
      { overrideRules: [{ overriders: {} }], targetCluster: {} },
      "spec.overrideRules",
    ],
    [
      "the old overriders exclude rules too",
      {
        overrideRules: [{ overriders: {} }],
        overriders: { labelsOverrider: [{ operator: "add", value: { a: "b" } }] },
      },
      "spec.overrideRules",
    ],
    ["a rule has overriders", { overrideRules: [{}] }, "spec.overrideRules[0].overriders"],
    [
      "a rule selects clusters validly",
      {
        overrideRules: [{ overriders: {}, targetCluster: byFields({ key: "x", operator: "In" }) }],
      },
      "spec.overrideRules[0].targetCluster.fieldSelector.matchExpressions[0].key",
    ],
    [
      "the old form selects clusters validly",
      { targetCluster: byFields({ key: "x", operator: "In" }) },
      "spec.targetCluster.fieldSelector.matchExpressions[0].key",
    ],
    [
      "a path is a pointer",
      overriding({ plaintext: [{ path: "spec", operator: "add" }] }),
      "spec.overrideRules[0].overriders.plaintext[0].path",
    ],
    [
      "a pointer is escaped",
      overriding({ plaintext: [{ path: "/a~b", operator: "add" }] }),
      "spec.overrideRules[0].overriders.plaintext[0].path",
    ],
    [
      "a change is known",
      overriding({ plaintext: [{ path: "/a", operator: "move" }] }),
      "spec.overrideRules[0].overriders.plaintext[0].operator",
    ],
    [
      "an image predicate is a pointer",
      overriding({
        imageOverrider: [{ predicate: { path: "a" }, component: "Tag", operator: "add" }],
      }),
      "spec.overrideRules[0].overriders.imageOverrider[0].predicate.path",
    ],
    [
      "an image has known parts",
      overriding({ imageOverrider: [{ component: "Digest", operator: "add" }] }),
      "spec.overrideRules[0].overriders.imageOverrider[0].component",
    ],
    [
      "a command is not replaced",
      overriding({ commandOverrider: [{ containerName: "a", operator: "replace" }] }),
      "spec.overrideRules[0].overriders.commandOverrider[0].operator",
    ],
    [
      "labels are labels",
      overriding({ labelsOverrider: [{ operator: "add", value: { a: "b c" } }] }),
      "spec.overrideRules[0].overriders.labelsOverrider[0].value",
    ],
    [
      "annotations have keys",
      overriding({ annotationsOverrider: [{ operator: "add", value: { "a b": "" } }] }),
      "spec.overrideRules[0].overriders.annotationsOverrider[0].value",
    ],
    [
      "a field is a pointer",
      overriding({
        fieldOverrider: [{ fieldPath: "a", json: [{ subPath: "/a", operator: "remove" }] }],
      }),
      "spec.overrideRules[0].overriders.fieldOverrider[0].fieldPath",
    ],
    [
      "a sub-path is a pointer",
      overriding({
        fieldOverrider: [{ fieldPath: "/a", yaml: [{ subPath: "a", operator: "remove" }] }],
      }),
      "spec.overrideRules[0].overriders.fieldOverrider[0].yaml[0].subPath",
    ],
    [
      "a field is JSON or YAML",
      overriding({ fieldOverrider: [{ fieldPath: "/a" }] }),
      "spec.overrideRules[0].overriders.fieldOverrider[0]",
    ],
    [
      "a field is not JSON and YAML at once",
      overriding({
        fieldOverrider: [
          {
            fieldPath: "/a",
            json: [{ subPath: "/a", operator: "remove" }],
            yaml: [{ subPath: "/a", operator: "remove" }],
          },
        ],
      }),
      "spec.overrideRules[0].overriders.fieldOverrider[0]",
    ],
    [
      "a sub-path into JSON is a pointer",
      overriding({
        fieldOverrider: [{ fieldPath: "/a", json: [{ subPath: "a", operator: "remove" }] }],
      }),
      "spec.overrideRules[0].overriders.fieldOverrider[0].json[0].subPath",
    ],
    [
      "an image changes in a known way",
      overriding({ imageOverrider: [{ component: "Tag", operator: "move" }] }),
      "spec.overrideRules[0].overriders.imageOverrider[0].operator",
    ],
    [
      "arguments are not replaced",
      overriding({ argsOverrider: [{ containerName: "a", operator: "replace" }] }),
      "spec.overrideRules[0].overriders.argsOverrider[0].operator",
    ],
    [
      "labels change in a known way",
      overriding({ labelsOverrider: [{ operator: "move", value: { a: "b" } }] }),
      "spec.overrideRules[0].overriders.labelsOverrider[0].operator",
    ],
    [
      "label keys are keys",
      overriding({ labelsOverrider: [{ operator: "add", value: { "a b": "c" } }] }),
      "spec.overrideRules[0].overriders.labelsOverrider[0].value",
    ],
    [
      "the old form is checked too",
      { overriders: { plaintext: [{ path: "a", operator: "add" }] } },
      "spec.overriders.plaintext[0].path",
    ],
  ],
  ClusterTaintPolicy: [
    [
      "the spellings are not mixed",
      { taintsToAdd: [taint], addOnConditions: [ready] },
      "spec.addOnConditions",
      /mixed/,
    ],
    [
      "not even by the clusters",
      { taintsToAdd: [taint], targetClusters: {} },
      "spec.targetClusters",
      /mixed/,
    ],
    ["the other spelling has taints", { addOnConditions: [ready] }, "spec.taints", /Required/],
    ["the taints are not none", { taints: [] }, "spec.taints"],
    [
      "an effect is known",
      { taintsToAdd: [{ key: "a", effect: "PreferNothing" }] },
      "spec.taintsToAdd[0].effect",
    ],
    ["a taint occurs once", { taintsToAdd: [taint, taint] }, "spec.taintsToAdd[1]", /Duplicate/],
    [
      "a taint occurs once in the other spelling",
      { taints: [taint, taint] },
      "spec.taints[1]",
      /Duplicate/,
    ],
    [
      "a key is a label key",
      { taints: [{ key: "a b", effect: "NoExecute" }] },
      "spec.taints[0].key",
    ],
    [
      "a value is a label value",
      { taintsToAdd: [{ ...taint, value: "a b" }] },
      "spec.taintsToAdd[0].value",
    ],
    [
      "17.14: adding waits a second at least",
      { taintsToAdd: [{ ...taint, addOnMatchSeconds: 0 }] },
      "spec.taintsToAdd[0].addOnMatchSeconds",
    ],
    [
      "17.14: removing waits a second at least",
      { taintsToAdd: [{ ...taint, removeOnMismatchSeconds: 0 }] },
      "spec.taintsToAdd[0].removeOnMismatchSeconds",
    ],
    [
      "a condition has a known operator",
      { matchConditions: [{ ...ready, operator: "Is" }] },
      "spec.matchConditions[0].operator",
    ],
    [
      "a condition has known statuses",
      { matchConditions: [{ ...ready, statusValues: ["No"] }] },
      "spec.matchConditions[0].statusValues[0]",
    ],
    [
      "a condition has a type",
      { matchConditions: [{ operator: "In", statusValues: [] }] },
      "spec.matchConditions[0].conditionType",
    ],
    ["a taint has a key", { taintsToAdd: [{ effect: "NoExecute" }] }, "spec.taintsToAdd[0].key"],
    ["a taint has an effect", { taintsToAdd: [{ key: "a" }] }, "spec.taintsToAdd[0].effect"],
    [
      "a taint has a key in the other spelling",
      { taints: [{ effect: "NoExecute" }] },
      "spec.taints[0].key",
    ],
    [
      "a taint has an effect in the other spelling",
      { taints: [{ key: "a" }] },
      "spec.taints[0].effect",
    ],
    [
      "a condition of removal has a type",
      { taints: [taint], removeOnConditions: [{ operator: "In", statusValues: ["True"] }] },
      "spec.removeOnConditions[0].conditionType",
    ],
    [
      "clusters are selected validly",
      { targetCluster: byFields({ key: "x", operator: "In" }) },
      "spec.targetCluster.fieldSelector.matchExpressions[0].key",
    ],
    [
      "clusters are selected validly in the other spelling",
      { targetClusters: byFields({ key: "x", operator: "In" }), taints: [taint] },
      "spec.targetClusters.fieldSelector.matchExpressions[0].key",
    ],
  ],
  ResourceBinding: [
    ["a resource has a name", { resource: { apiVersion: "v1", kind: "A" } }, "spec.resource.name"],
    [
      "a task has a reason",
      {
        resource: { ...selector, name: "a" },
        gracefulEvictionTasks: [{ fromCluster: "a", producer: "b", reason: "1x" }],
      },
      "spec.gracefulEvictionTasks[0].reason",
    ],
    [
      "a task's reason is short",
      {
        resource: { ...selector, name: "a" },
        gracefulEvictionTasks: [{ fromCluster: "a", producer: "b", reason: "R".repeat(33) }],
      },
      "spec.gracefulEvictionTasks[0].reason",
    ],
    [
      "a task has a cluster",
      {
        resource: { ...selector, name: "a" },
        gracefulEvictionTasks: [{ producer: "b", reason: "R" }],
      },
      "spec.gracefulEvictionTasks[0].fromCluster",
    ],
    [
      "a task has a producer",
      {
        resource: { ...selector, name: "a" },
        gracefulEvictionTasks: [{ fromCluster: "a", reason: "R" }],
      },
      "spec.gracefulEvictionTasks[0].producer",
    ],
    [
      "a task purges in a known way",
      {
        resource: { ...selector, name: "a" },
        gracefulEvictionTasks: [
          { fromCluster: "a", producer: "b", reason: "R", purgeMode: "Softly" },
        ],
      },
      "spec.gracefulEvictionTasks[0].purgeMode",
    ],
    [
      "conflicts abort or overwrite",
      { resource: { ...selector, name: "a" }, conflictResolution: "Maybe" },
      "spec.conflictResolution",
    ],
    [
      "a component's name is short",
      {
        resource: { ...selector, name: "a" },
        components: [{ name: "c".repeat(33), replicas: 1 }],
      },
      "spec.components[0].name",
    ],
    [
      "a task's message is short",
      {
        resource: { ...selector, name: "a" },
        gracefulEvictionTasks: [
          { fromCluster: "a", producer: "b", reason: "X", message: "a".repeat(1025) },
        ],
      },
      "spec.gracefulEvictionTasks[0].message",
    ],
    [
      "dependencies are JSON",
      { resource: { ...selector, name: "a" } },
      "metadata.annotations[resourcebinding.karmada.io/dependencies]",
      /JSON/,
      { annotations: { "resourcebinding.karmada.io/dependencies": "[" } },
    ],
  ],
  ResourceInterpreterCustomization: [
    ["a target is needed", { customizations: {} }, "spec.target"],
    [
      "a script is needed",
      { target: selector, customizations: { retention: {} } },
      "spec.customizations.retention.luaScript",
    ],
  ],
  WorkloadRebalancer: [
    ["there are workloads", { workloads: [] }, "spec.workloads"],
    [
      "a workload has a name",
      { workloads: [{ apiVersion: "apps/v1", kind: "Deployment" }] },
      "spec.workloads[0].name",
    ],
    [
      "a workload has a kind",
      { workloads: [{ apiVersion: "apps/v1", name: "a" }] },
      "spec.workloads[0].kind",
    ],
  ],
  Remedy: [
    [
      "a comparison has a type",
      {
        decisionMatches: [
          { clusterConditionMatch: { operator: "Equal", conditionStatus: "True" } },
        ],
      },
      "spec.decisionMatches[0].clusterConditionMatch.conditionType",
    ],
    [
      "a comparison has a status",
      {
        decisionMatches: [{ clusterConditionMatch: { conditionType: "a", operator: "Equal" } }],
      },
      "spec.decisionMatches[0].clusterConditionMatch.conditionStatus",
    ],
    [
      "a comparison is known",
      {
        decisionMatches: [
          {
            clusterConditionMatch: { conditionType: "a", operator: "In", conditionStatus: "True" },
          },
        ],
      },
      "spec.decisionMatches[0].clusterConditionMatch.operator",
    ],
    [
      "an entry has a comparison",
      { decisionMatches: [{}] },
      "spec.decisionMatches[0].clusterConditionMatch",
      /Required/,
    ],
    [
      "a status is True, False or Unknown",
      {
        decisionMatches: [
          {
            clusterConditionMatch: {
              conditionType: "a",
              operator: "Equal",
              conditionStatus: "false",
            },
          },
        ],
      },
      "spec.decisionMatches[0].clusterConditionMatch.conditionStatus",
      /supported values/,
    ],
    [
      "a type has letters",
      {
        decisionMatches: [
          {
            clusterConditionMatch: {
              conditionType: "",
              operator: "Equal",
              conditionStatus: "True",
            },
          },
        ],
      },
      "spec.decisionMatches[0].clusterConditionMatch.conditionType",
    ],
    ["an action has letters", { actions: [""] }, "spec.actions[0]"],
  ],
  MultiClusterIngress: [
    ["something is served", {}, "spec", /defaultBackend/],
    [
      "a host has no control characters",
      { rules: [{ host: "a\nserver evil 10.0.0.1" }] },
      "spec.rules[0].host",
      /lower case/,
    ],
    [
      "a Service's name injects nothing",
      { defaultBackend: { service: { name: "web\n  server x", port: { number: 80 } } } },
      "spec.defaultBackend.service.name",
    ],
    [
      "a path has no control characters",
      {
        rules: [
          {
            http: {
              paths: [
                {
                  path: "/a\u2028b",
                  pathType: "Prefix",
                  backend: { service: { name: "web", port: { number: 80 } } },
                },
              ],
            },
          },
        ],
      },
      "spec.rules[0].http.paths[0].path",
      /control characters/,
    ],
    ["a backend is named", { defaultBackend: {} }, "spec.defaultBackend", /backend is required/],
  ],
  EvacuationBudget: [["there is one", {}, "metadata.name", /fleet/]],
  LedgerSlice: [["numbers begin with 1", { first: 0, last: 1, entries: [] }, "spec.first"]],
  EvacuationSlice: [
    [
      "an entry moves by an evicting taint",
      { evacuation: "a", ordinal: 0, entries: [], taint: { key: "a", effect: "NoSchedule" } },
      "spec.taint.effect",
    ],
  ],
  SimulatedMember: [
    ["a fault is known", { faults: [{ mode: "tired" }] }, "spec.faults[0].mode"],
    [
      "a fault occurs once",
      { faults: [{ mode: "slow" }, { mode: "slow" }] },
      "spec.faults[1]",
      /Duplicate/,
    ],
  ],
};

describe.each(Object.entries(refusals))("%s", (kind, rows) => {
  const cases = rows.map(([rule, ...rest]) => ({ rule, rest }));
  it.each(cases)("refuses: $rule", ({ rest }) => {
    const [spec, field, message = /./, metadata = {}] = rest;
    const { errors } = admit(body(kind, spec, metadata));
    const named = errors.filter((error) => error.field === field);
    expect(errors.length, JSON.stringify(errors)).toBeGreaterThan(0);
    expect(named, JSON.stringify(errors)).not.toEqual([]);
    expect(named.map((error) => error.message).join()).toMatch(message);
  });
});

const CHANGES: readonly (readonly [
  rule: string,
  before: JsonObject,
  after: JsonObject,
  field: string,
])[] = [
  [
    "a policy keeps its scheduler",
    body("PropagationPolicy", { resourceSelectors: [selector] }),
    body("PropagationPolicy", { resourceSelectors: [selector], schedulerName: "other" }),
    "spec.schedulerName",
  ],
  [
    "a policy keeps its permanent id",
    body("ClusterPropagationPolicy", { resourceSelectors: [selector] }),
    body(
      "ClusterPropagationPolicy",
      { resourceSelectors: [selector] },
      { labels: { "clusterpropagationpolicy.karmada.io/permanent-id": "x" } },
    ),
    "metadata.labels[clusterpropagationpolicy.karmada.io/permanent-id]",
  ],
  [
    "a binding keeps its permanent id",
    body("ResourceBinding", { resource: { ...selector, name: "a" } }),
    body(
      "ResourceBinding",
      { resource: { ...selector, name: "a" } },
      { labels: { "resourcebinding.karmada.io/permanent-id": "x" } },
    ),
    "metadata.labels[resourcebinding.karmada.io/permanent-id]",
  ],
  [
    "a Work keeps its permanent id",
    body("Work", {}),
    body("Work", {}, { labels: { "work.karmada.io/permanent-id": "x" } }),
    "metadata.labels[work.karmada.io/permanent-id]",
  ],
  [
    "an evacuation keeps its cluster",
    body("Evacuation", { cluster: "a" }),
    body("Evacuation", { cluster: "b" }),
    "spec.cluster",
  ],
  [
    "a slice keeps everything",
    body("EvacuationSlice", { evacuation: "a", ordinal: 0, entries: [], taint }),
    body("EvacuationSlice", { evacuation: "a", ordinal: 1, entries: [], taint }),
    "spec",
  ],
  [
    "a slice of the history keeps everything",
    body("LedgerSlice", { first: 1, last: 1, entries: [] }),
    body("LedgerSlice", { first: 1, last: 2, entries: [] }),
    "spec",
  ],
];

describe("a change", () => {
  it.each(CHANGES)("is refused: %s", (_rule, before, after, field) => {
    const { errors } = admit(after, accept(before));
    expect(errors.map((error) => error.field)).toEqual([field]);
  });

  it.each(CHANGES)("of nothing is accepted: %s", (_rule, before) => {
    const stored = accept(before);
    expect(accept(before, stored)).toEqual(stored);
  });
});

describe("17.12: the label of a rule of state", () => {
  const keeping = (alias: string, of = "cluster"): JsonObject => {
    const rules = { rules: [{ aliasLabelName: alias, jsonPath: "{ .a }" }] };
    const decided = of === "application" ? application : {};
    return body("PropagationPolicy", failing({ [of]: { ...decided, statePreservation: rules } }));
  };

  it.each([
    ["karmada.io/managed", /control plane/],
    ["resourcebinding.karmada.io/permanent-id", /control plane/],
    ["resourcebinding.karmada.io/depended-by-5d7b", /control plane/],
    ["endpointslice.karmada.io/managed-by", /control plane/],
    ["policy.karmada.io/applied-placement", /control plane/],
    ["karmada.io/execution-controller", /control plane/],
    ["lifeboat.dev/preserved-state", /control plane/],
    ["kubernetes.io/hostname", /Kubernetes/],
    ["app.kubernetes.io/name", /Kubernetes/],
    ["k8s.io/a", /Kubernetes/],
    ["x.k8s.io/a", /Kubernetes/],
    ["a b", /must consist/],
  ])("is refused at admission if it is %s, which would hold every eviction", (alias, message) => {
    for (const of of ["cluster", "application"]) {
      const { errors } = admit(keeping(alias, of));
      expect(errors).toMatchObject([
        { field: `spec.failover.${of}.statePreservation.rules[0].aliasLabelName` },
      ]);
      expect(errors[0]?.message).toMatch(message);
    }
  });

  it.each([
    "job",
    "app.example/job",
    "cluster.karmada.io/not-ready",
    "failover.karmada.io/jobid",
    "propagationpolicy.karmada.io/job",
    "notkubernetes.io/a",
    "kubernetes.io.example/a",
  ])("may be %s", (alias) => {
    expect(admit(keeping(alias)).errors).toEqual([]);
  });

  it("that was stored before may stay, and may not come elsewhere", () => {
    const stored = admit(keeping("k8s.io/a")).object;
    expect(admit(keeping("k8s.io/a"), stored).errors).toEqual([]);
    expect(admit(keeping("k8s.io/a", "application"), stored).errors).toHaveLength(1);
    expect(admit(keeping("k8s.io/b"), stored).errors).toHaveLength(1);
  });
});

describe("what a policy asks for without effect", () => {
  const warned = (spec: object, statefulFailoverInjection?: boolean): readonly string[] => {
    const policy = body("PropagationPolicy", { resourceSelectors: [selector], ...spec });
    const settings = statefulFailoverInjection === undefined ? {} : { statefulFailoverInjection };
    return kindWarnings(accept(policy), settings);
  };
  const rules = { rules: [{ aliasLabelName: "a", jsonPath: "{ .a }" }] };

  it("17.12: is warned of: state while the gate is off", () => {
    const failover = {
      application: { ...application, statePreservation: rules },
      cluster: { statePreservation: rules },
    };
    const spec = { propagateDeps: true, failover };
    expect(warned(spec, false)).toEqual([
      expect.stringMatching(/^spec.failover.application.statePreservation: .*gate Stateful.* off/),
      expect.stringMatching(/^spec.failover.cluster.statePreservation: .*gate Stateful.* off/),
    ]);
    expect(warned(spec, true)).toEqual([]);
    expect(warned(spec)).toEqual([]);
    const none = { cluster: { statePreservation: { rules: [] } } };
    expect(warned({ failover: none }, false)).toEqual([]);
  });

  it("17.14: is warned of: schedulePriority and workloadAffinity", () => {
    const priority = { priorityClassSource: "KubePriorityClass", priorityClassName: "high" };
    expect(warned({ schedulePriority: priority })).toEqual([
      expect.stringMatching(/^spec.schedulePriority: .*no effect/),
    ]);
    const workloadAffinity = { affinity: { groupByLabelKey: "group" } };
    expect(warned({ placement: { workloadAffinity } })).toEqual([
      expect.stringMatching(/^spec.placement.workloadAffinity: .*no effect/),
    ]);
    expect(warned({ placement: {} })).toEqual([]);
  });
});

describe("filling in", () => {
  const junk: readonly Json[] = [null, 0, "x", true, [], [null, 1, "x", [], {}], {}, { a: 1 }];

  /** Every place in a body where junk can be put. */
  function* spoiled(value: Json): Generator<Json> {
    for (const one of junk) yield one;
    if (isJsonObject(value)) {
      for (const [key, child] of Object.entries(value))
        for (const other of spoiled(child ?? null)) yield { ...value, [key]: other };
    } else if (Array.isArray(value)) {
      for (const [i, child] of value.entries())
        for (const other of spoiled(child)) yield value.with(i, other);
    }
  }

  const full: readonly JsonObject[] = [
    body("Cluster", {
      ...push,
      zone: "a",
      taints: [taint],
      resourceModels: [model(2, "0", "1"), model(1, "1", "2")],
    }),
    body("PropagationPolicy", {
      resourceSelectors: [selector],
      placement: { spreadConstraints: [{ minGroups: 0 }], replicaScheduling: {} },
      failover: { application, cluster: {} },
    }),
    body("OverridePolicy", { resourceSelectors: [selector] }),
    body("ResourceBinding", { resource: selector }),
  ];

  it.each(full)(
    "takes any JSON without failing, and does nothing the second time: $kind",
    (given) => {
      for (const spec of spoiled(given["spec"] ?? null)) {
        const { object } = admit({ ...given, spec });
        const again = admit(object as unknown as JsonObject).object;
        if (!equalJson(again, object)) expect(again).toEqual(object);
      }
      for (const labels of junk) {
        const metadata = { ...(given["metadata"] as JsonObject), labels };
        try {
          admit({ ...given, metadata });
        } catch (error) {
          // Metadata that cannot be read at all is refused before a kind is asked.
          expect(String(error)).toMatch(/cannot|unrecognized|accessor|unmarshal/i);
        }
      }
    },
  );
});
