/** Housekeeping against the real server in process, under the virtual clock. The world is asserted, not the calls. */
import {
  type AnyObject,
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  events,
  isRefused,
  type KubeObject,
  namespaces,
  type New,
  type Resource,
  secrets,
} from "@lifeboat/api";
import { type Client, silentLog, silentMetrics } from "@lifeboat/kit";
import { createWorld, type World } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHousekeeping } from "./housekeeping.ts";

const widgets: Resource = {
  group: "ex.io",
  version: "v1",
  plural: "widgets",
  kind: "Widget",
  namespaced: true,
};

interface Owner {
  readonly of: KubeObject;
  readonly blocks?: boolean;
}

let world: World;
let stop: AbortController;
/** From now on housekeeping hears nothing more of namespaces. */
let isLate = false;
beforeEach(async () => {
  world = await createWorld({ housekeeping: false });
  stop = new AbortController();
  isLate = false;
  const { clock, random } = world;
  const ports = {
    clock,
    random: random.fork("housekeeping"),
    log: silentLog,
    metrics: silentMetrics,
  };
  const options = { events: { timeToLiveMs: 3_600_000, maxEvents: 5 } };
  const housekeeping = createHousekeeping(
    ports,
    hearingLate(world.client),
    world.server.catalog,
    options,
  );
  void housekeeping.run(stop.signal);
  await world.settle();
});
afterEach(async () => {
  stop.abort();
  await world.close();
});

/** The client, but that news of namespaces can be withheld. */
function hearingLate(client: Client): Client {
  return new Proxy(client, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      if (name !== "watch") return method.bind(target) as unknown;
      const watch: Client["watch"] = (resource, options, sink) =>
        target.watch(resource, options, {
          event: (event) => {
            if (!isLate || resource.plural !== "namespaces") sink.event(event);
          },
          end: (why) => sink.end(why),
        });
      return watch;
    },
  });
}

function configMap(
  name: string,
  owners: readonly Owner[] = [],
  finalizers: string[] = [],
): New<AnyObject> {
  const ownerReferences = owners.map(({ of, blocks }) => ({
    apiVersion: of.apiVersion,
    kind: of.kind,
    name: of.metadata.name,
    uid: of.metadata.uid,
    ...(blocks === true ? { blockOwnerDeletion: true } : {}),
  }));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "default", name, ownerReferences, finalizers },
  };
}

const make = (name: string, owners: readonly Owner[] = [], finalizers: string[] = []) =>
  world.client.create(configMaps, configMap(name, owners, finalizers));

async function names(resource: Resource, namespace = "default"): Promise<string[]> {
  const list = await world.client.list(resource, resource.namespaced ? { namespace } : {});
  return list.items.map((item) => item.metadata.name);
}

const remove = (name: string, propagationPolicy?: "Foreground" | "Background" | "Orphan") =>
  world.client.delete(
    configMaps,
    { namespace: "default", name },
    propagationPolicy === undefined ? {} : { propagationPolicy },
  );

describe("garbage collection", () => {
  test("dependents go with their owner, and theirs with them", async () => {
    const owner = await make("owner");
    const child = await make("child", [{ of: owner }]);
    await make("grandchild", [{ of: child }]);
    await make("stranger");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual(["child", "grandchild", "owner", "stranger"]);
    await remove("owner", "Background");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual(["stranger"]);
  });

  test("a dependent stays while one owner is left, and loses the reference to the other", async () => {
    const [a, b] = [await make("a"), await make("b")];
    await make("child", [{ of: a }, { of: b }]);
    await remove("a");
    await world.advance(1000);
    const child = await world.client.get(configMaps, { namespace: "default", name: "child" });
    expect(child.metadata.ownerReferences?.map(({ name }) => name)).toEqual(["b"]);
    await remove("b");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("an owner that was made anew under its name is another owner", async () => {
    const owner = await make("owner");
    await make("child", [{ of: owner }]);
    await remove("owner");
    await make("owner");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual(["owner"]);
  });

  test("a dependent that comes after its owner went is collected", async () => {
    const owner = await make("owner");
    await remove("owner");
    await world.advance(1000);
    await make("late", [{ of: owner }]);
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("an owner of an unknown kind, or one that cannot be looked up, deletes nothing", async () => {
    const owner = await make("owner");
    const ghost = { ...owner, apiVersion: "nowhere.io/v1", kind: "Ghost" };
    await make("child", [{ of: ghost }]);
    await world.client.create(clusterRoles, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: {
        name: "odd",
        ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "u" }],
      },
      rules: [],
    });
    await world.advance(60_000);
    expect(await names(configMaps)).toContain("child");
    expect(await names(clusterRoles)).toContain("odd");
  });

  test("an owner at cluster scope collects namespaced dependents", async () => {
    const owner = await world.client.create(clusterRoles, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "owner" },
      rules: [],
    });
    await make("child", [{ of: owner }]);
    await world.client.delete(clusterRoles, { namespace: "", name: "owner" });
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("foreground deletion keeps the owner until its blocking dependents are gone", async () => {
    const owner = await make("owner");
    await make("blocking", [{ of: owner, blocks: true }], ["example.io/hold"]);
    await make("other", [{ of: owner }]);
    await remove("owner", "Foreground");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual(["blocking", "owner"]);
    await world.client.patch(
      configMaps,
      { namespace: "default", name: "blocking" },
      { type: "merge", body: { metadata: { finalizers: null } } },
    );
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("foreground deletion without dependents is immediate", async () => {
    await make("owner");
    await remove("owner", "Foreground");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("a circle of owners in foreground deletion ends", async () => {
    const a = await make("a");
    const b = await make("b", [{ of: a, blocks: true }]);
    const reference = {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "b",
      uid: b.metadata.uid,
      blockOwnerDeletion: true,
    };
    const body = { metadata: { ownerReferences: [reference] } };
    await world.client.patch(
      configMaps,
      { namespace: "default", name: "a" },
      { type: "merge", body },
    );
    await world.advance(1000);
    expect(await names(configMaps)).toEqual(["a", "b"]);
    await remove("a", "Foreground");
    await world.advance(10_000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("orphans stay, without the reference", async () => {
    const owner = await make("owner");
    await make("child", [{ of: owner }]);
    await remove("owner", "Orphan");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual(["child"]);
    const child = await world.client.get(configMaps, { namespace: "default", name: "child" });
    expect(child.metadata.ownerReferences ?? []).toEqual([]);
  });

  test("a thousand dependents go", async () => {
    const owner = await make("owner");
    for (let i = 0; i < 1000; i++) await make(`child-${i}`, [{ of: owner }]);
    await remove("owner");
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });
});

describe("namespaces", () => {
  const createNamespace = (name: string, finalizers: string[] = []) =>
    world.client.create(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, finalizers },
    });
  const inNamespace = (namespace: string, name: string, finalizers: string[] = []) => ({
    ...configMap(name),
    metadata: { namespace, name, finalizers },
  });

  test("a deleted namespace is emptied and goes", async () => {
    await createNamespace("team");
    await world.client.create(configMaps, inNamespace("team", "a"));
    await world.client.create(secrets, { ...inNamespace("team", "s"), kind: "Secret" });
    await make("elsewhere");
    await world.client.delete(namespaces, { namespace: "", name: "team" });
    await world.advance(1000);
    expect(await names(namespaces)).not.toContain("team");
    expect(await names(configMaps, "team")).toEqual([]);
    expect(await names(secrets, "team")).toEqual([]);
    expect(await names(configMaps)).toEqual(["elsewhere"]);
  });

  test("what holds a namespace is told in its conditions, and once it goes the namespace goes", async () => {
    await createNamespace("team");
    await world.client.create(configMaps, inNamespace("team", "a", ["example.io/hold"]));
    await world.client.delete(namespaces, { namespace: "", name: "team" });
    await world.advance(60_000);
    const team = await world.client.get(namespaces, { namespace: "", name: "team" });
    expect(team["status"]).toMatchObject({ phase: "Terminating" });
    const { conditions } = team["status"] as { conditions: { type: string; message: string }[] };
    const messages = Object.fromEntries(conditions.map(({ type, message }) => [type, message]));
    expect(messages).toMatchObject({
      NamespaceContentRemaining:
        "Some resources are remaining: configmaps. has 1 resource instances",
      NamespaceFinalizersRemaining:
        "Some content in the namespace has finalizers remaining: example.io/hold in 1 resource instances",
    });
    await world.client.patch(
      configMaps,
      { namespace: "team", name: "a" },
      { type: "merge", body: { metadata: { finalizers: null } } },
    );
    await world.advance(1000);
    expect(await names(namespaces)).not.toContain("team");
  });

  test("a namespace is emptied only while it is the one that goes, not a new one of its name", async () => {
    await createNamespace("team");
    await world.client.create(configMaps, inNamespace("team", "old", ["example.io/hold"]));
    await world.client.delete(namespaces, { namespace: "", name: "team" });
    await world.settle();
    isLate = true;
    const body = { metadata: { finalizers: null } };
    await world.client.patch(
      configMaps,
      { namespace: "team", name: "old" },
      { type: "merge", body },
    );
    await world.settle();
    expect(await names(namespaces)).not.toContain("team");

    await createNamespace("team");
    await world.client.create(configMaps, inNamespace("team", "kept"));
    await world.client.create(configMaps, inNamespace("team", "shortly"));
    // What goes from a namespace that is believed to go is a reason to reconcile it.
    await world.client.delete(configMaps, { namespace: "team", name: "shortly" });
    await world.settle();
    expect(await names(configMaps, "team")).toContain("kept");
    expect(await names(namespaces)).toContain("team");
  });

  test("a namespace with finalizers of others stays after it was emptied", async () => {
    await createNamespace("team", ["example.io/hold"]);
    await world.client.create(configMaps, inNamespace("team", "a"));
    await world.client.delete(namespaces, { namespace: "", name: "team" });
    await world.advance(1000);
    expect(await names(configMaps, "team")).toEqual([]);
    const team = await world.client.get(namespaces, { namespace: "", name: "team" });
    expect(team["spec"]).toEqual({});
    const body = { metadata: { finalizers: null } };
    await world.client.patch(namespaces, { namespace: "", name: "team" }, { type: "merge", body });
    await world.advance(1000);
    expect(await names(namespaces)).not.toContain("team");
  });
});

describe("CRDs", () => {
  const crd = (plural: string, kind: string): New<AnyObject> => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.ex.io` },
    spec: {
      group: "ex.io",
      scope: "Namespaced",
      names: { plural, kind },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      ],
    },
  });
  const widget = (name: string, finalizers: string[] = []) => ({
    apiVersion: "ex.io/v1",
    kind: "Widget",
    metadata: { namespace: "default", name, finalizers },
  });

  test("a CRD is established and served", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(100);
    await world.client.create(widgets, widget("a"));
    expect(await names(widgets)).toEqual(["a"]);
  });

  test("a deleted CRD takes its objects along, and its kind can be made anew, empty", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(100);
    await world.client.create(widgets, widget("a"));
    await world.client.create(widgets, widget("held", ["example.io/hold"]));
    await world.client.delete(customResourceDefinitions, { namespace: "", name: "widgets.ex.io" });
    await world.advance(1000);
    expect(await names(widgets)).toEqual(["held"]);
    expect(await names(customResourceDefinitions)).toEqual(["widgets.ex.io"]);
    await world.client.patch(
      widgets,
      { namespace: "default", name: "held" },
      { type: "merge", body: { metadata: { finalizers: null } } },
    );
    await world.advance(1000);
    expect(await names(customResourceDefinitions)).toEqual([]);
    const refused = await names(widgets).catch((error: unknown) => error);
    expect(isRefused(refused, 404)).toBe(true);
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(1000);
    expect(await names(widgets)).toEqual([]);
  });

  const unserve = () =>
    world.client.patch(
      customResourceDefinitions,
      { namespace: "", name: "widgets.ex.io" },
      { type: "json", body: [{ op: "replace", path: "/spec/versions/0/served", value: false }] },
    );

  test("a deleted CRD that serves no version takes its objects along too", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(100);
    await world.client.create(widgets, widget("a"));
    await unserve();
    expect(isRefused(await names(widgets).catch((error: unknown) => error), 404)).toBe(true);
    await world.client.delete(customResourceDefinitions, { namespace: "", name: "widgets.ex.io" });
    await world.advance(1000);
    expect(await names(customResourceDefinitions)).toEqual([]);
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(1000);
    expect(await names(widgets)).toEqual([]);
  });

  test("dependents of objects that are only not served any more stay", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(100);
    const owner = await world.client.create(widgets, widget("owner"));
    await make("child", [{ of: owner }]);
    await world.advance(1000);
    await unserve();
    await world.advance(60_000);
    expect(await names(configMaps)).toEqual(["child"]);
  });

  test("a CRD whose kind is taken waits until it is free", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(100);
    await world.client.create(customResourceDefinitions, crd("gadgets", "Widget"));
    await world.advance(100);
    const gadgets: Resource = { ...widgets, plural: "gadgets" };
    expect(isRefused(await names(gadgets).catch((error: unknown) => error), 404)).toBe(true);
    await world.client.delete(customResourceDefinitions, { namespace: "", name: "widgets.ex.io" });
    await world.advance(1000);
    expect(await names(gadgets)).toEqual([]);
  });

  test("garbage collection follows kinds that come later", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.advance(100);
    const owner = await world.client.create(widgets, widget("owner"));
    await make("child", [{ of: owner }]);
    await world.client.delete(widgets, { namespace: "default", name: "owner" });
    await world.advance(1000);
    expect(await names(configMaps)).toEqual([]);
  });

  test("a namespace is emptied of custom resources too", async () => {
    await world.client.create(customResourceDefinitions, crd("widgets", "Widget"));
    await world.client.create(namespaces, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "team" },
    });
    await world.advance(100);
    await world.client.create(widgets, {
      ...widget("a"),
      metadata: { namespace: "team", name: "a" },
    });
    await world.client.delete(namespaces, { namespace: "", name: "team" });
    await world.advance(1000);
    expect(await names(namespaces)).not.toContain("team");
    expect(await names(widgets, "team")).toEqual([]);
  });
});

describe("Events", () => {
  const event = (name: string) => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "default", name },
    involvedObject: { kind: "ConfigMap", namespace: "default", name: "x" },
    reason: "Tested",
    message: "m",
    type: "Normal",
  });

  test("an Event goes an hour after it was last written", async () => {
    await world.client.create(events, event("a"));
    await world.client.create(events, event("b"));
    await world.advance("50m");
    const body = { count: 2 };
    await world.client.patch(events, { namespace: "default", name: "b" }, { type: "merge", body });
    await world.advance("11m");
    expect(await names(events)).toEqual(["b"]);
    await world.advance("50m");
    expect(await names(events)).toEqual([]);
  });

  test("beyond the limit the ones written longest ago go", async () => {
    for (let i = 0; i < 8; i++) {
      await world.client.create(events, event(`e${i}`));
      await world.advance(10);
    }
    await world.advance(1000);
    expect(await names(events)).toEqual(["e3", "e4", "e5", "e6", "e7"]);
  });
});
