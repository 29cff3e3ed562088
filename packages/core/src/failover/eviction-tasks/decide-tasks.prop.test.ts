/** What holds for every binding with tasks: the floor, the barrier of Directly, and that time alone ends nothing. */
import type { EvictionTask, Work } from "@lifeboat/api";
import { addMs, plainMoment } from "@lifeboat/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideTasks } from "./decide-tasks.ts";
import { bindingWith, clusterIn, copy, NOW, sceneView, task } from "./eviction.suite.ts";
import type { TasksView } from "./view.ts";

const NAMES = ["a", "b", "c"] as const;
const flag = fc.boolean();

const anyTask: fc.Arbitrary<EvictionTask> = fc
  .record({
    from: fc.constantFrom(...NAMES),
    purgeMode: fc.constantFrom("Gracefully", "Directly", "Never", "Immediately", "Graciously"),
    application: flag,
    suppress: fc.constantFrom(undefined, true, false),
    grace: fc.constantFrom(undefined, 0, 60),
    created: fc.constantFrom(undefined, "2026-01-01T11:00:00Z", "2026-01-01T12:00:00Z"),
    before: fc.constantFrom(undefined, ["a"], ["a", "b"], ["a", "b", "c"]),
  })
  .map(({ from, purgeMode, application, suppress, grace, created, before }) => {
    const given = {
      purgeMode,
      reason: application ? "ApplicationFailure" : "TaintUntolerated",
      producer: application ? "application" : "TaintManager",
      suppressDeletion: suppress,
      gracePeriodSeconds: grace,
      creationTimestamp: created,
      clustersBeforeFailover: before,
    };
    const present = Object.entries(given).filter(([, value]) => value !== undefined);
    const { creationTimestamp: _time, clustersBeforeFailover: _before, ...plain } = task(from);
    return { ...plain, ...Object.fromEntries(present) };
  });

const anyView: fc.Arbitrary<TasksView> = fc
  .record({
    result: fc.subarray([...NAMES]),
    tasks: fc.uniqueArray(anyTask, { selector: ({ fromCluster }) => fromCluster, maxLength: 3 }),
    observed: fc.constantFrom(4, 5),
    copies: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        health: fc.constantFrom("Healthy" as const, "Unhealthy" as const, undefined),
        observed: fc.constantFrom(0, 1),
        going: flag,
      }),
      { maxLength: 3 },
    ),
    clusters: fc.array(
      fc.record({
        name: fc.constantFrom(...NAMES),
        ready: fc.constantFrom("True" as const, "False" as const, "Unknown" as const),
        tainted: flag,
        fenced: flag,
        leaving: flag,
      }),
      { maxLength: 4 },
    ),
    outdated: fc.subarray([...NAMES]),
    plugins: fc.subarray(["ResourceHealth", "InScheduleResult"]),
    divided: flag,
  })
  .map((given) => {
    const placement = { replicaScheduling: { replicaSchedulingType: "Divided" as const } };
    const works = new Map(
      given.copies.map(({ name, health, ...state }) => [
        name,
        copy(name, { ...state, ...(health !== undefined && { health }) }),
      ]),
    );
    return sceneView({
      binding: bindingWith(given.result, given.tasks, {
        observed: given.observed,
        ...(given.divided && { spec: { placement, replicas: 4 } }),
      }),
      works: [...works.values()],
      clusters: [...new Map(given.clusters.map((one) => [one.name, one])).values()].map(
        ({ name, ...state }) => clusterIn(name, state),
      ),
      outdated: given.outdated,
      plugins: given.plugins,
    });
  });

const workOf = ({ works }: TasksView, name: string): Work | undefined => works.get(name);
const isGoing = (work: Work | undefined): boolean => work?.metadata.deletionTimestamp !== undefined;
const isHealthy = (work: Work | undefined): boolean =>
  work?.status?.manifestStatuses?.[0]?.health === "Healthy";
const isAboutNow = (work: Work | undefined): boolean =>
  (work?.status?.conditions ?? []).length === 2 &&
  (work?.status?.conditions ?? []).every(({ observedGeneration }) => observedGeneration === 1);
const inResult = ({ binding }: TasksView, name: string): boolean =>
  (binding.spec.clusters ?? []).some((target) => target.name === name);
const readyOf = (view: TasksView, name: string): string | undefined =>
  view.clusters.get(name)?.status?.conditions?.[0]?.status;
const tasksOf = ({ binding }: TasksView): readonly EvictionTask[] =>
  binding.spec.gracefulEvictionTasks ?? [];
const isDirect = ({ purgeMode }: EvictionTask): boolean =>
  purgeMode === "Directly" || purgeMode === "Immediately";

function fates(view: TasksView, now = NOW) {
  const { verdicts } = decideTasks(view, plainMoment(now));
  return tasksOf(view).map((one, i) => ({ task: one, fate: verdicts[i]?.fate }));
}

describe("for every binding", () => {
  it("no old copy that may be healthy is let go without another that is (D9)", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        for (const { task: one, fate } of fates(view)) {
          if (fate !== "cleared" || isDirect(one)) continue;
          const old = workOf(view, one.fromCluster);
          const staysOrIsIll =
            old === undefined || isGoing(old) || !isHealthy(old) || inResult(view, one.fromCluster);
          const covered = NAMES.some((name) => {
            const work = workOf(view, name);
            return (
              name !== one.fromCluster &&
              inResult(view, name) &&
              isHealthy(work) &&
              isAboutNow(work) &&
              !isGoing(work) &&
              !view.outdated.has(name) &&
              readyOf(view, name) === "True"
            );
          });
          expect(staysOrIsIll || covered).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("mode Directly ends only when the old copy is gone, stays, or a person says so (E2, E3)", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        for (const { task: one, fate } of fates(view)) {
          if (fate !== "cleared" || !isDirect(one)) continue;
          const name = one.fromCluster;
          const old = workOf(view, name);
          const stays = inResult(view, name) && !isGoing(old);
          const fenced =
            isGoing(old) &&
            readyOf(view, name) !== "True" &&
            view.clusters.get(name)?.metadata.annotations !== undefined;
          expect(old === undefined || stays || fenced).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("time alone ends nothing but grace periods of failing applications, whose old copy is ill", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const later = fates(view, addMs(NOW, 3_600_000_000));
        for (const [i, { task: one, fate }] of fates(view, addMs(NOW, 5000)).entries()) {
          if (later[i]?.fate === fate) continue;
          expect(one.reason).toBe("ApplicationFailure");
          expect(isDirect(one)).toBe(false);
          expect(isHealthy(workOf(view, one.fromCluster))).toBe(false);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("what is taken back is in the result, and only taints that are gone are a reason", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const [changed] = decideTasks(view, plainMoment(NOW)).commands;
        for (const { task: one, fate } of fates(view)) {
          if (fate !== "rolledBack") continue;
          expect(one.producer).toBe("TaintManager");
          expect(view.clusters.get(one.fromCluster)?.spec.taints ?? []).toEqual([]);
          expect(changed?.spec.clusters?.map(({ name }) => name)).toContain(one.fromCluster);
          expect(changed?.spec.gracefulEvictionTasks ?? []).not.toContain(one);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("clusters leave or enter the result by nothing else", () => {
    fc.assert(
      fc.property(anyView, (view) => {
        const [changed] = decideTasks(view, plainMoment(NOW)).commands;
        const back = fates(view).filter(({ fate }) => fate === "rolledBack");
        const names = [
          ...(view.binding.spec.clusters ?? []).map(({ name }) => name),
          ...back.map(({ task: one }) => one.fromCluster),
        ];
        if (changed !== undefined)
          expect((changed.spec.clusters ?? []).map(({ name }) => name)).toEqual(names);
      }),
      { numRuns: 200 },
    );
  });
});
