/**
 * Stateful workloads move in mode Directly with their state: gone from the old cluster before they appear in the new one,
 * and the new copy bears the labels (E2, O-state-1, O-state-4, O-state-9).
 */
import { type AnyObject, evacuations, type New, type Resource, statefulSets } from "@lifeboat/api";
import {
  deployment,
  type Fleet,
  flinkCrd,
  flinkDeployment,
  flinkDeployments,
  oneOf,
  resources,
  statefulSet,
} from "@lifeboat/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { failoverFleet, type Hands, policyFor } from "./failover.suite.ts";

let fleet: Fleet;
let hands: Hands;
afterEach(() => fleet.close());

interface Case {
  readonly name: string;
  readonly kind: string;
  readonly apiVersion: string;
  readonly resource: Resource;
  readonly template: New<AnyObject>;
  readonly rules: readonly { readonly aliasLabelName: string; readonly jsonPath: string }[];
  /** What the workload's own controller reports in the member, where the model has none. */
  readonly status?: object;
  readonly labels: Readonly<Record<string, string>>;
}

const COUNTS = [
  { aliasLabelName: "failover.karmada.io/replicas", jsonPath: "{ .replicas }" },
  { aliasLabelName: "failover.karmada.io/readyReplicas", jsonPath: "{ .readyReplicas }" },
];
const COUNTED = {
  "failover.karmada.io/replicas": "2",
  "failover.karmada.io/readyReplicas": "2",
};

const CASES: readonly Case[] = [
  {
    name: "deploy",
    kind: "Deployment",
    apiVersion: "apps/v1",
    resource: resources.deployments,
    template: deployment("deploy", { replicas: 2 }),
    rules: COUNTS,
    labels: COUNTED,
  },
  {
    name: "sts",
    kind: "StatefulSet",
    apiVersion: "apps/v1",
    resource: statefulSets,
    template: statefulSet("sts", 2),
    rules: COUNTS,
    labels: COUNTED,
  },
  {
    name: "foo",
    kind: "FlinkDeployment",
    apiVersion: "flink.apache.org/v1beta1",
    resource: flinkDeployments,
    template: flinkDeployment("foo"),
    rules: [
      {
        aliasLabelName: "failover.karmada.io/failover-jobid",
        jsonPath: "{ .jobStatus.jobId }",
      },
    ],
    status: {
      jobManagerDeploymentStatus: "READY",
      jobStatus: { jobId: "e6fdb5c0997c11b0c62d796b3df25e86", state: "RUNNING" },
    },
    labels: { "failover.karmada.io/failover-jobid": "e6fdb5c0997c11b0c62d796b3df25e86" },
  },
];

async function start(
  one: Case,
  statefulFailoverInjection = true,
  places: readonly string[] = ["m1", "m2"],
): Promise<string> {
  const { apiVersion, kind, resource, template, name, rules, status } = one;
  ({ fleet, hands } = await failoverFleet(["m1", "m2", "m3"], {
    failover: true,
    statefulFailoverInjection,
  }));
  if (status !== undefined) {
    await fleet.plane.create(resources.crds, flinkCrd());
    for (const member of ["m1", "m2", "m3"])
      await fleet.member(member).client.create(resources.crds, flinkCrd());
    await fleet.advance("60s");
  }
  const failover = { cluster: { purgeMode: "Directly", statePreservation: { rules } } };
  const spec = { placement: oneOf(...places), failover };
  await hands.create(policyFor({ apiVersion, kind, name }, spec), resource, template);
  const from = await hands.placement(bindingOf(name, kind));
  if (status !== undefined) await report(from, resource, name, status);
  await fleet.advance("10s");
  return from;
}

async function report(member: string, resource: Resource, name: string, status: object) {
  const { client } = fleet.member(member);
  const copy = await client.get(resource, { namespace: "default", name });
  await client.update(resource, { ...copy, status }, { subresource: "status" });
}

function bindingOf(name: string, kind: string): string {
  return `${name}-${kind.toLowerCase()}`;
}

describe.each(CASES)("a $resource.kind that moves Directly", (one) => {
  const { kind, resource, name } = one;
  const key = { namespace: "default", name };

  it("is gone from the old cluster before it is in the new one, and carries its state", async () => {
    const from = await start(one);
    const to = from === "m1" ? "m2" : "m1";
    const bound = bindingOf(name, kind);
    await hands.taint(from);
    for (let i = 0; i < 300 && (await hands.copy(to, resource, key)) === undefined; i++)
      await fleet.advance("100ms");
    expect(await hands.copy(from, resource, key)).toBeUndefined();
    const pods = await fleet.member(from).client.list(resources.pods, { namespace: "default" });
    expect(pods.items).toEqual([]);
    const moved = await hands.copy(to, resource, key);
    expect(moved?.metadata.labels).toMatchObject(one.labels);
    expect(await hands.placement(bound)).toBe(to);
    // The labels stay on the copy: nothing takes them off again.
    await fleet.advance("60s");
    expect((await hands.copy(to, resource, key))?.metadata.labels).toMatchObject(one.labels);
  });
});

describe("17.12: a member's answer with an integer beyond 2^53", () => {
  const flink = CASES.find(({ kind }) => kind === "FlinkDeployment");
  const key = { namespace: "default", name: "foo" };

  it("holds the workload that would carry it with InexactInteger, and lets it go once it is exact", async () => {
    if (flink === undefined) throw new Error("no case");
    const reported = (checkpoint: string): object =>
      JSON.parse(
        `{"jobManagerDeploymentStatus":"READY","jobStatus":{"jobId":${checkpoint},"state":"RUNNING"}}`,
      ) as object;
    const one = { ...flink, status: reported("9007199254740993") };
    const from = await start(one);
    await hands.taint(from);
    await fleet.advance("60s");
    expect(await hands.placement(bindingOf(one.name, one.kind))).toBe(from);
    expect(await hands.copy(from, one.resource, key)).toBeDefined();
    const { status } = await fleet.plane.get(evacuations, { namespace: "", name: `${from}-1` });
    expect(status).toMatchObject({
      phase: "Held",
      held: [{ reason: "StateNotReadable", message: expect.stringContaining("InexactInteger: ") }],
    });
    // The next value is exact: it is carried as it was reported.
    await report(from, one.resource, one.name, reported("9007199254740991"));
    await fleet.advance("60s");
    const to = from === "m1" ? "m2" : "m1";
    expect((await hands.copy(to, one.resource, key))?.metadata.labels).toMatchObject({
      "failover.karmada.io/failover-jobid": "9007199254740991",
    });
  });
});

describe("while the gate is off", () => {
  it.each(CASES)("a $kind moves without state", async (one) => {
    const from = await start(one, false);
    const to = from === "m1" ? "m2" : "m1";
    await hands.taint(from);
    await fleet.advance("60s");
    const key = { namespace: "default", name: one.name };
    const moved = await hands.copy(to, one.resource, key);
    expect(moved).toBeDefined();
    for (const label of Object.keys(one.labels))
      expect(moved?.metadata.labels ?? {}).not.toHaveProperty([label]);
    const { metadata } = await hands.binding(bindingOf(one.name, one.kind));
    expect(metadata.annotations ?? {}).not.toHaveProperty(["lifeboat.dev/preserved-state"]);
    // 17.12: a person who asked for state learns that none was kept.
    const { items } = await fleet.plane.list(resources.events);
    const told = items.filter(({ reason }) => reason === "StateNotPreserved");
    for (const kind of [one.kind, "ResourceBinding"])
      expect(told).toContainEqual(
        expect.objectContaining({
          involvedObject: expect.objectContaining({ kind }),
          message: expect.stringContaining("StatefulFailoverInjection is off"),
        }),
      );
  });
});

describe("a second failover", () => {
  it("carries the state of the cluster that fails then, not of the first one (O-state-7)", async () => {
    const one = CASES.find(({ kind }) => kind === "FlinkDeployment");
    if (one === undefined) throw new Error("no case");
    const key = { namespace: "default", name: one.name };
    const bound = bindingOf(one.name, one.kind);
    const first = await start(one, true, ["m1", "m2", "m3"]);
    await hands.taint(first);
    await fleet.advance("30s");
    const second = await hands.placement(bound);
    expect((await hands.copy(second, one.resource, key))?.metadata.labels).toMatchObject(
      one.labels,
    );
    await report(second, one.resource, one.name, {
      jobManagerDeploymentStatus: "READY",
      jobStatus: { jobId: "b2", state: "RUNNING" },
    });
    await fleet.advance("5s");
    await hands.untaint(first);
    await hands.taint(second);
    await fleet.advance("30s");
    const third = await hands.placement(bound);
    expect(third).toMatch(/^m[123]$/);
    expect(third).not.toBe(second);
    expect((await hands.copy(third, one.resource, key))?.metadata.labels).toMatchObject({
      "failover.karmada.io/failover-jobid": "b2",
    });
  });

  const JOB = "failover.karmada.io/failover-jobid";
  /** What the copy in the second cluster reports, one after the other, before that cluster fails too. */
  async function secondHop(...reports: readonly (readonly [jobId: string, state: string])[]) {
    const one = CASES.find(({ kind }) => kind === "FlinkDeployment");
    if (one === undefined) throw new Error("no case");
    const bound = bindingOf(one.name, one.kind);
    const first = await start(one, true, ["m1", "m2", "m3"]);
    await hands.taint(first);
    await fleet.advance("30s");
    const second = await hands.placement(bound);
    for (const [jobId, state] of reports) {
      const jobManagerDeploymentStatus = state === "RUNNING" ? "READY" : "DEPLOYING";
      const status = { jobManagerDeploymentStatus, jobStatus: { jobId, state } };
      await report(second, one.resource, one.name, status);
      await fleet.advance("5s");
    }
    await fleet.restart();
    await fleet.advance("15s");
    // With most of the fleet failed nothing would move.
    await hands.untaint(first);
    await hands.taint(second);
    await fleet.advance("30s");
    const third = await hands.placement(bound);
    expect(third).toMatch(/^m[123]$/);
    expect(third).not.toBe(second);
    const key = { namespace: "default", name: one.name };
    return (await hands.copy(third, one.resource, key))?.metadata.labels?.[JOB];
  }

  it("17.12: carries the first state on if the second copy was never healthy, also over a restart", async () => {
    expect(await secondHop(["b2", "RECONCILING"])).toBe("e6fdb5c0997c11b0c62d796b3df25e86");
  });

  it("17.12: carries the second state if the second copy was healthy once, also over a restart", async () => {
    expect(await secondHop(["b2", "RUNNING"], ["b3", "RECONCILING"])).toBe("b3");
  });
});
