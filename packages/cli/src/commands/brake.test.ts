import type { Condition } from "@lifeboat/api";
import { addMs, formatTime, instantOf } from "@lifeboat/base";
import { expect, it } from "vitest";
import { brakedBy, describeBrake } from "./brake.ts";

const now = instantOf(Date.UTC(2026, 0, 1));
const condition: Condition = {
  type: "MassDeletion",
  status: "True",
  reason: "TooManyDeletions",
  message: "21 of 100 Works",
  lastTransitionTime: "2026-01-01T00:00:10Z",
};

it("says since when the guard has tripped and why, and for how long it is released", () => {
  const budget = {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "EvacuationBudget",
    metadata: { name: "fleet", uid: "u", resourceVersion: "1", creationTimestamp: "" },
    spec: { paused: false },
    status: { conditions: [condition] },
  };
  expect(describeBrake(budget, now)).toBe("tripped since 2026-01-01T00:00:10Z: 21 of 100 Works");
  const released = { ...condition, status: "False" as const };
  expect(brakedBy({ ...budget, status: { conditions: [released] } })).toBeUndefined();
  expect(describeBrake(undefined, now)).toBe("armed: it stops a mass deletion");
  const open = { ...budget, spec: { paused: false, brakeReleasedAt: formatTime(now) } };
  const later = { ...open, status: { conditions: [released] } };
  expect(describeBrake(later, addMs(now, 60_000))).toBe("released: it stops nothing for 9m more");
  expect(describeBrake(later, addMs(now, 600_000))).toBe("armed: it stops a mass deletion");
});
