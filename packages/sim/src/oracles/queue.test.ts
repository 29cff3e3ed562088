/** Oracles of the queue, on evictions made up for them. */
import { describe, expect, it } from "vitest";
import { Evictions, FAULTY } from "./evictions.suite.ts";

/** m1 has failed, and a is on it. */
function failed(): Evictions {
  const story = new Evictions();
  story.on("m1", "a");
  story.cluster("m1", FAULTY);
  story.recorded("m1", "a");
  story.pass(10);
  return story;
}

describe("nobody-is-evicted-twice", () => {
  it("speaks when the same taint moves a binding again", () => {
    const story = failed();
    story.evict("a", "m1");
    expect(story.hasSpoken("nobody-is-evicted-twice")).toBe(false);
    story.on("m1", "a");
    story.evict("a", "m1");
    expect(story.hasSpoken("nobody-is-evicted-twice")).toBe(true);
  });
});

describe("evictions-have-their-taint", () => {
  it("speaks when the taint is gone, and not while it is there", () => {
    const story = failed();
    story.evict("a", "m1");
    expect(story.hasSpoken("evictions-have-their-taint")).toBe(false);
    story.on("m1", "b");
    story.cluster("m1");
    story.pass(1);
    story.evict("b", "m1");
    expect(story.hasSpoken("evictions-have-their-taint")).toBe(true);
  });
});

describe("clusters-take-turns", () => {
  const plain = (story: Evictions): void => story.on("m2", "c");
  it.each([
    ["kept", "m2", "could go", plain],
    ["broken", "m1", "could go", plain],
    [
      "kept",
      "m1",
      "has a free cluster only in a group that would not be taken",
      (story: Evictions) => story.inFirstGroup(["m2", "m4"], ["m3"], "c"),
    ],
  ])(
    "is %s when the next to be served is %s, and who waits on m2 %s",
    (verdict, next, _, place) => {
      const story = new Evictions();
      story.on("m1", "a", "b");
      place(story);
      for (const name of ["m1", "m2"]) story.cluster(name, FAULTY);
      story.recorded("m1", "a", "b");
      story.recorded("m2", "c");
      story.pass(10);
      story.evict("a", "m1");
      story.pass(2);
      story.evict(next === "m1" ? "b" : "c", next);
      expect(story.hasSpoken("clusters-take-turns")).toBe(verdict === "broken");
    },
  );

  it.each([
    [1, false],
    [20, true],
  ])("%d s after another could go at last it is broken: %s", (seconds, isBroken) => {
    const story = new Evictions();
    story.on("m1", "a", "b");
    story.on("m2", "c");
    for (const name of ["m1", "m2"]) story.cluster(name, FAULTY);
    story.cluster("m3", { key: "test/full", effect: "NoSchedule" });
    story.recorded("m1", "a", "b");
    story.recorded("m2", "c");
    story.pass(10);
    story.cluster("m3");
    story.pass(seconds);
    story.evict("a", "m1");
    story.pass(2);
    story.evict("b", "m1");
    expect(story.hasSpoken("clusters-take-turns")).toBe(isBroken);
  });

  it.each([
    [0, false],
    [1, false],
    [20, true],
  ])("%d s after a person gave another somewhere to go it is broken: %s", (seconds, isBroken) => {
    const story = new Evictions();
    story.on("m1", "a", "b");
    story.onlyOn("m2", "c");
    for (const name of ["m1", "m2"]) story.cluster(name, FAULTY);
    story.recorded("m1", "a", "b");
    story.recorded("m2", "c");
    story.pass(10);
    story.on("m2", "c");
    story.pass(seconds);
    story.evict("a", "m1");
    story.pass(2);
    story.evict("b", "m1");
    expect(story.hasSpoken("clusters-take-turns")).toBe(isBroken);
  });
});

describe("17.18: each lane has turns of its own", () => {
  it.each([
    ["a Deployment", false, "a"],
    ["a ConfigMap", true, "config-a"],
  ])(
    "a ConfigMap that leaves the same cluster after %s breaks it: %s",
    (_what, isBroken, first) => {
      const story = new Evictions();
      story.on("m1", first, "config-b");
      story.on("m2", "config-c");
      for (const name of ["m1", "m2"]) story.cluster(name, FAULTY);
      story.recorded("m1", first, "config-b");
      story.recorded("m2", "config-c");
      story.pass(10);
      story.evict(first, "m1");
      story.pass(2);
      story.evict("config-b", "m1");
      expect(story.hasSpoken("clusters-take-turns")).toBe(isBroken);
    },
  );

  it("a turn is remembered while the other lane is served", () => {
    const story = new Evictions();
    story.on("m1", "config-a", "b", "config-d");
    story.on("m2", "config-c");
    for (const name of ["m1", "m2"]) story.cluster(name, FAULTY);
    story.recorded("m1", "config-a", "b", "config-d");
    story.recorded("m2", "config-c");
    story.pass(10);
    story.evict("config-a", "m1");
    story.pass(2);
    story.evict("b", "m1");
    story.pass(2);
    expect(story.hasSpoken("clusters-take-turns")).toBe(false);
    story.evict("config-d", "m1");
    expect(story.hasSpoken("clusters-take-turns")).toBe(true);
  });
});

describe("paused-moves-nobody", () => {
  it.each([
    ["the evacuation", (story: Evictions) => story.evacuation("m1-1", { paused: true })],
    ["all", (story: Evictions) => story.budget({}, { paused: true })],
  ])("speaks of an eviction after %s was paused, and not before", (_what, pause) => {
    const story = failed();
    story.on("m1", "b");
    story.evict("a", "m1");
    pause(story);
    story.pass(1);
    expect(story.hasSpoken("paused-moves-nobody")).toBe(false);
    story.pass(10);
    story.evict("b", "m1");
    expect(story.hasSpoken("paused-moves-nobody")).toBe(true);
  });
});

describe("recovered-clusters-have-no-queue", () => {
  it("speaks of who waits to leave a cluster that has recovered", () => {
    const story = failed();
    story.evacuation("m1-1", {}, { entries: { queued: 1 } });
    expect(story.hasSpoken("recovered-clusters-have-no-queue")).toBe(false);
    story.cluster("m1");
    expect(story.hasSpoken("recovered-clusters-have-no-queue")).toBe(true);
  });
});

describe("everybody-affected-leaves", () => {
  it("speaks of who is written down and stays, of who is not, and not of who left", () => {
    const story = failed();
    expect(story.hasSpoken("everybody-affected-leaves")).toBe(true);
    story.evict("a", "m1");
    expect(story.hasSpoken("everybody-affected-leaves")).toBe(false);
    story.on("m1", "b");
    expect(story.hasSpoken("everybody-affected-leaves")).toBe(true);
  });

  it.each([
    [1, false],
    [2, true],
  ])("speaks of who is on a cluster that takes no more, too, of at most %i: %s", (max, speaks) => {
    const story = failed();
    story.cluster("m2", { key: "k", effect: "NoSchedule" });
    story.put("work.karmada.io/resourcebindings/default/a", {
      kind: "ResourceBinding",
      metadata: { name: "a", namespace: "default", uid: "a", annotations: {} },
      spec: {
        resource: { kind: "Deployment", namespace: "default", name: "a" },
        replicas: 2,
        clusters: ["m1", "m2"].map((name) => ({ name, replicas: 1 })),
        placement: {
          replicaScheduling: {
            replicaSchedulingType: "Divided",
            replicaDivisionPreference: "Aggregated",
          },
          spreadConstraints: [{ spreadByField: "cluster", minGroups: 1, maxGroups: max }],
        },
      },
    });
    expect(story.hasSpoken("everybody-affected-leaves")).toBe(speaks);
  });
});

describe("metrics-tell-the-truth", () => {
  it("speaks of a failed cluster that no gauge shows", () => {
    const story = new Evictions();
    expect(story.hasSpoken("metrics-tell-the-truth")).toBe(false);
    story.cluster("m1", FAULTY);
    expect(story.hasSpoken("metrics-tell-the-truth")).toBe(true);
  });
});

describe("evacuations-are-forgotten", () => {
  it("speaks of the thirteenth of a cluster", () => {
    const story = new Evictions();
    for (let number = 1; number <= 12; number++) story.evacuation(`m1-${number}`);
    for (let number = 1; number <= 5; number++) story.evacuation(`m2-${number}`);
    expect(story.hasSpoken("evacuations-are-forgotten")).toBe(false);
    story.evacuation("m1-13");
    expect(story.hasSpoken("evacuations-are-forgotten")).toBe(true);
  });
});

describe("no-slice-outlives-its-evacuation", () => {
  it("speaks of a slice without its evacuation", () => {
    const story = failed();
    expect(story.hasSpoken("no-slice-outlives-its-evacuation")).toBe(true);
    story.evacuation("m1-1");
    expect(story.hasSpoken("no-slice-outlives-its-evacuation")).toBe(false);
  });
});

describe("failover-is-in-time", () => {
  it.each([
    [10, false],
    [60, true],
  ])("%d s after a person tainted the cluster it is broken: %s", (seconds, isBroken) => {
    const story = new Evictions();
    story.on("m1", "a");
    story.cluster("m1", FAULTY);
    story.pass(seconds);
    story.evict("a", "m1");
    expect(story.hasSpoken("failover-is-in-time")).toBe(isBroken);
  });

  it.each([
    ["both other clusters repelled it until then", false, ["m2", "m3"]],
    ["one of them did, and it could have gone to the other", true, ["m2"]],
  ])("a minute after the taint, when %s, it is broken: %s", (_when, isBroken, full) => {
    const story = new Evictions();
    story.on("m1", "a");
    for (const name of full) story.cluster(name, { key: "test/full", effect: "NoSchedule" });
    story.cluster("m1", FAULTY);
    story.pass(60);
    for (const name of full) story.cluster(name);
    story.evict("a", "m1");
    expect(story.hasSpoken("failover-is-in-time")).toBe(isBroken);
  });
});
