/** What PATCH does, through the in-process client on a real server. The algorithms have tests of their own. */
import { expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import {
  configMap,
  createWorld,
  deployment,
  refusalOf,
  resources,
  type World,
} from "@lifeboat/testkit";
import type { Patch } from "@lifeboat/kit";

const { configMaps, deployments } = resources;
const key = { namespace: "default", name: "a" };

async function worldWithMap(): Promise<{ readonly world: World; readonly created: AnyObject }> {
  const world = await createWorld({ housekeeping: false });
  const created = await world.client.create(configMaps, configMap("a", { x: "1", y: "2" }));
  return { world, created };
}

const patches: readonly { readonly patch: Patch; readonly want: object }[] = [
  { patch: { type: "merge", body: { data: { x: null, z: "3" } } }, want: { y: "2", z: "3" } },
  { patch: { type: "strategic", body: { data: { x: null, z: "3" } } }, want: { y: "2", z: "3" } },
  {
    patch: {
      type: "json",
      body: [
        { op: "test", path: "/data/x", value: "1" },
        { op: "replace", path: "/data/x", value: "9" },
      ],
    },
    want: { x: "9", y: "2" },
  },
];
for (const { patch, want } of patches) {
  test(`a ${patch.type} patch changes the object and its version`, async () => {
    const { world, created } = await worldWithMap();
    const patched = await world.client.patch(configMaps, key, patch);
    expect(patched["data"]).toEqual(want);
    expect(patched.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
    expect(await world.client.get(configMaps, key)).toBe(patched);
  });
}

test("strategic merge knows lists by their keys", async () => {
  const { client } = await createWorld();
  await client.create(deployments, deployment("a"));
  const patched = await client.patch(deployments, key, {
    type: "strategic",
    body: { spec: { template: { spec: { containers: [{ name: "c", image: "nginx:2" }] } } } },
  });
  const template = (patched["spec"] as { template: { spec: { containers: object[] } } }).template;
  expect(template.spec.containers).toHaveLength(1);
  expect(template.spec.containers[0]).toMatchObject({
    name: "c",
    image: "nginx:2",
    imagePullPolicy: "IfNotPresent",
  });
  expect(patched.metadata.generation).toBe(2);
});

test("a patch that changes nothing takes no version", async () => {
  const { world, created } = await worldWithMap();
  for (const patch of [
    { type: "merge", body: { data: { x: "1" } } },
    { type: "json", body: [] },
    { type: "strategic", body: {} },
  ] as const)
    expect(await world.client.patch(configMaps, key, patch)).toBe(created);
});

test("patches of one moment are all applied", async () => {
  const { world } = await worldWithMap();
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      world.client.patch(configMaps, key, { type: "merge", body: { data: { [`k${i}`]: "v" } } }),
    ),
  );
  const after = await world.client.get(configMaps, key);
  expect(Object.keys(after["data"] as object)).toHaveLength(22);
});

const refusals: readonly { readonly name: string; readonly patch: Patch; readonly want: object }[] =
  [
    {
      name: "a version that is not the present one",
      patch: { type: "merge", body: { metadata: { resourceVersion: "1" }, data: { x: "7" } } },
      want: { code: 409, reason: "Conflict", details: { name: "a", kind: "configmaps" } },
    },
    {
      name: "another kind",
      patch: { type: "merge", body: { kind: "Secret" } },
      want: {
        code: 422,
        reason: "Invalid",
        message: expect.stringMatching(
          /^ "" is invalid: patch: .*: converting \(v1.Secret\) to \(core.ConfigMap\): unknown conversion$/,
        ) as string,
      },
    },
    {
      name: "another name",
      patch: { type: "merge", body: { metadata: { name: "x" } } },
      want: {
        code: 400,
        message: "the name of the object (x) does not match the name on the URL (a)",
      },
    },
    {
      name: "a JSON patch whose test fails",
      patch: { type: "json", body: [{ op: "test", path: "/data/x", value: "zzz" }] },
      want: {
        code: 422,
        reason: "Invalid",
        message: "the server rejected our request due to an error in our request",
        details: {},
      },
    },
    {
      name: "server-side apply, which is not there yet",
      patch: { type: "apply", body: { data: {} } },
      want: {
        code: 415,
        message:
          "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json",
      },
    },
    {
      name: "values of the wrong type",
      patch: { type: "merge", body: { data: { x: 5 } } },
      want: { code: 422, reason: "Invalid" },
    },
  ];
for (const { name, patch, want } of refusals) {
  test(`patch refuses ${name}`, async () => {
    const { world, created } = await worldWithMap();
    expect(await refusalOf(world.client.patch(configMaps, key, patch))).toMatchObject(want);
    expect(await world.client.get(configMaps, key)).toBe(created);
  });
}

const strategicErrors = [
  {
    body: { spec: { replicas: "many" } },
    want: '"map[spec:map[replicas:many]]": unrecognized type: int32',
  },
  {
    body: { spec: { foo: 1 } },
    want: '"map[spec:map[foo:1]]": strict decoding error: unknown field "spec.foo"',
  },
  {
    body: {
      spec: {
        template: {
          spec: {
            "$setElementOrder/containers": [{ name: "c" }],
            containers: [{ name: "c", bogus: true }],
          },
        },
      },
    },
    want: '"map[spec:map[template:map[spec:map[]]]]": strict decoding error: unknown field "spec.template.spec.containers[0].bogus"',
  },
];
for (const { body, want } of strategicErrors) {
  test(`a strategic patch ${JSON.stringify(body)} is refused as a real server does`, async () => {
    const { client } = await createWorld();
    await client.create(deployments, deployment("a"));
    const options = { fieldValidation: "Strict" } as const;
    const patched = client.patch(deployments, key, { type: "strategic", body }, options);
    expect(await refusalOf(patched)).toMatchObject({
      code: 422,
      message: ` "" is invalid: patch: Invalid value: ${want}`,
      details: { causes: [{ reason: "FieldValueInvalid", field: "patch" }] },
    });
  });
}

test("an absent object is not found, whatever the patch", async () => {
  const { world } = await worldWithMap();
  const absent = { namespace: "default", name: "nope" };
  const patched = world.client.patch(configMaps, absent, { type: "merge", body: { data: {} } });
  expect(await refusalOf(patched)).toMatchObject({
    code: 404,
    message: 'configmaps "nope" not found',
  });
});

test("a dry run of a patch changes nothing", async () => {
  const { world, created } = await worldWithMap();
  const body = { data: { x: "9" } };
  const dry = await world.client.patch(configMaps, key, { type: "merge", body }, { dryRun: true });
  expect(dry["data"]).toEqual({ x: "9", y: "2" });
  expect(await world.client.get(configMaps, key)).toBe(created);
});
