/** What `watch` prints of a fleet in which things happen, on a real API server under a virtual clock. */
import {
  type Cluster,
  clusters,
  type Evacuation,
  evacuationBudgets,
  evacuations,
  evacuationSlices,
  type New,
  resourceBindings,
} from "@lifeboat/api";
import { addMs, formatTime } from "@lifeboat/base";
import { changeRecord } from "@lifeboat/controllers/context";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { watchFleet, type WatchFleetParts } from "./watch-fleet.ts";

const FLEET = { namespace: "", name: "fleet" };

let fleet: Fleet;
let written: string;
let stop: AbortController;

beforeEach(async () => {
  fleet = await createFleet({ memberModel: false });
  written = "";
  stop = new AbortController();
});
afterEach(() => fleet.close());

function watch(more: Partial<WatchFleetParts> = {}, isTerminal = false): Promise<void> {
  const screen = { isTerminal, write: (text: string) => void (written += text) };
  const parts = {
    clock: fleet.clock,
    plane: fleet.plane,
    screen,
    output: { kind: "form", form: "text" } as const,
  };
  return watchFleet({ ...parts, ...more }, stop.signal);
}

const eu1: New<Cluster> = {
  apiVersion: "cluster.karmada.io/v1alpha1",
  kind: "Cluster",
  metadata: { name: "eu-1" },
  spec: { syncMode: "Push" },
};

async function place(on: readonly string[], leaving: readonly string[]): Promise<void> {
  const spec = {
    resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "default" },
    replicas: 1,
    clusters: on.map((name) => ({ name, replicas: 1 })),
    gracefulEvictionTasks: leaving.map((fromCluster) => ({
      fromCluster,
      reason: "TaintUntolerated",
      producer: "TaintManager",
      purgeMode: "Gracefully" as const,
      creationTimestamp: new Date(fleet.clock.now()).toISOString().replace(/\.\d+/, ""),
    })),
  };
  const { items } = await fleet.plane.list(resourceBindings);
  const [found] = items;
  if (found === undefined)
    await fleet.plane.create(resourceBindings, {
      apiVersion: "work.karmada.io/v1alpha2",
      kind: "ResourceBinding",
      metadata: { name: "web-deployment", namespace: "default" },
      spec,
    });
  else await fleet.plane.update(resourceBindings, { ...found, spec: { ...found.spec, ...spec } });
}

async function evacuate(): Promise<Evacuation> {
  const [found] = (await fleet.plane.list(resourceBindings)).items;
  const taint = { key: "down", effect: "NoExecute" as const };
  await fleet.plane.create(evacuationSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationSlice",
    metadata: { name: "eu-1-1-0" },
    spec: {
      evacuation: "eu-1-1",
      taint,
      ordinal: 0,
      entries: [
        {
          binding: {
            kind: "ResourceBinding",
            namespace: "default",
            name: "web-deployment",
            uid: found?.metadata.uid ?? "",
          },
          resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
          lane: "Workload",
        },
      ],
    },
  });
  const made = await fleet.plane.create(evacuations, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "Evacuation",
    metadata: { name: "eu-1-1" },
    spec: { cluster: "eu-1", paused: false },
  });
  const entries = { total: 1, queued: 1, evicted: 0, done: 0, held: 0, abandoned: 0, exempt: 0 };
  return fleet.plane.update(
    evacuations,
    {
      ...made,
      status: { phase: "Running", entries, taints: [{ taint, slices: 1, recorded: true }] },
    },
    { subresource: "status" },
  );
}

/** Without times. */
const lines = (): readonly string[] =>
  written
    .split("\n")
    .map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ""))
    .filter((line) => line !== "");

describe("watch", () => {
  it("prints a line for each thing that happens from then on, until it is stopped", async () => {
    await fleet.plane.create(clusters, eu1);
    const watching = watch();
    await fleet.advance("1s");
    await place(["eu-1"], []);
    await fleet.advance("1s");
    await place(["eu-2"], ["eu-1"]);
    await fleet.advance("1s");
    stop.abort();
    await watching;
    expect(lines()).toEqual([
      "no evacuation is under way; Ctrl-C ends this",
      "deployment default/web runs on eu-1:1, by admin",
      "deployment default/web leaves eu-1 (TaintUntolerated, Gracefully), by",
      "          admin",
      "deployment default/web runs on eu-2:1, by admin",
    ]);
  });

  it("prints JSON, a document per line", async () => {
    const watching = watch({ output: { kind: "json" } });
    await fleet.advance("1s");
    await fleet.plane.create(clusters, eu1);
    await fleet.advance("1s");
    stop.abort();
    await watching;
    const [first, ...more] = written.trim().split("\n");
    expect(JSON.parse(first ?? "")).toMatchObject({ action: "Joined", cluster: "eu-1" });
    expect(more).toEqual([]);
  });

  it.each([
    ["yaml", { kind: "yaml" }, /^---\n[\s\S]*cluster: eu-1\n[\s\S]*---\n[\s\S]*cluster: eu-2\n/],
    ["jsonpath", { kind: "jsonpath", template: "{.cluster} {.workload.name}" }, /^eu-1 \neu-2 \n$/],
  ] as const)("prints %s, a document for each", async (_name, output, expected) => {
    const watching = watch({ output });
    await fleet.advance("1s");
    await fleet.plane.create(clusters, eu1);
    await fleet.advance("1s");
    await fleet.plane.create(clusters, { ...eu1, metadata: { name: "eu-2" } });
    await fleet.advance("1s");
    stop.abort();
    await watching;
    expect(written).toMatch(expected);
  });

  it("of one evacuation ends with it, and shows where everything went", async () => {
    await fleet.plane.create(clusters, eu1);
    await place(["eu-1"], []);
    const open = await evacuate();
    const watching = watch({ evacuation: "" });
    await fleet.advance("1s");
    await place([], ["eu-1"]);
    await fleet.advance("1s");
    await place(["eu-2"], []);
    await fleet.advance("4s");
    const finishedAt = new Date(fleet.clock.now()).toISOString().replace(/\.\d+/, "");
    const status = { ...open.status, phase: "Completed" as const, finishedAt };
    const now = await fleet.plane.get(evacuations, { namespace: "", name: "eu-1-1" });
    await fleet.plane.update(evacuations, { ...now, status }, { subresource: "status" });
    await fleet.advance("2s");
    await watching;
    const text = written;
    expect(text).toContain("deployment default/web leaves eu-1");
    expect(text).toContain("evacuation eu-1-1 of eu-1 ended");
    expect(text).toMatch(/Deployment default\/web +eu-1(:1)? → eu-2:1 +1s +moved/);
  });

  /** The evacuation of eu-1 with its one workload moved to eu-2 and healthy there, long before. */
  async function moved(): Promise<Evacuation> {
    await fleet.plane.create(clusters, eu1);
    await place(["eu-1"], []);
    await evacuate();
    await place(["eu-2"], []);
    const made = await fleet.plane.create(clusters, { ...eu1, metadata: { name: "eu-2" } });
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const ready = { type: "Ready", status: "True" as const, reason: "", message: "" };
    await fleet.plane.update(
      clusters,
      { ...made, status: { conditions: [{ ...ready, lastTransitionTime }] } },
      { subresource: "status" },
    );
    await healthyOn("eu-2");
    await fleet.advance("10m");
    return fleet.plane.get(evacuations, { namespace: "", name: "eu-1-1" });
  }

  async function healthyOn(clusterName: string): Promise<void> {
    const [found] = (await fleet.plane.list(resourceBindings)).items;
    if (found === undefined) throw new Error("there is a binding");
    const copy = { readyReplicas: 1, replicas: 1 };
    const aggregatedStatus = [
      { clusterName, applied: true, health: "Healthy" as const, status: copy },
    ];
    const status = { ...found.status, aggregatedStatus };
    await fleet.plane.update(resourceBindings, { ...found, status }, { subresource: "status" });
  }

  it.each([
    ["of the fleet", {}],
    ["of the evacuation", { evacuation: "eu-1-1" }],
    ["for programs", { output: { kind: "json" } as const }],
  ])("that begins late tells nothing old as new (%s)", async (_name, parts) => {
    await moved();
    const watching = watch(parts);
    await fleet.advance("2s");
    expect(written).not.toContain("is whole on");
    stop.abort();
    await fleet.advance("1s");
    await watching;
  });

  it("tells what becomes whole meanwhile, once", async () => {
    await moved();
    await healthyOn("nowhere");
    const watching = watch();
    await fleet.advance("1s");
    await healthyOn("eu-2");
    await fleet.advance("2s");
    stop.abort();
    await fleet.advance("1s");
    await watching;
    expect(lines().filter((line) => line.includes("is whole on"))).toEqual([
      expect.stringContaining("default/web is whole on eu-2:1"),
    ]);
  });

  it("of one that had ended prints its end for programs, with its own time, and ends", async () => {
    const open = await moved();
    const ended = new Date(fleet.clock.now()).toISOString();
    const finishedAt = ended.replace(/\.\d+/, "");
    const status = { ...open.status, phase: "Completed" as const, finishedAt };
    await fleet.plane.update(evacuations, { ...open, status }, { subresource: "status" });
    await fleet.advance("10m");
    const watching = watch({ evacuation: "eu-1-1", output: { kind: "json" } });
    await fleet.advance("2s");
    await watching;
    const documents = written.trim().split("\n");
    expect(documents).toHaveLength(1);
    expect(JSON.parse(documents[0] ?? "")).toMatchObject({
      at: ended.replace(/\d+Z/, "000000Z"),
      evacuation: "eu-1-1",
      cluster: "eu-1",
      text: expect.stringContaining("evacuation eu-1-1 of eu-1 ended, Completed") as string,
    });
  });

  it("draws on a terminal, pauses on p, and leaves on q", async () => {
    await fleet.plane.create(clusters, eu1);
    await place(["eu-1"], []);
    await evacuate();
    let press: (key: string) => void = () => undefined;
    const onKey = (handler: (key: string) => void): void => {
      press = handler;
    };
    const watching = watch({ evacuation: "eu-1-1", onKey }, true);
    await fleet.advance("1s");
    expect(written).toContain("waits its turn");
    expect(written).toContain(
      "p pauses or goes on · r halves the rate · e explains held · q leaves it running",
    );
    press("p");
    await fleet.advance("1s");
    const { spec } = await fleet.plane.get(evacuations, { namespace: "", name: "eu-1-1" });
    expect(spec.paused).toBe(true);
    press("e");
    press("q");
    await fleet.advance("1s");
    await watching;
    expect(written).toContain("nothing is held");
  });

  it.each([["eu-1-1"], [undefined]])(
    "halves the rate for a while on r (%s)",
    async (evacuation) => {
      await fleet.plane.create(clusters, eu1);
      await place(["eu-1"], []);
      await evacuate();
      let press: (key: string) => void = () => undefined;
      const onKey = (handler: (key: string) => void): void => void (press = handler);
      const watching = watch({ onKey, ...(evacuation && { evacuation }) }, true);
      await fleet.advance("1s");
      press("r");
      await fleet.advance("1s");
      const { rateOverride } = (await fleet.plane.get(evacuationBudgets, FLEET)).spec;
      expect(rateOverride).toMatchObject({
        perSecond: 0.25,
        atMost: true,
        reason: "halved in lifeboat watch",
      });
      const lasts = Date.parse(rateOverride?.until ?? "") - Date.parse(rateOverride?.setAt ?? "");
      expect(lasts).toBe(30 * 60_000);
      expect(written).toContain("the rate of the whole fleet is at most 0.25 per second until ");
      expect(written).toContain("take back: lifeboat evacuations rate --clear");
      press("q");
      await fleet.advance("1s");
      await watching;
    },
  );

  it("D6: half of a rate that overrules the brakes holds no longer than that rate", async () => {
    await fleet.plane.create(clusters, eu1);
    await place(["eu-1"], []);
    await evacuate();
    const now = fleet.clock.now();
    const at = (ms: number): string => formatTime(addMs(now, ms));
    const set = { perSecond: 2, setAt: at(0), until: at(300_000), reason: "a person" };
    await changeRecord(fleet.plane, (parts) => ({
      ...parts,
      spec: { ...parts.spec, rateOverride: set },
    }));
    let press: (key: string) => void = () => undefined;
    const onKey = (handler: (key: string) => void): void => void (press = handler);
    const watching = watch({ onKey }, true);
    await fleet.advance("1s");
    press("r");
    await fleet.advance("1s");
    const { rateOverride } = (await fleet.plane.get(evacuationBudgets, FLEET)).spec;
    expect(rateOverride).toMatchObject({ perSecond: 1, until: set.until });
    expect(rateOverride?.atMost).toBeUndefined();
    press("q");
    await fleet.advance("1s");
    await watching;
  });

  it("stops the fleet on p, and never releases it", async () => {
    await fleet.plane.create(clusters, eu1);
    await place(["eu-1"], []);
    await evacuate();
    let press: (key: string) => void = () => undefined;
    const onKey = (handler: (key: string) => void): void => void (press = handler);
    const watching = watch({ onKey }, true);
    await fleet.advance("1s");
    for (let times = 0; times < 2; times++) {
      press("p");
      await fleet.advance("1s");
      expect((await fleet.plane.get(evacuationBudgets, FLEET)).spec.paused).toBe(true);
    }
    expect(written).toContain("go on: lifeboat evacuations resume --all");
    press("q");
    await fleet.advance("1s");
    await watching;
  });
});
