import type { EvictionTask, ResourceBinding, Work } from "@lifeboat/api";
import fc from "fast-check";
import { expect, it } from "vitest";
import { decideWorks, clusterOfWork, type WorksView } from "./decide-works.ts";
import { isProvenHealthy, mayBeHealthy } from "./copy-health.ts";
import { binding, cluster, template, view, workIn } from "./works.suite.ts";

const NAMES = ["a", "b", "c", "d"];
const GOING = { deletionTimestamp: "2026-01-01T00:01:00Z" };
const names = fc.subarray(NAMES);
const targets = names.map((list) => list.map((name) => ({ name })));

const tasks: fc.Arbitrary<EvictionTask[]> = fc.array(
  fc.record(
    {
      fromCluster: fc.constantFrom(...NAMES),
      reason: fc.constant("Tainted"),
      producer: fc.constant("test"),
      purgeMode: fc.constantFrom("Directly", "Immediately", "Gracefully", "Graciously", "Never"),
      suppressDeletion: fc.boolean(),
    },
    { requiredKeys: ["fromCluster", "reason", "producer"] },
  ),
  { maxLength: 3 },
);

const works: fc.Arbitrary<Work[]> = names.chain((list) =>
  fc.tuple(
    ...list.map((name) =>
      fc
        .record({
          isGoing: fc.boolean(),
          preserve: fc.boolean(),
          mark: fc.constantFrom(undefined, "Gracefully", "Directly"),
          health: fc.constantFrom(undefined, "Healthy" as const, "Unhealthy" as const),
          generation: fc.constantFrom(1, 2),
        })
        .map(({ isGoing, preserve, mark, health, generation }) =>
          workIn(name, {
            meta: { generation, ...(isGoing ? GOING : {}) },
            spec: { preserveResourcesOnDeletion: preserve },
            annotations: mark === undefined ? {} : { "lifeboat.dev/purge-mode": mark },
            ...(health === undefined ? {} : { health }),
          }),
        ),
    ),
  ),
);

const views: fc.Arbitrary<WorksView> = fc
  .record({
    clusters: targets,
    requiredBy: targets,
    tasks,
    works,
    existing: names,
    isDeleted: fc.boolean(),
    hasTemplate: fc.boolean(),
  })
  .map((drawn) =>
    view({
      binding: binding(
        {
          clusters: drawn.clusters,
          requiredBy: [{ name: "x", clusters: drawn.requiredBy }],
          gracefulEvictionTasks: drawn.tasks,
          placement: {},
        },
        drawn.isDeleted ? GOING : {},
      ),
      template: drawn.hasTemplate ? template : undefined,
      works: drawn.works,
      clusters: new Map(drawn.existing.map((name) => [name, cluster(name)])),
    }),
  );

const wantedOf = ({ spec }: ResourceBinding): ReadonlySet<string> =>
  new Set([
    ...(spec.clusters ?? []).map(({ name }) => name),
    ...(spec.requiredBy ?? []).flatMap((one) => (one.clusters ?? []).map(({ name }) => name)),
  ]);
const isDirect = ({ purgeMode }: EvictionTask): boolean =>
  purgeMode === "Directly" || purgeMode === "Immediately";

function each(check: (seen: WorksView, plan: ReturnType<typeof decideWorks>) => void): void {
  fc.assert(
    fc.property(views, (seen) => check(seen, decideWorks(seen))),
    { numRuns: 200 },
  );
}

it("never removes a Work of a cluster that the binding names and keeps", () => {
  each(({ binding: bound, template: read }, { commands }) => {
    const removed = commands.filter(({ kind }) => kind === "delete");
    if (bound.metadata.deletionTimestamp !== undefined) return;
    if (read === undefined) {
      expect(commands).toEqual([]);
      return;
    }
    const kept = (bound.spec.gracefulEvictionTasks ?? []).filter(
      (task) => !isDirect(task) || task.suppressDeletion === true,
    );
    const named = new Set([...wantedOf(bound), ...kept.map(({ fromCluster }) => fromCluster)]);
    for (const command of removed)
      expect(named).not.toContain("cluster" in command ? command.cluster : "");
  });
});

it("writes at most once in a cluster, and makes Works only where none is", () => {
  each(({ works: existing }, { commands }) => {
    const clusters = commands.flatMap((command) => ("cluster" in command ? [command.cluster] : []));
    expect(new Set(clusters).size).toBe(clusters.length);
    const occupied = new Set(existing.map(clusterOfWork));
    for (const command of commands)
      if (command.kind === "create") expect(occupied).not.toContain(command.cluster);
  });
});

it("makes nothing while a copy that must be gone first is there", () => {
  each(({ binding: bound, works: existing }, { commands }) => {
    const wanted = wantedOf(bound);
    const isBarred = (bound.spec.gracefulEvictionTasks ?? []).some(
      (task) =>
        isDirect(task) &&
        !wanted.has(task.fromCluster) &&
        existing.some((work) => clusterOfWork(work) === task.fromCluster),
    );
    if (isBarred) expect(commands.some(({ kind }) => kind === "create")).toBe(false);
  });
});

it("removes only Works that are prepared, and never the last healthy copy", () => {
  each(({ binding: bound, works: existing, clusters }, { commands }) => {
    if (bound.metadata.deletionTimestamp !== undefined) return;
    const wanted = wantedOf(bound);
    const stays = existing.some((work) => wanted.has(clusterOfWork(work)) && isProvenHealthy(work));
    for (const command of commands) {
      if (command.kind !== "delete") continue;
      expect(command.work.spec.preserveResourcesOnDeletion).not.toBe(true);
      const isPurge = command.work.metadata.annotations?.["lifeboat.dev/purge-mode"] === "Directly";
      const mayMatter = mayBeHealthy(command.work) && clusters.has(command.cluster) && !isPurge;
      if (mayMatter) expect(stays).toBe(true);
    }
  });
});

it("comes to rest: carried out over and over, the plan becomes empty", () => {
  each((seen) => {
    let now = seen;
    for (let look = 0; look < 6; look++) now = carriedOut(now);
    const { commands } = decideWorks(now);
    expect(commands.filter(({ kind }) => kind !== "releaseBinding")).toEqual([]);
  });
});

/** The world after the commands, with everything that is going gone. */
function carriedOut(seen: WorksView): WorksView {
  const held = new Map(seen.works.map((work) => [clusterOfWork(work), work]));
  for (const [name, work] of held)
    if (work.metadata.deletionTimestamp !== undefined) held.delete(name);
  for (const command of decideWorks({ ...seen, works: [...held.values()] }).commands) {
    if (command.kind === "delete") held.delete(command.cluster);
    if (command.kind === "update") held.set(command.cluster, command.work);
    if (command.kind === "create")
      held.set(command.cluster, { ...workIn(command.cluster), ...command.work } as Work);
  }
  return { ...seen, works: [...held.values()] };
}
