/** The count of stored writes: by resource and by what they did. */
import { expect, it } from "vitest";
import { type Metrics, silentMetrics } from "@lifeboat/kit";
import { countWrites } from "./metrics.ts";

it("counts creations, updates and deletions of each resource apart", () => {
  const counted = new Map<string, number>();
  const metrics: Metrics = {
    ...silentMetrics,
    counter: () => ({
      add: (amount, labels) => {
        const name = Object.values(labels).join(" ");
        counted.set(name, (counted.get(name) ?? 0) + amount);
      },
    }),
  };
  const count = countWrites(metrics);
  count("apps/deployments", "ADDED");
  count("apps/deployments", "MODIFIED");
  count("apps/deployments", "MODIFIED");
  count("/events", "ADDED");
  count("work.karmada.io/works", "DELETED");
  expect(Object.fromEntries(counted)).toEqual({
    "deployments.apps create": 1,
    "deployments.apps update": 2,
    "events create": 1,
    "works.work.karmada.io delete": 1,
  });
});
