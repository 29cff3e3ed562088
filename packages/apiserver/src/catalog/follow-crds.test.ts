/** Custom resources from their CRD to their end, on a real server without housekeeping: the test establishes CRDs itself. */
import { expect, test } from "vitest";
import type { AnyObject } from "@lifeboat/api";
import {
  createWorld,
  newObject,
  refusalOf,
  resources,
  widgetCrd,
  type World,
} from "@lifeboat/testkit";

const { crds, widgets } = resources;
const key = (name: string) => ({ namespace: "default", name });

async function establish(world: World): Promise<void> {
  const crd = await world.client.create(crds, widgetCrd());
  const names = (crd["spec"] as { names: object }).names;
  const status = {
    ...(crd["status"] as object),
    acceptedNames: names,
    conditions: [
      { type: "Established", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ],
  };
  await world.client.update(crds, { ...crd, status }, { subresource: "status" });
}

const widget = (name: string, spec?: object) =>
  newObject(widgets, { name }, spec === undefined ? {} : { spec });

test("a kind is served from the moment its CRD is established", async () => {
  const world = await createWorld({ housekeeping: false });
  const before = world.server.catalog.revision;
  const created = await world.client.create(crds, widgetCrd());
  expect(created).toMatchObject({
    metadata: { generation: 1 },
    spec: {
      names: { singular: "widget", listKind: "WidgetList" },
      conversion: { strategy: "None" },
    },
    status: { storedVersions: ["v1"] },
  });
  expect(await refusalOf(world.client.list(widgets))).toMatchObject({
    code: 404,
    message: "the server could not find the requested resource",
  });
  await world.client.delete(crds, { namespace: "", name: "widgets.ex.io" });
  expect(world.server.catalog.revision).toBe(before);
});

test("an update that shares fields with the stored object is stored as one that was sent whole", async () => {
  const world = await createWorld({ housekeeping: false });
  await establish(world);
  const created = await world.client.create(widgets, widget("w", { color: "green" }));
  const status = { replicas: 2, unknown: 1, selector: undefined };
  const reported = await world.client.update(widgets, { ...created, status } as AnyObject, {
    subresource: "status",
  });
  expect(reported["status"]).toEqual({ replicas: 2 });
  expect(reported["spec"]).toBe(created["spec"]);
  const updated = await world.client.update(widgets, {
    ...reported,
    spec: { unknown: 1, port: undefined },
  } as AnyObject);
  expect(updated["spec"]).toEqual({ color: "red", replicas: 1 });
  expect(updated["status"]).toBe(reported["status"]);
  expect(await world.client.get(widgets, key("w"))).toBe(updated);
});

test("custom resources are defaulted, pruned, validated and kept over a restart", async () => {
  const world = await createWorld({ housekeeping: false });
  await establish(world);
  const created = await world.client.create(widgets, widget("w", { color: "green", unknown: 1 }));
  expect(created).toMatchObject({
    metadata: { generation: 1 },
    spec: { color: "green", replicas: 1 },
  });
  expect(created["spec"]).not.toHaveProperty("unknown");
  expect(
    await refusalOf(world.client.create(widgets, widget("x", { color: "blue" }))),
  ).toMatchObject({
    code: 422,
    reason: "Invalid",
    details: { group: "ex.io", kind: "Widget", name: "x" },
  });
  await world.restart();
  expect(await world.client.get(widgets, key("w"))).toEqual(created);
});

test("status and scale of a custom resource are resources of their own", async () => {
  const world = await createWorld({ housekeeping: false });
  await establish(world);
  const created = await world.client.create(widgets, widget("w", {}));
  const withStatus = await world.client.patch(
    widgets,
    key("w"),
    {
      type: "merge",
      body: {
        spec: { replicas: 7 },
        metadata: { labels: { x: "y" } },
        status: { replicas: 2, selector: "a=b" },
      },
    },
    { subresource: "status" },
  );
  expect(withStatus["spec"]).toEqual(created["spec"]);
  expect(withStatus.metadata).not.toHaveProperty("labels");
  expect(withStatus.metadata.generation).toBe(1);
  const scaled = await world.client.patch(
    widgets,
    key("w"),
    { type: "merge", body: { spec: { replicas: 5 } } },
    { subresource: "scale" },
  );
  expect(scaled).toMatchObject({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    spec: { replicas: 5 },
    status: { replicas: 2, selector: "a=b" },
  });
  expect((await world.client.get(widgets, key("w"))).metadata.generation).toBe(2);
});

test("an update without a version and a strategic patch are refused", async () => {
  const world = await createWorld({ housekeeping: false });
  await establish(world);
  await world.client.create(widgets, widget("w", {}));
  const blind = widget("w", { color: "green" }) as AnyObject;
  expect(await refusalOf(world.client.update(widgets, blind))).toMatchObject({
    code: 422,
    message:
      'widgets.ex.io "w" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    details: { name: "w", group: "ex.io", kind: "widgets" },
  });
  const strategic = world.client.patch(widgets, key("w"), { type: "strategic", body: {} });
  expect(await refusalOf(strategic)).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
});

test("an unknown field of a selector is refused in the words of custom resources", async () => {
  const world = await createWorld({ housekeeping: false });
  await establish(world);
  expect(
    await refusalOf(world.client.list(widgets, { fieldSelector: "spec.replicas=1" })),
  ).toMatchObject({
    code: 400,
    message: "field label not supported: spec.replicas",
  });
});

test("a CRD under deletion still shows its objects and takes no new ones", async () => {
  const world = await createWorld({ housekeeping: false });
  await establish(world);
  await world.client.create(widgets, widget("w", {}));
  const deleting = await world.client.delete(crds, { namespace: "", name: "widgets.ex.io" });
  expect(deleting?.metadata.finalizers).toEqual(["customresourcecleanup.apiextensions.k8s.io"]);
  expect((await world.client.list(widgets)).items).toHaveLength(1);
  expect(await refusalOf(world.client.create(widgets, widget("x", {})))).toMatchObject({
    code: 403,
    message:
      'widgets.ex.io "x" is forbidden: create not allowed while custom resource definition is terminating',
  });
  await world.client.delete(widgets, key("w"));
  await world.client.patch(
    crds,
    { namespace: "", name: "widgets.ex.io" },
    {
      type: "merge",
      body: { metadata: { finalizers: null } },
    },
  );
  expect(await refusalOf(world.client.list(widgets))).toMatchObject({ code: 404 });
});

test("a CRD that is wrong is refused", async () => {
  const world = await createWorld({ housekeeping: false });
  const wrong = newObject(
    crds,
    { name: "wrong.ex.io" },
    { spec: (widgetCrd() as AnyObject)["spec"] },
  );
  expect(await refusalOf(world.client.create(crds, wrong))).toMatchObject({
    code: 422,
    details: { kind: "CustomResourceDefinition", group: "apiextensions.k8s.io" },
  });
});
