/** The fleet at a glance fits a terminal and says the same as kubectl. */
import type { Cluster } from "@lifeboat/api";
import { instantOf } from "@lifeboat/base";
import { describe, expect, it } from "vitest";
import { printClusters } from "./get.ts";

const now = instantOf(Date.UTC(2026, 0, 1, 2));

function cluster(name: string, changes: Partial<Cluster> = {}): Cluster {
  return {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: {
      name,
      uid: name,
      resourceVersion: "1",
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { syncMode: "Push", apiEndpoint: "https://m1:6443", zones: ["a", "b"] },
    ...changes,
  };
}

const ready = cluster("m1", {
  status: {
    kubernetesVersion: "v1.36.4",
    conditions: [
      {
        type: "Ready",
        status: "True",
        reason: "ClusterReady",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      },
    ],
  },
});

describe("printClusters", () => {
  it("prints a table that lines up, with empty cells for what is not known yet", () => {
    expect(printClusters([ready, cluster("new-one")], "table", now)).toBe(
      [
        "NAME      VERSION   MODE   READY   AGE",
        "m1        v1.36.4   Push   True    120m",
        "new-one             Push           120m",
        "",
      ].join("\n"),
    );
  });

  it("tells clusters apart that are closed, drained, failed or fenced", () => {
    const tainted = (name: string, key: string, effect: "NoSchedule" | "NoExecute"): Cluster => ({
      ...ready,
      metadata: { ...ready.metadata, name },
      spec: { ...ready.spec, taints: [{ key, effect }] },
    });
    const FENCED = { "lifeboat.dev/fenced": "{}" };
    const fleet = [
      ready,
      tainted("m2", "cluster.karmada.io/unschedulable", "NoSchedule"),
      tainted("m3", "lifeboat.dev/drain", "NoExecute"),
      tainted("m4", "example.com/down", "NoExecute"),
      { ...cluster("m5"), metadata: { ...ready.metadata, annotations: FENCED } },
      { ...cluster("m6"), spec: { ...ready.spec, taints: [] } },
    ];
    const states = (format: "table" | "wide"): readonly string[] =>
      printClusters(fleet, format, now)
        .split("\n")
        .map((line) =>
          line
            .replace(/^.*?120m ?/, "")
            .replace(/ *a,b.*$/, "")
            .trim(),
        );
    expect(states("table").slice(1, 7)).toEqual(["", "closed", "drained", "failed", "fenced", ""]);
    expect(states("wide").slice(1, 7)).toEqual(["", "closed", "drained", "failed", "fenced", ""]);
    const long = tainted("a".repeat(37), "lifeboat.dev/drain", "NoExecute");
    for (const line of printClusters([long, ready], "table", now).split("\n"))
      expect(line.length).toBeLessThanOrEqual(80);
  });

  it("stays within 80 columns for the longest name that a cluster can have", () => {
    const lines = printClusters([cluster("a".repeat(48)), ready], "table", now).split("\n");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("adds where the clusters are on request", () => {
    expect(printClusters([ready], "wide", now)).toMatch(
      /ZONES +REGION +PROVIDER +API-ENDPOINT +PROXY-URL\n.* a,b +https:\/\/m1:6443\n$/,
    );
  });

  it("prints names for scripts", () => {
    expect(printClusters([ready], "name", now)).toBe("cluster.cluster.karmada.io/m1\n");
    expect(printClusters([], "name", now)).toBe("");
  });
});
