import {
  evacuationBudgets,
  FLEET_BUDGET,
  hasCondition,
  resourceBindings,
  works,
} from "@lifeboat/api";
import { formatTime } from "@lifeboat/base";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import { createFleet, type Fleet, newNamespace, resources, wrapped } from "@lifeboat/testkit";
import { afterEach, expect, it } from "vitest";
import type { AskedDeletion, DeletionGate } from "../../context/deletion-gate.ts";
import { createDeletionGate } from "./create-deletion-gate.ts";

let fleet: Fleet;
afterEach(() => fleet.close());

const KEY = { namespace: "", name: FLEET_BUDGET };

interface Gates {
  readonly gates: DeletionGate[];
}

/** Two gates on one control plane, as two leaders would be, with Works to count. */
async function gateFleet(
  workCount: number,
  through: (plane: Client) => Client = (plane) => plane,
): Promise<Gates> {
  const gates: DeletionGate[] = [];
  fleet = await createFleet({
    services: (context) => {
      const ports = { ...context, plane: through(context.plane) };
      const leader = createDeletionGate(ports);
      gates.splice(0, 2, leader, createDeletionGate(ports));
      return [leader];
    },
  });
  await fleet.plane.create(resources.namespaces, newNamespace("karmada-es-m1"));
  for (let i = 0; i < workCount; i++)
    await fleet.plane.create(works, {
      apiVersion: "work.karmada.io/v1alpha1",
      kind: "Work",
      metadata: { namespace: "karmada-es-m1", name: `w${i}` },
      spec: {},
    });
  await fleet.settle();
  return { gates };
}

const gateOf = ({ gates }: Gates, index = 0): DeletionGate => {
  const gate = gates[index];
  if (gate === undefined) throw new Error("no such gate");
  return gate;
};
const asks = (prefix: string, count: number, cause: AskedDeletion["cause"] = "Descheduled") =>
  Array.from({ length: count }, (_, i) => ({ uid: `${prefix}${i}`, cause }));
const granted = async (gate: DeletionGate, asked: readonly AskedDeletion[]): Promise<number> => {
  const answer = gate.admit(asked);
  await fleet.settle();
  return (await answer).size;
};
const budget = () => fleet.plane.get(evacuationBudgets, KEY);
const isBraked = async (): Promise<boolean> =>
  hasCondition((await budget()).status?.conditions, "MassDeletion");
const release = async (offsetMs = 0): Promise<void> => {
  const now = await budget();
  const brakeReleasedAt = formatTime((fleet.clock.now() + offsetMs) as never);
  await fleet.plane.update(evacuationBudgets, { ...now, spec: { ...now.spec, brakeReleasedAt } });
  await fleet.settle();
};

it("stops deletions above twenty, reports it, and goes on when a person releases the brake", async () => {
  const gates = await gateFleet(30);
  const gate = gateOf(gates);
  expect(await granted(gate, asks("a", 15))).toBe(15);
  expect(await isBraked()).toBe(false);
  expect(await granted(gate, asks("b", 10))).toBe(5);
  expect(await isBraked()).toBe(true);
  const events = (await fleet.plane.list(resources.events)).items as unknown as {
    reason: string;
    involvedObject: { kind: string };
  }[];
  expect(events).toMatchObject([
    { reason: "MassDeletion", involvedObject: { kind: "EvacuationBudget" } },
  ]);
  await fleet.advance("1h");
  expect(await granted(gate, asks("c", 1))).toBe(0);
  await release();
  expect(await isBraked()).toBe(false);
  expect(await granted(gate, asks("c", 100))).toBe(100);
});

it("neither counts nor stops what follows from evictions and deleted templates", async () => {
  const gates = await gateFleet(1);
  const gate = gateOf(gates);
  expect(await granted(gate, asks("a", 500, "Evicted"))).toBe(500);
  expect(await granted(gate, asks("b", 500, "TemplateDeleted"))).toBe(500);
  expect((await fleet.plane.list(evacuationBudgets)).items).toEqual([]);
  await granted(gate, asks("c", 21));
  expect(await isBraked()).toBe(true);
  expect(await granted(gate, asks("d", 500, "ClusterDeleted"))).toBe(500);
});

it("lets a Work through again whose deletion failed, without counting it twice", async () => {
  const gates = await gateFleet(1);
  const gate = gateOf(gates);
  for (let i = 0; i < 30; i++) expect(await granted(gate, asks("a", 2))).toBe(2);
  expect((await budget()).status?.deletions).toMatchObject([{ count: 2, works: 1 }]);
});

it("grants nothing twice after a restart, and stays braked over one", async () => {
  const gates = await gateFleet(1);
  expect(await granted(gateOf(gates), asks("a", 18))).toBe(18);
  await fleet.restart();
  expect(await granted(gateOf(gates), asks("b", 18))).toBe(2);
  await fleet.restart();
  await fleet.advance("1h");
  expect(await granted(gateOf(gates), asks("c", 1))).toBe(0);
});

it("holds for two leaders at the same time", async () => {
  const gates = await gateFleet(1);
  const answers = [0, 1].flatMap((index) =>
    Array.from({ length: 15 }, (_, i) => gateOf(gates, index).admit(asks(`${index}-${i}-`, 1))),
  );
  await fleet.settle();
  const all = await Promise.all(answers);
  expect(all.reduce((sum, { size }) => sum + size, 0)).toBe(20);
  expect(await isBraked()).toBe(true);
});

it("counts what a lost answer may have let through, and rejects meanwhile", async () => {
  let isLossy = false;
  const gates = await gateFleet(1, (plane) =>
    wrapped(plane, {
      update: async (...given) => {
        const answer = await plane.update(...given);
        if (isLossy) throw new OutcomeUnknown("lost");
        return answer;
      },
    }),
  );
  isLossy = true;
  const rejected = expect(gateOf(gates).admit(asks("a", 15))).rejects.toThrow("lost");
  await fleet.settle();
  await rejected;
  isLossy = false;
  expect(await granted(gateOf(gates), asks("b", 15))).toBe(5);
});

it("shows a release when its time has come, not before", async () => {
  const gates = await gateFleet(1);
  await granted(gateOf(gates), asks("a", 21));
  await release(30_000);
  expect(await isBraked()).toBe(true);
  await fleet.advance("31s");
  expect(await isBraked()).toBe(false);
  expect((await fleet.plane.list(resourceBindings)).items).toEqual([]);
});
