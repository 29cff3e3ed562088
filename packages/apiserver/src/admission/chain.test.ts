import { expect, test } from "vitest";
import { type AnyObject, forbiddenBecause } from "@lifeboat/api";
import type { AdmissionPlugin } from "@lifeboat/apiserver";
import { configMap, createWorld, refusalOf, resources } from "@lifeboat/testkit";
import { createAdmissionChain } from "./chain.ts";

const { configMaps } = resources;
const key = { namespace: "default", name: "a" };

/** Adds its name to a label; waits for a turn of the event loop when `waits`. */
function labeller(name: string, waits: boolean): AdmissionPlugin {
  const label = (object: AnyObject): AnyObject => {
    const labels = {
      ...object.metadata.labels,
      seen: `${object.metadata.labels?.["seen"] ?? ""}${name}`,
    };
    return { ...object, metadata: { ...object.metadata, labels } };
  };
  return {
    name,
    handles: ({ operation, resource }) =>
      operation === "CREATE" && resource.plural === "configmaps",
    mutate: ({ object }) => {
      const labelled = label(object as AnyObject);
      return waits ? Promise.resolve(labelled) : labelled;
    },
  };
}

for (const waits of [false, true]) {
  test(`mutators run in order${waits ? ", also when they wait" : ""}`, async () => {
    const admissionPlugins = [labeller("x", waits), labeller("y", false), labeller("z", waits)];
    const { client } = await createWorld({ admissionPlugins });
    const created = await client.create(configMaps, configMap("a"));
    expect(created.metadata.labels).toEqual({ seen: "xyz" });
  });
}

test("a chain without waiting plugins answers at once", () => {
  const chain = createAdmissionChain([labeller("x", false)]);
  const request = { operation: "CREATE", resource: { plural: "configmaps" } } as never;
  expect(chain.validate(request)).toBeUndefined();
});

test("a validator refuses create, update and delete alike", async () => {
  const guard: AdmissionPlugin = {
    name: "guard",
    handles: ({ resource }) => resource.plural === "configmaps",
    validate: async (request) => {
      if ((request.object ?? request.old)?.metadata.labels?.["protected"] === "yes")
        throw forbiddenBecause(
          request.resource,
          request.name,
          `${request.operation} is not for you`,
        );
    },
  };
  const { client } = await createWorld({ admissionPlugins: [guard] });
  const labels = { protected: "yes" };
  const creating = client.create(configMaps, configMap("a", {}, { labels }));
  expect(await refusalOf(creating)).toMatchObject({
    code: 403,
    message: 'configmaps "a" is forbidden: CREATE is not for you',
  });
  await client.create(configMaps, configMap("a"));
  const protecting = client.patch(configMaps, key, {
    type: "merge",
    body: { metadata: { labels } },
  });
  expect(await refusalOf(protecting)).toMatchObject({
    message: expect.stringContaining("UPDATE") as string,
  });
  expect(await client.delete(configMaps, key)).toBeUndefined();
});

/** Waits a little with every write, so that others come between. */
const slow: AdmissionPlugin = {
  name: "slow",
  handles: ({ resource }) => resource.plural === "configmaps",
  validate: async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  },
};

test("patches that wait in admission look again when somebody was faster, and none is lost", async () => {
  const { client } = await createWorld({ admissionPlugins: [slow] });
  await client.create(configMaps, configMap("a"));
  await Promise.all(
    Array.from({ length: 15 }, (_, i) =>
      client.patch(configMaps, key, { type: "merge", body: { data: { [`k${i}`]: "v" } } }),
    ),
  );
  const after = await client.get(configMaps, key);
  expect(Object.keys(after["data"] as object)).toHaveLength(15);
});

test("updates with a version that wait in admission conflict when somebody was faster", async () => {
  const { client } = await createWorld({ admissionPlugins: [slow] });
  const created = await client.create(configMaps, configMap("a"));
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) =>
      client.update(configMaps, { ...created, data: { x: `${i}` } }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("creates of one name that wait in admission succeed once", async () => {
  const { client } = await createWorld({ admissionPlugins: [slow] });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 5 }, () => client.create(configMaps, configMap("a"))),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});
