import type { Placement } from "@lifeboat/api";
import { expect, it } from "vitest";
import { candidateOf, fleetOf } from "./candidate.ts";
import { formatPlacement, isPlacementEdited, whyDue } from "./due.ts";
import {
  type BindingGiven,
  divided,
  duplicated,
  makeBinding,
  makeCluster,
} from "./makers.suite.ts";

const fleet = fleetOf(
  [makeCluster("m1"), makeCluster("m2", { deleting: true }), makeCluster("m4")].map(candidateOf),
);
const status = {
  conditions: [
    {
      type: "Scheduled",
      status: "True" as const,
      reason: "Success",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    },
  ],
};
const steady: BindingGiven = {
  placement: divided("dynamic"),
  replicas: 2,
  clusters: { m1: 2 },
  status,
};
const ordered = (...names: string[]): Placement => ({
  ...divided("dynamic"),
  clusterAffinities: names.map((affinityName) => ({ affinityName, clusterNames: [affinityName] })),
});
const inM1 = { schedulerObservingAffinityName: "m1" };
const observing = { ...status, schedulerObservingAffinityName: "a" };

it.each<[string, BindingGiven, string | undefined]>([
  ["that runs as it should", steady, undefined],
  ["that was never placed", { ...steady, applied: null }, "PlacementChanged"],
  ["whose placement was edited", { ...steady, applied: divided("Aggregated") }, "PlacementChanged"],
  [
    "whose placement is only written in another order",
    {
      ...steady,
      applied: JSON.parse(JSON.stringify({ b: 1, ...divided("dynamic") })) as Placement,
    },
    undefined,
  ],
  [
    "whose group in use is as it was",
    { ...steady, placement: ordered("a", "c"), applied: ordered("a", "b"), status: observing },
    undefined,
  ],
  [
    "whose group in use went",
    { ...steady, placement: ordered("c"), applied: ordered("a"), status: observing },
    "PlacementChanged",
  ],
  [
    "that got groups",
    { ...steady, placement: ordered("a"), applied: divided("dynamic") },
    "PlacementChanged",
  ],
  ["with fewer replicas than it asks for", { ...steady, replicas: 3 }, "ReplicasChanged"],
  [
    "that was copied with other replicas",
    { ...steady, placement: duplicated, replicas: 3 },
    "ReplicasChanged",
  ],
  [
    "with an order after its last placement",
    {
      ...steady,
      spec: { rescheduleTriggeredAt: "2026-01-01T00:00:01Z" },
      status: { ...status, lastScheduledTime: "2026-01-01T00:00:00Z" },
    },
    "RescheduleTriggered",
  ],
  [
    "with an order before its last placement",
    {
      ...steady,
      spec: { rescheduleTriggeredAt: "2026-01-01T00:00:00Z" },
      status: { ...status, lastScheduledTime: "2026-01-01T00:00:01Z" },
    },
    undefined,
  ],
  ["that found no place", { ...steady, status: {} }, "LastAttemptFailed"],
  [
    "that runs in another group than its status names",
    { ...steady, placement: ordered("a", "m1"), status: observing },
    "GroupNotNamed",
  ],
  [
    "that runs in another group than its status names, although they have a cluster in common",
    {
      ...steady,
      clusters: { m1: 1, m4: 1 },
      placement: {
        ...divided("dynamic"),
        clusterAffinities: [
          { affinityName: "a", clusterNames: ["m1", "m2"] },
          { affinityName: "b", clusterNames: ["m1", "m4"] },
        ],
      },
      status: observing,
    },
    "GroupNotNamed",
  ],
  [
    "that runs in the group that its status names",
    { ...steady, placement: ordered("m1", "a"), status: { ...observing, ...inM1 } },
    undefined,
  ],
  [
    "that a person put outside of all groups",
    { ...steady, placement: ordered("a", "b"), status: observing },
    undefined,
  ],
  ["that is copied", { ...steady, placement: duplicated }, "FollowsClusters"],
  [
    "without a way of scheduling replicas",
    { ...steady, placement: {}, clusters: {} },
    "FollowsClusters",
  ],
  ["on a cluster that is being deleted", { ...steady, clusters: { m2: 2 } }, "ClusterLeaving"],
  ["on a cluster that is gone", { ...steady, clusters: { m3: 2 } }, "ClusterLeaving"],
])("a binding %s", (_what, given, expected) => {
  expect(whyDue(makeBinding(given), fleet)).toBe(expected);
});

it("takes an annotation that is no JSON for no change", () => {
  const binding = makeBinding(steady);
  const annotations = { "policy.karmada.io/applied-placement": "{" };
  expect(
    whyDue({ ...binding, metadata: { ...binding.metadata, annotations } }, fleet),
  ).toBeUndefined();
});

it("distinguishes placements that are too long for an annotation", () => {
  const long = (last: string): Placement => ({
    clusterAffinity: {
      clusterNames: [...Array.from({ length: 9000 }, (_, i) => `member-${i}`), last],
    },
  });
  const given = makeBinding({ placement: long("a") });
  const applied = (placement: Placement) => ({
    ...given,
    metadata: {
      ...given.metadata,
      annotations: { "policy.karmada.io/applied-placement": formatPlacement(placement) },
    },
  });
  expect(formatPlacement(long("a")).length).toBeLessThan(100);
  expect(isPlacementEdited(applied(long("a")))).toBe(false);
  expect(isPlacementEdited(applied(long("b")))).toBe(true);
});
