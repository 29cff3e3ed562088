import { findCondition, type Work } from "@lifeboat/api";
import { expect, test } from "vitest";
import { aggregatedItems } from "../aggregation/items.ts";
import { refusedReportEvent, takenIn } from "./report-bounds.ts";

const HUGE = "x".repeat(300_000);
const condition = (type: string, message = ""): object => ({
  type,
  status: "True",
  reason: type,
  message,
  observedGeneration: 1,
  lastTransitionTime: "2026-01-02T00:00:00Z",
});
const CURRENT = [condition("Applied"), condition("StatusObserved")];

function work(manifestStatuses: readonly object[], conditions: readonly object[] = CURRENT): Work {
  return {
    apiVersion: "work.karmada.io/v1alpha1",
    kind: "Work",
    metadata: { name: "w", namespace: "karmada-es-eu-1", generation: 1 },
    spec: { workload: { manifests: [{ kind: "ConfigMap" }] } },
    status: { conditions, manifestStatuses },
  } as unknown as Work;
}

test("a report within bounds is taken in as it is", () => {
  const fine = work([
    { health: "Healthy", status: { readyReplicas: 1, note: "x".repeat(200_000) } },
  ]);
  expect(takenIn(fine)).toBe(fine);
  const none = { ...fine, status: undefined } as unknown as Work;
  expect(takenIn(none)).toBe(none);
});

test.each([
  ["a status", work([{ health: "Healthy", status: { note: HUGE } }])],
  ["what is beside the status", work([{ health: HUGE, status: {} }])],
  ["a condition", work([{ health: "Healthy" }], [...CURRENT, condition("Applied", HUGE)])],
])("of a report that is too large in %s nothing reaches a binding", (_, given) => {
  const taken = takenIn(given);
  expect(aggregatedItems([taken])).toEqual([{ clusterName: "eu-1", health: "Unknown" }]);
  expect(findCondition(taken.status?.conditions, "StatusObserved")).toMatchObject({
    status: "False",
    reason: "ReportTooLarge",
    message: expect.stringContaining("256 KiB") as string,
  });
  expect(taken.spec).toBe(given.spec);
});

test("of more reports than there are objects only so many are taken in", () => {
  const healthy = { health: "Healthy", status: {} };
  const taken = takenIn(work([healthy, { health: "Unhealthy", status: { note: HUGE } }]));
  expect(taken.status?.manifestStatuses).toEqual([healthy]);
  expect(aggregatedItems([taken])).toMatchObject([{ health: "Healthy" }]);
});

test("the Event comes with the first report that is not taken in", () => {
  const fine = work([{ health: "Healthy", status: {} }]);
  const refused = takenIn(work([{ health: "Healthy", status: { note: HUGE } }]));
  expect(refusedReportEvent("eu-1", fine, refused)).toMatchObject({
    type: "Warning",
    reason: "ReportTooLarge",
    message: expect.stringContaining("cluster eu-1 is not taken in") as string,
  });
  expect(refusedReportEvent("eu-1", refused, refused)).toBeUndefined();
  expect(refusedReportEvent("eu-1", refused, fine)).toBeUndefined();
});
