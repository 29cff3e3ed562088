/** The detector on a server that fails: whatever is lost or refused, and wherever, the end is the same. */
import { propagationPolicies, resourceBindings } from "@lifeboat/api";
import { deployment, resources } from "@lifeboat/testkit";
import { describe, expect, it } from "vitest";
import { createDetector } from "./create-detector.ts";
import {
  bindingNamed,
  claimerName,
  createClusterPolicy,
  createPolicy,
  DEPLOYMENTS,
  detectorFleet,
  disturbed,
  disturbedFleet,
  eventsAbout,
  type Fault,
  getDeployment,
  key,
  on,
} from "./detector.suite.ts";

const WEB = { resourceSelectors: [{ ...DEPLOYMENTS, name: "web" }] };

it("makes no binding for a template that is gone, of which it has not heard", async () => {
  let isStale = false;
  const old = { metadata: { name: "web", namespace: "default", uid: "" } };
  const fleet = await detectorFleet(
    {},
    {
      services: (context) => {
        const { templates } = context;
        const get: typeof templates.get = (reference) =>
          templates.get(reference) ?? (isStale ? (old as never) : undefined);
        const stale = new Proxy(templates, {
          get: (target, field) => {
            if (field === "get") return get;
            const value: unknown = Reflect.get(target, field);
            return typeof value === "function" ? value.bind(target) : value;
          },
        });
        return createDetector({ ...context, templates: stale });
      },
    },
  );
  await createPolicy(fleet, "p");
  await fleet.plane.create(resources.deployments, deployment("web"));
  await fleet.advance("10s");
  Object.assign(old, await getDeployment(fleet, "web"));
  isStale = true;
  await fleet.plane.delete(resources.deployments, key("web"));
  const body = { metadata: { finalizers: null } };
  await fleet.plane.delete(resourceBindings, key("web-deployment"));
  await fleet.plane.patch(resourceBindings, key("web-deployment"), { type: "merge", body });
  await fleet.advance("10s");
  expect(await bindingNamed(fleet, "web-deployment")).toBeUndefined();
  await fleet.close();
});

describe("another writer's version", () => {
  it("of the claim is contradicted once a second at most", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p");
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("10s");
    const claimer = async () => claimerName(await getDeployment(fleet, "web"));
    const release = async (): Promise<void> => {
      const body = { metadata: { labels: null, annotations: null } };
      await fleet.plane.patch(resources.deployments, key("web"), { type: "merge", body });
      await fleet.settle();
    };
    await release();
    expect(await claimer()).toBe("p");
    await release();
    expect(await claimer()).toBeUndefined();
    await fleet.advance("1s");
    expect(await claimer()).toBe("p");
    await fleet.close();
  });

  it("of the binding is contradicted once a second at most, also when it is placed again meanwhile", async () => {
    const fleet = await detectorFleet();
    await createPolicy(fleet, "p", { ...WEB, ...on("m1") });
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("10s");
    const affinity = async () =>
      (await bindingNamed(fleet, "web-deployment"))?.spec.placement?.clusterAffinity?.clusterNames;
    const change = async (cluster: string): Promise<void> => {
      const binding = await fleet.plane.get(resourceBindings, key("web-deployment"));
      const spec = { ...binding.spec, ...on("m2"), clusters: [{ name: cluster }] };
      await fleet.plane.update(resourceBindings, { ...binding, spec });
      await fleet.settle();
    };
    await change("m2");
    expect(await affinity()).toEqual(["m1"]);
    await change("m3");
    expect(await affinity()).toEqual(["m2"]);
    await fleet.advance("1s");
    expect(await affinity()).toEqual(["m1"]);
    await fleet.close();
  });
});

describe("a server that fails", () => {
  it("and refuses is reported on the template, and tried again", async () => {
    const disturbance = disturbed();
    const fleet = await disturbedFleet(disturbance);
    disturbance.disturb((count) => (count < 3 ? "refuse" : "pass"));
    await createPolicy(fleet, "p");
    await fleet.plane.create(resources.deployments, deployment("web"));
    await fleet.advance("1m");
    expect(claimerName(await bindingNamed(fleet, "web-deployment"))).toBe("p");
    expect(await eventsAbout(fleet, "web")).toContain(
      "ApplyPolicyFailed: Apply policy(default/p) failed: not today",
    );
    await fleet.close();
  });

  /** A story in which templates are claimed, handed over and released; its end is the same whatever went wrong. */
  async function story(
    disturbance: ReturnType<typeof disturbed>,
    crashes: boolean,
  ): Promise<unknown> {
    const fleet = await disturbedFleet(disturbance);
    const pause = async (): Promise<void> => {
      if (crashes) await fleet.restart();
      await fleet.advance("1m");
    };
    await createClusterPolicy(fleet, "wide", { ...WEB, ...on("m1") });
    await createPolicy(fleet, "short", {
      ...on("m2"),
      resourceSelectors: [{ ...DEPLOYMENTS, name: "api" }],
    });
    for (const name of ["web", "api"])
      await fleet.plane.create(resources.deployments, deployment(name));
    await pause();
    await fleet.plane.delete(propagationPolicies, key("short"));
    await pause();
    await createPolicy(fleet, "taker", { ...WEB, ...on("m3"), preemption: "Always" });
    await fleet.advance("10m");
    const describeEnd = async (name: string) => {
      const binding = await bindingNamed(fleet, `${name}-deployment`);
      const template = await getDeployment(fleet, name);
      const { placement, replicas } = binding?.spec ?? {};
      return [name, claimerName(template), claimerName(binding), placement, replicas];
    };
    const end = [await describeEnd("web"), await describeEnd("api")];
    const { items } = await fleet.plane.list(propagationPolicies);
    await fleet.close();
    return [...end, items.map(({ metadata }) => metadata.name)];
  }

  it.each<[Fault, number]>(
    (["lose answer", "refuse"] as const).flatMap((fault) =>
      [0, 1, 2, 3, 4, 5, 6, 7].map((at): [Fault, number] => [fault, at]),
    ),
  )("by %s at write %i comes to the same end", async (fault, at) => {
    const disturbance = disturbed();
    disturbance.disturb((count) => (count === at ? fault : "pass"));
    expect(await story(disturbance, at % 3 === 0)).toEqual([
      ["web", "taker", "taker", expect.objectContaining(on("m3").placement), 1],
      ["api", undefined, undefined, expect.objectContaining(on("m2").placement), 1],
      ["taker"],
    ]);
    expect(disturbance.writes.length).toBeGreaterThan(at);
  });
});
