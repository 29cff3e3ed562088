/**
 * Orders are for the clock of the control plane, however wrong that of the person's machine is. Here the control plane has a virtual
 * clock, which is months away from the real one that the commands have.
 */
import {
  type Cluster,
  clusters,
  configMaps,
  evacuationBudgets,
  evacuations,
  failure,
  Refused,
} from "@lifeboat/api";
import { addMs, type Clock, formatTime, type Instant, parseTime } from "@lifeboat/base";
import { isolationOf } from "@lifeboat/core/failover/evacuation";
import type { Client } from "@lifeboat/kit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kubeconfig, run } from "./error-paths.suite.ts";
import { failingProbes } from "./failing-probes.ts";
import { type HostilePlane, openHostilePlane } from "./hostile-plane.suite.ts";
import { planeClock, planeTime } from "./plane-clock.ts";
import { fillSmallWorld } from "./small-world.suite.ts";

const SETTINGS = { namespace: "lifeboat-system", name: "settings" };
const FLEET = { namespace: "", name: "fleet" };
const MINUTE_MS = 60_000;

let plane: HostilePlane;
let client: Client;
let clock: Clock;

beforeEach(async () => {
  plane = await openHostilePlane(fillSmallWorld);
  await plane.behave();
  ({ plane: client, clock } = plane.fleet);
});
afterEach(() => plane.close());

/** A clock that is ahead of that of the control plane. */
const ahead = (byMs: number): Clock => ({
  now: () => addMs(clock.now(), byMs),
  monotonic: () => clock.monotonic(),
  after: (delayMs, callback) => clock.after(delayMs, callback),
});

const command = (...words: readonly string[]) =>
  run(...words, "--yes", "--kubeconfig", kubeconfig(plane.url));

const budget = async () => (await client.get(evacuationBudgets, FLEET)).spec;

/** How far a time is from now, on the clock of the control plane. */
const awayMs = (time: string | undefined): number =>
  Math.abs((parseTime(time ?? "") ?? Number.NaN) - clock.now());

describe("the clock of the control plane", () => {
  it.each([-3_600_000, -20_000, -1500, 1500, 20_000, 3_600_000])(
    "is known to the second on a machine whose own is %i ms ahead",
    async (byMs) => {
      const own = ahead(byMs);
      const found = await planeClock(client, own);
      expect(Math.abs(found.now() - clock.now())).toBeLessThan(1000);
      await plane.fleet.advance("1m");
      expect(Math.abs(found.now() - clock.now())).toBeLessThan(1000);
    },
  );

  it("is that of the machine where both agree", async () => {
    expect(await planeTime(client, clock)).toBe(clock.now());
  });

  it("is that of the machine where it cannot be asked", async () => {
    const own = ahead(MINUTE_MS);
    const refusing = {
      create: () => Promise.reject(new Refused(failure(403, "Forbidden", "no"))),
    };
    expect(await planeTime(refusing, own)).toBe(own.now());
  });
});

describe("orders of a machine with another clock", () => {
  const silent = async (name: string, since: Instant): Promise<void> => {
    const made = await client.create(clusters, {
      apiVersion: "cluster.karmada.io/v1alpha1",
      kind: "Cluster",
      metadata: { name },
      spec: { syncMode: "Pull" },
    });
    const condition = {
      type: "Ready",
      status: "Unknown" as const,
      reason: "ClusterStatusUnknown",
      message: "",
      lastTransitionTime: formatTime(since),
    };
    await client.update(
      clusters,
      { ...made, status: { ...made.status, conditions: [condition] } },
      { subresource: "status" },
    );
  };
  const isIsolated = async (): Promise<boolean> => {
    const { items } = await client.list(clusters);
    return isolationOf(items, (await budget()).isolationAgreedAt).isIsolated;
  };

  it("D6: an agreement covers the clusters that it names, and none that fall silent later", async () => {
    for (const name of ["a", "b"]) await silent(name, addMs(clock.now(), 0));
    expect(await command("evacuations", "agree")).toMatchObject({ code: 0 });
    expect(await isIsolated()).toBe(false);
    await plane.fleet.advance("10s");
    for (const name of ["c", "d", "e"]) await silent(name, clock.now());
    expect(await isIsolated()).toBe(true);
  });

  it("D6: an agreement covers what it names where the replica that wrote it is ahead of the API server", async () => {
    for (const name of ["a", "b"]) await silent(name, addMs(clock.now(), 30_000));
    expect(await command("evacuations", "agree")).toMatchObject({ code: 0 });
    expect(await isIsolated()).toBe(false);
  });

  it("a rate is set when the control plane hears of it", async () => {
    const words = ["--at-most", "0.1", "--for", "30m", "--reason", "test"];
    expect(await command("evacuations", "rate", ...words)).toMatchObject({ code: 0 });
    const { rateOverride } = await budget();
    expect(awayMs(rateOverride?.setAt)).toBeLessThan(2000);
  });

  it("an approval is given when the control plane hears of it", async () => {
    const key = { namespace: "", name: "member1" };
    const taint = { key: "failed", effect: "NoExecute" as const };
    const failed = await client.get(clusters, key);
    await client.update(clusters, { ...failed, spec: { ...failed.spec, taints: [taint] } });
    const open = await client.get(evacuations, key);
    const status = { phase: "Running" as const, taints: [{ taint, slices: 1, recorded: true }] };
    await client.update(evacuations, { ...open, status }, { subresource: "status" });
    const body = { data: { "evacuation-approval": "Required" } };
    await client.patch(configMaps, SETTINGS, { type: "merge", body });
    const words = ["evacuations", "approve", "member1", "--for", "1h"];
    expect(await command(...words)).toMatchObject({ code: 0 });
    const { spec } = await client.get(evacuations, key);
    const [approval] = spec.approvals ?? [];
    expect(awayMs(approval?.at)).toBeLessThan(2000);
    expect(Math.abs(awayMs(approval?.expiresAt) - 60 * MINUTE_MS)).toBeLessThan(2000);
  });

  it("status is of the time of the control plane", async () => {
    const shown = await run("status", "-o", "json", "--kubeconfig", kubeconfig(plane.url));
    expect(awayMs((JSON.parse(shown.stdout) as { readonly at: string }).at)).toBeLessThan(2000);
  });

  it("the deletion guard is released for ten minutes of the control plane", async () => {
    const made = await client.create(evacuationBudgets, {
      apiVersion: "lifeboat.dev/v1alpha1",
      kind: "EvacuationBudget",
      metadata: { name: "fleet" },
      spec: { paused: false },
    });
    const condition = {
      type: "MassDeletion",
      status: "True" as const,
      reason: "TooManyDeletions",
      message: "21 of 100 Works",
      lastTransitionTime: formatTime(clock.now()),
    };
    const status = { conditions: [condition] };
    await client.update(evacuationBudgets, { ...made, status }, { subresource: "status" });
    expect(await command("brake", "release")).toMatchObject({ code: 0 });
    expect(awayMs((await budget()).brakeReleasedAt)).toBeLessThan(2000);
  });

  it("a Pull cluster that reports is not shown as silent", async () => {
    const own = ahead(21_000);
    const cluster = { metadata: { name: "a" }, spec: { syncMode: "Pull" } } as Cluster;
    const heard = (clock.now() - 1000) / 1000;
    const gauge = "lifeboat_cluster_last_success_timestamp_seconds";
    const metrics = `# TYPE ${gauge} gauge\n${gauge}{member_cluster="a"} ${heard}`;
    const shown = (now: Instant): boolean | undefined =>
      failingProbes(metrics, [cluster], {}, now)?.has("a");
    expect(shown(own.now())).toBe(true);
    expect(shown(await planeTime(client, own))).toBe(false);
  });
});
