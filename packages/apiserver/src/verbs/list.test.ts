/** What GET of one object and of collections does, through the in-process client on a real server. */
import { expect, test } from "vitest";
import {
  configMap,
  createWorld,
  namespace,
  newObject,
  refusalOf,
  resources,
  type World,
} from "@lifeboat/testkit";

const { configMaps, namespaces, pods, secrets } = resources;

async function worldOf(names: readonly string[]): Promise<World> {
  const world = await createWorld({ housekeeping: false });
  await world.client.create(namespaces, namespace("other"));
  for (const name of names) {
    const [where = "default", what = ""] = name.includes("/") ? name.split("/") : ["default", name];
    await world.client.create(
      configMaps,
      configMap(what, {}, { namespace: where, labels: { n: what } }),
    );
  }
  return world;
}

const namesOf = (list: {
  readonly items: readonly { metadata: { name: string; namespace?: string } }[];
}) => list.items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

test("lists are in order of namespace and name, and carry the version they show", async () => {
  const { client } = await worldOf(["b", "other/a", "a"]);
  const list = await client.list(configMaps);
  expect(list).toMatchObject({ kind: "ConfigMapList", apiVersion: "v1" });
  expect(namesOf(list)).toEqual(["default/a", "default/b", "other/a"]);
  expect(namesOf(await client.list(configMaps, { namespace: "other" }))).toEqual(["other/a"]);
  for (const item of list.items)
    expect(Number(item.metadata.resourceVersion)).toBeLessThanOrEqual(
      Number(list.metadata.resourceVersion),
    );
});

const selections = [
  { labelSelector: "n=a", want: ["default/a", "other/a"] },
  { labelSelector: "n in (b,c)", want: ["default/b", "default/c"] },
  { fieldSelector: "metadata.name=a", want: ["default/a", "other/a"] },
  { fieldSelector: "metadata.name=a,metadata.namespace=other", want: ["other/a"] },
  { fieldSelector: "metadata.namespace=other", want: ["other/a"] },
  { fieldSelector: "metadata.name!=a", want: ["default/b", "default/c"] },
  { namespace: "default", fieldSelector: "metadata.name=a", want: ["default/a"] },
  { namespace: "default", fieldSelector: "metadata.name=zz", want: [] },
  { namespace: "default", fieldSelector: "metadata.name=a", labelSelector: "n!=a", want: [] },
];
for (const { want, ...selection } of selections) {
  test(`${JSON.stringify(selection)} selects ${want.join(" and ") || "nothing"}`, async () => {
    const { client } = await worldOf(["a", "b", "c", "other/a"]);
    expect(namesOf(await client.list(configMaps, selection))).toEqual(want);
  });
}

test("all pieces of a list show the version of the first", async () => {
  const { client } = await worldOf(["a", "b", "c", "d", "other/a"]);
  const first = await client.list(configMaps, { limit: 2 });
  expect(namesOf(first)).toEqual(["default/a", "default/b"]);
  expect(first.metadata.remainingItemCount).toBe(3);
  await client.create(configMaps, configMap("bb"));
  await client.delete(configMaps, { namespace: "default", name: "d" });
  const second = await client.list(configMaps, {
    limit: 2,
    continue: first.metadata.continue ?? "",
  });
  expect(namesOf(second)).toEqual(["default/c", "default/d"]);
  expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  expect(second.metadata.remainingItemCount).toBe(1);
  const third = await client.list(configMaps, {
    limit: 2,
    continue: second.metadata.continue ?? "",
  });
  expect(namesOf(third)).toEqual(["other/a"]);
  expect(third.metadata).not.toHaveProperty("continue");
});

test("pieces work in one namespace, at cluster scope and with selectors, which hide the count", async () => {
  const { client } = await worldOf(["a", "b", "c"]);
  const first = await client.list(configMaps, {
    namespace: "default",
    limit: 1,
    labelSelector: "n!=b",
  });
  expect(namesOf(first)).toEqual(["default/a"]);
  expect(first.metadata).not.toHaveProperty("remainingItemCount");
  const rest = await client.list(configMaps, {
    namespace: "default",
    labelSelector: "n!=b",
    continue: first.metadata.continue ?? "",
  });
  expect(namesOf(rest)).toEqual(["default/c"]);
  const page = await client.list(namespaces, { limit: 1 });
  const after = await client.list(namespaces, { limit: 1, continue: page.metadata.continue ?? "" });
  expect([...page.items, ...after.items].map((item) => item.metadata.name)).toEqual([
    "default",
    "kube-node-lease",
  ]);
});

test("a token whose version is forgotten answers 410 with one that goes on with the present", async () => {
  const world = await createWorld({ housekeeping: false, historyMaxEvents: 3 });
  const { client } = world;
  for (const name of ["a", "b", "c"]) await client.create(configMaps, configMap(name));
  const first = await client.list(configMaps, { limit: 1 });
  for (let i = 0; i < 10; i++) await client.create(configMaps, configMap(`x${i}`));
  const status = await refusalOf(
    client.list(configMaps, { limit: 1, continue: first.metadata.continue ?? "" }),
  );
  expect(status).toMatchObject({ code: 410, reason: "Expired" });
  expect(status.message).toMatch(/^The provided continue parameter is too old to display/);
  const rest = await client.list(configMaps, {
    limit: 2,
    continue: status.metadata.continue ?? "",
  });
  expect(namesOf(rest)).toEqual(["default/b", "default/c"]);
});

test("version 0 is answered whole, whatever the limit", async () => {
  const { client } = await worldOf(["a", "b", "c"]);
  const list = await client.list(configMaps, { resourceVersion: "0", limit: 1 });
  expect(namesOf(list)).toHaveLength(3);
  expect(list.metadata).not.toHaveProperty("continue");
});

test("an exact version shows the past", async () => {
  const { client } = await worldOf(["a", "b"]);
  const before = await client.list(configMaps);
  await client.delete(configMaps, { namespace: "default", name: "a" });
  const past = await client.list(configMaps, {
    resourceVersion: before.metadata.resourceVersion,
    resourceVersionMatch: "Exact",
  });
  expect(past).toEqual(before);
});

test("a version of the future is waited for, then refused", async () => {
  const world = await worldOf(["a"]);
  const current = (await world.client.list(configMaps)).metadata.resourceVersion;
  const listed = refusalOf(
    world.client.list(configMaps, {
      resourceVersion: "99999999",
      resourceVersionMatch: "NotOlderThan",
    }),
  );
  const got = refusalOf(
    world.client.get(
      configMaps,
      { namespace: "default", name: "a" },
      { resourceVersion: "99999999" },
    ),
  );
  await world.advance("4s");
  for (const status of [await listed, await got])
    expect(status).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `Timeout: Too large resource version: 99999999, current: ${current}`,
      reason: "Timeout",
      details: {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      },
      code: 504,
    });
});

test("a read of a version still to come is answered as soon as it comes", async () => {
  const world = await worldOf(["a"]);
  const now = Number((await world.client.list(configMaps)).metadata.resourceVersion);
  const resourceVersion = String(now + 2);
  let answer: string | undefined;
  void world.client
    .list(configMaps, { resourceVersion, resourceVersionMatch: "NotOlderThan" })
    .then((list) => (answer = list.metadata.resourceVersion));
  await world.client.create(configMaps, configMap("b", {}));
  await world.settle();
  expect(answer).toBeUndefined();
  await world.client.create(configMaps, configMap("c", {}));
  await world.settle();
  expect(answer).toBe(resourceVersion);
});

test("whoever gives up waiting for a version is answered at once", async () => {
  const world = await worldOf([]);
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const refused = refusalOf(
    world.client.get(
      configMaps,
      { namespace: "default", name: "a" },
      { resourceVersion: "99999999", signal },
    ),
  );
  await world.settle();
  giveUp.abort();
  await world.settle();
  expect(await refused).toMatchObject({ code: 504 });
});

const refusals = [
  {
    name: "a match without a version",
    options: { resourceVersionMatch: "Exact" },
    want: {
      code: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      details: { group: "meta.k8s.io", kind: "ListOptions" },
    },
  },
  {
    name: "an exact version 0",
    options: { resourceVersionMatch: "Exact", resourceVersion: "0" },
    want: {
      code: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    },
  },
  {
    name: "a version that is no number",
    options: { resourceVersion: "abc" },
    want: {
      code: 400,
      message:
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    },
  },
  {
    name: "a version beside a token",
    options: {
      resourceVersion: "5",
      continue: "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTI4Miwic3RhcnQiOiIvZGVmYXVsdC9jMVx1MDAwMCJ9",
    },
    want: { code: 400, message: "specifying resource version is not allowed when using continue" },
  },
  {
    name: "a token that nobody gave out",
    options: { continue: "zzz", limit: 1 },
    want: { code: 400, reason: "BadRequest" },
  },
  {
    name: "a field that cannot be selected by",
    options: { fieldSelector: "foo=bar" },
    want: {
      code: 400,
      message: '"foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
    },
  },
] as const;
for (const { name, options, want } of refusals) {
  test(`list refuses ${name}`, async () => {
    const { client } = await worldOf([]);
    expect(await refusalOf(client.list(configMaps, options))).toMatchObject(want);
  });
}

test("a state that history does not reach is gone", async () => {
  const world = await createWorld({ housekeeping: false, historyMaxEvents: 2 });
  for (const name of ["a", "b", "c", "d"]) await world.client.create(configMaps, configMap(name));
  const status = await refusalOf(
    world.client.list(configMaps, { resourceVersion: "1", resourceVersionMatch: "Exact" }),
  );
  expect(status).toMatchObject({
    code: 410,
    reason: "Expired",
    message: "The resourceVersion for the provided list is too old.",
  });
});

test("kinds can be selected by more fields, and say so when they cannot", async () => {
  const { client } = await worldOf([]);
  const spec = { containers: [{ name: "c", image: "i" }] };
  await client.create(pods, newObject(pods, { name: "p1" }, { spec: { ...spec, nodeName: "n1" } }));
  await client.create(pods, newObject(pods, { name: "p2" }, { spec }));
  expect(namesOf(await client.list(pods, { fieldSelector: "spec.nodeName=n1" }))).toEqual([
    "default/p1",
  ]);
  await client.create(secrets, newObject(secrets, { name: "s" }, { type: "Opaque" }));
  expect(namesOf(await client.list(secrets, { fieldSelector: "type=Opaque" }))).toEqual([
    "default/s",
  ]);
  expect(await refusalOf(client.list(pods, { fieldSelector: "spec.x=1" }))).toMatchObject({
    code: 400,
    message: "field label not supported: spec.x",
  });
});

test("a user without rights may not list, in one namespace or in all", async () => {
  const world = await worldOf([]);
  const bob = world.as({ name: "bob", groups: ["system:authenticated"] });
  expect(await refusalOf(bob.list(configMaps, { namespace: "default" }))).toMatchObject({
    code: 403,
    message:
      'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "default"',
    details: { kind: "configmaps" },
  });
  expect(await refusalOf(bob.list(namespaces))).toMatchObject({
    message:
      'namespaces is forbidden: User "bob" cannot list resource "namespaces" in API group "" at the cluster scope',
  });
});
