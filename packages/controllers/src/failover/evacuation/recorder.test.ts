/** What is written down when a cluster becomes faulty, and what stays true of it. */
import {
  clusters,
  type Evacuation,
  evacuations,
  evacuationSlices,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { Informer } from "@lifeboat/kit";
import { type Fleet, wrapped } from "@lifeboat/testkit";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  allEvacuations,
  allSlices,
  bareFleet,
  bind,
  bindingOf,
  bindMany,
  createMany,
  DOWN,
  DRAIN,
  evacuation,
  finishTasks,
  setTaints,
  SINGLE,
  watchDecisions,
} from "./evacuation.suite.ts";

/** Other work on the machine must not fail them. */
vi.setConfig({ testTimeout: 60_000 });

let fleet: Fleet;
afterEach(() => fleet.close());
const FOUR = ["m1", "m2", "m3", "m4"];
const PREFER = { key: "slow", effect: "PreferNoExecute" as const };
/** A placement that tolerates the taint for a time, or for ever. */
const tolerating = (seconds?: number): Partial<ResourceBinding["spec"]> => ({
  placement: {
    ...SINGLE,
    clusterTolerations: [
      {
        key: "down",
        operator: "Exists",
        effect: "NoExecute",
        ...(seconds === undefined ? {} : { tolerationSeconds: seconds }),
      },
    ],
  } as NonNullable<ResourceBinding["spec"]["placement"]>,
});
const edit = async (name: string, spec: Partial<ResourceBinding["spec"]>): Promise<void> => {
  const found = await bindingOf(fleet, name);
  await fleet.plane.update(resourceBindings, { ...found, spec: { ...found.spec, ...spec } });
  await fleet.settle();
};
const entriesOf = async (name: string) =>
  (await allSlices(fleet))
    .filter(({ spec }) => spec.evacuation === name)
    .flatMap(({ spec }) =>
      spec.entries.map(({ binding, exempt, toleratedUntil }) => ({
        taint: spec.taint.key,
        name: binding.name,
        ...(exempt === undefined ? {} : { exempt }),
        ...(toleratedUntil === undefined ? {} : { toleratedUntil }),
      })),
    )
    .toSorted((a, b) => `${a.taint} ${a.name}`.localeCompare(`${b.taint} ${b.name}`));

it("begins no evacuation for a taint that is gone, of which it has not heard", async () => {
  const stop = new AbortController();
  fleet = await bareFleet({
    clusters: FOUR,
    through: (context) => {
      const stale = new Informer(context, context.plane, clusters);
      void stale.run(stop.signal);
      return { ...context, informers: { ...context.informers, clusters: stale } };
    },
  });
  await bind(fleet, "web", ["m1"]);
  await setTaints(fleet, "m1", DOWN);
  await fleet.advance("10s");
  expect(await allEvacuations(fleet)).toHaveLength(1);
  stop.abort();
  await fleet.settle();
  await setTaints(fleet, "m1");
  await fleet.plane.delete(evacuations, { namespace: "", name: "m1-1" });
  await fleet.advance("10s");
  expect(await allEvacuations(fleet)).toEqual([]);
});

describe("eligibility", () => {
  it("is frozen per taint: later edits change no verdict", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "stays", ["m1"], tolerating());
    await bind(fleet, "goes", ["m1"], tolerating(60));
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    await edit("stays", { placement: SINGLE as never });
    await edit("goes", tolerating());
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("45s");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Running",
      reason: "AwaitingToleration",
      entries: { queued: 1, exempt: 1 },
    });
    await fleet.advance("10m");
    expect(decisions.map(({ binding }) => binding)).toEqual(["goes"]);
  });

  it("is judged on arrival for a workload that reaches the cluster later, once", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    expect(await evacuation(fleet, "m1-1")).toMatchObject({ status: { phase: "Completed" } });
    await bind(fleet, "late", ["m1"], tolerating(600));
    await bind(fleet, "safe", ["m1"], tolerating());
    await fleet.advance("2s");
    expect(await entriesOf("m1-1")).toMatchObject([
      { name: "late" },
      { name: "safe", exempt: "Tolerated" },
    ]);
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("15m");
    expect(decisions.map(({ binding }) => binding)).toEqual(["late"]);
    expect((await entriesOf("m1-1")).filter(({ name }) => name === "late")).toHaveLength(1);
  });

  it("is judged once of a binding that took the name of another, whatever the order of the slices", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "first", ["m1"], tolerating());
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("5s");
    await bind(fleet, "again", ["m1"], tolerating());
    await fleet.advance("5s");
    await fleet.plane.delete(resourceBindings, { namespace: "default", name: "again" });
    await bind(fleet, "again", ["m1"], tolerating());
    await fleet.advance("5s");
    await setTaints(fleet, "m1", DOWN, PREFER);
    await fleet.advance("5s");
    const expected = ["down again", "down again", "down first", "slow again", "slow first"];
    const named = async () =>
      (await entriesOf("m1-1")).map(({ taint, name }) => `${taint} ${name}`);
    expect(await named()).toEqual(expected);
    await fleet.restart();
    await fleet.advance("1m");
    expect(await named()).toEqual(expected);
  });

  it("of a further taint adds entries, and removing one taint abandons only its own", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "a", ["m1"], { ...tolerating(300) });
    await bind(fleet, "b", ["m1"], {
      ...tolerating(),
      failover: { cluster: { purgeMode: "Gracefully", tolerationSeconds: 100 } },
    });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("10s");
    await setTaints(fleet, "m1", DOWN, PREFER);
    await fleet.advance("10s");
    expect(await entriesOf("m1-1")).toMatchObject([
      { taint: "down", name: "a" },
      { taint: "down", name: "b", exempt: "Tolerated" },
      { taint: "slow", name: "a", exempt: "NoFailover" },
      { taint: "slow", name: "b" },
    ]);
    await setTaints(fleet, "m1", PREFER);
    await fleet.advance("20m");
    expect(decisions.map(({ binding }) => binding)).toEqual(["b"]);
    await finishTasks(fleet);
    await fleet.advance("2s");
    expect(await evacuation(fleet, "m1-1")).toMatchObject({
      status: { entries: { total: 2, done: 1, abandoned: 1 } },
    });
  });

  it("a federated StatefulSet is exempt", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "db", ["m1"], {
      resource: { apiVersion: "apps/v1", kind: "StatefulSet", namespace: "default", name: "db" },
    });
    // The binding decides, also while the template is not in sight (D15).
    const annotations = { "lifeboat.dev/federated-shares": '{"m1":1}' };
    const key = { namespace: "default", name: "db" };
    await fleet.plane.patch(resourceBindings, key, {
      type: "merge",
      body: { metadata: { annotations } },
    });
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DRAIN);
    await fleet.advance("1m");
    expect(decisions).toEqual([]);
    expect(await entriesOf("m1-1")).toMatchObject([{ exempt: "FederatedStatefulSet" }]);
  });
});

describe("the record", () => {
  it("is one slice per 500, and nothing is released before the last is written", async () => {
    let creates = 0;
    let isStuck = true;
    fleet = await bareFleet({
      clusters: FOUR,
      scheduler: false,
      through: (context) => ({
        ...context,
        plane: {
          ...wrapped(context.plane),
          create: (resource, object, options) => {
            if (resource.plural === "evacuationslices" && ++creates > 1 && isStuck)
              return Promise.reject(new Error("the disk is full"));
            return context.plane.create(resource, object, options);
          },
        },
      }),
    });
    await createMany(fleet, "a", 600, "m1");
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("1m");
    expect(decisions).toEqual([]);
    expect((await allSlices(fleet)).map(({ spec }) => spec.entries.length)).toEqual([500]);
    isStuck = false;
    await fleet.restart();
    await fleet.advance("2s");
    const slices = await allSlices(fleet);
    expect(slices.map(({ spec }) => spec.entries.length)).toEqual([500, 100]);
    const names = new Set(
      slices.flatMap(({ spec }) => spec.entries.map(({ binding }) => binding.uid)),
    );
    expect(names.size).toBe(600);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      taints: [{ slices: 2, recorded: true }],
    });
  });

  it("keeps the last ten evacuations of a cluster, with their slices", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bind(fleet, "a", ["m1"], tolerating());
    for (let i = 0; i < 13; i++) {
      await setTaints(fleet, "m1", DOWN);
      await fleet.advance("3s");
      await setTaints(fleet, "m1");
      await fleet.advance("3s");
    }
    const numbers = (await allEvacuations(fleet)).map(({ metadata }) =>
      Number(metadata.name.slice(3)),
    );
    expect(numbers.toSorted((a, b) => a - b)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    await fleet.advance("1m");
    expect(new Set((await allSlices(fleet)).map(({ spec }) => spec.evacuation)).size).toBe(10);
  });

  it("begins again with the policies of the moment when the gate was off meanwhile", async () => {
    let failover = true;
    fleet = await bareFleet({
      clusters: FOUR,
      options: {
        get failover() {
          return failover;
        },
      },
    });
    await bind(fleet, "a", ["m1"], tolerating(600));
    await bind(fleet, "b", ["m1"], tolerating());
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("2s");
    failover = false;
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("20m");
    expect(decisions).toEqual([]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      phase: "Paused",
      reason: "GateOff",
    });
    await edit("b", tolerating(60));
    await edit("a", tolerating());
    failover = true;
    await fleet.restart();
    watchDecisions(fleet, decisions);
    await fleet.advance("10m");
    expect(decisions.map(({ binding }) => binding)).toEqual(["b"]);
    const [first, second] = await allEvacuations(fleet);
    expect(first?.status).toMatchObject({ phase: "Abandoned", reason: "GateOff" });
    expect(first?.status?.entries).toMatchObject({ queued: 0, held: 0, abandoned: 1, exempt: 1 });
    expect(second?.metadata.name).toBe("m1-2");
  });

  it("is written again as far as a person deleted a slice of it", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 3, "m1", tolerating(600));
    const decisions = watchDecisions(fleet);
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("2s");
    const [slice] = await allSlices(fleet);
    await fleet.plane.delete(evacuationSlices, {
      namespace: "",
      name: slice?.metadata.name ?? "",
    });
    await fleet.advance("15m");
    expect(decisions.map(({ binding }) => binding).toSorted()).toEqual(["a-0", "a-1", "a-2"]);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
      entries: { total: 3, evicted: 3 },
      taints: [{ slices: 1 }],
    });
  });

  it("takes another name when another object has it", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await fleet.plane.create(evacuations, {
      apiVersion: "lifeboat.dev/v1alpha1",
      kind: "Evacuation",
      metadata: { name: "m1-1" },
      spec: { cluster: "another", paused: false },
    });
    await bindMany(fleet, "a", 1, "m1");
    await setTaints(fleet, "m1", DOWN);
    await fleet.advance("2s");
    expect((await evacuation(fleet, "m1-2")).status).toMatchObject({ entries: { evicted: 1 } });
  });

  it("is made again when a person deletes it", async () => {
    fleet = await bareFleet({ clusters: FOUR });
    await bindMany(fleet, "a", 3, "m1");
    await setTaints(fleet, "m1", DOWN);
    await fleet.plane.delete(evacuations, { namespace: "", name: "m1-1" });
    await fleet.advance("1m");
    expect(await allEvacuations(fleet)).toHaveLength(1);
    for (const name of ["a-0", "a-1", "a-2"])
      expect((await bindingOf(fleet, name)).spec.gracefulEvictionTasks).toHaveLength(1);
  });

  it.each([
    ["a person's order", "spec"],
    ["what was put back by hand", "status"],
  ] as const)(
    "reports that %s took a workload out, and leaves that one alone",
    async (_, where) => {
      fleet = await bareFleet({ clusters: FOUR });
      await bindMany(fleet, "a", 3, "m1");
      const decisions = watchDecisions(fleet);
      await setTaints(fleet, "m1", DOWN);
      await fleet.advance("1s");
      const found: Evacuation = await evacuation(fleet, "m1-1");
      const { uid } = (await bindingOf(fleet, "a-2")).metadata;
      const out = [{ kind: "ResourceBinding" as const, namespace: "default", name: "a-2", uid }];
      if (where === "spec")
        await fleet.plane.update(evacuations, { ...found, spec: { ...found.spec, takenOut: out } });
      else
        await fleet.plane.update(
          evacuations,
          { ...found, status: { ...found.status, editedByHand: out } },
          { subresource: "status" },
        );
      await fleet.advance("1m");
      expect(decisions.map(({ binding }) => binding)).toEqual(["a-0", "a-1"]);
      await finishTasks(fleet);
      await fleet.advance("2s");
      expect((await evacuation(fleet, "m1-1")).status).toMatchObject({
        phase: "Completed",
        reason: "TakenOutByPerson",
        entries: { done: 2, abandoned: 1 },
      });
    },
  );

  it("writes progress at most once a second", async () => {
    let writes = 0;
    fleet = await bareFleet({
      clusters: FOUR,
      options: {
        rates: { rate: 50, secondaryRate: 1, unhealthyThreshold: 0.55, largeFleetThreshold: 10 },
      },
      through: (context) => ({
        ...context,
        plane: {
          ...wrapped(context.plane),
          update: (resource, object, options) => {
            if (resource.plural === "evacuations") writes += 1;
            return context.plane.update(resource, object, options);
          },
        },
      }),
    });
    await bindMany(fleet, "a", 150, "m1");
    await setTaints(fleet, "m1", DOWN);
    writes = 0;
    await fleet.advance("3s");
    expect(writes).toBeLessThanOrEqual(4);
    expect((await evacuation(fleet, "m1-1")).status).toMatchObject({ entries: { evicted: 150 } });
  });
});
