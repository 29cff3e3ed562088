import type { Condition } from "@lifeboat/api";
import { expect, it } from "vitest";
import { brakedBy, describeBrake } from "./brake.ts";

const condition: Condition = {
  type: "MassDeletion",
  status: "True",
  reason: "TooManyDeletions",
  message: "21 of 100 Works",
  lastTransitionTime: "2026-01-01T00:00:10Z",
};

it("says since when the brake is on and why", () => {
  const budget = {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationBudget",
    metadata: { name: "fleet", uid: "u", resourceVersion: "1", creationTimestamp: "" },
    spec: { paused: false },
    status: { conditions: [condition] },
  };
  expect(describeBrake(budget)).toBe("on since 2026-01-01T00:00:10Z: 21 of 100 Works");
  const released = { ...condition, status: "False" as const };
  expect(brakedBy({ ...budget, status: { conditions: [released] } })).toBeUndefined();
  expect(describeBrake(undefined)).toBe("off: deletions go on");
});
