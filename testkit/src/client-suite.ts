/**
 * The contract of the Client port (packages/kit/src/client.ts) as tests, for every adapter and every server: in process,
 * ours over TLS, and a real kube-apiserver. What passes here is what controllers may rely on.
 *
 * Each test works in namespaces of its own with generated names, so the suite can run on a server that is not empty.
 */
import {
  type AnyObject,
  customResourceDefinitions,
  deployments,
  isRefused,
  keyOf,
  type KubeObject,
  namespaces,
  Refused,
  type Resource,
  type WatchEvent,
} from "@lifeboat/api";
import { type Client, NotSent, type WatchEnd, type WatchOptions } from "@lifeboat/kit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

export interface ClientUnderTest {
  readonly client: Client;
  /** Lets time pass: moves a virtual clock, or waits. */
  pass(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

export interface ContractOptions {
  /** Whether the server knows server-side apply. */
  readonly serverSideApply: boolean;
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const configMaps: Resource<ConfigMap> = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

function configMap(namespace: string, name: string, data: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data };
}

function deployment(namespace: string, name: string) {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "main", image: "registry.example/app:1" }] },
      },
    },
  };
}

/** Declares the contract as a test suite. `make` is called once. */
export function clientContract(
  name: string,
  make: () => Promise<ClientUnderTest>,
  options: ContractOptions = { serverSideApply: false },
): void {
  describe(`the Client contract, ${name}`, () => {
    const context = new Context();
    beforeAll(async () => {
      context.under = await make();
    });
    afterAll(() => context.under?.close());
    describeWrites(context);
    describeDeletions(context);
    describePatches(context, options);
    describeLists(context);
    describeWatches(context);
    describeCustomResources(context);
    describeTheRest(context);
  });
}

class Context {
  under: ClientUnderTest | undefined;

  get client(): Client {
    if (this.under === undefined) throw new Error("the client is made before the tests");
    return this.under.client;
  }

  async pass(milliseconds: number): Promise<void> {
    await this.under?.pass(milliseconds);
  }

  /** A new, empty namespace. */
  async namespace(): Promise<string> {
    const created = await this.client.create(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { generateName: "contract-" },
    });
    return created.metadata.name;
  }

  async eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 400; attempt++) {
      if (await holds()) return;
      await this.pass(25);
    }
    throw new Error(`did not happen: ${what}`);
  }

  /** A watch whose events and end are collected. */
  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions) {
    const events: WatchEvent<T>[] = [];
    const ends: WatchEnd[] = [];
    const watch = this.client.watch(resource, options, {
      event: (event) => void events.push(event),
      end: (why) => void ends.push(why),
    });
    const lines = (): string[] => events.map(describeEvent);
    return { events, ends, lines, stop: () => watch.stop() };
  }
}

function describeEvent(event: WatchEvent<KubeObject>): string {
  if (event.type === "BOOKMARK") return event.initialEventsEnd ? "END OF INITIAL" : "BOOKMARK";
  return `${event.type} ${event.object.metadata.name}`;
}

/** What a call was refused with. Anything but a refusal is passed on. */
async function refusal(call: Promise<unknown>): Promise<Refused["status"]> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Refused) return error.status;
    throw error;
  }
  throw new Error("the call was not refused");
}

function deeplyFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(deeplyFrozen);
}

function describeWrites(context: Context): void {
  test("a created object has identity and version, and reads back the same", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const made = await client.create(configMaps, configMap(namespace, "a", { x: "1" }));
    expect(made).toMatchObject({ apiVersion: "v1", kind: "ConfigMap", data: { x: "1" } });
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(made.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await client.get(configMaps, { namespace, name: "a" })).toEqual(made);
  });

  test("everything that comes out is frozen and without managedFields", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const made = await client.create(deployments, deployment(namespace, "a"));
    const list = await client.list(deployments, { namespace });
    expect(deeplyFrozen(made)).toBe(true);
    expect(deeplyFrozen(await client.get(deployments, { namespace, name: "a" }))).toBe(true);
    expect(deeplyFrozen(list)).toBe(true);
    expect(made.metadata).not.toHaveProperty("managedFields");
    expect(list.items[0]?.metadata).not.toHaveProperty("managedFields");
  });

  test("generateName gives different names", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const template = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { namespace, generateName: "gen-" },
    };
    const first = await client.create(configMaps, template);
    const second = await client.create(configMaps, template);
    expect(first.metadata.name).toMatch(/^gen-[a-z0-9]{5}$/);
    expect(second.metadata.name).not.toBe(first.metadata.name);
  });

  test("creating what is there is refused as AlreadyExists", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    await client.create(configMaps, configMap(namespace, "a"));
    const again = client.create(configMaps, configMap(namespace, "a"));
    expect(await refusal(again)).toMatchObject({
      code: 409,
      reason: "AlreadyExists",
      message: 'configmaps "a" already exists',
      details: { name: "a", kind: "configmaps" },
    });
  });

  test("creating in a namespace that is not there is refused as NotFound", async () => {
    const call = context.client.create(configMaps, configMap("no-such-namespace", "a"));
    expect(await refusal(call)).toMatchObject({
      code: 404,
      reason: "NotFound",
      message: 'namespaces "no-such-namespace" not found',
    });
  });

  test("a bad object is refused with the field at fault", async () => {
    const namespace = await context.namespace();
    const status = await refusal(
      context.client.create(configMaps, configMap(namespace, "Bad_Name")),
    );
    expect(status).toMatchObject({ code: 422, reason: "Invalid" });
    expect(status.details?.causes?.[0]).toMatchObject({
      reason: "FieldValueInvalid",
      field: "metadata.name",
    });
  });

  test("an unknown field is refused where that was asked for", async () => {
    const namespace = await context.namespace();
    const call = context.client.create(
      configMaps,
      { ...configMap(namespace, "a"), frob: 1 } as ReturnType<typeof configMap>,
      { fieldValidation: "Strict" },
    );
    expect(await refusal(call)).toMatchObject({ code: 400, reason: "BadRequest" });
  });

  test("a dry run answers the object and stores nothing", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const made = await client.create(configMaps, configMap(namespace, "a"), { dryRun: true });
    expect(made.metadata.name).toBe("a");
    const get = client.get(configMaps, { namespace, name: "a" });
    expect(await refusal(get)).toMatchObject({ code: 404, reason: "NotFound" });
  });

  test("an update replaces, and a stale one is refused as Conflict", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const first = await client.create(configMaps, configMap(namespace, "a", { x: "1" }));
    const second = await client.update(configMaps, { ...first, data: { y: "2" } });
    expect(second.data).toEqual({ y: "2" });
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(
      Number(first.metadata.resourceVersion),
    );
    expect(await refusal(client.update(configMaps, { ...first, data: {} }))).toMatchObject({
      code: 409,
      reason: "Conflict",
      details: { name: "a", kind: "configmaps" },
    });
    expect(await client.get(configMaps, { namespace, name: "a" })).toEqual(second);
  });

  test("an update that changes nothing keeps the version", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const first = await client.create(configMaps, configMap(namespace, "a", { x: "1" }));
    const second = await client.update(configMaps, { ...first, data: { x: "1" } });
    expect(second).toEqual(first);
  });

  test("updating or reading what is not there is refused as NotFound, with details", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const made = await client.create(configMaps, configMap(namespace, "a"));
    await client.delete(configMaps, { namespace, name: "a" });
    const key = { namespace, name: "a" };
    const calls = [
      client.update(configMaps, made),
      client.get(configMaps, key),
      client.delete(configMaps, key),
      client.patch(configMaps, key, { type: "merge", body: {} }),
    ];
    const details = { name: "a", kind: "configmaps" };
    for (const refused of await Promise.all(calls.map(refusal)))
      expect(refused).toMatchObject({ code: 404, reason: "NotFound", details });
  });

  test("the generation counts changes of the spec, not of the metadata", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    const made = await client.create(deployments, deployment(namespace, "a"));
    expect(made.metadata.generation).toBe(1);
    const labels = { metadata: { labels: { x: "y" } } };
    const labelled = await client.patch(deployments, key, { type: "merge", body: labels });
    expect(labelled.metadata.generation).toBe(1);
    const body = { spec: { replicas: 3 } };
    const scaled = await client.patch(deployments, key, { type: "merge", body });
    expect(scaled.metadata.generation).toBe(2);
  });
}

function describeDeletions(context: Context): void {
  test("a deletion answers nothing when the object is gone", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    await client.create(configMaps, configMap(namespace, "a"));
    expect(await client.delete(configMaps, { namespace, name: "a" })).toBeUndefined();
    const get = client.get(configMaps, { namespace, name: "a" });
    expect(await refusal(get)).toMatchObject({ code: 404 });
  });

  test("a deletion keeps to its preconditions", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    const made = await client.create(configMaps, configMap(namespace, "a"));
    const { uid, resourceVersion } = made.metadata;
    const other = "00000000-0000-4000-8000-000000000000";
    for (const preconditions of [{ uid: other }, { uid, resourceVersion: "1" }])
      expect(await refusal(client.delete(configMaps, key, { preconditions }))).toMatchObject({
        code: 409,
        reason: "Conflict",
      });
    const preconditions = { uid, resourceVersion };
    expect(await client.delete(configMaps, key, { preconditions })).toBeUndefined();
  });

  test("a finalizer keeps the object until it is removed", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    const template = configMap(namespace, "a");
    await client.create(configMaps, {
      ...template,
      metadata: { ...template.metadata, finalizers: ["example.io/hold"] },
    });
    const kept = await client.delete(configMaps, key);
    expect(kept?.metadata.deletionTimestamp).toBeDefined();
    expect(kept?.metadata.finalizers).toEqual(["example.io/hold"]);
    const body = { metadata: { finalizers: null } };
    await client.patch(configMaps, key, { type: "merge", body });
    expect(await refusal(client.get(configMaps, key))).toMatchObject({ code: 404 });
  });

  test("a dry run deletes nothing", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const made = await client.create(configMaps, configMap(namespace, "a"));
    await client.delete(configMaps, keyOf(made), { dryRun: true });
    expect(await client.get(configMaps, keyOf(made))).toEqual(made);
  });

  test("a collection is deleted by selector, and what was deleted is answered", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    for (const [name, tier] of [
      ["a", "x"],
      ["b", "y"],
      ["c", "x"],
    ] as const) {
      const template = configMap(namespace, name);
      const metadata = { ...template.metadata, labels: { tier } };
      await client.create(configMaps, { ...template, metadata });
    }
    const deleted = await client.deleteCollection(configMaps, {
      namespace,
      labelSelector: "tier=x",
    });
    expect(deleted.items.map((item) => item.metadata.name).toSorted()).toEqual(["a", "c"]);
    const left = await client.list(configMaps, { namespace, labelSelector: "tier" });
    expect(left.items.map((item) => item.metadata.name)).toEqual(["b"]);
  });
}

function describePatches(context: Context, options: ContractOptions): void {
  test("a merge patch sets, replaces and removes; a stale version in it is a Conflict", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    const made = await client.create(configMaps, configMap(namespace, "a", { x: "1", y: "2" }));
    const patched = await client.patch(configMaps, key, {
      type: "merge",
      body: { data: { x: null, y: "3", z: "4" } },
    });
    expect(patched.data).toEqual({ y: "3", z: "4" });
    const { resourceVersion } = made.metadata;
    const stale = { metadata: { resourceVersion }, data: { z: "5" } };
    const call = client.patch(configMaps, key, { type: "merge", body: stale });
    expect(await refusal(call)).toMatchObject({ code: 409, reason: "Conflict" });
  });

  test("a strategic patch merges lists by key", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    await client.create(deployments, deployment(namespace, "a"));
    const containers = [
      { name: "main", image: "registry.example/app:2" },
      { name: "side", image: "registry.example/side:1" },
    ];
    const patched = await client.patch(deployments, key, {
      type: "strategic",
      body: { spec: { template: { spec: { containers } } } },
    });
    const spec = patched["spec"] as {
      template: { spec: { containers: { name: string; image: string }[] } };
    };
    expect(
      spec.template.spec.containers.map(({ name, image }) => `${name} ${image}`).toSorted(),
    ).toEqual(["main registry.example/app:2", "side registry.example/side:1"]);
  });

  test("a JSON patch is applied whole or not at all", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    await client.create(configMaps, configMap(namespace, "a", { x: "1" }));
    const add = { op: "add", path: "/data/y", value: "2" };
    const patched = await client.patch(configMaps, key, {
      type: "json",
      body: [{ op: "test", path: "/data/x", value: "1" }, add],
    });
    expect(patched.data).toEqual({ x: "1", y: "2" });
    const failing = client.patch(configMaps, key, {
      type: "json",
      body: [
        { op: "remove", path: "/data/x" },
        { op: "test", path: "/data/y", value: "other" },
      ],
    });
    expect(await refusal(failing)).toMatchObject({ code: 422, reason: "Invalid" });
    expect(await client.get(configMaps, key)).toEqual(patched);
  });

  test.runIf(options.serverSideApply)(
    "an apply patch creates, owns and yields by force",
    async () => {
      const { client } = context;
      const namespace = await context.namespace();
      const key = { namespace, name: "a" };
      const apply = (x: string, fieldManager: string, force: boolean) =>
        client.patch(
          configMaps,
          key,
          { type: "apply", body: configMap(namespace, "a", { x }), force },
          { fieldManager },
        );
      expect((await apply("1", "one", false)).data).toEqual({ x: "1" });
      expect(await refusal(apply("2", "two", false))).toMatchObject({
        code: 409,
        reason: "Conflict",
      });
      expect((await apply("2", "two", true)).data).toEqual({ x: "2" });
    },
  );

  test("the scale of a Deployment is read and patched as its subresource", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const key = { namespace, name: "a" };
    await client.create(deployments, deployment(namespace, "a"));
    const scale = await client.get(deployments, key, { subresource: "scale" });
    expect(scale).toMatchObject({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      spec: { replicas: 1 },
    });
    const body = { spec: { replicas: 5 } };
    await client.patch(deployments, key, { type: "merge", body }, { subresource: "scale" });
    expect(await client.get(deployments, key)).toMatchObject({ spec: { replicas: 5 } });
  });
}

function describeLists(context: Context): void {
  test("a list is sorted by key, with kinds on its items and a version of its own", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    for (const name of ["b", "c", "a"]) await client.create(configMaps, configMap(namespace, name));
    const list = await client.list(configMaps, {
      namespace,
      fieldSelector: "metadata.name!=kube-root-ca.crt",
    });
    expect(list).toMatchObject({ apiVersion: "v1", kind: "ConfigMapList" });
    expect(
      list.items.map((item) => `${item.apiVersion} ${item.kind} ${item.metadata.name}`),
    ).toEqual(["v1 ConfigMap a", "v1 ConfigMap b", "v1 ConfigMap c"]);
    for (const item of list.items)
      expect(Number(item.metadata.resourceVersion)).toBeLessThanOrEqual(
        Number(list.metadata.resourceVersion),
      );
  });

  test("selectors choose by label and by field; a bad selector is refused", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const template = configMap(namespace, "a");
    const metadata = { ...template.metadata, labels: { tier: "x" } };
    await client.create(configMaps, { ...template, metadata });
    await client.create(configMaps, configMap(namespace, "b"));
    const names = async (selection: { labelSelector?: string; fieldSelector?: string }) => {
      const list = await client.list(configMaps, { namespace, ...selection });
      return list.items.map((item) => item.metadata.name);
    };
    expect(await names({ labelSelector: "tier in (x,y)" })).toEqual(["a"]);
    expect(await names({ fieldSelector: "metadata.name=b" })).toEqual(["b"]);
    expect(await names({ labelSelector: "tier=x", fieldSelector: "metadata.name=b" })).toEqual([]);
    expect(await refusal(names({ labelSelector: "a in" }))).toMatchObject({ code: 400 });
    expect(await refusal(names({ fieldSelector: "spec.frob=1" }))).toMatchObject({ code: 400 });
  });

  test("pages together are the state of the first page", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    for (const name of ["a", "b", "c", "d", "e"])
      await client.create(configMaps, configMap(namespace, name));
    const fieldSelector = "metadata.name!=kube-root-ca.crt";
    const first = await client.list(configMaps, { namespace, fieldSelector, limit: 2 });
    await client.delete(configMaps, { namespace, name: "d" });
    await client.create(configMaps, configMap(namespace, "f"));
    const names = first.items.map((item) => item.metadata.name);
    let token = first.metadata.continue ?? "";
    while (token !== "") {
      const page = await client.list(configMaps, {
        namespace,
        fieldSelector,
        limit: 2,
        continue: token,
      });
      expect(page.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      names.push(...page.items.map((item) => item.metadata.name));
      token = page.metadata.continue ?? "";
    }
    expect(names).toEqual(["a", "b", "c", "d", "e"]);
  });

  test("a list over all namespaces holds the objects of each", async () => {
    const { client } = context;
    const [first, second] = [await context.namespace(), await context.namespace()];
    await client.create(configMaps, configMap(first, "everywhere"));
    await client.create(configMaps, configMap(second, "everywhere"));
    const list = await client.list(configMaps, { fieldSelector: "metadata.name=everywhere" });
    const found = list.items.map((item) => item.metadata.namespace);
    expect(found).toEqual(expect.arrayContaining([first, second]));
  });

  test("a list of nothing is empty and has a version", async () => {
    const namespace = await context.namespace();
    const list = await context.client.list(deployments, { namespace });
    expect(list.items).toEqual([]);
    expect(list.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
  });
}

function describeWatches(context: Context): void {
  test("a watch from a version gets every later change, in order, frozen", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const before = await client.list(deployments, { namespace });
    const made = await client.create(deployments, deployment(namespace, "a"));
    const { resourceVersion } = before.metadata;
    const watch = context.watch(deployments, { namespace, resourceVersion });
    await client.patch(deployments, keyOf(made), {
      type: "merge",
      body: { spec: { replicas: 2 } },
    });
    await client.create(deployments, deployment(namespace, "b"));
    await client.delete(deployments, keyOf(made), { propagationPolicy: "Background" });
    await context.eventually("four events", () => watch.events.length >= 4);
    expect(watch.lines()).toEqual(["ADDED a", "MODIFIED a", "ADDED b", "DELETED a"]);
    const versions = watch.events.map((event) =>
      event.type === "BOOKMARK" ? 0 : Number(event.object.metadata.resourceVersion),
    );
    expect(versions.toSorted((a, b) => a - b)).toEqual(versions);
    expect(new Set(versions).size).toBe(4);
    for (const event of watch.events)
      if (event.type !== "BOOKMARK") expect(deeplyFrozen(event.object)).toBe(true);
    watch.stop();
  });

  test("a watch without version begins with what is there", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    await client.create(deployments, deployment(namespace, "a"));
    await client.create(deployments, deployment(namespace, "b"));
    const watch = context.watch(deployments, { namespace });
    await context.eventually("two events", () => watch.events.length >= 2);
    expect(watch.lines().toSorted()).toEqual(["ADDED a", "ADDED b"]);
    await client.create(deployments, deployment(namespace, "c"));
    await context.eventually("the third event", () => watch.events.length >= 3);
    expect(watch.lines()[2]).toBe("ADDED c");
    watch.stop();
  });

  test("a streaming list ends its initial part with a marked bookmark", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    await client.create(deployments, deployment(namespace, "a"));
    const watch = context.watch(deployments, {
      namespace,
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
    });
    await context.eventually("the bookmark", () => watch.lines().includes("END OF INITIAL"));
    await client.create(deployments, deployment(namespace, "b"));
    await context.eventually("the change", () => watch.lines().includes("ADDED b"));
    expect(watch.lines().filter((line) => line !== "BOOKMARK")).toEqual([
      "ADDED a",
      "END OF INITIAL",
      "ADDED b",
    ]);
    watch.stop();
  });

  test("an object that enters or leaves the selection is ADDED or DELETED", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const made = await client.create(configMaps, configMap(namespace, "a"));
    const { resourceVersion } = made.metadata;
    const watch = context.watch(configMaps, {
      namespace,
      labelSelector: "tier=x",
      resourceVersion,
    });
    const label = (tier: string) =>
      client.patch(configMaps, keyOf(made), {
        type: "merge",
        body: { metadata: { labels: { tier } } },
      });
    await label("y");
    await label("x");
    await client.patch(configMaps, keyOf(made), { type: "merge", body: { data: { k: "v" } } });
    const left = await label("z");
    await context.eventually("three events", () => watch.events.length >= 3);
    expect(watch.lines()).toEqual(["ADDED a", "MODIFIED a", "DELETED a"]);
    expect(watch.events[2]).toMatchObject({
      object: {
        metadata: { resourceVersion: left.metadata.resourceVersion, labels: { tier: "x" } },
      },
    });
    watch.stop();
  });

  test("a stopped watch ends once, as closed, and is silent after", async () => {
    const { client } = context;
    const namespace = await context.namespace();
    const watch = context.watch(deployments, { namespace });
    await client.create(deployments, deployment(namespace, "a"));
    await context.eventually("the event", () => watch.events.length >= 1);
    watch.stop();
    watch.stop();
    await context.eventually("the end", () => watch.ends.length > 0);
    await client.create(deployments, deployment(namespace, "b"));
    await context.pass(50);
    expect(watch.ends).toEqual([{ kind: "closed" }]);
    expect(watch.lines()).toEqual(["ADDED a"]);
  });

  test("a watch whose time is up ends as closed", async () => {
    const namespace = await context.namespace();
    const watch = context.watch(deployments, { namespace, timeoutSeconds: 1 });
    await context.eventually("the end", () => watch.ends.length > 0);
    expect(watch.ends).toEqual([{ kind: "closed" }]);
  });

  test("a watch of what is not served is refused", async () => {
    const nothings = { ...deployments, group: "nothing.example.io", plural: "nothings" };
    const watch = context.watch(nothings, {});
    await context.eventually("the end", () => watch.ends.length > 0);
    expect(watch.ends).toMatchObject([{ kind: "refused", status: { code: 404 } }]);
  });
}

/** A kind of its own for each run, because a server may not be empty. */
async function establishKind(context: Context): Promise<Resource> {
  const { client } = context;
  const probe = await context.namespace();
  const plural = `widgets${probe.slice("contract-".length)}`;
  const kind = `W${plural.slice(1)}`;
  const widgets: Resource = {
    group: "contract.example.io",
    version: "v1",
    plural,
    kind,
    namespaced: true,
  };
  const name = `${plural}.${widgets.group}`;
  const spec = {
    type: "object",
    properties: {
      replicas: { type: "integer", minimum: 0, default: 1 },
      note: { type: "string" },
    },
  };
  const status = { type: "object", properties: { ready: { type: "boolean" } } };
  await client.create(customResourceDefinitions, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name },
    spec: {
      group: widgets.group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec, status } } },
        },
      ],
    },
  });
  await context.eventually("the kind is established", async () => {
    const crd = await client.get(customResourceDefinitions, { namespace: "", name });
    const { conditions } = (crd["status"] ?? {}) as {
      conditions?: { type: string; status: string }[] | null;
    };
    return (conditions ?? []).some(
      ({ type, status }) => type === "Established" && status === "True",
    );
  });
  await context.eventually("the kind is served", async () => {
    try {
      await client.list(widgets);
      return true;
    } catch (error) {
      if (isRefused(error, 404) || isRefused(error, 429)) return false;
      throw error;
    }
  });
  return widgets;
}

function describeCustomResources(context: Context): void {
  describe("custom resources", () => {
    let widgets: Resource;
    beforeAll(async () => {
      widgets = await establishKind(context);
    });
    afterAll(() =>
      context.client.delete(customResourceDefinitions, {
        namespace: "",
        name: `${widgets.plural}.${widgets.group}`,
      }),
    );

    const widget = (namespace: string, name: string, spec: Record<string, unknown>) => ({
      apiVersion: `${widgets.group}/v1`,
      kind: widgets.kind,
      metadata: { namespace, name },
      spec,
    });

    test("they are defaulted, pruned and validated by their schema", async () => {
      const { client } = context;
      const namespace = await context.namespace();
      const made = await client.create(widgets, widget(namespace, "a", { note: "n", frob: 1 }), {
        fieldValidation: "Ignore",
      });
      expect(made["spec"]).toEqual({ note: "n", replicas: 1 });
      expect(made.metadata.generation).toBe(1);
      const bad = client.create(widgets, widget(namespace, "b", { replicas: -1 }));
      const status = await refusal(bad);
      expect(status).toMatchObject({ code: 422, reason: "Invalid" });
      expect(status.details?.causes?.[0]?.field).toBe("spec.replicas");
    });

    test("their status is written apart from their spec", async () => {
      const { client } = context;
      const namespace = await context.namespace();
      const made = await client.create(widgets, {
        ...widget(namespace, "a", { replicas: 2 }),
        status: { ready: false },
      });
      expect(made["status"]).toBeUndefined();
      const reported = await client.update(
        widgets,
        { ...made, spec: { replicas: 9 }, status: { ready: true } },
        { subresource: "status" },
      );
      expect(reported).toMatchObject({ spec: { replicas: 2 }, status: { ready: true } });
      expect(reported.metadata.generation).toBe(1);
      const changed = await client.update(widgets, {
        ...reported,
        spec: { replicas: 3 },
        status: { ready: false },
      });
      expect(changed).toMatchObject({ spec: { replicas: 3 }, status: { ready: true } });
      expect(changed.metadata.generation).toBe(2);
    });

    test("merge and JSON patches work on them, strategic ones are refused", async () => {
      const { client } = context;
      const namespace = await context.namespace();
      const key = { namespace, name: "a" };
      await client.create(widgets, widget(namespace, "a", { note: "n" }));
      const body = { spec: { note: null, replicas: 4 } };
      const merged = await client.patch(widgets, key, { type: "merge", body });
      expect(merged["spec"]).toEqual({ replicas: 4 });
      const patched = await client.patch(widgets, key, {
        type: "json",
        body: [{ op: "replace", path: "/spec/replicas", value: 5 }],
      });
      expect(patched["spec"]).toEqual({ replicas: 5 });
      const strategic = client.patch(widgets, key, { type: "strategic", body });
      expect(await refusal(strategic)).toMatchObject({ code: 415, reason: "UnsupportedMediaType" });
    });

    test("they are listed and watched like any other kind", async () => {
      const { client } = context;
      const namespace = await context.namespace();
      const watch = context.watch(widgets, { namespace });
      await client.create(widgets, widget(namespace, "a", {}));
      await context.eventually("the event", () => watch.events.length >= 1);
      const list = await client.list(widgets, { namespace });
      const [item] = list.items;
      expect(watch.events[0]).toEqual({ type: "ADDED", object: item });
      expect(item).toMatchObject({ apiVersion: `${widgets.group}/v1`, kind: widgets.kind });
      watch.stop();
    });

    test("an update without version is refused", async () => {
      const { client } = context;
      const namespace = await context.namespace();
      const made = await client.create(widgets, widget(namespace, "a", {}));
      const { resourceVersion: _, ...metadata } = made.metadata;
      const blind = client.update(widgets, { ...made, metadata } as AnyObject);
      expect(await refusal(blind)).toMatchObject({ code: 422, reason: "Invalid" });
    });
  });
}

function describeTheRest(context: Context): void {
  test("a call that was given up before it began is NotSent", async () => {
    const { client } = context;
    const signal = AbortSignal.abort();
    const namespace = await context.namespace();
    const create = client.create(configMaps, configMap(namespace, "a"), { signal });
    await expect(create).rejects.toBeInstanceOf(NotSent);
    await expect(client.list(configMaps, { namespace, signal })).rejects.toBeInstanceOf(NotSent);
    const get = client.get(configMaps, { namespace, name: "a" });
    expect(await refusal(get)).toMatchObject({ code: 404 });
  });

  test("a resource that is not served is refused with 404", async () => {
    const nothings = { ...deployments, group: "nothing.example.io", plural: "nothings" };
    const status = await refusal(context.client.list(nothings));
    expect(status).toMatchObject({ code: 404, reason: "NotFound" });
  });

  test("paths that are no resources are read as JSON or as text", async () => {
    const { client } = context;
    expect(await client.read("/version")).toMatchObject({
      gitVersion: expect.stringMatching(/^v1\./) as string,
    });
    expect(await client.read("/readyz")).toBe("ok");
    expect(await refusal(client.read("/no/such/path"))).toMatchObject({ code: 404 });
  });
}
