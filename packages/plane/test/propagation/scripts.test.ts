/** A kind that nobody but its user knows, divided over members and reported back by the user's scripts. */
import {
  type AnyObject,
  type New,
  type PropagationPolicy,
  propagationPolicies,
  resourceBindings,
  type ResourceInterpreterCustomization,
  resourceInterpreterCustomizations,
  works,
} from "@lifeboat/api";
import { createInterpretation } from "@lifeboat/controllers/context";
import { createInProcessScriptEngine } from "@lifeboat/controllers/adapters";
import { createFleet, type Fleet, newObject, resources, widgetCrd } from "@lifeboat/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createControllers, DEFAULT_CONTROLLERS } from "../../src/controllers.ts";

const MEMBERS = ["m1", "m2"];
const WIDGET = { namespace: "default", name: "w" };
const BINDING = { namespace: "default", name: "w-widget" };

let fleet: Fleet;

const SCRIPTS = {
  replicaResource: "function GetReplicas(obj) return obj.spec.replicas end",
  replicaRevision:
    "function ReviseReplica(obj, desiredReplica) obj.spec.replicas = desiredReplica return obj end",
  retention:
    "function Retain(desiredObj, observedObj) desiredObj.spec.color = observedObj.spec.color return desiredObj end",
  statusReflection:
    "function ReflectStatus(observedObj) return { replicas = observedObj.status.replicas } end",
  healthInterpretation:
    "function InterpretHealth(observedObj) return observedObj.status ~= nil and observedObj.status.replicas == observedObj.spec.replicas end",
  statusAggregation: `
    function AggregateStatus(desiredObj, statusItems)
      local replicas = 0
      for i = 1, #statusItems do
        if statusItems[i].status ~= nil then replicas = replicas + statusItems[i].status.replicas end
      end
      desiredObj.status = { replicas = replicas }
      return desiredObj
    end`,
};

const customization = (
  scripts: Readonly<Record<string, string>>,
): New<ResourceInterpreterCustomization> => ({
  apiVersion: "config.karmada.io/v1alpha1",
  kind: "ResourceInterpreterCustomization",
  metadata: { name: "widget" },
  spec: {
    target: { apiVersion: "ex.io/v1", kind: "Widget" },
    customizations: Object.fromEntries(
      Object.entries(scripts).map(([part, luaScript]) => [part, { luaScript }]),
    ),
  },
});

const policy: New<PropagationPolicy> = {
  apiVersion: "policy.karmada.io/v1alpha1",
  kind: "PropagationPolicy",
  metadata: { name: "w", namespace: "default" },
  spec: {
    resourceSelectors: [{ apiVersion: "ex.io/v1", kind: "Widget" }],
    placement: {
      clusterAffinity: { clusterNames: MEMBERS },
      replicaScheduling: {
        replicaSchedulingType: "Divided",
        replicaDivisionPreference: "Weighted",
        weightPreference: {
          staticWeightList: [
            { targetCluster: { clusterNames: ["m1"] }, weight: 2 },
            { targetCluster: { clusterNames: ["m2"] }, weight: 1 },
          ],
        },
      },
    },
  },
};

beforeEach(async () => {
  const engine = createInProcessScriptEngine();
  fleet = await createFleet({
    members: MEMBERS,
    services: (context) => createControllers(context, DEFAULT_CONTROLLERS),
    interpretation: (ports, { customizations }) =>
      createInterpretation(ports, customizations, engine),
  });
  await fleet.plane.create(resources.crds, widgetCrd());
  for (const name of MEMBERS) await fleet.member(name).client.create(resources.crds, widgetCrd());
  // Members are asked which kinds they serve only now and then.
  await fleet.advance("5m");
  await fleet.plane.create(propagationPolicies, policy);
  const widget = newObject(resources.widgets, { name: "w" }, { spec: { replicas: 6 } });
  await fleet.plane.create(resources.widgets, widget);
  await fleet.advance("10s");
});
afterEach(() => fleet.close());

const copyIn = (name: string): Promise<AnyObject> =>
  fleet.member(name).client.get(resources.widgets, WIDGET);

async function teach(scripts: Readonly<Record<string, string>> = SCRIPTS): Promise<void> {
  await fleet.plane.create(resourceInterpreterCustomizations, customization(scripts));
  await fleet.advance("10s");
}

/** What the member's own controller of widgets would do. */
async function start(name: string): Promise<void> {
  const copy = await copyIn(name);
  const { replicas } = copy["spec"] as { readonly replicas: number };
  await fleet
    .member(name)
    .client.update(resources.widgets, { ...copy, status: { replicas } }, { subresource: "status" });
}

describe("a kind with scripts", () => {
  it("is divided, reported and summed up as they say", async () => {
    await teach();
    expect(await copyIn("m1")).toMatchObject({ spec: { replicas: 4 } });
    expect(await copyIn("m2")).toMatchObject({ spec: { replicas: 2 } });
    await start("m1");
    await fleet.advance("10s");
    const { status } = await fleet.plane.get(resourceBindings, BINDING);
    expect(status?.aggregatedStatus).toMatchObject([
      { clusterName: "m1", health: "Healthy", status: { replicas: 4 } },
      { clusterName: "m2" },
    ]);
    expect(status?.aggregatedStatus?.[1]?.health).not.toBe("Healthy");
    await start("m2");
    await fleet.advance("10s");
    expect(await fleet.plane.get(resources.widgets, WIDGET)).toMatchObject({
      status: { replicas: 6 },
    });
  });

  it("keeps in a member what the script retains", async () => {
    await teach();
    const body = { spec: { color: "green" } };
    await fleet.member("m1").client.patch(resources.widgets, WIDGET, { type: "merge", body });
    await fleet.advance("1m");
    expect(await copyIn("m1")).toMatchObject({ spec: { color: "green", replicas: 4 } });
  });

  it("goes on as it was after a restart, and nothing is written at rest", async () => {
    await teach();
    for (const name of MEMBERS) await start(name);
    await fleet.advance("10s");
    const before = await Promise.all(MEMBERS.map(copyIn));
    await fleet.restart();
    await fleet.advance("1m");
    expect(await Promise.all(MEMBERS.map(copyIn))).toEqual(before);
    const { items } = await fleet.plane.list(works);
    const versions = items.map(({ metadata }) => metadata.resourceVersion);
    await fleet.advance("10m");
    const later = await fleet.plane.list(works);
    expect(later.items.map(({ metadata }) => metadata.resourceVersion)).toEqual(versions);
  });

  it("is left as it is while a script fails, and is put right when the script is", async () => {
    await teach({ ...SCRIPTS, replicaResource: "function GetReplicas(obj) return 'many' end" });
    const { items } = await fleet.plane.list(resources.events);
    expect(items.map(({ reason }) => reason)).toContain("GetReplicasFailed");
    const key = { namespace: "", name: "widget" };
    const body = {
      spec: { customizations: { replicaResource: { luaScript: SCRIPTS.replicaResource } } },
    };
    await fleet.plane.patch(resourceInterpreterCustomizations, key, { type: "merge", body });
    await fleet.advance("10s");
    expect(await copyIn("m1")).toMatchObject({ spec: { replicas: 4 } });
  });
});
