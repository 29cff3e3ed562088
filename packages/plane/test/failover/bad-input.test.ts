/**
 * What nobody should write, written: each is refused with its field named, or held with its reason, or put right; and
 * whatever it is, everything that should leave a failed cluster leaves it once, and not faster than it may.
 */
import {
  clusters,
  clusterTaintPolicies,
  evacuationBudgets,
  evacuations,
  evacuationSlices,
  FLEET_BUDGET,
  type JsonObject,
  type KubeObject,
  type ObjectKey,
  propagationPolicies,
  type Resource,
  resourceBindings,
} from "@lifeboat/api";
import {
  type Fleet,
  flinkCrd,
  flinkDeployment,
  flinkDeployments,
  oneOf,
  refusalOf,
  resources,
} from "@lifeboat/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";
import { CrowdedFleet } from "./rate.suite.ts";

const WEB = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

describe("a policy is refused, with the field named", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    ({ fleet } = await failoverFleet(["m1"]));
  });
  afterAll(() => fleet.close());

  const LONG = "x".repeat(64);
  const rule = (jsonPath: string, aliasLabelName = "a.example/job"): JsonObject => ({
    cluster: { statePreservation: { rules: [{ aliasLabelName, jsonPath }] } },
  });
  const RULE = "spec.failover.cluster.statePreservation.rules[0]";

  it.each<[string, JsonObject, string]>([
    ["a path that is not closed", rule("{ .jobStatus.jobId"), `${RULE}.jsonPath`],
    ["an index that is not closed", rule("{.a[0}"), `${RULE}.jsonPath`],
    ["a filter that is not closed", rule("{.a[?(@.b==]}"), `${RULE}.jsonPath`],
    ["a path without braces", rule(".jobStatus.jobId"), `${RULE}.jsonPath`],
    ["a mere word", rule("jobId"), `${RULE}.jsonPath`],
    ["no path", rule(""), `${RULE}.jsonPath`],
    ["a label with a space", rule("{.a}", "a b"), `${RULE}.aliasLabelName`],
    ["a label that is too long", rule("{.a}", LONG), `${RULE}.aliasLabelName`],
    ["a label without a name", rule("{.a}", "a.example/"), `${RULE}.aliasLabelName`],
    ["a label with a bad prefix", rule("{.a}", "A_B/c"), `${RULE}.aliasLabelName`],
    ["no label", rule("{.a}", ""), `${RULE}.aliasLabelName`],
    [
      "a negative toleration",
      { cluster: { tolerationSeconds: -1 } },
      "spec.failover.cluster.tolerationSeconds",
    ],
    [
      "a toleration that is no number",
      { cluster: { tolerationSeconds: "5m" } },
      "spec.failover.cluster.tolerationSeconds",
    ],
    ["a mode that a cluster has not", { cluster: { purgeMode: "Never" } }, "purgeMode"],
    ["a mode that nobody has", { cluster: { purgeMode: "Softly" } }, "purgeMode"],
  ])("%s", async (_name, failover, field) => {
    const policy = policyFor(WEB, { placement: oneOf("m1"), failover });
    const status = await refusalOf(fleet.plane.create(propagationPolicies, policy));
    expect(status).toMatchObject({ code: 422, reason: "Invalid" });
    expect(status.message).toContain(field);
    expect((await fleet.plane.list(propagationPolicies)).items).toEqual([]);
  });

  const taint = { key: "down", effect: "NoExecute" };
  const ready = { conditionType: "Ready", operator: "In", statusValues: ["False"] };
  it.each<[string, JsonObject, string]>([
    ["an unknown effect", { taintsToAdd: [{ key: "a", effect: "Evict" }] }, "effect"],
    ["an effect that is unknown", { taints: [{ key: "a", effect: "PreferNothing" }] }, "effect"],
    ["a negative window", { taintsToAdd: [{ ...taint, addOnMatchSeconds: -5 }] }, "addOnMatch"],
    [
      "a window that is no whole number",
      { taintsToAdd: [{ ...taint, removeOnMismatchSeconds: 1.5 }] },
      "removeOnMismatchSeconds",
    ],
    ["a key that is no label", { taintsToAdd: [{ ...taint, key: "a b" }] }, "key"],
    ["a value that is no label", { taints: [{ ...taint, value: "a b" }] }, "value"],
    ["mixed taints", { taintsToAdd: [taint], taints: [taint] }, "mixed"],
    ["mixed conditions", { matchConditions: [ready], taints: [taint] }, "mixed"],
    ["mixed clusters", { targetClusters: {}, taintsToAdd: [taint] }, "mixed"],
    [
      "mixed removal",
      { matchConditions: [ready], removeOnConditions: [ready], taintsToAdd: [taint] },
      "mixed",
    ],
    ["an unknown operator", { matchConditions: [{ ...ready, operator: "Is" }] }, "operator"],
    [
      "an unknown status",
      { matchConditions: [{ ...ready, statusValues: ["Maybe"] }] },
      "statusValues",
    ],
  ])("of taints: %s", async (_name, spec, named) => {
    const policy = {
      apiVersion: "policy.karmada.io/v1alpha1",
      kind: "ClusterTaintPolicy",
      metadata: { name: "bad" },
      spec,
    };
    const status = await refusalOf(fleet.plane.create(clusterTaintPolicies, policy));
    expect(status).toMatchObject({ code: 422, reason: "Invalid" });
    expect(status.message).toContain(named);
  });

  it.each<[string, JsonObject]>([
    ["effect", { key: "a", effect: "Evict" }],
    ["effect", { key: "a" }],
    ["key", { effect: "NoExecute" }],
    ["key", { key: "a b", effect: "NoExecute" }],
    ["value", { key: "a", value: "a b", effect: "NoExecute" }],
  ])("of a Cluster: the %s of %j", async (field, bad) => {
    const key = { namespace: "", name: "m1" };
    const body = { spec: { taints: [bad] } };
    const status = await refusalOf(fleet.plane.patch(clusters, key, { type: "merge", body }));
    expect(status).toMatchObject({ code: 422, reason: "Invalid" });
    expect(status.message).toContain(field);
  });
});

describe("state that cannot be carried holds the workload, with the rule named", () => {
  let fleet: Fleet;
  afterEach(() => fleet.close());

  /** What a hostile controller reports. */
  const STATUS = {
    jobStatus: { state: "RUNNING", jobId: "not a label!", more: { a: 1 }, ids: ["a", "b"] },
  };

  it.each([
    ["a value that is no label", "a.example/x", "{.jobStatus.jobId}", "finds"],
    ["several values", "a.example/x", "{.jobStatus.ids[*]}", "finds 2 values"],
    ["an object", "a.example/x", "{.jobStatus.more}", "finds an object"],
    ["a part in front of it", "a.example/x", "job-{.jobStatus.state}", "finds 2 values"],
    ["a label of the template", "app", "{.jobStatus.state}", "part of the template's labels"],
  ])("%s", async (_name, aliasLabelName, jsonPath, message) => {
    const on = { failover: true, statefulFailoverInjection: true };
    let hands: Hands;
    ({ fleet, hands } = await failoverFleet(["m1", "m2"], on));
    for (const client of [fleet.plane, fleet.member("m1").client, fleet.member("m2").client])
      await client.create(resources.crds, flinkCrd());
    await fleet.advance("60s");
    const rules = [{ aliasLabelName, jsonPath }];
    const failover = { cluster: { purgeMode: "Directly", statePreservation: { rules } } };
    const job = { apiVersion: "flink.apache.org/v1beta1", kind: "FlinkDeployment", name: "job" };
    const policy = policyFor(job, { placement: oneOf("m1", "m2"), failover });
    const template = flinkDeployment("job");
    const labels = { app: "job" };
    const labelled = { ...template, metadata: { ...template.metadata, labels } };
    await hands.create(policy, flinkDeployments, labelled);
    const key = { namespace: "default", name: "job" };
    const { client } = fleet.member("m1");
    const patch = { type: "merge", body: { status: STATUS } } as const;
    await client.patch(flinkDeployments, key, patch, { subresource: "status" });
    await fleet.advance("5s");
    await hands.taint("m1");
    await fleet.advance("30s");
    expect(await hands.placement("job-flinkdeployment")).toBe("m1");
    const { status } = await fleet.plane.get(evacuations, { namespace: "", name: "m1-1" });
    expect(status?.phase).toBe("Held");
    expect(status?.held?.[0]).toMatchObject({ reason: "StateNotReadable" });
    expect(status?.held?.[0]?.message).toContain(`the rule for ${aliasLabelName}`);
    expect(status?.held?.[0]?.message).toContain(message);
    expect(await hands.events("ResourceBinding", "job-flinkdeployment")).toContain("EvictionHeld");
    // Repaired, it goes.
    const body = { spec: { failover: { cluster: { statePreservation: null } } } };
    await fleet.plane.patch(propagationPolicies, key, { type: "merge", body });
    await fleet.advance("30s");
    expect(await hands.placement("job-flinkdeployment")).toBe("m2");
  });

  it.each(["karmada.io/managed", "app.kubernetes.io/name"])(
    "17.12: but no policy comes to that with the label %s",
    async (aliasLabelName) => {
      ({ fleet } = await failoverFleet(["m1"]));
      const rules = [{ aliasLabelName, jsonPath: "{.replicas}" }];
      const resource = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
      const policy = policyFor(resource, {
        failover: { cluster: { statePreservation: { rules } } },
      });
      const refused = await refusalOf(fleet.plane.create(propagationPolicies, policy));
      expect(refused.details?.causes).toMatchObject([
        { field: "spec.failover.cluster.statePreservation.rules[0].aliasLabelName" },
      ]);
    },
  );
});

describe("an evacuation that is edited by hand", () => {
  const WORKLOADS = 6;
  const RECORD = { namespace: "", name: "m1-1" };
  let fleet: Fleet;
  let crowd: CrowdedFleet;
  let evictions: Map<string, number>;
  afterEach(() => fleet.close());

  /** A cluster that is being emptied, one workload every two seconds, of which the first has gone. */
  beforeEach(async () => {
    crowd = await CrowdedFleet.open(3, WORKLOADS);
    ({ fleet } = crowd);
    evictions = countEvictions();
    await crowd.fail(1);
    await fleet.advance("1s");
    expect(await crowd.evicted()).toBe(1);
  });

  function countEvictions(): Map<string, number> {
    const seen = new Map<string, number>();
    const onFirst = new Set<string>();
    fleet.plane.watch(
      resourceBindings,
      {},
      {
        event: (event) => {
          if (event.type === "BOOKMARK") return;
          const { metadata, spec } = event.object;
          const isOn = (spec.clusters ?? []).some(({ name }) => name === "m1");
          if (!isOn && onFirst.has(metadata.name))
            seen.set(metadata.name, (seen.get(metadata.name) ?? 0) + 1);
          if (isOn) onFirst.add(metadata.name);
          else onFirst.delete(metadata.name);
        },
        end: () => undefined,
      },
    );
    return seen;
  }

  async function edit<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    body: JsonObject,
  ): Promise<void> {
    const subresource = "status" in body ? { subresource: "status" } : {};
    await fleet.plane.patch(resource, key, { type: "merge", body }, subresource);
  }

  /** All have left, each once, and not faster than the rate; the last record tells the truth. */
  async function expectAllMoved(): Promise<void> {
    await fleet.advance("4s");
    expect(await crowd.evicted()).toBeLessThanOrEqual(4);
    await fleet.advance("5m");
    expect([...evictions.values()]).toEqual(Array.from({ length: WORKLOADS }, () => 1));
    const { items } = await fleet.plane.list(evacuations);
    const status = items.at(-1)?.status;
    expect(status?.phase).toBe("Completed");
    expect(status?.entries?.total).toBeLessThanOrEqual(WORKLOADS);
    expect(status?.held ?? []).toEqual([]);
  }

  const LATER = "9999-12-31T23:59:59Z";
  const foreign = { kind: "ResourceBinding", namespace: "default", name: "x", uid: "y" };
  const MOST = 2 ** 31 - 1;
  const zeros = { total: 0, queued: 0, evicted: 0, done: 0, held: 0, abandoned: 0, exempt: 0 };

  it.each<[string, JsonObject]>([
    ["completed", { phase: "Completed", finishedAt: "2026-01-01T00:00:00Z" }],
    ["abandoned", { phase: "Abandoned", finishedAt: "2026-01-01T00:00:00Z" }],
    ["held", { phase: "Held", held: [{ binding: foreign, reason: "Because" }] }],
    ["paused", { phase: "Paused", reason: "GateOff" }],
    ["still recording", { phase: "Recording", taints: null }],
    ["without entries", { entries: { ...zeros } }],
    ["with entries beyond number", { entries: { ...zeros, total: MOST, done: MOST } }],
    ["fast", { rate: { perSecond: 1e300, reason: "Hurry" }, estimatedSecondsLeft: 0 }],
    ["from the end of time", { startedAt: LATER, finishedAt: null, observedGeneration: 2 ** 40 }],
    ["with strangers taken out", { editedByHand: [foreign] }],
  ])("status: it is said to be %s", async (_name, status) => {
    await edit(evacuations, RECORD, { status });
    await expectAllMoved();
  });

  it.each<[string, JsonObject]>([
    ["that its taint is gone", { removedAt: "2026-01-01T00:00:00Z" }],
    ["that more slices are to come", { slices: 1_000_000 }],
    ["that it is not recorded", { recorded: false }],
    ["another taint", { taint: { key: "other", effect: "NoExecute" } }],
  ])("status: the record of its taint says %s", async (_name, change) => {
    const { status } = await fleet.plane.get(evacuations, RECORD);
    const taints = (status?.taints ?? []).map((one) => ({ ...one, ...change }));
    await edit(evacuations, RECORD, { status: { taints } });
    await expectAllMoved();
  });

  it.each<[string, JsonObject]>([
    ["spec.cluster", { spec: { cluster: "m2" } }],
    ["spec.cluster", { spec: { cluster: "" } }],
    ["spec.paused", { spec: { paused: "yes" } }],
    ["status.phase", { status: { phase: "Sinking" } }],
    ["status.entries.done", { status: { entries: { ...zeros, done: -1 } } }],
    ["status.rate.perSecond", { status: { rate: { perSecond: -1, reason: "" } } }],
    ["status.startedAt", { status: { startedAt: "yesterday" } }],
    ["status.held", { status: { held: Array.from({ length: 101 }, () => ({})) } }],
  ])("%s cannot be written", async (field, body) => {
    const answer = await refusalOf(edit(evacuations, RECORD, body));
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.message).toContain(field);
    await expectAllMoved();
  });

  it("its slices cannot be written at all", async () => {
    const [slice] = (await fleet.plane.list(evacuationSlices)).items;
    const key = { namespace: "", name: slice?.metadata.name ?? "" };
    const answer = await refusalOf(edit(evacuationSlices, key, { spec: { entries: [] } }));
    expect(answer).toMatchObject({ code: 422, reason: "Invalid" });
    expect(answer.message).toContain("cannot be changed");
  });

  it.each<[string, JsonObject]>([
    ["nothing before the end of time", { reservedUntil: LATER }],
    ["everything since the beginning", { reservedUntil: "1970-01-01T00:00:00Z" }],
    ["a thousand at once", { reservedTokens: 1000, ratePerSecond: 1000 }],
    ["nothing", { reservedUntil: null, ratePerSecond: null, reason: null }],
  ])("the budget is said to allow %s", async (_name, status) => {
    await edit(evacuationBudgets, { namespace: "", name: FLEET_BUDGET }, { status });
    await expectAllMoved();
  });

  it("one that a person writes for a healthy cluster moves nobody", async () => {
    await edit(evacuations, RECORD, { spec: { paused: true } });
    const metadata = { name: "m2-1" };
    const record = { apiVersion: "lifeboat.dev/v1alpha1", kind: "Evacuation", metadata };
    await fleet.plane.create(evacuations, { ...record, spec: { cluster: "m2", paused: false } });
    const before = (await fleet.plane.list(resourceBindings)).items.map(
      ({ spec }) => spec.clusters,
    );
    await edit(
      evacuations,
      { namespace: "", ...metadata },
      {
        status: {
          phase: "Running",
          taints: [{ taint: { key: "down", effect: "NoExecute" }, slices: 0, recorded: true }],
        },
      },
    );
    await fleet.advance("60s");
    const after = (await fleet.plane.list(resourceBindings)).items.map(({ spec }) => spec.clusters);
    expect(after).toEqual(before);
  });
});
