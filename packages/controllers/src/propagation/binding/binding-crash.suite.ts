/**
 * The control plane dies before or after each write of the life of a binding, or loses the answer: the Works come out the
 * same. One fleet serves all cases, each with a workload of its own.
 */
import { type EvictionTask, resourceBindings } from "@lifeboat/api";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import { type Fleet, resources, wrapped } from "@lifeboat/testkit";
import { expect } from "vitest";
import {
  bindingFleet,
  bound,
  change,
  deleteTemplate,
  finishWorks,
  on,
  snapshot,
} from "./binding.suite.ts";

export type Fault = "before" | "after" | "lost";

/** Which write goes wrong, and how; counts the writes that were tried. */
const armed: { writes: number; at: number; fault: Fault; isDead: boolean } = {
  writes: 0,
  at: 0,
  fault: "before",
  isDead: false,
};
const NEVER = new Promise<never>(() => {});

function fragile(plane: Client): Client {
  const write = async <T>(call: () => Promise<T>): Promise<T> => {
    if (armed.isDead) return NEVER;
    armed.writes += 1;
    if (armed.writes !== armed.at) return call();
    if (armed.fault !== "lost") armed.isDead = true;
    if (armed.fault === "before") return NEVER;
    await call();
    if (armed.fault === "after") return NEVER;
    throw new OutcomeUnknown("the answer was lost");
  };
  return wrapped(plane, {
    create: (...given) => write(() => plane.create(...given)),
    update: (...given) => write(() => plane.update(...given)),
    patch: (...given) => write(() => plane.patch(...given)),
    delete: (...given) => write(() => plane.delete(...given)),
  });
}

let fleet: Fleet;

async function recover(): Promise<void> {
  if (armed.isDead) {
    armed.isDead = false;
    await fleet.restart();
  }
  await fleet.advance("5s");
}

/** A workload is made, edited, evicted in both modes, descheduled and deleted; the Works after each step. */
async function life(name: string): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const step = async (what: () => Promise<unknown>): Promise<void> => {
    await what();
    await recover();
    await finishWorks(fleet);
    await recover();
    const text = JSON.stringify(await snapshot(fleet));
    seen.push(
      JSON.parse(text.replaceAll(name, "NAME").replaceAll(/NAME-[a-z0-9]+"/g, 'NAME-HASH"')),
    );
  };
  const task = (fromCluster: string, purgeMode: EvictionTask["purgeMode"]) => ({
    fromCluster,
    reason: "Tainted",
    producer: "test",
    ...(purgeMode === undefined ? {} : { purgeMode }),
  });
  await step(() => bound(fleet, name, { ...on("m1", "m2"), preserveResourcesOnDeletion: true }));
  await step(async () => {
    const template = await fleet.plane.get(resources.deployments, { namespace: "default", name });
    const metadata = { ...template.metadata, labels: { version: "two" } };
    await fleet.plane.update(resources.deployments, { ...template, metadata });
    await fleet.settle();
  });
  await step(() =>
    change(fleet, name, { ...on("m2", "m3"), gracefulEvictionTasks: [task("m1", "Directly")] }),
  );
  await step(() =>
    change(fleet, name, { ...on("m3"), gracefulEvictionTasks: [task("m2", "Gracefully")] }),
  );
  await step(() => change(fleet, name, { ...on("m1"), gracefulEvictionTasks: [] }));
  await step(() => deleteTemplate(fleet, name));
  return seen;
}

/** Lives the life once undisturbed, then with these faults at each write, and expects the same Works. */
export async function expectSameWorks(
  faultsAt: (write: number) => readonly Fault[],
): Promise<void> {
  fleet = await bindingFleet(["m1", "m2", "m3"], fragile);
  Object.assign(armed, { writes: 0, at: 0, isDead: false });
  const expected = await life("calm");
  const { writes } = armed;
  expect(writes).toBeGreaterThan(12);
  expect(expected.map((works) => (works as unknown[]).length)).toEqual([2, 2, 2, 2, 1, 0]);
  for (let at = 1; at <= writes; at++)
    for (const fault of faultsAt(at)) {
      Object.assign(armed, { writes: 0, at, fault });
      expect(await life(`w${at}${fault}`), `write ${at}, ${fault}`).toEqual(expected);
    }
  expect((await fleet.plane.list(resourceBindings)).items).toEqual([]);
  await fleet.close();
}
