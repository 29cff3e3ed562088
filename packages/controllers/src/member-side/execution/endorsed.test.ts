/** Execution beside the member: a first copy needs an endorsement that the plane has at that moment (D26). */
import { type AnyObject, clusters, type New, orNothing, type Work, works } from "@lifeboat/api";
import { wellKnown } from "@lifeboat/core";
import { type Client, NotSent } from "@lifeboat/kit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFleet, type Fleet } from "../../../../../testkit/src/fleet.ts";
import { configMap, namespace, resources } from "../../../../../testkit/src/objects.ts";
import { wrapped } from "../../../../../testkit/src/wrapped-client.ts";
import { holdDeletions, markClusters } from "../../operating/restored/hold-deletions.ts";
import { createClusterExecution } from "./cluster-execution.ts";
import { ES, marked, nameOf, workOf } from "./execution.suite.ts";
import { readEndorsements } from "./still-wanted.ts";

const SETTINGS: New<AnyObject> = marked(configMap("settings"));
const WORK = { namespace: ES, name: nameOf(SETTINGS) };
const COPY = { namespace: "default", name: "settings" };
const BINDING = {
  [wellKnown.BINDING_NAMESPACE]: "default",
  [wellKnown.BINDING_NAME]: "settings-configmap",
};

let fleet: Fleet;
let stop: AbortController;
let known: Work | undefined;
let tell: () => void;
let isCut: boolean;
let gets: string[];

beforeEach(async () => {
  stop = new AbortController();
  [isCut, gets] = [false, []];
  // Not joined: no controller but this one works on it.
  fleet = await createFleet();
  await fleet.addMember("m1");
  await fleet.plane.create(resources.namespaces, namespace(ES));
});
afterEach(async () => {
  stop.abort();
  await fleet.close();
});

/** The plane as an agent reaches it; a cut loses every request. */
function link(plane: Client): Client {
  const cut = (): Promise<never> => Promise.reject(new NotSent("cut off"));
  return wrapped(plane, {
    get: (resource, key, options) => {
      gets.push(resource.plural);
      return isCut ? cut() : plane.get(resource, key, options);
    },
    update: (resource, object, options) =>
      isCut ? cut() : plane.update(resource, object, options),
    patch: (...given) => (isCut ? cut() : plane.patch(...given)),
    delete: (...given) => (isCut ? cut() : plane.delete(...given)),
  });
}

async function start(annotations: Readonly<Record<string, string>> = BINDING): Promise<void> {
  const made = workOf(SETTINGS);
  known = await fleet.plane.create(works, { ...made, metadata: { ...made.metadata, annotations } });
  const { events, interpretation } = fleet.context;
  const plane = link(fleet.context.plane);
  const execution = createClusterExecution(fleet.context, {
    cluster: "m1",
    plane,
    member: fleet.member("m1").client,
    word: readEndorsements(plane, "m1", () => undefined),
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
  await fleet.advance("20s");
}

async function write(annotations: Readonly<Record<string, string>>): Promise<Work> {
  const work = await fleet.plane.get(works, WORK);
  return fleet.plane.update(works, { ...work, metadata: { ...work.metadata, annotations } });
}

async function endorse(): Promise<void> {
  known = await write({ ...BINDING, [wellKnown.ENDORSED]: known?.metadata.uid ?? "" });
}

async function hear(): Promise<void> {
  tell();
  await fleet.advance("2m");
}

async function hasCopy(): Promise<boolean> {
  const { client } = fleet.member("m1");
  return (await orNothing(client.get(resources.configMaps, COPY))) !== undefined;
}

it("a Work becomes a copy once it is endorsed, and no binding is read", async () => {
  await start();
  expect(await hasCopy()).toBe(false);
  await endorse();
  await hear();
  expect(await hasCopy()).toBe(true);
  expect(new Set(gets)).toEqual(new Set(["works"]));
});

it("a Work without a binding needs no endorsement", async () => {
  await start({});
  expect(await hasCopy()).toBe(true);
});

it("an endorsement that was withdrawn makes no first copy, although the agent has not heard of that", async () => {
  await start();
  await endorse();
  await write(BINDING);
  await hear();
  expect(await hasCopy()).toBe(false);
});

it("a Work that goes, or is gone, makes no first copy, although the agent has not heard of that", async () => {
  await start();
  await endorse();
  await fleet.plane.delete(works, WORK);
  await hear();
  expect(await hasCopy()).toBe(false);
  const going = await fleet.plane.get(works, WORK);
  await fleet.plane.update(works, { ...going, metadata: { ...going.metadata, finalizers: [] } });
  await hear();
  expect(await hasCopy()).toBe(false);
});

it("a Work that was made again makes none with the endorsement of the earlier one", async () => {
  await start();
  await endorse();
  const annotations = known?.metadata.annotations ?? {};
  await fleet.plane.delete(works, WORK);
  const going = await fleet.plane.get(works, WORK);
  await fleet.plane.update(works, { ...going, metadata: { ...going.metadata, finalizers: [] } });
  const again = workOf(SETTINGS);
  known = await fleet.plane.create(works, {
    ...again,
    metadata: { ...again.metadata, annotations },
  });
  await hear();
  expect(await hasCopy()).toBe(false);
});

it("an agent that is cut off makes no first copy, and makes it when the plane is back", async () => {
  await start();
  await endorse();
  isCut = true;
  await hear();
  expect(await hasCopy()).toBe(false);
  isCut = false;
  await hear();
  expect(await hasCopy()).toBe(true);
});

it("what runs keeps running without the plane", async () => {
  await start();
  await endorse();
  await hear();
  isCut = true;
  await fleet.advance("5h");
  expect(await hasCopy()).toBe(true);
});

it("the copy of a Work that goes stays while its Cluster is marked after a restore", async () => {
  await start();
  await endorse();
  await hear();
  await fleet.plane.create(clusters, {
    apiVersion: "cluster.karmada.io/v1alpha1",
    kind: "Cluster",
    metadata: { name: "m1" },
    spec: { syncMode: "Pull" },
  });
  await holdDeletions(fleet, fleet.plane, "");
  await fleet.plane.delete(works, WORK);
  known = await fleet.plane.get(works, WORK);
  await hear();
  expect(await hasCopy()).toBe(true);
  const { items } = await fleet.plane.list(clusters);
  await markClusters(fleet.plane, items, false);
  await hear();
  expect(await hasCopy()).toBe(false);
});
