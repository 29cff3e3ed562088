/** What DELETE does to objects, finalizers and collections, through the in-process client on a real server. */
import { expect, test } from "vitest";
import type { AnyObject, WatchEvent } from "@lifeboat/api";
import {
  configMap,
  createWorld,
  deployment,
  newObject,
  refusalOf,
  resources,
} from "@lifeboat/testkit";

const { configMaps, deployments, namespaces, pods } = resources;
const key = (name: string) => ({ namespace: "default", name });

function pod(name: string, spec: object = {}) {
  return newObject(pods, { name }, { spec: { containers: [{ name: "c", image: "i" }], ...spec } });
}

test("an object that nothing keeps is gone at once", async () => {
  const { client } = await createWorld();
  await client.create(configMaps, configMap("a"));
  expect(await client.delete(configMaps, key("a"))).toBeUndefined();
  expect(await refusalOf(client.delete(configMaps, key("a")))).toMatchObject({
    code: 404,
    message: 'configmaps "a" not found',
  });
});

test("finalizers keep an object until the last is removed, which removes it in the same request", async () => {
  const world = await createWorld({ housekeeping: false });
  const { client } = world;
  const created = await client.create(
    configMaps,
    configMap("fin", {}, { finalizers: ["e.com/x"] }),
  );
  const seen: WatchEvent[] = [];
  client.watch(
    configMaps,
    { resourceVersion: created.metadata.resourceVersion },
    { event: (event) => seen.push(event), end: () => undefined },
  );
  await world.advance("5s");
  const deleting = await client.delete(configMaps, key("fin"));
  expect(deleting?.metadata).toEqual({
    ...created.metadata,
    resourceVersion: deleting?.metadata.resourceVersion,
    deletionTimestamp: "2026-01-01T00:00:05Z",
    deletionGracePeriodSeconds: 0,
  });
  expect(await client.delete(configMaps, key("fin"))).toBe(deleting);

  const more = ["e.com/x", "e.com/y"];
  const adding = client.patch(configMaps, key("fin"), {
    type: "merge",
    body: { metadata: { finalizers: more } },
  });
  expect(await refusalOf(adding)).toMatchObject({
    code: 422,
    message:
      'ConfigMap "fin" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"e.com/y"}',
  });

  const last = await client.patch(configMaps, key("fin"), {
    type: "merge",
    body: { metadata: { finalizers: null } },
  });
  expect(last.metadata.resourceVersion).toBe(deleting?.metadata.resourceVersion);
  expect(last.metadata).not.toHaveProperty("finalizers");
  expect(await refusalOf(client.get(configMaps, key("fin")))).toMatchObject({ code: 404 });
  await world.settle();
  expect(seen.map((event) => event.type)).toEqual(["MODIFIED", "DELETED"]);
  const gone = seen[1] as { readonly object: AnyObject };
  expect(Number(gone.object.metadata.resourceVersion)).toBeGreaterThan(
    Number(deleting?.metadata.resourceVersion),
  );
});

test("marking for deletion counts as a new generation", async () => {
  const { client } = await createWorld({ housekeeping: false });
  await client.create(deployments, deployment("d", {}, { finalizers: ["e.com/x"] }));
  const deleting = await client.delete(deployments, key("d"));
  expect(deleting?.metadata.generation).toBe(2);
});

const policies = [
  { propagationPolicy: "Foreground", want: ["foregroundDeletion"] },
  { propagationPolicy: "Orphan", want: ["orphan"] },
] as const;
for (const { propagationPolicy, want } of policies) {
  test(`the policy ${propagationPolicy} leaves its finalizer for the garbage collector`, async () => {
    const { client } = await createWorld({ housekeeping: false });
    await client.create(configMaps, configMap("a"));
    const deleting = await client.delete(configMaps, key("a"), { propagationPolicy });
    expect(deleting?.metadata.finalizers).toEqual(want);
    expect(deleting?.metadata.deletionGracePeriodSeconds).toBe(0);
    const background = await client.delete(configMaps, key("a"), {
      propagationPolicy: "Background",
    });
    expect(background).toBeUndefined();
  });
}

test("an unknown policy is refused", async () => {
  const { client } = await createWorld();
  await client.create(configMaps, configMap("a"));
  const options = { propagationPolicy: "X" } as unknown as { propagationPolicy: "Orphan" };
  const message =
    'Unsupported value: "X": supported values: "Foreground", "Background", "Orphan", "nil"';
  expect(await refusalOf(client.delete(configMaps, key("a"), options))).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: ${message}`,
    reason: "Invalid",
    details: {
      group: "meta.k8s.io",
      kind: "DeleteOptions",
      causes: [{ reason: "FieldValueNotSupported", message, field: "propagationPolicy" }],
    },
    code: 422,
  });
});

test("preconditions that do not hold are conflicts about the kind", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a"));
  const { uid, resourceVersion } = created.metadata;
  const byUid = client.delete(configMaps, key("a"), { preconditions: { uid: "other" } });
  expect(await refusalOf(byUid)).toMatchObject({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    details: { name: "a", kind: "ConfigMap" },
  });
  const byVersion = client.delete(configMaps, key("a"), {
    preconditions: { resourceVersion: "3" },
  });
  expect(await refusalOf(byVersion)).toMatchObject({
    message: `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (3) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
  });
  const preconditions = { uid, resourceVersion };
  expect(await client.delete(configMaps, key("a"), { preconditions })).toBeUndefined();
});

test("a pod without a node goes at once, one on a node has its grace", async () => {
  const { client } = await createWorld({ housekeeping: false });
  await client.create(pods, pod("free"));
  expect(await client.delete(pods, key("free"))).toBeUndefined();
  await client.create(pods, pod("bound", { nodeName: "n1" }));
  const graceful = await client.delete(pods, key("bound"));
  expect(graceful?.metadata).toMatchObject({
    deletionTimestamp: "2026-01-01T00:00:30Z",
    deletionGracePeriodSeconds: 30,
  });
  const sooner = await client.delete(pods, key("bound"), { gracePeriodSeconds: 10 });
  expect(sooner?.metadata).toMatchObject({
    deletionTimestamp: "2026-01-01T00:00:10Z",
    deletionGracePeriodSeconds: 10,
  });
  expect(await client.delete(pods, key("bound"), { gracePeriodSeconds: 0 })).toBeUndefined();
});

for (const name of ["default", "kube-system", "kube-public"]) {
  test(`the namespace ${name} cannot be deleted`, async () => {
    const { client } = await createWorld();
    expect(await refusalOf(client.delete(namespaces, { namespace: "", name }))).toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    });
  });
}

test("a collection is deleted by selector and answers what it deleted", async () => {
  const { client } = await createWorld();
  for (const [name, group] of [
    ["a", "1"],
    ["b", "1"],
    ["c", "2"],
  ] as const)
    await client.create(configMaps, configMap(name, {}, { labels: { g: group } }));
  const deleted = await client.deleteCollection(configMaps, {
    namespace: "default",
    labelSelector: "g=1",
  });
  expect(deleted.items.map((item) => item.metadata.name)).toEqual(["a", "b"]);
  const left = await client.list(configMaps, { namespace: "default" });
  expect(left.items.map((item) => item.metadata.name)).toEqual(["c"]);
  const none = await client.deleteCollection(configMaps, {
    namespace: "default",
    labelSelector: "zz",
  });
  expect(none.items).toEqual([]);
});

test("a dry run deletes nothing", async () => {
  const { client } = await createWorld();
  await client.create(configMaps, configMap("a"));
  expect(await client.delete(configMaps, key("a"), { dryRun: true })).toBeUndefined();
  expect((await client.get(configMaps, key("a"))).metadata.name).toBe("a");
});
