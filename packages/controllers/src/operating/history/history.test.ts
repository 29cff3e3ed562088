/** The history follows the objects, is written together, survives its process, and is no burden to an API server that is away. */
import {
  clusters,
  type KubeObject,
  type LedgerEntry,
  ledgerSlices,
  type New,
  type ResourceBinding,
  resourceBindings,
} from "@lifeboat/api";
import { entrySentence, readLedger } from "@lifeboat/core/history";
import { type Client, OutcomeUnknown } from "@lifeboat/kit";
import { createFleet, type Fleet } from "@lifeboat/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHistory } from "./create-history.ts";

let fleet: Fleet;
let term: AbortController;
let terms: AbortController[];
/** Answers of slices are lost while this holds. */
let losesAnswers: boolean;

/** Runs the service again and again, a term each. */
beforeEach(async () => {
  term = new AbortController();
  terms = [term];
  losesAnswers = false;
  fleet = await createFleet({
    memberModel: false,
    services: (context) => [
      {
        name: "history",
        async run(signal) {
          while (!signal.aborted) {
            const plane = losing(context.plane);
            const history = createHistory({ ...context, plane });
            await history.run(AbortSignal.any([signal, term.signal]));
            if (signal.aborted) return;
            term = new AbortController();
            terms.push(term);
          }
        },
      },
    ],
  });
});
afterEach(() => fleet.close());

function losing(plane: Client): Client {
  return {
    ...plane,
    get: (...given) => plane.get(...given),
    list: (...given) => plane.list(...given),
    delete: (...given) => plane.delete(...given),
    create: async (resource, object, options) => {
      const made = await plane.create(resource, object, options);
      if (losesAnswers) {
        losesAnswers = false;
        throw new OutcomeUnknown("the answer was lost");
      }
      return made;
    },
  };
}

async function join(name: string): Promise<void> {
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name },
    spec: { syncMode: "Push" },
  });
}

async function place(name: string, on: readonly string[]): Promise<void> {
  const found = (await fleet.plane.list(resourceBindings)).items.find(
    ({ metadata }) => metadata.name === name,
  );
  const binding: New<ResourceBinding> = {
    apiVersion: "work.karmada.io/v1alpha2",
    kind: "ResourceBinding",
    metadata: { name, namespace: "default" },
    spec: {
      resource: { apiVersion: "apps/v1", kind: "Deployment", name, namespace: "default" },
      clusters: on.map((cluster) => ({ name: cluster, replicas: 1 })),
    },
  };
  if (found === undefined) await fleet.plane.create(resourceBindings, binding);
  else
    await fleet.plane.update(resourceBindings, {
      ...found,
      spec: { ...found.spec, clusters: binding.spec.clusters ?? [] },
    });
}

async function entries(): Promise<readonly LedgerEntry[]> {
  await fleet.settle();
  return readLedger((await fleet.plane.list(ledgerSlices)).items);
}

async function told(): Promise<readonly string[]> {
  return (await entries()).map(entrySentence);
}

async function slices(): Promise<readonly KubeObject[]> {
  return (await fleet.plane.list(ledgerSlices)).items;
}

it("writes together what happens together, with the user that admission saw", async () => {
  await fleet.settle();
  for (const name of ["m1", "m2"]) await join(name);
  await place("web", ["m1"]);
  await fleet.advance("2s");
  expect(await slices()).toHaveLength(1);
  const all = await entries();
  expect(all.map(({ action }) => action)).toEqual(["Joined", "Joined", "Placed"]);
  for (const { by } of all) expect(by).toMatch(/./);
});

it("is written at most every five seconds while there is much to tell", async () => {
  await fleet.settle();
  await join("m1");
  for (let i = 0; i < 20; i++) {
    await place("web", i % 2 === 0 ? ["m1"] : ["m1", "m2"]);
    await fleet.advance("1s");
  }
  await fleet.advance("10s");
  expect((await entries()).filter(({ action }) => action === "Placed")).toHaveLength(20);
  expect((await slices()).length).toBeLessThanOrEqual(6);
});

it("tells what happened while no process led, once", async () => {
  await fleet.settle();
  await join("m1");
  await place("web", ["m1"]);
  await fleet.advance("2s");
  const before = await told();
  // Dies before it writes.
  await place("web", ["m1", "m2"]);
  await fleet.settle();
  term.abort();
  await fleet.settle();
  expect(terms).toHaveLength(2);
  await fleet.advance("10s");
  const after = await told();
  expect(after.slice(0, before.length)).toEqual(before);
  expect(after.slice(before.length)).toEqual([
    expect.stringContaining("deployment default/web runs on m1:1, m2:1"),
  ]);
  term.abort();
  await fleet.advance("10s");
  expect(await told()).toEqual(after);
});

it("takes a slice whose answer was lost for written", async () => {
  await fleet.settle();
  losesAnswers = true;
  await join("m1");
  await fleet.advance("10s");
  expect(await told()).toHaveLength(1);
  await join("m2");
  await fleet.advance("10s");
  const after = await told();
  expect(after).toHaveLength(2);
  expect(new Set(after).size).toBe(2);
});

it("goes on after slices that another process wrote under the same numbers", async () => {
  await fleet.settle();
  await join("m1");
  await fleet.advance("10s");
  const [first] = (await fleet.plane.list(ledgerSlices)).items;
  if (first === undefined) throw new Error("a slice is there");
  const [entry] = first.spec.entries;
  await fleet.plane.create(ledgerSlices, {
    apiVersion: "lifeboat.dev/v1alpha1",
    kind: "LedgerSlice",
    metadata: { name: "000000002-000000002" },
    spec: { first: 2, last: 2, entries: entry === undefined ? [] : [entry] },
  });
  await join("m2");
  await fleet.advance("10s");
  const all = readLedger((await fleet.plane.list(ledgerSlices)).items);
  expect(all.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(all.at(-1)).toMatchObject({ action: "Joined", cluster: "m2" });
});
