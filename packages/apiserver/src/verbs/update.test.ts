/** What PUT and its subresources do, through the in-process client on a real server. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import {
  configMap,
  createWorld,
  deployment,
  newObject,
  refusalOf,
  resources,
} from "@lifeboat/testkit";

const { configMaps, deployments, leases, namespaces } = resources;
const STALE =
  "the object has been modified; please apply your changes to the latest version and try again";

function withSpec(object: AnyObject, spec: object): AnyObject {
  return { ...object, spec: { ...(object["spec"] as object), ...spec } };
}

test("an update takes a new version and leaves identity alone", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a", { x: "1" }));
  const updated = await client.update(configMaps, { ...created, data: { x: "2" } });
  expect(updated.metadata).toEqual({
    ...created.metadata,
    resourceVersion: updated.metadata.resourceVersion,
  });
  expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(
    Number(created.metadata.resourceVersion),
  );
  expect(updated["data"]).toEqual({ x: "2" });
});

test("a stale version is a conflict and changes nothing", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a", { x: "1" }));
  const second = await client.update(configMaps, { ...created, data: { x: "2" } });
  expect(await refusalOf(client.update(configMaps, { ...created, data: { x: "3" } }))).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `Operation cannot be fulfilled on configmaps "a": ${STALE}`,
    reason: "Conflict",
    details: { name: "a", kind: "configmaps" },
    code: 409,
  });
  expect(await client.get(configMaps, { namespace: "default", name: "a" })).toBe(second);
});

test("an update without a version wins on kinds that allow it", async () => {
  const { client } = await createWorld();
  await client.create(configMaps, configMap("a", { x: "1" }));
  const sent = configMap("a", { x: "9" }) as AnyObject;
  expect((await client.update(configMaps, sent))["data"]).toEqual({ x: "9" });
});

test("an update without a version is refused on kinds that do not allow it", async () => {
  const { client } = await createWorld();
  await client.create(leases, newObject(leases, { name: "l" }, { spec: {} }));
  const sent = newObject(leases, { name: "l" }, { spec: { holderIdentity: "x" } });
  expect(await refusalOf(client.update(leases, sent as AnyObject))).toMatchObject({
    code: 422,
    message:
      'leases.coordination.k8s.io "l" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    details: { name: "l", group: "coordination.k8s.io", kind: "leases" },
  });
});

test("another uid is a conflict", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a"));
  const uid = "00000000-0000-0000-0000-000000000000";
  const sent = { ...created, metadata: { ...created.metadata, uid } };
  expect(await refusalOf(client.update(configMaps, sent))).toMatchObject({
    code: 409,
    reason: "Conflict",
    message:
      'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, ' +
      "Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: " +
      `UID in precondition: ${uid}, UID in object meta: ${created.metadata.uid}`,
  });
});

test("a PUT that names the uid of an object which is gone makes no new one", async () => {
  const { client } = await createWorld();
  const created = await client.create(leases, newObject(leases, { name: "l" }, { spec: {} }));
  await client.delete(leases, { namespace: "default", name: "l" });
  const { uid } = created.metadata;
  expect(await refusalOf(client.update(leases, created))).toMatchObject({
    code: 409,
    reason: "Conflict",
    message: expect.stringContaining(
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
    ) as string,
  });
  expect((await client.list(leases, { namespace: "default" })).items).toEqual([]);
});

test("an absent object is not found, except on kinds that a PUT creates", async () => {
  const { client } = await createWorld();
  const absent = configMap("none") as AnyObject;
  expect(await refusalOf(client.update(configMaps, absent))).toMatchObject({
    code: 404,
    message: 'configmaps "none" not found',
  });
  const lease = newObject(leases, { name: "new" }, { spec: { holderIdentity: "x" } });
  const created = await client.update(leases, lease as AnyObject);
  expect(created).toMatchObject({ metadata: { name: "new" }, spec: { holderIdentity: "x" } });
});

test("a write that changes nothing takes no version and wakes no watcher", async () => {
  const world = await createWorld();
  const created = await world.client.create(deployments, deployment("d"));
  const seen: string[] = [];
  world.client.watch(
    deployments,
    { resourceVersion: created.metadata.resourceVersion },
    { event: (event) => seen.push(event.type), end: () => undefined },
  );
  await world.settle();
  expect(await world.client.update(deployments, created)).toBe(created);
  expect(await world.client.update(deployments, structuredClone(created))).toBe(created);
  const same = deployment("d") as AnyObject;
  expect(await world.client.update(deployments, same)).toBe(created);
  await world.settle();
  expect(seen).toEqual([]);
});

test("the status is left alone by an update, and the rest by an update of the status", async () => {
  const { client } = await createWorld();
  const created = await client.create(deployments, deployment("d"));
  const status = { replicas: 2, observedGeneration: 1 };
  const sent = { ...withSpec(created, { replicas: 9 }), status };
  const afterStatus = await client.update(
    deployments,
    { ...sent, metadata: { ...sent.metadata, labels: { other: "x" }, annotations: { a: "b" } } },
    { subresource: "status" },
  );
  expect(afterStatus["spec"]).toEqual(created["spec"]);
  expect(afterStatus["status"]).toEqual({ observedGeneration: 1, replicas: 2 });
  // As real servers have it: a Deployment's status write keeps labels and takes annotations.
  expect(afterStatus.metadata.labels).toEqual({ app: "d" });
  expect(afterStatus.metadata.annotations).toEqual({ a: "b" });
  expect(afterStatus.metadata.generation).toBe(1);

  const afterSpec = await client.update(deployments, {
    ...withSpec(afterStatus, { replicas: 3 }),
    status: { replicas: 100 },
  });
  expect(afterSpec["spec"]).toMatchObject({ replicas: 3 });
  expect(afterSpec["status"]).toEqual({ observedGeneration: 1, replicas: 2 });
  expect(afterSpec.metadata.generation).toBe(2);
});

test("the generation rises exactly when something but metadata and status changed", async () => {
  const change = fc.record({
    label: fc.constantFrom("a", "b"),
    replicas: fc.integer({ min: 0, max: 2 }),
    paused: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
      const { client } = await createWorld({ housekeeping: false });
      let current = await client.create(deployments, deployment("d"));
      for (const { label, replicas, paused } of changes) {
        const { paused: _, ...spec } = current["spec"] as Record<string, unknown>;
        const before = JSON.stringify(current["spec"]);
        const next = await client.update(deployments, {
          ...current,
          metadata: { ...current.metadata, labels: { app: "d", label } },
          spec: { ...spec, replicas, ...(paused && { paused }) },
        });
        const wanted = JSON.stringify(next["spec"]) === before ? 0 : 1;
        expect(next.metadata.generation).toBe((current.metadata.generation ?? 0) + wanted);
        current = next;
      }
    }),
    { numRuns: 25 },
  );
});

test("a change of annotations is a new generation of a Deployment, and of nothing else", async () => {
  const { client } = await createWorld();
  const created = await client.create(deployments, deployment("d"));
  const annotated = { ...created, metadata: { ...created.metadata, annotations: { a: "b" } } };
  expect((await client.update(deployments, annotated)).metadata.generation).toBe(2);
});

const unreadable = [
  {
    name: "a version that is no number",
    metadata: { name: "a", resourceVersion: "abc" },
    want: { code: 500, message: 'strconv.ParseUint: parsing "abc": invalid syntax' },
  },
  {
    name: "a version of the future",
    metadata: { name: "a", resourceVersion: "99999999" },
    want: { code: 409, reason: "Conflict" },
  },
];
for (const { name, metadata, want } of unreadable) {
  test(`update refuses ${name}`, async () => {
    const { client } = await createWorld();
    await client.create(configMaps, configMap("a"));
    const sent = newObject(configMaps, metadata) as AnyObject;
    expect(await refusalOf(client.update(configMaps, sent))).toMatchObject(want);
  });
}

test("immutable metadata cannot be changed", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a"));
  const sent = {
    ...created,
    metadata: { ...created.metadata, deletionTimestamp: "2001-01-01T00:00:00Z" },
  };
  expect(await refusalOf(client.update(configMaps, sent))).toMatchObject({
    code: 422,
    message:
      'ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
  });
});

test("times and generations that a client makes up are ignored", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a"));
  const metadata = {
    ...created.metadata,
    creationTimestamp: "2001-01-01T00:00:00Z",
    generation: 7,
  };
  expect(await client.update(configMaps, { ...created, metadata })).toBe(created);
});

test("a namespace keeps its finalizers until they are removed by finalize, which removes it", async () => {
  const { client } = await createWorld({ housekeeping: false });
  const created = await client.create(namespaces, newObject(namespaces, { name: "zz" }));
  expect(created).toMatchObject({
    metadata: { labels: { "kubernetes.io/metadata.name": "zz" } },
    spec: { finalizers: ["kubernetes"] },
    status: { phase: "Active" },
  });
  const plain = await client.update(namespaces, { ...created, spec: { finalizers: [] } });
  expect(plain["spec"]).toEqual({ finalizers: ["kubernetes"] });
  const deleting = await client.delete(namespaces, { namespace: "", name: "zz" });
  expect(deleting).toMatchObject({ status: { phase: "Terminating" } });
  const last = await client.update(
    namespaces,
    { ...(deleting as AnyObject), spec: { finalizers: [] } },
    { subresource: "finalize" },
  );
  expect(last["spec"]).toEqual({});
  expect(last.metadata.resourceVersion).toBe(deleting?.metadata.resourceVersion);
  const key = { namespace: "", name: "zz" };
  expect(await refusalOf(client.get(namespaces, key))).toMatchObject({ code: 404 });
});

test("a dry run of an update changes nothing", async () => {
  const { client } = await createWorld();
  const created = await client.create(configMaps, configMap("a", { x: "1" }));
  const dry = await client.update(configMaps, { ...created, data: { x: "2" } }, { dryRun: true });
  expect(dry["data"]).toEqual({ x: "2" });
  expect(dry.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
  expect(await client.get(configMaps, { namespace: "default", name: "a" })).toBe(created);
});
