import type { Condition } from "@lifeboat/api";
import { instantOf, parseTime } from "@lifeboat/base";
import { expect, it } from "vitest";
import {
  agreedConditions,
  isHeldByRestore,
  RESTORED,
  restoredCondition,
  UNKNOWN_COPIES,
  unknownCopiesCondition,
} from "./restored.ts";

const AT = "2026-01-01T10:00:00Z";
const now = instantOf((parseTime(AT) ?? 0) + 3_600_000);

function record(status: Condition["status"] | undefined, restoreAgreedAt?: string) {
  const condition = { ...restoredCondition("yesterday"), status, lastTransitionTime: AT };
  return {
    spec: { paused: false, ...(restoreAgreedAt !== undefined && { restoreAgreedAt }) },
    status: { conditions: status === undefined ? [] : [condition as Condition] },
  };
}

it.each([
  ["no record", undefined, false],
  ["never restored", record(undefined), false],
  ["an agreement without a restore", record(undefined, AT), false],
  ["restored", record("True"), true],
  ["agreed at the same second", record("True", AT), false],
  ["agreed later", record("True", "2026-01-01T10:30:00Z"), false],
  ["agreed to an earlier restore", record("True", "2026-01-01T09:59:59Z"), true],
  ["agreed in the future", record("True", "2026-01-01T11:00:01Z"), true],
  ["an agreement that is no time", record("True", "yes"), true],
  ["over", record("False"), false],
])("%s: deletions in members wait: %s", (_, budget, held) => {
  expect(isHeldByRestore(budget, now)).toBe(held);
});

it("shows that a person agreed, once, on the conditions that are there", () => {
  const agreed = record("True", AT);
  expect(agreedConditions(record("True"), now)).toEqual([]);
  expect(agreedConditions(record("False", AT), now)).toEqual([]);
  expect(agreedConditions(agreed, now)).toMatchObject([{ type: RESTORED, status: "False" }]);
  const unknown = { ...unknownCopiesCondition([]), lastTransitionTime: AT };
  const both = { ...agreed, status: { conditions: [...agreed.status.conditions, unknown] } };
  expect(agreedConditions(both, now).map(({ type }) => type)).toEqual([RESTORED, UNKNOWN_COPIES]);
});

it.each([
  [[], "False", "Every copy that was found in the members has a Work"],
  [
    [{ cluster: "m1", unknown: [] }],
    "False",
    "Every copy that was found in the members has a Work",
  ],
  [
    [
      { cluster: "m1", unknown: [] },
      { cluster: "m2", unknown: undefined },
    ],
    "Unknown",
    "Every copy that was found in the members has a Work; not read: m2",
  ],
  [
    [{ cluster: "m1", unknown: ["Deployment shop/web"] }],
    "True",
    "1 copy has no Work in the restored state: Deployment shop/web in m1",
  ],
])("tells of %j: %s", (surveys, status, message) => {
  expect(unknownCopiesCondition(surveys)).toMatchObject({ status, message });
});

it("names ten copies and counts the rest", () => {
  const unknown = Array.from({ length: 25 }, (_, i) => `ConfigMap a/c${i}`);
  const { message } = unknownCopiesCondition([{ cluster: "m1", unknown }]);
  expect(message).toContain("25 copies have no Work");
  expect(message).toMatch(/a\/c9 in m1 and 15 more$/);
});
