/**
 * Random histories of faults, recoveries, restarts, pauses and lost answers, judged from outside:
 *
 *   C1  over any stretch of time at most one decision more than the rate allows
 *   C6  a decision only for a cluster that bears a taint
 *   C7  one task per binding and cluster
 *   C8  when all is quiet, a workload on a faulty cluster has no target, and every other has left
 */
import { evacuations } from "@lifeboat/api";
import { OutcomeUnknown } from "@lifeboat/kit";
import fc from "fast-check";
import { expect } from "vitest";
import { wrapped } from "@lifeboat/testkit";
import {
  bareFleet,
  bindings,
  bindMany,
  type Decision,
  DOWN,
  finishTasks,
  placed,
  setTaints,
  watchDecisions,
} from "./evacuation.suite.ts";

const CLUSTERS = ["m1", "m2", "m3", "m4", "m5"];
const TOKEN_MS = 2000;

type Step =
  | { readonly kind: "fail" | "recover"; readonly cluster: string }
  | { readonly kind: "restart" | "finish" | "pause" | "resume" }
  | { readonly kind: "wait"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("fail" as const, "recover" as const),
    cluster: fc.constantFrom("m1", "m2"),
  }),
  fc.record({
    kind: fc.constantFrom(
      "restart" as const,
      "restart" as const,
      "finish" as const,
      "pause" as const,
      "resume" as const,
    ),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 9000 }) }),
);

export const history = fc.record({
  steps: fc.array(step, { minLength: 3, maxLength: 14 }),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  /** Every so many writes an answer is lost; 0: none. */
  losing: fc.constantFrom(0, 0, 3, 7),
});

export async function judgeHistory(given: {
  readonly steps: readonly Step[];
  readonly seed: number;
  readonly losing: number;
}): Promise<void> {
  let writes = 0;
  const fleet = await bareFleet({
    clusters: CLUSTERS,
    seed: given.seed,
    through: (context) => ({
      ...context,
      plane: {
        ...wrapped(context.plane),
        update: async (...asked) => {
          const answer = await context.plane.update(...asked);
          if (given.losing > 0 && ++writes % given.losing === 0) throw new OutcomeUnknown("lost");
          return answer;
        },
      },
    }),
  });
  const faulty = new Set<string>();
  const decisions: Decision[] = [];
  let judged = 0;
  const judge = (): void => {
    for (; judged < decisions.length; judged++)
      expect(faulty).toContain(decisions[judged]?.cluster);
  };
  try {
    await bindMany(fleet, "a", 3, "m1");
    await bindMany(fleet, "b", 3, "m2");
    watchDecisions(fleet, decisions);
    for (const one of given.steps) {
      if (one.kind === "fail") faulty.add(one.cluster);
      if (one.kind === "fail") await setTaints(fleet, one.cluster, DOWN);
      if (one.kind === "recover") {
        await setTaints(fleet, one.cluster);
        judge();
        faulty.delete(one.cluster);
      }
      if (one.kind === "wait") await fleet.advance(one.ms);
      if (one.kind === "finish") await finishTasks(fleet);
      if (one.kind === "pause" || one.kind === "resume")
        await pauseAll(fleet, one.kind === "pause");
      if (one.kind === "restart") {
        await fleet.restart();
        watchDecisions(fleet, decisions);
      }
      judge();
      for (const { spec } of await bindings(fleet)) {
        const from = (spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster);
        expect(new Set(from).size).toBe(from.length);
      }
    }
    await pauseAll(fleet, false);
    await fleet.advance("3m");
    judge();
    for (const binding of await bindings(fleet))
      for (const cluster of placed(binding)) expect(faulty).not.toContain(cluster);
    for (const [i, first] of decisions.entries())
      for (const [j, { at }] of decisions.entries())
        if (j > i) expect(at - first.at).toBeGreaterThanOrEqual((j - i) * TOKEN_MS);
  } finally {
    await fleet.close();
  }
}

async function pauseAll(
  fleet: Awaited<ReturnType<typeof bareFleet>>,
  paused: boolean,
): Promise<void> {
  for (const { metadata } of (await fleet.plane.list(evacuations)).items)
    await fleet.plane.patch(
      evacuations,
      { namespace: "", name: metadata.name },
      { type: "merge", body: { spec: { paused } } },
    );
  await fleet.settle();
}
