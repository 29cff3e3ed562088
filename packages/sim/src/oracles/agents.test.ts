/** Oracles of members that pull, on histories made up for them. */
import { wellKnown } from "@lifeboat/core";
import { DEFAULT_CONTROLLERS } from "@lifeboat/plane";
import { describe, expect, it } from "vitest";
import type { Write } from "../network/sim-client.ts";
import { FORGED, FORGER, judgeTaken } from "./agents.ts";
import { Evictions, FAULTY } from "./evictions.suite.ts";
import { type Case, type History, itJudges, task } from "./history.suite.ts";
import { judged } from "./judged.suite.ts";

const CLUSTER = "cluster.karmada.io/clusters//m1";
const LEASE = `coordination.k8s.io/leases/${wellKnown.CLUSTER_NAMESPACE}/m1`;

/** A cluster that pulls, and its agent's Lease. */
function heard() {
  const world = judged();
  world.truth.witness.begins(DEFAULT_CONTROLLERS);
  world.pass(1000);
  const ready = (status: string, type: "ADDED" | "MODIFIED" = "MODIFIED"): void =>
    world.write("plane", CLUSTER, pulling("m1", status), type);
  const renew = (type: "ADDED" | "MODIFIED" = "MODIFIED"): void =>
    world.write("plane", LEASE, { kind: "Lease", metadata: { name: "m1" } }, type);
  ready("True", "ADDED");
  renew("ADDED");
  const hasSpoken = (oracle: string): boolean =>
    world.said.some((text) => text.startsWith(`${oracle}:`));
  return { ...world, ready, renew, hasSpoken };
}

function pulling(name: string, ready: string): object {
  return {
    kind: "Cluster",
    metadata: { name, uid: name },
    spec: { syncMode: "Pull" },
    status: { conditions: [{ type: "Ready", status: ready }] },
  };
}

describe("unknown-follows-silence", () => {
  it.each([
    [39_000, true],
    [40_000, false],
  ])("Unknown after %i ms of silence is too early: %s", (milliseconds, isBroken) => {
    const { pass, ready, hasSpoken } = heard();
    pass(milliseconds);
    ready("Unknown");
    expect(hasSpoken("unknown-follows-silence")).toBe(isBroken);
  });

  it("forgives a renewal that came when the Lease had been read", () => {
    const { pass, ready, renew, hasSpoken } = heard();
    pass(45_000);
    renew();
    ready("Unknown");
    expect(hasSpoken("unknown-follows-silence")).toBe(false);
  });
});

describe("silence-is-noticed", () => {
  it.each([
    [70_000, "True", false],
    [90_000, "True", true],
    [90_000, "Unknown", false],
  ])("a silence of %i ms that left Ready at %s: %s", (milliseconds, status, isBroken) => {
    const { pass, ready, renew, hasSpoken } = heard();
    pass(milliseconds - 1000);
    if (status === "Unknown") ready(status);
    pass(1000);
    renew();
    expect(hasSpoken("silence-is-noticed")).toBe(isBroken);
  });

  it("says nothing of a control plane that started meanwhile", () => {
    const { pass, renew, hasSpoken, truth } = heard();
    pass(50_000);
    truth.witness.ended();
    truth.witness.begins(DEFAULT_CONTROLLERS);
    pass(40_000);
    renew();
    expect(hasSpoken("silence-is-noticed")).toBe(false);
  });
});

describe("nothing-moves-when-most-are-silent", () => {
  it.each([
    ["both fell silent", 10, ["m1", "m2"], true],
    ["one of two is silent", 10, ["m1"], false],
    ["they fell silent minutes apart", 120, ["m1", "m2"], false],
  ])("an eviction when %s: %s", (_when, apart, silent, isBroken) => {
    const evictions = new Evictions();
    const put = (name: string, ready: string): void =>
      evictions.put(CLUSTER.replace("m1", name), pulling(name, ready));
    put("m1", "True");
    put("m2", "True");
    evictions.cluster("m3", FAULTY);
    evictions.on("m3", "web");
    evictions.recorded("m3", "web");
    for (const name of silent) {
      put(name, "Unknown");
      evictions.pass(apart);
    }
    evictions.evict("web", "m3");
    expect(evictions.hasSpoken("nothing-moves-when-most-are-silent")).toBe(isBroken);
  });
});

/** m1 pulls, and the workload is placed there or elsewhere. */
function placed(...on: readonly string[]): (history: History) => void {
  return (history) => {
    history.cluster("m1", "True", {}, { syncMode: "Pull" });
    history.binding({ on: Object.fromEntries(on.map((name) => [name, 2])) });
  };
}

function first(...before: readonly ((history: History) => void)[]): (history: History) => void {
  return (history) => {
    for (const act of before) act(history);
    history.copy("m1", 0);
  };
}

const FIRST = "no-first-copy-that-nothing-wants";
const moved = (history: History): void => history.binding({ on: { m2: 2 }, tasks: [task("m1")] });
const cases: readonly Case[] = [
  [FIRST, "broken", "the workload is elsewhere", first(placed("m2"))],
  [FIRST, "broken", "it left some seconds ago", first(placed("m1"), moved, (h) => h.pass(5))],
  [FIRST, "kept", "it left a moment ago", first(placed("m1"), moved, (h) => h.pass(1))],
  [FIRST, "kept", "it is placed there", first(placed("m1"))],
  [FIRST, "kept", "the Work was tried before", first(placed("m2"), (h) => h.work("m1"))],
  [
    FIRST,
    "kept",
    "another workload needs it there",
    first(placed("m2"), (h) => h.binding({ on: { m2: 2 }, requiredIn: ["m1"] })),
  ],
  [FIRST, "kept", "the agent is slow", first(placed("m2")), { slowAgents: new Set(["m1"]) }],
  ["agents-change-only-their-own", "broken", "another Cluster bears the mark", mark("m2")],
  ["agents-change-only-their-own", "broken", "its own Cluster is to attract work", mark("m1")],
  ["agents-change-only-their-own", "kept", "it reports on its own Work", report("m1")],
  ["agents-change-only-their-own", "broken", "it reports on the Work of another", report("m2")],
].map((one) => (one.length === 4 ? [...one, { forgers: new Set(["m1"]) }] : one)) as never;

describe("copies and forgeries", () => itJudges(cases));

function mark(cluster: string): (history: History) => void {
  return (history) => history.cluster(cluster, "True", { labels: { [FORGED]: "x" } });
}

function report(cluster: string): (history: History) => void {
  return (history) => history.work(cluster, { status: { message: FORGED } });
}

describe("what an agent's identity was let do", () => {
  const write = (verb: Write["verb"], table: string, key: string): Write => ({
    from: `${FORGER}m1`,
    to: "plane",
    verb,
    what: key,
    table,
    key,
  });

  it.each([
    [write("patch", "cluster.karmada.io/clusters", "/m1"), 0],
    [write("patch", "cluster.karmada.io/clusters", "/m2"), 1],
    [write("update", "coordination.k8s.io/leases", "karmada-cluster/m2"), 1],
    [write("patch", "work.karmada.io/works", "karmada-es-m1/w"), 0],
    [write("delete", "work.karmada.io/works", "karmada-es-m1/w"), 1],
    [write("patch", "work.karmada.io/works", "karmada-es-m2/w"), 1],
    [{ ...write("patch", "work.karmada.io/works", "karmada-es-m2/w"), from: "user" }, 0],
  ])("%o", (one, faults) => {
    expect(judgeTaken(one)).toHaveLength(faults);
  });
});
