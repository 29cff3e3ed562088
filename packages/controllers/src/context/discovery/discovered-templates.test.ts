/** Templates follow the API they are found in: kinds that come, go, move, or cannot be read. */
import { type AnyObject, failure, type Json, Refused } from "@lifeboat/api";
import { type Client, type KitPorts, NotSent, silentLog, silentMetrics } from "@lifeboat/kit";
import {
  createWorld,
  configMap,
  deployment,
  newObject,
  resources,
  widgetCrd,
  type World,
} from "@lifeboat/testkit";
import { describe, expect, it } from "vitest";
import type { Templates } from "../templates.ts";
import { createTemplates, type TemplatesOptions } from "./discovered-templates.ts";

interface Followed {
  readonly world: World;
  readonly templates: Templates;
  /** What was reported: `+kind/name`, `~kind/name`, `-kind/name`. */
  readonly reported: string[];
  /** Lets calls for these paths or plurals fail from now on. */
  readonly failing: Set<string>;
  readonly stop: AbortController;
}

async function follow(
  options?: TemplatesOptions,
  failing: readonly string[] = [],
): Promise<Followed> {
  const world = await createWorld();
  await world.settle();
  return followIn(world, options, failing);
}

async function followIn(
  world: World,
  options?: TemplatesOptions,
  broken: readonly string[] = [],
): Promise<Followed> {
  const failing = new Set(broken);
  const ports: KitPorts = {
    clock: world.clock,
    random: world.random,
    log: silentLog,
    metrics: silentMetrics,
  };
  const templates = createTemplates(ports, flaky(world.client, failing), options);
  const reported: string[] = [];
  templates.onChange((_resource, old, now) => {
    const sign = old === undefined ? "+" : now === undefined ? "-" : "~";
    const object = now ?? old;
    if (
      object?.metadata.namespace === "default" &&
      object.kind !== "ServiceAccount" &&
      object.metadata.name !== "kube-root-ca.crt"
    )
      reported.push(`${sign}${object.kind}/${object.metadata.name}`);
  });
  const stop = new AbortController();
  void templates.run(stop.signal);
  await world.settle();
  return { world, templates, reported, failing, stop };
}

function flaky(client: Client, failing: ReadonlySet<string>): Client {
  const refused = new Refused(failure(403, "Forbidden", "not for you"));
  return {
    ...client,
    read: (path, options): Promise<Json> =>
      failing.has(path) ? Promise.reject(new NotSent(path)) : client.read(path, options),
    list: (resource, options) =>
      failing.has(resource.plural) ? Promise.reject(refused) : client.list(resource, options),
    watch: (resource, options, sink) => client.watch(resource, options, sink),
    get: (...given) => client.get(...given),
  };
}

function widget(name: string, apiVersion = "ex.io/v1") {
  return { ...newObject(resources.widgets, { name }, { spec: {} }), apiVersion };
}

async function close({ world, stop }: Followed): Promise<void> {
  stop.abort();
  await world.settle();
  await world.close();
}

const names = (objects: readonly AnyObject[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name);
const crdKey = { namespace: "", name: "widgets.ex.io" };

describe("templates", () => {
  it("are found by reference, kind and namespace, and by the policy that has claimed them", async () => {
    const followed = await follow();
    const { world, templates } = followed;
    await world.client.create(resources.deployments, deployment("web"));
    await world.client.create(
      resources.configMaps,
      configMap(
        "c",
        {},
        { labels: { "clusterpropagationpolicy.karmada.io/permanent-id": "id-1" } },
      ),
    );
    await world.settle();
    const reference = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      namespace: "default",
      name: "web",
    };
    expect(templates.get(reference)?.metadata.name).toBe("web");
    expect(templates.get({ ...reference, name: "api" })).toBeUndefined();
    expect(templates.get({ ...reference, apiVersion: "apps/v9" })).toBeUndefined();
    expect(names(templates.list("apps/v1", "Deployment"))).toEqual(["web"]);
    expect(names(templates.list("apps/v1", "Deployment", "default"))).toEqual(["web"]);
    expect(templates.list("apps/v1", "Deployment", "elsewhere")).toEqual([]);
    expect(names(templates.claimedBy("id-1"))).toEqual(["c"]);
    expect(templates.claimedBy("id-2")).toEqual([]);
    await close(followed);
  });

  it("are never Events, Leases, or what the options leave out", async () => {
    const followed = await follow({ skips: ({ kind }) => kind === "Secret" });
    const { templates } = followed;
    expect(templates.resourceOf("v1", "Event")).toBeUndefined();
    expect(templates.resourceOf("events.k8s.io/v1", "Event")).toBeUndefined();
    expect(templates.resourceOf("coordination.k8s.io/v1", "Lease")).toBeUndefined();
    expect(templates.resourceOf("v1", "Secret")).toBeUndefined();
    expect(templates.resourceOf("v1", "ConfigMap")).toMatchObject({
      plural: "configmaps",
      namespaced: true,
    });
    await close(followed);
  });

  it("are reported as new to a handler that is added later, and not at all to one that was removed", async () => {
    const followed = await follow();
    const { world, templates } = followed;
    await world.client.create(resources.configMaps, configMap("c"));
    await world.settle();
    const late: string[] = [];
    const end = templates.onChange((_resource, old, now) => {
      if ((now ?? old)?.metadata.name === "c") late.push(old === undefined ? "new" : "changed");
    });
    expect(late).toEqual(["new"]);
    end();
    await world.client.delete(resources.configMaps, { namespace: "default", name: "c" });
    await world.settle();
    expect(late).toEqual(["new"]);
    expect(followed.reported).toEqual(["+ConfigMap/c", "-ConfigMap/c"]);
    await close(followed);
  });
});

describe("a kind", () => {
  it("that comes later is followed at once", async () => {
    const followed = await follow();
    const { world, templates } = followed;
    expect(templates.resourceOf("ex.io/v1", "Widget")).toBeUndefined();
    await world.client.create(resources.crds, widgetCrd());
    await world.settle();
    await world.client.create(resources.widgets, widget("w"));
    await world.settle();
    expect(templates.resourceOf("ex.io/v1", "Widget")).toMatchObject({ plural: "widgets" });
    expect(followed.reported).toEqual(["+Widget/w"]);
    await close(followed);
  });

  it("that goes and comes again is followed again", async () => {
    const followed = await follow();
    const { world, templates } = followed;
    await world.client.create(resources.crds, widgetCrd());
    await world.settle();
    await world.client.create(resources.widgets, widget("w"));
    await world.settle();
    await world.client.delete(resources.crds, crdKey);
    await world.advance("1m");
    expect(templates.resourceOf("ex.io/v1", "Widget")).toBeUndefined();
    expect(templates.list("ex.io/v1", "Widget")).toEqual([]);
    await world.client.create(resources.crds, widgetCrd());
    await world.settle();
    await world.client.create(resources.widgets, widget("again"));
    await world.advance("1s");
    expect(names(templates.list("ex.io/v1", "Widget"))).toEqual(["again"]);
    await close(followed);
  });

  it("whose definition is no longer served is forgotten without reporting its objects as deleted", async () => {
    const followed = await follow();
    const { world, templates } = followed;
    const version = (widgetCrd()["spec"] as { versions: readonly object[] }).versions[0];
    await world.client.create(resources.crds, widgetCrd());
    await world.settle();
    await world.client.create(resources.widgets, widget("w"));
    await world.settle();
    const versions = [
      { ...version, served: false },
      { ...version, name: "v2", storage: false },
    ];
    await world.client.patch(resources.crds, crdKey, {
      type: "merge",
      body: { spec: { versions } } as Json,
    });
    await world.advance("1s");
    expect(templates.resourceOf("ex.io/v1", "Widget")).toBeUndefined();
    expect(names(templates.list("ex.io/v2", "Widget"))).toEqual(["w"]);
    expect(followed.reported).toEqual(["+Widget/w", "+Widget/w"]);
    await close(followed);
  });

  it("that cannot be listed delays no other, and is served once it can be", async () => {
    const followed = await follow(undefined, ["secrets"]);
    const { world, templates, failing } = followed;
    let isSynced: boolean | undefined;
    void templates.whenSynced(new AbortController().signal).then((answer) => {
      isSynced = answer;
    });
    await world.advance("9s");
    expect(isSynced).toBeUndefined();
    await world.advance("2s");
    expect(isSynced).toBe(true);
    expect(templates.resourceOf("v1", "Secret")).toBeUndefined();
    expect(templates.resourceOf("v1", "ConfigMap")).toBeDefined();
    failing.clear();
    await world.advance("1m");
    expect(templates.resourceOf("v1", "Secret")).toBeDefined();
    await close(followed);
  });
});

describe("discovery", () => {
  it("that fails altogether is tried again, and nothing counts as synced meanwhile", async () => {
    const followed = await follow(undefined, ["/apis"]);
    const { world, templates, failing } = followed;
    let isSynced: boolean | undefined;
    void templates.whenSynced(new AbortController().signal).then((answer) => {
      isSynced = answer;
    });
    await world.advance("1m");
    expect(isSynced).toBeUndefined();
    failing.clear();
    await world.advance("1s");
    expect(isSynced).toBe(true);
    await close(followed);
  });

  it("that fails for one group keeps what is known of it, and finds the rest", async () => {
    const followed = await follow();
    const { world, templates, failing, reported } = followed;
    await world.client.create(resources.deployments, deployment("web"));
    await world.settle();
    failing.add("/apis/apps/v1");
    await world.client.create(resources.crds, widgetCrd());
    await world.advance("1s");
    expect(templates.resourceOf("ex.io/v1", "Widget")).toBeDefined();
    expect(names(templates.list("apps/v1", "Deployment"))).toEqual(["web"]);
    await world.client.delete(resources.deployments, { namespace: "default", name: "web" });
    await world.settle();
    expect(reported).toEqual(["+Deployment/web", "-Deployment/web"]);
    await close(followed);
  });

  it("that failed for one group at the start finds it ten seconds later", async () => {
    const followed = await follow(undefined, ["/apis/apps/v1"]);
    const { world, templates, failing } = followed;
    expect(templates.resourceOf("apps/v1", "Deployment")).toBeUndefined();
    failing.clear();
    await world.advance("11s");
    expect(templates.resourceOf("apps/v1", "Deployment")).toBeDefined();
    await close(followed);
  });

  it("ends in order, and while waiting too", async () => {
    const followed = await follow(undefined, ["/apis"]);
    const waiting = new AbortController();
    const answer = followed.templates.whenSynced(waiting.signal);
    waiting.abort();
    expect(await answer).toBe(false);
    expect(await followed.templates.whenSynced(AbortSignal.abort())).toBe(false);
    await close(followed);
    expect(followed.templates.list("v1", "ConfigMap")).toEqual([]);
  });

  it("is read again when its followers start again", async () => {
    const first = await follow();
    await first.world.client.create(resources.configMaps, configMap("c"));
    await first.world.settle();
    first.stop.abort();
    await first.world.settle();
    await first.world.client.create(resources.crds, widgetCrd());
    const second = await followIn(first.world);
    expect(second.templates.resourceOf("ex.io/v1", "Widget")).toBeDefined();
    expect(second.reported).toEqual(["+ConfigMap/c"]);
    await close(second);
  });
});
