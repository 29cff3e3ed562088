/**
 * Failover, seen from outside: a control plane that is a process, members that are servers of their own, and taints, deaths
 * and orders as an operator brings them about. The same suite for simulated and for real members.
 *
 * Where the rows of the usual end-to-end suites for failover are shown:
 *
 * | row                                          | test                                                            |
 * | -------------------------------------------- | --------------------------------------------------------------- |
 * | stateful Deployment, StatefulSet, Flink      | "that moves Directly", "that moves Gracefully"                  |
 * | failover: cluster, nil behaviour             | "without failover.cluster"                                      |
 * | failover: cluster Gracefully                 | "Gracefully: the template is told"                              |
 * | failover: cluster Directly, never healthy    | "Directly: what was never healthy moves, too"                   |
 * | failover: application, four rows             | "an application that does not get well"                         |
 * | PreferNoExecute with failover.cluster        | "a cluster that is tainted PreferNoExecute"                     |
 * | clusteraffinities: Failover                  | "by groups of clusters"                                         |
 * | clusteraffinities: multi, switch, Overflow   | packages/plane/test/scheduling/affinities.test.ts                |
 * | clustertaintpolicy: one, multi, many taints  | "a taint policy"                                                |
 * | tainttoleration                              | "a taint that is tolerated"                                     |
 * | workloadrebalancer: dynamic, static          | "a WorkloadRebalancer brings it back"                           |
 * | workloadrebalancer: aggregated, ttl          | packages/plane/test/scheduling/rescheduling.test.ts              |
 * | rescheduling: join, unjoin, label change     | packages/plane/test/scheduling/rescheduling.test.ts              |
 * | a member dies and returns                    | "a member that dies"                                            |
 */
import {
  clusterPropagationPolicies,
  clusters,
  type ClusterTaintPolicy,
  clusterTaintPolicies,
  type JsonObject,
  type New,
  overridePolicies,
  workloadRebalancers,
  statefulSets,
} from "@lifeboat/api";
import {
  deployment,
  flinkCrd,
  flinkDeployment,
  flinkDeployments,
  newObject,
  oneOf,
  resources,
  statefulSet,
} from "@lifeboat/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { allReady, type BreakableFleet, MEMBERS } from "../propagation/propagation-fleet.ts";
import { eventually } from "../support/eventually.ts";
import { keyOfMover, type Mover, Operator, selectorOf, type Taint } from "./operator.ts";

/** Both gates, and times short enough to wait for. */
export const FAILOVER_FLAGS: readonly string[] = [
  "--feature-gates=Failover=true,StatefulFailoverInjection=true",
  "--resource-eviction-rate=10",
  "--cluster-failure-threshold=2s",
  "--cluster-success-threshold=2s",
];

const DOWN: Taint = { key: "fail-test", effect: "NoExecute" };
const JOB = "e6fdb5c0997c11b0c62d796b3df25e86";

interface StatefulCase {
  readonly mover: Mover;
  readonly rules: readonly { readonly aliasLabelName: string; readonly jsonPath: string }[];
  /** What the workload's own controller would report, where nobody in the member does. */
  readonly reported?: JsonObject;
  readonly labels: Readonly<Record<string, string>>;
}

const COUNTS = {
  rules: [
    { aliasLabelName: "failover.karmada.io/replicas", jsonPath: "{ .replicas }" },
    { aliasLabelName: "failover.karmada.io/readyReplicas", jsonPath: "{ .readyReplicas }" },
  ],
  labels: { "failover.karmada.io/replicas": "2", "failover.karmada.io/readyReplicas": "2" },
};

const deploymentOf = (name: string, replicas = 1): Mover => ({
  resource: resources.deployments,
  template: deployment(name, { replicas }),
});

/** Pods that no node takes: they never get ready. */
const NOWHERE = { "failover.test/nowhere": "true" };

function neverReady(name: string): Mover {
  const { template } = deploymentOf(name);
  const spec = template["spec"] as { readonly template: { readonly spec: JsonObject } };
  const pod = { ...spec.template, spec: { ...spec.template.spec, nodeSelector: NOWHERE } };
  return {
    resource: resources.deployments,
    template: { ...template, spec: { ...spec, template: pod } },
  };
}

const statefulCases = (mode: string): readonly StatefulCase[] => [
  { mover: deploymentOf(`deploy-${mode}`, 2), ...COUNTS },
  { mover: { resource: statefulSets, template: statefulSet(`sts-${mode}`, 2) }, ...COUNTS },
  {
    mover: { resource: flinkDeployments, template: flinkDeployment(`foo-${mode}`) },
    rules: [
      { aliasLabelName: "failover.karmada.io/failover-jobid", jsonPath: "{ .jobStatus.jobId }" },
    ],
    reported: { jobManagerDeploymentStatus: "READY", jobStatus: { jobId: JOB, state: "RUNNING" } },
    labels: { "failover.karmada.io/failover-jobid": JOB },
  },
];

/** Every member has the kind, whatever taints it bears. */
const FLINK_EVERYWHERE = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "ClusterPropagationPolicy",
  metadata: { name: "flink" },
  spec: {
    resourceSelectors: [
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        name: "flinkdeployments.flink.apache.org",
      },
    ],
    placement: { clusterTolerations: [{ operator: "Exists" }] },
  },
} as const;

/** Every story, or only those in which it matters how the control plane and its members connect. */
export type Stories = "all" | "of connections";

export function failoverSuite(
  name: string,
  start: () => Promise<BreakableFleet>,
  stories: Stories = "all",
): void {
  const whereAll = describe.skipIf(stories !== "all");
  const statefulOnes = (mode: string): readonly StatefulCase[] =>
    stories === "all" ? statefulCases(mode) : statefulCases(mode).slice(0, 1);
  describe(`failover on ${name}`, () => {
    let fleet: BreakableFleet;
    let operator: Operator;
    let created: Mover[] = [];

    beforeAll(async () => {
      fleet = await start();
      operator = new Operator(fleet);
      await eventually(() => allReady(fleet.plane));
    });
    afterAll(() => fleet?.close());

    afterEach(async () => {
      for (const mover of created) await operator.remove(mover);
      created = [];
      for (const member of MEMBERS) await operator.taint(member);
    });

    /** Creates it and waits until it is healthy somewhere; answers where. */
    async function run(mover: Mover, spec: JsonObject, health = "Healthy"): Promise<string> {
      await create(mover, spec);
      return settled(mover, health);
    }
    async function create(mover: Mover, spec: JsonObject): Promise<void> {
      created.push(mover);
      await operator.create(mover, spec);
    }
    function settled(mover: Mover, health = "Healthy"): Promise<string> {
      return eventually(async () => {
        const where = await operator.placement(mover);
        expect(where).toMatch(/^member\d$/);
        expect(await operator.health(mover, where)).toBe(health);
        return where;
      });
    }
    const gone = (mover: Mover, member: string): Promise<void> =>
      eventually(async () => {
        expect(await operator.copy(mover, member)).toBeUndefined();
      });
    const runsOn = (mover: Mover, where: string): Promise<void> =>
      eventually(async () => {
        expect(await operator.placement(mover)).toBe(where);
      });
    /** The other one of two members. */
    const otherThan = (member: string): string => (member === "member1" ? "member2" : "member1");

    /** Writes a status as the workload's own controller would, and waits until it is known where it counts. */
    async function report(mover: Mover, member: string, status: JsonObject): Promise<void> {
      const body = { status };
      const patch = { type: "merge", body } as const;
      await eventually(async () => {
        await operator
          .member(member)
          .patch(mover.resource, keyOfMover(mover), patch, { subresource: "status" });
      });
      await eventually(async () => {
        expect(await operator.health(mover, member)).toBe("Healthy");
      });
    }

    async function startStateful(one: StatefulCase, purgeMode: string): Promise<string> {
      const { mover, rules, reported } = one;
      const statePreservation = { rules: [...rules] };
      const failover = { cluster: { purgeMode, statePreservation } };
      const spec = { placement: oneOf("member1", "member2"), failover };
      if (reported === undefined) return run(mover, spec);
      const from = await run(mover, spec, "Unhealthy");
      await report(mover, from, reported);
      return from;
    }

    describe("a stateful workload", () => {
      beforeAll(async () => {
        await fleet.plane.create(clusterPropagationPolicies, FLINK_EVERYWHERE);
        await fleet.plane.create(resources.crds, flinkCrd());
        await eventually(async () => {
          for (const client of [fleet.plane, ...fleet.members.values()])
            await client.list(flinkDeployments);
        });
      });

      it.each(statefulOnes("directly"))(
        "$mover.resource.kind that moves Directly is gone before it is there anew, with its state",
        async (one) => {
          const { mover, labels } = one;
          const from = await startStateful(one, "Directly");
          const to = otherThan(from);
          const left = operator.appears(mover, to, async () => [
            await operator.copy(mover, from),
            await operator.pods(mover, from),
          ]);
          await operator.taint(from, DOWN);
          const [copy, old] = await left;
          expect(old).toEqual([undefined, []]);
          expect(copy.metadata.labels).toMatchObject(labels);
          await runsOn(mover, to);
        },
      );

      it.each(statefulOnes("gracefully"))(
        "$mover.resource.kind that moves Gracefully stays until its successor, with its state, is healthy",
        async (one) => {
          const { mover, labels, reported } = one;
          const from = await startStateful(one, "Gracefully");
          const to = otherThan(from);
          const left = operator.appears(mover, to, () => operator.copy(mover, from));
          await operator.taint(from, DOWN);
          const [copy, old] = await left;
          expect(old).toBeDefined();
          expect(copy.metadata.labels).toMatchObject(labels);
          if (reported !== undefined) {
            expect(await operator.copy(mover, from)).toBeDefined();
            await report(mover, to, { ...reported, jobStatus: { jobId: "b2", state: "RUNNING" } });
          }
          await gone(mover, from);
          expect(await operator.health(mover, to)).toBe("Healthy");
          await runsOn(mover, to);
          expect((await operator.copy(mover, to))?.metadata.labels).toMatchObject(labels);
        },
      );
    });

    whereAll("a cluster that is tainted NoExecute", () => {
      it("without failover.cluster, a workload leaves once it tolerates it no more", async () => {
        const mover = deploymentOf("nil");
        const toleration = { key: "not-ready", operator: "Exists", effect: "NoExecute" };
        const clusterTolerations = [{ ...toleration, tolerationSeconds: 2 }];
        const placement = { ...oneOf("member1", "member2"), clusterTolerations };
        const from = await run(mover, { placement });
        await operator.taint(from, { key: "not-ready", effect: "NoExecute" });
        await runsOn(mover, otherThan(from));
        const [taint] = (await operator.cluster(from)).spec.taints ?? [];
        // Times of the API are whole seconds.
        const added = Date.parse(taint?.timeAdded ?? "");
        expect(Date.now()).toBeGreaterThanOrEqual(added + 2000);
        await operator.taint(from);
        await gone(mover, from);
        expect(await operator.placement(mover)).toBe(otherThan(from));
      });

      it("Gracefully: the template is told when the old copy may go", async () => {
        const mover = deploymentOf("graceful");
        const failover = { cluster: { purgeMode: "Gracefully" } };
        const from = await run(mover, { placement: oneOf("member1", "member2"), failover });
        await operator.taint(from, DOWN);
        await gone(mover, from);
        await runsOn(mover, otherThan(from));
        await eventually(async () => {
          expect(await operator.events("Deployment", "graceful")).toContain(
            "EvictWorkloadFromClusterSucceed",
          );
        });
      });

      it("Directly: what was never healthy moves, too, and carries what it reports", async () => {
        const mover = neverReady("ailing");
        const rules = [{ aliasLabelName: "test-alias", jsonPath: "{.replicas}" }];
        const failover = { cluster: { purgeMode: "Directly", statePreservation: { rules } } };
        const spec = { placement: oneOf("member1", "member2"), failover };
        const from = await run(mover, spec, "Unhealthy");
        await eventually(async () => {
          const { status } = await operator.binding(mover);
          expect(status?.aggregatedStatus?.[0]?.status).toMatchObject({ replicas: 1 });
        });
        const left = operator.appears(mover, otherThan(from), () => operator.copy(mover, from));
        await operator.taint(from, DOWN);
        const [copy, old] = await left;
        expect(old).toBeUndefined();
        expect(copy.metadata.labels).toMatchObject({ "test-alias": "1" });
      });

      it("by groups of clusters: the next group takes over, and the first is emptied", async () => {
        const mover = deploymentOf("groups");
        const clusterAffinities = ["member1", "member2"].map((member, i) => ({
          affinityName: `group${i + 1}`,
          clusterNames: [member],
        }));
        expect(await run(mover, { placement: { clusterAffinities } })).toBe("member1");
        await operator.taint("member1", DOWN);
        await runsOn(mover, "member2");
        const { status } = await operator.binding(mover);
        expect(status?.schedulerObservingAffinityName).toBe("group2");
        await operator.taint("member1");
        await gone(mover, "member1");
      });

      it("and well again: a WorkloadRebalancer brings it back", async () => {
        const mover = deploymentOf("balanced", 2);
        const targets = ["member1", "member2"].map((member) => ({
          targetCluster: { clusterNames: [member] },
          weight: 1,
        }));
        const placement = {
          clusterAffinity: { clusterNames: ["member1", "member2"] },
          replicaScheduling: {
            replicaSchedulingType: "Divided",
            replicaDivisionPreference: "Weighted",
            weightPreference: { staticWeightList: targets },
          },
        };
        await create(mover, { placement });
        const both = async (): Promise<void> => {
          expect((await operator.placement(mover)).split(" ").toSorted()).toEqual([
            "member1",
            "member2",
          ]);
        };
        await eventually(both);
        await operator.taint("member1", DOWN);
        await runsOn(mover, "member2");
        await operator.taint("member1");
        await fleet.plane.create(workloadRebalancers, {
          apiVersion: "apps.karmada.io/v1alpha1",
          kind: "WorkloadRebalancer",
          metadata: { name: "back" },
          spec: {
            workloads: [selectorOf(mover)],
            ttlSecondsAfterFinished: 5,
          },
        });
        await eventually(both);
        await eventually(async () => {
          expect((await fleet.plane.list(workloadRebalancers)).items).toEqual([]);
        });
      });
    });

    whereAll("a cluster that is tainted PreferNoExecute", () => {
      it("moves who asks for it, after their own time, and nobody else", async () => {
        const asks = deploymentOf("asks");
        const stays = deploymentOf("stays");
        for (const member of ["member2", "member3"])
          await operator.taint(member, { key: "full", effect: "NoSchedule" });
        const placement = oneOf(...MEMBERS);
        const failover = { cluster: { purgeMode: "Directly", tolerationSeconds: 2 } };
        expect(await run(asks, { placement, failover })).toBe("member1");
        expect(await run(stays, { placement })).toBe("member1");
        for (const member of ["member2", "member3"]) await operator.taint(member);
        await operator.taint("member1", { key: "partial", effect: "PreferNoExecute" });
        const to = await eventually(async () => {
          const where = await operator.placement(asks);
          expect(where).toMatch(/^member[23]$/);
          return where;
        });
        const [taint] = (await operator.cluster("member1")).spec.taints ?? [];
        expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(taint?.timeAdded ?? "") + 2000);
        expect(await settled(asks)).toBe(to);
        expect(await operator.placement(stays)).toBe("member1");
      });
    });

    whereAll("an application that does not get well", () => {
      const movers = {
        elsewhere: deploymentOf("app-elsewhere", 2),
        nowhere: deploymentOf("app-nowhere", 2),
        never: deploymentOf("app-never", 2),
        directly: deploymentOf("app-directly", 2),
      };
      const from = new Map<Mover, string>();
      let started = 0;

      async function firstPlace(mover: Mover): Promise<string> {
        const where = await operator.placement(mover);
        expect(where).toMatch(/^member\d$/);
        return where;
      }

      /** Sends the pods of a workload nowhere, in one cluster or in all. */
      async function spoil(mover: Mover, clusterNames?: readonly string[]): Promise<void> {
        const path = "/spec/template/spec/nodeSelector";
        await fleet.plane.create(overridePolicies, {
          apiVersion: "policy.karmada.io/v1alpha1",
          kind: "OverridePolicy",
          metadata: keyOfMover(mover),
          spec: {
            resourceSelectors: [selectorOf(mover)],
            overrideRules: [
              {
                ...(clusterNames !== undefined && {
                  targetCluster: { clusterNames: [...clusterNames] },
                }),
                overriders: { plaintext: [{ path, operator: "add", value: NOWHERE }] },
              },
            ],
          },
        });
      }

      beforeAll(async () => {
        const rules = [{ aliasLabelName: "test-alias", jsonPath: "{.replicas}" }];
        const modes = new Map<Mover, JsonObject>([
          [movers.nowhere, { purgeMode: "Gracefully", gracePeriodSeconds: 4 }],
          [movers.elsewhere, { purgeMode: "Gracefully", gracePeriodSeconds: 600 }],
          [movers.never, { purgeMode: "Never" }],
          [movers.directly, { purgeMode: "Directly", statePreservation: { rules } }],
        ]);
        await spoil(movers.nowhere);
        started = Date.now();
        for (const [mover, mode] of modes) {
          const decisionConditions = { tolerationSeconds: 5 };
          await operator.create(mover, {
            placement: oneOf("member1", "member2"),
            propagateDeps: true,
            failover: { application: { decisionConditions, ...mode } },
          });
          // At once: the one that is well nowhere is on its way soon.
          if (mover === movers.nowhere) from.set(mover, await eventually(() => firstPlace(mover)));
        }
        for (const mover of [movers.elsewhere, movers.never, movers.directly]) {
          from.set(mover, await settled(mover));
          await spoil(mover, [from.get(mover) ?? ""]);
        }
      });
      afterAll(async () => {
        for (const mover of Object.values(movers)) {
          await operator.remove(mover);
          await fleet.plane.delete(overridePolicies, keyOfMover(mover));
        }
      });

      it("Gracefully, and well elsewhere: the old copy goes", async () => {
        const mover = movers.elsewhere;
        const old = from.get(mover) ?? "";
        await gone(mover, old);
        expect(await operator.placement(mover)).toBe(otherThan(old));
        expect(await operator.health(mover, otherThan(old))).toBe("Healthy");
      });

      it("Gracefully, and well nowhere: the old copy goes when the grace period is over, not before", async () => {
        const mover = movers.nowhere;
        await gone(mover, from.get(mover) ?? "");
        expect(Date.now() - started).toBeGreaterThanOrEqual(9000);
        expect(await operator.placement(mover)).toBe(otherThan(from.get(mover) ?? ""));
      });

      it("Never: it moves, and the old copy stays", async () => {
        const mover = movers.never;
        const old = from.get(mover) ?? "";
        await runsOn(mover, `${otherThan(old)} -${old}`);
        await eventually(async () => {
          expect(await operator.health(mover, otherThan(old))).toBe("Healthy");
        });
        expect(await operator.copy(mover, old)).toBeDefined();
      });

      it("Directly: it carries its state, and the old copy is gone", async () => {
        const mover = movers.directly;
        const old = from.get(mover) ?? "";
        await runsOn(mover, otherThan(old));
        const copy = await eventually(async () => {
          const found = await operator.copy(mover, otherThan(old));
          expect(found).toBeDefined();
          return found;
        });
        expect(copy?.metadata.labels?.["test-alias"]).toMatch(/^[23]$/);
        expect(await operator.copy(mover, old)).toBeUndefined();
      });
    });

    whereAll("a taint that is tolerated", () => {
      it("keeps others away, and lets in who tolerates it", async () => {
        for (const member of MEMBERS)
          await operator.taint(member, { key: "owner", value: member, effect: "NoSchedule" });
        const mover = deploymentOf("tolerating");
        const clusterTolerations = [
          { key: "owner", operator: "Equal", value: "member2", effect: "NoSchedule" },
        ];
        await create(mover, { placement: { clusterTolerations } });
        await runsOn(mover, "member2");
      });
    });

    whereAll("a taint policy", () => {
      const NETWORK = "NetworkReady";
      const STORAGE = "StorageReady";
      const isFalse = (conditionType: string) => ({
        conditionType,
        operator: "In" as const,
        statusValues: ["False" as const],
      });
      const isTrue = (conditionType: string) => ({
        ...isFalse(conditionType),
        statusValues: ["True" as const],
      });

      /** Says something on a Cluster as a third party does. */
      async function say(conditions: Readonly<Record<string, string>>): Promise<void> {
        await eventually(async () => {
          const cluster = await operator.cluster("member3");
          const others = (cluster.status?.conditions ?? []).filter(
            ({ type }) => conditions[type] === undefined,
          );
          const said = Object.entries(conditions).map(([type, status]) => ({
            type,
            status: status as "True",
            reason: "",
            message: "",
            lastTransitionTime: "2026-01-01T00:00:00Z",
          }));
          const status = { ...cluster.status, conditions: [...others, ...said] };
          await fleet.plane.update(clusters, { ...cluster, status }, { subresource: "status" });
        });
      }
      const taintsAre = (...taints: readonly string[]): Promise<void> =>
        eventually(async () => {
          expect((await operator.taints("member3")).toSorted()).toEqual(taints.toSorted());
        });
      async function policed(policyName: string, spec: object): Promise<void> {
        const policy = {
          apiVersion: "policy.karmada.io/v1alpha1",
          kind: "ClusterTaintPolicy",
          metadata: { name: policyName },
          spec,
        } as New<ClusterTaintPolicy>;
        await fleet.plane.create(clusterTaintPolicies, policy);
      }
      afterEach(async () => {
        const { items } = await fleet.plane.list(clusterTaintPolicies);
        for (const { metadata } of items)
          if (!metadata.name.startsWith("default-"))
            await fleet.plane.delete(clusterTaintPolicies, { namespace: "", name: metadata.name });
        await taintsAre();
      });

      it("of one condition adds its taint, removes it, and says so", async () => {
        const sooner = { addOnMatchSeconds: 1, removeOnMismatchSeconds: 1 };
        await policed("one", {
          targetCluster: { clusterNames: ["member3"] },
          matchConditions: [isFalse(NETWORK)],
          taintsToAdd: [{ key: "network", effect: "NoSchedule", ...sooner }],
        });
        await say({ [NETWORK]: "False" });
        await taintsAre("network=:NoSchedule");
        await eventually(async () => {
          expect(await operator.events("Cluster", "member3")).toContain("TaintClusterSucceed");
        });
        await say({ [NETWORK]: "True" });
        await taintsAre();
      });

      it("of several conditions wants all of them", async () => {
        await policed("all", {
          targetClusters: { clusterNames: ["member3"] },
          addOnConditions: [isFalse(NETWORK), isFalse(STORAGE)],
          removeOnConditions: [isTrue(NETWORK), isTrue(STORAGE)],
          taints: [{ key: "both", effect: "NoSchedule" }],
        });
        await policed("either", {
          targetClusters: { clusterNames: ["member3"] },
          addOnConditions: [isFalse(NETWORK)],
          removeOnConditions: [isTrue(NETWORK)],
          taints: [{ key: "network", effect: "NoSchedule" }],
        });
        await say({ [NETWORK]: "False", [STORAGE]: "True" });
        await taintsAre("network=:NoSchedule");
        await say({ [STORAGE]: "False" });
        await taintsAre("network=:NoSchedule", "both=:NoSchedule");
        await say({ [NETWORK]: "True" });
        await taintsAre("both=:NoSchedule");
        await say({ [STORAGE]: "True" });
        await taintsAre();
      });

      it("of several taints adds and removes them together, whatever their effects", async () => {
        await policed("many", {
          targetClusters: { clusterNames: ["member3"] },
          addOnConditions: [isFalse(NETWORK)],
          removeOnConditions: [isTrue(NETWORK)],
          taints: [
            { key: "a", effect: "NoSchedule" },
            { key: "b", value: "1", effect: "NoExecute" },
            { key: "c", effect: "PreferNoExecute" },
          ],
        });
        await say({ [NETWORK]: "False" });
        await taintsAre("a=:NoSchedule", "b=1:NoExecute", "c=:PreferNoExecute");
        await say({ [NETWORK]: "True" });
        await taintsAre();
      });
    });

    describe("a member that dies", () => {
      const graceful = deploymentOf("survivor");
      const direct = deploymentOf("only-one");
      const POLICY = { namespace: "", name: "dead" };
      /** What must not be seen while a cluster returns; each is read in the order in which it must hold. */
      async function misstep(late: Mover): Promise<string | undefined> {
        const placed = await operator.placement(late);
        const condition = await operator.condition("member1", "StaleCopiesRemoved");
        const stale = await operator.copy(graceful, "member1");
        if (condition === "False") return placed === "" ? undefined : "new work before it is clear";
        return stale === undefined ? undefined : "called clear with a stale copy";
      }

      afterAll(() => fleet.plane.delete(clusterTaintPolicies, POLICY));

      it("is emptied by its policy, and cleared up when it returns, before it takes new work", async () => {
        const conditionType = "Ready";
        await fleet.plane.create(clusterTaintPolicies, {
          apiVersion: "policy.karmada.io/v1alpha1",
          kind: "ClusterTaintPolicy",
          metadata: { name: POLICY.name },
          spec: {
            matchConditions: [
              { conditionType, operator: "In", statusValues: ["False", "Unknown"] },
            ],
            taintsToAdd: [
              {
                key: "dead",
                effect: "NoExecute",
                addOnMatchSeconds: 1,
                removeOnMismatchSeconds: 600,
              },
            ],
          },
        });
        for (const member of ["member2", "member3"])
          await operator.taint(member, { key: "full", effect: "NoSchedule" });
        const anywhere = oneOf(...MEMBERS);
        expect(await run(graceful, { placement: anywhere })).toBe("member1");
        const failover = { cluster: { purgeMode: "Directly" } };
        expect(await run(direct, { placement: anywhere, failover })).toBe("member1");
        for (const member of ["member2", "member3"]) await operator.taint(member);
        await fleet.die("member1");

        const to = await eventually(async () => {
          const where = await operator.placement(graceful);
          expect(where).toMatch(/^member[23]$/);
          expect(await operator.health(graceful, where)).toBe("Healthy");
          return where;
        });
        // Nobody knows that its old copy is gone: the other one waits, and says so.
        await runsOn(direct, "-member1");
        await eventually(async () => {
          const told = await operator.events("ResourceBinding", "only-one-deployment");
          expect(told).toContain("AwaitingFence");
          expect(await operator.condition("member1", "StaleCopiesRemoved")).toBe("False");
        });
        const late: Mover = {
          resource: resources.configMaps,
          template: newObject(resources.configMaps, { name: "late" }, { data: { a: "b" } }),
        };
        const clusterTolerations = [{ operator: "Exists" }];
        await create(late, { placement: { ...oneOf("member1"), clusterTolerations } });

        // Its taint stays meanwhile: a recovery would call back what waits.
        await fleet.revive("member1");
        const missteps: string[] = [];
        await eventually(async () => {
          const seen = await misstep(late);
          if (seen !== undefined) missteps.push(seen);
          expect(await operator.condition("member1", "StaleCopiesRemoved")).toBe("True");
        });
        expect(missteps).toEqual([]);
        await runsOn(late, "member1");
        await runsOn(direct, await settled(direct));
        expect(await operator.placement(direct)).not.toBe("member1");
        expect(await operator.copy(direct, "member1")).toBeUndefined();
        expect(await operator.placement(graceful)).toBe(to);
        await eventually(() => allReady(fleet.plane));
      });
    });
  });
}
