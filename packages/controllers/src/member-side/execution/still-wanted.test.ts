/** Controllers that have not heard yet what became of a Work: they bring nothing back that others took away or changed. */
import { type AnyObject, isRefused, type New, orNothing, type Work, works } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../../../../testkit/src/fleet.ts";
import { configMap, namespace, resources } from "../../../../../testkit/src/objects.ts";
import { createClusterExecution } from "./cluster-execution.ts";
import { askBindings } from "./still-wanted.ts";
import { ES, marked, nameOf, workOf } from "./execution.suite.ts";

const SETTINGS: New<AnyObject> = marked(configMap("settings"));
const WORK = { namespace: ES, name: nameOf(SETTINGS) };
const COPY = { namespace: "default", name: "settings" };

let fleet: Fleet;
let stop: AbortController;
/** What the controllers know of the Work: it becomes old when no watch reports a change. */
let known: Work;
let tell: () => void;

beforeEach(async () => {
  stop = new AbortController();
  fleet = await createFleet({ members: ["m1"] });
  await fleet.plane.create(resources.namespaces, namespace(ES));
  known = await fleet.plane.create(works, workOf(SETTINGS));
  const { plane, events, interpretation } = fleet.context;
  const execution = createClusterExecution(fleet.context, {
    cluster: "m1",
    plane,
    member: fleet.member("m1").client,
    word: askBindings(fleet.context, "m1"),
    events,
    interpretation,
    works: {
      get: () => known,
      whenSynced: () => Promise.resolve(true),
      subscribe: (add) => {
        tell = () => add(WORK);
        tell();
        return () => undefined;
      },
    },
  });
  void execution.run(stop.signal).catch(() => undefined);
  await fleet.settle();
  await hearOfIt();
});
afterEach(async () => {
  stop.abort();
  await fleet.close();
});

async function hearOfIt(): Promise<void> {
  known = await fleet.plane.get(works, WORK);
  tell();
  await fleet.advance("20s");
}

async function hasCopy(): Promise<boolean> {
  try {
    await fleet.member("m1").client.get(resources.configMaps, COPY);
    return true;
  } catch (error) {
    if (isRefused(error, "NotFound")) return false;
    throw error;
  }
}

async function removeCopy(): Promise<void> {
  await fleet.member("m1").client.delete(resources.configMaps, COPY);
  await fleet.advance("20s");
}

it("a copy that another writer removed is made again while its Work is there", async () => {
  expect(await hasCopy()).toBe(true);
  await removeCopy();
  expect(await hasCopy()).toBe(true);
});

it("a copy that others took away with its Work is not made again", async () => {
  await fleet.plane.delete(works, WORK);
  await removeCopy();
  expect(await hasCopy()).toBe(false);
});

it("it is not made again either when the Work is gone", async () => {
  const work = await fleet.plane.get(works, WORK);
  const { finalizers: _finalizers, ...metadata } = work.metadata;
  await fleet.plane.update(works, { ...work, metadata });
  await fleet.plane.delete(works, WORK);
  await removeCopy();
  expect(await hasCopy()).toBe(false);
});

it("a copy that is asked for again is made once that is heard of", async () => {
  const work = await fleet.plane.get(works, WORK);
  await fleet.plane.update(works, {
    ...work,
    spec: { workload: { manifests: [marked(configMap("settings", { a: "2" }))] } },
  });
  await removeCopy();
  expect(await hasCopy()).toBe(false);
  await hearOfIt();
  expect(await hasCopy()).toBe(true);
});

async function changeCopy(value: string): Promise<void> {
  const { client } = fleet.member("m1");
  const copy = await client.get(resources.configMaps, COPY);
  await client.update(resources.configMaps, { ...copy, data: { a: value } });
  await fleet.advance("20s");
}

async function valueOfCopy(): Promise<unknown> {
  const copy = await fleet.member("m1").client.get(resources.configMaps, COPY);
  return (copy["data"] as { readonly a?: string } | undefined)?.a;
}

it("a copy that another writer changed is put back while its Work is what it was", async () => {
  const before = await valueOfCopy();
  await changeCopy("drifted");
  expect(await valueOfCopy()).toBe(before);
});

it("a copy that others changed as its Work asks for now is not put back", async () => {
  const work = await fleet.plane.get(works, WORK);
  await fleet.plane.update(works, {
    ...work,
    spec: { workload: { manifests: [marked(configMap("settings", { a: "2" }))] } },
  });
  await changeCopy("2");
  expect(await valueOfCopy()).toBe("2");
  await hearOfIt();
  expect(await valueOfCopy()).toBe("2");
});

it("a Work that was made when its binding was gone already goes, and nothing is made of it", async () => {
  const orphan = workOf(marked(configMap("other")));
  const annotations = {
    [wellKnown.BINDING_NAMESPACE]: "default",
    [wellKnown.BINDING_NAME]: "other-configmap",
  };
  known = await fleet.plane.create(works, {
    ...orphan,
    metadata: { ...orphan.metadata, annotations },
  });
  const key = { namespace: ES, name: known.metadata.name };
  tell();
  await fleet.advance("20s");
  const left = await orNothing(fleet.plane.get(works, key));
  expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
  const copy = { namespace: "default", name: "other" };
  expect(
    await orNothing(fleet.member("m1").client.get(resources.configMaps, copy)),
  ).toBeUndefined();
});

it("the copy of a Work that was created again is not removed for the one that went", async () => {
  await fleet.plane.delete(works, WORK);
  const going = await fleet.plane.get(works, WORK);
  const { finalizers: _finalizers, ...metadata } = going.metadata;
  await fleet.plane.update(works, { ...going, metadata });
  const anew = await fleet.plane.create(works, workOf(SETTINGS));
  expect(anew.metadata.uid).not.toBe(going.metadata.uid);
  const { uid } = (await fleet.member("m1").client.get(resources.configMaps, COPY)).metadata;
  known = going;
  tell();
  await fleet.advance("20s");
  expect((await fleet.member("m1").client.get(resources.configMaps, COPY)).metadata.uid).toBe(uid);
});

it("a copy that was made of a Work whose status never reported it is not made again either", async () => {
  const { client } = fleet.member("m1");
  const copy = { namespace: "default", name: "other" };
  known = await fleet.plane.create(works, workOf(marked(configMap("other"))));
  // The Work is going, and no watch reports it: what was made cannot be reported.
  await fleet.plane.delete(works, { namespace: ES, name: known.metadata.name });
  tell();
  await fleet.settle();
  await client.delete(resources.configMaps, copy);
  await fleet.advance("20s");
  expect(await orNothing(client.get(resources.configMaps, copy))).toBeUndefined();
});
