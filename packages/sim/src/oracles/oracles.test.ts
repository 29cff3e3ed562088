/** Twins and endings, judged on truths made up for them; the other oracles have a test per group. */
import type { AnyObject } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { describe, expect, it } from "vitest";
import type { Ledger } from "../disk/ledger.ts";
import { judged } from "./judged.suite.ts";
import { differences, endingOf } from "./ending.ts";

const work = (name: string): AnyObject =>
  ({
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: {
      name,
      namespace: "karmada-es-m1",
      labels: { [wellKnown.BINDING_ID]: "id" },
    },
  }) as unknown as AnyObject;

const binding = (tasks: readonly string[], clusters: readonly string[] = ["m1"]): object => ({
  kind: "ResourceBinding",
  metadata: { name: "web-deployment", namespace: "default" },
  spec: {
    replicas: 1,
    resource: { kind: "Deployment", namespace: "default", name: "web" },
    clusters: clusters.map((name) => ({ name })),
    gracefulEvictionTasks: tasks.map((fromCluster) => ({ fromCluster, purgeMode: "Gracefully" })),
  },
});

const BINDING = "work.karmada.io/resourcebindings/default/web-deployment";

describe("one-work-per-binding-and-cluster", () => {
  it("speaks of a twin, and not of one Work", () => {
    const { said, write } = judged();
    write("plane", "work.karmada.io/works/karmada-es-m1/a", work("a"));
    expect(said).toEqual([]);
    write("plane", "work.karmada.io/works/karmada-es-m1/b", work("b"));
    expect(said.join()).toContain("one-work-per-binding-and-cluster");
  });
});

describe("one-task-per-cluster", () => {
  it("speaks of two tasks for one cluster", () => {
    const { said, write } = judged();
    write("plane", BINDING, binding(["m1"]));
    expect(said).toEqual([]);
    write("plane", BINDING, binding(["m1", "m1"]), "MODIFIED");
    expect(said.join()).toContain("one-task-per-cluster");
  });
});

describe("an ending", () => {
  it("does not see uids, versions and times, and sees everything else", () => {
    const at = (uid: string, time: string, value: string): Ledger => {
      const { ledger, write } = judged();
      const metadata = { name: "a", namespace: "default", uid, creationTimestamp: time };
      write("plane", "/configmaps/default/a", {
        kind: "ConfigMap",
        metadata,
        data: { value, time },
      });
      return ledger;
    };
    const [one, other] = ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"];
    const first = endingOf(at("x", one, "1"), ["plane"]);
    expect(differences(first, endingOf(at("y", other, "1"), ["plane"]))).toEqual([]);
    expect(differences(first, endingOf(at("x", one, "2"), ["plane"]))).toHaveLength(1);
    expect(differences(first, new Map())).toEqual(["plane /configmaps default/a is missing"]);
  });
});
