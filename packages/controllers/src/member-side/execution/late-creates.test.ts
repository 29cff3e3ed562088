/** Requests that take effect after they were given up: a Work that is gone leaves nothing behind. */
import { type AnyObject, findCondition, isRefused, type New, works } from "@lifeboat/api";
import { afterEach, describe, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../../../../testkit/src/fleet.ts";
import { configMap, namespace, resources } from "../../../../../testkit/src/objects.ts";
import { createExecution } from "../../propagation/execution/create-execution.ts";
import { ES, marked, nameOf, workOf } from "./execution.suite.ts";

const SETTINGS: New<AnyObject> = marked(configMap("settings"));
const WORK = { namespace: ES, name: nameOf(SETTINGS) };
const COPY = { namespace: "default", name: "settings" };

let fleet: Fleet;
afterEach(() => fleet.close());

async function start(): Promise<void> {
  fleet = await createFleet({ members: ["m1"], services: createExecution });
  await fleet.plane.create(resources.namespaces, namespace(ES));
}

async function exists(what: Promise<unknown>): Promise<boolean> {
  try {
    await what;
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}

const hasWork = (): Promise<boolean> => exists(fleet.plane.get(works, WORK));
const hasCopy = (): Promise<boolean> =>
  exists(fleet.member("m1").client.get(resources.configMaps, COPY));

/** Creates the Work while writes to the member come late by this, and lets nothing else go wrong. */
async function createLate(byMs: number): Promise<void> {
  const { link } = fleet.member("m1");
  link.setFault({ kind: "late", byMs });
  await fleet.plane.create(works, workOf(SETTINGS));
  await fleet.advance("1s");
  link.setFault(undefined);
}

/** For how many seconds the Work stays after its deletion; nothing of it may be in the member then, or come later. */
async function secondsUntilGone(): Promise<number> {
  let seconds = 0;
  for (; await hasWork(); seconds += 1) {
    expect(seconds).toBeLessThan(600);
    await fleet.advance("1s");
  }
  for (let after = 0; after < 300; after += 5) {
    expect(await hasCopy()).toBe(false);
    await fleet.advance("5s");
  }
  return seconds;
}

async function deleteWork(): Promise<number> {
  await fleet.plane.delete(works, WORK);
  await fleet.settle();
  return secondsUntilGone();
}

describe("a create whose outcome is unknown", () => {
  it.each([1000, 20_000, 55_000])(
    "that arrives %i ms after it was given up is waited for and undone",
    async (byMs) => {
      await start();
      await createLate(byMs);
      expect(await deleteWork()).toBeGreaterThan(90);
    },
  );

  it("is waited for although a second one was answered", async () => {
    await start();
    await createLate(50_000);
    await fleet.advance("40s");
    expect(await hasCopy()).toBe(true);
    expect(await deleteWork()).toBeGreaterThan(50);
  });

  it("is waited for again when the member was silent in between", async () => {
    await start();
    await createLate(55_000);
    await fleet.plane.delete(works, WORK);
    await fleet.advance("80s");
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("60s");
    fleet.member("m1").link.setFault(undefined);
    expect(await secondsUntilGone()).toBeGreaterThanOrEqual(90);
  });

  it("is forgotten after a while", async () => {
    await start();
    await createLate(50_000);
    await fleet.advance("5m");
    expect(await hasCopy()).toBe(true);
    fleet.member("m1").link.setFault({ kind: "down" });
    await fleet.advance("1m");
    fleet.member("m1").link.setFault(undefined);
    expect(await deleteWork()).toBe(0);
  });
});

describe("a create that a process before this one sent", () => {
  it("is waited for and undone", async () => {
    await start();
    await createLate(50_000);
    await fleet.plane.delete(works, WORK);
    await fleet.restart();
    expect(await secondsUntilGone()).toBeGreaterThanOrEqual(90);
  });

  it("is waited for although this one was answered", async () => {
    await start();
    await createLate(50_000);
    await fleet.restart();
    await fleet.advance("1s");
    expect(await hasCopy()).toBe(true);
    expect(await deleteWork()).toBeGreaterThan(60);
  });

  it("is waited for when the copy that was known is gone", async () => {
    await start();
    await fleet.plane.create(works, workOf(SETTINGS));
    await fleet.advance("10s");
    fleet.member("m1").link.setFault({ kind: "late", byMs: 40_000 });
    await fleet.member("m1").client.delete(resources.configMaps, COPY);
    await fleet.advance("1s");
    fleet.member("m1").link.setFault(undefined);
    await fleet.plane.delete(works, WORK);
    await fleet.restart();
    expect(await secondsUntilGone()).toBeGreaterThanOrEqual(90);
  });

  it("is not waited for while the copy is the one that was known", async () => {
    await start();
    await fleet.plane.create(works, workOf(SETTINGS));
    await fleet.advance("10s");
    await fleet.restart();
    expect(await deleteWork()).toBe(0);
  });

  it("is not waited for by a Work that is younger than this process", async () => {
    await start();
    await fleet.restart();
    fleet.member("m1").link.setFault({ kind: "errors" });
    await fleet.plane.create(works, workOf(SETTINGS));
    await fleet.advance("1s");
    fleet.member("m1").link.setFault(undefined);
    await fleet.plane.delete(works, WORK);
    await fleet.advance("1s");
    expect(await secondsUntilGone()).toBeLessThan(10);
  });
});

it("an answer that came is waited for no more", async () => {
  await start();
  await fleet.plane.create(works, workOf(SETTINGS));
  await fleet.settle();
  const { status } = await fleet.plane.get(works, WORK);
  expect(findCondition(status?.conditions, "Applied")?.status).toBe("True");
  expect(await deleteWork()).toBe(0);
});
