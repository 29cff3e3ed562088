/**
 * Windows over random histories of a condition, with the controller dead for parts of them: a taint is never added before
 * the conditions held for the whole window, never removed before they failed to for the other (A3, A4), and both happen
 * in the end (A9).
 */
import type { Cluster, ClusterTaintPolicy } from "@lifeboat/api";
import { addMs, instantOf, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideTaints, type PassedState } from "./taints.ts";
import { TAINT_POLICIES } from "../../well-known.ts";

const START = instantOf(Date.UTC(2026, 0, 1));
const ADD = 30;
const REMOVE = 20;

const policy = {
  metadata: { name: "p", uid: "u", generation: 1, creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: {
    matchConditions: [{ conditionType: "Ready", operator: "NotIn", statusValues: ["True"] }],
    taintsToAdd: [
      { key: "k", effect: "NoExecute", addOnMatchSeconds: ADD, removeOnMismatchSeconds: REMOVE },
    ],
  },
} as unknown as ClusterTaintPolicy;

/** Per second: the condition's status, whether the controller is alive, whether it happens to look. */
const second = fc.record({
  status: fc.constantFrom("True", "True", "False", "False", "Unknown"),
  lasts: fc.integer({ min: 1, max: 45 }),
  alive: fc.integer({ min: 0, max: 4 }).map((n) => n > 0),
  looks: fc.boolean(),
});

describe("windows", () => {
  it("are never shortened, whatever is missed, and end in the right state", () => {
    fc.assert(
      fc.property(fc.array(second, { minLength: 1, maxLength: 30 }), (steps) => {
        const calm = {
          status: steps.at(-1)?.status ?? "True",
          lasts: 200,
          alive: true,
          looks: true,
        };
        let taints: readonly unknown[] = [];
        let record: string | undefined;
        let now = 0;
        let since = 0;
        let status = "True";
        let changedAt = 0;
        let passed: PassedState[] = [];
        let wasAlive = false;
        for (const step of [...steps, calm]) {
          if (step.status !== status) {
            if ((step.status === "True") !== (status === "True")) since = now;
            passed.push({
              at: addMs(START, now * 1000),
              conditions: [{ type: "Ready", status, lastTransitionTime: `${changedAt}` }],
            });
            status = step.status;
            changedAt = now;
          }
          for (let i = 0; i < step.lasts; i += 1) {
            if (step.alive && (step.looks || i % 7 === 0)) {
              const cluster = {
                metadata: {
                  name: "c",
                  annotations: record === undefined ? {} : { [TAINT_POLICIES]: record },
                },
                spec: { taints },
                status: {
                  conditions: [{ type: "Ready", status, lastTransitionTime: `${changedAt}` }],
                },
              } as unknown as Cluster;
              const view = {
                cluster,
                policies: [policy],
                passed: wasAlive ? passed.slice() : [],
                unwatched: !wasAlive,
                failover: true,
              };
              const plan = decideTaints(view, plainMoment(addMs(START, now * 1000)));
              const before = taints.length;
              for (const command of plan.commands) {
                taints = command.taints;
                record = command.record;
              }
              if (taints.length > before) {
                expect(status).not.toBe("True");
                expect(now - since).toBeGreaterThanOrEqual(ADD);
              }
              if (taints.length < before) {
                expect(status).toBe("True");
                expect(now - since).toBeGreaterThanOrEqual(REMOVE);
              }
              passed = [];
              wasAlive = true;
            }
            now += 1;
          }
          if (!step.alive) {
            wasAlive = false;
            passed = [];
          }
        }
        expect(taints).toHaveLength(status === "True" ? 0 : 1);
      }),
      { numRuns: 200 },
    );
  });
});
