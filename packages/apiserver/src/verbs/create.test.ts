/** What POST does, through the in-process client on a real server. */
import { expect, test } from "vitest";
import type { AnyObject, New } from "@lifeboat/api";
import {
  configMap,
  createWorld,
  deployment,
  newObject,
  refusalOf,
  resources,
  type World,
} from "@lifeboat/testkit";

const { configMaps, deployments, namespaces, pods, leases, events, eventsV1 } = resources;

test("a new object gets identity, time and version, and no managed fields", async () => {
  const world = await createWorld();
  const created = await world.client.create(configMaps, configMap("a", { x: "1" }));
  expect(created).toEqual({
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: {
      name: "a",
      namespace: "default",
      uid: expect.stringMatching(/^[0-9a-f]{8}-/) as string,
      resourceVersion: expect.stringMatching(/^[1-9]\d*$/) as string,
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    data: { x: "1" },
  });
});

test("system fields that a client sends are ignored", async () => {
  const world = await createWorld();
  const metadata = {
    name: "sys",
    uid: "x",
    creationTimestamp: "2000-01-01T00:00:00Z",
    deletionTimestamp: "2000-01-01T00:00:00Z",
    selfLink: "/x",
    managedFields: [{ manager: "m" }],
  };
  const created = await world.client.create(configMaps, newObject(configMaps, metadata));
  expect(created.metadata.uid).not.toBe("x");
  expect(created.metadata.creationTimestamp).toBe("2026-01-01T00:00:00Z");
  expect(created.metadata).not.toHaveProperty("deletionTimestamp");
  expect(created.metadata).not.toHaveProperty("selfLink");
  expect(created.metadata).not.toHaveProperty("managedFields");
});

test("kinds that count generations begin with 1, others have none", async () => {
  const world = await createWorld();
  const counted = await world.client.create(deployments, deployment("d"));
  const plain = await world.client.create(configMaps, configMap("c"));
  expect(counted.metadata.generation).toBe(1);
  expect(plain.metadata).not.toHaveProperty("generation");
});

test("generateName gets five letters and survives collisions", async () => {
  const world = await createWorld();
  const names = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const made = await world.client.create(
      configMaps,
      newObject(configMaps, { generateName: "g-" }),
    );
    expect(made.metadata.name).toMatch(/^g-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    names.add(made.metadata.name);
  }
  expect(names.size).toBe(50);
});

test("a long generateName leaves room for its suffix", async () => {
  const world = await createWorld();
  const generateName = "x".repeat(63);
  const made = await world.client.create(configMaps, newObject(configMaps, { generateName }));
  expect(made.metadata.name).toHaveLength(63);
});

test("a status sent on create is dropped where status is a resource of its own", async () => {
  const world = await createWorld();
  const sent = { ...deployment("d"), status: { replicas: 7 } };
  const created = await world.client.create(deployments, sent);
  expect(created["status"]).toEqual({});
});

test("a dry run answers the object and stores nothing", async () => {
  const world = await createWorld();
  const made = await world.client.create(configMaps, configMap("dry"), { dryRun: true });
  expect(made.metadata.name).toBe("dry");
  expect(made.metadata).not.toHaveProperty("resourceVersion");
  const key = { namespace: "default", name: "dry" };
  expect(await refusalOf(world.client.get(configMaps, key))).toMatchObject({ code: 404 });
});

test("an event is one object in two groups", async () => {
  const world = await createWorld();
  const event = newObject(
    events,
    { name: "e" },
    {
      involvedObject: { kind: "Pod", namespace: "default", name: "p" },
      message: "m",
      reason: "R",
      type: "Normal",
    },
  );
  const created = await world.client.create(events, event);
  const other = await world.client.get(eventsV1, { namespace: "default", name: "e" });
  expect(other).toMatchObject({
    apiVersion: "events.k8s.io/v1",
    metadata: created.metadata,
    regarding: { kind: "Pod", namespace: "default", name: "p" },
    note: "m",
  });
  expect(other).not.toHaveProperty("message");
});

interface Refusal {
  readonly name: string;
  readonly call: (world: World) => Promise<unknown>;
  readonly want: object;
}

const bad = (metadata: object, fields: Readonly<Record<string, unknown>> = {}): New<AnyObject> =>
  newObject(configMaps, metadata, fields);

/** Nothing but the limit on all objects speaks against it. */
function huge(): New<AnyObject> {
  const containers = [{ name: "c", image: "i", args: ["y".repeat(1_600_000)] }];
  const template = { metadata: { labels: { app: "big" } }, spec: { containers } };
  return deployment("big", { template });
}

const refusals: readonly Refusal[] = [
  {
    name: "an object that exists",
    call: async ({ client }) => {
      await client.create(configMaps, configMap("a"));
      await client.create(configMaps, configMap("a"));
    },
    want: {
      code: 409,
      reason: "AlreadyExists",
      message: 'configmaps "a" already exists',
      details: { name: "a", kind: "configmaps" },
    },
  },
  {
    name: "a namespace that does not exist",
    call: ({ client }) => client.create(configMaps, configMap("a", {}, { namespace: "nons" })),
    want: {
      code: 404,
      reason: "NotFound",
      message: 'namespaces "nons" not found',
      details: { name: "nons", kind: "namespaces" },
    },
  },
  {
    name: "a resourceVersion on a new object",
    call: ({ client }) => client.create(configMaps, bad({ name: "rv", resourceVersion: "5" })),
    want: { code: 500, message: "resourceVersion should not be set on objects to be created" },
  },
  {
    name: "no name at all",
    call: ({ client }) => client.create(configMaps, bad({})),
    want: {
      code: 422,
      reason: "Invalid",
      message:
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      details: {
        kind: "ConfigMap",
        causes: [
          {
            reason: "FieldValueRequired",
            message: "Required value: name or generateName is required",
            field: "metadata.name",
          },
        ],
      },
    },
  },
  {
    name: "an unknown field under strict validation",
    call: ({ client }) =>
      client.create(configMaps, bad({ name: "s1" }, { foo: 1 }), { fieldValidation: "Strict" }),
    want: {
      code: 400,
      reason: "BadRequest",
      message:
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo"',
    },
  },
  {
    name: "another kind",
    call: ({ client }) =>
      client.create(configMaps, {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "x", namespace: "default" },
      }),
    want: {
      code: 400,
      reason: "BadRequest",
      message:
        'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    },
  },
  {
    name: "a MicroTime without six digits",
    call: ({ client }) =>
      client.create(
        leases,
        newObject(leases, { name: "l" }, { spec: { renewTime: "2026-01-01T00:00:00Z" } }),
      ),
    want: {
      code: 400,
      reason: "BadRequest",
      message:
        'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    },
  },
  {
    name: "no namespace for a namespaced kind",
    call: ({ client }) =>
      client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" } }),
    want: { code: 405, reason: "MethodNotAllowed" },
  },
  {
    name: "an object beyond the size limit",
    call: ({ client }) => client.create(deployments, huge()),
    want: { code: 413, reason: "RequestEntityTooLarge" },
  },
  {
    name: "a user without rights",
    call: (world) =>
      world
        .as({ name: "bob", groups: ["system:authenticated"] })
        .create(configMaps, configMap("a")),
    want: {
      code: 403,
      reason: "Forbidden",
      message:
        'configmaps is forbidden: User "bob" cannot create resource "configmaps" in API group "" in the namespace "default"',
      details: { kind: "configmaps" },
    },
  },
];

for (const { name, call, want } of refusals) {
  test(`create refuses ${name}`, async () => {
    const world = await createWorld();
    const status = await refusalOf(call(world));
    expect(status).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", ...want });
  });
}

test("creating in a namespace that is going away is refused with its cause", async () => {
  const world = await createWorld({ housekeeping: false });
  await world.client.create(namespaces, newObject(namespaces, { name: "zz" }));
  const terminating = await world.client.delete(namespaces, { namespace: "", name: "zz" });
  expect(terminating).toMatchObject({
    status: { phase: "Terminating" },
    spec: { finalizers: ["kubernetes"] },
  });
  expect(terminating?.metadata).not.toHaveProperty("deletionGracePeriodSeconds");
  const status = await refusalOf(
    world.client.create(configMaps, configMap("a", {}, { namespace: "zz" })),
  );
  expect(status).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message:
      'configmaps "a" is forbidden: unable to create new content in namespace zz because it is being terminated',
    reason: "Forbidden",
    details: {
      name: "a",
      kind: "configmaps",
      causes: [
        {
          reason: "NamespaceTerminating",
          message: "namespace zz is being terminated",
          field: "metadata.namespace",
        },
      ],
    },
    code: 403,
  });
});

test("writes of one moment are decided one after another", async () => {
  const world = await createWorld();
  const calls = Array.from({ length: 10 }, () =>
    world.client.create(configMaps, configMap("same")),
  );
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const list = await world.client.list(pods);
  expect(list.items).toEqual([]);
});
