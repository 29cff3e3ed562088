/** `lifeboat status` drawn again and again, for programs, and with what metrics tell about probes. */
import type { Cluster } from "@lifeboat/api";
import { instantOf, VirtualClock } from "@lifeboat/base";
import { drainPromises } from "@lifeboat/base/adapters";
import { describe, expect, it } from "vitest";
import { failingProbes, NO_PROBES } from "./failing-probes.ts";
import { showStatus, type ShownStatus, watchStatus } from "./show-status.ts";
import type { HiddenPart, StatusView } from "./status-text.ts";

const now = instantOf(Date.UTC(2026, 0, 1));

function cluster(name: string, syncMode: "Push" | "Pull" = "Push", ready = "True"): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name, uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { syncMode },
    status: {
      conditions: [
        {
          type: "Ready",
          status: ready as "True",
          reason: "",
          message: "",
          lastTransitionTime: "2025-12-31T23:57:50Z",
        },
      ],
    },
  };
}

const view = (changes: Partial<StatusView> = {}): StatusView => ({
  leader: undefined,
  settings: { "feature-gates": "Failover=true" },
  clusters: [cluster("a")],
  policies: [],
  evacuations: [],
  bindings: [],
  budget: undefined,
  brake: "armed: it stops a mass deletion",
  trafficBrake: undefined,
  nameServers: [],
  probes: NO_PROBES,
  ...changes,
});

describe("clusters that do not answer and count as Ready", () => {
  const sample = (metric: string, name: string, ago: number): string =>
    `${metric}{member_cluster="${name}"} ${(now - ago) / 1000}`;
  const success = (name: string, ago: number): string =>
    sample("lifeboat_cluster_last_success_timestamp_seconds", name, ago);
  const observed = (name: string, ago: number): string =>
    sample("cluster_last_observed_timestamp_seconds", name, ago);
  const exposed = (lines: readonly string[]): string =>
    ["# TYPE lifeboat_cluster_last_success_timestamp_seconds gauge", ...lines].join("\n");

  it("are not known from metrics of another server, or from none", () => {
    const foreign = "# TYPE apiserver_request_total counter\napiserver_request_total 7";
    expect(failingProbes(foreign, [cluster("a")], {}, now)).toBeUndefined();
    expect(failingProbes(undefined, [cluster("a")], {}, now)).toBeUndefined();
  });

  it.each<[string, Cluster, string[], object | undefined]>([
    ["answers", cluster("a"), [success("a", 9000), observed("a", 9000)], undefined],
    [
      "was probed in vain",
      cluster("a"),
      [success("a", 12_000), observed("a", 2000)],
      { forMs: 12_000, leftMs: 18_000 },
    ],
    [
      "is about to count as down",
      cluster("a"),
      [success("a", 35_000), observed("a", 2000)],
      { forMs: 35_000, leftMs: 0 },
    ],
    ["never answered", cluster("a"), [observed("a", 2000)], undefined],
    ["pulls, and was heard of", cluster("a", "Pull"), [success("a", 12_000)], undefined],
    [
      "pulls, and is silent",
      cluster("a", "Pull"),
      [success("a", 25_000)],
      { forMs: 25_000, leftMs: 15_000 },
    ],
    ["has a neighbour in vain", cluster("a"), [success("b", 12_000), observed("b", 0)], undefined],
    [
      "has samples that are no numbers",
      cluster("a"),
      ['lifeboat_cluster_last_success_timestamp_seconds{member_cluster="a"} NaN'],
      undefined,
    ],
  ])("%s", (_name, one, lines, expected) => {
    const found = failingProbes(exposed(lines), [one], {}, now)?.get("a");
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toEqual(expected);
  });

  it("the thresholds are those that the control plane runs with", () => {
    const metrics = exposed([success("a", 12_000), observed("a", 2000)]);
    const settings = { "cluster-failure-threshold": "1m" };
    expect(failingProbes(metrics, [cluster("a")], settings, now)?.get("a")?.leftMs).toBe(48_000);
  });

  it("are shown with both times", () => {
    const probes = new Map([["a", { forMs: 12_000, leftMs: 18_000 }]]);
    const output = { kind: "form", form: "text" } as const;
    const options = { output, isColoured: false, isStream: false };
    expect(showStatus(view({ probes }), now, options).lines).toContain(
      "a        -          ?     takes work  ready, no answer for 12s, down in 18s at",
    );
  });

  it("are not shown with what they last reported", () => {
    const there = [{ name: "a", replicas: 2 }];
    const bindings = [
      {
        metadata: { name: "web", namespace: "shop", uid: "u" },
        spec: {
          resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "web" },
          replicas: 2,
          clusters: there,
        },
        status: {
          aggregatedStatus: [
            { clusterName: "a", health: "Healthy", status: { readyReplicas: 2, replicas: 2 } },
          ],
        },
      },
    ] as unknown as StatusView["bindings"];
    const summary = { allocatable: { pods: "100" }, allocated: { pods: "3" } };
    const one = cluster("a");
    const full = { ...one, status: { ...one.status, resourceSummary: summary } } as Cluster;
    const output = { kind: "form", form: "text" } as const;
    const options = { output, isColoured: false, isStream: false };
    const shown = (probes: StatusView["probes"]): string =>
      showStatus(
        view({ clusters: [full], bindings, ...(probes && { probes }) }),
        now,
        options,
      ).lines.join("\n");
    expect(shown(undefined)).toMatch(/^a +1\/1 +97% pods /m);
    expect(shown(new Map([["a", { forMs: 15_000, leftMs: 15_000 }]]))).toMatch(/^a +\?\/1 +\? /m);
  });
});

describe("the same for programs", () => {
  const options = { output: { kind: "json" }, isColoured: false, isStream: false } as const;
  it("is one document with times that people can read, and nothing that is not known", () => {
    const { lines, exitCode } = showStatus(
      view({ clusters: [cluster("a"), cluster("b", "Push", "False")] }),
      now,
      options,
    );
    expect(exitCode).toBe(3);
    expect(JSON.parse(lines.join("\n"))).toMatchObject({
      at: "2026-01-01T00:00:00Z",
      verdict: "Degraded",
      sentence: "DEGRADED: no workloads, 1 of 2 clusters down",
      exitCode: 3,
      waits: [],
      clusters: [{ name: "a" }, { name: "b", health: "NotReady", since: "2025-12-31T23:57:50Z" }],
      failover: { reason: "NoPolicy", rate: { perSecond: 0.5 } },
    });
    expect(lines.join("\n")).not.toContain('"healthy": null');
  });

  it.each<HiddenPart>(["clusters", "settings", "guards", "policies", "evacuations"])(
    "asserts nothing of failover that %s which the user may not read would decide",
    (part) => {
      const { lines } = showStatus(view({ hidden: new Set([part]) }), now, options);
      expect(JSON.parse(lines.join("\n"))).not.toHaveProperty("failover");
    },
  );

  it("does not claim that no taint is pending where policies are hidden", () => {
    const shown = (hidden: readonly HiddenPart[]): unknown =>
      (
        JSON.parse(
          showStatus(view({ hidden: new Set(hidden) }), now, options).lines.join("\n"),
        ) as { clusters: object[] }
      ).clusters[0];
    expect(shown([])).toHaveProperty("pending", []);
    expect(shown(["policies"])).not.toHaveProperty("pending");
  });

  it("is one line per look when it is watched", () => {
    expect(showStatus(view(), now, { ...options, isStream: true }).lines).toHaveLength(1);
  });
});

it("is not green while a cluster that counts as Ready does not answer", () => {
  const options = {
    output: { kind: "form", form: "text" },
    isColoured: true,
    isStream: false,
  } as const;
  const probes = new Map([["a", { forMs: 12_000, leftMs: 18_000 }]]);
  const first = (changes: Partial<StatusView>): string | undefined =>
    showStatus(view(changes), now, options).lines[0];
  expect(first({ probes })?.startsWith("\u001b[1m\u001b[33mWELL\u001b[0m: ")).toBe(true);
  const down = first({ probes, clusters: [cluster("a", "Push", "False")] });
  expect(down?.startsWith("\u001b[1m\u001b[31mDEGRADED\u001b[0m: ")).toBe(true);
});

it("is not green where it is not known whether clusters answer, and names the reason", () => {
  const options = {
    output: { kind: "form", form: "text" },
    isColoured: true,
    isStream: false,
  } as const;
  const { probes: _probes, ...blind } = view();
  const { lines, exitCode } = showStatus(blind, now, options);
  expect(exitCode).toBe(0);
  expect(lines[0]).toBe("\u001b[1mWELL\u001b[0m: no workloads on 1 cluster, probes not known here");
  expect(lines.join("\n")).toMatch(
    /^Probes {4}not known here: this API server does not have them/m,
  );
  expect(lines.join(" ")).toMatch(/is shown as down\s+after\s+30s/);
  const refused = showStatus({ ...blind, hidden: new Set(["probes"]) }, now, options);
  expect(refused.lines.join("\n")).toMatch(
    /^Probes {4}not known here: you may not read the metrics/m,
  );
  expect(refused.lines.join("\n")).toMatch(/^Hidden {4}you may not read metrics/m);
  const settings = { "feature-gates": "", "cluster-monitor-grace-period": "1m" };
  const pull = showStatus({ ...blind, settings, clusters: [cluster("a", "Pull")] }, now, options);
  expect(pull.lines.join(" ")).toMatch(/is shown as down\s+after\s+60s/);
  const output = { kind: "json" } as const;
  const parsed = (of: StatusView): unknown =>
    JSON.parse(showStatus(of, now, { ...options, output }).lines.join("\n"));
  expect(parsed(blind)).toMatchObject({ verdict: "Well", probesKnown: false });
  expect(parsed(view())).toMatchObject({ verdict: "Well", probesKnown: true });
});

it("colours how each cluster is, what is short, and an evacuation that stands still", () => {
  const shown = (isColoured: boolean): readonly string[] =>
    showStatus(
      view({
        clusters: [cluster("a"), cluster("b", "Push", "False"), cluster("c")],
        probes: new Map([["c", { forMs: 12_000, leftMs: 18_000 }]]),
        bindings: [
          {
            metadata: { name: "web", namespace: "shop", uid: "u" },
            spec: {
              resource: { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "w" },
              replicas: 2,
              clusters: [{ name: "b", replicas: 2 }],
            },
          },
        ] as unknown as StatusView["bindings"],
        evacuations: [
          {
            metadata: { name: "b-1", creationTimestamp: "2026-01-01T00:00:00Z" },
            spec: { cluster: "b", paused: false },
            status: { phase: "Held", entries: { total: 1, held: 1 } },
          },
        ] as unknown as StatusView["evacuations"],
      }),
      now,
      { output: { kind: "form", form: "text" }, isColoured, isStream: false },
    ).lines;
  // Escape characters are shown as ^.
  const text = shown(true).join("\n").replaceAll("\u001b", "^");
  expect(text).toMatch(/^a .* {2}\^\[32mready\^\[0m$/m);
  expect(text).toMatch(/^b .* {2}\^\[31mdown\^\[0m for /m);
  expect(text).toMatch(/^c .* {2}\^\[33mready\^\[0m, no answer/m);
  expect(text).toMatch(/^\^\[31mShort\^\[0m {5}Deployment shop\/w/m);
  expect(text).toMatch(/^b-1 +\^\[33mHeld\^\[0m +0\/1/m);
  expect(text.replace(/\^\[\d+m/g, "")).toBe(shown(false).join("\n"));
});

it("colours the first word only where it is asked for", () => {
  const shown = (isColoured: boolean): string =>
    showStatus(view(), now, {
      output: { kind: "form", form: "text" },
      isColoured,
      isStream: false,
    }).lines.join("\n");
  expect(shown(false)).not.toContain("\u001b");
  expect(shown(true).startsWith("\u001b[1m\u001b[32mWELL\u001b[0m: ")).toBe(true);
});

describe("watching", () => {
  const watched = (isTerminal: boolean, looks: readonly (ShownStatus | Error)[], rows?: number) => {
    const clock = new VirtualClock(now, drainPromises);
    const stop = new AbortController();
    const written: string[] = [];
    let next = 0;
    const ended = watchStatus(
      {
        clock,
        screen: { isTerminal, rows: () => rows, write: (text) => void written.push(text) },
        look: async () => {
          const one = looks[next++] ?? looks.at(-1);
          if (one instanceof Error || one === undefined) throw one ?? new Error("none");
          return Promise.resolve(one);
        },
        words: (error) => `UNKNOWN: ${(error as Error).message}`,
      },
      2000,
      stop.signal,
    );
    return { clock, stop, written, ended };
  };
  const shown = (text: string, exitCode: number): ShownStatus => ({ lines: [text], exitCode });

  it("draws every 2 seconds until it is asked to end, with the code of the last page", async () => {
    const { clock, stop, written, ended } = watched(true, [shown("one", 0), shown("two", 4)]);
    await clock.advance(1999);
    expect(written).toEqual(["\u001b[H\u001b[2Jone\n"]);
    await clock.advance(1);
    expect(written).toHaveLength(2);
    stop.abort();
    await clock.advance(0);
    expect(await ended).toBe(4);
  });

  it("leaves out the last lines where the terminal is too low, never the first", async () => {
    const lines = ["one", "two", "three", "four", "five"];
    const { clock, stop, written, ended } = watched(true, [{ lines, exitCode: 0 }], 4);
    await clock.advance(0);
    expect(written).toEqual(["\u001b[H\u001b[2Jone\ntwo\n… 3 more lines: lifeboat status\n"]);
    stop.abort();
    await clock.advance(0);
    await ended;
  });

  it("shows that it knows nothing while the control plane does not answer, and goes on", async () => {
    const { clock, stop, written, ended } = watched(false, [
      shown("one", 0),
      new Error("no answer"),
      shown("three", 0),
      new Error("no answer"),
    ]);
    await clock.advance(6000);
    expect(written).toEqual(["one\n", "UNKNOWN: no answer\n", "three\n", "UNKNOWN: no answer\n"]);
    stop.abort();
    await clock.advance(0);
    expect(await ended).toBe(3);
  });
});
