/**
 * Placements that make no sense: a field error at admission, or, where a binding holds one all the same, a reason in its
 * condition. Never an exception, never a loop: nothing is written any more a moment later.
 */
import {
  clusters,
  type JsonObject,
  type New,
  type Placement,
  propagationPolicies,
  type PropagationPolicy,
  Refused,
  type ResourceBinding,
  resourceBindings,
  findCondition,
} from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { deployment, type Fleet, resources } from "@lifeboat/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  changePlacement,
  newPolicy,
  openFleet,
  propagate,
  resultOf,
  scheduledOf,
  taintCluster,
  WHOLE_FLEET,
} from "./scheduling.suite.ts";

let fleet: Fleet;
beforeAll(async () => {
  fleet = await openFleet({ m1: { spec: { region: "r1" } }, m2: { spec: { region: "r2" } } });
}, 30_000);
afterAll(() => fleet.close());

const spread = (...spreadConstraints: readonly JsonObject[]): unknown => ({ spreadConstraints });
const weights = (weight: number): unknown => ({
  replicaScheduling: {
    replicaSchedulingType: "Divided",
    replicaDivisionPreference: "Weighted",
    weightPreference: {
      staticWeightList: [{ targetCluster: { clusterNames: ["m1"] }, weight }],
    },
  },
});
const expression = (operator: string, ...values: readonly string[]): unknown => ({
  clusterAffinity: {
    labelSelector: { matchExpressions: [{ key: "tier", operator, values }] },
  },
});

async function fieldsRefused(policy: New<PropagationPolicy>): Promise<readonly string[]> {
  const refusal: unknown = await fleet.plane
    .create(propagationPolicies, policy)
    .catch((error: unknown) => error);
  if (!(refusal instanceof Refused)) throw new Error("it was not refused");
  expect(refusal.status.code).toBe(422);
  return (refusal.status.details?.causes ?? []).map(({ field }) => field ?? "");
}

describe("a policy is refused with the field named", WHOLE_FLEET, () => {
  const S = "spec.placement.spreadConstraints";
  const W = "spec.placement.replicaScheduling.weightPreference.staticWeightList[0].weight";
  it.each<[string, unknown, string]>([
    [
      "maxGroups below minGroups",
      spread({ spreadByField: "cluster", minGroups: 3, maxGroups: 2 }),
      `${S}[0].maxGroups`,
    ],
    ["negative groups", spread({ spreadByField: "cluster", minGroups: -1 }), `${S}[0].minGroups`],
    [
      "the same field twice",
      spread({ spreadByField: "cluster" }, { spreadByField: "cluster" }),
      `${S}[1].spreadByField`,
    ],
    [
      "field and label at once",
      spread({ spreadByField: "cluster", spreadByLabel: "a" }),
      `${S}[0].spreadByLabel`,
    ],
    ["region without cluster", spread({ spreadByField: "region", minGroups: 1 }), S],
    ["a field that nobody knows", spread({ spreadByField: "rack" }), `${S}[0].spreadByField`],
    ["weights of zero", weights(0), W],
    ["negative weights", weights(-5), W],
    ["weights that are no integers", weights(0.5), W],
    [
      "affinity and affinities at once",
      { clusterAffinity: {}, clusterAffinities: [{ affinityName: "a" }] },
      "spec.placement.clusterAffinities",
    ],
    [
      "two groups of one name",
      { clusterAffinities: [{ affinityName: "a" }, { affinityName: "a" }] },
      "spec.placement.clusterAffinities[1].affinityName",
    ],
    [
      "an operator that nobody knows",
      expression("Like", "a.*"),
      "spec.placement.clusterAffinity.labelSelector.matchExpressions[0].operator",
    ],
    [
      "In without values",
      expression("In"),
      "spec.placement.clusterAffinity.labelSelector.matchExpressions[0].values",
    ],
    [
      "a label value that none can have, such as a pattern",
      { clusterAffinity: { labelSelector: { matchLabels: { tier: "^(a+)+$" } } } },
      "spec.placement.clusterAffinity.labelSelector.matchLabels",
    ],
    [
      "a toleration of every key by value",
      { clusterTolerations: [{ operator: "Equal", value: "a" }] },
      "spec.placement.clusterTolerations[0].operator",
    ],
  ])("%s", async (_what, placement, field) => {
    expect(await fieldsRefused(newPolicy("bad", placement as Placement))).toContain(field);
  });

  it("negative replicas of a Deployment", async () => {
    const refusal = fleet.plane.create(resources.deployments, deployment("bad", { replicas: -1 }));
    await expect(refusal).rejects.toMatchObject({ status: { code: 422 } });
  });

  it("unknown fields are dropped with a warning, or refused when asked to be strict", async () => {
    const policy = newPolicy("odd", { clusterAffinity: { regex: ".*" } } as Placement);
    const strict = fleet.plane.create(propagationPolicies, policy, { fieldValidation: "Strict" });
    await expect(strict).rejects.toMatchObject({ status: { code: 400 } });
    const made = await fleet.plane.create(propagationPolicies, policy);
    expect(made.spec.placement).toEqual({ clusterAffinity: {} });
    await fleet.plane.delete(propagationPolicies, { namespace: "default", name: "odd" });
  });
});

/** A binding as nobody should make it. */
function hostile(name: string, spec: object): New<ResourceBinding> {
  return {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default", labels: { [wellKnown.POLICY_ID]: "p" } },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "default", name },
      replicas: 2,
      conflictResolution: "Abort",
      ...spec,
    },
  };
}
const divided = { replicaScheduling: { replicaSchedulingType: "Divided" } };
const keys = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `k${i}`);

describe(
  "a binding that holds nonsense all the same gets a result or a reason, and rest",
  WHOLE_FLEET,
  () => {
    it.each<[string, object, string]>([
      ["negative replicas", { replicas: -3, placement: divided }, "True Success {m1, m2}"],
      [
        "maxGroups below minGroups",
        { placement: spread({ spreadByField: "cluster", minGroups: 2, maxGroups: 1 }) },
        "False SchedulerError {}",
      ],
      [
        "more groups than there are clusters",
        { placement: spread({ spreadByField: "cluster", minGroups: 9_000_000_000 }) },
        "False SchedulerError {}",
      ],
      [
        "only a constraint by zone",
        { placement: spread({ spreadByField: "zone" }) },
        "False NoClusterFit {}",
      ],
      [
        "clusters that are wanted and excluded",
        { placement: { clusterAffinity: { clusterNames: ["m1"], exclude: ["m1"] } } },
        "False NoClusterFit {}",
      ],
      [
        "more replicas than there is room anywhere",
        {
          replicas: 2_147_483_647,
          placement: {
            replicaScheduling: {
              replicaSchedulingType: "Divided",
              replicaDivisionPreference: "Aggregated",
            },
          },
        },
        "False Unschedulable {}",
      ],
      [
        "requests that are no amounts anybody has",
        {
          replicaRequirements: { resourceRequest: { cpu: "-1", "x.io/none": "1" } },
          placement: {
            replicaScheduling: {
              replicaSchedulingType: "Divided",
              replicaDivisionPreference: "Aggregated",
            },
          },
        },
        "False Unschedulable {}",
      ],
      [
        "a result that names a cluster twice, and one that is not there",
        {
          clusters: [{ name: "m1", replicas: -1 }, { name: "m1", replicas: 9 }, { name: "gone" }],
          placement: divided,
        },
        "True Success {m1:1, m2:1}",
      ],
      [
        "1,000 groups that mean nothing",
        {
          placement: {
            clusterAffinities: keys(1000).map((affinityName) => ({
              affinityName,
              clusterNames: ["gone"],
            })),
          },
        },
        "False NoClusterFit {}",
      ],
      [
        "10,000 tolerations",
        {
          placement: {
            clusterTolerations: keys(10_000).map((key) => ({ key, operator: "Exists" })),
          },
        },
        "True Success {m1:2, m2:2}",
      ],
      [
        "a kind that nobody serves",
        { resource: { apiVersion: "x.io/v1", kind: "None", name: "n" } },
        "False NoClusterFit {}",
      ],
      ["a placement of nothing", { placement: {} }, "True Success {m1:2, m2:2}"],
    ])("%s", async (what, spec, expected) => {
      const name = `bad-${what.replaceAll(/[^a-z0-9]+/g, "-")}`;
      await fleet.plane.create(resourceBindings, hostile(name, spec));
      await fleet.advance("3s");
      const {
        status,
        spec: now,
        metadata,
      } = await fleet.plane.get(resourceBindings, {
        namespace: "default",
        name,
      });
      const condition = findCondition(status?.conditions, "Scheduled");
      const result = (now.clusters ?? []).map(({ name: at, replicas }) =>
        replicas === undefined ? at : `${at}:${replicas}`,
      );
      expect(`${condition?.status} ${condition?.reason} {${result.join(", ")}}`).toBe(expected);
      await fleet.advance("60s");
      const later = await fleet.plane.get(resourceBindings, { namespace: "default", name });
      expect(later.metadata.generation).toBe(metadata.generation);
      expect(findCondition(later.status?.conditions, "Scheduled")).toEqual(condition);
      await fleet.plane.delete(resourceBindings, { namespace: "default", name });
    });

    it("10,000 taints on a cluster, and as many tolerations: the first that is not tolerated is named", async () => {
      const taints = keys(10_000).map((key) => ({ key, effect: "NoSchedule" }));
      await taintCluster(fleet, "m1", taints);
      await taintCluster(fleet, "m2", taints);
      const all = keys(10_000).map((key) => ({ key, operator: "Exists" }));
      const some = { clusterTolerations: all.slice(0, 9999) } as unknown as Placement;
      await propagate(fleet, newPolicy("web", some), resources.deployments, deployment("web"));
      expect(await scheduledOf(fleet, "web")).toBe(
        "False NoClusterFit: 0/2 clusters are available: 2 cluster(s) had untolerated taint {k9999:NoSchedule}. " +
          "It would help to: remove the taint {k9999:NoSchedule} from the cluster, or tolerate it in the policy.",
      );
      await changePlacement(fleet, "web", { clusterTolerations: all });
      expect(Object.keys(await resultOf(fleet, "web"))).toEqual(["m1", "m2"]);
      await taintCluster(fleet, "m1", [
        ...taints.slice(1),
        { key: "k1", effect: "NoSchedule" },
      ]).then(
        () => expect.unreachable("the same taint twice"),
        (error: unknown) => expect(error).toMatchObject({ status: { code: 422 } }),
      );
      expect((await fleet.plane.list(clusters)).items).toHaveLength(2);
    });
  },
);
